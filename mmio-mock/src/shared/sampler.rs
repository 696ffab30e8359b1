//! Sampling engine: coordinates, levels, texels, filters.
//!
//! PRM: volume 4, chapter 4. Not modelled: texture caches and the fixed-point widths inside.

pub mod address;
pub mod cube;
pub mod lod;
pub mod message;

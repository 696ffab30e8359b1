//! What every caller builds, whatever the generation.
//!
//! No PRM chapter. Not modelled: a second generation; its builders would be chosen here.

pub use crate::gen40::media;

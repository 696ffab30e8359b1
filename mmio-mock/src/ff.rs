//! The 3D fixed functions and the order in which they pass their work on.
//!
//! PRM: volume 2, 3D pipeline.

pub mod ps;
pub mod topology;
pub mod wiz;

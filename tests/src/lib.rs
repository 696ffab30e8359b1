//! What test suites share: scenes, pictures, a bound device.
//!
//! Not modelled: anything; expectations stand in the tests themselves.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "tests may fail where they stand"
)]

pub mod debugged;
pub mod filetest;
pub mod formats;
pub mod fuzz;
pub mod guided;
pub mod image;
pub mod media;
pub mod remote;
pub mod rig;
pub mod scene;
pub mod scenes;
pub mod stops;

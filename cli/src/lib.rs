//! Captures, their replay through driver and device model, and the picture.
//!
//! This is where driver and model meet. The `crestline` program and the test suites
//! stand on it. Not modelled: anything of the device itself.
#![forbid(unsafe_code)]

pub mod alike;
pub mod boot;
pub mod capture;
pub mod debug;
pub mod frame_map;
pub mod link;
pub mod media;
pub mod number;
pub mod picture;
mod pipeline;
pub mod places;
pub mod record;
pub mod replay;
pub mod report;
pub mod shown;
pub mod stages;
pub mod start;
pub mod trace;
pub mod why;

//! Devices of generation 6: Sandy Bridge.
//!
//! The readers hold the differences from Ironlake, whose readers do the rest.

pub mod color_calc;
pub mod commands;
pub mod functions;
pub mod latched;
pub mod message;
mod payload;
pub mod pipeline;
pub mod surface;
pub mod units;
pub mod vertex;
pub mod windower;

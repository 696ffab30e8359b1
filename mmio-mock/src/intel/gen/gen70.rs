//! Devices of generation 7: ValleyView, the graphics of Bay Trail.
//!
//! Ivybridge PRM and the manual of ValleyView; genxml gen7. Not modelled: the video codec behind its streamer, power states, display
//! interrupts.

pub mod blocks;
pub mod color_calc;
pub mod commands;
pub mod functions;
pub mod latched;
mod media;
pub mod message;
mod payload;
pub mod pipeline;
mod row;
pub mod surface;
pub mod units;
pub mod vertex;
pub mod windower;

pub use row::DEVICES;

use super::Readers;

/// Readers of all devices of this generation.
pub const READERS: Readers = Readers {
    instructions: eu::r#gen::GEN70,
    commands: &commands::Reader,
    functions: &functions::Reader,
    messages: &message::Messages,
    pipeline: &pipeline::Reader,
    media: &media::Reader,
};

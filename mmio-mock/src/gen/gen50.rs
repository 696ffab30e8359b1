//! Ironlake: its message descriptors.
//!
//! Commands and state are read as those of 965 until it has tables of its own.

pub mod message;

use super::{Readers, gen40};

/// Readers of kernels of this generation on a bench.
pub const READERS: Readers = Readers {
    messages: &message::Messages,
    ..gen40::READERS
};

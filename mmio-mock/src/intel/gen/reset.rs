//! How the host resets a device: part of its row.
//!
//! Ports and values are those of i915's intel_reset.c.

use regs::ids::RegId;

use crate::intel::cs::engine::Domain;

/// A reset of everything.
pub const ALL: &[Domain] = &[Domain::Render, Domain::Media, Domain::Blitter];

/// How the host resets a device.
#[derive(Clone, Copy, Debug)]
pub struct Reset {
    /// Where it asks.
    pub port: Port,
    /// What a value there asks for; `None` for nothing.
    pub answer: fn(u32) -> Option<Answer>,
    /// Registers that a reset leaves alone.
    pub keeps: &'static [RegId],
}

/// Where the host asks for a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// A byte of PCI configuration space.
    Config(u8),
    /// A register.
    Register(RegId),
}

/// What comes of it, at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What is reset.
    pub resets: &'static [Domain],
    /// What the port reads afterwards.
    pub reads: u32,
}

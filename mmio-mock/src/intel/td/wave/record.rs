//! Records: what tells a pixel thread from others, and their primitives.
//!
//! A record is kept before the thread's registers are filled. The host's thread that computes it has the fixed function fill them.

use std::fmt::Debug;

use eu::Grf;

use super::run::Run;
use crate::intel::shared::context::{PIXELS, ThreadPixels};
use crate::intel::td::KernelState;

/// A pixel thread whose pixels have one sample each and nothing besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// Its primitive's number in the wave.
    pub primitive: u32,
    /// Its kernel.
    pub kernel: KernelState,
    /// Channels of the kernel: 8, 16 or 32.
    pub width: u8,
    /// Registers that the fixed function fills, from r0 on.
    pub registers: u8,
    /// How many subspans there are.
    pub subspans: u8,
    /// Upper left pixel of each subspan, columns and rows.
    pub origins: [(u16, u16); PIXELS / 4],
    /// Pixels that are lit: four bits a subspan.
    pub mask: u32,
    /// The debug dwords of r0.
    pub debug: [u32; 2],
    /// Snapshot flag.
    pub snapshot: bool,
}

impl Record {
    /// One bit for each channel of the subspans that are there.
    #[inline]
    pub fn dispatch_mask(&self) -> u32 {
        // CAST: 32 bits for the eight subspans that there are at most.
        ((1u64 << (u32::from(self.subspans) * 4)) - 1) as u32
    }
}

/// What the threads of a primitive have in common that wait.
#[derive(Clone, Copy, Debug)]
pub struct Primitive<'a> {
    /// Fills the registers of those that are records.
    pub recorded: Option<&'a dyn Recorded>,
    /// Vertex or setup data, which threads find behind their constants.
    pub data: &'a [Grf],
    /// How many objects were before it.
    pub object: u64,
}

/// The primitives of a wave.
pub trait Primitives: Debug + Sync {
    /// One of them by its number in the wave.
    fn get(&self, number: u32) -> Option<Primitive<'_>>;
}

/// A primitive whose threads are kept as records.
pub trait Recorded: Debug + Sync {
    /// Fills the registers of a thread from r0 on. Comes back with how many these are.
    fn fill(&self, record: &Record, registers: &mut [Grf]) -> usize;

    /// The same for a thread of a run, by the upper left pixels of its subspans.
    fn fill_whole(&self, run: &Run, origins: &[(u16, u16); 4], registers: &mut [Grf]) -> usize;

    /// What render target writes without a header find.
    fn pixels(&self, record: &Record, pixels: &mut ThreadPixels);

    /// Whether such writes find anything.
    fn headerless(&self) -> bool;
}

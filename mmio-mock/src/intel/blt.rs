//! The blitter: fills, copies, patterns and text in linear and X-tiled memory.
//!
//! PRM: volume 1, blitter (not public for this part: opcodes and layouts from genxml, i915's
//! command tables, the 2D decoders of libdrm and the 815's manual, which share the design).
//! Not modelled: chroma-keyed forms and fixed patterns, which report `Unimplemented`; Y tiles.

pub mod decode;
pub mod engine;
pub mod mono;
pub mod plane;
pub mod rop;
pub mod words;

use crate::UnitFault;
use mem::Memory;
use words::opcode;

/// What a command did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BltStats {
    /// Pixels inside the clipped rectangle.
    pub pixels: u64,
    /// Bytes read of source, pattern and destination.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

/// A rectangle: upper left inclusive, lower right exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rect {
    /// Left.
    pub x1: i32,
    /// Top.
    pub y1: i32,
    /// Right, exclusive.
    pub x2: i32,
    /// Bottom, exclusive.
    pub y2: i32,
}

impl Rect {
    /// The part that both cover; empty ones have no pixels.
    #[must_use]
    pub fn intersect(self, other: Rect) -> Rect {
        Rect {
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
            x2: self.x2.min(other.x2),
            y2: self.y2.min(other.y2),
        }
    }

    /// Whether there are no pixels.
    pub const fn is_empty(self) -> bool {
        self.x1 >= self.x2 || self.y1 >= self.y2
    }
}

/// State latched by the XY_SETUP commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Setup {
    /// Header of the last setup: byte mask and tiling.
    pub header: words::Br00,
    /// Mode dword.
    pub mode: words::Br13,
    /// Clip rectangle.
    pub clip: Rect,
    /// Destination base address.
    pub destination: u32,
    /// Expansion background colour.
    pub background: u32,
    /// Expansion foreground colour.
    pub foreground: u32,
    /// Pattern of scan lines.
    pub pattern: SetupPattern,
}

/// The pattern that a setup command brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetupPattern {
    /// An 8x8 colour pattern in memory (XY_SETUP_BLT).
    Colour(u32),
    /// An 8x8 mono pattern (XY_SETUP_MONO_PATTERN_SL_BLT).
    Mono(u64),
}

impl Default for SetupPattern {
    fn default() -> Self {
        SetupPattern::Mono(0)
    }
}

/// The blitter with its latched state.
#[derive(Clone, Debug, Default)]
pub struct Blt {
    setup: Setup,
    /// The drawing command in work.
    work: Option<Box<engine::Work>>,
}

impl Blt {
    /// A blitter after reset.
    pub fn new() -> Self {
        Blt::default()
    }

    /// The latched state.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Whether no command is in work.
    pub fn idle(&self) -> bool {
        self.work.is_none()
    }

    /// Rows drawn of the command in work, and its rows in all.
    pub fn rows(&self) -> Option<(i32, i32)> {
        self.work.as_ref().map(|work| work.rows())
    }

    /// Takes up one 2D command (client 2), given with its header and all its dwords. A setup command is
    /// over at once; a drawing command is in work until [`Self::row`] has nothing left.
    pub fn begin(&mut self, command: &[u32], mem: &Memory) -> Result<(), UnitFault> {
        match decode::decode(command, &self.setup, mem)? {
            decode::Decoded::Setup(setup) => self.setup = setup,
            decode::Decoded::Draw(op) => self.work = Some(Box::new(engine::Work::new(*op)?)),
        }
        Ok(())
    }

    /// Draws a row of the command in work and says how many ticks it took; `None` when the command is over.
    /// A fault ends it.
    pub fn row(&mut self, mem: &mut Memory) -> Result<Option<u64>, UnitFault> {
        let Some(work) = &mut self.work else {
            return Ok(None);
        };
        let row = work.row(mem);
        if !matches!(row, Ok(Some(_))) {
            self.work = None;
        }
        row
    }

    /// Where the row that was drawn last begins, and its bytes.
    pub fn last_row(&self, mem: &Memory) -> Option<(mem::GpuAddr, usize)> {
        self.work.as_ref().map(|work| work.last_row(mem))
    }

    /// Executes one command to its end.
    #[cfg(test)]
    fn execute(&mut self, command: &[u32], mem: &mut Memory) -> Result<BltStats, UnitFault> {
        self.begin(command, mem)?;
        let mut stats = BltStats::default();
        while self.row(mem)?.is_some() {
            stats = self.work.as_ref().map_or(stats, |work| work.stats());
        }
        Ok(stats)
    }

    /// The manual's name of an opcode (header bits 28:22).
    pub fn name(opcode: u32) -> Option<&'static str> {
        opcode::NAMES
            .iter()
            .find(|(code, ..)| *code == opcode)
            .map(|&(_, name, _)| name)
    }
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

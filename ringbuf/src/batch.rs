//! Batch builder: commands, a state heap behind them, relocations.
//!
//! PRM vol1 "Batch Buffers". One buffer holds the commands and, from an aligned offset on, the state; addresses of
//! other buffers are filled in when they are known. Not modelled: chained batches.
use alloc::vec::Vec;

use kernel::error::{Result, code::EINVAL};

use crate::emit::Sink;

/// A buffer that a batch refers to; made by [`Batch::buffer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target(usize);

impl Target {
    /// The batch buffer itself.
    pub const BATCH: Target = Target(0);
}

/// Place in the state heap, in bytes from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateOffset(pub u32);

/// What a relocation adds to its target's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Delta {
    Bytes(u32),
    /// A state offset plus bits in the low part of the dword.
    State(u32, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Relocation {
    /// Whether `offset` counts from the start of the state heap instead of the buffer.
    in_state: bool,
    offset: usize,
    target: Target,
    delta: Delta,
}

/// A batch under construction.
#[derive(Clone, Default, Debug)]
pub struct Batch {
    commands: Vec<u32>,
    state: Vec<u8>,
    relocations: Vec<Relocation>,
    buffers: usize,
}

/// A finished batch: the buffer's contents with every address filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    /// Contents of the batch buffer.
    pub bytes: Vec<u8>,
    /// Length of the commands in bytes, a multiple of 8.
    pub commands: u32,
    /// Offset of the state heap in the buffer.
    pub state: u32,
}

/// Alignment of the state heap in the buffer: the strictest that any state structure asks for.
const STATE_ALIGN: usize = 4096;

impl Sink for Batch {
    fn put(&mut self, dwords: &[u32]) {
        self.commands.extend_from_slice(dwords);
    }
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Batch::default()
    }

    /// Announces one more buffer; its address is given to [`build`](Self::build) in the order of these calls.
    pub fn buffer(&mut self) -> Target {
        self.buffers += 1;
        Target(self.buffers)
    }

    /// Appends a dword holding the address of `target` plus `delta`.
    pub fn address(&mut self, target: Target, delta: u32) {
        self.relocate_command(target, Delta::Bytes(delta));
    }

    /// Appends a dword holding the address of a piece of state plus `bits`.
    pub fn state_address(&mut self, state: StateOffset, bits: u32) {
        self.relocate_command(Target::BATCH, Delta::State(state.0, bits));
    }

    fn relocate_command(&mut self, target: Target, delta: Delta) {
        self.relocations.push(Relocation {
            in_state: false,
            offset: self.commands.len() * 4,
            target,
            delta,
        });
        self.commands.push(0);
    }

    /// Puts dwords into the state heap at a multiple of `align` (a power of two up to 4096).
    pub fn state(&mut self, align: u32, dwords: &[u32]) -> StateOffset {
        let align = (align as usize).clamp(4, STATE_ALIGN).next_power_of_two();
        let start = self.state.len().next_multiple_of(align);
        self.state.resize(start, 0);
        self.state
            .extend(dwords.iter().flat_map(|word| word.to_le_bytes()));
        StateOffset(start as u32)
    }

    /// Replaces dword `index` of a piece of state by the address of `target` plus `delta`.
    pub fn patch_address(&mut self, state: StateOffset, index: usize, target: Target, delta: u32) {
        self.patch(state, index, target, Delta::Bytes(delta));
    }

    /// Replaces dword `index` of a piece of state by the address of another piece of state plus `bits`.
    pub fn patch_state(&mut self, state: StateOffset, index: usize, to: StateOffset, bits: u32) {
        self.patch(state, index, Target::BATCH, Delta::State(to.0, bits));
    }

    fn patch(&mut self, state: StateOffset, index: usize, target: Target, delta: Delta) {
        self.relocations.push(Relocation {
            in_state: true,
            offset: (state.0 as usize).saturating_add(index.saturating_mul(4)),
            target,
            delta,
        });
    }

    /// Dwords of commands so far.
    #[must_use]
    pub fn command_dwords(&self) -> usize {
        self.commands.len()
    }

    /// Bytes that the finished buffer will have; its end and padding included.
    #[must_use]
    pub fn size(&self) -> usize {
        self.state_base() + self.state.len()
    }

    fn commands_len(&self) -> usize {
        // MI_BATCH_BUFFER_END, then a NOOP up to a qword.
        (self.commands.len() + 1).next_multiple_of(2) * 4
    }

    fn state_base(&self) -> usize {
        self.commands_len().next_multiple_of(STATE_ALIGN)
    }

    /// Ends the batch and fills in the addresses: the batch buffer's own, then those of [`buffer`](Self::buffer).
    ///
    /// `EINVAL` when an address is missing or a patch lies outside the state heap.
    pub fn build(mut self, batch: u32, buffers: &[u32]) -> Result<Built> {
        let (commands, state) = (self.commands_len(), self.state_base());
        self.batch_buffer_end();
        let mut bytes: Vec<u8> = self
            .commands
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        bytes.resize(state, 0);
        bytes.extend_from_slice(&self.state);
        for relocation in &self.relocations {
            let base = match relocation.target {
                Target::BATCH => batch,
                Target(index) => *buffers.get(index - 1).ok_or(EINVAL)?,
            };
            let value = match relocation.delta {
                Delta::Bytes(delta) => base.wrapping_add(delta),
                Delta::State(offset, bits) => {
                    base.wrapping_add(state as u32).wrapping_add(offset) | bits
                }
            };
            let at = relocation.offset + if relocation.in_state { state } else { 0 };
            bytes
                .get_mut(at..at.saturating_add(4))
                .ok_or(EINVAL)?
                .copy_from_slice(&value.to_le_bytes());
        }
        Ok(Built {
            bytes,
            commands: commands as u32,
            state: state as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn dword(built: &Built, at: usize) -> u32 {
        u32::from_le_bytes(built.bytes[at..at + 4].try_into().unwrap())
    }

    #[test]
    fn addresses_are_filled_in_commands_and_state() {
        let mut batch = Batch::new();
        let target = batch.buffer();
        let surface = batch.state(32, &[0x11, 0, 0x33]);
        batch.patch_address(surface, 1, target, 0x40);
        let table = batch.state(32, &[0]);
        batch.patch_state(table, 0, surface, 0);
        batch.put(&[0x7900_0001]);
        batch.address(target, 8);
        batch.state_address(table, 1);
        assert_eq!(batch.size(), 4096 + 36);
        let built = batch.build(0x10_0000, &[0x20_0000]).unwrap();
        assert_eq!((built.commands, built.state), (16, 4096));
        assert_eq!(dword(&built, 0), 0x7900_0001);
        assert_eq!(dword(&built, 4), 0x20_0008);
        assert_eq!(dword(&built, 8), 0x10_1021);
        assert_eq!(dword(&built, 12), 0x0500_0000);
        assert_eq!(dword(&built, 4096 + 4), 0x20_0040);
        assert_eq!(dword(&built, 4096 + 32), 0x10_1000);
    }

    #[test]
    fn a_missing_buffer_or_a_patch_outside_is_refused() {
        let mut batch = Batch::new();
        let target = batch.buffer();
        batch.address(target, 0);
        assert!(batch.build(0, &[]).is_err());
        let mut batch = Batch::new();
        let state = batch.state(4, &[0]);
        batch.patch_address(state, 1, Target::BATCH, 0);
        assert!(batch.build(0, &[]).is_err());
    }
}

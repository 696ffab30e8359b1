//! Untyped reads, writes and atomic operations: dwords of a buffer by channel.
//!
//! Payload: Mesa 22.3.6 brw_lower_logical_sends.cpp `lower_surface_logical_send` (addresses, then data, a register or two for each),
//! brw_vec4_surface_builder.cpp for SIMD4x2. Two low bits of an address do not count.

use eu::{Grf, Message};
use mem::GpuAddr;

use super::super::buffer::Lost;
use super::super::rules;
use super::atomic::AtomicOp;
use super::raw::Raw;
use super::store::Store;
use super::{Body, Lanes, lengths};
use crate::UnitFault;
use crate::intel::shared::error::refuse;

/// A buffer, and where its bytes lie.
pub(super) struct Place<'a> {
    pub(super) raw: Raw,
    pub(super) store: Store<'a>,
}

/// The parameter of a channel: registers of eight channels each, from a register on.
#[inline]
pub(super) fn parameter(registers: &[Grf], first: usize, channel: usize) -> u32 {
    let register = registers.get(first + channel / 8);
    register.map_or(0, |register| register[channel % 8])
}

/// The channels of a message that count.
pub(super) fn channels(lanes: Lanes, mask: u16) -> impl Iterator<Item = usize> {
    (0..8 * lanes.registers()).filter(move |channel| mask >> channel & 1 == 1)
}

/// The dwords of a set, by their numbers.
pub(super) fn parts(set: u8) -> impl Iterator<Item = usize> {
    (0..4).filter(move |part| set >> part & 1 == 1)
}

impl Place<'_> {
    /// The dword of a number behind an address.
    #[inline]
    fn at(&self, (u, v): (u32, u32), part: usize) -> Option<GpuAddr> {
        let dword = 4 * part as u64;
        if self.raw.parameters() == 2 {
            return self.raw.at(u, u64::from(v & !3) + dword, 4);
        }
        self.raw.at(u & !3, dword, 4)
    }

    /// Where a channel's dwords lie.
    #[inline]
    fn address(&self, lanes: Lanes, registers: &[Grf], channel: usize) -> (u32, u32) {
        let u = parameter(registers, 0, channel);
        if self.raw.parameters() == 1 {
            return (u, 0);
        }
        (u, parameter(registers, lanes.registers(), channel))
    }

    pub(super) fn miss(&self, bytes: u32, lost: &mut Lost) {
        if self.raw.has_end() {
            lost.0 = lost.0.saturating_add(bytes);
        }
    }

    #[inline]
    fn load(&mut self, at: Option<GpuAddr>, lost: &mut Lost) -> Result<u32, UnitFault> {
        if let Some(at) = at {
            return self.store.read(at);
        }
        self.miss(4, lost);
        Ok(0)
    }

    /// Up to four dwords for each channel.
    pub(super) fn read(
        &mut self,
        (lanes, set): (Option<Lanes>, u8),
        msg: &Message<'_>,
        body: &Body<'_>,
        response: &mut [Grf],
    ) -> Result<Lost, UnitFault> {
        let lanes = lanes.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
        if lanes == Lanes::Simd4x2 {
            return self.read_slots(set, msg, body, response);
        }
        let registers = lanes.registers();
        let count = parts(set).count();
        let addresses = self.raw.parameters() * registers;
        lengths(msg, body, addresses, count * registers)?;
        let mut lost = Lost::default();
        for channel in channels(lanes, body.mask) {
            let address = self.address(lanes, body.registers, channel);
            for (n, part) in parts(set).enumerate() {
                let value = self.load(self.at(address, part), &mut lost)?;
                if let Some(to) = response.get_mut(n * registers + channel / 8) {
                    to[channel % 8] = value;
                }
            }
        }
        Ok(lost)
    }

    /// The same for two slots of four dwords: both addresses and both answers share a register.
    fn read_slots(
        &mut self,
        set: u8,
        msg: &Message<'_>,
        body: &Body<'_>,
        response: &mut [Grf],
    ) -> Result<Lost, UnitFault> {
        lengths(msg, body, 1, 1)?;
        let mut lost = Lost::default();
        for slot in [0, 4] {
            if body.mask & 0xf << slot == 0 {
                continue;
            }
            let address = body.registers.first().copied().unwrap_or_default();
            let address = (address[slot], address[slot + 1]);
            for part in parts(set) {
                let value = self.load(self.at(address, part), &mut lost)?;
                if let Some(to) = response.first_mut() {
                    to[slot + part] = value;
                }
            }
        }
        Ok(lost)
    }

    /// Writes up to four dwords for each channel.
    pub(super) fn write(
        &mut self,
        (lanes, set): (Option<Lanes>, u8),
        msg: &Message<'_>,
        body: &Body<'_>,
    ) -> Result<Lost, UnitFault> {
        let lanes = lanes.filter(|lanes| *lanes != Lanes::Simd4x2);
        let lanes = lanes.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
        let registers = lanes.registers();
        let first = self.raw.parameters() * registers;
        lengths(msg, body, first + parts(set).count() * registers, 0)?;
        let mut lost = Lost::default();
        for channel in channels(lanes, body.mask) {
            let address = self.address(lanes, body.registers, channel);
            for (n, part) in parts(set).enumerate() {
                let value = parameter(body.registers, first + n * registers, channel);
                match self.at(address, part) {
                    Some(at) => self.store.write(at, value)?,
                    None => self.miss(4, &mut lost),
                }
            }
        }
        Ok(lost)
    }

    /// Changes a dword for each channel.
    pub(super) fn atomic(
        &mut self,
        (lanes, op, answer): (Option<Lanes>, Option<AtomicOp>, bool),
        msg: &Message<'_>,
        body: &Body<'_>,
        response: &mut [Grf],
    ) -> Result<Lost, UnitFault> {
        let lanes = lanes.filter(|lanes| *lanes != Lanes::Simd4x2);
        let both = lanes.zip(op);
        let (lanes, op) = both.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
        let registers = lanes.registers();
        let first = self.raw.parameters() * registers;
        let answers = if answer { registers } else { 0 };
        lengths(msg, body, first + op.sources() * registers, answers)?;
        let mut lost = Lost::default();
        for channel in channels(lanes, body.mask) {
            let address = self.address(lanes, body.registers, channel);
            let source = |n: usize| {
                let there = n < op.sources();
                let value = parameter(body.registers, first + n * registers, channel);
                if there { value } else { 0 }
            };
            let told = if let Some(at) = self.at(address, 0) {
                let old = self.store.read(at)?;
                let new = op.apply(old, [source(0), source(1)]);
                self.store.write(at, new)?;
                op.answer(old, new)
            } else {
                self.miss(4, &mut lost);
                0
            };
            if answer && let Some(to) = response.get_mut(channel / 8) {
                to[channel % 8] = told;
            }
        }
        Ok(lost)
    }
}

//! Buffer messages: OWord block, OWord dual block and DWord scattered.
//!
//! PRM: volume 4, 5.2.2 (stateless model), 5.5, 5.10.2, 5.10.3, 5.10.5. Not modelled: the render
//! cache's read/write line modes, and caches that would return stale data.

use eu::{Grf, Message};
use mem::{GpuAddr, Memory, Tiling};

use super::request::OwordBlock;
use super::rules;
use crate::UnitFault;
use crate::intel::shared::context::StateBases;
use crate::intel::shared::error::{Rule, refuse};
use crate::intel::surface::{Range, SurfaceDesc, SurfaceKind};

/// A buffer as these messages see it: bytes from a base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    base: GpuAddr,
    /// Bytes from the base; accesses past them read zero and write nothing.
    size: u64,
    /// Bytes that offsets of messages count, as a shift.
    unit: u32,
}

impl View {
    /// The view of a surface, or the rule that forbids it.
    ///
    /// The element size is 16 bytes whatever the state says (PRM 5.10.2).
    pub fn new(desc: &SurfaceDesc) -> Result<Self, Rule> {
        match desc.kind {
            Ok(SurfaceKind::Buffer) if desc.tiling != Tiling::Linear => Err(rules::TILED),
            Ok(SurfaceKind::Buffer) => Ok(View {
                base: desc.base,
                size: u64::from(desc.entries) * 16,
                unit: 0,
            }),
            Ok(SurfaceKind::Null) => Ok(View::default()),
            _ => Err(rules::SURFACE),
        }
    }

    /// Whether the base is a multiple of `unit` bytes.
    pub fn aligned(&self, unit: u32) -> bool {
        self.base.0.is_multiple_of(unit.into())
    }

    /// The stateless model: the base is in the header, the bound is that of general state.
    pub fn stateless(bases: &StateBases, header: &Grf) -> Self {
        let base = bases.general_state_base.wrapping_add(header[5] & !0x3ff);
        let size = match bases.general_state_upper_bound {
            0 => u64::from(u32::MAX) + 1,
            bound => u64::from(bound.saturating_sub(base)),
        };
        View {
            base: GpuAddr::from(base),
            size,
            unit: 0,
        }
    }

    /// The same for messages whose offsets count elements of `unit` bytes.
    #[must_use]
    pub fn counting(self, unit: u32) -> Self {
        View {
            unit: unit.trailing_zeros(),
            ..self
        }
    }

    /// The addresses that accesses may reach.
    #[must_use]
    pub fn range(&self) -> Range {
        Range {
            base: self.base,
            bytes: self.size,
        }
    }

    /// The byte offset that a message means.
    #[inline]
    fn bytes(&self, offset: u32) -> u32 {
        offset << self.unit
    }

    /// Address of `bytes` bytes at `offset` when they lie inside.
    #[inline]
    fn at(&self, offset: u32, bytes: u32) -> Option<GpuAddr> {
        (u64::from(offset) + u64::from(bytes) <= self.size).then(|| self.base.offset(offset))
    }

    /// Counts bytes past the end; a null surface has no end that one could miss.
    #[cold]
    fn miss(&self, bytes: u32, lost: &mut Lost) {
        if self.size > 0 {
            lost.0 += bytes;
        }
    }

    #[inline]
    fn read_oword(
        &self,
        mem: &Memory,
        offset: u32,
        lost: &mut Lost,
    ) -> Result<[u32; 4], UnitFault> {
        let mut data = [0; 4];
        match self.at(offset & !15, 16) {
            Some(addr) => mem.read_dwords(addr, &mut data)?,
            None => self.miss(16, lost),
        }
        Ok(data)
    }

    #[inline]
    pub(super) fn read_dword(
        &self,
        mem: &Memory,
        offset: u32,
        lost: &mut Lost,
    ) -> Result<u32, UnitFault> {
        if let Some(addr) = self.at(offset & !3, 4) {
            return Ok(mem.read_u32(addr)?);
        }
        self.miss(4, lost);
        Ok(0)
    }

    #[inline]
    pub(super) fn write_dword(
        &self,
        mem: &mut Memory,
        offset: u32,
        value: u32,
        lost: &mut Lost,
    ) -> Result<(), UnitFault> {
        match self.at(offset & !3, 4) {
            Some(addr) => mem.write_u32(addr, value)?,
            None => self.miss(4, lost),
        }
        Ok(())
    }
}

/// Bytes of a message that lie past the end of its surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost(pub u32);

/// A register's low or high half.
fn half(register: &Grf, high: bool) -> &[u32] {
    &register[usize::from(high) * 4..][..4]
}

/// Number of OWords of a block message, and the half of the first register that takes the first.
fn block(size: Option<OwordBlock>, msg: &Message<'_>) -> Result<(usize, usize), UnitFault> {
    let size = size.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
    Ok((size.count.into(), size.high.into()))
}

/// The OWords of a block message: index of the OWord, register behind the header, high half, and
/// the first mask bit of its group of four.
fn owords(count: usize, first: usize) -> impl Iterator<Item = (u32, usize, bool, u16)> {
    (0..count).map(move |n| {
        let place = n + first;
        let (register, high) = (place / 2, place % 2 == 1);
        // PRM 5.10.2: low mask bits serve the first and third register, high ones the others.
        let bit = register % 2 * 8 + usize::from(high) * 4;
        (n as u32, register, high, bit as u16)
    })
}

/// OWord Block Read (PRM 5.10.2).
pub fn read_block(
    view: View,
    size: Option<OwordBlock>,
    mem: &Memory,
    msg: &Message<'_>,
    response: &mut [Grf],
) -> Result<Lost, UnitFault> {
    let mut lost = Lost::default();
    let offset = view.bytes(header(msg)?[2]);
    let (count, first) = block(size, msg)?;
    rules::lengths(msg, 1, count.div_ceil(2))?;
    for (n, register, high, bit) in owords(count, first) {
        if msg.exec_mask & 0xf << bit == 0 {
            continue;
        }
        let data = view.read_oword(mem, offset.wrapping_add(n * 16), &mut lost)?;
        if let Some(w) = response.get_mut(register) {
            w[usize::from(high) * 4..][..4].copy_from_slice(&data);
        }
    }
    Ok(lost)
}

/// Unaligned OWord Block Read: the same from an offset that is a multiple of four bytes (Mesa 22.3.6 brw_eu.h
/// `brw_dp_oword_block_rw_desc`).
pub fn read_unaligned(
    view: View,
    size: Option<OwordBlock>,
    mem: &Memory,
    msg: &Message<'_>,
    response: &mut [Grf],
) -> Result<Lost, UnitFault> {
    let mut lost = Lost::default();
    let offset = header(msg)?[2];
    let (count, first) = block(size, msg)?;
    rules::lengths(msg, 1, count.div_ceil(2))?;
    for (n, register, high, bit) in owords(count, first) {
        let Some(to) = response.get_mut(register) else {
            break;
        };
        if msg.exec_mask & 0xf << bit == 0 {
            continue;
        }
        let to = to.iter_mut().skip(usize::from(high) * 4);
        for (dword, to) in (0u32..4).zip(to) {
            let at = offset.wrapping_add(n * 16 + dword * 4);
            *to = view.read_dword(mem, at, &mut lost)?;
        }
    }
    Ok(lost)
}

/// OWord Block Write (PRM 5.10.2).
pub fn write_block(
    view: View,
    size: Option<OwordBlock>,
    answer: usize,
    mem: &mut Memory,
    msg: &Message<'_>,
) -> Result<Lost, UnitFault> {
    let mut lost = Lost::default();
    let offset = view.bytes(header(msg)?[2]) & !15;
    let (count, first) = block(size, msg)?;
    rules::lengths(msg, 1 + count.div_ceil(2), answer)?;
    for (n, register, high, bit) in owords(count, first) {
        let Some(data) = msg.payload.get(register + 1) else {
            return Err(refuse("DP", msg, rules::LENGTH));
        };
        for (dword, value) in (0u32..).zip(half(data, high)) {
            if msg.exec_mask >> bit & 1 << dword != 0 {
                view.write_dword(
                    mem,
                    offset.wrapping_add(n * 16 + dword * 4),
                    *value,
                    &mut lost,
                )?;
            }
        }
    }
    Ok(lost)
}

/// OWords of each of the two blocks (PRM 5.10.3.1).
fn dual(view: &View, count: Option<u8>, msg: &Message<'_>) -> Result<(u32, [u32; 2]), UnitFault> {
    let global = header(msg)?[2];
    let count = count.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
    let offsets = msg.payload.get(1);
    let offsets = offsets.ok_or_else(|| refuse("DP", msg, rules::LENGTH))?;
    Ok((
        count.into(),
        [
            view.bytes(global.wrapping_add(offsets[0])),
            view.bytes(global.wrapping_add(offsets[4])),
        ],
    ))
}

/// OWord Dual Block Read (PRM 5.10.3).
pub fn read_dual(
    view: View,
    count: Option<u8>,
    mem: &Memory,
    msg: &Message<'_>,
    response: &mut [Grf],
) -> Result<Lost, UnitFault> {
    let mut lost = Lost::default();
    let (count, offsets) = dual(&view, count, msg)?;
    rules::lengths(msg, 2, count as usize)?;
    for (side, offset) in offsets.into_iter().enumerate() {
        if msg.exec_mask & 0xf << (side * 4) == 0 {
            continue;
        }
        for n in 0..count {
            let data = view.read_oword(mem, offset.wrapping_add(n * 16), &mut lost)?;
            if let Some(w) = response.get_mut(n as usize) {
                w[side * 4..][..4].copy_from_slice(&data);
            }
        }
    }
    Ok(lost)
}

/// OWord Dual Block Write (PRM 5.10.3).
pub fn write_dual(
    view: View,
    count: Option<u8>,
    answer: usize,
    mem: &mut Memory,
    msg: &Message<'_>,
) -> Result<Lost, UnitFault> {
    let mut lost = Lost::default();
    let (count, offsets) = dual(&view, count, msg)?;
    rules::lengths(msg, 2 + count as usize, answer)?;
    for n in 0..count {
        let Some(data) = msg.payload.get(n as usize + 2) else {
            return Err(refuse("DP", msg, rules::LENGTH));
        };
        for (side, offset) in offsets.into_iter().enumerate() {
            for (dword, value) in (0u32..).zip(half(data, side == 1)) {
                if msg.exec_mask >> (side * 4) & 1 << dword != 0 {
                    let at = (offset & !15).wrapping_add(n * 16 + dword * 4);
                    view.write_dword(mem, at, *value, &mut lost)?;
                }
            }
        }
    }
    Ok(lost)
}

/// Registers of offsets, and of data, of a scattered message (PRM 5.10.5.1).
fn scattered(registers: Option<u8>, msg: &Message<'_>) -> Result<(u32, usize), UnitFault> {
    let global = header(msg)?[2];
    let registers = registers.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
    Ok((global, registers.into()))
}

/// DWord Scattered Read (PRM 5.10.5).
pub fn read_scattered(
    view: View,
    registers: Option<u8>,
    mem: &Memory,
    msg: &Message<'_>,
    response: &mut [Grf],
) -> Result<Lost, UnitFault> {
    let mut lost = Lost::default();
    let (global, registers) = scattered(registers, msg)?;
    rules::lengths(msg, 1 + registers, registers)?;
    for (register, offsets) in msg.payload.iter().skip(1).take(registers).enumerate() {
        let Some(w) = response.get_mut(register) else {
            break;
        };
        for (channel, offset) in offsets.iter().enumerate() {
            if msg.exec_mask >> (register * 8 + channel) & 1 == 0 {
                continue;
            }
            w[channel] =
                view.read_dword(mem, view.bytes(global.wrapping_add(*offset)), &mut lost)?;
        }
    }
    Ok(lost)
}

/// DWord Scattered Write (PRM 5.10.5): the data follow the offsets.
pub fn write_scattered(
    view: View,
    registers: Option<u8>,
    answer: usize,
    mem: &mut Memory,
    msg: &Message<'_>,
) -> Result<Lost, UnitFault> {
    let mut lost = Lost::default();
    let (global, registers) = scattered(registers, msg)?;
    rules::lengths(msg, 1 + 2 * registers, answer)?;
    for register in 0..registers {
        let (Some(offsets), Some(data)) = (
            msg.payload.get(1 + register),
            msg.payload.get(1 + registers + register),
        ) else {
            return Err(refuse("DP", msg, rules::LENGTH));
        };
        for channel in 0..8 {
            if msg.exec_mask >> (register * 8 + channel) & 1 != 0 {
                let at = view.bytes(global.wrapping_add(offsets[channel]));
                view.write_dword(mem, at, data[channel], &mut lost)?;
            }
        }
    }
    Ok(lost)
}

/// Most dwords of an element.
const ELEMENT: usize = 4;

/// Streamed vertex buffer write: as many dwords of the header as the buffer's format has go to the element of a number (Mesa
/// 22.3.6 brw_vec4_generator.cpp `generate_gs_svb_write`, `generate_gs_svb_set_destination_index`).
///
/// A surface that is no buffer takes nothing: crocus leaves a feedback kernel bound behind a draw with a geometry shader,
/// over a binding table that it has not filled, and programs that do so run on parts.
pub fn write_element(
    desc: &SurfaceDesc,
    answer: usize,
    mem: &mut Memory,
    msg: &Message<'_>,
) -> Result<Lost, UnitFault> {
    let header = header(msg)?;
    rules::lengths(msg, 1, answer)?;
    match desc.kind {
        Ok(SurfaceKind::Null) => return Ok(Lost::default()),
        Ok(SurfaceKind::Buffer) => {}
        _ => return Ok(Lost(ELEMENT as u32 * 4)),
    }
    let Some(format) = desc.format else {
        return Err(refuse("DP", msg, rules::FORMAT));
    };
    let dwords = usize::from(format.bytes).div_ceil(4).min(ELEMENT);
    let index = header[5];
    if index >= desc.entries {
        return Ok(Lost(dwords as u32 * 4));
    }
    let at = desc.base.offset(index.wrapping_mul(desc.pitch));
    mem.write_dwords(at, &header[..dwords])?;
    Ok(Lost::default())
}

/// The header register (PRM 5.10.1.2).
pub(super) fn header<'a>(msg: &Message<'a>) -> Result<&'a Grf, UnitFault> {
    let first = msg.payload.first();
    first.ok_or_else(|| refuse("DP", msg, rules::HEADER))
}

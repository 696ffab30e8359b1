//! Typed reads, writes and atomic operations: texels of a surface by channel.
//!
//! Payload: Mesa 22.3.6 brw_lower_logical_sends.cpp `lower_surface_logical_send` (a header with the pixel mask in M0.7, coordinates, data).
//! Coordinates that a message leaves out are zero. Only texels of one dword and the integers R8_UINT and R16_UINT can be read
//! (isl_storage_image.c lowers the others), and only integers of a dword be changed. A read of such a byte or word answers the dword at its
//! address, whose high bits are its neighbours' (the same file). What lies outside reads as zero and is not written. Not modelled: surfaces
//! with several samples.

use eu::{Grf, Message};
use mem::{GpuAddr, Memory};

use super::super::rules;
use super::atomic::AtomicOp;
use super::untyped::{parameter, parts};
use crate::UnitFault;
use crate::intel::shared::error::refuse;
use crate::intel::surface::format::codes;
use crate::intel::surface::state::Use;
use crate::intel::surface::{Surface, SurfaceDesc, SurfaceError, SurfaceKind};

/// Channels of a message.
const CHANNELS: usize = 8;
/// Coordinates of a texel, its level of detail among them.
const COORDINATES: usize = 4;

/// Column, row, slice and level of a texel.
type Texel = (u32, u32, u32, u32);

/// A surface of texels.
#[derive(Clone, Debug)]
pub struct Texels {
    surface: Surface,
}

impl Texels {
    /// The surface that a state describes.
    pub fn new(mem: &Memory, desc: &SurfaceDesc) -> Result<Self, SurfaceError> {
        let surface = Surface::new(mem, desc, Use::Typed)?;
        Ok(Texels { surface })
    }

    /// The texel of a channel, where it lies inside.
    #[inline]
    fn texel(&self, registers: &[Grf], channel: usize) -> Option<Texel> {
        let s = &self.surface;
        let coordinate = |n: usize| parameter(registers, n, channel);
        let (u, v, r) = (coordinate(0), coordinate(1), coordinate(2));
        let level = s.render_lod.checked_add(coordinate(3))?;
        let (x, y, slice) = match s.kind {
            SurfaceKind::Buffer => return (u < s.width).then_some((u, 0, 0, 0)),
            SurfaceKind::Structured | SurfaceKind::Null => return None,
            SurfaceKind::OneD => (u, 0, v),
            SurfaceKind::TwoD | SurfaceKind::ThreeD | SurfaceKind::Cube => (u, v, r),
        };
        let slices = match s.kind {
            SurfaceKind::ThreeD => s.view_extent.min(s.level_depth(level)),
            _ => s.depth,
        };
        let inside = x < s.level_width(level) && y < s.level_height(level) && slice < slices;
        inside.then(|| (x, y, slice.wrapping_add(s.min_array_element), level))
    }

    fn address(&self, (x, y, slice, level): Texel) -> GpuAddr {
        self.surface.address(x, y, slice, level)
    }

    /// Whether texels are a dword that messages can read, or change as an integer.
    fn is_dword(&self, float: bool) -> bool {
        let code = u32::from(self.surface.format.code);
        let integer = matches!(code, codes::R32_UINT | codes::R32_SINT);
        integer || float && code == codes::R32_FLOAT || self.surface.kind == SurfaceKind::Null
    }

    /// Whether texels are integers of a byte or a word that messages can read.
    fn is_narrow(&self) -> bool {
        let code = u32::from(self.surface.format.code);
        matches!(code, codes::R8_UINT | codes::R16_UINT)
    }

    /// The dword at an address, at any byte. Bytes of the next page are zero.
    fn dword(mem: &Memory, at: GpuAddr) -> Result<u32, UnitFault> {
        let mut bytes = [0; 4];
        for (to, from) in bytes.iter_mut().zip(mem.page(at)?) {
            *to = *from;
        }
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads a texel for each channel.
    pub(super) fn read(
        &self,
        mem: &Memory,
        (mask, set): (u8, u8),
        msg: &Message<'_>,
        registers: &[Grf],
        response: &mut [Grf],
    ) -> Result<(), UnitFault> {
        let narrow = self.is_narrow();
        rules::ask(narrow || self.is_dword(true), msg, rules::TEXEL)?;
        let coordinates = (1..=COORDINATES).contains(&registers.len());
        rules::ask(coordinates, msg, rules::LENGTH)?;
        let answers = parts(set).count();
        let fits = usize::from(msg.response_length) == answers;
        rules::ask(fits, msg, rules::RESPONSE)?;
        for channel in (0..CHANNELS).filter(|channel| mask >> channel & 1 == 1) {
            let value = match self.texel(registers, channel) {
                Some(texel) if narrow => [Self::dword(mem, self.address(texel))?, 0, 0, 1],
                Some((x, y, slice, level)) => self.surface.fetch(mem, x, y, slice, level)?,
                None => [0; 4],
            };
            for (to, part) in response.iter_mut().zip(parts(set)) {
                to[channel] = value[part];
            }
        }
        Ok(())
    }

    /// Writes a texel for each channel; parts that a message leaves out are zero.
    pub(super) fn write(
        &self,
        mem: &mut Memory,
        (mask, set): (u8, u8),
        msg: &Message<'_>,
        registers: &[Grf],
    ) -> Result<(), UnitFault> {
        let data = parts(set).count();
        let coordinates = registers.len().checked_sub(data);
        let split = coordinates.filter(|count| (1..=COORDINATES).contains(count));
        let split = split.ok_or_else(|| refuse("DP", msg, rules::LENGTH))?;
        rules::ask(msg.response_length == 0, msg, rules::RESPONSE)?;
        let (coordinates, data) = registers.split_at(split);
        let format = self.surface.format;
        let bytes = usize::from(format.bytes).min(16);
        for channel in (0..CHANNELS).filter(|channel| mask >> channel & 1 == 1) {
            let Some(texel) = self.texel(coordinates, channel) else {
                continue;
            };
            let mut colour = [0; 4];
            for (from, part) in data.iter().zip(parts(set)) {
                colour[part] = from[channel];
            }
            let element = format.pack(colour);
            mem.write_bytes(self.address(texel), &element[..bytes])?;
        }
        Ok(())
    }

    /// Changes a texel for each channel.
    pub(super) fn atomic(
        &self,
        mem: &mut Memory,
        (mask, op, answer): (u8, Option<AtomicOp>, bool),
        msg: &Message<'_>,
        registers: &[Grf],
        response: &mut [Grf],
    ) -> Result<(), UnitFault> {
        let op = op.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))?;
        rules::ask(self.is_dword(false), msg, rules::TEXEL)?;
        let coordinates = registers.len().checked_sub(op.sources());
        let split = coordinates.filter(|count| (1..=COORDINATES).contains(count));
        let split = split.ok_or_else(|| refuse("DP", msg, rules::LENGTH))?;
        let answers = usize::from(msg.response_length) == usize::from(answer);
        rules::ask(answers, msg, rules::RESPONSE)?;
        let (coordinates, data) = registers.split_at(split);
        for channel in (0..CHANNELS).filter(|channel| mask >> channel & 1 == 1) {
            let source = |n: usize| data.get(n).map_or(0, |register| register[channel]);
            let told = match self.texel(coordinates, channel) {
                Some(texel) => {
                    let at = self.address(texel);
                    let old = mem.read_u32(at)?;
                    let new = op.apply(old, [source(0), source(1)]);
                    mem.write_u32(at, new)?;
                    op.answer(old, new)
                }
                None => 0,
            };
            if answer && let Some(to) = response.first_mut() {
                to[channel] = told;
            }
        }
        Ok(())
    }
}

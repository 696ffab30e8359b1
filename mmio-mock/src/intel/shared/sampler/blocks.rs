//! Messages of SIMD32/64: a block of pixels each, scaled by a polyphase filter.
//!
//! Text and structures of intel-vaapi-driver 2.4: shaders/post_processing/gen7/PL2_AVS_Buf_0.g4a (descriptor, header and payload),
//! Save_AVS_NV12.g4a (answer), Set_Layer_0.g4a (coordinates of a row), Set_AVS_Buf_0123_VYUA.g4a (order of channels). A block is sixteen
//! pixels by four, each channel four registers, a register a row of words in 8.8. Not modelled: what else [`Missing`] names.

mod polyphase;

use std::fmt::Debug;

use eu::{Grf, Message};
use mem::{BitSixSwizzle, Fault, GpuAddr, Memory, Tiling, tiling};

use super::{KEPT, SamplingEngine};
use crate::UnitFault;
use crate::intel::shared::binding;
use crate::intel::shared::context::ThreadContext;
use crate::intel::shared::error::{Rule, refuse};
use polyphase::{COLUMNS, ROWS, Taps, Texels};
pub use polyphase::{PHASES, Phase, Scaler, TAPS};

/// A message, wherever a generation's descriptor has its parts: sample_8x8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlocksRequest {
    /// The message has a header.
    pub header: bool,
    /// Binding table index.
    pub surface: u8,
    /// Number of the sampler, in the units of the generation's table.
    pub sampler: u8,
}

/// Reads the structures that these messages have for themselves.
pub trait BlockReader: Debug + Sync {
    /// The surface state at an address.
    fn picture(&self, mem: &Memory, at: GpuAddr) -> Result<Picture, Fault>;

    /// The sampler of a number in the table at an address, and its filters, whose address counts from `base`.
    fn scaler(
        &self,
        mem: &Memory,
        base: GpuAddr,
        table: GpuAddr,
        number: u8,
    ) -> Result<Scaler, Fault>;
}

/// Where a channel of a picture lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// 0 red or Cr, 1 green or Y, 2 blue or Cb, 3 alpha.
    pub channel: u8,
    /// Its byte in an element.
    pub byte: u8,
    /// Bytes of an element.
    pub bytes: u8,
    /// Pixels side by side that share a sample, as a shift.
    pub shared: u8,
}

/// A surface of video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// First byte.
    pub base: GpuAddr,
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Tiling.
    pub tiling: Tiling,
    /// Its channels; `Err` names what the model does not have.
    pub planes: Result<&'static [Plane], &'static str>,
}

/// Registers of the answer for a channel.
const REGISTERS: usize = ROWS;
/// What a channel has that the surface does not have, and what alpha has: one as the filters have it, 255 in 8.8.
const ABSENT: [u16; 4] = [0, 0, 0, 0xff00];
/// Largest coordinate in pixels that is looked at; all of them beyond are the edge.
const FAR: f64 = 65536.0;

const LENGTH: Rule = Rule::new("sample_8x8 is two registers, a header the first", 0);
const RESPONSE: Rule = Rule::new("answer of sample_8x8: four registers for each channel", 0);
const MASKED: Rule = Rule::new("all four channels masked", 0);
const END: Rule = Rule::new("sample_8x8 ends a thread", 0);

/// Where a block samples, as the message has it: normalized.
struct Block {
    u: f64,
    v: f64,
    du: f64,
    dv: f64,
    /// Change of `du` from pixel to pixel.
    ddu: f64,
    /// Rows above it in its column of blocks.
    above: f64,
}

impl Block {
    fn new(payload: &Grf) -> Self {
        let float = |n: usize| {
            // PANIC: eight dwords.
            let value = f64::from(f32::from_bits(payload[n]));
            if value.is_finite() { value } else { 0.0 }
        };
        Block {
            u: float(2),
            v: float(3),
            du: float(4),
            dv: float(5),
            ddu: float(6),
            above: f64::from(payload[1]) * ROWS as f64,
        }
    }

    /// Samples of columns in a plane so many samples wide.
    fn columns(&self, scaler: &Scaler, luma: bool, width: f64) -> [Taps; COLUMNS] {
        std::array::from_fn(|n| {
            let n = n as f64;
            let u = self.u + n * self.du + n * (n - 1.0) * 0.5 * self.ddu;
            scaler.taps(luma, 0, (u * width).clamp(-FAR, FAR))
        })
    }

    /// Samples of rows in a plane so many samples high.
    fn rows(&self, scaler: &Scaler, luma: bool, height: f64) -> [Taps; ROWS] {
        std::array::from_fn(|n| {
            let v = self.v + (self.above + n as f64) * self.dv;
            scaler.taps(luma, 1, (v * height).clamp(-FAR, FAR))
        })
    }
}

/// The samples of a plane.
struct Samples<'a> {
    mem: &'a Memory,
    picture: &'a Picture,
    plane: Plane,
    swizzle: BitSixSwizzle,
    last: (i32, i32),
    read: u64,
}

impl Texels for Samples<'_> {
    fn get(&mut self, x: i32, y: i32) -> Result<u8, Fault> {
        // CAST: brought back to the picture, no number is below 0.
        let (x, y) = (
            x.clamp(0, self.last.0) as u32,
            y.clamp(0, self.last.1) as u32,
        );
        let column = x * u32::from(self.plane.bytes) + u32::from(self.plane.byte);
        let picture = self.picture;
        let at = tiling::offset(picture.tiling, picture.pitch, column, y);
        self.read += 1;
        let at = match picture.tiling {
            Tiling::Linear => at,
            Tiling::X | Tiling::Y => self.swizzle.apply(at),
        };
        self.mem.read_u8(picture.base.offset(at))
    }
}

/// Faults with the name of what is missing.
fn missing(what: &'static str) -> UnitFault {
    UnitFault::Unimplemented {
        unit: "sampler",
        what,
        prm: "intel-vaapi-driver, shaders/post_processing/gen7",
    }
}

impl SamplingEngine {
    /// The filters of a sampler.
    fn scaler(
        &mut self,
        reader: &dyn BlockReader,
        mem: &Memory,
        base: GpuAddr,
        at: (GpuAddr, u8),
    ) -> Result<&Scaler, UnitFault> {
        let known = self.scalers.iter().position(|(key, _)| *key == at);
        let place = if let Some(place) = known {
            place
        } else {
            let scaler = reader.scaler(mem, base, at.0, at.1)?;
            if self.scalers.len() >= KEPT {
                self.scalers.clear();
            }
            self.scalers.push((at, Box::new(scaler)));
            self.scalers.len() - 1
        };
        // PANIC: a position that was found or made just now.
        Ok(&self.scalers[place].1)
    }

    /// Serves a message of SIMD32/64.
    pub fn blocks(
        &mut self,
        request: BlocksRequest,
        msg: &Message<'_>,
        response: &mut [Grf],
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<(), UnitFault> {
        let refused = |rule| Err(refuse("sampler", msg, rule));
        let Some(reader) = self.reader.blocks() else {
            return Err(missing("SIMD32/64 sampler message"));
        };
        let (true, [header, payload]) = (request.header, msg.payload) else {
            return refused(LENGTH);
        };
        if msg.eot {
            return refused(END);
        }
        let written = !header[2] >> 12 & 0xf;
        if written == 0 {
            return refused(MASKED);
        }
        if response.len() != written.count_ones() as usize * REGISTERS {
            return refused(RESPONSE);
        }
        let at = binding::surface_address(mem, ctx, request.surface)?;
        let picture = reader.picture(mem, at)?;
        let planes = picture.planes.map_err(missing)?;
        let base = GpuAddr::from(ctx.bases.dynamic());
        let table = mem.on_bus(base.offset(ctx.sampler_state_pointer & !0x1f));
        let scaler = self.scaler(reader, mem, base, (table, request.sampler))?;
        if let Some(what) = scaler.missing {
            return Err(missing(what));
        }
        let block = Block::new(payload);
        let mut read = 0;
        let channels = (0..4u8).filter(|channel| written >> channel & 1 != 0);
        for (channel, answer) in channels.zip(response.chunks_exact_mut(REGISTERS)) {
            let Some(plane) = planes.iter().find(|plane| plane.channel == channel) else {
                // PANIC: four channels.
                let none = u32::from(ABSENT[usize::from(channel)]);
                answer.fill([none | none << 16; 8]);
                continue;
            };
            let luma = channel == 1;
            let width = f64::from(picture.width) / f64::from(1u32 << plane.shared);
            let samples = (picture.width - 1) >> plane.shared;
            let mut texels = Samples {
                mem,
                picture: &picture,
                plane: *plane,
                swizzle: mem.swizzle(picture.tiling),
                // CAST: fourteen bits each.
                last: (samples as i32, picture.height as i32 - 1),
                read: 0,
            };
            let columns = block.columns(scaler, luma, width);
            let rows = block.rows(scaler, luma, f64::from(picture.height));
            polyphase::filter(&mut texels, &columns, &rows, answer)?;
            read += texels.read;
        }
        self.samples += (COLUMNS * ROWS) as u64;
        self.texels += read;
        Ok(())
    }
}

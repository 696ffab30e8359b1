//! Sampler messages: type and length to operation, SIMD mode and parameters.
//!
//! PRM: volume 4, 4.8.1.1-4.8.1.8. Types and lengths that a generation does not have are refused.

use eu::{Grf, Message};

use crate::intel::shared::error::Rule;
use crate::intel::surface::Format;

/// Broken rule: type and length name no message.
pub const BAD_LENGTH: Rule = Rule::new("no such combination of type and length (PRM 4.8.1.3)", 1);
/// Broken rule: a message ends its thread.
pub const INVALID_EOT: Rule = Rule::new("end of thread at the sampler (PRM 4.8)", 2);

/// What a message asks for (PRM 4.8.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Filtered sample, LOD from neighbouring pixels.
    Sample,
    /// The same, and the mask of pixels that a chroma key killed.
    SampleKillpix,
    /// With a bias added to the LOD of each pixel.
    SampleBias,
    /// With a given LOD.
    SampleLod,
    /// Compared with a reference before filtering.
    SampleCompare,
    /// Bias and reference.
    SampleBiasCompare,
    /// LOD and reference.
    SampleLodCompare,
    /// With given gradients.
    SampleGradients,
    /// The LOD of a sample, which is not taken.
    Lod,
    /// Unfiltered texel by integer address.
    Ld,
    /// Size of a mip level.
    Resinfo,
    /// Number of samples.
    Sampleinfo,
    /// A channel of the four texels that a linear filter would mix.
    Gather4,
    /// The same, compared with a reference.
    Gather4Compare,
    /// With texel offsets of each pixel.
    Gather4Offsets,
    /// With both.
    Gather4OffsetsCompare,
    /// What the control surface says of the samples of a pixel.
    LdControl,
    /// A sample of a pixel, where the given element of the control surface says that it is.
    LdSample,
    /// A sample of a pixel, in the slice of its number.
    LdSlice,
}

impl Op {
    /// Without a sampler.
    #[must_use]
    pub const fn is_unfiltered(self) -> bool {
        matches!(
            self,
            Op::Ld | Op::Resinfo | Op::Sampleinfo | Op::LdControl | Op::LdSample | Op::LdSlice
        )
    }

    /// Four texels as they are, rather than what a filter makes of them.
    #[must_use]
    pub const fn gathers(self) -> bool {
        matches!(
            self,
            Op::Gather4 | Op::Gather4Compare | Op::Gather4Offsets | Op::Gather4OffsetsCompare
        )
    }
}

/// Layout of payload and writeback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simd {
    /// Sixteen pixels, two registers a parameter.
    Simd16,
    /// Eight pixels, one register a parameter.
    Simd8,
    /// Two samples of four parameters a register.
    Simd4x2,
}

/// Operation, SIMD mode and number of parameters: a row of the table of PRM 4.8.1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Operation.
    pub op: Op,
    /// SIMD mode.
    pub simd: Simd,
    /// Parameters present.
    pub params: u8,
}

impl Shape {
    /// Texels are compared with a reference.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(
            self.op,
            Op::SampleCompare
                | Op::SampleBiasCompare
                | Op::SampleLodCompare
                | Op::Gather4Compare
                | Op::Gather4OffsetsCompare
        )
    }

    /// Pixels or samples that one message can carry.
    #[must_use]
    pub const fn slots(self) -> usize {
        match self.simd {
            Simd::Simd16 => 16,
            Simd::Simd8 => 8,
            Simd::Simd4x2 => 2,
        }
    }

    /// Slots that are valid under the execution mask of the send (PRM 4.8).
    #[must_use]
    pub const fn active(self, exec_mask: u16) -> u16 {
        match self.simd {
            Simd::Simd16 => exec_mask,
            Simd::Simd8 => exec_mask & 0xff,
            Simd::Simd4x2 => (exec_mask & 0x0f != 0) as u16 | ((exec_mask & 0xf0 != 0) as u16) << 1,
        }
    }
}

/// Number of a parameter that a message does not have.
pub const ABSENT: u8 = u8::MAX;

/// Numbers of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The first two coordinates.
    pub u: u8,
    /// The second of them.
    pub v: u8,
    /// The third coordinate.
    pub r: u8,
    /// Bias or LOD.
    pub lod: u8,
    /// Reference value.
    pub reference: u8,
    /// Number of a sample.
    pub sample: u8,
    /// Number of a cube in an array.
    pub cube: u8,
    /// Element of the control surface.
    pub control: u8,
    /// Texel offsets of u and v.
    pub offsets: [u8; 2],
    /// Gradients of u, v and r along x.
    pub dx: [u8; 3],
    /// The same along y.
    pub dy: [u8; 3],
}

impl Order {
    /// Three coordinates and nothing else.
    pub const COORDINATES: Order = Order {
        u: 0,
        v: 1,
        r: 2,
        lod: ABSENT,
        reference: ABSENT,
        sample: ABSENT,
        cube: ABSENT,
        control: ABSENT,
        offsets: [ABSENT; 2],
        dx: [ABSENT; 3],
        dy: [ABSENT; 3],
    };
}

/// What the descriptor of a message says, wherever a generation has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerRequest {
    /// What the message is; `None`: type and length name no message.
    pub shape: Option<Shape>,
    /// Where its parameters are.
    pub order: &'static Order,
    /// A header precedes the parameters. Without one nothing is masked or moved, and the sampler state table is that of
    /// the thread.
    pub header: bool,
    /// Binding table index.
    pub surface: u8,
    /// Index into the sampler state table.
    pub sampler: u8,
    /// Return format is an integer.
    pub integer: bool,
    /// Texel addresses have an array index that counts for maps that are no arrays, too.
    pub indexed: bool,
    /// The header names the channel that is gathered, and forces no LOD.
    pub selects: bool,
}

/// The fields of descriptor and header that concern sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Row of the message table.
    pub shape: Shape,
    /// Where the parameters are.
    pub order: &'static Order,
    /// Binding table index.
    pub surface: u8,
    /// Index into the sampler state table.
    pub sampler: u8,
    /// Sampler state table, relative to the general state base.
    pub sampler_pointer: u32,
    /// Return format is an integer.
    pub integer: bool,
    /// The array index of a texel address counts for maps that are no arrays, too.
    pub indexed: bool,
    /// Force LOD to Zero.
    pub force_lod_zero: bool,
    /// Channel that is gathered.
    pub channel: u8,
    /// Channels to leave alone: bit 0 red to bit 3 alpha.
    pub masked: u8,
    /// Texel offsets of u, v and r.
    pub offsets: [i8; 3],
}

/// Sign-extends a four-bit offset.
const fn s3(bits: u32) -> i8 {
    ((bits as u8) << 4) as i8 >> 4
}

/// Sign-extends a six-bit offset, the bits above of no account.
pub(super) const fn s5(bits: u32) -> i8 {
    ((bits as u8) << 2) as i8 >> 2
}

/// Whether a gather finds the second channel of a format where others have the third.
pub(super) const fn gathers_second_as_third(format: &Format) -> bool {
    format.code as u32 == R32G32_FLOAT_LD
}

/// R32G32_FLOAT_LD, pairs of singles for `ld` and gathers (Mesa isl.h).
const R32G32_FLOAT_LD: u32 = 0x097;

impl Request {
    /// Decodes a message; `Err` names the rule that it breaks. `table` is the sampler state table of the thread.
    pub fn decode(request: &SamplerRequest, msg: &Message<'_>, table: u32) -> Result<Self, Rule> {
        let own = [0, 0, 0, table, 0, 0, 0, 0];
        let header = match msg.payload.first() {
            Some(header) if request.header => header,
            None if request.header => return Err("no message header (PRM 4.8.1.2)".into()),
            _ => &own,
        };
        let shape = request.shape.ok_or(BAD_LENGTH)?;
        if msg.eot {
            return Err(INVALID_EOT);
        }
        let masked = (header[2] >> 12 & 0xf) as u8;
        if masked == 0xf {
            return Err("all four channels masked (PRM 4.8.1.2)".into());
        }
        Ok(Request {
            shape,
            order: request.order,
            surface: request.surface,
            sampler: request.sampler,
            sampler_pointer: header[3] & !0x1f,
            integer: request.integer,
            indexed: request.indexed,
            force_lod_zero: !request.selects && header[2] & 1 << 16 != 0,
            channel: if request.selects {
                (header[2] >> 16 & 3) as u8
            } else {
                0
            },
            masked,
            offsets: [s3(header[2] >> 8), s3(header[2] >> 4), s3(header[2])],
        })
    }
}

/// Reads parameters out of a payload without copying it.
#[derive(Clone, Copy, Debug)]
pub struct Params<'a> {
    regs: &'a [Grf],
    simd: Simd,
    count: u8,
}

impl<'a> Params<'a> {
    /// The parameters of `msg`, behind its `header` if it has one.
    #[must_use]
    pub fn new(msg: &Message<'a>, shape: Shape, header: bool) -> Self {
        Params {
            regs: msg.payload.get(usize::from(header)..).unwrap_or_default(),
            simd: shape.simd,
            count: shape.params,
        }
    }

    /// Parameter `index` of pixel `slot` as it stands; missing ones are 0 (PRM 4.8.1.4).
    #[inline]
    #[must_use]
    pub fn bits(&self, index: u8, slot: usize) -> u32 {
        if index >= self.count {
            return 0;
        }
        let index = usize::from(index);
        let (register, dword) = match self.simd {
            Simd::Simd16 => (index * 2 + slot / 8, slot % 8),
            Simd::Simd8 => (index, slot % 8),
            Simd::Simd4x2 => (index / 4, slot % 2 * 4 + index % 4),
        };
        self.regs.get(register).map_or(0, |r| r[dword])
    }

    /// Parameter `index` of eight pixels of a message of `H` times eight as it stands.
    #[inline(always)]
    #[must_use]
    pub fn register<const H: usize>(&self, index: u8, half: usize) -> Grf {
        if index >= self.count {
            return [0; 8];
        }
        let at = usize::from(index) * H + half;
        self.regs.get(at).copied().unwrap_or([0; 8])
    }

    /// Parameter `index` of pixel `slot` as a float.
    #[inline]
    #[must_use]
    pub fn float(&self, index: u8, slot: usize) -> f32 {
        f32::from_bits(self.bits(index, slot))
    }
}

/// Puts the four channels of one slot where the writeback wants them (PRM 4.8.2).
///
/// SIMD16 drops masked channels and moves later ones down; the other modes leave them alone.
#[inline]
pub fn write_back(request: &Request, slot: usize, rgba: [u32; 4], response: &mut [Grf]) {
    let mut next = 0;
    for (channel, value) in rgba.into_iter().enumerate() {
        if request.masked & 1 << channel != 0 {
            continue;
        }
        let (register, dword) = match request.shape.simd {
            Simd::Simd16 => (next * 2 + slot / 8, slot % 8),
            Simd::Simd8 => (channel, slot % 8),
            Simd::Simd4x2 => (0, slot % 2 * 4 + channel),
        };
        next += 1;
        if let Some(w) = response.get_mut(register) {
            w[dword] = value;
        }
    }
}

/// Writes the active ones of eight slots of a message of `H` times eight, channel by channel.
#[inline(always)]
pub fn write_registers<const H: usize>(
    request: &Request,
    (half, active): (usize, u8),
    planes: &[Grf; 4],
    response: &mut [Grf],
) {
    if active == 0xff && request.masked == 0 {
        for (channel, plane) in planes.iter().enumerate() {
            if let Some(w) = response.get_mut(channel * H + half) {
                *w = *plane;
            }
        }
        return;
    }
    let mut next = 0;
    for (channel, plane) in planes.iter().enumerate() {
        if request.masked & 1 << channel != 0 {
            continue;
        }
        let base = if H == 2 { next * 2 } else { channel };
        next += 1;
        let Some(w) = response.get_mut(base + half) else {
            return;
        };
        for (dword, value) in plane.iter().enumerate() {
            if active & 1 << dword != 0 {
                w[dword] = *value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_two_s_complement_nibbles() {
        assert_eq!([s3(0x7), s3(0x8), s3(0xf), s3(0x10)], [7, -8, -1, 0]);
    }

    #[test]
    fn simd4x2_samples_are_valid_by_groups_of_four() {
        let shape = Shape {
            op: Op::Ld,
            simd: Simd::Simd4x2,
            params: 4,
        };
        assert_eq!(
            [0x00, 0x04, 0x80, 0x11].map(|m| shape.active(m)),
            [0, 1, 2, 3]
        );
    }
}

//! Surface formats: what they can do, and texels to and from register bits.
//!
//! PRM: volume 4 4.7.2.1.1 (table) and 4.7.2.1.2 (channels of the sampler's output).
//! Not modelled: the palette itself, which the sampler owns.

pub mod block;
pub mod bptc;
pub mod channel;
pub mod etc;
pub mod fxt1;
pub mod table;

use channel::{Kind, Source};
use codes as f;
use regs::desc::SurfaceFormatDesc;
pub use table::Formats;

/// Numbers of formats, the same for all generations; what a generation can do with them is in its table.
pub use regs::any::values::surface_format as codes;

/// How an element's bytes become channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codec {
    /// Fields of a plain element.
    Channels([Source; 4]),
    /// R9G9B9E5.
    SharedExponent,
    /// BC1 with one-bit alpha.
    Bc1 {
        /// Colours lie on the sRGB curve.
        srgb: bool,
    },
    /// BC1 without alpha.
    Bc1Opaque {
        /// Colours lie on the sRGB curve.
        srgb: bool,
    },
    /// BC2.
    Bc2 {
        /// Colours lie on the sRGB curve.
        srgb: bool,
    },
    /// BC3.
    Bc3 {
        /// Colours lie on the sRGB curve.
        srgb: bool,
    },
    /// BC4: one channel.
    Bc4 {
        /// Values are from -1 to 1.
        signed: bool,
    },
    /// BC5: two channels.
    Bc5 {
        /// Values are from -1 to 1.
        signed: bool,
    },
    /// Two pixels in four bytes that share their chroma: the bytes' places. The second pixel's
    /// luma is two bytes after the first's.
    Ycrcb {
        /// Place of the first pixel's luma.
        luma: u8,
        /// Place of Cb.
        cb: u8,
        /// Place of Cr.
        cr: u8,
    },
    /// One bit a texel.
    Bit,
    /// One bit a texel, for the mono filter.
    Mono8,
    /// Indices into a palette of the sampler.
    Palette {
        /// The second palette.
        second: bool,
        /// Lowest bit and width of the index.
        index: (u8, u8),
        /// Lowest bit and width of alpha; no width: opaque.
        alpha: (u8, u8),
    },
    /// FXT1.
    Fxt1,
    /// BC6H: floats.
    Bc6h {
        /// With a sign.
        signed: bool,
    },
    /// BC7.
    Bc7 {
        /// Colours lie on the sRGB curve.
        srgb: bool,
    },
    /// ETC1 and ETC2.
    Etc {
        /// Modes of blocks.
        kind: etc::Kind,
        /// Alpha has half of the block.
        alpha: bool,
        /// Colours lie on the sRGB curve.
        srgb: bool,
    },
    /// EAC: one channel of eleven bits, or two.
    Eac {
        /// Values are from -1 to 1.
        signed: bool,
        /// There is green.
        two: bool,
    },
}

/// What register bits a texel has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Floats.
    Float,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
}

/// What a format can be used for: columns of the manual's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Capability {
    /// Sampling engine.
    Sampling = 0,
    /// Sampling engine filtering.
    Filtering = 1,
    /// Shadow maps.
    Shadow = 2,
    /// Chroma key.
    ChromaKey = 3,
    /// Render target.
    RenderTarget = 4,
    /// Alpha blend render target.
    AlphaBlend = 5,
    /// Input vertex buffer.
    VertexBuffer = 6,
    /// Streamed output vertex buffer.
    StreamedOutput = 7,
}

type Unpack = fn(&Format, &[u8; 16]) -> [u32; 4];
type Pack = fn(&Format, [u32; 4]) -> [u8; 16];

/// A surface format. Obtained from a generation's [`Formats`]; compared by code.
#[derive(Clone, Copy)]
pub struct Format {
    /// Encoding of SURFACE_STATE and VERTEX_ELEMENT_STATE.
    pub code: u16,
    /// The manual's name.
    pub name: &'static str,
    /// Bytes of an element: a texel, or a block of [`Self::block`] texels. 0 below a byte.
    pub bytes: u8,
    /// Texels of an element, across and down.
    pub block: (u8, u8),
    /// What register bits texels have.
    pub class: Class,
    /// How bytes become channels.
    pub codec: Codec,
    capabilities: u8,
    unpack: Unpack,
    pack: Pack,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({:#05x})", self.name, self.code)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}
impl Eq for Format {}

impl Format {
    pub(crate) const fn new(desc: &SurfaceFormatDesc, codec: Codec) -> Self {
        let capabilities = (desc.sampling as u8) << Capability::Sampling as u8
            | (desc.filtering as u8) << Capability::Filtering as u8
            | (desc.shadow as u8) << Capability::Shadow as u8
            | (desc.chroma_key as u8) << Capability::ChromaKey as u8
            | (desc.render_target as u8) << Capability::RenderTarget as u8
            | (desc.alpha_blend as u8) << Capability::AlphaBlend as u8
            | (desc.vertex_input as u8) << Capability::VertexBuffer as u8
            | (desc.streamed_output as u8) << Capability::StreamedOutput as u8;
        let (bytes, block) = match codec {
            Codec::Bc1 { .. } | Codec::Bc1Opaque { .. } | Codec::Bc4 { .. } => (8, (4, 4)),
            Codec::Bc2 { .. }
            | Codec::Bc3 { .. }
            | Codec::Bc5 { .. }
            | Codec::Bc6h { .. }
            | Codec::Bc7 { .. } => (16, (4, 4)),
            Codec::Ycrcb { .. } => (4, (2, 1)),
            Codec::Etc { alpha: two, .. } | Codec::Eac { two, .. } => {
                (if two { 16 } else { 8 }, (4, 4))
            }
            Codec::Fxt1 => (16, (8, 4)),
            Codec::Bit | Codec::Mono8 => (1, (8, 1)),
            _ => ((desc.bits_per_element / 8) as u8, (1, 1)),
        };
        Format {
            code: desc.code as u16,
            name: desc.name,
            bytes,
            block,
            class: class_of(&codec),
            codec,
            capabilities,
            unpack: unpacker(desc.code),
            pack: packer(desc.code),
        }
    }

    /// The layout of an encoding, which all generations share, for conversions alone: what a generation can do with
    /// the format is in its own table.
    #[inline]
    pub fn layout(code: u32) -> Option<&'static Format> {
        table::LAYOUTS.lookup(code)
    }

    /// Whether the generation's table marks the capability.
    #[inline]
    pub const fn has(&self, capability: Capability) -> bool {
        self.capabilities >> capability as u8 & 1 == 1
    }

    /// Whether elements are blocks of several texels.
    #[inline]
    pub const fn is_block(&self) -> bool {
        self.block.0 > 1 || self.block.1 > 1
    }

    /// Whether blocks are compressed (BC, FXT1), which changes alignment in mip maps.
    pub const fn is_compressed(&self) -> bool {
        self.block.1 > 1
    }

    /// The channels R, G, B, A of a plain element as register bits (floats, or integers by
    /// [`Self::class`]). For blocks see [`Self::unpack_block`].
    #[inline]
    pub fn unpack(&self, element: &[u8; 16]) -> [u32; 4] {
        (self.unpack)(self, element)
    }

    /// As [`Self::unpack`] for an element of any length, such as 64-bit vertex data. Missing
    /// bytes read as 0.
    pub fn unpack_bytes(&self, element: &[u8]) -> [u32; 4] {
        if let Codec::Channels(sources) = &self.codec {
            return channel::unpack(sources, element);
        }
        let mut raw = [0; 16];
        let n = element.len().min(16);
        raw[..n].copy_from_slice(&element[..n]);
        self.unpack(&raw)
    }

    /// Texel (`x`, `y`) of a block element, both taken within the block.
    pub fn unpack_block(&self, element: &[u8; 16], x: u32, y: u32) -> [u32; 4] {
        let i = (y & 3) * 4 + (x & 3);
        match self.codec {
            Codec::Fxt1 => fxt1::texel(element, x & 7, y & 3),
            Codec::Bc1 { srgb } => block::bc1(element, i, srgb, false),
            Codec::Bc1Opaque { srgb } => block::bc1(element, i, srgb, true),
            Codec::Bc2 { srgb } => block::bc2(element, i, srgb),
            Codec::Bc3 { srgb } => block::bc3(element, i, srgb),
            Codec::Bc4 { signed } => [block::bc4(element, 0, i, signed), 0, 0, ONE],
            Codec::Bc5 { signed } => {
                let channel = |at| block::bc4(element, at, i, signed);
                [channel(0), channel(8), 0, ONE]
            }
            Codec::Bc6h { signed } => bptc::bc6h(element, i, signed),
            Codec::Bc7 { srgb } => bptc::bc7(element, i, srgb),
            Codec::Etc { kind, alpha, srgb } => etc::texel(element, (x, y), (kind, alpha, srgb)),
            Codec::Eac { signed, two } => {
                let channel = |at| etc::eleven(element, at, (x, y), signed);
                [channel(0), if two { channel(8) } else { 0 }, 0, ONE]
            }
            Codec::Ycrcb { luma, cb, cr } => {
                let y_at = (luma as u32 + 2 * (x & 1)) as usize & 3;
                let f = |at: usize| num::unorm8_to_f32(element[at & 3]).to_bits();
                [f(cr as usize), f(y_at), f(cb as usize), ONE]
            }
            Codec::Bit | Codec::Mono8 => {
                // The first texel is bit 7, as Microsoft's DirectXTex reads R1_UNORM and as monochrome bitmaps have it.
                let bit = element[0] >> (7 - (x & 7)) & 1;
                [(bit as f32).to_bits(), 0, 0, ONE]
            }
            _ => self.unpack(element),
        }
    }

    /// The element of four channels (register bits); the first [`Self::bytes`] bytes count.
    #[inline]
    pub fn pack(&self, colour: [u32; 4]) -> [u8; 16] {
        (self.pack)(self, colour)
    }

    /// The element's bits that belong to a set of channels (bit 0 red .. bit 3 alpha).
    pub fn channel_mask(&self, channels: u32) -> u128 {
        match &self.codec {
            Codec::Channels(sources) => channel::mask(sources, channels),
            _ => u128::MAX,
        }
    }

    /// Width in bits of a channel (0 red .. 3 alpha); 0 when the element has none.
    pub fn channel_bits(&self, channel: usize) -> u32 {
        match &self.codec {
            Codec::Channels(sources) => match sources.get(channel) {
                Some(Source::Field { bits, .. }) => *bits as u32,
                _ => 0,
            },
            _ => 8,
        }
    }

    /// Number format of a channel, when the element has it.
    pub fn channel_kind(&self, channel: usize) -> Option<Kind> {
        match &self.codec {
            Codec::Channels(sources) => match sources.get(channel) {
                Some(Source::Field { kind, .. }) => Some(*kind),
                _ => None,
            },
            _ => None,
        }
    }
}

const ONE: u32 = 0x3f80_0000;

const fn class_of(codec: &Codec) -> Class {
    if let Codec::Channels(sources) = codec {
        let mut i = 0;
        while i < 4 {
            if let Source::Field { kind, .. } = sources[i] {
                match kind {
                    Kind::Uint => return Class::Uint,
                    Kind::Sint => return Class::Sint,
                    _ => {}
                }
            }
            i += 1;
        }
    }
    Class::Float
}

fn unpack_any(format: &Format, element: &[u8; 16]) -> [u32; 4] {
    match &format.codec {
        Codec::Channels(sources) => channel::unpack(sources, element),
        Codec::SharedExponent => {
            let [r, g, b] = num::rgb9e5_to_f32x3(le32(element)).map(f32::to_bits);
            [r, g, b, ONE]
        }
        // The sampler, which has the palette, turns the index in red into a colour.
        Codec::Palette { index, alpha, .. } => {
            let field = |(start, bits): (u8, u8)| {
                le32(element) >> start & num::norm::max_unsigned(u32::from(bits.clamp(1, 32)))
            };
            let alpha = match alpha.1 {
                0 => ONE,
                bits => num::norm::unorm_to_f32(field(*alpha), u32::from(bits)).to_bits(),
            };
            [field(*index), 0, 0, alpha]
        }
        _ => format.unpack_block(element, 0, 0),
    }
}

fn pack_any(format: &Format, colour: [u32; 4]) -> [u8; 16] {
    match &format.codec {
        Codec::Channels(sources) => channel::pack(sources, colour),
        Codec::SharedExponent => {
            let [r, g, b, _] = colour.map(f32::from_bits);
            let mut out = [0; 16];
            out[..4].copy_from_slice(&num::f32x3_to_rgb9e5([r, g, b]).to_le_bytes());
            out
        }
        _ => [0; 16],
    }
}

#[inline]
fn le32(element: &[u8; 16]) -> u32 {
    u32::from_le_bytes([element[0], element[1], element[2], element[3]])
}

/// Hot formats have their own functions; all give what the general one gives.
const fn unpacker(code: u32) -> Unpack {
    match code {
        f::R32G32B32A32_FLOAT | f::R32G32B32A32_SINT | f::R32G32B32A32_UINT => {
            |_, e| [0, 1, 2, 3].map(|i| whole(e, i))
        }
        f::B8G8R8A8_UNORM => |_, e| [unorm8(e[2]), unorm8(e[1]), unorm8(e[0]), unorm8(e[3])],
        f::B8G8R8X8_UNORM => |_, e| [unorm8(e[2]), unorm8(e[1]), unorm8(e[0]), ONE],
        f::R8G8B8A8_UNORM => |_, e| [unorm8(e[0]), unorm8(e[1]), unorm8(e[2]), unorm8(e[3])],
        f::R8G8B8X8_UNORM => |_, e| [unorm8(e[0]), unorm8(e[1]), unorm8(e[2]), ONE],
        f::A8_UNORM => |_, e| [0, 0, 0, unorm8(e[0])],
        f::I8_UNORM => |_, e| [unorm8(e[0]); 4],
        f::L8_UNORM => |_, e| {
            let l = unorm8(e[0]);
            [l, l, l, ONE]
        },
        f::L8A8_UNORM => |_, e| {
            let l = unorm8(e[0]);
            [l, l, l, unorm8(e[1])]
        },
        f::R8_UNORM => |_, e| [unorm8(e[0]), 0, 0, ONE],
        // What drivers copy in, whatever the texels mean.
        f::R8_UINT => |_, e| [e[0].into(), 0, 0, 1],
        f::R8G8_UINT => |_, e| [e[0].into(), e[1].into(), 0, 1],
        f::R8G8B8A8_UINT => |_, e| [e[0], e[1], e[2], e[3]].map(u32::from),
        f::R16_UINT => |_, e| [half(e, 0), 0, 0, 1],
        f::R16G16_UINT => |_, e| [half(e, 0), half(e, 1), 0, 1],
        f::R16G16B16A16_UINT => |_, e| [0, 1, 2, 3].map(|i| half(e, i)),
        f::R32_UINT => |_, e| [whole(e, 0), 0, 0, 1],
        f::R32G32_UINT => |_, e| [whole(e, 0), whole(e, 1), 0, 1],
        _ => unpack_any,
    }
}

#[inline]
fn half(e: &[u8; 16], i: usize) -> u32 {
    u16::from_le_bytes([e[2 * i], e[2 * i + 1]]).into()
}

#[inline]
fn whole(e: &[u8; 16], i: usize) -> u32 {
    u32::from_le_bytes([e[4 * i], e[4 * i + 1], e[4 * i + 2], e[4 * i + 3]])
}

const fn packer(code: u32) -> Pack {
    match code {
        f::B8G8R8A8_UNORM => |_, c| {
            let mut out = [0; 16];
            out[..4].copy_from_slice(&[byte(c[2]), byte(c[1]), byte(c[0]), byte(c[3])]);
            out
        },
        f::R8G8B8A8_UNORM => |_, c| {
            let mut out = [0; 16];
            out[..4].copy_from_slice(&[byte(c[0]), byte(c[1]), byte(c[2]), byte(c[3])]);
            out
        },
        f::R8_UINT => |_, c| element(c[0].min(0xff).into()),
        f::R8G8_UINT => |_, c| element(lanes(&c[..2], 8)),
        f::R8G8B8A8_UINT => |_, c| element(lanes(&c, 8)),
        f::R16_UINT => |_, c| element(c[0].min(0xffff).into()),
        f::R16G16_UINT => |_, c| element(lanes(&c[..2], 16)),
        f::R16G16B16A16_UINT => |_, c| element(lanes(&c, 16)),
        f::R32_UINT => |_, c| element(c[0].into()),
        f::R32G32_UINT => |_, c| element(u64::from(c[0]) | u64::from(c[1]) << 32),
        f::R32G32B32A32_FLOAT | f::R32G32B32A32_UINT => {
            |_, c| zerocopy::transmute!(c.map(u32::to_le))
        }
        _ => pack_any,
    }
}

/// Integers of so many bits, each at most the greatest of these, from the lowest bit on.
#[inline]
fn lanes(values: &[u32], bits: u32) -> u64 {
    let greatest = u32::MAX >> (32 - bits);
    values
        .iter()
        .rev()
        .fold(0, |word, &v| word << bits | u64::from(v.min(greatest)))
}

/// The element of a quadword.
#[inline]
fn element(word: u64) -> [u8; 16] {
    zerocopy::transmute!([word.to_le(), 0])
}

#[inline]
fn unorm8(v: u8) -> u32 {
    num::unorm8_to_f32(v).to_bits()
}

#[inline]
fn byte(v: u32) -> u8 {
    num::f32_to_unorm(f32::from_bits(v), 8) as u8
}

#[cfg(test)]
mod tests;

//! The formats of the register crate's tables, with the codec that each needs.
//!
//! PRM: volume 4 4.7.2.1.1 (encodings, channels, capabilities) and 4.7.2.1.2 (what channels
//! become). Not modelled: formats that the table lacks.

use super::channel::{self, ONE, ONE_INT, Source, ZERO};
use super::etc::Kind;
use super::{Codec, Format};
use regs::any::SURFACE_FORMATS;
use regs::desc::{ChannelDesc, ChannelKind, SurfaceFormatDesc};

/// The layouts that all generations share.
static ROWS: [Format; SURFACE_FORMATS.len()] = rows(&SURFACE_FORMATS);
/// The same by code.
pub(crate) static LAYOUTS: Formats = Formats::new(&ROWS);

const NO_FORMAT: u8 = u8::MAX;

/// The formats of a generation, with what it can do with them.
#[derive(Debug)]
pub struct Formats {
    rows: &'static [Format],
    /// Format code -> row.
    index: [u8; 512],
}

impl Formats {
    /// Formats by rising code.
    ///
    /// # Panics
    ///
    /// When there are more than 255, or a code is not below 512: in a constant, which does not compile then.
    pub const fn new(rows: &'static [Format]) -> Self {
        let mut index = [NO_FORMAT; 512];
        let mut i = 0;
        while i < rows.len() {
            // CAST: fewer than 256 rows, as an assertion of the compiler says.
            assert!(i < NO_FORMAT as usize);
            index[rows[i].code as usize] = i as u8;
            i += 1;
        }
        Formats { rows, index }
    }

    /// The format of an encoding, or `None` when the generation has no such row.
    #[inline]
    pub fn lookup(&self, code: u32) -> Option<&'static Format> {
        let row = *self.index.get(code as usize)?;
        self.rows.get(usize::from(row))
    }

    /// All of them, by rising code.
    pub fn rows(&self) -> &'static [Format] {
        self.rows
    }
}

/// The formats of a generation's table.
pub const fn rows<const N: usize>(descs: &[SurfaceFormatDesc; N]) -> [Format; N] {
    let mut out = [Format::new(&descs[0], codec(&descs[0])); N];
    let mut i = 1;
    while i < N {
        out[i] = Format::new(&descs[i], codec(&descs[i]));
        i += 1;
    }
    out
}

/// The codec: formats that are no plain fields are named here, by their encoding.
const fn codec(desc: &SurfaceFormatDesc) -> Codec {
    match desc.code {
        0x0ed => Codec::SharedExponent,
        // Byte orders by the FOURCC that drivers use them for: YUY2, VYUY, YVYU, UYVY.
        0x182 => ycrcb(0, 1, 3),
        0x183 => ycrcb(1, 2, 0),
        0x18f => ycrcb(0, 3, 1),
        0x190 => ycrcb(1, 0, 2),
        0x180 => Codec::Bc1Opaque { srgb: true },
        0x191 => Codec::Bc1Opaque { srgb: false },
        0x186 => Codec::Bc1 { srgb: false },
        0x187 => Codec::Bc2 { srgb: false },
        0x188 => Codec::Bc3 { srgb: false },
        0x189 => Codec::Bc4 { signed: false },
        0x18a => Codec::Bc5 { signed: false },
        0x199 => Codec::Bc4 { signed: true },
        0x19a => Codec::Bc5 { signed: true },
        0x18b => Codec::Bc1 { srgb: true },
        0x18c => Codec::Bc2 { srgb: true },
        0x18d => Codec::Bc3 { srgb: true },
        0x181 => Codec::Bit,
        0x18e => Codec::Mono8,
        0x192 => Codec::Fxt1,
        0x1a1 => Codec::Bc6h { signed: true },
        0x1a4 => Codec::Bc6h { signed: false },
        0x1a2 => Codec::Bc7 { srgb: false },
        0x1a3 => Codec::Bc7 { srgb: true },
        0x1a9 => etc(Kind::First, false, false),
        0x1aa => etc(Kind::Second, false, false),
        0x1af => etc(Kind::Second, false, true),
        0x1c0 => etc(Kind::PunchThrough, false, false),
        0x1c1 => etc(Kind::PunchThrough, false, true),
        0x1c2 => etc(Kind::Second, true, false),
        0x1c3 => etc(Kind::Second, true, true),
        0x1ab => eac(false, false),
        0x1ac => eac(false, true),
        0x1ad => eac(true, false),
        0x1ae => eac(true, true),
        _ => plain(desc.channels, desc.name),
    }
}

/// Index and alpha fields of a palette format, in the order of its name, which ends with the number of the palette.
const fn palette(channels: &[ChannelDesc], name: &str) -> Codec {
    let mut index = (0, 0);
    let mut alpha = (0, 0);
    let mut i = 0;
    while i < channels.len() {
        let field = (channels[i].start, channels[i].bits);
        match channels[i].letter {
            b'A' => alpha = field,
            _ => index = field,
        }
        i += 1;
    }
    let second = matches!(name.as_bytes(), [.., b'1']);
    Codec::Palette {
        second,
        index,
        alpha,
    }
}

const fn etc(kind: Kind, alpha: bool, srgb: bool) -> Codec {
    Codec::Etc { kind, alpha, srgb }
}

const fn eac(signed: bool, two: bool) -> Codec {
    Codec::Eac { signed, two }
}

const fn ycrcb(luma: u8, cb: u8, cr: u8) -> Codec {
    Codec::Ycrcb { luma, cb, cr }
}

/// What a channel's field reads as, `None` for bits that are not used.
const fn source(c: ChannelDesc) -> Option<Source> {
    let kind = match c.kind {
        ChannelKind::Unorm => channel::Kind::Unorm,
        ChannelKind::Snorm => channel::Kind::Snorm,
        ChannelKind::Uint => channel::Kind::Uint,
        ChannelKind::Sint => channel::Kind::Sint,
        ChannelKind::Uscaled => channel::Kind::Uscaled,
        ChannelKind::Sscaled => channel::Kind::Sscaled,
        ChannelKind::Float => channel::Kind::Float,
        ChannelKind::Srgb => channel::Kind::Srgb,
        ChannelKind::Sfixed => channel::Kind::Sfixed,
        ChannelKind::Unused | ChannelKind::SharedExponent => return None,
    };
    Some(Source::Field {
        shift: c.start as u16,
        bits: c.bits,
        kind,
    })
}

/// Plain fields: L goes to red, green and blue, I to all four; missing colours read as 0 and a
/// missing alpha as 1 (PRM volume 4 4.7.2.1.2).
const fn plain(channels: &[ChannelDesc], name: &str) -> Codec {
    let mut out = [ZERO, ZERO, ZERO, ONE];
    let mut i = 0;
    while i < channels.len() {
        if let Some(field) = source(channels[i]) {
            if matches!(channels[i].kind, ChannelKind::Uint | ChannelKind::Sint)
                && matches!(out[3], Source::Const(_))
            {
                out[3] = ONE_INT;
            }
            match channels[i].letter {
                b'R' => out[0] = field,
                b'G' => out[1] = field,
                b'B' => out[2] = field,
                b'A' => out[3] = field,
                b'L' => (out[0], out[1], out[2]) = (field, field, field),
                b'I' => out = [field; 4],
                _ => return palette(channels, name),
            }
        }
        i += 1;
    }
    Codec::Channels(out)
}

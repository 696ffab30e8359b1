//! Header and mode dwords of 2D commands, and the opcodes.
//!
//! PRM: volume 1, blitter (BR00, BR13; fields from genxml XY_COLOR_BLT, XY_SRC_COPY_BLT,
//! XY_SETUP_BLT and the 815 manual's BR13). Not modelled: must-be-zero bits.

use super::Rect;

/// Opcodes (header bits 28:22).
pub mod opcode {
    #![expect(missing_docs, reason = "the names are the manual's")]
    pub const XY_SETUP_BLT: u32 = 0x01;
    pub const XY_SETUP_CLIP_BLT: u32 = 0x03;
    pub const XY_SETUP_MONO_PATTERN_SL_BLT: u32 = 0x11;
    pub const XY_PIXEL_BLT: u32 = 0x24;
    pub const XY_SCANLINES_BLT: u32 = 0x25;
    pub const XY_TEXT_BLT: u32 = 0x26;
    pub const XY_TEXT_IMMEDIATE_BLT: u32 = 0x31;
    pub const COLOR_BLT: u32 = 0x40;
    pub const SRC_COPY_BLT: u32 = 0x43;
    pub const XY_COLOR_BLT: u32 = 0x50;
    pub const XY_PAT_BLT: u32 = 0x51;
    pub const XY_MONO_PAT_BLT: u32 = 0x52;
    pub const XY_SRC_COPY_BLT: u32 = 0x53;
    pub const XY_MONO_SRC_COPY_BLT: u32 = 0x54;
    pub const XY_FULL_BLT: u32 = 0x55;
    pub const XY_FULL_MONO_SRC_BLT: u32 = 0x56;
    pub const XY_FULL_MONO_PATTERN_BLT: u32 = 0x57;
    pub const XY_FULL_MONO_PATTERN_MONO_SRC_BLT: u32 = 0x58;
    pub const XY_MONO_PAT_FIXED_BLT: u32 = 0x59;
    pub const XY_MONO_SRC_COPY_IMMEDIATE_BLT: u32 = 0x71;
    pub const XY_PAT_BLT_IMMEDIATE: u32 = 0x72;
    pub const XY_SRC_COPY_CHROMA_BLT: u32 = 0x73;
    pub const XY_FULL_IMMEDIATE_PATTERN_BLT: u32 = 0x74;
    pub const XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT: u32 = 0x75;
    pub const XY_PAT_CHROMA_BLT: u32 = 0x76;
    pub const XY_PAT_CHROMA_BLT_IMMEDIATE: u32 = 0x77;

    /// Opcode, name, fewest dwords.
    pub const NAMES: [(u32, &str, usize); 26] = [
        (XY_SETUP_BLT, "XY_SETUP_BLT", 8),
        (XY_SETUP_CLIP_BLT, "XY_SETUP_CLIP_BLT", 3),
        (
            XY_SETUP_MONO_PATTERN_SL_BLT,
            "XY_SETUP_MONO_PATTERN_SL_BLT",
            9,
        ),
        (XY_PIXEL_BLT, "XY_PIXEL_BLT", 2),
        (XY_SCANLINES_BLT, "XY_SCANLINES_BLT", 3),
        (XY_TEXT_BLT, "XY_TEXT_BLT", 4),
        (XY_TEXT_IMMEDIATE_BLT, "XY_TEXT_IMMEDIATE_BLT", 3),
        (COLOR_BLT, "COLOR_BLT", 5),
        (SRC_COPY_BLT, "SRC_COPY_BLT", 6),
        (XY_COLOR_BLT, "XY_COLOR_BLT", 6),
        (XY_PAT_BLT, "XY_PAT_BLT", 6),
        (XY_MONO_PAT_BLT, "XY_MONO_PAT_BLT", 9),
        (XY_SRC_COPY_BLT, "XY_SRC_COPY_BLT", 8),
        (XY_MONO_SRC_COPY_BLT, "XY_MONO_SRC_COPY_BLT", 8),
        (XY_FULL_BLT, "XY_FULL_BLT", 9),
        (XY_FULL_MONO_SRC_BLT, "XY_FULL_MONO_SRC_BLT", 9),
        (XY_FULL_MONO_PATTERN_BLT, "XY_FULL_MONO_PATTERN_BLT", 12),
        (
            XY_FULL_MONO_PATTERN_MONO_SRC_BLT,
            "XY_FULL_MONO_PATTERN_MONO_SRC_BLT",
            12,
        ),
        (XY_MONO_PAT_FIXED_BLT, "XY_MONO_PAT_FIXED_BLT", 7),
        (
            XY_MONO_SRC_COPY_IMMEDIATE_BLT,
            "XY_MONO_SRC_COPY_IMMEDIATE_BLT",
            7,
        ),
        (XY_PAT_BLT_IMMEDIATE, "XY_PAT_BLT_IMMEDIATE", 5),
        (XY_SRC_COPY_CHROMA_BLT, "XY_SRC_COPY_CHROMA_BLT", 10),
        (
            XY_FULL_IMMEDIATE_PATTERN_BLT,
            "XY_FULL_IMMEDIATE_PATTERN_BLT",
            8,
        ),
        (
            XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT,
            "XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT",
            8,
        ),
        (XY_PAT_CHROMA_BLT, "XY_PAT_CHROMA_BLT", 8),
        (
            XY_PAT_CHROMA_BLT_IMMEDIATE,
            "XY_PAT_CHROMA_BLT_IMMEDIATE",
            7,
        ),
    ];
}

/// The header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Br00(pub u32);

impl Br00 {
    /// Opcode, bits 28:22.
    pub const fn opcode(self) -> u32 {
        self.0 >> 22 & 0x7f
    }
    /// Client, bits 31:29: 2 for this unit.
    pub const fn client(self) -> u32 {
        self.0 >> 29
    }
    /// 32bpp byte mask, bit 21 alpha, bit 20 colours: the bits of a pixel that are written.
    pub const fn write_bits(self) -> u32 {
        (if self.0 >> 21 & 1 == 1 {
            0xff00_0000
        } else {
            0
        }) | (if self.0 >> 20 & 1 == 1 {
            0x00ff_ffff
        } else {
            0
        })
    }
    /// Bit position of the first mono source pixel in its byte, bits 19:17.
    pub const fn mono_bit(self) -> u32 {
        self.0 >> 17 & 7
    }
    /// Text is byte packed rather than bit packed, bit 16.
    pub const fn byte_packed(self) -> bool {
        self.0 >> 16 & 1 == 1
    }
    /// Source is X-tiled, bit 15.
    pub const fn source_tiled(self) -> bool {
        self.0 >> 15 & 1 == 1
    }
    /// Pattern column at destination X 0, bits 14:12.
    pub const fn horizontal_seed(self) -> u32 {
        self.0 >> 12 & 7
    }
    /// Destination is X-tiled, bit 11.
    pub const fn destination_tiled(self) -> bool {
        self.0 >> 11 & 1 == 1
    }
    /// Pattern row at destination Y 0, bits 10:8.
    pub const fn vertical_seed(self) -> u32 {
        self.0 >> 8 & 7
    }
}

/// The mode dword (BR13, and BR01 of the setup commands).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Br13(pub u32);

impl Br13 {
    /// The mono pattern counts as all ones, bit 31.
    pub const fn solid_pattern(self) -> bool {
        self.0 >> 31 == 1
    }
    /// Clipping (XY commands), bit 30.
    pub const fn clipping(self) -> bool {
        self.0 >> 30 & 1 == 1
    }
    /// Right to left (SRC_COPY_BLT), bit 30.
    pub const fn right_to_left(self) -> bool {
        self.clipping()
    }
    /// Mono source pixels of 0 are not written, bit 29.
    pub const fn mono_source_transparent(self) -> bool {
        self.0 >> 29 & 1 == 1
    }
    /// Mono pattern pixels of 0 are not written, bit 28.
    pub const fn mono_pattern_transparent(self) -> bool {
        self.0 >> 28 & 1 == 1
    }
    /// Bytes of a pixel: depth field, bits 25:24.
    pub const fn bytes(self) -> u32 {
        match self.0 >> 24 & 3 {
            0 => 1,
            3 => 4,
            _ => 2,
        }
    }
    /// Raster operation, bits 23:16.
    pub const fn rop(self) -> u8 {
        (self.0 >> 16) as u8
    }
    /// Pitch as it stands, bits 15:0, signed: bytes, or dwords when tiled.
    pub const fn pitch(self) -> i32 {
        self.0 as u16 as i16 as i32
    }
}

/// X (15:0) and Y (31:16) of a coordinate dword, signed.
pub const fn point(dword: u32) -> (i32, i32) {
    (
        dword as u16 as i16 as i32,
        (dword >> 16) as u16 as i16 as i32,
    )
}

/// The rectangle of two coordinate dwords.
pub const fn rect(first: u32, second: u32) -> Rect {
    let (x1, y1) = point(first);
    let (x2, y2) = point(second);
    Rect { x1, y1, x2, y2 }
}

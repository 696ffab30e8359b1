//! Run-time descriptors of registers, commands, structures and formats.
//! Instances cite their chapters.
//! Does not read memory: `decode` does.

use crate::ids::{CommandId, RegId};

/// What a read and a write of a register or field do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Writes are dropped.
    Ro,
    /// Plain storage.
    Rw,
    /// Reads give zero; the unit sees the written value.
    Wo,
    /// A written one clears the bit.
    W1c,
    /// A written one sets the bit.
    W1s,
    /// Bits 31:16 are the write enables of bits 15:0 and read as zero.
    Masked,
    /// Storage that a write replaces and a read clears.
    Rc,
}

impl Access {
    /// The word used in tables and listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ro => "ro",
            Self::Rw => "rw",
            Self::Wo => "wo",
            Self::W1c => "w1c",
            Self::W1s => "w1s",
            Self::Masked => "masked",
            Self::Rc => "rc",
        }
    }
}

/// Address space of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// The register BAR.
    Mmio,
    /// PCI configuration space.
    Pci,
}

/// A named value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueDesc {
    /// The encoding.
    pub value: u32,
    /// The manual's name.
    pub name: &'static str,
    /// One line, may be empty.
    pub summary: &'static str,
}

/// A field of an MMIO register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDesc {
    /// The manual's name.
    pub name: &'static str,
    /// Highest bit, counted through all dwords.
    pub hi: u8,
    /// Lowest bit.
    pub lo: u8,
    /// What reads and writes do.
    pub access: Access,
    /// Value after reset, `None` when undefined.
    pub reset: Option<u128>,
    /// Must be zero.
    pub mbz: bool,
    /// Acts only while the global debug enable is set.
    pub qualified: bool,
    /// The values are outputs of a debug multiplexer.
    pub mux: bool,
    /// Named values.
    pub values: &'static [ValueDesc],
    /// One line, may be empty.
    pub summary: &'static str,
}

impl FieldDesc {
    /// The field's bits of a register value, right-aligned.
    pub const fn get(&self, register: u128) -> u128 {
        let width = self.hi as u32 - self.lo as u32 + 1;
        (register >> self.lo) & (u128::MAX >> (128 - width))
    }

    /// Name of a field value, if it has one.
    pub fn value_name(&self, value: u128) -> Option<&'static str> {
        self.values
            .iter()
            .find(|v| u128::from(v.value) == value)
            .map(|v| v.name)
    }
}

/// Which bits of one register dword do what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DwordRules {
    /// A write replaces these.
    pub rw: u32,
    /// A written one clears these.
    pub w1c: u32,
    /// A written one sets these.
    pub w1s: u32,
    /// Written under the enables in bits 31:16.
    pub masked: u32,
    /// A read shows these; the others read as zero.
    pub readable: u32,
    /// A read clears these.
    pub rc: u32,
    /// Value after reset, undefined bits zero.
    pub reset: u32,
}

/// An MMIO register or register array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterDesc {
    /// Its name as an enumeration value.
    pub id: RegId,
    /// The manual's name.
    pub name: &'static str,
    /// Where `offset` counts.
    pub space: Space,
    /// Byte offset of element 0.
    pub offset: u32,
    /// 32, 64 or 128.
    pub bits: u32,
    /// Elements of an array, else 1.
    pub count: u32,
    /// Bytes between elements.
    pub stride: u32,
    /// What reads and writes do where a field says nothing else.
    pub access: Access,
    /// Value after reset, `None` when undefined.
    pub reset: Option<u128>,
    /// The unit that implements it.
    pub unit: &'static str,
    /// Fields as the manual lists them.
    pub fields: &'static [FieldDesc],
    /// Bits per dword that act on writes.
    pub rules: &'static [DwordRules],
    /// Document and section.
    pub cite: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What the manual says wrongly or twice; may be empty.
    pub anomaly: &'static str,
    /// Device or stepping on which alone it exists; may be empty.
    pub config: &'static str,
}

impl RegisterDesc {
    /// Number of dwords of one element.
    pub const fn dwords(&self) -> u32 {
        self.bits / 32
    }

    /// Rules of a dword; one outside the register drops everything.
    pub fn rules(&self, dword: u32) -> DwordRules {
        self.rules.get(dword as usize).copied().unwrap_or_default()
    }

    /// Stored value of a dword after `new` was written over `old`.
    ///
    /// Write-only bits are stored as written: the unit acts on them, and [`Self::read`] hides them.
    pub fn write(&self, dword: u32, old: u32, new: u32) -> u32 {
        let r = self.rules(dword);
        let plain = (old & !r.rw) | (new & r.rw);
        let cleared = plain & !(new & r.w1c);
        let set = cleared | (new & r.w1s);
        let enabled = (new >> 16) & r.masked;
        (set & !enabled) | (new & enabled)
    }

    /// What a read of a stored dword shows.
    pub fn read(&self, dword: u32, stored: u32) -> u32 {
        stored & self.rules(dword).readable
    }

    /// Value of a dword after reset; undefined bits are zero.
    pub fn reset_dword(&self, dword: u32) -> u32 {
        self.rules(dword).reset
    }
}

/// How a packed field is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned integer.
    Uint,
    /// Two's complement integer.
    Int,
    /// One bit.
    Bool,
    /// IEEE single.
    Float,
    /// Fixed point with this many fraction bits.
    Fixed {
        /// Two's complement.
        signed: bool,
        /// Fraction bits.
        frac: u8,
    },
    /// Byte address or offset, kept in place.
    Address,
    /// A whole structure.
    Struct(&'static StructDesc),
}

/// A field of a command or state structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedField {
    /// The manual's name.
    pub name: &'static str,
    /// First bit, counted from bit 0 of dword 0.
    pub start: u16,
    /// Number of bits.
    pub width: u16,
    /// How the bits are read.
    pub kind: Kind,
    /// What the number counts, e.g. `minus 1`; may be empty.
    pub scale: &'static str,
    /// Base and thing an address points at, e.g. `general:VS_STATE`; may be empty.
    pub target: &'static str,
    /// Named values.
    pub values: &'static [ValueDesc],
    /// One line, may be empty.
    pub summary: &'static str,
}

impl PackedField {
    /// Raw bits, right-aligned, or in place for addresses; missing dwords read as zero.
    pub fn raw(&self, dwords: &[u32]) -> u64 {
        let at = |i: u32| dwords.get(i as usize).copied().unwrap_or(0);
        let (start, width) = (u32::from(self.start), u32::from(self.width).min(64));
        let mut out = 0u64;
        let mut done = 0;
        while done < width {
            let bit = start + done;
            let take = (32 - bit % 32).min(width - done);
            let part = u64::from(at(bit / 32) >> (bit % 32)) & (u64::MAX >> (64 - take));
            out |= part << done;
            done += take;
        }
        if matches!(self.kind, Kind::Address) {
            out << (start % 32)
        } else {
            out
        }
    }

    /// Name of a raw value, if it has one.
    pub fn value_name(&self, raw: u64) -> Option<&'static str> {
        self.values
            .iter()
            .find(|v| u64::from(v.value) == raw)
            .map(|v| v.name)
    }
}

/// A state structure in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StructDesc {
    /// The manual's name.
    pub name: &'static str,
    /// Size.
    pub dwords: u32,
    /// Unit that reads it.
    pub unit: &'static str,
    /// Bytes its address is aligned to.
    pub align: u32,
    /// Fields by position.
    pub fields: &'static [PackedField],
    /// Document and section.
    pub cite: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What the manual says wrongly or twice; may be empty.
    pub anomaly: &'static str,
}

/// Repeated trailing part of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupDesc {
    /// Name of an element.
    pub name: &'static str,
    /// First dword.
    pub dword: u32,
    /// Dwords of an element.
    pub dwords: u32,
    /// Elements, 0 for up to the end of the command.
    pub count: u32,
    /// Structure of an element, `None` for plain dwords.
    pub structure: Option<&'static StructDesc>,
}

/// How the total number of dwords follows from the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthRule {
    /// Always so many.
    Fixed(u32),
    /// Header bits 5:0 plus two.
    Bits6,
    /// Header bits 7:0 plus two.
    Bits8,
    /// Header bits 15:0 plus two.
    Bits16,
}

/// What a command does, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Property {
    /// It starts a draw of the 3D pipeline.
    Draw,
    /// It starts threads of the media pipeline.
    Object,
    /// It sets state that a logical context keeps.
    Context,
    /// Draws depend on what it sets.
    DrawState,
    /// It leaves everything as it is, or only assigns what stands in it: a second execution changes nothing.
    Idempotent,
    /// It stores to memory by itself: at an address that it holds, or into the status page.
    Stores,
    /// It ends the batch.
    Ends,
    /// It goes on in another batch.
    Chains,
}

/// Which forms of a command are for the ring and secure batches alone: those that reach beyond the client's own memory
/// and state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// Batches of users may have it.
    None,
    /// All forms.
    Always,
    /// The form in which a field is zero.
    Unless {
        /// First bit of the field, counted from bit 0 of dword 0.
        start: u16,
        /// Its bits.
        width: u16,
    },
    /// The forms in which a field is not zero.
    When {
        /// As above.
        start: u16,
        /// As above.
        width: u16,
    },
}

/// Engines with command streamers of their own, by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Engine {
    /// 3D and media pipeline; the blitter, too, where that has no engine of its own.
    Render,
    /// Blitter.
    Blitter,
    /// Video decoder.
    Video,
}

/// A command of ring and batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandDesc {
    /// Its name as an enumeration value.
    pub id: CommandId,
    /// The manual's name.
    pub name: &'static str,
    /// Unit that executes it.
    pub unit: &'static str,
    /// Header bits that identify it.
    pub mask: u32,
    /// Their value.
    pub value: u32,
    /// Header of the usual form.
    pub header: u32,
    /// Fewest dwords a decoder accepts.
    pub min_dwords: u32,
    /// How long it is.
    pub length: LengthRule,
    /// A bit for each [`Property`].
    pub properties: u16,
    /// Whether batches of users may have it.
    pub privilege: Privilege,
    /// A bit for each [`Engine`] whose streamer takes it.
    pub engines: u8,
    /// Fields by position, without opcode.
    pub fields: &'static [PackedField],
    /// Repeated trailing part.
    pub group: Option<GroupDesc>,
    /// Document and section.
    pub cite: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What the manual says wrongly or twice; may be empty.
    pub anomaly: &'static str,
    /// Device or stepping on which alone it exists; may be empty.
    pub config: &'static str,
}

/// A field of one dword; a dword that is not there is zero.
fn raw(dwords: &[u32], start: u16, width: u16) -> u32 {
    let dword = dwords.get(usize::from(start / 32)).copied().unwrap_or(0);
    let mask = u32::MAX >> (32 - u32::from(width).clamp(1, 32));
    dword >> (start % 32) & mask
}

impl CommandDesc {
    /// Whether it has a property.
    pub const fn is(&self, property: Property) -> bool {
        self.properties >> property as u8 & 1 == 1
    }

    /// Whether the streamer of an engine takes it, on a device that has the engine.
    #[inline]
    pub const fn runs_on(&self, engine: Engine) -> bool {
        self.engines >> engine as u8 & 1 == 1
    }

    /// Whether these dwords of it are for the ring and secure batches alone.
    pub fn is_privileged(&self, dwords: &[u32]) -> bool {
        match self.privilege {
            Privilege::None => false,
            Privilege::Always => true,
            Privilege::Unless { start, width } => raw(dwords, start, width) == 0,
            Privilege::When { start, width } => raw(dwords, start, width) != 0,
        }
    }

    /// Whether it belongs to the blitter (type 2).
    pub const fn is_blit(&self) -> bool {
        self.value >> 29 == 2
    }

    /// Whether the pipeline has to be empty before it takes effect: type 3, opcode 1, of state that all pipelines share
    /// or of the 3D pipeline (PRM vol1, command headers of type 3).
    pub const fn is_non_pipelined(&self) -> bool {
        self.value >> 29 == 3 && self.value >> 24 & 7 == 1 && self.value >> 27 & 3 != 2
    }

    /// Where a command that goes on in another batch goes, from its dwords; 0 for others.
    pub fn jump_target(&self, dwords: &[u32]) -> u64 {
        let target = self.fields.iter().find(|f| f.target.ends_with(":batch"));
        target.map_or(0, |f| f.raw(dwords))
    }

    /// Its fields that hold addresses or offsets.
    pub fn addresses(&self) -> impl Iterator<Item = &'static PackedField> {
        let fields = self.fields.iter();
        fields.filter(|f| matches!(f.kind, Kind::Address))
    }

    /// Total dwords that a header announces, at least 1.
    pub const fn dwords(&self, header: u32) -> usize {
        let n = match self.length {
            LengthRule::Fixed(n) => n,
            LengthRule::Bits6 => (header & 0x3f) + 2,
            LengthRule::Bits8 => (header & 0xff) + 2,
            LengthRule::Bits16 => (header & 0xffff) + 2,
        };
        n as usize
    }
}

/// How a channel of a format is interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// Unsigned, normalised to 0..=1.
    Unorm,
    /// Signed, normalised to -1..=1.
    Snorm,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Unsigned integer converted to float.
    Uscaled,
    /// Signed integer converted to float.
    Sscaled,
    /// Signed fixed point, half of the bits behind the point.
    Sfixed,
    /// IEEE or small float of the channel's width.
    Float,
    /// Ignored bits.
    Unused,
    /// Unsigned, normalised, sRGB transfer curve.
    Srgb,
    /// Exponent shared by the other channels.
    SharedExponent,
}

/// One channel of a surface format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelDesc {
    /// R, G, B, A, L, I, X, E, P or other letter of the format's name.
    pub letter: u8,
    /// First bit inside the element.
    pub start: u8,
    /// Number of bits.
    pub bits: u8,
    /// Interpretation.
    pub kind: ChannelKind,
}

/// A row of the surface format table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurfaceFormatDesc {
    /// Encoding.
    pub code: u32,
    /// The manual's name.
    pub name: &'static str,
    /// Bits per pixel, or per block of a compressed format.
    pub bits_per_element: u32,
    /// Block width in pixels, 1 when not compressed.
    pub block_width: u32,
    /// Block height in pixels, 1 when not compressed.
    pub block_height: u32,
    /// Channels from bit 0; empty when compressed or packed in another way.
    pub channels: &'static [ChannelDesc],
    /// The sampler reads it.
    pub sampling: bool,
    /// The sampler filters it.
    pub filtering: bool,
    /// Shadow comparison works on it.
    pub shadow: bool,
    /// Chroma key works on it.
    pub chroma_key: bool,
    /// It can be rendered to.
    pub render_target: bool,
    /// It can be blended into.
    pub alpha_blend: bool,
    /// Vertex fetch reads it.
    pub vertex_input: bool,
    /// Streamed vertex output writes it.
    pub streamed_output: bool,
    /// What is special about it; may be empty.
    pub summary: &'static str,
}

impl SurfaceFormatDesc {
    /// The channel with this letter (`b'R'`).
    pub fn channel(&self, letter: u8) -> Option<&'static ChannelDesc> {
        self.channels.iter().find(|c| c.letter == letter)
    }
}

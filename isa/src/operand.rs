//! Operands of an EU instruction: register files, types, regions, modifiers.
//!
//! PRM: volume 4, 11.3 (register files, regions, addressing) and 13.2 (encodings).

/// Register file of an operand (PRM 13.2.3, two-bit `RegFile` fields).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegFile {
    /// Architecture registers: null, a0, acc, f0, mask, ms, msd, sr, cr, n, ip.
    Arf,
    /// General registers r0..r127.
    Grf,
    /// Message registers m0..m15, destination only.
    Mrf,
    /// Immediate, source only.
    Imm,
}

/// Operand data type (PRM 10.2, 13.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Unsigned 32-bit integer.
    Ud,
    /// Signed 32-bit integer.
    D,
    /// Unsigned 16-bit integer.
    Uw,
    /// Signed 16-bit integer.
    W,
    /// Unsigned 8-bit integer, never an immediate.
    Ub,
    /// Signed 8-bit integer, never an immediate.
    B,
    /// IEEE single precision.
    F,
    /// Immediate vector of four restricted 8-bit floats.
    Vf,
    /// Immediate vector of eight signed 4-bit integers.
    V,
    /// Immediate vector of eight unsigned 4-bit integers (Gen6 on).
    Uv,
    /// IEEE double precision (Gen7 on).
    Df,
    /// IEEE half precision (Gen8 on).
    Hf,
    /// Unsigned 64-bit integer (Gen8 on).
    Uq,
    /// Signed 64-bit integer (Gen8 on).
    Q,
}

impl Type {
    /// Size of one element in bytes; immediate vectors count as the element they expand to.
    pub const fn size(self) -> usize {
        match self {
            Type::Ub | Type::B => 1,
            Type::Uw | Type::W | Type::V | Type::Uv | Type::Hf => 2,
            Type::Ud | Type::D | Type::F | Type::Vf => 4,
            Type::Df | Type::Uq | Type::Q => 8,
        }
    }

    /// Whether elements are floating point.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F | Type::Vf | Type::Df | Type::Hf)
    }

    /// Whether elements are signed integers.
    pub const fn is_signed_int(self) -> bool {
        matches!(self, Type::D | Type::W | Type::B | Type::V | Type::Q)
    }
}

/// Where an operand's first element lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addr {
    /// Register number and byte offset inside the register (0..=31). For ARF the number is the
    /// whole eight-bit field: type in bits 7:4, index in bits 3:0.
    Direct {
        /// Register number.
        nr: u8,
        /// Byte offset inside the register.
        subnr: u8,
    },
    /// Register-indirect through a0: byte address = a0.`subreg` + `imm`.
    Indirect {
        /// Address subregister, in words.
        subreg: u8,
        /// Signed byte displacement.
        imm: i16,
    },
}

/// Source region `<vstride;width,hstride>` in elements (PRM 11.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Vertical stride in elements: 0, 1, 2, 4, 8, 16, 32 or [`Region::VXH`].
    pub vstride: u8,
    /// Elements in a row: 1, 2, 4, 8 or 16.
    pub width: u8,
    /// Horizontal stride in elements: 0, 1, 2 or 4.
    pub hstride: u8,
}

/// The type that an architecture register has where a text gives none, for the registers that need none: the instruction pointer and the
/// thread dependency register.
#[must_use]
pub(crate) fn bare_type(nr: u8) -> Option<Type> {
    match nr >> 4 {
        0xa => Some(Type::Ud),
        0xb => Some(Type::Uw),
        _ => None,
    }
}

impl Region {
    /// `vstride` of a Vx1 or VxH region: one address subregister a row, indirect only.
    pub const VXH: u8 = 0xff;
    /// `<0;1,0>`, a scalar.
    pub const SCALAR: Region = Region {
        vstride: 0,
        width: 1,
        hstride: 0,
    };
    /// `<4;4,1>`, what an align16 source of three has.
    pub const VEC4: Region = Region {
        vstride: 4,
        width: 4,
        hstride: 1,
    };
    /// `<8;8,1>`.
    pub const VEC8: Region = Region {
        vstride: 8,
        width: 8,
        hstride: 1,
    };
}

/// Destination operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dst {
    /// Register file: ARF, GRF or MRF.
    pub file: RegFile,
    /// Element type.
    pub ty: Type,
    /// Position.
    pub addr: Addr,
    /// Horizontal stride in elements: 1, 2 or 4 (0 is reserved).
    pub hstride: u8,
    /// Align16 channel enables, bit 0 = x; 0xf in align1.
    pub writemask: u8,
    /// MRF destinations only: write m(n) and m(n+4) halves (COMPR4, G45 and Ironlake).
    pub compr4: bool,
}

impl Dst {
    /// The null register, which an absent destination holds.
    pub const NULL: Dst = Dst {
        file: RegFile::Arf,
        ty: Type::Ud,
        addr: Addr::Direct { nr: 0, subnr: 0 },
        hstride: 1,
        writemask: 0xf,
        compr4: false,
    };
}

/// Source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Src {
    /// Register file: ARF, GRF or immediate (MRF is not readable).
    pub file: RegFile,
    /// Element type.
    pub ty: Type,
    /// Position; `Direct { 0, 0 }` for immediates.
    pub addr: Addr,
    /// Region; in align16 `width` is 4 and `hstride` 1.
    pub region: Region,
    /// Align16 channel select, two bits each, x y z w; the identity in align1.
    pub swizzle: [u8; 4],
    /// Negate modifier, applied after `abs`.
    pub negate: bool,
    /// Absolute value modifier.
    pub abs: bool,
    /// Immediate bits as encoded, word immediates replicated in both halves; above 32 bits only for
    /// the 64-bit types.
    pub imm: u64,
}

impl Src {
    /// Identity swizzle.
    pub const XYZW: [u8; 4] = [0, 1, 2, 3];
    /// The null register as a scalar, which absent sources hold.
    pub const NULL: Src = Src {
        file: RegFile::Arf,
        ty: Type::Ud,
        addr: Addr::Direct { nr: 0, subnr: 0 },
        region: Region::SCALAR,
        swizzle: Src::XYZW,
        negate: false,
        abs: false,
        imm: 0,
    };
}

//! Bit positions of the Gen4 instruction words.
//!
//! PRM: volume 4, 13.2.1-13.2.5; positions cross-checked with Mesa 22.3.6 `brw_inst.h`. Compacted
//! and three-source formats of later generations are not described.

/// A run of bits in one of the four words of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    dword: usize,
    hi: u32,
    lo: u32,
}

impl Field {
    /// Bits `hi:lo` of word `dword` (0..=3).
    pub(crate) const fn new(dword: usize, hi: u32, lo: u32) -> Field {
        Field { dword, hi, lo }
    }

    pub(crate) const fn dword(self) -> usize {
        self.dword & 3
    }

    pub(crate) const fn max(self) -> u32 {
        u32::MAX >> (31 - (self.hi - self.lo))
    }

    pub(crate) const fn mask(self) -> u32 {
        self.max() << self.lo
    }

    pub(crate) const fn get(self, raw: &[u32; 4]) -> u32 {
        (raw[self.dword()] >> self.lo) & self.max()
    }

    pub(crate) const fn flag(self, raw: &[u32; 4]) -> bool {
        self.get(raw) != 0
    }

    /// Value with the top bit as its sign.
    pub(crate) const fn get_signed(self, raw: &[u32; 4]) -> i32 {
        let unused = 31 - (self.hi - self.lo);
        ((self.get(raw) << unused) as i32) >> unused
    }

    pub(crate) const fn place(self, value: u32) -> u32 {
        (value & self.max()) << self.lo
    }
}

pub(crate) const OPCODE: Field = Field::new(0, 6, 0);
pub(crate) const ACCESS_MODE: Field = Field::new(0, 8, 8);
pub(crate) const MASK_CTRL: Field = Field::new(0, 9, 9);
pub(crate) const NO_DD_CLR: Field = Field::new(0, 10, 10);
pub(crate) const NO_DD_CHK: Field = Field::new(0, 11, 11);
pub(crate) const COMPRESSION: Field = Field::new(0, 13, 12);
pub(crate) const THREAD_CTRL: Field = Field::new(0, 15, 14);
pub(crate) const PRED_CTRL: Field = Field::new(0, 19, 16);
pub(crate) const PRED_INV: Field = Field::new(0, 20, 20);
pub(crate) const EXEC_SIZE: Field = Field::new(0, 23, 21);
pub(crate) const COND_MOD: Field = Field::new(0, 27, 24);
pub(crate) const BASE_MRF: Field = Field::new(0, 27, 24);
pub(crate) const DEBUG_CTRL: Field = Field::new(0, 30, 30);
pub(crate) const SATURATE: Field = Field::new(0, 31, 31);

pub(crate) const DST_FILE: Field = Field::new(1, 1, 0);
pub(crate) const DST_TYPE: Field = Field::new(1, 4, 2);
pub(crate) const DST_SUBNR: Field = Field::new(1, 20, 16);
pub(crate) const DST_SUBNR16: Field = Field::new(1, 20, 20);
pub(crate) const DST_WRITEMASK: Field = Field::new(1, 19, 16);
pub(crate) const DST_NR: Field = Field::new(1, 28, 21);
pub(crate) const DST_IA_IMM: Field = Field::new(1, 25, 16);
pub(crate) const DST_IA_IMM16: Field = Field::new(1, 25, 20);
pub(crate) const DST_IA_SUBREG: Field = Field::new(1, 28, 26);
pub(crate) const DST_HSTRIDE: Field = Field::new(1, 30, 29);
pub(crate) const DST_INDIRECT: Field = Field::new(1, 31, 31);

pub(crate) const FLAG_SUBREG: Field = Field::new(2, 25, 25);

pub(crate) const IMM: Field = Field::new(3, 31, 0);
pub(crate) const JUMP_COUNT: Field = Field::new(3, 15, 0);
pub(crate) const POP_COUNT: Field = Field::new(3, 19, 16);

/// Fields of one source operand: file and type in the second word, the rest in its own word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SrcLayout {
    pub(crate) file: Field,
    pub(crate) ty: Field,
    pub(crate) swizzle: [Field; 4],
    pub(crate) subnr: Field,
    pub(crate) subnr16: Field,
    pub(crate) nr: Field,
    pub(crate) ia_imm: Field,
    pub(crate) ia_imm16: Field,
    pub(crate) ia_subreg: Field,
    pub(crate) abs: Field,
    pub(crate) negate: Field,
    pub(crate) indirect: Field,
    pub(crate) hstride: Field,
    pub(crate) width: Field,
    pub(crate) vstride: Field,
}

impl SrcLayout {
    const fn new(dword: usize, file: Field, ty: Field) -> SrcLayout {
        SrcLayout {
            file,
            ty,
            swizzle: [
                Field::new(dword, 1, 0),
                Field::new(dword, 3, 2),
                Field::new(dword, 17, 16),
                Field::new(dword, 19, 18),
            ],
            subnr: Field::new(dword, 4, 0),
            subnr16: Field::new(dword, 4, 4),
            nr: Field::new(dword, 12, 5),
            ia_imm: Field::new(dword, 9, 0),
            ia_imm16: Field::new(dword, 9, 4),
            ia_subreg: Field::new(dword, 12, 10),
            abs: Field::new(dword, 13, 13),
            negate: Field::new(dword, 14, 14),
            indirect: Field::new(dword, 15, 15),
            hstride: Field::new(dword, 17, 16),
            width: Field::new(dword, 20, 18),
            vstride: Field::new(dword, 24, 21),
        }
    }
}

/// The two source operands.
pub(crate) const SRC: [SrcLayout; 2] = [
    SrcLayout::new(2, Field::new(1, 6, 5), Field::new(1, 9, 7)),
    SrcLayout::new(3, Field::new(1, 11, 10), Field::new(1, 14, 12)),
];

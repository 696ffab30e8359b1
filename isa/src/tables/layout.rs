//! Bit positions of the instruction words, one layout a generation.
//!
//! PRM: volume 4, 13.2.1-13.2.5 (Gen4), instruction formats of the later volumes; positions
//! cross-checked with Mesa 22.3.6 `brw_inst.h`. Compacted words are in `compact`.

use super::Verx10;
use super::features::Features;

/// A run of bits in one of the four words of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    dword: usize,
    lo: u32,
    max: u32,
}

impl Field {
    /// A field that the generation does not have: reads as 0, writes vanish.
    pub(crate) const NONE: Field = Field {
        dword: 0,
        lo: 0,
        max: 0,
    };

    /// Bits `hi:lo` of the 128; they lie in one word.
    pub(crate) const fn new(hi: u32, lo: u32) -> Field {
        Field {
            dword: (lo / 32) as usize,
            lo: lo % 32,
            max: u32::MAX >> (31 - (hi - lo)),
        }
    }

    /// One bit of the 128.
    pub(crate) const fn bit(bit: u32) -> Field {
        Field::new(bit, bit)
    }

    pub(crate) const fn dword(self) -> usize {
        self.dword & 3
    }

    pub(crate) const fn mask(self) -> u32 {
        self.max << self.lo
    }

    pub(crate) const fn get(self, raw: &[u32; 4]) -> u32 {
        (raw[self.dword()] >> self.lo) & self.max
    }

    /// Value with the top bit as its sign.
    pub(crate) const fn get_signed(self, raw: &[u32; 4]) -> i32 {
        let unused = self.max.leading_zeros();
        ((self.get(raw) << (unused & 31)) as i32) >> (unused & 31)
    }

    pub(crate) const fn place(self, value: u32) -> u32 {
        (value & self.max) << self.lo
    }
}

/// The last word, which holds immediates of up to 32 bits and descriptors.
pub(crate) const IMM: Field = Field::new(127, 96);

pub(crate) const OPCODE: Field = Field::new(6, 0);
pub(crate) const ACCESS_MODE: Field = Field::bit(8);
pub(crate) const QTR_CTRL: Field = Field::new(13, 12);
pub(crate) const THREAD_CTRL: Field = Field::new(15, 14);
pub(crate) const PRED_CTRL: Field = Field::new(19, 16);
pub(crate) const PRED_INV: Field = Field::bit(20);
pub(crate) const EXEC_SIZE: Field = Field::new(23, 21);
/// Conditional modifier, function of `math`, target of a Gen6 `send`, message register before.
pub(crate) const FUNCTION: Field = Field::new(27, 24);
/// `MaskCtrlEx`, accumulator write control, branch control.
pub(crate) const CONTROL28: Field = Field::bit(28);
pub(crate) const COMPACT: Field = Field::bit(29);
pub(crate) const DEBUG_CTRL: Field = Field::bit(30);
pub(crate) const SATURATE: Field = Field::bit(31);

/// Fields of the destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DstLayout {
    pub(crate) file: Field,
    pub(crate) ty: Field,
    pub(crate) subnr: Field,
    pub(crate) subnr16: Field,
    pub(crate) writemask: Field,
    pub(crate) nr: Field,
    pub(crate) ia: IndirectLayout,
    pub(crate) hstride: Field,
    pub(crate) indirect: Field,
}

/// Fields of one source operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SrcLayout {
    pub(crate) file: Field,
    pub(crate) ty: Field,
    pub(crate) swizzle: [Field; 4],
    pub(crate) subnr: Field,
    pub(crate) subnr16: Field,
    pub(crate) nr: Field,
    pub(crate) ia: IndirectLayout,
    pub(crate) abs: Field,
    pub(crate) negate: Field,
    pub(crate) indirect: Field,
    pub(crate) hstride: Field,
    pub(crate) width: Field,
    pub(crate) vstride: Field,
}

/// Address subregister and displacement; Gen8 has the displacement's bit 9 elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndirectLayout {
    pub(crate) imm: Field,
    pub(crate) imm16: Field,
    pub(crate) imm9: Field,
    pub(crate) subreg: Field,
}

/// Fields of one source of a three-source instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreeSrcLayout {
    pub(crate) nr: Field,
    /// In dwords.
    pub(crate) subnr: Field,
    /// Upper word of the dword (Gen9, half floats).
    pub(crate) subnr_word: Field,
    /// Four channels of two bits.
    pub(crate) swizzle: Field,
    pub(crate) replicate: Field,
    pub(crate) negate: Field,
    pub(crate) abs: Field,
}

/// Fields of the three-source align16 format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreeLayout {
    pub(crate) src: [ThreeSrcLayout; 3],
    /// Gen6: a message register.
    pub(crate) dst_mrf: Field,
    pub(crate) dst_nr: Field,
    pub(crate) dst_subnr: Field,
    pub(crate) dst_writemask: Field,
    pub(crate) dst_ty: Field,
    pub(crate) src_ty: Field,
    /// Half float beside single (Gen8).
    pub(crate) src1_half: Field,
    pub(crate) src2_half: Field,
    pub(crate) flag_reg: Field,
    pub(crate) flag_subreg: Field,
}

/// What moves between generations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) mask_ctrl: Field,
    pub(crate) no_dd_clr: Field,
    pub(crate) no_dd_chk: Field,
    pub(crate) nib_ctrl: Field,
    pub(crate) flag_reg: Field,
    pub(crate) flag_subreg: Field,
    pub(crate) dst: DstLayout,
    pub(crate) src: [SrcLayout; 2],
    pub(crate) three: ThreeLayout,
    /// Target of `send`; none on Gen4.
    pub(crate) sfid: Field,
    /// End of thread; none on Gen4.
    pub(crate) eot: Field,
}

/// Jump count and pop count of Gen4 and Gen5.
pub(crate) const JUMP_COUNT: Field = Field::new(111, 96);
pub(crate) const POP_COUNT: Field = Field::new(115, 112);
/// Jump count of Gen6, in the destination's place.
pub(crate) const JUMP_COUNT6: Field = Field::new(63, 48);

/// JIP.
pub(crate) const fn jip<const V: u8>() -> Field {
    if V >= 80 { IMM } else { JUMP_COUNT }
}

/// UIP.
pub(crate) const fn uip<const V: u8>() -> Field {
    if V >= 80 {
        Field::new(95, 64)
    } else {
        Field::new(127, 112)
    }
}

/// Split send (Gen9): the fields that other formats do not have.
pub(crate) mod split {
    use super::Field;

    pub(crate) const DST_FILE: Field = Field::bit(35);
    pub(crate) const SRC1_FILE: Field = Field::bit(36);
    pub(crate) const SRC1_NR: Field = Field::new(51, 44);
    pub(crate) const DST_SUBNR16: Field = Field::bit(52);
    pub(crate) const DST_IA_IMM: Field = Field::new(56, 52);
    pub(crate) const DST_IA_IMM9: Field = Field::bit(62);
    pub(crate) const EX_DESC_REG: Field = Field::bit(61);
    pub(crate) const EX_DESC_LOW: Field = Field::new(67, 64);
    pub(crate) const SRC0_SUBNR16: Field = Field::bit(68);
    pub(crate) const SRC0_IA_IMM: Field = Field::new(72, 68);
    pub(crate) const SRC0_IA_IMM9: Field = Field::bit(78);
    pub(crate) const DESC_REG: Field = Field::bit(77);
    pub(crate) const EX_DESC_HIGH: Field = Field::new(95, 80);
    pub(crate) const EX_DESC_SUBREG: Field = Field::new(82, 80);
}

impl Layout {
    /// The layout of a generation (version times ten).
    pub(crate) const fn of(v: u8) -> Layout {
        let moved = v >= 80;
        Layout {
            mask_ctrl: Field::bit(if moved { 34 } else { 9 }),
            no_dd_clr: Field::bit(if moved { 9 } else { 10 }),
            no_dd_chk: Field::bit(if moved { 10 } else { 11 }),
            nib_ctrl: nib_ctrl(v),
            flag_reg: if moved {
                Field::bit(33)
            } else if v >= 70 {
                Field::bit(90)
            } else {
                Field::NONE
            },
            flag_subreg: Field::bit(if moved { 32 } else { 89 }),
            dst: dst(moved),
            src: [
                if moved {
                    src(true, 64, Field::new(42, 41), Field::new(46, 43), 95)
                } else {
                    src(false, 64, Field::new(38, 37), Field::new(41, 39), 0)
                },
                if moved {
                    src(true, 96, Field::new(90, 89), Field::new(94, 91), 121)
                } else {
                    src(false, 96, Field::new(43, 42), Field::new(46, 44), 0)
                },
            ],
            three: three(v),
            sfid: match v {
                0..=49 => Field::NONE,
                50..=59 => Field::new(95, 92),
                60.. => Field::new(27, 24),
            },
            eot: if v < 50 { Field::NONE } else { Field::bit(127) },
        }
    }
}

const fn nib_ctrl(v: u8) -> Field {
    match v {
        0..=69 => Field::NONE,
        70..=79 => Field::bit(47),
        80.. => Field::bit(11),
    }
}

const fn dst(moved: bool) -> DstLayout {
    DstLayout {
        file: if moved {
            Field::new(36, 35)
        } else {
            Field::new(33, 32)
        },
        ty: if moved {
            Field::new(40, 37)
        } else {
            Field::new(36, 34)
        },
        subnr: Field::new(52, 48),
        subnr16: Field::bit(52),
        writemask: Field::new(51, 48),
        nr: Field::new(60, 53),
        ia: indirect(moved, 48, 47),
        hstride: Field::new(62, 61),
        indirect: Field::bit(63),
    }
}

const fn indirect(moved: bool, base: u32, nine: u32) -> IndirectLayout {
    if moved {
        IndirectLayout {
            imm: Field::new(base + 8, base),
            imm16: Field::new(base + 8, base + 4),
            imm9: Field::bit(nine),
            subreg: Field::new(base + 12, base + 9),
        }
    } else {
        IndirectLayout {
            imm: Field::new(base + 9, base),
            imm16: Field::new(base + 9, base + 4),
            imm9: Field::NONE,
            subreg: Field::new(base + 12, base + 10),
        }
    }
}

const fn src(moved: bool, base: u32, file: Field, ty: Field, nine: u32) -> SrcLayout {
    SrcLayout {
        file,
        ty,
        swizzle: [
            Field::new(base + 1, base),
            Field::new(base + 3, base + 2),
            Field::new(base + 17, base + 16),
            Field::new(base + 19, base + 18),
        ],
        subnr: Field::new(base + 4, base),
        subnr16: Field::bit(base + 4),
        nr: Field::new(base + 12, base + 5),
        ia: indirect(moved, base, nine),
        abs: Field::bit(base + 13),
        negate: Field::bit(base + 14),
        indirect: Field::bit(base + 15),
        hstride: Field::new(base + 17, base + 16),
        width: Field::new(base + 20, base + 18),
        vstride: Field::new(base + 24, base + 21),
    }
}

const fn three_src(v: u8, index: u32) -> ThreeSrcLayout {
    // One source after the other, 21 bits each, with the modifiers in the second word.
    let base = 64 + 21 * index;
    let modifiers = if v >= 80 { 37 } else { 36 } + 2 * index;
    // Source 1 crosses from the third word into the fourth between subregister bits: see `three`.
    ThreeSrcLayout {
        nr: Field::new(base + 19, base + 12),
        subnr: Field::new(base + 11, base + 9),
        subnr_word: if v >= 90 {
            Field::bit(base + 20)
        } else {
            Field::NONE
        },
        swizzle: Field::new(base + 8, base + 1),
        replicate: Field::bit(base),
        negate: Field::bit(modifiers + 1),
        abs: Field::bit(modifiers),
    }
}

const fn three(v: u8) -> ThreeLayout {
    let moved = v >= 80;
    let mut src = [three_src(v, 0), three_src(v, 1), three_src(v, 2)];
    // Bits 96:94 are the subregister of source 1: the two low bits here, `SRC1_SUBNR_HIGH` above.
    src[1].subnr = Field::new(95, 94);
    ThreeLayout {
        src,
        dst_mrf: if v < 70 { Field::bit(32) } else { Field::NONE },
        dst_nr: Field::new(63, 56),
        dst_subnr: Field::new(55, 53),
        dst_writemask: Field::new(52, 49),
        dst_ty: match v {
            0..=69 => Field::NONE,
            70..=79 => Field::new(45, 44),
            80.. => Field::new(48, 46),
        },
        src_ty: match v {
            0..=69 => Field::NONE,
            70..=79 => Field::new(43, 42),
            80.. => Field::new(45, 43),
        },
        src1_half: if moved { Field::bit(36) } else { Field::NONE },
        src2_half: if moved { Field::bit(35) } else { Field::NONE },
        flag_reg: if moved {
            Field::bit(33)
        } else if v >= 70 {
            Field::bit(34)
        } else {
            Field::NONE
        },
        flag_subreg: Field::bit(if moved { 32 } else { 33 }),
    }
}

/// Highest bit of the subregister of source 1 in the three-source format.
pub(crate) const SRC1_SUBNR_HIGH: Field = Field::bit(96);

/// Layout and columns of a generation as constants.
pub(crate) struct At<const V: u8>;

impl<const V: u8> At<V> {
    pub(crate) const GENERATION: Verx10 = Verx10(V);
    pub(crate) const L: &'static Layout = &Layout::of(V);
    pub(crate) const F: &'static Features = &Features::of(V);
}

//! What intel-gen4asm writes differently, and why.
//!
//! PRM: volume 4, 13.2 and 11.9. Our words, changed as the classes say, are its words. Each says
//! exactly which bits it changes and to what, so that
//! any other difference stays one.

use isa::inst::AccessMode;
use isa::operand::{Addr, RegFile};
use isa::tables::Format;
use isa::{Inst, Opcode, Verx10, decode, encode};

use super::dialect::{Shape, shape};

/// Whose bits differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Theirs are wrong.
    Theirs,
    /// The format does not define them.
    Undefined,
}

/// A class of disagreements.
pub struct Class {
    pub name: &'static str,
    pub kind: Kind,
    pub reason: &'static str,
    expect: fn(&Case, &mut [u32; 4]),
}

/// One compared instruction.
pub struct Case<'a> {
    pub generation: Verx10,
    pub inst: &'a Inst,
    pub theirs: [u32; 4],
}

impl Case<'_> {
    fn v(&self) -> u8 {
        self.generation.times_ten()
    }

    fn shape(&self) -> Shape {
        shape(self.inst.opcode).expect("an opcode of the language")
    }

    fn format(&self) -> Format {
        self.inst
            .opcode
            .desc(self.generation)
            .expect("a row")
            .format
    }
}

/// Replaces bits `hi:lo` of the 128.
fn set(raw: &mut [u32; 4], hi: u32, lo: u32, value: u32) {
    let mask = u32::MAX >> (31 - (hi - lo)) << (lo % 32);
    let word = &mut raw[(lo / 32) as usize];
    *word = *word & !mask | value << (lo % 32) & mask;
}

/// Places of the sources: vertical stride's lowest bit.
const VSTRIDE: [u32; 2] = [85, 117];

pub const CLASSES: &[Class] = &[
    Class {
        name: "three-source-layout-gen8",
        kind: Kind::Theirs,
        reason: "three sources are written in Ivybridge's layout on Gen8 and Gen9 too",
        expect: |case, raw| {
            if case.shape() != Shape::Three || case.v() < 80 {
                return;
            }
            let inst = Inst {
                no_mask: false,
                no_dd_clr: false,
                no_dd_chk: false,
                flag_reg: 0,
                flag_subreg: 0,
                ..*case.inst
            };
            let Ok(old) = encode(Verx10::from_times_ten(70), &inst) else {
                return;
            };
            *raw = old;
            // The controls are in their new places; the operands come later and win.
            set(raw, 34, 34, u32::from(case.inst.no_mask));
            set(raw, 33, 33, u32::from(case.inst.flag_reg));
            set(raw, 9, 9, u32::from(case.inst.no_dd_clr));
            set(raw, 10, 10, u32::from(case.inst.no_dd_chk));
        },
    },
    Class {
        name: "three-source-flag",
        kind: Kind::Theirs,
        reason: "the flag register of three-source instructions is written where src1 is",
        expect: |case, raw| {
            if case.shape() == Shape::Three && case.v() < 80 {
                set(raw, 34, 33, 0);
            }
        },
    },
    Class {
        name: "three-source-subregister",
        kind: Kind::Theirs,
        reason: "the destination's subregister counts 16 bytes in a field of dwords",
        expect: |case, raw| {
            if case.shape() == Shape::Three
                && let Addr::Direct { subnr, .. } = case.inst.dst.addr
            {
                set(raw, 55, 53, u32::from(subnr / 16));
            }
        },
    },
    Class {
        name: "absent-source-type",
        kind: Kind::Undefined,
        reason: "PRM 11.9 wants an absent source 1 to have the immediate's type; \
                 theirs leaves 0 before Gen8",
        expect: |case, raw| {
            if case.shape() == Shape::Unary
                && case.inst.src[0].file == RegFile::Imm
                && case.v() < 80
            {
                set(raw, 46, 44, 0);
            }
        },
    },
    Class {
        name: "compressed-64-bytes",
        kind: Kind::Theirs,
        reason: "a destination of 64 bytes is compressed whatever the options say",
        expect: |case, raw| {
            let ordinary = matches!(
                case.shape(),
                Shape::Unary | Shape::Binary | Shape::BinaryAcc
            );
            let size = case.inst.dst.ty.size() * usize::from(case.inst.exec_size);
            if ordinary && case.v() < 60 && size == 64 {
                set(raw, 13, 12, 2);
            }
        },
    },
    Class {
        name: "architecture-writemask",
        kind: Kind::Theirs,
        reason: "in align16 an architecture register as destination enables no channel",
        expect: |case, raw| {
            if case.inst.access == AccessMode::Align16 && case.inst.dst.file == RegFile::Arf {
                set(raw, 51, 48, 0);
            }
        },
    },
    Class {
        name: "architecture-swizzle",
        kind: Kind::Theirs,
        reason: "in align16 a, f, mask and sr registers as sources get the swizzle .x",
        expect: |case, raw| {
            if case.inst.access == AccessMode::Align1 {
                return;
            }
            for (index, src) in case.inst.src[..usize::from(case.inst.num_src)]
                .iter()
                .enumerate()
            {
                if let (RegFile::Arf, Addr::Direct { nr, .. }) = (src.file, src.addr)
                    && matches!(nr >> 4, 1 | 3 | 4 | 7)
                {
                    let base = 64 + 32 * index as u32;
                    set(raw, base + 3, base, 0);
                    set(raw, base + 19, base + 16, 0);
                }
            }
        },
    },
    Class {
        name: "align16-vstride-8",
        kind: Kind::Theirs,
        reason: "in align16 a vertical stride of 8 means 4",
        expect: |case, raw| {
            if case.inst.access == AccessMode::Align1 || case.shape() == Shape::Three {
                return;
            }
            for (index, src) in case.inst.src[..usize::from(case.inst.num_src)]
                .iter()
                .enumerate()
            {
                if src.file != RegFile::Imm && src.region.vstride == 8 {
                    set(raw, VSTRIDE[index] + 3, VSTRIDE[index], 3);
                }
            }
        },
    },
    Class {
        name: "align16-hstride-gen8",
        kind: Kind::Undefined,
        reason: "align16 ignores the destination's stride; ours and Mesa's is 1, \
                 theirs 0 from Gen8 on",
        expect: |case, raw| {
            let three = case.shape() == Shape::Three;
            if case.inst.access == AccessMode::Align16 && case.v() >= 80 && !three {
                set(raw, 62, 61, 0);
            }
        },
    },
    Class {
        name: "scalar-architecture-gen8",
        kind: Kind::Theirs,
        reason: "one channel of width 1 gets the strides 0 from Gen8 on",
        expect: |case, raw| {
            if case.inst.access == AccessMode::Align16 || case.v() < 80 || case.inst.exec_size != 1
            {
                return;
            }
            for (index, src) in case.inst.src[..usize::from(case.inst.num_src)]
                .iter()
                .enumerate()
            {
                if src.file == RegFile::Arf && src.region.width == 1 {
                    set(raw, VSTRIDE[index] + 3, VSTRIDE[index], 0);
                    let base = 64 + 32 * index as u32;
                    set(raw, base + 17, base + 16, 0);
                }
            }
        },
    },
    Class {
        name: "flow-execution-size",
        kind: Kind::Theirs,
        reason: "while before Sandybridge and if of Sandybridge lose the execution size",
        expect: |case, raw| {
            let lost = match case.inst.opcode {
                Opcode::While => case.v() < 60,
                Opcode::If => case.v() == 60,
                _ => false,
            };
            if lost {
                set(raw, 23, 21, 0);
            }
        },
    },
    Class {
        name: "negative-distance",
        kind: Kind::Theirs,
        reason: "a distance is cut to 16 bits before it is doubled and written to 32",
        expect: |case, raw| {
            let Some(branch) = case.inst.branch.filter(|_| case.shape() == Shape::Flow) else {
                return;
            };
            let both = branch.pop_or_uip != 0;
            match case.v() {
                // The seventeenth bit is the first of the pop count; else writes that later.
                50..60 if branch.jump < 0 && case.inst.opcode != Opcode::Else && !both => {
                    set(raw, 112, 112, 1);
                }
                80.. => {
                    raw[3] = half_words(branch.jump);
                    if both {
                        raw[2] = half_words(branch.pop_or_uip);
                    }
                }
                _ => {}
            }
        },
    },
    Class {
        name: "second-distance-zero",
        kind: Kind::Theirs,
        reason: "on Sandybridge UIP 0 makes JIP a jump count, in the destination's place",
        expect: |case, raw| {
            if case.v() == 60
                && case.format() == Format::BranchUip
                && let Some(branch) = case.inst.branch
                && branch.pop_or_uip == 0
            {
                set(raw, 63, 48, branch.jump as u32);
                set(raw, 111, 96, 0);
            }
        },
    },
    Class {
        name: "jump-register-file",
        kind: Kind::Theirs,
        reason: "brd, brc and call leave the file of the operand with the distance 0, \
                 so that a register would hold it",
        expect: |case, raw| {
            if matches!(
                case.format(),
                Format::BranchReg | Format::BranchReg2 | Format::Call
            ) {
                if case.v() >= 80 {
                    set(raw, 42, 41, 0);
                } else {
                    set(raw, 43, 42, 0);
                }
            }
        },
    },
    Class {
        name: "unread-operands",
        kind: Kind::Undefined,
        reason: "operands that flow control, do and wait do not read; ours are Mesa's, \
                 theirs mostly 0",
        expect: |case, raw| {
            let reads_all = !matches!(case.shape(), Shape::Flow | Shape::Bare | Shape::Wait);
            if reads_all || case.inst.opcode == Opcode::Nop {
                return;
            }
            let undefined = undefined(case.generation, case.inst);
            for (index, word) in raw.iter_mut().enumerate() {
                *word = *word & !undefined[index] | case.theirs[index] & undefined[index];
            }
        },
    },
];

/// A distance of 64-bit halves as the assembler writes it to a word.
fn half_words(distance: i32) -> u32 {
    (((distance / 2) as u32) & 0xffff) * 2
}

/// Bits that the format of the instruction does not define.
fn undefined(generation: Verx10, inst: &Inst) -> [u32; 4] {
    let raw = encode(generation, inst).expect("an encoding");
    let mut bits = [0; 4];
    for bit in 0..128 {
        let mut other = raw;
        other[bit / 32] ^= 1 << (bit % 32);
        if let Ok(other) = decode(generation, other)
            && other.reserved[bit / 32] >> (bit % 32) & 1 != 0
        {
            bits[bit / 32] |= 1 << (bit % 32);
        }
    }
    bits
}

/// The words that the assembler should give for ours, and the classes that it takes.
pub fn expected(case: &Case, ours: [u32; 4]) -> ([u32; 4], Vec<usize>) {
    let mut raw = ours;
    let mut used = Vec::new();
    if raw == case.theirs {
        return (raw, used);
    }
    for (index, class) in CLASSES.iter().enumerate() {
        let before = raw;
        (class.expect)(case, &mut raw);
        if raw != before {
            used.push(index);
        }
    }
    (raw, used)
}

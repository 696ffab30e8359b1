//! What an opcode takes in a generation: operand types, controls, restrictions.
//!
//! PRM: volume 4, 14.2 (Gen4); Baytrail volume 2 part 2, add to brd (Gen7); the rest from Mesa 22.3.6
//! `brw_shader.cpp` (can_do_cmod, can_do_saturate, can_do_source_mods), `brw_eu_emit.c` and
//! `brw_eu_validate.c`. Rules over several operands are the validator's.

use super::Verx10;
use crate::inst::Opcode;
use crate::operand::Type;

/// A set of operand types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSet(u16);

impl TypeSet {
    /// No type: the operand does not exist.
    pub const NONE: TypeSet = TypeSet(0);

    const fn of(types: &[Type]) -> TypeSet {
        let mut bits = 0;
        let mut index = 0;
        while index < types.len() {
            bits |= 1 << types[index] as u16;
            index += 1;
        }
        TypeSet(bits)
    }

    const fn and(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    const fn from(self, first: u8, version: u8) -> TypeSet {
        if version >= first {
            self
        } else {
            TypeSet::NONE
        }
    }

    /// Whether the type is in the set.
    pub const fn contains(self, ty: Type) -> bool {
        self.0 >> ty as u16 & 1 != 0
    }

    /// Whether the operand does not exist.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Controls that an opcode takes, and restrictions on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controls(u16);

impl Controls {
    /// Nothing.
    pub const NONE: Controls = Controls(0);
    /// Takes a predicate.
    pub const PREDICATE: Controls = Controls(1);
    /// Takes a conditional modifier.
    pub const CONDITION: Controls = Controls(1 << 1);
    /// Saturates.
    pub const SATURATE: Controls = Controls(1 << 2);
    /// Takes source modifiers.
    pub const SOURCE_MODIFIERS: Controls = Controls(1 << 3);
    /// Takes accumulator write control (Gen6 on).
    pub const ACC_WRITE: Controls = Controls(1 << 4);
    /// Has to have a conditional modifier.
    pub const CONDITION_REQUIRED: Controls = Controls(1 << 5);
    /// Has to have accumulator write control.
    pub const ACC_WRITE_REQUIRED: Controls = Controls(1 << 6);
    /// Has to switch threads.
    pub const SWITCH_REQUIRED: Controls = Controls(1 << 7);
    /// Align16 only.
    pub const ALIGN16_ONLY: Controls = Controls(1 << 8);
    /// No accumulator as an operand.
    pub const NO_ACCUMULATOR: Controls = Controls(1 << 9);
    /// At least four channels.
    pub const FOUR_CHANNELS: Controls = Controls(1 << 10);

    const fn with(self, other: Controls) -> Controls {
        Controls(self.0 | other.0)
    }

    const fn without(self, other: Controls) -> Controls {
        Controls(self.0 & !other.0)
    }

    const fn when(self, condition: bool) -> Controls {
        if condition { self } else { Controls::NONE }
    }

    /// Whether all of `other` apply.
    pub const fn contains(self, other: Controls) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What an opcode takes in a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Types of the destination; a null destination may have any.
    pub dst: TypeSet,
    /// Types of the sources; packed vectors only as immediates.
    pub src: [TypeSet; 3],
    /// Controls and restrictions.
    pub controls: Controls,
}

/// The types of a generation, by kind.
struct Types {
    /// Every type of a register.
    any: TypeSet,
    /// Packed vectors.
    vector: TypeSet,
    integer: TypeSet,
    float: TypeSet,
}

const BYTES: TypeSet = TypeSet::of(&[Type::Ub, Type::B]);
const WORDS: TypeSet = TypeSet::of(&[Type::Uw, Type::W]);
const DWORDS: TypeSet = TypeSet::of(&[Type::Ud, Type::D]);
const QWORDS: TypeSet = TypeSet::of(&[Type::Uq, Type::Q]);
const UD: TypeSet = TypeSet::of(&[Type::Ud]);
const F: TypeSet = TypeSet::of(&[Type::F]);
const DF: TypeSet = TypeSet::of(&[Type::Df]);
const HF: TypeSet = TypeSet::of(&[Type::Hf]);
const VF: TypeSet = TypeSet::of(&[Type::Vf]);
const SMALL: TypeSet = BYTES.and(WORDS).and(DWORDS);

impl Types {
    const fn of(version: u8) -> Types {
        let integer = SMALL.and(QWORDS.from(80, version));
        let float = F.and(DF.from(70, version)).and(HF.from(80, version));
        let vector = TypeSet::of(&[Type::V, Type::Vf]);
        Types {
            any: integer.and(float),
            vector: vector.and(TypeSet::of(&[Type::Uv]).from(60, version)),
            integer,
            float,
        }
    }
}

const PRED: Controls = Controls::PREDICATE;
const COND: Controls = Controls::CONDITION;
const MODS: Controls = Controls::SOURCE_MODIFIERS;
const ALU: Controls = PRED
    .with(COND)
    .with(Controls::SATURATE)
    .with(MODS)
    .with(Controls::ACC_WRITE);
const NO_SATURATE: Controls = ALU.without(Controls::SATURATE);
/// Bit fields.
const BITS: Controls = PRED.with(Controls::NO_ACCUMULATOR);

const fn one(dst: TypeSet, src: TypeSet, controls: Controls) -> Properties {
    Properties {
        dst,
        src: [src, TypeSet::NONE, TypeSet::NONE],
        controls,
    }
}

const fn two(dst: TypeSet, src: TypeSet, last: TypeSet, controls: Controls) -> Properties {
    Properties {
        dst,
        src: [src, last, TypeSet::NONE],
        controls,
    }
}

const fn three(types: TypeSet, controls: Controls) -> Properties {
    Properties {
        dst: types,
        src: [types; 3],
        controls: controls.with(Controls::ALIGN16_ONLY),
    }
}

/// An instruction without typed operands.
const fn bare(controls: Controls) -> Properties {
    one(TypeSet::NONE, TypeSet::NONE, controls)
}

/// The properties of an opcode in a generation that has it.
pub(super) const fn of(generation: Verx10, opcode: Opcode) -> Properties {
    let version = generation.0;
    let t = Types::of(version);
    let any_last = t.any.and(t.vector);
    let integer_last = t
        .integer
        .and(TypeSet::of(&[Type::V]))
        .and(TypeSet::of(&[Type::Uv]).from(60, version));
    let float_last = t.float.and(VF);
    let plane = F.and(HF.from(80, version));
    match opcode {
        Opcode::Mov => one(t.any, any_last, ALU),
        Opcode::Sel => {
            let condition = COND.when(version >= 60);
            two(t.any, t.any, any_last, ALU.without(COND).with(condition))
        }
        Opcode::Movi | Opcode::Smov => two(t.any, t.any, any_last, PRED.with(MODS)),
        Opcode::Not => one(t.integer, integer_last, NO_SATURATE),
        Opcode::And | Opcode::Or | Opcode::Xor => {
            two(t.integer, t.integer, integer_last, NO_SATURATE)
        }
        Opcode::Shr | Opcode::Shl | Opcode::Asr | Opcode::Rsr | Opcode::Rsl => {
            two(t.integer, t.integer, integer_last, ALU)
        }
        Opcode::Cmp | Opcode::Cmpn => two(
            t.any,
            t.any,
            any_last,
            NO_SATURATE.with(Controls::CONDITION_REQUIRED),
        ),
        Opcode::Csel => three(plane, ALU.with(Controls::CONDITION_REQUIRED)),
        Opcode::F32to16 => one(WORDS.and(DWORDS), F, ALU),
        Opcode::F16to32 => one(F, WORDS.and(DWORDS), ALU),
        Opcode::Bfrev => one(UD, UD, BITS),
        Opcode::Bfe | Opcode::Bfi2 => three(DWORDS, BITS),
        Opcode::Bfi1 => two(DWORDS, DWORDS, DWORDS, BITS),
        Opcode::Cbit | Opcode::Fbl => one(UD, TypeSet::of(&[Type::Ub, Type::Uw, Type::Ud]), BITS),
        Opcode::Fbh => one(DWORDS, DWORDS, BITS),
        Opcode::Jmpi => two(DWORDS, DWORDS, DWORDS.and(WORDS), PRED),
        Opcode::Brd | Opcode::Brc => one(
            TypeSet::NONE,
            DWORDS,
            PRED.with(Controls::SWITCH_REQUIRED.when(version < 80)),
        ),
        Opcode::Call | Opcode::Calla => one(DWORDS, DWORDS, PRED),
        Opcode::Ret => one(TypeSet::NONE, DWORDS, PRED),
        // Gen6 compares in the jump.
        Opcode::If | Opcode::While if version == 60 => {
            two(TypeSet::NONE, t.any, any_last, PRED.with(COND).with(MODS))
        }
        Opcode::If
        | Opcode::Iff
        | Opcode::Else
        | Opcode::Endif
        | Opcode::While
        | Opcode::Break
        | Opcode::Cont
        | Opcode::Halt
        | Opcode::Goto
        | Opcode::Join
        | Opcode::Case
        | Opcode::Fork => bare(PRED),
        Opcode::Do | Opcode::Nop | Opcode::Nenop | Opcode::Illegal => bare(Controls::NONE),
        Opcode::Msave | Opcode::Mrest | Opcode::Push | Opcode::Pop => {
            two(t.any, t.any, any_last, PRED)
        }
        Opcode::Wait => one(DWORDS, DWORDS, Controls::NONE),
        Opcode::Send | Opcode::Sendc | Opcode::Sends | Opcode::Sendsc => {
            // Before Gen6 the payload may be moved on the way.
            let mods = MODS.when(version < 60);
            two(t.any, t.any, t.any, PRED.with(mods))
        }
        Opcode::Math => {
            let types = F.and(HF.from(90, version)).and(DWORDS);
            let mods = MODS.when(version >= 70);
            two(
                types,
                types,
                types,
                PRED.with(Controls::SATURATE)
                    .with(mods)
                    .with(Controls::ACC_WRITE),
            )
        }
        Opcode::Add | Opcode::Mul | Opcode::Mac => two(t.any, t.any, any_last, ALU),
        Opcode::Mach => two(DWORDS, DWORDS, DWORDS.and(WORDS), ALU),
        Opcode::Avg => two(SMALL, SMALL, SMALL, ALU),
        Opcode::Frc => one(t.float, float_last, ALU),
        Opcode::Rndu | Opcode::Rndd | Opcode::Rnde | Opcode::Rndz => one(t.any, float_last, ALU),
        Opcode::Lzd => one(UD, DWORDS, NO_SATURATE),
        Opcode::Addc | Opcode::Subb => two(
            UD,
            UD,
            UD,
            PRED.with(COND)
                .with(Controls::ACC_WRITE)
                .with(Controls::ACC_WRITE_REQUIRED),
        ),
        Opcode::Sad2 | Opcode::Sada2 => two(WORDS, BYTES, BYTES, ALU),
        Opcode::Dp4 | Opcode::Dph | Opcode::Dp3 | Opcode::Dp2 => two(
            t.float,
            t.float,
            float_last,
            ALU.with(Controls::FOUR_CHANNELS),
        ),
        Opcode::Line | Opcode::Pln => two(plane, plane, plane, ALU),
        Opcode::Mad | Opcode::Madm => three(t.float, ALU),
        Opcode::Lrp => three(F, ALU),
        Opcode::Dim => one(DF, F, PRED),
    }
}

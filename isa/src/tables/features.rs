//! What the words and the text of instructions have in a generation.
//!
//! PRM: volume 4, 13.2 and 13.3; later generations from Mesa 22.3.6 `brw_inst.h`, `brw_disasm.c`, `brw_eu_compact.c` and
//! `brw_eu_validate.c`. Decoder, encoder, printer, assembler and rules ask for a column and never for a generation.

use super::{OpcodeDesc, Verx10};
use crate::inst::Opcode;
use crate::operand::Type;

/// What bit 28 of the first word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control28 {
    /// Nothing.
    None,
    /// Extension of the mask control.
    MaskCtrlEx,
    /// Accumulator write control.
    AccWrCtrl,
    /// Branch control of `if`, `else` and `goto`, accumulator write control of the others.
    BranchCtrl,
}

/// The columns of a generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    // Controls.
    /// Bit 28 of the first word.
    control28: Control28,
    /// Channels are chosen by quarters, and the mask control is a write enable; compression control before.
    pub(crate) quarters: bool,
    /// Halves of quarters can be chosen.
    pub(crate) nibbles: bool,
    /// Logarithm of the widest execution size.
    pub(crate) max_exec: u32,
    /// Flag registers.
    pub(crate) flag_registers: u8,
    /// The condition of `sel`, `if` and `while` compares and leaves the flags alone.
    pub(crate) embedded_compare: bool,
    /// Rounding instructions set conditions on their increment.
    pub(crate) round_condition: bool,

    // Compacted instructions.
    /// There are some.
    pub(crate) compacted: bool,
    /// Some have immediates.
    pub(crate) compacted_immediate: bool,
    /// The flag register is part of the control index.
    pub(crate) compacted_flag: bool,

    // Registers.
    /// Message registers.
    pub(crate) message_registers: u8,
    /// They are a file of operands.
    pub(crate) mrf: bool,
    /// Destinations in it have a bit for two registers that are four apart.
    pub(crate) compr4: bool,
    /// That bit has no other meaning: before, it is a bit of the register's number.
    pub(crate) compr4_named: bool,
    /// A message's payload, and the destination of three sources, may be in it.
    pub(crate) payload_in_mrf: bool,
    /// Address subregisters, words.
    pub(crate) address_words: u32,
    /// Accumulators, those of macros with them.
    pub(crate) accumulators: u8,
    /// There is a mask stack with its depth.
    pub(crate) mask_stack: bool,
    /// There are the registers 0xb and 0xc of the architecture file: thread dependency and timestamp.
    pub(crate) timestamp: bool,

    // Operands.
    /// Immediates of 64 bits, and half floats in all operands.
    pub(crate) wide: bool,
    /// `-` is a bitwise not in logic instructions.
    pub(crate) negate_is_not: bool,
    /// Regions count 64-bit elements as two of 32 bits.
    pub(crate) split_doubles: bool,
    /// Half floats in align16 sources have their place in words; mixed float narrows freely; `math` takes half floats.
    pub(crate) half_words: bool,
    /// A byte may be the second of its pair.
    pub(crate) byte_pairs: bool,
    /// Align16 has a vertical stride of 2.
    pub(crate) align16_pairs: bool,
    /// Averages of two types.
    pub(crate) mixed_average: bool,
    /// An operation of float and another type has the type of the float.
    pub(crate) float_wins: bool,
    /// Only compressed instructions need their destination apart from their sources.
    pub(crate) overlap_unless_compressed: bool,
    /// A destination of two registers need not be split evenly but in `math`.
    pub(crate) uneven_split: bool,

    // Flow control.
    /// Bytes that a jump distance of one means.
    pub(crate) jump_unit: i64,
    /// Jumps have two distances, JIP and UIP; before, a distance and a number of mask stack entries.
    pub(crate) uip: bool,
    /// Distances are words; the immediate lies over the sources.
    pub(crate) wide_jumps: bool,
    /// Flow control has the form of Sandybridge: a count in the destination's place.
    pub(crate) jump_in_dst: bool,
    /// `if` has two distances.
    pub(crate) if_uip: bool,
    /// `halt` has two distances.
    pub(crate) halt_uip: bool,
    /// `else` has two values.
    pub(crate) else_second: bool,

    // Messages.
    /// Target and end of thread are fields of the instruction; before, of the descriptor.
    pub(crate) send_target: bool,
    /// A `send` names its message register in the first word.
    pub(crate) send_mrf: bool,
    /// The payload of a message is source 0; before, `send` copied it.
    pub(crate) payload_in_source: bool,
    /// The data port's caches are targets of their own.
    pub(crate) cache_targets: bool,
    /// Messages to extended math may be compressed.
    pub(crate) compressed_math: bool,
    /// Targets that exist, a bit each.
    pub(crate) targets: u32,
    /// Bits of a URB operation.
    pub(crate) urb_operation_mask: u32,
    /// URB operations that exist, a bit each.
    pub(crate) urb_operations: u32,
    /// Functions of `math` that exist, a bit each.
    pub(crate) math_functions: u32,
}

impl Features {
    /// An instruction set that no table describes has nothing.
    pub(crate) const NONE: Features = Features {
        control28: Control28::None,
        quarters: false,
        nibbles: false,
        max_exec: 0,
        flag_registers: 0,
        embedded_compare: false,
        round_condition: false,
        compacted: false,
        compacted_immediate: false,
        compacted_flag: false,
        message_registers: 0,
        mrf: false,
        compr4: false,
        compr4_named: false,
        payload_in_mrf: false,
        address_words: 0,
        accumulators: 0,
        mask_stack: false,
        timestamp: false,
        wide: false,
        negate_is_not: false,
        split_doubles: false,
        half_words: false,
        byte_pairs: false,
        align16_pairs: false,
        mixed_average: false,
        float_wins: false,
        overlap_unless_compressed: false,
        uneven_split: false,
        jump_unit: 1,
        uip: false,
        wide_jumps: false,
        jump_in_dst: false,
        if_uip: false,
        halt_uip: false,
        else_second: false,
        send_target: false,
        send_mrf: false,
        payload_in_source: false,
        cache_targets: false,
        compressed_math: false,
        targets: 0,
        urb_operation_mask: 0,
        urb_operations: 0,
        math_functions: 0,
    };

    /// The columns of a generation that has a table, by version times ten.
    pub(crate) const fn of(v: u8) -> Features {
        Features {
            control28: if v < 45 {
                Control28::None
            } else if v < 60 {
                Control28::MaskCtrlEx
            } else if v < 80 {
                Control28::AccWrCtrl
            } else {
                Control28::BranchCtrl
            },
            quarters: v >= 60,
            nibbles: v >= 70,
            max_exec: if v >= 60 { 5 } else { 4 },
            flag_registers: if v >= 70 { 2 } else { 1 },
            embedded_compare: v >= 60,
            round_condition: v <= 50,
            compacted: v >= 45,
            compacted_immediate: v >= 60,
            compacted_flag: v >= 70,
            message_registers: if v >= 60 { 24 } else { 16 },
            mrf: v < 70,
            compr4: v > 40 && v < 70,
            compr4_named: v > 40,
            payload_in_mrf: v == 60,
            address_words: if v >= 80 { 16 } else { 8 },
            accumulators: if v >= 80 { 10 } else { 2 },
            mask_stack: v < 80,
            timestamp: v >= 60,
            wide: v >= 80,
            negate_is_not: v >= 80,
            split_doubles: v == 70,
            half_words: v >= 90,
            byte_pairs: v >= 45,
            align16_pairs: v >= 75,
            mixed_average: v > 50,
            float_wins: v < 60,
            overlap_unless_compressed: v < 60,
            uneven_split: v > 80,
            jump_unit: if v < 50 {
                16
            } else if v < 80 {
                8
            } else {
                1
            },
            uip: v >= 60,
            wide_jumps: v >= 80,
            jump_in_dst: v == 60,
            if_uip: v >= 70,
            halt_uip: v >= 60,
            else_second: v < 60 || v >= 80,
            send_target: v >= 50,
            send_mrf: v < 60,
            payload_in_source: v >= 60,
            cache_targets: v >= 60,
            compressed_math: v >= 45,
            targets: targets(v),
            urb_operation_mask: if v == 70 || v == 75 { 7 } else { 15 },
            urb_operations: urb_operations(v),
            math_functions: math_functions(v),
        }
    }

    /// What bit 28 of the first word is in instructions of an opcode.
    pub(crate) const fn control28(&self, row: &OpcodeDesc) -> Control28 {
        match (self.control28, row.opcode) {
            (Control28::BranchCtrl, Opcode::If | Opcode::Else | Opcode::Goto) => {
                Control28::BranchCtrl
            }
            (Control28::BranchCtrl, _) => Control28::AccWrCtrl,
            (other, _) => other,
        }
    }
}

/// Bits `first` to `last`, when `exist`.
const fn run(exist: bool, first: u32, last: u32) -> u32 {
    if exist {
        u32::MAX >> (31 - last) & u32::MAX << first
    } else {
        0
    }
}

const fn targets(v: u8) -> u32 {
    run(true, 0, 0)
        | run(v < 60, 1, 1)
        | run(true, 2, 7)
        | run(v >= 50, 8, 8)
        | run(v >= 60, 9, 9)
        | run(v >= 70, 10, 11)
        | run(v >= 75, 12, 13)
}

const fn urb_operations(v: u8) -> u32 {
    run(true, 0, 0)
        | run(v >= 50, 1, 1)
        | run(v >= 70, 2, 5)
        | run(v >= 75, 6, 6)
        | run(v >= 80, 7, 8)
}

const fn math_functions(v: u8) -> u32 {
    run(true, 1, 7)
        | run(v < 60, 8, 8)
        | run(v >= 60, 9, 9)
        | run(true, 10, 13)
        | run(v >= 80, 14, 15)
}

/// Version times ten of the first generation that has a type, where the given one has not.
pub(crate) fn lacks_type(generation: Verx10, ty: Type) -> Option<u8> {
    let first = match ty {
        Type::Uv => 60,
        Type::Df => 70,
        Type::Hf | Type::Q | Type::Uq => 80,
        _ => 0,
    };
    (generation.0 < first).then_some(first)
}

//! What differs between the generations that the interpreter runs.
//!
//! PRM: volume 4, 2.6.2, 13.2.5; units of jumps, message descriptors: Mesa 22.3.6 brw_eu.h.
//! A kernel cache chooses once; nothing else asks for a generation.

use isa::Verx10;

/// Layout of a message descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    /// First bit of the four bits of the message length.
    pub(crate) length: u8,
    /// First bit of the response length.
    pub(crate) response: u8,
    /// Largest value of that field.
    pub(crate) response_max: u8,
    /// Target and end of thread are in the descriptor; elsewhere they are in the instruction.
    pub(crate) whole: bool,
}

/// The choices of one generation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Bytes in one unit of a jump count.
    pub(crate) jump_unit: i32,
    /// Instructions lie at multiples of two to this power bytes: 3 where there are compacted ones.
    pub(crate) place: u8,
    /// A compressed message to extended math is two, of eight channels each.
    pub(crate) halves: bool,
    /// Message descriptors.
    pub(crate) descriptor: Descriptor,
}

/// An instruction set that the interpreter runs, with what differs in it.
#[derive(Clone, Copy, Debug)]
pub struct InstructionSet {
    pub(crate) generation: Verx10,
    pub(crate) rules: Rules,
}

/// 965 and GM965.
pub const GEN40: InstructionSet = InstructionSet {
    generation: Verx10::GEN40,
    rules: Rules {
        jump_unit: 16,
        place: 4,
        halves: false,
        descriptor: Descriptor {
            length: 20,
            response: 16,
            response_max: 0xf,
            whole: true,
        },
    },
};

/// Compacted instructions come with G45, its jumps still count sixteen bytes (Mesa 22.3.6 `brw_eu.h` `brw_jump_scale`).
/// Its kernels send compressed messages of one register to extended math (`brw_fs_generator.cpp` `generate_math_g45`).
pub const GEN45: InstructionSet = InstructionSet {
    generation: Verx10::from_times_ten(45),
    rules: Rules {
        place: 3,
        halves: true,
        ..GEN40.rules
    },
};

/// Ironlake: jumps count eight bytes, and descriptors have longer lengths and no target.
pub const GEN50: InstructionSet = InstructionSet {
    generation: Verx10::from_times_ten(50),
    rules: Rules {
        jump_unit: 8,
        descriptor: Descriptor {
            length: 25,
            response: 20,
            response_max: 0x1f,
            whole: false,
        },
        ..GEN45.rules
    },
};

impl InstructionSet {
    /// Those that there are.
    const ALL: [InstructionSet; 3] = [GEN40, GEN45, GEN50];

    /// The instruction set of a generation; `None` for one that the interpreter does not run.
    #[must_use]
    pub fn of(generation: Verx10) -> Option<InstructionSet> {
        let mut all = Self::ALL.into_iter();
        all.find(|set| set.generation == generation)
    }

    /// Its generation, as encodings go by it.
    #[must_use]
    pub const fn generation(&self) -> Verx10 {
        self.generation
    }
}

#[cfg(test)]
mod tests;

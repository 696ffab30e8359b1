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

const GEN4: Rules = Rules {
    jump_unit: 16,
    place: 4,
    halves: false,
    descriptor: Descriptor {
        length: 20,
        response: 16,
        response_max: 0xf,
        whole: true,
    },
};

/// Compacted instructions come with G45, its jumps still count sixteen bytes (Mesa 22.3.6 `brw_eu.h` `brw_jump_scale`).
/// Its kernels send compressed messages of one register to extended math (`brw_fs_generator.cpp` `generate_math_g45`).
const GEN45: Rules = Rules {
    place: 3,
    halves: true,
    ..GEN4
};

const GEN5: Rules = Rules {
    jump_unit: 8,
    place: 3,
    halves: true,
    descriptor: Descriptor {
        length: 25,
        response: 20,
        response_max: 0x1f,
        whole: false,
    },
};

/// The rules of a generation; those of the first for one that the interpreter does not know.
pub(crate) const fn rules(generation: Verx10) -> Rules {
    match generation.0 {
        45 => GEN45,
        50 => GEN5,
        _ => GEN4,
    }
}

#[cfg(test)]
mod tests;

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
    /// Message descriptors.
    pub(crate) descriptor: Descriptor,
}

const GEN4: Rules = Rules {
    jump_unit: 16,
    descriptor: Descriptor {
        length: 20,
        response: 16,
        response_max: 0xf,
        whole: true,
    },
};

const GEN5: Rules = Rules {
    jump_unit: 8,
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
        50 => GEN5,
        _ => GEN4,
    }
}

#[cfg(test)]
mod tests;

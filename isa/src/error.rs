//! Errors of the decoder and the encoder.
//!
//! PRM: volume 4, 12.4.1-12.4.2 (illegal and undefined opcodes) and 13.2 (reserved encodings). The
//! hardware's reaction to a reserved encoding is undefined and not modelled here.

use crate::inst::{Opcode, Verx10};

/// Operand that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandId {
    /// Destination.
    Dst,
    /// First source.
    Src0,
    /// Second source.
    Src1,
    /// Third source.
    Src2,
}

impl core::fmt::Display for OperandId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            OperandId::Dst => "destination",
            OperandId::Src0 => "source 0",
            OperandId::Src1 => "source 1",
            OperandId::Src2 => "source 2",
        })
    }
}

/// Why four words are no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum DecodeErrorKind {
    /// The decoder has no format tables for the generation.
    #[error("generation {} is not supported", .0)]
    UnsupportedGeneration(Verx10),
    /// The opcode number is not assigned (an undefined opcode, PRM 12.4.2).
    #[error("unknown opcode {0}")]
    UnknownOpcode(u8),
    /// The compaction bit is set: eight bytes that `compact::uncompact` expands.
    #[error("compacted instruction in 128 bits")]
    Compacted,
    /// Access mode that the format does not have: three sources are align16 before Gen10.
    #[error("reserved access mode code {0}")]
    ReservedAccessMode(u32),
    /// Function of `math`.
    #[error("reserved math function code {0}")]
    ReservedMath(u32),
    /// Execution size code above the generation's limit, 16 or 32 channels.
    #[error("reserved execution size code {0}")]
    ReservedExecSize(u32),
    /// Predicate control code that the access mode does not define.
    #[error("reserved predicate control code {0}")]
    ReservedPredCtrl(u32),
    /// Conditional modifier code above `.u`.
    #[error("reserved conditional modifier code {0}")]
    ReservedCondMod(u32),
    /// Compression control code 3.
    #[error("reserved compression control code {0}")]
    ReservedCompression(u32),
    /// Thread control code 3.
    #[error("reserved thread control code {0}")]
    ReservedThreadCtrl(u32),
    /// Register file that the operand cannot have.
    #[error("reserved register file code {code} of {operand}")]
    ReservedRegFile {
        /// Which operand.
        operand: OperandId,
        /// Code found.
        code: u32,
    },
    /// Type code without a meaning for the register file.
    #[error("reserved type code {code} of {operand}")]
    ReservedType {
        /// Which operand.
        operand: OperandId,
        /// Code found.
        code: u32,
    },
    /// Vertical stride code.
    #[error("reserved vertical stride code {code} of {operand}")]
    ReservedVstride {
        /// Which operand.
        operand: OperandId,
        /// Code found.
        code: u32,
    },
    /// Width code.
    #[error("reserved width code {code} of {operand}")]
    ReservedWidth {
        /// Which operand.
        operand: OperandId,
        /// Code found.
        code: u32,
    },
    /// Horizontal stride code: 0 in a destination.
    #[error("reserved horizontal stride code {code} of {operand}")]
    ReservedHstride {
        /// Which operand.
        operand: OperandId,
        /// Code found.
        code: u32,
    },
    /// An immediate stands before a register source; they share the last word.
    #[error("immediate in {0}, which is not the last source")]
    ImmediateNotLast(OperandId),
}

/// Four words that are no instruction, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{kind} in {:08x} {:08x} {:08x} {:08x}", raw[0], raw[1], raw[2], raw[3])]
pub struct DecodeError {
    /// Reason.
    pub kind: DecodeErrorKind,
    /// The words.
    pub raw: [u32; 4],
}

/// Why an instruction has no encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum EncodeError {
    /// The encoder has no format tables for the generation.
    #[error("generation {} is not supported", .0)]
    UnsupportedGeneration(Verx10),
    /// The generation does not have the opcode.
    #[error("opcode {0:?} does not exist in this generation")]
    UnknownOpcode(Opcode),
    /// A control field has no code: its name.
    #[error("{0} has no encoding")]
    Control(&'static str),
    /// An operand field has no code: which operand, which field.
    #[error("{1} of {0} has no encoding")]
    Operand(OperandId, &'static str),
    /// `num_src` or an optional part contradicts the opcode's format: its name.
    #[error("{0} contradicts the format of the opcode")]
    Format(&'static str),
    /// `reserved` has bits that the format defines.
    #[error("reserved bits overlap defined fields in word {0}")]
    ReservedOverlap(usize),
}

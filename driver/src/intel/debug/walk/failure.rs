//! Why a walk ends early, by the unit that could not tell.
//!
//! PRM vol4 3.3. Not modelled: units that the walk does not ask.
use alloc::vec::Vec;
use core::fmt;

use super::Unit;

/// Why a walk ended before it reached the vertices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WalkError<E> {
    /// The frame did not run again.
    Rerun(E),
    /// No pixel shader thread was started for the 2x2 pixels that hold the pixel.
    Unseen {
        /// Column.
        x: u16,
        /// Row.
        y: u16,
    },
    /// Threads were started for its neighbours, but none for the pixel itself, or none that drew into the picture.
    Unlit {
        /// Column.
        x: u16,
        /// Row.
        y: u16,
    },
    /// The windower has counted more occurrences of the subspan than come in another run.
    Occurrence {
        /// Which did not come.
        instance: u32,
        /// Of how many.
        instances: u32,
    },
    /// The flagged pixel shader thread did not halt at its first instruction.
    NotHalted {
        /// Addresses at which the instruction may lie: one for each base of instructions in the submission.
        addresses: Vec<u32>,
    },
    /// The thread that halted is not for the pixel.
    OtherThread {
        /// Its r0.7: number of its primitive, snapshot flag.
        r0_7: u32,
    },
    /// SF has had no primitive of this number, or has culled it.
    Primitive(u32),
    /// GS or the clipper has started no thread of this number.
    Thread {
        /// Which unit.
        unit: Unit,
        /// Thread id.
        id: u32,
    },
    /// VF has put out no vertex of this number.
    Vertex(u32),
    /// A vertex tag that no unit gives.
    Tag {
        /// Who was asked.
        unit: &'static str,
        /// The FFID in it.
        ffid: u8,
    },
    /// No 3DPRIMITIVE of the submission has the vertex.
    Draw {
        /// Vertex sequence number.
        sequence: u32,
    },
    /// The way up has no end.
    Endless,
}

impl Unit {
    /// The manual's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Vf => "VF",
            Unit::Vs => "VS",
            Unit::Ds => "DS",
            Unit::Gs => "GS",
            Unit::Clip => "CL",
        }
    }
}

impl<E: fmt::Display> fmt::Display for WalkError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WalkError::Rerun(error) => write!(f, "the frame did not run again: {error}"),
            WalkError::Unseen { x, y } => write!(
                f,
                "WIZ: the windower never saw pixel {x},{y}: no thread was started for it or its neighbours"
            ),
            WalkError::Unlit { x, y } => write!(
                f,
                "WIZ: no thread lit pixel {x},{y} in this picture, only others of its 2x2 pixels or other targets"
            ),
            WalkError::Occurrence {
                instance,
                instances,
            } => write!(
                f,
                "WIZ: occurrence {instance} of {instances} of the subspan did not come again"
            ),
            WalkError::NotHalted { addresses } => {
                f.write_str("TD: the flagged pixel shader thread did not halt at ")?;
                for (n, address) in addresses.iter().enumerate() {
                    write!(f, "{}{address:#010x}", if n > 0 { " or " } else { "" })?;
                }
                f.write_str(", the begin of its kernel")
            }
            WalkError::OtherThread { r0_7 } => write!(
                f,
                "TD: the thread that halted is another (r0.7 is {r0_7:#010x})"
            ),
            WalkError::Primitive(number) => write!(f, "SF: no primitive {number}"),
            WalkError::Thread { unit, id } => write!(f, "{}: no thread {id}", unit.name()),
            WalkError::Vertex(number) => write!(f, "VF: no vertex {number}"),
            WalkError::Tag { unit, ffid } => {
                write!(
                    f,
                    "{unit}: a vertex is tagged with FFID {ffid}, which puts out none"
                )
            }
            WalkError::Draw { sequence } => {
                write!(f, "VF: vertex {sequence} belongs to no 3DPRIMITIVE")
            }
            WalkError::Endless => f.write_str("the tags of the vertices lead to no end"),
        }
    }
}

impl<E: core::error::Error> core::error::Error for WalkError<E> {}

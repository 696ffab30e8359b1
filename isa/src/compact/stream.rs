//! Walks a kernel whose instructions have eight or sixteen bytes.
//!
//! PRM: Ivybridge volume 4 part 3, instruction compaction. What is no instruction is reported in its
//! place and the walk goes on behind it; the end of a kernel is the caller's to know.

use super::{UncompactError, is_compacted, uncompact};
use crate::decode::decode;
use crate::error::DecodeError;
use crate::inst::{Inst, Verx10};

/// Why there is no instruction at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StreamError {
    /// The words are no instruction.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The compacted words do not expand.
    #[error("{kind} in {:08x} {:08x}", raw[0], raw[1])]
    Uncompact {
        /// Reason.
        kind: UncompactError,
        /// The words.
        raw: [u32; 2],
    },
    /// The bytes end inside an instruction.
    #[error("instruction of {wanted} bytes, {left} bytes left")]
    Truncated {
        /// Size of the instruction.
        wanted: usize,
        /// Bytes that are there.
        left: usize,
    },
}

/// One place of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamItem {
    /// Offset of the first byte.
    pub offset: usize,
    /// Bytes: 8, 16, or what is left of a truncated instruction.
    pub size: usize,
    /// The sixteen-byte form; zero where there is none.
    pub raw: [u32; 4],
    /// The instruction.
    pub inst: Result<Inst, StreamError>,
}

impl StreamItem {
    /// Whether the instruction is compacted.
    pub const fn compacted(&self) -> bool {
        self.size == 8
    }
}

/// The instructions of a kernel, in their order.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    generation: Verx10,
    bytes: &'a [u8],
    offset: usize,
}

/// Reads the bytes of a kernel, little-endian words. Every byte is covered exactly once.
pub const fn decode_stream(generation: Verx10, bytes: &[u8]) -> Stream<'_> {
    Stream {
        generation,
        bytes,
        offset: 0,
    }
}

/// The first `N` words.
fn words<const N: usize>(bytes: &[u8]) -> Option<[u32; N]> {
    let (words, _) = bytes.as_chunks::<4>();
    let words = words.first_chunk::<N>()?;
    Some(words.map(u32::from_le_bytes))
}

impl Iterator for Stream<'_> {
    type Item = StreamItem;

    fn next(&mut self) -> Option<StreamItem> {
        let rest = self.bytes.get(self.offset..)?;
        if rest.is_empty() {
            return None;
        }
        let first = words::<1>(rest).map_or(0, |[first]| first);
        let wanted = if is_compacted(self.generation, first) {
            8
        } else {
            16
        };
        let mut item = StreamItem {
            offset: self.offset,
            size: wanted,
            raw: [0; 4],
            inst: Err(StreamError::Truncated {
                wanted,
                left: rest.len(),
            }),
        };
        if rest.len() < wanted {
            item.size = rest.len();
        } else if wanted == 8
            && let Some(raw) = words::<2>(rest)
        {
            match uncompact(self.generation, raw) {
                Ok(expanded) => {
                    item.raw = expanded;
                    item.inst = decode(self.generation, expanded).map_err(StreamError::Decode);
                }
                Err(kind) => item.inst = Err(StreamError::Uncompact { kind, raw }),
            }
        } else if let Some(raw) = words::<4>(rest) {
            item.raw = raw;
            item.inst = decode(self.generation, raw).map_err(StreamError::Decode);
        }
        self.offset += item.size;
        Some(item)
    }
}

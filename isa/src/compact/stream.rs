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

    /// Whether it ends its thread: end of thread is bit 31 of an immediate descriptor (PRM vol4 2.6.2).
    pub fn ends_thread(&self) -> bool {
        let send = self.inst.as_ref().ok().and_then(|inst| inst.send);
        send.and_then(|send| send.imm)
            .is_some_and(|desc| desc >> 31 == 1)
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

/// Instructions lie at multiples of so many bytes.
pub const fn alignment(generation: Verx10) -> u32 {
    if generation.has().compacted { 8 } else { 16 }
}

/// The instruction at an address of a memory, whose offset is that address; `dword` reads the dword at an address. `None`
/// where the instruction, or its begin, cannot be read.
pub fn instruction_at(
    generation: Verx10,
    address: u32,
    dword: impl Fn(u32) -> Option<u32>,
) -> Option<StreamItem> {
    let word = |index: u32| dword(address.wrapping_add(index * 4));
    let words = [word(0)?, word(1)?];
    let size = if is_compacted(generation, words[0]) {
        8
    } else {
        16
    };
    let mut item = StreamItem {
        offset: address as usize,
        size,
        raw: [words[0], words[1], 0, 0],
        inst: Err(StreamError::Truncated {
            wanted: size,
            left: 8,
        }),
    };
    if size == 16 {
        item.raw = [words[0], words[1], word(2)?, word(3)?];
        item.inst = decode(generation, item.raw).map_err(StreamError::Decode);
        return Some(item);
    }
    match uncompact(generation, words) {
        Ok(expanded) => {
            item.raw = expanded;
            item.inst = decode(generation, expanded).map_err(StreamError::Decode);
        }
        Err(kind) => item.inst = Err(StreamError::Uncompact { kind, raw: words }),
    }
    Some(item)
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
        let dword = |at: u32| {
            let from = rest.get(at as usize..)?;
            words::<1>(from).map(|[word]| word)
        };
        if rest.len() < wanted {
            item.size = rest.len();
        } else if let Some(found) = instruction_at(self.generation, 0, dword) {
            item = StreamItem {
                offset: self.offset,
                ..found
            };
        }
        self.offset += item.size;
        Some(item)
    }
}

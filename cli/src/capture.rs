//! Captured frames: what a driver submitted, read and checked as a whole.
//!
//! The format is described in docs/captures.md. Not modelled: relocation (contents
//! are read as they were after it), several open files or contexts per capture.

mod check;
mod contents;
mod error;
mod json;
pub mod named;
mod pack;
mod reader;
mod source;
mod spool;

pub use contents::Contents;
pub use error::{CaptureError, Problem};
pub use named::Origin;
pub use pack::{EXTENSION, pack, pack_into};
pub use reader::{Reader, Submission};

use std::path::Path;

use driver::Tiling;

/// How much of a capture is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all different buffers together.
    pub buffer_bytes: u64,
    /// Bytes of one `exec.json`.
    pub json_bytes: u64,
    /// Submissions.
    pub execs: usize,
    /// Files in a packed capture.
    pub records: usize,
    /// Bytes of all files of a capture together.
    pub content_bytes: u64,
    /// Bytes of contents and of lists of buffers that a [`Capture`] holds in memory.
    pub held_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            buffer_bytes: 128 << 20,
            json_bytes: 8 << 20,
            execs: 4096,
            records: 1 << 17,
            content_bytes: 4 << 30,
            held_bytes: 160 << 20,
        }
    }
}

/// Size of the graphics address space that buffers are placed in.
pub const GTT_BYTES: u64 = 512 << 20;

/// A captured frame with all its contents; a [`Reader`] takes one submission at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Where it was read from.
    pub name: String,
    /// The submissions in order; at least one.
    pub execs: Vec<Exec>,
}

/// One submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exec {
    /// Name of its directory.
    pub name: String,
    /// PCI vendor and device that the frame was made for.
    pub pci: (u16, u16),
    /// Buffers in the order of the execution list.
    pub buffers: Vec<Buffer>,
    /// Which of them holds the batch.
    pub batch: usize,
    /// Byte offset of the first command in it.
    pub batch_start: u32,
    /// Bytes of commands.
    pub batch_len: u32,
    /// The contents are what the device was to find, all of it: what it had written before is among them.
    pub complete: bool,
}

/// One buffer of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Number that the buffer keeps over all submissions.
    pub bo_id: u64,
    /// Size in bytes, whole pages.
    pub size: u32,
    /// Graphics address.
    pub address: u32,
    /// Layout.
    pub tiling: Tiling,
    /// Bytes of a row, 0 when it is not given.
    pub stride: u32,
    /// File that the contents came from.
    pub file: String,
    /// Contents; bytes behind them are zero.
    pub data: Vec<u8>,
}

impl Buffer {
    /// First address behind the buffer.
    pub fn end(&self) -> u64 {
        u64::from(self.address) + u64::from(self.size)
    }

    /// Byte `offset` of the buffer; `None` behind its end.
    pub fn dword(&self, offset: u32) -> Option<u32> {
        if offset.checked_add(4)? > self.size {
            return None;
        }
        let byte = |i: usize| self.data.get(offset as usize + i).copied().unwrap_or(0);
        Some(u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]))
    }
}

impl Exec {
    /// The buffer that covers an address: its index, and the offset in it.
    pub fn find(&self, address: u32) -> Option<(usize, u32)> {
        let address = u64::from(address);
        let index = self
            .buffers
            .iter()
            .position(|b| u64::from(b.address) <= address && address < b.end())?;
        let start = u64::from(self.buffers.get(index)?.address);
        Some((index, (address - start) as u32))
    }

    /// The dword at a graphics address, `None` outside every buffer.
    pub fn dword(&self, address: u32) -> Option<u32> {
        let (index, offset) = self.find(address)?;
        self.buffers.get(index)?.dword(offset)
    }

    /// Bytes that it takes in memory without the contents of its buffers.
    fn list_bytes(&self) -> u64 {
        let names = self.buffers.iter().map(|buffer| buffer.file.capacity());
        let lists = self.buffers.capacity() * size_of::<Buffer>();
        (size_of::<Self>() + self.name.capacity() + lists + names.sum::<usize>()) as u64
    }

    /// The submission without contents.
    #[must_use]
    pub fn outline(&self) -> Self {
        let buffers = self.buffers.iter().map(|b| Buffer {
            data: Vec::new(),
            file: b.file.clone(),
            ..*b
        });
        Exec {
            name: self.name.clone(),
            buffers: buffers.collect(),
            ..*self
        }
    }

    /// Graphics address of the batch.
    pub fn batch_address(&self) -> u32 {
        let base = self.buffers.get(self.batch).map_or(0, |b| b.address);
        base.wrapping_add(self.batch_start)
    }
}

impl Capture {
    /// Reads a capture from a directory of `exec_NNNN`, from one such directory, or from a packed file.
    pub fn load(path: &Path) -> Result<Self, CaptureError> {
        Self::load_with(path, Limits::default())
    }

    /// Like [`load`](Self::load) with other limits.
    pub fn load_with(path: &Path, limits: Limits) -> Result<Self, CaptureError> {
        Self::read(Reader::open_with(path, limits)?, limits, usize::MAX)
    }

    /// Reads the first `count` submissions, at least one, of a capture that is still being recorded.
    pub fn load_first(path: &Path, count: usize) -> Result<Self, CaptureError> {
        Self::read(Reader::open(path)?, Limits::default(), count)
    }

    /// Reads a packed capture from memory; `name` stands for it in messages.
    pub fn from_packed(name: &str, bytes: &[u8]) -> Result<Self, CaptureError> {
        let reader = Reader::from_packed(name, bytes)?;
        Self::read(reader, Limits::default(), usize::MAX)
    }

    fn read(mut reader: Reader, limits: Limits, count: usize) -> Result<Self, CaptureError> {
        let name = reader.name();
        let mut execs = Vec::new();
        let mut total = 0u64;
        while let Some(Submission { mut exec, contents }) = reader.next_submission()? {
            total = total.saturating_add(exec.list_bytes());
            if total > limits.held_bytes {
                let limit = limits.held_bytes;
                let problem = Problem::Lists { total, limit };
                return Err(CaptureError::file(
                    format!("{name}, {}", exec.name),
                    problem,
                ));
            }
            for (index, (buffer, contents)) in exec.buffers.iter_mut().zip(contents).enumerate() {
                total = total.saturating_add(contents.len());
                if total > limits.held_bytes {
                    let limit = limits.held_bytes;
                    let file = format!("{name}, {}, {}", exec.name, buffer.file);
                    let problem = Problem::Contents { total, limit };
                    return Err(CaptureError::file(file, problem).in_buffer(index));
                }
                buffer.data = contents.to_vec().map_err(|e| e.in_buffer(index))?;
            }
            execs.push(exec);
            if execs.len() >= count {
                break;
            }
        }
        Ok(Capture { name, execs })
    }

    /// Bytes of all different buffers together.
    pub fn buffer_bytes(&self) -> u64 {
        let sizes: std::collections::BTreeMap<u64, u64> = self
            .execs
            .iter()
            .flat_map(|exec| &exec.buffers)
            .map(|b| (b.bo_id, u64::from(b.size)))
            .collect();
        sizes.values().sum()
    }
}

//! A capture read one submission at a time.
//!
//! See docs/captures.md.

use std::path::Path;

use super::check::Checker;
use super::contents::Contents;
use super::error::CaptureError;
use super::source::Source;
use super::{Exec, Limits};

/// A submission whose contents still lie where the capture has them.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The submission; its buffers' `data` are empty.
    pub exec: Exec,
    /// Contents of each buffer.
    pub contents: Vec<Contents>,
}

/// A capture being read.
pub struct Reader {
    source: Source,
    checker: Checker,
    names: std::vec::IntoIter<String>,
    count: usize,
    first: Option<Submission>,
    pci: (u16, u16),
    limits: Limits,
}

impl Reader {
    /// Opens a capture: a directory of `exec_NNNN`, one such directory, or a packed file.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        Self::open_with(path, Limits::default())
    }

    /// Like [`open`](Self::open) with other limits.
    pub fn open_with(path: &Path, limits: Limits) -> Result<Self, CaptureError> {
        Self::new(Source::open(path, limits)?, limits)
    }

    /// Opens a packed capture in memory; `name` stands for it in messages.
    pub fn from_packed(name: &str, bytes: &[u8]) -> Result<Self, CaptureError> {
        let limits = Limits::default();
        Self::new(Source::unpack(name, bytes, limits)?, limits)
    }

    fn new(source: Source, limits: Limits) -> Result<Self, CaptureError> {
        let names = source.execs(limits)?;
        let count = names.len();
        let mut reader = Reader {
            source,
            checker: Checker::new(limits),
            names: names.into_iter(),
            count,
            first: None,
            pci: (0, 0),
            limits,
        };
        reader.first = reader.next_submission()?;
        if let Some(first) = &reader.first {
            reader.pci = first.exec.pci;
        }
        Ok(reader)
    }

    /// Where the capture is read from.
    pub fn name(&self) -> String {
        self.source.name()
    }

    /// Number of submissions, read or not.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none (never: such a capture is not opened).
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// PCI vendor and device that the capture was made for.
    pub fn pci(&self) -> (u16, u16) {
        self.pci
    }

    /// Most bytes that all different buffers have together.
    pub fn buffer_limit(&self) -> u64 {
        self.limits.buffer_bytes
    }

    /// The next submission, or `None` behind the last.
    pub fn next_submission(&mut self) -> Result<Option<Submission>, CaptureError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let Some(name) = self.names.next() else {
            return Ok(None);
        };
        self.checker.exec(&self.source, &name).map(Some)
    }
}

//! Contents of a buffer where they lie: a file, an unpacked capture, memory.
//!
//! Read in pieces: a capture may hold more than fits into memory.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use super::error::{CaptureError, Problem};
use super::spool::Spool;
use crate::shown;

/// Where the contents of a buffer are read from; bytes behind them are zero.
#[derive(Clone, Debug)]
pub struct Contents {
    place: Place,
    len: u64,
}

#[derive(Clone, Debug)]
enum Place {
    Held(Arc<[u8]>),
    File(PathBuf),
    Spool {
        spool: Spool,
        shown: String,
        at: u64,
    },
}

impl Contents {
    /// Bytes in memory.
    pub fn held(bytes: &[u8]) -> Self {
        Contents {
            len: bytes.len() as u64,
            place: Place::Held(bytes.into()),
        }
    }

    /// A file of `len` bytes.
    pub(super) fn file(path: PathBuf, len: u64) -> Self {
        let place = Place::File(path);
        Contents { place, len }
    }

    /// A record of an unpacked capture.
    pub(super) fn spooled(spool: Spool, shown: String, at: u64, len: u64) -> Self {
        let place = Place::Spool { spool, shown, at };
        Contents { place, len }
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none: a buffer of zeros.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Opens the contents for reading.
    pub fn open(&self) -> Result<Open<'_>, CaptureError> {
        let file = match &self.place {
            Place::File(path) if self.len > 0 => Some(File::open(path).map_err(|e| self.fail(e))?),
            _ => None,
        };
        Ok(Open {
            contents: self,
            file,
        })
    }

    /// All bytes; the caller has bounded their number.
    pub(super) fn to_vec(&self) -> Result<Vec<u8>, CaptureError> {
        let mut bytes = vec![0; usize::try_from(self.len).unwrap_or(usize::MAX)];
        self.open()?.read(0, &mut bytes)?;
        Ok(bytes)
    }

    fn fail(&self, error: std::io::Error) -> CaptureError {
        let file = match &self.place {
            Place::Held(_) => "memory".to_owned(),
            Place::File(path) => shown::path(path),
            Place::Spool { shown, .. } => shown.clone(),
        };
        CaptureError::file(file, Problem::Io(error))
    }
}

/// Contents being read.
pub struct Open<'a> {
    contents: &'a Contents,
    file: Option<File>,
}

impl Open<'_> {
    /// Fills `into` with the bytes from `at` on; zeros stand for those behind the end.
    pub fn read(&mut self, at: u64, into: &mut [u8]) -> Result<(), CaptureError> {
        let left = self.contents.len.saturating_sub(at);
        let count = usize::try_from(left).map_or(into.len(), |left| left.min(into.len()));
        let (bytes, rest) = into.split_at_mut(count);
        rest.fill(0);
        if bytes.is_empty() {
            return Ok(());
        }
        let read = match (&self.contents.place, &mut self.file) {
            (Place::Held(held), _) => {
                let from = held.get(at as usize..).unwrap_or(&[]);
                for (to, from) in bytes.iter_mut().zip(from) {
                    *to = *from;
                }
                Ok(())
            }
            (Place::File(_), Some(file)) => file
                .seek(SeekFrom::Start(at))
                .and_then(|_| file.read_exact(bytes)),
            (Place::File(_), None) => Ok(()),
            (
                Place::Spool {
                    spool, at: start, ..
                },
                _,
            ) => spool.read(start + at, bytes),
        };
        read.map_err(|e| self.contents.fail(e).at(at))
    }
}

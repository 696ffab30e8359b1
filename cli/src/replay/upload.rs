//! Buffers of the capture become objects of the driver, a piece at a time.
//!
//! docs/captures.md says what a later submission uploads. Pages of zeros are not
//! written: they cost no memory.

use driver::Object;

use crate::capture::{CaptureError, Contents};

/// Bytes that are compared at a time.
const CHUNK: usize = 64 << 10;
/// Bytes of a page.
const PAGE: usize = 4096;

/// An object that holds a buffer.
pub struct Bound {
    /// The object.
    pub object: Object,
    /// Contents at the last submission.
    dumped: Option<Contents>,
}

/// Why contents could not be brought into an object.
pub enum Error {
    /// They could not be read.
    Capture(CaptureError),
    /// They could not be written.
    Object(kernel::error::Error),
}

impl Bound {
    /// A new object: all zeros.
    pub fn new(object: Object) -> Self {
        Bound {
            object,
            dumped: None,
        }
    }

    /// Writes what the CPU wrote since the submission before: see docs/captures.md.
    pub fn upload(&mut self, contents: Contents) -> Result<(), Error> {
        let nothing = Contents::held(&[]);
        let old = self.dumped.as_ref().unwrap_or(&nothing);
        let longest = old.len().max(contents.len());
        let mut was = old.open().map_err(Error::Capture)?;
        let mut is = contents.open().map_err(Error::Capture)?;
        let mut before = vec![0; CHUNK];
        let mut now = vec![0; CHUNK];
        let mut at = 0;
        while at < longest {
            was.read(at, &mut before).map_err(Error::Capture)?;
            is.read(at, &mut now).map_err(Error::Capture)?;
            if before != now {
                let pages = before.chunks(PAGE).zip(now.chunks(PAGE));
                for (index, (before, now)) in pages.enumerate() {
                    self.differences(at as usize + index * PAGE, before, now)?;
                }
            }
            at += CHUNK as u64;
        }
        self.dumped = Some(contents);
        Ok(())
    }

    /// Makes the object what the contents say, whatever the device has made of it meanwhile.
    pub fn replace(&mut self, contents: Contents) -> Result<(), Error> {
        let new = self.dumped.is_none();
        let mut is = contents.open().map_err(Error::Capture)?;
        let (mut found, mut wanted) = (vec![0; PAGE], vec![0; PAGE]);
        for at in (0..self.object.size()).step_by(PAGE) {
            is.read(at as u64, &mut wanted).map_err(Error::Capture)?;
            if !new {
                self.object.read(at, &mut found).map_err(Error::Object)?;
            }
            if found != wanted {
                self.object.write(at, &wanted).map_err(Error::Object)?;
            }
        }
        self.dumped = Some(contents);
        Ok(())
    }

    /// Writes the bytes of a page that differ.
    fn differences(&self, at: usize, before: &[u8], now: &[u8]) -> Result<(), Error> {
        let write = |offset, bytes| self.object.write(offset, bytes).map_err(Error::Object);
        if self.dumped.is_none() {
            // The object is new. What stands behind its end in the chunk is zero.
            if now.iter().any(|byte| *byte != 0) {
                write(at, now)?;
            }
            return Ok(());
        }
        let mut pairs = before.iter().zip(now).map(|(a, b)| a == b);
        let mut from = 0;
        while let Some(same) = pairs.position(|same| !same) {
            let start = from + same;
            let differ = pairs.position(|same| same);
            let end = differ.map_or(now.len(), |more| start + 1 + more);
            write(at + start, now.get(start..end).unwrap_or_default())?;
            from = end + 1;
        }
        Ok(())
    }
}

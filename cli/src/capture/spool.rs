//! An unpacked capture: small ones in memory, large ones in a file without a name.
//!
//! Zeros are not stored.

use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::SpooledTempFile;

/// Bytes up to which a capture stays in memory.
const HELD: usize = 8 << 20;

/// The bytes of all records, one behind the other; clones share them.
#[derive(Clone, Debug)]
pub struct Spool(Arc<Mutex<SpooledTempFile>>);

impl Spool {
    /// Nothing yet.
    pub fn new() -> Self {
        Spool(Arc::new(Mutex::new(SpooledTempFile::new(HELD))))
    }

    fn file(&self) -> MutexGuard<'_, SpooledTempFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes bytes at a place; zeros leave a hole.
    pub fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let mut file = self.file();
        // A seek beyond the end would make a hole in memory before the file takes over.
        let limit = HELD as u64;
        if !file.is_rolled() && at.saturating_add(bytes.len() as u64) > limit {
            file.roll()?;
        }
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    /// Reads bytes at a place; what was never written is zero.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let mut file = self.file();
        file.seek(SeekFrom::Start(at))?;
        let mut rest = bytes;
        while !rest.is_empty() {
            match file.read(rest)? {
                0 => break,
                count => rest = rest.get_mut(count..).unwrap_or_default(),
            }
        }
        rest.fill(0);
        Ok(())
    }
}

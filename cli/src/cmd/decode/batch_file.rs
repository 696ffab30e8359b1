//! A plain file of dwords, read page by page while it is decoded.
//!
//! Only regular files; no kernels, because nothing says where they lie.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crestline_cli::shown;
use kernel::string_helpers::Counted;
use regs::decode::Source;

use crate::cmd::Error;

/// Largest file that is decoded.
const MAX_BYTES: u64 = 64 << 20;
/// Bytes of one read.
const PAGE: u32 = 1 << 14;
/// Pages that are kept: what commands point at lies elsewhere than the commands.
const PAGES: u32 = 64;
/// Bytes that are looked at to tell text from dwords.
const SAMPLE: usize = 4096;

/// The file.
pub struct BatchFile {
    file: File,
    base: u32,
    length: u32,
    rest: u32,
    pages: Vec<Option<(u32, Vec<u8>)>>,
    error: Option<io::Error>,
}

impl BatchFile {
    /// Opens a file whose first dword has the address `base`.
    pub fn open(path: &Path, base: u32) -> Result<Self, Error> {
        let shown = shown::path(path);
        let wanted = "a batch is a file of little-endian dwords";
        let meta = fs::metadata(path).map_err(|e| format!("{shown}: {e}"))?;
        if !meta.is_file() {
            return Err(format!("{shown}: not a regular file; {wanted}").into());
        }
        let bytes = meta.len();
        if bytes == 0 {
            return Err(format!("{shown}: the file is empty; {wanted}").into());
        }
        if bytes > MAX_BYTES {
            return Err(format!("{shown}: {bytes} bytes, at most {MAX_BYTES} are decoded").into());
        }
        if u64::from(base) + bytes > 1 << 32 {
            return Err(format!("{shown}: {bytes} bytes from {base:#x} on pass 4 GiB").into());
        }
        let mut file = File::open(path).map_err(|e| format!("{shown}: {e}"))?;
        let mut sample = Vec::new();
        file.by_ref()
            .take(SAMPLE as u64)
            .read_to_end(&mut sample)
            .map_err(|e| format!("{shown}: {e}"))?;
        if sample.starts_with(b"CRESTv1\n") {
            return Err(format!("{shown}: a packed capture; its name has to end in .crest").into());
        }
        if is_text(&sample) {
            return Err(format!(
                "{shown}: this is text; {wanted}, binary, and a capture a directory with exec_NNNN in it \
                 or a packed file (.crest)"
            )
            .into());
        }
        let (length, rest) = (bytes as u32 & !3, bytes as u32 & 3);
        if length == 0 {
            return Err(format!(
                "{shown}: {} in the file, not a whole dword; {wanted}",
                Counted(rest, "byte")
            )
            .into());
        }
        Ok(BatchFile {
            file,
            base,
            length,
            rest,
            pages: (0..PAGES).map(|_| None).collect(),
            error: None,
        })
    }

    /// Address of the first dword.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Bytes of whole dwords.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Bytes behind the last whole dword.
    pub fn rest(&self) -> u32 {
        self.rest
    }

    /// The first error of reading; the file ends there for the decoder.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    fn page(&mut self, number: u32) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file
            .seek(SeekFrom::Start(u64::from(number) * u64::from(PAGE)))?;
        self.file
            .by_ref()
            .take(u64::from(PAGE))
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Source for BatchFile {
    fn dword(&mut self, address: u32) -> Option<u32> {
        let offset = address.checked_sub(self.base)?;
        if offset >= self.length {
            return None;
        }
        let (number, at) = (offset / PAGE, (offset % PAGE / 4) as usize);
        let slot = (number % PAGES) as usize;
        if !matches!(self.pages.get(slot), Some(Some((held, _))) if *held == number) {
            let bytes = match self.page(number) {
                Ok(bytes) => bytes,
                Err(error) => {
                    self.error.get_or_insert(error);
                    return None;
                }
            };
            *self.pages.get_mut(slot)? = Some((number, bytes));
        }
        let (_, bytes) = self.pages.get(slot)?.as_ref()?;
        bytes
            .as_chunks::<4>()
            .0
            .get(at)
            .copied()
            .map(u32::from_le_bytes)
    }
}

/// Whether a file is written in letters. No batch is: its end has three bytes of zero.
fn is_text(sample: &[u8]) -> bool {
    let text = match std::str::from_utf8(sample) {
        Ok(text) => text,
        // The sample may end inside a character.
        Err(e) if e.error_len().is_none() && e.valid_up_to() > 0 => {
            std::str::from_utf8(&sample[..e.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty()
        && text
            .chars()
            .all(|c| !c.is_control() || "\t\r\n".contains(c))
}

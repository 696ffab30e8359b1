//! What can be wrong with a capture, and where.
//!
//! Not modelled: more than the first error of a capture.

use std::fmt;

use kernel::string_helpers::Escaped;

use crate::shown;

/// An error with the place where it stands.
#[derive(Debug)]
pub struct CaptureError {
    /// The file.
    pub file: String,
    /// Index in `buffers`.
    pub buffer: Option<usize>,
    /// Byte offset in the file.
    pub offset: Option<u64>,
    /// What is wrong.
    pub problem: Problem,
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Escaped(&self.file))?;
        if let Some(index) = self.buffer {
            write!(f, ", buffer {index}")?;
        }
        if let Some(offset) = self.offset {
            write!(f, ", offset {offset:#x}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for CaptureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.problem)
    }
}

/// What is wrong with a capture.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The operating system says no.
    #[error("{}", Escaped(.0))]
    Io(std::io::Error),
    /// Not a file, directory or pack.
    #[error("{0}")]
    NotACapture(&'static str),
    /// No `exec_NNNN` inside.
    #[error(
        "this directory is not a capture: it has no exec_NNNN directory with an exec.json in it, and no .crest file{}",
        below(.0)
    )]
    Empty(Vec<std::path::PathBuf>),
    /// More than one packed capture in a directory.
    #[error("several captures are in this directory, name one of them:{}", lines(.0))]
    Several(Vec<std::path::PathBuf>),
    /// More submissions than believed.
    #[error("there are {found} submissions: at most {limit} are read")]
    TooManyExecs {
        /// How many there are.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A file larger than it may be.
    #[error("the file has {found} bytes: at most {limit} are read")]
    TooLarge {
        /// Its size.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// Not JSON, or not of this form; the text has line and column.
    #[error("{}", Escaped(.0))]
    Json(serde_json::Error),
    /// A field with a value that cannot be.
    #[error("{field} is {}: {why}", Escaped(value))]
    Field {
        /// Name of the field.
        field: &'static str,
        /// What stood there.
        value: String,
        /// The rule.
        why: &'static str,
    },
    /// Two address ranges overlap.
    #[error(
        "gtt range {:#010x}..{:#010x} overlaps {:#010x}..{:#010x} of buffer {other} ({})",
        range.0, range.1, other_range.0, other_range.1, Escaped(other_file)
    )]
    Overlap {
        /// This buffer's start and end.
        range: (u64, u64),
        /// Index of the other buffer.
        other: usize,
        /// Its file.
        other_file: String,
        /// Its start and end.
        other_range: (u64, u64),
    },
    /// The buffer file does not have the size that `exec.json` says.
    #[error("the file holds {found} bytes, file_size says {said}")]
    FileSize {
        /// Bytes in the file.
        found: u64,
        /// What `file_size` says.
        said: u64,
    },
    /// All buffers together are too large.
    #[error("the buffers have {total} bytes in all: at most {limit} are read")]
    TotalSize {
        /// Bytes up to here.
        total: u64,
        /// The limit.
        limit: u64,
    },
    /// All files together are too large.
    #[error("the contents have {total} bytes in all: at most {limit} are read")]
    Contents {
        /// Bytes up to here.
        total: u64,
        /// The limit.
        limit: u64,
    },
    /// The lists of all submissions are too long to be held at once.
    #[error(
        "contents and lists of buffers take {total} bytes of memory up to here: at most {limit} are held"
    )]
    Lists {
        /// Bytes up to here.
        total: u64,
        /// The limit.
        limit: u64,
    },
    /// Two submissions for different devices.
    #[error("pci is {pci} here, but {}", Escaped(before))]
    OtherDevice {
        /// Device here.
        pci: String,
        /// Device there, and where.
        before: String,
    },
    /// A buffer changed its size between two submissions.
    #[error("bo_id {bo_id} has {size} bytes here and {before} in {exec}")]
    Resized {
        /// Which buffer.
        bo_id: u64,
        /// Size here.
        size: u64,
        /// Size there.
        before: u64,
        /// Where.
        exec: String,
    },
    /// The same buffer twice in one list.
    #[error("buffer {other} has the same bo_id {bo_id}")]
    Duplicate {
        /// Which buffer.
        bo_id: u64,
        /// Index of the other entry.
        other: usize,
    },
    /// A packed file that does not end with its contents.
    #[error("the capture ends here, but the file goes on")]
    Behind,
    /// A packed file that cannot be unpacked.
    #[error("packed capture: {}", Escaped(.0))]
    Pack(std::borrow::Cow<'static, str>),
}

/// Most files that an error lists.
const LISTED: usize = 20;

fn lines(files: &[std::path::PathBuf]) -> String {
    let listed = files
        .iter()
        .take(LISTED)
        .map(|file| format!("\n  {}", shown::path(file)));
    let more = files.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!("\n  and {more} more"));
    listed.chain(more).collect()
}

/// Most captures that are suggested.
const SUGGESTED: usize = 3;

fn below(captures: &[std::path::PathBuf]) -> String {
    let shown = captures
        .iter()
        .take(SUGGESTED)
        .map(|path| format!("`{}`", shown::path(path)));
    let shown: Vec<String> = shown.collect();
    match captures.len() {
        0 => String::new(),
        1 => format!("; below it there is {}", shown.join("")),
        n if n <= SUGGESTED => format!("; below it there are {}", shown.join(" and ")),
        n => format!(
            "; below it there are {n}, such as {}: `crestline replay --list` with this directory shows them all",
            shown.join(", ")
        ),
    }
}

impl CaptureError {
    /// An error of a whole file.
    pub fn file(file: impl Into<String>, problem: Problem) -> Self {
        CaptureError {
            file: file.into(),
            buffer: None,
            offset: None,
            problem,
        }
    }

    /// The same error with a buffer index.
    #[must_use]
    pub fn in_buffer(mut self, index: usize) -> Self {
        self.buffer = Some(index);
        self
    }

    /// The same error with a byte offset.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }
}

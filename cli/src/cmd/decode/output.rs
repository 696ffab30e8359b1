//! Standard output as the decoder writes it: line by line, nothing is kept.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Stdout, Write as _};

use kernel::string_helpers::escape_lines;

/// Buffered standard output that remembers why it failed.
pub struct Output {
    stdout: BufWriter<Stdout>,
    error: Option<io::Error>,
}

impl Output {
    /// Standard output.
    pub fn new() -> Self {
        Output {
            stdout: BufWriter::with_capacity(1 << 16, io::stdout()),
            error: None,
        }
    }

    /// Writes what is left; false when the reader has gone, which is no error.
    pub fn finish(mut self) -> io::Result<bool> {
        let error = self.error.take().or_else(|| self.stdout.flush().err());
        match error {
            None => Ok(true),
            Some(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
            Some(e) => Err(e),
        }
    }
}

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.stdout
            .write_all(escape_lines(text).as_bytes())
            .map_err(|e| {
                self.error = Some(e);
                fmt::Error
            })
    }
}

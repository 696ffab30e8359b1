//! The subcommands: each has its arguments and a `run`.

pub mod arguments;
pub mod asm;
pub mod boot;
mod captured;
pub mod debug;
pub mod decode;
pub mod device;
pub mod disasm;
pub mod engine;
pub mod eu;
pub mod exec;
pub mod limits;
mod listing;
pub mod logging;
pub mod media;
mod outputs;
pub mod pack;
pub mod pci;
mod progress;
pub mod regs;
pub mod replay;
pub mod report;
pub mod source;
mod summary;
mod trace;
pub mod vfio_user;
pub mod why;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crestline_cli::shown;
use kernel::string_helpers::escape_lines;

/// What a subcommand can fail with; printed as it is.
pub type Error = Box<dyn std::error::Error>;

/// Whether a file can lie where its path says, which is better known before a long run than behind it.
fn has_place(path: &Path) -> Result<(), Error> {
    let shown = shown::path(path);
    let directory = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    match directory {
        Some(dir) if !dir.is_dir() => {
            Err(format!("{shown}: there is no directory {}", shown::path(dir)).into())
        }
        _ if path.is_dir() => Err(format!("{shown}: this is a directory").into()),
        _ => Ok(()),
    }
}

/// Standard output is for a result.
static ON_STDERR: AtomicBool = AtomicBool::new(false);

/// What [`print`] writes goes to standard error from now on: a file of results leads to where standard output does.
fn talk_on_stderr() {
    ON_STDERR.store(true, Ordering::Relaxed);
}

/// Where a command's words go that come in pieces.
fn words() -> Box<dyn std::io::Write> {
    if ON_STDERR.load(Ordering::Relaxed) {
        Box::new(std::io::stderr())
    } else {
        Box::new(std::io::stdout().lock())
    }
}

/// Writes text to standard output, control characters escaped; a reader that has seen enough is no error.
pub fn print(text: &str) -> Result<(), Error> {
    use std::io::{ErrorKind, Write};
    if ON_STDERR.load(Ordering::Relaxed) {
        say(text);
        return Ok(());
    }
    match std::io::stdout()
        .lock()
        .write_all(escape_lines(text).as_bytes())
    {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}

/// Writes lines to standard error, control characters escaped. What cannot be written changes nothing.
pub fn say(text: &str) {
    use std::io::Write;
    let line = format!("{}\n", escape_lines(text.trim_end_matches('\n')));
    // Behind the messages that came before.
    logging::settle();
    progress::beside(|| {
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    });
}

/// Where text goes through with its control characters escaped. Each write is whole text, as those of `write!` are.
pub struct Shown<W>(pub W);

impl<W: std::io::Write> std::io::Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(escape_lines(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

//! Boots an unmodified Linux on a modelled device, and runs a program there.
//!
//! QEMU, kernel and guest tree are given, or come from Debian's packages into a cache. The device is served by the crate `vfio` in this
//! process. What the guest says comes through virtio's serial ports, each of which is a FIFO in a directory of this user alone.
//! Not modelled: input of the program, network, other architectures than amd64.

pub mod apt;
pub mod archive;
pub mod cache;
pub mod init;
pub mod kernel;
pub mod machine;
pub mod pieces;
pub mod program;
pub mod qemu;
pub mod returned;
pub mod tree;

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::shown;

/// Why nothing is booted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a program, and what the system says of it.
    #[error("{place}: {error}")]
    At {
        /// The file or program.
        place: String,
        /// What the system says.
        error: io::Error,
    },
    /// Something is missing, is not fit, or has gone wrong; with what helps.
    #[error("{0}")]
    Told(String),
    /// There is no such program, here or in the guest.
    #[error("{0}")]
    NoProgram(String),
}

impl Error {
    /// An error of the system with the file that it is about.
    pub fn at(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let place = shown::path(path.as_ref());
        move |error| Error::At { place, error }
    }
}

/// Receives messages about work that takes long, and its progress.
pub trait Watch {
    /// Work begins that takes a while: a sentence without a full stop.
    fn begins(&self, what: &str);
    /// How far it is.
    fn now(&self, what: &str);
}

/// Runs a program of the machine to its end, without input. The error says which package has it, and what to give instead.
fn output(command: &mut Command, package: &str, instead: &str) -> Result<Output, Error> {
    let ran = command.stdin(Stdio::null()).output();
    ran.map_err(|error| missing(command, &error, package, instead))
}

/// What is said of a program that does not start.
fn missing(command: &Command, error: &io::Error, package: &str, instead: &str) -> Error {
    let name = shown::path(command.get_program());
    if error.kind() == io::ErrorKind::NotFound {
        Error::Told(format!(
            "{name} is not on this machine (Debian's package {package}); {instead}"
        ))
    } else {
        Error::Told(format!("{name}: {error}"))
    }
}

/// The output of a program that has to succeed.
fn succeeded(command: &Command, output: Output) -> Result<Vec<u8>, Error> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(Error::Told(format!(
        "{}: {}; {}",
        shown::path(command.get_program()),
        output.status,
        last_lines(&text, 5)
    )))
}

/// The last lines of a text that are not empty, in one.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim_end)
        .filter(|l| !l.is_empty())
        .collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

//! Programs that do not start: why, and what helps.
//!
//! Errors are those of execve(2).

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::shown;

/// Looks for a program where execvp(3) does, without a start; where it is.
///
/// # Errors
/// What the start would end with, as far as a look at the file tells.
pub fn look_for(program: &Path) -> io::Result<PathBuf> {
    if program.to_string_lossy().contains('/') {
        return is_program(program).map(|()| program.to_owned());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut found = Err(Errno::ENOENT.into());
    for dir in env::split_paths(&path) {
        let place = dir.join(program);
        match is_program(&place) {
            Ok(()) => return Ok(place),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => found = Err(error),
            Err(_) => {}
        }
    }
    found
}

fn is_program(path: &Path) -> io::Result<()> {
    let meta = fs::metadata(path)?;
    if meta.is_dir() || meta.permissions().mode() & 0o111 == 0 {
        return Err(Errno::EACCES.into());
    }
    Ok(())
}

/// Why a program did not start, and what helps.
pub fn why(program: &Path, error: &io::Error) -> String {
    let is_path = program.to_string_lossy().contains('/');
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT) if !is_path => {
            let here = Path::new(".").join(program);
            let hint = if here.is_file() {
                format!("; {} is a file of this directory", shown::path(&here))
            } else {
                "; is it installed?".to_owned()
            };
            format!("no program of this name in the directories of PATH{hint}")
        }
        Some(Errno::ENOENT) if program.exists() => {
            "what runs it is missing: the interpreter that its first line names, or the loader that it was linked for"
                .to_owned()
        }
        Some(Errno::ENOENT) => "there is no such file".to_owned(),
        Some(Errno::EACCES) => match fs::metadata(program) {
            Ok(meta) if meta.is_dir() => "this is a directory, not a program".to_owned(),
            Ok(meta) if meta.permissions().mode() & 0o111 == 0 => format!(
                "the file is not executable: `chmod +x {}` makes it so, if it is a program",
                shown::path(program)
            ),
            _ => error.to_string(),
        },
        Some(Errno::ENOEXEC) => {
            "neither a program for this machine, nor a script whose first line begins with #!".to_owned()
        }
        _ => error.to_string(),
    }
}

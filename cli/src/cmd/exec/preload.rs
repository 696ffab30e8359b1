//! The shim in `LD_PRELOAD`, wherever it is installed.
//!
//! ld.so(8): names there end at spaces and colons, nothing quotes them, and a dollar sign begins a name of the loader's.
//! A path with one of these is given as a link in the node's own directory.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crestline_cli::shown;

use super::{Error, SHIM};

/// Whether the loader takes a path for what it is.
fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    !bytes.iter().any(|byte| b" :$".contains(byte))
}

/// The value of the variable: the shim, then what is there already. `directory` is the node's own.
pub fn value(shim: &Path, directory: &Path, others: Option<&OsStr>) -> Result<OsString, Error> {
    let mut value = name(shim, directory)?.into_os_string();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        value.push(":");
        value.push(others);
    }
    Ok(value)
}

fn name(shim: &Path, directory: &Path) -> Result<PathBuf, Error> {
    if is_plain(shim) {
        return Ok(shim.to_owned());
    }
    let link = directory.join(SHIM);
    if !is_plain(&link) {
        return Err(format!(
            "{} cannot be preloaded, nor can a link to it in {}: the system's loader ends names at spaces and colons and replaces what begins with a dollar sign; set TMPDIR to a path without these",
            shown::path(shim),
            shown::path(directory)
        )
        .into());
    }
    symlink(shim, &link).map_err(|error| format!("{}: {error}", shown::path(&link)))?;
    Ok(link)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn plain_paths_stand_for_themselves() {
        let nowhere = Path::new("no where");
        let value = value(Path::new("a/b.so"), nowhere, Some(OsStr::new("c.so d.so"))).unwrap();
        assert_eq!(value, "a/b.so:c.so d.so");
    }

    #[test]
    fn other_paths_get_a_link_or_an_error() {
        for path in ["a b/c.so", "a:b/c.so", "a/$LIB/c.so"] {
            let directory = tempfile::tempdir().unwrap();
            let value = value(Path::new(path), directory.path(), Some(OsStr::new(""))).unwrap();
            assert!(is_plain(Path::new(&value)));
            assert_eq!(std::fs::read_link(value).unwrap(), Path::new(path));
            let error = name(Path::new(path), Path::new("with space")).unwrap_err();
            assert!(error.to_string().contains("TMPDIR"), "{error}");
        }
    }
}

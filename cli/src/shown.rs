//! Names of files in messages: each a part of one line, whatever it holds.
//!
//! A name can hold line feeds and what a terminal obeys. Every path that is printed goes through here; `cli/clippy.toml` refuses
//! `Path::display`.

use std::ffi::OsStr;

use kernel::string_helpers::escape;

/// A path, its control characters escaped.
pub fn path(path: impl AsRef<OsStr>) -> String {
    escape(&path.as_ref().to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn a_name_is_a_part_of_one_line() {
        let path = Path::new("captures/a\ncrestline: faked\r\x1b[2J");
        let shown = super::path(path);
        assert_eq!(shown, "captures/a\\u000acrestline: faked\\u000d\\u001b[2J");
        assert_eq!(super::path("bücher/três"), "bücher/três");
    }
}

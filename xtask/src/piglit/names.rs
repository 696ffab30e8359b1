//! The tests of piglit's profiles, their groups, and a number for a list of them.
//! Asks the installed piglit; nothing is kept.

use std::io;
use std::process::{Command, Stdio};

/// The profiles that are run, in this order.
pub const PROFILES: [&str; 2] = ["quick_shader", "quick_gl"];

/// Tests that piglit leaves without an outcome on every renderer: it takes their results for those of subtests.
pub const SILENT: [&str; 2] = [
    "spec@khr_texture_compression_astc@miptree-gles srgb",
    "spec@khr_texture_compression_astc@miptree-gles srgb-fp",
];

/// One profile and its tests, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub name: &'static str,
    pub tests: Vec<String>,
}

/// Every profile's tests, those that match `filter` (a regular expression of Python).
pub fn profiles(filter: Option<&str>) -> io::Result<Vec<Profile>> {
    PROFILES
        .iter()
        .map(|&name| {
            let tests = list(name, filter)?;
            Ok(Profile { name, tests })
        })
        .collect()
}

fn list(profile: &str, filter: Option<&str>) -> io::Result<Vec<String>> {
    let mut command = Command::new("piglit");
    command.args(["print-cmd", profile, "--format", "{name}"]);
    if let Some(filter) = filter {
        command.args(["-t", filter]);
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| {
        io::Error::other(format!(
            "piglit: {error}; `tests/conformance/tools --piglit` brings it"
        ))
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut tests: Vec<String> = text.lines().map(str::to_owned).collect();
    tests.sort();
    tests.dedup();
    Ok(tests)
}

/// Leaves only the tests that `wanted`, which is sorted, names.
pub fn keep(profiles: &mut [Profile], wanted: &[String]) {
    for profile in profiles {
        let named = |test: &String| wanted.binary_search(test).is_ok();
        profile.tests.retain(named);
    }
}

/// The names in a list file: a line each, `#` begins a comment.
pub fn parse_list(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    let mut tests: Vec<String> = lines
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    tests.sort();
    tests.dedup();
    tests
}

/// `spec@glsl-1.10` of `spec@glsl-1.10@execution@built-in-functions@fs-abs`.
pub fn group(test: &str) -> &str {
    let mut ends = test.match_indices('@').map(|(at, _)| at);
    ends.nth(1).map_or(test, |at| &test[..at])
}

/// FNV-1a of the names, a line each.
pub fn fingerprint<'a>(names: impl IntoIterator<Item = &'a str>) -> u64 {
    fnv(names
        .into_iter()
        .flat_map(|name| name.bytes().chain([b'\n'])))
}

fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf29ce484222325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups() {
        assert_eq!(group("spec@glsl-1.10@execution@fs-abs"), "spec@glsl-1.10");
        assert_eq!(group("glx@glx-dont-care-mask"), "glx@glx-dont-care-mask");
        assert_eq!(
            group("fast_color_clear@all-colors"),
            "fast_color_clear@all-colors"
        );
    }

    #[test]
    fn lists() {
        assert_eq!(parse_list("# head\nb\n\na # why\nb\n"), ["a", "b"]);
    }

    #[test]
    fn fingerprints() {
        // Published vectors of FNV-1a, 64 bits.
        assert_eq!(fnv(*b""), 0xcbf29ce484222325);
        assert_eq!(fnv(*b"a"), 0xaf63dc4c8601ec8c);
        assert_eq!(fnv(*b"foobar"), 0x85944171f73967e8);
        assert_eq!(fingerprint(["a", "b"]), fnv(*b"a\nb\n"));
    }
}

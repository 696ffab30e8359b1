//! Which paths are the device's, and where they lie in its tree.
//!
//! No PRM chapter.

use core::ffi::CStr;
use std::os::fd::RawFd;

use crate::buffer::Buffer;
use crate::config::Config;
use crate::{cwd, report, sys};

/// What stands in the tree, with all below it.
const DIRECTORIES: [&[u8]; 5] = [
    b"/dev/dri",
    b"/sys/devices/pci0000:00/0000:00:02.0",
    b"/sys/bus/pci/devices/0000:00:02.0",
    b"/sys/class/drm",
    b"/sys/kernel/debug/dri",
];
/// Entries that begin like this, with all below them.
const BEGINNING: &[u8] = b"/sys/dev/char/226:";
/// Directories that the tree may have for all devices there are.
const LISTS: [&[u8]; 1] = [b"/sys/bus/pci/devices"];

/// Where a path leads.
#[expect(
    clippy::large_enum_variant,
    reason = "lives on the stack for one call; nothing may be allocated"
)]
pub enum Place {
    /// Somewhere else.
    Elsewhere,
    /// To the device: where its entry lies.
    Tree(Buffer),
    /// To the device, and there is no tree.
    Nowhere,
}

/// Whether a path may be the device's. Most are not, and nothing more is done about them.
pub fn is_suspect(config: &Config, dir: RawFd, path: &CStr) -> bool {
    match path.to_bytes() {
        path @ [b'/', ..] => may_be(config.tree(), path),
        [] => false,
        _ if dir == libc::AT_FDCWD => cwd::is_inside(),
        // The beginning says enough.
        _ => sys::path_of::<64>(dir).is_ok_and(|base| may_hold(config.tree(), base.bytes())),
    }
}

/// Follows a path from a directory.
#[inline(never)]
pub fn place(config: &Config, dir: RawFd, path: &CStr) -> Place {
    let path = path.to_bytes();
    let tree = config.tree();
    let mut clean = Buffer::new();
    if path.first() != Some(&b'/') {
        let base = if dir == libc::AT_FDCWD {
            sys::working_directory()
        } else {
            sys::path_of(dir)
        };
        match base {
            Ok(base) if base.bytes() == b"/" => {}
            Ok(base) => clean = base,
            Err(_) => return Place::Elsewhere,
        }
    }
    if !collapse(path, &mut clean) {
        return Place::Elsewhere;
    }
    let seen = tree.map_or(clean.bytes(), |tree| strip(tree, clean.bytes()));
    let listed = LISTS.contains(&seen);
    if !listed && !is_device(seen) {
        return Place::Elsewhere;
    }
    let Some(tree) = tree else {
        return if listed {
            Place::Elsewhere
        } else {
            Place::Nowhere
        };
    };
    let mut place = Buffer::new();
    if !place.push(tree) || !place.push(seen) {
        return Place::Elsewhere;
    }
    if listed && sys::stat_path(place.as_cstr(), 0).is_err() {
        return Place::Elsewhere;
    }
    // The slash makes a link what it leads to, and a file an error.
    if (path.ends_with(b"/") || path.ends_with(b"/.")) && !place.push(b"/") {
        return Place::Elsewhere;
    }
    Place::Tree(place)
}

/// Whether an absolute path may be the device's, by its first letter.
fn may_be(tree: Option<&[u8]>, path: &[u8]) -> bool {
    let letter = |path: &[u8]| path.iter().copied().find(|byte| !b"/.".contains(byte));
    match letter(path) {
        Some(b'd' | b's') => true,
        other => tree.is_some_and(|tree| letter(tree) == other),
    }
}

/// Whether the device may lie below the directory that begins like this: it is one of the system's, or in the tree.
fn may_hold(tree: Option<&[u8]>, base: &[u8]) -> bool {
    let tree = tree.map(|tree| tree.get(..tree.len().min(base.len())).unwrap_or(tree));
    base == b"/"
        || [&b"/dev"[..], b"/sys"]
            .iter()
            .any(|start| base.starts_with(start))
        || tree.is_some_and(|tree| base.len() > 1 && base.starts_with(tree))
}

/// Appends the names of a path, each behind one slash, without those that stay where they are; false when it is longer
/// than the system takes.
fn collapse(path: &[u8], to: &mut Buffer) -> bool {
    for name in path.split(|byte| *byte == b'/') {
        if name.is_empty() || name == b"." {
            continue;
        }
        if !to.push(b"/") || !to.push(name) {
            return false;
        }
    }
    true
}

/// Whether a path is the device's or below.
fn is_device(path: &[u8]) -> bool {
    let below = |directory: &&[u8]| {
        path.strip_prefix(*directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    path.starts_with(BEGINNING) || DIRECTORIES.iter().any(below)
}

/// The same, or a directory that the tree may have as well.
pub fn is_listed(path: &[u8]) -> bool {
    is_device(path) || LISTS.contains(&path)
}

/// A path as programs know it: without the tree before it.
pub fn strip<'a>(tree: &[u8], path: &'a [u8]) -> &'a [u8] {
    match path.strip_prefix(tree) {
        Some(rest) if rest.starts_with(b"/") => rest,
        _ => path,
    }
}

/// Reports a path of the device that its tree does not have.
pub fn missing(config: &Config, place: &Buffer) {
    let path = config
        .tree()
        .map_or(place.bytes(), |tree| strip(tree, place.bytes()));
    report::say(report::Kind::Path, "not in the device's tree", path);
}

/// Reports that there is no tree.
pub fn nowhere() {
    let what = "no device: the variable CRESTLINE_TREE is not set or leads nowhere";
    report::say(report::Kind::Node, what, &[]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(path: &[u8]) -> Vec<u8> {
        let mut buffer = Buffer::new();
        assert!(collapse(path, &mut buffer));
        buffer.bytes().to_vec()
    }

    #[test]
    fn paths_of_the_device() {
        for path in [
            "/dev/dri",
            "//dev/./dri//renderD128",
            "/sys/dev/char/226:128/device/vendor",
            "/sys/dev/char/226:0",
            "/sys/devices/pci0000:00/0000:00:02.0/drm",
            "/sys/class/drm/",
            "/sys/kernel/debug/dri/0/i915_gem_objects",
        ] {
            assert!(is_device(&clean(path.as_bytes())), "{path}");
        }
        for path in [
            "/dev/dri2",
            "/dev",
            "/sys/dev/char/1:3",
            "/sys/devices/pci0000:00/0000:00:02.1",
            "/sys/bus/pci/devices",
        ] {
            assert!(!is_device(&clean(path.as_bytes())), "{path}");
        }
    }

    #[test]
    fn trees_are_stripped_at_a_slash() {
        assert_eq!(strip(b"/var/tree", b"/var/tree/dev"), b"/dev");
        assert_eq!(strip(b"/var/tree", b"/var/trees/dev"), b"/var/trees/dev");
    }
}

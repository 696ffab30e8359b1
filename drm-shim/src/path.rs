//! Which paths are a device's, and where they lie in the node's tree.

use core::ffi::CStr;
use std::os::fd::RawFd;

use wire::device::SLOTS;

use crate::buffer::{Buffer, Short};
use crate::config::Config;
use crate::sys::{self, Result};
use crate::{cwd, report};

/// What stands in the tree, with all below it.
const DIRECTORIES: [&[u8]; 3] = [b"/dev/dri", b"/sys/class/drm", b"/sys/kernel/debug/dri"];
/// In these directories the places of the devices, with all below them: in the first below their buses.
const BUSES: &[u8] = b"/sys/devices";
const DEVICES: &[u8] = b"/sys/bus/pci/devices";
/// In this directory entries whose names begin like this, with all below them.
const NUMBERS: &[u8] = b"/sys/dev/char";
const NUMBER: &[u8] = b"226:";
/// Directories that the tree may have for all devices there are.
const LISTS: [&[u8]; 1] = [DEVICES];

/// Where a path leads.
pub enum Place {
    /// Somewhere else.
    Elsewhere,
    /// To the device: where its entry lies.
    Tree(Buffer),
    /// To the device, and there is no tree.
    Nowhere,
}

/// Whether a path may be the device's. Most are not, and nothing more is done about them. Takes little of the stack,
/// which may be a handler's.
pub fn is_suspect(config: &Config, dir: RawFd, path: &CStr) -> bool {
    match path.to_bytes() {
        path @ [b'/', ..] => {
            may_be(config.tree(), path) && is_seen(config, &within(config.tree(), names(path)))
        }
        [] => false,
        _ if dir == libc::AT_FDCWD => cwd::is_inside(),
        _ => {
            // The beginning says enough.
            let mut base = Short::<64>::new();
            sys::path_of(dir, &mut base).is_ok() && may_hold(config.tree(), base.bytes())
        }
    }
}

/// Follows a path from a directory.
#[inline(never)]
pub fn place(config: &Config, dir: RawFd, path: &CStr) -> Result<Place> {
    let path = path.to_bytes();
    let tree = config.tree();
    let base = match path.first() {
        Some(b'/') => None,
        _ => match base(dir) {
            Ok(base) => Some(base),
            Err(error @ libc::ENOMEM) => return Err(error),
            Err(_) => return Ok(Place::Elsewhere),
        },
    };
    let all = names(base.as_ref().map_or(&b""[..], Buffer::bytes)).chain(names(path));
    let seen = within(tree, all);
    if !is_seen(config, &seen) {
        return Ok(Place::Elsewhere);
    }
    let listed = !is_device(config, &seen);
    let Some(tree) = tree else {
        return Ok(if listed {
            Place::Elsewhere
        } else {
            Place::Nowhere
        });
    };
    let mut place = Buffer::new()?;
    let mut fits = place.push(tree);
    for name in seen {
        fits = fits && place.push(b"/") && place.push(name);
    }
    if !fits || listed && sys::stat_path(place.as_cstr(), 0).is_err() {
        return Ok(Place::Elsewhere);
    }
    // The slash makes a link what it leads to, and a file an error.
    if (path.ends_with(b"/") || path.ends_with(b"/.")) && !place.push(b"/") {
        return Ok(Place::Elsewhere);
    }
    Ok(Place::Tree(place))
}

/// The directory that a relative path begins in.
fn base(dir: RawFd) -> Result<Buffer> {
    if dir == libc::AT_FDCWD {
        return sys::working_directory();
    }
    let mut base = Buffer::new()?;
    sys::path_of(dir, &mut base)?;
    Ok(base)
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

/// The names of a path, without those that stay where they are.
fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    path.split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty() && *name != b".")
}

/// What follows a directory in a path that leads there or below.
fn after<'a, I: Iterator<Item = &'a [u8]>>(mut path: I, directory: &[u8]) -> Option<I> {
    for name in names(directory) {
        if path.next() != Some(name) {
            return None;
        }
    }
    Some(path)
}

/// A path as programs know it, also one that leads through the tree.
fn within<'a, I: Iterator<Item = &'a [u8]> + Clone>(tree: Option<&[u8]>, path: I) -> I {
    let inside = tree.and_then(|tree| after(path.clone(), tree));
    inside.unwrap_or(path)
}

/// Whether two names are those of the place and the bus of a device. The first device has its place also where the tree cannot
/// be found.
fn is_slot(config: &Config, slot: Option<&[u8]>, bus: Option<&[u8]>) -> bool {
    let is = |(name, on): (&str, &str)| {
        slot == Some(name.as_bytes()) && bus.is_none_or(|bus| bus == on.as_bytes())
    };
    let found = SLOTS.iter().position(|slot| is(*slot));
    found.is_some_and(|device| device == 0 || config.has(device))
}

/// Whether a path is a device's or below.
fn is_device<'a>(config: &Config, path: &(impl Iterator<Item = &'a [u8]> + Clone)) -> bool {
    let on_bus = || {
        let mut rest = after(path.clone(), BUSES)?;
        let (bus, slot) = (rest.next()?, rest.next());
        Some(is_slot(config, slot, Some(bus)))
    };
    let listed = || {
        let mut rest = after(path.clone(), DEVICES)?;
        Some(is_slot(config, rest.next(), None))
    };
    let numbered = || {
        let name = after(path.clone(), NUMBERS).and_then(|mut rest| rest.next());
        name.is_some_and(|name| name.starts_with(NUMBER))
    };
    DIRECTORIES
        .iter()
        .any(|directory| after(path.clone(), directory).is_some())
        || numbered()
        || on_bus().unwrap_or(false)
        || listed().unwrap_or(false)
}

/// The same, or a directory that the tree may have as well.
fn is_seen<'a>(config: &Config, path: &(impl Iterator<Item = &'a [u8]> + Clone)) -> bool {
    let is_list =
        |list: &&[u8]| after(path.clone(), list).is_some_and(|mut rest| rest.next().is_none());
    is_device(config, path) || LISTS.iter().any(is_list)
}

/// Whether a path is a device's, or that of a directory that the tree may have as well.
pub fn is_listed(config: &Config, path: &[u8]) -> bool {
    is_seen(config, &names(path))
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
    use crate::config;

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
            assert!(is_device(config::get(), &names(path.as_bytes())), "{path}");
        }
        for path in [
            "/dev/dri2",
            "/dev",
            "/sys/dev/char/1:3",
            "/sys/devices/pci0000:00/0000:00:02.1",
            "/sys/devices/pci0000:00",
            "/sys/devices/pci0001:00/0000:00:02.0",
            "/sys/bus/pci/devices",
            // No tree has it.
            "/sys/devices/pci0001:00/0001:00:02.0",
        ] {
            assert!(!is_device(config::get(), &names(path.as_bytes())), "{path}");
        }
    }

    #[test]
    fn trees_are_stripped_at_a_slash() {
        assert_eq!(strip(b"/var/tree", b"/var/tree/dev"), b"/dev");
        assert_eq!(strip(b"/var/tree", b"/var/trees/dev"), b"/var/trees/dev");
    }
}

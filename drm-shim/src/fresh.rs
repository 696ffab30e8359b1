//! Files of the tree whose contents change: the error state.
//!
//! The node hands out a file without a name with the state of the moment, which is opened in the place of the one in the tree.

use core::ffi::{CStr, c_int};
use std::os::fd::RawFd;

use wire::device::RENDER;
use wire::{Head, NO_FILE, Op};

use crate::buffer::{Buffer, Short};
use crate::sys::memory::Block;
use crate::sys::socket::Packet;
use crate::sys::{self, Result};
use crate::{config, link};

/// Names of these files (i915 i915_sysfs.c, i915_debugfs.c).
const NAMES: [&[u8]; 2] = [b"/error", b"/i915_error_state"];

/// Such a file as the node has handed it out.
pub struct State {
    fd: RawFd,
    path: Short<40>,
}

impl State {
    /// Where it can be opened, until this is dropped.
    pub fn path(&self) -> &CStr {
        self.path.as_cstr()
    }

    /// Opens it for the program, with the lowest number that is free.
    pub fn open(self, flags: c_int) -> Result<RawFd> {
        // The way there is a link.
        let flags = flags & !libc::O_NOFOLLOW;
        let fd = sys::openat(libc::AT_FDCWD, self.path(), flags, 0)?;
        let lowest = sys::duplicate_onto(fd, self.fd, flags & libc::O_CLOEXEC);
        sys::close(fd);
        if lowest.is_ok() {
            core::mem::forget(self);
        }
        lowest
    }
}

impl Drop for State {
    fn drop(&mut self) {
        sys::close(self.fd);
    }
}

/// What is to be opened in the place of a file of the tree, when that is one of these and there is a node. `access`: O_RDONLY, O_WRONLY
/// or O_RDWR, whose numbers are those of the message. Without a node the tree's file shows that there is no error state.
pub fn state(place: &Buffer, access: c_int) -> Result<Option<State>> {
    let config = config::get();
    if config.node().is_none() || !NAMES.iter().any(|name| place.bytes().ends_with(name)) {
        return Ok(None);
    }
    let Some(device) = device_of(place) else {
        return Ok(None);
    };
    let handed = link::with(|link| {
        let head = Head::new(Op::ErrorState, NO_FILE, [device, access as u64, 0]);
        let mut packet = Packet::new();
        link.ask(head, Block::of(&[]), &mut packet)?;
        packet.take_fd(0).ok_or(libc::EMFILE)
    });
    let fd = match handed {
        Ok(fd) => fd,
        Err(libc::ENODEV) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut path = Short::new();
    let fits = path.push(b"/proc/self/fd/") && path.push_number(fd as u64);
    debug_assert!(fits, "twenty digits at most");
    Ok(Some(State { fd, path }))
}

/// Number of the device that such a file is of. It stands at the end of the directory's name, which may be reached by links:
/// `card1`, and in debugfs the minor number of either node.
fn device_of(place: &Buffer) -> Option<u64> {
    let at = place.bytes().iter().rposition(|byte| *byte == b'/')?;
    let mut directory = Buffer::new().ok()?;
    if !directory.push(place.bytes().get(..at)?) {
        return None;
    }
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let fd = sys::openat(libc::AT_FDCWD, directory.as_cstr(), flags, 0).ok()?;
    directory.clear();
    let found = sys::path_of(fd, &mut directory);
    sys::close(fd);
    found.ok()?;
    number_at_end(directory.bytes())
}

/// The device whose number, or minor number, a text ends with.
fn number_at_end(text: &[u8]) -> Option<u64> {
    let start = text.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let digits = str::from_utf8(text.get(start..)?).ok()?;
    let number: u64 = digits.parse().ok()?;
    let render = u64::from(RENDER);
    Some(number.checked_sub(render).unwrap_or(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_name_their_devices() {
        let of = |text: &str| number_at_end(text.as_bytes());
        assert_eq!(of("sys/class/drm/card0"), Some(0));
        assert_eq!(of("0001:00:02.0/drm/card1"), Some(1));
        assert_eq!(of("sys/kernel/debug/dri/0"), Some(0));
        assert_eq!(of("sys/kernel/debug/dri/135"), Some(7));
        assert_eq!(of("sys/class/drm"), None);
        assert_eq!(of("drm/99999999999999999999"), None);
    }
}

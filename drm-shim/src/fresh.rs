//! Files of the tree whose contents change: the error state.
//!
//! Before one is read the node brings it up to date; what is written goes to a file apart, so that
//! it is never read.

use wire::device::RENDER;
use wire::{Head, NO_FILE, Op};

use crate::buffer::Buffer;
use crate::sys::memory::Block;
use crate::sys::socket::Packet;
use crate::{config, link, sys};

/// Names of these files (i915 i915_sysfs.c, i915_debugfs.c).
const NAMES: [&[u8]; 2] = [b"/error", b"/i915_error_state"];

/// Makes a file ready to be opened for reading or, when `writes`, for writing alone; where it is to be opened.
pub fn ready(place: &Buffer, writes: bool) -> Option<Buffer> {
    let config = config::get();
    let tree = config.tree()?;
    if config.node().is_none() || !NAMES.iter().any(|name| place.bytes().ends_with(name)) {
        return None;
    }
    if writes {
        let mut sink = Buffer::new().ok()?;
        let device = device_of(place)?;
        let fits = sink.push(tree)
            && sink.push(b"/")
            && sink.push(wire::env::WRITTEN.as_bytes())
            && sink.push_number(device);
        return (fits && sys::stat_path(sink.as_cstr(), 0).is_ok()).then_some(sink);
    }
    // Without a node the file shows what it did.
    let _ = link::with(|link| {
        let head = Head::new(Op::Refresh, NO_FILE, [0; 3]);
        link.ask(head, Block::of(&[]), &mut Packet::new())
    });
    None
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

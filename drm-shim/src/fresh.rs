//! Files of the tree whose contents change: the error state.
//!
//! No PRM chapter. Before one is read the node brings it up to date; what is written goes to a file apart, so that
//! it is never read.

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
        let fits = sink.push(tree) && sink.push(b"/") && sink.push(wire::env::WRITTEN.as_bytes());
        return (fits && sys::stat_path(sink.as_cstr(), 0).is_ok()).then_some(sink);
    }
    // Without a node the file shows what it did.
    let _ = link::with(|link| {
        let head = Head::new(Op::Refresh, NO_FILE, [0; 3]);
        link.ask(head, Block::of(&[]), &mut Packet::new())
    });
    None
}

//! What the user should know: lines on stderr, notes for the report.
//!
//! No PRM chapter.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::buffer::Buffer;
use crate::{config, sys};

/// Kinds of things that are reported; each is reported once, or each time when the environment asks for it.
#[derive(Clone, Copy)]
pub enum Kind {
    /// The node cannot be reached.
    Node = 0,
    /// A path of the device that its tree does not have.
    Path = 1,
    /// A call on a mapping that is not handled.
    Mapping = 2,
    /// The node says something that makes no sense.
    Protocol = 3,
}

static SEEN: AtomicU32 = AtomicU32::new(0);

/// Reports `what`, then `detail`.
pub fn say(kind: Kind, what: &str, detail: &[u8]) {
    let bit = 1 << kind as u32;
    let first = SEEN.fetch_or(bit, Ordering::Relaxed) & bit == 0;
    // That there is no node is worth one line whatever is asked for.
    let again = config::get().strict && !matches!(kind, Kind::Node);
    if !first && !again {
        return;
    }
    let mut line = Buffer::new();
    let fits = line.push(b"crestline: ")
        && line.push(what.as_bytes())
        && (detail.is_empty() || line.push(b": ") && line.push(detail))
        && line.push(b"\n");
    if fits {
        sys::complain(line.bytes());
    }
    if !matches!(kind, Kind::Node) {
        let text = line.bytes();
        let text = text.strip_prefix(b"crestline: ").unwrap_or(text);
        crate::link::note(1, text.trim_ascii_end());
    }
}

//! What the user should know: lines on stderr, notes that the node says.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::buffer::Buffer;
use crate::{config, sys};

/// Kinds of things that are reported; each is told the node once, or written each time when the environment asks for it.
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
    /// Graphics memory is out of reach.
    Memory = 4,
    /// There is no room for a connection.
    Limit = 5,
    /// The program has taken a descriptor away.
    Taken = 6,
    /// A child cannot keep what it has inherited.
    Inherited = 7,
    /// A child that shares its parent's memory uses the device.
    Shared = 8,
}

impl Kind {
    /// Whether it is said here and once, since the node cannot be told.
    fn is_said_here(self) -> bool {
        matches!(
            self,
            Kind::Node | Kind::Limit | Kind::Taken | Kind::Inherited | Kind::Shared
        )
    }
}

static SEEN: AtomicU32 = AtomicU32::new(0);

/// Reports `what`, then `detail`.
pub fn say(kind: Kind, what: &str, detail: &[u8]) {
    let bit = 1 << kind as u32;
    let first = SEEN.fetch_or(bit, Ordering::Relaxed) & bit == 0;
    // That there is no node is worth one line whatever is asked for.
    let again = config::get().strict && !kind.is_said_here();
    if !first && !again {
        return;
    }
    let Ok(mut line) = Buffer::new() else {
        return;
    };
    let fits = line.push(b"crestline: ")
        && line.push(what.as_bytes())
        && (detail.is_empty() || line.push(b": ") && line.push(detail));
    if !fits {
        return;
    }
    if kind.is_said_here() {
        line.make_printable();
        line.push(b"\n");
        sys::complain(line.bytes());
    } else {
        // The node says it with the program's name: when strict each time, else once however many clients have it to say.
        let text = line.bytes();
        crate::link::note(1, text.strip_prefix(b"crestline: ").unwrap_or(text));
    }
}

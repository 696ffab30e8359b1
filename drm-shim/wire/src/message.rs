//! The messages: heads, operations, replies.
//!
//! A file is named by the number of the descriptor that the client has of it: the node looks what that
//! is in the table of the process that is connected. So a client can name only files that it holds.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Version of this protocol; both ends come from one build.
pub const VERSION: u32 = 11;
/// In [`Head::file`]: no descriptor.
pub const NO_FILE: u64 = u64::MAX;
/// Largest packet: a head and the largest argument block of an ioctl (14 bits of size).
pub const MAX_PACKET: usize = size_of::<Head>() + (1 << 14);

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $value:literal,)*) => {
        /// What a client asks for.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        pub enum Op { $($(#[$doc])* $name = $value,)* }

        impl Op {
            /// The operation of a number.
            pub fn from_u32(value: u32) -> Option<Op> {
                match value { $($value => Some(Op::$name),)* _ => None }
            }
        }
    };
}

ops! {
    /// First packet of the one connection that a process keeps until it ends. `a`: VERSION; `b`: process id as the
    /// client sees it; `c`: process id of the parent whose mappings it has inherited, as the client sees it, or 0. `file`: what
    /// [`Op::Forks`] has said to the parent; with [`NO_FILE`] it inherits what the parent has at this moment, if the system agrees that it
    /// is its parent; ESRCH when nobody knows what it has inherited.
    /// Reply: one packet with two descriptors for each device,
    /// of graphics memory and of the memory of linear views, in this order; payload: their inodes (64 bits each), by which
    /// the client tells them from files of the program. The node's own numbers of its devices begin with 0.
    Life = 1,
    /// First packet of the connection of a thread. `a`: VERSION; `b`: process id as in [`Op::Life`]. Reply: a head, and where
    /// there is room for one the descriptor of a [`board`](crate::board), with its inode as `value`.
    Thread = 2,
    /// Opens a node. `a`: 0 render, 1 primary; `b`: 1 for close-on-exec; `c`: number of the device. Reply: a descriptor;
    /// value: its inode, by which the client knows its duplicates. ENODEV when there is no such device.
    Open = 3,
    /// `file`: descriptor; `a`: request; `b`: argument's address. Payload: the argument block, when the request is one that
    /// reads it. Reply: result, and the block as payload when the request is one that writes it.
    /// Before the reply, any number of [`Reply::INSTALL`] and [`Reply::REMAP`] may come.
    Ioctl = 4,
    /// `file`: descriptor; `a`: protection; `b`: offset; `c`: length. Reply: `value` is the offset in the memory and `which`
    /// says in which; [`Op::Mapped`] by the same connection tells where it went.
    Map = 5,
    /// A mapping was made. `a`: offset in the node that it was made of; `b`: address; `c`: length. Reply: a head alone, once it is
    /// known; ENOMEM when it cannot be kept, and EINVAL when this connection has not asked for it, so that it has to be unmapped; before it [`Reply::REMAP`] when its layout has changed since [`Op::Map`].
    Mapped = 6,
    /// A range is unmapped. `b`: address; `c`: length. No reply.
    Unmapped = 7,
    /// What a descriptor is. `file`: descriptor, or [`NO_FILE`], which is nothing. Reply: `value` is 0 nothing of the node, 1 render, 2 primary, 3 dma-buf,
    /// 4 sync object, 5 sync file; `which`: number of the device that it is of.
    Identify = 8,
    /// Text for the node's closing report. `a`: 0 renderer, 1 something that was not known. Payload: the text.
    /// No reply.
    Note = 9,
    /// `a` frames have been presented. No reply.
    Frames = 10,
    /// Answer to [`Reply::INSTALL`]: `a` is the descriptor's number, or the negative of an errno.
    Installed = 11,
    /// Opens a file that shows the error state. `a`: number of the device; `b`: 0 to be read, 1 to be written, 2 for both. Reply: a descriptor
    /// of a file without a name with the state of this moment, which nobody else writes. The program's file is opened from it.
    ErrorState = 12,
    /// What is mapped in a range will also be in another one, in place of what is there: an `mremap` moves it. `a`: address of
    /// the first; `b`: of the other; `c`: length. What is there is held until the process tells the next
    /// [`Op::Unmapped`], that of the first, or [`Op::Stayed`]. Reply: a head alone, or ENOMEM when it cannot be kept.
    Copied = 13,
    /// The process forks: what it has mapped now is kept for its child. Reply: `value` is the number that the child gives when it
    /// begins; ENOMEM when it cannot be kept. A child without a number has what the process has then, or is refused.
    Forks = 14,
    /// What [`Op::Copied`] has told does not move after all: the other range shows what it showed before. Numbers as there. Reply: a head
    /// alone, or ESTALE when a part of that has another place by now, so that it must not be shown any more.
    Stayed = 15,
    /// What the last [`Op::Map`] of this connection has told a place of is not mapped: its object need not be held. No reply.
    Missed = 16,
}

/// Head of what a client sends.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Head {
    /// Operation, see [`Op`].
    pub op: u32,
    /// Bytes of payload behind the head.
    pub len: u32,
    /// Number in the client of the descriptor that it is about, or [`NO_FILE`].
    pub file: u64,
    /// See the operation.
    pub a: u64,
    /// See the operation.
    pub b: u64,
    /// See the operation.
    pub c: u64,
}

impl Head {
    /// A head without payload.
    #[must_use]
    pub fn new(op: Op, file: u64, [a, b, c]: [u64; 3]) -> Self {
        Head {
            op: op as u32,
            len: 0,
            file,
            a,
            b,
            c,
        }
    }
}

/// Head of what the node answers; the payload follows it.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Reply {
    /// 0 for a reply; [`Reply::INSTALL`] or [`Reply::REMAP`] for what is to be done on the way.
    pub kind: u32,
    /// Bytes of payload.
    pub len: u32,
    /// Result: not negative, or the negative of an errno.
    pub result: i32,
    /// Zero.
    pub pad: u32,
    /// See the operation.
    pub value: u64,
    /// Twice the number of a device for its graphics memory, one more for its memory of linear views. In
    /// [`Reply::INSTALL`]: 1 for close-on-exec.
    pub which: u64,
}

impl Reply {
    /// Not the reply yet: a descriptor (attached) for the client's table, to be answered by [`Op::Installed`].
    pub const INSTALL: u32 = 1;
    /// Not the reply yet: the payload is [`Remap`]s, of mappings that the client makes anew. No answer.
    pub const REMAP: u32 = 2;
    /// No reply: the question has to come by the socket, which tells whose it is.
    pub const AGAIN: u32 = 3;
}

/// Most [`Remap`]s in a packet.
pub const MAX_REMAPS: usize = 128;

/// A mapping of the caller that has to show something else from now on (a layout has changed).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Remap {
    /// Where it is.
    pub address: u64,
    /// Bytes.
    pub len: u64,
    /// Offset in the memory.
    pub offset: u64,
    /// As in [`Reply`].
    pub which: u64,
    /// Where in which memory its bytes were before. A mapping that is elsewhere is another one, which came to this address since.
    pub old_offset: u64,
    /// As in [`Reply`].
    pub old_which: u64,
}

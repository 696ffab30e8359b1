//! Which descriptors are the node's: known by inode, the same for all duplicates.
//!
//! A table without locks that forgets on collision; what it does not know the node is asked for.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use wire::{Head, Op};

use crate::config::Node;
use crate::sys::memory::Block;
use crate::sys::socket::{self, Packet};
use crate::{config, life, link, sys};

/// What a descriptor of the node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A node, opened.
    Node(Node),
    DmaBuf,
    /// A sync object or a sync file.
    Sync,
}

/// A file of the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct File {
    /// The descriptor that it was found by, which is how the node is told.
    pub fd: RawFd,
    pub kind: Kind,
}

/// Numbers of [`Op::Identify`] in the low bits, above them that of the device.
fn kind(number: u64) -> Option<Kind> {
    let device = (number >> 3) as usize;
    let node = |primary| Some(Kind::Node(Node { device, primary }));
    match number & 7 {
        1 => node(false),
        2 => node(true),
        3 => Some(Kind::DmaBuf),
        4 | 5 => Some(Kind::Sync),
        _ => None,
    }
}

/// Both numbers as one, which has [`BITS`] bits.
fn joined(number: u64, device: u64) -> u64 {
    number & 7 | (device & 7) << 3
}

/// Three for what it is and three for the device (`wire::device::MOST`).
const BITS: u32 = 6;
const MASK: u64 = (1 << BITS) - 1;
const _: () = assert!(wire::device::MOST <= 8);

/// A direct-mapped table: inode, whether it is a file's, what it is. An entry that is 0 is empty.
struct Known([AtomicU64; 4096]);

impl Known {
    fn slot(&self, inode: u64) -> Option<&AtomicU64> {
        self.0.get(inode as usize % self.0.len())
    }

    fn tag(inode: u64, file: bool) -> u64 {
        inode << (BITS + 2) | u64::from(file) << (BITS + 1) | 1 << BITS
    }

    fn get(&self, inode: u64, file: bool) -> Option<u64> {
        let entry = self.slot(inode)?.load(Ordering::Relaxed);
        (entry & !MASK == Self::tag(inode, file)).then_some(entry & MASK)
    }

    fn put(&self, inode: u64, file: bool, number: u64) {
        if let Some(slot) = self.slot(inode) {
            slot.store(Self::tag(inode, file) | number & MASK, Ordering::Relaxed);
        }
    }
}

static KNOWN: Known = Known([const { AtomicU64::new(0) }; 4096]);

/// A node has been opened.
pub fn opened(inode: u64, node: Node) {
    let number = 1 + u64::from(node.primary);
    KNOWN.put(inode, false, joined(number, node.device as u64));
}

/// A socket that has been seen before.
pub fn seen(inode: u64) -> Option<Kind> {
    KNOWN.get(inode, false).and_then(kind)
}

/// The number of the open node that was used last, or -1. The program may have put something else there since.
static LAST: AtomicI32 = AtomicI32::new(-1);
/// What it was, as in [`KNOWN`].
static LAST_IS: AtomicU64 = AtomicU64::new(0);

/// What a descriptor is as far as that is known without asking anybody: not to be believed but by those who ask the node, which
/// looks.
pub fn likely(fd: RawFd) -> Option<File> {
    // Of two threads that change both another may see halves. All that is an open node is treated alike.
    let number = LAST_IS.load(Ordering::Relaxed);
    let is_last = fd >= 0 && LAST.load(Ordering::Relaxed) == fd;
    let kind = is_last.then(|| kind(number))??;
    Some(File { fd, kind })
}

/// A file that the next request is likely to be about, too.
pub fn use_again(file: File) {
    if let Kind::Node(node) = file.kind {
        let number = joined(1 + u64::from(node.primary), node.device as u64);
        LAST_IS.store(number, Ordering::Relaxed);
        LAST.store(file.fd, Ordering::Relaxed);
    }
}

/// What a descriptor is, when it is the node's.
pub fn of_fd(fd: RawFd) -> Option<File> {
    of_stat(fd, &sys::fstat(fd).ok()?)
}

/// The same with what `fstat` said about it.
pub fn of_stat(fd: RawFd, stat: &libc::stat) -> Option<File> {
    let inode = stat.st_ino;
    // Dma-bufs are files without a name on the same file system as the node's memory.
    let file = match stat.st_mode & libc::S_IFMT {
        libc::S_IFSOCK => false,
        libc::S_IFREG if stat.st_nlink == 0 && stat.st_dev == life::nameless() => true,
        _ => return None,
    };
    let number = match KNOWN.get(inode, file) {
        Some(number) => number,
        None if !file && !socket::is_seqpacket(fd) => return None,
        None => {
            config::get().node()?;
            let number = identify(fd)?;
            // A file and a socket may share a number; the node has one of them.
            let number = if file == (number & 7 == 3) { number } else { 0 };
            KNOWN.put(inode, file, number);
            number
        }
    };
    kind(number).map(|kind| File { fd, kind })
}

#[cold]
#[inline(never)]
fn identify(fd: RawFd) -> Option<u64> {
    let answer = link::with(|link| {
        let head = Head::new(Op::Identify, fd as u64, [0; 3]);
        let mut packet = Packet::new();
        link.ask(head, Block::of(&[]), &mut packet)?;
        Ok(joined(packet.head.value, packet.head.which))
    });
    answer.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_and_files_number_apart() {
        static TABLE: Known = Known([const { AtomicU64::new(0) }; 4096]);
        assert_eq!(TABLE.get(0, false), None);
        TABLE.put(7, false, 1);
        assert_eq!(TABLE.get(7, false), Some(1));
        assert_eq!(TABLE.get(7, true), None);
        TABLE.put(7 + 4096, true, 3);
        assert_eq!(TABLE.get(7, false), None);
        assert_eq!(TABLE.get(7 + 4096, true), Some(3));
    }

    #[test]
    fn the_open_node_that_was_used_last_is_likely() {
        assert_eq!((likely(-1), likely(5)), (None, None));
        let node = Node {
            device: 1,
            primary: true,
        };
        let file = File {
            fd: 5,
            kind: Kind::Node(node),
        };
        use_again(file);
        assert_eq!((likely(5), likely(6)), (Some(file), None));
        let kind = Kind::DmaBuf;
        use_again(File { fd: 6, kind });
        assert_eq!((likely(5), likely(6)), (Some(file), None));
    }

    #[test]
    fn files_of_each_device_are_told_apart() {
        static TABLE: Known = Known([const { AtomicU64::new(0) }; 4096]);
        for device in 0..wire::device::MOST {
            for primary in [false, true] {
                let number = joined(1 + u64::from(primary), device as u64);
                TABLE.put(7, false, number);
                let found = TABLE.get(7, false).and_then(kind);
                assert_eq!(found, Some(Kind::Node(Node { device, primary })));
            }
        }
    }
}

//! Which descriptors are the node's: known by inode, the same for all duplicates.
//!
//! No PRM chapter. A table without locks that forgets on collision; what it does not know the node is asked for.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use wire::{Head, Op};

use crate::sys::memory::Block;
use crate::sys::socket::{self, Packet};
use crate::{config, life, link, sys};

/// What a descriptor of the node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The node, opened: 0 render, 1 primary.
    Node(usize),
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

/// Numbers of [`Op::Identify`].
fn kind(number: u64) -> Option<Kind> {
    match number {
        1 => Some(Kind::Node(0)),
        2 => Some(Kind::Node(1)),
        3 => Some(Kind::DmaBuf),
        4 | 5 => Some(Kind::Sync),
        _ => None,
    }
}

/// A direct-mapped table: inode, whether it is a file's, what it is. An entry that is 0 is empty.
struct Known([AtomicU64; 4096]);

impl Known {
    fn slot(&self, inode: u64) -> Option<&AtomicU64> {
        self.0.get(inode as usize % self.0.len())
    }

    fn tag(inode: u64, file: bool) -> u64 {
        inode << 5 | u64::from(file) << 4 | 8
    }

    fn get(&self, inode: u64, file: bool) -> Option<u64> {
        let entry = self.slot(inode)?.load(Ordering::Relaxed);
        (entry & !7 == Self::tag(inode, file)).then_some(entry & 7)
    }

    fn put(&self, inode: u64, file: bool, number: u64) {
        if let Some(slot) = self.slot(inode) {
            slot.store(Self::tag(inode, file) | number & 7, Ordering::Relaxed);
        }
    }
}

static KNOWN: Known = Known([const { AtomicU64::new(0) }; 4096]);

/// The node has been opened.
pub fn opened(inode: u64, minor: usize) {
    KNOWN.put(inode, false, minor as u64 + 1);
}

/// A socket that has been seen before.
pub fn seen(inode: u64) -> Option<Kind> {
    KNOWN.get(inode, false).and_then(kind)
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
            let number = if file == (number == 3) { number } else { 0 };
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
        Ok(packet.head.value)
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
}

//! Mappings of the node: pieces of the memories that it shares.
//!
//! mremap(2): a mapping of the device is one that does not grow (VM_DONTEXPAND, drm_gem.c), and its object is
//! held wherever it is.

use std::os::fd::RawFd;

use wire::message::Remap;
use wire::{Head, NO_FILE, Op};
use zerocopy::FromBytes;

use crate::atomics::AtomicU32;
use crate::inodes::File;
use crate::link::Link;
use crate::own::Uses;
use crate::sys::memory::{self, Block, PAGE, Wish};
use crate::sys::socket::{FILES, Packet};
use crate::sys::{Result, set_errno};
use crate::table::{Gone, Held, Range, TABLE};
use crate::{fork, life, link, mappings, own, report, sys};

/// Mappings that are being made: what has been mapped is not known to the node yet. No process forks meanwhile.
pub static MAKING: Uses = Uses::over(AtomicU32::new(0));

/// `mmap` on a file of the node.
#[inline(never)]
pub fn map(file: File, wish: Wish) -> Result<usize> {
    if wish.len == 0 || !(wish.offset as u64).is_multiple_of(PAGE) {
        return Err(libc::EINVAL);
    }
    let len = (wish.len as u64)
        .checked_next_multiple_of(PAGE)
        .ok_or(libc::ENOMEM)?;
    let kind = wish.flags & libc::MAP_TYPE;
    let shared = kind == libc::MAP_SHARED || kind == libc::MAP_SHARED_VALIDATE;
    // mm/mmap.c; such is a dma-buf that was exported without DRM_RDWR.
    if shared && wish.prot & libc::PROT_WRITE != 0 && !sys::writes(file.fd) {
        return Err(libc::EACCES);
    }
    // First: in a child that was made past libc this resets `MAKING`.
    fork::find_out();
    // Handlers of signals run after it: one that forks would wait for it, and what one asks the node would come in between.
    let signals = sys::block_signals();
    let making = MAKING.begin();
    let made = link::with_blocked(signals, |link| make(link, wish, (file.fd, len)));
    drop(making);
    sys::unblock_signals(signals);
    made
}

/// Asks the node where, maps, and tells it: all by one connection, which knows what was asked.
fn make(link: &mut Link, wish: Wish, (fd, len): (RawFd, u64)) -> Result<usize> {
    let asked = wish.offset as u64;
    let mut packet = Packet::new();
    let head = Head::new(Op::Map, fd as u64, [wish.prot as u64, asked, len]);
    link.ask(head, Block::of(&[]), &mut packet)?;
    let wish = Wish {
        offset: packet.head.value as i64,
        ..wish
    };
    let memory = life::memory(packet.head.which).ok_or(libc::ENODEV);
    let made = memory.and_then(|memory| own::map(memory, wish).map_err(|error| lost(error, wish)));
    if made.is_err() {
        // The node holds the object for it. Without a node there is nothing to let go of.
        let _ = link.send(Head::new(Op::Missed, fd as u64, [0; 3]), Block::of(&[]));
    }
    let address = made?;
    let start = address as u64;
    let known = TABLE.insert(Range {
        start,
        end: start + len,
    });
    if !known {
        report::say(report::Kind::Mapping, "too many mappings", &[]);
    }
    let head = Head::new(Op::Mapped, fd as u64, [asked, start, len]);
    // Answered once it is known: the same address may be another thread's mapping a moment later, and its messages take
    // another way.
    if let Err(error) = link.ask(head, Block::of(&[]), &mut packet) {
        // It would show other objects once its own is gone.
        let _ = over(address, wish.len, || memory::unmap(address, wish.len));
        return Err(error);
    }
    Ok(address)
}

/// The error of a mapping, when graphics memory cannot be reached any more.
fn lost(error: i32, wish: Wish) -> i32 {
    if error != libc::EBADF {
        return error;
    }
    if wish.flags & libc::MAP_FIXED != 0 && touches(wish.address, wish.len) {
        // What was there may have been taken away with what came in its place.
        forget(wish.address, wish.len);
    }
    let what = "the program has closed the descriptor of graphics memory, past libc: nothing can be mapped";
    report::say(report::Kind::Memory, what, &[]);
    libc::ENODEV
}

/// Whether `address..address + len` holds a mapping of the node.
pub fn touches(address: usize, len: usize) -> bool {
    fork::find_out();
    let start = address as u64;
    TABLE.overlaps(start, start.saturating_add(len as u64))
}

/// A call of the program that puts something else in the place of what was mapped, or nothing. Where it fails everything stays.
#[cold]
#[inline(never)]
pub fn over<T>(address: usize, len: usize, call: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = address as u64;
    let Some(len) = (len as u64).checked_next_multiple_of(PAGE) else {
        return call();
    };
    let end = start.saturating_add(len);
    TABLE.held(|table| {
        let result = call();
        if result.is_ok() {
            let_go(table, start, end);
        }
        result
    })
}

/// Takes `start..end`, where no mapping of the node is left, out of the table, and tells the node. A thread that maps something at these
/// addresses waits for the table, so the node hears of its mapping later.
fn let_go(table: &Held<'_>, start: u64, end: u64) {
    table.remove(start, end);
    tell_unmapped(start, end - start);
}

/// Lets go of a range whose mappings have gone already.
#[cold]
#[inline(never)]
fn forget(address: usize, len: usize) {
    let start = address as u64;
    let Some(len) = (len as u64).checked_next_multiple_of(PAGE) else {
        return;
    };
    TABLE.held(|table| let_go(table, start, start.saturating_add(len)));
}

fn tell_unmapped(start: u64, len: u64) {
    // The question behind it is answered once the message has been read, for the same reason.
    let told = link::with(|link| {
        link.send(
            Head::new(Op::Unmapped, NO_FILE, [0, start, len]),
            Block::of(&[]),
        )?;
        let question = Head::new(Op::Identify, NO_FILE, [0; 3]);
        link.ask(question, Block::of(&[]), &mut Packet::new())
    });
    if told.is_err() {
        // Without a node there is no account to keep; the program's call goes on.
        set_errno(0);
    }
}

/// Addresses of a process that does not ask for those above (mmap(2) of x86-64: 47 bits but for the last page).
const ADDRESSES: u64 = (1 << 47) - PAGE;

/// An `mremap` of the program.
#[derive(Clone, Copy)]
pub struct Move {
    pub old: usize,
    pub len: usize,
    pub new_len: usize,
    pub flags: i32,
    /// Where it goes with MREMAP_FIXED.
    pub new: usize,
}

impl Move {
    /// As it is.
    pub fn make(self) -> Result<usize> {
        memory::remap(self.old, self.len, self.new_len, self.flags, self.new)
    }

    fn is_fixed(self) -> bool {
        self.flags & libc::MREMAP_FIXED != 0
    }
}

/// `mremap` of a range with a mapping of the node in it, or to one, with the errors of Linux (mm/mremap.c): such mappings do not grow,
/// and leave no empty one behind (MREMAP_DONTUNMAP).
#[cold]
#[inline(never)]
pub fn move_mapping(wish: Move) -> Result<usize> {
    let aligned = |value: usize| (value as u64).checked_next_multiple_of(PAGE);
    let (Some(len), Some(new_len)) = (aligned(wish.len), aligned(wish.new_len)) else {
        return Err(libc::EINVAL);
    };
    let (old, new) = (wish.old as u64, wish.new as u64);
    TABLE.held(|table| {
        if table.overlaps(old, old.saturating_add(len.max(1))) {
            return move_ours(table, wish, (len, new_len));
        }
        // Another mapping, in whose place one of the node's may be.
        let result = wish.make();
        let end = new.saturating_add(new_len);
        match &result {
            _ if !wish.is_fixed() => {}
            Ok(_) => let_go(table, new, end),
            Err(_) => let_go_of_missing(table, new, end),
        }
        result
    })
}

fn move_ours(table: &Held<'_>, wish: Move, (len, new_len): (u64, u64)) -> Result<usize> {
    let known = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP;
    let is_page = |address: usize| (address as u64).is_multiple_of(PAGE);
    let fixed_in_place = wish.is_fixed() && wish.flags & libc::MREMAP_MAYMOVE == 0;
    if wish.flags & !known != 0 || fixed_in_place || !is_page(wish.old) || new_len == 0 {
        return Err(libc::EINVAL);
    }
    let (old, new) = (wish.old as u64, wish.new as u64);
    let end = old.checked_add(len).ok_or(libc::EINVAL)?;
    if wish.flags & libc::MREMAP_DONTUNMAP != 0 {
        return Err(libc::EINVAL);
    }
    if wish.is_fixed() {
        let apart = end <= new || new.saturating_add(new_len) <= old;
        if !is_page(wish.new) || !apart {
            return Err(libc::EINVAL);
        }
    }
    if new_len > len {
        return Err(libc::EFAULT);
    }
    if !wish.is_fixed() {
        // It stays where it is.
        let result = wish.make()?;
        if new_len < len {
            let_go(table, old + new_len, end);
        }
        return Ok(result);
    }
    if new > ADDRESSES.saturating_sub(new_len) {
        return Err(libc::EINVAL);
    }
    // The node knows it at both places while it moves: its layout may change meanwhile, and its object is held; so is what has been
    // at the other place.
    let ask = |op, numbers| {
        let head = Head::new(op, NO_FILE, numbers);
        link::with(|link| link.ask(head, Block::of(&[]), &mut Packet::new()))
    };
    // Where there is no node any more its memory stays as it is.
    if ask(Op::Copied, [old, new, new_len]).is_err_and(|error| error != libc::ENODEV) {
        return Err(libc::ENOMEM);
    }
    let moved = table.relocate(old, new_len, new, || wish.make());
    if moved.is_ok() {
        // With what was behind the part that has moved.
        let_go(table, old, end);
        return moved;
    }
    if ask(Op::Stayed, [old, new, new_len]) == Err(libc::ESTALE) {
        // What was there is to be seen elsewhere by now.
        memory::cover(wish.new, new_len as usize);
        let what = "a mapping has moved while another one was to be put in its place";
        report::say(report::Kind::Mapping, what, &[]);
    }
    for (start, end) in [(new, new + new_len), (old + new_len, end)] {
        let_go_of_missing(table, start, end);
    }
    moved
}

/// Tells of what is not mapped any more in a range: the system may have unmapped what was to make room before it found that it cannot
/// move anything.
fn let_go_of_missing(table: &Held<'_>, start: u64, end: u64) {
    let is_ours = |file| {
        (0..FILES as u64)
            .filter_map(life::memory)
            .any(|memory| own::file_of(memory) == Some(file))
    };
    let mut gone = Gone::default();
    let mut at = start;
    let known = mappings::between(start, end, |found| {
        if is_ours(found.file) {
            gone.push(at, found.start);
            at = found.end;
        }
    });
    if known.is_ok() {
        gone.push(at, end);
    }
    for range in gone.all() {
        let_go(table, range.start, range.end);
    }
}

/// Takes away all that this process has mapped of files of the node, which are told by device and inode.
pub fn take_away(files: &[Option<(u64, u64)>]) {
    let cover = |start: u64, end: u64| memory::cover(start as usize, (end - start) as usize);
    let listed = mappings::between(0, u64::MAX, |found| {
        if files.contains(&Some(found.file)) {
            cover(found.start, found.end);
        }
    });
    if listed.is_err() {
        // Without the system's list there is what this library knows.
        TABLE.held(|table| {
            table.each(0, u64::MAX, |piece, _| cover(piece.start, piece.end));
        });
    }
    TABLE.remove(0, u64::MAX);
}

/// Makes mappings anew: [`Remap`]s, one behind the other.
pub fn remap_all(all: &[u8]) {
    for one in all.chunks_exact(size_of::<Remap>()) {
        if let Ok(one) = Remap::read_from_bytes(one) {
            remap(&one);
        }
    }
}

/// Shows something else where the program has a mapping of the node; where it has put something of its own meanwhile, past
/// libc, that stays.
fn remap(remap: &Remap) {
    let Some(memory) = life::memory(remap.which) else {
        return link::protocol("a mapping moves to an unknown memory");
    };
    let Some(old) = life::memory(remap.old_which).and_then(own::file_of) else {
        return link::protocol("a mapping moves from an unknown memory");
    };
    // Both memories of the device.
    let both = [remap.which & !1, remap.which | 1];
    let files = both.map(|which| life::memory(which).and_then(own::file_of));
    let end = remap.address.saturating_add(remap.len);
    let mut failed = false;
    TABLE.held(|table| {
        let gone = table.each(remap.address, end, |piece, gone| {
            let mut at = piece.start;
            let known = mappings::between(piece.start, piece.end, |found| {
                if !files.contains(&Some(found.file)) {
                    return;
                }
                gone.push(at, found.start);
                at = found.end;
                let skipped = found.start - remap.address;
                if found.file != old || found.offset != remap.old_offset.wrapping_add(skipped) {
                    // Another mapping, which another thread has put here since the node has looked.
                    return;
                }
                let offset = remap.offset.wrapping_add(skipped);
                let wish = Wish {
                    address: 0,
                    len: (found.end - found.start) as usize,
                    prot: found.prot,
                    flags: libc::MAP_SHARED,
                    fd: -1,
                    offset: offset as i64,
                };
                failed |= replace(memory, wish, found.start as usize).is_err();
            });
            match known {
                Ok(()) => gone.push(at, piece.end),
                Err(_) => failed = true,
            }
        });
        for range in gone.all() {
            tell_unmapped(range.start, range.end - range.start);
        }
    });
    if failed {
        report::say(report::Kind::Mapping, "a mapping could not be moved", &[]);
    }
}

/// Maps at a place where other threads may be writing: what comes there is known to be ours before.
fn replace(memory: own::Handle, wish: Wish, place: usize) -> Result<()> {
    let made = own::map(memory, wish)?;
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    match memory::remap(made, wish.len, wish.len, flags, place) {
        Ok(_) => Ok(()),
        Err(error) => {
            let _ = memory::unmap(made, wish.len);
            Err(error)
        }
    }
}

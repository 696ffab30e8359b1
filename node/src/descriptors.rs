//! Descriptors that clients hold: open files, dma-bufs, sync objects, sync files.
//!
//! Each is one end of a socket pair (or, for dma-bufs, a file without a name), known by device and inode:
//! duplicates, forks and descriptors passed on need no bookkeeping, and the other end tells when the last has gone.
//! Nothing can be sent to that end, so that it is closed without delay: what lies in a socket is closed with it.
//! Clients do not name inodes: the file that a client means is looked up in its table at each request.

mod waiting;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CString;
use std::fs::{File, Permissions};
use std::io;
use std::ops::Bound;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use driver::{Fence, Node, Opener, Shared};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::inotify::{AddWatchFlags, Inotify, InotifyEvent, WatchDescriptor};
use nix::sys::socket::{AddressFamily, Shutdown, SockFlag, SockType, shutdown, socketpair};
use nix::sys::stat::fstat;
use parking_lot::{Mutex, MutexGuard};

use self::waiting::Waiting;
use crate::card::Card;
use crate::limits::not_kept;
use crate::work;

/// What a descriptor is.
#[derive(Clone)]
pub enum What {
    /// The node, opened.
    File(Arc<driver::File>),
    /// Something that the driver gave out.
    Shared(Shared),
}

impl What {
    /// As [`wire::Op::Identify`] answers.
    pub fn number(&self) -> u64 {
        match self {
            What::File(file) if file.node() == Node::Render => 1,
            What::File(_) => 2,
            What::Shared(Shared::Object(_)) => 3,
            What::Shared(Shared::Syncobj(_)) => 4,
            What::Shared(Shared::Fence(_)) => 5,
        }
    }
}

/// How the node learns that the last descriptor has gone.
enum Keeper {
    /// The other end of the pair hangs up.
    Peer(OwnedFd),
    /// Nobody else has the file open any more, when one has closed it; held so that its inode stays.
    Watched(OwnedFd, WatchDescriptor),
}

/// What a client's descriptor is, and of which device.
#[derive(Clone)]
pub struct Found {
    pub card: Arc<Card>,
    pub what: What,
}

struct Entry {
    found: Found,
    keeper: Keeper,
}

impl Entry {
    /// Whether a file without a name is open in a client. One that was opened again through `/proc` is closed more than
    /// once.
    fn is_open_elsewhere(&self) -> bool {
        match &self.keeper {
            Keeper::Watched(own, _) => crate::edge::is_open_elsewhere(own),
            Keeper::Peer(_) => true,
        }
    }
}

/// What the files of a table are known by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Key {
    device: u64,
    inode: u64,
}

/// Events that are not a peer's: something to read for the watching thread.
const OTHER: u64 = u64::MAX;
/// Events that are taken at a time.
const EVENTS: usize = 64;
/// Sync files that are made readable once more at each look: a client that reads what makes them so would keep others waiting
/// that have the same file.
const AGAIN: usize = 8;

/// What clients hold. How many that are is their choice.
#[derive(Default)]
struct Entries {
    by_key: HashMap<Key, Entry>,
    /// The files without a name, by what tells that one is closed.
    watched: HashMap<WatchDescriptor, Key>,
    /// The sync files that are still to be signalled.
    unsignalled: Waiting<Key, Fence>,
    /// The others, and the last that was signalled again.
    signalled: BTreeSet<Key>,
    reached: Option<Key>,
}

impl Entries {
    fn insert(&mut self, key: Key, entry: Entry) {
        match (&entry.found.what, &entry.keeper) {
            (_, Keeper::Watched(_, watch)) => {
                self.watched.insert(*watch, key);
            }
            (What::Shared(Shared::Fence(fence)), Keeper::Peer(peer)) => {
                let waits = self.unsignalled.add(key, Arc::clone(fence));
                if !waits {
                    signal(peer);
                    self.signalled.insert(key);
                }
            }
            _ => {}
        }
        self.by_key.insert(key, entry);
    }

    fn remove(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.by_key.remove(key)?;
        self.unsignalled.remove(key);
        self.signalled.remove(key);
        if let Keeper::Watched(_, watch) = &entry.keeper {
            self.watched.remove(watch);
        }
        Some(entry)
    }

    /// The files without a name that events are about.
    fn closed_once(&self, events: &[InotifyEvent]) -> Vec<Key> {
        // Events that found no room: any file may have been closed.
        let lost = |event: &InotifyEvent| event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW);
        if events.iter().any(lost) {
            return self.watched.values().copied().collect();
        }
        let told = events.iter().filter_map(|event| {
            work::one();
            self.watched.get(&event.wd).copied()
        });
        told.collect()
    }

    /// As [`Descriptors::signal_fences`].
    fn signal_fences(&mut self) -> bool {
        for key in self.unsignalled.take_signalled() {
            self.signal(&key);
            self.signalled.insert(key);
        }
        for _ in 0..AGAIN.min(self.signalled.len()) {
            work::one();
            let behind = self.reached.map_or(Bound::Unbounded, Bound::Excluded);
            let next = self.signalled.range((behind, Bound::Unbounded)).next();
            let next = next.or_else(|| self.signalled.first()).copied();
            self.reached = next;
            if let Some(key) = next {
                self.signal(&key);
            }
        }
        !self.unsignalled.is_empty()
    }

    fn signal(&self, key: &Key) {
        if let Some(entry) = self.by_key.get(key)
            && let Keeper::Peer(peer) = &entry.keeper
        {
            signal(peer);
        }
    }
}

/// Makes a client's end readable.
fn signal(peer: &OwnedFd) {
    // Where there is no room it is readable.
    let _ = nix::unistd::write(peer, &[1]);
}

/// The table.
pub struct Descriptors {
    entries: Mutex<Entries>,
    /// Held while what is closed is being forgotten, until it is gone. What is in it has been closed once and was open
    /// elsewhere then: that is told before the system has let go of a file, so it is asked again until it is no more.
    forgetting: Mutex<HashSet<Key>>,
    inotify: Inotify,
    /// The device that all sockets are of: events tell the inode only.
    sockets: u64,
    /// Tells which peers have hung up.
    epoll: Epoll,
}

fn key(fd: impl AsFd) -> io::Result<Key> {
    let stat = fstat(fd)?;
    Ok(Key {
        device: stat.st_dev,
        inode: stat.st_ino,
    })
}

/// A client's end and the node's, which takes nothing (shutdown(2)).
fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let (client, peer) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
    shutdown(peer.as_raw_fd(), Shutdown::Read)?;
    Ok((client, peer))
}

impl Descriptors {
    /// A table whose [`watch`](Self::watch) also ends when `wake` is readable.
    pub fn new(wake: impl AsFd) -> io::Result<Self> {
        use nix::sys::inotify::InitFlags;
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(wake, EpollEvent::new(EpollFlags::EPOLLIN, OTHER))?;
        epoll.add(&inotify, EpollEvent::new(EpollFlags::EPOLLIN, OTHER))?;
        Ok(Descriptors {
            entries: Mutex::default(),
            forgetting: Mutex::default(),
            inotify,
            sockets: key(pair()?.0)?.device,
            epoll,
        })
    }

    /// Opens a node of a device for a client; the client's descriptor and its inode.
    pub fn open(&self, card: &Arc<Card>, node: Node, who: Opener) -> io::Result<(OwnedFd, u64)> {
        let file = driver::File::open_by(card.device(), node, who);
        self.pair(card, What::File(Arc::new(file)))
    }

    /// A descriptor for something that the driver of a device gives out. That of a buffer may be one that cannot be mapped to
    /// write.
    pub fn share(&self, card: &Arc<Card>, shared: Shared, read_only: bool) -> io::Result<OwnedFd> {
        match shared {
            Shared::Object(object) => self.file(card, &object, read_only),
            other => Ok(self.pair(card, What::Shared(other))?.0),
        }
    }

    fn pair(&self, card: &Arc<Card>, what: What) -> io::Result<(OwnedFd, u64)> {
        let (client, peer) = pair()?;
        not_kept(&client)?;
        not_kept(&peer)?;
        let key = key(&client)?;
        let mut entries = self.lock();
        // Hanging up is always told.
        let hangup = EpollEvent::new(EpollFlags::empty(), key.inode);
        self.epoll.add(&peer, hangup)?;
        let keeper = Keeper::Peer(peer);
        let found = Found {
            card: Arc::clone(card),
            what,
        };
        entries.insert(key, Entry { found, keeper });
        Ok((client, key.inode))
    }

    /// A dma-buf: an empty file of the object's size, so that seeking tells the size.
    fn file(
        &self,
        card: &Arc<Card>,
        object: &driver::Object,
        read_only: bool,
    ) -> io::Result<OwnedFd> {
        let name = CString::from(c"dma-buf");
        let file = crate::edge::create(&name, object.size())?;
        // Two that are opened, which the system counts: one for the client, and one to tell whether there are others.
        let open = |write| {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            File::options().read(true).write(write).open(path)
        };
        let (own, client) = (OwnedFd::from(open(true)?), open(!read_only)?);
        // Whoever else gets it opens it no other way.
        let mode = if read_only { 0o400 } else { 0o600 };
        File::from(file).set_permissions(Permissions::from_mode(mode))?;
        not_kept(&own)?;
        let path = format!("/proc/self/fd/{}", own.as_raw_fd());
        let watch = self
            .inotify
            .add_watch(path.as_str(), AddWatchFlags::IN_CLOSE)?;
        let found = Found {
            card: Arc::clone(card),
            what: What::Shared(Shared::Object(object.clone())),
        };
        let key = key(&own)?;
        let keeper = Keeper::Watched(own, watch);
        self.lock().insert(key, Entry { found, keeper });
        Ok(client.into())
    }

    /// What a descriptor is.
    pub fn find(&self, fd: impl AsFd) -> Option<Found> {
        let key = key(fd).ok()?;
        let entries = self.lock();
        entries.by_key.get(&key).map(|entry| entry.found.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock()
    }

    /// Number of descriptors that clients still hold.
    pub fn count(&self) -> usize {
        self.lock().by_key.len()
    }

    /// Sleeps until something is closed or the table is woken, and forgets what is closed.
    pub fn watch(&self, patience: EpollTimeout) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); EVENTS];
        match self.epoll.wait(&mut events, patience) {
            Err(Errno::EINTR) => {}
            Ok(0) if self.forgetting.lock().is_empty() => {}
            // Events stay until what they tell of is forgotten.
            Ok(_) => self.forget_closed(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Forgets what is closed by now; it is gone when this returns.
    pub fn forget_closed(&self) {
        let mut doubtful = self.forgetting.lock();
        let mut events = [EpollEvent::empty(); EVENTS];
        let count = self
            .epoll
            .wait(&mut events, EpollTimeout::ZERO)
            .unwrap_or(0);
        let mut dropped = Vec::new();
        {
            let mut entries = self.lock();
            for event in events.iter().take(count) {
                // Hung up or broken, as nothing else is asked for.
                let key = Key {
                    device: self.sockets,
                    inode: event.data(),
                };
                dropped.extend(entries.remove(&key));
            }
            if let Ok(events) = self.inotify.read_events()
                && !events.is_empty()
            {
                doubtful.extend(entries.closed_once(&events));
            }
            doubtful.retain(|key| {
                let is_open = entries
                    .by_key
                    .get(key)
                    .is_some_and(Entry::is_open_elsewhere);
                if !is_open {
                    dropped.extend(entries.remove(key));
                }
                is_open
            });
        }
        for entry in &dropped {
            // It is gone with its file anyway.
            let _ = match &entry.keeper {
                Keeper::Watched(_, watch) => self.inotify.rm_watch(*watch),
                Keeper::Peer(peer) => self.epoll.delete(peer),
            };
        }
        // Closing a file takes the driver's locks: not under that of the table.
        let keepers: Vec<Keeper> = dropped.into_iter().map(|entry| entry.keeper).collect();
        drop(doubtful);
        // The system's work: under no lock.
        drop(keepers);
    }

    /// Makes the descriptors of sync files that have been signalled readable; true when some are still to come.
    pub fn signal_fences(&self) -> bool {
        self.lock().signal_fences()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use driver::Tiling;

    use super::*;
    use crate::Options;

    fn card_and_table() -> (Arc<Card>, Descriptors) {
        let info = mmio_mock::intel::r#gen::find("gm965").unwrap();
        let options = Options {
            memory: 16 << 20,
            ..Options::new(info)
        };
        let card = Card::start(0, info, &options).unwrap();
        let wake = nix::sys::eventfd::EventFd::new().unwrap();
        (card, Descriptors::new(&wake).unwrap())
    }

    /// The system tells that a file is closed (inotify(7), IN_CLOSE) before it lets go of it. Here the second close is not
    /// told at all, as if it had been told before the first look.
    #[test]
    fn a_dma_buf_that_was_still_open_when_its_closing_was_told_is_forgotten_later() {
        let (card, table) = card_and_table();
        let object = card.device().create_object(4096, Tiling::None, 0);
        let first = table
            .share(&card, Shared::Object(object.unwrap()), false)
            .unwrap();
        let path = format!("/proc/self/fd/{}", first.as_raw_fd());
        let second = File::options().read(true).write(true).open(path).unwrap();
        drop(first);
        table.forget_closed();
        assert_eq!(table.count(), 1);
        drop(second);
        assert!(!table.inotify.read_events().unwrap().is_empty());
        table.watch(EpollTimeout::ZERO).unwrap();
        assert_eq!(table.count(), 0);
    }

    #[test]
    fn the_closing_of_a_dma_buf_is_found_among_many_without_a_look_at_them() {
        let (card, table) = card_and_table();
        let share = || {
            let object = card.device().create_object(4096, Tiling::None, 0);
            let object = Shared::Object(object.unwrap());
            table.share(&card, object, false).unwrap()
        };
        let mut files: Vec<OwnedFd> = (0..10).map(|_| share()).collect();
        let mut closing = |count: usize| {
            files.resize_with(count, share);
            drop(files.pop());
            let (looks, ()) = work::of(|| table.forget_closed());
            assert_eq!(table.count(), count - 1);
            looks
        };
        // The next look finds a word of the end of each watch, too.
        closing(10);
        let few = closing(10);
        assert!(few > 0);
        assert_eq!(closing(100), few);
    }
}

//! Descriptors that clients hold: open files, dma-bufs, sync objects, sync files.
//!
//! No PRM chapter. Each is one end of a socket pair (or, for dma-bufs, a file without a name), known by its inode:
//! duplicates, forks and descriptors passed on need no bookkeeping, and the other end tells when the last has gone.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use driver::{Device, Node, Opener, Shared};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::inotify::{AddWatchFlags, Inotify, WatchDescriptor};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::sys::stat::fstat;

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
    /// The file is closed for the last time; held so that its inode stays.
    Watched(
        #[expect(dead_code, reason = "held, not looked at")] OwnedFd,
        WatchDescriptor,
    ),
}

struct Entry {
    what: What,
    keeper: Keeper,
}

/// Events that are not a peer's: something to read for the watching thread.
const OTHER: u64 = u64::MAX;
/// Events that are taken at a time.
const EVENTS: usize = 64;

/// The table.
pub struct Descriptors {
    entries: Mutex<HashMap<u64, Entry>>,
    inotify: Inotify,
    /// Tells which peers have hung up.
    epoll: Epoll,
}

fn inode(fd: impl AsFd) -> io::Result<u64> {
    Ok(fstat(fd)?.st_ino)
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
            inotify,
            epoll,
        })
    }

    /// Opens the node for somebody; the client's descriptor and its inode.
    pub fn open(&self, device: &Device, node: Node, who: Opener) -> io::Result<(OwnedFd, u64)> {
        let file = driver::File::open_by(device, node, who);
        self.pair(What::File(Arc::new(file)))
    }

    /// A descriptor for something that the driver gives out.
    pub fn share(&self, shared: Shared) -> io::Result<OwnedFd> {
        match shared {
            Shared::Object(object) => self.file(&object),
            other => Ok(self.pair(What::Shared(other))?.0),
        }
    }

    fn pair(&self, what: What) -> io::Result<(OwnedFd, u64)> {
        loop {
            let (client, peer) = socketpair(
                AddressFamily::Unix,
                SockType::SeqPacket,
                None,
                SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
            )?;
            let number = inode(&client)?;
            let mut entries = self.lock();
            // Sockets and files number their inodes apart.
            if entries.contains_key(&number) {
                continue;
            }
            // Hanging up is always told.
            let hangup = EpollEvent::new(EpollFlags::empty(), number);
            self.epoll.add(&peer, hangup)?;
            let keeper = Keeper::Peer(peer);
            entries.insert(number, Entry { what, keeper });
            return Ok((client, number));
        }
    }

    /// A dma-buf: an empty file of the object's size, so that seeking tells the size.
    fn file(&self, object: &driver::Object) -> io::Result<OwnedFd> {
        let name = CString::from(c"dma-buf");
        let mut spare = Vec::new();
        loop {
            let own = crate::edge::create(&name, object.size())?;
            let number = inode(&own)?;
            if self.lock().contains_key(&number) {
                spare.push(own);
                continue;
            }
            // A description of its own, whose end can be told from that of ours.
            let path = format!("/proc/self/fd/{}", own.as_raw_fd());
            let client = File::options().read(true).write(true).open(&path)?;
            let flags = AddWatchFlags::IN_CLOSE_WRITE;
            let watch = self.inotify.add_watch(path.as_str(), flags)?;
            let what = What::Shared(Shared::Object(object.clone()));
            let keeper = Keeper::Watched(own, watch);
            self.lock().insert(number, Entry { what, keeper });
            return Ok(client.into());
        }
    }

    /// What an inode is.
    pub fn find(&self, inode: u64) -> Option<What> {
        self.lock().get(&inode).map(|entry| entry.what.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of descriptors that clients still hold.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Sleeps until something is closed or the table is woken, and forgets what is closed.
    pub fn watch(&self, patience: EpollTimeout) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); EVENTS];
        let count = match self.epoll.wait(&mut events, patience) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        let mut dropped = Vec::new();
        {
            let mut entries = self.lock();
            for event in events.iter().take(count) {
                // Hung up or broken, as nothing else is asked for.
                dropped.extend(entries.remove(&event.data()));
            }
            if let Ok(events) = self.inotify.read_events() {
                for event in events {
                    dropped.extend(Self::take_watched(&mut entries, event.wd));
                }
            }
        }
        for entry in &dropped {
            // It is gone with its file anyway.
            let _ = match &entry.keeper {
                Keeper::Watched(_, watch) => self.inotify.rm_watch(*watch),
                Keeper::Peer(peer) => self.epoll.delete(peer),
            };
        }
        // Closing a file takes the driver's locks: not under ours.
        drop(dropped);
        Ok(())
    }

    fn take_watched(entries: &mut HashMap<u64, Entry>, watch: WatchDescriptor) -> Option<Entry> {
        let found = entries.iter().find(
            |(_, entry)| matches!(&entry.keeper, Keeper::Watched(_, other) if *other == watch),
        );
        let inode = *found?.0;
        entries.remove(&inode)
    }

    /// Makes the descriptors of sync files that have been signalled readable; true when some are still to come.
    pub fn signal_fences(&self) -> bool {
        let entries = self.lock();
        let mut pending = false;
        for entry in entries.values() {
            let (What::Shared(Shared::Fence(fence)), Keeper::Peer(peer)) =
                (&entry.what, &entry.keeper)
            else {
                continue;
            };
            if fence.status().is_none() {
                pending = true;
            } else {
                // Once is enough; further bytes only fill the socket.
                let _ = nix::unistd::write(peer, &[1]);
            }
        }
        pending
    }
}

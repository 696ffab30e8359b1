//! Closes refused connections, on host threads for which the node does not wait.
//!
//! unix(7): what lies unread in a socket is closed with the socket, and descriptors of any kind can lie there. The last close
//! of some takes as long as their sender likes, as that of a TCP socket with SO_LINGER (socket(7)). The node's sockets take no
//! descriptors where the system can refuse them (SO_PASSRIGHTS, since Linux 6.16). Elsewhere a stuck close costs a thread of these.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use nix::sys::socket::{Shutdown, shutdown};
use parking_lot::{Condvar, Mutex};

/// Most threads: so many sockets may be stuck before others wait for their close.
const MOST: usize = 32;

/// Bytes of a thread's stack, which does one system call: many times what it needs.
const STACK: usize = 256 << 10;

#[derive(Default)]
struct Inner {
    waiting: VecDeque<OwnedFd>,
    threads: usize,
    /// Threads that wait for a socket.
    idle: usize,
    is_ended: bool,
}

#[derive(Default)]
struct Shared {
    inner: Mutex<Inner>,
    /// A socket waits, or no more will come.
    work: Condvar,
}

/// Closes sockets.
pub struct Closer(Arc<Shared>);

impl Closer {
    /// A closer with its first thread.
    pub fn new() -> io::Result<Self> {
        let closer = Closer(Arc::default());
        closer.0.inner.lock().threads = 1;
        closer.spawn()?;
        Ok(closer)
    }

    /// Ends a connection at once; its descriptor is closed soon, or when a thread is free.
    pub fn close(&self, socket: OwnedFd) {
        // The other end sees it, and nothing more is put into it. It fails where the other end is gone.
        let _ = shutdown(socket.as_raw_fd(), Shutdown::Both);
        let mut inner = self.0.inner.lock();
        inner.waiting.push_back(socket);
        let is_short = inner.waiting.len() > inner.idle && inner.threads < MOST;
        inner.threads += usize::from(is_short);
        drop(inner);
        self.0.work.notify_one();
        if is_short && self.spawn().is_err() {
            // One of those that there are closes it later.
            self.0.inner.lock().threads -= 1;
        }
    }

    /// A thread, which has been counted.
    fn spawn(&self) -> io::Result<()> {
        let shared = Arc::clone(&self.0);
        std::thread::Builder::new()
            .name("node-close".into())
            .stack_size(STACK)
            .spawn(move || run(&shared))
            .map(drop)
    }
}

impl Drop for Closer {
    fn drop(&mut self) {
        self.0.inner.lock().is_ended = true;
        self.0.work.notify_all();
    }
}

fn run(shared: &Shared) {
    let mut inner = shared.inner.lock();
    loop {
        if let Some(socket) = inner.waiting.pop_front() {
            drop(inner);
            drop(socket);
            inner = shared.inner.lock();
        } else if inner.is_ended || inner.idle > 0 {
            // One that waits is enough.
            inner.threads -= 1;
            return;
        } else {
            inner.idle += 1;
            shared.work.wait(&mut inner);
            inner.idle -= 1;
        }
    }
}

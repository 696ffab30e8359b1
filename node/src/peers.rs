//! All processes that are connected, and how many connections there may be.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use nix::errno::Errno;
use parking_lot::Mutex;

use crate::peer::{self, Peer, Stranger};

/// How many connections there may be: each has a thread of the node.
#[derive(Clone, Copy, Debug)]
pub struct Connections {
    /// Of one process: one for itself and one for each of its threads that asks.
    pub of_process: usize,
    /// Of all processes.
    pub in_all: usize,
}

impl Default for Connections {
    fn default() -> Self {
        Connections {
            of_process: 2048,
            in_all: 4096,
        }
    }
}

/// Why there is no connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The process is not one that is served.
    #[error(transparent)]
    Stranger(#[from] Stranger),
    /// It has too many.
    #[error("process {process} asks for more than {most} connections")]
    Process {
        /// Its number.
        process: i32,
        /// The limit.
        most: usize,
    },
    /// There are too many.
    #[error("there are {0} connections, and no more are served")]
    Full(usize),
    /// The node has no descriptor for it.
    #[error("no descriptors are left for connections (ulimit -n)")]
    Descriptors,
    /// The node has no thread for it.
    #[error("no threads are left for connections (ulimit -u): {0}")]
    Threads(Errno),
}

impl Refusal {
    /// What the client is told. Never EAGAIN, on which clients ask again for ever.
    pub fn errno(self) -> Errno {
        match self {
            Refusal::Stranger(_) => Errno::EACCES,
            Refusal::Process { .. } => Errno::EMFILE,
            Refusal::Full(_) | Refusal::Descriptors => Errno::ENFILE,
            Refusal::Threads(_) => Errno::ENOMEM,
        }
    }
}

#[derive(Default)]
struct Inner {
    /// Processes with the number of their connections.
    known: HashMap<i32, (Arc<Peer>, usize)>,
    count: usize,
}

/// All processes that are connected.
pub struct Peers {
    user: u32,
    most: Connections,
    inner: Mutex<Inner>,
}

impl Peers {
    /// No peers yet; processes of this process's user will be served.
    pub fn new(most: Connections) -> Self {
        Peers {
            user: rustix::process::geteuid().as_raw(),
            most,
            inner: Mutex::default(),
        }
    }

    /// Takes a connection in, or says why not.
    pub fn admit(self: &Arc<Self>, socket: &OwnedFd) -> Result<Admitted, Refusal> {
        let (number, user) = peer::credentials(socket)?;
        if user != self.user {
            return Err(Stranger::User(user).into());
        }
        let mut inner = self.inner.lock();
        if inner.count >= self.most.in_all {
            return Err(Refusal::Full(self.most.in_all));
        }
        // Connections come in the order in which they were made, so that a known process that lives is the one.
        let known = inner.known.get(&number.as_raw());
        let known = known.filter(|(peer, _)| peer.is_alive());
        let (peer, count, is_fresh) = match known {
            Some((peer, count)) if peer.runs_the_same() => (Arc::clone(peer), *count, false),
            known => (
                fresh(socket, self.user, known.map(|(peer, _)| &**peer))?,
                known.map_or(0, |(_, count)| *count),
                true,
            ),
        };
        if count >= self.most.of_process {
            return Err(Refusal::Process {
                process: peer.pid(),
                most: self.most.of_process,
            });
        }
        let row = (Arc::clone(&peer), count + 1);
        inner.known.insert(peer.pid(), row);
        inner.count += 1;
        Ok(Admitted {
            peer,
            is_fresh,
            peers: Arc::clone(self),
        })
    }

    /// A program has begun in the process of a connection. The memory of the one before may have been there still when
    /// the connection was admitted.
    pub fn renew(&self, admitted: &mut Admitted, socket: &OwnedFd) -> Result<(), Refusal> {
        if admitted.is_fresh {
            return Ok(());
        }
        let mut inner = self.inner.lock();
        let peer = fresh(socket, self.user, Some(&admitted.peer))?;
        if let Some((known, _)) = inner.known.get_mut(&peer.pid())
            && known.is_process_of(&peer)
        {
            *known = Arc::clone(&peer);
        }
        admitted.peer = peer;
        admitted.is_fresh = true;
        Ok(())
    }

    fn leave(&self, peer: &Arc<Peer>) {
        let mut inner = self.inner.lock();
        inner.count = inner.count.saturating_sub(1);
        let Some((known, count)) = inner.known.get_mut(&peer.pid()) else {
            return;
        };
        // Another process may have the number by now.
        if !known.is_process_of(peer) {
            return;
        }
        *count -= 1;
        if *count == 0 {
            inner.known.remove(&peer.pid());
        }
    }
}

/// The process that has connected, with the memory that it has now; `known` is the same process.
fn fresh(socket: &OwnedFd, user: u32, known: Option<&Peer>) -> Result<Arc<Peer>, Refusal> {
    let mut peer = Peer::of(socket, user).map_err(|stranger| match stranger {
        Stranger::Unknown(Errno::EMFILE | Errno::ENFILE) => Refusal::Descriptors,
        other => Refusal::Stranger(other),
    })?;
    if let Some(known) = known {
        peer.is_known_as(known);
    }
    Ok(Arc::new(peer))
}

/// A connection that counts, until it is dropped.
pub struct Admitted {
    /// Whose it is.
    pub peer: Arc<Peer>,
    /// Whether the process was looked at anew for it.
    is_fresh: bool,
    peers: Arc<Peers>,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.peers.leave(&self.peer);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

    use super::*;

    #[test]
    fn connections_count_until_they_end() {
        let (kind, flags) = (SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
        let (socket, _other) = socketpair(AddressFamily::Unix, kind, None, flags).unwrap();
        let most = |of_process, in_all| Arc::new(Peers::new(Connections { of_process, in_all }));
        let peers = most(2, 9);
        let first = peers.admit(&socket).unwrap();
        let second = peers.admit(&socket).unwrap();
        assert!(Arc::ptr_eq(&first.peer, &second.peer));
        let refused = peers.admit(&socket).err().unwrap();
        assert_eq!(refused.errno(), Errno::EMFILE);
        drop(second);
        let mut renewed = peers.admit(&socket).unwrap();
        peers.renew(&mut renewed, &socket).unwrap();
        assert!(!Arc::ptr_eq(&first.peer, &renewed.peer));
        assert!(peers.admit(&socket).is_err(), "it counts as before");
        drop(renewed);
        drop(peers.admit(&socket).unwrap());
        drop(first);
        assert_eq!(peers.inner.lock().known.len(), 0);
        assert_eq!(peers.inner.lock().count, 0);
        let peers = most(9, 1);
        let _only = peers.admit(&socket).unwrap();
        let refused = peers.admit(&socket).err().unwrap();
        assert_eq!(refused.errno(), Errno::ENFILE);
    }
}

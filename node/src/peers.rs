//! All processes that are connected, and how many connections there may be.
//!
//! A process can make a look at its memory last for ever. So a connection is counted when it comes, which asks the system alone,
//! and the process is looked at by the thread that serves the connection, without a lock.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

use nix::errno::Errno;
use parking_lot::Mutex;
use rustix::thread::CapabilitySet;

use crate::ancestry;
use crate::peer::{Peer, Stranger};
use crate::pin::{self, Pin};

/// How many connections there may be: each has a thread of the node.
#[derive(Clone, Copy, Debug)]
pub struct Connections {
    /// Of one process: one for itself and one for each of its threads that asks. Never more than are left of all.
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
    /// The node has no address space for its thread.
    #[error("no addresses are left for connections (ulimit -v)")]
    Space,
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
            Refusal::Space | Refusal::Threads(_) => Errno::ENOMEM,
        }
    }
}

/// A process that is connected.
struct Row {
    pin: Arc<Pin>,
    /// With the memory that it had when it was looked at last.
    peer: Option<Arc<Peer>>,
    /// Its connections.
    count: usize,
}

#[derive(Default)]
struct Inner {
    known: HashMap<i32, Row>,
    count: usize,
}

/// All processes that are connected.
pub struct Peers {
    user: u32,
    most: Connections,
    /// The one that this process has started.
    program: OnceLock<ancestry::Program>,
    inner: Mutex<Inner>,
}

impl Peers {
    /// No peers yet; processes of this process's user will be served.
    pub fn new(most: Connections) -> Self {
        Peers {
            user: rustix::process::geteuid().as_raw(),
            most,
            program: OnceLock::new(),
            inner: Mutex::default(),
        }
    }

    /// Takes a connection in, or says why not.
    pub fn admit(self: &Arc<Self>, socket: &OwnedFd) -> Result<Admitted, Refusal> {
        let (number, user) = pin::credentials(socket)?;
        if user != self.user {
            return Err(Stranger::User(user).into());
        }
        let mut inner = self.inner.lock();
        if inner.count >= self.most.in_all {
            return Err(Refusal::Full(self.most.in_all));
        }
        // No process has more than there are left: one alone cannot keep all others out.
        let most = self.most.of_process.min(self.most.in_all - inner.count);
        // Connections come in the order in which they were made, so that a known process that lives is the one.
        let known = inner.known.get_mut(&number.as_raw());
        let pin = match known.filter(|row| row.pin.is_alive()) {
            Some(row) if row.count >= most => {
                return Err(Refusal::Process {
                    process: number.as_raw(),
                    most,
                });
            }
            Some(row) => {
                row.count += 1;
                Arc::clone(&row.pin)
            }
            None => {
                let pin = Arc::new(Pin::of(socket).map_err(refusal)?);
                let row = Row {
                    pin: Arc::clone(&pin),
                    peer: None,
                    count: 1,
                };
                inner.known.insert(number.as_raw(), row);
                pin
            }
        };
        inner.count += 1;
        drop(inner);
        // Counted from here on, also when it is refused below.
        let mut admitted = Admitted {
            permitted: CapabilitySet::empty(),
            pin,
            peers: Arc::clone(self),
        };
        admitted.permitted = admitted.pin.permitted().map_err(|_| Stranger::Gone)?;
        Ok(admitted)
    }

    /// A child of this process is the program that it serves; the first counts.
    pub fn note_program(&self, process: u32) {
        let number = i32::try_from(process).ok();
        if let Some(program) = number.and_then(ancestry::Program::of) {
            self.program.get_or_init(|| program);
        }
    }

    /// What is known of a pinned process.
    fn row<'a>(inner: &'a mut Inner, pin: &Arc<Pin>) -> Option<&'a mut Row> {
        let row = inner.known.get_mut(&pin.number.as_raw());
        // Another process may have the number by now.
        row.filter(|row| Arc::ptr_eq(&row.pin, pin))
    }

    /// Whether the process that has a number is connected.
    fn is_client(&self, number: i32) -> bool {
        let inner = self.inner.lock();
        let row = inner.known.get(&number);
        row.is_some_and(|row| row.pin.is_alive())
    }

    fn leave(&self, pin: &Arc<Pin>) {
        let mut inner = self.inner.lock();
        inner.count = inner.count.saturating_sub(1);
        let gone = match Self::row(&mut inner, pin) {
            Some(row) => {
                row.count -= 1;
                row.count == 0
            }
            None => false,
        };
        let row = gone.then(|| inner.known.remove(&pin.number.as_raw()));
        drop(inner);
        // As in `look_anew`.
        drop(row);
    }
}

fn refusal(stranger: Stranger) -> Refusal {
    match stranger {
        Stranger::Unknown(Errno::EMFILE | Errno::ENFILE) => Refusal::Descriptors,
        other => Refusal::Stranger(other),
    }
}

/// A connection that counts, until it is dropped.
pub struct Admitted {
    /// The most that the process could do when its connection was accepted (capabilities(7)).
    pub permitted: CapabilitySet,
    pin: Arc<Pin>,
    peers: Arc<Peers>,
}

impl Admitted {
    /// The process, and whether it was looked at anew for that. This may take as long as the process lets it.
    pub fn look(&self) -> Result<(Arc<Peer>, bool), Refusal> {
        let peers = &*self.peers;
        let known = Peers::row(&mut peers.inner.lock(), &self.pin).and_then(|row| row.peer.clone());
        match known.filter(|peer| peer.runs_the_same()) {
            Some(peer) => Ok((peer, false)),
            None => Ok((self.look_anew()?, true)),
        }
    }

    /// The process with the memory that it has now, as when a program has begun in it: the memory of the one before may have
    /// been there still when it was looked at.
    pub fn look_anew(&self) -> Result<Arc<Peer>, Refusal> {
        let peers = &*self.peers;
        // Before it is looked whether the process lives.
        let program = peers.program.get().copied();
        self.pin.origin(program, |number| peers.is_client(number));
        let peer = Arc::new(Peer::of(&self.pin).map_err(refusal)?);
        let old = Peers::row(&mut peers.inner.lock(), &self.pin)
            .and_then(|row| row.peer.replace(Arc::clone(&peer)));
        // Not under the lock: closing its files is the system's work.
        drop(old);
        Ok(peer)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.peers.leave(&self.pin);
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
        let known = first.look().unwrap();
        let again = second.look().unwrap();
        assert!(known.1 && !again.1 && Arc::ptr_eq(&known.0, &again.0));
        let refused = peers.admit(&socket).err().unwrap();
        assert_eq!(refused.errno(), Errno::EMFILE);
        drop(second);
        let renewed = peers.admit(&socket).unwrap();
        let anew = renewed.look_anew().unwrap();
        assert!(!Arc::ptr_eq(&known.0, &anew));
        assert!(Arc::ptr_eq(&anew, &first.look().unwrap().0));
        assert!(peers.admit(&socket).is_err(), "it counts as before");
        drop(renewed);
        drop(peers.admit(&socket).unwrap());
        drop(first);
        assert_eq!(peers.inner.lock().known.len(), 0);
        assert_eq!(peers.inner.lock().count, 0);
        let peers = most(9, 8);
        let half: Vec<_> = (0..4).map(|_| peers.admit(&socket).unwrap()).collect();
        let refused = peers.admit(&socket).err().unwrap();
        assert_eq!(refused.errno(), Errno::EMFILE, "four are left for others");
        drop(half);
        let peers = most(9, 1);
        let _only = peers.admit(&socket).unwrap();
        let refused = peers.admit(&socket).err().unwrap();
        assert_eq!(refused.errno(), Errno::ENFILE);
    }

    #[test]
    fn others_are_strangers() {
        let (kind, flags) = (SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
        let (socket, _other) = socketpair(AddressFamily::Unix, kind, None, flags).unwrap();
        let own = rustix::process::geteuid().as_raw();
        let peers = Arc::new(Peers {
            user: own + 1,
            ..Peers::new(Connections::default())
        });
        let refused = peers.admit(&socket).err();
        assert_eq!(refused, Some(Refusal::Stranger(Stranger::User(own))));
    }
}

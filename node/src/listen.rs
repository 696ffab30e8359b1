//! The socket that clients connect to, and who gets a connection.
//!
//! unix(7). The socket lies in a directory of mode 0700. A connection that is refused is answered, so that no client
//! waits for ever.

use std::fs::{self, File, Permissions};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, SockFlag, SockType, UnixAddr, bind, listen, send, setsockopt,
    socket, sockopt,
};
use parking_lot::Mutex;
use wire::Reply;
use zerocopy::IntoBytes as _;

use crate::peers::Refusal;
use crate::server::Server;
use crate::stacks::STACK;
use crate::{connection, edge, limits};

/// A socket that listens.
pub struct Listener {
    socket: OwnedFd,
    path: PathBuf,
    /// Given up for a moment when there are no more descriptors, to refuse a connection.
    spare: Option<File>,
}

impl Listener {
    /// Makes the socket in a directory, which becomes its user's alone. With `refuse_rights` the system refuses descriptors
    /// that clients send, where it can.
    pub fn new(dir: &Path, refuse_rights: bool) -> std::io::Result<Self> {
        fs::set_permissions(dir, Permissions::from_mode(0o700))?;
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None)?;
        // By way of a descriptor, as an address has room for 107 bytes only.
        let opened = File::open(dir)?;
        let name = wire::env::SOCKET;
        let address = format!("/proc/self/fd/{}/{name}", opened.as_raw_fd());
        bind(socket.as_raw_fd(), &UnixAddr::new(address.as_str())?)?;
        if refuse_rights && let Err(error) = edge::refuse_rights(&socket) {
            log::debug!("descriptors that clients send are not refused: {error}");
        }
        // Sockets that connect have it from the begin, so that no message is without its sender (unix(7)).
        setsockopt(&socket, sockopt::PassCred, &true)?;
        listen(&socket, Backlog::MAXALLOWABLE)?;
        Ok(Listener {
            socket,
            path: dir.join(name),
            spare: spare(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes connections until the node stops.
    pub fn run(mut self, server: &Arc<Server>) {
        // TIMEOUT: how long a stop may go unnoticed.
        let patience = PollTimeout::from(50_u8);
        while !server.stopping.load(Ordering::Acquire) {
            let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
            if !poll(&mut fds, patience).is_ok_and(|n| n > 0) {
                continue;
            }
            limits::raise_descriptors();
            match edge::accept(&self.socket) {
                Ok(fd) if limits::is_last(fd.as_raw_fd()) => {
                    refuse(server, fd, Refusal::Descriptors);
                }
                Ok(fd) => begin(server, fd),
                Err(Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM | Errno::ENOBUFS) => {
                    self.refuse(server);
                }
                // The client has given up, or a signal came.
                Err(_) => {}
            }
        }
    }

    /// Answers a connection for which there is no descriptor with the one that was kept for that.
    fn refuse(&mut self, server: &Server) {
        drop(self.spare.take());
        match edge::accept(&self.socket) {
            Ok(fd) => refuse(server, fd, Refusal::Descriptors),
            // Another thread has taken it: the connection waits in the queue until there is one again.
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
        self.spare = spare();
    }
}

fn spare() -> Option<File> {
    File::open("/").ok()
}

/// Serves a connection on a thread of its own, or refuses it.
fn begin(server: &Arc<Server>, fd: OwnedFd) {
    if !server.stacks.allow() {
        return refuse(server, fd, Refusal::Space);
    }
    let admitted = match server.peers.admit(&fd) {
        Ok(admitted) => admitted,
        Err(refusal) => return refuse(server, fd, refusal),
    };
    // Here until the thread takes it: it comes back when there is no thread.
    let handed = Arc::new(Mutex::new(Some((fd, admitted))));
    let taken = Arc::clone(&handed);
    let serving = Arc::clone(server);
    let take = move || taken.lock().take();
    let spawned = std::thread::Builder::new()
        .name("node-client".into())
        .stack_size(STACK)
        .spawn(move || {
            if let Some((fd, admitted)) = take() {
                connection::serve_admitted(&serving, fd, &admitted);
            }
            serving.stacks.ended();
        });
    match spawned {
        Ok(_) => server.stacks.begun(),
        Err(error) => {
            if let Some((fd, _admitted)) = handed.lock().take() {
                let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
                refuse(server, fd, Refusal::Threads(errno));
            }
        }
    }
}

/// Answers a connection that is not served, and ends it.
fn refuse(server: &Server, fd: OwnedFd, refusal: Refusal) {
    answer(server, &fd, refusal);
    server.closer.close(fd);
}

/// Tells a connection that it is not served.
pub fn answer(server: &Server, fd: &OwnedFd, refusal: Refusal) {
    match refusal {
        // These name processes and users.
        Refusal::Stranger(_) | Refusal::Process { .. } => server.say(&refusal.to_string()),
        Refusal::Full(_) | Refusal::Descriptors | Refusal::Space | Refusal::Threads(_) => {
            server.say_own(&refusal.to_string());
        }
    }
    let reply = Reply {
        result: -(refusal.errno() as i32),
        ..Reply::default()
    };
    // Its own buffer is empty: there is room, or no reader is left.
    let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
    let _ = send(fd.as_raw_fd(), reply.as_bytes(), flags);
}

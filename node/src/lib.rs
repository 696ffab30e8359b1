//! The DRM node: drivers on modelled devices, served to other processes.
//!
//! What the kernel's VFS, memory manager and file tables do around a DRM driver. Clients reach it
//! through the shim (`drm-shim`). Not modelled: signals that interrupt a wait, `MAP_PRIVATE` mappings.
#![deny(unsafe_code)]

mod ancestry;
mod beginning;
mod board;
mod card;
mod closer;
mod connection;
mod descriptors;
mod edge;
mod errors;
mod lane;
mod leftover;
mod likeness;
mod limits;
mod listen;
mod map;
mod packet;
mod peer;
mod peers;
mod pin;
mod place;
mod privilege;
mod process;
mod report;
mod server;
mod stacks;
mod task;
mod tree;
mod view;
mod voice;
mod watch;
mod work;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use kernel::time::Delta;
use mmio_mock::intel::r#gen::DeviceInfo;

pub use card::Card;
pub use peers::Connections;
pub use report::{Report, Work};
pub use voice::Voice;
/// Most devices of a node.
pub use wire::device::MOST as MOST_DEVICES;

/// Bytes of graphics memory when nothing else is asked for. Only pages that are used cost anything.
pub const DEFAULT_MEMORY: usize = 1 << 30;

/// What a node is made of.
pub struct Options {
    /// The devices, one to [`MOST_DEVICES`], in the order of their numbers.
    pub devices: Vec<&'static DeviceInfo>,
    /// Bytes of graphics memory of each device.
    pub memory: usize,
    /// Whether everything that is not known is reported each time.
    pub strict: bool,
    /// Whether devices move only inside requests of clients, so that the same requests in the same order make the
    /// same trace.
    pub deterministic: bool,
    /// Device time between two looks of the driver's hang check, when not the driver's own.
    pub hang_check: Option<Delta>,
    /// How many connections there may be.
    pub connections: Connections,
    /// Whether the system refuses descriptors that clients send, which Linux can since 6.16. Tests say no, to see what happens
    /// where it cannot.
    pub refuse_rights: bool,
}

impl Options {
    /// The defaults on a device.
    #[must_use]
    pub fn new(device: &'static DeviceInfo) -> Self {
        Options::of(vec![device])
    }

    /// The defaults on several devices.
    #[must_use]
    pub fn of(devices: Vec<&'static DeviceInfo>) -> Self {
        Options {
            devices,
            memory: DEFAULT_MEMORY,
            strict: false,
            deterministic: false,
            hang_check: None,
            connections: Connections::default(),
            refuse_rights: true,
        }
    }
}

/// Why a node did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused something.
    #[error("{what}: {error}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// There is no device, or there are too many.
    #[error("a node has one to {MOST_DEVICES} devices, not {0}")]
    Devices(usize),
    /// The driver did not bind to the device.
    #[error("the driver does not bind to the device: {0}")]
    Probe(kernel::error::Error),
}

impl Error {
    fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Error {
        move |error| Error::System {
            what,
            error: error.into(),
        }
    }
}

/// A running node, which serves one device or several. Dropping it ends all connections.
pub struct Node {
    server: Arc<server::Server>,
}

impl Node {
    /// Powers the devices on, binds their drivers, and waits for clients on threads of its own.
    pub fn start(options: &Options) -> Result<Node, Error> {
        Ok(Node {
            server: server::Server::start(options)?,
        })
    }

    /// Variables that a client's environment needs, beside `LD_PRELOAD`.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        self.server.environment()
    }

    /// The node's own directory in the file system; it goes away with the node.
    #[must_use]
    pub fn directory(&self) -> &std::path::Path {
        self.server.directory()
    }

    /// The devices, in the order of their numbers; there is one at least.
    #[must_use]
    pub fn cards(&self) -> &[Arc<Card>] {
        &self.server.cards
    }

    /// The device with the number 0.
    #[must_use]
    pub fn first(&self) -> &Arc<Card> {
        // PANIC: no node starts without a device.
        &self.server.cards[0]
    }

    /// Says which process is the program that this process has started. What it has made its own sibling (`CLONE_PARENT`) then
    /// belongs to its family. To be called as soon as it has been started, and before it is waited for.
    pub fn note_program(&self, process: u32) {
        self.server.peers.note_program(process);
    }

    /// Opens a node of a device for this process, as an unprivileged one.
    pub fn open(&self, card: &Arc<Card>, node: driver::Node) -> io::Result<OwnedFd> {
        let opener = driver::Opener {
            pid: std::process::id(),
            admin: false,
        };
        let (descriptor, _) = self.server.descriptors.open(card, node, opener)?;
        self.server.note_opened(card);
        Ok(descriptor)
    }

    /// Serves a connection of this process on the caller's thread, until the other end closes it. The socket is one of
    /// sequenced packets. Requests name descriptors of this process; memory that they point to faults.
    pub fn serve_here(&self, socket: OwnedFd) -> io::Result<()> {
        let peer = Arc::new(peer::Peer::here()?);
        // As for those that come to the node's own socket.
        let _ = edge::refuse_rights(&socket);
        connection::serve(&self.server, socket, &peer);
        Ok(())
    }

    /// Counters so far.
    #[must_use]
    pub fn report(&self) -> Report {
        self.server.report()
    }

    /// Waits until every client has gone, and its files are closed; false when that takes longer than `patience`.
    #[must_use]
    pub fn quiesce(&self, patience: std::time::Duration) -> bool {
        let quiet = self.server.quiesce(patience);
        self.server.say_faults();
        quiet
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.server.stop();
    }
}

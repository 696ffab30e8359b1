//! A server on a thread of its own, and files for its clients.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use vfio::client::Client;
use vfio::{Options, Server};

/// A server of a device.
pub struct Served {
    pub socket: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
    _dir: tempfile::TempDir,
}

impl Served {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s.sock");
        let mut server = Server::start(Options {
            device: mmio_mock::intel::r#gen::first(),
            socket: socket.clone(),
            trace: None,
        })
        .unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            server.run(&stopped, |_| ()).unwrap();
            server.clients()
        });
        Served {
            socket,
            stop,
            thread: Some(thread),
            _dir: dir,
        }
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.socket).unwrap()
    }

    /// Ends it; how many clients there were.
    pub fn end(mut self) -> u64 {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap()
    }
}

/// A file as QEMU's memory-backend-memfd makes it.
pub fn memory(bytes: u64) -> OwnedFd {
    let file = File::from(memfd_create("guest", MemfdFlags::ALLOW_SEALING).unwrap());
    file.set_len(bytes).unwrap();
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&file, seals).unwrap();
    file.into()
}

/// An event descriptor as QEMU's event notifiers have it.
pub fn event() -> OwnedFd {
    eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap()
}

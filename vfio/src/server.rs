//! The socket, and the clients one after another.
//!
//! A client is served until it closes its connection, is killed, or says what cannot be understood; the next one waits in the
//! socket's queue and finds the device after power-on.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mmio_mock::intel::r#gen::DeviceInfo;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::channel::{Channel, Got};
use crate::function::Modelled;
use crate::pause::Pause;
use crate::protocol::{Header, MAX_PAYLOAD, command};
use crate::session::{self, Next, Session};

/// TIMEOUT: how long a stop may go unnoticed.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// What is served, and what is kept of it.
#[derive(Debug)]
pub struct Options {
    /// The device.
    pub device: &'static DeviceInfo,
    /// Where the socket is to lie.
    pub socket: PathBuf,
    /// Accesses to registers go there.
    pub trace: Option<File>,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody serves there.
    #[error("another program serves this socket")]
    Served,
    /// A file is there that is no socket.
    #[error("there is a file of this name, which is no socket")]
    Occupied,
    /// The system refuses.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// A device at a socket.
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    function: Modelled,
    pause: Arc<Pause>,
    clients: u64,
}

impl Server {
    /// Powers the device on and makes the socket, which is its user's alone. A socket that a server has left is replaced.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn start(options: Options) -> Result<Self, Error> {
        let listener = listen(&options.socket)?;
        let function = Modelled::new(options.device, options.trace);
        let function = function.inspect_err(|_| drop(fs::remove_file(&options.socket)))?;
        Ok(Server {
            listener,
            path: options.socket,
            function,
            pause: Arc::default(),
            clients: 0,
        })
    }

    /// Keeps guests waiting.
    #[must_use]
    pub fn pause(&self) -> &Arc<Pause> {
        &self.pause
    }

    /// The function that is served.
    #[must_use]
    pub fn function(&self) -> &Modelled {
        &self.function
    }

    /// How many clients there have been.
    #[must_use]
    pub fn clients(&self) -> u64 {
        self.clients
    }

    /// Serves clients until `stop`. `left` is called when one has gone.
    ///
    /// # Errors
    /// When the socket takes no connections any more.
    pub fn run(&mut self, stop: &AtomicBool, mut left: impl FnMut(&Self)) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let mut fds = [PollFd::new(&self.listener, PollFlags::IN)];
            match poll(&mut fds, Some(&LOOK)) {
                Ok(0) | Err(Errno::INTR) => continue,
                outcome => outcome?,
            };
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                // The client has given up, or there are no descriptors for now.
                Err(error) => {
                    log::warn!("a connection is not taken: {error}");
                    std::thread::sleep(std::time::Duration::from_millis(10));
                    continue;
                }
            };
            self.clients += 1;
            log::info!("client {} comes", self.clients);
            if let Err(error) = serve(&mut self.function, stream, stop, &self.pause) {
                log::warn!("client {}: {error}", self.clients);
            }
            self.function.leave();
            log::info!("client {} has gone", self.clients);
            left(self);
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A socket that listens, in the place of one that nobody serves any more.
fn listen(path: &Path) -> Result<UnixListener, Error> {
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.file_type().is_socket() => return Err(Error::Occupied),
        Ok(_) if UnixStream::connect(path).is_ok() => return Err(Error::Served),
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Serves a client to its end.
///
/// # Errors
/// Those of the socket; a client that goes is none.
pub fn serve(
    function: &mut Modelled,
    stream: UnixStream,
    stop: &AtomicBool,
    pause: &Pause,
) -> io::Result<()> {
    let channel = Channel::new(stream, stop);
    let mut session = Session::default();
    let (mut payload, mut reply) = (Vec::new(), Vec::new());
    let mut unmask = None;
    loop {
        let (header, files) = match channel.receive(unmask.as_ref().map(OwnedFd::as_fd))? {
            Got::Message(header, files) => (header, Ok(files)),
            Got::TooMany(header) => (header, Err(Errno::MFILE)),
            Got::Other => {
                pause.wait(stop);
                function.interrupts().take_unmask();
                continue;
            }
            Got::End => return Ok(()),
        };
        let length = (header.size as usize).checked_sub(size_of::<Header>());
        let Some(length) = length.filter(|length| *length <= MAX_PAYLOAD) else {
            // Where the next message begins is not known.
            session::refuse(&header, Errno::MSGSIZE, &mut reply);
            channel.send(&reply)?;
            return Ok(());
        };
        payload.resize(length, 0);
        if !channel.fill(&mut payload)? {
            return Ok(());
        }
        pause.wait(stop);
        let next = match files {
            Ok(files) => session.handle(function, &header, &payload, files, &mut reply),
            Err(error) => {
                session::refuse(&header, error, &mut reply);
                Next::GoOn
            }
        };
        if !channel.send(&reply)? || next == Next::End {
            return Ok(());
        }
        if header.command == command::DEVICE_SET_IRQS {
            unmask = function.interrupts().unmask_event();
        }
    }
}

//! The server: everything that connections share, and its threads.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use driver::ioctl::{Standing, standing};
use kernel::error::Error as KernelError;
use kernel::string_helpers::Counted;
use kernel::string_helpers::{Escaped, escape};
use mmio_mock::Model;
use nix::sys::eventfd::{EfdFlags, EventFd};
use parking_lot::Mutex;
use wire::device::MOST;

use crate::card::Card;
use crate::closer::Closer;
use crate::descriptors::Descriptors;
use crate::lane::Lanes;
use crate::listen::Listener;
use crate::peer::Peer;
use crate::peers::Peers;
use crate::process::Processes;
use crate::report::{Report, Work};
use crate::stacks::Stacks;
use crate::tree::Tree;
use crate::voice::Voice;
use crate::{Error, Options, edge, limits, watch};

/// Texts of clients that are kept, however many they have.
const TEXTS: usize = 256;

/// Wakes a thread that polls.
pub struct Wake(EventFd);

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Wake {
    fn new() -> nix::Result<Self> {
        EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK).map(Wake)
    }

    /// Makes its descriptor readable.
    pub fn ring(&self) {
        // Full means that it is readable already.
        let _ = self.0.write(1);
    }

    /// Makes it unreadable.
    pub fn clear(&self) {
        let _ = self.0.read();
    }
}

/// What connections share.
pub struct Server {
    /// The devices, of which there is one at least.
    pub cards: Vec<Arc<Card>>,
    /// Whether devices move only inside requests of clients.
    pub in_step: bool,
    pub descriptors: Descriptors,
    pub lanes: Lanes,
    pub processes: Processes,
    pub peers: Arc<Peers>,
    pub closer: Closer,
    pub stacks: Stacks,
    pub wake: Wake,
    pub stopping: AtomicBool,
    tree: Tree,
    socket: PathBuf,
    strict: bool,
    frames: AtomicU64,
    renderers: Mutex<Vec<String>>,
    said: Mutex<Texts>,
    voice: Voice,
}

/// Texts that have been said. How many of the first kind there are is the clients' choice; the others are always said.
#[derive(Default)]
struct Texts {
    of_clients: BTreeSet<String>,
    own: BTreeSet<String>,
}

impl Texts {
    /// Whether a text is new and to be said.
    fn admit(&mut self, text: &str, own: bool) -> bool {
        let texts = if own {
            &mut self.own
        } else {
            &mut self.of_clients
        };
        texts.len() < TEXTS && texts.insert(text.to_owned())
    }
}

impl Server {
    pub fn start(options: &Options) -> Result<Arc<Self>, Error> {
        let infos = options.devices.as_slice();
        if infos.is_empty() || infos.len() > MOST {
            return Err(Error::Devices(infos.len()));
        }
        // Before there is a directory, which could not be removed without descriptors.
        limits::allow_node(infos.len()).map_err(Error::system("descriptors"))?;
        edge::survive_leases().map_err(Error::system("signals"))?;
        let tree = Tree::build(infos).map_err(Error::system("directory of the device"))?;
        let cards = infos.iter().enumerate();
        let cards = cards.map(|(number, info)| Card::start(number, info, options));
        let cards = cards.collect::<Result<Vec<_>, Error>>()?;
        let wake = Wake::new().map_err(Error::system("eventfd"))?;
        let listener =
            Listener::new(tree.path(), options.refuse_rights).map_err(Error::system("socket"))?;
        let server = Arc::new(Server {
            tree,
            cards,
            in_step: options.deterministic,
            lanes: Lanes::default(),
            descriptors: Descriptors::new(&wake).map_err(Error::system("watching descriptors"))?,
            wake,
            processes: Processes::default(),
            peers: Arc::new(Peers::new(options.connections)),
            stacks: Stacks::default(),
            closer: Closer::new().map_err(Error::system("thread"))?,
            stopping: AtomicBool::new(false),
            socket: listener.path().to_owned(),
            strict: options.strict,
            frames: AtomicU64::new(0),
            renderers: Mutex::default(),
            said: Mutex::default(),
            voice: Voice::default(),
        });
        let watched = Arc::clone(&server);
        std::thread::Builder::new()
            .name("node-watch".into())
            .spawn(move || watch::run(&watched))
            .map_err(Error::system("thread"))?;
        let serving = Arc::clone(&server);
        std::thread::Builder::new()
            .name("node-listen".into())
            .spawn(move || listener.run(&serving))
            .map_err(Error::system("thread"))?;
        Ok(server)
    }

    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            (wire::env::NODE, self.socket.clone().into()),
            (wire::env::TREE, self.tree.path().into()),
        ];
        if self.strict {
            variables.push((wire::env::STRICT, "1".into()));
        }
        variables
    }

    pub fn directory(&self) -> &std::path::Path {
        self.tree.path()
    }

    /// Something has been opened or closed.
    pub fn wake(&self) {
        self.wake.ring();
    }

    /// A descriptor for something that the driver of a device gives out.
    pub fn share(
        &self,
        card: &Arc<Card>,
        shared: driver::Shared,
        read_only: bool,
    ) -> std::io::Result<OwnedFd> {
        let shared = self.descriptors.share(card, shared, read_only);
        if let Err(error) = &shared {
            self.say_full(error);
        }
        self.wake();
        shared
    }

    /// Says that the system keeps something of a client from the node, and why as far as that can be seen.
    pub fn say_closed(&self, what: &str, peer: &Peer) {
        let causes = peer.why_closed().join("; ");
        let why = if causes.is_empty() { "" } else { ": " };
        self.say(&format!(
            "the system does not allow access to the {what} of {}{why}{causes}",
            peer.name()
        ));
    }

    /// Says why a client gets no descriptor.
    pub fn say_full(&self, error: &std::io::Error) {
        self.say_own(&format!("no descriptor for a client (ulimit -n): {error}"));
    }

    /// A node of a device has been opened, whose descriptor may have to be watched now.
    pub fn note_opened(&self, card: &Card) {
        card.note_opened();
        self.wake();
    }

    /// What a client has to say: a renderer (0), or something that is not known (1).
    pub fn note(&self, peer: &Peer, kind: u64, text: &str) {
        match kind {
            0 => {
                // One line, whatever a client sends.
                let text = escape(text);
                let mut renderers = self.renderers.lock();
                if renderers.len() < TEXTS && !renderers.iter().any(|other| *other == text) {
                    renderers.push(text.into_owned());
                }
            }
            // The words are the client's: they must not pass for the node's.
            _ => self.say_of("message", peer, text),
        }
    }

    /// Says what a client has to say, or has done, with its name. Of clients that have the same to say one is named,
    /// in strict mode all.
    fn say_of(&self, what: &str, peer: &Peer, text: &str) {
        if self.is_to_be_said(text, false) {
            let (name, number) = (peer.name(), peer.pid());
            self.utter(&format!("{what} of {name}[{number}]: {text}"));
        }
    }

    /// Says something that clients can choose the text of on standard error: each time in strict mode, once otherwise.
    pub fn say(&self, text: &str) {
        self.say_once(text, false);
    }

    /// Says something of the node itself in the same way, however much clients have had said.
    pub fn say_own(&self, text: &str) {
        self.say_once(text, true);
    }

    fn say_once(&self, text: &str, own: bool) {
        if self.is_to_be_said(text, own) {
            self.utter(text);
        }
    }

    /// Whether a text is said for the first time, or each time.
    fn is_to_be_said(&self, text: &str, own: bool) -> bool {
        self.strict || self.said.lock().admit(text, own)
    }

    fn utter(&self, text: &str) {
        self.voice.say(format!("crestline: {}\n", Escaped(text)));
    }

    /// A request has been refused; names those that the driver does not know, and in strict mode those that are for
    /// devices with more than this one has.
    pub fn refused(&self, peer: &Peer, request: u32, error: KernelError) {
        let (kind, number) = (request >> 8 & 0xff, request & 0xff);
        let text = match standing(request) {
            Standing::Unknown => format!(
                "ioctl {request:#010x} (type {kind:#04x}, number {number:#04x}) is not known: {error}"
            ),
            Standing::Refused(name) if self.strict => format!(
                "ioctl {request:#010x} (number {number:#04x}, {name}) is not for this device: {error}"
            ),
            Standing::Refused(_) | Standing::Served => return,
        };
        self.say_of("request", peer, &text);
    }

    /// A process has ended.
    pub fn note_ended(&self) {
        if !self.in_step {
            self.processes.release();
        }
        self.wake();
    }

    /// Before a request: when devices are in step, what was closed before is gone now and not at some moment later.
    pub fn begin_request(&self) {
        if self.in_step {
            self.forget_closed();
        }
    }

    /// Lets go of what ended processes and closed files had.
    fn forget_closed(&self) {
        self.processes.release();
        self.descriptors.forget_closed();
    }

    pub fn count_frames(&self, frames: u64) {
        self.frames.fetch_add(frames, Ordering::Relaxed);
    }

    /// Looks whether processes have ended that have no connection any more.
    pub fn look_at_processes(&self) {
        self.processes.look();
        if !self.in_step {
            self.processes.release();
        }
    }

    /// Looks whether engines hang, and whether clients have cleared error states.
    pub fn look_at_engines(&self) {
        for card in &self.cards {
            if !self.in_step {
                card.device().watch();
            }
        }
        self.say_faults();
        self.cards.iter().for_each(|card| card.look_at_errors());
    }

    /// Names what the devices have refused or could not do since the last look.
    pub fn say_faults(&self) {
        for card in &self.cards {
            let say = |text: String| match self.cards.len() {
                1 => self.say(&text),
                _ => self.say(&format!("{card}: {text}")),
            };
            let ((faults, dropped), notes) = card
                .live()
                .with_device(|device| (device.take_faults(), device.take_notes()));
            for record in faults {
                say(format!("{}: {}", record.place, record.fault));
            }
            notes.into_iter().for_each(say);
            if dropped > 0 {
                say(format!("{} more", Counted(dropped, "fault")));
            }
        }
    }

    pub fn report(&self) -> Report {
        let cards = self.cards.iter();
        let cards: Vec<_> = cards.map(|card| (card.to_string(), card.work())).collect();
        let mut work = Work::default();
        for (_, card) in &cards {
            work.add(card);
        }
        Report {
            renderers: self.renderers.lock().clone(),
            frames: self.frames.load(Ordering::Relaxed),
            work,
            cards,
        }
    }

    pub fn quiesce(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            if self.in_step && self.processes.count() == 0 {
                self.forget_closed();
                self.cards.iter().for_each(|card| card.end_request());
            }
            let gone = self.processes.count() == 0 && self.descriptors.count() == 0;
            if gone && self.cards.iter().all(|card| card.device().is_idle()) {
                // Another thread may be about to let go of the last of it.
                self.forget_closed();
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.cards.iter().for_each(|card| card.stop());
        self.tree.remove();
        self.voice.wait();
        self.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_clients_leave_room_for_those_of_the_node() {
        let mut texts = Texts::default();
        let said = (0..2 * TEXTS).filter(|n| texts.admit(&n.to_string(), false));
        assert_eq!(said.count(), TEXTS);
        assert!(texts.admit("no descriptors are left", true));
        assert!(!texts.admit("no descriptors are left", true));
    }
}

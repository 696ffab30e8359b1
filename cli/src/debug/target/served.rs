//! A guest as a target: a device at a socket, whose driver is the guest's kernel.
//!
//! While something is stopped the device's time stands, and no message of the guest is answered, so that its machine waits as well.
//! Guests come one after another; breakpoints stay.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kernel::platform::Platform as _;
use kernel::string_helpers::Counted;
use kernel::time::Delta;
use mmio_mock::LivePlatform;
use vfio::Server;
use vfio::pause::Pause;

use super::Reach;
use super::threads::Threads;
use crate::debug::Answer;
use crate::debug::gate::{Ending, Gate, Held, State};

/// Device time between two looks for stops; a device that stands is looked at once.
const LOOK: Delta = Delta::from_millis(1);
/// Wall time between two looks at the threads' end.
const BEAT: Duration = Duration::from_millis(5);

/// What the threads have in common.
struct Shared {
    live: Arc<LivePlatform>,
    pause: Arc<Pause>,
    gate: Arc<Gate>,
    /// The server is to stop.
    stop: AtomicBool,
    /// How it has ended.
    ended: Mutex<Option<Ending>>,
}

/// The threads of a server.
pub struct Runner {
    shared: Arc<Shared>,
    server: Option<Box<Server>>,
    threads: Threads,
}

impl Runner {
    pub fn new(server: Server) -> Self {
        Runner {
            shared: Arc::new(Shared {
                live: Arc::clone(server.function().live()),
                pause: Arc::clone(server.pause()),
                gate: Arc::default(),
                stop: AtomicBool::new(false),
                ended: Mutex::default(),
            }),
            server: Some(Box::new(server)),
            threads: Threads::default(),
        }
    }

    /// The device is there; nobody is served yet.
    pub fn begin(&mut self) -> Arc<Gate> {
        let gate = &self.shared.gate;
        gate.publish(Reach::Live(Arc::clone(&self.shared.live)), None);
        gate.set_state(State::Ready);
        Arc::clone(gate)
    }

    /// Serves guests from now on.
    pub fn start(&mut self) -> Answer<()> {
        let Some(mut server) = self.server.take() else {
            return Err("guests are served already".into());
        };
        self.shared.gate.resume();
        let (one, two) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let serve = move || {
            let outcome = server.run(&one.stop, |_| ());
            let guests = Counted(server.clients(), "guest");
            let ending = match outcome {
                Ok(()) => Ending {
                    code: 0,
                    text: format!("{guests} served"),
                },
                Err(error) => Ending {
                    code: 1,
                    text: format!("the socket takes no guests any more: {error}"),
                },
            };
            *one.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ending);
        };
        self.threads.spawn("crestline-serve", serve)?;
        self.threads.spawn("crestline-watch", move || watch(&two))
    }

    /// Serves nobody any more.
    pub fn kill(&mut self) -> Ending {
        let shared = &self.shared;
        shared.stop.store(true, Ordering::Relaxed);
        if self.server.take().is_some() {
            let text = "no guest was served".to_owned();
            shared.gate.end(Ending { code: 0, text }, None);
        }
        shared.live.with_device(|device| device.set_debugger(false));
        self.threads.leave(&shared.gate, BEAT, || ())
    }

    pub fn join(&mut self) {
        self.threads.join();
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if self.shared.gate.state() != State::Ended {
            self.kill();
        }
        self.join();
    }
}

/// Looks for stops until the server has ended.
fn watch(shared: &Shared) {
    let ending = loop {
        if shared.gate.held() == Held::Yes && !shared.gate.is_left() {
            shared.pause.set(true);
            let hold = shared.live.hold();
            shared.gate.stand(State::Stopped);
            drop(hold);
            shared.pause.set(false);
            continue;
        }
        let mut ended = shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ending) = ended.take() {
            break ending;
        }
        drop(ended);
        shared.live.clock().relax(LOOK);
    };
    shared.gate.end(ending, None);
}

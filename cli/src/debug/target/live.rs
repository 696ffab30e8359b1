//! A program as a target: a node whose device runs by itself, and a client.
//!
//! While something is stopped the device's time stands. Not modelled: attaching to a program that runs.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kernel::platform::Platform as _;
use kernel::time::Delta;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use node::Node;

use super::Reach;
use super::threads::Threads;
use crate::debug::gate::{Ending, Gate, Held, State};
use crate::debug::{Answer, Refusal};
use crate::record::Recorder;
use crate::replay::{Attendant, Options};
use crate::shown;
use crate::why::{WhyError, why_attended};

/// Device time between two looks for stops; a device that stands is looked at once.
const LOOK: Delta = Delta::from_millis(1);
/// TIMEOUT: how long the requests of a program that has ended may go on.
const PATIENCE: Duration = Duration::from_secs(2);
/// Wall time between two looks at the program.
const BEAT: Duration = Duration::from_millis(5);
/// TIMEOUT: how long a program that is told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// A program that waits to be started.
pub struct Program {
    /// The node that it will find.
    pub node: Node,
    /// The program, with what it needs to find the node.
    pub command: Command,
    /// What it submits, when that is kept.
    pub recording: Option<Recording>,
}

/// What a program has submitted so far, for runs of the debugger's own.
pub struct Recording {
    /// Who writes it down.
    pub recorder: Arc<Recorder>,
    /// How it is run again.
    pub options: Options,
}

/// The program as a process.
#[derive(Default)]
struct Process {
    pid: AtomicI32,
    exited: AtomicBool,
}

/// What the threads have in common.
struct Shared {
    node: Node,
    gate: Arc<Gate>,
    process: Arc<Process>,
    status: Mutex<Option<ExitStatus>>,
}

/// The threads of a program.
pub struct Runner {
    shared: Arc<Shared>,
    command: Option<Command>,
    recording: Option<Recording>,
    threads: Threads,
}

impl Runner {
    pub fn new(program: Program) -> Self {
        Runner {
            shared: Arc::new(Shared {
                node: program.node,
                gate: Arc::default(),
                process: Arc::default(),
                status: Mutex::new(None),
            }),
            command: Some(program.command),
            recording: program.recording,
            threads: Threads::default(),
        }
    }

    /// The device is there, the program is not.
    pub fn begin(&mut self) -> Arc<Gate> {
        let (node, gate) = (&self.shared.node, &self.shared.gate);
        let live = Arc::clone(node.first().live());
        gate.publish(Reach::Live(live), Some(node.first().device().clone()));
        gate.set_state(State::Ready);
        Arc::clone(gate)
    }

    /// Starts the program.
    pub fn start(&mut self) -> Answer<()> {
        let Some(mut command) = self.command.take() else {
            return Err("the program has been started already".into());
        };
        // Signals of the terminal are for the debugger.
        command.process_group(0);
        let child = command.spawn().map_err(|error| {
            let program = Path::new(command.get_program());
            let why = crate::start::why(program, &error);
            Refusal(format!("{}: {why}", shown::path(program)))
        });
        let child = match child {
            Ok(child) => child,
            Err(refusal) => {
                let text = refusal.0.clone();
                self.shared.gate.end(Ending { code: 127, text }, None);
                return Err(refusal);
            }
        };
        let pid = i32::try_from(child.id()).unwrap_or(0);
        self.shared.node.note_program(child.id());
        self.shared.process.pid.store(pid, Ordering::SeqCst);
        self.shared.gate.resume();
        let (one, two) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let threads = &mut self.threads;
        threads.spawn("crestline-child", move || wait_for(&one, child))?;
        threads.spawn("crestline-watch", move || watch(&two))
    }

    /// How a pixel came about, by runs of what has been recorded so far on other devices. A submission is recorded before
    /// it is queued, so that of a stopped thread is the last.
    pub fn why(&self, pixel: (u16, u16), attendant: Arc<dyn Attendant>) -> Answer {
        let Some(Recording { recorder, options }) = &self.recording else {
            return Err("the walk runs the frame again, and nothing of this program is recorded; start it with `crestline debug --record DIR -- CMD`".into());
        };
        let count = recorder.finish().map_err(Refusal)?;
        if count == 0 {
            let hint = match self.shared.gate.state() {
                State::Ready => ": `run` starts the program",
                _ => ": the program has submitted nothing",
            };
            return Err(format!("nothing is recorded yet{hint}").into());
        }
        let capture = recorder.capture(count).map_err(Refusal::of)?;
        match why_attended(&capture, options, pixel, attendant) {
            Ok(answer) => Ok(answer.to_string()),
            Err(WhyError::NothingDrawn(_)) => {
                Err("the program has drawn nothing yet in what it has submitted".into())
            }
            Err(error) => Err(Refusal::of(error)),
        }
    }

    /// Sends the program a signal.
    pub fn signaller(&self) -> impl Fn(Signal) + Send + use<> {
        let process = Arc::clone(&self.shared.process);
        move |signal| process.signal(signal)
    }

    /// Tells the program to end, and waits for it.
    pub fn kill(&mut self) -> Ending {
        let shared = &self.shared;
        if self.command.take().is_some() {
            let text = "the program was not started".to_owned();
            shared.gate.end(Ending { code: 0, text }, None);
        }
        let begun = Instant::now();
        shared.process.signal(Signal::SIGTERM);
        // A stopped program must get on to hear of it.
        shared
            .node
            .first()
            .live()
            .with_device(|device| device.set_debugger(false));
        self.threads.leave(&shared.gate, BEAT, || {
            if begun.elapsed() > GRACE {
                shared.process.signal(Signal::SIGKILL);
            }
        })
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

impl Process {
    fn signal(&self, signal: Signal) {
        let pid = self.pid.load(Ordering::SeqCst);
        if pid > 0 && !self.exited.load(Ordering::SeqCst) {
            // One that has ended is found in a moment.
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }
}

fn wait_for(shared: &Shared, mut child: Child) {
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) => std::thread::sleep(BEAT),
            Err(error) => {
                log::error!("waiting for the program: {error}");
                break None;
            }
        }
    };
    *shared.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    shared.process.exited.store(true, Ordering::SeqCst);
}

/// Looks for stops until the program has ended and its requests are done.
fn watch(shared: &Shared) {
    let live = shared.node.first().live();
    let mut gone: Option<Instant> = None;
    loop {
        if shared.gate.held() == Held::Yes && !shared.gate.is_left() {
            let suspended = shared.node.first().device().suspend_hang_check();
            let hold = live.hold();
            shared.gate.stand(State::Stopped);
            drop(hold);
            drop(suspended);
            gone = None;
            continue;
        }
        if shared.process.exited.load(Ordering::SeqCst) {
            let since = *gone.get_or_insert_with(Instant::now);
            if since.elapsed() >= PATIENCE || shared.node.quiesce(BEAT) {
                break;
            }
        }
        live.clock().relax(LOOK);
    }
    let status = *shared.status.lock().unwrap_or_else(PoisonError::into_inner);
    shared.gate.end(ending(status), None);
}

/// Exit codes are those of shells.
fn ending(status: Option<ExitStatus>) -> Ending {
    let Some(status) = status else {
        return Ending {
            code: 1,
            text: "the program has ended".to_owned(),
        };
    };
    let signal = status.signal();
    let code = status.code().or_else(|| Some(128 + signal?));
    let text = match signal {
        Some(signal) => format!("the program was ended by signal {signal}"),
        None => format!("the program has ended with code {}", code.unwrap_or(1)),
    };
    Ending {
        code: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
        text,
    }
}

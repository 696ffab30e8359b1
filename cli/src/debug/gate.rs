//! Where the thread that runs a target and the debugger's thread meet.
//!
//! The runner passes the gate after each stretch of device time and waits there while something is
//! stopped; the debugger waits for it to come there, or to its end.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mmio_mock::ModelPlatform;

use super::target::Reach;
use crate::capture::Exec;
use crate::picture::last_target;
use crate::replay::{Attendant, Placed, Rest, Session};

/// How far a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Everything is in place, nothing has run.
    Ready,
    /// It runs.
    Running,
    /// Something is stopped.
    Stopped,
    /// It has come to its end.
    Ended,
}

/// How a target has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Exit code of a program; 0 or 1 for a capture.
    pub code: u8,
    /// What there is to say.
    pub text: String,
}

impl Ending {
    /// The first line of what there is to say: the rest has been told where the end was.
    pub fn headline(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// Whether something is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing.
    No,
    /// Something was, that nobody wanted; it goes on.
    Passed,
    /// Something is.
    Yes,
}

/// Whoever knows whether threads are stopped.
pub trait Holder: Send + Sync {
    /// Called from the runner's thread between two stretches of device time.
    fn held(&self) -> Held;
}

/// Draws whose targets are looked at for the size of the frame.
const MOST_TARGETS: usize = 256;

struct Inner {
    state: State,
    leave: bool,
    ending: Option<Ending>,
    /// Left by a capture that has ended.
    session: Option<Session>,
    holder: Option<Arc<dyn Holder>>,
    reach: Option<(Reach, Option<driver::Device>)>,
    /// The last submission in place.
    exec: Option<Arc<Exec>>,
    submissions: usize,
    /// Largest render target so far.
    frame: Option<(u32, u32)>,
}

/// The meeting place.
pub struct Gate {
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Gate {
            inner: Mutex::new(Inner {
                state: State::Running,
                leave: false,
                ending: None,
                session: None,
                holder: None,
                reach: None,
                exec: None,
                submissions: 0,
                frame: None,
            }),
            changed: Condvar::new(),
        }
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while `still` holds.
    fn sleep<'a>(
        &'a self,
        inner: MutexGuard<'a, Inner>,
        mut still: impl FnMut(&mut Inner) -> bool,
    ) -> MutexGuard<'a, Inner> {
        self.changed
            .wait_while(inner, |inner| still(inner))
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// How far the target is.
    pub fn state(&self) -> State {
        self.lock().state
    }

    /// Says how far the target is.
    pub fn set_state(&self, state: State) {
        self.lock().state = state;
        self.changed.notify_all();
    }

    /// How it has ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        self.lock().ending.clone()
    }

    /// The last submission that was put in place, of a capture.
    pub fn exec(&self) -> Option<Arc<Exec>> {
        self.lock().exec.clone()
    }

    /// How many submissions have been put in place.
    pub fn submissions(&self) -> usize {
        self.lock().submissions
    }

    /// Columns and rows of the largest render target so far.
    pub fn frame(&self) -> Option<(u32, u32)> {
        self.lock().frame
    }

    /// A larger render target may have been seen.
    pub fn note_frame(&self, width: u32, height: u32) {
        let mut inner = self.lock();
        let (w, h) = inner.frame.unwrap_or((0, 0));
        inner.frame = Some((w.max(width), h.max(height)));
    }

    /// Says who knows of stops.
    pub fn set_holder(&self, holder: Arc<dyn Holder>) {
        self.lock().holder = Some(holder);
    }

    /// The way to the device, once there is one.
    pub fn reach(&self) -> Option<(Reach, Option<driver::Device>)> {
        self.lock().reach.clone()
    }

    /// The runner has a device, and the driver's unless that is a guest's.
    pub fn publish(&self, reach: Reach, device: Option<driver::Device>) {
        self.lock().reach = Some((reach, device));
    }

    /// Nobody needs the way to the device any more.
    pub fn forget(&self) {
        self.lock().reach = None;
    }

    /// Lets the runner go on.
    pub fn resume(&self) {
        let mut inner = self.lock();
        if inner.state != State::Ended {
            inner.state = State::Running;
        }
        self.changed.notify_all();
    }

    /// The runner is to leave as soon as it comes by.
    pub fn leave(&self) {
        self.lock().leave = true;
        self.changed.notify_all();
    }

    /// Whether it is to.
    pub fn is_left(&self) -> bool {
        self.lock().leave
    }

    /// Waits until the target does not run, for some time at most; how far it is then.
    pub fn wait(&self, patience: Duration) -> State {
        let until = Instant::now() + patience;
        let mut inner = self.lock();
        while inner.state == State::Running {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            inner = match self.changed.wait_timeout(inner, left) {
                Ok((inner, _)) => inner,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        inner.state
    }

    /// The runner has come to its end.
    pub fn end(&self, ending: Ending, session: Option<Session>) {
        let mut inner = self.lock();
        inner.ending.get_or_insert(ending);
        inner.session = session;
        inner.state = State::Ended;
        self.changed.notify_all();
    }

    /// Looks at the replay that has ended.
    pub fn with_session<T>(&self, look: impl FnOnce(Option<&Session>) -> T) -> T {
        look(self.lock().session.as_ref())
    }

    /// Takes the replay that has ended.
    pub fn take_session(&self) -> Option<Session> {
        self.lock().session.take()
    }

    /// Whether something is stopped, as whoever knows says.
    pub fn held(&self) -> Held {
        let holder = self.lock().holder.clone();
        holder.map_or(Held::No, |holder| holder.held())
    }

    /// The runner stands until the debugger lets it go; whether it is to leave.
    pub fn stand(&self, state: State) -> bool {
        let mut inner = self.lock();
        inner.state = state;
        self.changed.notify_all();
        let inner = self.sleep(inner, |inner| inner.state == state && !inner.leave);
        inner.leave
    }
}

impl Attendant for Gate {
    fn placed(&self, placed: &Placed<'_>) -> Rest {
        let draws = placed.walk.draws.iter().take(MOST_TARGETS);
        for draw in draws {
            if let Ok(target) = last_target(&placed.dword, draw.state, placed.device) {
                let surface = target.surface;
                let lod = surface.render_lod;
                self.note_frame(surface.level_width(lod), surface.level_height(lod));
            }
        }
        let first = {
            let mut inner = self.lock();
            inner.exec = Some(Arc::new(placed.exec.outline()));
            inner.submissions += 1;
            inner.submissions == 1
        };
        let left = if first {
            self.stand(State::Ready)
        } else {
            self.is_left()
        };
        if left { Rest::Leave } else { Rest::GoOn }
    }

    fn passed(&self, _: &ModelPlatform) -> Rest {
        if self.is_left() {
            return Rest::Leave;
        }
        match self.held() {
            Held::No => return Rest::GoOn,
            Held::Passed => return Rest::Held,
            Held::Yes => {}
        }
        let device = self.reach().and_then(|(_, device)| device);
        let suspended = device.as_ref().map(driver::Device::suspend_hang_check);
        let left = self.stand(State::Stopped);
        drop(suspended);
        if left { Rest::Leave } else { Rest::Held }
    }
}

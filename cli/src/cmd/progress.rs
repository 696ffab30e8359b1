//! Progress of long work, on standard error, when that is a terminal.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crestline_cli::replay::{Attendant, Placed, Rest};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use mmio_mock::ModelPlatform;

use super::summary::grouped;

/// Wall time between two pictures of a bar.
const TICK: Duration = Duration::from_millis(200);

/// All bars, so that messages can step between them.
static BARS: LazyLock<MultiProgress> =
    LazyLock::new(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));

/// Writes to standard error without a bar in the way.
pub fn beside<T>(write: impl FnOnce() -> T) -> T {
    BARS.suspend(write)
}

/// A bar that is there as long as this value.
pub struct Progress(ProgressBar);

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Progress {
    fn new(length: Option<u64>, template: &str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Progress(ProgressBar::hidden());
        }
        let bar = match length {
            Some(length) => ProgressBar::new(length),
            None => ProgressBar::no_length(),
        };
        let bar = BARS.add(bar);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Progress(bar)
    }

    /// So many `things` are to be done.
    pub fn of(length: u64, things: &str) -> Self {
        let template = format!("{{spinner}} {{pos}} of {{len}} {things} {{msg}} {{elapsed}}");
        Self::new(Some(length), &template)
    }

    /// Work of unknown length.
    pub fn long(what: &str) -> Self {
        Self::new(None, &format!("{{spinner}} {what} {{msg}} {{elapsed}}"))
    }

    /// So many are done.
    pub fn reach(&self, position: u64) {
        self.0.set_position(position);
    }

    /// Says what is being done now.
    pub fn say(&self, what: &str) {
        self.0
            .set_message(kernel::string_helpers::escape(what).into_owned());
    }

    /// An attendant that shows the progress of a replay on a terminal.
    pub fn attendant(self: &Arc<Self>, show: Show) -> Option<Arc<dyn Attendant>> {
        if self.0.is_hidden() {
            return None;
        }
        Some(Arc::new(Watch {
            progress: Arc::clone(self),
            show,
            submissions: AtomicU64::new(0),
        }))
    }
}

/// The part of a replay whose progress is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// How many submissions are done.
    Submissions,
    /// How many threads have been started, as the bar's position.
    Threads,
    /// What is being run, beside a bar of another's.
    Message,
}

struct Watch {
    progress: Arc<Progress>,
    show: Show,
    submissions: AtomicU64,
}

impl Attendant for Watch {
    fn placed(&self, placed: &Placed<'_>) -> Rest {
        let before = self.submissions.fetch_add(1, Ordering::Relaxed);
        if self.show == Show::Submissions {
            self.progress.reach(before);
        }
        if self.show != Show::Threads {
            self.progress.say(&placed.exec.name);
        }
        Rest::GoOn
    }

    fn passed(&self, platform: &ModelPlatform) -> Rest {
        let threads = || platform.device().status().activity.threads.iter().sum();
        match self.show {
            Show::Threads => self.progress.reach(threads()),
            Show::Message => {}
            Show::Submissions => {
                self.progress
                    .say(&format!("({} threads)", grouped(threads())));
            }
        }
        Rest::GoOn
    }
}

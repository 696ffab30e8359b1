//! The threads of the host that compute a wave.
//!
//! Each takes the next few threads of the wave until there are no more. Which of them computes which changes nothing.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::available_parallelism;

use eu::Thread;
use eu::straight::Registers;
use jit::Crew;

use super::compute::{Around, Rows};
use super::queue::Portion;
use super::{Draw, Hand};
use crate::intel::shared::aside::Known;
use crate::intel::shared::context::ThreadPixels;

/// What the threads cost that a worker takes at once, as ticks, about.
const PORTION: u64 = 1 << 14;
/// The same of a wave from which on it is worth to wake others.
const WORTH: u64 = 1 << 15;
/// What it costs to fill a thread's registers and to make its pixels ready, as ticks, about.
const BESIDE: u64 = 128;
/// Workers at most.
const LIMIT: usize = 16;

/// All devices of a process share them: the others beside the one that asks.
static CREW: OnceLock<Crew> = OnceLock::new();

/// How many there are to be.
static CHOSEN: OnceLock<usize> = OnceLock::new();

/// Chooses how many workers devices have that are made from now on, 16 at most; without any, threads run one after another.
/// The first choice stands: `false` for a later one.
pub fn choose(count: usize) -> bool {
    CHOSEN.set(count).is_ok()
}

/// Workers of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workers(usize);

impl Workers {
    /// So many.
    pub(super) fn new(count: usize) -> Workers {
        Workers(count.min(LIMIT))
    }

    /// Whether there are any.
    #[inline]
    pub(super) fn any(self) -> bool {
        self.0 > 0
    }

    /// As many as were chosen, or as the host has processors.
    pub(super) fn chosen() -> Workers {
        let count = CHOSEN.get_or_init(|| available_parallelism().map_or(1, Into::into));
        Workers::new(*count)
    }

    /// What a thread costs at most, as ticks, about.
    pub(super) fn cost(draw: &Draw) -> u64 {
        draw.longest().saturating_add(BESIDE)
    }

    /// Threads that one takes at once.
    pub(super) fn portion(draw: &Draw) -> usize {
        // CAST: at most the ticks of a portion.
        (PORTION / Workers::cost(draw)).max(1) as usize
    }

    /// Computes the threads of a wave, which cost so many ticks about.
    pub(super) fn run(
        self,
        around: &Around<'_>,
        (portions, ticks): (Vec<Portion<'_>>, u64),
        hands: &mut Vec<Hand>,
    ) {
        let Workers(count) = self;
        hands.resize_with(count, || Hand {
            thread: Thread::of(around.isa),
            registers: Registers::default(),
            pixels: ThreadPixels::default(),
            rows: Rows::default(),
        });
        for hand in hands.iter_mut() {
            hand.rows.forget();
        }
        let Some((first, others)) = hands.split_first_mut() else {
            return;
        };
        let worth = ticks >= WORTH && portions.len() > 1;
        let crew = if others.is_empty() || !worth {
            None
        } else {
            crew()
        };
        let Some(crew) = crew else {
            let mut known = Known::default();
            for portion in portions {
                around.portion(portion, (first, &mut known));
            }
            return;
        };
        let helpers = others.len();
        let hands: Vec<_> = hands.iter_mut().map(Mutex::new).collect();
        let portions = Mutex::new(portions.into_iter());
        crew.run(helpers, &|number| {
            let hand = hands.get(number).map(Mutex::try_lock);
            let Some(Ok(mut hand)) = hand else {
                return;
            };
            let mut known = Known::default();
            loop {
                let mut portions = portions.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(portion) = portions.next() else {
                    return;
                };
                drop(portions);
                around.portion(portion, (&mut **hand, &mut known));
            }
        });
    }
}

/// The others. `None` where the host gives no threads.
fn crew() -> Option<&'static Crew> {
    let crew = CREW.get_or_init(|| {
        let cores = available_parallelism().map_or(1, usize::from);
        Crew::new(cores.clamp(2, LIMIT) - 1, "crestline-eu")
    });
    (crew.helpers() > 0).then_some(crew)
}

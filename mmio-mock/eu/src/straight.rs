//! Kernels without branches: stretches and messages in a row.
//!
//! All that such a kernel computes is compiled, and it takes as many instructions whatever its thread begins with. So it needs
//! no thread to run: registers, flags and the channels that execute are enough. Kernels with more to them are the run loop's.

use crate::cache::KernelCache;
use crate::decoded::Decoded;
use crate::exposed::{self, Exposed, FULL};
use crate::grf::{GRF_COUNT, RegFile};
use crate::port::{Grf, Port, ThreadId};
use crate::reach::{self, Reach};
use crate::run::RunStats;
use crate::sent::{Sent, sent};
use crate::stretch::{Accumulator, Channels, Compiled, Operation, Step};
use crate::warm::{self, Begin};
use std::sync::Arc;

/// Messages and stretches of a kernel at most.
const PARTS: usize = 256;
/// Kernels that are kept.
const KEPT: usize = 32;

/// A kernel that ends without having branched.
#[derive(Debug)]
pub struct Straight {
    parts: Vec<Passage>,
    stats: RunStats,
    /// What it may write.
    reach: Reach,
    /// Pairs of registers that it may read before it has written all of them: when the channels of each of [`FULL`] execute.
    exposed: [u128; 3],
}

/// What runs as one.
#[derive(Debug)]
enum Passage {
    Stretch(Arc<dyn Compiled>, usize),
    Send(Box<Sent>),
}

/// Registers for threads that run one after another.
#[derive(Debug)]
pub struct Registers {
    file: RegFile,
    /// Those that may be other than zero.
    touched: Reach,
    /// What a stretch reads of it, the stretch has written.
    accumulator: Accumulator,
}

impl Default for Registers {
    fn default() -> Self {
        Registers {
            file: RegFile::new(),
            touched: Reach::default(),
            accumulator: Accumulator::new(),
        }
    }
}

impl Registers {
    /// Clears pairs of registers of which a bit is set, where a thread before may have written them; those before `end` come back, to be
    /// loaded.
    #[inline]
    pub(crate) fn load(&mut self, end: usize, seen: u128) -> &mut [Grf] {
        let end = end.min(GRF_COUNT);
        self.file.clear(self.touched.pairs & seen);
        self.touched.pairs &= !seen;
        self.touched = self.touched.and(Reach::general(end));
        // PANIC: at most as many as there are.
        &mut self.file.grf_mut()[..end]
    }

    /// Registers and accumulators for a kernel that may write these.
    #[inline]
    pub(crate) fn written(&mut self, reach: Reach) -> (&mut RegFile, &mut Accumulator) {
        self.touched = self.touched.and(reach);
        (&mut self.file, &mut self.accumulator)
    }
}

impl Registers {
    /// The general registers, where a thread has left them.
    #[must_use]
    pub fn general(&self) -> &[Grf] {
        self.file.grf()
    }
}

/// Who runs: what a thread is besides its registers.
#[derive(Clone, Copy, Debug)]
pub struct Runner {
    /// Identity.
    pub id: ThreadId,
    /// One bit a channel.
    pub dispatch_mask: u32,
}

/// Why a thread did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken<F> {
    /// A message could not be served.
    Fault(F),
    /// The run loop has to look at it.
    Other,
    /// Its budget is used up.
    Time,
}

impl Straight {
    /// What every thread of the kernel executes.
    #[inline]
    #[must_use]
    pub const fn stats(&self) -> &RunStats {
        &self.stats
    }

    /// The registers as a new thread finds them, as far as the kernel can tell, those before `end` to load the payload into.
    #[inline]
    pub fn load<'a>(&self, registers: &'a mut Registers, end: usize, mask: u32) -> &'a mut [Grf] {
        registers.load(end, exposed::seen(self.exposed, mask))
    }

    /// Runs a thread whose payload is loaded to its end. Nothing but registers and what the port does has changed when it does not
    /// come there.
    #[inline]
    pub fn run<P: Port>(
        &self,
        registers: &mut Registers,
        runner: &Runner,
        port: &mut P,
    ) -> Result<(), Broken<P::Fault>> {
        let (file, accumulator) = registers.written(self.reach);
        let mut channels = Channels {
            enabled: runner.dispatch_mask,
            flags: [0; 4],
            accumulator,
        };
        for part in &self.parts {
            match part {
                Passage::Stretch(kernel, number) => {
                    if kernel.run(*number, file.all_mut(), &mut channels) != 0 {
                        return Err(Broken::Other);
                    }
                }
                Passage::Send(sent) => {
                    let channels = (runner.dispatch_mask, channels.flags);
                    sent.deliver(file, channels, runner.id, port)?;
                }
            }
        }
        Ok(())
    }
}

impl KernelCache {
    /// The kernel at `ip` for threads of so many channels, when it has no branches and all of it but messages is compiled.
    #[inline]
    #[must_use]
    pub fn straight(&self, ip: u32) -> Option<&Straight> {
        let kernels = &self.warm.straight;
        let kernel = kernels.iter().find(|(at, _)| *at == ip)?;
        Some(&kernel.1)
    }

    /// Keeps the kernel at `ip`, of which stretches have been compiled that begin at these slots of its page, if it is one without
    /// branches.
    pub(crate) fn keep_straight(
        &mut self,
        (page, ip): (usize, u32),
        (kernel, stretches): (&Arc<dyn Compiled>, &[Vec<Step>]),
        begins: &[(usize, Begin)],
    ) {
        if self.warm.checked || self.straight(ip).is_some() || self.warm.straight.len() >= KEPT {
            return;
        }
        let bits = self.instructions().rules.place;
        let slots = self.slots(page);
        let first = KernelCache::slot_index(ip, bits);
        let end = warm::end_of(slots, first, bits);
        let mut at = first;
        let mut begins = begins.iter().peekable();
        let places = std::iter::from_fn(|| {
            let slot = slots.get(at).filter(|slot| at <= end && !slot.hot.empty)?;
            let begin = begins.next_if(|(begin, _)| *begin == at);
            // CAST: bytes of a page.
            let ip = ip.wrapping_add(((at - first) << bits) as u32);
            at += warm::length(&slot.hot, bits);
            Some(Place {
                hot: &slot.hot,
                ip,
                begins: begin.map(|(_, begin)| usize::from(begin.stretch)),
            })
        });
        if let Some(straight) = of(kernel, stretches, places) {
            self.warm.straight.push((ip, straight));
        }
    }
}

/// An instruction of a kernel.
pub(crate) struct Place<'a> {
    pub(crate) hot: &'a Decoded,
    pub(crate) ip: u32,
    /// Number of the stretch that begins here.
    pub(crate) begins: Option<usize>,
}

/// Puts a kernel together of its stretches and of what lies between them; `None` when that is more than messages.
pub(crate) fn of<'a>(
    kernel: &Arc<dyn Compiled>,
    stretches: &[Vec<Step>],
    places: impl IntoIterator<Item = Place<'a>>,
) -> Option<Straight> {
    let mut parts = Vec::new();
    let mut stats = RunStats::default();
    let mut reach = Reach::default();
    // Instructions of the present stretch that are still to come.
    let mut left = 0;
    let mut ended = false;
    for place in places {
        if ended || parts.len() >= PARTS {
            return None;
        }
        let hot = place.hot;
        stats.instructions += 1;
        stats.simd8 += u64::from(hot.weight);
        reach = reach.and(reach::of(hot));
        if left > 0 {
            left -= 1;
        } else if let Some(number) = place.begins {
            let steps = stretches.get(number)?;
            if steps.iter().any(|step| step.operation == Operation::Leave) {
                return None;
            }
            left = steps.len().checked_sub(1)?;
            stats.compiled += steps.len() as u64;
            parts.push(Passage::Stretch(kernel.clone(), number));
        } else {
            let messages = sent(hot, place.ip)?;
            if !messages.iter().all(Sent::is_plain) {
                return None;
            }
            let sent = messages.into_iter().map(Box::new);
            parts.extend(sent.map(Passage::Send));
            stats.sends += 1;
            ended = hot.send.eot;
        }
    }
    let exposed = FULL.map(|full| exposed(&parts, stretches, full));
    (ended && left == 0).then_some(Straight {
        parts,
        stats,
        reach,
        exposed,
    })
}

/// The pairs of registers that are read before all of them is written, when these channels execute.
fn exposed(parts: &[Passage], stretches: &[Vec<Step>], full: u32) -> u128 {
    let mut exposed = Exposed::new(full);
    for part in parts {
        match part {
            Passage::Stretch(_, number) => {
                let steps = stretches.get(*number).into_iter().flatten();
                steps.for_each(|step| exposed.step(step));
            }
            Passage::Send(sent) => exposed.send(sent),
        }
    }
    exposed.pairs
}

//! What is known of a draw's threads: their ticks, and the surfaces they may use.
//!
//! Threads of a wave read before those in front of them have written. That is the same as one after another when no page that
//! they read is one that they write: a surface is looked at once a draw, when a thread first wants it.

use std::sync::Arc;

use mem::{Access, GpuAddr};

use super::super::{ConstantSource, Pushed, ThreadRequest};
use crate::intel::machine::Machine;
use crate::intel::shared::aside::{Admitted, Cannot, Purpose};
use crate::intel::shared::context::ThreadContext;
use crate::intel::surface::{DepthBuffer, Range, Surface};

/// Threads of a wave at most.
const MOST: usize = 256;
/// The same where their ticks are known.
const MOST_EXACT: usize = 1 << 12;
/// Threads of a draw that run in the usual way before others wait.
const FIRST: u32 = 16;
/// Threads of a draw that had to run again before no more wait.
const REFUSED: u32 = 8;
/// The same of threads that took longer than those before them, or went another way.
const OTHERS: u32 = 256;
/// Surfaces of a draw that are looked at, at most.
const SURFACES: usize = 32;
/// Kernels of a draw: for 8, 16 and 32 pixels.
const KERNELS: usize = 3;
/// Pages of a surface at most: 64 MiB.
const PAGES: usize = 1 << 14;

/// What each thread of a kernel without branches takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    /// The kernel.
    pub(super) kernel: u32,
    /// Ticks of the thread, from its start to its end.
    pub(super) ticks: u64,
    /// Its pixels go straight into their target: threads of lit pixels may be runs.
    pub(super) whole: bool,
}

/// What is known of a draw's threads.
#[derive(Debug, Default)]
pub struct Draw {
    /// Threads that ran to their end.
    threads: u32,
    /// Ticks of the longest.
    longest: u64,
    /// Threads that had to run again, without a surface that could be looked at.
    refused: u32,
    /// Threads that had to run again because they took longer than those before them, or went another way.
    others: u32,
    /// One of them was computed aside, since all surfaces that it wanted have been looked at.
    proven: bool,
    /// Registers that the fixed function fills for threads of plain primitives, by their kernels.
    registers: Vec<(u32, usize)>,
    /// What each thread of a plain primitive takes, by their kernels.
    exact: Vec<Exact>,
    admitted: Admitted,
    /// Pages that threads read, those that they write, and those of the depth buffer, which is tested and written before they
    /// start; each in order.
    read: Vec<usize>,
    written: Arc<Vec<usize>>,
    depth: Vec<usize>,
    /// What threads of the draw may use in any case has been looked at.
    begun: bool,
    /// A part of a surface that they use is not there, so that a thread may meet a fault.
    faults: bool,
    /// A page of a target has several addresses.
    aliased: bool,
    /// What threads write depends on what their target holds.
    mixes: bool,
}

impl Draw {
    /// Another draw begins.
    pub fn begin(&mut self) {
        self.threads = 0;
        self.longest = 0;
        self.refused = 0;
        self.others = 0;
        self.proven = false;
        self.begun = false;
        self.faults = false;
        self.aliased = false;
        self.mixes = false;
        self.registers.clear();
        self.exact.clear();
        self.admitted.clear();
        self.read.clear();
        self.written = Arc::default();
        self.depth.clear();
    }

    /// The fixed function has filled so many registers for a thread of a plain primitive.
    #[inline]
    pub fn learn(&mut self, kernel: u32, registers: usize) {
        if self.registers(kernel).is_none() && self.registers.len() < KERNELS {
            self.registers.push((kernel, registers));
        }
    }

    /// How many registers that were the first time.
    #[inline]
    pub fn registers(&self, kernel: u32) -> Option<usize> {
        let mut known = self.registers.iter();
        known.find(|(ip, _)| *ip == kernel).map(|known| known.1)
    }

    /// A thread ran to its end.
    #[inline]
    pub fn ran(&mut self, ticks: u64) {
        self.threads = self.threads.saturating_add(1);
        self.longest = self.longest.max(ticks);
    }

    /// A thread was computed aside, and has ended.
    #[inline]
    pub(super) fn ran_aside(&mut self, ticks: u64) {
        self.longest = self.longest.max(ticks);
        self.proven = true;
    }

    /// Threads of a wave at most: none until enough is known, and one until one has shown that all can be computed aside. `exact`: the
    /// ticks of each are known.
    #[inline]
    pub(super) fn most(&self, exact: bool) -> usize {
        match (self.threads >= FIRST && self.refused < REFUSED, self.proven) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) if exact => MOST_EXACT,
            (true, true) => MOST,
        }
    }

    /// What is known of each thread of a kernel.
    #[inline]
    pub(super) fn exact(&self, kernel: u32) -> Option<Exact> {
        let mut known = self.exact.iter();
        known.find(|known| known.kernel == kernel).copied()
    }

    /// Whether threads of a kernel whose pixels are all lit may be runs.
    #[inline]
    pub(super) fn takes_runs(&self, kernel: u32) -> bool {
        let whole = self.exact(kernel).is_some_and(|exact| exact.whole);
        whole && self.refused < REFUSED
    }

    /// A thread that waited as a record has shown what each of its kernel takes.
    #[inline]
    pub(super) fn learn_exact(&mut self, exact: Exact) {
        let mut known = self.exact.iter_mut();
        if let Some(known) = known.find(|known| known.kernel == exact.kernel) {
            known.whole |= exact.whole;
        } else if self.exact.len() < KERNELS {
            self.exact.push(exact);
        }
    }

    /// Ticks that a thread takes at most, if it is like those before it.
    #[inline]
    pub(super) fn longest(&self) -> u64 {
        self.longest + self.longest / 4
    }

    /// Pages that its threads write, when these may wait while the stages above the windower go on: no thread meets a fault, and all
    /// that they use is known.
    pub fn keeps(&self) -> Option<&Arc<Vec<usize>>> {
        let keeps = self.proven && self.refused == 0 && !self.faults && !self.mixes;
        keeps.then_some(&self.written)
    }

    /// Whether a thread may meet a fault.
    #[inline]
    pub(super) fn faults(&self) -> bool {
        self.faults
    }

    /// What a thread writes depends on what its target holds.
    #[inline]
    pub(super) fn mixes(&mut self) {
        self.mixes = true;
    }

    /// Whether threads of one primitive, which has a pixel once, may read their target before those in front of them have ended: no two
    /// pixels lie in one place.
    #[inline]
    pub(super) fn reads_early(&self) -> bool {
        let alone = self.admitted.of(Purpose::Write).len() == 1;
        self.mixes && alone && !self.aliased
    }

    pub(super) fn admitted(&self) -> &Admitted {
        &self.admitted
    }

    /// No more threads of the draw wait.
    #[cold]
    pub(super) fn give_up(&mut self) {
        log::debug!("no more pixel threads of the draw are computed with others");
        self.refused = REFUSED;
    }

    /// A thread could not be computed. When it was for a surface, that is looked at.
    #[cold]
    pub(super) fn refused(
        &mut self,
        why: Cannot,
        common: &ThreadRequest<'_>,
        machine: &Machine<'_>,
    ) {
        log::debug!("a pixel thread is not computed with others: {why:?}");
        match why {
            Cannot::Message => self.refused = self.refused.saturating_add(1),
            Cannot::Time | Cannot::New => {
                self.others = self.others.saturating_add(1);
                if self.others >= OTHERS {
                    self.refused = REFUSED;
                }
            }
            Cannot::Surface(at, purpose) => {
                // No wave of this draw can do without it.
                if !self.admit(at, purpose, common, machine) {
                    self.refused = REFUSED;
                }
            }
        }
    }

    /// Looks at a surface; whether waves may use it.
    fn admit(
        &mut self,
        at: GpuAddr,
        purpose: Purpose,
        common: &ThreadRequest<'_>,
        machine: &Machine<'_>,
    ) -> bool {
        if !self.begun && !self.begin_surfaces(common, machine) {
            return false;
        }
        let (sampler, port) = (&machine.shared.sampler, &machine.shared.dataport);
        let range = match purpose {
            Purpose::Sample => sampler.range(at),
            Purpose::Read => port.kept_view(at).map(|view| view.range()),
            Purpose::Write => port.kept(at).map(Surface::range),
        };
        let more = self.admitted.of(purpose).len() < SURFACES;
        let Some(range) = range.filter(|_| more) else {
            return false;
        };
        let Some(pages) = pages(&[range], machine) else {
            return false;
        };
        let access = match purpose {
            Purpose::Sample | Purpose::Read => Access::Read,
            Purpose::Write => Access::Write,
        };
        self.faults |= !range.is_there(machine.mem, access);
        let (these, others) = match purpose {
            Purpose::Sample | Purpose::Read => (&mut self.read, &*self.written),
            Purpose::Write => (Arc::make_mut(&mut self.written), &self.read),
        };
        if meet(&pages, others) || meet(&pages, &self.depth) {
            return false;
        }
        let all = these.len() + pages.len();
        these.extend(pages);
        in_order(these);
        self.aliased |= purpose == Purpose::Write && these.len() < all;
        self.admitted.add(at, purpose);
        true
    }

    /// Looks at what threads read besides surfaces, and at the depth buffer; whether they are apart.
    fn begin_surfaces(&mut self, common: &ThreadRequest<'_>, machine: &Machine<'_>) -> bool {
        self.begun = true;
        let depth = machine.shared.pixel.depth_buffer.as_ref();
        let depth = depth.map(DepthBuffer::ranges).unwrap_or_default();
        let pushed = match &common.constants {
            Some(ConstantSource::Memory(pushed)) => Some(pushed),
            _ => None,
        };
        let read = pages(&always(&common.context, pushed), machine);
        let (Some(read), Some(depth)) = (read, pages(&depth, machine)) else {
            self.refused = REFUSED;
            return false;
        };
        (self.read, self.depth) = (read, depth);
        in_order(&mut self.read);
        in_order(&mut self.depth);
        !meet(&self.read, &self.depth)
    }
}

/// The pages of ranges; `None` when these are too many to look at.
pub fn pages(ranges: &[Range], machine: &Machine<'_>) -> Option<Vec<usize>> {
    let mut pages = Vec::new();
    let mut ranges = ranges.iter();
    let all = ranges.all(|range| range.pages(machine.mem, PAGES, &mut pages));
    all.then_some(pages)
}

/// Puts pages into their order.
fn in_order(pages: &mut Vec<usize>) {
    pages.sort_unstable();
    pages.dedup();
}

/// Whether one of the pages is among others, which are in order.
fn meet(pages: &[usize], others: &[usize]) -> bool {
    let other = |page| others.binary_search(page).is_ok();
    pages.iter().any(other)
}

/// What the threads of a draw read besides the surfaces that they sample: constants and the binding table.
pub fn always(context: &ThreadContext, pushed: Option<&Pushed>) -> Vec<Range> {
    /// Bytes of the longest binding table.
    const TABLE: u64 = 256 * 4;
    let table = GpuAddr::from(context.bases.surface_state_base);
    let mut ranges = vec![Range {
        base: table.offset(context.binding_table_pointer),
        bytes: TABLE,
    }];
    if let Some(pushed) = pushed {
        ranges.extend(pushed.ranges());
    }
    ranges
}

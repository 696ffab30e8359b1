//! The threads of a wave in their order, single ones and runs.

use eu::Grf;

use super::Common;
use super::compute::Computed;
use super::record::{Primitive, Record};
use super::run::{Piece, Run};
use crate::intel::cc::Origins;
use crate::intel::cc::whole::Whole;
use crate::intel::shared::context::ThreadPixels;
use crate::intel::shared::dataport::made::Lit;
use crate::intel::td::{Subject, ThreadRequest, VertexData};

/// Registers that a fixed function fills, at most.
const REGISTERS: usize = 64;

/// A thread that waits for the others of its wave.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// What it is; of one that is no record, primitive, kernel and snapshot flag alone.
    pub(super) record: Record,
    /// Its number, modulo 256.
    pub(super) number: u8,
    /// What it begins with is here, in place of a record.
    pub(super) whole: bool,
    pub(super) dispatch_mask: u32,
    pub(super) header: Vec<Grf>,
    pub(super) pixels: ThreadPixels,
    /// Its render target writes need no header: `pixels` is its.
    pub(super) headerless: bool,
    /// Ticks that have been charged for it already.
    pub(super) charged: Option<u64>,
}

impl Waiting {
    fn new() -> Waiting {
        Waiting {
            record: Record::default(),
            number: 0,
            whole: false,
            dispatch_mask: 0,
            header: Vec::new(),
            pixels: ThreadPixels::default(),
            headerless: false,
            charged: None,
        }
    }

    /// Its pixels, when they are known before it runs.
    #[inline]
    pub(super) fn lit(&self) -> Option<Lit> {
        let record = &self.record;
        let mut origins = Origins::default();
        for (to, from) in origins.iter_mut().zip(&record.origins) {
            *to = *from;
        }
        (!self.whole && record.width <= 16).then_some(Lit {
            origins,
            // CAST: sixteen pixels.
            mask: record.mask as u16,
        })
    }

    /// Registers that the fixed function fills.
    #[inline]
    pub(super) fn filled(&self) -> usize {
        if self.whole {
            self.header.len()
        } else {
            self.record.registers.into()
        }
    }
}

/// What the first thread of a wave begins with, when it has to run in the usual way.
#[derive(Debug)]
struct First {
    registers: [Grf; REGISTERS],
    pixels: ThreadPixels,
}

/// Threads of a run that are computed at once.
const PIECE: u32 = 64;

/// What a thread of the host computes at once.
pub(super) enum Portion<'a> {
    /// Single threads.
    Threads(&'a [Waiting], &'a mut [Computed]),
    /// Some of a run.
    Run(&'a Run, &'a mut Piece, &'a mut [Whole]),
}

/// Threads that follow one another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Group {
    /// Single ones: the first, and how many.
    Threads(usize, usize),
    /// A run.
    Run(usize),
}

/// Threads in their order, the first of which is the next to end.
#[derive(Debug, Default)]
pub struct Queue {
    /// Kept for their allocations; the first ones wait, or have waited.
    pub(super) threads: Vec<Waiting>,
    waiting: usize,
    pub(super) runs: Vec<Run>,
    /// All of them in their order.
    pub(super) order: Vec<Group>,
    /// The first group with a thread that waits, and how many threads of it do not.
    at: usize,
    ended: usize,
    /// Threads that wait, and those of them that have not been charged.
    left: usize,
    owing: usize,
    /// What has been computed of each single thread, of pieces of runs, and the pixels of these.
    pub(super) computed: Vec<Computed>,
    pub(super) pieces: Vec<Piece>,
    pub(super) pixels: Vec<Whole>,
    first: Option<Box<First>>,
}

impl Queue {
    /// Whether no thread waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// How many threads wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.left
    }

    /// How many of them have not been charged.
    #[inline]
    pub fn owing(&self) -> usize {
        self.owing
    }

    /// The next one that waits.
    #[inline]
    fn more(&mut self, charged: Option<u64>) -> &mut Waiting {
        if self.threads.len() == self.waiting {
            self.threads.push(Waiting::new());
        }
        match self.order.last_mut() {
            Some(Group::Threads(_, count)) => *count += 1,
            _ => self.order.push(Group::Threads(self.waiting, 1)),
        }
        self.waiting += 1;
        self.left += 1;
        self.owing += usize::from(charged.is_none());
        // PANIC: there is one more.
        let waiting = &mut self.threads[self.waiting - 1];
        waiting.charged = charged;
        waiting
    }

    /// Lets a thread of a primitive wait, which has a number.
    #[inline]
    pub fn push(&mut self, request: &ThreadRequest<'_>, (primitive, number): (u32, u8)) {
        let to = self.more(None);
        to.number = number;
        to.record.primitive = primitive;
        to.record.kernel = request.kernel;
        to.record.snapshot = request.snapshot;
        to.whole = true;
        to.dispatch_mask = request.dispatch_mask;
        to.header.clear();
        to.header.extend_from_slice(request.header);
        to.headerless = request.pixels.is_some();
        if let Some(pixels) = request.pixels {
            to.pixels.assign(pixels);
        }
    }

    /// Lets a thread wait for which the fixed function will fill so many registers. `charged`: its ticks, if they are known and have
    /// been charged.
    #[inline]
    pub fn push_record(
        &mut self,
        record: &Record,
        registers: usize,
        (number, charged): (u8, Option<u64>),
    ) {
        let to = self.more(charged);
        to.number = number;
        to.record = *record;
        // CAST: fewer than there are.
        to.record.registers = registers as u8;
        to.whole = false;
        to.dispatch_mask = record.dispatch_mask();
    }

    /// Lets a run of threads wait that have been charged.
    #[inline]
    pub fn push_run(&mut self, run: Run) {
        self.left += run.threads as usize;
        self.order.push(Group::Run(self.runs.len()));
        self.runs.push(run);
    }

    /// The run that was let wait last, if nothing came after it.
    #[inline]
    pub fn last_run(&mut self) -> Option<&mut Run> {
        match self.order.last() {
            Some(Group::Run(_)) => self.runs.last_mut(),
            _ => None,
        }
    }

    /// The last run has got one more thread.
    #[inline]
    pub fn extended(&mut self) {
        self.left += 1;
    }

    /// The first group with a thread that waits, and how many of it do not.
    #[inline]
    pub(super) fn group(&self) -> Option<(Group, usize)> {
        let group = self.order.get(self.at)?;
        Some((*group, self.ended))
    }

    /// Whether the pixels of a single thread that was computed are ready.
    #[inline]
    pub(super) fn is_ready(&self, number: usize) -> bool {
        let computed = self.computed.get(number);
        computed.is_some_and(|computed| computed.ending.is_ready())
    }

    /// Whether those of any thread are.
    pub(super) fn has_ready(&self) -> bool {
        !self.pieces.is_empty() || (0..self.threads.len()).any(|number| self.is_ready(number))
    }

    /// Whether all threads that wait are of one primitive.
    pub(super) fn is_of_one_primitive(&self) -> bool {
        let primitive = |group: &Group, last: bool| match *group {
            Group::Threads(first, count) => {
                let at = if last { first + count - 1 } else { first };
                self.threads.get(at).map(|thread| thread.record.primitive)
            }
            Group::Run(run) => self.runs.get(run).map(|run| run.primitive),
        };
        let waiting = self.order.get(self.at..).unwrap_or_default();
        match (waiting.first(), waiting.last()) {
            // Primitives follow one another.
            (Some(first), Some(last)) => primitive(first, false) == primitive(last, true),
            _ => true,
        }
    }

    /// What there is to compute, in portions of so many threads, one of a run being less work than a single one.
    pub(super) fn portions(&mut self, several: usize) -> Vec<Portion<'_>> {
        self.cut();
        let Queue {
            threads,
            runs,
            order,
            at,
            ended,
            computed,
            pieces,
            pixels,
            ..
        } = self;
        if computed.len() < threads.len() {
            computed.resize_with(threads.len(), Computed::default);
        }
        let mut portions = Vec::with_capacity(pieces.len() + order.len());
        let mut ended = *ended;
        let (mut computed, mut begun) = (&mut computed[..], 0);
        let mut pixels = &mut pixels[..];
        let mut pieces = pieces.iter_mut().peekable();
        for group in order.iter().skip(*at) {
            match *group {
                Group::Threads(first, count) => {
                    let (first, count) = (first + ended, count - ended);
                    let (_, behind) = computed.split_at_mut(first - begun);
                    let (these, behind) = behind.split_at_mut(count);
                    (computed, begun) = (behind, first + count);
                    // PANIC: a group's threads are among those that wait.
                    let threads = threads[first..first + count].chunks(several);
                    for (threads, computed) in threads.zip(these.chunks_mut(several)) {
                        portions.push(Portion::Threads(threads, computed));
                    }
                }
                Group::Run(at) => {
                    while let Some(piece) = pieces.next_if(|piece| piece.run == at) {
                        let count = piece.count as usize;
                        let (these, behind) = std::mem::take(&mut pixels).split_at_mut(count);
                        pixels = behind;
                        // PANIC: pieces are of runs that there are.
                        portions.push(Portion::Run(&runs[at], piece, these));
                    }
                }
            }
            ended = 0;
        }
        portions
    }

    /// Cuts runs into pieces, and makes room for their pixels.
    fn cut(&mut self) {
        self.pieces.clear();
        let (mut total, mut ended) = (0, self.ended);
        for group in self.order.iter().skip(self.at) {
            if let Group::Run(number) = *group {
                // CAST: fewer than the threads of a run.
                let mut first = ended as u32;
                // PANIC: groups name runs that there are.
                let threads = self.runs[number].threads;
                while first < threads {
                    let count = PIECE.min(threads - first);
                    self.pieces.push(Piece::new(number, first, count));
                    first += count;
                    total += count as usize;
                }
            }
            ended = 0;
        }
        if self.pixels.len() < total {
            self.pixels.resize(total, [0; 16]);
        }
    }

    fn threads_of(&self, group: Group) -> usize {
        match group {
            Group::Threads(_, count) => count,
            // PANIC: groups name runs that there are.
            Group::Run(run) => self.runs[run].threads as usize,
        }
    }

    /// The last run, whose last thread is one of so many that were taken at once, has all of these; none: not even that one.
    #[inline]
    pub fn extend_by(&mut self, taken: u32) {
        let Some(run) = self.last_run() else {
            return;
        };
        run.threads = run.threads + taken - 1;
        let empty = run.threads == 0;
        self.left = self.left + taken as usize - 1;
        if empty {
            self.runs.pop();
            self.order.pop();
        }
    }

    /// What was charged for threads that wait; they are charged when they end.
    pub(super) fn take_charges(&mut self) -> u64 {
        let mut charges = 0;
        let mut ended = self.ended;
        for group in self.order.iter().skip(self.at) {
            match *group {
                Group::Threads(first, count) => {
                    let waiting = self.threads.iter_mut().skip(first + ended);
                    for thread in waiting.take(count - ended) {
                        charges += thread.charged.take().unwrap_or(0);
                    }
                }
                Group::Run(run) => {
                    let run = self.runs.get_mut(run).filter(|run| run.charged);
                    if let Some(run) = run {
                        run.charged = false;
                        let left = u64::from(run.threads).saturating_sub(ended as u64);
                        charges += run.ticks * left;
                    }
                }
            }
            ended = 0;
        }
        self.owing = self.left;
        charges
    }

    /// Numbers the threads that wait anew, from a number on.
    pub fn renumber(&mut self, first: u8) {
        let mut number = first;
        let mut ended = self.ended;
        for group in self.order.iter().skip(self.at) {
            match *group {
                Group::Threads(first, count) => {
                    let waiting = self.threads.iter_mut().skip(first + ended);
                    for thread in waiting.take(count - ended) {
                        thread.number = number;
                        number = number.wrapping_add(1);
                    }
                }
                Group::Run(run) => {
                    if let Some(run) = self.runs.get_mut(run) {
                        // CAST: numbers of threads, modulo 256.
                        run.number = number.wrapping_sub(ended as u8);
                        number = run.number.wrapping_add(run.threads as u8);
                    }
                }
            }
            ended = 0;
        }
    }

    /// The wish for the next thread, and its number; `None` when none waits.
    pub fn first<'a>(&'a mut self, common: &Common<'a>) -> Option<(u8, ThreadRequest<'a>)> {
        let group = *self.order.get(self.at)?;
        let (number, record, single) = match group {
            Group::Threads(first, _) => {
                let waiting = self.threads.get(first + self.ended)?;
                (waiting.number, waiting.record, Some(waiting))
            }
            Group::Run(run) => {
                let run = self.runs.get(run)?;
                // CAST: fewer than the threads of a run.
                let ended = self.ended as u32;
                (run.number_of(ended), run.record(ended), None)
            }
        };
        let Primitive {
            recorded,
            data,
            object,
        } = common.primitives.get(record.primitive)?;
        let request = ThreadRequest {
            kernel: record.kernel,
            dispatch_mask: single.map_or(record.dispatch_mask(), |single| single.dispatch_mask),
            snapshot: record.snapshot,
            data: VertexData::Registers(data),
            subject: Subject::Pixels(object),
            ..*common.request
        };
        if let Some(whole) = single.filter(|single| single.whole) {
            let request = ThreadRequest {
                header: &whole.header,
                pixels: whole.headerless.then_some(&whole.pixels),
                ..request
            };
            return Some((number, request));
        }
        let recorded = recorded?;
        let built = self.first.get_or_insert_with(|| {
            Box::new(First {
                registers: [Grf::default(); REGISTERS],
                pixels: ThreadPixels::default(),
            })
        });
        let count = recorded.fill(&record, &mut built.registers);
        recorded.pixels(&record, &mut built.pixels);
        let request = ThreadRequest {
            // PANIC: no more than there are.
            header: &built.registers[..count.min(REGISTERS)],
            pixels: recorded.headerless().then_some(&built.pixels),
            ..request
        };
        Some((number, request))
    }

    /// The next thread waits no longer.
    #[inline]
    pub fn pop(&mut self) {
        self.pop_many(1);
    }

    /// The next threads wait no longer: all of one group.
    #[inline]
    pub(super) fn pop_many(&mut self, count: usize) {
        let Some(group) = self.order.get(self.at).copied() else {
            return;
        };
        let uncharged = match group {
            Group::Threads(first, _) => {
                let ended = self.threads.iter().skip(first + self.ended).take(count);
                ended.filter(|thread| thread.charged.is_none()).count()
            }
            Group::Run(run) if self.runs.get(run).is_some_and(|run| !run.charged) => count,
            Group::Run(_) => 0,
        };
        self.owing = self.owing.saturating_sub(uncharged);
        self.left = self.left.saturating_sub(count);
        self.ended += count;
        if self.ended >= self.threads_of(group) {
            self.at += 1;
            self.ended = 0;
        }
        if self.left == 0 {
            self.clear();
        }
    }

    /// Forgets all threads.
    pub fn clear(&mut self) {
        self.waiting = 0;
        self.runs.clear();
        self.order.clear();
        self.pieces.clear();
        (self.at, self.ended) = (0, 0);
        (self.left, self.owing) = (0, 0);
    }
}

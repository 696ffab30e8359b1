//! One thread of a wave: what it computes, and what that takes.

use eu::graph::Graph;
use eu::straight::{Broken, Runner, Straight};
use eu::{Grf, InstructionSet, KernelCache, RunStats, Stop, ThreadId, ThreadInit};
use mem::Memory;

use super::super::{DISPATCH_TICKS, ThreadRequest, payload};
use super::queue::{Portion, Waiting};
use super::run::{Piece, Run};
use super::{Draw, Hand, Recorded};
use crate::intel::cc::whole::Whole;
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::aside::{Aside, Cannot, Ending, Known, Served, WholePixels};
use crate::intel::shared::context::ThreadPixels;
use crate::intel::status::Unit;

/// What threads of a wave may look at while they are computed.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) cache: &'a KernelCache,
    pub(super) isa: InstructionSet,
    pub(super) sip: u32,
    /// Number of the thread before the first.
    pub(super) fftid: u8,
    pub(super) mem: &'a Memory,
    /// Constants and data that all of them get; `None` where some cannot be read.
    pub(super) rows: Option<&'a [Grf]>,
    pub(super) shared: &'a SharedFunctions,
    pub(super) draw: &'a Draw,
    pub(super) common: &'a ThreadRequest<'a>,
    /// The primitive of those that are records.
    pub(super) recorded: Option<&'a dyn Recorded>,
}

/// A thread up to its last message.
#[derive(Clone, Debug, Default)]
pub(super) struct Computed {
    pub(super) ending: Ending,
    /// What it took; `None` when it has not been computed.
    pub(super) done: Option<Done>,
    /// Why it has to run in the usual way.
    pub(super) cannot: Option<Cannot>,
}

/// What a thread took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) served: Served,
    pub(super) stats: RunStats,
    /// All that the thread takes, from its start to its end.
    pub(super) ticks: u64,
    /// Its kernel has no branches: every thread of it takes as much.
    pub(super) straight: bool,
}

impl<'a> Around<'a> {
    /// Computes a portion of a wave.
    pub(super) fn portion(&self, portion: Portion<'_>, (hand, known): (&mut Hand, &mut Known<'a>)) {
        match portion {
            Portion::Threads(number, threads, computed) => {
                for (n, one) in threads.iter().zip(computed).enumerate() {
                    self.compute(number + n, one, (hand, known));
                }
            }
            Portion::Run(number, run, piece, pixels) => {
                piece.cannot = self.run(number, run, (piece, pixels), (hand, known)).err();
            }
        }
    }

    /// Computes threads of a run.
    fn run(
        &self,
        number: usize,
        run: &Run,
        (piece, pixels): (&mut Piece, &mut [Whole]),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<(), Cannot> {
        let kernel = self.cache.straight(run.kernel.ip).ok_or(Cannot::New)?;
        let (rows, recorded) = (
            self.rows.ok_or(Cannot::Message)?,
            self.recorded.ok_or(Cannot::Message)?,
        );
        let (filled, start) = (
            usize::from(run.registers),
            usize::from(run.kernel.urb_start),
        );
        let end = filled.max(start + rows.len()).max(1);
        let ticks = begin_ticks(filled, rows) + kernel.stats().instructions;
        let Hand {
            registers: file,
            pixels: own,
            ..
        } = hand;
        let mut kept = None;
        if recorded.headerless() {
            recorded.pixels(&run.record(0), own);
            kept = Some(&*own);
        }
        let mut ending = Ending::default();
        for (n, pixels) in pixels.iter_mut().enumerate() {
            // CAST: fewer than the threads of a run.
            let origins = run.origins(piece.first + n as u32);
            let runner = Runner {
                id: self.id(number + n),
                dispatch_mask: 0xffff,
            };
            let registers = kernel.load(file, end, 0xffff);
            if recorded.fill_whole(run, &origins, registers) != filled {
                return Err(Cannot::Message);
            }
            // Past r127 nothing is loaded.
            for (to, from) in registers.iter_mut().skip(start).zip(rows) {
                *to = *from;
            }
            payload::number(registers, runner.id.fftid);
            let whole = WholePixels {
                origins: &origins,
                target: None,
                pixels,
            };
            let mut port = Aside {
                whole: Some(whole),
                ..self.port(kept, &mut ending, known)
            };
            kernel
                .run(file, &runner, &mut port)
                .map_err(|broken| match broken {
                    Broken::Fault(why) => why,
                    Broken::Other | Broken::Time => Cannot::Message,
                })?;
            let target = port.whole.and_then(|whole| whole.target);
            let first = piece.done == 0;
            if first {
                (piece.each, piece.target) = (port.served, target);
            }
            let same = piece.each == port.served && piece.target == target;
            let none = port.served.lost == Served::default().lost;
            if !(same && none && target.is_some() && ticks + port.owed == run.ticks) {
                return Err(Cannot::Message);
            }
            piece.done += 1;
        }
        Ok(())
    }

    /// Computes the thread of a number in its wave.
    fn compute(
        &self,
        number: usize,
        (waiting, computed): (&Waiting, &mut Computed),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) {
        // It may have been tried before, by a wave that ended early.
        let Computed {
            ending,
            done,
            cannot,
        } = computed;
        (*done, *cannot) = match self.done(number, (waiting, ending), (hand, known)) {
            Ok(done) => (Some(done), None),
            Err(why) => (None, Some(why)),
        };
    }

    fn done(
        &self,
        number: usize,
        (waiting, ending): (&Waiting, &mut Ending),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<Done, Cannot> {
        let kernel = &waiting.record.kernel;
        let straight = self.cache.straight(kernel.ip);
        if let Some(straight) = straight.filter(|_| !kernel.alt_float) {
            let done = self.straight(straight, number, (waiting, ending), (hand, known));
            if let Some(done) = done.transpose() {
                return done;
            }
        }
        let graph = self.cache.graph(kernel.ip);
        let plain = !kernel.alt_float && !kernel.single_program_flow;
        if let Some(graph) = graph.filter(|_| plain) {
            let done = self.graph(graph, number, (waiting, ending), (hand, known));
            if let Some(done) = done.transpose() {
                return done;
            }
        }
        self.decoded(number, (waiting, ending), (hand, known))
    }

    /// What tells a thread from others.
    fn id(&self, number: usize) -> ThreadId {
        ThreadId {
            ffid: Unit::Wiz.ffid(),
            // CAST: the number of the thread, modulo 256.
            fftid: self.fftid.wrapping_add(number as u8).wrapping_add(1),
            eu: 0,
            slot: 0,
        }
    }

    /// Registers that a thread begins with.
    fn filled(&self, waiting: &Waiting) -> usize {
        let recorded = self.recorded.filter(|_| !waiting.whole);
        recorded.map_or(waiting.header.len(), |_| {
            usize::from(waiting.record.registers)
        })
    }

    /// The register behind the last that is filled, constants and data among them.
    fn end(&self, waiting: &Waiting, rows: &[Grf]) -> usize {
        let start = usize::from(waiting.record.kernel.urb_start);
        self.filled(waiting).max(start + rows.len()).max(1)
    }

    /// Fills the registers of a thread. Comes back with what its render target writes find of its pixels.
    fn fill<'p>(
        &self,
        (waiting, rows): (&'p Waiting, &[Grf]),
        registers: &mut [Grf],
        own: &'p mut ThreadPixels,
        fftid: u8,
    ) -> Result<Option<&'p ThreadPixels>, Cannot> {
        let record = &waiting.record;
        let mut pixels = waiting.headerless.then_some(&waiting.pixels);
        if let Some(recorded) = self.recorded.filter(|_| !waiting.whole) {
            if recorded.fill(record, registers) != self.filled(waiting) {
                return Err(Cannot::Message);
            }
            pixels = None;
            if recorded.headerless() {
                recorded.pixels(record, own);
                pixels = Some(own);
            }
        } else {
            for (to, from) in registers.iter_mut().zip(&waiting.header) {
                *to = *from;
            }
        }
        // Past r127 nothing is loaded.
        let start = usize::from(record.kernel.urb_start);
        for (to, from) in registers.iter_mut().skip(start).zip(rows) {
            *to = *from;
        }
        payload::number(registers, fftid);
        Ok(pixels)
    }

    /// The way out of the EU.
    fn port<'p>(
        &self,
        pixels: Option<&'p ThreadPixels>,
        ending: &'p mut Ending,
        known: &'p mut Known<'a>,
    ) -> Aside<'p, 'a>
    where
        'a: 'p,
    {
        ending.is_there = false;
        Aside {
            mem: self.mem,
            shared: self.shared,
            ctx: &self.common.context,
            known,
            admitted: self.draw.admitted(),
            served: Served::default(),
            pixels,
            whole: None,
            ending,
            owed: 0,
        }
    }

    /// A thread whose kernel has no branches; nothing where it has to run by its instructions.
    fn straight(
        &self,
        kernel: &Straight,
        number: usize,
        (waiting, ending): (&Waiting, &mut Ending),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<Option<Done>, Cannot> {
        let Hand {
            registers, pixels, ..
        } = hand;
        let rows = self.rows.ok_or(Cannot::Message)?;
        let runner = Runner {
            id: self.id(number),
            dispatch_mask: waiting.dispatch_mask,
        };
        let end = self.end(waiting, rows);
        let loaded = kernel.load(registers, end, waiting.dispatch_mask);
        let pixels = self.fill((waiting, rows), loaded, pixels, runner.id.fftid)?;
        let mut port = self.port(pixels, ending, known);
        match kernel.run(registers, &runner, &mut port) {
            Ok(()) if port.ending.is_there => Ok(Some(Done {
                served: port.served,
                stats: *kernel.stats(),
                ticks: begin_ticks(self.filled(waiting), rows)
                    + kernel.stats().instructions
                    + port.owed,
                straight: true,
            })),
            Err(Broken::Fault(why)) => Err(why),
            Ok(()) | Err(Broken::Other | Broken::Time) => Ok(None),
        }
    }

    /// A thread whose kernel has branches, all of it compiled; nothing where it has to run by its instructions.
    fn graph(
        &self,
        kernel: &Graph,
        number: usize,
        (waiting, ending): (&Waiting, &mut Ending),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<Option<Done>, Cannot> {
        let Hand {
            registers, pixels, ..
        } = hand;
        let rows = self.rows.ok_or(Cannot::Message)?;
        let runner = Runner {
            id: self.id(number),
            dispatch_mask: waiting.dispatch_mask,
        };
        let end = self.end(waiting, rows);
        let loaded = kernel.load(registers, end, waiting.dispatch_mask);
        let pixels = self.fill((waiting, rows), loaded, pixels, runner.id.fftid)?;
        let mut port = self.port(pixels, ending, known);
        let most = self.draw.longest() * 2;
        let (mut budget, mut stats) = (most, RunStats::default());
        match kernel.run(registers, &runner, &mut port, &mut budget, &mut stats) {
            Ok(()) if port.ending.is_there => Ok(Some(Done {
                served: port.served,
                stats,
                ticks: begin_ticks(self.filled(waiting), rows) + (most - budget) + port.owed,
                straight: false,
            })),
            Err(Broken::Fault(why)) => Err(why),
            Err(Broken::Time) => Err(Cannot::Time),
            Ok(()) | Err(Broken::Other) => Ok(None),
        }
    }

    /// A thread that runs by its instructions.
    fn decoded(
        &self,
        number: usize,
        (waiting, ending): (&Waiting, &mut Ending),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<Done, Cannot> {
        let Hand { thread, pixels, .. } = hand;
        let (record, rows) = (&waiting.record, self.rows.ok_or(Cannot::Message)?);
        let id = self.id(number);
        thread.dispatch(&ThreadInit {
            id,
            ..record.kernel.init(waiting.dispatch_mask, self.sip)
        });
        let loaded = thread.load(self.end(waiting, rows));
        let pixels = self.fill((waiting, rows), loaded, pixels, id.fftid)?;
        let mut port = self.port(pixels, ending, known);
        let most = self.draw.longest() * 2;
        let (mut budget, mut stats) = (most, RunStats::default());
        let stop = thread.run_decoded(self.cache, &mut port, &mut budget, &mut stats);
        match stop {
            Some(Stop::EndOfThread) if port.ending.is_there && !thread.attention_data() => {
                Ok(Done {
                    served: port.served,
                    stats,
                    ticks: begin_ticks(self.filled(waiting), rows) + (most - budget) + port.owed,
                    straight: false,
                })
            }
            Some(Stop::Fault(why)) => Err(why),
            Some(Stop::Budget) => Err(Cannot::Time),
            None => Err(Cannot::New),
            _ => Err(Cannot::Message),
        }
    }
}

/// Ticks of a thread beside its instructions and messages.
fn begin_ticks(filled: usize, rows: &[Grf]) -> u64 {
    DISPATCH_TICKS + (filled + rows.len()) as u64
}

//! One thread of a wave: what it computes, and what that takes.

use eu::graph::Graph;
use eu::straight::{Broken, Runner, Straight};
use eu::{Grf, InstructionSet, KernelCache, RunStats, Stop, ThreadId, ThreadInit};
use mem::Memory;

use super::super::{DISPATCH_TICKS, KernelState, ThreadRequest, payload};
use super::queue::{Portion, Waiting};
use super::run::{Piece, Run};
use super::{Draw, Hand, Primitive, Primitives};
use crate::intel::cc::whole::Whole;
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::aside::{Aside, Cannot, Ending, Known, Served, WholePixels};
use crate::intel::shared::context::ThreadPixels;
use crate::intel::shared::dataport::made::Lit;
use crate::intel::status::Unit;

/// What threads of a wave may look at while they are computed.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) cache: &'a KernelCache,
    pub(super) isa: InstructionSet,
    pub(super) sip: u32,
    pub(super) mem: &'a Memory,
    /// Constants that all of them get; `None` where some cannot be read.
    pub(super) constants: Option<&'a [Grf]>,
    pub(super) shared: &'a SharedFunctions,
    pub(super) draw: &'a Draw,
    /// They may read their target before those in front of them have ended.
    pub(super) early: bool,
    pub(super) common: &'a ThreadRequest<'a>,
    /// Their primitives.
    pub(super) primitives: &'a dyn Primitives,
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
            Portion::Threads(threads, computed) => {
                for one in threads.iter().zip(computed) {
                    self.compute(one, (hand, known));
                }
            }
            Portion::Run(run, piece, pixels) => {
                piece.cannot = self.run(run, (piece, pixels), (hand, known)).err();
            }
        }
    }

    /// Computes threads of a run.
    fn run(
        &self,
        run: &Run,
        (piece, pixels): (&mut Piece, &mut [Whole]),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<(), Cannot> {
        let kernel = self.cache.straight(run.kernel.ip).ok_or(Cannot::New)?;
        let Hand {
            registers: file,
            pixels: own,
            rows,
            ..
        } = hand;
        let begin = self.begin(run.primitive, rows)?;
        let recorded = begin.primitive.recorded.ok_or(Cannot::Message)?;
        let filled = usize::from(run.registers);
        let end = begin.end(filled, &run.kernel);
        let ticks = begin.ticks(filled) + kernel.stats().instructions;
        let mut kept = None;
        if recorded.headerless() {
            recorded.pixels(&run.record(0), own);
            kept = Some(&*own);
        }
        let mut ending = Ending::default();
        for (n, pixels) in pixels.iter_mut().enumerate() {
            // CAST: fewer than the threads of a run.
            let thread = piece.first + n as u32;
            let origins = run.origins(thread);
            let runner = Runner {
                id: id(run.number_of(thread)),
                dispatch_mask: 0xffff,
            };
            let registers = kernel.load(file, end, 0xffff);
            if recorded.fill_whole(run, &origins, registers) != filled {
                return Err(Cannot::Message);
            }
            begin.load(&run.kernel, registers);
            payload::number(registers, runner.id.fftid);
            let lit = Lit {
                origins,
                mask: 0xffff,
            };
            let whole = WholePixels {
                origins: &origins,
                target: None,
                pixels,
            };
            let mut port = Aside {
                whole: Some(whole),
                ..self.port((kept, Some(lit)), &mut ending, known)
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
        (waiting, computed): (&Waiting, &mut Computed),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) {
        // It may have been tried before, by a wave that ended early.
        let Computed {
            ending,
            done,
            cannot,
        } = computed;
        (*done, *cannot) = match self.done((waiting, ending), (hand, known)) {
            Ok(done) => (Some(done), None),
            Err(why) => (None, Some(why)),
        };
    }

    fn done(
        &self,
        (waiting, ending): (&Waiting, &mut Ending),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<Done, Cannot> {
        let kernel = &waiting.record.kernel;
        let straight = self.cache.straight(kernel.ip);
        let graph = self.cache.graph(kernel.ip);
        let plain = !kernel.single_program_flow;
        let kernels = [
            straight.map(Alone::Straight),
            graph.filter(|_| plain).map(Alone::Graph),
        ];
        for alone in kernels.into_iter().flatten().filter(|_| !kernel.alt_float) {
            let done = self.alone(alone, (waiting, ending), (hand, known));
            if let Some(done) = done.transpose() {
                return done;
            }
        }
        self.decoded((waiting, ending), (hand, known))
    }

    /// What all threads of a primitive begin with. `rows`: of the primitive that was asked for before, or of this one then.
    fn begin<'r>(&self, number: u32, rows: &'r mut Rows) -> Result<Begin<'a, 'r>, Cannot>
    where
        'a: 'r,
    {
        let of = self.primitives.get(number);
        let (primitive, constants) = of.zip(self.constants).ok_or(Cannot::Message)?;
        if rows.of != Some(number) {
            rows.of = Some(number);
            rows.rows.clear();
            rows.rows.extend(constants.iter().chain(primitive.data));
        }
        Ok(Begin {
            primitive,
            rows: &rows.rows,
        })
    }

    /// Fills the registers of a thread. Comes back with what its render target writes find of its pixels.
    fn fill<'p>(
        (waiting, begin): (&'p Waiting, &Begin<'_, '_>),
        registers: &mut [Grf],
        own: &'p mut ThreadPixels,
    ) -> Result<Option<&'p ThreadPixels>, Cannot> {
        let record = &waiting.record;
        let mut pixels = waiting.headerless.then_some(&waiting.pixels);
        if waiting.whole {
            for (to, from) in registers.iter_mut().zip(&waiting.header) {
                *to = *from;
            }
        } else {
            let recorded = begin.primitive.recorded.ok_or(Cannot::Message)?;
            if recorded.fill(record, registers) != waiting.filled() {
                return Err(Cannot::Message);
            }
            pixels = None;
            if recorded.headerless() {
                recorded.pixels(record, own);
                pixels = Some(own);
            }
        }
        begin.load(&record.kernel, registers);
        payload::number(registers, waiting.number);
        Ok(pixels)
    }

    /// The way out of the EU.
    fn port<'p>(
        &self,
        (pixels, lit): (Option<&'p ThreadPixels>, Option<Lit>),
        ending: &'p mut Ending,
        known: &'p mut Known<'a>,
    ) -> Aside<'p, 'a>
    where
        'a: 'p,
    {
        ending.begin();
        Aside {
            mem: self.mem,
            shared: self.shared,
            ctx: &self.common.context,
            known,
            admitted: self.draw.admitted(),
            early: lit.filter(|_| self.early),
            several: !self.draw.faults(),
            served: Served::default(),
            pixels,
            whole: None,
            ending,
            owed: 0,
        }
    }

    /// A thread whose kernel runs over registers alone; nothing where it has to run by its instructions.
    fn alone(
        &self,
        kernel: Alone<'_>,
        (waiting, ending): (&Waiting, &mut Ending),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<Option<Done>, Cannot> {
        let Hand {
            registers,
            pixels,
            rows,
            ..
        } = hand;
        let begin = self.begin(waiting.record.primitive, rows)?;
        let mask = waiting.dispatch_mask;
        let runner = Runner {
            id: id(waiting.number),
            dispatch_mask: mask,
        };
        let end = begin.end(waiting.filled(), &waiting.record.kernel);
        let loaded = match kernel {
            Alone::Straight(kernel) => kernel.load(registers, end, mask),
            Alone::Graph(kernel) => kernel.load(registers, end, mask),
        };
        let pixels = Self::fill((waiting, &begin), loaded, pixels)?;
        let mut port = self.port((pixels, waiting.lit()), ending, known);
        let ran = match kernel {
            Alone::Straight(kernel) => {
                let stats = *kernel.stats();
                let ran = kernel.run(registers, &runner, &mut port);
                ran.map(|()| (stats, stats.instructions))
            }
            Alone::Graph(kernel) => {
                let most = self.draw.longest() * 2;
                let (mut budget, mut stats) = (most, RunStats::default());
                let ran = kernel.run(registers, &runner, &mut port, &mut budget, &mut stats);
                ran.map(|()| (stats, most - budget))
            }
        };
        match ran {
            Ok((stats, ticks)) if port.ending.is_there => Ok(Some(Done {
                served: port.served,
                stats,
                ticks: begin.ticks(waiting.filled()) + ticks + port.owed,
                straight: matches!(kernel, Alone::Straight(_)),
            })),
            Err(Broken::Fault(why)) => Err(why),
            Err(Broken::Time) => Err(Cannot::Time),
            Ok(_) | Err(Broken::Other) => Ok(None),
        }
    }

    /// A thread that runs by its instructions.
    fn decoded(
        &self,
        (waiting, ending): (&Waiting, &mut Ending),
        (hand, known): (&mut Hand, &mut Known<'a>),
    ) -> Result<Done, Cannot> {
        let Hand {
            thread,
            pixels,
            rows,
            ..
        } = hand;
        let record = &waiting.record;
        let begin = self.begin(record.primitive, rows)?;
        thread.dispatch(&ThreadInit {
            id: id(waiting.number),
            ..record.kernel.init(waiting.dispatch_mask, self.sip)
        });
        let loaded = thread.load(begin.end(waiting.filled(), &record.kernel));
        let pixels = Self::fill((waiting, &begin), loaded, pixels)?;
        let mut port = self.port((pixels, waiting.lit()), ending, known);
        let most = self.draw.longest() * 2;
        let (mut budget, mut stats) = (most, RunStats::default());
        let stop = thread.run_decoded(self.cache, &mut port, &mut budget, &mut stats);
        match stop {
            Some(Stop::EndOfThread) if port.ending.is_there && !thread.attention_data() => {
                Ok(Done {
                    served: port.served,
                    stats,
                    ticks: begin.ticks(waiting.filled()) + (most - budget) + port.owed,
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

/// A kernel that runs over registers alone.
#[derive(Clone, Copy)]
enum Alone<'k> {
    Straight(&'k Straight),
    Graph(&'k Graph),
}

/// What tells a thread of a number from others.
fn id(number: u8) -> ThreadId {
    ThreadId {
        ffid: Unit::Wiz.ffid(),
        fftid: number,
        eu: 0,
        slot: 0,
    }
}

/// Constants and data of the threads of a primitive, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Grf>,
    /// The number of the primitive in the present wave.
    of: Option<u32>,
}

impl Rows {
    /// Another wave begins.
    pub(super) fn forget(&mut self) {
        self.of = None;
    }
}

/// What all threads of a primitive begin with.
struct Begin<'a, 'r> {
    primitive: Primitive<'a>,
    /// Constants and data.
    rows: &'r [Grf],
}

impl Begin<'_, '_> {
    /// The register behind the last that is filled, when the fixed function fills so many.
    fn end(&self, filled: usize, kernel: &KernelState) -> usize {
        let start = usize::from(kernel.urb_start);
        filled.max(start + self.rows.len()).max(1)
    }

    /// Ticks of a thread beside its instructions and messages.
    fn ticks(&self, filled: usize) -> u64 {
        DISPATCH_TICKS + (filled + self.rows.len()) as u64
    }

    /// Loads constants and data. Past r127 nothing is loaded.
    #[inline]
    fn load(&self, kernel: &KernelState, registers: &mut [Grf]) {
        let start = usize::from(kernel.urb_start);
        for (to, from) in registers.iter_mut().skip(start).zip(self.rows) {
            *to = *from;
        }
    }
}

//! One thread of a wave: what it computes, and what that takes.

use eu::{Grf, InstructionSet, KernelCache, RunStats, Stop, ThreadId, ThreadInit};
use mem::Memory;

use super::super::{DISPATCH_TICKS, ThreadRequest, payload};
use super::{Draw, Hand, Recorded, Waiting};
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::aside::{Aside, Cannot, Ending, Known, Served};
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
}

impl<'a> Around<'a> {
    /// Computes the thread of a number in its wave.
    pub(super) fn compute(
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
        let Hand {
            thread,
            pixels: own,
        } = hand;
        let (record, rows) = (&waiting.record, self.rows.ok_or(Cannot::Message)?);
        // CAST: the number of the thread, modulo 256.
        let fftid = self.fftid.wrapping_add(number as u8).wrapping_add(1);
        thread.dispatch(&ThreadInit {
            id: ThreadId {
                ffid: Unit::Wiz.ffid(),
                fftid,
                eu: 0,
                slot: 0,
            },
            ..record.kernel.init(waiting.dispatch_mask, self.sip)
        });
        let recorded = self.recorded.filter(|_| !waiting.whole);
        let filled = recorded.map_or(waiting.header.len(), |_| usize::from(record.registers));
        let start = usize::from(record.kernel.urb_start);
        let registers = thread.load(filled.max(start + rows.len()));
        let mut pixels = waiting.headerless.then_some(&waiting.pixels);
        if let Some(recorded) = recorded {
            if recorded.fill(record, registers) != filled {
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
        for (to, from) in registers.iter_mut().skip(start).zip(rows) {
            *to = *from;
        }
        payload::number(thread, fftid);
        ending.is_there = false;
        let mut port = Aside {
            mem: self.mem,
            shared: self.shared,
            ctx: &self.common.context,
            known,
            admitted: self.draw.admitted(),
            served: Served::default(),
            pixels,
            ending,
            owed: 0,
        };
        let most = self.draw.longest() * 2;
        let (mut budget, mut stats) = (most, RunStats::default());
        let stop = thread.run_decoded(self.cache, &mut port, &mut budget, &mut stats);
        match stop {
            Some(Stop::EndOfThread) if port.ending.is_there && !thread.attention_data() => {
                Ok(Done {
                    served: port.served,
                    stats,
                    ticks: DISPATCH_TICKS
                        + (filled + rows.len()) as u64
                        + (most - budget)
                        + port.owed,
                })
            }
            Some(Stop::Fault(why)) => Err(why),
            Some(Stop::Budget) => Err(Cannot::Time),
            None => Err(Cannot::New),
            _ => Err(Cannot::Message),
        }
    }
}

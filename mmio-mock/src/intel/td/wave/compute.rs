//! One thread of a wave: what it computes, and what that takes.

use eu::{InstructionSet, KernelCache, RunStats, Stop, Thread, ThreadId, ThreadInit};
use mem::Memory;

use super::super::{DISPATCH_TICKS, ThreadRequest, payload};
use super::{Draw, Waiting};
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::aside::{Aside, Cannot, Ending, Served};
use crate::intel::status::Unit;
use crate::intel::urb::Urb;

/// What threads of a wave may look at while they are computed.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) cache: &'a KernelCache,
    pub(super) isa: InstructionSet,
    pub(super) sip: u32,
    /// Number of the thread before the first.
    pub(super) fftid: u8,
    pub(super) mem: &'a Memory,
    pub(super) urb: &'a Urb,
    pub(super) shared: &'a SharedFunctions,
    pub(super) draw: &'a Draw,
    pub(super) common: &'a ThreadRequest<'a>,
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

impl Around<'_> {
    /// Computes the thread of a number in its wave.
    pub(super) fn compute(
        &self,
        number: usize,
        (waiting, computed): (&Waiting, &mut Computed),
        thread: &mut Thread,
    ) {
        // It may have been tried before, by a wave that ended early.
        let Computed {
            ending,
            done,
            cannot,
        } = computed;
        (*done, *cannot) = match self.done(number, (waiting, ending), thread) {
            Ok(done) => (Some(done), None),
            Err(why) => (None, Some(why)),
        };
    }

    fn done(
        &self,
        number: usize,
        (waiting, ending): (&Waiting, &mut Ending),
        thread: &mut Thread,
    ) -> Result<Done, Cannot> {
        let request = &waiting.request(self.common);
        // CAST: the number of the thread, modulo 256.
        let fftid = self.fftid.wrapping_add(number as u8).wrapping_add(1);
        thread.dispatch(&ThreadInit {
            id: ThreadId {
                ffid: Unit::Wiz.ffid(),
                fftid,
                eu: 0,
                slot: 0,
            },
            ..request.init(self.sip)
        });
        let mut whole = true;
        let registers = thread.load(payload::end(request));
        let rows = payload::load(registers, request, (self.mem, self.urb), &mut |_| {
            whole = false;
        });
        payload::number(thread, fftid);
        if !whole {
            return Err(Cannot::Message);
        }
        ending.is_there = false;
        let mut port = Aside {
            mem: self.mem,
            shared: self.shared,
            ctx: &request.context,
            admitted: self.draw.admitted(),
            served: Served::default(),
            pixels: request.pixels,
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
                    ticks: DISPATCH_TICKS + rows + (most - budget) + port.owed,
                })
            }
            Some(Stop::Fault(why)) => Err(why),
            Some(Stop::Budget) => Err(Cannot::Time),
            None => Err(Cannot::New),
            _ => Err(Cannot::Message),
        }
    }
}

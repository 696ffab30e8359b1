//! The end of threads that were computed: pixels, counters, ticks.

use eu::RunStats;

use super::draw::Exact;
use super::queue::Group;
use super::run::Piece;
use super::{Common, Td, Wave};
use crate::intel::cc::direct::Packed;
use crate::intel::cc::whole::Whole;
use crate::intel::machine::Machine;
use crate::intel::shared::aside::{Cannot, Earlier, Served};
use crate::intel::shared::context::sfid;
use crate::intel::shared::dataport::buffer::Lost;
use crate::intel::status::Unit;

/// What threads have executed, and how many they are.
struct Ended {
    threads: u64,
    instructions: u64,
    simd8: u64,
    compiled: u64,
}

impl Td {
    /// Ends the threads that were computed, up to the first that has to run in the usual way. Comes back with the pixels that have
    /// passed late tests. `early`: some have read what their target held when they were computed.
    pub(super) fn end(
        &mut self,
        wave: &mut Wave,
        (common, early): (&Common<'_>, bool),
        machine: &mut Machine<'_>,
    ) -> u64 {
        let mut passed = 0;
        machine.shared.pixel.default_color = None;
        // Kept for its allocation.
        let pieces = std::mem::take(&mut wave.queue.pieces);
        let pixels = std::mem::take(&mut wave.queue.pixels);
        let (mut runs, mut lit) = (&pieces[..], &pixels[..]);
        while let Some((group, ended)) = wave.queue.group() {
            let goes_on = match group {
                Group::Threads(first, _) => {
                    let number = first + ended;
                    // A header may name pixels of a thread behind, which has read what was there before: it is computed once more.
                    let ready = !early || wave.queue.is_ready(number);
                    self.end_single(wave, number, common, machine, &mut passed) && ready
                }
                Group::Run(number) => {
                    let of = runs.iter().take_while(|piece| piece.run == number).count();
                    let (these, behind) = runs.split_at(of);
                    let count = these.iter().map(|piece| piece.count as usize).sum();
                    let (own, rest) = lit.split_at(count);
                    (runs, lit) = (behind, rest);
                    self.end_run(wave, (number, these, own), common, machine)
                }
            };
            if !goes_on {
                // What was charged for those that wait is theirs when they end.
                *machine.budget += wave.queue.take_charges();
                break;
            }
        }
        (wave.queue.pieces, wave.queue.pixels) = (pieces, pixels);
        passed
    }

    /// Ends a single thread; `false` when it has to run in the usual way.
    fn end_single(
        &mut self,
        wave: &mut Wave,
        number: usize,
        common: &Common<'_>,
        machine: &mut Machine<'_>,
        passed: &mut u64,
    ) -> bool {
        let Wave { queue, draw, .. } = wave;
        let known = queue.threads.get(number).zip(queue.computed.get(number));
        let Some((thread, computed)) = known else {
            return false;
        };
        if let Some(why) = computed.cannot {
            draw.refused(why, common.request, machine);
            self.waves.ran.again += 1;
            return false;
        }
        let Some(done) = &computed.done else {
            return false;
        };
        match thread.charged {
            // All threads of its kernel take as many ticks. What takes others is not understood, and nothing waits any more.
            Some(ticks) if ticks != done.ticks => {
                draw.give_up();
                return false;
            }
            None if done.ticks >= *machine.budget => return false,
            _ => {}
        }
        let shared = &mut *machine.shared;
        let packed = &computed.ending.packed;
        let earlier = &computed.ending.earlier;
        // All of them are there, or none is written.
        let all = earlier.iter().map(|one| &one.packed);
        let mut all = all.chain(packed.as_ref().filter(|_| !earlier.is_empty()));
        if !all.all(|(at, _)| shared.dataport.kept(*at).is_some()) {
            return false;
        }
        for Earlier { packed, mixed } in earlier {
            let written = shared.dataport.write_packed(machine.mem, packed, mixed);
            if !matches!(written, Ok(true)) {
                draw.give_up();
                return false;
            }
        }
        let written = if let Some(packed) = packed {
            let mixed = &computed.ending.mixed;
            match shared.dataport.write_packed(machine.mem, packed, mixed) {
                Ok(true) => Ok(0),
                Ok(false) => return false,
                Err(fault) => Err(fault),
            }
        } else {
            let events = &mut self.waves.events;
            events.clear();
            if !thread.whole {
                let primitive = common.primitives.get(thread.record.primitive);
                if let Some(recorded) = primitive.and_then(|primitive| primitive.recorded) {
                    recorded.pixels(&thread.record, &mut events.pixels);
                }
            } else if thread.headerless {
                events.pixels.assign(&thread.pixels);
            }
            let last = &computed.ending.message;
            let written = shared.dataport.write(
                last.request,
                &last.message(),
                machine.mem,
                &common.request.context,
                &shared.pixel,
                events,
            );
            written.map(|()| events.depth_count)
        };
        match written {
            Ok(more) => *passed += u64::from(more),
            Err(fault) => {
                // It runs once more and meets the same: what the message has written up to there is not written again.
                self.met = Some(fault);
                draw.give_up();
                return false;
            }
        }
        let mixed = |(_, packed): &(_, Packed)| matches!(packed, Packed::Mixed);
        let before = earlier.iter().any(|one| mixed(&one.packed));
        if before || packed.as_ref().is_some_and(mixed) {
            draw.mixes();
        }
        if done.straight && !thread.whole {
            let alone = earlier.is_empty() && !shared.dataport.tests_alpha();
            let ready = |packed: &_| !mixed(packed) && alone;
            draw.learn_exact(Exact {
                kernel: thread.record.kernel.ip,
                ticks: done.ticks,
                whole: thread.record.width == 16 && packed.as_ref().is_some_and(ready),
            });
        }
        draw.ran_aside(done.ticks);
        let owed = if thread.charged.is_none() {
            done.ticks
        } else {
            0
        };
        self.count(&Ended::of(&done.stats, 1), &done.served, machine);
        machine.charge(owed);
        queue.pop();
        true
    }

    /// Ends the threads of a run that wait; `false` when one of them has to run in the usual way.
    fn end_run(
        &mut self,
        wave: &mut Wave,
        (number, pieces, pixels): (usize, &[Piece], &[Whole]),
        common: &Common<'_>,
        machine: &mut Machine<'_>,
    ) -> bool {
        let Wave { queue, draw, .. } = wave;
        let run = queue.runs.get(number).copied().zip(pieces.first());
        let Some((run, piece)) = run.filter(|(_, piece)| piece.done > 0) else {
            let cannot = pieces.first().and_then(|piece| piece.cannot);
            draw.refused(cannot.unwrap_or(Cannot::New), common.request, machine);
            self.waves.ran.again += 1;
            return false;
        };
        let (mut done, mut cannot) = (0, None);
        for piece in pieces.iter().take_while(|other| other.like(piece)) {
            done += piece.done;
            cannot = piece.cannot;
            if piece.done < piece.count {
                break;
            }
        }
        if !run.charged {
            // As if each asked whether the slice has room for it.
            let room = machine.budget.saturating_sub(1) / run.ticks.max(1);
            done = done.min(u32::try_from(room).unwrap_or(u32::MAX));
        }
        // CAST: as many as have been computed.
        let lit = pixels.get(..done as usize).unwrap_or(pixels);
        let port = &mut machine.shared.dataport;
        let threads = match piece.target {
            Some(target) => {
                let at = (run.column(piece.first), run.at.1);
                port.write_row(machine.mem, target, (at, run.first), lit)
            }
            None => 0,
        };
        // CAST: no more than were computed.
        let threads = threads as u32;
        if let Some(kernel) = self.cache.straight(run.kernel.ip) {
            draw.ran_aside(run.ticks);
            let ended = Ended::of(kernel.stats(), threads.into());
            self.count(&ended, &piece.each, machine);
        }
        if !run.charged {
            machine.charge(run.ticks * u64::from(threads));
        }
        queue.pop_many(threads as usize);
        if threads == pieces.iter().map(|piece| piece.count).sum::<u32>() {
            return true;
        }
        if threads < done {
            // The target is gone, or cannot be written.
            draw.give_up();
        } else if let Some(why) = cannot {
            draw.refused(why, common.request, machine);
        }
        self.waves.ran.again += 1;
        false
    }

    /// Counts threads that have ended; `each`: the messages of one of them.
    fn count(&mut self, ended: &Ended, each: &Served, machine: &mut Machine<'_>) {
        let threads = ended.threads;
        self.waves.ran.waves += threads;
        self.cache.count_compiled(ended.compiled);
        self.cache.ran(ended.instructions);
        let shared = &mut *machine.shared;
        let messages = &mut shared.stats.messages;
        for (all, each) in messages.iter_mut().zip(each.messages) {
            *all += each * threads;
        }
        messages[usize::from(sfid::DATAPORT_WRITE)] += threads;
        shared.sampler.samples += each.pixels * threads;
        for (index, lost) in each.lost {
            if lost != Lost::default() {
                shared.dataport.lose(index, lost);
            }
        }
        let activity = &mut machine.status.activity;
        activity.threads[Unit::Wiz as usize] += threads;
        activity.instructions[Unit::Wiz as usize] += ended.instructions;
        activity.simd8[Unit::Wiz as usize] += ended.simd8;
    }
}

impl Ended {
    /// So many threads that have executed as much each.
    fn of(stats: &RunStats, threads: u64) -> Ended {
        Ended {
            threads,
            instructions: stats.instructions * threads,
            simd8: stats.simd8 * threads,
            compiled: stats.compiled * threads,
        }
    }
}

//! Pixel threads that are spared: one like them has shown what they would do.
//!
//! When the threads of a kernel are alike ([`eu::Alike`]) and one of them has put a square of one colour straight into its
//! target, the threads of the primitive's other whole squares would do nothing else. Their pixels are written without
//! them, and what can be seen afterwards is as if they had run: ticks, numbers, counters. Not spared: threads that a trace,
//! a debug register or a debugger may look at, and those for which the time slice is too short.

use eu::Alike;
use mem::{GpuAddr, Memory};

use super::wave;
use super::{ConstantSource, KernelState, Outcome, Pushed, SlotId, Td, ThreadRequest};
use crate::intel::machine::Machine;
use crate::intel::shared::context::{OneColour, ThreadContext, sfid};
use crate::intel::status::Unit;
use crate::intel::surface::{Range, Surface};

/// The slot of the thread that was looked at, and of those that are spared.
const SLOT: SlotId = SlotId(0);
/// Most registers of constants from memory that are compared before a thread is spared.
const CONSTANTS: usize = 8;

/// What is known of the threads of a primitive.
#[derive(Clone, Debug, Default)]
pub(super) enum Seen {
    /// Nothing yet.
    #[default]
    Nothing,
    /// They have to run.
    Others,
    /// What those of whole squares do.
    Colour(Box<Known>),
}

/// What a thread has done, and others would do.
#[derive(Clone, Debug)]
pub(super) struct Known {
    kernel: KernelState,
    context: ThreadContext,
    colour: OneColour,
    /// Constants from memory, as the thread got them.
    constants: Option<(Pushed, Vec<[u32; 8]>)>,
    /// Constants and binding table lie in other pages than the target, so that no thread writes over them.
    apart: bool,
    ticks: u64,
    instructions: u64,
    simd8: u64,
}

/// Whether constants in memory are still what they were: the draw may write over them.
fn unchanged(pushed: &Pushed, given: &[[u32; 8]], mem: &Memory) -> bool {
    let rows = pushed.buffers.iter().flat_map(|&(address, rows)| {
        let row = move |n| address.offset(u32::from(n) * 32);
        (0..rows).map(row)
    });
    let same = |(at, given): (GpuAddr, &[u32; 8])| {
        let mut now = [0; 8];
        mem.read_dwords(at, &mut now).is_ok() && now == *given
    };
    rows.zip(given).all(same)
}

/// Whether what threads read lies in other pages than the target that they write.
fn apart(
    context: &ThreadContext,
    pushed: Option<&Pushed>,
    colour: &OneColour,
    machine: &Machine<'_>,
) -> bool {
    let target = machine
        .shared
        .dataport
        .kept(colour.target)
        .map(Surface::range);
    let pages = |ranges: &[Range]| wave::pages(ranges, machine);
    let read = pages(&wave::always(context, pushed));
    let written = target.and_then(|target| pages(&[target]));
    match (read, written) {
        (Some(read), Some(written)) => !read.iter().any(|page| written.contains(page)),
        _ => false,
    }
}

impl Td {
    /// What is known of threads holds no longer: another primitive begins. What else they depend on is looked at before each is
    /// spared, or kept by the shared functions in any case.
    #[inline]
    pub fn forget_colour(&mut self) {
        self.seen = Seen::Nothing;
    }

    /// Does without the thread of a whole square whose upper left pixel is `at`; `false` when it has to run, and nothing has
    /// happened then.
    #[inline]
    pub fn spare(
        &mut self,
        kernel: &KernelState,
        context: &ThreadContext,
        at: (u16, u16),
        machine: &mut Machine<'_>,
    ) -> bool {
        let Seen::Colour(known) = &self.seen else {
            return false;
        };
        let like = known.kernel == *kernel && known.context == *context;
        if !like || !self.alone(machine) || *machine.budget <= known.ticks {
            return false;
        }
        let port = &mut machine.shared.dataport;
        if !known.apart {
            let (mem, constants) = (&*machine.mem, &known.constants);
            let same = |(pushed, given): &(Pushed, Vec<[u32; 8]>)| unchanged(pushed, given, mem);
            if !port.is_target(mem, context, &known.colour) || !constants.iter().all(same) {
                return false;
            }
        }
        if !port.fill(machine.mem, &known.colour, at) {
            return false;
        }
        let (ticks, instructions, simd8) = (known.ticks, known.instructions, known.simd8);
        machine.charge(ticks);
        self.count_spared(1, (instructions, simd8), machine);
        true
    }

    /// Ticks of each thread of a row of whole squares, when all of these can be spared that lie in the target.
    pub fn spares_row(
        &self,
        kernel: &KernelState,
        context: &ThreadContext,
        machine: &Machine<'_>,
    ) -> Option<u64> {
        let Seen::Colour(known) = &self.seen else {
            return None;
        };
        let like = known.kernel == *kernel && known.context == *context && known.apart;
        (like && self.alone(machine)).then_some(known.ticks)
    }

    /// Does without the threads of so many whole squares in a row, of which `at` is the first one's upper left pixel, but for their ticks.
    /// Comes back with how many of them that was: others have to run. [`spares_row`](Self::spares_row) has said that they may.
    pub fn spare_row(&mut self, at: (u16, u16), squares: u32, machine: &mut Machine<'_>) -> u32 {
        let Seen::Colour(known) = &self.seen else {
            return 0;
        };
        let port = &mut machine.shared.dataport;
        let filled = port.fill_row(machine.mem, &known.colour, at, squares);
        let (instructions, simd8) = (known.instructions, known.simd8);
        self.count_spared(filled, (instructions, simd8), machine);
        filled
    }

    /// Counts threads that were spared.
    fn count_spared(
        &mut self,
        count: u32,
        (instructions, simd8): (u64, u64),
        machine: &mut Machine<'_>,
    ) {
        let threads = u64::from(count);
        // CAST: modulo 256.
        self.fftid = self.fftid.wrapping_add(count as u8);
        self.spared += threads;
        // PANIC: three bits of function, and a place for each unit.
        machine.shared.stats.messages[usize::from(sfid::DATAPORT_WRITE)] += threads;
        let activity = &mut machine.status.activity;
        activity.threads[Unit::Wiz as usize] += threads;
        activity.instructions[Unit::Wiz as usize] += instructions * threads;
        activity.simd8[Unit::Wiz as usize] += simd8 * threads;
    }

    /// Threads that were spared since power-on.
    pub fn spared(&self) -> u64 {
        self.spared
    }

    /// Whether threads may be spared, nobody looks at single ones, and the next one would be alone.
    #[inline]
    fn alone(&self, machine: &Machine<'_>) -> bool {
        self.spares && self.unwatched(machine)
    }

    /// Runs the thread of a whole square, and looks whether others can be spared.
    pub fn dispatch_square(
        &mut self,
        request: &ThreadRequest<'_>,
        machine: &mut Machine<'_>,
    ) -> Option<Outcome> {
        let alike = if matches!(self.seen, Seen::Nothing) && self.alone(machine) {
            self.cache.alike(request.kernel.ip, request.header.len())
        } else {
            Alike::No
        };
        let Alike::Message { header } = alike else {
            return self.dispatch(request, &[], machine);
        };
        let before = (
            *machine.budget,
            machine.status.activity,
            machine.shared.stats,
        );
        let id = self.launch(request, &[], machine)?;
        let constants = self.constants(request);
        let slot = self.slots.get_mut(usize::from(id.0))?;
        slot.events.watch_colour = true;
        let outcome = self.resume(id, machine);
        let slot = self.slots.get_mut(usize::from(id.0))?;
        slot.events.watch_colour = false;
        let colour = slot.events.one_colour.take();
        if outcome != Outcome::Done(SLOT) {
            return Some(outcome);
        }
        let Some(colour) = colour.filter(|colour| colour.header == header) else {
            self.seen = Seen::Others;
            return Some(outcome);
        };
        let (budget, activity, stats) = before;
        let now = &machine.status.activity;
        let wiz = Unit::Wiz as usize;
        let mut messages = stats;
        messages.messages[usize::from(sfid::DATAPORT_WRITE)] += 1;
        let usual = *machine.budget > 0 && machine.shared.stats == messages;
        if let Some(constants) = constants
            && usual
        {
            let pushed = constants.as_ref().map(|(pushed, _)| pushed);
            let apart = apart(&request.context, pushed, &colour, machine);
            self.seen = Seen::Colour(Box::new(Known {
                kernel: request.kernel,
                context: request.context,
                colour,
                constants,
                apart,
                ticks: budget - *machine.budget,
                instructions: now.instructions[wiz] - activity.instructions[wiz],
                simd8: now.simd8[wiz] - activity.simd8[wiz],
            }));
        }
        Some(outcome)
    }

    /// The constants from memory that the new thread has got, if it gets any there; `None` when they are too many.
    #[expect(clippy::option_option, reason = "no constants are as good as a few")]
    fn constants(&self, request: &ThreadRequest<'_>) -> Option<Option<(Pushed, Vec<[u32; 8]>)>> {
        let Some(ConstantSource::Memory(pushed)) = &request.constants else {
            return Some(None);
        };
        let rows = pushed.buffers.iter().map(|&(_, rows)| usize::from(rows));
        let (first, count) = (usize::from(request.kernel.urb_start), rows.sum::<usize>());
        let registers = self.slots.first()?.thread.grf();
        let given = registers.get(first..first + count)?;
        (count <= CONSTANTS).then(|| Some((*pushed, given.to_vec())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// A draw may write over the constants that its threads get.
    #[test]
    fn constants_are_compared_where_they_lie() {
        let mut mem = Memory::new(1 << 20, 64);
        let (first, second) = (GpuAddr::from(0x1000), GpuAddr::from(0x3000));
        for at in [first, second] {
            mem.alloc_mapped(at, 0x1000).unwrap();
            mem.write_dwords(at, &[7; 24]).unwrap();
        }
        let none = (GpuAddr::default(), 0);
        let pushed = Pushed {
            buffers: [(first, 2), (second.offset(32), 1), none, none],
        };
        let given = [[7; 8]; 3];
        assert!(unchanged(&pushed, &given, &mem));
        // Before and behind what was pushed.
        mem.write_u32(first.offset(64), 8).unwrap();
        mem.write_u32(second.offset(28), 8).unwrap();
        assert!(unchanged(&pushed, &given, &mem));
        mem.write_u32(second.offset(60), 8).unwrap();
        assert!(!unchanged(&pushed, &given, &mem));
        mem.write_u32(second.offset(60), 7).unwrap();
        assert!(unchanged(&pushed, &given, &mem));
        mem.write_u32(first.offset(36), 8).unwrap();
        assert!(!unchanged(&pushed, &given, &mem));
        mem.write_u32(first.offset(36), 7).unwrap();
        mem.gtt_write(3, 0);
        assert!(!unchanged(&pushed, &given, &mem));
    }
}

//! Kernels without branches: stretches and messages in a row.
//!
//! All that such a kernel computes is compiled, and it takes as many instructions whatever its thread begins with. So it needs
//! no thread to run: registers, flags and the channels that execute are enough. Kernels with more to them are the run loop's.

use crate::cache::KernelCache;
use crate::decoded::{Decoded, SendOp};
use crate::grf::{DWORDS, GRF_COUNT, RegFile, TOTAL};
use crate::port::{Delivery, FloatMode, Grf, Port, Stop, ThreadId};
use crate::reach::{self, PAIR, Reach};
use crate::run::RunStats;
use crate::send::{self, HALVES, Part, Sender, Target};
use crate::stretch::{Accumulator, Channels, Compiled, Operation, Step, places};
use crate::warm::{self, Begin};
use isa::Opcode;
use isa::inst::PredCtrl;
use std::ops::Range;
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
    exposed: [u128; 2],
}

/// Channels of threads whose pixels are all there.
const FULL: [u16; 2] = [0xff, 0xffff];

/// What runs as one.
#[derive(Debug)]
enum Passage {
    Stretch(Arc<dyn Compiled>, usize),
    Send(Box<Sent>),
}

/// A message.
#[derive(Debug)]
struct Sent {
    op: SendOp,
    to: Target,
    part: Part,
    ip: u32,
    /// Channels that are masked off count as well.
    unmasked: bool,
    shift: u8,
    lanes: u16,
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
        let end = end.min(GRF_COUNT);
        let full = FULL.iter().position(|full| u32::from(*full) == mask);
        let seen = full.map_or(u128::MAX, |full| self.exposed[full]);
        registers.file.clear(registers.touched.pairs & seen);
        registers.touched.pairs &= !seen;
        registers.touched = registers.touched.and(Reach::general(end));
        // PANIC: at most as many as there are.
        &mut registers.file.grf_mut()[..end]
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
        let Registers {
            file,
            touched,
            accumulator,
        } = registers;
        *touched = touched.and(self.reach);
        let mut channels = Channels {
            enabled: runner.dispatch_mask,
            flags: [0; 2],
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
                    let enabled = if sent.unmasked {
                        0xffff >> (sent.shift & 15)
                    } else {
                        // CAST: a message has sixteen channels.
                        (runner.dispatch_mask >> sent.shift) as u16
                    };
                    let sender = Sender {
                        thread: runner.id,
                        float_mode: FloatMode::Ieee,
                        ip: sent.ip,
                        channels: enabled & sent.lanes,
                    };
                    let to = (sent.to, sent.part);
                    match send::deliver(file, &sent.op, &sender, port, to) {
                        Ok((Delivery::Done, _)) => {}
                        Err(Stop::Fault(fault)) => return Err(Broken::Fault(fault)),
                        Ok(_) | Err(_) => return Err(Broken::Other),
                    }
                }
            }
        }
        Ok(())
    }
}

/// Which registers have been written whole, and which were read before.
struct Flow {
    /// For each dword.
    written: Vec<bool>,
    /// A bit for each pair of registers.
    exposed: u128,
    /// Channels that execute.
    full: u16,
}

impl Flow {
    fn new(full: u16) -> Flow {
        Flow {
            written: vec![false; TOTAL * DWORDS],
            exposed: 0,
            full,
        }
    }

    fn read(&mut self, dwords: Range<usize>) {
        for dword in dwords {
            if self.written.get(dword) == Some(&false) {
                self.exposed |= 1 << (dword / DWORDS / PAIR);
            }
        }
    }

    fn write(&mut self, dwords: Range<usize>) {
        if let Some(written) = self.written.get_mut(dwords) {
            written.fill(true);
        }
    }

    fn step(&mut self, step: &Step) {
        let channels = if step.wide { 16 } else { 8 };
        for first in (0..channels).step_by(8) {
            for source in 0..3 {
                if let Some(dwords) = places::reads(step, source, first) {
                    self.read(dwords);
                }
            }
        }
        // What a predicate leaves out stays as it was.
        let chosen = step.predicate.is_some() && step.operation != Operation::Select;
        let Some(first) = step.destination.map(usize::from).filter(|_| !chosen) else {
            return;
        };
        let enabled = if step.unmasked {
            u16::MAX
        } else {
            self.full >> step.shift
        };
        let enabled = enabled & step.lanes;
        match step.operation {
            Operation::AddWords if enabled == u16::MAX => self.write(first..first + DWORDS),
            // Halves of dwords.
            Operation::AddWords | Operation::GetFlag => {}
            _ => {
                for channel in (0..channels).filter(|channel| enabled >> channel & 1 != 0) {
                    let dword = match channel.checked_sub(8) {
                        Some(channel) => usize::from(step.second) + channel,
                        None => first + channel,
                    };
                    self.write(dword..dword + 1);
                }
            }
        }
    }

    fn send(&mut self, sent: &Sent) {
        let uses = send::uses(&sent.op, sent.to, sent.part);
        if let Some((from, to)) = uses.moved {
            self.read(from);
            self.write(to);
        }
        self.read(uses.payload);
        // The port sees what the registers of the response hold.
        self.read(uses.response);
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
            let sent = sent(&place)?.into_iter().map(Box::new);
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
fn exposed(parts: &[Passage], stretches: &[Vec<Step>], full: u16) -> u128 {
    let mut flow = Flow::new(full);
    for part in parts {
        match part {
            Passage::Stretch(_, number) => {
                let steps = stretches.get(*number).into_iter().flatten();
                steps.for_each(|step| flow.step(step));
            }
            Passage::Send(sent) => flow.send(sent),
        }
    }
    flow.exposed
}

/// The messages of an instruction, one or two; `None` for any other instruction, and for one that depends on more than
/// registers.
fn sent(place: &Place<'_>) -> Option<Vec<Sent>> {
    let hot = place.hot;
    let message = matches!(hot.op, Opcode::Send | Opcode::Sendc) && !hot.empty && !hot.rare;
    let plain = hot.pred == PredCtrl::None && hot.shift < 16 && !(hot.no_mask && hot.no_cmask);
    if !message || !plain {
        return None;
    }
    let to = send::target(&hot.send, hot.send.desc?);
    let parts = if send::in_halves(&hot.send, to) {
        HALVES.to_vec()
    } else {
        vec![send::whole(hot)]
    };
    let sent = |part| Sent {
        op: hot.send,
        to,
        part,
        ip: place.ip,
        unmasked: hot.no_mask,
        shift: hot.shift,
        lanes: hot.lanes,
    };
    Some(parts.into_iter().map(sent).collect())
}

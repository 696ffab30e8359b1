//! The `send` instruction: implied move, message assembly, response, end of thread.
//!
//! PRM: volume 4, 2.6.2 to 2.6.11. In-flight bits of message registers are not modelled: a
//! message leaves the EU at once.

use crate::decoded::{Decoded, SendOp};
use crate::grf::{DWORDS, GRF_COUNT, RegFile};
use crate::port::{Delivery, FloatMode, Grf, Message, Port, Stop, ThreadId};
use crate::thread::Thread;
use std::ops::Range;

/// What became of the instruction.
pub(crate) enum Outcome<F> {
    Sent,
    Ended,
    Stop(Stop<F>),
}

/// Function ID of extended math.
const MATH: u8 = 1;

/// The channels that a message is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// What the part adds to the numbers of the message register and of the destination.
    registers: u8,
    /// First channel.
    channel: u8,
    /// Channels from there on.
    channels: u16,
    /// Number of channels.
    size: u8,
}

/// What a message has of its sender.
#[derive(Clone, Copy)]
pub(crate) struct Sender {
    pub(crate) thread: ThreadId,
    pub(crate) float_mode: FloatMode,
    /// Address of the instruction.
    pub(crate) ip: u32,
    /// The channels that the instruction executes for, one bit each.
    pub(crate) channels: u16,
}

/// Where a message goes: the shared function, and the descriptor.
pub(crate) type Target = (u8, u32);

/// The target of a message whose descriptor is this one.
pub(crate) fn target(op: &SendOp, desc: u32) -> Target {
    let sfid = op.target.unwrap_or((desc >> 24 & 0xf) as u8);
    (sfid, desc)
}

pub(crate) fn issue<P: Port>(t: &mut Thread, d: &Decoded, port: &mut P) -> Outcome<P::Fault> {
    let op = &d.send;
    let desc = match op.desc {
        Some(desc) => desc,
        None => u32::from(t.a0[0]) | u32::from(t.a0[1]) << 16,
    };
    let to = target(op, desc);
    if in_halves(op, to) {
        return halves(t, d, port, to);
    }
    message(t, d, port, to, whole(d))
}

/// Whether a message goes as two.
pub(crate) fn in_halves(op: &SendOp, (sfid, _): Target) -> bool {
    op.halves && sfid == MATH
}

/// All channels of an instruction.
pub(crate) fn whole(d: &Decoded) -> Part {
    Part {
        registers: 0,
        channel: 0,
        channels: u16::MAX,
        size: d.exec,
    }
}

/// The two messages of an instruction with sixteen channels, one register apart.
pub(crate) const HALVES: [Part; 2] = [
    Part {
        registers: 0,
        channel: 0,
        channels: 0xff,
        size: 8,
    },
    Part {
        registers: 1,
        channel: 8,
        channels: 0xff,
        size: 8,
    },
];

/// A message of sixteen channels that goes as two of eight, one register apart. Generations that have them need it for
/// extended math alone; others do not carry its code through each message.
#[inline(never)]
fn halves<P: Port>(t: &mut Thread, d: &Decoded, port: &mut P, to: Target) -> Outcome<P::Fault> {
    let [first, second] = HALVES;
    match message(t, d, port, to, first) {
        Outcome::Sent => message(t, d, port, to, second),
        outcome => outcome,
    }
}

#[inline(always)]
fn message<P: Port>(
    t: &mut Thread,
    d: &Decoded,
    port: &mut P,
    to: Target,
    part: Part,
) -> Outcome<P::Fault> {
    let sender = Sender {
        thread: t.id(),
        float_mode: t.float_mode(),
        ip: t.ip,
        channels: t.write_mask(d),
    };
    match deliver(&mut t.regs, &d.send, &sender, port, (to, part)) {
        Err(stop) => Outcome::Stop(stop),
        Ok((Delivery::Busy, _)) => Outcome::Stop(Stop::Busy),
        Ok((delivery, response)) => {
            if let Some(response) = response
                && (delivery == Delivery::Dropped || t.stale != 0)
            {
                let regs = ((1u128 << response.len()) - 1) << (response.start & 127);
                if delivery == Delivery::Dropped {
                    t.set_stale(t.stale | regs);
                } else {
                    t.set_stale(t.stale & !regs);
                }
            }
            if d.send.eot {
                Outcome::Ended
            } else {
                Outcome::Sent
            }
        }
    }
}

/// What became of a message, and the registers of its response.
pub(crate) type Delivered<F> = Result<(Delivery, Option<Range<usize>>), Stop<F>>;

/// Assembles a message and hands it to the port. Comes back with what became of it, and with the registers of the response.
#[inline(always)]
pub(crate) fn deliver<P: Port>(
    regs: &mut RegFile,
    op: &SendOp,
    sender: &Sender,
    port: &mut P,
    ((sfid, desc), part): (Target, Part),
) -> Delivered<P::Fault> {
    let eot = op.eot;
    let first = usize::from(op.payload) + usize::from(part.registers);
    let length = (desc >> (op.length_at & 31) & 0xf) as usize;
    let response_length = (desc >> (op.response_at & 31)) as usize & usize::from(op.response_max);
    // A message without a response has no destination, whatever register the instruction names. PRM 2.6.11
    // says that EOT with any register but null is never issued, and shipped kernels contradict it: the video
    // kernel of the X driver (exa_wm_write.g4a, for every part of Gen4 and Gen5) ends with a send to acc0.
    let dst = op.dst.filter(|_| response_length > 0);
    let dst = dst.map(|nr| nr.saturating_add(part.registers));
    if eot && dst.is_some() {
        return Err(Stop::Hung(
            "PRM 2.6.11: EOT with a response is never issued",
        ));
    }
    if first + length > usize::from(op.end) {
        return Err(Stop::Hung(
            "PRM 2.6.1: message payload past the last register that may have it",
        ));
    }
    if let Some(implied) = &op.implied {
        let grf = regs.grf().as_flattened();
        // A region that does not advance, such as a scalar, is the same for both halves.
        let second = if part.channel == 0 { 0 } else { implied.half };
        let base = usize::from(implied.base) + usize::from(second);
        let mut reg = [0; DWORDS];
        match grf.get(base..base + DWORDS) {
            Some(from) if implied.whole => reg.copy_from_slice(from),
            _ => {
                for (to, from) in reg.iter_mut().zip(implied.from) {
                    // Past r127 there is nothing to read.
                    *to = grf.get(base + usize::from(from)).copied().unwrap_or(0);
                }
            }
        }
        if first < usize::from(op.end)
            && let Some(m) = regs.all_mut().get_mut(first)
        {
            *m = reg;
        }
    }
    let answered = match dst {
        Some(nr) if usize::from(nr) + response_length > GRF_COUNT => {
            return Err(Stop::Hung("PRM 2.6.5: response past r127"));
        }
        Some(nr) => Some(usize::from(nr)..usize::from(nr) + response_length),
        None => None,
    };
    let taken = first..first + length;
    // A kilobyte that no usual message needs, and half of one.
    let (mut nowhere, mut copy): ([Grf; 32], [Grf; 16]);
    let (payload, response): (&[Grf], &mut [Grf]) = match &answered {
        None if response_length == 0 => (regs.registers(taken), &mut []),
        None => {
            nowhere = [[0; DWORDS]; 32];
            // PANIC: the field has at most five bits.
            (regs.registers(taken), &mut nowhere[..response_length])
        }
        Some(at) if at.start < taken.end && taken.start < at.end => {
            // The response lies where the payload does.
            copy = [[0; DWORDS]; 16];
            for (to, from) in copy.iter_mut().zip(regs.registers(taken)) {
                *to = *from;
            }
            // PANIC: the field has four bits.
            (&copy[..length], regs.registers_mut(at.clone()))
        }
        Some(at) => regs.apart(taken, at.clone()),
    };
    let msg = Message {
        thread: sender.thread,
        sfid,
        function_control: desc as u16,
        desc,
        response_length: response_length as u8,
        eot,
        exec_mask: (sender.channels << op.rotate) >> part.channel & part.channels,
        exec_size: part.size,
        payload,
        ip: sender.ip,
        float_mode: sender.float_mode,
    };
    match port.send(&msg, response) {
        Err(fault) => Err(Stop::Fault(fault)),
        Ok(delivery) => Ok((delivery, answered)),
    }
}

/// The dwords of all registers that a message uses.
pub(crate) struct Uses {
    /// What the implied move reads, and what it writes.
    pub(crate) moved: Option<(Range<usize>, Range<usize>)>,
    pub(crate) payload: Range<usize>,
    pub(crate) response: Range<usize>,
}

/// What [`deliver`] takes and gives, where it does not stop.
pub(crate) fn uses(op: &SendOp, (_, desc): Target, part: Part) -> Uses {
    let registers = |first: usize, count: usize| DWORDS * first..DWORDS * (first + count);
    let first = usize::from(op.payload) + usize::from(part.registers);
    let length = (desc >> (op.length_at & 31) & 0xf) as usize;
    let response = (desc >> (op.response_at & 31)) as usize & usize::from(op.response_max);
    let answered = op
        .dst
        .map(|nr| usize::from(nr) + usize::from(part.registers));
    let moved = op.implied.map(|implied| {
        let second = if part.channel == 0 { 0 } else { implied.half };
        let base = usize::from(implied.base) + usize::from(second);
        let last = implied.from.iter().max().copied().unwrap_or(0);
        let end = if implied.whole {
            DWORDS - 1
        } else {
            usize::from(last)
        };
        (base..base + end + 1, registers(first, 1))
    });
    Uses {
        moved,
        payload: registers(first, length),
        response: answered.map_or(0..0, |first| registers(first, response)),
    }
}

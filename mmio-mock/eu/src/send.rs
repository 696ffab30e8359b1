//! The `send` instruction: implied move, message assembly, response, end of thread.
//!
//! PRM: volume 4, 2.6.2 to 2.6.11. In-flight bits of message registers are not modelled: a
//! message leaves the EU at once.

use crate::decoded::Decoded;
use crate::grf::{DWORDS, GRF_COUNT};
use crate::port::{Delivery, Grf, Message, Port, Stop};
use crate::thread::Thread;

/// What became of the instruction.
pub(crate) enum Outcome<F> {
    Sent,
    Ended,
    Stop(Stop<F>),
}

/// Function ID of extended math.
const MATH: u8 = 1;

/// The channels that a message is for.
#[derive(Clone, Copy)]
struct Part {
    /// What the part adds to the numbers of the message register and of the destination.
    registers: u8,
    /// First channel.
    channel: u8,
    /// Channels from there on.
    channels: u16,
    /// Number of channels.
    size: u8,
}

pub(crate) fn issue<P: Port>(t: &mut Thread, d: &Decoded, port: &mut P) -> Outcome<P::Fault> {
    let op = &d.send;
    let desc = match op.desc {
        Some(desc) => desc,
        None => u32::from(t.a0[0]) | u32::from(t.a0[1]) << 16,
    };
    let sfid = op.target.unwrap_or((desc >> 24 & 0xf) as u8);
    if op.halves && sfid == MATH {
        return halves(t, d, port, (sfid, desc));
    }
    let whole = Part {
        registers: 0,
        channel: 0,
        channels: u16::MAX,
        size: d.exec,
    };
    message(t, d, port, (sfid, desc), whole)
}

/// A message of sixteen channels that goes as two of eight, one register apart. Generations that have them need it for
/// extended math alone; others do not carry its code through each message.
#[inline(never)]
fn halves<P: Port>(t: &mut Thread, d: &Decoded, port: &mut P, to: (u8, u32)) -> Outcome<P::Fault> {
    let mut part = Part {
        registers: 0,
        channel: 0,
        channels: 0xff,
        size: 8,
    };
    loop {
        let outcome = message(t, d, port, to, part);
        if part.channel != 0 || !matches!(outcome, Outcome::Sent) {
            return outcome;
        }
        part.registers = 1;
        part.channel = 8;
    }
}

#[inline(always)]
fn message<P: Port>(
    t: &mut Thread,
    d: &Decoded,
    port: &mut P,
    (sfid, desc): (u8, u32),
    part: Part,
) -> Outcome<P::Fault> {
    let op = &d.send;
    let eot = op.eot;
    let first = usize::from(op.mrf) + usize::from(part.registers);
    let length = (desc >> (op.length_at & 31) & 0xf) as usize;
    let response_length = (desc >> (op.response_at & 31)) as usize & usize::from(op.response_max);
    // A message without a response has no destination, whatever register the instruction names. PRM 2.6.11
    // says that EOT with any register but null is never issued, and shipped kernels contradict it: the video
    // kernel of the X driver (exa_wm_write.g4a, for every part of Gen4 and Gen5) ends with a send to acc0.
    let dst = op.dst.filter(|_| response_length > 0);
    let dst = dst.map(|nr| nr.saturating_add(part.registers));
    if eot && dst.is_some() {
        return Outcome::Stop(Stop::Hung(
            "PRM 2.6.11: EOT with a response is never issued",
        ));
    }
    if first + length > usize::from(op.limit) {
        return Outcome::Stop(Stop::Hung(
            "PRM 2.6.1: message payload past the last message register",
        ));
    }
    if let Some(implied) = &op.implied {
        let grf = t.grf().as_flattened();
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
        if first < usize::from(op.limit)
            && let Some(m) = t.regs.mrf_mut().get_mut(first)
        {
            *m = reg;
        }
    }
    let exec_mask = (t.write_mask(d) << op.rotate) >> part.channel & part.channels;
    let thread = t.id();
    let float_mode = t.float_mode();
    let ip = t.ip;
    let (mrf, grf) = t.regs.mrf_and_grf();
    let msg = Message {
        thread,
        sfid,
        function_control: desc as u16,
        desc,
        response_length: response_length as u8,
        eot,
        exec_mask,
        exec_size: part.size,
        // PANIC: first + length was checked against the message registers.
        payload: &mrf[first..first + length],
        ip,
        float_mode,
    };
    // A kilobyte that no usual message needs.
    let mut nowhere: [Grf; 32];
    let response = match dst {
        Some(nr) => {
            let nr = usize::from(nr);
            if nr + response_length > GRF_COUNT {
                return Outcome::Stop(Stop::Hung("PRM 2.6.5: response past r127"));
            }
            &mut grf[nr..nr + response_length]
        }
        None if response_length == 0 => &mut [],
        None => {
            nowhere = [[0; DWORDS]; 32];
            // PANIC: the field has at most five bits.
            &mut nowhere[..response_length]
        }
    };
    match port.send(&msg, response) {
        Err(fault) => Outcome::Stop(Stop::Fault(fault)),
        Ok(Delivery::Busy) => Outcome::Stop(Stop::Busy),
        Ok(delivery) => {
            if let Some(nr) = dst
                && (delivery == Delivery::Dropped || t.stale != 0)
            {
                let regs = ((1u128 << response_length) - 1) << (nr & 127);
                if delivery == Delivery::Dropped {
                    t.set_stale(t.stale | regs);
                } else {
                    t.set_stale(t.stale & !regs);
                }
            }
            if eot { Outcome::Ended } else { Outcome::Sent }
        }
    }
}

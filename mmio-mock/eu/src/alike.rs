//! Kernels whose threads all send the same, but for the message's header.
//!
//! Such a kernel is a straight line to its end of thread. What it sends behind the header comes from immediates,
//! constants and what else is the same in all threads of a draw. Clears and flat colours are such kernels. The look is at
//! lowered instructions, so it serves every generation; what it does not know makes a kernel not alike.

use crate::cache::KernelCache;
use crate::decoded::{Decoded, DstKind, More, Num, Src, SrcKind};
use crate::grf::{BYTES, DWORDS, SINK_BASE};
use isa::Opcode;
use isa::inst::{CondMod, PredCtrl};

/// What is known of the threads of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alike {
    /// An instruction has not been decoded yet.
    Unknown,
    /// They may differ.
    No,
    /// They send one message, at their end, whose registers are the same in all threads behind the header: r0 and r1 as
    /// they were at dispatch, when it has one.
    Message {
        /// The message has that header.
        header: bool,
    },
}

/// Instructions looked at.
const REACH: usize = 64;
/// Registers of a header.
const HEADER: usize = 2;
/// Kernels remembered.
const KERNELS: usize = 16;

/// What a dword of the registers holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// The same in all threads.
    Same,
    /// What this dword of the header held at dispatch.
    Header(usize),
    /// Anything.
    Differs,
}

impl Value {
    fn and(self, other: Value) -> Value {
        if self == Value::Same && other == Value::Same {
            Value::Same
        } else {
            Value::Differs
        }
    }
}

/// A kernel that was looked at: its place, the registers that are a thread's own, the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    ip: u32,
    own: usize,
    answer: Alike,
}

impl KernelCache {
    /// Whether the threads of the kernel at `ip` are alike when all their channels are on, sixteen of them, and only their
    /// registers before register `own` differ at dispatch. Its instructions must have been executed once.
    pub fn alike(&mut self, ip: u32, own: usize) -> Alike {
        let known = self.kernels.iter().find(|k| k.ip == ip && k.own == own);
        if let Some(kernel) = known {
            return kernel.answer;
        }
        let answer = self.look(ip, own);
        if answer != Alike::Unknown {
            if self.kernels.len() >= KERNELS {
                self.kernels.clear();
            }
            self.kernels.push(Kernel { ip, own, answer });
        }
        answer
    }

    #[cold]
    fn look(&mut self, ip: u32, own: usize) -> Alike {
        let place = self.instructions().rules.place;
        let page = self.page(ip);
        let slots = self.slots(page);
        let mut registers = Registers::at_dispatch(own);
        let mut at = KernelCache::slot_index(ip, place);
        for _ in 0..REACH {
            // A kernel that goes on in the next page is left alone.
            let Some(slot) = slots.get(at) else {
                return Alike::No;
            };
            let d = &slot.hot;
            if d.empty {
                return Alike::Unknown;
            }
            if matches!(d.op, Opcode::Send | Opcode::Sendc) {
                return registers.message(d);
            }
            if registers.execute(d).is_none() {
                return Alike::No;
            }
            at += usize::from(d.bytes) >> place;
        }
        Alike::No
    }
}

/// The registers of a thread, dword by dword.
struct Registers(Vec<Value>);

impl Registers {
    fn at_dispatch(own: usize) -> Self {
        let mut registers = vec![Value::Same; SINK_BASE * DWORDS];
        for (at, value) in registers.iter_mut().enumerate().take(own * DWORDS) {
            *value = if at < HEADER * DWORDS {
                Value::Header(at)
            } else {
                Value::Differs
            };
        }
        Registers(registers)
    }

    /// The dword with a byte; nothing is known of what lies past the registers.
    fn dword(&self, byte: usize) -> Value {
        self.0.get(byte / 4).copied().unwrap_or(Value::Differs)
    }

    /// What a channel of a source reads; `None` where that is not known.
    fn source(&self, src: &Src, channel: usize) -> Option<Value> {
        Some(match &src.kind {
            SrcKind::Null | SrcKind::Imm(_) => Value::Same,
            SrcKind::Vec(off) => self.dword((usize::from(*off) + channel) * 4),
            SrcKind::Scalar(off) => self.dword(usize::from(*off) * 4),
            SrcKind::Table(lanes) => self.dword(usize::from(*lanes.get(channel)?)),
            SrcKind::Arf(..) | SrcKind::Acc(_) | SrcKind::Indirect(_) => return None,
        })
    }

    /// Follows an instruction; `None` when it may do what is not followed here.
    fn execute(&mut self, d: &Decoded) -> Option<()> {
        use Opcode::{
            Add, And, Asr, Avg, Frc, Mad, Mov, Mul, Nop, Not, Or, Rndd, Rnde, Rndu, Rndz, Shl, Shr,
            Xor,
        };
        if d.op == Nop {
            return Some(());
        }
        // Channel by channel, from its own elements of the sources.
        let simple = matches!(
            d.op,
            Add | And
                | Asr
                | Avg
                | Frc
                | Mov
                | Mul
                | Not
                | Or
                | Rndd
                | Rnde
                | Rndu
                | Rndz
                | Shl
                | Shr
                | Xor
                | Mad
        );
        let always = d.pred == PredCtrl::None && d.cond == CondMod::None;
        let channels = usize::from(d.exec);
        // Sixteen channels are on.
        let inside = usize::from(d.shift) + channels <= 16;
        let doubles = d.dst.num == Num::Df || d.src.iter().any(|s| s.num == Num::Df);
        let known = simple && always && inside && !doubles;
        if !known || d.breakpoint || matches!(d.more, More::Halves(_)) {
            return None;
        }
        let on = (0..channels).filter(|channel| d.lanes >> channel & 1 != 0);
        let results: Option<Vec<_>> = on.map(|c| Some((c, self.result(d, c)?))).collect();
        for (channel, value) in results? {
            let size = d.dst.num.size();
            let byte = match &d.dst.kind {
                DstKind::Null => continue,
                DstKind::Vec(off) => (usize::from(*off) + channel) * 4,
                DstKind::Table(lanes) => usize::from(*lanes.get(channel)?),
                DstKind::Arf(..) | DstKind::Acc(..) | DstKind::Indirect(_) => return None,
            };
            let Some(to) = self.0.get_mut(byte / 4) else {
                // Past the last register; nobody reads it.
                continue;
            };
            *to = if size == 4 { value } else { to.and(value) };
        }
        Some(())
    }

    /// What an instruction computes for a channel.
    fn result(&self, d: &Decoded, channel: usize) -> Option<Value> {
        let dword = |num: Num| matches!(num, Num::Ud | Num::D);
        let first = &d.src[0];
        let value = self.source(first, channel)?;
        let copies = d.op == Opcode::Mov
            && dword(first.num)
            && dword(d.dst.num)
            && !first.negate
            && !first.abs
            && !d.saturate;
        if copies {
            return Some(value);
        }
        let mut value = value.and(self.source(&d.src[1], channel)?);
        if let More::Third(third) = &d.more {
            value = value.and(self.dword(third.dword(channel) * 4));
        }
        Some(value)
    }

    /// The answer that a message gives.
    fn message(&mut self, d: &Decoded) -> Alike {
        let op = &d.send;
        let Some(desc) = op.desc.filter(|_| op.eot && d.pred == PredCtrl::None) else {
            return Alike::No;
        };
        let length = (desc >> (op.length_at & 31) & 0xf) as usize;
        let first = usize::from(op.payload);
        if first + length > usize::from(op.end) || d.breakpoint || d.shift != 0 {
            return Alike::No;
        }
        let message = first * DWORDS;
        if let Some(implied) = &op.implied {
            let base = usize::from(implied.base);
            let moved = implied
                .from
                .map(|at| self.dword((base + usize::from(at)) * 4));
            if let Some(to) = self.0.get_mut(message..message + DWORDS) {
                to.copy_from_slice(&moved);
            }
        }
        let Some(message) = self.0.get(message..message + length * DWORDS) else {
            return Alike::No;
        };
        let (header, body) = message.split_at(message.len().min(HEADER * DWORDS));
        let same = |values: &[Value]| values.iter().all(|&value| value == Value::Same);
        let copied = header.iter().enumerate();
        if !same(body) {
            Alike::No
        } else if same(header) {
            Alike::Message { header: false }
        } else if header.len() == HEADER * DWORDS
            && copied
                .into_iter()
                .all(|(at, &value)| value == Value::Header(at))
        {
            Alike::Message { header: true }
        } else {
            Alike::No
        }
    }
}

// Bytes of the registers fit the offsets of operands.
const _: () = assert!(SINK_BASE * BYTES <= 1 << 16);

#[cfg(test)]
mod tests;

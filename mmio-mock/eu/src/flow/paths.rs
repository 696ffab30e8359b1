//! Flow control where channels have instruction pointers of their own.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3 (if, else, endif, while, break, cont, halt, call, ret); what the distances lead to:
//! Mesa 22.3.6 `brw_eu_emit.c` (`patch_IF_ELSE`, `brw_WHILE`, `brw_set_uip_jip`); ValleyView volume 2 part 2, brc and brd. Not modelled: `case`
//! and `fork`.

use super::branch;
use crate::decoded::{Decoded, Handler, Next, Num, SrcKind};
use crate::exec::{compare, illegal, second_half};
use crate::thread::Thread;
use isa::Opcode;
use isa::inst::CondMod;

/// Whether an opcode is one of these.
pub(crate) fn has(op: Opcode) -> bool {
    use Opcode::{Brc, Brd, Break, Call, Case, Cont, Else, Endif, Fork, Halt, If, Ret, While};
    matches!(
        op,
        If | Else | Endif | While | Break | Cont | Halt | Call | Ret | Case | Fork | Brd | Brc
    )
}

pub(crate) fn select(op: Opcode) -> Handler {
    match op {
        Opcode::If => r#if,
        Opcode::Else => r#else,
        Opcode::Endif => endif,
        Opcode::While => r#while,
        Opcode::Break | Opcode::Cont | Opcode::Halt => leave,
        Opcode::Brd => brd,
        Opcode::Brc => brc,
        Opcode::Call => call,
        Opcode::Ret => ret,
        Opcode::Case | Opcode::Fork => unknown,
        _ => illegal,
    }
}

/// The channels of an instruction and those of them that execute.
struct Channels {
    own: u32,
    on: u32,
}

fn channels(t: &Thread, d: &Decoded) -> Channels {
    let own = if d.weight == 4 {
        u32::MAX
    } else {
        u32::from(d.lanes) << (d.shift & 31)
    };
    Channels {
        own,
        on: t.emask & own,
    }
}

/// The channels for which the predicate, or the comparison in the instruction, is true.
fn chosen(t: &Thread, d: &Decoded) -> u32 {
    let half = |d: &Decoded| {
        let mut chosen = t.predicate(d);
        if d.compare != CondMod::None {
            let float = d.src[..2].iter().any(|s| s.num == Num::F);
            chosen &= compare(t, d, float);
        }
        u32::from(chosen)
    };
    let mut all = half(d) << (d.shift & 31);
    if d.weight == 4 {
        all |= half(&second_half(d)) << 16;
    }
    all
}

/// Where the next instruction is.
fn behind(t: &Thread, d: &Decoded) -> u32 {
    t.ip.wrapping_add(u32::from(d.bytes))
}

fn target(t: &Thread, bytes: i32) -> u32 {
    t.placed(t.ip.wrapping_add(bytes as u32))
}

/// Whether a channel of the instruction goes on with the next one.
fn goes_on(t: &Thread, d: &Decoded, own: u32) -> bool {
    (t.emask | t.parked.at(behind(t, d))) & own != 0
}

/// Lets channels wait elsewhere.
fn park(t: &mut Thread, channels: u32, at: u32) {
    if channels != 0 {
        t.emask &= !channels;
        t.parked.park(channels, at);
        t.waiting = true;
    }
}

/// Single program flow: the first channel decides for all.
fn scalar(d: &Decoded, chosen: u32) -> bool {
    chosen >> (d.shift & 31) & 1 != 0
}

fn r#if(t: &mut Thread, d: &Decoded) -> Next {
    let chosen = chosen(t, d);
    if t.spf {
        return if scalar(d, chosen) {
            Next::Seq
        } else {
            branch(t, d.jump)
        };
    }
    let Channels { own, on } = channels(t, d);
    let off = on & !chosen;
    if off == on && t.parked.at(behind(t, d)) & own == 0 {
        return branch(t, d.jump);
    }
    let to = target(t, d.jump);
    park(t, off, to);
    Next::Seq
}

fn r#else(t: &mut Thread, d: &Decoded) -> Next {
    let Channels { own, on } = channels(t, d);
    if t.spf || t.parked.at(behind(t, d)) & own == 0 {
        return branch(t, d.jump);
    }
    let to = target(t, d.jump);
    park(t, on, to);
    Next::Seq
}

fn endif(t: &mut Thread, d: &Decoded) -> Next {
    let Channels { own, .. } = channels(t, d);
    if t.spf || goes_on(t, d, own) {
        Next::Seq
    } else {
        branch(t, d.jump)
    }
}

fn r#while(t: &mut Thread, d: &Decoded) -> Next {
    let chosen = chosen(t, d);
    if t.spf {
        return if scalar(d, chosen) {
            branch(t, d.jump)
        } else {
            Next::Seq
        };
    }
    let Channels { on, .. } = channels(t, d);
    if on & chosen == 0 {
        return Next::Seq;
    }
    let to = behind(t, d);
    park(t, on & !chosen, to);
    branch(t, d.jump)
}

/// `break`, `cont` and `halt`: the chosen channels wait at UIP; when none is left, the thread goes on at JIP, the end of the
/// block that it is in.
fn leave(t: &mut Thread, d: &Decoded) -> Next {
    leave_to(t, d, (d.jump, d.pop))
}

/// The same to distances.
fn leave_to(t: &mut Thread, d: &Decoded, (jip, uip): (i32, i32)) -> Next {
    let chosen = chosen(t, d);
    if t.spf {
        return if scalar(d, chosen) {
            branch(t, uip)
        } else {
            Next::Seq
        };
    }
    let Channels { own, on } = channels(t, d);
    let goes = on & chosen;
    let (block, at) = (target(t, jip), target(t, uip));
    let alone = goes == on && t.parked.at(behind(t, d)) & own == 0;
    // They wait where the thread goes: then they go with it.
    if !(alone && block == at) {
        park(t, goes, at);
    }
    if alone { branch(t, jip) } else { Next::Seq }
}

/// The dword of a register that has the distances of a jump; `None` where the instruction has them.
fn distances(t: &Thread, d: &Decoded) -> Option<u32> {
    let by_register = !matches!(d.src[0].kind, SrcKind::Null);
    by_register.then(|| t.load_raw::<1>(&d.src[0])[0])
}

/// Branch converging: the thread jumps to JIP when no channel is left.
fn brc(t: &mut Thread, d: &Decoded) -> Next {
    // CAST: each is a signed word.
    let both = distances(t, d).map(|both| {
        let bytes = |count: u32| i32::from(count as i16).wrapping_mul(d.jump);
        (bytes(both), bytes(both >> 16))
    });
    leave_to(t, d, both.unwrap_or((d.jump, d.pop)))
}

/// Branch diverging: the thread jumps with the first channel, and the others wait behind the instruction.
fn brd(t: &mut Thread, d: &Decoded) -> Next {
    let chosen = chosen(t, d);
    // CAST: a signed number.
    let distance = distances(t, d).map(|count| (count as i32).wrapping_mul(d.jump));
    let distance = distance.unwrap_or(d.jump);
    if t.spf {
        return if scalar(d, chosen) {
            branch(t, distance)
        } else {
            Next::Seq
        };
    }
    let Channels { on, .. } = channels(t, d);
    if on & chosen == 0 {
        return Next::Seq;
    }
    let to = behind(t, d);
    park(t, on & !chosen, to);
    branch(t, distance)
}

/// The subroutine's channels are kept in the destination, behind the address of return.
fn call(t: &mut Thread, d: &Decoded) -> Next {
    let chosen = chosen(t, d);
    let Channels { on, .. } = channels(t, d);
    let goes = if t.spf && scalar(d, chosen) {
        on
    } else {
        on & chosen
    };
    if goes == 0 {
        return Next::Seq;
    }
    let back = behind(t, d);
    let kept = t.call_mask;
    let distance = match d.src[0].kind {
        SrcKind::Null => d.jump,
        // CAST: a dword.
        _ => (t.load_int::<1>(&d.src[0])[0] as i32).wrapping_mul(d.jump),
    };
    let mut lanes = [0; 8];
    (lanes[0], lanes[1]) = (back, kept);
    t.store_raw(&d.dst, 3, &lanes);
    park(t, on & !goes, back);
    t.call_mask = goes;
    branch(t, distance)
}

/// The thread returns with the last channel that was called.
fn ret(t: &mut Thread, d: &Decoded) -> Next {
    let chosen = chosen(t, d);
    let Channels { on, .. } = channels(t, d);
    let goes = if t.spf && scalar(d, chosen) {
        on
    } else {
        on & chosen
    };
    if goes == 0 {
        return Next::Seq;
    }
    let [back, kept, ..] = t.load_raw::<8>(&d.src[0]);
    t.call_mask &= !goes;
    if t.call_mask != 0 && !t.spf {
        let back = t.placed(back);
        park(t, goes, back);
        return Next::Seq;
    }
    t.call_mask = kept;
    let next = behind(t, d);
    park(t, on & !goes, next);
    t.jump_to(back);
    Next::Jump
}

fn unknown(t: &mut Thread, _: &Decoded) -> Next {
    t.note = "case and fork: their operands are not published";
    Next::Unimplemented
}

//! Flow control: jumps, branches, loops and the masks they keep.
//!
//! PRM: volume 4, 14.1.3 and 14.2 (jmpi, if, iff, else, endif, do, while, break, cont, halt,
//! wait); the mask stack instructions are in `stack`.

pub(crate) mod paths;
pub(crate) mod stack;

use crate::decoded::{Decoded, Next, SrcKind};
use crate::exception;
use crate::mask::StackError;
use crate::thread::Thread;

/// Jumps `bytes` from the instruction at `ip`. Half an instruction is none.
fn branch(t: &mut Thread, bytes: i32) -> Next {
    t.jump_to(t.ip.wrapping_add(bytes as u32));
    Next::Jump
}

/// The instruction's channels in the position of the masks.
fn channels(d: &Decoded) -> u16 {
    d.lanes << d.shift
}

/// Enabled channels in the position of the masks.
fn enabled(t: &Thread, d: &Decoded) -> u16 {
    t.write_mask(d) << d.shift
}

/// Finishes an instruction that may have over- or underrun a mask stack.
fn done(t: &mut Thread, next: Next, stack: Result<(), StackError>) -> Next {
    t.update_emask();
    if stack.is_err() {
        exception::mask_stack(t);
    }
    if t.jumped { Next::Jump } else { next }
}

/// Pops IMask `count` times (four bits in the encoding).
fn pop_ifs(t: &mut Thread, count: i32) -> Result<(), StackError> {
    let mut result = Ok(());
    for _ in 0..count.clamp(0, 15) {
        result = result.and(t.masks.pop_if());
    }
    result
}

/// The first channel of a scalar branch.
fn scalar(t: &Thread, d: &Decoded) -> bool {
    t.write_mask(d) & 1 != 0
}

/// The index of a `jmpi` is the low word of its immediate.
pub(crate) fn word_index(d: &mut Decoded) {
    if let SrcKind::Imm(index) = &mut d.src[1].kind {
        for part in index {
            // CAST: the low word, with its sign.
            *part = *part as i16 as u32;
        }
    }
}

pub(crate) fn jmpi(t: &mut Thread, d: &Decoded) -> Next {
    if !scalar(t, d) {
        return Next::Seq;
    }
    let count = t.load_int::<1>(&d.src[1])[0] as i32;
    branch(
        t,
        count.wrapping_mul(d.jump).wrapping_add(i32::from(d.bytes)),
    )
}

pub(crate) fn r#if(t: &mut Thread, d: &Decoded) -> Next {
    if t.spf {
        if scalar(t, d) {
            return Next::Seq;
        }
        let next = branch(t, d.jump);
        t.spf_else = Some(t.ip);
        return next;
    }
    let on = enabled(t, d);
    let stack = t.masks.push_if();
    t.masks.imask = (t.masks.imask & !channels(d)) | on;
    if on == 0 {
        branch(t, d.jump);
    }
    done(t, Next::Seq, stack)
}

pub(crate) fn iff(t: &mut Thread, d: &Decoded) -> Next {
    if t.spf {
        return if scalar(t, d) {
            Next::Seq
        } else {
            branch(t, d.jump)
        };
    }
    let on = enabled(t, d);
    if on == 0 {
        // The jump passes the `endif`, so nothing is pushed.
        return branch(t, d.jump);
    }
    let stack = t.masks.push_if();
    t.masks.imask = (t.masks.imask & !channels(d)) | on;
    done(t, Next::Seq, stack)
}

pub(crate) fn r#else(t: &mut Thread, d: &Decoded) -> Next {
    if t.spf {
        let landed = t.spf_else.take() == Some(t.ip);
        return if landed { Next::Seq } else { branch(t, d.jump) };
    }
    let chan = channels(d);
    let flipped = t.masks.top_if() & !t.masks.imask;
    t.masks.imask = (t.masks.imask & !chan) | (flipped & chan);
    t.update_emask();
    let mut stack = Ok(());
    if t.masks.emask() & chan == 0 {
        stack = pop_ifs(t, d.pop);
        branch(t, d.jump);
    }
    done(t, Next::Seq, stack)
}

pub(crate) fn endif(t: &mut Thread, d: &Decoded) -> Next {
    if t.spf {
        return Next::Seq;
    }
    let stack = pop_ifs(t, d.pop);
    done(t, Next::Seq, stack)
}

pub(crate) fn r#do(t: &mut Thread, _: &Decoded) -> Next {
    if t.spf {
        return Next::Seq;
    }
    let inside = t.masks.emask();
    let stack = t.masks.push_loop();
    t.masks.lmask = inside;
    t.masks.cmask = inside;
    done(t, Next::Seq, stack)
}

pub(crate) fn r#while(t: &mut Thread, d: &Decoded) -> Next {
    if t.spf {
        return if scalar(t, d) {
            branch(t, d.jump)
        } else {
            Next::Seq
        };
    }
    let chan = channels(d);
    let stay = t.predicate(d) << d.shift;
    t.masks.lmask &= stay | !chan;
    t.masks.cmask = t.masks.lmask;
    t.update_emask();
    let mut stack = Ok(());
    if t.masks.emask() & chan == 0 {
        stack = t.masks.pop_loop();
    } else {
        branch(t, d.jump);
    }
    done(t, Next::Seq, stack)
}

pub(crate) fn r#break(t: &mut Thread, d: &Decoded) -> Next {
    if t.spf {
        return if scalar(t, d) {
            branch(t, d.jump)
        } else {
            Next::Seq
        };
    }
    let chan = channels(d);
    t.masks.lmask &= !enabled(t, d);
    let mut stack = Ok(());
    if t.masks.lmask & t.masks.amask & chan == 0 {
        // The jump passes the `while`: leave the ifs inside the loop, then the loop.
        stack = pop_ifs(t, d.pop).and(t.masks.pop_loop());
        branch(t, d.jump);
    }
    done(t, Next::Seq, stack)
}

pub(crate) fn cont(t: &mut Thread, d: &Decoded) -> Next {
    if t.spf {
        return if scalar(t, d) {
            branch(t, d.jump)
        } else {
            Next::Seq
        };
    }
    let chan = channels(d);
    t.masks.cmask &= !enabled(t, d);
    let mut stack = Ok(());
    if t.masks.lmask & t.masks.cmask & t.masks.amask & chan == 0 {
        stack = pop_ifs(t, d.pop);
        branch(t, d.jump);
    }
    done(t, Next::Seq, stack)
}

pub(crate) fn halt(t: &mut Thread, d: &Decoded) -> Next {
    let chan = channels(d);
    t.masks.amask &= !enabled(t, d);
    t.update_emask();
    if t.masks.amask & chan == 0 && d.jump != 0 {
        let stack = pop_ifs(t, d.pop);
        branch(t, d.jump);
        return done(t, Next::Jump, stack);
    }
    Next::Seq
}

/// Waits until the notification register is not zero, then takes one notification.
pub(crate) fn wait(t: &mut Thread, d: &Decoded) -> Next {
    match t.notify.get_mut(usize::from(d.flag)) {
        Some(0) => Next::Wait,
        Some(n) => {
            *n -= 1;
            Next::Seq
        }
        None => {
            t.note = "PRM 11.3.4.12: wait on a notification register that does not exist";
            Next::Hung
        }
    }
}

/// Whether source 0 is the timestamp register.
pub(crate) fn reads_time(d: &Decoded) -> bool {
    matches!(d.src[0].kind, SrcKind::Arf(0xc0, _))
}

/// A move from the timestamp register, which the run loop has filled when it comes to [`timed`].
pub(crate) fn time(_: &mut Thread, _: &Decoded) -> Next {
    Next::Time
}

pub(crate) fn timed(t: &mut Thread, d: &Decoded, now: u64) {
    t.time = now;
    let mask = t.write_mask(d);
    let raw = t.load_raw::<16>(&d.src[0]);
    t.store_raw(&d.dst, mask, &raw);
}

pub(crate) fn nop(_: &mut Thread, _: &Decoded) -> Next {
    Next::Seq
}

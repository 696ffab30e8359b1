//! Exceptions: entry into the system routine and return from it.
//!
//! PRM: volume 4, chapter 12 and 3.6. Bit positions of CR1 other than the breakpoint enable are
//! those of later manuals.

use crate::rounding::Rounding;
use crate::thread::Thread;

/// CR0: alternative float mode.
pub(crate) const CR0_ALT: u32 = 1 << 0;
/// CR0: no implicit accumulator update.
pub(crate) const CR0_ACC_DISABLE: u32 = 1 << 1;
/// CR0: the next breakpoint is not taken.
pub(crate) const CR0_BREAKPOINT_SUPPRESS: u32 = 1 << 15;
/// CR0: inside the system routine; writing 0 returns.
pub(crate) const CR0_MASTER: u32 = 1 << 31;
/// CR1: enables.
pub(crate) const CR1_MASK_STACK_ENABLE: u32 = 1 << 11;
/// CR1: enable of the illegal opcode exception.
pub(crate) const CR1_ILLEGAL_ENABLE: u32 = 1 << 12;
/// CR1: enable of the software exception.
pub(crate) const CR1_SOFTWARE_ENABLE: u32 = 1 << 13;
/// CR1: enable of breakpoints (PRM 3.4.1).
pub(crate) const CR1_BREAKPOINT_ENABLE: u32 = 1 << 15;
/// CR1: status bits.
pub(crate) const CR1_MASK_STACK: u32 = 1 << 27;
/// CR1: illegal opcode status.
pub(crate) const CR1_ILLEGAL: u32 = 1 << 28;
/// CR1: software exception control.
pub(crate) const CR1_SOFTWARE: u32 = 1 << 29;
/// CR1: external halt status.
pub(crate) const CR1_EXTERNAL_HALT: u32 = 1 << 30;
/// CR1: breakpoint status.
pub(crate) const CR1_BREAKPOINT: u32 = 1 << 31;

/// In the count of a single step: the present instruction's breakpoint has been suppressed.
pub(crate) const STEP_SUPPRESSED: u8 = 1 << 7;

/// Enters the system routine with `resume` in AIP; nothing happens inside the routine.
pub(crate) fn enter(t: &mut Thread, status: u32, resume: u32) {
    t.cr[1] |= status;
    if t.cr[0] & CR0_MASTER == 0 {
        t.cr[0] |= CR0_MASTER;
        t.cr[2] = t.placed(resume);
        let sip = t.sip;
        t.jump_to(sip);
    }
}

/// Takes an exception behind the instruction that runs, or where it jumps to.
fn enter_behind(t: &mut Thread, status: u32) {
    let at = t.ip;
    t.aip_behind = t.cr[0] & CR0_MASTER == 0 && !t.jumped;
    enter(t, status, at);
}

/// Whether the thread can stop for a breakpoint.
pub(crate) fn breakpoints(t: &Thread) -> bool {
    t.cr[1] & (CR1_BREAKPOINT | CR1_BREAKPOINT_ENABLE) != 0
}

/// Takes a breakpoint before the instruction at `ip`, unless it is off or suppressed.
pub(crate) fn breakpoint(t: &mut Thread) -> bool {
    let enabled = t.cr[1] & CR1_BREAKPOINT_ENABLE != 0 && t.cr[0] & CR0_MASTER == 0;
    if !enabled {
        return false;
    }
    // The ways to mark an instruction make one breakpoint (PRM 3.6): what was suppressed stays so until the
    // instruction has executed, though it is asked for again.
    if t.step & STEP_SUPPRESSED != 0 {
        return false;
    }
    if t.cr[0] & CR0_BREAKPOINT_SUPPRESS != 0 {
        t.cr[0] &= !CR0_BREAKPOINT_SUPPRESS;
        t.step |= STEP_SUPPRESSED;
        return false;
    }
    let ip = t.ip;
    enter(t, CR1_BREAKPOINT, ip);
    t.jumped = false;
    true
}

/// An illegal opcode: `true` when the system routine takes it.
pub(crate) fn illegal(t: &mut Thread) -> bool {
    if t.cr[1] & CR1_ILLEGAL_ENABLE == 0 || t.cr[0] & CR0_MASTER != 0 {
        return false;
    }
    let ip = t.ip;
    enter(t, CR1_ILLEGAL, ip);
    t.jumped = false;
    true
}

/// An external halt: taken before the next instruction, or, inside the system routine, on the way
/// out of it. It has no enable.
pub(crate) fn external_halt(t: &mut Thread) {
    let ip = t.ip;
    enter(t, CR1_EXTERNAL_HALT, ip);
    t.jumped = false;
}

/// A mask stack over- or underflow; taken after the instruction.
pub(crate) fn mask_stack(t: &mut Thread) {
    if t.cr[1] & CR1_MASK_STACK_ENABLE != 0 {
        enter_behind(t, CR1_MASK_STACK);
    }
}

/// A write to the control register: modes, exception return, software exception.
pub(crate) fn write_control(t: &mut Thread, cr0: u32, cr1: u32, cr2: u32) {
    let was_inside = t.cr[0] & CR0_MASTER != 0;
    let raised = cr1 & CR1_SOFTWARE != 0 && t.cr[1] & CR1_SOFTWARE == 0;
    t.cr = [cr0, cr1, cr2];
    // Only an exception sets the master bit.
    if !was_inside {
        t.cr[0] &= !CR0_MASTER;
    }
    t.alt = cr0 & CR0_ALT != 0;
    t.rounding = Rounding::of(cr0);
    t.acc_on = cr0 & CR0_ACC_DISABLE == 0;
    // Breakpoints may have been enabled.
    t.acc_lazy = false;
    if was_inside && cr0 & CR0_MASTER == 0 {
        t.jump_to(cr2);
        // Suppress lets one instruction execute and is reset; a breakpoint status left set traps again then, or at
        // once without Suppress (PRM 3.6.1). Counted are this instruction and the next.
        let suppressed = t.cr[0] & CR0_BREAKPOINT_SUPPRESS != 0;
        t.step = if suppressed { 2 } else { 0 };
        let again = t.cr[1] & CR1_BREAKPOINT != 0 && !suppressed;
        if again || t.cr[1] & CR1_EXTERNAL_HALT != 0 {
            // The routine has not cleared it, or it came in the meantime.
            t.step = 0;
            enter(t, 0, cr2);
        }
    } else if raised && t.cr[1] & CR1_SOFTWARE_ENABLE != 0 {
        enter_behind(t, 0);
    }
}

#[cfg(test)]
mod tests;

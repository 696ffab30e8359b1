//! Ring start and stop.
//!
//! Orders of i915 `intel_ring_submission.c` (`stop_ring`, `xcs_resume`) and `intel_engine_cs.c`
//! (`intel_engine_stop_cs`). Not modelled: resuming in the middle of a ring.
use kernel::error::{Result, code::EIO};
use kernel::pr_err;
use kernel::time::Delta;
use kernel::tock_registers::interfaces::{Readable, Writeable};
use ringbuf::tail::Tail;

use crate::mmio::{MiMode, RingCtl, ring};
use crate::uncore::Uncore;

/// TIMEOUT: for the parser to stand still once it is told to (i915: 1 ms, then slower).
const STOP_TIMEOUT: Delta = Delta::from_millis(100);
/// TIMEOUT: for an enabled ring to read back as valid (i915: 5 ms).
const VALID_TIMEOUT: Delta = Delta::from_millis(5);
/// Status page address after reset: memory that nothing uses (i915 wrote it back when it gave its page up).
const PARKED_STATUS_PAGE: u32 = 0x1fff_f000;
/// HWSTAM: all interrupts but the user interrupt are kept out of the status page (i915 `set_hwstam`: leaving it in
/// papers over interrupts lost after a reset).
const HWSTAM_USER_ONLY: u32 = !(1 << 1);

/// Stops the parser at the next command.
fn stop_command_streamer(uncore: &Uncore, base: usize) {
    let mode = uncore.reg::<MiMode::Register>(base + ring::MI_MODE);
    mode.write_masked(MiMode::STOP_RING::SET);
    let idle = MiMode::IDLE::SET.value;
    let stopped = uncore.wait_for_register(base + ring::MI_MODE, idle, idle, STOP_TIMEOUT);
    mode.posting_read();
    if stopped.is_err() {
        let head = uncore.read(base + ring::HEAD) & ring::HEAD_ADDR;
        let tail = uncore.read(base + ring::TAIL) & ring::TAIL_ADDR;
        if head != tail {
            pr_err!("command streamer does not stop: head {head:#x}, tail {tail:#x}");
        }
    }
}

/// Empties and disables the ring; false when the head does not go to zero.
fn stop_ring(uncore: &Uncore, base: usize) -> bool {
    // Skip to the end: the ring must be empty before it is disabled.
    uncore.write(base + ring::HEAD, uncore.read(base + ring::TAIL));
    uncore.posting_read(base + ring::HEAD);
    uncore.write(base + ring::CTL, 0);
    uncore.posting_read(base + ring::CTL);
    uncore.write(base + ring::HEAD, 0);
    Tail::START.write(uncore.io(), base);
    uncore.read(base + ring::HEAD) & ring::HEAD_ADDR == 0
}

/// Stops parser and ring.
pub fn stop(uncore: &Uncore, base: usize) {
    stop_command_streamer(uncore, base);
    // W/A: the first try often leaves a head behind (i915 `reset_prepare`).
    if !stop_ring(uncore, base) && !stop_ring(uncore, base) {
        pr_err!(
            "ring head does not go to zero: {:#010x}",
            uncore.read(base + ring::HEAD)
        );
    }
}

/// Starts an empty ring at a graphics address.
pub fn start(uncore: &Uncore, base: usize, address: u32, size: u32, status_page: u32) -> Result {
    // Once more: the registers below are lost on a ring that is not disabled with its head at zero.
    if !stop_ring(uncore, base) {
        return Err(dead(uncore, base, address));
    }
    uncore.write(base + ring::HWS_PGA, status_page);
    uncore.write(base + ring::HWSTAM, HWSTAM_USER_ONLY);
    // Reading the head back orders what follows.
    uncore.posting_read(base + ring::HEAD);
    uncore.write(base + ring::START, address);
    uncore.write(base + ring::HEAD, 0);
    Tail::START.write(uncore.io(), base);
    uncore.posting_read(base + ring::TAIL);
    let valid = RingCtl::VALID::SET.value;
    let pages = RingCtl::NR_PAGES.val((size / 4096).wrapping_sub(1));
    uncore
        .reg::<RingCtl::Register>(base + ring::CTL)
        .write(pages + RingCtl::VALID::SET);
    if uncore
        .wait_for_register(base + ring::CTL, valid, valid, VALID_TIMEOUT)
        .is_err()
    {
        return Err(dead(uncore, base, address));
    }
    uncore
        .reg::<MiMode::Register>(base + ring::MI_MODE)
        .write_masked(MiMode::STOP_RING::CLEAR);
    Ok(())
}

fn dead(uncore: &Uncore, base: usize, address: u32) -> kernel::error::Error {
    let read = |offset| uncore.read(base + offset);
    pr_err!(
        "ring does not start: ctl {:08x} head {:08x} tail {:08x} start {:08x} [expected {address:08x}]",
        read(ring::CTL),
        read(ring::HEAD),
        read(ring::TAIL),
        read(ring::START),
    );
    EIO
}

/// Points the status page register away from memory that is about to be freed.
pub fn park_status_page(uncore: &Uncore, base: usize) {
    uncore.write(base + ring::HWS_PGA, PARKED_STATUS_PAGE);
    uncore.posting_read(base + ring::HWS_PGA);
}

/// Whether the parser stands still with nothing left in the ring.
pub fn is_idle(uncore: &Uncore, base: usize) -> bool {
    let head = uncore.read(base + ring::HEAD) & ring::HEAD_ADDR;
    let tail = uncore.read(base + ring::TAIL) & ring::TAIL_ADDR;
    head == tail
        && uncore
            .reg::<MiMode::Register>(base + ring::MI_MODE)
            .is_set(MiMode::IDLE)
}

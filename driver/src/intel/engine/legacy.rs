//! Ring start and stop.
//!
//! Orders of i915 `intel_ring_submission.c` (`stop_ring`, `xcs_resume`) and `intel_engine_cs.c`
//! (`intel_engine_stop_cs`). Not modelled: resuming in the middle of a ring.
use kernel::error::{Result, code::EIO};
use kernel::pr_err;
use kernel::time::Delta;
use kernel::tock_registers::interfaces::{Readable, Writeable};
use ringbuf::tail::Tail;

use crate::intel::r#gen::{EngineInfo, SpaceOps};
use crate::intel::registers::fields::{
    CCID as Ccid, MI_MODE as MiMode, PRB0_CTL as RingCtl, PRB0_HEAD as Head,
};
use crate::intel::registers::reg::{
    CCID, HWSTAM, MI_MODE, PRB0_CTL, PRB0_HEAD, PRB0_START, PRB0_TAIL,
};
use crate::intel::uncore::EngineRegisters;

/// TIMEOUT: for the parser to stand still once it is told to (i915: 1 ms, then slower).
const STOP_TIMEOUT: Delta = Delta::from_millis(100);
/// TIMEOUT: for an enabled ring to read back as valid (i915: 5 ms).
const VALID_TIMEOUT: Delta = Delta::from_millis(5);
/// Status page address after reset: memory that nothing uses (i915 wrote it back when it gave its page up).
const PARKED_STATUS_PAGE: u32 = 0x1fff_f000;
/// Head offset in bytes, without the wrap count.
pub fn head(engine: &EngineRegisters) -> u32 {
    engine.reg(PRB0_HEAD).read(Head::HEAD_OFFSET) << 2
}

/// Stops the parser at the next command.
fn stop_command_streamer(engine: &EngineRegisters) {
    let mode = engine.reg(MI_MODE);
    mode.write_masked(MiMode::STOP_RING::SET);
    let idle = MiMode::MODE_IDLE::SET.value;
    let stopped = engine.wait_for_register(MI_MODE, idle, idle, STOP_TIMEOUT);
    mode.posting_read();
    if stopped.is_err() {
        let head = head(engine);
        let tail = engine.read(PRB0_TAIL);
        if head != tail {
            pr_err!("command streamer does not stop: head {head:#x}, tail {tail:#x}");
        }
    }
}

/// Empties and disables the ring; false when the head does not go to zero.
fn stop_ring(engine: &EngineRegisters) -> bool {
    // Skip to the end: the ring must be empty before it is disabled.
    engine.write(PRB0_HEAD, engine.read(PRB0_TAIL));
    engine.posting_read(PRB0_HEAD);
    engine.write(PRB0_CTL, 0);
    engine.posting_read(PRB0_CTL);
    engine.write(PRB0_HEAD, 0);
    Tail::START.write(engine.uncore().io(), engine.offset(PRB0_TAIL));
    head(engine) == 0
}

/// Stops parser and ring.
pub fn stop(engine: &EngineRegisters) {
    stop_command_streamer(engine);
    // W/A: the first try often leaves a head behind (i915 `reset_prepare`).
    if !stop_ring(engine) && !stop_ring(engine) {
        pr_err!(
            "ring head does not go to zero: {:#010x}",
            engine.read(PRB0_HEAD)
        );
    }
}

/// Starts an empty ring at a graphics address.
pub fn start(
    engine: &EngineRegisters,
    info: &EngineInfo,
    (address, size): (u32, u32),
    status_page: u32,
    process: Option<(&SpaceOps, u32)>,
) -> Result {
    // Once more: the registers below are lost on a ring that is not disabled with its head at zero.
    if !stop_ring(engine) {
        return Err(dead(engine, address));
    }
    set_status_page(engine, info, status_page);
    if let Some(mask) = info.status_mask {
        engine.write(HWSTAM, mask);
    }
    (info.settle)(engine);
    // Reading the head back orders what follows.
    engine.posting_read(PRB0_HEAD);
    engine.write(PRB0_START, address);
    if let Some((ops, directory)) = process {
        (ops.start)(engine, directory);
    }
    engine.write(PRB0_HEAD, 0);
    Tail::START.write(engine.uncore().io(), engine.offset(PRB0_TAIL));
    engine.posting_read(PRB0_TAIL);
    let valid = RingCtl::RING_BUFFER_ENABLE::SET.value;
    let pages = RingCtl::BUFFER_LENGTH.val((size / 4096).wrapping_sub(1));
    engine
        .reg(PRB0_CTL)
        .write(pages + RingCtl::RING_BUFFER_ENABLE::SET);
    if engine
        .wait_for_register(PRB0_CTL, valid, valid, VALID_TIMEOUT)
        .is_err()
    {
        return Err(dead(engine, address));
    }
    engine.reg(MI_MODE).write_masked(MiMode::STOP_RING::CLEAR);
    Ok(())
}

fn dead(engine: &EngineRegisters, address: u32) -> kernel::error::Error {
    pr_err!(
        "ring does not start: ctl {:08x} head {:08x} tail {:08x} start {:08x} [expected {address:08x}]",
        engine.read(PRB0_CTL),
        engine.read(PRB0_HEAD),
        engine.read(PRB0_TAIL),
        engine.read(PRB0_START),
    );
    EIO
}

/// Graphics address of the current context's image, if one is current.
pub fn context(engine: &EngineRegisters) -> Option<u32> {
    let ccid = engine.reg(CCID);
    ccid.is_set(Ccid::VALID)
        .then(|| ccid.read(Ccid::CONTEXT_ADDRESS) << 12)
}

/// Graphics address of the ring that the parser reads.
pub fn ring(engine: &EngineRegisters) -> u32 {
    engine.read(PRB0_START)
}

/// Points the status page register away from memory that is about to be freed.
pub fn park_status_page(engine: &EngineRegisters, info: &EngineInfo) {
    set_status_page(engine, info, PARKED_STATUS_PAGE);
    engine
        .uncore()
        .io()
        .posting_read(info.status_register as usize);
}

fn set_status_page(engine: &EngineRegisters, info: &EngineInfo, address: u32) {
    let io = engine.uncore().io();
    io.write32(address, info.status_register as usize);
}

/// Whether the parser stands still with nothing left in the ring.
pub fn is_idle(engine: &EngineRegisters) -> bool {
    let head = head(engine);
    let tail = engine.read(PRB0_TAIL);
    head == tail && engine.reg(MI_MODE).is_set(MiMode::MODE_IDLE)
}

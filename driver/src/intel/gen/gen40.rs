//! Rows of the 965 family: GM965, GME965, G965, Q965, G35, 946GZ.
//!
//! PRM vol1 memory interface commands; orders and counts from i915 `gen2_engine_cs.c` and `intel_reset.c`.
use alloc::vec::Vec;

use isa::inst::Verx10;
use kernel::dma::{DmaAddress, PAGE_SIZE};
use kernel::error::{Result, code::EIO, code::ERANGE};
use kernel::pr_err;
use kernel::tock_registers::interfaces::{Readable, Writeable};
use regs::gen40::StateSip;
use regs::gen40::fields::{EIR as Error, IIR as Interrupt, PGTBL_CTL as PgtblCtl};
use regs::gen40::reg::{HWS_PGA, IER, IIR, IMR, PGTBL_CTL, PRB0_TAIL};
use regs::platform::GEN40;
use ringbuf::emit::Sink;
use ringbuf::r#gen::gen40::{Commands, FlushBits};
use ringbuf::mi::NOOP;
use ringbuf::tail::Tail;

use super::reset;
use super::workarounds;
use super::{
    ClientDriver, DeviceInfo, EmitOps, EngineInfo, ErrorInterrupt, Flush, GttOps, HWS_SCRATCH,
    HWS_SEQNO, InterruptBank, InterruptInfo, PageUse, Places, RoutineMessages, StatusPage,
    ThreadPlaces, state,
};
use crate::intel::uapi::context::CLASS_RENDER;
use crate::intel::uncore::{EngineRegisters, Uncore};
use crate::intel::workarounds::Workaround;

const fn row(
    platform: &'static str,
    stateless_gate: bool,
    engines: &'static [EngineInfo],
) -> DeviceInfo {
    DeviceInfo {
        platform,
        tables: &GEN40,
        isa: Verx10::GEN40,
        threads: ThreadPlaces { eus: 8, slots: 4 },
        stateless_gate,
        timestamp_hz: TIMESTAMP_HZ,
        workarounds: workarounds::I965_GT,
        engines,
        gtt: &GTT,
        space: None,
        llc: false,
        snoops: false,
        coherent_aperture: true,
        resets_engines: false,
        privileged_batches: true,
        fence_pitch: FENCE_PITCH,
        fence_most: 0x400,
        image_size: one_page,
        interrupts: &INTERRUPTS,
        routine: &ROUTINE,
        state: &state::gen40::OPS,
        client: &CROCUS,
        recorded: &[],
        recorded_of_engines: &[],
        forcewake: None,
        reset: reset::full_domain_with_status,
        reset_beside: None,
    }
}

const fn render(workarounds: &'static [Workaround]) -> EngineInfo {
    EngineInfo {
        name: "rcs0",
        class: CLASS_RENDER,
        mask: 1 << 0,
        base: 0,
        has_images: true,
        status_mask: STATUS_MASK,
        user_interrupt: Interrupt::USER::SET.value,
        interrupt_mask: None,
        fault: None,
        status_page: StatusPage::Physical(page_bits),
        status_register: HWS_PGA.offset(),
        settle: |_| {},
        tell: write_tail,
        emit: &RENDER,
        checks: None,
        workarounds,
    }
}

/// Desktop parts ("Broadwater").
pub static I965G: DeviceInfo = row("I965G", true, &[render(workarounds::I965G_ENGINE)]);

/// Mobile parts ("Crestline").
pub static I965GM: DeviceInfo = row("I965GM", false, &[render(workarounds::RENDER_ENGINE)]);

/// Mesa's driver for these devices and the next generations (Mesa 22.3.6 `crocus_pci_ids.h`; OpenGL 2.1 on generations 4 and 5:
/// D. Airlie, "crocus: gallium for the gen4-7 generation", 2021).
pub(super) static CROCUS: ClientDriver = ClientDriver {
    file: "crocus_dri.so",
    offers: "OpenGL 2.1 and OpenGL ES 2.0",
};

/// A sixteenth of a front side bus of 200 MHz (i915 `gen2_read_clock_frequency`).
pub(super) const TIMESTAMP_HZ: u32 = 12_500_000;
/// Page table and memory refresh errors raise the interrupt; the instruction error mask bit is reserved on this
/// family and stays set (i915 `i965_irq_postinstall`).
const ERROR_MASK: u32 = !(1 << 4 | 1 << 1);

/// Registers of all interrupts.
pub(super) const BANK: InterruptBank = InterruptBank {
    imr: IMR.offset(),
    ier: IER.offset(),
    iir: IIR.offset(),
};

static INTERRUPTS: InterruptInfo = InterruptInfo {
    bank: BANK,
    masked: &[],
    error: Some(ErrorInterrupt {
        bit: Interrupt::MASTER_ERROR::SET.value,
        mask: ERROR_MASK,
        page_table: Error::PAGE_TABLE_ERROR::SET.value,
    }),
    master: None,
};

/// PRM vol4 5.10.2, 5.10.7.
pub(super) static ROUTINE: RoutineMessages = RoutineMessages {
    write_row: "0x055004ff",
    write_register: "0x052002ff",
    read_row: "0x041444ff",
    read_register: "0x041142ff",
    flush: "0x0511f000",
};

/// First bit of the pitch in a fence register (i915 `I965_FENCE_PITCH_SHIFT`).
pub(super) const FENCE_PITCH: u32 = 2;

/// HWSTAM: all interrupts but the user interrupt are kept out of the status page (i915 `set_hwstam`: leaving it in
/// papers over interrupts lost after a reset).
pub(super) const STATUS_MASK: Option<u32> = Some(!Interrupt::USER::SET.value);

/// A context's state takes less than a page on this family.
pub(super) fn one_page(_: &Uncore) -> usize {
    PAGE_SIZE
}

/// i915 `i9xx_submit_request`.
pub(super) fn write_tail(engine: &EngineRegisters, tail: Tail) {
    tail.write(engine.uncore().io(), engine.offset(PRB0_TAIL));
}

pub(super) static GTT: GttOps = GttOps {
    entries: gtt_entries,
    enable: gtt_enable,
    flush: |_| {},
    encode: pte_encode,
    decode: pte_decode,
};

pub(super) const RENDER: EmitOps = EmitOps {
    flush: emit_flush,
    set_context: emit_set_context,
    sip: emit_sip,
    counter_reset: emit_counter_reset,
    batch_start: emit_batch_start,
    breadcrumb: emit_breadcrumb,
    reset_offsets: None,
};

/// W/A: MI_FLUSHes that pass after an invalidation before the parser sees memory as it is now
/// (i915 `gen4_emit_flush_rcs`: without this delay it does not see relocated batches).
const INVALIDATE_DELAY: usize = 12;
/// W/A: dummy stores between the flush and the sequence number, and stores of the number itself, so that the number
/// is in memory when the interrupt arrives (i915 `gen3_emit_breadcrumb`).
const BREADCRUMB_SCRATCH_STORES: usize = 16;
const BREADCRUMB_SEQNO_STORES: usize = 8;

/// State and instruction caches forget what they hold.
fn invalidate(out: &mut Vec<u32>) {
    out.flush(FlushBits {
        state_instruction_invalidate: true,
        ..FlushBits::default()
    });
}

fn emit_flush(out: &mut Vec<u32>, mode: Flush, scratch: u32) {
    flush_with(out, mode, scratch, invalidate);
}

/// A flush whose MI_FLUSH that invalidates is the one that `invalidate` appends.
pub(super) fn flush_with(
    out: &mut Vec<u32>,
    mode: Flush,
    scratch: u32,
    invalidate: fn(out: &mut Vec<u32>),
) {
    match mode {
        Flush::WriteBack => {
            out.flush(FlushBits::default());
            out.flush(FlushBits::default());
        }
        Flush::Invalidate => {
            invalidate(out);
            out.pipe_control_write(scratch, 0);
            for _ in 0..INVALIDATE_DELAY {
                out.flush(FlushBits::default());
            }
            out.pipe_control_write(scratch, 0);
            invalidate(out);
        }
    }
}

/// i915 `mi_set_context`: the no-operations are a workaround for all parts up to Haswell.
pub(super) fn emit_set_context(out: &mut Vec<u32>, address: u32, inhibit: bool) {
    out.put(&[NOOP]);
    out.set_context(address, inhibit);
    out.put(&[NOOP]);
}

/// PRM vol2, STATE_SIP.
fn emit_sip(out: &mut Vec<u32>, sip: u32) {
    let command = StateSip::new().with_system_instruction_pointer(sip);
    out.put(command.dwords());
}

/// PRM vol4 3.2.1.
fn emit_counter_reset(out: &mut Vec<u32>) {
    out.flush(FlushBits {
        snapshot_count_reset: true,
        ..FlushBits::default()
    });
}

fn emit_batch_start(out: &mut Vec<u32>, address: u32, trusted: bool) {
    out.batch_buffer_start(address, !trusted);
}

fn emit_breadcrumb(out: &mut Vec<u32>, seqno: u32, _: Places) {
    breadcrumb_with(out, seqno, BREADCRUMB_SCRATCH_STORES);
}

/// A breadcrumb with so many dummy stores (i915 `__gen2_emit_breadcrumb`).
pub(super) fn breadcrumb_with(out: &mut Vec<u32>, seqno: u32, scratch_stores: usize) {
    out.flush(FlushBits::default());
    for _ in 0..scratch_stores {
        out.store_data_index(HWS_SCRATCH, seqno);
    }
    for _ in 0..BREADCRUMB_SEQNO_STORES {
        out.store_data_index(HWS_SEQNO, seqno);
    }
    out.user_interrupt();
}

/// Size of the GTT in entries, as PGTBL_CTL tells (intel-gtt.c `i965_gtt_total_entries`).
fn gtt_entries(uncore: &Uncore) -> usize {
    let kib = match uncore.reg(PGTBL_CTL).read_as_enum(PgtblCtl::SIZE) {
        Some(PgtblCtl::SIZE::Value::Size256kb) => 256,
        Some(PgtblCtl::SIZE::Value::Size128kb) => 128,
        Some(PgtblCtl::SIZE::Value::Size1mb) => 1024,
        Some(PgtblCtl::SIZE::Value::Size2mb) => 2048,
        Some(PgtblCtl::SIZE::Value::Size15mb) => 1536,
        Some(PgtblCtl::SIZE::Value::Size512kb) | None => 512,
    };
    kib * 1024 / 4
}

/// Turns translation on if the firmware or a reset left it off.
fn gtt_enable(uncore: &Uncore) -> Result {
    let ctl = uncore.reg(PGTBL_CTL);
    let value = ctl.get();
    ctl.set(value | PgtblCtl::ENABLE::SET.value);
    if !ctl.is_set(PgtblCtl::ENABLE) {
        pr_err!("GTT does not turn on: PGTBL_CTL {:#010x}", ctl.get());
        return Err(EIO);
    }
    Ok(())
}

/// Address bits 31:12 in place, 35:32 in bits 7:4 (intel-gtt.c `i965_write_entry`). HWS_PGA holds a physical address in
/// this form on this family (i915 `hws_needs_physical`).
fn page_bits(page: DmaAddress) -> Result<u32> {
    if page & 0xfff != 0 || page >> 36 != 0 {
        return Err(ERANGE);
    }
    Ok(page as u32 | ((page >> 28) as u32 & 0xf0))
}

/// Bit 0 makes the entry valid, bits 2:1 let the device look into the processor's caches (intel-gtt.c `I830_PTE_SYSTEM_CACHED`).
fn pte_encode(page: DmaAddress, used: PageUse) -> Result<u32> {
    let snooped = if used.cached { 6 } else { 0 };
    Ok(page_bits(page)? | snooped | 1)
}

/// See [`page_bits`].
fn pte_decode(entry: u32) -> Option<DmaAddress> {
    let page = u64::from(entry & 0xffff_f000) | u64::from(entry & 0xf0) << 28;
    (entry & 1 != 0).then_some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: PageUse = PageUse {
        cached: false,
        writable: true,
    };

    #[test]
    fn page_table_entries_carry_36_address_bits() {
        assert_eq!(pte_encode(0x1234_5000, OWN), Ok(0x1234_5001));
        assert_eq!(pte_encode(0xf_8000_1000, OWN), Ok(0x8000_10f1));
        let cached = PageUse {
            cached: true,
            ..OWN
        };
        assert_eq!(pte_encode(0x1234_5000, cached), Ok(0x1234_5007));
        assert_eq!(pte_decode(0x8000_10f1), Some(0xf_8000_1000));
        assert_eq!(pte_decode(0x8000_10f0), None);
        assert_eq!(pte_encode(0x10_0000_0000, OWN), Err(ERANGE));
        assert_eq!(pte_encode(0x1234_5004, OWN), Err(ERANGE));
        assert_eq!(page_bits(0x3_0000_2000), Ok(0x0000_2030));
    }

    /// Literal dwords of the i915 sequences (values of `intel_gpu_commands.h`).
    #[test]
    fn emitted_commands_are_the_documented_dwords() {
        let mut out = Vec::new();
        emit_batch_start(&mut out, 0x10_4000, false);
        emit_batch_start(&mut out, 0x10_4000, true);
        assert_eq!(out, [0x1880_0180, 0x0010_4000, 0x1880_0080, 0x0010_4000]);

        out.clear();
        emit_flush(&mut out, Flush::Invalidate, 0x7000);
        assert_eq!(out.len(), 22);
        assert_eq!(out[..5], [0x0200_0002, 0x7a00_4002, 0x7004, 0, 0]);
        assert_eq!(out[5..17], [0x0200_0000; 12]);
        assert_eq!(out[17..], [0x7a00_4002, 0x7004, 0, 0, 0x0200_0002]);

        out.clear();
        emit_set_context(&mut out, 0x7000, true);
        emit_set_context(&mut out, 0x8000, false);
        let flags = 1 << 8 | 1 << 3 | 1 << 2;
        assert_eq!(out[..4], [0, 0x0c00_0000, 0x7000 | flags | 1, 0]);
        assert_eq!(out[4..], [0, 0x0c00_0000, 0x8000 | flags, 0]);

        out.clear();
        emit_breadcrumb(
            &mut out,
            0x55,
            Places {
                status: 0,
                scratch: 0x7000,
            },
        );
        assert_eq!(out.len(), 1 + 3 * 24 + 1);
        assert_eq!(out[..4], [0x0200_0000, 0x1080_0001, 0x200, 0x55]);
        assert_eq!(out[49..52], [0x1080_0001, 0x100, 0x55]);
        assert_eq!(out[73], 0x0100_0000);
    }
}

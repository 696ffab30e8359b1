//! The row of Sandy Bridge, desktop and mobile.
//!
//! What differs from Ironlake: i915 `i915_pci.c`, `gt/gen6_engine_cs.c`, `gt/intel_ring_submission.c`, `gt/intel_ggtt.c`,
//! `gt/intel_reset.c`, `gt/intel_gt_irq.c`, `gt/intel_engine_cs.c`, `intel_uncore.c`. Not modelled: semaphores between engines (i915
//! has none on this family either since Linux 5.9; the host orders them), power states, the south bridge's interrupts.
pub(super) mod state;

use alloc::vec::Vec;

use isa::inst::Verx10;
use kernel::dma::{DmaAddress, PAGE_SIZE};
use kernel::error::{Result, code::ERANGE};
use kernel::pr_err;
use kernel::time::{Delta, delay};
use kernel::tock_registers::fields::FieldValue;
use kernel::tock_registers::interfaces::{ReadWriteable, Readable, Writeable};
use regs::gen60::PipeControl;
use regs::gen60::fields::{
    BSD_PSMI_CTL as PsmiCtl, CXT_SIZE as CxtSize, DEIER as DisplayEnable, GAB_CTL as GabCtl,
    GAC_ECO_BITS as EcoBits, GAM_ECOCHK as EcoChk, GEN6_GDRST as Reset,
    GFX_FLSH_CNTL as FlushControl, GFX_MODE as GfxMode, GT_THREAD_STATUS_REG as ThreadStatus,
    GTFIFOCTL as Fifo, GTIIR as Interrupt, INSTPM as Instpm,
};
use regs::gen60::reg::{
    BCS_FAULT_REG, BLT_HWS_PGA, BLT_IMR, BSD_HWS_PGA, BSD_IMR, BSD_PSMI_CTL, BSD_RNCID, CXT_SIZE,
    DEIER, DEIIR, DEIMR, FORCEWAKE, FORCEWAKE_ACK, GAB_CTL, GAC_ECO_BITS, GAM_ECOCHK, GEN6_GDRST,
    GFX_FLSH_CNTL, GFX_MODE, GT_THREAD_STATUS_REG, GTFIFOCTL, GTFIFODBG, GTIER, GTIIR, GTIMR,
    HWS_PGA, INSTPM, PMIER, PMIIR, PMIMR, RCS_FAULT_REG, RCS_IMR, RCS_PP_DIR_BASE, RCS_PP_DIR_DCLV,
    VCS_FAULT_REG,
};
use regs::gen60::values::post_sync_operation::WRITE_IMMEDIATE_DATA;
use regs::ids::RegId;
use regs::platform::GEN60;
use ringbuf::emit::Sink;
use ringbuf::r#gen::gen40::Commands as _;
use ringbuf::r#gen::gen60::{Commands, Forgets};
use ringbuf::mi::NOOP;
use ringbuf::tail::Tail;

use super::{
    ClientDriver, DeviceInfo, EmitOps, EngineInfo, Flush, GttOps, HWS_SCRATCH, HWS_SEQNO,
    InterruptBank, InterruptInfo, MasterInterrupt, PageUse, Places, SpaceOps, StatusPage, Switch,
    ThreadPlaces,
};
use super::{gen40, gen50, workarounds};
use crate::intel::uapi::context::{CLASS_COPY, CLASS_RENDER, CLASS_VIDEO};
use crate::intel::uncore::forcewake::{ForcewakeInfo, Range, Well};
use crate::intel::uncore::{EngineRegisters, Uncore};

const fn row(eus: u8) -> DeviceInfo {
    DeviceInfo {
        platform: "SANDYBRIDGE",
        tables: &GEN60,
        isa: Verx10::from_times_ten(60),
        threads: ThreadPlaces { eus, slots: 5 },
        stateless_gate: false,
        timestamp_hz: TIMESTAMP_HZ,
        // i915 `snb_gt_workarounds_init` has none: they are the render engine's.
        workarounds: &[],
        // In the order of classes, as i915 lists them to user space (`engine_cmp`).
        engines: &[RENDER, BLITTER, VIDEO],
        gtt: &GTT,
        space: Some(&SPACE),
        llc: true,
        snoops: false,
        coherent_aperture: true,
        resets_engines: false,
        privileged_batches: false,
        fence_pitch: FENCE_PITCH,
        fence_most: 0x400,
        image_size,
        interrupts: &INTERRUPTS,
        routine: &gen50::ROUTINE,
        state: &state::OPS,
        client: &CROCUS,
        // i915 `err_print_gt_global`.
        recorded: &[
            ("FORCEWAKE", RegId::Forcewake),
            ("ERROR", RegId::ErrorGen6),
            ("DONE_REG", RegId::DoneReg),
        ],
        recorded_of_engines: &[],
        forcewake: Some(&FORCEWAKE_INFO),
        reset: reset_all,
        reset_beside: Some(reset_beside),
    }
}

/// Parts with one row of execution units.
pub static SANDY_BRIDGE_GT1: DeviceInfo = row(6);

/// Parts with two.
pub static SANDY_BRIDGE_GT2: DeviceInfo = row(12);

const RENDER: EngineInfo = EngineInfo {
    name: "rcs0",
    class: CLASS_RENDER,
    mask: 1 << 0,
    base: 0,
    has_images: true,
    // i915 `set_hwstam`.
    status_mask: Some(!Interrupt::USER::SET.value),
    user_interrupt: Interrupt::USER::SET.value,
    interrupt_mask: Some(RCS_IMR.offset()),
    fault: Some(RCS_FAULT_REG.offset()),
    status_page: StatusPage::Graphics,
    status_register: HWS_PGA.offset(),
    settle: flush_translations,
    tell: gen40::write_tail,
    emit: &EMIT,
    checks: None,
    workarounds: workarounds::SANDY_BRIDGE_ENGINE,
};

/// The video engine (i915 `GEN6_BSD_RING_BASE`).
const VIDEO: EngineInfo = EngineInfo {
    name: "vcs0",
    class: CLASS_VIDEO,
    mask: 1 << 10,
    base: 0x1_0000,
    has_images: false,
    status_mask: Some(u32::MAX),
    user_interrupt: Interrupt::BSD_USER::SET.value,
    interrupt_mask: Some(BSD_IMR.offset()),
    fault: Some(VCS_FAULT_REG.offset()),
    status_register: BSD_HWS_PGA.offset(),
    tell: tell_video,
    emit: &VIDEO_EMIT,
    workarounds: &[],
    ..RENDER
};

/// The blitter (i915 `BLT_RING_BASE`).
const BLITTER: EngineInfo = EngineInfo {
    name: "bcs0",
    class: CLASS_COPY,
    mask: 1 << 1,
    base: 0x2_0000,
    user_interrupt: Interrupt::BLITTER_USER::SET.value,
    interrupt_mask: Some(BLT_IMR.offset()),
    fault: Some(BCS_FAULT_REG.offset()),
    status_register: BLT_HWS_PGA.offset(),
    tell: gen40::write_tail,
    emit: &BLITTER_EMIT,
    ..VIDEO
};

/// Mesa 22.3.6 on these devices.
static CROCUS: ClientDriver = ClientDriver {
    offers: "OpenGL 3.3 and OpenGL ES 3.0",
    ..gen40::CROCUS
};

/// 80 ns a tick (i915 `gen5_read_clock_frequency`).
const TIMESTAMP_HZ: u32 = 12_500_000;
/// i915 `GEN6_FENCE_PITCH_SHIFT`.
pub(super) const FENCE_PITCH: u32 = 32;

/// i915 `gen5_gt_irq_postinstall`, `ilk_irq_handler`: those of power management are all masked.
static INTERRUPTS: InterruptInfo = InterruptInfo {
    bank: InterruptBank {
        imr: GTIMR.offset(),
        ier: GTIER.offset(),
        iir: GTIIR.offset(),
    },
    masked: &[InterruptBank {
        imr: PMIMR.offset(),
        ier: PMIER.offset(),
        iir: PMIIR.offset(),
    }],
    error: None,
    master: Some(MasterInterrupt {
        place: Switch::Bank(InterruptBank {
            imr: DEIMR.offset(),
            ier: DEIER.offset(),
            iir: DEIIR.offset(),
        }),
        enable: DisplayEnable::MASTER_INTERRUPT_CONTROL::SET.value,
    }),
};

/// i915 `intel_uncore.c`: `__gen6_fw_ranges`, `NEEDS_FORCE_WAKE`.
static FORCEWAKE_INFO: ForcewakeInfo = ForcewakeInfo {
    wells: &[Well {
        request: FORCEWAKE.offset(),
        acknowledge: FORCEWAKE_ACK.offset(),
    }],
    ranges: &[Range {
        first: 0,
        end: 0x4_0000,
        well: 0,
    }],
    threads: Some((GT_THREAD_STATUS_REG.offset(), ThreadStatus::CORE.mask)),
    fifo: GTFIFOCTL.offset(),
    fifo_mask: Fifo::FREE_ENTRIES.mask,
    fifo_is_shared: false,
    fifo_errors: GTFIFODBG.offset(),
    below: 0x4_0000,
};

pub(super) const GTT: GttOps = GttOps {
    entries: gtt_entries,
    // On from the start: there is no switch.
    enable: |_| Ok(()),
    flush: gtt_flush,
    encode: pte_encode,
    decode: pte_decode,
};

/// Configuration space: sizes that the firmware has set up (i915 `SNB_GMCH_CTRL`), and MiB of entries in it.
const GMCH_CTRL: usize = 0x50;
const GMCH_GGMS_SHIFT: u16 = 8;
const GMCH_GGMS_MASK: u16 = 3;

/// i915 `gen6_get_total_gtt_size`.
fn gtt_entries(uncore: &Uncore) -> usize {
    let control = uncore.config().read16(GMCH_CTRL);
    usize::from(control >> GMCH_GGMS_SHIFT & GMCH_GGMS_MASK) << 20 >> 2
}

/// i915 `gen6_ggtt_invalidate`.
fn gtt_flush(uncore: &Uncore) {
    uncore.reg(GFX_FLSH_CNTL).write(FlushControl::FLUSH::SET);
    uncore.posting_read(GFX_FLSH_CNTL);
}

/// Address bits 31:12 in place, 39:32 in bits 11:4 (i915 `GEN6_GTT_ADDR_ENCODE`).
pub(super) fn page_bits(page: DmaAddress) -> Result<u32> {
    if page & 0xfff != 0 || page >> 40 != 0 {
        return Err(ERANGE);
    }
    // CAST: the upper bits follow.
    Ok(page as u32 | (page >> 28) as u32 & 0xff0)
}

/// i915 `snb_pte_encode`: bit 0 makes the entry valid, bits 2:1 are 2 for memory that the last-level cache holds and 1 for
/// memory that it does not.
fn pte_encode(page: DmaAddress, used: PageUse) -> Result<u32> {
    let cacheability = if used.cached { 2 } else { 1 };
    Ok(page_bits(page)? | cacheability << 1 | 1)
}

/// See [`pte_encode`].
fn pte_decode(entry: u32) -> Option<DmaAddress> {
    let page = u64::from(entry & 0xffff_f000) | u64::from(entry & 0xff0) << 28;
    (entry & 1 != 0).then_some(page)
}

/// i915 `gen6_ppgtt.c`: 512 tables cover 2 GiB; `GEN6_PD_ALIGN`.
pub(super) const SPACE: SpaceOps = SpaceOps {
    tables: 512,
    align: 16 << 12,
    // GEN6_PDE_ADDR_ENCODE, GEN6_PDE_VALID.
    encode_table: |table| Ok(page_bits(table)? | 1),
    enable: space_enable,
    start: space_start,
    enter: emit_enter_space,
};

/// i915 `gen6_ppgtt_enable`.
fn space_enable(uncore: &Uncore) {
    let bits = EcoBits::SNB_BIT::SET + EcoBits::PPGTT_CACHE::Cache64b;
    uncore.reg(GAC_ECO_BITS).modify(bits);
    uncore
        .reg(GAB_CTL)
        .modify(GabCtl::CONTINUE_AFTER_PAGE_FAULT::SET);
    let bits = EcoChk::SNB_BIT::SET + EcoChk::PPGTT_CACHE::Cache64b;
    uncore.reg(GAM_ECOCHK).modify(bits);
    uncore
        .reg(GFX_MODE)
        .write_masked(GfxMode::PPGTT_ENABLE::SET);
}

/// All of the 2 GiB (i915 `PP_DIR_DCLV_2G`).
const ALL_TABLES: u32 = u32::MAX;

/// i915 `set_pp_dir`. The directory is named by the first of its entries, in cache lines from bit 16 on: that is the address
/// of the page whose entry it is.
pub(super) fn space_start(engine: &EngineRegisters, directory: u32) {
    engine.write(RCS_PP_DIR_DCLV, ALL_TABLES);
    engine.write(RCS_PP_DIR_BASE, directory);
}

/// Bytes of a context's image (i915 `GEN6_CXT_TOTAL_SIZE`), of which the register counts cache lines.
fn image_size(uncore: &Uncore) -> usize {
    let size = uncore.reg(CXT_SIZE).extract();
    let lines = size.read(CxtSize::RING_CONTEXT_SIZE)
        + size.read(CxtSize::EXTENDED_CONTEXT_SIZE)
        + size.read(CxtSize::PIPELINED_STATE_SIZE);
    // CAST: 18 bits.
    (lines as usize * 64)
        .next_multiple_of(PAGE_SIZE)
        .max(PAGE_SIZE)
}

/// TIMEOUT: for an engine to have forgotten its translations (i915: 2 ms).
const SYNC_TIMEOUT: Delta = Delta::from_millis(2);

/// i915 `flush_cs_tlb`.
pub(super) fn flush_translations(engine: &EngineRegisters) {
    let sync = Instpm::SYNC_FLUSH_ENABLE::SET;
    engine
        .reg(INSTPM)
        .write_masked(Instpm::TLB_INVALIDATE::SET + sync);
    if (engine.wait_for_register(INSTPM, sync.value, 0, SYNC_TIMEOUT)).is_err() {
        pr_err!("an engine does not flush its translations");
    }
}

/// TIMEOUT: for the video engine to wake (i915: 1 ms).
const WAKE_TIMEOUT: Delta = Delta::from_millis(1);

/// W/A: the video engine is kept awake while its tail moves (i915 `gen6_bsd_submit_request`).
fn tell_video(engine: &EngineRegisters, tail: Tail) {
    let uncore = engine.uncore();
    let _awake = uncore.awake();
    let control = uncore.reg(BSD_PSMI_CTL);
    control.write_masked(PsmiCtl::SLEEP_MESSAGE_DISABLE::SET);
    // The context's number, of 64 bits.
    let number = BSD_RNCID.offset() as usize;
    uncore.io().write32(0, number);
    uncore.io().write32(0, number + 4);
    let asleep = PsmiCtl::SLEEP_INDICATOR::SET.value;
    if (uncore.wait_for_register(BSD_PSMI_CTL, asleep, 0, WAKE_TIMEOUT)).is_err() {
        pr_err!("the video engine does not wake");
    }
    gen40::write_tail(engine, tail);
    control.write_masked(PsmiCtl::SLEEP_MESSAGE_DISABLE::CLEAR);
}

static EMIT: EmitOps = EmitOps {
    flush: emit_flush,
    batch_start: emit_batch_start,
    breadcrumb: emit_breadcrumb,
    ..gen40::RENDER
};

static VIDEO_EMIT: EmitOps = EmitOps {
    flush: emit_flush_video,
    breadcrumb: emit_breadcrumb_index,
    ..EMIT
};

static BLITTER_EMIT: EmitOps = EmitOps {
    flush: emit_flush_blitter,
    ..VIDEO_EMIT
};

/// PIPE_CONTROL destination address type: global GTT (i915 `PIPE_CONTROL_GLOBAL_GTT`).
const GLOBAL: u32 = 1;

/// A PIPE_CONTROL that waits for the pixels before it.
fn stall() -> PipeControl {
    PipeControl::new()
        .with_command_streamer_stall_enable(true)
        .with_stall_at_pixel_scoreboard(true)
}

/// A PIPE_CONTROL with a destination in the global GTT.
fn at(address: u32) -> PipeControl {
    PipeControl::new()
        .with_destination_address_type(GLOBAL)
        .with_address(address)
}

/// W/A: a stall, then a store, before each PIPE_CONTROL that flushes or stalls for depth (i915
/// `gen6_emit_post_sync_nonzero_flush`).
fn emit_store_first(out: &mut Vec<u32>, scratch: u32) {
    out.pipe_control_long(
        stall()
            .with_destination_address_type(GLOBAL)
            .with_address(scratch),
    );
    out.put(&[NOOP]);
    out.pipe_control_long(at(scratch).with_post_sync_operation(WRITE_IMMEDIATE_DATA));
    out.put(&[NOOP]);
}

/// i915 `gen6_emit_flush_rcs`.
fn emit_flush(out: &mut Vec<u32>, mode: Flush, scratch: u32) {
    emit_store_first(out, scratch);
    let command = at(scratch).with_command_streamer_stall_enable(true);
    out.pipe_control(match mode {
        Flush::WriteBack => command
            .with_render_target_cache_flush_enable(true)
            .with_depth_cache_flush_enable(true),
        // Translations are forgotten with a store only.
        Flush::Invalidate => command
            .with_tlb_invalidate(true)
            .with_instruction_cache_invalidate_enable(true)
            .with_texture_cache_invalidation_enable(true)
            .with_vf_cache_invalidation_enable(true)
            .with_constant_cache_invalidation_enable(true)
            .with_state_cache_invalidation_enable(true)
            .with_post_sync_operation(WRITE_IMMEDIATE_DATA),
    });
}

/// i915 `gen6_emit_breadcrumb_rcs`.
fn emit_breadcrumb(out: &mut Vec<u32>, seqno: u32, places: Places) {
    out.pipe_control(stall());
    out.pipe_control(at(places.scratch).with_post_sync_operation(WRITE_IMMEDIATE_DATA));
    out.pipe_control(
        at(places.status.wrapping_add(HWS_SEQNO))
            .with_render_target_cache_flush_enable(true)
            .with_depth_cache_flush_enable(true)
            .with_dc_flush_enable(true)
            .with_command_streamer_stall_enable(true)
            .with_post_sync_operation(WRITE_IMMEDIATE_DATA)
            .with_immediate_data(seqno.into()),
    );
    out.user_interrupt();
    out.put(&[NOOP]);
}

/// i915 `gen6_flush_dw`.
fn emit_flush_index(out: &mut Vec<u32>, mode: Flush, video: bool) {
    let translations = mode == Flush::Invalidate;
    let forgets = Forgets {
        translations,
        video: video && translations,
    };
    out.flush_store_index(HWS_SCRATCH, 0, forgets);
    out.put(&[NOOP]);
}

/// i915 `gen6_emit_flush_vcs`.
pub(super) fn emit_flush_video(out: &mut Vec<u32>, mode: Flush, _: u32) {
    emit_flush_index(out, mode, true);
}

/// i915 `gen6_emit_flush_xcs`.
pub(super) fn emit_flush_blitter(out: &mut Vec<u32>, mode: Flush, _: u32) {
    emit_flush_index(out, mode, false);
}

/// i915 `gen6_emit_breadcrumb_xcs`.
fn emit_breadcrumb_index(out: &mut Vec<u32>, seqno: u32, _: Places) {
    out.flush_store_index(HWS_SEQNO, seqno, Forgets::default());
    out.user_interrupt();
}

/// i915 `gen6_emit_bb_start`.
pub(super) fn emit_batch_start(out: &mut Vec<u32>, address: u32, trusted: bool) {
    out.batch_start(address, !trusted);
}

/// i915 `switch_mm`, `load_pd_dir`: what is behind the directory is read anew. The store waits for the load.
fn emit_enter_space(out: &mut Vec<u32>, engine: &EngineInfo, directory: u32, places: Places) {
    let (flush, base) = (engine.emit.flush, engine.base);
    flush(out, Flush::WriteBack, places.scratch);
    out.load_register(RCS_PP_DIR_DCLV.above(base).offset(), ALL_TABLES);
    let register = RCS_PP_DIR_BASE.above(base).offset();
    out.load_register(register, directory);
    out.store_register(register, places.scratch);
    let forget = Instpm::TLB_INVALIDATE::SET.value;
    out.load_register(INSTPM.above(base).offset(), forget << 16 | forget);
    flush(out, Flush::WriteBack, places.scratch);
    flush(out, Flush::Invalidate, places.scratch);
}

/// TIMEOUT: for all domains to be reset (i915: 2 ms).
const RESET_TIMEOUT: Delta = Delta::from_millis(2);
/// The state of the engines settles meanwhile.
const SETTLE: Delta = Delta::from_micros(50);

/// Resets everything.
pub(super) fn reset_all(uncore: &Uncore) -> Result {
    reset_domains(uncore, Reset::FULL::SET)
}

/// Resets the domain of an engine (i915 `gen6_reset_engines`).
pub(super) fn reset_beside(uncore: &Uncore, info: &EngineInfo) -> Result {
    let domain = match info.class {
        CLASS_COPY => Reset::BLITTER::SET,
        _ => Reset::MEDIA::SET,
    };
    reset_domains(uncore, domain)
}

/// Resets by a register, twice: the second time waits for what the first has left in motion (i915
/// `gen6_hw_domain_reset`).
fn reset_domains(uncore: &Uncore, domains: FieldValue<u32, Reset::Register>) -> Result {
    let mut outcome = Ok(());
    for _ in 0..2 {
        uncore.reg(GEN6_GDRST).write(domains);
        outcome = uncore
            .wait_for_register(GEN6_GDRST, domains.value, 0, RESET_TIMEOUT)
            .map(drop);
        if outcome.is_err() {
            break;
        }
    }
    delay(uncore.clock(), SETTLE);
    outcome
}

#[cfg(test)]
mod tests;

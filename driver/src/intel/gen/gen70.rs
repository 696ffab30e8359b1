//! The row of ValleyView (Bay Trail).
//!
//! What differs from Sandy Bridge: i915 `i915_pci.c` (`vlv_info`), `gt/gen6_engine_cs.c`, `gt/intel_ring_submission.c`, `gt/intel_ggtt.c`,
//! `gt/gen6_ppgtt.c`, `gt/intel_workarounds.c`, `i915_irq.c`, `intel_uncore.c`. Not modelled: the kernel that i915 runs between contexts to clear
//! registers that threads have left (`gt/gen7_renderclear.c`), power states, display interrupts.
mod checks;
mod state;

use alloc::vec::Vec;

use isa::inst::Verx10;
use kernel::dma::{DmaAddress, PAGE_SIZE};
use kernel::error::Result;
use kernel::tock_registers::interfaces::{ReadWriteable, Readable};
use regs::gen70::PipeControl;
use regs::gen70::fields::{
    CXT_SIZE as CxtSize, GAC_ECO_BITS as EcoBits, GAM_ECOCHK as EcoChk, GFX_MODE as GfxMode,
    GTFIFOCTL as Fifo, GTIIR as Interrupt, VLV_MASTER_IER as Master,
};
use regs::gen70::reg::{
    BCS_FAULT_REG, BLT_HWS_PGA, BLT_IMR, BSD_HWS_PGA, BSD_IMR, CXT_SIZE, FORCEWAKE_ACK_MEDIA_VLV,
    FORCEWAKE_ACK_VLV, FORCEWAKE_MEDIA_VLV, FORCEWAKE_VLV, GAC_ECO_BITS, GAM_ECOCHK, GFX_MODE,
    GTFIFOCTL, GTFIFODBG, GTIER, GTIIR, GTIMR, HWS_PGA, PMIER, PMIIR, PMIMR, RCS_FAULT_REG,
    RCS_IMR, SO_WRITE_OFFSET, VCS_FAULT_REG, VLV_MASTER_IER,
};
use regs::gen70::values::post_sync_operation::WRITE_IMMEDIATE_DATA;
use regs::ids::RegId;
use regs::platform::GEN70;
use ringbuf::emit::Sink;
use ringbuf::r#gen::gen40::Commands as _;
use ringbuf::r#gen::gen60::{Commands as _, Forgets};
use ringbuf::r#gen::gen70::Commands;
use ringbuf::mi::NOOP;

use super::{
    ClientDriver, DeviceInfo, EmitOps, EngineInfo, Flush, GttOps, HWS_SEQNO, InterruptBank,
    InterruptInfo, MasterInterrupt, PageUse, Places, SpaceOps, StatusPage, Switch, ThreadPlaces,
};
use super::{gen40, gen50, gen60, workarounds};
use crate::intel::uapi::context::{CLASS_COPY, CLASS_RENDER, CLASS_VIDEO};
use crate::intel::uncore::forcewake::{ForcewakeInfo, Range, Well};
use crate::intel::uncore::{EngineRegisters, Uncore};

#[cfg(test)]
pub(crate) static CHECKS: [&super::checks::Checks; 3] =
    [&checks::RENDER, &checks::BLITTER, &checks::VIDEO];

/// All parts: four execution units of eight threads (Mesa `intel_device_info_byt`: 36 threads of pixel shaders).
pub static VALLEYVIEW: DeviceInfo = DeviceInfo {
    platform: "VALLEYVIEW",
    tables: &GEN70,
    isa: Verx10::from_times_ten(70),
    threads: ThreadPlaces { eus: 4, slots: 8 },
    stateless_gate: false,
    timestamp_hz: TIMESTAMP_HZ,
    workarounds: workarounds::VALLEYVIEW_GT,
    // In the order of classes, as i915 lists them to user space (`engine_cmp`).
    engines: &[RENDER, BLITTER, VIDEO],
    gtt: &GTT,
    space: Some(&SPACE),
    llc: false,
    snoops: true,
    coherent_aperture: false,
    resets_engines: true,
    privileged_batches: false,
    fence_pitch: gen60::FENCE_PITCH,
    fence_most: 0x800,
    image_size,
    interrupts: &INTERRUPTS,
    routine: &gen50::ROUTINE,
    state: &state::OPS,
    client: &CROCUS,
    // i915 `gt_record_global_regs`, which reads FORCEWAKE_VLV first and then FORCEWAKE_MT over it.
    recorded: &[
        ("IER", RegId::VlvIer),
        ("FORCEWAKE", RegId::ForcewakeMt),
        ("ERROR", RegId::ErrorGen6),
        ("DONE_REG", RegId::DoneReg),
        ("ERR_INT", RegId::Gen7ErrInt),
    ],
    // i915 `engine_record_registers`.
    recorded_of_engines: &[RegId::GfxMode, RegId::RcsPpDirBase],
    forcewake: Some(&FORCEWAKE_INFO),
    reset: gen60::reset_all,
    reset_beside: Some(gen60::reset_beside),
};

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
    // i915 `set_hwsp`: the status pages of all engines have their addresses here.
    status_register: HWS_PGA.offset(),
    settle: gen60::flush_translations,
    tell: gen40::write_tail,
    emit: &EMIT,
    checks: Some(&checks::RENDER),
    workarounds: workarounds::VALLEYVIEW_ENGINE,
};

/// The video engine, whose tail moves without ado from this generation on (i915 `setup_vcs`).
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
    emit: &VIDEO_EMIT,
    checks: Some(&checks::VIDEO),
    workarounds: &[],
    ..RENDER
};

/// The blitter.
const BLITTER: EngineInfo = EngineInfo {
    name: "bcs0",
    class: CLASS_COPY,
    mask: 1 << 1,
    base: 0x2_0000,
    user_interrupt: Interrupt::BLITTER_USER::SET.value,
    interrupt_mask: Some(BLT_IMR.offset()),
    fault: Some(BCS_FAULT_REG.offset()),
    status_register: BLT_HWS_PGA.offset(),
    emit: &BLITTER_EMIT,
    checks: Some(&checks::BLITTER),
    ..VIDEO
};

/// Mesa 22.3.6 on these devices.
static CROCUS: ClientDriver = ClientDriver {
    offers: "OpenGL 4.2 and OpenGL ES 3.0",
    ..gen40::CROCUS
};

/// 80 ns a tick (i915 `gen6_read_clock_frequency`).
const TIMESTAMP_HZ: u32 = 12_500_000;

/// i915 `gen5_gt_irq_postinstall`, `valleyview_irq_postinstall`: those of power management are all masked.
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
        place: Switch::Register(VLV_MASTER_IER.offset()),
        enable: Master::MASTER_INTERRUPT_ENABLE::SET.value,
    }),
};

/// Number of the part of the GT with the render engine, and of that with the others.
const RENDER_WELL: usize = 0;
const MEDIA_WELL: usize = 1;

const fn range(first: u32, end: u32, well: usize) -> Range {
    Range { first, end, well }
}

/// i915 `intel_uncore.c`: `__vlv_fw_ranges`, `uncore_get_normal`.
static FORCEWAKE_INFO: ForcewakeInfo = ForcewakeInfo {
    wells: &[
        Well {
            request: FORCEWAKE_VLV.offset(),
            acknowledge: FORCEWAKE_ACK_VLV.offset(),
        },
        Well {
            request: FORCEWAKE_MEDIA_VLV.offset(),
            acknowledge: FORCEWAKE_ACK_MEDIA_VLV.offset(),
        },
    ],
    ranges: &[
        range(0x2000, 0x4000, RENDER_WELL),
        range(0x5000, 0x8000, RENDER_WELL),
        range(0xb000, 0x1_2000, RENDER_WELL),
        range(0x1_2000, 0x1_4000, MEDIA_WELL),
        range(0x2_2000, 0x2_4000, MEDIA_WELL),
        range(0x2_e000, 0x3_0000, RENDER_WELL),
        range(0x3_0000, 0x4_0000, MEDIA_WELL),
    ],
    threads: None,
    fifo: GTFIFOCTL.offset(),
    fifo_mask: Fifo::FREE_ENTRIES.mask,
    fifo_is_shared: true,
    fifo_errors: GTFIFODBG.offset(),
    below: 0x4_0000,
};

static GTT: GttOps = GttOps {
    encode: pte_encode,
    ..gen60::GTT
};

/// i915 `byt_pte_encode`: bit 0 makes the entry valid, bit 1 lets the device write, bit 2 lets it look into the processor's
/// caches.
fn pte_encode(page: DmaAddress, used: PageUse) -> Result<u32> {
    let (snooped, writable) = (u32::from(used.cached), u32::from(used.writable));
    Ok(gen60::page_bits(page)? | snooped << 2 | writable << 1 | 1)
}

/// i915 `gen6_ppgtt.c`.
static SPACE: SpaceOps = SpaceOps {
    enable: space_enable,
    start: space_start,
    ..gen60::SPACE
};

/// i915 `gen7_ppgtt_enable`. What lets the device translate is each engine's.
fn space_enable(uncore: &Uncore) {
    let bits = EcoBits::PPGTT_CACHE::Cache64b;
    uncore.reg(GAC_ECO_BITS).modify(bits);
    let bits = EcoChk::PPGTT_LLC::SET + EcoChk::PPGTT_GFDT::CLEAR;
    uncore.reg(GAM_ECOCHK).modify(bits);
}

/// i915 `set_pp_dir`.
fn space_start(engine: &EngineRegisters, directory: u32) {
    gen60::space_start(engine, directory);
    engine
        .reg(GFX_MODE)
        .write_masked(GfxMode::PPGTT_ENABLE::SET);
}

/// Bytes of a context's image (i915 `GEN7_CXT_TOTAL_SIZE`), of which the register counts cache lines.
fn image_size(uncore: &Uncore) -> usize {
    let size = uncore.reg(CXT_SIZE).extract();
    let lines = size.read(CxtSize::EXTENDED_CONTEXT_SIZE) + size.read(CxtSize::VF_STATE_SIZE);
    // CAST: 8 bits.
    (lines as usize * 64)
        .next_multiple_of(PAGE_SIZE)
        .max(PAGE_SIZE)
}

static EMIT: EmitOps = EmitOps {
    flush: emit_flush,
    set_context: emit_set_context,
    batch_start: gen60::emit_batch_start,
    breadcrumb: emit_breadcrumb,
    reset_offsets: Some(emit_reset_offsets),
    ..gen40::RENDER
};

static VIDEO_EMIT: EmitOps = EmitOps {
    flush: gen60::emit_flush_video,
    breadcrumb: emit_breadcrumb_index,
    reset_offsets: None,
    ..EMIT
};

static BLITTER_EMIT: EmitOps = EmitOps {
    flush: gen60::emit_flush_blitter,
    ..VIDEO_EMIT
};

/// PIPE_CONTROL destination address type: global GTT (i915 `PIPE_CONTROL_GLOBAL_GTT_IVB`).
const GLOBAL: u32 = 1;

/// A PIPE_CONTROL that stalls the streamer and then writes a value to an address of the global GTT.
fn store(address: u32, value: u32) -> PipeControl {
    PipeControl::new()
        .with_command_streamer_stall_enable(true)
        .with_post_sync_operation(WRITE_IMMEDIATE_DATA)
        .with_destination_address_type(GLOBAL)
        .with_address(address)
        .with_immediate_data(value.into())
}

/// What has been written reaches memory.
fn write_back(command: PipeControl) -> PipeControl {
    command
        .with_render_target_cache_flush_enable(true)
        .with_depth_cache_flush_enable(true)
        .with_dc_flush_enable(true)
        .with_pipe_control_flush_enable(true)
}

/// i915 `gen7_emit_flush_rcs`.
fn emit_flush(out: &mut Vec<u32>, mode: Flush, scratch: u32) {
    let command = store(scratch, 0);
    let command = match mode {
        Flush::WriteBack => write_back(command),
        Flush::Invalidate => {
            // W/A: a stall before the state cache forgets what it holds (i915 `gen7_stall_cs`).
            let stall = PipeControl::new()
                .with_command_streamer_stall_enable(true)
                .with_stall_at_pixel_scoreboard(true);
            Commands::pipe_control(out, stall);
            command
                .with_tlb_invalidate(true)
                .with_instruction_cache_invalidate_enable(true)
                .with_texture_cache_invalidation_enable(true)
                .with_vf_cache_invalidation_enable(true)
                .with_constant_cache_invalidation_enable(true)
                .with_state_cache_invalidation_enable(true)
                .with_generic_media_state_clear(true)
        }
    };
    Commands::pipe_control(out, command);
}

/// i915 `gen7_emit_breadcrumb_rcs`.
fn emit_breadcrumb(out: &mut Vec<u32>, seqno: u32, places: Places) {
    let address = places.status.wrapping_add(HWS_SEQNO);
    Commands::pipe_control(out, write_back(store(address, seqno)));
    out.user_interrupt();
    out.put(&[NOOP]);
}

/// W/A: stores of the number behind the flush, so that it is in memory when the interrupt arrives (i915 `GEN7_XCS_WA`).
const BREADCRUMB_STORES: usize = 32;

/// i915 `gen7_emit_breadcrumb_xcs`.
fn emit_breadcrumb_index(out: &mut Vec<u32>, seqno: u32, _: Places) {
    let forgets = Forgets {
        translations: true,
        video: false,
    };
    out.flush_store_index(HWS_SEQNO, seqno, forgets);
    for _ in 0..BREADCRUMB_STORES {
        out.store_data_index(HWS_SEQNO, seqno);
    }
    out.flush_dw();
    out.user_interrupt();
    out.put(&[NOOP]);
}

/// W/A WaProgramMiArbOnOffAroundMiSetContext: nothing else takes the engine meanwhile (i915 `mi_set_context`; the engines' sleep
/// messages are Haswell's alone).
fn emit_set_context(out: &mut Vec<u32>, address: u32, inhibit: bool) {
    out.arbitration(false);
    gen40::emit_set_context(out, address, inhibit);
    out.arbitration(true);
}

/// i915 `i915_reset_gen7_sol_offsets`.
fn emit_reset_offsets(out: &mut Vec<u32>) {
    let offsets = [0, 1, 2, 3].map(|index| {
        SO_WRITE_OFFSET
            .at(index)
            .map_or(0, regs::field::Reg::offset)
    });
    out.load_registers(&offsets.map(|offset| (offset, 0)));
    out.put(&[NOOP]);
}

#[cfg(test)]
mod tests;

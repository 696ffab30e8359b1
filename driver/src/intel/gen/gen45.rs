//! Rows of G45 and GM45 with their kin (Q45, G41, B43).
//!
//! What differs from the 965 family: i915 `i915_pci.c`, `gen2_engine_cs.c`, `i915_irq.c`, `intel_reset.c`,
//! `intel_ring_submission.c` (`setup_vcs`).
use alloc::vec::Vec;

use isa::inst::Verx10;
use kernel::error::Result;
use kernel::tock_registers::interfaces::ReadWriteable;
use regs::gen45::fields::{EIR as Error, IIR as Interrupt, VDECCLK_GATE_D as VdecclkGateD};
use regs::gen45::reg::{BSD_HWS_PGA, HWS_PGA, VDECCLK_GATE_D};
use regs::platform::GEN45;
use ringbuf::emit::Sink;
use ringbuf::r#gen::gen40::{Commands as _, FlushBits};
use ringbuf::r#gen::gen45::Commands;
use ringbuf::mi::NOOP;

use super::reset;
use super::workarounds;
use super::{
    DeviceInfo, EmitOps, EngineInfo, ErrorInterrupt, Flush, InterruptInfo, StatusPage, ThreadPlaces,
};
use super::{gen40, state};
use crate::intel::uapi::context::{CLASS_RENDER, CLASS_VIDEO};
use crate::intel::uncore::Uncore;

const fn row(platform: &'static str) -> DeviceInfo {
    DeviceInfo {
        platform,
        tables: &GEN45,
        isa: Verx10::from_times_ten(45),
        threads: ThreadPlaces { eus: 10, slots: 5 },
        stateless_gate: false,
        timestamp_hz: gen40::TIMESTAMP_HZ,
        workarounds: workarounds::G45_GT,
        engines: &[RENDER, VIDEO],
        gtt: &gen40::GTT,
        space: None,
        llc: false,
        snoops: true,
        coherent_aperture: true,
        resets_engines: false,
        privileged_batches: true,
        fence_pitch: gen40::FENCE_PITCH,
        fence_most: 0x400,
        image_size: gen40::one_page,
        interrupts: &INTERRUPTS,
        routine: &gen40::ROUTINE,
        state: &state::gen45::OPS,
        client: &gen40::CROCUS,
        recorded: &[],
        recorded_of_engines: &[],
        forcewake: None,
        reset: |uncore| reset_domains(uncore, reset::domains),
        reset_beside: Some(|uncore, _| reset_domains(uncore, reset::media)),
    }
}

pub(super) const RENDER: EngineInfo = EngineInfo {
    name: "rcs0",
    class: CLASS_RENDER,
    mask: 1 << 0,
    base: 0,
    has_images: true,
    status_mask: gen40::STATUS_MASK,
    user_interrupt: Interrupt::USER::SET.value,
    interrupt_mask: None,
    fault: None,
    status_page: StatusPage::Graphics,
    status_register: HWS_PGA.offset(),
    settle: |_| {},
    tell: gen40::write_tail,
    emit: &EMIT,
    checks: None,
    workarounds: workarounds::RENDER_ENGINE,
};

/// The video decoder's engine (i915 `BSD_RING_BASE`, `I915_BSD_USER_INTERRUPT`).
pub(super) const VIDEO: EngineInfo = EngineInfo {
    name: "vcs0",
    class: CLASS_VIDEO,
    mask: 1 << 10,
    base: 0x2000,
    has_images: false,
    status_mask: None,
    user_interrupt: Interrupt::BSD_USER::SET.value,
    interrupt_mask: None,
    fault: None,
    status_page: StatusPage::Graphics,
    status_register: BSD_HWS_PGA.offset(),
    settle: |_| {},
    tell: gen40::write_tail,
    emit: &VIDEO_EMIT,
    checks: None,
    workarounds: &[],
};

/// Desktop parts ("Eaglelake").
pub static G45: DeviceInfo = row("G45");

/// Mobile parts ("Cantiga").
pub static GM45: DeviceInfo = row("GM45");

/// Errors of page tables, memory refresh and privileges raise the interrupt (i915 `i965_irq_postinstall`: bit 4 is
/// `GM45_ERROR_MEM_PRIV` on these parts).
const ERROR_MASK: u32 = !(1 << 5 | 1 << 4 | 1 << 3 | 1 << 1);

static INTERRUPTS: InterruptInfo = InterruptInfo {
    bank: gen40::BANK,
    masked: &[],
    error: Some(ErrorInterrupt {
        bit: Interrupt::MASTER_ERROR::SET.value,
        mask: ERROR_MASK,
        page_table: Error::GM45_PAGE_TABLE_ERROR::SET.value,
    }),
    master: None,
};

static EMIT: EmitOps = EmitOps {
    flush: emit_flush,
    ..gen40::RENDER
};

static VIDEO_EMIT: EmitOps = EmitOps {
    flush: emit_flush_video,
    ..gen40::RENDER
};

/// A flush without caches to choose (i915 `gen4_emit_flush_vcs`).
pub(super) fn emit_flush_video(out: &mut Vec<u32>, _: Flush, _: u32) {
    out.flush(FlushBits::default());
    out.put(&[NOOP]);
}

/// The 965's, whose invalidations also reach the indirect state pointers (i915 `MI_INVALIDATE_ISP`).
pub(super) fn emit_flush(out: &mut Vec<u32>, mode: Flush, scratch: u32) {
    gen40::flush_with(out, mode, scratch, Commands::flush_invalidate);
}

/// Resets domains while the clock of the media domain's VCP is not gated (i915 `g4x_do_reset`,
/// WaVcpClkGateDisableForMediaReset).
fn reset_domains(uncore: &Uncore, reset: fn(&Uncore) -> Result) -> Result {
    let gate = uncore.reg(VDECCLK_GATE_D);
    gate.modify(VdecclkGateD::VCP_UNIT_CLOCK_GATE_DISABLE::SET);
    gate.posting_read();
    let outcome = reset(uncore);
    gate.modify(VdecclkGateD::VCP_UNIT_CLOCK_GATE_DISABLE::CLEAR);
    gate.posting_read();
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Literal dwords of the i915 sequence (values of `intel_gpu_commands.h`).
    #[test]
    fn invalidations_reach_the_indirect_state_pointers() {
        let mut out = Vec::new();
        emit_flush(&mut out, Flush::Invalidate, 0x7000);
        assert_eq!(out.len(), 22);
        assert_eq!([out[0], out[21]], [0x0200_0022; 2]);
        assert_eq!(out[5..17], [0x0200_0000; 12]);
        out.clear();
        emit_flush(&mut out, Flush::WriteBack, 0x7000);
        assert_eq!(out, [0x0200_0000; 2]);
    }

    /// i915 `gen4_emit_flush_vcs`, `BSD_RING_BASE` (4000h beside 2000h), `I915_BSD_USER_INTERRUPT`.
    #[test]
    fn the_decoders_engine_is_that_of_i915() {
        for mode in [Flush::Invalidate, Flush::WriteBack] {
            let mut out = Vec::new();
            (VIDEO.emit.flush)(&mut out, mode, 0x7000);
            assert_eq!(out, [0x0200_0000, 0]);
        }
        assert_eq!((VIDEO.name, VIDEO.class, VIDEO.base), ("vcs0", 2, 0x2000));
        assert_eq!(VIDEO.user_interrupt, 1 << 25);
    }
}

//! The row of Ironlake, desktop and mobile.
//!
//! What differs from G45: i915 `i915_pci.c`, `gen2_engine_cs.c`, `intel_gt_irq.c`, `i915_irq.c`, `intel_reset.c`,
//! `intel_ring_submission.c`. Not modelled: the south bridge's interrupts.
use alloc::vec::Vec;

use isa::inst::Verx10;
use kernel::error::Result;
use kernel::time::Delta;
use kernel::tock_registers::fields::FieldValue;
use kernel::tock_registers::interfaces::Writeable;
use regs::gen50::fields::{DEIER as DisplayEnable, GTIIR as Interrupt, ILK_GDSR as Reset};
use regs::gen50::reg::{DEIER, DEIIR, DEIMR, GTIER, GTIIR, GTIMR, ILK_GDSR};
use regs::platform::GEN50;
use ringbuf::r#gen::gen50::Commands;

use super::workarounds;
use super::{
    DeviceInfo, EmitOps, EngineInfo, InterruptBank, InterruptInfo, MasterInterrupt, Places,
    RoutineMessages, Switch, ThreadPlaces,
};
use super::{gen40, gen45, state};
use crate::intel::uncore::Uncore;

/// Desktop and mobile parts.
pub static IRONLAKE: DeviceInfo = DeviceInfo {
    platform: "IRONLAKE",
    tables: &GEN50,
    isa: Verx10::from_times_ten(50),
    threads: ThreadPlaces { eus: 12, slots: 6 },
    stateless_gate: false,
    timestamp_hz: TIMESTAMP_HZ,
    workarounds: workarounds::IRONLAKE_GT,
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
    routine: &ROUTINE,
    state: &state::gen50::OPS,
    client: &gen40::CROCUS,
    recorded: &[],
    recorded_of_engines: &[],
    forcewake: None,
    reset: |uncore| {
        reset_domains(
            uncore,
            &[Reset::RESET_DOMAIN::Render, Reset::RESET_DOMAIN::Media],
        )
    },
    reset_beside: Some(|uncore, _| reset_domains(uncore, &[Reset::RESET_DOMAIN::Media])),
};

const RENDER: EngineInfo = EngineInfo {
    user_interrupt: Interrupt::USER::SET.value,
    emit: &EMIT,
    workarounds: workarounds::IRONLAKE_ENGINE,
    ..gen45::RENDER
};

/// The video decoder's engine (i915 `ILK_BSD_USER_INTERRUPT`).
const VIDEO: EngineInfo = EngineInfo {
    user_interrupt: Interrupt::BSD_USER::SET.value,
    emit: &VIDEO_EMIT,
    ..gen45::VIDEO
};

/// Descriptors with lengths in bits 28:25 and 24:20, and bit 19 for the header (Mesa `brw_message_desc`); the rest is that of G45.
pub(super) static ROUTINE: RoutineMessages = RoutineMessages {
    write_row: "0x0a0804ff write MsgDesc:",
    write_register: "0x040802ff write MsgDesc:",
    read_row: "0x024844ff read MsgDesc:",
    read_register: "0x021842ff read MsgDesc:",
    flush: "0x0218f000 write MsgDesc:",
};

/// 80 ns a tick (i915 `read_clock_frequency` of Linux 6.1; later kernels count the upper half of the register, 1 MHz).
const TIMESTAMP_HZ: u32 = 12_500_000;

static INTERRUPTS: InterruptInfo = InterruptInfo {
    bank: InterruptBank {
        imr: GTIMR.offset(),
        ier: GTIER.offset(),
        iir: GTIIR.offset(),
    },
    masked: &[],
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

static EMIT: EmitOps = EmitOps {
    flush: gen45::emit_flush,
    set_context: emit_set_context,
    breadcrumb: emit_breadcrumb,
    ..gen40::RENDER
};

static VIDEO_EMIT: EmitOps = EmitOps {
    flush: gen45::emit_flush_video,
    breadcrumb: emit_breadcrumb,
    ..gen40::RENDER
};

/// See `gen40`; fewer dummy stores (i915 `gen5_emit_breadcrumb`).
const BREADCRUMB_SCRATCH_STORES: usize = 8;

fn emit_breadcrumb(out: &mut Vec<u32>, seqno: u32, _: Places) {
    gen40::breadcrumb_with(out, seqno, BREADCRUMB_SCRATCH_STORES);
}

/// W/A: flushes are suspended around the change (i915 `mi_set_context`: listed for early steppings and for power contexts).
fn emit_set_context(out: &mut Vec<u32>, address: u32, inhibit: bool) {
    out.suspend_flush(true);
    gen40::emit_set_context(out, address, inhibit);
    out.suspend_flush(false);
}

/// TIMEOUT: for a domain to be reset by the register (i915: 5 ms).
const RESET_TIMEOUT: Delta = Delta::from_millis(5);

/// Resets domains one by one, by a register (i915 `ilk_do_reset`: the render domain, then the media domain).
fn reset_domains(uncore: &Uncore, domains: &[FieldValue<u32, Reset::Register>]) -> Result {
    let register = uncore.reg(ILK_GDSR);
    let enable = Reset::RESET_ENABLE::SET.value;
    let outcome = domains.iter().try_for_each(|&domain| {
        register.write(domain + Reset::RESET_ENABLE::SET);
        uncore.wait_for_register(ILK_GDSR, enable, 0, RESET_TIMEOUT)?;
        Ok(())
    });
    register.set(0);
    register.posting_read();
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Literal dwords of the i915 sequences (values of `intel_gpu_commands.h`).
    #[test]
    fn emitted_commands_are_the_documented_dwords() {
        let mut out = Vec::new();
        emit_set_context(&mut out, 0x7000, true);
        let flags = 1 << 8 | 1 << 3 | 1 << 2 | 1;
        assert_eq!(
            out,
            [0x0580_0001, 0, 0x0c00_0000, 0x7000 | flags, 0, 0x0580_0000]
        );

        out.clear();
        emit_breadcrumb(
            &mut out,
            0x55,
            Places {
                status: 0x4000,
                scratch: 0x7000,
            },
        );
        assert_eq!(out.len(), 1 + 3 * 16 + 1);
        assert_eq!(out[..4], [0x0200_0000, 0x1080_0001, 0x200, 0x55]);
        assert_eq!(out[25..28], [0x1080_0001, 0x100, 0x55]);
        assert_eq!(out[49], 0x0100_0000);
    }

    /// i915 i915_reg.h: GTIMR 44014h, DEIER 4400Ch bit 31, GT_RENDER_USER_INTERRUPT bit 0.
    #[test]
    fn interrupt_registers_are_those_of_i915() {
        assert_eq!(INTERRUPTS.bank.imr, 0x44014);
        assert_eq!(INTERRUPTS.bank.iir, 0x44018);
        assert_eq!(INTERRUPTS.bank.ier, 0x4401c);
        assert_eq!(IRONLAKE.render().user_interrupt, 1);
        assert_eq!(VIDEO.user_interrupt, 1 << 5, "ILK_BSD_USER_INTERRUPT");
        let master = INTERRUPTS
            .master
            .map(|master| (master.place, master.enable));
        let Some((Switch::Bank(bank), enable)) = master else {
            panic!("no bank");
        };
        assert_eq!((bank.ier, enable), (0x4400c, 1 << 31));
    }
}

//! Devices of generation 5: Ironlake on the desktop and in mobile machines.
//!
//! Sizes: Mesa 22.3.6 intel_device_info.c `intel_device_info_ilk` (12 EUs with 6 threads, 1024 units of 512 bits of URB).
//! PCI ids: i915 i915_pciids.h; revisions as machines report them; clocks from Intel's data sheets (without turbo). The
//! readers hold the differences from G45, whose readers do the rest.
//! Not modelled: the video decoder behind its command streamer (BSD).

pub mod commands;
pub mod functions;
pub mod message;
mod payload;
pub mod pipeline;

use regs::gen50::fields::{DEIER, GTISR};
use regs::ids::RegId;

use super::reset::{ALL, Answer, Port, Reset};
use super::{DeviceInfo, Readers, gen40, gen45};
use crate::intel::cs::engine::{Domain, EngineInfo, StatusPage, Timestamp};
use crate::intel::irq::Registers;
use crate::intel::shared::dataport::render::DualSource;
use crate::intel::status::Busy;

/// Readers of all devices of this generation.
pub const READERS: Readers = Readers {
    instructions: eu::r#gen::GEN50,
    commands: &commands::Reader,
    functions: &functions::Reader,
    messages: &message::Messages,
    pipeline: &pipeline::Reader,
    media: &gen40::media::Reader,
};

/// Interrupt registers of the render engine, behind the master enable of the display engine's (i915 i915_irq.c
/// `ilk_irq_handler`).
static INTERRUPTS: Registers = Registers {
    isr: RegId::Gtisr,
    imr: RegId::Gtimr,
    iir: RegId::Gtiir,
    ier: RegId::Gtier,
    pipe_control: GTISR::PIPE_CONTROL_NOTIFY::SET.value,
    master_error: GTISR::MASTER_ERROR::SET.value,
    debug: GTISR::DEBUG::SET.value,
    page_table: gen40::INTERRUPTS.page_table,
    master_enable: Some((RegId::Deier, DEIER::MASTER_INTERRUPT_CONTROL::SET.value)),
};

/// INSTDONE has TD and the EUs, INSTDONE_1 the units as on G45 (intel-gpu-tools lib/instdone.c).
const DONE: &[(Busy, RegId, u8)] = &[
    (Busy::Threads, RegId::Instdone, 7),
    (Busy::Parser, RegId::Instdone1, 30),
    (Busy::Windower, RegId::Instdone1, 6),
    (Busy::Sf, RegId::Instdone1, 4),
    (Busy::Clip, RegId::Instdone1, 3),
    (Busy::Gs, RegId::Instdone1, 2),
    (Busy::Vs, RegId::Instdone1, 1),
    (Busy::Vf, RegId::Instdone1, 0),
];

/// Registers of the host's side. i915 does not write them again after a reset (i915_pci.c
/// `gpu_reset_clobbers_display` is false for these devices).
const KEPT: &[RegId] = &[
    RegId::Gtier,
    RegId::Gtimr,
    RegId::Gtiir,
    RegId::Deier,
    RegId::Deimr,
    RegId::Deiir,
    RegId::Sdeier,
    RegId::Sdeimr,
    RegId::Sdeiir,
    RegId::Emr,
    RegId::PgtblCtl,
    RegId::IlkGdsr,
    RegId::IlkDisplayChicken2,
    RegId::IlkDspclkGateD,
    RegId::Pch3dcgdis0,
    RegId::Pch3dcgdis1,
];

const RENDER: EngineInfo = EngineInfo {
    status_page: StatusPage::Graphics,
    user_interrupt: GTISR::USER::SET.value,
    done: DONE,
    ..gen40::RENDER
};

/// The video decoder's engine, as on G45 (i915 gt/intel_gt_regs.h `ILK_BSD_USER_INTERRUPT`).
const BSD: EngineInfo = EngineInfo {
    user_interrupt: GTISR::BSD_USER::SET.value,
    ..gen45::BSD
};

/// What a value of ILK_GDSR asks for: the reset is over at once, and the enable bit falls.
fn gdsr(value: u32) -> Option<Answer> {
    use regs::gen50::fields::ILK_GDSR::{RESET_DOMAIN, RESET_ENABLE};
    RESET_ENABLE.is_set(value).then_some(Answer {
        resets: match RESET_DOMAIN.read(value) {
            domain if domain == RESET_DOMAIN::Value::Media as u32 => &[Domain::Media],
            domain if domain == RESET_DOMAIN::Value::Render as u32 => &[Domain::Render],
            _ => ALL,
        },
        reads: value & !RESET_ENABLE::SET.value,
    })
}

const fn device(name: &'static str, title: &'static str, id: u16, core_mhz: u32) -> DeviceInfo {
    DeviceInfo {
        name,
        title,
        tables: &regs::platform::GEN50,
        interrupts: &INTERRUPTS,
        readers: READERS,
        pci: (0x8086, id),
        revision: 0x02,
        bar_bytes: 4 << 20,
        config: &[],
        // 2 GiB of address space in pages of 4 KiB.
        gtt_entries: 2 << 30 >> 12,
        gtt_format: &mem::FLAT_GTT,
        process_tables: None,
        answers: &[],
        fence_pitch: mem::fence::PITCH_SHIFT,
        swizzle: (mem::BitSixSwizzle::NineTen, mem::BitSixSwizzle::Nine),
        reset: Reset {
            port: Port::Register(RegId::IlkGdsr),
            answer: gdsr,
            keeps: KEPT,
        },
        render: &RENDER,
        engines: &[BSD],
        eus: 12,
        threads_per_eu: 6,
        urb_rows: 1024 * 2,
        stencil_apart: false,
        isa: isa::Verx10::from_times_ten(50),
        dual_source: DualSource::Whole,
        core_mhz,
        timestamp: Timestamp::TICKS,
        stateless_gated: false,
    }
}

/// The devices.
pub const DEVICES: &[DeviceInfo] = &[
    device("ironlake", "Intel HD Graphics (Ironlake)", 0x0042, 733),
    device(
        "ironlake-m",
        "Intel HD Graphics (Ironlake, mobile)",
        0x0046,
        500,
    ),
];

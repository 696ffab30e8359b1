//! Devices of generation 4.5: G45 and its variants, GM45.
//!
//! Sizes: Mesa 22.3.6 intel_device_info.c `intel_device_info_g4x` (10 EUs with 5 threads, 384 units of 512 bits of URB).
//! PCI ids: i915 i915_pciids.h; revisions as machines report them, those of 2e02 and 2e92 guesses; clocks from Intel's
//! data sheets. The readers hold the differences from 965, whose readers do the rest.
//! Not modelled: the video decoder behind its command streamer (BSD).

pub mod commands;
pub mod functions;
pub mod message;
pub mod pipeline;

use regs::desc::Engine;
use regs::gen45::fields::{ESR, ISR};
use regs::ids::RegId;

use super::reset::Reset;
use super::{DeviceInfo, Readers, gen40};
use crate::intel::cs::engine::{Domain, EngineInfo, Errors, RingRegisters, StatusPage, Timestamp};
use crate::intel::irq::Registers;
use crate::intel::shared::dataport::render::DualSource;
use crate::intel::status::Busy;

/// Readers of all devices of this generation.
pub const READERS: Readers = Readers {
    instructions: eu::r#gen::GEN45,
    commands: &commands::Reader,
    functions: &functions::Reader,
    messages: &message::Messages,
    pipeline: &pipeline::Reader,
    media: &gen40::media::Reader,
};

/// INSTDONE, and INSTDONE_1 with bits of its own (intel-gpu-tools lib/instdone.c `init_g4x_instdone1`).
const DONE: &[(Busy, RegId, u8)] = &[
    (Busy::Sf, RegId::Instdone, 23),
    (Busy::Windower, RegId::Instdone, 21),
    (Busy::Threads, RegId::Instdone, 18),
    (Busy::Windower, RegId::Instdone, 9),
    (Busy::Parser, RegId::Instdone, 1),
    (Busy::Parser, RegId::Instdone1, 30),
    (Busy::Windower, RegId::Instdone1, 6),
    (Busy::Sf, RegId::Instdone1, 4),
    (Busy::Clip, RegId::Instdone1, 3),
    (Busy::Gs, RegId::Instdone1, 2),
    (Busy::Vs, RegId::Instdone1, 1),
    (Busy::Vf, RegId::Instdone1, 0),
];

/// The bit of page table errors has moved: bit 4 is that of privileged accesses here (i915_reg.h `GM45_ERROR_PAGE_TABLE`).
static INTERRUPTS: Registers = Registers {
    page_table: ESR::GM45_PAGE_TABLE_ERROR::SET.value,
    ..gen40::INTERRUPTS
};

const RENDER: EngineInfo = EngineInfo {
    status_page: StatusPage::Graphics,
    done: DONE,
    ..gen40::RENDER
};

/// The registers of the video decoder's streamer at 4000h.
pub const BSD_REGISTERS: RingRegisters = RingRegisters {
    tail: RegId::BsdRingTail,
    head: RegId::BsdRingHead,
    start: RegId::BsdRingStart,
    ctl: RegId::BsdRingCtl,
    ipeir: RegId::BsdIpeir,
    ipehr: RegId::BsdIpehr,
    acthd: RegId::BsdActhd,
    dma_fadd: RegId::BsdDmaFadd,
    hws_pga: RegId::BsdHwsPga,
    nopid: RegId::BsdNopid,
    mi_mode: RegId::BsdMiMode,
};

/// The video decoder's engine (i915_reg.h `BSD_RING_BASE`, `I915_BSD_USER_INTERRUPT`).
pub const BSD: EngineInfo = EngineInfo {
    name: "vcs0",
    unit: "BSD",
    class: Engine::Video,
    has_pipelines: false,
    base: 0x4000,
    registers: BSD_REGISTERS,
    status_page: StatusPage::Graphics,
    user_interrupt: ISR::BSD_USER::SET.value,
    interrupt_mask: None,
    space: None,
    flush_interrupt: 0,
    own_commands: &[],
    user_registers: &[],
    semaphores: &[],
    errors: Errors::Own(RegId::BsdEsr),
    domain: Domain::Media,
    done: &[(Busy::Parser, RegId::Instdone1, 31)],
};

/// Registers of the host's side. i915 does not write them again after a reset (i915_pci.c
/// `gpu_reset_clobbers_display` is false for these devices).
const KEPT: &[RegId] = &[
    RegId::Ier,
    RegId::Imr,
    RegId::Iir,
    RegId::Emr,
    RegId::PgtblCtl,
    RegId::VdecclkGateD,
];

const fn device(
    name: &'static str,
    title: &'static str,
    id: u16,
    revision: u8,
    core_mhz: u32,
) -> DeviceInfo {
    DeviceInfo {
        name,
        title,
        tables: &regs::platform::GEN45,
        interrupts: &INTERRUPTS,
        readers: READERS,
        pci: (0x8086, id),
        revision,
        bar_bytes: 4 << 20,
        config: &[],
        // 2 GiB of address space in pages of 4 KiB.
        gtt_entries: 2 << 30 >> 12,
        gtt_format: &mem::FLAT_GTT,
        process_tables: None,
        answers: &[],
        fence_pitch: mem::fence::PITCH_SHIFT,
        swizzle: (mem::BitSixSwizzle::None, mem::BitSixSwizzle::None),
        reset: Reset {
            port: gen40::GDRST,
            answer: gen40::gdrst,
            keeps: KEPT,
        },
        render: &RENDER,
        engines: &[BSD],
        eus: 10,
        threads_per_eu: 5,
        urb_rows: 384 * 2,
        stencil_apart: false,
        isa: isa::Verx10::from_times_ten(45),
        dual_source: DualSource::Whole,
        core_mhz,
        timestamp: Timestamp::TICKS,
        stateless_gated: false,
    }
}

/// The devices, the best known first.
pub const DEVICES: &[DeviceInfo] = &[
    device("g45", "Intel G45/G43 Express", 0x2e22, 0x03, 800),
    device("gm45", "Mobile Intel GM45 Express", 0x2a42, 0x07, 533),
    device("q45", "Intel Q45/Q43 Express", 0x2e12, 0x03, 800),
    device("g41", "Intel G41 Express", 0x2e32, 0x03, 800),
    device("b43", "Intel B43 Express", 0x2e42, 0x03, 800),
    device("b43.1", "Intel B43 Express, second part", 0x2e92, 0x03, 800),
    device(
        "eaglelake",
        "Intel 4 Series Integrated Graphics",
        0x2e02,
        0x03,
        800,
    ),
];

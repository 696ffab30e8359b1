//! Gen4 devices: 965, G35 and GM965.
//!
//! PRM: volume 4, 1.0 (device tags), 3.5 (8 EUs with 4 threads). PCI ids: i915 i915_pciids.h; revisions as
//! machines report them, that of the B stepping a guess. Not modelled: other errata of early steppings.

pub mod color_calc;
pub mod commands;
pub mod functions;
pub mod latched;
pub mod media;
pub mod message;
pub mod payload;
pub mod pipeline;
pub mod sampler;
pub mod surface;
pub mod units;
pub mod vertex;
pub mod windower;

use regs::desc::Engine;
use regs::gen40::fields::{ESR, ISR};
use regs::ids::RegId;

use super::reset::{ALL, Answer, Port, Reset};
use super::{DeviceInfo, Readers};
use crate::intel::cs::engine::{
    Domain, EngineInfo, Errors, RENDER_REGISTERS, StatusPage, Timestamp,
};
use crate::intel::irq::Registers;
use crate::intel::shared::dataport::render::DualSource;
use crate::intel::status::Busy;

/// Readers of all devices of this generation.
pub const READERS: Readers = Readers {
    instructions: eu::r#gen::GEN40,
    commands: &commands::Reader,
    functions: &functions::Reader,
    messages: &message::Messages,
    pipeline: &pipeline::Reader,
    media: &media::Reader,
};

/// Interrupt registers (PRM volume 1; bits from i915 i915_reg.h).
pub static INTERRUPTS: Registers = Registers {
    isr: RegId::Isr,
    imr: RegId::Imr,
    iir: RegId::Iir,
    ier: RegId::Ier,
    pipe_control: ISR::PIPE_CONTROL_NOTIFY::SET.value,
    master_error: ISR::MASTER_ERROR::SET.value,
    debug: ISR::DEBUG::SET.value,
    page_table: ESR::PAGE_TABLE_ERROR::SET.value,
    master_enable: None,
};

/// INSTDONE and INSTDONE_1 (intel-gpu-tools lib/instdone.c `init_g965_instdone1`).
const DONE: &[(Busy, RegId, u8)] = &[
    (Busy::Sf, RegId::Instdone, 23),
    (Busy::Windower, RegId::Instdone, 21),
    (Busy::Threads, RegId::Instdone, 18),
    (Busy::Windower, RegId::Instdone, 9),
    (Busy::Parser, RegId::Instdone, 1),
    (Busy::Clip, RegId::Instdone1, 3),
    (Busy::Gs, RegId::Instdone1, 2),
    (Busy::Vs, RegId::Instdone1, 1),
    (Busy::Vf, RegId::Instdone1, 0),
];

/// The render engine (i915_reg.h `RENDER_RING_BASE`), which has the blitter, too.
pub const RENDER: EngineInfo = EngineInfo {
    name: "rcs0",
    unit: "CS",
    class: Engine::Render,
    has_pipelines: true,
    base: 0x2000,
    registers: RENDER_REGISTERS,
    status_page: StatusPage::Physical,
    user_interrupt: ISR::USER::SET.value,
    interrupt_mask: None,
    space: None,
    flush_interrupt: 0,
    own_commands: &[],
    user_registers: &[],
    semaphores: &[],
    errors: Errors::Device,
    domain: Domain::Render,
    done: DONE,
};

/// GDRST in configuration space (i915 intel_pci_config.h `I915_GDRST`).
pub const GDRST: Port = Port::Config(0xc0);
const GDRST_ENABLE: u32 = 1 << 0;
const GDRST_STATUS: u32 = 1 << 1;
const GDRST_RENDER: u32 = 1 << 2;
const GDRST_MEDIA: u32 = 3 << 2;

/// What a value of GDRST asks for. The reset is over at once: enable falls, status says so.
pub fn gdrst(value: u32) -> Option<Answer> {
    (value & GDRST_ENABLE != 0).then_some(Answer {
        resets: match value & GDRST_MEDIA {
            GDRST_MEDIA => &[Domain::Media],
            GDRST_RENDER => &[Domain::Render],
            _ => ALL,
        },
        reads: value & !GDRST_ENABLE | GDRST_STATUS,
    })
}

/// A device of \[DevBW\].
const fn device(name: &'static str, title: &'static str, id: u16, revision: u8) -> DeviceInfo {
    DeviceInfo {
        name,
        title,
        tables: &regs::platform::GEN40,
        interrupts: &INTERRUPTS,
        readers: READERS,
        pci: (0x8086, id),
        revision,
        bar_bytes: 1 << 20,
        config: &[],
        // 512 MiB of address space in pages of 4 KiB.
        gtt_entries: 512 << 20 >> 12,
        gtt_format: &mem::FLAT_GTT,
        process_tables: None,
        answers: &[],
        fence_pitch: mem::fence::PITCH_SHIFT,
        swizzle: (mem::BitSixSwizzle::None, mem::BitSixSwizzle::None),
        reset: Reset {
            port: GDRST,
            answer: gdrst,
            keeps: &[],
        },
        render: &RENDER,
        engines: &[],
        eus: 8,
        threads_per_eu: 4,
        urb_rows: crate::intel::urb::ROWS,
        stencil_apart: false,
        isa: isa::Verx10::GEN40,
        dual_source: DualSource::Absent,
        core_mhz: 500,
        timestamp: Timestamp::TICKS,
        stateless_gated: false,
    }
}

/// A device of an early stepping.
const fn early(device: &DeviceInfo) -> DeviceInfo {
    DeviceInfo {
        stateless_gated: true,
        ..*device
    }
}

/// A device of \[DevCL\], all of whose machines report a later stepping than A.
const fn mobile(name: &'static str, title: &'static str, id: u16) -> DeviceInfo {
    DeviceInfo {
        dual_source: DualSource::Lower,
        ..device(name, title, id, 0x0c)
    }
}

/// The devices, the best known first.
pub const DEVICES: &[DeviceInfo] = &[
    mobile("gm965", "Mobile Intel GM965 Express", 0x2a02),
    mobile("gme965", "Mobile Intel GME965 Express", 0x2a12),
    device("g965", "Intel G965 Express", 0x29a2, 0x02),
    device("q965", "Intel Q965/Q963 Express", 0x2992, 0x02),
    device("g35", "Intel G35 Express", 0x2982, 0x03),
    device("946gz", "Intel 946GZ Express", 0x2972, 0x02),
    early(&device(
        "g965-b",
        "Intel G965 Express, stepping B",
        0x29a2,
        0x01,
    )),
];

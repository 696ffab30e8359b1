//! Devices of generation 6: Sandy Bridge on the desktop and in mobile machines.
//!
//! Sizes: Mesa 22.3.6 intel_device_info.c `intel_device_info_snb_gt1` and `_gt2` (6 or 12 EUs, 512 or 1024 units of 512 bits of
//! URB). PCI ids: i915 i915_pciids.h; revision of the stepping D2; clocks from Intel's data sheets (without turbo). Registers:
//! i915 gt/intel_engine_regs.h, gt/intel_gt_regs.h, gt/gen6_ppgtt.c. Not modelled: the video codec behind its streamer,
//! power states, display interrupts.

mod codec;
pub mod color_calc;
pub mod commands;
pub mod functions;
pub mod latched;
pub mod media;
pub mod message;
pub mod payload;
pub mod pipeline;
pub mod surface;
mod tables;
pub mod units;
pub mod vertex;
pub mod windower;

use regs::desc::Engine;
use regs::gen60::fields::{
    BSD_INSTPM, DEIER, FORCEWAKE, FORCEWAKE_MT, GEN6_GDRST, GFX_MODE, GTISR, INSTPM, PCODE_MAILBOX,
};
use regs::ids::RegId;

use super::reset::{self, Port, Reset};
use super::{Answer, DeviceInfo, ProcessTables, Readers, gen40};
use crate::intel::cs::engine::{
    Domain, EngineInfo, Errors, RingRegisters, SpaceRegisters, StatusPage, Timestamp,
};
use crate::intel::irq::Registers;
use crate::intel::shared::dataport::render::DualSource;
use crate::intel::status::Busy;

/// Readers of all devices of this generation.
pub const READERS: Readers = Readers {
    instructions: eu::r#gen::GEN60,
    commands: &commands::Reader,
    functions: &functions::Reader,
    messages: &message::Messages,
    pipeline: &pipeline::Reader,
    media: &media::Reader,
};

/// Interrupt registers of all engines, behind the master enable of the display engine's (i915 i915_irq.c
/// `ilk_irq_handler`, gt/intel_gt_irq.c `gen6_gt_irq_handler`).
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

/// INSTDONE has TD and the EUs, INSTDONE_1 the units (genxml gen6 INSTDONE_1, INSTDONE_2).
const DONE: &[(Busy, RegId, u8)] = &[
    (Busy::Threads, RegId::Instdone, 6),
    (Busy::Parser, RegId::Instdone1, 30),
    (Busy::Windower, RegId::Instdone1, 16),
    (Busy::Sf, RegId::Instdone1, 4),
    (Busy::Clip, RegId::Instdone1, 3),
    (Busy::Gs, RegId::Instdone1, 2),
    (Busy::Vs, RegId::Instdone1, 1),
    (Busy::Vf, RegId::Instdone1, 0),
];

/// What switches tables of processes on, for all engines.
const ENABLE: (RegId, u32) = (RegId::GfxMode, GFX_MODE::PPGTT_ENABLE::SET.value);

const RENDER: EngineInfo = EngineInfo {
    status_page: StatusPage::Graphics,
    user_interrupt: GTISR::USER::SET.value,
    interrupt_mask: Some(RegId::RcsImr),
    space: Some(SpaceRegisters {
        base: RegId::RcsPpDirBase,
        valid: RegId::RcsPpDirDclv,
        enable: ENABLE,
    }),
    // RVSYNC and RBSYNC (i915 of Linux 4.9, i915_reg.h `GEN6_RVSYNC`).
    semaphores: &[(0, RegId::RcsSync0), (2, RegId::RcsSync1)],
    done: DONE,
    ..gen40::RENDER
};

/// The registers of the blitter's streamer at 22000h; its status page's lies apart.
const BLITTER_REGISTERS: RingRegisters = RingRegisters {
    tail: RegId::BltRingTail,
    head: RegId::BltRingHead,
    start: RegId::BltRingStart,
    ctl: RegId::BltRingCtl,
    ipeir: RegId::BltIpeir,
    ipehr: RegId::BltIpehr,
    acthd: RegId::BltActhd,
    dma_fadd: RegId::BltDmaFadd,
    hws_pga: RegId::BltHwsPga,
    nopid: RegId::BltNopid,
    mi_mode: RegId::BltMiMode,
};

/// The blitter (i915 `BLT_RING_BASE`).
const BLITTER: EngineInfo = EngineInfo {
    name: "bcs0",
    unit: "BCS",
    class: Engine::Blitter,
    has_pipelines: false,
    base: 0x2_2000,
    registers: BLITTER_REGISTERS,
    status_page: StatusPage::Graphics,
    user_interrupt: GTISR::BLITTER_USER::SET.value,
    interrupt_mask: Some(RegId::BltImr),
    space: Some(SpaceRegisters {
        base: RegId::BltPpDirBase,
        valid: RegId::BltPpDirDclv,
        enable: ENABLE,
    }),
    flush_interrupt: GTISR::BLITTER_FLUSH_NOTIFY::SET.value,
    // BVSYNC and BRSYNC.
    semaphores: &[(0, RegId::BltSync1), (2, RegId::BltSync0)],
    errors: Errors::Own(RegId::BltEsr),
    domain: Domain::Blitter,
    own_commands: &[],
    user_registers: &[],
    done: &[(Busy::Parser, RegId::BltInstdone, 0)],
};

/// The registers of the video codec's streamer at 12000h.
const VIDEO_REGISTERS: RingRegisters = RingRegisters {
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

/// The video codec's streamer (i915 `GEN6_BSD_RING_BASE`).
const VIDEO: EngineInfo = EngineInfo {
    name: "vcs0",
    unit: "VCS",
    class: Engine::Video,
    base: 0x1_2000,
    registers: VIDEO_REGISTERS,
    user_interrupt: GTISR::BSD_USER::SET.value,
    interrupt_mask: Some(RegId::BsdImr),
    space: Some(SpaceRegisters {
        base: RegId::BsdPpDirBase,
        valid: RegId::BsdPpDirDclv,
        enable: ENABLE,
    }),
    flush_interrupt: 0,
    own_commands: codec::COMMANDS,
    // VBSYNC and VRSYNC.
    semaphores: &[(0, RegId::BsdSync0), (2, RegId::BsdSync1)],
    errors: Errors::Own(RegId::BsdEsr),
    domain: Domain::Media,
    done: &[(Busy::Parser, RegId::BsdInstdone, 0)],
    ..BLITTER
};

/// Registers of the host's side and of power management. i915 does not write them again after a reset
/// (gt/intel_reset.c `gen6_reset_engines`).
const KEPT: &[RegId] = &[
    RegId::Gtier,
    RegId::Gtimr,
    RegId::Gtiir,
    RegId::Deier,
    RegId::Deimr,
    RegId::Deiir,
    RegId::Pmier,
    RegId::Pmimr,
    RegId::Pmiir,
    RegId::Sdeier,
    RegId::Sdeimr,
    RegId::Sdeiir,
    RegId::Emr,
    RegId::Forcewake,
    RegId::ForcewakeAck,
    RegId::ForcewakeMt,
    RegId::ForcewakeMtAck,
    RegId::Tilectl,
    RegId::ArbMode,
];

/// What a value of GEN6_GDRST asks for: each domain has a bit, and the first stands for all of them. The resets are over at
/// once, and the bits fall.
fn gdrst(value: u32) -> Option<reset::Answer> {
    let full = GEN6_GDRST::FULL.is_set(value);
    let domains = [
        (GEN6_GDRST::RENDER.is_set(value), Domain::Render),
        (GEN6_GDRST::MEDIA.is_set(value), Domain::Media),
        (GEN6_GDRST::BLITTER.is_set(value), Domain::Blitter),
    ];
    let resets: &[Domain] = match domains.map(|(bit, _)| bit) {
        _ if full => reset::ALL,
        [false, false, false] => return None,
        [true, false, false] => &[Domain::Render],
        [false, true, false] => &[Domain::Media],
        [false, false, true] => &[Domain::Blitter],
        [true, true, false] => &[Domain::Render, Domain::Media],
        [true, false, true] => &[Domain::Render, Domain::Blitter],
        [false, true, true] => &[Domain::Media, Domain::Blitter],
        [true, true, true] => reset::ALL,
    };
    Some(reset::Answer { resets, reads: 0 })
}

const fn whole(mask: u32, shift: usize) -> u32 {
    mask << shift
}

/// Requests that are granted at once, and bits that fall when what they ask for is done.
const ANSWERS: &[Answer] = &[
    Answer::Shows {
        from: RegId::Forcewake,
        to: RegId::ForcewakeAck,
        bits: whole(FORCEWAKE::AWAKE.mask, FORCEWAKE::AWAKE.shift),
    },
    Answer::Shows {
        from: RegId::ForcewakeMt,
        to: RegId::ForcewakeMtAck,
        bits: whole(FORCEWAKE_MT::AWAKE.mask, FORCEWAKE_MT::AWAKE.shift),
    },
    Answer::Falls {
        register: RegId::PcodeMailbox,
        // What was the command is the error then, which is none (intel_pcode.c `GEN6_PCODE_ERROR_MASK`).
        bits: PCODE_MAILBOX::READY::SET.value
            | whole(PCODE_MAILBOX::COMMAND.mask, PCODE_MAILBOX::COMMAND.shift),
    },
    Answer::Falls {
        register: RegId::Instpm,
        bits: INSTPM::SYNC_FLUSH_ENABLE::SET.value | INSTPM::TLB_INVALIDATE::SET.value,
    },
    Answer::Falls {
        register: RegId::BltInstpm,
        bits: BSD_INSTPM::SYNC_FLUSH_ENABLE::SET.value | BSD_INSTPM::TLB_INVALIDATE::SET.value,
    },
    Answer::Falls {
        register: RegId::BsdInstpm,
        bits: BSD_INSTPM::SYNC_FLUSH_ENABLE::SET.value | BSD_INSTPM::TLB_INVALIDATE::SET.value,
    },
];

static PROCESS_TABLES: ProcessTables = ProcessTables {
    format: &tables::PROCESS,
    directory: tables::directory,
};

/// GGMS of the chipset's control word at 50h: 2 MiB of entries (i915 `SNB_GMCH_CTRL`, gt/intel_ggtt.c
/// `gen6_get_total_gtt_size`).
const CONFIG: &[(u8, u8)] = &[(0x51, 2)];

/// A device with one or two rows of EUs.
const fn device(
    name: &'static str,
    title: &'static str,
    id: u16,
    rows: u16,
    core_mhz: u32,
) -> DeviceInfo {
    DeviceInfo {
        name,
        title,
        tables: &regs::platform::GEN60,
        interrupts: &INTERRUPTS,
        readers: READERS,
        pci: (0x8086, id),
        revision: 0x09,
        bar_bytes: 4 << 20,
        config: CONFIG,
        // 2 GiB of address space in pages of 4 KiB.
        gtt_entries: 2 << 30 >> 12,
        gtt_format: &tables::GLOBAL,
        process_tables: Some(&PROCESS_TABLES),
        answers: ANSWERS,
        fence_pitch: 32,
        swizzle: (mem::BitSixSwizzle::None, mem::BitSixSwizzle::None),
        reset: Reset {
            port: Port::Register(RegId::Gen6Gdrst),
            answer: gdrst,
            keeps: KEPT,
        },
        render: &RENDER,
        engines: &[VIDEO, BLITTER],
        eus: 6 * rows,
        threads_per_eu: 5,
        urb_rows: 1024 * rows,
        stencil_apart: true,
        isa: isa::Verx10::from_times_ten(60),
        dual_source: DualSource::Whole,
        core_mhz,
        // 80 ns a count: 25 in two microseconds.
        timestamp: Timestamp {
            counts: 25,
            ticks: core_mhz as u64 * 2,
        },
        stateless_gated: false,
    }
}

/// The devices, the best known first.
pub const DEVICES: &[DeviceInfo] = &[
    device(
        "sandybridge",
        "Intel HD Graphics 3000 (Sandy Bridge, mobile)",
        0x0126,
        2,
        650,
    ),
    device(
        "sandybridge-m-gt2",
        "Intel HD Graphics 3000 (Sandy Bridge, mobile, 0116)",
        0x0116,
        2,
        650,
    ),
    device(
        "sandybridge-m-gt1",
        "Intel HD Graphics (Sandy Bridge, mobile)",
        0x0106,
        1,
        650,
    ),
    device(
        "sandybridge-gt2",
        "Intel HD Graphics 3000 (Sandy Bridge)",
        0x0122,
        2,
        850,
    ),
    device(
        "sandybridge-gt2-0112",
        "Intel HD Graphics 2000/3000 (Sandy Bridge, 0112)",
        0x0112,
        2,
        850,
    ),
    device(
        "sandybridge-gt1",
        "Intel HD Graphics 2000 (Sandy Bridge)",
        0x0102,
        1,
        850,
    ),
];

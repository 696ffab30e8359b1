//! Devices of generation 7: ValleyView, the graphics of Bay Trail, as rows.
//!
//! Sizes: Mesa 22.3.6 intel_device_info.c `intel_device_info_byt` (4 EUs of 8 threads), intel_l3_config.c `vlv_l3_configs` (80 ways of
//! 2 KiB for the URB at most). PCI ids: i915 i915_pciids.h; revision of the stepping D0; clock of the Celeron J1900 (without turbo). Registers:
//! i915 gt/intel_engine_regs.h, gt/intel_gt_regs.h, i915_reg.h. Not modelled: the video codec behind its streamer, power states, display
//! interrupts.
mod tables;

use regs::desc::Engine;
use regs::gen70::fields::{
    BSD_INSTPM, FORCEWAKE_MEDIA_VLV, FORCEWAKE_VLV, GEN6_GDRST, GFX_MODE, GTISR, INSTPM,
    VLV_IOSF_DOORBELL_REQ, VLV_MASTER_IER,
};
use regs::ids::RegId;

use super::super::reset::{self, Port, Reset};
use super::super::{Answer, DeviceInfo, ProcessTables, Sideband, SidebandWord, gen40};
use super::READERS;
use crate::intel::cs::engine::{
    Domain, EngineInfo, Errors, RingRegisters, SpaceRegisters, StatusPage, Timestamp,
};
use crate::intel::irq::Registers;
use crate::intel::shared::dataport::render::DualSource;
use crate::intel::status::Busy;

/// Interrupt registers of all engines, behind a switch of their own (i915 i915_irq.c `valleyview_irq_handler`).
static INTERRUPTS: Registers = Registers {
    isr: RegId::Gtisr,
    imr: RegId::Gtimr,
    iir: RegId::Gtiir,
    ier: RegId::Gtier,
    pipe_control: GTISR::PIPE_CONTROL_NOTIFY::SET.value,
    master_error: GTISR::MASTER_ERROR::SET.value,
    debug: GTISR::DEBUG::SET.value,
    page_table: gen40::INTERRUPTS.page_table,
    master_enable: Some((
        RegId::VlvMasterIer,
        VLV_MASTER_IER::MASTER_INTERRUPT_ENABLE::SET.value,
    )),
};

/// INSTDONE has the units of the front, SC_INSTDONE the windower, ROW_INSTDONE the threads (genxml gen7 INSTDONE_1, SC_INSTDONE,
/// ROW_INSTDONE).
const DONE: &[(Busy, RegId, u8)] = &[
    (Busy::Threads, RegId::RowInstdone, 6),
    (Busy::Parser, RegId::Instdone, 23),
    (Busy::Windower, RegId::ScInstdone, 1),
    (Busy::Sf, RegId::Instdone, 9),
    (Busy::Clip, RegId::Instdone, 8),
    (Busy::Sol, RegId::Instdone, 7),
    (Busy::Gs, RegId::Instdone, 6),
    (Busy::Ds, RegId::Instdone, 5),
    (Busy::Te, RegId::Instdone, 4),
    (Busy::Hs, RegId::Instdone, 3),
    (Busy::Vs, RegId::Instdone, 2),
    (Busy::Vf, RegId::Instdone, 1),
];

/// What switches tables of processes on, in the register of an engine (i915 `RING_MODE_GEN7`).
const PPGTT: u32 = GFX_MODE::PPGTT_ENABLE::SET.value;

/// Registers that batches of users may load and store by themselves. The manuals of later generations list some of them ("User Mode Non-Privileged
/// Registers"); that of this one is not at hand. INSTPM has to be among them: i915 6.1 does not let it pass (i915_cmd_parser.c
/// `gen7_render_regs`), and what Mesa's crocus draws depends on it (crocus_state.c `crocus_init_render_context`), with stream output and indirect draws
/// in the same batch.
const USER_REGISTERS: &[(u32, u32)] = &[
    (0x2094, 0x2098), // NOPID
    (0x20c0, 0x20c4), // INSTPM
    (0x2290, 0x2298), // CS_INVOCATION_COUNT
    (0x2300, 0x2360), // Statistics counters, TIMESTAMP
    (0x2400, 0x241c), // MI_PREDICATE_*
    (0x2420, 0x2424), // 3DPRIM_END_OFFSET
    (0x2430, 0x2444), // 3DPRIM_*
    (0x2500, 0x250c), // GPGPU_DISPATCHDIM*
    (0x5200, 0x5220), // SO_NUM_PRIMS_WRITTEN
    (0x5240, 0x5260), // SO_PRIM_STORAGE_NEEDED
    (0x5280, 0x5290), // SO_WRITE_OFFSET
    (0x7000, 0x700c), // CACHE_MODE_0, CACHE_MODE_1, GT_MODE
];

const RENDER: EngineInfo = EngineInfo {
    status_page: StatusPage::Graphics,
    user_interrupt: GTISR::USER::SET.value,
    interrupt_mask: Some(RegId::RcsImr),
    space: Some(SpaceRegisters {
        base: RegId::RcsPpDirBase,
        valid: RegId::RcsPpDirDclv,
        enable: (RegId::GfxMode, PPGTT),
    }),
    // RVSYNC and RBSYNC (i915 gt/intel_engine_regs.h `GEN6_RVSYNC`).
    semaphores: &[(0, RegId::RcsSync0), (2, RegId::RcsSync1)],
    user_registers: USER_REGISTERS,
    done: DONE,
    ..gen40::RENDER
};

/// The registers of the blitter's streamer at 22000h; its status page's lies beside that of the render engine.
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
        enable: (RegId::BltGfxMode, PPGTT),
    }),
    flush_interrupt: GTISR::BLITTER_FLUSH_NOTIFY::SET.value,
    // BVSYNC and BRSYNC.
    semaphores: &[(0, RegId::BltSync1), (2, RegId::BltSync0)],
    errors: Errors::Own(RegId::BltEsr),
    domain: Domain::Blitter,
    own_commands: &[],
    // BCS_SWCTRL.
    user_registers: &[(0x2_2200, 0x2_2204)],
    done: &[(Busy::Parser, RegId::BltInstdone, 0)],
};

/// The registers of the video codec's streamer at 12000h; its status page's lies beside that of the render engine.
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
        enable: (RegId::BsdGfxMode, PPGTT),
    }),
    flush_interrupt: 0,
    // VBSYNC and VRSYNC.
    semaphores: &[(0, RegId::BsdSync0), (2, RegId::BsdSync1)],
    user_registers: &[],
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
    RegId::VlvMasterIer,
    RegId::VlvIer,
    RegId::VlvImr,
    RegId::VlvIir,
    RegId::Pmier,
    RegId::Pmimr,
    RegId::Pmiir,
    RegId::Emr,
    RegId::Gen7ErrInt,
    RegId::ForcewakeVlv,
    RegId::ForcewakeAckVlv,
    RegId::ForcewakeMediaVlv,
    RegId::ForcewakeAckMediaVlv,
    RegId::ForcewakeMt,
    RegId::VlvGtlcWakeCtrl,
    RegId::VlvGtlcPwStatus,
    RegId::VlvGtlcSurvivability,
    RegId::VlvGunitClockGate,
    RegId::Tilectl,
    RegId::ArbMode,
];

/// What a value of GEN6_GDRST asks for: each domain has a bit, and the first stands for all of them. The resets are over at
/// once, and the bits fall.
fn gdrst(value: u32) -> Option<reset::Answer> {
    let full = GEN6_GDRST::FULL.is_set(value);
    let domains = [
        GEN6_GDRST::RENDER.is_set(value),
        GEN6_GDRST::MEDIA.is_set(value),
        GEN6_GDRST::BLITTER.is_set(value),
    ];
    let resets: &[Domain] = match domains {
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

/// The sideband to the power unit and others. The power unit switches wells as it is told (i915 i915_reg.h `PUNIT_REG_PWRGT_CTRL` and
/// `PUNIT_REG_PWRGT_STATUS`, display/intel_display_power_well.c `vlv_set_power_well`); those of the video codec and of the camera are gated
/// (`PUNIT_REG_VEDSSPM0`, `PUNIT_REG_ISPSSPM0`, display/intel_display_power.c `vlv_punit_is_power_gated`). Not modelled: clocks, the display's units.
static SIDEBAND: Sideband = Sideband {
    ask: RegId::VlvIosfDoorbellReq,
    busy: VLV_IOSF_DOORBELL_REQ::BUSY::SET.value,
    address: RegId::VlvIosfAddr,
    data: RegId::VlvIosfData,
    asked: |value| {
        let port = VLV_IOSF_DOORBELL_REQ::PORT.read(value);
        // IOSF_OPCODE: reads are even, writes odd.
        let opcode = VLV_IOSF_DOORBELL_REQ::OPCODE.read(value);
        Some((u8::try_from(port).ok()?, opcode & 1 != 0))
    },
    places: &[
        (PUNIT, 0x32, SidebandWord::Is(3)),
        (PUNIT, 0x39, SidebandWord::Is(3)),
        (PUNIT, 0x60, SidebandWord::Keeps(0)),
        (PUNIT, 0x61, SidebandWord::Shows(0)),
    ],
};

/// The port of the power unit (i915 vlv_sideband.c `IOSF_PORT_PUNIT`).
const PUNIT: u8 = 4;

/// Requests that are granted at once, and bits that fall when what they ask for is done.
const ANSWERS: &[Answer] = &[
    Answer::Shows {
        from: RegId::ForcewakeVlv,
        to: RegId::ForcewakeAckVlv,
        bits: whole(FORCEWAKE_VLV::AWAKE.mask, FORCEWAKE_VLV::AWAKE.shift),
    },
    Answer::Shows {
        from: RegId::ForcewakeMediaVlv,
        to: RegId::ForcewakeAckMediaVlv,
        bits: whole(
            FORCEWAKE_MEDIA_VLV::AWAKE.mask,
            FORCEWAKE_MEDIA_VLV::AWAKE.shift,
        ),
    },
    Answer::Sideband(&SIDEBAND),
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

const fn device(name: &'static str, title: &'static str, id: u16) -> DeviceInfo {
    const CORE_MHZ: u32 = 688;
    DeviceInfo {
        name,
        title,
        tables: &regs::platform::GEN70,
        interrupts: &INTERRUPTS,
        readers: READERS,
        pci: (0x8086, id),
        revision: 0x0e,
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
        eus: 4,
        threads_per_eu: 8,
        // 160 KiB: how much of the L3 cache is the URB's, the driver decides; it keeps to it.
        urb_rows: 5120,
        stencil_apart: true,
        isa: isa::Verx10::from_times_ten(70),
        dual_source: DualSource::Whole,
        core_mhz: CORE_MHZ,
        // 80 ns a count: 25 in two microseconds.
        timestamp: Timestamp {
            counts: 25,
            ticks: CORE_MHZ as u64 * 2,
        },
        stateless_gated: false,
    }
}

/// The devices, the best known first.
pub const DEVICES: &[DeviceInfo] = &[
    device("valleyview", "Intel HD Graphics (Bay Trail)", 0x0f31),
    device(
        "valleyview-0f30",
        "Intel HD Graphics (Bay Trail, 0f30)",
        0x0f30,
    ),
    device(
        "valleyview-0f32",
        "Intel HD Graphics (Bay Trail, 0f32)",
        0x0f32,
    ),
    device(
        "valleyview-0f33",
        "Intel HD Graphics (Bay Trail, 0f33)",
        0x0f33,
    ),
];

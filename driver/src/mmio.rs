//! Registers of the driver: offsets and typed fields.
//!
//! Offsets and bits: i915 `intel_engine_regs.h`, `intel_gt_regs.h`, `i915_reg.h`; PRM vol4 3.3.9 for the windower.
//! Not modelled: display registers.
use kernel::tock_registers::register_bitfields;

/// First register of the render ring (i915 `RENDER_RING_BASE`).
pub const RENDER_RING_BASE: usize = 0x2000;

/// Ring and command streamer registers, relative to a ring's base.
pub mod ring {
    pub const TAIL: usize = 0x30;
    pub const HEAD: usize = 0x34;
    pub const START: usize = 0x38;
    pub const CTL: usize = 0x3c;
    pub const IPEIR: usize = 0x64;
    pub const IPEHR: usize = 0x68;
    pub const INSTDONE: usize = 0x6c;
    pub const INSTPS: usize = 0x70;
    pub const ACTHD: usize = 0x74;
    pub const DMA_FADD: usize = 0x78;
    pub const INSTDONE_1: usize = 0x7c;
    pub const HWS_PGA: usize = 0x80;
    pub const HWSTAM: usize = 0x98;
    pub const MI_MODE: usize = 0x9c;
    pub const INSTPM: usize = 0xc0;
    /// Offset bits of HEAD (i915 `HEAD_ADDR`).
    pub const HEAD_ADDR: u32 = 0x001f_fffc;
    /// Offset bits of TAIL (i915 `TAIL_ADDR`).
    pub const TAIL_ADDR: u32 = 0x001f_fff8;
}

pub const PGTBL_CTL: usize = 0x2020;
pub const PGTBL_ER: usize = 0x2024;
pub const IER: usize = 0x20a0;
pub const IIR: usize = 0x20a4;
pub const IMR: usize = 0x20a8;
pub const EIR: usize = 0x20b0;
pub const EMR: usize = 0x20b4;
pub const ESR: usize = 0x20b8;
pub const CACHE_MODE_0: usize = 0x2120;
pub const ECOSKPD: usize = 0x21d0;
/// First fence register; 64 bits each.
pub const FENCE: usize = 0x3000;
pub const WIZ_CTL: usize = 0x7c00;
pub const WIZ_STRG_VAL: usize = 0x7c04;
pub const WIZ_RDATA: usize = 0x7c08;

/// PCI configuration: graphics device reset (i915 `I915_GDRST`).
pub const GDRST: usize = 0xc0;
/// GDRST: asserts the reset of the domain in bits 3:2 (0: everything).
pub const GDRST_ENABLE: u8 = 1 << 0;
/// GDRST: the device is held in reset.
pub const GDRST_STATUS: u8 = 1 << 1;

register_bitfields![u32,
    pub RingCtl [
        NR_PAGES OFFSET(12) NUMBITS(9) [],
        VALID OFFSET(0) NUMBITS(1) [],
    ],
    pub MiMode [
        IDLE OFFSET(9) NUMBITS(1) [],
        STOP_RING OFFSET(8) NUMBITS(1) [],
        VS_TIMER_DISPATCH OFFSET(6) NUMBITS(1) [],
    ],
    pub InstPm [
        GLOBAL_DEBUG_ENABLE OFFSET(4) NUMBITS(1) [],
    ],
    pub PgtblCtl [
        SIZE OFFSET(1) NUMBITS(3) [
            Size512KB = 0,
            Size256KB = 1,
            Size128KB = 2,
            Size1MB = 3,
            Size2MB = 4,
            Size1_5MB = 5,
        ],
        ENABLE OFFSET(0) NUMBITS(1) [],
    ],
    pub Interrupt [
        MASTER_ERROR OFFSET(15) NUMBITS(1) [],
        USER OFFSET(1) NUMBITS(1) [],
    ],
    pub Error [
        PAGE_TABLE OFFSET(4) NUMBITS(1) [],
        MEMORY_REFRESH OFFSET(1) NUMBITS(1) [],
        INSTRUCTION OFFSET(0) NUMBITS(1) [],
    ],
    pub WizCtl [
        COMPLETE OFFSET(31) NUMBITS(1) [],
        SUBSPAN_INSTANCE OFFSET(16) NUMBITS(8) [],
        MUX OFFSET(8) NUMBITS(8) [
            KernelPointer = 0,
            SubspanInstanceCount = 1,
            PrimitiveSequenceNumber = 2,
        ],
        SINGLE_SUBSPAN_DISPATCH OFFSET(6) NUMBITS(1) [],
        INSTANCE_COMPARE OFFSET(4) NUMBITS(1) [],
        UPSTREAM_FLAG OFFSET(3) NUMBITS(1) [],
        ALL_THREADS OFFSET(2) NUMBITS(1) [],
        THREAD_SNAPSHOT OFFSET(1) NUMBITS(1) [],
        ENABLE OFFSET(0) NUMBITS(1) [],
    ],
    pub WizTrigger [
        Y OFFSET(16) NUMBITS(16) [],
        X OFFSET(0) NUMBITS(16) [],
    ],
];

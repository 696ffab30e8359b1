//! Registers of Sandy Bridge against a second reading of their sources.
//! i915 i915_reg.h, intel_mchbar_regs.h, gt/intel_engine_regs.h, gt/intel_gt_regs.h, gt/intel_gtt.h; genxml gen6.
//! Does not test names of fields and of their values.

use std::collections::BTreeSet;

use regs::platform::{GEN50, GEN60};

use super::{ALL, Row, WIDE, check, row};

/// A register of every ring: name, place, reset value, bits.
type Kind = (&'static str, u32, u64, fn(Row) -> Row);

/// `RING_*` of an engine by its base; the status page is at 2080h behind it.
fn ring(base: u32, names: &[(&'static str, &'static str)]) -> Vec<Row> {
    let ring = |what: &str| {
        let found = names.iter().find(|(known, _)| *known == what);
        found.map(|(_, name)| *name)
    };
    let all: &[Kind] = &[
        ("TAIL", 0x30, 0, |r: Row| r.stores(0x001f_fff8)),
        ("HEAD", 0x34, 0, |r: Row| r.stores(0xffff_fffc)),
        ("START", 0x38, 0, |r: Row| r.stores(0xffff_f000)),
        // RING_NR_PAGES, RING_REPORT_MASK, RING_VALID; RING_WAIT 11 and RING_WAIT_SEMAPHORE 10.
        ("CTL", 0x3c, 0, |r: Row| {
            r.stores(0x001f_f007).clears(3 << 10)
        }),
        // genxml gen6 has Disable Register Accesses in bit 8 of the codec's and the blitter's.
        ("CTL8", 0x3c, 0, |r: Row| {
            r.stores(0x001f_f107).clears(3 << 10)
        }),
        ("SYNC_0", 0x40, 0, |r: Row| r.stores(ALL)),
        ("SYNC_1", 0x44, 0, |r: Row| r.stores(ALL)),
        ("PSMI_CTL", 0x50, 0, |r: Row| r.masks(1)),
        // GEN6_BSD_GO_INDICATOR 4, _SLEEP_INDICATOR 3, _SLEEP_FLUSH_DISABLE 2.
        ("PSMI_BSD", 0x50, 0, |r: Row| r.masks(5).shows(0x18)),
        ("MAX_IDLE", 0x54, 0, |r: Row| r.stores(0xf_ffff)),
        ("IPEIR", 0x64, 0, |r: Row| r.shows(ALL)),
        ("IPEHR", 0x68, 0, |r: Row| r.shows(ALL)),
        ("INSTPS", 0x70, 0, |r: Row| r.shows(ALL)),
        ("ACTHD", 0x74, 0, |r: Row| r.shows(0xffff_fffc)),
        ("DMA_FADD", 0x78, 0, |r: Row| r.shows(ALL)),
        ("NOPID", 0x94, 0, |r: Row| r.shows(0x003f_ffff)),
        ("HWSTAM", 0x98, ALL, |r: Row| r.stores(ALL)),
        // MODE_IDLE, STOP_RING.
        ("MI_MODE", 0x9c, 0x200, |r: Row| r.masks(0x100).shows(0x200)),
        ("IMR", 0xa8, ALL, |r: Row| r.stores(ALL)),
        ("EIR", 0xb0, 0, |r: Row| r.clears(1)),
        ("EMR", 0xb4, ALL, |r: Row| r.stores(ALL)),
        ("ESR", 0xb8, 0, |r: Row| r.shows(1)),
        // INSTPM_TLB_INVALIDATE 9, INSTPM_FORCE_ORDERING 7, INSTPM_SYNC_FLUSH 5.
        ("INSTPM", 0xc0, 0, |r: Row| r.masks(0x2a0)),
        ("BBSTATE", 0x110, 0, |r: Row| r.shows(ALL)),
        ("BBADDR", 0x140, 0, |r: Row| r.shows(0xffff_fffd)),
        ("CCID", 0x180, 0, |r: Row| r.stores(0xffff_f001)),
        ("PP_DIR_DCLV", 0x220, 0, |r: Row| r.stores(ALL)),
        ("PP_DIR_BASE", 0x228, 0, |r: Row| r.stores(0xffff_0000)),
        ("TIMESTAMP", 0x358, 0, |r: Row| r.shape(64, 1).shows(WIDE)),
        ("PP_DIR_BASE_READ", 0x518, 0, |r: Row| r.shows(0xffff_0000)),
        ("HWS_PGA_GEN6", 0x2080, 0, |r: Row| r.stores(0xffff_f000)),
    ];
    let rows = all.iter().filter_map(|&(what, at, reset, bits)| {
        Some(bits(row(ring(what)?, base + at, reset, what)))
    });
    let rows: Vec<Row> = rows.collect();
    assert_eq!(rows.len(), names.len());
    rows
}

/// Names with the register of the ring that they are.
macro_rules! named {
    ($prefix:literal: $($suffix:literal is $what:literal),* $(,)?) => {
        [$(($what, concat!($prefix, $suffix))),*]
    };
}

/// Registers that hold all bits, with their reset value.
const STORAGE: &[(&str, u32, u64)] = &[
    ("GAM_ECOCHK", 0x4090, 0),
    ("RCS_FAULT_REG", 0x4094, 0),
    ("VCS_FAULT_REG", 0x4194, 0),
    ("BCS_FAULT_REG", 0x4294, 0),
    ("MBCUNIT_SNPCR", 0x900c, 0),
    ("UCGCTL1", 0x9400, 0),
    ("UCGCTL2", 0x9404, 0),
    ("UCGCTL3", 0x9408, 0),
    ("RCGCTL1", 0x9410, 0),
    ("RCGCTL2", 0x9414, 0),
    ("RSTCTL", 0x9420, 0),
    ("RPNSWREQ", 0xa008, 0),
    ("RC_VIDEO_FREQ", 0xa00c, 0),
    ("RP_DOWN_TIMEOUT", 0xa010, 0),
    ("RP_INTERRUPT_LIMITS", 0xa014, 0),
    ("RP_UP_THRESHOLD", 0xa02c, 0),
    ("RP_DOWN_THRESHOLD", 0xa030, 0),
    ("RP_UP_EI", 0xa068, 0),
    ("RP_DOWN_EI", 0xa06c, 0),
    ("RP_IDLE_HYSTERSIS", 0xa070, 0),
    ("RC_CONTROL", 0xa090, 0),
    ("RC_STATE", 0xa094, 0),
    ("RC1_WAKE_RATE_LIMIT", 0xa098, 0),
    ("RC6_WAKE_RATE_LIMIT", 0xa09c, 0),
    ("RC6PP_WAKE_RATE_LIMIT", 0xa0a0, 0),
    ("RC_EVALUATION_INTERVAL", 0xa0a8, 0),
    ("RC_IDLE_HYSTERSIS", 0xa0ac, 0),
    ("RC_SLEEP", 0xa0b0, 0),
    ("RC1E_THRESHOLD", 0xa0b4, 0),
    ("RC6_THRESHOLD", 0xa0b8, 0),
    ("RC6P_THRESHOLD", 0xa0bc, 0),
    ("RC6PP_THRESHOLD", 0xa0c0, 0),
    ("PMINTRMSK", 0xa168, ALL),
    ("ECOBUS", 0xa180, 0),
    ("GAC_ECO_BITS", 0x1_4090, 0),
    ("GAB_CTL", 0x2_4000, 0),
    ("ILK_DISPLAY_CHICKEN1", 0x4_2000, 0),
    ("PMIMR", 0x4_4024, ALL),
    ("DERRMR", 0x4_4050, ALL),
    ("DISP_ARB_CTL", 0x4_5000, 0),
    ("PCODE_MAILBOX", 0x13_8124, 0),
    ("PCODE_DATA", 0x13_8128, 0),
    ("PCODE_DATA1", 0x13_812c, 0),
    // MCHBAR_MIRROR_BASE_SNB is 140000h.
    ("RP_STATE_LIMITS", 0x14_5994, 0),
];

/// Counters that software may read alone.
const SHOWN: &[(&str, u32, u64, u64)] = &[
    ("DONE_REG", 0x40b0, ALL, ALL),
    // genxml gen6 RPSTAT1.
    ("RPSTAT1", 0xa01c, 0, 0x7fff),
    // GEN6_RP_EI_MASK.
    ("RP_CUR_UP_EI", 0xa050, 0, 0xff_ffff),
    ("RP_CUR_UP", 0xa054, 0, 0xff_ffff),
    ("RP_PREV_UP", 0xa058, 0, 0xff_ffff),
    ("RP_CUR_DOWN_EI", 0xa05c, 0, 0xff_ffff),
    ("RP_CUR_DOWN", 0xa060, 0, 0xff_ffff),
    ("RP_PREV_DOWN", 0xa064, 0, 0xff_ffff),
    ("FORCEWAKE_MT_ACK", 0x13_0040, 0, 0xffff),
    ("FORCEWAKE_ACK", 0x13_0090, 0, 1),
    ("GT_THREAD_STATUS_REG", 0x13_805c, 0, 7),
    ("GT_CORE_STATUS", 0x13_8060, 0, 0x77),
    ("GT_GFX_RC6_LOCKED", 0x13_8104, 0, ALL),
    ("GT_GFX_RC6", 0x13_8108, 0, ALL),
    ("GT_GFX_RC6P", 0x13_810c, 0, ALL),
    ("GT_GFX_RC6PP", 0x13_8110, 0, ALL),
    // 1 GiB in units of 256 MiB, and none in the other channel (intel_ggtt_fencing.c: sizes that differ, no swizzling).
    ("MAD_DIMM_C0", 0x14_5004, 4, ALL),
    ("MAD_DIMM_C1", 0x14_5008, 0, ALL),
    // 1300, 650 and 650 MHz.
    ("RP_STATE_CAP", 0x14_5998, 0x0d_0d1a, ALL),
];

/// `GT_*_INTERRUPT`: render 4 3 2 1 0, codec 15 12, blitter 26 25 22.
const GT: u64 = 0x1f | 1 << 15 | 1 << 12 | 1 << 26 | 1 << 25 | 1 << 22;
/// `GEN6_PM_*`: mailbox 25, thermal 24, 6 5 4, 2 1.
const PM: u64 = 3 << 24 | 7 << 4 | 3 << 1;

fn others() -> Vec<Row> {
    vec![
        // genxml gen6: all done but the ring; bit 5 has no name.
        row("INSTDONE", 0x206c, 0xffff_ffde, "INSTDONE_1").shows(0xffff_ffdf),
        row("INSTDONE_1", 0x207c, ALL, "INSTDONE_2").shows(ALL),
        row("BSD_INSTDONE", 0x1_206c, 0xdfff_fffe, "VCS_INSTDONE").shows(0xdfff_ffff),
        row("BLT_INSTDONE", 0x2_206c, 0xe, "BCS_INSTDONE").shows(0xf),
        row("3D_CHICKEN", 0x2084, 0, "MSAA_4X_SNB").masks(1 << 10),
        row("3D_CHICKEN3", 0x2090, 0, "12 10 5 1").masks(0x1422),
        // The neighbours of i915's bits are those of Gen4; Global Debug Enable is 4.
        row("INSTPM", 0x20c0, 0, "INSTPM").masks(0x2ff),
        row("GT_MODE", 0x20d0, 0, "GEN6_GT_MODE: 9 7 5").masks(0x2a0),
        row("CACHE_MODE_0", 0x2120, 0, "8 6 5 4 3 1 0").masks(0x17b),
        // Ring 20, render 40, extended 63, pipeline 32: more than one page without the render part.
        row(
            "CXT_SIZE",
            0x21a0,
            0x14 << 18 | 0x28 << 12 | 0x3f << 6 | 0x20,
            "CXT_SIZE",
        )
        .shows(0x3fff_ffff),
        row("SO_PRIM_STORAGE_NEEDED", 0x2280, 0, "Mesa crocus_query.c")
            .shape(64, 1)
            .stores(WIDE),
        row("SO_NUM_PRIMS_WRITTEN", 0x2288, 0, "Mesa crocus_query.c")
            .shape(64, 1)
            .stores(WIDE),
        // GFX_TLB_INVALIDATE_EXPLICIT 13, 12, 11, 10, GFX_PPGTT_ENABLE 9.
        row("GFX_MODE", 0x2520, 0, "GFX_MODE").masks(0x3e00),
        row("ARB_MODE", 0x4030, 0, "ARB_MODE_SWIZZLE_SNB").masks(1 << 4),
        // genxml gen6 GFX_ARB_ERROR_RPT has nine.
        row("ERROR_GEN6", 0x40a0, 0, "ERROR_GEN6").stores(0x1ff),
        row("MBCTL", 0x907c, 0, "GEN6_MBCTL_*").stores(0x1f),
        // GEN6_GRDOM_BLT 3, MEDIA 2, RENDER 1, FULL 0.
        row("GEN6_GDRST", 0x941c, 0, "GEN6_GDRST").stores(0xf),
        row(
            "RP_CONTROL",
            0xa024,
            0,
            "GEN6_RP_*: 11, 10:9, 8, 7, 5:3, 2:0",
        )
        .stores(0xfbf),
        row("FORCEWAKE_MT", 0xa188, 0, "FORCEWAKE_MT").masks(0xffff),
        row("FORCEWAKE", 0xa18c, 0, "FORCEWAKE").stores(1),
        row("BSD_RNCID", 0x1_2198, 0, "GEN6_BSD_RNCID")
            .shape(64, 1)
            .stores(WIDE),
        row("BLT_ECOSKPD", 0x2_21d0, 0, "GEN6_BLITTER_FBC_NOTIFY").masks(1 << 3),
        row("GTISR", 0x4_4010, 0, "GTISR").shows(GT),
        row("GTIIR", 0x4_4018, 0, "GTIIR").clears(GT),
        row("GTIER", 0x4_401c, 0, "GTIER").stores(GT),
        row("PMISR", 0x4_4020, 0, "GEN6_PMISR").shows(PM),
        row("PMIIR", 0x4_4028, 0, "GEN6_PMIIR").clears(PM),
        row("PMIER", 0x4_402c, 0, "GEN6_PMIER").stores(PM),
        // GEN6_FENCE_PITCH_SHIFT 32: last page 63:44, pitch 43:32, first page 31:12, Y 1, valid 0.
        row("FENCE", 0x10_0000, 0, "FENCE_REG_GEN6_LO")
            .shape(64, 16)
            .stores(0xffff_ffff_ffff_f003),
        row("TILECTL", 0x10_1000, 0, "TILECTL: 3 2 1 0").stores(0xf),
        row(
            "GFX_FLSH_CNTL",
            0x10_1008,
            0,
            "GFX_FLSH_CNTL_GEN6, GFX_FLSH_CNTL_EN",
        )
        .stores(1),
        row("GTFIFODBG", 0x12_0000, 0, "GT_FIFO_*: 6 to 0").clears(0x7f),
        row(
            "GTFIFOCTL",
            0x12_0008,
            63,
            "policies 12 and 11, GT_FIFO_FREE_ENTRIES_MASK",
        )
        .stores(3 << 11)
        .shows(0x7f),
        row(
            "MCH_SSKPD",
            0x14_5d10,
            12,
            "SSKPD_WM0_MASK_SNB, which has to be 12",
        )
        .shape(64, 1)
        .stores(WIDE),
        // GEN6_GTT_ADDR_ENCODE: bits 39:32 in 11:4; GEN6_PTE_CACHE_LLC 2 << 1, GEN6_PTE_VALID. 2 MiB of them.
        row("GTT_PTE", 0x20_0000, 0, "ggtt_probe_common")
            .shape(32, 524_288)
            .stores(0xffff_fff7),
    ]
}

fn rows() -> Vec<Row> {
    let mut rows = others();
    rows.extend(ring(
        0x2000,
        &[
            ("CTL", "PRB0_CTL"),
            ("SYNC_0", "RCS_SYNC_0"),
            ("SYNC_1", "RCS_SYNC_1"),
            ("PSMI_CTL", "RCS_PSMI_CTL"),
            ("MAX_IDLE", "RCS_MAX_IDLE"),
            ("IMR", "RCS_IMR"),
            ("BBSTATE", "BB_STATE"),
            ("PP_DIR_DCLV", "RCS_PP_DIR_DCLV"),
            ("PP_DIR_BASE", "RCS_PP_DIR_BASE"),
            ("PP_DIR_BASE_READ", "RCS_PP_DIR_BASE_READ"),
            ("HWS_PGA_GEN6", "HWS_PGA"),
        ],
    ));
    // GEN6_BSD_RING_BASE and BLT_RING_BASE.
    rows.extend(ring(
        0x1_2000,
        &named!("BSD_":
            "RING_TAIL" is "TAIL", "RING_HEAD" is "HEAD", "RING_START" is "START", "RING_CTL" is "CTL8",
            "SYNC_0" is "SYNC_0", "SYNC_1" is "SYNC_1", "PSMI_CTL" is "PSMI_BSD", "MAX_IDLE" is "MAX_IDLE",
            "IPEIR" is "IPEIR", "IPEHR" is "IPEHR", "INSTPS" is "INSTPS", "ACTHD" is "ACTHD",
            "DMA_FADD" is "DMA_FADD", "NOPID" is "NOPID", "HWSTAM" is "HWSTAM", "MI_MODE" is "MI_MODE",
            "IMR" is "IMR", "EIR" is "EIR", "EMR" is "EMR", "ESR" is "ESR", "INSTPM" is "INSTPM",
            "BB_STATE" is "BBSTATE", "BB_ADDR" is "BBADDR", "CCID" is "CCID", "PP_DIR_DCLV" is "PP_DIR_DCLV",
            "PP_DIR_BASE" is "PP_DIR_BASE", "TIMESTAMP" is "TIMESTAMP",
            "PP_DIR_BASE_READ" is "PP_DIR_BASE_READ", "HWS_PGA" is "HWS_PGA_GEN6",
        ),
    ));
    rows.extend(ring(
        0x2_2000,
        &named!("BLT_":
            "RING_TAIL" is "TAIL", "RING_HEAD" is "HEAD", "RING_START" is "START", "RING_CTL" is "CTL8",
            "SYNC_0" is "SYNC_0", "SYNC_1" is "SYNC_1", "PSMI_CTL" is "PSMI_CTL", "MAX_IDLE" is "MAX_IDLE",
            "IPEIR" is "IPEIR", "IPEHR" is "IPEHR", "INSTPS" is "INSTPS", "ACTHD" is "ACTHD",
            "DMA_FADD" is "DMA_FADD", "NOPID" is "NOPID", "HWSTAM" is "HWSTAM", "MI_MODE" is "MI_MODE",
            "IMR" is "IMR", "EIR" is "EIR", "EMR" is "EMR", "ESR" is "ESR", "INSTPM" is "INSTPM",
            "BB_STATE" is "BBSTATE", "BB_ADDR" is "BBADDR", "CCID" is "CCID", "PP_DIR_DCLV" is "PP_DIR_DCLV",
            "PP_DIR_BASE" is "PP_DIR_BASE", "TIMESTAMP" is "TIMESTAMP",
            "PP_DIR_BASE_READ" is "PP_DIR_BASE_READ", "HWS_PGA" is "HWS_PGA_GEN6",
        ),
    ));
    let storage = STORAGE.iter();
    rows.extend(storage.map(|&(name, at, reset)| row(name, at, reset, "i915").stores(ALL)));
    let shown = SHOWN.iter();
    rows.extend(shown.map(|&(name, at, reset, bits)| row(name, at, reset, "i915").shows(bits)));
    rows
}

#[test]
fn what_differs_from_ironlake_is_that_of_the_sources() {
    let rows = rows();
    for row in &rows {
        check(&GEN60, row);
    }
    let mut names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), rows.len());
    // All that is new or differs has a row.
    for register in GEN60.registers {
        let before = GEN50.register(register.name);
        let row = names.remove(register.name);
        assert!(row || before == Some(*register), "{}", register.name);
    }
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn what_sandy_bridge_lacks_is_not_found() {
    for gone in [
        "PGTBL_CTL",
        "PWRCTXA",
        "MI_ARB_STATE",
        "ILK_GDSR",
        "PCH_3DCGDIS0",
        "GDRST",
        "TD_CTL",
        "VF_CTL",
        "EU_ATT",
        "URB_CTL",
    ] {
        assert!(GEN60.register(gone).is_none(), "{gone}");
    }
    // Gen4's debug registers, and its fences.
    for offset in (0x7400..0x8844).step_by(4).chain([0x3000, 0x2020]) {
        assert!((GEN60.lookup)(offset).is_none(), "{offset:#x}");
    }
}

//! Registers of ValleyView against a second reading of their sources.
//! i915 i915_reg.h, gt/intel_engine_regs.h, gt/intel_gt_regs.h, gt/intel_gtt.h, i915_perf_oa_regs.h; genxml gen7.
//! Does not test names of fields and of their values.

use std::collections::BTreeSet;

use regs::platform::{GEN60, GEN70};

use super::{ALL, Row, WIDE, check, row};

/// Registers that hold all bits, with their reset value.
const STORAGE: &[(&str, u32, u64)] = &[
    // GEN7_FF_VS_SCHED_LOAD_BALANCE and GEN7_FF_DS_SCHED_LOAD_BALANCE are the defaults.
    ("FF_THREAD_MODE", 0x20a0, 1 << 12 | 1 << 4),
    ("OACONTROL", 0x2360, 0),
    ("3DPRIM_END_OFFSET", 0x2420, 0),
    ("3DPRIM_START_VERTEX", 0x2430, 0),
    ("3DPRIM_VERTEX_COUNT", 0x2434, 0),
    ("3DPRIM_INSTANCE_COUNT", 0x2438, 0),
    ("3DPRIM_START_INSTANCE", 0x243c, 0),
    ("3DPRIM_BASE_VERTEX", 0x2440, 0),
    ("GPGPU_DISPATCHDIMX", 0x2500, 0),
    ("GPGPU_DISPATCHDIMY", 0x2504, 0),
    ("GPGPU_DISPATCHDIMZ", 0x2508, 0),
    ("WR_WATERMARK", 0x4028, 0),
    ("GFX_PRIO_CTRL", 0x402c, 0),
    ("GFX_PEND_TLB0", 0x4034, 0),
    ("GFX_PEND_TLB1", 0x4038, 0),
    ("MEDIA_MAX_REQ_COUNT", 0x4070, 0),
    ("GFX_MAX_REQ_COUNT", 0x4074, 0),
    ("GAM_ECOCHK", 0x4090, 0),
    ("TLB_RD_ADDR", 0x4700, 0),
    ("VLV_G3DCTL", 0x9024, 0),
    ("VLV_GSCKGCTL", 0x9028, 0),
    ("SQ_CHICKEN_MBCUNIT_CONFIG", 0x9030, 0),
    ("UCGCTL4", 0x940c, 0),
    ("MISCCPCTL", 0x9424, 0),
    ("GFXPAUSE", 0xa000, 0),
    ("RPDEUHWTC", 0xa080, 0),
    ("RPDEUC", 0xa084, 0),
    ("RPDEUCSW", 0xa088, 0),
    ("RC_CONTROL", 0xa090, 0),
    ("VLV_RCEDATA", 0xa0bc, 0),
    ("VLV_SPAREG2H", 0xa194, 0),
    ("VLV_PWRDWNUPCTL", 0xa294, 0),
    ("SARCHKMD", 0xb000, 0),
    ("L3CDERRST1", 0xb008, 0),
    // VLV_B0_WA_L3SQCREG1_VALUE, "the hardware default actually".
    ("L3SQCREG1", 0xb010, 0x00d3_0000),
    ("L3CNTLREG1", 0xb01c, 0),
    ("L3CNTLREG2", 0xb020, 0),
    ("L3CNTLREG3", 0xb024, 0),
    ("L3_CHICKEN_MODE", 0xb030, 0),
    ("L3SQCREG4", 0xb034, 0),
    ("GAC_ECO_BITS", 0x1_4090, 0),
    ("IVB_CHICKEN3", 0x4_200c, 0),
    // VLV_GTLC_RENDER_CTX_EXISTS 25, _MEDIA_CTX_EXISTS 24, _ALLOWWAKEREQ 0.
    ("VLV_GTLC_WAKE_CTRL", 0x13_0090, 3 << 24 | 1),
    ("VLV_PMWGICZ", 0x13_00a4, 0),
    // VLV_DISPLAY_BASE is 180000h.
    ("VLV_GU_CTL0", 0x18_2030, 0),
    ("VLV_GU_CTL1", 0x18_2034, 0),
    ("VLV_GUNIT_CLOCK_GATE", 0x18_2060, 0),
    ("VLV_GUNIT_CLOCK_GATE2", 0x18_2064, 0),
    ("VLV_IIR_RW", 0x18_2084, 0),
    ("VLV_IMR", 0x18_20a8, ALL),
    ("VLV_IOSF_DOORBELL_REQ", 0x18_2100, 0),
    ("VLV_IOSF_DATA", 0x18_2104, 0),
    ("VLV_IOSF_ADDR", 0x18_2108, 0),
    ("VLV_PCBR", 0x18_2120, 0),
    ("PORT_HOTPLUG_EN", 0x1e_1110, 0),
];

/// Registers that hardware alone changes: reset value and bits.
const SHOWN: &[(&str, u32, u64, u64)] = &[
    // genxml gen7 INSTDONE_1: all done but the ring; 31 to 24, 21, 20, 11 and 10 have no name.
    ("INSTDONE", 0x206c, 0x00cf_f3fe, 0x00cf_f3ff),
    // GEN7_CXT_*: the largest extended and VF parts.
    ("CXT_SIZE", 0x21a8, 0x7f << 9 | 0x3f, ALL),
    ("SC_INSTDONE", 0x7100, 0x0001_ff7f, 0x0001_ff7f),
    ("SAMPLER_INSTDONE", 0xe160, 0x0007_ffff, 0x0007_ffff),
    ("ROW_INSTDONE", 0xe164, 0x03ff_114f, 0x03ff_114f),
    // VLV_GTLC_PW_RENDER_STATUS_MASK 7, _MEDIA_STATUS_MASK 5, ALLOWWAKEERR 1, ALLOWWAKEACK 0.
    ("VLV_GTLC_PW_STATUS", 0x13_0094, 0xa1, 0xa3),
    ("FORCEWAKE_ACK_VLV", 0x13_00b4, 0, 0xffff),
    ("FORCEWAKE_ACK_MEDIA_VLV", 0x13_00bc, 0, 0xffff),
    ("VLV_GT_MEDIA_RC6", 0x13_810c, 0, ALL),
    ("VLV_RENDER_C0_COUNT", 0x13_8118, 0, ALL),
    ("VLV_MEDIA_C0_COUNT", 0x13_811c, 0, ALL),
];

/// `GT_*_INTERRUPT`: render 5 (L3 parity) 4 3 2 1 0, codec 15 12, blitter 26 25 22.
const GT: u64 = 0x3f | 1 << 15 | 1 << 12 | 1 << 26 | 1 << 25 | 1 << 22;
/// `I915_*_INTERRUPT` of the display: 31, 22 to 17, 15 14 13, 11 10, 7 to 0.
const DISPLAY: u64 = 1 << 31 | 0x3f << 17 | 7 << 13 | 3 << 10 | 0xff;
/// `GFX_TLB_INVALIDATE_EXPLICIT` 13, 12, `GFX_REPLAY_MODE` 11, 10, `GFX_PPGTT_ENABLE` 9.
const MODE: u64 = 0x3e00;

fn counter(name: &'static str, offset: u32, count: u32) -> Row {
    row(name, offset, 0, "genxml gen7")
        .shape(64, count)
        .stores(WIDE)
}

fn others() -> Vec<Row> {
    vec![
        // _3D_CHICKEN_SF_DISABLE_OBJEND_CULL.
        row("3D_CHICKEN3", 0x2090, 0, "_3D_CHICKEN3").masks(1 << 10),
        row("GFX_MODE", 0x229c, 0, "RING_MODE_GEN7").masks(MODE),
        row("BSD_GFX_MODE", 0x1_229c, 0, "RING_MODE_GEN7").masks(MODE),
        row("BLT_GFX_MODE", 0x2_229c, 0, "RING_MODE_GEN7").masks(MODE),
        counter("CS_INVOCATION_COUNT", 0x2290, 1),
        counter("HS_INVOCATION_COUNT", 0x2300, 1),
        counter("DS_INVOCATION_COUNT", 0x2308, 1),
        counter("MI_PREDICATE_SRC0", 0x2400, 1),
        counter("MI_PREDICATE_SRC1", 0x2408, 1),
        counter("MI_PREDICATE_DATA", 0x2410, 1),
        row("MI_PREDICATE_RESULT", 0x2418, 0, "MI_PREDICATE_RESULT").stores(1),
        row("LRA_LIMITS", 0x403c, 0, "GEN7_LRA_LIMITS_REG_NUM")
            .shape(32, 13)
            .stores(ALL),
        row("BSD_HWS_PGA", 0x4180, 0, "BSD_HWS_PGA_GEN7").stores(0xffff_f000),
        row("BLT_HWS_PGA", 0x4280, 0, "BLT_HWS_PGA_GEN7").stores(0xffff_f000),
        counter("SO_NUM_PRIMS_WRITTEN", 0x5200, 4),
        counter("SO_PRIM_STORAGE_NEEDED", 0x5240, 4),
        row("SO_WRITE_OFFSET", 0x5280, 0, "genxml gen7")
            .shape(32, 4)
            .stores(0xffff_fffc),
        // RC_OP_FLUSH_ENABLE 0, HIZ_RAW_STALL_OPT_DISABLE 2.
        row("CACHE_MODE_0", 0x7000, 0, "CACHE_MODE_0_GEN7").masks(5),
        // PIXEL_SUBSPAN_COLLECT_OPT_DISABLE.
        row("CACHE_MODE_1", 0x7004, 0, "CACHE_MODE_1").masks(1 << 6),
        // GEN6_WIZ_HASHING: 9 and 7.
        row("GT_MODE", 0x7008, 0, "GEN7_GT_MODE").masks(0x280),
        row("COMMON_SLICE_CHICKEN1", 0x7010, 0, "GEN7_").masks(0xffff),
        // GEN7_L3LOG_SIZE is 80h bytes.
        row("L3LOG", 0xb070, 0, "GEN7_L3LOG")
            .shape(32, 32)
            .stores(ALL),
        // GEN7_MAX_PS_THREAD_DEP 8 << 12, GEN7_PSD_SINGLE_PORT_DISPATCH_ENABLE 3.
        row("HALF_SLICE_CHICKEN1", 0xe100, 0, "GEN7_").masks(0xf008),
        row("ROW_CHICKEN2", 0xe4f4, 0, "DOP_CLOCK_GATING_DISABLE").masks(1),
        // BCS_SRC_Y, BCS_DST_Y.
        row("BLT_SWCTRL", 0x2_2200, 0, "BCS_SWCTRL").masks(3),
        row("VLV_MASTER_IER", 0x4_400c, 0, "MASTER_INTERRUPT_ENABLE").stores(1 << 31),
        row("GTISR", 0x4_4010, 0, "GTISR").shows(GT),
        row("GTIIR", 0x4_4018, 0, "GTIIR").clears(GT),
        row("GTIER", 0x4_401c, 0, "GTIER").stores(GT),
        // ERR_INT_POISON 31, _MMIO_UNCLAIMED 13; genxml gen7 ERR_INT 7 to 0.
        row("GEN7_ERR_INT", 0x4_4040, 0, "GEN7_ERR_INT").clears(1 << 31 | 1 << 13 | 0xff),
        row("GT_SCRATCH", 0x4_f100, 0, "GEN7_GT_SCRATCH_REG_NUM")
            .shape(32, 8)
            .stores(ALL),
        // VLV_GFX_CLK_STATUS_BIT 3: the clock runs.
        row("VLV_GTLC_SURVIVABILITY", 0x13_0098, 8, "VLV_GTLC_")
            .stores(ALL & !8)
            .shows(8),
        row("FORCEWAKE_VLV", 0x13_00b0, 0, "FORCEWAKE_VLV").masks(0xffff),
        row("FORCEWAKE_MEDIA_VLV", 0x13_00b8, 0, "FORCEWAKE_MEDIA_VLV").masks(0xffff),
        // VLV_COUNT_RANGE_HIGH 15, 5 4 1 0.
        row("VLV_COUNTER_CONTROL", 0x13_8104, 0, "VLV_").masks(0x8033),
        row("VLV_IER", 0x18_20a0, 0, "VLV_IER").stores(DISPLAY),
        row("VLV_IIR", 0x18_20a4, 0, "VLV_IIR").clears(DISPLAY),
        row("VLV_ISR", 0x18_20ac, 0, "VLV_ISR").shows(DISPLAY),
        row("PORT_HOTPLUG_STAT", 0x1e_1114, 0, "PORT_HOTPLUG_STAT").clears(ALL),
        row("PIPEASTAT", 0x1f_0024, 0, "_PIPEASTAT")
            .stores(0x7fff_0000)
            .clears(0x8000_ffff),
        row("PIPEBSTAT", 0x1f_1024, 0, "_PIPEBSTAT")
            .stores(0x7fff_0000)
            .clears(0x8000_ffff),
        // DPINVGTT_EN_MASK_VLV, DPINVGTT_STATUS_MASK_VLV.
        row("DPINVGTT", 0x1f_002c, 0, "DPINVGTT")
            .stores(0xff_0000)
            .clears(0xff),
        // byt_pte_encode: BYT_PTE_SNOOPED_BY_CPU_CACHES 2, BYT_PTE_WRITEABLE 1, GEN6_PTE_VALID; address 39:32 in 11:4.
        row("GTT_PTE", 0x20_0000, 0, "ggtt_probe_common")
            .shape(32, 524_288)
            .stores(0xffff_fff7),
    ]
}

fn rows() -> Vec<Row> {
    let mut rows = others();
    let storage = STORAGE.iter();
    rows.extend(storage.map(|&(name, at, reset)| row(name, at, reset, "i915").stores(ALL)));
    let shown = SHOWN.iter();
    rows.extend(shown.map(|&(name, at, reset, bits)| row(name, at, reset, "i915").shows(bits)));
    rows
}

#[test]
fn what_differs_from_sandy_bridge_is_that_of_the_sources() {
    let rows = rows();
    for row in &rows {
        check(&GEN70, row);
    }
    let mut names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), rows.len());
    names.insert("CLAIM_ER");
    // All that is new or differs has a row.
    for register in GEN70.registers {
        let before = GEN60.register(register.name);
        let row = names.remove(register.name);
        assert!(row || before == Some(*register), "{}", register.name);
    }
    assert!(names.is_empty(), "{names:?}");
}

/// CLAIM_ER_CLR is written, CLAIM_ER_OVERFLOW and CLAIM_ER_CTR_MASK are read.
#[test]
fn unclaimed_accesses_are_counted_and_cleared() {
    let claim = GEN70.register("CLAIM_ER").unwrap();
    assert_eq!((claim.offset, claim.reset), (0x18_2028, Some(0)));
    assert_eq!(claim.read(0, u32::MAX), 0x1_ffff);
}

#[test]
fn what_valleyview_lacks_is_not_found() {
    for gone in [
        "FORCEWAKE",
        "FORCEWAKE_ACK",
        "DEIER",
        "SDEIIR",
        "PCODE_MAILBOX",
        "RP_STATE_CAP",
        "MAD_DIMM_C0",
        "INSTDONE_1",
        "3D_CHICKEN",
        "GAB_CTL",
        "TD_CTL",
        "EU_ATT",
    ] {
        assert!(GEN70.register(gone).is_none(), "{gone}");
    }
    // Where Sandy Bridge has CACHE_MODE_0, GT_MODE, CXT_SIZE, GFX_MODE and status pages.
    for offset in [
        0x2120, 0x20d0, 0x21a0, 0x2520, 0x1_4080, 0x2_4080, 0x4_4000, 0x14_5998,
    ] {
        assert!((GEN70.lookup)(offset).is_none(), "{offset:#x}");
    }
}

/// i915_cmd_parser.c gen7_render_regs and gen7_blt_regs: what batches of users may write or read.
#[test]
fn registers_of_batches_are_there() {
    let wide = [
        0x2290, 0x2300, 0x2308, 0x2310, 0x2318, 0x2320, 0x2328, 0x2330, 0x2338, 0x2340, 0x2348,
        0x2350, 0x2358, 0x2400, 0x2408, 0x5200, 0x5208, 0x5210, 0x5218, 0x5240, 0x5248, 0x5250,
        0x5258, 0x1_2358, 0x2_2358,
    ];
    let narrow = [
        0x2420, 0x2430, 0x2434, 0x2438, 0x243c, 0x2440, 0x2500, 0x2504, 0x2508, 0x5280, 0x5284,
        0x5288, 0x528c, 0xb010, 0xb020, 0xb024, 0x2_2200,
    ];
    let upper = wide.map(|offset| offset + 4);
    for offset in wide.into_iter().chain(upper).chain(narrow) {
        assert!((GEN70.lookup)(offset).is_some(), "{offset:#x}");
    }
}

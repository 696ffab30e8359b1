//! Registers outside the debug chapter against a second reading of their sources.
//! i915 i915_reg.h, gt/intel_engine_regs.h, gt/intel_gt_regs.h; intel-gtt.c; intel-gpu-tools.
//! Does not test names of fields and of their values.

mod gen60;
mod gen70;

use regs::desc::{RegisterDesc, Space};
use regs::gen40::REGISTERS;
use regs::platform::{GEN40, Generation};

/// One register, typed from the source that the last column names. Bits outside the four masks
/// neither store nor show anything.
pub struct Row {
    pub name: &'static str,
    pub offset: u32,
    /// Bits of an element, elements, bytes between them.
    shape: (u32, u32, u32),
    reset: u64,
    /// A write replaces these.
    stored: u64,
    /// A written one clears these.
    cleared: u64,
    /// Written under the enables in bits 31:16.
    masked: u64,
    /// Only the hardware changes these.
    fixed: u64,
    source: &'static str,
}

pub const ALL: u64 = 0xffff_ffff;
pub const WIDE: u64 = u64::MAX;

pub const fn row(name: &'static str, offset: u32, reset: u64, source: &'static str) -> Row {
    Row {
        name,
        offset,
        shape: (32, 1, 4),
        reset,
        stored: 0,
        cleared: 0,
        masked: 0,
        fixed: 0,
        source,
    }
}

impl Row {
    pub const fn stores(mut self, bits: u64) -> Row {
        self.stored = bits;
        self
    }
    pub const fn clears(mut self, bits: u64) -> Row {
        self.cleared = bits;
        self
    }
    pub const fn masks(mut self, bits: u64) -> Row {
        self.masked = bits;
        self
    }
    pub const fn shows(mut self, bits: u64) -> Row {
        self.fixed = bits;
        self
    }
    pub const fn shape(mut self, bits: u32, count: u32) -> Row {
        self.shape = (bits, count, bits / 8);
        self
    }
}

/// A statistics counter: 64 bits, written by the driver to start anew.
const fn counter(name: &'static str, offset: u32) -> Row {
    row(name, offset, 0, "intel_gt_regs.h")
        .shape(64, 1)
        .stores(WIDE)
}

/// I915_*_INTERRUPT that this family has: 25 BSD, 18 pipe control, 17 display port, 15 master
/// error, 12 sync, 11 10 9 flips, 7 6 5 4 pipes, 2 debug, 1 user, 0 ASLE.
const INTERRUPTS: u64 =
    1 << 25 | 1 << 18 | 1 << 17 | 1 << 15 | 1 << 12 | 7 << 9 | 0xf << 4 | 1 << 2 | 1 << 1 | 1;
/// I915_ERROR_* and GM45_ERROR_*: 5 4 page table, 3 privilege, 1 refresh, 0 instruction.
const ERRORS: u64 = 0x3b;

#[rustfmt::skip]
const ROWS: [Row; 61] = [
    // RENDER_RING_BASE is 2000h.
    row("EXCC",         0x2028, 0, "intel_engine_regs.h RING_EXCC; genxml gen6").masks(0x1f),
    row("PRB0_TAIL",    0x2030, 0, "RING_TAIL, TAIL_ADDR").stores(0x001f_fff8),
    row("PRB0_HEAD",    0x2034, 0, "RING_HEAD, HEAD_WRAP_COUNT ffe00000, HEAD_ADDR 1ffffc").stores(0xffff_fffc),
    row("PRB0_START",   0x2038, 0, "RING_START").stores(0xffff_f000),
    row("PRB0_CTL",     0x203c, 0, "RING_CTL: NR_PAGES 1ff000, REPORT_MASK 6, VALID 1; WAIT bit 11").stores(0x001f_f007).clears(1 << 11),
    row("IPEIR",        0x2064, 0, "IPEIR_I965").shows(ALL),
    row("IPEHR",        0x2068, 0, "IPEHR_I965").shows(ALL),
    // All done but the ring, which bit 0 says is enabled; bits 20:19 have no name.
    row("INSTDONE",     0x206c, 0xffe7_fffe, "RING_INSTDONE; intel-gpu-tools instdone.c, gen4").shows(0xffe7_ffff),
    row("INSTPS",       0x2070, 0, "INSTPS").shows(ALL),
    row("ACTHD",        0x2074, 0, "ACTHD_I965").shows(0xffff_fffc),
    row("DMA_FADD",     0x2078, 0, "RING_DMA_FADD").shows(ALL),
    row("INSTDONE_1",   0x207c, 0x000f_ffff, "GEN4_INSTDONE1; instdone.c, twenty units").shows(0x000f_ffff),
    row("HWS_PGA",      0x2080, 0, "HWS_PGA; set_hws_pga: address 35:32 in bits 7:4").stores(0xffff_f0f0),
    row("PWRCTXA",      0x2088, 0, "PWRCTXA, PWRCTX_EN").stores(0xffff_f001),
    row("NOPID",        0x2094, 0, "NOPID; MI_NOOP has a number of 22 bits").shows(0x003f_ffff),
    row("HWSTAM",       0x2098, ALL, "HWSTAM: a mask, all masked").stores(ALL),
    // ASYNC_FLIP_PERF_DISABLE 14, MI_FLUSH_ENABLE 12, MODE_IDLE 9, STOP_RING 8, VS_TIMER_DISPATCH 6.
    row("MI_MODE",      0x209c, 1 << 9, "RING_MI_MODE: an idle ring, not stopped").masks(1 << 14 | 1 << 12 | 1 << 8 | 1 << 6 | 0x3f).shows(1 << 9),
    row("IER",          0x20a0, 0, "GEN2_IER").stores(INTERRUPTS),
    row("IIR",          0x20a4, 0, "GEN2_IIR").clears(INTERRUPTS),
    row("IMR",          0x20a8, ALL, "GEN2_IMR: all masked").stores(ALL),
    row("ISR",          0x20ac, 0, "GEN2_ISR").shows(INTERRUPTS),
    row("EIR",          0x20b0, 0, "EIR").clears(ERRORS),
    row("EMR",          0x20b4, ALL, "EMR: all masked").stores(ALL),
    row("ESR",          0x20b8, 0, "ESR").shows(ERRORS),
    row("INSTPM",       0x20c0, 0, "INSTPM, INSTPM_SYNC_FLUSH 5; genxml gen6; PRM vol4 3.2 global debug enable").masks(0x7f),
    // 15 14 13:12 11 10 9 8 7:5 4 2 1:0.
    row("MI_ARB_STATE", 0x20e4, 0, "MI_ARB_STATE").masks(0xfff7),
    row("BB_STATE",     0x2110, 0, "RING_BBSTATE").shows(ALL),
    // 8 6 5 4 3 1 0.
    row("CACHE_MODE_0", 0x2120, 0, "CACHE_MODE_0, CM0_*").masks(0x17b),
    row("CACHE_MODE_1", 0x2124, 0, "neighbour of CACHE_MODE_0").masks(0xffff),
    row("BB_ADDR",      0x2140, 0, "RING_BBADDR: dword address, valid").shows(0xffff_fffd),
    row("GFX_FLSH_CNTL", 0x2170, 0, "GFX_FLSH_CNTL").stores(ALL),
    row("CCID",         0x2180, 0, "CCID: EN 0, EXTENDED_STATE_RESTORE 2, _SAVE 3").stores(0xffff_f00d),
    row("ECOSKPD",      0x21d0, 0, "ECOSKPD: CONSTANT_BUFFER_SR_DISABLE 4, GATING_CX_ONLY 3, FLIP_DONE 0").masks(0x19),
    counter("IA_VERTICES_COUNT",   0x2310),
    counter("IA_PRIMITIVES_COUNT", 0x2318),
    counter("VS_INVOCATION_COUNT", 0x2320),
    counter("GS_INVOCATION_COUNT", 0x2328),
    counter("GS_PRIMITIVES_COUNT", 0x2330),
    counter("CL_INVOCATION_COUNT", 0x2338),
    counter("CL_PRIMITIVES_COUNT", 0x2340),
    counter("PS_INVOCATION_COUNT", 0x2348),
    counter("PS_DEPTH_COUNT",      0x2350),
    row("TIMESTAMP",    0x2358, 0, "GEN4_TIMESTAMP").shape(64, 1).shows(WIDE),
    // PGTBL_ADDRESS_LO_MASK, _HI_MASK; I965_PGETBL_SIZE_MASK 0eh; I810_PGETBL_ENABLED 1.
    row("PGTBL_CTL",    0x2020, 0, "PGTBL_CTL; intel-agp.h").stores(0xffff_f0ff),
    // 26, 24 to 17, 8, 4, 1, 0.
    row("PGTBL_ER",     0x2024, 0, "PGTBL_ER; intel_error_decode.c print_pgtbl_err").clears(0x05fe_0113),
    // i965_write_fence_reg: last page 63:44, first page 31:12, pitch 11:2, Y 1, valid 0.
    row("FENCE",        0x3000, 0, "FENCE_REG_965_LO, _HI").shape(64, 16).stores(0xffff_f000_ffff_ffff),
    // i965_write_entry: bits 35:32 in 7:4; I830_PTE_SYSTEM_CACHED 6, valid 1. 512 KiB of them.
    row("GTT_PTE",      0x8_0000, 0, "intel-gtt.c: the upper half of the BAR").shape(32, 131_072).stores(0xffff_f0f7),
    row("DSPCLK_GATE_D", 0x6200, 0, "DSPCLK_GATE_D").stores(ALL),
    // I965_*: 30 to 19, 17 to 11, 6 to 0.
    row("RENCLK_GATE_D1", 0x6204, 0, "RENCLK_GATE_D1").stores(0x7ffb_f87f),
    row("RENCLK_GATE_D2", 0x6208, 0, "RENCLK_GATE_D2: VF 9, GS 7, CL 6").stores(0x2c0),
    row("RAMCLK_GATE_D", 0x6210, 0, "RAMCLK_GATE_D").stores(ALL),
    row("DEUC",         0x6214, 0, "DEUC").stores(ALL),
    // MCHBAR_MIRROR_BASE is 10000h.
    row("DCC",          0x1_0200, 0, "DCC: 10, 9, 1:0").shows(0x603),
    // DCC2_MODIFIED_ENHANCED_DISABLE is bit 20; channels that differ (intel_ggtt_fencing.c: no swizzling).
    row("DCC2",         0x1_0204, 0x10_0000, "DCC2, C0DRB3_BW at +2").shows(0xffff_0000),
    row("C1DRB",        0x1_0604, 0, "C1DRB3_BW at +2").shows(0xffff_0000),
    row("CLKCFG",       0x1_0c00, 0, "CLKCFG_FSB_MASK, _MEM_MASK").shows(0x77),
    row("PORT_HOTPLUG_EN",   0x6_1110, 0, "PORT_HOTPLUG_EN").stores(ALL),
    row("PORT_HOTPLUG_STAT", 0x6_1114, 0, "PORT_HOTPLUG_STAT").clears(ALL),
    // PIPESTAT_INT_ENABLE_MASK, _STATUS_MASK, PIPE_FIFO_UNDERRUN_STATUS.
    row("PIPEASTAT",    0x7_0024, 0, "_PIPEASTAT").stores(0x7fff_0000).clears(0x8000_ffff),
    row("PIPEBSTAT",    0x7_1024, 0, "_PIPEBSTAT").stores(0x7fff_0000).clears(0x8000_ffff),
    // In configuration space: GRDOM_MASK 0ch, RESET_STATUS 2, RESET_ENABLE 1.
    row("GDRST",        0xc0, 0, "intel_pci_config.h I915_GDRST").stores(0xd).shows(2),
];

fn outside_the_debug_chapter(d: &RegisterDesc) -> bool {
    d.space == Space::Pci || !(0x7400..0x8844).contains(&d.offset)
}

#[test]
fn every_register_has_its_row() {
    let all = REGISTERS.iter().filter(|d| outside_the_debug_chapter(d));
    for desc in all.clone() {
        let rows = ROWS.iter().filter(|r| r.name == desc.name).count();
        assert_eq!(rows, 1, "{}", desc.name);
    }
    assert_eq!(all.count(), ROWS.len());
}

#[test]
fn offset_size_reset_and_access_are_those_of_the_sources() {
    for row in &ROWS {
        check(&GEN40, row);
    }
}

/// A register of a generation beside its row.
pub fn check(generation: &Generation, row: &Row) {
    let name = format!("{} ({})", row.name, row.source);
    let desc = generation.register(row.name).expect(&name);
    assert_eq!(desc.offset, row.offset, "{name}");
    let (bits, count, stride) = row.shape;
    assert_eq!((desc.bits, desc.count), (bits, count), "{name}");
    assert!(count == 1 || desc.stride == stride, "{name}");
    assert_eq!(desc.reset, Some(u128::from(row.reset)), "{name}");
    for dword in 0..bits / 32 {
        let part = |bits: u64| (bits >> (dword * 32)) as u32;
        let (stored, cleared) = (part(row.stored), part(row.cleared));
        let (masked, fixed) = (part(row.masked), part(row.fixed));
        let at = |old: u32, new: u32| desc.write(dword, old, new);
        assert_eq!(desc.reset_dword(dword), part(row.reset), "{name}");
        assert_eq!(at(0, u32::MAX), stored | masked, "{name}: ones over zeros");
        assert_eq!(at(u32::MAX, 0), !stored, "{name}: zeros over ones");
        assert_eq!(at(u32::MAX, u32::MAX), !cleared, "{name}: ones over ones");
        // Enables alone clear what is masked, bits alone do nothing to it.
        assert_eq!(at(masked, masked << 16) & masked, 0, "{name}: enables");
        assert_eq!(at(0, masked) & masked & !stored, 0, "{name}: no enables");
        let seen = stored | cleared | masked | fixed;
        assert_eq!(desc.read(dword, u32::MAX), seen, "{name}: read");
        let reserved = part(row.reset) & !seen;
        assert_eq!(reserved, 0, "{name}: a reset value nobody sees");
    }
    if desc.space == Space::Mmio {
        let last = row.offset + (count - 1) * stride + bits / 8 - 4;
        let found = (generation.lookup)(last);
        let expected = (desc.id, count - 1, bits / 32 - 1);
        assert_eq!(found, Some(expected), "{name}: last dword");
    }
}

//! The register tables against a second reading of the manual.
//! PRM volume 4, chapter 3; i915, intel-gpu-tools and genxml for the rest.
//! Does not test commands and state structures.

use regs::desc::{Access, RegisterDesc, Space};
use regs::gen40::{REGISTERS, RegId, lookup, register_desc};

/// Name, offset, bits, default (`None`: U in print), defined bits 31:0, bits qualified by the
/// global debug enable, access. Transcribed from the printed register descriptions.
type Row = (&'static str, u32, u32, Option<u128>, u32, u32, Access);

const RO: Access = Access::Ro;
const RW: Access = Access::Rw;
const WO: Access = Access::Wo;
const ALL: u32 = 0xffff_ffff;

#[rustfmt::skip]
const DEBUG: [Row; 73] = [
    // 3.3.3
    ("SVG_CTL",          0x7400, 32, Some(0), 0x0000_ff00, 0, RW),
    ("SVG_RDATA",        0x7404, 32, None,    ALL,         0, RO),
    ("SVG_WORK_CTL",     0x7408, 32, Some(0), 0x0000_0013, 0, RW),
    // 3.3.4
    ("VF_CTL",           0x7500, 32, Some(0), 0x8000_ff1f, 0x0f, RW),
    ("VF_STRG_VAL",      0x7504, 32, Some(0), ALL,         0, RW),
    ("VF_STR_VL_OVR",    0x7508, 32, Some(0), ALL,         0, RW),
    ("VF_VC_OVR",        0x750c, 32, Some(0), ALL,         0, RW),
    ("VF_STR_PSKIP",     0x7510, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("VF_MAX_PRIM",      0x7514, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("VF_RDATA",         0x7518, 32, None,    ALL,         0, RO),
    // 3.3.5
    ("VS_CTL",           0x7600, 32, Some(0), 0x8000_ff07, 0x07, RW),
    ("VS_STRG_VAL",      0x7604, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("VS_RDATA",         0x7608, 32, None,    ALL,         0, RO),
    // 3.3.6
    ("GS_CTL",           0x7900, 32, Some(0), 0x8000_ff07, 0x07, RW),
    ("GS_STRG_VAL",      0x7904, 32, Some(0), 0x0fff_ffff, 0, RW),
    ("GS_RDATA",         0x7908, 32, None,    ALL,         0, RO),
    // 3.3.7
    ("CL_CTL",           0x7a00, 32, Some(0), 0x8000_ff07, 0x07, RW),
    ("CL_STRG_VAL",      0x7a04, 32, Some(0), 0x0fff_ffff, 0, RW),
    ("CL_RDATA",         0x7a08, 32, None,    ALL,         0, RO),
    // 3.3.8
    ("SF_CTL",           0x7b00, 32, Some(0), 0xc000_ff1f, 0x1f, RW),
    ("SF_STRG_VAL",      0x7b04, 32, Some(0), 0x0fff_ffff, 0, RW),
    ("SF_MIN_PR_IND",    0x7b08, 32, Some(0), 0x0fff_ffff, 0, RW),
    ("SF_MAX_PR_IND",    0x7b0c, 32, Some(0), 0x0fff_ffff, 0, RW),
    ("SF_CLIP_RMIN",     0x7b10, 32, Some(0), ALL,         0, RW),
    ("SF_CLIP_RMAX",     0x7b14, 32, Some(0), ALL,         0, RW),
    ("SF_RDATA",         0x7b18, 32, None,    ALL,         0, RO),
    // 3.3.9
    ("WIZ_CTL",          0x7c00, 32, Some(0), 0x80ff_ff7f, 0x07, RW),
    ("WIZ_STRG_VAL",     0x7c04, 32, Some(0), ALL,         0, RW),
    ("WIZ_RDATA",        0x7c08, 32, None,    ALL,         0, RO),
    // 3.3.10
    ("VFE_CTL",          0x7d00, 32, Some(0), 0x8000_ff01, 0x01, RW),
    ("VFE_STRG_VAL",     0x7d04, 32, Some(0), 0x0fff_ffff, 0, RW),
    ("VFE_RDATA",        0x7d08, 32, None,    ALL,         0, RO),
    // 3.3.11
    ("TS_CTL",           0x7e00, 32, Some(0), 0x8000_ff07, 0x07, RW),
    ("TS_STRG_0-6VAL",   0x7e04, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("TS_STRG_0-7VAL",   0x7e08, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("TS_RDATA",         0x7e0c, 32, None,    ALL,         0, RO),
    // 3.4.1
    ("TD_CTL",           0x8000, 32, Some(0), 0x0000_fff4, 0xf4, RW),
    ("TD_CTL2",          0x8004, 32, Some(0), 0x1607_01f9, 0, RW),
    ("TD_VF_VS_EMSK",    0x8008, 32, Some(0), 0x0000_ffff, 0, RW),
    ("TD_GS_EMSK",       0x800c, 32, Some(0), 0x0000_ffff, 0, RW),
    ("TD_CLIP_EMSK",     0x8010, 32, Some(0), 0x0000_ffff, 0, RW),
    ("TD_SF_EMSK",       0x8014, 32, Some(0), 0x0000_ffff, 0, RW),
    ("TD_WIZ_EMSK",      0x8018, 32, Some(0), 0x0000_ffff, 0, RW),
    ("TD_0-6_EHTRG_VAL", 0x801c, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("TD_0-7_EHTRG_VAL", 0x8020, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("TD_0-6_EHTRG_MSK", 0x8024, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("TD_0-7_EHTRG_MSK", 0x8028, 32, Some(0), 0x00ff_ffff, 0, RW),
    ("TD_RDATA",         0x802c, 32, None,    ALL,         0, RO),
    ("TD_TS_EMSK",       0x8030, 32, Some(0), 0x0000_ffff, 0, RW),
    // 3.4.2
    ("MATH_CTL",         0x8100, 32, Some(0), 0x0003_ff02, 0x02, RW),
    ("MATH_RDATA",       0x8104, 32, None,    ALL,         0, RO),
    // 3.4.3
    ("ISC_CTL",          0x8200, 32, Some(0), 0,           0, RW),
    // 3.4.4
    ("ISC_L1CA_CTR",     0x8280, 32, Some(0), 0x0000_ff00, 0, RW),
    ("ISC_L1CA_RDATA",   0x8284, 32, None,    ALL,         0, RO),
    ("ISC_L1CA_BP_ADR1", 0x8288, 32, Some(0), 0xffff_fff1, 0, RW),
    ("ISC_L1CA_BP_ADR2", 0x8290, 32, Some(0), 0xffff_fff1, 0, RW),
    ("ISC_L1CA_BP_OPC1", 0x8294, 32, Some(0), 0x00ff_0003, 0, RW),
    ("ISC_L1CA_BP_OPC2", 0x8298, 32, Some(0), 0x00ff_0001, 0, RW),
    // 3.4.5
    ("MA_DEBUG_1",       0x8300, 32, Some(0), 0x0000_001e, 0x1e, RW),
    // 3.4.6
    ("SAMPLER_CTL",      0x8400, 32, Some(0), 0x0000_fffc, 0, RW),
    ("SAMPLER_RDATA",    0x8404, 32, None,    ALL,         0, RO),
    // 3.4.7
    ("DP_CTL",           0x8500, 32, Some(0), 0x0000_ff00, 0, RW),
    ("DP_RDATA",         0x8504, 32, None,    ALL,         0, RO),
    // 3.4.8
    ("RC_CTL",           0x8600, 32, Some(0), 0x0000_ff07, 0x07, RW),
    ("RC_DEF_CLR",       0x8604, 32, Some(0), ALL,         0, RW),
    ("RC_RDATA",         0x8608, 32, None,    ALL,         0, RO),
    // 3.4.9
    ("URB_CTL",          0x8700, 32, Some(0), 0x800f_ff01, 0x01, RW),
    ("URB_RDATA",        0x8708, 32, None,    ALL,         0, RO),
    // 3.5
    ("EU_CTL",           0x8800, 32, Some(0), 0x0007_ff00, 0, RW),
    ("EU_ATT",           0x8810, 128, Some(0), ALL,        0, RO),
    ("EU_ATT_DATA",      0x8820, 128, Some(0), ALL,        0, RO),
    ("EU_ATT_CLR",       0x8830, 128, Some(0), ALL,        0, WO),
    ("EU_RDATA",         0x8840, 32, None,    ALL,         0, RO),
];

fn by_name(name: &str) -> &'static RegisterDesc {
    REGISTERS.iter().find(|d| d.name == name).expect(name)
}

fn debug_registers() -> impl Iterator<Item = &'static RegisterDesc> {
    REGISTERS
        .iter()
        .copied()
        .filter(|d| d.space == Space::Mmio && (0x7400..0x8844).contains(&d.offset))
}

fn mask(hi: u8, lo: u8) -> u128 {
    (u128::MAX >> (127 - (hi - lo))) << lo
}

#[test]
fn every_debug_register_stands_where_the_manual_prints_it() {
    assert_eq!(debug_registers().count(), DEBUG.len());
    for (row, desc) in DEBUG.iter().zip(debug_registers()) {
        let &(name, offset, bits, default, defined, qualified, access) = row;
        assert_eq!(desc.name, name);
        assert_eq!(desc.offset, offset, "{name}");
        assert_eq!(desc.bits, bits, "{name}");
        assert_eq!(desc.reset, default, "{name}");
        assert_eq!(desc.access, access, "{name}");
        let all = desc.fields.iter().fold(0, |m, f| m | mask(f.hi, f.lo));
        assert_eq!(all, u128::from(defined), "{name}");
        let gated = desc.fields.iter().filter(|f| f.qualified);
        let gated = gated.fold(0, |m, f| m | mask(f.hi, f.lo));
        assert_eq!(gated, u128::from(qualified), "{name}");
        for dword in 0..bits / 32 {
            assert_eq!(desc.reset_dword(dword), 0, "{name}");
            let (id, element, at) = lookup(offset + dword * 4).unwrap();
            assert_eq!((id, element, at), (desc.id, 0, dword), "{name}");
            assert_eq!(register_desc(id).unwrap().name, name);
        }
    }
}

#[test]
fn debug_registers_obey_their_access_rules() {
    for &(name, _, bits, _, defined, _, access) in &DEBUG {
        let desc = by_name(name);
        let stored = if access == RO { 0 } else { defined };
        assert_eq!(desc.write(0, 0, ALL), stored, "{name}: ones over zeros");
        let kept = if access == RO { defined } else { 0 };
        assert_eq!(desc.write(0, defined, 0), kept, "{name}: zeros over ones");
        let seen = if access == WO { 0 } else { defined };
        assert_eq!(desc.read(0, ALL), seen, "{name}: read");
        for dword in 1..bits / 32 {
            assert_eq!(desc.write(dword, 0, ALL), 0, "{name}: MBZ 127:32");
            assert_eq!(desc.read(dword, ALL), 0, "{name}: MBZ 127:32");
        }
        assert_eq!(desc.write(bits / 32, 0, ALL), 0, "{name}: behind the end");
    }
}

#[test]
fn all_registers_are_cited_and_bits_are_claimed_once() {
    for desc in &REGISTERS {
        let name = desc.name;
        assert!(!desc.cite.is_empty() && !desc.summary.is_empty(), "{name}");
        let mut used = 0u128;
        for f in desc.fields {
            let m = mask(f.hi, f.lo);
            // DCC2 declares why its fields overlap.
            assert!(used & m == 0 || name == "DCC2", "{name}.{}", f.name);
            used |= m;
            assert!(u32::from(f.hi) < desc.bits);
            let top = f.values.iter().map(|v| u128::from(v.value)).max();
            assert!(
                top.is_none_or(|v| v <= mask(f.hi - f.lo, 0)),
                "{name}.{}",
                f.name
            );
        }
        for dword in 0..desc.bits / 32 {
            let used = u32::try_from(used >> (dword * 32) & u128::from(ALL)).unwrap();
            assert_eq!(
                desc.write(dword, 0, ALL) & !used,
                0,
                "{name}: no field, no storage"
            );
            assert_eq!(
                desc.read(dword, ALL) & !used,
                0,
                "{name}: no field reads as zero"
            );
        }
    }
    for desc in debug_registers() {
        assert!(desc.cite.starts_with("PRM vol4 3."), "{}", desc.name);
    }
}

#[test]
fn no_two_registers_share_an_offset() {
    let mut spans: Vec<(u32, u32, &str)> = REGISTERS
        .iter()
        .filter(|d| d.space == Space::Mmio)
        .map(|d| {
            (
                d.offset,
                d.offset + (d.count - 1) * d.stride + d.bits / 8,
                d.name,
            )
        })
        .collect();
    spans.sort_unstable();
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{} and {}", pair[0].2, pair[1].2);
    }
}

#[test]
fn misprints_are_noted() {
    // Five-byte offsets, overlapping rows, lost numbers, reversed orders.
    for name in [
        "SVG_CTL",
        "SVG_WORK_CTL",
        "VF_STR_PSKIP",
        "SF_CTL",
        "TD_0-7_EHTRG_MSK",
        "TD_RDATA",
        "MATH_CTL",
        "ISC_L1CA_BP_ADR1",
        "ISC_L1CA_BP_OPC2",
        "SAMPLER_CTL",
        "DP_CTL",
        "RC_DEF_CLR",
        "URB_CTL",
        "EU_ATT",
        "EU_ATT_DATA",
        "EU_ATT_CLR",
        "TS_CTL",
        "TS_RDATA",
    ] {
        assert!(!by_name(name).anomaly.is_empty(), "{name}");
    }
}

fn mux(name: &str) -> Vec<(u32, &'static str)> {
    let field = by_name(name).fields.iter().find(|f| f.mux).expect(name);
    assert_eq!((field.hi, field.lo), (15, 8), "{name}");
    field.values.iter().map(|v| (v.value, v.summary)).collect()
}

#[test]
fn mux_values_deliver_what_the_manual_lists() {
    let numbers = |name: &str| mux(name).iter().map(|m| m.0).collect::<Vec<_>>();
    assert_eq!(numbers("SVG_CTL"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(numbers("VF_CTL"), [0, 1]);
    assert_eq!(numbers("VS_CTL"), [0, 1, 2, 3]);
    assert_eq!(numbers("GS_CTL"), (0..=13).collect::<Vec<_>>());
    assert_eq!(numbers("CL_CTL"), (0..=7).collect::<Vec<_>>());
    assert_eq!(numbers("SF_CTL"), (0..=7).collect::<Vec<_>>());
    assert_eq!(numbers("WIZ_CTL"), [0, 1, 2]);
    assert_eq!(numbers("TS_CTL"), [0, 3]);
    assert_eq!(numbers("MATH_CTL"), [0, 1]);
    assert_eq!(numbers("SAMPLER_CTL"), [0, 1, 2]);
    let dp: Vec<u32> = (0..=2).chain(32..=63).collect();
    assert_eq!(numbers("DP_CTL"), dp);
    assert_eq!(numbers("URB_CTL"), (0..=15).collect::<Vec<_>>());
    for name in ["VFE_CTL", "TD_CTL", "ISC_L1CA_CTR", "RC_CTL", "EU_CTL"] {
        assert!(mux(name).is_empty(), "{name}");
    }
    let says = |name: &str, value: u32, word: &str| {
        let found = mux(name).into_iter().find(|m| m.0 == value).unwrap();
        assert!(
            found.1.to_lowercase().contains(word),
            "{name} {value}: {}",
            found.1
        );
    };
    says("SVG_CTL", 1, "surface state base");
    says("SVG_CTL", 5, "system instruction pointer");
    says("VF_CTL", 0, "thread id");
    says("VS_CTL", 3, "kernel");
    says("GS_CTL", 10, "vertex 5");
    says("GS_CTL", 12, "1 to 6");
    says("CL_CTL", 5, "vertex 2");
    says("SF_CTL", 3, "vertex 1");
    says("WIZ_CTL", 0, "kernel");
    says("WIZ_CTL", 2, "primitive sequence number");
    // Sampler and URB show dword 6 first, the data port dword 7.
    says("SAMPLER_CTL", 1, "dword 6");
    says("URB_CTL", 2, "dword 7");
    says("DP_CTL", 1, "dword 7");
    says("URB_CTL", 15, "224 to 255");
}

#[test]
fn error_words_are_laid_out_as_printed() {
    use regs::gen40::{DpErrorHeader, MathErrorHeader, TsMessageError, UrbErrorHeader};
    // 3.4.7.1: FFID 27:24, TID 22:21, EUID 19:16, bit 5 illegal surface type.
    let dp = DpErrorHeader([0x0646_0020]);
    assert_eq!((dp.ffid(), dp.tid(), dp.euid()), (6, 2, 6));
    assert!(dp.illegal_surface_type() && !dp.bad_length());
    // 3.4.2.1: TID in 21:20, rlen, mlen and opcode below.
    let math = MathErrorHeader([0x0635_1241]);
    assert_eq!((math.ffid(), math.tid(), math.euid()), (6, 3, 5));
    assert_eq!((math.response_length(), math.message_length()), (1, 2));
    assert_eq!(math.opcode(), 4);
    assert!(math.bad_length());
    // 3.3.11.1: 0000 1 | 1 | 0101 | 0011 | 10 | 1 | 00010 | 000000001 | 1.
    let ts = TsMessageError([0x0d4e_8803]);
    assert_eq!((ts.function_control(), ts.ffid(), ts.euid()), (1, 5, 3));
    assert!(ts.end_of_thread() && ts.error_code_valid());
    assert_eq!((ts.tid(), ts.dispatch_id()), (2, 2));
    assert_eq!((ts.urb_handle(), ts.error_code()), (1, 1));
    // 3.4.9.1: error code 4 is an invalid shared function id.
    assert_eq!(u64::from(regs::gen40::values::urb_error::INVALID_SFID), 4);
    assert_eq!(UrbErrorHeader([4]).error_code(), 4);
}

#[test]
fn ring_registers_match_the_driver_headers() {
    // i915: name, offset.
    for (name, offset) in [
        ("PRB0_TAIL", 0x2030),
        ("PRB0_HEAD", 0x2034),
        ("PRB0_START", 0x2038),
        ("PRB0_CTL", 0x203c),
        ("IPEIR", 0x2064),
        ("IPEHR", 0x2068),
        ("INSTDONE", 0x206c),
        ("INSTPS", 0x2070),
        ("ACTHD", 0x2074),
        ("INSTDONE_1", 0x207c),
        ("HWS_PGA", 0x2080),
        ("NOPID", 0x2094),
        ("HWSTAM", 0x2098),
        ("MI_MODE", 0x209c),
        ("IER", 0x20a0),
        ("IIR", 0x20a4),
        ("IMR", 0x20a8),
        ("ISR", 0x20ac),
        ("EIR", 0x20b0),
        ("EMR", 0x20b4),
        ("ESR", 0x20b8),
        ("INSTPM", 0x20c0),
        ("CACHE_MODE_0", 0x2120),
        ("ECOSKPD", 0x21d0),
        ("PGTBL_CTL", 0x2020),
        ("PGTBL_ER", 0x2024),
        ("IA_VERTICES_COUNT", 0x2310),
        ("PS_DEPTH_COUNT", 0x2350),
        ("TIMESTAMP", 0x2358),
        ("FENCE", 0x3000),
        ("RENCLK_GATE_D1", 0x6204),
        ("RENCLK_GATE_D2", 0x6208),
        ("RAMCLK_GATE_D", 0x6210),
        ("DEUC", 0x6214),
    ] {
        assert_eq!(by_name(name).offset, offset, "{name}");
    }
    // TAIL_ADDR 0x001ffff8, HEAD_ADDR with HEAD_WRAP_COUNT, RING_NR_PAGES with report and valid.
    assert_eq!(by_name("PRB0_TAIL").write(0, 0, ALL), 0x001f_fff8);
    assert_eq!(by_name("PRB0_HEAD").write(0, 0, ALL), 0xffff_fffc);
    assert_eq!(by_name("PRB0_START").write(0, 0, ALL), 0xffff_f000);
    assert_eq!(by_name("PRB0_CTL").write(0, 0, ALL), 0x001f_f007);
    // RING_WAIT: a written one ends the wait.
    assert_eq!(by_name("PRB0_CTL").write(0, 0x801, 0x801), 1);
    assert_eq!(by_name("PRB0_CTL").write(0, 0x801, 1), 0x801);
}

#[test]
fn masked_and_write_one_to_clear_registers_do_so() {
    let instpm = by_name("INSTPM");
    assert_eq!(instpm.write(0, 0, 0x0010_0010), 0x10);
    assert_eq!(instpm.write(0, 0x10, 0x0020_0000), 0x10);
    assert_eq!(instpm.write(0, 0x10, 0x0010_0000), 0);
    assert_eq!(instpm.write(0, 0, 0x0000_0010), 0, "without its enable");
    assert_eq!(instpm.read(0, 0x10), 0x10);
    // STOP_RING sticks, MODE_IDLE is the hardware's.
    let mode = by_name("MI_MODE");
    assert_eq!(mode.write(0, 0x200, 0x0300_0100), 0x300);
    let iir = by_name("IIR");
    assert_eq!(iir.write(0, 0x8002, 0x0002), 0x8000);
    assert_eq!(by_name("ISR").write(0, 0x2, ALL), 0x2);
    assert_eq!(by_name("EIR").write(0, 0x11, 0x10), 0x01);
    assert_eq!(by_name("PGTBL_ER").write(0, 0x0108_0001, ALL), 0);
    assert_eq!(by_name("IMR").reset, Some(0xffff_ffff));
    // PIPESTAT_INT_STATUS_MASK is acknowledged, PIPESTAT_INT_ENABLE_MASK stored.
    let pipe = by_name("PIPEASTAT");
    assert_eq!(pipe.write(0, 0x0000_0006, 0x0002_0002), 0x0002_0004);
}

#[test]
fn wide_registers_and_arrays_are_found() {
    // FENCE_REG_965_HI(15) = 0x3000 + 15 * 8 + 4.
    let (id, element, dword) = lookup(0x307c).unwrap();
    assert_eq!((id, element, dword), (RegId::Fence, 15, 1));
    assert_eq!(lookup(0x3080).filter(|r| r.0 == RegId::Fence), None);
    // i965_write_fence_reg: 1 MiB from 0x0010_0000, stride 512 (pitch 3 in 11:2), Y, valid.
    let fence = by_name("FENCE");
    assert_eq!(fence.write(0, 0, 0x0010_000f), 0x0010_000f);
    assert_eq!(fence.write(1, 0, 0x001f_f000), 0x001f_f000);
    assert_eq!(fence.write(1, 0, 0xfff), 0);
    // GTT of G965 and GM965: 512 KiB behind the registers.
    assert_eq!(lookup(0x80000), Some((RegId::GttPte, 0, 0)));
    assert_eq!(lookup(0xffffc), Some((RegId::GttPte, 131_071, 0)));
    assert_eq!(
        lookup(0x8838).map(|r| (r.0, r.2)),
        Some((RegId::EuAttClr, 2))
    );
    // Configuration space does not answer on the bus.
    assert_eq!(by_name("GDRST").space, Space::Pci);
    assert_eq!(lookup(0xc0), None);
    // Holes of the debug chapter.
    for hole in [0x740c, 0x828c, 0x8704, 0x8804, 0x8844] {
        assert_eq!(lookup(hole), None, "{hole:#x}");
    }
}

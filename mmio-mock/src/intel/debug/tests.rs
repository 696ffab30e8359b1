//! Debug registers as the host sees them: literal offsets and values of the manual.
//!
//! PRM: volume 4, chapter 3. Does not test the units that call in.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::intel::status::Unit;

mod functions;

fn write(d: &mut DebugRegs, offset: u32, value: u32) {
    let (id, _, dword) = regs::gen40::lookup(offset).unwrap();
    d.write(id, dword, value);
}

fn read(d: &DebugRegs, offset: u32) -> u32 {
    let (id, _, dword) = regs::gen40::lookup(offset).unwrap();
    d.read(id, dword)
}

fn enabled() -> DebugRegs {
    let mut d = DebugRegs::new(&regs::platform::GEN40);
    d.set_global_enable(true);
    d
}

/// 3.2: mux select in 15:8.
fn show(d: &mut DebugRegs, ctl: u32, mux: u32, rdata: u32) -> u32 {
    let value = (read(d, ctl) & !0xff00) | mux << 8;
    write(d, ctl, value);
    read(d, rdata)
}

#[test]
fn registers_store_by_their_access_rules() {
    let mut d = DebugRegs::new(&regs::platform::GEN40);
    write(&mut d, 0x7400, u32::MAX);
    assert_eq!(read(&d, 0x7400), 0xff00, "SVG_CTL");
    write(&mut d, 0x7b00, u32::MAX);
    assert_eq!(read(&d, 0x7b00), 0xc000_ff1f, "SF_CTL");
    write(&mut d, 0x7c08, u32::MAX);
    assert_eq!(read(&d, 0x7c08), 0, "WIZ_RDATA is read-only");
    write(&mut d, 0x8200, u32::MAX);
    assert_eq!(read(&d, 0x8200), 0, "ISC_CTL is reserved");
    write(&mut d, 0x8604, 0x1234_5678);
    assert_eq!(read(&d, 0x8604), 0x1234_5678, "RC_DEF_CLR");
    d.reset();
    assert_eq!(read(&d, 0x7b00), 0);
    assert_eq!(read(&d, 0x8604), 0);
    assert!(!DebugRegs::owns(
        regs::gen40::register_desc(RegId::Instpm).unwrap()
    ));
    d.write(RegId::Instpm, 0, u32::MAX);
    assert_eq!(d.read(RegId::Instpm, 0), 0, "not kept here");
}

#[test]
fn controls_without_the_global_debug_enable_do_nothing() {
    let mut d = DebugRegs::new(&regs::platform::GEN40);
    for ctl in [0x7600, 0x7900, 0x7a00, 0x7b00, 0x7c00] {
        write(&mut d, ctl, 0x1f);
    }
    write(&mut d, 0x7500, 0xf);
    write(&mut d, 0x8000, 0xf4);
    write(&mut d, 0x8300, 0x1e);
    write(&mut d, 0x8600, 7);
    assert!(!d.vs_thread().flag && !d.gs_thread().flag && !d.clip_thread().flag);
    assert!(d.vf_primitive() && d.vf_vertex_range().is_none());
    assert!(!d.vf_vertex(0).capture);
    let sf = d.sf_primitive();
    assert!(!sf.culled && !sf.upstream && d.sf_clip_rectangle().is_none());
    assert!(!d.wiz().armed());
    assert_eq!(d.td_dispatch(true, 0, 0), TdDispatch::default());
    assert!(d.td_exceptions().is_none() && d.rc_default_color().is_none());
    assert!(!d.ma_messages_halted() && !d.ma_writebacks_halted() && !d.ma_row_input_halted());
    assert!(!d.non_pipelined());
    // The stored bits are there all the same, and nothing counted.
    assert_eq!(read(&d, 0x8000), 0xf4);
    assert_eq!(d.counters(), &Counters::default());
    d.set_global_enable(true);
    assert!(d.vs_thread().flag && d.ma_messages_halted());
}

#[test]
fn bits_without_the_mark_act_at_all_times() {
    let mut d = DebugRegs::new(&regs::platform::GEN40);
    write(&mut d, 0x7b00, 0x4000_0000);
    assert!(d.sf_primitive().culled, "Cull All");
    write(&mut d, 0x7c00, 0x60);
    assert!(d.wiz().single_subspan_dispatch() && d.wiz().ignore_scoreboard());
    write(&mut d, 0x7408, 0x13);
    assert!(d.svg_chrominance_interpolated() && d.svg_panic_dispatch_disabled());
    assert!(d.svg_stateless_allowed());
    write(&mut d, 0x8400, 4);
    assert!(d.sampler_l1_disabled());
    // TD_CTL2: limit 5 when bit 8 is set; WIZ threads on EU 2 alone.
    write(&mut d, 0x8018, 4);
    assert_eq!(
        (d.td_thread_limit(), d.td_eu_mask(Unit::Wiz)),
        (None, 0xffff)
    );
    write(&mut d, 0x8004, 0x0005_0140);
    assert_eq!((d.td_thread_limit(), d.td_eu_mask(Unit::Wiz)), (Some(5), 4));
    assert_eq!(d.td_eu_mask(Unit::Vs), 0xffff);
    for (unit, bit, offset) in [
        (Unit::Vs, 0, 0x8008),
        (Unit::Gs, 3, 0x800c),
        (Unit::Clip, 4, 0x8010),
        (Unit::Sf, 5, 0x8014),
        (Unit::Media, 7, 0x8030),
    ] {
        write(&mut d, 0x8004, 1 << bit);
        write(&mut d, offset, 0xffff_0081);
        assert_eq!(d.td_eu_mask(unit), 0x81);
    }
}

#[test]
fn a_vertex_shader_snapshot_traps_the_thread_of_its_trigger() {
    let mut d = enabled();
    write(&mut d, 0x7604, 2);
    write(&mut d, 0x7600, 3);
    for id in 0..2 {
        let t = d.vs_thread();
        assert_eq!((t.id, t.flag, t.capture), (id, false, false));
    }
    let t = d.vs_thread();
    assert!(t.flag && t.capture);
    // 3.3.5: r0.6 holds the id, r0.7 the flag in bit 31.
    assert_eq!(t.r0(), [2, 0x8000_0000]);
    d.capture(SnapshotUnit::Vs, &[7, 8, 2, 0x4000]);
    assert_eq!(
        read(&d, 0x7600) & 0x8000_0000,
        0x8000_0000,
        "Snapshot Complete"
    );
    for (mux, value) in [(0, 7), (1, 8), (2, 2), (3, 0x4000), (4, 0)] {
        assert_eq!(show(&mut d, 0x7600, mux, 0x7608), value);
    }
    assert!(!d.vs_thread().flag);
}

#[test]
fn a_completed_snapshot_stays_until_software_clears_bit_31() {
    let mut d = enabled();
    write(&mut d, 0x7904, 0);
    write(&mut d, 0x7900, 1);
    assert!(d.gs_thread().capture);
    d.capture(SnapshotUnit::Gs, &[0x3000_0001]);
    d.reset_counters();
    let again = d.gs_thread();
    assert!(
        !again.capture && !again.flag,
        "no thread enable, and not armed"
    );
    assert_eq!(read(&d, 0x7908), 0x3000_0001);
    write(&mut d, 0x7900, 1);
    assert_eq!(read(&d, 0x7900), 1, "written 0 clears");
    d.reset_counters();
    assert!(d.gs_thread().capture);
}

#[test]
fn all_threads_overrides_the_enables_and_keeps_the_last_thread() {
    let mut d = enabled();
    write(&mut d, 0x7a00, 4);
    for n in 0..3 {
        let t = d.clip_thread();
        assert!(t.flag && t.capture);
        d.capture(SnapshotUnit::Clip, &[n]);
    }
    assert_eq!(read(&d, 0x7a08), 2);
    assert_eq!(read(&d, 0x7a00), 4, "no compare, no completion");
}

#[test]
fn counters_start_again_with_the_global_snapshot_count_reset() {
    let mut d = enabled();
    for _ in 0..5 {
        d.vs_thread();
        d.vf_vertex(9);
        d.sf_primitive();
    }
    assert_eq!(d.counters().get(Counter::VsThread), 5);
    assert_eq!(d.counters().get(Counter::SfPrimitive), 5);
    d.reset_counters();
    assert_eq!(d.vs_thread().id, 0);
    assert_eq!(d.vf_vertex(9).sequence, 0);
    d.set_global_enable(false);
    assert_eq!((d.vs_thread().id, d.vs_thread().id), (1, 1));
}

// covers: 1.2-19
#[test]
fn one_vertex_index_has_many_sequence_numbers() {
    // VF_STRG_VAL 7 as a number (type 0) hits one vertex, as an index (VF_CTL bit 4) all that have it.
    let indices = [7, 7, 3, 7, 0, 1, 2, 3, 9, 7];
    let hits = |control: u32| {
        let mut d = enabled();
        write(&mut d, 0x7504, 7);
        let vertices = indices.map(|index| {
            // Snapshot Complete is reset, so that the next vertex can be caught too.
            write(&mut d, 0x7500, control);
            d.vf_vertex(index)
        });
        let mut numbers = vertices.map(|v| v.sequence);
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|two| two[0] != two[1]));
        vertices.map(|v| v.capture)
    };
    let by_number = hits(1);
    assert_eq!(by_number.iter().filter(|&&hit| hit).count(), 1);
    let by_index = hits(0x11);
    assert_eq!(by_index, indices.map(|index| index == 7));
}

#[test]
fn vertex_fetch_traps_by_sequence_number_or_index() {
    let mut d = enabled();
    // Type 0: bits 23:0 of the trigger against the sequence number.
    write(&mut d, 0x7504, 0xff00_0001);
    write(&mut d, 0x7500, 1);
    assert!(!d.vf_vertex(1).capture);
    let v = d.vf_vertex(40);
    assert_eq!((v.sequence, v.capture), (1, true));
    d.capture(SnapshotUnit::Vf, &[17]);
    assert_eq!(read(&d, 0x7518), 17, "VS thread id");
    assert_eq!(read(&d, 0x7500), 0x8000_0001);
    // Type 1: all 32 bits against the index.
    write(&mut d, 0x7504, 0x0001_0005);
    write(&mut d, 0x7500, 0x11);
    assert!(!d.vf_vertex(5).capture);
    assert!(d.vf_vertex(0x0001_0005).capture);
}

#[test]
fn vertex_fetch_skips_and_limits_primitives() {
    let mut d = enabled();
    write(&mut d, 0x7510, 2);
    write(&mut d, 0x7514, 3);
    write(&mut d, 0x7500, 0xc);
    let kept: Vec<bool> = (0..5).map(|_| d.vf_primitive()).collect();
    // Two skipped at the start count toward the three.
    assert_eq!(kept, [false, false, true, false, false]);
    write(&mut d, 0x7508, 30);
    write(&mut d, 0x750c, 3);
    write(&mut d, 0x7500, 2);
    assert_eq!(d.vf_vertex_range(), Some((30, 3)));
    assert!(d.vf_primitive());
}

#[test]
fn strips_and_fans_number_culled_primitives_too() {
    let mut d = enabled();
    write(&mut d, 0x7b08, 1);
    write(&mut d, 0x7b0c, 2);
    write(&mut d, 0x7b04, 2);
    write(&mut d, 0x7b10, 0x0008_0004);
    write(&mut d, 0x7b14, 0x0020_0010);
    write(&mut d, 0x7b00, 0x19);
    let all: Vec<SfPrimitive> = (0..4).map(|_| d.sf_primitive()).collect();
    let culled: Vec<bool> = all.iter().map(|p| p.culled).collect();
    assert_eq!(culled, [true, false, false, true]);
    let up: Vec<bool> = all.iter().map(|p| p.upstream).collect();
    assert_eq!(up, [false, false, true, false]);
    assert!(all.iter().all(|p| !p.thread.flag), "no thread enable");
    let r = d.sf_clip_rectangle().unwrap();
    assert_eq!((r.xmin, r.ymin, r.xmax, r.ymax), (4, 8, 16, 32));
}

fn payload(
    d: &mut DebugRegs,
    subspans: &[(u32, u32)],
    primitive: u32,
    upstream: bool,
) -> ThreadDebug {
    d.wiz_payload(&WizPayload {
        subspans,
        primitive,
        upstream,
        kernel_pointer: 0x8040,
    })
}

#[test]
fn the_windower_traps_the_subspan_of_a_pixel() {
    let mut d = enabled();
    // 3.3.1: pixel (101, 50): bit 0 is ignored; enable and thread enable.
    write(&mut d, 0x7c04, 0x0032_0065);
    write(&mut d, 0x7c00, 3);
    assert!(d.wiz().armed());
    let miss = payload(&mut d, &[(98, 50), (102, 50), (100, 48)], 9, false);
    assert_eq!((miss.id, miss.flag), (0, false));
    let hit = payload(&mut d, &[(98, 50), (100, 50)], 9, false);
    assert!(hit.flag && hit.capture);
    // 3.3.9: r0.7 flag and primitive sequence number, r0.6 thread id.
    assert_eq!(hit.r0(), [1, 0x8000_0009]);
    assert_eq!(read(&d, 0x7c00), 0x8000_0003);
    // 3 is the model's choice for the thread id that 3.3.9 speaks of.
    for (mux, value) in [(0, 0x8040), (1, 1), (2, 9), (3, 1), (4, 0)] {
        assert_eq!(show(&mut d, 0x7c00, mux, 0x7c08), value);
    }
    // A later occurrence of the pixel does not replace the latched data.
    let later = payload(&mut d, &[(101, 51)], 10, false);
    assert!(!later.capture);
    assert_eq!(later.id, 0, "thread numbers are relative to the primitive");
    assert_eq!(read(&d, 0x7c08), 0);
    assert_eq!(show(&mut d, 0x7c00, 2, 0x7c08), 9);
    assert_eq!(show(&mut d, 0x7c00, 1, 0x7c08), 1);
}

#[test]
fn the_windower_traps_the_nth_occurrence() {
    let mut d = enabled();
    write(&mut d, 0x7c04, 0x0004_0006);
    // Instance 3 in 23:16, compare of it in bit 4.
    write(&mut d, 0x7c00, 0x0003_0113);
    assert!(d.wiz().snapshot_wanted(7, 5, 3, false));
    assert!(!d.wiz().snapshot_wanted(7, 5, 2, false));
    for n in 1..=2 {
        assert!(!payload(&mut d, &[(6, 4)], n, false).flag);
        assert_eq!(read(&d, 0x7c08), n, "running count");
    }
    assert!(payload(&mut d, &[(6, 4)], 3, false).flag);
    assert_eq!(read(&d, 0x7c00) >> 31, 1);
    assert!(!payload(&mut d, &[(6, 4)], 4, false).flag);
    assert_eq!(read(&d, 0x7c08), 3, "latched count");
    assert_eq!(show(&mut d, 0x7c00, 2, 0x7c08), 3);
    // Cleared: armed again, counted from the start.
    write(&mut d, 0x7c00, 0x0001_0113);
    assert!(payload(&mut d, &[(6, 4)], 5, false).flag);
    // MI_FLUSH.
    write(&mut d, 0x7c00, 0x0002_0113);
    payload(&mut d, &[(6, 4)], 6, false);
    d.reset_counters();
    assert!(!payload(&mut d, &[(6, 4)], 7, false).flag);
    assert!(payload(&mut d, &[(6, 4)], 8, false).flag);
}

#[test]
fn the_windower_follows_the_printed_flag_equations() {
    // 3.3.9, evaluated over all inputs: bit 4 off.
    for bits in 0..64u32 {
        let on = |n: u32| bits >> n & 1 == 1;
        let (enable, thread, all, use_up) = (on(0), on(1), on(2), on(3));
        let (xy, upstream) = (on(4), on(5));
        let local = if all { true } else { enable && xy };
        let last = if use_up { upstream && local } else { local };
        let expected = thread && last;
        let mut d = enabled();
        write(&mut d, 0x7c00, bits & 0xf);
        let at = if xy { (0, 0) } else { (2, 0) };
        let got = payload(&mut d, &[at], 0, upstream);
        assert_eq!(got.flag, expected, "{bits:#b}");
        assert_eq!(got.capture, last, "{bits:#b}");
    }
}

#[test]
fn base_addresses_latch_only_while_debugging() {
    let mut d = DebugRegs::new(&regs::platform::GEN40);
    d.svg_base(SvgBase::GeneralState, 0x1000);
    assert_eq!(show(&mut d, 0x7400, 0, 0x7404), 0);
    d.set_global_enable(true);
    for (n, base) in [
        SvgBase::GeneralState,
        SvgBase::SurfaceState,
        SvgBase::IndirectObject,
        SvgBase::GeneralStateBound,
        SvgBase::IndirectObjectBound,
        SvgBase::SystemInstructionPointer,
    ]
    .into_iter()
    .enumerate()
    {
        d.svg_base(base, 0x1_0000 + u32::try_from(n).unwrap());
    }
    d.set_global_enable(false);
    d.svg_base(SvgBase::SurfaceState, 7);
    for n in 0..6 {
        assert_eq!(show(&mut d, 0x7400, n, 0x7404), 0x1_0000 + n);
    }
    assert_eq!(show(&mut d, 0x7400, 6, 0x7404), 0);
}

#[test]
fn vertex_tags_are_packed_as_the_mux_shows_them() {
    assert_eq!(vertex_tag(3, 0x0100_0005), 0x3000_0005);
    assert_eq!(vertex_tag(0xf, 0x00ab_cdef), 0xf0ab_cdef);
}

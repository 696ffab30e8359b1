//! Root threads without children: payload, resources, bad state.

use super::rig::*;
use crate::core::Ended;
use crate::core::Model;
use crate::intel::status::Unit;
use crate::intel::td::schedule::{Order, Schedule};

/// Writes r0, r1, r2, r3 and r4 to the rows from the one that `r1.0` (constants first) or inline data name.
fn dump(register: &str, count: u32) -> String {
    let mut text = format!(
        "mul(1) g100<1>UD {register}<0,1,0>UD {}UD {{ align1 }};\n\
         add(1) g100<1>UD g100<0,1,0>UD {OUT:#x}UD {{ align1 }};\n",
        count * 32
    );
    for n in 0..count {
        text += &store("g100<0,1,0>UD", &format!("g{n}"));
        text += "add(1) g100<1>UD g100<0,1,0>UD 32UD { align1 };\n";
    }
    text + &end(END_ROOT)
}

// covers: 1.2-15, 1.2-17, 2.4-01, 2.5-09, 3.3.10-01, 3.3.11-01, 3.3.11.5-02
#[test]
fn r0_names_the_resources_of_the_thread() {
    let mut rig = Rig::new();
    let kernel = rig.kernel(&dump("g1.0", 3), 0);
    rig.begin(&FLAT);
    for n in 0..4 {
        rig.object(kernel, &[n, 7, 8, 9, 10, 11, 12, 13, 14]);
    }
    rig.complete();
    for n in 0..4 {
        let r0 = rig.out(n * 3);
        // Handles count 512-bit units; entries are four of them.
        assert_eq!(r0[0], n * 4, "URB handle");
        assert_eq!(r0[2], DESCRIPTORS, "interface descriptor");
        assert_eq!(r0[3], 0x7e0 | 1, "samplers and scratch size");
        assert_eq!(r0[4], 0x5a0, "binding table");
        // 2 KB of scratch a thread, and the dispatch ID.
        assert_eq!(r0[5], SCRATCH + n * 2048 + n, "scratch");
        assert_eq!(r0[6], u32::from(Unit::Media.ffid()) << 28, "debug");
        assert_eq!(r0[7], 0);
        assert_eq!(rig.out(n * 3 + 1), [n, 7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(rig.out(n * 3 + 2), [14, 0, 0, 0, 0, 0, 0, 0]);
    }
    let activity = rig.device.status().activity;
    assert_eq!(activity.threads[Unit::Media as usize], 4);
    assert_eq!(rig.device.messages()[7], 4);
}

// covers: 3.2.1-04
#[test]
fn debug_identifiers_count_under_the_global_enable() {
    let mut rig = Rig::new();
    let kernel = rig.kernel(&dump("g1.0", 1), 0);
    // INSTPM: masked write of the global debug enable.
    rig.register(regs::gen40::RegId::Instpm, 0x0001_0001 << global_enable());
    rig.begin(&FLAT);
    for n in 0..3 {
        rig.object(kernel, &[n]);
    }
    rig.complete();
    let ids: Vec<u32> = (0..3).map(|n| rig.out(n)[6] & 0xffff).collect();
    assert_eq!(ids, [1, 2, 3]);
}

/// Bit of INSTPM.
fn global_enable() -> u32 {
    let desc = &regs::gen40::descs::INSTPM;
    let field = desc.fields.iter().find(|f| f.name.contains("Debug"));
    u32::from(field.unwrap().lo)
}

#[test]
fn constants_inline_and_indirect_data_follow_one_another() {
    let mut rig = Rig::new();
    let kernel = rig.kernel(&dump("g1.0", 5), 1);
    rig.poke(CONSTANTS, &[0, 21, 22, 23, 24, 25, 26, 27]);
    rig.poke(INDIRECT + 64, &[31, 32, 33, 34, 35, 36, 37, 38, 39, 40]);
    rig.begin(&FLAT);
    rig.object_with(kernel, &[51, 52], 0, (64, 38));
    rig.complete();
    assert_eq!(rig.out(1), [0, 21, 22, 23, 24, 25, 26, 27]);
    assert_eq!(rig.out(2), [51, 52, 0, 0, 0, 0, 0, 0]);
    assert_eq!(rig.out(3), [31, 32, 33, 34, 35, 36, 37, 38]);
    // 38 bytes: a dword and a half of the second row.
    assert_eq!(rig.out(4), [39, 40, 0, 0, 0, 0, 0, 0]);
}

/// The state of xserver-xorg-video-intel's motion compensation (xvmc/i965_xvmc.c: `vfe_state`, `urb_layout`,
/// `send_media_object`): one entry of three units, all of the URB for the front end, and six blocks of 128 bytes.
#[test]
fn a_lone_entry_holds_more_than_its_size() {
    let blocks: Vec<u32> = (1000..1192).collect();
    for (fence, fits) in [(256, true), (13, true), (12, false)] {
        let mut rig = Rig::new();
        let kernel = rig.kernel(&dump("g1.0", 27), 0);
        rig.poke(INDIRECT, &blocks);
        rig.begin(&Front {
            entries: 1,
            units: 3,
            constants: 0,
            ..FLAT
        });
        rig.emit(&[0x6000_3f01, 0, fence << 10 | fence << 20]);
        for n in 0..2 {
            rig.object_with(kernel, &[n, 2, 3, 4, 5, 6, 7, 8, 9], 0, (0, 768));
        }
        if !fits {
            assert_eq!(rig.run(), Ended::Blocked);
            assert!(rig.faults()[0].contains("26 rows do not fit a URB entry of 24"));
            continue;
        }
        rig.complete();
        for n in 0..2 {
            assert_eq!(rig.out(n * 27 + 1), [n, 2, 3, 4, 5, 6, 7, 8]);
            assert_eq!(rig.out(n * 27 + 2), [9, 0, 0, 0, 0, 0, 0, 0]);
            for row in 0..24 {
                let expected = [0, 1, 2, 3, 4, 5, 6, 7].map(|at| 1000 + row * 8 + at);
                assert_eq!(rig.out(n * 27 + 3 + row), expected);
            }
        }
    }
}

/// Arrays of constants in memory, bound as a buffer of five elements.
// covers: 2.5-06, 1.2-02
#[test]
fn constant_buffers_are_read_through_the_data_port() {
    use regs::gen40::{SurfaceState, values};
    let mut rig = Rig::new();
    let state = SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_BUFFER)
        .with_surface_base_address(CONSTANTS)
        .with_width(4);
    // Index 3 of the table that the interface descriptor names, both behind the surface state base.
    rig.poke(0x9000 + 0x5a0 + 12, &[0x600]);
    rig.poke(0x9000 + 0x600, state.dwords());
    let constants: Vec<u32> = (100..132).collect();
    rig.poke(CONSTANTS, &constants);
    let mut text = "mov(8) m1<1>UD 0UD { align1 };\n".to_owned();
    // Two OWords from byte 10h, and from byte 40h, of which the second is outside.
    for (offset, register) in [(0x10, 10), (0x40, 11)] {
        text.extend([format!(
            "mov(8) g{register}<1>UD -1D {{ align1 }};\n\
             mov(1) m1.2<1>UD {offset}UD {{ align1 }};\n\
             send(8) 1 g{register}<1>UD null<8,8,1>UD 0x04110203 {{ align1 }};\n"
        )]);
        text.extend([format!(
            "mov(1) g100<1>UD {:#x}UD {{ align1 }};\n",
            OUT + register * 32
        )]);
        text += &store("g100<0,1,0>UD", &format!("g{register}"));
    }
    let kernel = rig.kernel(&(text + &end(END_ROOT)), 0);
    rig.begin(&FLAT);
    rig.emit(&[0x6101_0004, 1, 0x9001, INDIRECT | 1, 1, 1]);
    rig.object(kernel, &[]);
    rig.complete();
    assert_eq!(rig.out(10), [104, 105, 106, 107, 108, 109, 110, 111]);
    assert_eq!(rig.out(11), [116, 117, 118, 119, 0, 0, 0, 0]);
}

/// State, kernel, constants and scratch space are where they are said to be behind the general state base, and nothing is at
/// the same place of memory itself.
// covers: 1.2-08
#[test]
fn the_general_state_base_moves_all_state() {
    const BASE: u32 = 0x4_0000;
    let mut rig = Rig::new();
    // Two OWords of constants, then r0.5 as the address of scratch space, both without a surface.
    let mut text = "mov(8) m1<1>UD 0UD { align1 };\n".to_owned();
    text.extend([format!(
        "mov(1) m1.2<1>UD {CONSTANTS:#x}UD {{ align1 }};\n\
         send(8) 1 g10<1>UD null<8,8,1>UD 0x041102ff {{ align1 }};\n"
    )]);
    text += "and(1) g11<1>UD g0.5<0,1,0>UD 0xfffffc00UD { align1 };\n";
    text += &store("g11<0,1,0>UD", "g10");
    let kernel = rig.kernel(&(text + &end(END_ROOT)), 0);
    rig.poke(CONSTANTS, &[1, 2, 3, 4, 5, 6, 7, 8]);
    rig.begin(&FLAT);
    rig.emit(&[0x6101_0004, BASE | 1, 1, INDIRECT | 1, 1, 1]);
    // Everything so far moves.
    let dwords = (BASE as usize - VFE as usize) / 4;
    let state = rig.peek(VFE, dwords);
    rig.poke(BASE + VFE, &state);
    rig.poke(VFE, &vec![u32::MAX; dwords]);
    for _ in 0..2 {
        rig.object(kernel, &[]);
    }
    rig.complete();
    for n in 0..2 {
        // Size code 1 of the state: 2 KB a thread.
        let found = rig.peek(BASE + SCRATCH + n * 2048, 8);
        assert_eq!(found, [1, 2, 3, 4, 5, 6, 7, 8], "thread {n}");
    }
    assert!(rig.peek(VFE, dwords).iter().all(|&n| n == u32::MAX));
}

#[test]
fn more_objects_than_entries_and_slots_all_run() {
    for order in [Order::Ascending, Order::Descending, Order::Random(3)] {
        let mut rig = Rig::new();
        rig.schedule(Schedule::new(order));
        let kernel = rig.kernel(&dump("g1.0", 2), 0);
        rig.begin(&Front {
            entries: 5,
            threads: 40,
            ..FLAT
        });
        for n in 0..500 {
            rig.object(kernel, &[n, n ^ 0xffff]);
        }
        rig.complete();
        for n in 0..500 {
            assert_eq!(rig.out(n * 2 + 1)[..2], [n, n ^ 0xffff]);
        }
    }
}

#[test]
fn no_more_roots_than_allowed_are_alive() {
    let mut rig = Rig::new();
    let kernel = rig.kernel(&dump("g1.0", 1), 0);
    rig.schedule(Schedule::default().with_turn(1));
    rig.begin(&Front { threads: 3, ..FLAT });
    for n in 0..40 {
        rig.object(kernel, &[n]);
    }
    rig.complete();
    for n in 0..40 {
        assert!(rig.out(n)[5] & 0xff < 3, "dispatch ID");
    }
}

#[test]
fn a_thread_that_has_no_end_leaves_the_others_their_turns() {
    let mut rig = Rig::new();
    let endless = rig.kernel("jmpi(1) -1D { align1 };\n", 0);
    let kernel = rig.kernel(&dump("g1.0", 1), 0);
    rig.begin(&FLAT);
    rig.object(endless, &[]);
    rig.object(kernel, &[1]);
    // Nothing in its loop changes, so that only the host can end it.
    assert_eq!(rig.run_in(50), Ended::Blocked);
    assert_eq!(rig.out(1)[2], DESCRIPTORS + 16);
    assert_eq!(rig.device.running().len(), 1);
    let hung = rig.device.hung_threads();
    assert!(
        hung.len() == 1 && hung[0].ends_with("goes round in a loop that changes nothing"),
        "{hung:?}"
    );
    // One that counts is at work.
    let mut rig = Rig::new();
    let endless = rig.kernel(
        "add(1) g4<1>UD g4<0,1,0>UD 1UD { align1 };\njmpi(1) -2D { align1 };\n",
        0,
    );
    rig.begin(&FLAT);
    rig.object(endless, &[]);
    assert_eq!(rig.run_in(50), Ended::Busy);
    assert_eq!(rig.device.running().len(), 1);
    assert!(rig.device.hung_threads().is_empty());
}

/// Writes a batch that has a mistake.
type Setup<'a> = &'a dyn Fn(&mut Rig, u32);

#[test]
fn bad_state_is_refused() {
    let cases: [(&str, Setup<'_>); 11] = [
        ("3D pipeline is selected", &|rig, kernel| {
            rig.emit(&[FLUSH, SELECT_3D]);
            rig.object(kernel, &[]);
        }),
        ("without MEDIA_STATE_POINTERS", &|rig, kernel| {
            rig.emit(&[FLUSH, SELECT_MEDIA]);
            rig.object(kernel, &[]);
        }),
        ("no URB entry", &|rig, kernel| {
            rig.begin(&Front { entries: 0, ..FLAT });
            rig.object(kernel, &[]);
        }),
        // Numbers and names of the modes: intel-vaapi-driver i965_defines.h, VFE_VLD_MODE and the like.
        ("VFE mode 1, VLD: decoding of MPEG-2", &|rig, kernel| {
            rig.begin(&Front { mode: 1, ..FLAT });
            rig.object(kernel, &[]);
        }),
        ("VFE mode 2, IS: inverse scan", &|rig, kernel| {
            rig.begin(&Front { mode: 2, ..FLAT });
            rig.object(kernel, &[]);
        }),
        ("VFE mode 4, AVC MC: motion comp", &|rig, kernel| {
            rig.begin(&Front { mode: 4, ..FLAT });
            rig.object(kernel, &[]);
        }),
        ("VFE mode 7, AVC IT: inverse trans", &|rig, kernel| {
            rig.begin(&Front { mode: 7, ..FLAT });
            rig.object(kernel, &[]);
        }),
        ("reserved mode 3", &|rig, kernel| {
            rig.begin(&Front { mode: 3, ..FLAT });
            rig.object(kernel, &[]);
        }),
        ("do not fit a URB entry of 8", &|rig, kernel| {
            rig.begin(&FLAT);
            rig.object(kernel, &[0; 65]);
        }),
        ("GTT entry is not valid", &|rig, kernel| {
            rig.begin(&FLAT);
            rig.object_with(kernel, &[], 0, (0x0100_0000, 4));
        }),
        ("pass the upper bound", &|rig, kernel| {
            rig.begin(&FLAT);
            let bound = INDIRECT + 0x1000;
            rig.emit(&[0x6101_0004, 1, 1, INDIRECT | 1, 1, bound | 1]);
            rig.object_with(kernel, &[], 0, (0xffc, 8));
        }),
    ];
    for (what, setup) in cases {
        let mut rig = Rig::new();
        let kernel = rig.kernel(&dump("g1.0", 1), 0);
        setup(&mut rig, kernel);
        assert_eq!(rig.run(), Ended::Blocked, "{what}");
        let faults = rig.faults();
        assert!(
            faults.len() == 1 && faults[0].contains(what),
            "{what}: {faults:?}"
        );
    }
}

#[test]
fn a_kernel_that_is_not_there_is_a_fault_and_a_hang() {
    let mut rig = Rig::new();
    rig.descriptor(0, 0x0100_0000, 0);
    rig.begin(&FLAT);
    rig.object(0, &[]);
    assert_eq!(rig.hang().len(), 1);
    assert_eq!(rig.faults().len(), 1);
    // A reset helps, and the next batch runs.
    rig.device.reset();
    rig.ring();
    let kernel = rig.kernel(&dump("g1.0", 1), 0);
    rig.begin(&FLAT);
    rig.object(kernel, &[0]);
    rig.complete();
}

#[test]
fn a_change_of_the_pipeline_wants_a_flush() {
    let mut rig = Rig::new();
    let kernel = rig.kernel(&dump("g1.0", 1), 0);
    rig.begin(&FLAT);
    rig.object(kernel, &[0]);
    rig.emit(&[SELECT_3D, SELECT_MEDIA]);
    assert_eq!(rig.run(), Ended::Idle);
    let faults = rig.faults();
    assert!(
        faults.len() == 1 && faults[0].contains("without a flush"),
        "{faults:?}"
    );
    rig.object(kernel, &[0]);
    rig.emit(&[FLUSH, SELECT_3D]);
    rig.complete();
}

#[test]
fn fences_of_the_3d_units_do_not_bound_the_front_end() {
    // URB_FENCE of 3D work: VS to SF take all of the URB but a rest.
    let mut rig = Rig::new();
    let kernel = rig.kernel(&dump("g1.0", 1), 0);
    let fence = |vs: u32, gs: u32, clip: u32| vs | gs << 10 | clip << 20;
    rig.emit(&[
        FLUSH,
        SELECT_3D,
        0x6000_3f01,
        fence(60, 120, 180),
        0xf0 | 0xf0 << 10 | 0xfa << 20,
    ]);
    // Drivers of the media pipeline move the last two fences alone (intel-vaapi-driver i965_media.c).
    rig.begin(&FLAT);
    rig.object(kernel, &[0]);
    rig.complete();
    assert_eq!(
        rig.out(0)[0],
        0,
        "the first entry is at the start of the URB"
    );
}

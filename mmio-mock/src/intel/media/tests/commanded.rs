//! State in commands on Sandy Bridge: payloads, walkers, scoreboard, mistakes.
//!
//! Words by the bit positions of genxml gen6, headers as intel-vaapi-driver i965_defines.h has them; what a thread finds is what its
//! kernels take (shaders/post_processing/gen5_6: constants from r1 on, inline data behind them).

use super::rig::*;
use crate::core::{Ended, Model};
use crate::intel::status::Unit;
use crate::intel::td::schedule::{Order, Schedule};

const SELECT: u32 = 0x6904_0001;
/// Columns that a row of the output has.
const COLUMNS: u32 = 8;

/// A front end: constants, entries, rows of an entry, threads.
fn vfe_state(
    rig: &mut Rig,
    (constants, entries, rows, threads): (u32, u32, u32, u32),
    board: [u32; 3],
) {
    let words = [
        0x7000_0006,
        SCRATCH | 1,
        entries << 8 | (threads - 1) << 16,
        0,
        constants | rows << 16,
    ];
    rig.emit(&words);
    rig.emit(&board);
}

const FRONT: (u32, u32, u32, u32) = (4, 16, 4, 40);
/// Distance 0 is the left neighbour, 1 the upper one, 2 the upper right one.
const BOARD: [u32; 3] = [1 << 31 | 7, 0x0f | 0xf0 << 8 | 0xf1 << 16, 0];
const NO_BOARD: [u32; 3] = [0; 3];

fn bases(rig: &mut Rig) {
    rig.emit(&[FLUSH, SELECT]);
    rig.emit(&[0x6101_0008, 1, 1, 1, INDIRECT | 1, 1, 1, 1, 1, 1]);
}

fn load_descriptors(rig: &mut Rig, bytes: u32) {
    rig.emit(&[0x7002_0002, 0, bytes, DESCRIPTORS]);
}

/// A descriptor: surfaces at 5a0h, samplers at 7e0h.
fn descriptor(rig: &Rig, number: u32, kernel: u32, constants: u32) {
    let words = [kernel, 0, 0x7e0, 0x5a0, constants << 16, 0, 0, 0];
    rig.poke(DESCRIPTORS + number * 32, &words);
}

/// A device with one kernel that reads so many rows of constants, set up.
fn ready(text: &str, constants: u32, board: [u32; 3]) -> Rig {
    let mut rig = Rig::of(crate::intel::r#gen::find("sandybridge").unwrap());
    rig.code(KERNELS, text);
    descriptor(&rig, 0, KERNELS, constants);
    rig.poke(CONSTANTS, &(100..132).collect::<Vec<u32>>());
    bases(&mut rig);
    vfe_state(&mut rig, FRONT, board);
    rig.emit(&[0x7001_0002, 0, 128, CONSTANTS]);
    load_descriptors(&mut rig, 32);
    rig
}

/// The OWord of the output that a place has, in g10, by r0.1.
fn place() -> String {
    format!(
        "and(1) g10<1>UD g0.2<0,1,0>UW 0x1ffUW {{ align1 }};\n\
         and(1) g11<1>UD g0.3<0,1,0>UW 0x1ffUW {{ align1 }};\n\
         shl(1) g11<1>UD g11<0,1,0>UD 3UD {{ align1 }};\n\
         add(1) g10<1>UD g10<0,1,0>UD g11<0,1,0>UD {{ align1 }};\n\
         shl(1) g10<1>UD g10<0,1,0>UD 1UD {{ align1 }};\n\
         add(1) g10<1>UD g10<0,1,0>UD {:#x}UD {{ align1 }};\n",
        OUT / 16
    )
}

/// Writes a register to the OWord that g10 names.
fn write(value: &str) -> String {
    format!(
        "mov(8) m1<1>UD 0UD {{ align1 }};\n\
         mov(1) m1.2<1>UD g10<0,1,0>UD {{ align1 }};\n\
         mov(8) m2<1>UD {value}<8,8,1>UD {{ align1 }};\n\
         send(8) null<1>UD m1<8,8,1>UD render MsgDesc: OWORD block write MsgCtrl = 0x2 Surface = 255 mlen 2 rlen 0 header {{ align1 }};\n"
    )
}

const STOP: &str = "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n\
    send(8) null<1>UD m1<8,8,1>UD thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };\n";

fn object(rig: &mut Rig, place: (u32, u32), mask: Option<u32>, inline: &[u32]) {
    let flags = u32::from(mask.is_some()) << 21;
    let words = [
        0x7100_0004 + inline.len() as u32,
        0,
        flags,
        0,
        place.0 | place.1 << 16,
        mask.unwrap_or(0),
    ];
    rig.emit(&words);
    rig.emit(inline);
}

/// A walker over one block, in rows or with other loops: outer and inner distance, with so many colours.
fn walker(
    rig: &mut Rig,
    (width, height): (u32, u32),
    (outer, inner): ([i32; 2], [i32; 2]),
    mask: Option<u32>,
    colors: u32,
) {
    let pair = |x: u32, y: u32| x | y << 16;
    let signed = |[x, y]: [i32; 2]| pair(x as u32 & 0x3ff, y as u32 & 0x3ff);
    let end = if inner == [1, 0] {
        pair(width - 1, 0)
    } else {
        0
    };
    rig.emit(&[
        0x7103_0011,
        0,
        u32::from(mask.is_some()) << 21,
        0,
        0,
        mask.unwrap_or(0),
        (colors - 1) << 24,
        pair(1023, 1023),
        pair(width, height),
        0,
        end,
        signed(outer),
        signed(inner),
        pair(width, height),
        0,
        pair(width, 0),
        pair(0, height),
        0x55,
        0x66,
    ]);
}

const ROWS: ([i32; 2], [i32; 2]) = ([0, 1], [1, 0]);

// covers: S-0060
#[test]
fn an_object_finds_constants_and_inline_data() {
    let text = place()
        + &write("g0")
        + "add(1) g10<1>UD g10<0,1,0>UD 2UD { align1 };\n"
        + &write("g4")
        + "add(1) g10<1>UD g10<0,1,0>UD 2UD { align1 };\n"
        + &write("g5")
        + STOP;
    let mut rig = ready(&text, 4, NO_BOARD);
    for n in 0..3 {
        object(&mut rig, (0, n), None, &[7 + n, 8, 9]);
    }
    rig.complete();
    for n in 0..3 {
        let r0 = rig.out(n * COLUMNS);
        assert_eq!(r0[1], n << 16);
        assert_eq!(r0[2..5], [DESCRIPTORS, 0x7e0 | 1, 0x5a0]);
        let number = r0[5] & 0xff;
        assert_eq!(r0[5], SCRATCH + number * 2048 + number);
        assert_eq!(
            rig.out(n * COLUMNS + 1),
            [124, 125, 126, 127, 128, 129, 130, 131]
        );
        assert_eq!(rig.out(n * COLUMNS + 2), [7 + n, 8, 9, 0, 0, 0, 0, 0]);
    }
    assert_eq!(
        rig.device.status().activity.threads[Unit::Media as usize],
        3
    );
}

/// The text is loaded when the command says so, and not when a thread starts.
#[test]
fn descriptors_and_constants_are_loaded_by_commands() {
    let text = place() + &write("g1") + STOP;
    let mut rig = ready(&text, 1, NO_BOARD);
    // A store behind the loads: the descriptor and the constants in memory are others now.
    rig.emit(&[0x1000_0002, 0, DESCRIPTORS, 0x0f00_0000]);
    rig.emit(&[0x1000_0002, 0, CONSTANTS, 5]);
    object(&mut rig, (1, 0), None, &[]);
    rig.complete();
    assert_eq!(rig.out(1)[0], 100);
    rig.emit(&[0x7001_0002, 0, 32, CONSTANTS]);
    object(&mut rig, (2, 0), None, &[]);
    rig.complete();
    assert_eq!(rig.out(2)[..2], [5, 101]);
}

#[test]
fn a_walker_starts_a_thread_for_each_place() {
    for order in [Order::Ascending, Order::Descending, Order::Random(3)] {
        for loops in [ROWS, ([1, 0], [-2, 1])] {
            let text = place() + &write("g0") + STOP;
            let mut rig = ready(&text, 1, NO_BOARD);
            rig.schedule(Schedule::new(order).with_turn(3));
            walker(&mut rig, (7, 40), loops, None, 1);
            // What follows waits for all of them.
            object(&mut rig, (7, 0), None, &[]);
            rig.complete();
            for y in 0..40 {
                for x in 0..7 {
                    assert_eq!(rig.out(y * COLUMNS + x)[1], x | y << 16, "{x}, {y}");
                }
            }
            assert_eq!(rig.out(7)[1], 7);
            let activity = rig.device.status().activity;
            assert_eq!(activity.threads[Unit::Media as usize], 281);
        }
    }
}

#[test]
fn threads_of_a_walker_share_inline_data_and_have_colors() {
    let text = place()
        + "and(1) g12<1>UD g0.2<0,1,0>UD 15UD { align1 };\nshl(1) g13<1>UD g12<0,1,0>UD 1UD { align1 };\n"
        + "add(1) g10<1>UD g10<0,1,0>UD g13<0,1,0>UD { align1 };\nmov(1) g2.7<1>UD g12<0,1,0>UD { align1 };\n"
        + &write("g2")
        + STOP;
    let mut rig = ready(&text, 1, NO_BOARD);
    walker(&mut rig, (1, 5), ROWS, None, 6);
    rig.complete();
    for y in 0..5 {
        for color in 0..6 {
            assert_eq!(
                rig.out(y * COLUMNS + color),
                [0x55, 0x66, 0, 0, 0, 0, 0, color]
            );
        }
    }
}

/// Each thread adds one to what its left neighbour has written: only the order of the scoreboard gives 1, 2, 3, ..
#[test]
fn the_scoreboard_makes_threads_wait_for_their_neighbours() {
    let text = place()
        + "mov(8) m1<1>UD 0UD { align1 };\n\
           add(1) m1.2<1>UD g10<0,1,0>UD -2D { align1 };\n\
           send(8) g20<1>UD m1<8,8,1>UD render MsgDesc: OWORD block read MsgCtrl = 0x2 Surface = 255 mlen 1 rlen 1 header { align1 };\n\
           add(8) g20<1>UD g20<8,8,1>UD 1UD { align1 };\n"
        + &write("g20")
        + STOP;
    let run = |mask: Option<u32>, board, walks: bool| {
        let mut rig = ready(&text, 1, board);
        // The youngest thread goes first, an instruction at a time.
        rig.schedule(Schedule::new(Order::Descending).with_turn(1));
        if walks {
            walker(&mut rig, (7, 6), ROWS, mask, 1);
        } else {
            for at in 0..42 {
                object(&mut rig, (at % 7, at / 7), mask, &[]);
            }
        }
        rig.complete();
        let columns = |y: u32| (0..7).map(move |x| (x, y));
        (0..6)
            .flat_map(columns)
            .all(|(x, y)| rig.out(y * COLUMNS + x)[0] == x + 1)
    };
    for walks in [false, true] {
        assert!(run(Some(7), BOARD, walks));
        assert!(run(Some(1), BOARD, walks));
        // Not used, of a mask that leaves the neighbour out, or switched off: threads overtake one another.
        assert!(!run(None, BOARD, walks));
        assert!(!run(Some(2), BOARD, walks));
        assert!(!run(Some(7), [7, BOARD[1], 0], walks));
    }
}

/// Writes a batch that has a mistake.
type Setup<'a> = &'a dyn Fn(&mut Rig);

#[test]
fn bad_state_is_refused() {
    let cases: [(&str, Setup<'_>); 17] = [
        ("MEDIA_OBJECT_WALKER while the 3D pipeline", &|rig| {
            rig.emit(&[FLUSH, 0x6904_0000]);
            walker(rig, (2, 2), ROWS, None, 1);
        }),
        ("an inner loop that never ends", &|rig| {
            walker(rig, (2, 2), ([0, 1], [0, 0]), None, 1);
        }),
        ("no URB entry", &|rig| {
            vfe_state(rig, (0, 0, 4, 8), NO_BOARD);
            object(rig, (0, 0), None, &[]);
        }),
        ("no URB entry", &|rig| {
            vfe_state(rig, (0, 255, 0xffff, 8), NO_BOARD);
            object(rig, (0, 0), None, &[]);
        }),
        ("no URB entry", &|rig| {
            vfe_state(rig, (0xffff, 255, 1, 8), NO_BOARD);
            object(rig, (0, 0), None, &[]);
        }),
        ("MEDIA_CURBE_LOAD of 4096 rows into the 4", &|rig| {
            rig.emit(&[0x7001_0002, 0, 0x1_ffff, CONSTANTS]);
        }),
        ("MEDIA_CURBE_LOAD of 1 rows into the 0", &|rig| {
            vfe_state(rig, (0, 4, 4, 8), NO_BOARD);
            rig.emit(&[0x7001_0002, 0, 32, CONSTANTS]);
        }),
        ("GTT entry is not valid", &|rig| {
            rig.emit(&[0x7001_0002, 0, 32, 0x0700_0000]);
        }),
        ("GTT entry is not valid", &|rig| {
            rig.emit(&[0x7002_0002, 0, 0x1_ffff, 0x0700_0000]);
        }),
        (
            "that no MEDIA_INTERFACE_DESCRIPTOR_LOAD has loaded",
            &|rig| {
                rig.emit(&[0x7100_0004, 31, 0, 0, 0, 0]);
            },
        ),
        (
            "that no MEDIA_INTERFACE_DESCRIPTOR_LOAD has loaded",
            &|rig| {
                load_descriptors(rig, 0);
                object(rig, (0, 0), None, &[]);
            },
        ),
        ("do not fit a URB entry of 4", &|rig| {
            object(rig, (0, 0), None, &[0; 33]);
        }),
        ("GTT entry is not valid", &|rig| {
            rig.emit(&[0x7100_0004, 0, 4, 0x0700_0000, 0, 0]);
        }),
        (
            "not modelled: VFE: the scoreboard that does not stall",
            &|rig| {
                vfe_state(rig, FRONT, [BOARD[0] | 1 << 30, 0, 0]);
                load_descriptors(rig, 32);
                object(rig, (0, 0), Some(1), &[]);
            },
        ),
        ("not modelled: VFE: Bypass Gateway", &|rig| {
            rig.emit(&[0x7000_0006, 0, 16 << 8 | 1 << 6, 0, 4 << 16, 0, 0, 0]);
            object(rig, (0, 0), None, &[]);
        }),
        ("not modelled: VFE: Dual Mode", &|rig| {
            let words = [&[0x7103_000f, 0, 0, 0, 0, 0, 1 << 31][..], &[0; 10]].concat();
            rig.emit(&words);
        }),
        ("not modelled: CS: MEDIA_OBJECT_PRT", &|rig| {
            rig.emit(&[&[0x7102_000e][..], &[0; 15]].concat());
        }),
    ];
    for (what, setup) in cases {
        let text = place() + &write("g0") + STOP;
        let mut rig = ready(&text, 1, NO_BOARD);
        setup(&mut rig);
        assert_eq!(rig.run(), Ended::Blocked, "{what}");
        let faults = rig.faults();
        assert!(
            faults.len() == 1 && faults[0].contains(what),
            "{what}: {faults:?}"
        );
        // A reset helps, and the next batch runs.
        rig.device.reset();
        rig.ring();
        rig.take();
        bases(&mut rig);
        vfe_state(&mut rig, FRONT, NO_BOARD);
        rig.emit(&[0x7001_0002, 0, 128, CONSTANTS]);
        load_descriptors(&mut rig, 32);
        object(&mut rig, (3, 3), None, &[]);
        rig.complete();
        assert_eq!(rig.out(3 * COLUMNS + 3)[1], 3 | 3 << 16, "{what}");
    }
}

#[test]
fn objects_want_the_front_end_of_their_commands() {
    let mut rig = Rig::of(crate::intel::r#gen::find("sandybridge").unwrap());
    bases(&mut rig);
    object(&mut rig, (0, 0), None, &[]);
    assert_eq!(rig.run(), Ended::Blocked);
    let faults = rig.faults();
    assert!(
        faults[0].contains("MEDIA_OBJECT without MEDIA_VFE_STATE"),
        "{faults:?}"
    );
}

/// A walker that waits for a thread without an end leaves at a reset, and its command with it.
#[test]
fn a_reset_ends_a_walker() {
    let mut rig = ready("jmpi(1) -2D { align1 };\n", 1, NO_BOARD);
    walker(&mut rig, (400, 400), ROWS, None, 16);
    assert_ne!(rig.run_in(50), Ended::Idle);
    assert!(!rig.device.idle());
    rig.device.reset();
    rig.ring();
    rig.take();
    rig.code(KERNELS, &(place() + &write("g0") + STOP));
    bases(&mut rig);
    vfe_state(&mut rig, FRONT, NO_BOARD);
    rig.emit(&[
        0x7001_0002,
        0,
        128,
        CONSTANTS,
        0x7004_0000,
        0,
        0x7003_0000,
        3,
    ]);
    load_descriptors(&mut rig, 32);
    walker(&mut rig, (2, 2), ROWS, None, 1);
    rig.complete();
    assert_eq!(rig.out(COLUMNS + 1)[1], 1 | 1 << 16);
}

mod company;

//! The debugger's register sequences: enable, trigger values, control.
//!
//! Written by hand from PRM volume 4, 3.2 to 3.6; offsets and bits from its register tables. Not covered: sessions, which
//! need a device that runs.
use driver::Device;
use driver::debug::snapshot::limits::{Limits, Rectangle};
use driver::debug::snapshot::units::{
    Clip, Gs, Sf, SpawnTrigger, Subspan, ThreadTrigger, Ts, Urb, VertexTag, VertexTrigger, Vf, Vfe,
    Vs, Wiz,
};
use driver::debug::snapshot::{Flag, Unit};
use driver::debug::{Exceptions, HaltMatch, ThreadUnit, Threads, Which, attention, breakpoint};
use driver::debug::{Place, memory};
use kernel::error::code::EAGAIN;

use super::platform::Step::{self, P, R, W};
use super::{IDLE, probe, probe_script, shutdown_script};

const INSTPM: usize = 0x20c0;
const ON: Step = W(INSTPM, 0x0010_0010);
const OFF: Step = W(INSTPM, 0x0010_0000);
const COMPLETE: u32 = 1 << 31;

/// Runs `act` on a device that sees these accesses and no other.
fn sequence(steps: &[Step], act: impl FnOnce(&Device)) {
    let script = probe_script().then(steps).then(IDLE);
    let platform = shutdown_script(script).play();
    let dev = probe(&platform);
    act(&dev);
    dev.remove().unwrap();
}

/// Arming, a look too early, reading outputs, rearming, disarming: `outputs` are multiplexer settings and what they show.
fn unit<U: Unit>(
    (control, data): (usize, usize),
    trigger: &U::Trigger,
    armed: &[Step],
    value: u32,
    outputs: &[(u32, u32)],
    check: impl FnOnce(U::Data),
) {
    let mut steps = vec![ON];
    steps.extend(armed);
    steps.extend([
        W(control, value),
        R(control, value),
        R(control, value | COMPLETE),
    ]);
    let mut now = value | COMPLETE;
    for &(mux, shown) in outputs {
        steps.push(R(control, now));
        now = now & !0xff00 | mux << 8;
        steps.extend([W(control, now), R(data, shown)]);
    }
    steps.extend([R(control, now), W(control, now & !COMPLETE)]);
    if matches!(control, 0x7500 | 0x7b00) {
        steps.push(R(control, now & !COMPLETE));
    }
    steps.extend([W(control, 0), OFF]);
    sequence(&steps, |dev| {
        let snapshot = dev.arm_snapshot::<U>(trigger).unwrap();
        assert_eq!(snapshot.read().err(), Some(EAGAIN));
        check(snapshot.read().unwrap());
        snapshot.rearm();
        snapshot.disarm();
    });
}

const fn tag(ffid: u8, number: u32, relative: u32) -> VertexTag {
    VertexTag {
        ffid,
        number,
        relative,
    }
}

#[test]
fn vertex_fetch() {
    let at = (0x7500, 0x7518);
    unit::<Vf>(
        at,
        &VertexTrigger::Sequence(0xff12_3456),
        &[W(0x7504, 0x0012_3456), R(0x7500, 0)],
        0x01,
        &[(0, 7), (1, 8)],
        |data| assert_eq!((data.thread, data.internal), (7, 8)),
    );
    unit::<Vf>(
        at,
        &VertexTrigger::Index(0xff12_3456),
        &[W(0x7504, 0xff12_3456), R(0x7500, 0)],
        0x11,
        &[(0, 7), (1, 8)],
        |data| assert_eq!(data.internal, 8),
    );
}

#[test]
fn vertex_shader() {
    let trigger = ThreadTrigger {
        id: 0xff00_0005,
        flag: Flag::Trapped,
    };
    unit::<Vs>(
        (0x7600, 0x7608),
        &trigger,
        &[W(0x7604, 5)],
        0x3,
        &[(0, 11), (1, 12), (2, 1), (3, 0x4000)],
        |data| {
            assert_eq!(data.indices, [11]);
            assert_eq!(data.kernel_pointer, 0x4000);
        },
    );
}

#[test]
fn geometry_shader() {
    let trigger = ThreadTrigger {
        id: 9,
        flag: Flag::All,
    };
    let outputs = [
        (0, 0x2000_0001),
        (2, 0x2000_0002),
        (4, 0x2000_0003),
        (6, 0),
        (8, 0),
        (10, 0),
        (12, 3),
        (13, 0x5000),
    ];
    unit::<Gs>(
        (0x7900, 0x7908),
        &trigger,
        &[W(0x7904, 9)],
        0x7,
        &outputs,
        |data| {
            assert_eq!(data.vertices, [tag(2, 1, 0), tag(2, 2, 0), tag(2, 3, 0)]);
            assert_eq!(data.kernel_pointer, 0x5000);
        },
    );
}

#[test]
fn clipper_and_strips_and_fans() {
    let trigger = ThreadTrigger {
        id: 0x0fff_ffff,
        flag: Flag::None,
    };
    let outputs = [
        (0, 0x3000_0010),
        (1, 4),
        (2, 0x3000_0011),
        (3, 5),
        (4, 0),
        (5, 0),
        (6, 2),
        (7, 0x6000),
    ];
    let vertices = [tag(3, 0x10, 4), tag(3, 0x11, 5)];
    unit::<Clip>(
        (0x7a00, 0x7a08),
        &trigger,
        &[W(0x7a04, 0x0fff_ffff)],
        0x1,
        &outputs,
        |data| assert_eq!(data.vertices, vertices),
    );
    unit::<Sf>(
        (0x7b00, 0x7b18),
        &trigger,
        &[W(0x7b04, 0x0fff_ffff), R(0x7b00, 0)],
        0x1,
        &outputs,
        |data| assert_eq!(data.vertices, vertices),
    );
}

#[test]
fn windower() {
    let trigger = Subspan {
        x: 100,
        y: 50,
        instance: Some(3),
        upstream: true,
        single: true,
        flag: Flag::All,
    };
    unit::<Wiz>(
        (0x7c00, 0x7c08),
        &trigger,
        &[W(0x7c04, 0x0032_0064)],
        0x0003_005f,
        &[(0, 0x7000), (1, 3), (2, 8)],
        |data| {
            assert_eq!(
                (data.kernel_pointer, data.subspan_instances, data.primitive),
                (0x7000, 3, 8)
            );
        },
    );
}

#[test]
fn media_and_urb() {
    unit::<Vfe>(
        (0x7d00, 0x7d08),
        &0xf123_4567,
        &[W(0x7d04, 0x0123_4567)],
        0x1,
        &[],
        |()| {},
    );
    let matching = SpawnTrigger::Match {
        r0_6: 0xff00_0006,
        r0_7: 0x8000_0007,
    };
    unit::<Ts>(
        (0x7e00, 0x7e0c),
        &matching,
        &[W(0x7e04, 6), W(0x7e08, 7)],
        0x1,
        &[(3, 1 << 29 | 0x120), (0, 0x8000)],
        |data| {
            assert_eq!((data.interface_descriptor, data.child), (0x120, true));
            assert_eq!(data.message_error, 0x8000);
        },
    );
    let children = SpawnTrigger::All {
        roots: false,
        children: true,
    };
    unit::<Ts>(
        (0x7e00, 0x7e0c),
        &children,
        &[],
        0x5,
        &[(3, 0), (0, 0)],
        |data| assert!(!data.child),
    );
    let outputs: Vec<(u32, u32)> = [1, 2, 8, 9, 10, 11, 12, 13, 14, 15, 0]
        .map(|mux| (mux, mux * 3))
        .to_vec();
    unit::<Urb>((0x8700, 0x8708), &5, &[], 0x0005_0001, &outputs, |data| {
        assert_eq!(data.header, [3, 6]);
        assert_eq!(data.data, [24, 27, 30, 33, 36, 39, 42, 45]);
    });
}

/// The enable goes off with the last who needs it, and limits survive arming and disarming.
#[test]
fn two_units_and_limits() {
    let steps = [
        ON,
        W(0x7c04, 0),
        W(0x7c00, 1),
        // Limits.
        W(0x7510, 2),
        W(0x7514, 9),
        W(0x7508, 30),
        W(0x750c, 6),
        R(0x7500, 0),
        W(0x7500, 0b1110),
        W(0x7b08, 4),
        W(0x7b0c, 5),
        W(0x7b10, 0x0002_0001),
        W(0x7b14, 0x0004_0003),
        R(0x7b00, 0),
        W(0x7b00, 0b1_1000),
        // SF.
        ON,
        W(0x7b04, 4),
        R(0x7b00, 0b1_1000),
        W(0x7b00, 0b1_1001),
        W(0x7c00, 0),
        R(0x7b00, 0b1_1001),
        W(0x7b00, 0b1_1000),
        OFF,
        // No limits.
        R(0x7500, 0b1110),
        W(0x7500, 0),
        R(0x7b00, 0b1_1000),
        W(0x7b00, 1 << 30),
        // SVG_CTL, and back.
        R(0x7400, 0x500),
        W(0x7400, 0),
        R(0x7404, 0x1000),
        W(0x7400, 0x100),
        R(0x7404, 0x2000),
        W(0x7400, 0x200),
        R(0x7404, 0x3000),
        W(0x7400, 0x300),
        R(0x7404, 0x4000),
        W(0x7400, 0x400),
        R(0x7404, 0x5000),
        W(0x7400, 0x500),
        R(0x7404, 0x6000),
        W(0x7400, 0x500),
    ];
    sequence(&steps, |dev| {
        let wiz = dev.arm_snapshot::<Wiz>(&Subspan::default()).unwrap();
        dev.set_debug_limits(&Limits {
            skip: Some(2),
            most: Some(9),
            vertices: Some((30, 6)),
            primitives: Some((4, 5)),
            clip: Some(Rectangle {
                min: (1, 2),
                max: (3, 4),
            }),
            cull: false,
        })
        .unwrap();
        let trigger = ThreadTrigger {
            id: 4,
            flag: Flag::None,
        };
        let sf = dev.arm_snapshot::<Sf>(&trigger).unwrap();
        wiz.disarm();
        sf.disarm();
        dev.set_debug_limits(&Limits {
            cull: true,
            ..Limits::default()
        })
        .unwrap();
        let bases = dev.debug_bases().unwrap();
        assert_eq!(bases.general_state, 0x1000);
        assert_eq!(bases.indirect_object_bound, 0x5000);
        assert_eq!(bases.system_routine, 0x6000);
    });
}

#[test]
fn breakpoints_and_halts() {
    let steps = [
        W(0x8288, 0x0012_3451),
        W(0x8290, 0x0012_3461),
        W(0x8290, 0),
        // The first opcode register has the end of threads as well.
        R(0x8294, 0),
        W(0x8294, 0x0031_0001),
        R(0x8294, 0x0031_0001),
        W(0x8294, 0x0031_0003),
        W(0x8298, 0x0040_0001),
        // TD_CTL: flagged threads, all, none.
        R(0x8000, 0),
        W(0x8000, 0x04),
        R(0x8000, 0x04),
        W(0x8000, 0x10),
        R(0x8000, 0x10),
        W(0x8000, 0x00),
        // The next thread: the bit acts when it is written.
        R(0x8000, 0x40),
        W(0x8000, 0x00),
        R(0x8000, 0x00),
        W(0x8000, 0x40),
        // r0.6, r0.7: values, masks, then the bit.
        W(0x801c, 0x12),
        W(0x8020, 0x34),
        W(0x8024, 0x00ff_ffff),
        W(0x8028, 0xff),
        R(0x8000, 0x00),
        W(0x8000, 0x80),
        R(0x8000, 0x80),
        W(0x8000, 0x00),
        // Exceptions.
        R(0x8004, 0x0000_0101),
        W(0x8004, 0x1200_0101),
        R(0x8000, 0),
        W(0x8000, 0x20),
        // Threads of an EU, EUs of a unit.
        R(0x8004, 0),
        W(0x8004, 0x0002_0100),
        W(0x8018, 0x0f),
        R(0x8004, 0),
        W(0x8004, 0x40),
    ];
    sequence(&steps, |dev| {
        let uncore = dev.uncore();
        breakpoint::set_address(uncore, Which::First, Some(0x0012_3450)).unwrap();
        breakpoint::set_address(uncore, Which::Second, Some(0x0012_3460)).unwrap();
        breakpoint::set_address(uncore, Which::Second, None).unwrap();
        assert!(breakpoint::set_address(uncore, Which::First, Some(1)).is_err());
        breakpoint::set_opcode(uncore, Which::First, Some(0x31)).unwrap();
        breakpoint::set_end_of_thread(uncore, true);
        breakpoint::set_opcode(uncore, Which::Second, Some(0x40)).unwrap();
        assert!(breakpoint::set_opcode(uncore, Which::Second, Some(0x80)).is_err());
        for threads in [Threads::Flagged, Threads::All, Threads::None] {
            breakpoint::set_threads(uncore, threads);
        }
        breakpoint::halt_next(uncore);
        breakpoint::halt_on_match(
            uncore,
            Some(HaltMatch {
                r0_6: (0x12, u32::MAX),
                r0_7: (0x34, 0xff),
            }),
        );
        breakpoint::halt_on_match(uncore, None);
        breakpoint::override_exceptions(
            uncore,
            Some(Exceptions {
                illegal_opcode: true,
                mask_stack: false,
                software: true,
            }),
        );
        breakpoint::limit_threads(uncore, Some(2)).unwrap();
        breakpoint::restrict(uncore, ThreadUnit::Wiz, Some(0x0f));
    });
}

/// EU_ATT has EU 0 thread 0 in bit 31, EU_ATT_CLR in bit 0, where bits are set and then cleared.
#[test]
fn attention_and_flush() {
    let steps = [
        R(0x8810, 0x8000_0001),
        W(0x8830, 1 << 31),
        W(0x8830, 0),
        W(0x8830, 1 << 6),
        W(0x8830, 0),
        // GFX_FLSH_CNTL.
        W(0x2170, 1),
        P(0x2170),
    ];
    sequence(&steps, |dev| {
        let uncore = dev.uncore();
        let raised: Vec<Place> = attention::raised(uncore).collect();
        assert_eq!(raised, [Place { eu: 0, slot: 0 }, Place { eu: 7, slot: 3 }]);
        attention::clear(uncore, raised[1]);
        attention::clear(uncore, Place { eu: 1, slot: 2 });
        memory::flush_caches(dev);
    });
}

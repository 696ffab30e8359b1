//! Children: payloads, debug fields, synchronised roots, the spawner's books.

use regs::gen40::{RegId, fields};

use super::kernels::*;
use super::rig::*;
use crate::core::Ended;
use crate::core::Model;
use crate::intel::status::Unit;
use crate::intel::td::schedule::{Order, Schedule};

/// Every schedule that tests go through, with seeds that a failure shows.
pub fn schedules() -> Vec<Schedule> {
    let mut all = vec![
        Schedule::default(),
        Schedule::default().with_turn(1),
        Schedule::new(Order::Descending),
        Schedule::new(Order::Descending).with_turn(7),
    ];
    all.extend((0..6).map(|seed| Schedule::new(Order::Random(seed))));
    all
}

// covers: 1.2-16, 2.5-07, 3.3.11-02, 3.3.11.5-02, 7.1.4-02, 7.1.4-03, 7.0-01, 2.5-08, 2.6.1-01
#[test]
fn a_root_gathers_what_its_children_send() {
    for schedule in schedules() {
        let mut rig = Rig::new();
        rig.schedule(schedule);
        rig.kernel(&gathering_root(20, END_ROOT), 0);
        rig.kernel(&reporting_child(END_CHILD), 0);
        rig.begin(&TREE);
        rig.object(0, &[]);
        rig.complete();
        for n in 0..20 {
            let r0 = rig.out(2 * n);
            assert_eq!(r0[2], DESCRIPTORS + 16, "{schedule}");
            assert_eq!(r0[4], 0x5a0, "the parent's binding table");
            assert_eq!(r0[7], n + 1, "child thread ID");
            let r1 = rig.out(2 * n + 1);
            assert_eq!((r1[0], r1[1]), (n, n + 1000));
            assert_eq!(rig.out(100 + n / 8)[n as usize % 8], n + 100, "{schedule}");
        }
        assert_eq!(
            rig.device.status().activity.threads[Unit::Media as usize],
            21
        );
    }
}

#[test]
fn entries_come_back_so_that_many_families_can_follow() {
    for schedule in schedules() {
        let mut rig = Rig::new();
        rig.schedule(schedule);
        rig.kernel(&gathering_root(3, END_ROOT), 0);
        rig.kernel(&reporting_child(END_CHILD), 0);
        rig.begin(&Front {
            threads: 4,
            entries: 3,
            units: 8,
            ..TREE
        });
        for _ in 0..50 {
            rig.object(0, &[]);
        }
        rig.complete();
        assert_eq!(
            rig.device.status().activity.threads[Unit::Media as usize],
            200
        );
    }
}

// covers: 2.6.8-05, 2.6.8-06
#[test]
fn entries_that_threads_keep_are_lost() {
    let mut rig = Rig::new();
    rig.kernel(&end(END_ROOT | 0x10), 0);
    rig.begin(&Front {
        entries: 3,
        units: 4,
        ..TREE
    });
    for _ in 0..4 {
        rig.object(0, &[]);
    }
    let hung = rig.hang();
    assert_eq!(
        hung,
        ["VFE: 3 URB entries were not given back by threads that have ended"]
    );
    // Without children nothing is lost.
    let mut rig = Rig::new();
    rig.kernel(&end(END_ROOT | 0x10), 0);
    rig.begin(&Front { entries: 3, ..FLAT });
    for _ in 0..4 {
        rig.object(0, &[]);
    }
    rig.complete();
}

// covers: 2.6.8-04, 2.6.8-05
#[test]
fn an_end_that_the_spawner_is_not_told_is_a_hang() {
    // Null, gateway, and a render target write to a null surface.
    for target in [0x8010_0000, 0x8310_0001, 0x85a0_4802_u32] {
        let null = |rig: &Rig| {
            rig.poke(0x5a8, &[0x600]);
            rig.poke(0x600, &[7 << 29, 0, 0, 0, 0, 0]);
        };
        let mut rig = Rig::new();
        null(&rig);
        rig.kernel(
            &format!(
                "mov(8) m1<1>UD 0UD {{ align1 }};\n\
                 mov(1) m1.2<1>UD {OUT}UD {{ align1 }};\n\
                 send(8) 1 null<1>UD null<8,8,1>UD {target:#x} {{ align1 }};\n"
            ),
            0,
        );
        rig.begin(&FLAT);
        rig.object(0, &[]);
        let hung = rig.hang().join("\n");
        assert!(hung.contains("ended with EOT to another unit"), "{hung}");
        assert_eq!(
            rig.device.running().len(),
            0,
            "the dispatcher has freed the slot"
        );
        // Told before, it may end at any of them.
        let mut rig = Rig::new();
        null(&rig);
        rig.kernel(
            &format!(
                "{}mov(1) m1.2<1>UD {OUT}UD {{ align1 }};\n\
                 mov(1) m1.5<1>UD 0UD {{ align1 }};\n\
                 send(8) 1 null<1>UD null<8,8,1>UD {target:#x} {{ align1 }};\n",
                end(0x0710_0000)
            ),
            0,
        );
        rig.begin(&FLAT);
        rig.object(0, &[]);
        rig.complete();
    }
}

/// A kernel that lets `count` synchronised roots go and ends.
fn releasing(count: u32) -> String {
    let mut text = "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n".to_owned();
    for _ in 0..count {
        text += "send(8) 1 null<1>UD null<8,8,1>UD 0x07100011 { align1 };\n";
    }
    text + &end(END_ROOT)
}

/// MEDIA_OBJECT: Thread Synchronization.
const SYNC: u32 = 1 << 24;

// covers: 1.2-18
#[test]
fn synchronised_roots_wait_for_leave_and_hold_up_those_behind() {
    let storing = store_row("g1<0,1,0>UD", 1) + &end(END_ROOT);
    // Leave for all: everything runs.
    for schedule in schedules() {
        let mut rig = Rig::new();
        rig.schedule(schedule);
        rig.kernel(&releasing(2), 0);
        rig.kernel(&storing, 0);
        rig.begin(&FLAT);
        rig.object(0, &[]);
        rig.object_with(1, &[1], SYNC, (0, 0));
        rig.object_with(1, &[2], SYNC, (0, 0));
        rig.object(1, &[3]);
        rig.complete();
        assert_eq!([1, 2, 3].map(|n| rig.out(n)[0]), [1, 2, 3]);
    }
    // Leave for one: the second and what is behind it stay.
    let mut rig = Rig::new();
    rig.kernel(&releasing(1), 0);
    rig.kernel(&storing, 0);
    rig.begin(&FLAT);
    rig.object(0, &[]);
    rig.object_with(1, &[1], SYNC, (0, 0));
    rig.object_with(1, &[2], SYNC, (0, 0));
    rig.object(1, &[3]);
    let hung = rig.hang();
    assert_eq!(
        hung,
        [
            "thread spawner: 2 root threads are ready, the first waits for a spawn root thread message"
        ]
    );
    assert_eq!([1, 2, 3].map(|n| rig.out(n)[0]), [1, 0, 0]);
}

#[test]
fn a_branch_spawns_leaves() {
    // Root 0 starts branch 1, which starts two leaves; each waits for those below.
    let branch = {
        let mut text = open(40, 2) + &address(30);
        for n in 0..2 {
            text += &data(n + 1, 0);
            text += &spawn(32, 31, n + 4, 1, n + 1).replace("0x07100001", "0x07100003");
        }
        text += &(wait() + &wait() + &close());
        text += &forward("g0.3<0,1,0>UD", "0UD", "77UD");
        text + &end(END_CHILD)
    };
    for schedule in schedules() {
        let mut rig = Rig::new();
        rig.schedule(schedule);
        rig.kernel(&gathering_root(1, END_ROOT), 0);
        rig.kernel(&branch, 0);
        rig.kernel(&reporting_child(END_CHILD), 0);
        rig.begin(&TREE);
        rig.object(0, &[]);
        rig.complete();
        assert_eq!(rig.out(100)[0], 77, "{schedule}");
        assert_eq!([rig.out(3)[0], rig.out(5)[0]], [1, 2]);
    }
}

// covers: 2.6.11-02, 2.6.11-04, 3.3.11-04, 3.4.10-01
#[test]
fn a_refused_message_shows_in_ts_rdata_and_as_an_error() {
    let mut rig = Rig::new();
    // A child's end from a root.
    let bad = "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n\
               send(8) 1 null<1>UD null<8,8,1>UD 0x07100002 { align1 };\n";
    rig.kernel(&format!("{bad}{}", end(END_ROOT)), 0);
    rig.register(RegId::Eir, 0xffff_ffff);
    rig.begin(&FLAT);
    rig.object(0, &[]);
    rig.object(0, &[]);
    assert_eq!(rig.run(), Ended::Idle, "the function carries on");
    let faults = rig.faults();
    assert!(faults[0].contains("requester type"), "{faults:?}");
    // TS_RDATA with mux value 0.
    let word = regs::gen40::TsMessageError([rig.read(RegId::TsRdata)]);
    assert!(word.error_code_valid());
    assert_eq!(word.error_code(), 0);
    assert_eq!(word.function_control(), 2);
    assert_eq!(word.ffid(), u32::from(Unit::Media.ffid()));
}

// covers: 3.3.11-03, 3.3.11-05, 3.3.11.5-01, 3.3.11.1-R, 3.3.11.2-R, 3.3.11.3-R, 3.3.11.4-R
#[test]
fn snapshots_flag_roots_and_children() {
    let run = |control: u32, value6: u32, value7: u32| {
        let mut rig = Rig::new();
        rig.register(RegId::Instpm, 0x0001_0001 << global_enable());
        rig.register(RegId::TsCtl, control);
        rig.register(RegId::TsStrg06val, value6);
        rig.register(RegId::TsStrg07val, value7);
        let child = reporting_child(END_CHILD);
        let root = store_row("50UD", 0) + &gathering_root(3, END_ROOT);
        rig.kernel(&root, 0);
        rig.kernel(&child, 0);
        rig.begin(&TREE);
        rig.object(0, &[]);
        rig.complete();
        let flags = [rig.out(50)[7], rig.out(0)[7], rig.out(2)[7], rig.out(4)[7]];
        (
            flags.map(|r0_7| r0_7 >> 31),
            rig.read(RegId::TsCtl) >> 31,
            rig,
        )
    };
    assert_eq!(run(0, 0, 0).0, [0, 0, 0, 0]);
    let all_roots = 1 << fields::TS_CTL::SNAPSHOT_ALL_ROOT_THREADS.shift;
    let all_children = 1 << fields::TS_CTL::SNAPSHOT_ALL_CHILD_THREADS.shift;
    assert_eq!(run(all_roots, 0, 0).0, [1, 0, 0, 0]);
    assert_eq!(run(all_children, 0, 0).0, [0, 1, 1, 1]);
    // r0.6 of the root and of its children, of which 23:0 are compared; r0.7 of the second child.
    let id = 0x0001_0001;
    let (flags, complete, mut rig) = run(1 | 3 << 8, id, 2);
    assert_eq!((flags, complete), ([0, 0, 1, 0], 1));
    let descriptor = rig.read(RegId::TsRdata);
    assert_eq!(descriptor, 1 << 29 | (DESCRIPTORS + 16) >> 4);
    let (flags, complete, mut rig) = run(1 | 3 << 8, id, 0);
    assert_eq!((flags, complete), ([1, 0, 0, 0], 1));
    assert_eq!(rig.read(RegId::TsRdata), DESCRIPTORS >> 4);
    let (flags, complete, _) = run(1, id + 1, 0);
    assert_eq!((flags, complete), ([0, 0, 0, 0], 0));
}

// covers: 3.3.10-01, 3.3.10.1-R, 3.3.10.2-R, 3.3.10.3-R
#[test]
fn the_front_end_flags_the_thread_of_an_identifier() {
    let mut rig = Rig::new();
    rig.register(RegId::Instpm, 0x0001_0001 << global_enable());
    rig.register(RegId::VfeCtl, 1);
    rig.register(RegId::VfeStrgVal, 0x0002_0002);
    rig.kernel(&(store_row("g1<0,1,0>UD", 0) + &end(END_ROOT)), 0);
    rig.begin(&FLAT);
    for n in 0..4 {
        rig.object(0, &[n]);
    }
    rig.complete();
    let flags: Vec<u32> = (0..4).map(|n| rig.out(n)[7] >> 31).collect();
    assert_eq!(flags, [0, 1, 0, 0]);
    assert_eq!(rig.read(RegId::VfeCtl) >> 31, 1);
    assert_eq!(rig.read(RegId::VfeRdata), 0);
}

// covers: 3.3.10.1-R, 3.3.10.2-R, 3.3.10.3-R, 3.3.11.1-R, 3.3.11.2-R, 3.3.11.3-R, 3.3.11.4-R
#[test]
fn registers_of_front_end_and_spawner_have_their_bits() {
    // Offset, defined bits, bits that the global debug enable gates.
    let registers = [
        (0x7d00, 0x8000_ff01, 0x1),
        (0x7d04, 0x0fff_ffff, 0),
        (0x7e00, 0x8000_ff07, 0x7),
        (0x7e04, 0x00ff_ffff, 0),
        (0x7e08, 0x00ff_ffff, 0),
    ];
    let mut rig = Rig::new();
    for (offset, defined, gated) in registers {
        assert_eq!(rig.device.read32(offset), 0, "{offset:#x} after reset");
        rig.device.write32(offset, u32::MAX);
        assert_eq!(rig.device.read32(offset), defined, "{offset:#x}");
        let desc = regs::gen40::REGISTERS.iter().find(|d| d.offset == offset);
        let fields = desc.unwrap().fields.iter().filter(|f| f.qualified);
        assert_eq!(fields.map(|f| 1 << f.lo).sum::<u32>(), gated, "{offset:#x}");
    }
    // Data registers are read-only.
    for offset in [0x7d08, 0x7e0c] {
        let before = rig.device.read32(offset);
        rig.device.write32(offset, !before);
        assert_eq!(rig.device.read32(offset), before, "{offset:#x}");
    }
    // Without the global enable all of it is idle.
    rig.kernel(&(store_row("1UD", 0) + &end(END_ROOT)), 0);
    rig.begin(&FLAT);
    rig.object(0, &[]);
    rig.complete();
    assert_eq!(rig.out(1)[7], 0);
}

/// The enables keep what is written, and act only under the global debug enable.
// covers: 3.3.10.1-R, 3.3.11.1-R
#[test]
fn without_the_global_debug_enable_nothing_latches() {
    // VFE_CTL and TS_CTL; both trigger on the identifier that threads have: 0 without the enable, 1_0001h for the first
    // thread under it.
    for (vfe, ts) in [(1, 0), (0, 1), (0, 2), (0, 4), (1, 7)] {
        let run = |enable: u32, identifier: u32| {
            let mut rig = Rig::new();
            rig.register(RegId::Instpm, (0x0001_0000 | enable) << global_enable());
            rig.register(RegId::VfeCtl, vfe);
            rig.register(RegId::VfeStrgVal, identifier);
            rig.register(RegId::TsCtl, ts | 3 << 8);
            rig.register(RegId::TsStrg06val, identifier);
            rig.register(RegId::TsStrg07val, 0);
            let root = store_row("50UD", 0) + &gathering_root(1, END_ROOT);
            rig.kernel(&root, 0);
            rig.kernel(&reporting_child(END_CHILD), 0);
            rig.begin(&TREE);
            rig.object(0, &[]);
            rig.complete();
            assert_eq!(rig.read(RegId::VfeCtl) & 0x7fff_ffff, vfe);
            assert_eq!(rig.read(RegId::TsCtl) & 0x7fff_ffff, ts | 3 << 8);
            // 27:0 are VFE's, 31:28 the unit's.
            assert_eq!(rig.out(50)[6] & 0x0fff_ffff, identifier);
            (
                [50, 0].map(|row| rig.out(row)[7] >> 31),
                [RegId::VfeCtl, RegId::TsCtl].map(|id| rig.read(id) >> 31),
                rig.read(RegId::TsRdata),
            )
        };
        assert_eq!(run(0, 0), ([0, 0], [0, 0], 0), "{vfe} {ts}");
        let (flags, complete, latched) = run(1, 0x0001_0001);
        let all = ts & 6 != 0;
        let root = vfe != 0 || ts == 1 || ts & 2 != 0;
        assert_eq!(flags, [u32::from(root), u32::from(ts & 4 != 0)]);
        assert_eq!(complete, [vfe, u32::from(ts & 1 != 0 && !all)]);
        assert_eq!(latched != 0, ts != 0, "{latched:#x}");
    }
}

/// Bit of INSTPM.
fn global_enable() -> u32 {
    let desc = &regs::gen40::descs::INSTPM;
    let field = desc.fields.iter().find(|f| f.name.contains("Debug"));
    u32::from(field.unwrap().lo)
}

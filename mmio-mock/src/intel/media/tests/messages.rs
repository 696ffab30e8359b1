//! Messages of real threads: function IDs, dispatcher limits, what is latched.
//!
//! PRM: volume 4, chapter 2, and the registers of chapter 3 that show it.

use regs::gen40::{RegId, fields};

use super::kernels::*;
use super::rig::*;
use crate::core::Ended;

/// A `send` of one register, m8, which holds r0.
fn plain(descriptor: u32, destination: &str) -> String {
    format!(
        "mov(8) m8<1>UD g0<8,8,1>UD {{ align1 }};\n\
         send(8) 8 {destination}<1>UD null<8,8,1>UD {descriptor:#x} {{ align1 }};\n"
    )
}

// covers: 2.5-01, 2.5-02, 2.5-03, 2.5-04, 2.5-10, 2.6.4-02
#[test]
fn each_function_has_its_number() {
    let mut rig = Rig::new();
    let mut text = plain(0x0010_0000, "null");
    // Extended math: the reciprocal of whatever r0 holds, without a header.
    text += &plain(0x0111_0001, "g10");
    // A sampler message of no known length.
    text += &plain(0x0211_0000, "g12");
    text += &open(40, 0);
    // OWord block read of one OWord, stateless.
    text += "mov(8) m8<1>UD 0UD { align1 };\n\
             send(8) 8 g14<1>UD null<8,8,1>UD 0x041100ff { align1 };\n";
    text += &store_row("1UD", 14);
    text += &spawn(32, 31, 1, 1, 1);
    rig.kernel(&(text + &end(END_ROOT)), 0);
    rig.kernel(&end(END_CHILD), 0);
    rig.poke(0, &[1, 2, 3, 4]);
    rig.begin(&TREE);
    rig.object(0, &[]);
    assert_eq!(rig.run(), Ended::Idle);
    assert_eq!(rig.device.messages()[..8], [1, 1, 1, 1, 1, 1, 1, 3]);
    assert_eq!(rig.out(1)[..4], [1, 2, 3, 4]);
    let faults = rig.faults();
    assert_eq!(faults.len(), 1, "the sampler's alone: {faults:?}");
}

/// A kernel that stores sr0 and keeps its slot long enough for others to start.
fn identity() -> String {
    let mut text = "mov(8) g10<1>UD 0UD { align1 };\n\
                    mov(1) g10<1>UD sr0<0,1,0>UD { align1 };\n"
        .to_owned();
    text += &store_row("g1<0,1,0>UD", 10);
    text + &"nop;\n".repeat(40) + &end(END_ROOT)
}

/// EU and thread of 32 roots that run at the same time under a limit of threads and a mask of EUs.
fn places(limit: u32, mask: u32) -> Vec<(u32, u32)> {
    use fields::TD_CTL2 as CTL2;
    let mut rig = Rig::new();
    rig.schedule(crate::intel::td::schedule::Schedule::default().with_turn(1));
    rig.register(RegId::TdTsEmsk, mask);
    rig.register(
        RegId::TdCtl2,
        limit << CTL2::ACTIVE_THREAD_LIMIT.shift
            | u32::from(limit != 0) << CTL2::ACTIVE_THREAD_LIMIT_ENABLE.shift
            | u32::from(mask != 0) << CTL2::THREAD_SPAWNER_EXECUTION_MASK_ENABLE.shift,
    );
    rig.kernel(&identity(), 0);
    rig.begin(&FLAT);
    for n in 0..32 {
        rig.object(0, &[n]);
    }
    rig.complete();
    let mut places: Vec<_> = (0..32)
        .map(|n| (rig.out(n)[0] >> 8 & 0xf, rig.out(n)[0] & 7))
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

// covers: 2.3-02, 2.4-02, 2.4-03
#[test]
fn the_dispatcher_can_be_limited_to_few_eus_and_threads() {
    assert_eq!(places(0, 0).len(), 32, "eight EUs with four threads");
    assert_eq!(places(0, 1 << 5), [(5, 0), (5, 1), (5, 2), (5, 3)]);
    assert_eq!(places(1, 1 << 2), [(2, 0)]);
    let one_each: Vec<_> = (0..8).map(|eu| (eu, 0)).collect();
    assert_eq!(places(1, 0), one_each);
    assert_eq!(places(2, 0b1001), [(0, 0), (0, 1), (3, 0), (3, 1)]);
}

// covers: 2.2-01, 2.6.11-01
#[test]
fn each_row_of_eus_has_its_math_unit() {
    use fields::MATH_CTL as CTL;
    for eu in [1, 6] {
        let mut rig = Rig::new();
        rig.register(RegId::TdTsEmsk, 1 << eu);
        rig.register(
            RegId::TdCtl2,
            1 << fields::TD_CTL2::THREAD_SPAWNER_EXECUTION_MASK_ENABLE.shift,
        );
        // Function 9 does not exist.
        rig.kernel(&(plain(0x0111_0009, "g10") + &end(END_ROOT)), 0);
        rig.begin(&FLAT);
        rig.object(0, &[]);
        assert_eq!(rig.run(), Ended::Idle);
        let shown = [0, 1].map(|unit| {
            rig.register(RegId::MathCtl, unit << CTL::EM_UNIT_SELECT.shift);
            rig.read(RegId::MathRdata)
        });
        let header = regs::gen40::MathErrorHeader([shown[eu as usize / 4]]);
        assert!(header.invalid_opcode());
        assert_eq!((header.euid(), header.tid()), (eu, 0));
        assert_eq!(shown[1 - eu as usize / 4], 0);
    }
}

// covers: 2.6-02, 2.6.4-01, 2.6.11-02, 2.6.11-04
#[test]
fn a_refused_message_leaves_its_sender_and_debug_dwords() {
    let mut rig = Rig::new();
    // A reserved kind of write.
    let mut text = "mov(8) m8<1>UD g0<8,8,1>UD { align1 };\n\
                    mov(1) m8.6<1>UD 0x66UD { align1 };\n\
                    mov(1) m8.7<1>UD 0x77UD { align1 };\n"
        .to_owned();
    text += "send(8) 8 null<1>UD null<8,8,1>UD 0x052050ff { align1 };\n";
    rig.kernel(&(text + &store_row("1UD", 0) + &end(END_ROOT)), 0);
    rig.begin(&FLAT);
    rig.object(0, &[]);
    assert_eq!(rig.run(), Ended::Idle, "the function carries on");
    let shown = [0, 1, 2].map(|mux| {
        rig.register(
            RegId::DpCtl,
            mux << fields::DP_CTL::DEBUG_DATA_MUX_SELECT.shift,
        );
        rig.read(RegId::DpRdata)
    });
    let header = regs::gen40::DpErrorHeader([shown[0]]);
    assert_eq!((header.ffid(), header.euid(), header.tid()), (7, 0, 0));
    assert_eq!(shown[1..], [0x77, 0x66]);
    assert_eq!(rig.out(1)[2], DESCRIPTORS, "later messages are served");
}

// covers: 2.6.11-07, 7.1.1-02
#[test]
fn registers_that_no_answer_fills_stay_in_flight() {
    // An open without AckReq that expects a register back.
    let asks = |read: &str| {
        let mut rig = Rig::new();
        let text = open(40, 0).replace(
            "send(8) 1 null<1>UD null<8,8,1>UD 0x3100000",
            "send(8) 1 g10<1>UD null<8,8,1>UD 0x3110000",
        );
        assert!(text.contains("0x3110000"));
        rig.kernel(&(text + read + &end(END_ROOT)), 0);
        rig.begin(&FLAT);
        rig.object(0, &[]);
        (rig.run(), rig.device.hung_threads().len())
    };
    assert_eq!(asks(""), (Ended::Idle, 0));
    let read = "mov(8) g11<1>UD g10<8,8,1>UD { align1 };\n";
    assert_eq!(asks(read), (Ended::Blocked, 1));
}

// covers: 2.6.3-03, 2.6.1-01
#[test]
fn message_registers_keep_what_was_sent() {
    // One payload, sent four times, each to another row by a change of one dword; two threads take turns.
    let mut text =
        "mov(8) m1<1>UD 0UD { align1 };\nmov(8) m2<1>UD g1<0,1,0>UD { align1 };\n".to_owned();
    text += "shl(1) g10<1>UD g1<0,1,0>UD 7UD { align1 };\n";
    text += "add(1) g10<1>UD g10<0,1,0>UD 0x80000UD { align1 };\n";
    for _ in 0..4 {
        text += "mov(1) m1.2<1>UD g10<0,1,0>UD { align1 };\n\
                 send(8) 1 null<1>UD null<8,8,1>UD 0x052002ff { align1 };\n\
                 add(1) g10<1>UD g10<0,1,0>UD 32UD { align1 };\n";
    }
    assert_eq!(OUT, 0x8_0000);
    let mut rig = Rig::new();
    rig.schedule(crate::intel::td::schedule::Schedule::default().with_turn(1));
    rig.kernel(&(text + &end(END_ROOT)), 0);
    rig.begin(&FLAT);
    for n in 0..8 {
        rig.object(0, &[n]);
    }
    rig.complete();
    for n in 0..32 {
        assert_eq!(rig.out(n), [n / 4; 8]);
    }
}

/// Messages that overlap: message n writes OWords n and n + 1, so that any two that changed places would show.
// covers: 2.6.6-01
#[test]
fn messages_to_one_function_arrive_in_their_order() {
    const COUNT: u32 = 12;
    let mut text = format!(
        "mov(8) m1<1>UD 0UD {{ align1 }};\n\
         shl(1) g10<1>UD g1<0,1,0>UD 8UD {{ align1 }};\n\
         add(1) g10<1>UD g10<0,1,0>UD {OUT:#x}UD {{ align1 }};\n"
    );
    for n in 0..COUNT {
        text.extend([format!(
            "add(8) m2<1>UD g1.1<0,1,0>UD {n}UD {{ align1 }};\n\
             mov(1) m1.2<1>UD g10<0,1,0>UD {{ align1 }};\n\
             send(8) 1 null<1>UD null<8,8,1>UD 0x052002ff {{ align1 }};\n\
             add(1) g10<1>UD g10<0,1,0>UD 16UD {{ align1 }};\n"
        )]);
    }
    // Three writes by the gateway to one dword, each with a notification.
    text += &(open(40, 0) + &address(30));
    for n in 5..8 {
        text += &forward("g30<0,1,0>UD", "0UD", &format!("{n}UD"));
    }
    text += &wait().repeat(3);
    text += "add(1) g11<1>UD g1<0,1,0>UD 128UD { align1 };\n";
    text += &store_row("g11<0,1,0>UD", 40);
    for schedule in super::children::schedules() {
        let mut rig = Rig::new();
        rig.schedule(schedule);
        rig.kernel(&(text.clone() + &end(END_ROOT)), 0);
        rig.begin(&FLAT);
        for n in 0..6 {
            rig.object(0, &[n, 1000 * n]);
        }
        rig.complete();
        for n in 0..6 {
            let found = rig.peek(OUT + n * 256, (COUNT as usize + 1) * 4);
            for (at, four) in (0..).zip(found.chunks(4)) {
                let want = 1000 * n + u32::min(at, COUNT - 1);
                assert_eq!(four, [want; 4], "OWord {at} of {n}, {schedule}");
            }
            assert_eq!(rig.out(128 + n)[0], 7, "{schedule}");
        }
    }
}

/// Under a predicate extended math leaves the other channels alone; a render target write looks at the pixel mask of its
/// header and at nothing else.
// covers: 2.6.7-03
#[test]
fn math_obeys_the_execution_mask_and_rendering_the_pixel_mask() {
    use regs::gen40::{SurfaceState, values};
    const TARGET: u32 = 0x9_0000;
    let state = SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_2D)
        .with_surface_format(values::surface_format::R8G8B8A8_UNORM)
        .with_surface_base_address(TARGET)
        .with_width(7)
        .with_height(1)
        .with_surface_pitch(31);
    for (execution, pixels) in [
        (0xffff_u32, 0xffff_u32),
        (0, 0xffff),
        (0xffff, 0),
        (0x3c5a, 0xa5c3),
        (0x0035, 0x8421),
    ] {
        let mut text = format!(
            "mov(1) f0<1>UW {execution:#x}UW {{ align1 }};\n\
             mov(8) m8<1>F 4F {{ align1 }};\n\
             mov(8) g10<1>UD 0x5a5aUD {{ align1 }};\n\
             (f0) send(8) 8 g10<1>F null<8,8,1>F 0x01110001 {{ align1 }};\n"
        );
        text += &store_row("1UD", 10);
        // Two headers: pixels to write, and the corners of four subspans side by side; sixteen pixels in white.
        text.extend([format!(
            "mov(8) m1<1>UD 0UD {{ align1 }};\n\
             mov(1) m1<1>UD {:#x}UD {{ align1 }};\n\
             mov(8) m2<1>UD 0UD {{ align1 }};\n",
            0xffff_0000 | pixels
        )]);
        for n in 0..4 {
            text.extend([format!(
                "mov(1) m2.{}<1>UD {}UD {{ align1 }};\n",
                n + 2,
                n * 2
            )]);
        }
        for register in 3..11 {
            text.extend([format!("mov(8) m{register}<1>F 1F {{ align1 }};\n")]);
        }
        text += "(f0) send(8) 1 null<1>UD null<8,8,1>UD 0x05a04802 { align1 };\n";
        let mut rig = Rig::new();
        rig.poke(0x5a8, &[0x600]);
        rig.poke(0x600, state.dwords());
        rig.kernel(&(text + &end(END_ROOT)), 0);
        rig.begin(&FLAT);
        rig.object(0, &[]);
        rig.complete();
        let bit =
            |mask: u32, n: usize, one: u32, zero: u32| if mask >> n & 1 != 0 { one } else { zero };
        let quarter = 0.25f32.to_bits();
        let want: [u32; 8] = std::array::from_fn(|n| bit(execution, n, quarter, 0x5a5a));
        assert_eq!(rig.out(1), want, "{execution:#x}");
        for slot in 0..16 {
            let (x, y) = (slot / 4 * 2 + slot % 2, slot % 4 / 2);
            let found = rig.peek(TARGET + (y * 32 + x * 4) as u32, 1)[0];
            assert_eq!(
                found,
                bit(pixels, slot, u32::MAX, 0),
                "{execution:#x} {slot}"
            );
        }
    }
}

/// A thread that uses every other function leaves memory as it was.
// covers: 2.5-06
#[test]
fn only_the_data_port_writes_memory() {
    let mut text = plain(0x0010_0000, "null");
    text += &plain(0x0111_0001, "g10");
    text += &(open(40, 0) + &address(30) + &data(1, 7));
    text += &forward("g30<0,1,0>UD", "0UD", "5UD");
    text += &spawn(32, 31, 1, 1, 1);
    // A read of the data port.
    text += "mov(8) m8<1>UD 0UD { align1 };\n\
             send(8) 8 g14<1>UD null<8,8,1>UD 0x041100ff { align1 };\n";
    for writes in [false, true] {
        let mut rig = Rig::new();
        let store = if writes {
            store_row("3UD", 0)
        } else {
            String::new()
        };
        rig.kernel(&(text.clone() + &store + &end(END_ROOT)), 0);
        rig.kernel(&end(END_CHILD), 0);
        rig.begin(&TREE);
        rig.object(0, &[]);
        // The ring is what the rig itself writes.
        let all = |rig: &Rig| rig.peek(0, 0x10_0000 / 4);
        let before = all(&rig);
        rig.complete();
        let after = all(&rig);
        let changed: Vec<_> = (0..before.len())
            .filter(|&n| before[n] != after[n])
            .collect();
        let row = (OUT as usize + 3 * 32) / 4;
        let inside = changed.iter().all(|n| (row..row + 8).contains(n));
        assert!(inside && changed.is_empty() != writes, "{changed:?}");
        let stores = u64::from(writes);
        assert_eq!(rig.device.messages()[..8], [1, 1, 0, 2, 1, stores, 1, 3]);
    }
}

/// One of each for the whole array: whichever EU makes a mistake, the one error word of the function has it. Extended math
/// has a word for each row.
// covers: 2.2-02
#[test]
fn functions_are_shared_by_all_eus() {
    // A sampler message of no known length, a reserved kind of write, a reserved URB opcode.
    for (descriptor, word) in [
        (0x0211_0000, RegId::SamplerRdata),
        (0x0520_50ff, RegId::DpRdata),
        (0x0620_0001, RegId::UrbRdata),
    ] {
        for eu in 0..8 {
            let mut rig = Rig::new();
            rig.register(RegId::TdTsEmsk, 1 << eu);
            rig.register(
                RegId::TdCtl2,
                1 << fields::TD_CTL2::THREAD_SPAWNER_EXECUTION_MASK_ENABLE.shift,
            );
            let to = if descriptor >> 16 & 0xf > 0 {
                "g10"
            } else {
                "null"
            };
            rig.kernel(&(plain(descriptor, to) + &end(END_ROOT)), 0);
            rig.begin(&FLAT);
            rig.object(0, &[]);
            assert_eq!(rig.run(), Ended::Idle);
            let found = rig.read(word);
            // The four words have EUID and FFID in the same place.
            let header = regs::gen40::DpErrorHeader([found]);
            assert_eq!((header.euid(), header.ffid()), (eu, 7), "{found:#x}");
        }
    }
    // One gateway and one URB: children on other EUs read what the root put into the URB, and write into its registers.
    let mut rig = Rig::new();
    rig.schedule(crate::intel::td::schedule::Schedule::default().with_turn(1));
    rig.register(
        RegId::TdCtl2,
        1 << fields::TD_CTL2::ACTIVE_THREAD_LIMIT.shift
            | 1 << fields::TD_CTL2::ACTIVE_THREAD_LIMIT_ENABLE.shift,
    );
    let mut child = "shl(1) g20<1>UD g1<0,1,0>UD 2UD { align1 };\n\
                     mov(1) g21<1>UD sr0<0,1,0>UD { align1 };\n"
        .to_owned();
    child += &"nop;\n".repeat(400);
    child += &forward("g0.3<0,1,0>UD", "g20<0,1,0>UD", "g21<0,1,0>UD");
    rig.kernel(&gathering_root(7, END_ROOT), 0);
    rig.kernel(&(child + &end(END_CHILD)), 0);
    rig.begin(&TREE);
    rig.object(0, &[]);
    rig.complete();
    let mut eus: Vec<_> = rig.out(100)[..7].iter().map(|sr0| sr0 >> 8 & 0xf).collect();
    eus.sort_unstable();
    assert_eq!(eus, [1, 2, 3, 4, 5, 6, 7]);
}

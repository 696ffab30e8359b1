//! Messages of real threads: function IDs, dispatcher limits, what is latched.
//!
//! PRM: volume 4, chapter 2, and the registers of chapter 3 that show it.

use regs::gen40::{RegId, fields};

use super::kernels::*;
use super::rig::*;
use crate::device::Ended;

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
    assert_eq!(rig.device.messages(), [1, 1, 1, 1, 1, 1, 1, 3]);
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
    rig.schedule(crate::td::schedule::Schedule::default().with_turn(1));
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

// covers: 2.2-02, 2.3-02, 2.4-02, 2.4-03
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

// covers: 2.6.3-03, 2.6.6-01, 2.6.1-01
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
    rig.schedule(crate::td::schedule::Schedule::default().with_turn(1));
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

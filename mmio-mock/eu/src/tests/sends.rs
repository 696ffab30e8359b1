//! The send instruction: payload, response, implied move, end of thread, errors.
//!
//! PRM: volume 4, 2.6.

use super::{Sent, TestPort, arf, dst, imm, null, op, run_in, scalar, send, thread, vec8};
use crate::{Delivery, KernelCache, Stop, Thread};
use isa::inst::PredCtrl;
use isa::operand::{Dst, RegFile, Src, Type};
use isa::{Inst, Opcode};

fn mrf(nr: u8) -> Dst {
    Dst {
        file: RegFile::Mrf,
        ..dst(nr, Type::Ud)
    }
}

fn go(t: &mut Thread, port: &mut TestPort, code: &[Inst]) -> Stop<super::Outside> {
    run_in(
        &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
        t,
        port,
        code,
        100,
    )
    .0
}

/// The manual's example, 2.6.2: send (16) r5 m3 r0 0x01110001.
// covers: 2.6.2-02, 2.6.2-03, 2.6.5-01
#[test]
fn implied_move_and_response() {
    let mut t = thread();
    t.grf_mut()[0] = [7; 8];
    let mut port = TestPort::new(Vec::new());
    port.fill = 0xabcd;
    let mut s = send(dst(5, Type::Ud), vec8(0, Type::Ud), 3, Some(0x0111_0001));
    s.exec_size = 16;
    go(&mut t, &mut port, &[s]);
    let want = Sent {
        sfid: 1,
        exec_mask: 0xffff,
        eot: false,
        payload: vec![[7; 8]],
    };
    assert_eq!(port.sent, [want]);
    assert_eq!(t.mrf()[3], [7; 8]);
    assert_eq!(t.grf()[5], [0xabcd; 8]);
    assert_eq!(t.grf()[6], [0; 8]);
}

// covers: 2.6-01, 2.6.1-07, 2.6.2-04, 2.6.3-01, 2.6.8-01
#[test]
fn payload_comes_from_consecutive_message_registers() {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    let code = [
        op(Opcode::Mov, 8, mrf(2), &[imm(Type::Ud, 1)]),
        op(Opcode::Mov, 16, mrf(3), &[imm(Type::Ud, 2)]),
        send(null(Type::Ud), Src::NULL, 2, Some(0x8630_0000)),
    ];
    assert_eq!(go(&mut t, &mut port, &code), Stop::EndOfThread);
    assert_eq!(port.sent[0].payload, [[1; 8], [2; 8], [2; 8]]);
    assert!(port.sent[0].eot);
    assert_eq!(port.sent[0].sfid, 6);
}

// covers: 2.6.7-01, 2.6.7-02, 2.6.7-03
#[test]
fn predicate_and_masks_travel_with_the_message() {
    let mut t = thread();
    t.set_flag([0x0ff3, 0]);
    let mut port = TestPort::new(Vec::new());
    let mut s = send(null(Type::Ud), Src::NULL, 2, Some(0x0110_0000));
    s.pred_ctrl = PredCtrl::Normal;
    let mut h = s;
    h.compression = isa::inst::Compression::SecHalf;
    go(&mut t, &mut port, &[s, h]);
    assert_eq!(port.sent[0].exec_mask, 0x00f3);
    assert_eq!(port.sent[1].exec_mask, 0x000f);
    // Without any channel it is sent all the same, and the implied move is a whole register.
    t.set_flag([0, 0]);
    t.grf_mut()[9] = [6; 8];
    s.src[0] = vec8(9, Type::Ud);
    t.set_ip(0);
    go(&mut t, &mut port, &[s]);
    assert_eq!(port.sent[2].exec_mask, 0);
    assert_eq!(port.sent[2].payload, [[6; 8]]);
}

/// Channel enables choose what a response writes: that of a scalar result in the middle of a
/// register, and the write mask of an align16 destination.
#[test]
fn enables_follow_the_destination() {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    let mut place = dst(27, Type::F);
    place.addr = isa::operand::Addr::Direct { nr: 27, subnr: 12 };
    let mut s = send(place, scalar(27, Type::F), 0, Some(0x0111_0081));
    s.exec_size = 1;
    let mut masked = send(dst(5, Type::F), vec8(4, Type::F), 0, Some(0x0111_0001));
    masked.access = isa::inst::AccessMode::Align16;
    masked.dst.writemask = 8;
    masked.exec_size = 8;
    go(&mut t, &mut port, &[s, masked]);
    assert_eq!(port.sent[0].exec_mask, 1 << 3);
    assert_eq!(port.sent[1].exec_mask, 0x88);
}

// covers: 2.6.11-09
#[test]
fn register_descriptor_ignores_end_of_thread() {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    let mut load = op(
        Opcode::Mov,
        1,
        arf(0x10, 0, Type::Ud),
        &[imm(Type::Ud, 0x8620_0000)],
    );
    load.no_mask = true;
    let stop = go(
        &mut t,
        &mut port,
        &[load, send(null(Type::Ud), Src::NULL, 1, None)],
    );
    assert_eq!(stop, Stop::Fault(super::Outside(32)));
    assert!(!port.sent[0].eot);
    assert_eq!(port.sent[0].payload.len(), 2);
}

// covers: 2.6.11-08
#[test]
fn end_of_thread_with_a_response_hangs() {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    let s = send(dst(5, Type::Ud), Src::NULL, 1, Some(0x8611_0000));
    assert!(matches!(go(&mut t, &mut port, &[s]), Stop::Hung(_)));
    assert!(port.sent.is_empty());
}

// covers: 2.6.1-08
#[test]
fn payload_or_response_past_the_end_hangs() {
    for (d, first, desc) in [
        (null(Type::Ud), 10, 0x06f0_0000),
        (dst(126, Type::Ud), 1, 0x0614_0000),
    ] {
        let mut port = TestPort::new(Vec::new());
        let s = send(d, Src::NULL, first, Some(desc));
        assert!(matches!(go(&mut thread(), &mut port, &[s]), Stop::Hung(_)));
    }
}

#[test]
fn busy_keeps_the_instruction() {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    port.answer = Delivery::Busy;
    let s = send(null(Type::Ud), Src::NULL, 1, Some(0x8610_0000));
    assert_eq!(go(&mut t, &mut port, &[s]), Stop::Busy);
    assert_eq!(t.ip(), 0);
    port.answer = Delivery::Done;
    assert_eq!(go(&mut t, &mut port, &[s]), Stop::EndOfThread);
}

/// 2.6.11: the destination of a dropped message never becomes valid; using it hangs.
// covers: 2.6.11-03, 2.6.11-05
#[test]
fn dropped_message_hangs_its_reader() {
    let mut t = thread();
    let mut port = TestPort::new(Vec::new());
    port.answer = Delivery::Dropped;
    let code = [
        send(dst(5, Type::Ud), Src::NULL, 1, Some(0x0912_0000)),
        op(Opcode::Mov, 1, dst(10, Type::Ud), &[scalar(7, Type::Ud)]),
        op(Opcode::Mov, 1, dst(10, Type::Ud), &[scalar(6, Type::Ud)]),
    ];
    assert!(matches!(go(&mut t, &mut port, &code), Stop::Hung(_)));
    assert_eq!(t.ip(), 32);
}

//! Descriptors of captured kernels, and what Mesa's disassembler says of them.

use super::*;
use crate::intel::shared::dataport::request::OwordBlock;

fn access_of(function: u8, desc: u32) -> Access {
    match request(function, desc & 0x7fff_ffff).unwrap() {
        Request::Access(access) => access,
        other => unreachable!("{desc:08x}: {other:?}"),
    }
}

fn data_of(desc: u32) -> Access {
    access_of(sfid::DATA_CACHE, desc)
}

fn render_of(desc: u32) -> Access {
    access_of(sfid::DATAPORT_WRITE, desc)
}

#[test]
fn untyped_messages_say_which_dwords_they_are_for() {
    // "DC untyped surface read, bti 254, 30 mlen 2 rlen 2" of a compute kernel.
    let read = data_of(0x0421_5efe);
    assert_eq!((read.surface, read.header), (access::LOCAL, false));
    let lanes = Some(Lanes::Simd16);
    assert_eq!(read.kind, AccessKind::Read { lanes, parts: 1 });
    // "DC untyped surface read, bti 3, 16 mlen 2 rlen 8", and of eight channels "bti 3, 32 mlen 1 rlen 4", "bti 2, 46 mlen 1 rlen 1".
    assert_eq!(
        data_of(0x0481_5003).kind,
        AccessKind::Read { lanes, parts: 15 }
    );
    let eight = Some(Lanes::Simd8);
    let read = data_of(0x0241_6003);
    assert_eq!(
        (read.surface, read.kind),
        (
            3,
            AccessKind::Read {
                lanes: eight,
                parts: 15
            }
        )
    );
    assert_eq!(
        data_of(0x0211_6e02).kind,
        AccessKind::Read {
            lanes: eight,
            parts: 1
        }
    );
    // "DC untyped surface write, bti 0, 30 mlen 4 rlen 0".
    assert_eq!(
        data_of(0x0803_5e00).kind,
        AccessKind::Write { lanes, parts: 1 }
    );
}

#[test]
fn atomic_operations_have_their_numbers_and_widths() {
    for (desc, lanes, op) in [
        // "DC untyped atomic, bti 2, umax mlen 2" and "inc mlen 1" of eight channels; "mlen 4" and "mlen 2" of sixteen.
        (0x0401_9c02, Lanes::Simd8, AtomicOp::Maximum),
        (0x0201_9502, Lanes::Simd8, AtomicOp::Increment),
        (0x0801_8c02, Lanes::Simd16, AtomicOp::Maximum),
        (0x0401_8502, Lanes::Simd16, AtomicOp::Increment),
    ] {
        let atomic = AccessKind::Atomic {
            lanes: Some(lanes),
            op: Some(op),
            answer: false,
        };
        let access = data_of(desc);
        assert_eq!((access.surface, access.kind), (2, atomic), "{desc:08x}");
    }
    assert!(request(sfid::DATA_CACHE, 0x0201_9002).is_err());
}

#[test]
fn typed_messages_go_to_the_render_cache() {
    // "typed surface write Surface = 2 mlen 7", of channels 0 to 7 and of 8 to 15.
    for (desc, upper) in [(0x0e0b_4002, false), (0x0e0b_6002, true)] {
        let write = render_of(desc);
        assert_eq!((write.surface, write.header), (2, true));
        assert_eq!(write.kind, AccessKind::TypedWrite { upper, parts: 15 });
    }
    // "typed surface read Surface = 1 mlen 3 rlen 1".
    for (desc, upper) in [(0x0619_4e01, false), (0x0619_6e01, true)] {
        let read = render_of(desc);
        assert_eq!(read.kind, AccessKind::TypedRead { upper, parts: 1 });
    }
    // "typed atomic op Surface = 1 mlen 4": add; "Surface = 4 mlen 5": the greater signed one... of two halves.
    for (desc, upper, op) in [
        (0x0809_8701, false, AtomicOp::Add),
        (0x0809_9701, true, AtomicOp::Add),
        (0x0a09_8a04, false, AtomicOp::SignedMaximum),
        (0x0a09_9a04, true, AtomicOp::SignedMaximum),
    ] {
        let kind = AccessKind::TypedAtomic {
            upper,
            op: Some(op),
            answer: false,
        };
        assert_eq!(render_of(desc).kind, kind, "{desc:08x}");
    }
}

#[test]
fn fences_and_blocks() {
    // "DC mfence, bti 0, 0 mlen 1 rlen 0".
    assert_eq!(
        data_of(0x0209_c000).kind,
        AccessKind::Fence { answer: false }
    );
    // brw_set_memory_fence_message with commit: control bit 5, one register of answer.
    assert_eq!(
        data_of(0x0219_e000).kind,
        AccessKind::Fence { answer: true }
    );
    assert_eq!(
        render_of(0x0209_c000).kind,
        AccessKind::Fence { answer: false }
    );
    // "const MsgDesc: (bti 5, msg_ctrl 3, msg_type 0) mlen 1 rlen 2".
    let Request::Read(read) = request(sfid::CONSTANT_CACHE, 0x0228_0305).unwrap() else {
        unreachable!("a read");
    };
    let four = OwordBlock {
        count: 4,
        high: false,
    };
    assert_eq!((read.surface, read.kind), (5, ReadKind::Block(Some(four))));
    assert!(read.elements);
    // Without a header, and in local memory.
    for desc in [0x0220_0305, 0x0228_03fe] {
        let broken = request(sfid::DATA_CACHE, desc).unwrap();
        assert!(matches!(broken, Request::Broken("DP", _)), "{desc:08x}");
    }
}

/// brw_inst.h: category 18, write 17, type 16, invalidate 15, registers less one 13:12, offset 11:0.
#[test]
fn scratch_blocks_count_registers() {
    let scratch = data_of(0x0228_0000 | 1 << 18 | 1 << 12 | 0xabc);
    assert_eq!(
        scratch.kind,
        AccessKind::Scratch {
            write: false,
            registers: Some(2),
            offset: 0xabc,
            dwords: false,
        }
    );
    let write = data_of(0x0a08_0000 | 1 << 18 | 1 << 17 | 1 << 16 | 3 << 12);
    assert_eq!(
        write.kind,
        AccessKind::Scratch {
            write: true,
            registers: Some(4),
            offset: 0,
            dwords: true,
        }
    );
    assert_eq!(write.surface, 255);
}

#[test]
fn render_target_writes_are_sandy_bridge_s_in_other_places() {
    let pixels = |desc: u32| match request(sfid::DATAPORT_WRITE, desc & 0x7fff_ffff).unwrap() {
        Request::Write(WriteRequest {
            kind: WriteKind::Pixels(write),
            ..
        }) => write,
        other => unreachable!("{other:?}"),
    };
    // brw_fb_desc: type 12 in 17:14, last in 12, subtype in 10:8.
    let clear = pixels(0x8203_1100);
    assert_eq!(clear.form, Some(Form::Replicated));
    assert!(clear.last && !clear.header && !clear.upper);
    let sixteen = pixels(0x9003_1000);
    assert_eq!(sixteen.form, Some(Form::Single16));
    assert_eq!(pixels(0x8803_1400).form, Some(Form::Single8));
    assert!(pixels(0x940b_1000).header);
    assert!(pixels(0x9003_1800).upper);
}

/// Of a table of constants in a kernel of beignet 1.3.2 (gen_encoder.cpp, `DWORD_GATHER`): type 3, index 0, sixteen dwords, no header.
#[test]
fn scattered_dwords_may_come_without_a_header() {
    for (desc, lanes) in [(0x0420_c300, Lanes::Simd16), (0x0210_c200, Lanes::Simd8)] {
        let read = data_of(desc);
        let write = false;
        assert_eq!((read.surface, read.header), (0, false));
        assert_eq!(read.kind, AccessKind::Dwords { write, lanes });
    }
    let headed = request(sfid::DATA_CACHE, 0x0428_c300).unwrap();
    assert!(matches!(headed, Request::Read(_)));
    let reserved = request(sfid::DATA_CACHE, 0x0420_c000).unwrap();
    assert!(matches!(reserved, Request::Broken(..)));
}

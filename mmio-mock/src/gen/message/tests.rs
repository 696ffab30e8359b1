//! Literal descriptors of the later generations and what becomes of them.
//!
//! Layouts: Mesa 22.3.6 brw_eu.h, `brw_eu_defines.h`; PRM: volume 4, 4.8.1.1, 5.10.1.1, 6.1.1.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::shared::context::sfid;
use crate::shared::sampler::message::{Op, Shape, Simd};
use eu::Grf;

fn message(sfid: u8, desc: u32, payload: &[Grf]) -> Message<'_> {
    Message {
        thread: eu::ThreadId::default(),
        sfid,
        function_control: desc as u16,
        desc,
        response_length: 0,
        eot: false,
        exec_mask: 0xffff,
        exec_size: 16,
        payload,
        ip: 0,
        float_mode: eu::FloatMode::Ieee,
    }
}

fn translate(generation: u8, msg: &Message<'_>) -> Result<Control, &'static str> {
    match generation {
        45 => crate::r#gen::gen45::message::translate(msg),
        _ => crate::r#gen::gen50::message::translate(msg),
    }
}

fn bits(generation: u8, sfid: u8, desc: u32, length: usize) -> Result<Control, &'static str> {
    let payload = vec![[0; 8]; length];
    translate(generation, &message(sfid, desc, &payload))
}

#[test]
fn math_and_urb_words_are_the_same_everywhere() {
    for generation in [45, 50] {
        // Square root, saturated, scalar; a URB write with used and complete at offset 3.
        let header = 1 << 19;
        let math = bits(generation, sfid::MATH, 0xc4, 1).unwrap();
        assert_eq!((math.bits, math.payload), (0xc4, None));
        let urb = bits(generation, sfid::URB, header | 0xc030, 4).unwrap();
        assert_eq!((urb.bits, urb.payload), (0xc030, None));
    }
}

/// OWord dual block is type 2 in 13:11 on G45 and later, type 1 in 13:12 before; media block 4 and 2,
/// scattered 6 and 3.
#[test]
fn read_messages_move_their_type() {
    for (generation, header) in [(45, 0u32), (50, 1 << 19)] {
        let read = |desc: u32| bits(generation, sfid::DATAPORT_READ, header | desc, 1);
        assert_eq!(read(2 << 11 | 0x205).unwrap().bits, 1 << 12 | 0x205);
        assert_eq!(read(4 << 11 | 0x4003).unwrap().bits, 2 << 12 | 0x4003);
        assert_eq!(read(6 << 11 | 0x301).unwrap().bits, 3 << 12 | 0x301);
        assert_eq!(read(1 << 11), Err("render target read"));
        assert_eq!(read(3 << 11), Err("AVC loop filter read"));
    }
}

#[test]
fn headers_that_the_functions_need_are_asked_for() {
    assert!(bits(50, sfid::DATAPORT_READ, 0, 1).is_err());
    assert!(bits(50, sfid::DATAPORT_WRITE, 4 << 12, 8).is_err());
    assert!(bits(50, sfid::URB, 0, 1).is_err());
}

fn sampled(desc: u32, length: usize) -> Shape {
    let payload = vec![[0; 8]; length];
    let msg = message(sfid::SAMPLER, desc, &payload);
    match translate(50, &msg).unwrap().request(&msg) {
        Request::Sampler(request) => {
            assert!(request.payload.is_some(), "payload unchanged");
            request.shape.unwrap()
        }
        other => panic!("{other:?}"),
    }
}

/// SIMD mode in 17:16: 0 SIMD4x2, 1 SIMD8, 2 SIMD16; message type in 15:12.
#[test]
fn sampler_messages_keep_their_meaning() {
    let header = 1 << 19;
    let shape = |op, simd, params| Shape { op, simd, params };
    assert_eq!(
        sampled(header | 1 << 16, 3),
        shape(Op::Sample, Simd::Simd8, 3)
    );
    assert_eq!(sampled(2 << 16, 4), shape(Op::Sample, Simd::Simd16, 2));
    let second = |kind: u32| sampled(2 << 16 | kind << 12, 10);
    assert_eq!(second(1), shape(Op::SampleBias, Simd::Simd16, 4));
    assert_eq!(second(2), shape(Op::SampleLod, Simd::Simd16, 4));
    assert_eq!(second(3), shape(Op::SampleCompare, Simd::Simd16, 4));
    assert_eq!(
        sampled(1 << 16 | 6 << 12, 6),
        shape(Op::SampleLodCompare, Simd::Simd8, 5)
    );
    assert_eq!(
        sampled(2 << 16 | 7 << 12, 8),
        shape(Op::Ld, Simd::Simd16, 4)
    );
    assert_eq!(
        sampled(2 << 16 | 10 << 12, 2),
        shape(Op::Resinfo, Simd::Simd16, 1)
    );
    assert!(bits(50, sfid::SAMPLER, 2 << 16 | 4 << 12, 11).is_err());
}

/// u, v, r, array index, reference, LOD become header, u, v, r, LOD, reference.
#[test]
fn parameters_take_their_places() {
    let payload: Vec<Grf> = (10..16).map(|n| [n; 8]).collect();
    let msg = message(sfid::SAMPLER, 1 << 16 | 6 << 12, &payload);
    let assembly = translate(50, &msg).unwrap().payload.unwrap();
    assert!(!assembly.header);
    let out = assembly.assemble(&payload, 0x40);
    assert_eq!(out[0], [0, 0, 0, 0x40, 0, 0, 0, 0]);
    assert_eq!(
        out[1..6].iter().map(|r| r[0]).collect::<Vec<_>>(),
        [10, 11, 12, 15, 14]
    );
}

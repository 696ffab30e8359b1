//! Descriptors of captured kernels, and what Mesa's disassembler says of them.

use super::*;
use crate::intel::shared::dataport::request::OwordBlock;
use crate::intel::shared::sampler::message::{Op, Simd};
use crate::intel::shared::urb_msg::{Swizzle, UrbOp};

fn request(function: u8, desc: u32) -> Request {
    let message = Descriptor {
        function,
        // Message length in 28:25; bit 31 is the end of the thread.
        length: (desc >> 25 & 0xf) as u8,
        desc: desc & 0x7fff_ffff,
    };
    Messages.request(message).unwrap()
}

fn pixels(desc: u32) -> PixelWrite {
    match request(sfid::DATAPORT_WRITE, desc) {
        Request::Write(WriteRequest {
            kind: WriteKind::Pixels(write),
            ..
        }) => write,
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn render_target_writes_have_a_header_or_none() {
    // a_clear: "RT write SIMD16/RepData LastRT Surface = 0 mlen 1".
    let clear = pixels(0x8201_9100);
    assert_eq!(clear.form, Some(Form::Replicated));
    assert!(clear.last && !clear.header && !clear.upper);
    // "RT write SIMD16 LastRT mlen 8" and "SIMD8 LastRT mlen 4".
    assert_eq!(pixels(0x9001_9000).form, Some(Form::Single16));
    assert_eq!(pixels(0x8801_9400).form, Some(Form::Single8));
    // "RT write SIMD16 Hi LastRT".
    assert!(pixels(0x9001_9800).upper);
    // "RT write SIMD16 LastRT Surface = 0 mlen 10", with header.
    assert!(pixels(0x9409_9000).header);
}

#[test]
fn reads_go_by_their_cache() {
    // "const MsgDesc: (bti 1, msg_ctrl 3, msg_type 0) mlen 1 rlen 2".
    let Request::Read(read) = request(sfid::CONSTANT_CACHE, 0x0228_0301) else {
        unreachable!("a read");
    };
    let four = OwordBlock {
        count: 4,
        high: false,
    };
    assert_eq!((read.surface, read.cache), (1, Cache::Data));
    assert_eq!(read.kind, ReadKind::Block(Some(four)));
    // "dp_sampler MsgDesc: (bti 0, msg_ctrl 0, msg_type 2) mlen 2 rlen 1".
    let Request::Read(read) = request(sfid::DATAPORT_READ, 0x0418_4000) else {
        unreachable!("a read");
    };
    assert_eq!(read.kind, ReadKind::DualBlock(Some(1)));
    // "OWORD dual block read MsgCtrl = 0x0 Surface = 255" of the render cache.
    let Request::Read(read) = request(sfid::DATAPORT_WRITE, 0x0418_40ff) else {
        unreachable!("a read");
    };
    assert_eq!((read.surface, read.cache), (255, Cache::Render));
}

/// Media block reads of intel-vaapi-driver's kernels (nv12_load_save_nv12.g6b): 0x02098000 with surface and length, bit 16 set.
#[test]
fn ports_that_only_read_have_three_bits_of_type() {
    for (function, cache) in [
        (sfid::DATAPORT_READ, Cache::Sampler),
        (sfid::CONSTANT_CACHE, Cache::Data),
    ] {
        let Request::Read(read) = request(function, 0x0249_8001) else {
            unreachable!("a read");
        };
        assert!(matches!(read.kind, ReadKind::Media(_)));
        assert_eq!((read.surface, read.cache), (1, cache));
    }
    // The render cache has a fourth bit: media block write of the same kernels.
    let Request::Write(write) = request(sfid::DATAPORT_WRITE, 0x0a09_4007) else {
        unreachable!("a write");
    };
    assert!(matches!(write.kind, WriteKind::Media(_)));
    assert_eq!(write.surface, 7);
}

/// Sub-functions 3 and 4 (Mesa brw_eu_defines.h) are there and not modelled; the others are those of the generations before.
#[test]
fn the_gateway_says_what_it_lacks() {
    let of = |control: u32| {
        Messages.request(Descriptor {
            function: sfid::GATEWAY,
            length: 1,
            desc: 0x0200_0000 | control,
        })
    };
    assert_eq!(of(3).unwrap_err(), "time stamp of the message gateway");
    assert_eq!(of(4).unwrap_err(), "barrier of the message gateway");
    for control in [0, 1, 2, 5, 7] {
        assert!(matches!(of(control), Ok(Request::Gateway(_))));
    }
}

#[test]
fn the_render_cache_takes_blocks_and_streams() {
    // "OWORD dual block write MsgCtrl = 0x0 Surface = 255 mlen 3".
    let Request::Write(write) = request(sfid::DATAPORT_WRITE, 0x0609_20ff) else {
        unreachable!("a write");
    };
    assert_eq!(write.kind, WriteKind::DualBlock(Some(1)));
    // "streamed VB write Surface = 0 mlen 1 rlen 0", and with a commit.
    let Request::Write(write) = request(sfid::DATAPORT_WRITE, 0x0209_a000) else {
        unreachable!("a write");
    };
    assert_eq!((write.kind, write.commit), (WriteKind::Stream, false));
    let Request::Write(write) = request(sfid::DATAPORT_WRITE, 0x021b_a002) else {
        unreachable!("a write");
    };
    assert_eq!((write.surface, write.commit), (2, true));
}

#[test]
fn sampler_messages_are_those_that_mesa_names() {
    for (desc, op, simd, params, header) in [
        (0x0441_0001, Op::Sample, Simd::Simd8, 2, false),
        (0x0882_0001, Op::Sample, Simd::Simd16, 2, false),
        (0x0841_7001, Op::Ld, Simd::Simd8, 4, false),
        (0x0a41_2001, Op::SampleLod, Simd::Simd8, 5, false),
        (0x1482_3001, Op::SampleCompare, Simd::Simd16, 5, false),
        // gather: "gather4 SIMD8 Surface = 2 mlen 2" and "mlen 3" with a header.
        (0x0441_8002, Op::Gather4, Simd::Simd8, 2, false),
        (0x0649_8002, Op::Gather4, Simd::Simd8, 2, true),
        (0x0a8a_8002, Op::Gather4, Simd::Simd16, 2, true),
    ] {
        let Request::Sampler(sampler) = request(sfid::SAMPLER, desc) else {
            unreachable!("{desc:08x}");
        };
        let shape = sampler.shape.unwrap();
        assert_eq!((shape.op, shape.simd, shape.params), (op, simd, params));
        assert_eq!(sampler.header, header, "{desc:08x}");
    }
}

#[test]
fn urb_messages_are_ironlakes() {
    // "urb_write interleave used complete mlen 5".
    let Request::Urb(urb) = request(sfid::URB, 0x8a08_c400) else {
        unreachable!("a URB write");
    };
    assert_eq!(urb.op, Some(UrbOp::Write));
    assert_eq!(urb.swizzle, Some(Swizzle::Interleaved));
    assert!(urb.used && urb.complete && !urb.allocate);
    assert_eq!(request(1, 0), Request::Unknown, "math is no message");
}

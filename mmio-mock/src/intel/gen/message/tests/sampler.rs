//! Descriptors of samplers: operation, mode, parameters and their places.
//!
//! Tables: Mesa 22.3.6 `brw_eu_defines.h` (`BRW_SAMPLER_MESSAGE_*`, `GFX5_SAMPLER_MESSAGE_*`, `BRW_SAMPLER_SIMD_MODE_*`); places:
//! `brw_lower_logical_sends.cpp`, `brw_vec4_visitor.cpp`.

use super::{g45, ironlake, request};
use crate::intel::shared::context::sfid;
use crate::intel::shared::message::Request;
use crate::intel::shared::sampler::message::{ABSENT, Op, Order, SamplerRequest, Shape, Simd};

fn sampler(request: Result<Request, &'static str>) -> SamplerRequest {
    match request {
        Ok(Request::Sampler(request)) => request,
        other => panic!("{other:?}"),
    }
}

/// A word of Ironlake.
fn word(desc: u32) -> SamplerRequest {
    sampler(ironlake(sfid::SAMPLER, desc))
}

fn shape(op: Op, simd: Simd, params: u8) -> Shape {
    Shape { op, simd, params }
}

/// Descriptors of pixel shaders, all of surface 1 and without a header; those of half a parameter and of killed pixels are made up.
#[test]
fn words_of_pixel_shaders() {
    use Simd::{Simd8, Simd16};
    for (desc, op, simd, params) in [
        (0x0441_0001, Op::Sample, Simd8, 2),
        (0x0882_0001, Op::Sample, Simd16, 2),
        (0x0641_0001, Op::Sample, Simd8, 3),
        (0x0c82_0001, Op::Sample, Simd16, 3),
        (0x0a82_0001, Op::Sample, Simd16, ABSENT),
        (0x0a41_1001, Op::SampleBias, Simd8, 5),
        (0x1482_1001, Op::SampleBias, Simd16, 5),
        (0x0a41_2001, Op::SampleLod, Simd8, 5),
        (0x1482_2001, Op::SampleLod, Simd16, 5),
        (0x0a41_3001, Op::SampleCompare, Simd8, 5),
        (0x1482_3001, Op::SampleCompare, Simd16, 5),
        (0x1041_4001, Op::SampleGradients, Simd8, 8),
        (0x0c41_5001, Op::SampleBiasCompare, Simd8, 6),
        (0x0c41_6001, Op::SampleLodCompare, Simd8, 6),
        (0x0841_7001, Op::Ld, Simd8, 4),
        (0x1082_7001, Op::Ld, Simd16, 4),
        (0x0441_9001, Op::Lod, Simd8, 2),
        (0x0882_9001, Op::Lod, Simd16, 2),
        (0x0241_a001, Op::Resinfo, Simd8, 1),
        (0x0482_a001, Op::Resinfo, Simd16, 1),
        (0x0651_c001, Op::SampleKillpix, Simd8, 3),
    ] {
        let got = word(desc);
        // An odd number of registers is no SIMD16 message.
        let want = match params {
            ABSENT => None,
            params => Some(shape(op, simd, params)),
        };
        assert_eq!(got.shape, want, "{desc:#x}");
        assert_eq!((got.surface, got.sampler, got.header), (1, 0, false));
        assert_eq!(got.integer, op == Op::Resinfo, "{desc:#x}");
    }
}

/// Vertex shaders: four parameters a register, the last register filled up. The first is one of Mesa's tests.
#[test]
fn words_of_vertex_shaders() {
    for (desc, op, params) in [
        (0x0410_2000, Op::SampleLod, 8),
        (0x0410_6001, Op::SampleLodCompare, 8),
        (0x0410_4001, Op::SampleGradients, 8),
        (0x0610_4001, Op::SampleGradients, 12),
        (0x0210_7001, Op::Ld, 4),
        (0x0210_a001, Op::Resinfo, 4),
    ] {
        let want = Some(shape(op, Simd::Simd4x2, params));
        assert_eq!(word(desc).shape, want, "{desc:#x}");
    }
}

/// A header is one register more and no parameter.
#[test]
fn headers_are_counted() {
    let got = word(0x0649_0301);
    assert!(got.header);
    assert_eq!(got.shape, Some(shape(Op::Sample, Simd::Simd8, 2)));
    assert_eq!(got.sampler, 3);
    let texel = word(0x128a_7001);
    assert_eq!(texel.shape, Some(shape(Op::Ld, Simd::Simd16, 4)));
    // Mesa's word for a buffer: one coordinate.
    let buffer = word(0x068a_7001);
    assert_eq!(buffer.shape, Some(shape(Op::Ld, Simd::Simd16, 1)));
    // Nothing but a header, and nothing at all.
    assert_eq!(word(0x0249_0001).shape, None);
    assert_eq!(word(0x0041_0001).shape, None);
}

/// Coordinates and array index, reference, bias or LOD; gradients in turn.
#[test]
fn parameters_have_fixed_places() {
    let order = |desc| *word(desc).order;
    let plain = Order::COORDINATES;
    assert_eq!(order(0x0441_0001), plain);
    assert_eq!(order(0x0a41_1001), Order { lod: 4, ..plain });
    assert_eq!(order(0x0a41_2001), Order { lod: 4, ..plain });
    assert_eq!(order(0x0a41_3001).reference, 4);
    for compared in [0x0c41_5001, 0x0c41_6001] {
        let order = order(compared);
        assert_eq!((order.r, order.reference, order.lod), (2, 4, 5));
    }
    let gradients = order(0x1041_4001);
    assert_eq!((gradients.dx, gradients.dy), ([4, 6, 8], [5, 7, 9]));
    assert_eq!(order(0x0841_7001), Order { lod: 3, ..plain });
    assert_eq!(order(0x0241_a001), Order { lod: 0, ..plain });
}

/// Messages that a mode does not have, types that are no messages, and lengths beyond the last parameter.
#[test]
fn messages_that_do_not_exist_have_no_shape() {
    let mode = |simd: u32, kind: u32, length: u32| word(length << 25 | simd << 16 | kind << 12);
    for kind in [0, 1, 5, 9, 12] {
        assert_eq!(mode(0, kind, 1).shape, None, "SIMD4x2 type {kind}");
    }
    for kind in [4, 12] {
        assert_eq!(mode(2, kind, 8).shape, None, "SIMD16 type {kind}");
    }
    for kind in [8, 11, 13, 14, 15] {
        assert_eq!(mode(1, kind, 4).shape, None, "type {kind}");
    }
    let most = [4, 5, 5, 5, 10, 6, 6, 4, 0, 4, 1];
    for (kind, most) in (0..).zip(most) {
        for length in 1..=15 {
            let legal = mode(1, kind, length).shape.is_some();
            assert_eq!(legal, length <= most, "SIMD8 type {kind} length {length}");
            let legal = mode(2, kind, length).shape.is_some();
            let wide = length % 2 == 0 && length / 2 <= most.min(5) && kind != 4;
            assert_eq!(legal, wide, "SIMD16 type {kind} length {length}");
        }
    }
    let media = request(super::ILK, sfid::SAMPLER, 1 << 19 | 3 << 16, 2);
    assert_eq!(media, Err("SIMD32/64 sampler message"));
    // intel-vaapi-driver: nAVS_MSG_DSC_1CH of AVS_IEF.inc with sampler and surface 1, nSMPL_DI_MSGDSC of DNDI.inc.
    let named = |desc: u32| request(super::ILK, sfid::SAMPLER, desc, 2).unwrap_err();
    assert!(named(0x044b_b101).contains("sample_8x8"));
    assert!(named(0x040b_8000).contains("deinterlacer"));
}

/// Words of Mesa for G45: type in 15:12, the rest by length.
#[test]
fn g45_tells_messages_by_length() {
    use Simd::{Simd4x2, Simd8, Simd16};
    for (desc, op, simd, params) in [
        (0x0238_0001, Op::Sample, Simd16, 1),
        (0x0258_0001, Op::Sample, Simd16, 2),
        (0x0278_0001, Op::Sample, Simd16, 3),
        (0x0238_3001, Op::Ld, Simd16, 1),
        (0x0298_3001, Op::Ld, Simd16, 4),
        (0x0298_2001, Op::SampleCompare, Simd16, 4),
        (0x0238_2001, Op::Resinfo, Simd16, 1),
        (0x0298_1001, Op::SampleLod, Simd16, 4),
        (0x0298_0001, Op::SampleBias, Simd16, 4),
        (0x0264_0001, Op::SampleBiasCompare, Simd8, 5),
        (0x0264_1001, Op::SampleLodCompare, Simd8, 5),
        (0x0274_2001, Op::SampleGradients, Simd8, 6),
        (0x02a4_2001, Op::SampleGradients, Simd8, 9),
        (0x0221_1000, Op::SampleLod, Simd4x2, 4),
    ] {
        let got = sampler(g45(desc));
        assert_eq!(got.shape, Some(shape(op, simd, params)), "{desc:#x}");
        assert!(got.header);
        assert_eq!(got.integer, op == Op::Resinfo, "{desc:#x}");
    }
    // Types of Ironlake.
    for kind in 4..16 {
        let got = sampler(g45(0x0258_0001 | kind << 12));
        assert_eq!(got.shape, None, "type {kind}");
    }
}

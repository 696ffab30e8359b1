//! Tests of the formats against hand-made bit patterns and host arithmetic.
//!
//! PRM: volume 4 4.7.2.1. Not covered: rounding beyond IEEE.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;

fn f(code: u32) -> &'static Format {
    Format::layout(code).unwrap()
}

fn el(bytes: &[u8]) -> [u8; 16] {
    let mut e = [0; 16];
    e[..bytes.len()].copy_from_slice(bytes);
    e
}

fn floats(v: [u32; 4]) -> [f32; 4] {
    v.map(f32::from_bits)
}

#[test]
fn the_table_is_sorted_and_complete() {
    assert!(
        table::LAYOUTS
            .rows()
            .windows(2)
            .all(|w| w[0].code < w[1].code)
    );
    // Totals of the manual's marks per column; it prints no rows for BC4 and BC5.
    let rgtc = |f: &&Format| f.name.starts_with("BC4") || f.name.starts_with("BC5");
    let count = |c| {
        let rows = table::LAYOUTS.rows().iter().filter(|f| !rgtc(f));
        rows.filter(|f| f.has(c)).count()
    };
    assert_eq!(table::LAYOUTS.rows().iter().filter(rgtc).count(), 4);
    assert_eq!(count(Capability::Sampling), 107);
    assert_eq!(count(Capability::Filtering), 66);
    assert_eq!(count(Capability::Shadow), 16);
    assert_eq!(count(Capability::ChromaKey), 15);
    assert_eq!(count(Capability::RenderTarget), 57);
    assert_eq!(count(Capability::AlphaBlend), 25);
    assert_eq!(count(Capability::VertexBuffer), 85);
    assert_eq!(count(Capability::StreamedOutput), 12);
    assert!(Format::layout(0x1ff).is_none());
    assert!(Format::layout(u32::MAX).is_none());
}

#[test]
fn byte_orders() {
    let e = el(&[0x00, 0x33, 0x66, 0xff]);
    let t = [0.0, 0.2, 0.4, 1.0];
    assert_eq!(floats(f(0x0c7).unpack(&e)), t);
    assert_eq!(floats(f(0x0c0).unpack(&e)), [0.4, 0.2, 0.0, 1.0]);
    assert_eq!(
        floats(f(0x0e9).unpack(&el(&[0x33, 0, 0, 0]))),
        [0.0, 0.0, 0.2, 1.0]
    );
    assert_eq!(floats(f(0x146).unpack(&el(&[0x33]))), [0.2, 0.2, 0.2, 1.0]);
    assert_eq!(floats(f(0x145).unpack(&el(&[0x33]))), [0.2; 4]);
    assert_eq!(floats(f(0x144).unpack(&el(&[0x33]))), [0.0, 0.0, 0.0, 0.2]);
    assert_eq!(
        floats(f(0x114).unpack(&el(&[0x33, 0x66]))),
        [0.2, 0.2, 0.2, 0.4]
    );
    assert_eq!(floats(f(0x140).unpack(&el(&[0x33]))), [0.2, 0.0, 0.0, 1.0]);
}

#[test]
fn packed_sixteen_bit_words() {
    let word = |v: u16| el(&v.to_le_bytes());
    // B5G6R5: blue in the low bits.
    assert_eq!(floats(f(0x100).unpack(&word(0xf800))), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats(f(0x100).unpack(&word(0x001f))), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(floats(f(0x102).unpack(&word(0x83e0))), [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(floats(f(0x104).unpack(&word(0x3f00))), [1.0, 0.0, 0.0, 0.2]);
    assert_eq!(
        f(0x100).pack([1.0f32, 0.5, 0.0, 0.0].map(f32::to_bits))[..2],
        [0x00, 0xfc]
    );
    assert_eq!(
        f(0x11a).pack([1.0f32; 4].map(f32::to_bits))[..2],
        [0xff, 0x7f]
    );
}

#[test]
fn wide_and_odd_formats() {
    assert_eq!(
        f(0x0c2)
            .unpack(&el(&0xc000_03ffu32.to_le_bytes()))
            .map(f32::from_bits),
        [1.0, 0.0, 0.0, 1.0]
    );
    assert_eq!(
        f(0x0d1)
            .unpack(&el(&0x3ff0_0000u32.to_le_bytes()))
            .map(f32::from_bits),
        [1.0, 0.0, 0.0, 0.0]
    );
    // One in 11 bits: exponent 15, mantissa 0.
    let ones = 0x3c0 | 0x3c0 << 11 | 0x1e0 << 22;
    assert_eq!(
        floats(f(0x0d3).unpack(&el(&u32::to_le_bytes(ones)))),
        [1.0; 4]
    );
    assert_eq!(f(0x0d3).pack([ONE; 4])[..4], u32::to_le_bytes(ones));
    assert_eq!(
        f(0x0c4).unpack(&el(&0x4000_0801u32.to_le_bytes())),
        [1, 2, 0, 1]
    );
    assert_eq!(
        f(0x0ca).unpack(&el(&[0xff, 1, 0x80, 0x7f])),
        [u32::MAX, 1, -128i32 as u32, 127]
    );
    assert_eq!(
        f(0x0ca).pack([-500i32 as u32, 500, 5, -1i32 as u32])[..4],
        [0x80, 0x7f, 5, 0xff]
    );
    assert_eq!(f(0x0cb).pack([300, 3, 0, 255])[..4], [255, 3, 0, 255]);
    // R5G5_SNORM_B6_UNORM.
    assert_eq!(
        floats(f(0x119).unpack(&el(&0xfc11u16.to_le_bytes()))),
        [-1.0, 0.0, 1.0, 1.0]
    );
    // R24_UNORM_X8 and X24_G8.
    assert_eq!(
        floats(f(0x0d9).unpack(&el(&0x12ff_ffffu32.to_le_bytes()))),
        [1.0, 0.0, 0.0, 1.0]
    );
    assert_eq!(
        f(0x0da).unpack(&el(&0x12ff_ffffu32.to_le_bytes())),
        [0, 0x12, 0, 1]
    );
    let mut doubles = [0u8; 32];
    for (i, v) in [1.5f64, -2.0, 1e300, 0.1].iter().enumerate() {
        doubles[8 * i..8 * i + 8].copy_from_slice(&v.to_le_bytes());
    }
    assert_eq!(
        floats(f(0x197).unpack_bytes(&doubles)),
        [1.5, -2.0, f32::INFINITY, 0.1]
    );
    assert_eq!(
        floats(f(0x0f4).unpack_bytes(&[0xff, 2, 0x80, 0])),
        [-1.0, 2.0, -128.0, 0.0]
    );
    assert_eq!(
        floats(f(0x193).unpack_bytes(&[0xff, 0, 0x33])),
        [1.0, 0.0, 0.2, 1.0]
    );
}

#[test]
fn srgb_alpha_is_linear() {
    let v = floats(f(0x0c8).unpack(&el(&[188, 188, 188, 128])));
    assert!((v[0] - 0.5028).abs() < 1e-3);
    assert_eq!(v[3], 128.0 / 255.0);
    assert_eq!(
        f(0x0c8).pack([0.5f32; 4].map(f32::to_bits))[..4],
        [188, 188, 188, 128]
    );
}

#[test]
fn video_formats_by_their_fourcc() {
    // YUY2: Y0 U Y1 V; UYVY; YVYU; VYUY. Sampled Cr, Y, Cb.
    for (code, bytes) in [
        (0x182, [10, 20, 30, 40]),
        (0x190, [20, 10, 40, 30]),
        (0x18f, [10, 40, 30, 20]),
        (0x183, [40, 10, 20, 30]),
    ] {
        let get = |x| {
            f(code)
                .unpack_block(&el(&bytes), x, 0)
                .map(|b| (f32::from_bits(b) * 255.0).round() as u8)
        };
        assert_eq!(get(0), [40, 10, 20, 255], "{code:#x}");
        assert_eq!(get(1), [40, 30, 20, 255], "{code:#x}");
    }
}

/// Colours of any bits, which kernels may write to any target.
#[test]
fn fast_functions_pack_what_the_general_one_does() {
    let mut seed = 0x1234_5678_9abc_def0u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        // CAST: some of the bits, and few of them half the time.
        (seed >> 32) as u32 >> (seed % 2 * (seed >> 8) % 32)
    };
    for format in table::LAYOUTS.rows() {
        if !matches!(format.codec, Codec::Channels(_)) {
            continue;
        }
        for _ in 0..500 {
            let colour = [next(), next(), next(), next()];
            assert_eq!(
                format.pack(colour),
                pack_any(format, colour),
                "{format:?} {colour:x?}"
            );
            let element = zerocopy::transmute!(colour);
            assert_eq!(
                format.unpack(&element),
                unpack_any(format, &element),
                "{format:?}"
            );
        }
    }
}

/// Every narrow format that can be rendered survives unpack and pack, and the fast functions
/// agree with the general ones.
#[test]
fn round_trips() {
    for format in table::LAYOUTS.rows() {
        if !matches!(format.codec, Codec::Channels(_)) || format.bytes > 8 {
            continue;
        }
        let mut seed = 0x1234_5678_9abc_def0u64 ^ (format.code as u64) << 32;
        for _ in 0..500 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let e = el(&seed.to_le_bytes());
            let v = format.unpack(&e);
            assert_eq!(v, unpack_any(format, &e), "{format:?}");
            assert_eq!(format.pack(v), pack_any(format, v), "{format:?}");
            if !format.has(Capability::RenderTarget) {
                continue;
            }
            if floats(v).iter().any(|c| c.is_nan()) && format.class == Class::Float {
                continue;
            }
            let packed = format.pack(v);
            assert_eq!(format.unpack(&packed), v, "{format:?} {seed:#x}");
        }
    }
}

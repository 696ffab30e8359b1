//! Formats and tests of the depth buffer.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::intel::cc::stencil::Op;
use crate::intel::cc::{CcState, DepthBlock};
use crate::intel::surface::DepthBuffer;
use mem::GpuAddr;
use mem::tiling::Tiling;
use regs::gen40::{State3dDepthBuffer, values};

const BASE: u32 = 0x1_0000;

fn memory() -> Memory {
    let mut mem = Memory::new(1 << 20, 1024);
    mem.alloc_mapped(GpuAddr::from(BASE), 64 << 10).unwrap();
    mem
}

fn surface(format: DepthFormat, tiling: Tiling) -> DepthBuffer {
    let code = match format {
        DepthFormat::D32FloatS8X24 => 0,
        DepthFormat::D32Float => 1,
        DepthFormat::D24UnormS8 => 2,
        DepthFormat::D24UnormX8 => 3,
        DepthFormat::D16Unorm => 5,
    };
    let command = State3dDepthBuffer::new()
        .with_surface_type(values::surftype::SURFTYPE_2D)
        .with_surface_format(code)
        .with_surface_base_address(BASE)
        .with_surface_pitch(255)
        .with_tiled_surface(tiling == Tiling::Y)
        .with_tile_walk(1)
        .with_width(31)
        .with_height(63);
    crate::intel::r#gen::gen40::surface::resolve_depth(command.dwords()).unwrap()
}

fn buffer(format: DepthFormat, tiling: Tiling) -> DepthTarget {
    DepthTarget::new(&surface(format, tiling), 0).unwrap()
}

fn less() -> Tests {
    Tests {
        depth: true,
        depth_write: true,
        function: Compare::Less,
        ..Tests::default()
    }
}

#[test]
fn unsigned_formats_round_to_nearest() {
    // D3D10 and OpenGL: z * (2^n - 1), rounded.
    let d24 = DepthFormat::D24UnormS8;
    assert_eq!(d24.encode(0.0), 0);
    assert_eq!(d24.encode(1.0), 0xff_ffff);
    assert_eq!(d24.encode(0.5), 0x80_0000);
    assert_eq!(d24.encode(2.0), 0xff_ffff);
    assert_eq!(d24.encode(-1.0), 0);
    assert_eq!(d24.encode(f32::NAN), 0);
    assert_eq!(DepthFormat::D16Unorm.encode(1.0 / 3.0), 21845);
    assert_eq!(DepthFormat::D32Float.encode(0.3), 0.3f32.to_bits());
}

#[test]
fn y_tiles_put_pixels_where_the_manual_says() {
    // Y-major: 16-byte columns of 32 rows. Pixel (5, 3) of a 32-bit format: column 1, row 3.
    let mut mem = memory();
    let b = buffer(DepthFormat::D24UnormS8, Tiling::Y);
    let pass = test_subspan(
        &b,
        &mut mem,
        (4, 2),
        0b1000,
        &[0.5; 4],
        &Tests {
            depth_write: true,
            ..Tests::default()
        },
        true,
    );
    assert_eq!(pass, Ok(0b1000));
    assert_eq!(
        mem.read_u32(GpuAddr::from(BASE + 512 + 3 * 16 + 4))
            .unwrap(),
        0x80_0000
    );
    // The next tile to the right starts 4 KB on.
    let far = b.address(31, 0);
    assert_eq!(far, Some(GpuAddr::from(BASE + 7 * 512 + 12)));
    assert_eq!(b.address(32, 0), None);
    assert_eq!(b.address(0, 64), None);
}

#[test]
fn every_format_keeps_the_nearer_pixel() {
    for format in [
        DepthFormat::D32FloatS8X24,
        DepthFormat::D32Float,
        DepthFormat::D24UnormS8,
        DepthFormat::D24UnormX8,
        DepthFormat::D16Unorm,
    ] {
        for tiling in [Tiling::Linear, Tiling::Y] {
            let mut mem = memory();
            let b = buffer(format, tiling);
            let clear = Tests {
                depth_write: true,
                ..Tests::default()
            };
            test_subspan(&b, &mut mem, (6, 8), 15, &[1.0; 4], &clear, true).unwrap();
            let z = [0.25, 0.5, 0.75, 1.0];
            let pass = test_subspan(&b, &mut mem, (6, 8), 15, &z, &less(), true).unwrap();
            assert_eq!(pass, 0b0111, "{format:?} {tiling:?}");
            let z = [0.5, 0.25, 0.5, 0.5];
            let pass = test_subspan(&b, &mut mem, (6, 8), 0b0111, &z, &less(), false).unwrap();
            assert_eq!(pass, 0b0110, "{format:?} {tiling:?}");
            let depth = Destination::load(&b, &mem, 6, 8).unwrap().depth;
            assert_eq!(depth, [0.25, 0.5, 0.75, 1.0].map(|z| format.encode(z)));
        }
    }
}

#[test]
fn stencil_operations_follow_the_three_outcomes() {
    let face = Face {
        function: Compare::Equal,
        fail: Op::Zero,
        depth_fail: Op::IncrementSaturate,
        pass: Op::Invert,
        reference: 0x05,
        test_mask: 0x0f,
        write_mask: 0x7f,
    };
    for format in [DepthFormat::D24UnormS8, DepthFormat::D32FloatS8X24] {
        let mut mem = memory();
        let b = buffer(format, Tiling::Y);
        for (i, (depth, stencil)) in [(0.5, 0xf5), (0.1, 0xf5), (0.5, 0xf4), (0.5, 0x85)]
            .into_iter()
            .enumerate()
        {
            let at = b.address((i % 2) as u32, (i / 2) as u32).unwrap();
            let raw = format.join(0, format.encode(depth), stencil);
            b.store(&mut mem, at, raw).unwrap();
        }
        let tests = Tests {
            stencil: true,
            stencil_write: true,
            face,
            ..less()
        };
        let pass = test_subspan(&b, &mut mem, (0, 0), 15, &[0.25; 4], &tests, true).unwrap();
        assert_eq!(pass, 0b1001);
        let after = Destination::load(&b, &mem, 0, 0).unwrap();
        // Invert, increment, zero, invert; bit 7 is not writable.
        assert_eq!(after.stencil, [0x8a, 0xf6, 0x80, 0xfa]);
        let z = [0.25, 0.1, 0.5, 0.25].map(|z| format.encode(z));
        assert_eq!(after.depth, z);
    }
}

#[test]
fn unmapped_memory_is_a_fault() {
    let mut mem = Memory::new(1 << 20, 1024);
    let b = buffer(DepthFormat::D24UnormS8, Tiling::Y);
    assert!(test_subspan(&b, &mut mem, (0, 0), 15, &[0.0; 4], &less(), true).is_err());
}

#[test]
fn the_plane_is_clamped_and_survives_nan() {
    let bits = |v: [f32; 8]| v.map(f32::to_bits);
    let row = bits([0.125, -0.25, 9.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
    let plane = DepthPlane::new(&row, [10.0, 20.0], Some((0.0, 1.0)));
    assert_eq!(plane.subspan(10, 20), [0.5, 0.625, 0.25, 0.375]);
    assert_eq!(plane.at(100, 20), 1.0);
    assert_eq!(plane.at(10, 200), 0.0);
    let row = bits([f32::NAN, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
    let plane = DepthPlane::new(&row, [0.0, 0.0], Some((0.25, 1.0)));
    assert_eq!(plane.at(1, 1), 0.25);
}

#[test]
fn early_and_late_tests_agree() {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 20) % n
    };
    let formats = [
        DepthFormat::D32FloatS8X24,
        DepthFormat::D32Float,
        DepthFormat::D24UnormS8,
        DepthFormat::D24UnormX8,
        DepthFormat::D16Unorm,
    ];
    for round in 0..400 {
        let format = formats[round % formats.len()];
        let tiling = [Tiling::Linear, Tiling::Y][round / 5 % 2];
        let (mut early, buffer) = (memory(), surface(format, tiling));
        for at in 0..256 {
            let addr = GpuAddr::from(BASE + at * 4);
            let depth = format.encode(next(5) as f32 / 4.0);
            let raw = format.join(next(1 << 32), depth, next(4) as u8);
            early.write_u32(addr, raw as u32).unwrap();
        }
        let mut late = early.clone();
        let mut op = || Op::from_field(next(8) as u32);
        let face = Face {
            fail: op(),
            depth_fail: op(),
            pass: op(),
            function: Compare::from_field(next(8) as u32),
            reference: next(4) as u8,
            test_mask: 0x83,
            write_mask: 0xc3,
        };
        let mut cc = CcState::default();
        cc.depth.test = next(4) > 0;
        cc.depth.write = next(4) > 0;
        cc.depth.function = Compare::from_field(next(8) as u32);
        cc.stencil.test = next(2) > 0;
        cc.stencil.write = next(2) > 0;
        cc.stencil.front = face;
        let tests = Tests {
            depth: cc.depth.test,
            depth_write: cc.depth.write,
            function: cc.depth.function,
            stencil: cc.stencil.test && format.has_stencil(),
            stencil_write: cc.stencil.write,
            face,
        };
        // Columns 28 to 35 of 32: some subspans lie outside.
        let origins = [(0, 0), (2, 2), (30, 4), (32, 6)];
        let mask = next(1 << 16) as u16;
        let depth: [f32; 16] = std::array::from_fn(|_| next(5) as f32 / 4.0);
        let target = DepthTarget::new(&buffer, 0).unwrap();
        let mut passed = 0;
        for (i, &(x, y)) in origins.iter().enumerate() {
            let bits = (mask >> (i * 4)) as u8 & 15;
            let z = depth[i * 4..][..4].try_into().unwrap();
            let at = (u32::from(x), u32::from(y));
            let pass = test_subspan(&target, &mut early, at, bits, z, &tests, true).unwrap();
            passed |= u16::from(pass) << (i * 4);
        }
        let block = DepthBlock {
            origins: &origins,
            mask,
            depth: &depth,
            back_facing: false,
            slice: 0,
            sample: 0,
            test_depth: true,
            test_stencil: true,
            write: true,
        };
        let outcome =
            crate::intel::cc::depth_stencil_test(&mut late, &cc, &buffer, &block).unwrap();
        if tests.touch() {
            assert_eq!(passed, outcome.passed, "{format:?} {tiling:?} {cc:?}");
        }
        assert!(early.arena_bytes() == late.arena_bytes());
    }
}

#[test]
fn a_depth_is_kept_within_its_range_as_maximum_and_minimum_do() {
    let values = [
        f32::NAN,
        f32::NEG_INFINITY,
        -1.0,
        0.25,
        0.5,
        1.0,
        f32::INFINITY,
    ];
    for v in values {
        for low in values {
            for high in values {
                let want = v.max(low).min(high);
                let found = within(v, (low, high));
                assert!(
                    found == want || found.is_nan() && want.is_nan(),
                    "{v} {low} {high}"
                );
            }
        }
    }
    assert_eq!(within(-0.0, (0.0, 1.0)).to_bits(), (-0.0f32).to_bits());
}

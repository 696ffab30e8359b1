//! Formats and tests of the depth buffer.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::surface::DepthBuffer;
use mem::GpuAddr;
use mem::tiling::Tiling;
use regs::gen40::{State3dDepthBuffer, values};

const BASE: u32 = 0x1_0000;

fn memory() -> Memory {
    let mut mem = Memory::new(1 << 20, 1024);
    mem.alloc_mapped(GpuAddr(BASE), 64 << 10).unwrap();
    mem
}

fn buffer(format: DepthFormat, tiling: Tiling) -> DepthTarget {
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
    DepthTarget::new(&DepthBuffer::resolve(command.dwords()).unwrap(), 0).unwrap()
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
        mem.read_u32(GpuAddr(BASE + 512 + 3 * 16 + 4)).unwrap(),
        0x80_0000
    );
    // The next tile to the right starts 4 KB on.
    let far = b.address(31, 0);
    assert_eq!(far, Some(GpuAddr(BASE + 7 * 512 + 12)));
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
    let face = StencilFace {
        function: Compare::Equal,
        fail: StencilOp::Zero,
        depth_fail: StencilOp::IncrementSaturate,
        pass: StencilOp::Invert,
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
fn stencil_arithmetic_saturates_or_wraps() {
    let table = [
        (StencilOp::Keep, 0xff, 0xff),
        (StencilOp::Zero, 0xff, 0),
        (StencilOp::Replace, 0xff, 0x12),
        (StencilOp::IncrementSaturate, 0xff, 0xff),
        (StencilOp::DecrementSaturate, 0, 0),
        (StencilOp::Increment, 0xff, 0),
        (StencilOp::Decrement, 0, 0xff),
        (StencilOp::Invert, 0x0f, 0xf0),
    ];
    for (code, (op, old, new)) in (0u32..).zip(table) {
        assert_eq!(StencilOp::from_code(code), op);
        assert_eq!(op.apply(old, 0x12), new);
    }
}

#[test]
fn comparisons_are_source_against_destination() {
    let rows = [
        (Compare::Always, [true; 3]),
        (Compare::Never, [false; 3]),
        (Compare::Less, [true, false, false]),
        (Compare::Equal, [false, true, false]),
        (Compare::LessEqual, [true, true, false]),
        (Compare::Greater, [false, false, true]),
        (Compare::NotEqual, [true, false, true]),
        (Compare::GreaterEqual, [false, true, true]),
    ];
    for (code, (function, expected)) in (0u32..).zip(rows) {
        assert_eq!(Compare::from_code(code), function);
        assert_eq!([1, 2, 3].map(|s| function.test(s, 2)), expected);
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
    let plane = DepthPlane::new(&row, [10.0, 20.0], (0.0, 1.0));
    assert_eq!(plane.subspan(10, 20), [0.5, 0.625, 0.25, 0.375]);
    assert_eq!(plane.at(100, 20), 1.0);
    assert_eq!(plane.at(10, 200), 0.0);
    let row = bits([f32::NAN, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
    let plane = DepthPlane::new(&row, [0.0, 0.0], (0.25, 1.0));
    assert_eq!(plane.at(1, 1), 0.25);
}

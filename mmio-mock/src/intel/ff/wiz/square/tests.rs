//! Squares against the test of one subspan after the other.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::super::depth::test_subspan;
use super::*;
use crate::intel::cc::stencil::{Face, Op};
use crate::intel::surface::desc::{DepthDesc, StencilDesc};
use crate::intel::surface::mip::Align;
use crate::intel::surface::{DepthBuffer, SurfaceKind};
use mem::{GpuAddr, Tiling};
use regs::gen40::{State3dDepthBuffer, values};

const BASE: u32 = 0x1_0000;

struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }
}

fn target(format: u32, tiled: bool) -> DepthTarget {
    let command = State3dDepthBuffer::new()
        .with_surface_type(values::surftype::SURFTYPE_2D)
        .with_surface_format(format)
        .with_surface_base_address(BASE)
        .with_surface_pitch(255)
        .with_tiled_surface(tiled)
        .with_tile_walk(1)
        .with_width(29)
        .with_height(62);
    DepthTarget::new(
        &crate::intel::r#gen::gen40::surface::resolve_depth(command.dwords()).unwrap(),
        0,
    )
    .unwrap()
}

#[test]
fn squares_equal_subspans() {
    let mut random = Random(11);
    let mut squares = 0;
    for round in 0..4000u32 {
        let target = target([2, 3, 1][(round % 3) as usize], round & 8 == 0);
        let mut mem = Memory::new(1 << 20, 1024);
        mem.alloc_mapped(GpuAddr::from(BASE), 64 << 10).unwrap();
        for at in 0..4096 {
            // Few different depths, so that equality is common.
            let depth = random.below(5) * 0x2f_ffff + (random.next() << 24);
            mem.write_u32(GpuAddr::from(BASE + at * 4), depth).unwrap();
        }
        let row = [
            (random.below(5) as f32 / 64.0).to_bits(),
            (random.below(5) as f32 / -64.0).to_bits(),
            0,
            (random.below(8) as f32 / 5.0 - 0.2).to_bits(),
            0,
            0,
            0,
            0,
        ];
        let range = (round & 1 == 0).then_some((0.0, 1.0));
        let plane = DepthPlane::new(&row, [3.25, 7.5], range);
        let tests = Tests {
            depth: random.below(4) != 0,
            depth_write: random.below(4) != 0,
            function: Compare::from_field(random.next()),
            ..Tests::default()
        };
        let write = random.below(4) != 0;
        let (x, y) = (4 * random.below(8), 4 * random.below(17));
        let mask = if random.below(2) == 0 {
            0xffff
        } else {
            random.next() as u16
        };
        let mut one = mem.clone();
        let made = test(
            Some(&plane),
            Some(&target),
            &mut mem,
            (x as i32, y as i32),
            (x, y),
            mask,
            (&tests, write),
        );
        let Some(made) = made else {
            continue;
        };
        squares += 1;
        for (s, (dx, dy)) in [(0, 0), (2, 0), (0, 2), (2, 2)].into_iter().enumerate() {
            let (x, y) = (x + dx, y + dy);
            let at = dy * 4 + dx;
            let lit = (mask >> at & 3 | (mask >> (at + 4) & 3) << 2) as u8;
            let z = plane.subspan(x as i32, y as i32);
            let mut want = lit;
            if tests.touch() {
                want = test_subspan(&target, &mut one, (x, y), lit, &z, &tests, write).unwrap();
            }
            assert_eq!(made.passed[s], want, "{round} {tests:?}");
            assert_eq!(made.depth[s], z);
        }
        let (mut a, mut b) = (vec![0; 0x4000], vec![0; 0x4000]);
        mem.read_bytes(GpuAddr::from(BASE), &mut a).unwrap();
        one.read_bytes(GpuAddr::from(BASE), &mut b).unwrap();
        assert_eq!(a, b, "{round} {tests:?}");
    }
    assert!(squares > 1000, "{squares}");
}

/// A buffer of any format, with stencil of its own at `stencil`.
fn any_target(format: DepthFormat, stencil: Option<u32>, depthless: bool) -> DepthTarget {
    let desc = DepthDesc {
        kind: Ok(SurfaceKind::TwoD),
        format: Ok(format),
        base: GpuAddr::from(BASE),
        offset: (0, 0),
        width: 30,
        height: 63,
        depth: 1,
        pitch: if depthless { 0 } else { 256 },
        tiling: Tiling::Y,
        levels_right: false,
        faces_as_slices: false,
        lod: 0,
        min_array_element: 0,
        view_extent: 1,
        coordinate_offset_disable: false,
        samples: 1,
        align: Align::FIRST,
        depth_write: true,
        stencil_write: true,
        stencil: stencil.map(|at| StencilDesc {
            base: GpuAddr::from(at),
            pitch: 128,
            levels: None,
        }),
        hierarchical: None,
    };
    DepthTarget::new(&DepthBuffer::resolve(&desc).unwrap(), 0).unwrap()
}

const APART: u32 = BASE + (48 << 10);

#[test]
fn squares_of_any_format_equal_subspans() {
    use DepthFormat::{D16Unorm, D24UnormS8, D24UnormX8, D32Float, D32FloatS8X24};
    let seed = std::env::var("CRESTLINE_SEED").map_or(77, |seed| seed.parse().unwrap());
    println!("CRESTLINE_SEED={seed}");
    let mut random = Random(seed);
    let mut same = [0; 2];
    for round in 0..8000u32 {
        let format = [D16Unorm, D24UnormS8, D24UnormX8, D32Float, D32FloatS8X24];
        let format = format[random.below(5) as usize];
        let apart = random.below(2) == 0;
        let depthless = apart && random.below(4) == 0;
        // Now and then depth and stencil are one buffer, or stencil begins in the middle of a page.
        let stencil = [APART, APART, APART + 0x40, BASE, APART + 8];
        let stencil = apart.then(|| stencil[random.below(5) as usize]);
        let target = any_target(format, stencil, depthless);
        let mut mem = Memory::new(1 << 20, 1024);
        mem.alloc_mapped(GpuAddr::from(BASE), 64 << 10).unwrap();
        let floats = [0.0, -0.0, f32::NAN, f32::INFINITY, -1.0, 0.25, 1.0, 1e-40];
        let float = |random: &mut Random| floats[random.below(8) as usize].to_bits();
        for at in 0..16384 {
            let dword = match (format, at >= 12288) {
                (_, true) | (D16Unorm, _) => random.below(3) * 0x0101_0101 + random.below(3),
                (D32Float, _) => float(&mut random),
                (D32FloatS8X24, _) if at & 1 == 0 => float(&mut random),
                _ => (random.below(3) << 24) | (random.below(4) * 0x40_0000),
            };
            mem.write_u32(GpuAddr::from(BASE + at * 4), dword).unwrap();
        }
        let row = [
            (random.below(5) as f32 / 64.0).to_bits(),
            (random.below(5) as f32 / -64.0).to_bits(),
            0,
            match random.below(6) {
                0 => float(&mut random),
                _ => (random.below(8) as f32 / 5.0 - 0.2).to_bits(),
            },
            0,
            0,
            0,
            0,
        ];
        let range = (round & 1 == 0).then_some((0.0, 1.0));
        let plane = DepthPlane::new(&row, [3.25, 7.5], range);
        let mut face = || Face {
            function: Compare::from_field(random.next()),
            fail: Op::from_field(random.next()),
            depth_fail: Op::from_field(random.next()),
            pass: Op::from_field(random.next()),
            reference: [0, 1, 2, 0x7f, 0xff][random.below(5) as usize],
            test_mask: [0xff, 0xff, 1, 0xf0, 0][random.below(5) as usize],
            write_mask: [0xff, 0xff, 1, 0xf0, 0][random.below(5) as usize],
        };
        let face = face();
        let has_depth = target.has_depth();
        let tests = Tests {
            depth: has_depth && random.below(4) != 0,
            depth_write: has_depth && random.below(4) != 0,
            function: Compare::from_field(random.next()),
            stencil: target.has_stencil() && random.below(4) != 0,
            stencil_write: random.below(4) != 0,
            face,
        };
        if !tests.touch() {
            continue;
        }
        let write = random.below(4) != 0;
        let (x, y) = (4 * random.below(8), 4 * random.below(16));
        let mask = if random.below(2) == 0 {
            0xffff
        } else {
            random.next() as u16
        };
        let mut one = mem.clone();
        let made = test(
            Some(&plane),
            Some(&target),
            &mut mem,
            (x as i32, y as i32),
            (x, y),
            mask,
            (&tests, write),
        );
        let what = format!("{round} {x} {y} {mask:04x} {write} {target:?} {tests:?}");
        let (mut a, mut b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
        if let Some(made) = made {
            for (s, (dx, dy)) in [(0, 0), (2, 0), (0, 2), (2, 2)].into_iter().enumerate() {
                let (x, y) = (x + dx, y + dy);
                let at = dy * 4 + dx;
                let lit = (mask >> at & 3 | (mask >> (at + 4) & 3) << 2) as u8;
                let z = plane.subspan(x as i32, y as i32);
                let want = test_subspan(&target, &mut one, (x, y), lit, &z, &tests, write).unwrap();
                assert_eq!((made.lit[s], made.passed[s]), (lit, want), "{what}");
                assert_eq!(made.depth[s].map(f32::to_bits), z.map(f32::to_bits));
            }
        } else {
            // Only what reaches over the edge, and buffers that are no rows of tiles or one behind the other.
            let odd = stencil.is_some_and(|at| at == BASE || at == APART + 8);
            assert!(x + 4 > 30 || y + 4 > 63 || odd, "{what}");
        }
        same[usize::from(made.is_some())] += 1;
        mem.read_bytes(GpuAddr::from(BASE), &mut a).unwrap();
        one.read_bytes(GpuAddr::from(BASE), &mut b).unwrap();
        assert!(a == b, "{what}");
    }
    assert!(same[0] > 300 && same[1] > 5000, "{same:?}");
}

#[test]
fn a_square_of_which_a_part_cannot_be_reached_is_left_alone() {
    let tests = Tests {
        depth: true,
        depth_write: true,
        stencil: true,
        stencil_write: true,
        face: Face {
            pass: Op::Invert,
            write_mask: 0xff,
            ..Face::default()
        },
        ..Tests::default()
    };
    let plane = DepthPlane::constant(0.5);
    let target = any_target(DepthFormat::D32Float, Some(APART), false);
    for missing in [BASE, APART] {
        let mut mem = Memory::new(1 << 20, 1024);
        for at in [BASE, APART].into_iter().filter(|at| *at != missing) {
            mem.alloc_mapped(GpuAddr::from(at), 16 << 10).unwrap();
        }
        let made = test(
            Some(&plane),
            Some(&target),
            &mut mem,
            (0, 0),
            (0, 0),
            0xffff,
            (&tests, true),
        );
        assert_eq!(made, None);
        for at in [BASE, APART].into_iter().filter(|at| *at != missing) {
            assert_eq!(mem.read_array::<64>(GpuAddr::from(at)).unwrap(), [0; 64]);
        }
    }
}

#[test]
fn a_square_that_reaches_past_the_buffer_takes_the_general_way() {
    let mut mem = Memory::new(1 << 20, 1024);
    mem.alloc_mapped(GpuAddr::from(BASE), 64 << 10).unwrap();
    let tests = Tests {
        depth: true,
        ..Tests::default()
    };
    let plane = DepthPlane::default();
    let target = target(2, true);
    for (x, y, inside) in [(24, 0, true), (28, 0, false), (0, 56, true), (0, 60, false)] {
        let made = test(
            Some(&plane),
            Some(&target),
            &mut mem,
            (0, 0),
            (x, y),
            0xffff,
            (&tests, true),
        );
        assert_eq!(made.is_some(), inside, "{x} {y}");
    }
}

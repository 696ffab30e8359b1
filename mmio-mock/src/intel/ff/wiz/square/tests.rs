//! Squares against the test of one subspan after the other.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::super::depth::test_subspan;
use super::*;
use mem::GpuAddr;
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
        if !applies(&tests, Some(&target)) {
            continue;
        }
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

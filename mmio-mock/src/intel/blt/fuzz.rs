//! Random states: whatever a guest writes, resolving and accessing come back.
//!
//! PRM: volume 4 4.7.2, volume 1 blitter. Not covered: what the results are; only that there is no panic.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::Blt;
use super::words::opcode::NAMES;
use crate::intel::cc::{DepthBlock, PixelBlock, depth_stencil_test, write_block};
use crate::intel::surface::state::Use;
use mem::{GpuAddr, Memory};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }
    fn dwords<const N: usize>(&mut self) -> [u32; N] {
        std::array::from_fn(|_| self.next())
    }
}

fn memory() -> Memory {
    let mut m = Memory::new(1 << 20, 64);
    m.alloc_mapped(GpuAddr(0), 0x2_0000).unwrap();
    m
}

#[test]
fn surfaces_of_any_state() {
    let mut r = Random(1);
    let mut mem = memory();
    let mut resolved = 0;
    for _ in 0..200_000 {
        let mut d: [u32; 5] = r.dwords();
        d[1] &= 0x1_f000;
        if r.next() & 1 == 0 {
            d[3] |= 0x1ffff << 3;
        }
        for usage in [Use::Sampler, Use::RenderTarget, Use::Raw] {
            let Ok(s) = crate::intel::r#gen::gen40::surface::resolve(&d, usage) else {
                continue;
            };
            resolved += 1;
            let [x, y, z, l] = r.dwords();
            let _ = s.fetch(&mem, x, y, z, l);
            let _ = s.fetch(&mem, x & 31, y & 31, z & 3, l & 3);
            let (cc, colour) = (
                crate::intel::r#gen::gen40::color_calc::resolve(&r.dwords::<8>(), [0.5; 4]),
                [r.dwords(); 4],
            );
            let Ok(cc) = cc else { continue };
            let origins = [(x as u16, y as u16), (0, 0), (3, 5), (65535, 65535)];
            let block = PixelBlock {
                origins: &origins,
                mask: z as u16,
                colour: &colour,
                source1: None,
                sample: 0,
            };
            let _ = write_block(&mut mem, &cc, &s, s.target_slice(l), &block);
        }
    }
    assert!(
        resolved > 10_000,
        "the states are worth something: {resolved}"
    );
}

#[test]
fn depth_buffers_of_any_state() {
    let mut r = Random(2);
    let mut mem = memory();
    let mut resolved = 0;
    for _ in 0..200_000 {
        let mut d: [u32; 5] = r.dwords();
        d[1] |= 0x1ffff;
        d[2] &= 0x1_f000;
        let (Ok(b), Ok(mut cc)) = (
            crate::intel::r#gen::gen40::surface::resolve_depth(&d),
            crate::intel::r#gen::gen40::color_calc::resolve(&r.dwords::<8>(), [0.0; 4]),
        ) else {
            continue;
        };
        resolved += 1;
        cc.depth_range = Some((f32::from_bits(r.next()), f32::from_bits(r.next())));
        let [x, y, m, z] = r.dwords();
        let depth = r.dwords::<16>().map(f32::from_bits);
        let _ = depth_stencil_test(
            &mut mem,
            &cc,
            &b,
            &DepthBlock {
                origins: &[(x as u16, y as u16), (0, 0), (1, 3), (65535, 65535)],
                mask: m as u16,
                depth: &depth,
                back_facing: m >> 16 & 1 == 1,
                slice: b.target_slice(z),
                sample: 0,
                test_depth: m >> 17 & 1 == 1,
                test_stencil: m >> 18 & 1 == 1,
                write: m >> 19 & 1 == 1,
            },
        );
    }
    assert!(
        resolved > 10_000,
        "the states are worth something: {resolved}"
    );
}

#[test]
fn blitter_commands_of_any_kind() {
    let mut r = Random(3);
    let mut mem = memory();
    let mut blt = Blt::new();
    let mut drawn = 0;
    for _ in 0..20_000 {
        let mut c: [u32; 16] = r.dwords();
        let (code, ..) = NAMES[r.next() as usize % NAMES.len()];
        c[0] = c[0] & 0x003f_ffff | code << 22 | 2 << 29;
        // Small coordinates and addresses, so that some commands get somewhere.
        for i in [2, 3, 5] {
            c[i] &= 0x003f_003f;
        }
        for i in [4, 7, 8] {
            c[i] &= 0x1_f000;
        }
        c[1] &= 0xff7f_00ff;
        let n = if r.next().is_multiple_of(8) { 3 } else { 16 };
        if r.next() & 3 != 0 {
            c[0] &= !(1 << 15 | 1 << 11);
        }
        if blt.execute(&c[..n], &mut mem).is_ok_and(|s| s.pixels > 0) {
            drawn += 1;
        }
    }
    assert!(drawn > 200, "{drawn}");
}

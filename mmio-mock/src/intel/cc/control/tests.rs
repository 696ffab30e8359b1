//! Clears, resolves and samples that are alike, beside the rules of the manual.

#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;
use crate::intel::cc::PixelBlock;
use crate::intel::cc::pixel::write_block;
use crate::intel::surface::desc::ControlDesc;
use crate::intel::surface::mip::Align;
use crate::intel::surface::state::Use;
use crate::intel::surface::{Format, SurfaceDesc, format::codes as f};
use mem::{GpuAddr, PAGE_SIZE, Tiling};

const BASE: u32 = 0x10_0000;
const CONTROL: u32 = 0x4000;
const ORIGINS: Origins = [(8, 4), (10, 4), (8, 6), (10, 6)];

/// A target of 32 by 16 pixels that is cleared to red and alpha one.
fn bench(samples: u32) -> (Memory, Surface) {
    let mut mem = Memory::new(1 << 22, 1 << 10);
    mem.alloc_mapped(GpuAddr::from(CONTROL), PAGE_SIZE).unwrap();
    mem.alloc_mapped(GpuAddr::from(BASE), 16 * PAGE_SIZE)
        .unwrap();
    let words = [
        1 << 29 | f::R8G8B8A8_UNORM << 18,
        BASE,
        15 << 19 | 31 << 6,
        0,
        0,
    ];
    let desc = SurfaceDesc {
        format: Format::layout(f::R8G8B8A8_UNORM),
        tiling: Tiling::Y,
        pitch: 128,
        samples,
        sample_slices: true,
        align: Align {
            rows: 4,
            gap: None,
            ..Align::FIRST
        },
        control: Some(ControlDesc {
            base: GpuAddr::from(CONTROL),
            pitch: 128,
        }),
        clear: [true, false, false, true],
        ..crate::intel::r#gen::gen40::surface::surface(&words)
    };
    (mem, Surface::resolve(&desc, Use::RenderTarget).unwrap())
}

fn pixel(mem: &Memory, target: &Surface, (x, y): (u32, u32), sample: u32) -> u32 {
    mem.read_u32(target.sample_address(x, y, 0, 0, sample))
        .unwrap()
}

/// Draws a block of one colour as the data port does it.
fn draw(mem: &mut Memory, target: &Surface, red: f32, mut lit: Vec<u16>) {
    let cc = CcState::default();
    let colour = [[red.to_bits(); 16], [0; 16], [0; 16], [1f32.to_bits(); 16]];
    if let Some(control) = of_samples(target) {
        let together = arrange(mem, &cc, (target, 0), (control, &ORIGINS), &lit).unwrap();
        for lit in lit.iter_mut().skip(1) {
            *lit &= !together;
        }
    }
    for (sample, mask) in (0..).zip(lit) {
        let block = PixelBlock {
            origins: &ORIGINS,
            mask,
            colour: &colour,
            source1: None,
            sample,
        };
        write_block(mem, &cc, target, 0, &block).unwrap();
    }
}

const CLEARED: u32 = 0xff00_00ff;
const HALF: u32 = 0xff00_0080;

#[test]
fn a_pixel_whose_samples_are_alike_has_one_colour_in_slice_0() {
    for samples in [4, 8] {
        let (mut mem, target) = bench(samples);
        let control = *of_samples(&target).unwrap();
        draw(&mut mem, &target, 0.5, vec![0xffff; samples as usize]);
        assert_eq!(control.read(&mem, (8, 4, 0)).unwrap(), 0);
        assert_eq!(pixel(&mem, &target, (8, 4), 0), HALF);
        assert_eq!(pixel(&mem, &target, (8, 4), 1), 0, "is not written");
        for sample in 0..samples {
            let colour = target.fetch_stored(&mem, (11, 7, 0), sample).unwrap();
            assert_eq!(colour[0], num::unorm8_to_f32(0x80).to_bits());
        }
    }
}

#[test]
fn samples_that_differ_have_a_slice_each() {
    for samples in [4u32, 8] {
        let (mut mem, target) = bench(samples);
        let control = *of_samples(&target).unwrap();
        // Cleared, then one sample of pixel 0 is written.
        pass(&mut mem, (&target, 0), Pass::Clear, (&[(0, 0); 4], 1)).unwrap();
        let mark = control.cleared();
        assert_eq!(control.read(&mem, (0, 0, 0)).unwrap(), mark);
        for x in 8..12 {
            control.write(&mut mem, (x, 4, 0), mark).unwrap();
        }
        let mut lit = vec![0; samples as usize];
        lit[2] = 1;
        draw(&mut mem, &target, 0.5, lit);
        assert_eq!(control.read(&mem, (8, 4, 0)).unwrap(), control.apart());
        for sample in 0..samples {
            let want = if sample == 2 { HALF } else { CLEARED };
            assert_eq!(pixel(&mem, &target, (8, 4), sample), want);
        }
        assert_eq!(control.read(&mem, (9, 4, 0)).unwrap(), mark, "not lit");
        // All samples: alike again.
        draw(&mut mem, &target, 0.5, vec![1; samples as usize]);
        assert_eq!(control.read(&mem, (8, 4, 0)).unwrap(), 0);
    }
}

/// What is drawn to a target with cleared blocks finds them filled; what is not drawn to gets its colour with a resolve.
#[test]
fn cleared_blocks_of_one_sample() {
    let (mut mem, target) = bench(1);
    pass(&mut mem, (&target, 0), Pass::Clear, (&[(0, 0); 4], 1)).unwrap();
    assert_eq!(
        pixel(&mem, &target, (0, 0), 0),
        0,
        "memory has older values"
    );
    let copy = mem.clone();
    settle(&mut mem, &target).unwrap();
    draw(&mut mem, &target, 0.5, vec![0xffff]);
    assert_eq!(pixel(&mem, &target, (8, 4), 0), HALF);
    assert_eq!(pixel(&mem, &target, (31, 15), 0), CLEARED);
    // A rectangle scaled down by 4 and 2.
    let mut mem = copy;
    for y in (0..8).step_by(2) {
        for x in (0..8).step_by(8) {
            let origins = [0, 2, 4, 6].map(|dx| (x + dx, y));
            pass(&mut mem, (&target, 0), Pass::Resolve, (&origins, 0xffff)).unwrap();
        }
    }
    for y in 0..16 {
        for x in 0..32 {
            assert_eq!(pixel(&mem, &target, (x, y), 0), CLEARED, "{x} {y}");
        }
    }
    mem.write_u32(target.sample_address(3, 3, 0, 0, 0), 5)
        .unwrap();
    settle(&mut mem, &target).unwrap();
    assert_eq!(pixel(&mem, &target, (3, 3), 0), 5, "no mark is left");
}

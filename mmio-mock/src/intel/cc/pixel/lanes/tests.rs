//! Pixels at once against pixels one by one.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::super::{pixel_position, write_one};
use super::*;
use crate::intel::cc::Origins;
use crate::intel::cc::blend::{Factor, Function};
use crate::intel::cc::state::ClampRange;
use crate::intel::surface::format::codes as f;
use crate::intel::surface::state::Use;
use mem::GpuAddr;

const BASE: GpuAddr = GpuAddr(0x1_0000);

struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }

    fn float(&mut self) -> u32 {
        let specials = [0.0, 1.0, 0.5, 2.0, -1.0, f32::INFINITY, 1e-40];
        match self.below(8) {
            0 => specials[self.below(7) as usize].to_bits(),
            _ => (self.next() as f32 / 8e6 - 0.5).to_bits(),
        }
    }
}

/// A target of 16 by 16 pixels in rows of two tiles. Tiling: 0 linear, 2 X, 3 Y.
fn target(format: u32, tiling: u32, blends: bool, disables: u32) -> Surface {
    let d = [
        1 << 29 | format << 18 | u32::from(blends) << 13 | disables << 14,
        BASE.low(),
        15 << 6 | 15 << 19,
        1023 << 3 | tiling,
        0,
    ];
    crate::intel::r#gen::gen40::surface::resolve(&d, Use::RenderTarget).unwrap()
}

fn memory(random: &mut Random) -> Memory {
    let mut mem = Memory::new(1 << 20, 256);
    mem.alloc_mapped(BASE, 32 << 10).unwrap();
    for at in 0..8192 {
        let noise = random.next() << 16 ^ random.next();
        mem.write_u32(BASE.offset(4 * at), noise).unwrap();
    }
    mem
}

fn bytes(mem: &Memory) -> Vec<u8> {
    let mut out = vec![0; 32 << 10];
    mem.read_bytes(BASE, &mut out).unwrap();
    out
}

fn state(random: &mut Random) -> CcState {
    let mut cc = CcState::default();
    let mut equation = || Equation {
        source: Factor::from_field(random.below(32)).unwrap_or_default(),
        destination: Factor::from_field(random.below(32)).unwrap_or_default(),
        function: Function::from_field(random.below(8)).unwrap_or_default(),
    };
    let (colour, alpha) = (equation(), equation());
    cc.blend = (random.below(4) != 0).then_some(colour);
    cc.blend_alpha = alpha;
    cc.constant = [0.25, -0.5, 0.75, 2.0];
    cc.pre_clamp = random.below(2) == 0;
    cc.post_clamp = random.below(2) == 0;
    cc.clamp_range = [
        ClampRange::Unorm,
        ClampRange::Snorm,
        ClampRange::TargetFormat,
    ][random.below(3) as usize];
    if random.below(3) == 0 {
        cc.write_disables = random.below(16);
    }
    if random.below(4) == 0 {
        cc.logic_op = Some(LogicOp::from_field(random.next()));
    }
    if random.below(3) == 0 {
        cc.dither = Some((random.below(4), random.below(4)));
    }
    cc
}

const FORMATS: [u32; 25] = [
    f::R8_UINT,
    f::R8G8B8A8_UINT,
    f::R16G16_SINT,
    f::R32_SINT,
    f::R10G10B10A2_UINT,
    f::B8G8R8A8_UNORM,
    f::R8G8B8A8_UNORM,
    f::B8G8R8X8_UNORM,
    f::B8G8R8A8_UNORM_SRGB,
    f::R8G8B8A8_SNORM,
    f::B5G6R5_UNORM,
    f::B5G5R5A1_UNORM,
    f::B4G4R4A4_UNORM,
    f::B10G10R10A2_UNORM,
    f::R10G10B10A2_UNORM,
    f::R8_UNORM,
    f::A8_UNORM,
    f::R8G8_UNORM,
    f::R16_UNORM,
    f::R16_FLOAT,
    f::R11G11B10_FLOAT,
    f::R16G16B16A16_UNORM,
    f::R16G16B16A16_FLOAT,
    f::R32_FLOAT,
    f::R32G32B32A32_FLOAT,
];

#[test]
fn pixels_at_once_are_pixels_one_by_one() {
    let seed = std::env::var("CRESTLINE_SEED").map_or(5, |seed| seed.parse().unwrap());
    println!("CRESTLINE_SEED={seed}");
    let mut random = Random(seed);
    let mut made = [0; FORMATS.len()];
    let renders = FORMATS.map(|code| {
        let formats = crate::intel::r#gen::gen40::surface::resolve(
            &[1 << 29 | code << 18, BASE.low(), 0, 511 << 3 | 2, 0],
            Use::RenderTarget,
        );
        formats.is_ok()
    });
    for round in 0..15_000u32 {
        let which = (round as usize) % FORMATS.len();
        if !renders[which] {
            continue;
        }
        let tiling = if FORMATS[which] == f::R32G32B32A32_FLOAT {
            2
        } else {
            2 + random.below(2)
        };
        let disables = if random.below(3) == 0 {
            random.below(15)
        } else {
            0
        };
        let target = target(FORMATS[which], tiling, random.below(4) != 0, disables);
        let cc = state(&mut random);
        let mut planes: [Planes; 2] = [[[0; 16]; 4]; 2];
        let integers = target.format.class != Class::Float;
        for v in planes.as_flattened_mut().as_flattened_mut() {
            *v = match random.below(3) {
                0 if integers => random.below(300),
                1 if integers => random.below(100_000).wrapping_neg(),
                _ => random.float(),
            };
        }
        // Four subspans of a square, or anywhere, seldom over the edge or in odd places.
        let mut origins: Origins = [(0, 0), (2, 0), (0, 2), (2, 2)];
        let odd = random.below(16) == 0;
        if random.below(2) == 0 {
            for (n, at) in origins.iter_mut().enumerate() {
                // CAST: small numbers.
                *at = (
                    random.below(4) as u16 * 2 + 8 * (n as u16 & 1),
                    random.below(4) as u16 * 2 + 8 * (n as u16 >> 1),
                );
                if odd {
                    *at = (random.below(18) as u16, random.below(18) as u16);
                }
            }
        }
        let mask = match random.below(2) {
            0 => 0xffff,
            _ => random.next() as u16,
        };
        let block = PixelBlock {
            origins: &origins,
            mask,
            colour: &planes[0],
            source1: (random.below(2) == 0).then_some(&planes[1]),
            sample: 0,
        };
        let mut one = memory(&mut random);
        let mut all = one.clone();
        let before = bytes(&all);
        let what = format!("{round} {:?} {cc:?} {block:?}", target.format);
        let way = Way::new(&cc, &target).unwrap_or_else(|| panic!("{what}"));
        let Some(written) = way.write(&mut all, &target, 0, &block) else {
            assert!(odd, "{what}");
            assert!(bytes(&all) == before, "{what}");
            continue;
        };
        made[which] += 1;
        let plan = Plan::new(&cc, &target, 0);
        for i in (0..16).filter(|i| mask >> i & 1 != 0) {
            let pick = |p: &Planes| [p[0][i], p[1][i], p[2][i], p[3][i]];
            let colour = pick(block.colour);
            let source1 = block.source1.map_or(colour, pick);
            let at = pixel_position(&origins, i);
            write_one(&mut one, &plan, 0, at, colour, source1).unwrap();
        }
        assert_eq!(written, mask, "{what}");
        let (all, one) = (bytes(&all), bytes(&one));
        let first = all.iter().zip(&one).position(|(a, b)| a != b);
        assert_eq!(
            first,
            None,
            "{:?} {:?} {what}",
            &all[first.unwrap() & !15..][..16],
            &one[first.unwrap() & !15..][..16]
        );
    }
    println!("{made:?}");
    let served = made.iter().filter(|made| **made > 300).count();
    assert!(served >= 14, "{made:?}");
}

#[test]
fn a_page_that_cannot_be_written_leaves_all_as_it_was() {
    // The left half of the pixels is there, and the right half is not.
    let target = target(f::B8G8R8A8_UNORM, 3, true, 0);
    let mut mem = Memory::new(1 << 20, 256);
    mem.alloc_mapped(BASE, 4096).unwrap();
    let wide = Surface {
        width: 64,
        ..target
    };
    let cc = CcState {
        write_disables: 1,
        ..CcState::default()
    };
    let block = PixelBlock {
        origins: &[(30, 0), (32, 0), (30, 2), (32, 2)],
        mask: 0xffff,
        colour: &[[1f32.to_bits(); 16]; 4],
        source1: None,
        sample: 0,
    };
    let way = Way::new(&cc, &wide).unwrap();
    assert_eq!(way.write(&mut mem, &wide, 0, &block), None);
    assert_eq!(mem.read_array::<4096>(BASE).unwrap(), [0; 4096]);
    // Pixels of linear surfaces go one by one.
    let linear = self::target(f::B8G8R8A8_UNORM, 0, true, 0);
    assert!(Way::new(&cc, &linear).is_none());
}

/// Where rows of pixels lie over one another, what a pixel becomes depends on those before it.
#[test]
fn pixels_are_made_before_their_turn_only_where_each_has_a_place() {
    let mut random = Random(77);
    let mem = memory(&mut random);
    let cc = CcState {
        blend: Some(Equation::default()),
        ..CcState::default()
    };
    let origins = [(0, 0), (2, 0), (0, 2), (2, 2)];
    let block = PixelBlock {
        origins: &origins,
        mask: 0xffff,
        colour: &[[0; 16]; 4],
        source1: None,
        sample: 0,
    };
    for (format, width, made) in [
        (f::R8G8B8A8_UNORM, 16, true),
        // Two tiles of 32 pixels.
        (f::R8G8B8A8_UNORM, 64, true),
        (f::R8G8B8A8_UNORM, 65, false),
        (f::B5G6R5_UNORM, 16, false),
    ] {
        let mut target = target(format, 3, true, 0);
        target.geometry.pitch = 256;
        target.width = width;
        let way = Way::new(&cc, &target).unwrap();
        let places = Places::new(&target, 0, &origins, block.mask).unwrap();
        let dwords = way.dwords(&mem, &places, &block);
        assert_eq!(dwords.is_some(), made, "{format:#x} {width}");
    }
}

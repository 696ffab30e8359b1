//! The driver on the model: 2D fills and copies, checked byte by byte.
//!
//! PRM volume 1 (blitter). Command words are written by hand from i915 gt/intel_gpu_commands.h; expectations are
//! computed here, tiled addresses from the layout of X and Y tiles in the uAPI's words.

use crestline_tests::rig::Rig;
use driver::{Object, Tiling};
use fastrand::Rng;

const END: u32 = 0x0a << 23;
/// XY_COLOR_BLT of six dwords, 32 bits a pixel, colour and alpha written.
const COLOR_BLT: u32 = 2 << 29 | 0x50 << 22 | 3 << 20 | 4;
/// XY_SRC_COPY_BLT of eight dwords.
const SRC_COPY_BLT: u32 = 2 << 29 | 0x53 << 22 | 3 << 20 | 6;
const DST_TILED: u32 = 1 << 11;
const SRC_TILED: u32 = 1 << 15;
/// BR13: depth 32, and the raster operations COPY and PATCOPY.
const DEPTH_32: u32 = 3 << 24;
const COPY: u32 = 0xcc << 16;
const PATCOPY: u32 = 0xf0 << 16;

const WIDTH: u32 = 128;
const HEIGHT: u32 = 64;
const PITCH: u32 = 512;
const BYTES: usize = (PITCH * HEIGHT) as usize;

fn surface(rig: &Rig, address: u32, tiling: Tiling) -> Object {
    let object = rig.device.create_object(BYTES, tiling, PITCH).unwrap();
    rig.device.bind_at(&object, address).unwrap();
    object
}

/// Byte offset of a 32-bit pixel: X tiles are 512 bytes by 8 rows, row after row; the pitch here is one tile.
fn offset(tiling: Tiling, x: u32, y: u32) -> usize {
    let bytes = x * 4;
    let at = match tiling {
        Tiling::None => y * PITCH + bytes,
        Tiling::X => (y / 8) * 4096 + (y % 8) * 512 + bytes,
        // Y tiles are 128 bytes by 32 rows, in columns of 16 bytes.
        Tiling::Y => {
            let tile = (y / 32) * (PITCH / 128) + bytes / 128;
            tile * 4096 + (bytes % 128 / 16) * 512 + (y % 32) * 16 + bytes % 16
        }
    };
    at as usize
}

fn pixels(object: &Object, tiling: Tiling) -> Vec<u32> {
    let mut raw = vec![0; BYTES];
    object.read(0, &mut raw).unwrap();
    let at = |x, y| {
        let o = offset(tiling, x, y);
        u32::from_le_bytes(raw[o..o + 4].try_into().unwrap())
    };
    (0..HEIGHT)
        .flat_map(|y| (0..WIDTH).map(move |x| (x, y)))
        .map(|(x, y)| at(x, y))
        .collect()
}

/// Pitch of BR13: bytes, for tiled surfaces dwords.
fn pitch(tiling: Tiling) -> u32 {
    if tiling == Tiling::None {
        PITCH
    } else {
        PITCH / 4
    }
}

fn fill(rig: &Rig, tiling: Tiling, rect: (u32, u32, u32, u32), colour: u32) {
    let tiled = if tiling == Tiling::None { 0 } else { DST_TILED };
    rig.run(&[
        COLOR_BLT | tiled,
        DEPTH_32 | PATCOPY | pitch(tiling),
        rect.1 << 16 | rect.0,
        rect.3 << 16 | rect.2,
        0x0100_0000,
        colour,
        END,
        0,
    ]);
}

#[test]
fn colour_fill() {
    for tiling in [Tiling::None, Tiling::X] {
        let rig = Rig::new();
        let target = surface(&rig, 0x0100_0000, tiling);
        let rect = (5, 3, 100, 41);
        fill(&rig, tiling, rect, 0x1234_5678);
        let inside = |i: usize| {
            let (x, y) = (i as u32 % WIDTH, i as u32 / WIDTH);
            x >= rect.0 && x < rect.2 && y >= rect.1 && y < rect.3
        };
        for (i, pixel) in pixels(&target, tiling).into_iter().enumerate() {
            let expected = if inside(i) { 0x1234_5678 } else { 0 };
            assert_eq!(pixel, expected, "{tiling:?} pixel {i}");
        }
        assert_eq!(rig.platform.device().status().activity.blits, 1);
        drop(target);
        rig.finish();
    }
}

#[test]
fn copy_between_layouts() {
    let mut random = Rng::with_seed(4);
    for from in [Tiling::None, Tiling::X] {
        for to in [Tiling::None, Tiling::X] {
            let rig = Rig::new();
            let source = surface(&rig, 0x0100_0000, from);
            let target = surface(&rig, 0x0200_0000, to);
            let words: Vec<u32> = (0..BYTES / 4).map(|_| random.u32(..)).collect();
            source.write_dwords(0, &words).unwrap();
            let (left, top, right, bottom) = (17, 9, 77, 50);
            let (from_x, from_y) = (33, 2);
            let mut flags = 0;
            if to != Tiling::None {
                flags |= DST_TILED;
            }
            if from != Tiling::None {
                flags |= SRC_TILED;
            }
            rig.run(&[
                SRC_COPY_BLT | flags,
                DEPTH_32 | COPY | pitch(to),
                top << 16 | left,
                bottom << 16 | right,
                0x0200_0000,
                from_y << 16 | from_x,
                pitch(from),
                0x0100_0000,
                END,
                0,
            ]);
            let before = pixels(&source, from);
            let mut expected = vec![0; (WIDTH * HEIGHT) as usize];
            for y in top..bottom {
                for x in left..right {
                    let (u, v) = (x - left + from_x, y - top + from_y);
                    expected[(y * WIDTH + x) as usize] = before[(v * WIDTH + u) as usize];
                }
            }
            assert!(pixels(&target, to) == expected, "{from:?} to {to:?}");
            drop((source, target));
            rig.finish();
        }
    }
}

#[test]
fn overlapping_copy_moves_the_old_pixels() {
    // The PRM leaves no choice: the result is as if the source were read first.
    let rig = Rig::new();
    let surface = surface(&rig, 0x0100_0000, Tiling::None);
    let words: Vec<u32> = (0..BYTES as u32 / 4).collect();
    surface.write_dwords(0, &words).unwrap();
    rig.run(&[
        SRC_COPY_BLT,
        DEPTH_32 | COPY | PITCH,
        0x0001_0001,
        0x0021_0041,
        0x0100_0000,
        0,
        PITCH,
        0x0100_0000,
        END,
        0,
    ]);
    let mut expected = words.clone();
    for y in 1..33 {
        for x in 1..65 {
            expected[y * 128 + x] = words[(y - 1) * 128 + x - 1];
        }
    }
    assert!(pixels(&surface, Tiling::None) == expected);
    drop(surface);
    rig.finish();
}

#[test]
fn pixels_survive_a_round_trip_through_tiles() {
    // A picture tiled here by the formula, copied to a linear surface by the blitter.
    let rig = Rig::new();
    let source = surface(&rig, 0x0100_0000, Tiling::X);
    let target = surface(&rig, 0x0200_0000, Tiling::None);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            source
                .write_dwords(offset(Tiling::X, x, y), &[y << 16 | x])
                .unwrap();
        }
    }
    rig.run(&[
        SRC_COPY_BLT | SRC_TILED,
        DEPTH_32 | COPY | PITCH,
        0,
        HEIGHT << 16 | WIDTH,
        0x0200_0000,
        0,
        PITCH / 4,
        0x0100_0000,
        END,
        0,
    ]);
    let mut words = vec![0; BYTES];
    target.read(0, &mut words).unwrap();
    for (i, word) in words.chunks_exact(4).enumerate() {
        let expected = ((i as u32 / WIDTH) << 16) | (i as u32 % WIDTH);
        assert_eq!(u32::from_le_bytes(word.try_into().unwrap()), expected);
    }
    drop((source, target));
    rig.finish();
}

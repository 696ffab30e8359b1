//! Where mip levels and slices lie inside a surface.
//!
//! PRM: volume 1 (memory data formats: MIPLAYOUT_BELOW, MIPLAYOUT_RIGHT, volumes, arrays); the
//! alignments and the array pitch as in Mesa's isl and brw_tex_layout.
//! Not modelled: padding rows that only the sampler's prefetch touches.

use super::minify;

/// Levels that SURFACE_STATE can name: 0..=14.
pub const MAX_LEVELS: usize = 15;

/// Alignment in texels of compressed formats, across and down.
const ALIGN_COMPRESSED: u32 = 4;

/// What the sizes of levels of plain formats are multiples of, and what lies between the elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Align {
    /// Texels across.
    pub columns: u32,
    /// Texels down.
    pub rows: u32,
    /// Elements of an array have room for two levels and this many times the rows; `None`: for level 0 alone.
    pub gap: Option<u32>,
    /// Elements of an array whose pixels have several samples lie nearer together where they are written; see
    /// [`samples::nearer`](super::samples::nearer).
    pub nearer: bool,
}

impl Align {
    /// Where a generation knows no other: 4 by 2, and 11 times the rows.
    pub const FIRST: Align = Align {
        columns: 4,
        rows: 2,
        gap: Some(11),
        nearer: false,
    };
}

/// Place of a level's first slice and the step between slices, in elements (texels or blocks).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Level {
    /// Left edge.
    pub x: u32,
    /// Top row.
    pub y: u32,
    /// Step to the slice on the right (volumes and cubes).
    pub step_x: u32,
    /// Step to the slice below: next row of slices, or next array element.
    pub step_y: u32,
    /// Slices side by side are `1 << across`.
    pub across: u32,
}

/// How levels and slices are put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrangement {
    /// Level 1 below level 0, the rest to the right of level 1; array elements a fixed pitch apart.
    Below,
    /// Level 1 to the right of level 0, the rest below level 1.
    Right,
    /// Volumes and cubes: levels below each other, 2^level slices side by side.
    Volume,
}

/// What [`layout`] needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Form.
    pub arrangement: Arrangement,
    /// Texels of level 0 across.
    pub width: u32,
    /// Texels of level 0 down.
    pub height: u32,
    /// Slices of level 0: depth of a volume, 6 for a cube.
    pub depth: u32,
    /// Whether slices shrink with the level (volumes, not cubes).
    pub depth_shrinks: bool,
    /// Texels of an element.
    pub block: (u32, u32),
    /// Block-compressed format.
    pub compressed: bool,
    /// Alignment of plain formats, and distance of elements.
    pub align: Align,
    /// Rows that array elements lie nearer together than the rule says.
    pub nearer: u32,
}

const fn align(v: u32, to: u32) -> u32 {
    v.div_ceil(to).wrapping_mul(to)
}

/// Places of all levels. Levels past the last one of the surface get places too, harmlessly.
pub fn layout(spec: &Spec) -> [Level; MAX_LEVELS] {
    let (block_w, block_h) = (spec.block.0.max(1), spec.block.1.max(1));
    let (i, j) = if spec.compressed {
        (ALIGN_COMPRESSED, ALIGN_COMPRESSED)
    } else {
        (spec.align.columns, spec.align.rows.max(1))
    };
    let i = i.max(block_w);
    // Sizes in elements of a level, alignment included.
    let size = |lod: u32| {
        (
            align(minify(spec.width, lod), i) / block_w,
            align(minify(spec.height, lod), j) / block_h,
        )
    };
    let array_pitch = match spec.align.gap {
        Some(gap) => size(0)
            .1
            .wrapping_add(size(1).1)
            .wrapping_add(gap.wrapping_mul(j) / block_h)
            .wrapping_sub(spec.nearer),
        None => size(0).1,
    };
    let mut levels = [Level::default(); MAX_LEVELS];
    let (mut x, mut y) = (0u32, 0u32);
    for (lod, level) in (0..).zip(&mut levels) {
        let (w, h) = size(lod);
        match spec.arrangement {
            Arrangement::Below => {
                *level = Level {
                    x,
                    y,
                    step_x: 0,
                    step_y: array_pitch,
                    across: 0,
                };
                if lod == 1 {
                    x = x.wrapping_add(w);
                } else {
                    y = y.wrapping_add(h);
                }
            }
            Arrangement::Right => {
                *level = Level {
                    x,
                    y,
                    step_x: 0,
                    step_y: array_pitch,
                    across: 0,
                };
                if lod == 0 {
                    x = w;
                } else {
                    y = y.wrapping_add(h);
                }
            }
            Arrangement::Volume => {
                *level = Level {
                    x: 0,
                    y,
                    step_x: w,
                    step_y: h,
                    across: lod,
                };
                let slices = if spec.depth_shrinks {
                    minify(spec.depth, lod)
                } else {
                    spec.depth
                };
                y = y.wrapping_add(slices.div_ceil(1 << lod).wrapping_mul(h));
            }
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(arrangement: Arrangement, w: u32, h: u32, d: u32) -> Spec {
        Spec {
            arrangement,
            width: w,
            height: h,
            depth: d,
            depth_shrinks: true,
            block: (1, 1),
            compressed: false,
            align: Align::FIRST,
            nearer: 0,
        }
    }

    /// Offsets of a 16x16 map worked out by hand from the rule of MIPLAYOUT_BELOW.
    #[test]
    fn below() {
        let l = layout(&spec(Arrangement::Below, 16, 16, 1));
        let at: Vec<_> = l[..5].iter().map(|l| (l.x, l.y)).collect();
        // Level 2 starts right of level 1 (8 wide); 4x4, then 2x2 in a 4x2 slot, then 1x1.
        assert_eq!(at, [(0, 0), (0, 16), (8, 16), (8, 20), (8, 22)]);
        // QPitch = h0 + h1 + 11 j.
        assert_eq!(l[0].step_y, 16 + 8 + 22);
    }

    #[test]
    fn right() {
        let l = layout(&spec(Arrangement::Right, 16, 16, 1));
        let at: Vec<_> = l[..4].iter().map(|l| (l.x, l.y)).collect();
        assert_eq!(at, [(0, 0), (16, 0), (16, 8), (16, 12)]);
    }

    /// An 8x8x8 volume: 8 slices of 8 rows; then 4 slices in rows of 2; then 2 slices in one row.
    #[test]
    fn volume() {
        let l = layout(&spec(Arrangement::Volume, 8, 8, 8));
        assert_eq!((l[0].y, l[0].step_y, l[0].across), (0, 8, 0));
        assert_eq!(
            (l[1].y, l[1].step_x, l[1].step_y, l[1].across),
            (64, 4, 4, 1)
        );
        assert_eq!((l[2].y, l[2].step_x, l[2].step_y), (72, 4, 2));
        assert_eq!(l[3].y, 74);
    }

    /// A cube keeps six slices on every level: 6 rows, 3 rows of 2, 2 rows of 4, 1 row of 8.
    #[test]
    fn cube() {
        let mut s = spec(Arrangement::Volume, 16, 16, 6);
        s.depth_shrinks = false;
        let l = layout(&s);
        let y: Vec<_> = l[..5].iter().map(|l| l.y).collect();
        assert_eq!(y, [0, 96, 96 + 24, 96 + 24 + 8, 96 + 24 + 8 + 2]);
    }

    /// BC1 32x32: elements are 4x4 blocks, levels align to whole blocks.
    #[test]
    fn compressed() {
        let mut s = spec(Arrangement::Below, 32, 32, 1);
        s.block = (4, 4);
        s.compressed = true;
        let l = layout(&s);
        let at: Vec<_> = l[..6].iter().map(|l| (l.x, l.y)).collect();
        assert_eq!(at, [(0, 0), (0, 8), (4, 8), (4, 10), (4, 11), (4, 12)]);
        assert_eq!(l[0].step_y, 8 + 4 + 11);
    }

    #[test]
    fn huge_sizes_do_not_overflow() {
        let mut s = spec(Arrangement::Volume, u32::MAX, u32::MAX, u32::MAX);
        layout(&s);
        s.arrangement = Arrangement::Below;
        layout(&s);
    }
}

//! Several samples of a pixel, where they lie interleaved in memory.
//!
//! Mesa 22.3.6 isl_gfx6.c `isl_gfx6_choose_msaa_layout` (interleaved for every surface of that generation), isl_gfx7.c
//! `isl_gfx7_choose_msaa_layout` (for depth and stencil), isl.c `isl_get_interleaved_msaa_px_size_sa`,
//! `isl_msaa_interleaved_scale_px_to_sa` and `isl_calc_array_pitch_el_rows_gfx4_2d`; blorp_blit.c
//! `blorp_nir_encode_msaa` for the places of samples.

/// Samples of a pixel at most.
pub const MOST: usize = 8;

/// Columns and rows of samples that a pixel has.
#[inline]
pub const fn size(samples: u32) -> (u32, u32) {
    match samples {
        0 | 1 => (1, 1),
        8 => (4, 2),
        _ => (2, 2),
    }
}

/// Columns and rows of samples that pixels take up, of whole blocks of two by two pixels.
#[inline]
pub const fn extent(samples: u32, width: u32, height: u32) -> (u32, u32) {
    if samples <= 1 {
        return (width, height);
    }
    let (across, down) = size(samples);
    (times(width, across), times(height, down))
}

const fn times(pixels: u32, by: u32) -> u32 {
    pixels.wrapping_add(pixels & 1).wrapping_mul(by)
}

/// Rows that elements of an array lie nearer together where pixels are written than where the sampler reads them.
///
/// SNB PRM volume 4 part 1, 7.18.3.7, erratum: the sampler's distance is 4 rows more for heights of 1, 5, 9, ... Level 1 of
/// these heights has a whole number of blocks of 2x2 pixels, and the sampler counts one more: its distance is that of the height
/// above, by which Mesa makes render targets fit (isl_surface_state.c, `s.Height++`).
#[inline]
pub const fn nearer(samples: u32, height: u32) -> u32 {
    if samples > 1 && height % 4 == 1 { 4 } else { 0 }
}

/// Column and row of a sample of pixel (`x`, `y`): bits 0 stay those of the pixel, the sample's bits come next.
#[inline]
pub const fn place(samples: u32, x: u32, y: u32, sample: u32) -> (u32, u32) {
    let columns = match samples {
        0 | 1 => return (x, y),
        8 => (x & !1) << 2 | sample & 4,
        _ => (x & !1) << 1,
    };
    (
        columns | (sample & 1) << 1 | x & 1,
        (y & !1) << 1 | sample & 2 | y & 1,
    )
}

/// Where the column or row of a sample lies, of samples that are counted side by side: the pixel's bit 0 and the sample's change
/// places.
#[inline]
pub const fn interleaved(at: u32) -> u32 {
    at & !3 | (at & 1) << 1 | at >> 1 & 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sample of a block of two by two pixels has a place of its own in four by four; by hand from the rule of
    /// blorp_blit.c: X' = (X & ~1) << 1 | (S & 1) << 1 | X & 1, Y' = (Y & ~1) << 1 | S & 2 | Y & 1.
    #[test]
    fn samples_of_four_pixels_fill_a_square() {
        let mut seen = [[false; 4]; 4];
        for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            for sample in 0..4 {
                let (column, row) = place(4, x, y, sample);
                let seen = &mut seen[row as usize][column as usize];
                assert!(!std::mem::replace(seen, true), "{x} {y} {sample}");
            }
        }
        assert_eq!(place(4, 0, 0, 3), (2, 2));
        assert_eq!(place(4, 3, 2, 1), (7, 4));
        assert_eq!(place(1, 3, 2, 1), (3, 2));
    }

    /// By hand from the rule for eight: X' = (X & ~1) << 2 | (S & 4) | (S & 1) << 1 | X & 1, and Y' as for four.
    #[test]
    fn eight_samples_of_four_pixels_fill_eight_by_four() {
        let mut seen = [[false; 8]; 4];
        for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            for sample in 0..8 {
                let (column, row) = place(8, x, y, sample);
                let seen = &mut seen[row as usize][column as usize];
                assert!(!std::mem::replace(seen, true), "{x} {y} {sample}");
            }
        }
        assert_eq!(place(8, 0, 0, 5), (6, 0));
        assert_eq!(place(8, 3, 2, 6), (13, 6));
    }

    #[test]
    fn samples_side_by_side_are_where_their_pixel_has_them() {
        for (x, y, sample) in [(0, 0, 3), (1, 0, 0), (5, 6, 1), (7, 3, 2)] {
            let (column, row) = (2 * x + (sample & 1), 2 * y + (sample >> 1));
            let found = (interleaved(column), interleaved(row));
            assert_eq!(found, place(4, x, y, sample), "{x} {y} {sample}");
        }
    }

    #[test]
    fn odd_sizes_are_rounded_up() {
        assert_eq!(extent(4, 5, 4), (12, 8));
        assert_eq!(extent(8, 5, 3), (24, 8));
        assert_eq!(extent(1, 5, 4), (5, 4));
        assert_eq!((nearer(4, 5), nearer(4, 6), nearer(1, 5)), (4, 0, 0));
    }
}

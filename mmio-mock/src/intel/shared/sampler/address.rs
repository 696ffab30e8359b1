//! Texture address control: coordinates to texel numbers and weights.
//!
//! PRM: volume 4, 4.2.3.1, 4.2.3.2, 4.2.4. Not modelled: the fixed-point width of coordinates, and
//! with it the address rounding enables.

/// Address control modes of SAMPLER_STATE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// TEXCOORDMODE_WRAP.
    #[default]
    Wrap,
    /// TEXCOORDMODE_MIRROR.
    Mirror,
    /// TEXCOORDMODE_CLAMP.
    Clamp,
    /// TEXCOORDMODE_CUBE: texels past an edge come from the next face.
    Cube,
    /// TEXCOORDMODE_CLAMP_BORDER.
    ClampBorder,
    /// TEXCOORDMODE_MIRROR_ONCE.
    MirrorOnce,
}

impl Mode {
    /// From the field's value; reserved values act as wrap.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        match bits {
            1 => Self::Mirror,
            2 => Self::Clamp,
            3 => Self::Cube,
            4 => Self::ClampBorder,
            5 => Self::MirrorOnce,
            _ => Self::Wrap,
        }
    }
}

/// Texel number of a texel outside a map with a border.
pub const BORDER: i32 = -1;

/// `x` rounded down, saturating; without the library call that `f32::floor` is on plain x86-64.
#[inline(always)]
#[must_use]
pub fn floor(x: f32) -> i32 {
    // CAST: saturates, NaN gives 0.
    let whole = x as i32;
    whole.wrapping_sub(i32::from(whole as f32 > x))
}

/// Folds a normalized coordinate into one period and scales it to texels.
#[inline(always)]
fn texels(mode: Mode, coord: f32, size: i32) -> f32 {
    let size = size as f32;
    match mode {
        Mode::Wrap => (coord - floor(coord) as f32) * size,
        Mode::Mirror => {
            let t = coord - 2.0 * floor(coord * 0.5) as f32;
            (if t > 1.0 { 2.0 - t } else { t }) * size
        }
        Mode::MirrorOnce => coord.abs().min(1.0) * size,
        Mode::Clamp | Mode::Cube | Mode::ClampBorder => coord * size,
    }
}

/// Brings the number of a texel back into the map, or says [`BORDER`].
#[inline(always)]
fn fold(mode: Mode, texel: i32, size: i32) -> i32 {
    let last = size - 1;
    match mode {
        Mode::Wrap if texel < 0 => last,
        Mode::Wrap if texel > last => 0,
        Mode::ClampBorder if texel < 0 || texel > last => BORDER,
        _ => texel.clamp(0, last),
    }
}

/// The texel nearest to `coord` in a dimension of `size` texels (`size` > 0).
#[inline]
#[must_use]
pub fn nearest(mode: Mode, coord: f32, size: i32) -> i32 {
    let texel = floor(texels(mode, coord, size));
    match mode {
        // A coordinate just below a whole number may round up to `size`.
        Mode::Wrap => texel.clamp(0, size - 1),
        _ => fold(mode, texel, size),
    }
}

/// The two texels around `coord` and the weight of the second.
///
/// In cube mode they are not brought back into the face: the caller looks beyond the edge.
#[inline]
#[must_use]
pub fn linear(mode: Mode, coord: f32, size: i32) -> (i32, i32, f32) {
    let at = texels(mode, coord, size) - 0.5;
    let first = floor(at);
    let weight = num::saturate(at - first as f32);
    let second = first.saturating_add(1);
    if mode == Mode::Cube {
        return (first.clamp(-1, size), second.clamp(-1, size), weight);
    }
    (fold(mode, first, size), fold(mode, second, size), weight)
}

/// [`floor`] of four numbers.
#[inline(always)]
fn floor4(x: [f32; 4]) -> [i32; 4] {
    let whole = x.map(|x| x as i32);
    std::array::from_fn(|i| whole[i].wrapping_sub(i32::from(whole[i] as f32 > x[i])))
}

/// Coordinates of a subspan in texels, as [`texels`] gives them.
#[inline(always)]
fn texels4(mode: Mode, coord: [f32; 4], size: i32) -> [f32; 4] {
    match mode {
        Mode::Wrap => {
            let whole = floor4(coord);
            std::array::from_fn(|i| (coord[i] - whole[i] as f32) * size as f32)
        }
        Mode::Clamp | Mode::Cube | Mode::ClampBorder => coord.map(|c| c * size as f32),
        other => coord.map(|c| texels(other, c, size)),
    }
}

/// [`fold`] of four texels.
#[inline(always)]
fn fold4(mode: Mode, texel: [i32; 4], size: i32) -> [i32; 4] {
    let last = size - 1;
    match mode {
        Mode::Wrap => texel.map(|t| {
            let t = if t < 0 { last } else { t };
            if t > last { 0 } else { t }
        }),
        Mode::ClampBorder => texel.map(|t| fold(Mode::ClampBorder, t, size)),
        _ => texel.map(|t| t.max(0).min(last)),
    }
}

/// [`nearest`] for the four pixels of a subspan.
#[inline]
#[must_use]
pub fn nearest4(mode: Mode, coord: [f32; 4], size: i32) -> [i32; 4] {
    let texel = floor4(texels4(mode, coord, size));
    match mode {
        Mode::Wrap => texel.map(|t| t.max(0).min(size - 1)),
        _ => fold4(mode, texel, size),
    }
}

/// [`linear`] for the four pixels of a subspan: first texels, second texels, weights.
#[inline]
#[must_use]
pub fn linear4(mode: Mode, coord: [f32; 4], size: i32) -> ([i32; 4], [i32; 4], [f32; 4]) {
    let at = texels4(mode, coord, size).map(|t| t - 0.5);
    let first = floor4(at);
    let weight = std::array::from_fn(|i| num::saturate(at[i] - first[i] as f32));
    let second = first.map(|t| t.saturating_add(1));
    (fold4(mode, first, size), fold4(mode, second, size), weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The manual's words in integers: where a texel number ends up.
    fn reference(mode: Mode, texel: i32, size: i32) -> i32 {
        match mode {
            Mode::Wrap => texel.rem_euclid(size),
            Mode::Mirror => {
                let t = texel.rem_euclid(2 * size);
                if t < size { t } else { 2 * size - 1 - t }
            }
            Mode::MirrorOnce => (if texel < 0 { -1 - texel } else { texel }).min(size - 1),
            Mode::ClampBorder if texel < 0 || texel >= size => BORDER,
            _ => texel.clamp(0, size - 1),
        }
    }

    const MODES: [Mode; 5] = [
        Mode::Wrap,
        Mode::Mirror,
        Mode::Clamp,
        Mode::ClampBorder,
        Mode::MirrorOnce,
    ];

    #[test]
    fn nearest_follows_the_modes() {
        for mode in MODES {
            for size in [1, 2, 3, 5, 8, 100] {
                for texel in -3 * size..3 * size {
                    let coord = (texel as f32 + 0.5) / size as f32;
                    let want = reference(mode, texel, size);
                    assert_eq!(nearest(mode, coord, size), want, "{mode:?} {texel}/{size}");
                }
            }
        }
    }

    #[test]
    fn linear_takes_the_neighbours_of_the_modes() {
        for mode in MODES {
            for size in [2, 4, 8, 16] {
                for texel in -2 * size..2 * size {
                    let coord = (texel as f32 + 0.75) / size as f32;
                    let (a, b, weight) = linear(mode, coord, size);
                    let value = |t: i32, w: f32| (reference(mode, t, size), w);
                    let mut want = [value(texel, 0.75), value(texel + 1, 0.25)];
                    let mut got = [(a, 1.0 - weight), (b, weight)];
                    // A mirrored coordinate meets the same texels from the other side.
                    want.sort_by_key(|p| p.0);
                    got.sort_by_key(|p| p.0);
                    if want[0].0 == want[1].0 {
                        assert_eq!((got[0].0, got[1].0), (want[0].0, want[0].0));
                    } else {
                        assert_eq!(got, want, "{mode:?} {texel}/{size}");
                    }
                }
            }
        }
    }

    #[test]
    fn four_at_once_are_four_alone() {
        for mode in MODES {
            for size in [1, 7, 64] {
                for n in -400..400 {
                    let coord: [f32; 4] =
                        std::array::from_fn(|i| n as f32 * 0.037 + i as f32 * 0.31);
                    let (first, second, weight) = linear4(mode, coord, size);
                    let near = nearest4(mode, coord, size);
                    for i in 0..4 {
                        let alone = linear(mode, coord[i], size);
                        assert_eq!((first[i], second[i], weight[i]), alone, "{mode:?}");
                        assert_eq!(near[i], nearest(mode, coord[i], size));
                    }
                }
            }
        }
    }

    #[test]
    fn strange_numbers_stay_inside() {
        for mode in MODES {
            for coord in [
                f32::NAN,
                f32::INFINITY,
                f32::NEG_INFINITY,
                1e30,
                -1e30,
                0.99999997,
                -1e-30,
            ] {
                let (a, b, weight) = linear(mode, coord, 7);
                for texel in [nearest(mode, coord, 7), a, b] {
                    assert!((BORDER..7).contains(&texel), "{mode:?} {coord}");
                }
                assert!((0.0..=1.0).contains(&weight));
            }
        }
    }
}

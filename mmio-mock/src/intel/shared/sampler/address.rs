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

/// Folds a coordinate into one period and scales it to texels.
#[inline(always)]
fn texels(mode: Mode, coord: f32, scale: f32) -> f32 {
    match mode {
        Mode::Wrap => (coord - floor(coord) as f32) * scale,
        Mode::Mirror => {
            let t = coord - 2.0 * floor(coord * 0.5) as f32;
            (if t > 1.0 { 2.0 - t } else { t }) * scale
        }
        Mode::MirrorOnce => coord.abs().min(1.0) * scale,
        Mode::Clamp | Mode::Cube | Mode::ClampBorder => coord * scale,
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

/// The texel nearest to `coord` in a dimension of `size` texels (`size` > 0), of which there are `scale` in one of the coordinate.
#[inline]
#[must_use]
pub fn nearest(mode: Mode, coord: f32, (size, scale): (i32, f32)) -> i32 {
    let texel = floor(texels(mode, coord, scale));
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
pub fn linear(mode: Mode, coord: f32, (size, scale): (i32, f32)) -> (i32, i32, f32) {
    let at = texels(mode, coord, scale) - 0.5;
    let first = floor(at);
    let weight = num::saturate(at - first as f32);
    let second = first.saturating_add(1);
    if mode == Mode::Cube {
        return (first.clamp(-1, size), second.clamp(-1, size), weight);
    }
    (fold(mode, first, size), fold(mode, second, size), weight)
}

/// What `f` gives for each of `N` pixels.
// A plain loop: the compiler makes vectors of those.
#[inline(always)]
pub fn lanes<T: Copy + Default, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut out = [T::default(); N];
    for (i, out) in out.iter_mut().enumerate() {
        *out = f(i);
    }
    out
}

/// Coordinates of many pixels in texels, as [`texels`] gives them.
#[inline(always)]
fn texels_lanes<const N: usize>(mode: Mode, coord: &[f32; N], size: &[i32; N]) -> [f32; N] {
    let by = |mode| lanes::<_, N>(|i| texels(mode, coord[i], size[i] as f32));
    match mode {
        Mode::Wrap => by(Mode::Wrap),
        Mode::Mirror => by(Mode::Mirror),
        Mode::MirrorOnce => by(Mode::MirrorOnce),
        Mode::Clamp | Mode::Cube | Mode::ClampBorder => by(Mode::Clamp),
    }
}

/// [`fold`] of the texels of many pixels.
#[inline(always)]
fn fold_lanes<const N: usize>(mode: Mode, texel: &[i32; N], size: &[i32; N]) -> [i32; N] {
    match mode {
        Mode::Wrap => lanes::<_, N>(|i| {
            let last = size[i] - 1;
            let t = if texel[i] < 0 { last } else { texel[i] };
            if t > last { 0 } else { t }
        }),
        Mode::ClampBorder => lanes::<_, N>(|i| fold(Mode::ClampBorder, texel[i], size[i])),
        _ => lanes::<_, N>(|i| texel[i].max(0).min(size[i] - 1)),
    }
}

/// [`nearest`] for many pixels.
#[inline(always)]
#[must_use]
pub fn nearest_lanes<const N: usize>(mode: Mode, coord: &[f32; N], size: &[i32; N]) -> [i32; N] {
    let at = texels_lanes(mode, coord, size);
    let texel = lanes::<_, N>(|i| floor(at[i]));
    match mode {
        Mode::Wrap => lanes::<_, N>(|i| texel[i].max(0).min(size[i] - 1)),
        _ => fold_lanes(mode, &texel, size),
    }
}

/// [`linear`] for many pixels: first texels, second texels, weights.
#[inline(always)]
#[must_use]
pub fn linear_lanes<const N: usize>(
    mode: Mode,
    coord: &[f32; N],
    size: &[i32; N],
) -> ([i32; N], [i32; N], [f32; N]) {
    let at = texels_lanes(mode, coord, size);
    let at = lanes::<_, N>(|i| at[i] - 0.5);
    let first = lanes::<_, N>(|i| floor(at[i]));
    let weight = lanes::<_, N>(|i| num::saturate(at[i] - first[i] as f32));
    let second = lanes::<_, N>(|i| first[i].saturating_add(1));
    (
        fold_lanes(mode, &first, size),
        fold_lanes(mode, &second, size),
        weight,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dimension whose coordinates are normalized.
    fn whole(size: i32) -> (i32, f32) {
        (size, size as f32)
    }

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
                    assert_eq!(
                        nearest(mode, coord, whole(size)),
                        want,
                        "{mode:?} {texel}/{size}"
                    );
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
                    let (a, b, weight) = linear(mode, coord, whole(size));
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
    fn many_at_once_are_each_alone() {
        for mode in MODES {
            for size in [1, 7, 64] {
                for n in -400..400 {
                    let mut coord: [f32; 8] =
                        std::array::from_fn(|i| n as f32 * 0.037 + i as f32 * 0.31);
                    coord[5] = [f32::NAN, f32::INFINITY, -1e30, -1e-30][n as usize & 3];
                    let sizes: [i32; 8] = std::array::from_fn(|i| (size >> (i / 4)).max(1));
                    let (first, second, weight) = linear_lanes(mode, &coord, &sizes);
                    let near = nearest_lanes(mode, &coord, &sizes);
                    for i in 0..8 {
                        let alone = linear(mode, coord[i], whole(sizes[i]));
                        assert_eq!((first[i], second[i], weight[i]), alone, "{mode:?}");
                        assert_eq!(near[i], nearest(mode, coord[i], whole(sizes[i])));
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
                let (a, b, weight) = linear(mode, coord, whole(7));
                for texel in [nearest(mode, coord, whole(7)), a, b] {
                    assert!((BORDER..7).contains(&texel), "{mode:?} {coord}");
                }
                assert!((0.0..=1.0).contains(&weight));
            }
        }
    }
}

//! Level of detail: bias, clamps, minify or magnify, mip levels.
//!
//! PRM: volume 4, 4.2.1 and its pseudocode in 4.2.1.5. The computation keeps full float precision;
//! the widths of the intermediate fixed-point values are not modelled.

use super::address::floor;

/// Mip filters of SAMPLER_STATE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MipFilter {
    /// One level, the finest allowed.
    #[default]
    None,
    /// The nearest level.
    Nearest,
    /// Two levels, blended.
    Linear,
}

/// Inputs of the pseudocode that come from state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LodControl {
    /// Texture LOD Bias.
    pub bias: f32,
    /// Min LOD, relative to the surface's own minimum.
    pub min: f32,
    /// Max LOD, likewise.
    pub max: f32,
    /// Base Mip Level.
    pub base: f32,
    /// Mip Mode Filter.
    pub filter: MipFilter,
    /// LOD PreClamp Enable.
    pub preclamp: bool,
    /// MIP Count of the surface: levels less one.
    pub mip_count: f32,
    /// Surface Min LOD.
    pub surface_min: f32,
}

/// The levels to sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Magnified: the mag filter applies.
    pub mag: bool,
    /// First (finer) level.
    pub level: u32,
    /// Weight of the next level; zero when one level is enough.
    pub beta: f32,
}

impl LodControl {
    /// Applies the pseudocode to the LOD before it: `lod` computed or zero, `bias` of the message.
    #[inline]
    #[must_use]
    pub fn computed(&self, lod: f32, bias: f32) -> Levels {
        self.levels(lod + self.bias + bias)
    }

    /// The same for messages that bring their LOD.
    #[inline]
    #[must_use]
    pub fn given(&self, lod: f32) -> Levels {
        self.levels(self.bias + lod + self.surface_min)
    }

    /// What the LOD message returns: the level that a sample would use, as a fraction between two if they are blended,
    /// and the LOD before all clamps, both relative to the surface's first level; zeros behind them.
    #[must_use]
    pub fn queried(&self, lod: f32) -> [f32; 4] {
        let levels = self.computed(lod, 0.0);
        // CAST: levels are below 2^24.
        let used = levels.level as f32 + levels.beta - self.surface_min;
        [used, lod + self.bias - self.surface_min, 0.0, 0.0]
    }

    /// The finest and the coarsest level, between levels where LODs are; the finest wins where it is the coarser one.
    #[inline(always)]
    #[must_use]
    pub fn range(&self) -> (f32, f32) {
        (
            self.min.min(self.mip_count) + self.surface_min,
            self.max.min(self.mip_count) + self.surface_min,
        )
    }

    fn levels(&self, mut lod: f32) -> Levels {
        let (min, max) = self.range();
        if self.preclamp {
            // Without the MIP count, as later manuals spell out: with it a map of one level could
            // never be minified. Min LOD wins over Max LOD.
            let (top, bottom) = (self.max + self.surface_min, self.min + self.surface_min);
            lod = lod.min(top).max(bottom);
        }
        let mag = lod - self.base <= 0.0;
        let whole = |lod: f32| {
            let top = -(floor(-max) as f32);
            floor(lod.min(top).max(floor(min) as f32)) as f32
        };
        let (level, beta) = if mag || self.filter == MipFilter::None {
            (whole(0.0), 0.0)
        } else if self.filter == MipFilter::Nearest {
            (whole(lod + 0.5), 0.0)
        } else {
            let lod = lod.min(max).max(min);
            let level = floor(lod) as f32;
            (level, lod - level)
        };
        // CAST: float to integer saturates; NaN gives level 0.
        Levels {
            mag,
            level: level as u32,
            beta,
        }
    }
}

/// Base LOD from the texel-space gradients along x and y (PRM 4.2.1.1): log2 of the longer one.
#[inline]
#[must_use]
pub fn from_gradients(dx: [f32; 3], dy: [f32; 3]) -> f32 {
    let square = |d: [f32; 3]| d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    0.5 * num::elementary::log2_single(square(dx).max(square(dy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(filter: MipFilter) -> LodControl {
        LodControl {
            max: 13.0,
            mip_count: 8.0,
            filter,
            preclamp: true,
            ..LodControl::default()
        }
    }

    fn level(mag: bool, level: u32, beta: f32) -> Levels {
        Levels { mag, level, beta }
    }

    #[test]
    fn gradients_give_the_logarithm_of_texels_per_pixel() {
        assert_eq!(from_gradients([4.0, 0.0, 0.0], [0.0, 1.0, 0.0]), 2.0);
        assert_eq!(from_gradients([0.0; 3], [3.0, 4.0, 0.0]), 5f32.log2());
        assert_eq!(from_gradients([0.0; 3], [0.0; 3]), f32::NEG_INFINITY);
    }

    #[test]
    fn mip_filters_choose_levels() {
        assert_eq!(
            control(MipFilter::None).computed(3.0, 0.0),
            level(false, 0, 0.0)
        );
        let nearest = control(MipFilter::Nearest);
        assert_eq!(nearest.computed(2.49, 0.0), level(false, 2, 0.0));
        assert_eq!(nearest.computed(2.5, 0.0), level(false, 3, 0.0));
        assert_eq!(nearest.computed(-1.0, 0.0), level(true, 0, 0.0));
        let linear = control(MipFilter::Linear);
        assert_eq!(linear.computed(2.25, 0.0), level(false, 2, 0.25));
        assert_eq!(
            linear.computed(20.0, 0.0),
            level(false, 8, 0.0),
            "MIP count"
        );
        assert_eq!(linear.computed(1.0, 0.5), level(false, 1, 0.5));
    }

    // covers: 4.2.1.3-05, 4.7.3-21
    #[test]
    fn fractional_bounds_limit_the_blend() {
        let mut linear = control(MipFilter::Linear);
        linear.min = 4.5;
        // PRM 4.2.1.3: level 4 contributes at most half.
        assert_eq!(linear.computed(0.25, 0.0), level(false, 4, 0.5));
        linear.min = 9.0;
        linear.max = 2.0;
        linear.mip_count = 13.0;
        assert_eq!(
            linear.computed(5.0, 0.0),
            level(false, 9, 0.0),
            "Min LOD wins"
        );
    }

    #[test]
    fn surface_minimum_moves_the_range() {
        let mut nearest = control(MipFilter::Nearest);
        nearest.surface_min = 2.0;
        nearest.mip_count = 3.0;
        assert_eq!(nearest.given(1.0), level(false, 3, 0.0));
        assert_eq!(nearest.given(9.0), level(false, 5, 0.0));
        assert_eq!(
            nearest.computed(0.0, 0.0),
            level(false, 2, 0.0),
            "clamped to the minimum"
        );
        nearest.preclamp = false;
        assert_eq!(nearest.computed(0.0, 0.0), level(true, 2, 0.0));
    }

    #[test]
    fn a_single_level_can_still_be_minified() {
        let mut single = control(MipFilter::None);
        single.mip_count = 0.0;
        assert_eq!(single.computed(3.0, 0.0), level(false, 0, 0.0));
        single.max = 0.0;
        assert_eq!(
            single.computed(3.0, 0.0),
            level(true, 0, 0.0),
            "Max LOD pre-clamps"
        );
    }

    // covers: 4.2.1.5-08, 4.2.1.4-01
    #[test]
    fn base_level_moves_the_crossover() {
        let mut linear = control(MipFilter::Linear);
        linear.base = 1.5;
        assert!(linear.computed(1.5, 0.0).mag);
        assert!(!linear.computed(1.75, 0.0).mag);
    }

    #[test]
    fn nan_chooses_some_level() {
        assert!(control(MipFilter::Linear).computed(f32::NAN, 0.0).level <= 8);
    }
}

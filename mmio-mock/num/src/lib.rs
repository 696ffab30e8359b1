//! Bit-exact number formats shared by the units of the model.
//!
//! PRM: volume 4 4.7.2.1.1 (surface formats) and the data formats that vertex fetch, the sampler
//! and the render cache convert. Not modelled: rounding other than to nearest even.
#![forbid(unsafe_code)]

pub mod elementary;
pub mod fixed;
pub mod minifloat;
pub mod norm;
pub mod shared_exp;
pub mod srgb;

pub use minifloat::{f10_to_f32, f11_to_f32, f16_to_f32, f32_to_f10, f32_to_f11, f32_to_f16};
pub use norm::{f32_to_snorm, f32_to_unorm, snorm_to_f32, unorm_to_f32, unorm8_to_f32};
pub use shared_exp::{f32x3_to_rgb9e5, rgb9e5_to_f32x3};
pub use srgb::{linear_to_srgb8, srgb8_to_linear};

/// The low `bits` bits of `v` as a two's complement number. `bits` is 1..=32.
#[inline]
pub const fn sign_extend(v: u32, bits: u32) -> i32 {
    let shift = 32 - bits;
    ((v << shift) as i32) >> shift
}

/// Clamps a float to `0..=1`; NaN becomes 0.
#[inline]
#[expect(
    clippy::manual_clamp,
    reason = "max returns 0 for a NaN, clamp does not"
)]
pub fn saturate(v: f32) -> f32 {
    v.max(0.0).min(1.0)
}

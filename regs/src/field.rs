//! Bit arithmetic of generated accessors, and the typed register handle.
//! Does not access hardware: `kernel::io` does.

use core::marker::PhantomData;
use tock_registers::{RegisterLongName, UIntLike};

/// Bits `hi:lo` of a dword.
#[inline]
pub const fn get(dword: u32, hi: u32, lo: u32) -> u32 {
    (dword >> lo) & mask(hi - lo)
}

/// A dword with bits `hi:lo` replaced.
#[inline]
pub const fn set(dword: u32, hi: u32, lo: u32, value: u32) -> u32 {
    let m = mask(hi - lo) << lo;
    (dword & !m) | ((value << lo) & m)
}

/// The lowest `top + 1` bits.
#[inline]
pub const fn mask(top: u32) -> u32 {
    u32::MAX >> (31 - top)
}

/// Two's complement of `width` bits.
#[inline]
pub const fn signed(value: u32, width: u32) -> i32 {
    ((value << (32 - width)) as i32) >> (32 - width)
}

/// Unsigned fixed point with `frac` fraction bits.
#[inline]
pub fn from_ufixed(value: u32, frac: u32) -> f32 {
    value as f32 / (1u32 << frac) as f32
}

/// Signed fixed point of `width` bits with `frac` fraction bits.
#[inline]
pub fn from_sfixed(value: u32, width: u32, frac: u32) -> f32 {
    signed(value, width) as f32 / (1u32 << frac) as f32
}

/// Nearest unsigned fixed-point number of `width` bits; out of range saturates.
#[inline]
pub fn to_ufixed(value: f32, width: u32, frac: u32) -> u32 {
    let scaled = value * (1u32 << frac) as f32 + 0.5;
    (scaled as u32).min(mask(width - 1))
}

/// Nearest signed fixed-point number of `width` bits, halves away from zero; out of range saturates.
#[inline]
pub fn to_sfixed(value: f32, width: u32, frac: u32) -> u32 {
    let scaled = value * (1u32 << frac) as f32;
    let rounded = (if scaled < 0.0 {
        scaled - 0.5
    } else {
        scaled + 0.5
    }) as i32;
    let top = (mask(width - 1) >> 1) as i32;
    rounded.clamp(-top - 1, top) as u32 & mask(width - 1)
}

/// A register's offset together with the type of its fields.
#[derive(Debug)]
pub struct Reg<T: UIntLike, R: RegisterLongName> {
    offset: u32,
    kind: PhantomData<fn() -> (T, R)>,
}

impl<T: UIntLike, R: RegisterLongName> Clone for Reg<T, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: UIntLike, R: RegisterLongName> Copy for Reg<T, R> {}

impl<T: UIntLike, R: RegisterLongName> Reg<T, R> {
    /// A register at an MMIO byte offset.
    pub const fn new(offset: u32) -> Self {
        Self {
            offset,
            kind: PhantomData,
        }
    }

    /// MMIO byte offset.
    pub const fn offset(self) -> u32 {
        self.offset
    }

    /// The register with the same fields that lies so many bytes above: that of another engine.
    #[must_use]
    pub const fn above(self, bytes: u32) -> Self {
        Self::new(self.offset + bytes)
    }
}

impl<R: RegisterLongName> Reg<u32, R> {
    /// The register on a device, readable and writable with its typed fields.
    pub fn on(self, io: &dyn kernel::io::Io) -> kernel::io::RegProxy<'_, R> {
        kernel::io::RegProxy::new(io, self.offset as usize)
    }
}

/// An array of equal registers.
#[derive(Debug)]
pub struct RegArray<T: UIntLike, R: RegisterLongName> {
    offset: u32,
    stride: u32,
    count: u32,
    kind: PhantomData<fn() -> (T, R)>,
}

impl<T: UIntLike, R: RegisterLongName> Clone for RegArray<T, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: UIntLike, R: RegisterLongName> Copy for RegArray<T, R> {}

impl<T: UIntLike, R: RegisterLongName> RegArray<T, R> {
    /// `count` registers, `stride` bytes apart.
    pub const fn new(offset: u32, stride: u32, count: u32) -> Self {
        Self {
            offset,
            stride,
            count,
            kind: PhantomData,
        }
    }

    /// Number of elements.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Element `index`, `None` past the end.
    pub const fn at(self, index: u32) -> Option<Reg<T, R>> {
        if index < self.count {
            Some(Reg::new(self.offset + index * self.stride))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_rounds_and_saturates() {
        assert_eq!(to_ufixed(1.0, 4, 1), 2);
        assert_eq!(to_ufixed(99.0, 4, 1), 15);
        assert_eq!(to_ufixed(-1.0, 4, 1), 0);
        assert_eq!(to_sfixed(-16.0, 11, 6), 0x400);
        assert_eq!(to_sfixed(15.984_375, 11, 6), 0x3ff);
        assert_eq!(from_sfixed(0x400, 11, 6), -16.0);
        assert_eq!(from_ufixed(3, 1), 1.5);
    }

    #[test]
    fn bits_are_where_the_manual_prints_them() {
        assert_eq!(get(0xdead_beef, 31, 16), 0xdead);
        assert_eq!(set(0, 31, 0, 5), 5);
        assert_eq!(set(0xffff_ffff, 7, 4, 0), 0xffff_ff0f);
        assert_eq!(signed(0x7, 3), -1);
    }
}

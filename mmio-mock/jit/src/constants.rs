//! Bit patterns that machine code computes with.

/// Eight channels of one dword.
pub(crate) const fn all(dword: u32) -> [u32; 8] {
    [dword; 8]
}

/// Four channels of one quadword.
const fn quads(quad: u64) -> [u32; 8] {
    // CAST: both halves.
    let (low, high) = (quad as u32, (quad >> 32) as u32);
    [low, high, low, high, low, high, low, high]
}

/// The exponent of a single float.
pub(crate) const EXPONENT: [u32; 8] = all(0x7f80_0000);
/// Everything but its sign.
pub(crate) const MAGNITUDE: [u32; 8] = all(0x7fff_ffff);
/// Its sign; for integers what moves unsigned order onto signed order.
pub(crate) const SIGN: [u32; 8] = all(0x8000_0000);
/// The NaN that is computed.
pub(crate) const NAN: [u32; 8] = all(0x7fc0_0000);
/// 1.0.
pub(crate) const ONE: [u32; 8] = all(0x3f80_0000);
/// The float below 1.0.
pub(crate) const BELOW_ONE: [u32; 8] = all(0x3f7f_ffff);
/// The bits of a shift count.
pub(crate) const COUNT: [u32; 8] = all(31);
/// Everything but the sign of a double.
pub(crate) const MAGNITUDE_64: [u32; 8] = quads(0x7fff_ffff_ffff_ffff);
/// The bits of a double that a single float has.
pub(crate) const SINGLE_64: [u32; 8] = quads(!0x1fff_ffff);
/// 1.0 as a double.
pub(crate) const ONE_64: [u32; 8] = quads(0x3ff0_0000_0000_0000);
/// The smallest normal single float as a double.
pub(crate) const NORMAL_64: [u32; 8] = quads(0x3810_0000_0000_0000);

/// 2^31: the first float that is no signed dword.
pub(crate) const NO_DWORD: [u32; 8] = all(0x4f00_0000);
/// 2^32: the first float that is no unsigned dword.
pub(crate) const NO_UNSIGNED: [u32; 8] = all(0x4f80_0000);
/// The NaN that is computed as a double.
pub(crate) const NAN_64: [u32; 8] = quads(0x7ff8_0000_0000_0000);
/// 2^16 as a double.
pub(crate) const SCALE_64: [u32; 8] = quads(0x40f0_0000_0000_0000);
/// The low word of a dword.
pub(crate) const LOW_WORD: [u32; 8] = all(0xffff);

/// A bit for each of eight channels, from bit `first` on; none for those past the last.
pub(crate) fn bits(first: u32) -> [u32; 8] {
    std::array::from_fn(|i| 1u32.checked_shl(first + i as u32).unwrap_or(0))
}

/// All bits of the channels that a mask has.
pub(crate) fn lanes(mask: u16) -> [u32; 8] {
    std::array::from_fn(|i| 0u32.wrapping_sub(u32::from(mask >> i & 1)))
}

/// Denormals are zeros of their sign.
pub(crate) fn flush(dword: u32) -> u32 {
    if dword & 0x7f80_0000 == 0 {
        dword & 0x8000_0000
    } else {
        dword
    }
}

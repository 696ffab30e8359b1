//! The 256 raster operations of pattern, source and destination.
//!
//! PRM: volume 1, blitter (raster operation select); the numbering is that of Windows' ROP3.
//! Not modelled: nothing.

/// The result, bit by bit: the operation's bit number `4 P + 2 S + D`.
#[inline]
pub const fn apply(rop: u8, p: u32, s: u32, d: u32) -> u32 {
    match rop {
        0x00 => 0,
        0x33 => !s,
        0x55 => !d,
        0x5a => p ^ d,
        0x66 => s ^ d,
        0x88 => s & d,
        0xaa => d,
        0xcc => s,
        0xee => s | d,
        0xf0 => p,
        0xff => u32::MAX,
        _ => generic(rop, p, s, d),
    }
}

const fn generic(rop: u8, p: u32, s: u32, d: u32) -> u32 {
    let mut out = 0;
    let mut minterm = 0;
    while minterm < 8 {
        if rop >> minterm & 1 == 1 {
            let p = if minterm & 4 != 0 { p } else { !p };
            let s = if minterm & 2 != 0 { s } else { !s };
            let d = if minterm & 1 != 0 { d } else { !d };
            out |= p & s & d;
        }
        minterm += 1;
    }
    out
}

/// Whether the result depends on the destination.
#[inline]
pub const fn uses_destination(rop: u8) -> bool {
    (rop >> 1 ^ rop) & 0x55 != 0
}

/// Whether the result depends on the source.
#[inline]
pub const fn uses_source(rop: u8) -> bool {
    (rop >> 2 ^ rop) & 0x33 != 0
}

/// Whether the result depends on the pattern.
#[inline]
pub const fn uses_pattern(rop: u8) -> bool {
    (rop >> 4 ^ rop) & 0x0f != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The truth table, bit by bit: constants P = 0xf0, S = 0xcc, D = 0xaa give the code itself.
    #[test]
    fn codes_are_their_own_truth_tables() {
        for rop in 0..=255u8 {
            assert_eq!(apply(rop, 0xf0, 0xcc, 0xaa) as u8, rop);
            assert_eq!(generic(rop, 0xf0, 0xcc, 0xaa) as u8, rop);
        }
    }

    /// Named operations of Windows' wingdi.h.
    #[test]
    fn named_operations() {
        let (p, s, d) = (0x1234_5678, 0x0ff0_a5c3, 0x8765_4321);
        for (rop, want) in [
            (0xcc, s),          // SRCCOPY
            (0xee, s | d),      // SRCPAINT
            (0x88, s & d),      // SRCAND
            (0x66, s ^ d),      // SRCINVERT
            (0x44, s & !d),     // SRCERASE
            (0x33, !s),         // NOTSRCCOPY
            (0x11, !(s | d)),   // NOTSRCERASE
            (0xc0, p & s),      // MERGECOPY
            (0xbb, !s | d),     // MERGEPAINT
            (0xf0, p),          // PATCOPY
            (0xfb, d | p | !s), // PATPAINT
            (0x5a, p ^ d),      // PATINVERT
            (0x55, !d),         // DSTINVERT
            (0x00, 0),          // BLACKNESS
            (0xff, u32::MAX),   // WHITENESS
        ] {
            assert_eq!(apply(rop, p, s, d), want, "{rop:#04x}");
        }
    }

    #[test]
    fn operands() {
        assert!(uses_source(0xcc) && !uses_destination(0xcc) && !uses_pattern(0xcc));
        assert!(uses_pattern(0xf0) && !uses_source(0xf0) && !uses_destination(0xf0));
        assert!(uses_destination(0xaa) && !uses_source(0xaa) && !uses_pattern(0xaa));
        assert!(uses_destination(0x5a) && uses_pattern(0x5a) && !uses_source(0x5a));
    }
}

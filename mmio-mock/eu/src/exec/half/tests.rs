//! Half floats against arithmetic of doubles.

use super::{narrow, widen};
use crate::rounding::Rounding;

/// The number that a half float stands for (IEEE 754, binary16).
fn value(half: u32) -> f64 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let exponent = (half >> 10 & 31) as i32;
    let fraction = f64::from(half & 0x3ff);
    let magnitude = match exponent {
        31 if fraction != 0.0 => f64::NAN,
        31 => f64::INFINITY,
        0 => fraction * f64::exp2(-24.0),
        _ => (1.0 + fraction / 1024.0) * f64::exp2(f64::from(exponent - 15)),
    };
    sign * magnitude
}

#[test]
fn every_half_float_is_the_number_that_it_stands_for() {
    for half in 0..0x1_0000 {
        let single = f32::from_bits(widen(half));
        let expected = value(half);
        if expected.is_nan() {
            assert_eq!(single.to_bits(), 0x7fc0_0000, "{half:04x}");
            continue;
        }
        assert_eq!(
            f64::from(single).to_bits(),
            expected.to_bits(),
            "{half:04x}"
        );
        for rounding in [
            Rounding::Nearest,
            Rounding::Up,
            Rounding::Down,
            Rounding::Zero,
        ] {
            assert_eq!(narrow(rounding, single.to_bits()), half, "{half:04x}");
        }
    }
}

/// Between each two neighbours: the middle, and what is next to it and to them.
#[test]
fn numbers_between_two_go_where_the_mode_says() {
    for low in 0..0x7c00u32 {
        let high = low + 1;
        // Behind the largest is 65536 as if it were a half float.
        let top = if high == 0x7c00 { 65536.0 } else { value(high) };
        let middle = f64::midpoint(value(low), top) as f32;
        let even = if low & 1 == 0 { low } else { high };
        let below = (value(low) as f32).next_up();
        let above = (top as f32).next_down();
        let nearest = [
            (below, low),
            (middle.next_down(), low),
            (middle, even),
            (middle.next_up(), high),
            (above, high),
        ];
        for (single, near) in nearest {
            if !single.is_normal() {
                // Denormal singles are zeros before they come here.
                continue;
            }
            let bits = single.to_bits();
            assert_eq!(narrow(Rounding::Nearest, bits), near, "{single:e}");
            assert_eq!(narrow(Rounding::Up, bits), high, "{single:e}");
            assert_eq!(narrow(Rounding::Down, bits), low, "{single:e}");
            assert_eq!(narrow(Rounding::Zero, bits), low, "{single:e}");
            let negative = bits | 1 << 31;
            assert_eq!(narrow(Rounding::Nearest, negative), near | 0x8000);
            assert_eq!(narrow(Rounding::Up, negative), low | 0x8000);
            assert_eq!(narrow(Rounding::Down, negative), high | 0x8000);
            assert_eq!(narrow(Rounding::Zero, negative), low | 0x8000);
        }
    }
}

#[test]
fn what_is_too_large_is_infinite_to_the_nearest() {
    for v in [65536.0f32, 1e10, f32::MAX] {
        assert_eq!(narrow(Rounding::Nearest, v.to_bits()), 0x7c00);
        assert_eq!(narrow(Rounding::Up, v.to_bits()), 0x7c00);
        assert_eq!(narrow(Rounding::Down, v.to_bits()), 0x7bff);
        assert_eq!(narrow(Rounding::Down, (-v).to_bits()), 0xfc00);
        assert_eq!(narrow(Rounding::Zero, (-v).to_bits()), 0xfbff);
    }
    assert_eq!(narrow(Rounding::Zero, f32::INFINITY.to_bits()), 0x7c00);
    assert_eq!(narrow(Rounding::Nearest, 0xffc0_1234), 0x7e00);
}

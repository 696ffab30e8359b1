//! Decimal text of floats as C's `%g` writes it.
//!
//! PRM: volume 4, 10.2.5 (restricted 8-bit floats). Only the default precision of six digits.

use alloc::format;

use super::Line;

/// The value of a restricted 8-bit float: sign, three exponent bits with bias 3, four of fraction.
pub(super) fn restricted(byte: u8) -> f32 {
    let sign = u32::from(byte & 0x80) << 24;
    if matches!(byte, 0x00 | 0x80) {
        return f32::from_bits(sign);
    }
    let exponent = u32::from(byte >> 4 & 7) + 124;
    f32::from_bits(sign | exponent << 23 | u32::from(byte & 0xf) << 19)
}

/// `%g`.
pub(super) fn general(line: &mut Line, value: f64) {
    if value.is_nan() {
        return line.put(if value.is_sign_negative() {
            "-nan"
        } else {
            "nan"
        });
    }
    if value.is_infinite() {
        return line.put(if value < 0.0 { "-inf" } else { "inf" });
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = (5 - exponent).unsigned_abs() as usize;
        line.put(trim(&format!("{value:.decimals$}")));
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        line.fmt(format_args!(
            "{}e{sign}{:02}",
            trim(mantissa),
            exponent.abs()
        ));
    }
}

/// Without trailing zeros of the fraction.
fn trim(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_writes_what_printf_writes() {
        // From the host's printf("%g").
        let cases: [(f32, &str); 14] = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (0.333_333_34, "0.333333"),
            (100_000.0, "100000"),
            (999_999.5, "1e+06"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_1, "0.0001"),
            (0.000_012_345_6, "1.23456e-05"),
            (1e-38, "1e-38"),
            (f32::MAX, "3.40282e+38"),
            (65_280.0, "65280"),
        ];
        for (value, text) in cases {
            let mut line = Line::default();
            general(&mut line, f64::from(value));
            assert_eq!(line.text, text, "{value:?}");
        }
    }

    #[test]
    fn restricted_floats_follow_the_manual() {
        // PRM 10.2.5: 30h is 1.0, 70h is 16, 7Fh is 31, 10h is 0.25; 00h and 80h are zeros.
        assert_eq!(restricted(0x30), 1.0);
        assert_eq!(restricted(0x70), 16.0);
        assert_eq!(restricted(0x7f), 31.0);
        assert_eq!(restricted(0x10), 0.25);
        assert_eq!(restricted(0x00).to_bits(), 0);
        assert_eq!(restricted(0x80).to_bits(), 0x8000_0000);
    }
}

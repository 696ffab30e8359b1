//! Numbers of the command line: digits alone, no signs.
//!
//! The standard library's parsers take a `+`; these do not.

pub mod typed;

/// What stands behind `0x`.
pub fn behind_0x(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// Digits, with `_` between them alone.
pub fn is_number(digits: &str, radix: u32) -> bool {
    digits
        .split('_')
        .all(|part| !part.is_empty() && part.chars().all(|c| c.is_digit(radix)))
}

/// `None` when it is no number, or one of more than 128 bits.
pub fn parse(digits: &str, radix: u32) -> Option<u128> {
    is_number(digits, radix)
        .then(|| u128::from_str_radix(&digits.replace('_', ""), radix).ok())
        .flatten()
}

/// A 32-bit number, hexadecimal with or without `0x`.
pub fn hexadecimal(text: &str) -> Option<u32> {
    parse(behind_0x(text).unwrap_or(text), 16).and_then(|n| u32::try_from(n).ok())
}

/// Decimal, or `0x` and hexadecimal.
pub fn either(text: &str) -> Option<u128> {
    match behind_0x(text) {
        Some(hex) => parse(hex, 16),
        None => parse(text, 10),
    }
}

/// A 32-bit number with an optional 0x.
pub fn dword(text: &str) -> Result<u32, String> {
    let parsed = either(text).and_then(|n| u32::try_from(n).ok());
    parsed.ok_or_else(|| no_dword(text))
}

/// Says that a text is no 32-bit number.
pub fn no_dword(text: &str) -> String {
    format!("`{text}` is not a 32-bit number (decimal, or 0x and hexadecimal)")
}

#[cfg(test)]
mod tests {
    use super::{hexadecimal, parse};

    #[test]
    fn numbers_are_digits() {
        assert_eq!(parse("8000_0001", 16), Some(0x8000_0001));
        for wrong in ["", "+1", "-1", "_1", "1_", "1__2", "0x1", " 1", "g"] {
            assert_eq!(parse(wrong, 16), None, "{wrong:?}");
        }
        assert_eq!(parse(&"f".repeat(33), 16), None);
        assert_eq!(hexadecimal("0x1000"), Some(0x1000));
        assert_eq!(hexadecimal("0x0x1000"), None);
        assert_eq!(hexadecimal("100000000"), None);
    }
}

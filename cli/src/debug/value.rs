//! Numbers as the command line writes them, and as it shows them.
//!
//! PRM: volume 4, 10.2 (types). Not accepted: immediate vectors.

use isa::operand::Type;

use super::Answer;

/// The letters of a type, in either case.
pub fn element_type(text: &str) -> Answer<Type> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "ud" => Type::Ud,
        "d" => Type::D,
        "uw" => Type::Uw,
        "w" => Type::W,
        "ub" => Type::Ub,
        "b" => Type::B,
        "f" => Type::F,
        _ => return Err(format!("unknown type `{text}`: expected ud d uw w ub b f").into()),
    })
}

/// Lower-case letters of a type that registers have.
pub const fn letters(ty: Type) -> &'static str {
    match ty {
        Type::D => "d",
        Type::Uw => "uw",
        Type::W => "w",
        Type::Ub => "ub",
        Type::B => "b",
        Type::F => "f",
        _ => "ud",
    }
}

/// One value of a type.
pub fn shown(ty: Type, bits: u32) -> String {
    match ty {
        Type::F => format!("{:?}", f32::from_bits(bits)),
        Type::D => (bits as i32).to_string(),
        Type::W => (bits as i16).to_string(),
        Type::B => (bits as i8).to_string(),
        Type::Uw => format!("0x{:04x}", bits as u16),
        Type::Ub => format!("0x{:02x}", bits as u8),
        _ => format!("0x{bits:08x}"),
    }
}

/// A number with an optional 0x.
pub fn number(text: &str) -> Answer<u32> {
    let parsed = match hexadecimal(text) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        None => None,
    };
    parsed.ok_or_else(|| {
        format!("`{text}` is no 32-bit number (decimal, or 0x and hexadecimal)").into()
    })
}

/// The same for counts.
pub fn count(text: &str) -> Answer<u64> {
    number(text).map(u64::from)
}

fn hexadecimal(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    digits.filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Bits of one value: decimal or 0x for integers; decimal, inf, nan or the bits in 0x for floats.
pub fn bits(ty: Type, text: &str) -> Answer<u32> {
    let bad = |why: &str| Err(format!("`{text}` {why}").into());
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let hex = hexadecimal(digits);
    if ty == Type::F {
        return match (hex, sign) {
            (Some(hex), 1) => match u32::from_str_radix(hex, 16) {
                Ok(bits) => Ok(bits),
                Err(_) => bad("has more than 32 bits"),
            },
            (Some(_), _) => bad("is no float: bits have no sign"),
            (None, _) => match text.parse::<f32>() {
                Ok(value) => Ok(value.to_bits()),
                Err(_) => bad("is no float"),
            },
        };
    }
    let magnitude = match hex {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok(),
        None => None,
    };
    let Some(value) = magnitude.map(|n: i64| n * sign) else {
        return bad("is no integer");
    };
    let width = 8 * ty.size() as u32;
    let (low, high) = if ty.is_signed_int() {
        // Signed registers take their bits in hexadecimal too.
        let high = if hex.is_some() { width } else { width - 1 };
        (-(1i64 << (width - 1)), (1i64 << high) - 1)
    } else {
        (0, (1i64 << width) - 1)
    };
    if value < low || value > high {
        return bad(&format!("does not fit the {width} bits of its type"));
    }
    Ok(value as u32 & mask(ty))
}

/// Values with commas in between.
pub fn list(ty: Type, text: &str) -> Answer<Vec<u32>> {
    text.split(',').map(|item| bits(ty, item.trim())).collect()
}

/// Bits that a value of a type has.
pub const fn mask(ty: Type) -> u32 {
    match ty.size() {
        1 => 0xff,
        2 => 0xffff,
        _ => u32::MAX,
    }
}

/// Whether two values of a type are equal, or as near as `within` says.
pub fn equal(ty: Type, a: u32, b: u32, within: Option<f64>) -> bool {
    if ty == Type::F {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        let near = within.is_some_and(|e| (f64::from(x) - f64::from(y)).abs() <= e);
        return a == b || x == y || near || x.is_nan() && y.is_nan();
    }
    let of = |bits: u32| match ty {
        Type::D => i64::from(bits as i32),
        Type::W => i64::from(bits as i16),
        Type::B => i64::from(bits as i8),
        _ => i64::from(bits & mask(ty)),
    };
    let difference = (of(a) - of(b)).abs();
    difference == 0 || within.is_some_and(|e| difference as f64 <= e)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn values_by_type() {
        assert_eq!(bits(Type::F, "1.5").unwrap(), 0x3fc0_0000);
        assert_eq!(bits(Type::F, "-0").unwrap(), 0x8000_0000);
        assert_eq!(bits(Type::F, "0x3f800000").unwrap(), 0x3f80_0000);
        assert_eq!(bits(Type::W, "-1").unwrap(), 0xffff);
        assert_eq!(bits(Type::W, "0xfffe").unwrap(), 0xfffe);
        assert_eq!(list(Type::Ud, "1, 2,0x10").unwrap(), [1, 2, 16]);
        for (ty, text, what) in [
            (Type::Ub, "256", "does not fit the 8 bits"),
            (Type::Ud, "-1", "does not fit the 32 bits"),
            (Type::Ud, "+1", "no integer"),
            (Type::D, "0x+1", "no integer"),
            (Type::F, "x", "no float"),
            (Type::F, "-0x1", "no sign"),
            (Type::F, "", "no float"),
        ] {
            let error = bits(ty, text).unwrap_err();
            assert!(error.0.contains(what), "{text}: {error}");
        }
        assert!(number("0x").is_err() && number("-1").is_err() && number("").is_err());
    }

    #[test]
    fn nearness() {
        let f = |v: f32| v.to_bits();
        assert!(equal(Type::F, f(0.5), f(0.500_000_1), Some(1e-6)));
        assert!(!equal(Type::F, f(0.5), f(0.500_000_1), None));
        assert!(equal(Type::F, f(0.0), f(-0.0), None));
        assert!(equal(Type::W, 0xffff, 0x1_ffff, None));
        assert!(equal(Type::D, 5, 7, Some(2.0)) && !equal(Type::D, 5, 8, Some(2.0)));
    }
}

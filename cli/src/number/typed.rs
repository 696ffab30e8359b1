//! Values of registers as the command line writes them, and as it shows them.
//!
//! PRM: volume 4, 10.2 (types). Not accepted: immediate vectors.

use isa::operand::Type;

/// The letters of a type, in either case.
pub fn element_type(text: &str) -> Result<Type, String> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "ud" => Type::Ud,
        "d" => Type::D,
        "uw" => Type::Uw,
        "w" => Type::W,
        "ub" => Type::Ub,
        "b" => Type::B,
        "f" => Type::F,
        _ => return Err(format!("unknown type `{text}`: expected ud d uw w ub b f")),
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

/// Bits that a value of a type has.
pub const fn mask(ty: Type) -> u32 {
    match ty.size() {
        1 => 0xff,
        2 => 0xffff,
        _ => u32::MAX,
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

/// Bits of one value: decimal or 0x for integers, negative ones with their sign in all 32 bits; decimal, inf, nan or
/// the bits in 0x for floats.
pub fn bits(ty: Type, text: &str) -> Result<u32, String> {
    let bad = |why: &str| format!("`{text}` {why}");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let hex = super::behind_0x(digits)
        .filter(|hex| !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    if ty == Type::F {
        return match hex {
            Some(hex) if sign == 1 => {
                u32::from_str_radix(hex, 16).map_err(|_| bad("has more than 32 bits"))
            }
            Some(_) => Err(bad("is not a float: bits have no sign")),
            None => {
                let value: f32 = text.parse().map_err(|_| bad("is not a float"))?;
                // Digits that are more than any float is not a way to write infinity.
                if value.is_infinite() && text.bytes().any(|b| b.is_ascii_digit()) {
                    return Err(bad("is too large for a float"));
                }
                Ok(value.to_bits())
            }
        };
    }
    let magnitude = match hex {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok(),
        None => None,
    };
    let value = magnitude
        .map(|n: i64| n * sign)
        .ok_or_else(|| bad("is no integer"))?;
    let width = 8 * ty.size() as u32;
    let (low, high) = if ty.is_signed_int() {
        // Signed registers take their bits in hexadecimal too.
        let high = if hex.is_some() { width } else { width - 1 };
        (-(1i64 << (width - 1)), (1i64 << high) - 1)
    } else {
        (0, (1i64 << width) - 1)
    };
    if value < low || value > high {
        return Err(bad(&format!("does not fit the {width} bits of its type")));
    }
    Ok(value as u32)
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
        assert_eq!(bits(Type::W, "-1").unwrap(), 0xffff_ffff);
        assert_eq!(bits(Type::W, "0xfffe").unwrap(), 0xfffe);
        for (ty, text, what) in [
            (Type::Ub, "256", "does not fit the 8 bits"),
            (Type::Ud, "-1", "does not fit the 32 bits"),
            (Type::Ud, "+1", "no integer"),
            (Type::D, "--1", "no integer"),
            (Type::D, "0x+1", "no integer"),
            (Type::F, "x", "not a float"),
            (Type::F, "-0x1", "no sign"),
            (Type::F, "", "not a float"),
        ] {
            let error = bits(ty, text).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}

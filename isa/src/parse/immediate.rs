//! Immediate operands: numbers with a type.
//!
//! PRM: volume 4, 11.9 and 13.4. Hexadecimal digits of a float type are its bits; infinities and NaNs
//! have no other text.

use alloc::format;

use super::cursor::Number;
use super::error::Fail;
use super::{Constant, Parser};
use crate::operand::{RegFile, Src, Type};

/// An immediate of these bits.
pub(super) const fn source(ty: Type, imm: u64) -> Src {
    Src {
        file: RegFile::Imm,
        ty,
        imm,
        ..Src::NULL
    }
}

/// Word in both halves of a doubleword.
const fn twice(word: u16) -> u64 {
    (word as u64) << 16 | word as u64
}

impl<'a> Parser<'a> {
    /// A number, a defined constant or a vector of restricted floats, then the type.
    pub(super) fn immediate(&mut self, negative: bool) -> Result<Src, Fail> {
        let start = self.cursor.at;
        if self.cursor.peek() == b'[' {
            if negative {
                return Err(Fail::expected(start, "a number"));
            }
            return self.vector();
        }
        let constant = self.constant()?;
        let negative = negative != constant.negative;
        let ty = match (constant.ty, self.at_type()) {
            (Some(ty), false) => ty,
            _ => self.ty()?,
        };
        bits(start, negative, constant.number, ty, self.wide).map(|imm| source(ty, imm))
    }

    /// A number or the name of one, which may bring its type.
    fn constant(&mut self) -> Result<Constant<'a>, Fail> {
        if !self.cursor.at_name() {
            let number = self.cursor.number()?;
            return Ok(Constant {
                negative: false,
                number,
                ty: None,
            });
        }
        let start = self.cursor.at;
        let name = self.cursor.word();
        let constant = self.constants.get(name).copied();
        constant.ok_or_else(|| Fail::expected(start, "a number or the name of a constant"))
    }

    /// `[a, b, c, d]VF`.
    fn vector(&mut self) -> Result<Src, Fail> {
        let mut imm = 0;
        self.cursor.at += 1;
        for index in 0..4 {
            self.cursor.space();
            let start = self.cursor.at;
            let negative = self.sign();
            let number = self.cursor.number()?;
            let float_type = self.cursor.peek() == b'F';
            self.cursor.at += usize::from(float_type);
            let byte = match (number, float_type) {
                (Number::Hex(value) | Number::Decimal(value), false)
                    if value < 256 && !negative =>
                {
                    value as u8
                }
                (Number::Float(text), _) => restricted(start, negative, text)?,
                (Number::Decimal(value), true) => restricted(start, negative, &format!("{value}"))?,
                _ => return Err(Fail::expected(start, "a float as 1F or a byte")),
            };
            imm |= u64::from(byte) << (8 * index);
            if index < 3 {
                self.cursor.require(b',', "','")?;
            }
        }
        self.cursor.require(b']', "']'")?;
        let at = self.cursor.at;
        match self.ty()? {
            Type::Vf => Ok(source(Type::Vf, imm)),
            _ => Err(Fail::expected(at, "the type VF")),
        }
    }
}

fn bits(at: usize, negative: bool, number: Number<'_>, ty: Type, wide: bool) -> Result<u64, Fail> {
    // `dim` writes the 64 bits of a double with type F.
    let ty = if wide && ty == Type::F { Type::Df } else { ty };
    let (value, hex) = match number {
        Number::Hex(value) => (value, true),
        Number::Decimal(value) => (value, false),
        Number::Float(text) if ty.is_float() => return float(at, negative, text, ty),
        Number::Float(_) => {
            return Err(Fail::text(at, format!("a fraction is no {ty:?} immediate")));
        }
    };
    if ty.is_float() && ty != Type::Vf && !hex {
        let text = format!("{value}");
        return float(at, negative, &text, ty);
    }
    integer(at, negative, value, ty)
}

fn integer(at: usize, negative: bool, value: u64, ty: Type) -> Result<u64, Fail> {
    let bits: u32 = match ty {
        Type::Uw | Type::W | Type::Hf => 16,
        Type::Q | Type::Uq | Type::Df => 64,
        Type::Ub | Type::B => {
            return Err(Fail::text(
                at,
                "bytes are no immediates; the types are UD D UW W F VF V UV (DF HF UQ Q on later generations)",
            ));
        }
        _ => 32,
    };
    // Both readings of the bits are welcome: 0xffff and -1 are the same word.
    let most = u64::MAX >> (64 - bits);
    let least = 1_u64 << (bits - 1);
    if negative && value > least || value > most {
        return Err(Fail::text(
            at,
            format!("the number does not fit the {bits} bits of {ty:?}"),
        ));
    }
    let value = if negative {
        value.wrapping_neg()
    } else {
        value
    } & most;
    Ok(if bits == 16 {
        twice(value as u16)
    } else {
        value
    })
}

fn float(at: usize, negative: bool, text: &str, ty: Type) -> Result<u64, Fail> {
    let wrong = || Fail::expected(at, "a number");
    match ty {
        Type::Df => {
            let value: f64 = text.parse().map_err(|_| wrong())?;
            finite(at, value.is_finite(), text, ty)?;
            Ok(if negative { -value } else { value }.to_bits())
        }
        Type::Hf => {
            let value: f64 = text.parse().map_err(|_| wrong())?;
            let bits = half(if negative { -value } else { value });
            finite(at, bits & 0x7c00 != 0x7c00, text, ty)?;
            Ok(twice(bits))
        }
        Type::Vf => {
            let byte = restricted(at, negative, text)?;
            Ok(u64::from(byte) * 0x0101_0101)
        }
        _ => {
            let value: f32 = text.parse().map_err(|_| wrong())?;
            finite(at, value.is_finite(), text, ty)?;
            Ok(u64::from(if negative { -value } else { value }.to_bits()))
        }
    }
}

/// A number past the largest of its type is no infinity: that is written by its bits.
fn finite(at: usize, finite: bool, text: &str, ty: Type) -> Result<(), Fail> {
    if finite {
        return Ok(());
    }
    Err(Fail::text(
        at,
        format!("{text} is too large for {ty:?}; an infinity is written by its bits in 0x"),
    ))
}

/// The restricted 8-bit float of a number that is one.
fn restricted(at: usize, negative: bool, text: &str) -> Result<u8, Fail> {
    let value: f32 = text.parse().map_err(|_| Fail::expected(at, "a number"))?;
    let sign = if negative { 0x80 } else { 0 };
    let bits = value.to_bits();
    if bits == 0 {
        return Ok(sign);
    }
    // PRM vol4 10.2.5: three exponent bits with bias 3, four bits of fraction; 2^-3 would be zero.
    let exponent = (bits >> 23).wrapping_sub(124);
    let byte = exponent << 4 | bits >> 19 & 0xf;
    if exponent > 7 || bits & 0x7_ffff != 0 || byte == 0 {
        return Err(Fail::text(
            at,
            format!("{text} is no restricted float (four bits of fraction, up to 31)"),
        ));
    }
    Ok(byte as u8 | sign)
}

/// IEEE half precision, rounded to nearest even.
fn half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let fraction = bits & 0xf_ffff_ffff_ffff;
    if exponent == 1024 {
        return sign | 0x7c00 | if fraction == 0 { 0 } else { 0x200 };
    }
    if exponent < -25 {
        return sign;
    }
    // The significand with its leading one; denormals lose bits below 2^-24.
    let lost = if exponent < -14 {
        42 + (-14 - exponent)
    } else {
        42
    } as u32;
    let significand = fraction | 1 << 52;
    let kept = significand >> lost;
    let rest = significand & ((1 << lost) - 1);
    let middle = 1_u64 << (lost - 1);
    let up = rest > middle || rest == middle && kept & 1 == 1;
    let biased = if exponent < -14 {
        0
    } else {
        (exponent + 14) as u64
    };
    // A carry out of the fraction goes into the exponent, as it should.
    let packed = (biased << 10) + kept + u64::from(up);
    sign | packed.min(0x7c00) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_nearest_even() {
        // IEEE 754 binary16: smallest denormal, largest finite, ties, overflow.
        let cases: [(f64, u16); 12] = [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (5.960_464_477_539_063e-8, 1),
            (2.980_232_238_769_531_4e-8, 0),
            (6.103_515_625e-5, 0x0400),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
        ];
        for (value, bits) in cases {
            assert_eq!(half(value), bits, "{value}");
        }
    }

    #[test]
    fn restricted_floats_are_the_manuals() {
        // PRM vol4 10.2.5: 30h is 1.0, 70h 16, 7Fh 31, 10h 0.25.
        for (text, byte) in [
            ("1", 0x30),
            ("16", 0x70),
            ("31", 0x7f),
            ("0.25", 0x10),
            ("0", 0),
        ] {
            assert_eq!(restricted(0, false, text).ok(), Some(byte));
            assert_eq!(restricted(0, true, text).ok(), Some(byte | 0x80));
        }
        for text in ["0.125", "32", "1.03", "0.001"] {
            assert!(restricted(0, false, text).is_err(), "{text}");
        }
    }
}

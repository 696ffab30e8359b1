//! Extended math: reciprocal, roots, logarithm, power, sine, integer divide.
//!
//! PRM: volume 4, chapter 6; Sandy Bridge volume 4 part 2, 8.3.31. Results are computed in double precision and rounded once, so
//! they are better than promised, and the same on every host.

use crate::port::FloatMode;
use num::elementary;

/// Function codes of descriptor bits 3:0 (PRM 6.1.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// 1 / x.
    Inv,
    /// Logarithm to base 2.
    Log,
    /// 2 to the power x.
    Exp,
    /// Square root.
    Sqrt,
    /// Reciprocal square root.
    Rsq,
    /// Sine of radians.
    Sin,
    /// Cosine of radians.
    Cos,
    /// Sine, then cosine.
    SinCos,
    /// a / b, of the instruction alone.
    Fdiv,
    /// |a| to the power b.
    Pow,
    /// Integer quotient, then remainder.
    IntDivBoth,
    /// Integer quotient.
    IntDivQuotient,
    /// Integer remainder.
    IntDivRemainder,
}

impl Function {
    /// Decodes bits 3:0; `None` for the reserved codes 0, 9, Eh and Fh.
    #[must_use]
    pub const fn from_code(code: u16) -> Option<Self> {
        Some(match code & 0xf {
            1 => Self::Inv,
            2 => Self::Log,
            3 => Self::Exp,
            4 => Self::Sqrt,
            5 => Self::Rsq,
            6 => Self::Sin,
            7 => Self::Cos,
            8 => Self::SinCos,
            10 => Self::Pow,
            11 => Self::IntDivBoth,
            12 => Self::IntDivQuotient,
            13 => Self::IntDivRemainder,
            _ => return None,
        })
    }

    /// The function of an instruction: its codes are the message's, with a division in the place of sine and cosine.
    #[must_use]
    pub const fn of_instruction(code: u8) -> Option<Self> {
        match code {
            8 => None,
            9 => Some(Self::Fdiv),
            _ => Self::from_code(code as u16),
        }
    }

    /// Message registers that the function takes (PRM 6.1.1.3).
    #[must_use]
    pub const fn operands(self) -> usize {
        match self {
            Self::Fdiv
            | Self::Pow
            | Self::IntDivBoth
            | Self::IntDivQuotient
            | Self::IntDivRemainder => 2,
            _ => 1,
        }
    }

    /// Whether it divides integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::IntDivBoth | Self::IntDivQuotient | Self::IntDivRemainder
        )
    }
}

/// Flushes denormals to zero of the same sign (PRM 10.3.1.2).
#[inline(always)]
#[must_use]
pub fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    let tiny = 0u32.wrapping_sub(u32::from(bits & 0x7f80_0000 == 0)) & 0x7fff_ffff;
    f32::from_bits(bits & !tiny)
}

/// ALT mode produces no infinity (PRM 10.3.2).
#[must_use]
#[inline]
pub fn clamp_alt(x: f32) -> f32 {
    if x.is_infinite() {
        f32::MAX.copysign(x)
    } else {
        x
    }
}

/// One float function of one or two operands; `SinCos` gives the sine here.
#[must_use]
pub fn float(function: Function, mode: FloatMode, a: f32, b: f32) -> f32 {
    let alt = mode == FloatMode::Alt;
    let a = flush(a);
    // PRM 6.3.2, 6.3.4, 6.3.5: in ALT mode LOG, SQRT and RSQ take the absolute value.
    let magnitude = if alt { a.abs() } else { a };
    let result = match function {
        Function::Inv => 1.0 / a,
        Function::Log if magnitude < 0.0 => f32::NAN,
        // Either zero has the logarithm -inf.
        Function::Log => elementary::log2(magnitude.into()) as f32,
        Function::Exp => elementary::exp2(a.into()) as f32,
        // Correctly rounded by the host; the root of -0 is -0 as the table wants.
        Function::Sqrt => magnitude.sqrt(),
        Function::Rsq if magnitude == 0.0 => f32::INFINITY.copysign(magnitude),
        Function::Rsq => (1.0 / f64::from(magnitude).sqrt()) as f32,
        Function::Sin | Function::SinCos => elementary::sin(a) as f32,
        Function::Cos => elementary::cos(a) as f32,
        Function::Fdiv => a / flush(b),
        Function::Pow => power(a, flush(b), alt),
        _ => 0.0,
    };
    let result = flush(result);
    if alt { clamp_alt(result) } else { result }
}

/// 2^(b log2|a|): the formula of PRM 6.3.6 also yields its special-value table, as 0 * inf is NaN.
fn power(a: f32, b: f32, alt: bool) -> f32 {
    let mut log = elementary::log2(a.abs().into());
    if alt && log.is_infinite() {
        log = f64::from(f32::MAX).copysign(log);
    }
    elementary::exp2(f64::from(b) * log) as f32
}

/// Integer divide: quotient and remainder (PRM 6.3.10).
#[must_use]
pub fn divide(numerator: u32, denominator: u32, signed: bool) -> (u32, u32) {
    if signed {
        let (n, d) = (numerator as i32, denominator as i32);
        if d == 0 {
            let limit = if n < 0 { 0x8000_0000 } else { 0x7fff_ffff };
            return (limit, limit);
        }
        (n.wrapping_div(d) as u32, n.wrapping_rem(d) as u32)
    } else {
        (
            numerator.checked_div(denominator).unwrap_or(u32::MAX),
            numerator.checked_rem(denominator).unwrap_or(u32::MAX),
        )
    }
}

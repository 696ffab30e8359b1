//! Values as the debugger's commands write them, and when two of them are equal.
//!
//! PRM: volume 4, 10.2 (types). Not accepted: immediate vectors.

use isa::operand::Type;

use super::Answer;
use crate::number::{self, typed};

pub use typed::{element_type, letters, mask, shown};

/// A number with an optional 0x, and nothing between its digits.
pub fn number(text: &str) -> Answer<u32> {
    if text.contains('_') {
        return Err(number::no_dword(text).into());
    }
    Ok(number::dword(text)?)
}

/// The same for counts.
pub fn count(text: &str) -> Answer<u64> {
    number(text).map(u64::from)
}

/// Bits of one value, as many as its type has.
pub fn bits(ty: Type, text: &str) -> Answer<u32> {
    Ok(typed::bits(ty, text)? & mask(ty))
}

/// Values with commas in between.
pub fn list(ty: Type, text: &str) -> Answer<Vec<u32>> {
    text.split(',').map(|item| bits(ty, item.trim())).collect()
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
    fn values_have_the_bits_of_their_type() {
        assert_eq!(bits(Type::W, "-1").unwrap(), 0xffff);
        assert_eq!(bits(Type::W, "0xfffe").unwrap(), 0xfffe);
        assert_eq!(bits(Type::D, "-1").unwrap(), u32::MAX);
        assert_eq!(list(Type::Ud, "1, 2,0x10").unwrap(), [1, 2, 16]);
        for wrong in ["0x", "-1", "+1", "", "1_0", "0x1_0", "0x100000000"] {
            assert!(number(wrong).is_err(), "{wrong:?}");
        }
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

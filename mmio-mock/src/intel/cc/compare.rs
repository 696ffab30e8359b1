//! The comparison functions of the alpha, stencil and depth tests.
//!
//! PRM: volume 2, windower (3D_Compare_Function; values from genxml).
//! Not modelled: nothing.

/// A comparison of a new value with a reference or the buffer's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compare {
    /// Always passes.
    #[default]
    Always,
    /// Never passes.
    Never,
    /// New value is less.
    Less,
    /// Equal.
    Equal,
    /// New value is less or equal.
    LessEqual,
    /// New value is greater.
    Greater,
    /// Not equal.
    NotEqual,
    /// New value is greater or equal.
    GreaterEqual,
}

impl Compare {
    /// The function of a 3-bit field.
    pub const fn from_field(raw: u32) -> Self {
        match raw & 7 {
            0 => Compare::Always,
            1 => Compare::Never,
            2 => Compare::Less,
            3 => Compare::Equal,
            4 => Compare::LessEqual,
            5 => Compare::Greater,
            6 => Compare::NotEqual,
            _ => Compare::GreaterEqual,
        }
    }

    /// `new FUNCTION reference`; with a NaN only [`Self::Always`] and [`Self::NotEqual`] pass.
    #[inline]
    pub fn test<T: PartialOrd + Copy>(self, new: T, reference: T) -> bool {
        match self {
            Compare::Always => true,
            Compare::Never => false,
            Compare::Less => new < reference,
            Compare::Equal => new == reference,
            Compare::LessEqual => new <= reference,
            Compare::Greater => new > reference,
            Compare::NotEqual => new != reference,
            Compare::GreaterEqual => new >= reference,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows: function by its number in genxml; columns: new less, equal, greater; NaN.
    #[test]
    fn truth_table() {
        let table = [
            (0, [true, true, true, true]),
            (1, [false, false, false, false]),
            (2, [true, false, false, false]),
            (3, [false, true, false, false]),
            (4, [true, true, false, false]),
            (5, [false, false, true, false]),
            (6, [true, false, true, true]),
            (7, [false, true, true, false]),
        ];
        for (raw, want) in table {
            let c = Compare::from_field(raw);
            let got = [
                c.test(1.0, 2.0),
                c.test(2.0, 2.0),
                c.test(3.0, 2.0),
                c.test(f32::NAN, 2.0),
            ];
            assert_eq!(got, want, "{c:?}");
        }
    }
}

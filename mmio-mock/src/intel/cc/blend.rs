//! Colour buffer blending.
//!
//! PRM: volume 2, windower (colour buffer blending; factors and functions from genxml), volume 4
//! 5.7.2 (source 1 of dual-source messages as a factor).
//! Not modelled: the hardware's fixed-point precision: everything is in floats.

/// A blend factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(missing_docs, reason = "the names are the manual's and say it all")]
pub enum Factor {
    #[default]
    One,
    SourceColour,
    SourceAlpha,
    DestinationAlpha,
    DestinationColour,
    SourceAlphaSaturate,
    ConstantColour,
    ConstantAlpha,
    Source1Colour,
    Source1Alpha,
    Zero,
    InverseSourceColour,
    InverseSourceAlpha,
    InverseDestinationAlpha,
    InverseDestinationColour,
    InverseConstantColour,
    InverseConstantAlpha,
    InverseSource1Colour,
    InverseSource1Alpha,
}

impl Factor {
    /// The factor of a 5-bit field; `None` for reserved values.
    pub const fn from_field(raw: u32) -> Option<Self> {
        Some(match raw {
            1 => Factor::One,
            2 => Factor::SourceColour,
            3 => Factor::SourceAlpha,
            4 => Factor::DestinationAlpha,
            5 => Factor::DestinationColour,
            6 => Factor::SourceAlphaSaturate,
            7 => Factor::ConstantColour,
            8 => Factor::ConstantAlpha,
            9 => Factor::Source1Colour,
            10 => Factor::Source1Alpha,
            17 => Factor::Zero,
            18 => Factor::InverseSourceColour,
            19 => Factor::InverseSourceAlpha,
            20 => Factor::InverseDestinationAlpha,
            21 => Factor::InverseDestinationColour,
            23 => Factor::InverseConstantColour,
            24 => Factor::InverseConstantAlpha,
            25 => Factor::InverseSource1Colour,
            26 => Factor::InverseSource1Alpha,
            _ => return None,
        })
    }

    /// The factor of channel `i` (3 is alpha), lane by lane.
    #[inline(always)]
    fn value<const N: usize>(self, c: &Colours<N>, i: usize) -> [f32; N] {
        let inverse = |v: &[f32; N]| each(|n| 1.0 - v[n]);
        match self {
            Factor::One => [1.0; N],
            Factor::Zero => [0.0; N],
            Factor::SourceColour => c.source[i],
            Factor::SourceAlpha => c.source[3],
            Factor::DestinationAlpha => c.destination[3],
            Factor::DestinationColour => c.destination[i],
            // For the alpha channel the factor is 1.
            Factor::SourceAlphaSaturate if i == 3 => [1.0; N],
            Factor::SourceAlphaSaturate => each(|n| c.source[3][n].min(1.0 - c.destination[3][n])),
            Factor::ConstantColour => [c.constant[i]; N],
            Factor::ConstantAlpha => [c.constant[3]; N],
            Factor::Source1Colour => c.source1[i],
            Factor::Source1Alpha => c.source1[3],
            Factor::InverseSourceColour => inverse(&c.source[i]),
            Factor::InverseSourceAlpha => inverse(&c.source[3]),
            Factor::InverseDestinationAlpha => inverse(&c.destination[3]),
            Factor::InverseDestinationColour => inverse(&c.destination[i]),
            Factor::InverseConstantColour => [1.0 - c.constant[i]; N],
            Factor::InverseConstantAlpha => [1.0 - c.constant[3]; N],
            Factor::InverseSource1Colour => inverse(&c.source1[i]),
            Factor::InverseSource1Alpha => inverse(&c.source1[3]),
        }
    }

    /// Whether the factor needs the destination.
    pub const fn reads_destination(self) -> bool {
        matches!(
            self,
            Factor::DestinationAlpha
                | Factor::DestinationColour
                | Factor::SourceAlphaSaturate
                | Factor::InverseDestinationAlpha
                | Factor::InverseDestinationColour
        )
    }
}

/// A blend function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Function {
    /// s + d
    #[default]
    Add,
    /// s - d
    Subtract,
    /// d - s
    ReverseSubtract,
    /// min(s, d), factors ignored
    Min,
    /// max(s, d), factors ignored
    Max,
}

impl Function {
    /// The function of a 3-bit field; `None` for reserved values.
    pub const fn from_field(raw: u32) -> Option<Self> {
        Some(match raw {
            0 => Function::Add,
            1 => Function::Subtract,
            2 => Function::ReverseSubtract,
            3 => Function::Min,
            4 => Function::Max,
            _ => return None,
        })
    }
}

/// Factors and function of colour or alpha. The default is `source * 1 + destination * 1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Equation {
    /// Source factor.
    pub source: Factor,
    /// Destination factor.
    pub destination: Factor,
    /// Function.
    pub function: Function,
}

/// Inputs of blending for `N` pixels: planes R, G, B, A.
#[derive(Clone, Copy, Debug)]
pub struct Colours<const N: usize> {
    /// Source 0.
    pub source: [[f32; N]; 4],
    /// Source 1 of dual-source messages; source 0 otherwise.
    pub source1: [[f32; N]; 4],
    /// The pixels in the buffer.
    pub destination: [[f32; N]; 4],
    /// Blend constant.
    pub constant: [f32; 4],
}

/// A loop over lanes, of which the compiler makes vectors as wide as those of the function that this is inlined into.
#[inline(always)]
fn each<const N: usize>(value: impl Fn(usize) -> f32) -> [f32; N] {
    let mut out = [0.0; N];
    for (n, out) in out.iter_mut().enumerate() {
        *out = value(n);
    }
    out
}

/// Products in which a factor of zero wins over infinities and NaNs.
#[inline(always)]
fn product<const N: usize>(v: &[f32; N], factor: &[f32; N]) -> [f32; N] {
    each(|n| {
        if factor[n] == 0.0 {
            0.0
        } else {
            v[n] * factor[n]
        }
    })
}

#[inline(always)]
fn channel<const N: usize>(e: Equation, c: &Colours<N>, i: usize) -> [f32; N] {
    let (s, d) = (&c.source[i], &c.destination[i]);
    let blended: [f32; N] = match e.function {
        // Of two zeros the source is taken, whatever their signs are: the language leaves open which one its own functions take.
        Function::Min => each(|n| {
            if d[n] < s[n] || s[n].is_nan() {
                d[n]
            } else {
                s[n]
            }
        }),
        Function::Max => each(|n| {
            if d[n] > s[n] || s[n].is_nan() {
                d[n]
            } else {
                s[n]
            }
        }),
        function => {
            let s = product(s, &e.source.value(c, i));
            let d = product(d, &e.destination.value(c, i));
            match function {
                Function::Subtract => each(|n| s[n] - d[n]),
                Function::ReverseSubtract => each(|n| d[n] - s[n]),
                _ => each(|n| s[n] + d[n]),
            }
        }
    };
    // The one NaN: which of two NaNs a sum or product keeps is the compiler's choice.
    each(|n| {
        if blended[n].is_nan() {
            f32::NAN
        } else {
            blended[n]
        }
    })
}

/// The blended colours.
#[inline(always)]
pub fn blend<const N: usize>(colour: Equation, alpha: Equation, c: &Colours<N>) -> [[f32; N]; 4] {
    [
        channel(colour, c, 0),
        channel(colour, c, 1),
        channel(colour, c, 2),
        channel(alpha, c, 3),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const C: Colours<1> = Colours {
        source: [[0.5], [0.25], [1.0], [0.75]],
        source1: [[0.125], [0.5], [0.0], [0.25]],
        destination: [[0.25], [1.0], [0.5], [0.5]],
        constant: [1.0, 0.0, 0.5, 0.25],
    };

    /// Factors by their genxml number against the formulas of OpenGL 3.3 table 4.2.
    #[test]
    fn factors() {
        let flat = |v: [[f32; 1]; 4]| v.map(|v| v[0]);
        let (s, s1, d) = (flat(C.source), flat(C.source1), flat(C.destination));
        let k = C.constant;
        let v = |raw, i| Factor::from_field(raw).unwrap().value(&C, i)[0];
        for i in 0..4 {
            assert_eq!(v(1, i), 1.0);
            assert_eq!(v(17, i), 0.0);
            for (raw, inverse, want) in [
                (2, 18, s[i]),
                (3, 19, s[3]),
                (4, 20, d[3]),
                (5, 21, d[i]),
                (7, 23, k[i]),
                (8, 24, k[3]),
                (9, 25, s1[i]),
                (10, 26, s1[3]),
            ] {
                assert_eq!(v(raw, i), want);
                assert_eq!(v(inverse, i), 1.0 - want);
            }
        }
        assert_eq!(v(6, 0), 0.5);
        assert_eq!(v(6, 3), 1.0);
        for raw in [0, 11, 16, 22, 27, 31] {
            assert_eq!(Factor::from_field(raw), None);
        }
    }

    #[test]
    fn functions() {
        let over = |function| Equation {
            source: Factor::SourceAlpha,
            destination: Factor::InverseSourceAlpha,
            function,
        };
        let b = |f| blend(over(f), over(f), &C).map(|v| v[0]);
        assert_eq!(b(Function::Add), [0.4375, 0.4375, 0.875, 0.6875]);
        assert_eq!(b(Function::Subtract), [0.3125, -0.0625, 0.625, 0.4375]);
        assert_eq!(
            b(Function::ReverseSubtract),
            [-0.3125, 0.0625, -0.625, -0.4375]
        );
        assert_eq!(b(Function::Min), [0.25, 0.25, 0.5, 0.5]);
        assert_eq!(b(Function::Max), [0.5, 1.0, 1.0, 0.75]);
    }

    #[test]
    fn zero_factors_silence_infinities() {
        let c = Colours {
            destination: [[f32::INFINITY]; 4],
            ..C
        };
        let e = Equation {
            source: Factor::One,
            destination: Factor::Zero,
            function: Function::Add,
        };
        assert_eq!(blend(e, e, &c), C.source);
    }
}

//! Extended math: reciprocal, roots, logarithm, power, sine, integer divide.
//!
//! PRM: volume 4, chapter 6. Results are computed in double precision and rounded once, so both
//! precision settings give the same, better than promised bits. Not modelled: rounds and latency.

pub use eu::math::{Function, divide, float};
use eu::math::{clamp_alt, flush};
use eu::port::FloatMode;
use eu::{Grf, Message};

use super::error::Rule;

/// What a message asks for, wherever a generation's descriptor has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MathRequest {
    /// Function; `None`: reserved code.
    pub function: Option<Function>,
    /// Integers are signed.
    pub signed: bool,
    /// Results are clamped to [0,1].
    pub saturate: bool,
    /// Channels 0 and 4 stand for their four channels.
    pub scalar: bool,
}

/// Why the unit refuses a message; the router latches it (PRM 2.6.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reject {
    /// Reserved function code.
    Function,
    /// Message length does not fit the function.
    Length,
    /// End of thread is not allowed here (PRM 6.1).
    Eot,
}

impl Reject {
    /// The rule, with the flag of the error word (PRM 3.4.2.1).
    #[must_use]
    pub const fn rule(self) -> Rule {
        match self {
            Reject::Function => Rule::new("reserved math function (PRM 6.1.1.1)", 2),
            Reject::Length => Rule::new(
                "message length does not fit the function's operands (PRM 6.1.1.3)",
                1,
            ),
            Reject::Eot => Rule::new("end of thread at extended math (PRM 6.1)", 4),
        }
    }
}

/// Saturation to [0,1]; NaN becomes 0.
fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// Channels 0 and 4, each for its four channels.
fn repeat(source: &Grf) -> Grf {
    std::array::from_fn(|i| source[i & 4])
}

/// `float` of all channels in a loop that vectorises, for functions of one operand.
#[inline(always)]
fn all(source: &Grf, f: impl Fn(f32) -> f32) -> Grf {
    let mut out = [0; 8];
    for i in 0..8 {
        out[i] = flush(f(flush(f32::from_bits(source[i])))).to_bits();
    }
    out
}

/// The commonest functions of all channels.
fn at_once(function: Function, mode: FloatMode, source: &Grf) -> Option<Grf> {
    Some(match (function, mode) {
        (Function::Inv, FloatMode::Ieee) => all(source, |x| 1.0 / x),
        (Function::Inv, FloatMode::Alt) => all(source, |x| clamp_alt(1.0 / x)),
        (Function::Rsq, FloatMode::Ieee) => all(source, rsq),
        (Function::Rsq, FloatMode::Alt) => all(source, |x| clamp_alt(rsq(x.abs()))),
        _ => return None,
    })
}

/// Correctly rounded but for the second rounding, as in `float`.
#[inline(always)]
fn rsq(x: f32) -> f32 {
    // The root of either zero is itself, so that its reciprocal is the infinity of its sign.
    (1.0 / f64::from(x).sqrt()) as f32
}

/// Serves one message; only enabled channels of `response` change.
pub fn execute(
    request: MathRequest,
    msg: &Message<'_>,
    response: &mut [Grf],
) -> Result<(), Reject> {
    let function = request.function.ok_or(Reject::Function)?;
    if msg.eot {
        return Err(Reject::Eot);
    }
    let (Some(src0), true) = (
        msg.payload.first(),
        msg.payload.len() == function.operands(),
    ) else {
        return Err(Reject::Length);
    };
    let src1 = msg.payload.get(1).unwrap_or(src0);
    let MathRequest {
        signed,
        saturate: clamp,
        scalar,
        ..
    } = request;
    if !clamp {
        let source = if scalar { repeat(src0) } else { *src0 };
        let done = at_once(function, msg.float_mode, &source);
        if let (Some(done), Some(to)) = (done, response.first_mut()) {
            for channel in 0..8 {
                if msg.exec_mask & 1 << channel != 0 {
                    to[channel] = done[channel];
                }
            }
            return Ok(());
        }
    }
    let finish = |x: f32| if clamp { saturate(x) } else { x }.to_bits();
    for channel in 0..8usize {
        if msg.exec_mask & 1 << channel == 0 {
            continue;
        }
        let from = if scalar { channel & 4 } else { channel };
        let (a, b) = (src0[from], src1[from]);
        let (first, second) = if function.is_integer() {
            // PRM 6.1.1.3: the first register is the denominator.
            let (quotient, remainder) = divide(b, a, signed);
            match function {
                Function::IntDivRemainder => (remainder, 0),
                _ => (quotient, remainder),
            }
        } else {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let second = if function == Function::SinCos {
                finish(float(Function::Cos, msg.float_mode, a, b))
            } else {
                0
            };
            (finish(float(function, msg.float_mode, a, b)), second)
        };
        if let Some(w) = response.first_mut() {
            w[channel] = first;
        }
        if matches!(function, Function::SinCos | Function::IntDivBoth)
            && let Some(w) = response.get_mut(1)
        {
            w[channel] = second;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

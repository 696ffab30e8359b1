//! What is computed in double precision: sums of products, and the accumulator.

use super::Line;
use super::compute::finish;
use super::operand::Flat;
use crate::operand::narrow;
use crate::stretch::{self, Channels, Dot, Function, Operation};

/// The NaN that is computed, as a double.
const NAN: u64 = 0x7ff8 << 48;

/// Does a step in double precision, also what it leaves in the accumulator.
#[inline(always)]
pub(super) fn doubles<const N: usize>(
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let written = line.written(channels);
    let sums = sums::<N>(line, registers, channels);
    if let Some(lane) = line.accumulator {
        let at = usize::from(lane & 8);
        for i in 0..N {
            let bits = if sums[i].is_nan() {
                NAN
            } else {
                sums[i].to_bits()
            };
            channels.accumulator.lanes[at + i] = bits;
        }
        for half in 0..N / 8 {
            channels.accumulator.float[at / 8 + half] = true;
        }
    }
    let mut result = [0; N];
    for i in 0..N {
        result[i] = if line.truncate {
            narrow(sums[i])
        } else {
            // CAST: rounded once.
            (sums[i] as f32).to_bits()
        };
    }
    finish(line.saturate, &mut result);
    line.store(written, &result, registers);
}

#[inline(always)]
fn sums<const N: usize>(line: &Line, registers: &Flat, channels: &Channels<'_>) -> [f64; N] {
    let mut sums = [0.0; N];
    let operands = &line.operands;
    let source = |n| operands.floats::<N>(n, registers).map(f64::from);
    match line.operation {
        Operation::Add => {
            let (a, b) = (source(0), source(1));
            for i in 0..N {
                sums[i] = a[i] + b[i];
            }
        }
        Operation::Multiply => {
            let (a, b) = (source(0), source(1));
            for i in 0..N {
                sums[i] = a[i] * b[i];
            }
        }
        Operation::Accumulate(lane) => {
            let (a, b) = (source(0), source(1));
            let at = usize::from(lane & 8);
            for i in 0..N {
                let before = channels.accumulator.lanes.get(at + i).copied();
                sums[i] = f64::from_bits(before.unwrap_or(0)) + a[i] * b[i];
            }
        }
        Operation::Interpolate => {
            let (a, b, c) = (source(0), source(1), source(2));
            for i in 0..N {
                sums[i] = a[i] * b[i] + (1.0 - a[i]) * c[i];
            }
        }
        Operation::Line => {
            let [p, _, q] = operands.plane(registers);
            let b = source(1);
            for i in 0..N {
                sums[i] = p * b[i] + q;
            }
        }
        Operation::Plane => {
            let [p, q, s] = operands.plane(registers);
            let [u, v] = operands.point::<N>(registers);
            for i in 0..N {
                sums[i] = p * f64::from(u[i]) + q * f64::from(v[i]) + s;
            }
        }
        Operation::Dot(dot) => {
            let (a, b) = (source(0), source(1));
            for first in (0..N).step_by(4) {
                let term = |n: usize| a[first + n] * b[first + n];
                let two = term(0) + term(1);
                let sum = match dot {
                    Dot::Two => two,
                    Dot::Three => two + term(2),
                    Dot::Four => two + term(2) + term(3),
                    Dot::Homogeneous => two + term(2) + b[first + 3],
                };
                sums[first..first + 4].fill(sum);
            }
        }
        _ => {}
    }
    sums
}

/// A function of extended math of the channels that are written.
pub(super) fn extended<const N: usize>(
    function: Function,
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let written = line.written(channels);
    let a = line.operands.floats::<N>(0, registers);
    let mut b = [0.0; N];
    if function.operands() > 1 {
        b = line.operands.floats::<N>(1, registers);
    }
    let mut result = [0; N];
    for i in 0..N {
        if written >> line.shift >> i & 1 != 0 {
            result[i] = stretch::extended(function, a[i], b[i]).to_bits();
        }
    }
    finish(line.saturate, &mut result);
    line.store(written, &result, registers);
}

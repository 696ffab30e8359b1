//! What is computed in double precision: sums of products, and the accumulator.

use super::line::Line;
use super::operand::Flat;
use super::singles::finish;
use crate::eight::Eight;
use eu::stretch::{self, Channels, Dot, Function, Operation, narrow, sum_toward_zero};

/// The NaN that is computed, as a double.
const NAN: u64 = 0x7ff8 << 48;

/// Does a step in double precision, also what it leaves in the accumulator.
#[inline(always)]
pub(super) fn doubles<E: Eight>(
    host: E,
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let written = line.written(channels);
    let mut results = [host.all(0); 2];
    for (half, result) in (0..if line.wide { 2 } else { 1 }).zip(&mut results) {
        let (sums, exact) = sums(host, line, half, registers, channels);
        if let Some(lane) = line.accumulator {
            keep(
                &sums,
                usize::from(lane & 8) + 8 * usize::from(half),
                channels,
            );
        }
        let mut singles = [0; 8];
        for (single, double) in singles.iter_mut().zip(&exact) {
            *single = if line.truncate {
                narrow(*double)
            } else {
                // CAST: rounded once.
                (*double as f32).to_bits()
            };
        }
        *result = finish(host, line.saturate, host.float(host.load(&singles)));
    }
    line.store_both(host, written, results, registers);
}

/// Puts doubles into the accumulator from a lane on.
#[inline(always)]
fn keep(sums: &[f64; 8], at: usize, channels: &mut Channels<'_>) {
    let Some(lanes) = channels.accumulator.lanes.get_mut(at..at + 8) else {
        return;
    };
    for (to, sum) in lanes.iter_mut().zip(sums) {
        *to = if sum.is_nan() { NAN } else { sum.to_bits() };
    }
    channels.accumulator.float[(at / 8) & 3] = true;
}

/// Eight channels: what the accumulator keeps, and what the result is made of.
#[inline(always)]
fn sums<E: Eight>(
    host: E,
    line: &Line,
    half: u16,
    registers: &Flat,
    channels: &Channels<'_>,
) -> ([f64; 8], [f64; 8]) {
    let mut sums = [0.0; 8];
    let operands = &line.operands;
    let source = |n| source(host, line, (n, half), registers);
    match line.operation {
        Operation::Add => {
            let (a, b) = (source(0), source(1));
            let mut exact = sums;
            for i in 0..8 {
                sums[i] = a[i] + b[i];
                exact[i] = sum_toward_zero(a[i], b[i]);
            }
            if line.truncate {
                return (sums, exact);
            }
        }
        Operation::Multiply => {
            let (a, b) = (source(0), source(1));
            for i in 0..8 {
                sums[i] = a[i] * b[i];
            }
        }
        Operation::Accumulate(lane) => {
            let (a, b) = (source(0), source(1));
            let at = usize::from(lane & 8) + 8 * usize::from(half);
            for i in 0..8 {
                let before = channels.accumulator.lanes.get(at + i).copied();
                sums[i] = f64::from_bits(before.unwrap_or(0)) + a[i] * b[i];
            }
        }
        Operation::Interpolate => {
            let (a, b, c) = (source(0), source(1), source(2));
            for i in 0..8 {
                sums[i] = a[i] * b[i] + (1.0 - a[i]) * c[i];
            }
        }
        Operation::Line => {
            let [p, _, q] = operands.plane(registers);
            let b = source(1);
            for i in 0..8 {
                sums[i] = p * b[i] + q;
            }
        }
        Operation::Plane => {
            let [p, q, s] = operands.plane(registers);
            let [u, v] = operands.point(half, registers);
            for i in 0..8 {
                sums[i] = p * f64::from(u[i]) + q * f64::from(v[i]) + s;
            }
        }
        Operation::Dot(dot) => {
            let (a, b) = (source(0), source(1));
            for first in (0..8).step_by(4) {
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
    (sums, sums)
}

/// Eight channels of a source.
#[inline(always)]
fn source<E: Eight>(
    host: E,
    line: &Line,
    (source, half): (usize, u16),
    registers: &Flat,
) -> [f64; 8] {
    let singles = line.operands.floats(host, source, half, registers);
    let singles = host.array(host.bits(singles));
    let mut doubles = [0.0; 8];
    for (double, single) in doubles.iter_mut().zip(singles) {
        *double = f64::from(f32::from_bits(single));
    }
    doubles
}

/// A function of extended math of the channels that are written.
pub(super) fn extended<E: Eight>(
    host: E,
    function: Function,
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let written = line.written(channels);
    let mut results = [host.all(0); 2];
    for (half, result) in (0..if line.wide { 2 } else { 1 }).zip(&mut results) {
        let source = |n| host.array(host.bits(line.operands.floats(host, n, half, registers)));
        let a = source(0);
        let b = if function.operands() > 1 {
            source(1)
        } else {
            [0; 8]
        };
        let mut singles = [0; 8];
        for (i, single) in singles.iter_mut().enumerate() {
            if written >> line.shift >> (8 * half) >> i & 1 != 0 {
                let [a, b] = [a[i], b[i]].map(f32::from_bits);
                *single = stretch::extended(function, a, b).to_bits();
            }
        }
        *result = finish(host, line.saturate, host.float(host.load(&singles)));
    }
    line.store_both(host, written, results, registers);
}

//! Operands: eight dwords from a place, and floats with their modifiers.

use crate::grf::{DWORDS, TOTAL};
use crate::operand::modified;
use crate::stretch::{Operand, Place, Registers, Step};

/// The registers as dwords.
pub(super) type Flat = [u32; TOTAL * DWORDS];

/// Everything of a float but its sign, and its sign.
const MAGNITUDE: u32 = 0x7fff_ffff;
const SIGN: u32 = 0x8000_0000;

/// The registers as one array.
#[inline(always)]
pub(super) fn flat(registers: &mut Registers) -> Option<&mut Flat> {
    registers.as_flattened_mut().first_chunk_mut()
}

/// Dwords from one on; steps have been looked at before (`Step::is_inside`), so that all lie inside.
#[inline(always)]
pub(super) fn dwords<const N: usize>(registers: &Flat, first: u16) -> &[u32; N] {
    let at = usize::from(first).min(TOTAL * DWORDS - N);
    match registers[at..].first_chunk() {
        Some(dwords) => dwords,
        None => &[0; N],
    }
}

/// The same, to be written; they are always there.
#[inline(always)]
pub(super) fn dwords_mut<const N: usize>(
    registers: &mut Flat,
    first: u16,
) -> Option<&mut [u32; N]> {
    let at = usize::from(first).min(TOTAL * DWORDS - N);
    registers[at..].first_chunk_mut()
}

/// All bits of the channels that a mask has.
#[inline(always)]
pub(super) fn lanes<const N: usize>(mask: u32) -> [u32; N] {
    let mut lanes = [0; N];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = 0u32.wrapping_sub(mask >> i & 1);
    }
    lanes
}

/// A source as it is read.
#[derive(Clone, Copy, Debug)]
struct Source {
    place: Place,
    /// Bits of a float that stay, and those that change then.
    keep: u32,
    change: u32,
    /// Words, that become floats.
    words: bool,
}

/// The sources of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    sources: [Source; 3],
    /// Of a sum of dwords: whether a source counts as its negative.
    pub(super) negative: [bool; 2],
}

impl Operands {
    pub(super) fn of(step: &Step) -> Operands {
        Operands {
            sources: step.sources.map(Source::of),
            negative: [step.sources[0].negate, step.sources[1].negate],
        }
    }

    /// Dwords of a source, as they are.
    #[inline(always)]
    pub(super) fn dwords<const N: usize>(&self, source: usize, registers: &Flat) -> [u32; N] {
        match &self.sources[source].place {
            Place::Vector(first) => *dwords(registers, *first),
            Place::Scalar(dword) => [scalar(registers, *dword); N],
            Place::Constant(dwords) => {
                let mut all = [0; N];
                for i in 0..N {
                    all[i] = dwords[i % 8];
                }
                all
            }
            Place::Gather(at) => {
                let mut all = [0; N];
                for i in 0..N {
                    all[i] = scalar(registers, at[i]);
                }
                all
            }
            Place::Words { at, signed } => {
                let mut all = [0; N];
                for i in 0..N {
                    all[i] = word(registers, at[i], *signed);
                }
                all
            }
            Place::Nowhere => [0; N],
        }
    }

    /// A source as floats.
    #[inline(always)]
    pub(super) fn floats<const N: usize>(&self, source: usize, registers: &Flat) -> [f32; N] {
        let Source { keep, change, .. } = self.sources[source];
        let dwords = self.dwords::<N>(source, registers);
        let mut floats = [0.0; N];
        if self.sources[source].words {
            for i in 0..N {
                // CAST: a word as a dword with its sign.
                let value = dwords[i] as i32;
                floats[i] = if change == 0 { value } else { -value } as f32;
            }
            return floats;
        }
        for i in 0..N {
            floats[i] = f32::from_bits(modified(dwords[i], keep, change));
        }
        floats
    }

    /// The three terms of a plane equation; p and s alone of a line.
    #[inline(always)]
    pub(super) fn plane(&self, registers: &Flat) -> [f64; 3] {
        let Place::Scalar(first) = self.sources[0].place else {
            return [0.0; 3];
        };
        [0, 1, 3].map(|n| self.sources[0].float(scalar(registers, first + n)).into())
    }

    /// The two coordinates of channels that a plane is taken at: eight of each in turn.
    #[inline(always)]
    pub(super) fn point<const N: usize>(&self, registers: &Flat) -> [[f32; N]; 2] {
        let Place::Vector(first) = self.sources[1].place else {
            return [[0.0; N]; 2];
        };
        let mut point = [[0.0; N]; 2];
        for (number, axis) in (0..).zip(&mut point) {
            for (i, value) in (0..).zip(axis) {
                let place = first + i / 8 * 16 + number * 8 + i % 8;
                *value = self.sources[1].float(scalar(registers, place));
            }
        }
        point
    }
}

#[inline(always)]
fn scalar(registers: &Flat, dword: u16) -> u32 {
    registers.get(usize::from(dword)).copied().unwrap_or(0)
}

/// The word at a byte as a dword.
#[inline(always)]
fn word(registers: &Flat, byte: u16, signed: bool) -> u32 {
    let raw = crate::grf::elem(registers, byte, 2);
    if signed {
        // CAST: a word with its sign.
        raw as u16 as i16 as u32
    } else {
        raw
    }
}

impl Source {
    fn of(operand: Operand) -> Source {
        Source {
            place: operand.place,
            keep: if operand.absolute {
                MAGNITUDE
            } else {
                u32::MAX
            },
            change: if operand.negate { SIGN } else { 0 },
            words: matches!(operand.place, Place::Words { .. }),
        }
    }

    #[inline(always)]
    fn float(&self, dword: u32) -> f32 {
        f32::from_bits(modified(dword, self.keep, self.change))
    }
}

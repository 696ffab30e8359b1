//! Operands: eight dwords from a place, and floats with their modifiers.

use crate::clean::Clean;
use crate::constants::flush;
use crate::eight::{Eight, each};
use eu::grf::DWORDS;
use eu::stretch::{Operand, Part, Place, Registers, Step, TOTAL};

/// The registers as dwords.
pub(super) type Flat = [u32; TOTAL * DWORDS];

/// Everything of a float but its sign, its sign, and its exponent.
const MAGNITUDE: u32 = 0x7fff_ffff;
pub(super) const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7f80_0000;

/// The registers as one array.
#[inline(always)]
pub(super) fn flat(registers: &mut Registers) -> Option<&mut Flat> {
    registers.as_flattened_mut().first_chunk_mut()
}

/// Eight dwords from one on; steps have been looked at before (`Step::is_inside`), so that all lie inside.
#[inline(always)]
fn dwords(registers: &Flat, first: u16) -> &[u32; 8] {
    let at = usize::from(first).min(TOTAL * DWORDS - 8);
    match registers[at..].first_chunk() {
        Some(dwords) => dwords,
        None => &[0; 8],
    }
}

/// The same, to be written; they are always there.
#[inline(always)]
pub(super) fn dwords_mut(registers: &mut Flat, first: u16) -> Option<&mut [u32; 8]> {
    let at = usize::from(first).min(TOTAL * DWORDS - 8);
    registers[at..].first_chunk_mut()
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
    /// Dwords that are floats as they are: no denormals, and nothing that changes them.
    plain: bool,
}

/// The sources of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    sources: [Source; 3],
    /// Of a sum of dwords: whether a source counts as its negative.
    pub(super) negative: [bool; 2],
}

impl Operands {
    /// Those of a step, of which is known what dwords have no denormals in front of it.
    pub(super) fn of(step: &Step, clean: &Clean) -> Operands {
        Operands {
            sources: step
                .sources
                .map(|operand| Source::of(operand, step.wide, clean)),
            negative: [step.sources[0].negate, step.sources[1].negate],
        }
    }

    /// Dwords of eight channels of a source, as they are.
    #[inline(always)]
    pub(super) fn dwords<E: Eight>(
        &self,
        host: E,
        source: usize,
        half: u16,
        registers: &Flat,
    ) -> E::I {
        match &self.sources[source].place {
            Place::Vector(first) => host.load(dwords(registers, first + 8 * half)),
            Place::Scalar(dword) => host.all(scalar(registers, *dword)),
            Place::Constant(dwords) => host.load(dwords),
            Place::Part(part) => part_of(host, *part, half, registers),
            place => host.load(&scattered(place, half, registers)),
        }
    }

    /// Dwords of both halves of a source.
    #[inline(always)]
    pub(super) fn both<E: Eight>(&self, host: E, source: usize, registers: &Flat) -> [E::I; 2] {
        // One look at the place is enough for the two.
        match &self.sources[source].place {
            Place::Vector(first) => [
                host.load(dwords(registers, *first)),
                host.load(dwords(registers, first + 8)),
            ],
            Place::Scalar(dword) => [host.all(scalar(registers, *dword)); 2],
            Place::Constant(dwords) => [host.load(dwords); 2],
            _ => [
                self.dwords(host, source, 0, registers),
                self.dwords(host, source, 1, registers),
            ],
        }
    }

    /// Eight channels of a source as floats, without denormals.
    #[inline(always)]
    pub(super) fn floats<E: Eight>(
        &self,
        host: E,
        source: usize,
        half: u16,
        registers: &Flat,
    ) -> E::F {
        let [floats] =
            self.sources[source].floats(host, [self.dwords(host, source, half, registers)]);
        floats
    }

    /// The same of both halves.
    #[inline(always)]
    pub(super) fn both_floats<E: Eight>(
        &self,
        host: E,
        source: usize,
        registers: &Flat,
    ) -> [E::F; 2] {
        self.sources[source].floats(host, self.both(host, source, registers))
    }

    /// The three terms of a plane equation; p and s alone of a line.
    #[inline(always)]
    pub(super) fn plane(&self, registers: &Flat) -> [f64; 3] {
        let Place::Scalar(first) = self.sources[0].place else {
            return [0.0; 3];
        };
        [0, 1, 3].map(|n| self.sources[0].float(scalar(registers, first + n)).into())
    }

    /// The two coordinates of eight channels that a plane is taken at.
    #[inline(always)]
    pub(super) fn point(&self, half: u16, registers: &Flat) -> [[f32; 8]; 2] {
        let Place::Vector(first) = self.sources[1].place else {
            return [[0.0; 8]; 2];
        };
        [0, 8].map(|axis| {
            dwords(registers, first + 16 * half + axis).map(|dword| self.sources[1].float(dword))
        })
    }
}

/// Dwords whose denormals as floats are zeros of their sign.
#[inline(always)]
pub(super) fn flushed<E: Eight>(host: E, raw: E::I) -> E::I {
    let exponent = host.and(raw, host.all(EXPONENT));
    let tiny = host.equal(exponent, host.all(0));
    host.and_not(host.shr(tiny, 1), raw)
}

/// A part of eight dwords.
#[inline(always)]
fn part_of<E: Eight>(host: E, part: Part, half: u16, registers: &Flat) -> E::I {
    let above = 32 - u32::from(part.bits);
    let raw = host.load(dwords(registers, part.first + 8 * half));
    let high = host.shl(raw, above - u32::from(part.shift).min(above));
    if part.signed {
        host.sar_each(high, host.all(above))
    } else {
        host.shr(high, above)
    }
}

/// Eight channels from places of their own.
#[inline(never)]
fn scattered(place: &Place, half: u16, registers: &Flat) -> [u32; 8] {
    let of =
        |at: &[u16; 16]| -> [u16; 8] { std::array::from_fn(|i| at[8 * usize::from(half & 1) + i]) };
    match place {
        Place::Gather(at) => of(at).map(|at| scalar(registers, at)),
        Place::Words { at, signed } => of(at).map(|at| word(registers, at, *signed)),
        Place::Vector(_)
        | Place::Scalar(_)
        | Place::Constant(_)
        | Place::Part(_)
        | Place::Nowhere => [0; 8],
    }
}

#[inline(always)]
fn scalar(registers: &Flat, dword: u16) -> u32 {
    registers.get(usize::from(dword)).copied().unwrap_or(0)
}

/// The word at a byte, which is even, as a dword.
fn word(registers: &Flat, byte: u16, signed: bool) -> u32 {
    // CAST: the word of the two.
    let raw = (scalar(registers, byte / 4) >> (8 * (byte & 2))) as u16;
    if signed {
        // CAST: a word with its sign.
        raw as i16 as u32
    } else {
        raw.into()
    }
}

impl Source {
    fn of(operand: Operand, wide: bool, clean: &Clean) -> Source {
        let whole = match &operand.place {
            Place::Vector(first) => clean.has(*first) && (!wide || clean.has(first + 8)),
            Place::Scalar(dword) => clean.has_dword(*dword),
            Place::Constant(dwords) => dwords.iter().all(|dword| flush(*dword) == *dword),
            Place::Gather(_) | Place::Words { .. } | Place::Part(_) | Place::Nowhere => false,
        };
        Source {
            plain: whole && !operand.negate && !operand.absolute,
            place: operand.place,
            keep: if operand.absolute {
                MAGNITUDE
            } else {
                u32::MAX
            },
            change: if operand.negate { SIGN } else { 0 },
            words: matches!(operand.place, Place::Words { .. } | Place::Part(_)),
        }
    }

    /// Dwords of the source as floats without denormals, with its modifiers.
    #[inline(always)]
    fn floats<E: Eight, const N: usize>(&self, host: E, dwords: [E::I; N]) -> [E::F; N] {
        let zero = host.all_f(0.0);
        if self.plain {
            return each(
                &dwords,
                zero,
                #[inline(always)]
                |raw| host.float(raw),
            );
        }
        if self.words {
            let sign = if self.change == 0 { 1 } else { u32::MAX };
            return each(
                &dwords,
                zero,
                #[inline(always)]
                |raw| host.number(host.mul(raw, host.all(sign))),
            );
        }
        let (keep, change) = (host.all(self.keep), host.all(self.change));
        each(
            &dwords,
            zero,
            #[inline(always)]
            |raw| {
                let kept = host.and(flushed(host, raw), keep);
                host.float(host.xor(kept, change))
            },
        )
    }

    #[inline(always)]
    fn float(&self, dword: u32) -> f32 {
        let tiny = dword & EXPONENT == 0;
        let flushed = if tiny { dword & SIGN } else { dword };
        f32::from_bits(flushed & self.keep ^ self.change)
    }
}

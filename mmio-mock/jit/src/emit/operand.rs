//! Sources: dwords as they are, and floats whose denormals are zeros.

use super::{Emitter, Half, ZERO, emit, x, y};
use crate::constants::{EXPONENT, MAGNITUDE, SIGN, flush};
use crate::held::Value;
use eu::stretch::{Operand, Part, Place, Predicate, window, word_window};
use iced_x86::code_asm::{AsmRegister32, dword_ptr, rdi, rsi, word_ptr, xmmword_ptr, ymmword_ptr};

impl Emitter {
    /// Eight dwords from one on.
    pub(super) fn dwords_at(&mut self, first: u16) -> u8 {
        self.load(Value::Dwords(first))
    }

    /// The same as floats.
    pub(super) fn floats_at(&mut self, first: u16) -> u8 {
        self.load(Value::Floats(first))
    }

    /// The register that holds a value that is read from the thread or a constant.
    fn load(&mut self, value: Value) -> u8 {
        if let Some(register) = self.held.find(value) {
            return register;
        }
        let value = match value {
            // Without denormals they are the dwords, and the same for other uses.
            Value::Floats(first) if self.held.clean.has(first) => Value::Dwords(first),
            Value::ScalarFloat(dword) if self.held.clean.has_dword(dword) => Value::Scalar(dword),
            value => value,
        };
        let register = match value {
            // It may be held as a dword.
            Value::Scalar(_) => match self.held.find(value) {
                Some(register) => return register,
                None => self.held.take(value),
            },
            value => self.held.take(value),
        };
        match value {
            Value::Dwords(first) => {
                let at = i32::from(first) * 4;
                emit!(self, vmovups(y(register), ymmword_ptr(rdi + at)));
                let clean = self.held.clean.has(first);
                self.held.set(register, value, clean);
            }
            Value::Scalar(dword) => {
                let at = i32::from(dword) * 4;
                emit!(self, vbroadcastss(y(register), dword_ptr(rdi + at)));
            }
            Value::Constant(dword) => {
                let label = self.constant([dword; 8]);
                emit!(self, vmovups(y(register), ymmword_ptr(label)));
            }
            Value::Floats(first) => {
                let at = i32::from(first) * 4;
                emit!(self, vmovups(y(register), ymmword_ptr(rdi + at)));
                self.flush(register, 0);
            }
            Value::ScalarFloat(dword) => {
                let at = i32::from(dword) * 4;
                emit!(self, vbroadcastss(y(register), dword_ptr(rdi + at)));
                self.flush(register, 0);
            }
            Value::Scratch | Value::Predicate { .. } => {}
        }
        register
    }

    /// Denormals become zeros of their sign.
    pub(super) fn flush(&mut self, register: u8, free: u8) {
        let exponent = self.constant(EXPONENT);
        emit!(
            self,
            vpand(y(free), y(register), ymmword_ptr(exponent)),
            vpcmpeqd(y(free), y(free), y(ZERO)),
            vpsrld(y(free), y(free), 1),
            vpandn(y(register), y(free), y(register))
        );
    }

    /// Source `n` as it is.
    pub(super) fn dwords(&mut self, half: Half<'_>, n: usize) -> u8 {
        match half.step.sources[n].place {
            Place::Vector(first) => self.load(Value::Dwords(first + 8 * half.number)),
            Place::Scalar(dword) => self.load(Value::Scalar(dword)),
            Place::Constant(dwords) => self.constants_of(dwords),
            Place::Gather(at) => self.gather(half.of(&at), Value::Dwords),
            Place::Words { at, signed } => self.words(half.of(&at), signed),
            Place::Part(part) => self.part(part, half.number),
            Place::Nowhere => ZERO,
        }
    }

    /// Dwords that lie within eight, each at its place.
    fn gather(&mut self, at: [u16; 8], value: fn(u16) -> Value) -> u8 {
        let first = window(&at);
        let from = self.load(value(first));
        let into = self.held.take(Value::Scratch);
        let index = at.map(|at| u32::from(at.wrapping_sub(first)) & 7);
        let fours = (0..4).all(|n| index[n] < 4 && index[n + 4] == index[n] + 4);
        if fours {
            let how = (0..4).fold(0, |how, n| how | index[n] << (2 * n));
            emit!(self, vpermilps(y(into), y(from), how));
        } else {
            let label = self.constant(index);
            emit!(
                self,
                vmovups(y(into), ymmword_ptr(label)),
                vpermps(y(into), y(into), y(from))
            );
        }
        into
    }

    /// Words as dwords.
    fn words(&mut self, at: [u16; 8], signed: bool) -> u8 {
        let into = self.held.take(Value::Scratch);
        let Some(first) = word_window(&at) else {
            self.spoilt = true;
            return into;
        };
        let from = i32::from(first);
        let follows = |(n, at): (u16, &u16)| *at == first + 2 * n;
        if (0..).zip(&at).all(follows) {
            if signed {
                emit!(self, vpmovsxwd(y(into), xmmword_ptr(rdi + from)));
            } else {
                emit!(self, vpmovzxwd(y(into), xmmword_ptr(rdi + from)));
            }
            return into;
        }
        let byte = |n: usize| u32::from(at[n].wrapping_sub(first)) & 0xe;
        let pair = |n: usize| byte(n) | (byte(n) + 1) << 8;
        let places = std::array::from_fn(|n| {
            let n = 2 * n % 8;
            pair(n) | pair(n + 1) << 16
        });
        let label = self.constant(places);
        emit!(
            self,
            vmovdqu(x(into), xmmword_ptr(rdi + from)),
            vpshufb(x(into), x(into), xmmword_ptr(label))
        );
        if signed {
            emit!(self, vpmovsxwd(y(into), x(into)));
        } else {
            emit!(self, vpmovzxwd(y(into), x(into)));
        }
        into
    }

    /// A part of eight dwords as dwords.
    fn part(&mut self, part: Part, number: u16) -> u8 {
        let from = self.load(Value::Dwords(part.first + 8 * number));
        let into = self.held.take(Value::Scratch);
        let above = 32 - u32::from(part.bits);
        let by = above - u32::from(part.shift).min(above);
        if by == 0 {
            emit!(self, vmovaps(y(into), y(from)));
        } else {
            emit!(self, vpslld(y(into), y(from), by));
        }
        if part.signed {
            emit!(self, vpsrad(y(into), y(into), above));
        } else {
            emit!(self, vpsrld(y(into), y(into), above));
        }
        into
    }

    fn constants_of(&mut self, dwords: [u32; 8]) -> u8 {
        if dwords == [dwords[0]; 8] {
            return self.load(Value::Constant(dwords[0]));
        }
        let register = self.held.take(Value::Scratch);
        let label = self.constant(dwords);
        emit!(self, vmovups(y(register), ymmword_ptr(label)));
        register
    }

    /// Source `n` as floats, in register `2 + n` when it has modifiers.
    pub(super) fn floats(&mut self, half: Half<'_>, n: usize) -> u8 {
        let source = half.step.sources[n];
        let register = match source.place {
            Place::Vector(first) => self.load(Value::Floats(first + 8 * half.number)),
            Place::Scalar(dword) => self.load(Value::ScalarFloat(dword)),
            Place::Constant(dwords) => {
                let constant = |dword| {
                    let magnitude = if source.absolute {
                        0x7fff_ffff
                    } else {
                        u32::MAX
                    };
                    let sign = if source.negate { 0x8000_0000 } else { 0 };
                    flush(dword) & magnitude ^ sign
                };
                return self.constants_of(dwords.map(constant));
            }
            Place::Gather(at) => self.gather(half.of(&at), Value::Floats),
            Place::Words { .. } | Place::Part(_) => {
                let words = self.dwords(half, n);
                if source.negate {
                    emit!(self, vpsubd(y(words), y(ZERO), y(words)));
                }
                emit!(self, vcvtdq2ps(y(words), y(words)));
                return words;
            }
            Place::Nowhere => ZERO,
        };
        // CAST: three at most.
        self.modified(register, source, 2 + n as u8)
    }

    /// A float with its modifiers, in another register when it has any.
    pub(super) fn modified(&mut self, register: u8, source: Operand, into: u8) -> u8 {
        let mut register = register;
        if source.absolute {
            let magnitude = self.constant(MAGNITUDE);
            emit!(self, vandps(y(into), y(register), ymmword_ptr(magnitude)));
            register = into;
        }
        if source.negate {
            let sign = self.constant(SIGN);
            emit!(self, vxorps(y(into), y(register), ymmword_ptr(sign)));
            register = into;
        }
        register
    }

    /// The channels whose predicate is set, from bit `first` of the flags on.
    pub(super) fn predicate(&mut self, predicate: Predicate, first: u32) -> u8 {
        let value = Value::Predicate {
            flag: predicate.flag,
            inverted: predicate.inverted,
            replicated: predicate.replicated,
            first,
        };
        if let Some(register) = self.held.find(value) {
            return register;
        }
        let register = self.held.take(value);
        let register_bit = 16 * u32::from(predicate.flag & 1);
        // The flag register that it is in.
        let both = 4 + 4 * i32::from(predicate.flag >> 1 & 1);
        // CAST: eight channels.
        let bits =
            std::array::from_fn(|i| 1 << ((register_bit + predicate.bit(first + i as u32)) & 31));
        let bits = self.constant(bits);
        emit!(
            self,
            vpbroadcastd(y(register), dword_ptr(rsi + both)),
            vpand(y(register), y(register), ymmword_ptr(bits))
        );
        if predicate.inverted {
            emit!(self, vpcmpeqd(y(register), y(register), y(ZERO)));
        } else {
            emit!(self, vpcmpeqd(y(register), y(register), ymmword_ptr(bits)));
        }
        register
    }

    /// The sixteen channels whose predicate is set, in a general register whose upper bits are anything.
    pub(super) fn predicate_word(&mut self, predicate: Predicate, into: AsmRegister32) {
        let from = 4 + 2 * i32::from(predicate.flag & 3);
        emit!(self, movzx(into, word_ptr(rsi + from)));
        if let Some(channel) = predicate.replicated {
            emit!(
                self,
                shr(into, u32::from(channel & 3)),
                and(into, 0x1111),
                imul_3(into, into, 15)
            );
        }
        if predicate.inverted {
            emit!(self, not(into));
        }
    }
}

//! Sources: dwords as they are, and floats whose denormals are zeros.

use super::{Emitter, Half, ZERO, emit, y};
use crate::constants::{EXPONENT, MAGNITUDE, SIGN, bits, flush};
use crate::held::Value;
use eu::stretch::{Operand, Place, Predicate};
use iced_x86::code_asm::{dword_ptr, rdi, rsi, ymmword_ptr};

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
        let register = self.held.take(value);
        match value {
            Value::Dwords(first) => {
                let at = i32::from(first) * 4;
                emit!(self, vmovups(y(register), ymmword_ptr(rdi + at)));
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
            Place::Nowhere => ZERO,
        }
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
            first,
        };
        if let Some(register) = self.held.find(value) {
            return register;
        }
        let register = self.held.take(value);
        let bits = self.constant(bits(16 * u32::from(predicate.flag & 1) + first));
        emit!(
            self,
            vpbroadcastd(y(register), dword_ptr(rsi + 4)),
            vpand(y(register), y(register), ymmword_ptr(bits))
        );
        if predicate.inverted {
            emit!(self, vpcmpeqd(y(register), y(register), y(ZERO)));
        } else {
            emit!(self, vpcmpeqd(y(register), y(register), ymmword_ptr(bits)));
        }
        register
    }
}

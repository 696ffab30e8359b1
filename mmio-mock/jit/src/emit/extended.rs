//! Extended math and divisions: the interpreter's own, which code calls.

use super::{Emitter, Half, ZERO, emit, y};
use crate::held::Value;
use eu::stretch::{Bits, Function, bits, divided, extended};
use iced_x86::code_asm::{edi, edx, rax, rdi, rsi, rsp, ymm5, ymmword_ptr};

/// Those that are called, by their numbers.
const FUNCTIONS: [Function; 6] = [
    Function::Log,
    Function::Exp,
    Function::Sin,
    Function::Cos,
    Function::Fdiv,
    Function::Pow,
];

/// From here on: a division, with a bit each for its remainder and for signed numbers.
const DIVIDES: u32 = 8;
const REMAINDER: u32 = 1;
const SIGNED: u32 = 2;

/// From here on: bits of dwords.
const COUNTS: u32 = 16;
const BITS: [Bits; 5] = [
    Bits::Reverse,
    Bits::Count,
    Bits::Lowest,
    Bits::Highest { signed: false },
    Bits::Highest { signed: true },
];

/// Bytes of the stack for the values of both sources, so that the stack is where calls need it.
const FRAME: i32 = 104;

/// Puts the results of the channels of a mask in the place of the first source.
extern "sysv64" fn results(number: u32, values: &mut [[u32; 8]; 2], mask: u32) {
    let function = FUNCTIONS.get(number as usize);
    let counts = number.checked_sub(COUNTS);
    let counts = counts.and_then(|number| BITS.get(number as usize));
    let (remainder, signed) = (number & REMAINDER != 0, number & SIGNED != 0);
    let [first, second] = values;
    for (channel, (a, b)) in first.iter_mut().zip(second).enumerate() {
        if mask >> channel & 1 == 0 {
            continue;
        }
        *a = match (function, counts) {
            (Some(function), _) => {
                extended(*function, f32::from_bits(*a), f32::from_bits(*b)).to_bits()
            }
            (None, Some(of)) => bits(*of, *a, 0, 0),
            (None, None) => divided(remainder, signed, *a, *b),
        };
    }
}

impl Emitter {
    pub(super) fn extended(&mut self, half: Half<'_>, function: Function) -> u8 {
        let Some(number) = FUNCTIONS.iter().position(|f| *f == function) else {
            self.spoilt = true;
            return ZERO;
        };
        let a = self.floats(half, 0);
        let b = if function.operands() > 1 {
            self.floats(half, 1)
        } else {
            ZERO
        };
        // CAST: below eight.
        let r = self.called(half, number as u32, (a, b));
        self.finish_float(half.step, r, true);
        r
    }

    /// Quotients, or remainders.
    pub(super) fn divide(&mut self, half: Half<'_>, remainder: bool, signed: bool) -> u8 {
        let (a, b) = (self.dwords(half, 0), self.dwords(half, 1));
        let number =
            DIVIDES | if remainder { REMAINDER } else { 0 } | if signed { SIGNED } else { 0 };
        self.called(half, number, (a, b))
    }

    /// Bits of dwords that are counted or found.
    pub(super) fn counted(&mut self, half: Half<'_>, of: Bits) -> u8 {
        let Some(number) = BITS.iter().position(|known| *known == of) else {
            self.spoilt = true;
            return ZERO;
        };
        let a = self.dwords(half, 0);
        // CAST: below five.
        self.called(half, COUNTS + number as u32, (a, ZERO))
    }

    /// What a call makes of two registers. Nothing is held behind it.
    fn called(&mut self, half: Half<'_>, number: u32, (a, b): (u8, u8)) -> u8 {
        self.held.keep(a);
        self.held.keep(b);
        // CAST: a place in memory, and a small number.
        let (at, number) = (results as *const () as u64, number as i32);
        // Modified sources are in registers 2 and 3: a mask comes to none of them.
        if let Some(mask) = self.mask(half) {
            emit!(self, vmovmskps(edx, y(mask)));
        } else {
            emit!(self, mov(edx, 0xff));
        }
        emit!(
            self,
            push(rdi),
            push(rsi),
            sub(rsp, FRAME),
            vmovups(ymmword_ptr(rsp), y(a)),
            vmovups(ymmword_ptr(rsp + 32), y(b)),
            mov(edi, number),
            mov(rsi, rsp),
            vzeroupper(),
            mov(rax, at),
            call(rax)
        );
        // Nothing of what was in vectors is left.
        self.held.lose();
        let r = self.held.take(Value::Scratch);
        emit!(
            self,
            vmovups(y(r), ymmword_ptr(rsp)),
            add(rsp, FRAME),
            pop(rsi),
            pop(rdi),
            vpxor(ymm5, ymm5, ymm5)
        );
        if !self.full {
            self.masks();
        }
        r
    }
}

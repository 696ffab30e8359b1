//! Sums of words, and flags as words.

use super::{Emitter, Half, emit, y};
use crate::constants::LOW_WORD;
use crate::held::Value;
use eu::stretch::{Place, Step};
use iced_x86::code_asm::{
    CodeLabel, ax, dword_ptr, eax, rdi, rsi, word_ptr, ymm0, ymm1, ymm2, ymm3, ymmword_ptr,
};

/// The fours of words of two registers that were packed, in their order.
const IN_ORDER: u32 = 0xd8;

impl Emitter {
    /// Sums of sixteen words.
    pub(super) fn add_words(&mut self, step: &Step) {
        let Some(first) = step.destination else {
            return;
        };
        let mut sums = [0; 2];
        for number in 0..2 {
            let half = Half { step, number };
            let (a, b) = (self.dwords(half, 0), self.dwords(half, 1));
            if number == 1 {
                self.held.keep(sums[0]);
            }
            let sum = self.held.take(Value::Scratch);
            self.add_dwords(step, (a, b), sum);
            self.held.keep(sum);
            sums[usize::from(number)] = sum;
        }
        self.keep_words(step, [(0, sums[0]), (1, sums[1])]);
        // The masks of both halves first: they may need the same register.
        let mut masked = false;
        for number in 0..2 {
            let into = y(2 + number);
            // CAST: two.
            let half = Half {
                step,
                number: u16::from(number),
            };
            for sum in sums {
                self.held.keep(sum);
            }
            if let Some(mask) = self.mask(half) {
                masked = true;
                emit!(self, vmovaps(into, y(mask)));
            } else {
                emit!(self, vpcmpeqd(into, into, into));
            }
        }
        for sum in sums {
            self.held.keep(sum);
        }
        let [low, high] = sums;
        let word = self.constant(LOW_WORD);
        emit!(
            self,
            vpand(ymm0, y(low), ymmword_ptr(word)),
            vpand(ymm1, y(high), ymmword_ptr(word)),
            vpackusdw(ymm0, ymm0, ymm1),
            vpermq(ymm0, ymm0, IN_ORDER)
        );
        if masked {
            let old = self.dwords_at(first);
            emit!(
                self,
                vpackssdw(ymm2, ymm2, ymm3),
                vpermq(ymm2, ymm2, IN_ORDER),
                vpblendvb(ymm0, y(old), ymm0, ymm2)
            );
        }
        let at = i32::from(first) * 4;
        emit!(self, vmovdqu(ymmword_ptr(rdi + at), ymm0));
        self.held.written(first);
    }

    /// A word becomes a flag register.
    pub(super) fn set_flag(&mut self, step: &Step) {
        let mut end = self.unless_it_executes(step);
        match step.sources[0].place {
            Place::Words { at, .. } => {
                emit!(self, movzx(eax, word_ptr(rdi + i32::from(at[0]))));
            }
            // CAST: a word.
            Place::Constant(dwords) => emit!(self, mov(eax, (dwords[0] & 0xffff) as i32)),
            _ => self.spoilt = true,
        }
        let flag = 4 + 2 * i32::from(step.flag & 3);
        emit!(self, mov(word_ptr(rsi + flag), ax));
        self.spoilt |= self.ops.set_label(&mut end).is_err();
        // A label is before an instruction.
        emit!(self, nop());
        self.held.flags_written();
    }

    /// A flag register becomes a word.
    pub(super) fn get_flag(&mut self, step: &Step) {
        let Some(word) = step.destination else {
            return;
        };
        let flag = 4 + 2 * i32::from(step.flag & 3);
        let mut end = self.unless_it_executes(step);
        emit!(
            self,
            movzx(eax, word_ptr(rsi + flag)),
            mov(word_ptr(rdi + 2 * i32::from(word)), ax)
        );
        self.spoilt |= self.ops.set_label(&mut end).is_err();
        emit!(self, nop());
        self.held.written(word / 2);
    }

    /// Goes to the label that comes back when the only channel of a step does not execute.
    fn unless_it_executes(&mut self, step: &Step) -> CodeLabel {
        let end = self.ops.create_label();
        if !step.unmasked && !self.full {
            let channel = 1 << (step.shift & 31);
            emit!(self, test(dword_ptr(rsi), channel), je(end));
        }
        end
    }
}

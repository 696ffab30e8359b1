//! Flags: bits of a comparison or a result, for the channels that execute.

use super::{Emitter, Half, ZERO, emit, y};
use eu::stretch::{ByResult, Step};
use iced_x86::code_asm::{cx, dword_ptr, eax, ecx, edx, r8d, rsi, word_ptr, ymm0};

impl Emitter {
    /// Keeps the bits of eight channels: in `ecx`, those of the second half in `edx`.
    pub(super) fn take_bits(&mut self, half: Half<'_>, result: u8, compares: bool) {
        let mut from = result;
        if !compares {
            emit!(self, vpcmpeqd(ymm0, y(result), y(ZERO)));
            from = 0;
        }
        if half.number == 0 {
            emit!(self, vmovmskps(ecx, y(from)));
        } else {
            emit!(self, vmovmskps(edx, y(from)));
        }
    }

    /// Writes the kept bits to the flags.
    pub(super) fn set_flags(&mut self, step: &Step) {
        let shift = u32::from(step.shift & 15);
        let flag = 4 + 2 * i32::from(step.flag & 3);
        if step.wide {
            emit!(self, shl(edx, 8), or(ecx, edx));
        }
        if step.by_result == ByResult::NotZero {
            emit!(self, not(ecx));
        }
        if step.unmasked || self.full {
            emit!(self, mov(eax, -1));
        } else {
            emit!(self, mov(eax, dword_ptr(rsi)));
            if step.shift >= 16 {
                emit!(self, shr(eax, 16));
            }
        }
        if let Some(predicate) = step.predicate {
            self.predicate_word(predicate, r8d);
            emit!(self, and(eax, r8d));
        }
        // The step's channels in the place of the flags.
        let lanes = i32::from(step.lanes) << shift & 0xffff;
        emit!(
            self,
            and(eax, lanes),
            shl(ecx, shift),
            movzx(r8d, word_ptr(rsi + flag)),
            xor(ecx, r8d),
            and(ecx, eax),
            xor(ecx, r8d),
            mov(word_ptr(rsi + flag), cx)
        );
        self.held.flags_written();
    }
}

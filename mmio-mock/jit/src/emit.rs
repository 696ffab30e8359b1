//! The emitter: a function of the host for each stretch.
//!
//! `rdi` is the first dword of the thread's registers, `rsi` its [`Channels`](eu::stretch::Channels), `eax` what comes back; `r9` is for the place of the accumulators. Steps of sixteen channels
//! are two halves. `ymm0` to `ymm4` are for intermediate values, `ymm5` is zero, `ymm6` to `ymm13` hold values of the thread
//! ([`Held`]), `ymm14` and `ymm15` say which channels of the second and of the first eight execute.

mod bits;
mod compute;
mod doubles;
mod dwords;
mod extended;
mod flags;
mod operand;
mod products;
mod truncated;
mod whole;
mod words;

use crate::constants::{bits, lanes};
use crate::held::{Held, Value};
use eu::stretch::{ByResult, Operation, Step};
use iced_x86::code_asm::{
    AsmRegisterXmm, AsmRegisterYmm, CodeAssembler, CodeLabel, dword_ptr, eax, ecx, get_xmm,
    get_ymm, rdi, rsi, xmm0, ymm0, ymm1, ymm5, ymm14, ymm15, ymmword_ptr,
};
use iced_x86::{BlockEncoderOptions, Register};

/// Emits instructions in turn; one that there is not spoils the code, which is then not used.
macro_rules! emit {
    ($to:ident, $($name:ident($($operand:expr),*)),* $(,)?) => {{
        $(
            let done = $to.ops.$name($($operand),*);
            $to.spoilt |= done.is_err();
        )*
    }};
}
pub(crate) use emit;

/// A register by its number.
fn y(number: u8) -> AsmRegisterYmm {
    get_ymm(Register::YMM0 + u32::from(number & 15)).unwrap_or(ymm0)
}

/// The lower half of one.
fn x(number: u8) -> AsmRegisterXmm {
    get_xmm(Register::XMM0 + u32::from(number & 15)).unwrap_or(xmm0)
}

/// The register of zeros.
const ZERO: u8 = 5;

pub(crate) struct Emitter {
    ops: CodeAssembler,
    /// Where stretches begin.
    begins: Vec<CodeLabel>,
    /// Whether an instruction could not be emitted.
    spoilt: bool,
    constants: Vec<([u32; 8], CodeLabel)>,
    held: Held,
    /// What is to be emitted behind the present code.
    slow: Vec<truncated::Slow>,
    /// Every channel executes: masks are not looked at.
    full: bool,
}

/// Half of a step: eight channels.
#[derive(Clone, Copy)]
struct Half<'a> {
    step: &'a Step,
    /// 0 or 1.
    number: u16,
}

impl Half<'_> {
    /// The mask bit of its first channel.
    fn first(self) -> u32 {
        u32::from(self.step.shift) + 8 * u32::from(self.number)
    }

    /// Its channels, in the low eight bits.
    fn lanes(self) -> u16 {
        self.step.lanes >> (8 * self.number) & 0xff
    }

    /// Its destination.
    fn destination(self) -> Option<u16> {
        let first = self.step.destination?;
        Some(if self.number == 0 {
            first
        } else {
            self.step.second
        })
    }

    /// Its part of the places of sixteen channels.
    fn of(self, at: &[u16; 16]) -> [u16; 8] {
        std::array::from_fn(|i| at[8 * usize::from(self.number & 1) + i])
    }
}

impl Emitter {
    /// No code yet; `None` where the assembler has no such host.
    pub(crate) fn new() -> Option<Emitter> {
        Some(Emitter {
            ops: CodeAssembler::new(64).ok()?,
            begins: Vec::new(),
            spoilt: false,
            constants: Vec::new(),
            held: Held::new(),
            slow: Vec::new(),
            full: false,
        })
    }

    /// Goes to the label that comes back when all channels execute, sixteen or thirty-two; else takes the masks of the first sixteen up.
    fn unless_full(&mut self, all: bool) -> CodeLabel {
        let full = self.ops.create_label();
        emit!(self, mov(eax, dword_ptr(rsi)));
        if all {
            emit!(self, cmp(eax, -1));
        } else {
            emit!(self, and(eax, 0xffff), cmp(eax, 0xffff));
        }
        emit!(self, je(full));
        self.masks();
        full
    }

    /// Emits the function of a stretch.
    pub(crate) fn stretch(&mut self, steps: &[Step]) {
        let mut begin = self.ops.create_label();
        self.spoilt |= self.ops.set_label(&mut begin).is_err();
        self.begins.push(begin);
        let masked = steps.iter().any(|s| !s.unmasked);
        emit!(self, vpxor(ymm5, ymm5, ymm5));
        if masked {
            let mut full = self.unless_full(steps.iter().any(|s| s.shift >= 16));
            self.steps(steps, false);
            self.spoilt |= self.ops.set_label(&mut full).is_err();
        }
        self.steps(steps, true);
    }

    /// Which channels execute, in `ymm14` and `ymm15`.
    fn masks(&mut self) {
        let [low, high] = [bits(0), bits(8)].map(|bits| self.constant(bits));
        emit!(
            self,
            vpbroadcastd(ymm14, dword_ptr(rsi)),
            vpand(ymm15, ymm14, ymmword_ptr(low)),
            vpand(ymm14, ymm14, ymmword_ptr(high)),
            vpcmpeqd(ymm15, ymm15, ymmword_ptr(low)),
            vpcmpeqd(ymm14, ymm14, ymmword_ptr(high))
        );
    }

    fn steps(&mut self, steps: &[Step], full: bool) {
        self.full = full;
        self.held = Held::new();
        let mut ends = Vec::new();
        for step in steps {
            if step.operation == Operation::Leave {
                ends.push(self.leave(step));
            } else {
                self.step(step);
            }
        }
        emit!(self, vzeroupper(), xor(eax, eax), ret());
        for (mut end, number) in ends.into_iter().zip(1u32..) {
            self.spoilt |= self.ops.set_label(&mut end).is_err();
            emit!(self, vzeroupper(), mov(eax, number), ret());
        }
        self.slow_ways();
    }

    /// Goes to an end of the stretch, whose label comes back, when a channel leaves or none executes.
    fn leave(&mut self, step: &Step) -> CodeLabel {
        let end = self.ops.create_label();
        let lanes = i32::from(step.lanes) << (step.shift & 15) & 0xffff;
        if self.full {
            emit!(self, mov(eax, lanes));
        } else {
            emit!(self, mov(eax, dword_ptr(rsi)));
            if step.shift >= 16 {
                emit!(self, shr(eax, 16));
            }
            emit!(self, and(eax, lanes), je(end));
        }
        if let Some(predicate) = step.predicate {
            self.predicate_word(predicate, ecx);
            emit!(self, test(eax, ecx), jne(end));
        }
        end
    }

    fn step(&mut self, step: &Step) {
        let halves = if step.wide { 2 } else { 1 };
        let compares = step.operation.sets_flags();
        let flags = compares || step.by_result != ByResult::No;
        // There the bits are no result.
        let taken = matches!(step.operation, Operation::FloorAndRest { .. });
        match step.operation {
            Operation::Plane => return self.plane(step),
            Operation::AddWords => return self.add_words(step),
            Operation::SetFlag => return self.set_flag(step),
            Operation::GetFlag => return self.get_flag(step),
            _ => {}
        }
        for number in 0..halves {
            let half = Half { step, number };
            let (result, clean) = self.compute(half);
            if flags && !taken {
                self.take_bits(half, result, compares);
            }
            self.store(half, result, clean);
        }
        if flags {
            self.set_flags(step);
        }
    }

    /// Writes the result of half a step to the channels that execute. `result` is a register that no value is held in.
    fn store(&mut self, half: Half<'_>, result: u8, clean: bool) {
        let Some(first) = half.destination() else {
            return;
        };
        let mut clean = clean;
        if let Some(mask) = self.mask(half) {
            let old = self.dwords_at(first);
            clean &= self.held.clean.has(first);
            emit!(self, vblendvps(y(result), y(old), y(result), y(mask)));
        }
        let at = i32::from(first) * 4;
        emit!(self, vmovups(ymmword_ptr(rdi + at), y(result)));
        self.held.written(first);
        self.held.set(result, Value::Dwords(first), clean);
    }

    /// The register that says which channels of half a step are written; `None` when all are.
    fn mask(&mut self, half: Half<'_>) -> Option<u8> {
        let step = half.step;
        let masked = !step.unmasked && !self.full;
        // The predicate of `Select` chooses.
        let predicate = step.predicate.filter(|_| !step.operation.chooses());
        let mut mask = masked.then(|| self.executing(half));
        if let Some(predicate) = predicate {
            let chosen = self.predicate(predicate, half.first() & 15);
            mask = match mask {
                Some(mask) => {
                    emit!(self, vpand(ymm1, y(mask), y(chosen)));
                    Some(1)
                }
                None => Some(chosen),
            };
        }
        if half.lanes() != 0xff {
            let own = self.constant(lanes(half.lanes()));
            if let Some(mask) = mask {
                emit!(self, vpand(ymm1, y(mask), ymmword_ptr(own)));
            } else {
                emit!(self, vmovdqu(ymm1, ymmword_ptr(own)));
            }
            mask = Some(1);
        }
        mask
    }

    /// The register that says which channels of half a step execute; `ymm1` for the channels from 16 on.
    fn executing(&mut self, half: Half<'_>) -> u8 {
        match half.first() {
            0 => 15,
            8 => 14,
            first => {
                let own = self.constant(bits(first));
                emit!(
                    self,
                    vpbroadcastd(ymm1, dword_ptr(rsi)),
                    vpand(ymm1, ymm1, ymmword_ptr(own)),
                    vpcmpeqd(ymm1, ymm1, ymmword_ptr(own))
                );
                1
            }
        }
    }

    /// The place of eight dwords that stand behind the code.
    fn constant(&mut self, dwords: [u32; 8]) -> CodeLabel {
        let known = self.constants.iter().find(|(known, _)| *known == dwords);
        if let Some((_, label)) = known {
            return *label;
        }
        let label = self.ops.create_label();
        self.constants.push((dwords, label));
        label
    }

    /// The code of all stretches with their constants, and the byte at which each begins.
    pub(crate) fn finish(mut self) -> Option<(Vec<u8>, Vec<usize>)> {
        for (dwords, mut label) in std::mem::take(&mut self.constants) {
            self.spoilt |= self.ops.set_label(&mut label).is_err();
            self.spoilt |= self.ops.dd(&dwords).is_err();
        }
        if self.spoilt {
            return None;
        }
        let placed = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
        let assembled = self.ops.assemble_options(0, placed).ok()?;
        let begin = |label| usize::try_from(assembled.label_ip(label).ok()?).ok();
        let begins = self.begins.iter().map(begin).collect::<Option<_>>()?;
        Some((assembled.inner.code_buffer, begins))
    }
}

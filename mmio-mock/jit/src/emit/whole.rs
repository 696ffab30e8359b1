//! Kernels with branches: blocks with labels, and masks in general registers.
//!
//! `rsi` is the thread's [`Progress`], which begins with its channels. Each block has an entry, at which nothing is held in registers of the
//! host; it has one form for threads of which all channels execute and one for others. Blocks that follow a branch which no channel takes
//! are emitted behind it once more, as what was held and which channels execute is the same there.

use super::{Emitter, emit};
use crate::clean::{self, Clean};
use crate::held::Held;
use eu::graph::{Act, Block, Blocks, Chooser, End, Group, Mask, NO_TIME, Progress};
use eu::stretch::Predicate;
use iced_x86::code_asm::{
    AsmMemoryOperand, AsmRegister32, CodeLabel, dword_ptr, eax, ecx, qword_ptr, r8d, r9d, r10d,
    r11d, rsi, word_ptr, ymm5,
};
use std::mem::offset_of;

/// Blocks that follow one another without an entry, at most.
const LONGEST: usize = 12;

/// The registers of a branch's own masks.
const TEMPORARY: [AsmRegister32; 4] = [r8d, r9d, r10d, r11d];

/// Where a mask is.
#[derive(Clone, Copy)]
enum At {
    Register(AsmRegister32),
    Memory(AsmMemoryOperand),
}

fn at(mask: Mask) -> At {
    match mask {
        Mask::Enabled => At::Memory(dword_ptr(rsi)),
        Mask::Kept(number) => At::Memory(kept(number)),
        Mask::Temporary(number) => At::Register(TEMPORARY[usize::from(number) % TEMPORARY.len()]),
    }
}

fn kept(number: u8) -> AsmMemoryOperand {
    // CAST: some hundred bytes.
    dword_ptr(rsi + (offset_of!(Progress<'_>, kept) as i32 + 4 * i32::from(number)))
}

/// The labels of a kernel.
struct Labels {
    entries: Vec<CodeLabel>,
    no_time: CodeLabel,
}

impl Labels {
    fn entry(&self, block: u16) -> Option<CodeLabel> {
        self.entries.get(usize::from(block)).copied()
    }
}

/// Whether an act writes a mask that outlives the branch.
fn keeps(act: &Act) -> bool {
    match *act {
        Act::Copy(to, _)
        | Act::Set(to, _)
        | Act::And(to, ..)
        | Act::Without(to, ..)
        | Act::Or(to, ..)
        | Act::Limit(to, ..)
        | Act::Choose(to, _) => !matches!(to, Mask::Temporary(_)),
        Act::Empty(..) => false,
    }
}

/// The number of the act by which a thread goes on with the next block while its masks stay as they are.
fn stays(blocks: &[Block], number: usize) -> Option<usize> {
    let (block, next) = (blocks.get(number)?, blocks.get(number + 1)?);
    let unchanged = block.acts.iter().take_while(|act| !keeps(act));
    let next = |act: &Act| matches!(act, Act::Empty(_, to) if usize::from(*to) == number + 1 && next.wakes.is_none());
    let exits: Vec<_> = unchanged.collect();
    exits.into_iter().position(next)
}

/// The blocks that a thread comes to from other blocks than the one in front, or from a message.
fn heads(Blocks(blocks): &Blocks) -> Vec<bool> {
    let mut heads = vec![false; blocks.len()];
    let mut head = |number: usize, to: u16| {
        if usize::from(to) != number + 1
            && let Some(head) = heads.get_mut(usize::from(to))
        {
            *head = true;
        }
    };
    head(usize::MAX - 1, 0);
    for (number, block) in blocks.iter().enumerate() {
        for act in &block.acts {
            if let Act::Empty(_, to) = *act {
                head(number, to);
            }
        }
        match block.end {
            End::Go(to) if !block.acts.is_empty() => head(number, to),
            End::Go(to) | End::Message(to) => head(usize::MAX - 1, to),
            End::Last | End::Unknown => {}
        }
    }
    heads
}

impl Emitter {
    /// Emits a kernel: a function for each block, by which it is entered there.
    pub(crate) fn whole(&mut self, blocks: &Blocks) {
        let entries = blocks.0.iter().map(|_| self.ops.create_label()).collect();
        let labels = Labels {
            entries,
            no_time: self.ops.create_label(),
        };
        for entry in labels.entries.clone() {
            let mut begin = self.ops.create_label();
            self.place(&mut begin);
            self.begins.push(begin);
            emit!(self, vpxor(ymm5, ymm5, ymm5), jmp(entry));
        }
        let (heads, clean) = (heads(blocks), clean::at_entries(&blocks.0));
        for number in 0..blocks.0.len() {
            let mut chain = vec![number];
            let mut last = number;
            while heads[number]
                && chain.len() < LONGEST
                && stays(&blocks.0, last).is_some()
                && !heads[last + 1]
            {
                last += 1;
                chain.push(last);
            }
            self.chain(&blocks.0, &chain, (&labels, &clean[number]));
        }
        let mut no_time = labels.no_time;
        self.place(&mut no_time);
        // CAST: all bits.
        emit!(self, vzeroupper(), mov(eax, NO_TIME as i32), ret());
    }

    fn place(&mut self, label: &mut CodeLabel) {
        self.spoilt |= self.ops.set_label(label).is_err();
    }

    /// The entry of a block, and the block with those that follow while masks stay as they are.
    fn chain(&mut self, blocks: &[Block], chain: &[usize], (labels, clean): (&Labels, &Clean)) {
        let Some((number, block)) = chain.first().map(|number| (*number, &blocks[*number])) else {
            return;
        };
        let mut entry = labels.entries[number];
        self.place(&mut entry);
        if let Some(wakes) = block.wakes {
            emit!(
                self,
                mov(eax, kept(wakes)),
                or(dword_ptr(rsi), eax),
                mov(kept(wakes), 0)
            );
        }
        self.count(block, labels);
        let mut steps = chain.iter().flat_map(|number| &blocks[*number].steps);
        if steps.any(|step| !step.unmasked) {
            let mut full = self.unless_full(false);
            self.form(blocks, chain, (labels, clean), false);
            self.place(&mut full);
        }
        self.form(blocks, chain, (labels, clean), true);
    }

    /// What a block takes from the budget, unless it is more than there is.
    fn count(&mut self, block: &Block, labels: &Labels) {
        // CAST: at most what a page has, and some bytes.
        let (instructions, simd8) = (block.instructions as i32, block.simd8 as i32);
        let left = offset_of!(Progress<'_>, left) as i32;
        let counted = offset_of!(Progress<'_>, simd8) as i32;
        if instructions > 0 {
            emit!(
                self,
                sub(qword_ptr(rsi + left), instructions),
                jb(labels.no_time),
                add(qword_ptr(rsi + counted), simd8)
            );
        }
    }

    fn form(
        &mut self,
        blocks: &[Block],
        chain: &[usize],
        (labels, clean): (&Labels, &Clean),
        full: bool,
    ) {
        self.full = full;
        self.held = Held::new();
        self.held.clean = clean.clone();
        for (n, number) in chain.iter().enumerate() {
            let block = &blocks[*number];
            if n > 0 {
                self.count(block, labels);
            }
            for step in &block.steps {
                self.step(step);
            }
            let mut next = self.ops.create_label();
            let follows = n + 1 < chain.len();
            let stays = stays(blocks, *number).filter(|_| follows);
            for (n, act) in block.acts.iter().enumerate() {
                let exit = Some(next).filter(|_| stays == Some(n));
                self.act(act, exit, labels);
            }
            match block.end {
                End::Go(to) => match labels.entry(to) {
                    Some(to) => emit!(self, jmp(to)),
                    None => self.spoilt = true,
                },
                End::Message(_) | End::Last | End::Unknown => {
                    // CAST: at most some hundred blocks.
                    emit!(self, vzeroupper(), mov(eax, *number as i32), ret());
                }
            }
            if follows {
                self.place(&mut next);
            }
        }
        self.slow_ways();
    }

    fn load_mask(&mut self, into: AsmRegister32, mask: Mask) {
        match at(mask) {
            At::Register(from) => emit!(self, mov(into, from)),
            At::Memory(from) => emit!(self, mov(into, from)),
        }
    }

    fn store_mask(&mut self, mask: Mask, from: AsmRegister32) {
        match at(mask) {
            At::Register(to) => emit!(self, mov(to, from)),
            At::Memory(to) => emit!(self, mov(to, from)),
        }
    }

    /// One operation on masks. `exit`: where an empty mask leads, if not to the entry of its block.
    fn act(&mut self, act: &Act, exit: Option<CodeLabel>, labels: &Labels) {
        match *act {
            Act::Copy(to, a) => {
                self.load_mask(eax, a);
                self.store_mask(to, eax);
            }
            Act::Set(to, channels) => {
                // CAST: the same bits.
                emit!(self, mov(eax, channels as i32));
                self.store_mask(to, eax);
            }
            Act::And(to, a, b) => {
                self.load_mask(eax, a);
                match at(b) {
                    At::Register(b) => emit!(self, and(eax, b)),
                    At::Memory(b) => emit!(self, and(eax, b)),
                }
                self.store_mask(to, eax);
            }
            Act::Without(to, a, b) => {
                self.load_mask(ecx, b);
                emit!(self, not(ecx));
                self.load_mask(eax, a);
                emit!(self, and(eax, ecx));
                self.store_mask(to, eax);
            }
            Act::Or(to, a, b) => {
                self.load_mask(eax, a);
                match at(b) {
                    At::Register(b) => emit!(self, or(eax, b)),
                    At::Memory(b) => emit!(self, or(eax, b)),
                }
                self.store_mask(to, eax);
            }
            Act::Limit(to, a, channels) => {
                self.load_mask(eax, a);
                // CAST: the same bits.
                emit!(self, and(eax, channels as i32));
                self.store_mask(to, eax);
            }
            Act::Choose(to, chooser) => {
                self.choose(chooser);
                self.store_mask(to, eax);
            }
            Act::Empty(of, to) => {
                let Some(to) = exit.or_else(|| labels.entry(to)) else {
                    self.spoilt = true;
                    return;
                };
                match at(of) {
                    At::Register(of) => emit!(self, test(of, of), je(to)),
                    At::Memory(of) => emit!(self, cmp(of, 0), je(to)),
                }
            }
        }
    }

    /// The sixteen channels that are chosen, in `eax`.
    fn choose(&mut self, chooser: Chooser) {
        let predicate = Predicate {
            flag: chooser.flag,
            inverted: chooser.inverted,
            replicated: None,
        };
        let (count, every) = match chooser.group {
            Group::All => return emit!(self, mov(eax, 0xffff)),
            Group::Own => {
                self.predicate_word(predicate, eax);
                return emit!(self, and(eax, 0xffff));
            }
            Group::Replicated(channel) => {
                let replicated = Some(channel);
                self.predicate_word(
                    Predicate {
                        replicated,
                        ..predicate
                    },
                    eax,
                );
                return emit!(self, and(eax, 0xffff));
            }
            Group::Any(count) => (u32::from(count), false),
            Group::Every(count) => (u32::from(count), true),
        };
        let flag = 4 + 2 * i32::from(chooser.flag & 3);
        emit!(self, movzx(eax, word_ptr(rsi + flag)));
        // The first bit of each group becomes what its bits say together, and then all of them become the first.
        let mut by = 1;
        while by < count {
            emit!(self, mov(ecx, eax), shr(ecx, by));
            if every {
                emit!(self, and(eax, ecx));
            } else {
                emit!(self, or(eax, ecx));
            }
            by *= 2;
        }
        let firsts = (0..16).step_by(count.max(1) as usize);
        let firsts = firsts.fold(0, |bits, at| bits | 1 << at);
        // CAST: sixteen bits.
        let group = ((1u32 << count) - 1) as i32;
        emit!(self, and(eax, firsts), imul_3(eax, eax, group));
        if chooser.inverted {
            emit!(self, xor(eax, 0xffff));
        }
    }
}

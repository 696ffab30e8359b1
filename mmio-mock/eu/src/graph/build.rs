//! From the decoded instructions of a kernel to its blocks.

use super::paths::{self, Point, Points};
use super::stacks::{self, Depths};
use super::{Act, Block, Blocks, End, KEPT};
use crate::cache::KernelCache;
use crate::decoded::{Decoded, Slot};
use crate::exposed::{Exposed, FULL};
use crate::reach::{self, Reach};
use crate::scoreboard::Check;
use crate::sent::{Sent, sent};
use crate::stretch::{Compiler, Operation, resolve};
use crate::warm;
use isa::Opcode;

/// Blocks of a kernel at most.
const MOST: usize = 256;

/// A kernel with branches, to be compiled.
pub(crate) struct Plan {
    pub(crate) blocks: Blocks,
    /// The messages behind each block.
    pub(crate) sent: Vec<Vec<Sent>>,
    /// What it may write.
    pub(crate) reach: Reach,
    /// Pairs of registers that it may read before it has written all of them: when the channels of each of [`FULL`] execute.
    pub(crate) exposed: [u128; 3],
    /// Its masks have stacks.
    pub(crate) stacks: bool,
}

/// An instruction, or a place where none is decoded.
struct Item {
    /// Number of its slot.
    at: usize,
    /// `None` where none is decoded.
    hot: Option<Decoded>,
    /// What it is to registers that wait.
    check: Check,
    /// The slot behind it.
    behind: usize,
}

/// Whether an instruction may lead elsewhere than to the next one.
fn branches(op: Opcode) -> bool {
    use Opcode::{Break, Cont, Do, Else, Endif, Halt, If, Iff, While};
    matches!(
        op,
        If | Iff | Else | Endif | Do | While | Break | Cont | Halt
    )
}

fn is_message(op: Opcode) -> bool {
    matches!(op, Opcode::Send | Opcode::Sendc)
}

/// Whether a branch may go to the place that it names.
fn jumps(hot: &Decoded, paths: bool) -> bool {
    match hot.op {
        _ if paths => true,
        Opcode::Do | Opcode::Endif => false,
        Opcode::Halt => hot.jump != 0,
        _ => true,
    }
}

/// Where a distance from a slot leads to.
fn target(at: usize, distance: i32, place: u8) -> Option<usize> {
    usize::try_from(at as i64 + i64::from(distance >> place)).ok()
}

/// A kernel in parts.
struct Parts<'a> {
    items: Vec<Item>,
    /// The item at each slot, and the block that begins there.
    blocks: Vec<Option<u16>>,
    /// The mask of channels that wait at each slot.
    kept: Vec<Option<u8>>,
    /// The first item of each block.
    first: Vec<usize>,
    cache: &'a KernelCache,
}

/// The blocks of the kernel at `ip`, as far as it is decoded in its page; `None` when it has something that is neither a step nor a
/// branch nor a message, when channels may come to more places than there are masks for, or when a stack of masks has not always as
/// many entries at an instruction.
pub(crate) fn build(
    cache: &KernelCache,
    (page, ip): (usize, u32),
    compiler: &dyn Compiler,
) -> Option<Plan> {
    let place = cache.instructions().rules.place;
    let slots = cache.slots(page);
    let parts = Parts::of(cache, slots, KernelCache::slot_index(ip, place))?;
    let (mut blocks, mut all) = (Vec::new(), Vec::new());
    let mut reach = Reach::default();
    for number in 0..parts.first.len() {
        let (block, sent) = parts.block(number, ip, compiler)?;
        blocks.push(block);
        all.push(sent);
    }
    for hot in parts.items.iter().filter_map(|item| item.hot.as_ref()) {
        reach = reach.and(reach::of(hot));
    }
    let stacks = !cache.instructions().rules.paths;
    if stacks {
        parts.with_stacks(&mut blocks)?;
    } else {
        parts.with_paths(&mut blocks)?;
    }
    all.resize_with(blocks.len(), Vec::new);
    let exposed = FULL.map(|full| exposed(&blocks, &all, full));
    let blocks = Blocks(blocks);
    blocks.is_inside().then_some(Plan {
        blocks,
        sent: all,
        reach,
        exposed,
        stacks,
    })
}

impl Parts<'_> {
    fn of<'a>(cache: &'a KernelCache, slots: &[Slot], first: usize) -> Option<Parts<'a>> {
        let rules = cache.instructions().rules;
        let end = warm::end_of(slots, first, rules.place);
        let mut items = Vec::new();
        let mut begins = vec![false; slots.len() + 1];
        let mut kept = vec![None; slots.len() + 1];
        let mut places = 0;
        let mut at = first;
        while at <= end {
            let slot = slots.get(at)?;
            let hot = warm::looked_at(slot);
            let behind = at
                + if hot.empty {
                    1
                } else {
                    warm::length(&hot, rules.place)
                };
            // What follows a hole begins a block.
            let hole = hot.empty && slots.get(behind).is_some_and(|slot| !slot.hot.empty);
            let branch = !hot.empty && branches(hot.op);
            if hole || branch || !hot.empty && is_message(hot.op) {
                *begins.get_mut(behind)? = true;
            }
            if branch {
                let waits = if rules.paths {
                    paths::waits(hot.op)
                } else {
                    [false; 3]
                };
                let jump = jumps(&hot, rules.paths).then_some(hot.jump);
                let other = waits[2].then_some(hot.pop);
                let leads = [Some(i32::from(hot.bytes)), jump, other];
                for (distance, waits) in leads.into_iter().zip(waits) {
                    let Some(distance) = distance else {
                        continue;
                    };
                    let to = target(at, distance, rules.place)?;
                    *begins.get_mut(to)? = true;
                    let kept = kept.get_mut(to)?;
                    if waits && kept.is_none() {
                        *kept = Some(u8::try_from(places).ok()?);
                        places += 1;
                    }
                }
            }
            items.push(Item {
                at,
                hot: (!hot.empty).then_some(hot),
                check: Check::of(slot),
                behind,
            });
            at = behind;
        }
        if places > KEPT {
            return None;
        }
        let mut blocks = vec![None; slots.len() + 1];
        let mut firsts = Vec::new();
        for (number, item) in items.iter().enumerate() {
            if number == 0 || begins[item.at] {
                blocks[item.at] = Some(u16::try_from(firsts.len()).ok()?);
                firsts.push(number);
            }
        }
        // There is a branch, or this is no kernel for blocks.
        let any = items.iter().filter_map(|item| item.hot.as_ref());
        let any = any.into_iter().any(|hot| branches(hot.op));
        (any && firsts.len() <= MOST).then_some(Parts {
            items,
            blocks,
            kept,
            first: firsts,
            cache,
        })
    }

    fn items(&self, block: usize) -> &[Item] {
        let first = self.first.get(block).copied().unwrap_or(0);
        let end = self.first.get(block + 1).copied();
        self.items
            .get(first..end.unwrap_or(self.items.len()))
            .unwrap_or_default()
    }

    /// A block without what its branch does, and the messages behind it.
    fn block(&self, number: usize, ip: u32, compiler: &dyn Compiler) -> Option<(Block, Vec<Sent>)> {
        let rules = self.cache.instructions().rules;
        let first = KernelCache::slot_index(ip, rules.place);
        let items = self.items(number);
        let begin = items.first()?.at;
        let next = u16::try_from(number + 1).ok()?;
        let mut block = Block {
            wakes: self.kept[begin],
            steps: Vec::new(),
            instructions: 0,
            simd8: 0,
            acts: Vec::new(),
            end: End::Go(next),
        };
        let mut messages = Vec::new();
        let mut floats = 0;
        let mut stale = 0;
        for (n, item) in items.iter().enumerate() {
            let Some(hot) = &item.hot else {
                block.end = End::Unknown;
                break;
            };
            let behind = items.get(n + 1..).unwrap_or_default();
            let hot = &Decoded {
                acc_dead: hot.acc_dead || !read_behind(behind),
                ..*hot
            };
            block.instructions += 1;
            block.simd8 += u32::from(hot.weight);
            if hot.rare || hot.breakpoint {
                return None;
            }
            stale = item.check.behind(stale)?;
            if is_message(hot.op) {
                // CAST: bytes of a page.
                let at = ip.wrapping_add(((item.at - first) << rules.place) as u32);
                messages = sent(hot, at)?;
                block.end = if hot.send.eot {
                    End::Last
                } else {
                    End::Message(next)
                };
            } else if !branches(hot.op) && !matches!(hot.op, Opcode::Nop | Opcode::Nenop) {
                let step = resolve::step(hot, rules)?;
                // Masks of blocks are those of sixteen channels.
                let known = step.is_inside() && compiler.takes(&step) && step.shift < 16;
                if !known || step.operation == Operation::Leave {
                    return None;
                }
                floats = step.known_lanes(floats)?;
                block.steps.push(step);
            }
        }
        // A block that leaves a register's dependency uncleared is not compiled.
        (stale == 0).then_some((block, messages))
    }

    fn branch(&self, block: usize) -> Option<(&Item, &Decoded)> {
        let item = self.items(block).last()?;
        let hot = item.hot.as_ref().filter(|hot| branches(hot.op))?;
        Some((item, hot))
    }

    fn point(&self, slot: usize) -> Option<Point> {
        Some(Point {
            block: (*self.blocks.get(slot)?)?,
            kept: *self.kept.get(slot)?,
        })
    }

    /// What branches do where channels have instruction pointers.
    fn with_paths(&self, blocks: &mut Vec<Block>) -> Option<()> {
        let place = self.cache.instructions().rules.place;
        for number in 0..self.first.len() {
            let Some((item, hot)) = self.branch(number) else {
                continue;
            };
            let to = |distance| self.point(target(item.at, distance, place)?);
            let jump = to(hot.jump)?;
            let [.., waits] = paths::waits(hot.op);
            let points = Points {
                behind: self.point(item.behind)?,
                jump,
                other: if waits { to(hot.pop)? } else { jump },
                spare: u16::try_from(blocks.len()).ok()?,
            };
            let flow = paths::flow(hot, &points)?;
            blocks[number].acts = flow.acts;
            blocks[number].end = End::Go(flow.to);
            if let Some((acts, to)) = flow.spare {
                blocks.push(spare(acts, to));
            }
        }
        Some(())
    }

    /// What they do where masks have stacks.
    fn with_stacks(&self, blocks: &mut Vec<Block>) -> Option<()> {
        let place = self.cache.instructions().rules.place;
        let mut depths: Vec<Option<Depths>> = vec![None; self.first.len()];
        let mut left = vec![(0, Depths::default())];
        while let Some((number, at)) = left.pop() {
            let known = depths.get_mut(usize::from(number))?;
            match known {
                Some(known) if *known == at => continue,
                Some(_) => return None,
                None => *known = Some(at),
            }
            let number = usize::from(number);
            if let Some((item, hot)) = self.branch(number) {
                let block = |slot: usize| self.blocks.get(slot).copied().flatten();
                let behind = block(item.behind)?;
                let jump = if jumps(hot, false) {
                    block(target(item.at, hot.jump, place)?)?
                } else {
                    behind
                };
                let free = u16::try_from(blocks.len()).ok()?;
                let flow = stacks::flow(hot, at, [behind, jump, free])?;
                left.extend(flow.behind.map(|at| (behind, at)));
                left.extend(flow.jump.map(|at| (jump, at)));
                blocks[number].acts = flow.acts;
                blocks[number].end = End::Go(flow.to);
                blocks.extend(flow.spares.into_iter().map(|(acts, to)| spare(acts, to)));
            } else {
                match blocks[number].end {
                    End::Go(to) | End::Message(to) => left.push((to, at)),
                    // What it leaves on its stacks the next thread finds there.
                    End::Last if at != Depths::default() => return None,
                    End::Last | End::Unknown => {}
                }
            }
        }
        // What no branch leads to.
        for (block, _) in blocks.iter_mut().zip(depths).filter(|(_, at)| at.is_none()) {
            (block.end, block.acts) = (End::Unknown, Vec::new());
        }
        Some(())
    }
}

/// A block of a branch, without instructions.
fn spare(acts: Vec<Act>, to: u16) -> Block {
    Block {
        wakes: None,
        steps: Vec::new(),
        instructions: 0,
        simd8: 0,
        acts,
        end: End::Go(to),
    }
}

/// Whether an instruction behind those that are looked at, in the same block, takes what they leave in the accumulator. No other block does,
/// and no message.
fn read_behind(items: &[Item]) -> bool {
    let mut all = items.iter().filter_map(|item| item.hot.as_ref());
    all.any(|hot| hot.op == Opcode::Mac)
}

/// The pairs of registers that are read before all of them is written, when these channels execute. Only what every thread does before it
/// branches is written for certain.
fn exposed(blocks: &[Block], sent: &[Vec<Sent>], full: u32) -> u128 {
    let mut exposed = Exposed::new(full);
    let mut passed = vec![false; blocks.len()];
    let mut number = 0;
    while let Some(block) = blocks.get(number)
        && !passed[number]
    {
        passed[number] = true;
        block.steps.iter().for_each(|step| exposed.step(step));
        sent[number].iter().for_each(|sent| exposed.send(sent));
        match block.end {
            End::Go(to) | End::Message(to) if block.acts.is_empty() => number = usize::from(to),
            _ => break,
        }
    }
    exposed.perhaps = true;
    for (number, block) in blocks.iter().enumerate().filter(|(n, _)| !passed[*n]) {
        block.steps.iter().for_each(|step| exposed.step(step));
        sent[number].iter().for_each(|sent| exposed.send(sent));
    }
    exposed.pairs
}

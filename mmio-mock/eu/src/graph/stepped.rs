//! Kernels with branches in safe code: stretches, and masks between them.

use super::{Act, Block, Blocks, End, Mask, NO_TIME, Progress, TEMPORARY, Whole};
use crate::stretch::{Compiled, Compiler, Registers, Step};
use std::sync::Arc;

/// A kernel whose blocks are stretches that a compiler made.
#[derive(Debug)]
struct Stepped {
    blocks: Vec<Block>,
    /// The stretch of each block, if it has steps.
    stretches: Vec<Option<usize>>,
    code: Arc<dyn Compiled>,
}

/// Lets a compiler make the stretches of a kernel with branches, which is run by its blocks.
pub fn stepped(compiler: &(impl Compiler + ?Sized), blocks: &Blocks) -> Option<Arc<dyn Whole>> {
    if !blocks.is_inside() {
        return None;
    }
    let mut steps: Vec<Vec<Step>> = Vec::new();
    let mut stretches = Vec::new();
    for block in &blocks.0 {
        let has = !block.steps.is_empty();
        stretches.push(has.then_some(steps.len()));
        if has {
            steps.push(block.steps.clone());
        }
    }
    let code = compiler.compile(&steps)?;
    let bare = |block: &Block| Block {
        steps: Vec::new(),
        acts: block.acts.clone(),
        ..*block
    };
    Some(Arc::new(Stepped {
        blocks: blocks.0.iter().map(bare).collect(),
        stretches,
        code,
    }))
}

impl Whole for Stepped {
    fn run(&self, block: u16, registers: &mut Registers, progress: &mut Progress<'_>) -> u32 {
        let mut number = block;
        loop {
            let at = usize::from(number);
            let (Some(block), Some(stretch)) = (self.blocks.get(at), self.stretches.get(at)) else {
                return NO_TIME;
            };
            if let Some(wakes) = block.wakes {
                let kept = Mask::Kept(wakes);
                let woken = progress.get(kept, &[0; TEMPORARY]);
                progress.channels.enabled |= woken;
                progress.set(kept, 0, &mut [0; TEMPORARY]);
            }
            let Some(left) = progress.left.checked_sub(u64::from(block.instructions)) else {
                return NO_TIME;
            };
            progress.left = left;
            progress.simd8 += u64::from(block.simd8);
            if let Some(stretch) = *stretch {
                self.code.run(stretch, registers, &mut progress.channels);
            }
            number = match (progress.act(&block.acts), block.end) {
                (Some(to), _) | (None, End::Go(to)) => to,
                (None, End::Message(_) | End::Last | End::Unknown) => return u32::from(number),
            };
        }
    }
}

impl Progress<'_> {
    #[inline(always)]
    fn get(&self, mask: Mask, temporary: &[u32; TEMPORARY]) -> u32 {
        match mask {
            Mask::Enabled => self.channels.enabled,
            Mask::Kept(number) => self.kept.get(usize::from(number)).copied().unwrap_or(0),
            Mask::Temporary(number) => temporary[usize::from(number) % TEMPORARY],
        }
    }

    #[inline(always)]
    fn set(&mut self, mask: Mask, channels: u32, temporary: &mut [u32; TEMPORARY]) {
        match mask {
            Mask::Enabled => self.channels.enabled = channels,
            Mask::Kept(number) => {
                if let Some(kept) = self.kept.get_mut(usize::from(number)) {
                    *kept = channels;
                }
            }
            Mask::Temporary(number) => temporary[usize::from(number) % TEMPORARY] = channels,
        }
    }

    /// Does what a branch does. The block that the thread goes on with, unless it is that behind the last act.
    #[inline]
    fn act(&mut self, acts: &[Act]) -> Option<u16> {
        let mut temporary = [0; TEMPORARY];
        for act in acts {
            let get = |mask| self.get(mask, &temporary);
            let (to, channels) = match *act {
                Act::Copy(to, a) => (to, get(a)),
                Act::Set(to, channels) => (to, channels),
                Act::And(to, a, b) => (to, get(a) & get(b)),
                Act::Without(to, a, b) => (to, get(a) & !get(b)),
                Act::Or(to, a, b) => (to, get(a) | get(b)),
                Act::Limit(to, a, channels) => (to, get(a) & channels),
                Act::Choose(to, chooser) => (to, u32::from(chooser.channels(self.channels.flags))),
                Act::Empty(of, to) => {
                    if get(of) == 0 {
                        return Some(to);
                    }
                    continue;
                }
            };
            self.set(to, channels, &mut temporary);
        }
        None
    }
}

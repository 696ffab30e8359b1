//! Dwords without denormals, which are floats as they are.
//!
//! Results of float operations have no denormals. What a kernel with branches knows at the beginning of a block is what all blocks in front
//! of it know at their ends.

use crate::constants::flush;
use eu::graph::{Act, Block, End};
use eu::stretch::{Operation, Place, Step};

/// Where eight dwords of a thread begin that have no denormals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clean(Vec<u16>);

impl Clean {
    /// Whether eight dwords from one on are known to have none.
    pub(crate) fn has(&self, first: u16) -> bool {
        self.0.contains(&first)
    }

    /// Whether a dword is known to be none.
    pub(crate) fn has_dword(&self, dword: u16) -> bool {
        let within = |first: &u16| (*first..*first + 8).contains(&dword);
        self.0.iter().any(within)
    }

    /// Eight dwords from one on are known to have none.
    pub(crate) fn add(&mut self, first: u16) {
        if !self.has(first) {
            self.0.push(first);
        }
    }

    /// Eight dwords from one on are others now.
    pub(crate) fn written(&mut self, first: u16) {
        self.0.retain(|at| at.abs_diff(first) >= 8);
    }

    /// Whether what a step moves as it is, for the channels of one half, has none.
    pub(crate) fn moved(&self, step: &Step, half: u16) -> bool {
        if step.operation != Operation::Copy {
            return false;
        }
        match step.sources[0].place {
            Place::Constant(dwords) => dwords.iter().all(|dword| flush(*dword) == *dword),
            Place::Vector(first) => self.has(first + 8 * half),
            Place::Scalar(dword) => self.has_dword(dword),
            _ => false,
        }
    }

    /// What is known behind a step, of which any channels may execute.
    pub(crate) fn step(&mut self, step: &Step) {
        let Some(first) = step.destination else {
            return;
        };
        match step.operation {
            Operation::AddWords => return self.written(first),
            Operation::GetFlag => return self.written(first / 2),
            _ => {}
        }
        let halves = [first, step.second];
        let halves = halves.into_iter().take(if step.wide { 2 } else { 1 });
        for (half, first) in (0..).zip(halves) {
            let own = step.lanes >> (8 * half) & 0xff == 0xff;
            let chosen = step.predicate.is_some() && !step.operation.chooses();
            let whole = own && step.unmasked && !chosen;
            let clean = !step.operation.gives_bits() || self.moved(step, half);
            let clean = clean && (whole || self.has(first));
            self.written(first);
            if clean {
                self.add(first);
            }
        }
    }
}

/// What is known at the beginning of each block.
pub(crate) fn at_entries(blocks: &[Block]) -> Vec<Clean> {
    // A block has no entry here before another block has led to it.
    let mut known: Vec<Option<Clean>> = vec![None; blocks.len()];
    let mut left = vec![(0, Clean::default())];
    while let Some((number, clean)) = left.pop() {
        let (Some(block), Some(known)) = (blocks.get(number), known.get_mut(number)) else {
            continue;
        };
        let both = match known {
            Some(known) => {
                let both = Clean(
                    known
                        .0
                        .iter()
                        .copied()
                        .filter(|at| clean.has(*at))
                        .collect(),
                );
                if both == *known {
                    continue;
                }
                both
            }
            None => clean,
        };
        *known = Some(both.clone());
        let mut clean = both;
        for step in &block.steps {
            clean.step(step);
        }
        for act in &block.acts {
            if let Act::Empty(_, to) = *act {
                left.push((usize::from(to), clean.clone()));
            }
        }
        match block.end {
            End::Go(to) => left.push((usize::from(to), clean)),
            // What a message answers with is anything.
            End::Message(to) => left.push((usize::from(to), Clean::default())),
            End::Last | End::Unknown => {}
        }
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}

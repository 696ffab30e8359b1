//! Rules of whole kernels: branches, nesting, end of thread, dependencies.
//!
//! PRM: volume 4, 2.6.8, 11.3.4.5, 11.8, 14.2. Values of registers are not known here, so indirect
//! operands and branches by register are not followed.

use alloc::vec;
use alloc::vec::Vec;

use crate::inst::Inst;
use crate::tables::Features;

use super::{Check, Detail, Part, Rule, Violation};

mod blocks;
mod dependency;

pub(super) use blocks::RULES as BLOCK_RULES;
pub(super) use dependency::RULES as DEPENDENCY_RULES;

/// An instruction of a kernel and its byte offset in it.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Byte offset; offsets rise.
    pub offset: u32,
    /// Instruction.
    pub inst: &'a Inst,
}

/// A rule that a kernel breaks, and the instruction at which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedViolation {
    /// Index of the instruction.
    pub index: usize,
    /// What is wrong.
    pub violation: Violation,
}

/// A kernel on a part.
pub(super) struct Code<'a> {
    pub(super) part: Part,
    pub(super) placed: &'a [Placed<'a>],
    /// Whether an instruction begins a run without branches in or out; one more than instructions.
    pub(super) leads: Vec<bool>,
}

impl<'a> Code<'a> {
    fn new(part: Part, placed: &'a [Placed<'a>]) -> Code<'a> {
        let mut all = Code {
            part,
            placed,
            leads: vec![false; placed.len() + 1],
        };
        for (index, placed) in placed.iter().enumerate() {
            if super::context::is_flow(placed.inst.opcode) {
                all.leads[index] = true;
                all.leads[index + 1] = true;
            }
            for (_, target) in blocks::targets(&all, index) {
                if let Some(found) = all.find(target) {
                    all.leads[found] = true;
                }
            }
        }
        all
    }

    /// The columns of the generation.
    pub(super) fn has(&self) -> &'static Features {
        self.part.generation.has()
    }

    /// The instruction at a byte offset.
    pub(super) fn find(&self, offset: i64) -> Option<usize> {
        let offset = u32::try_from(offset).ok()?;
        self.placed
            .binary_search_by_key(&offset, |placed| placed.offset)
            .ok()
    }

    /// Instructions with their indices.
    pub(super) fn insts(&self) -> impl DoubleEndedIterator<Item = (usize, &'a Inst)> + use<'a> {
        let placed = self.placed;
        placed
            .iter()
            .enumerate()
            .map(|(index, placed)| (index, placed.inst))
    }
}

/// Where a rule puts what it finds.
pub(super) struct Report<'a> {
    rule: &'static Rule,
    found: &'a mut Vec<PlacedViolation>,
}

impl Report<'_> {
    pub(super) fn push(&mut self, index: usize, detail: Detail) {
        let rule = self.rule;
        self.found.push(PlacedViolation {
            index,
            violation: Violation { rule, detail },
        });
    }
}

pub(super) fn check(part: Part, code: &[Placed<'_>]) -> Vec<PlacedViolation> {
    let mut found = Vec::new();
    let code = Code::new(part, code);
    for rule in super::rules() {
        if let Check::Kernel(check) = rule.check
            && rule.generations.contains(part)
        {
            let found = &mut found;
            check(&code, &mut Report { rule, found });
        }
    }
    found.sort_by_key(|violation| violation.index);
    found
}

//! Rules of whole kernels: branches, nesting, end of thread, dependencies between instructions.
//!
//! PRM: volume 4, 2.6.8, 11.3.4.5, 11.8, 14.2. Values of registers are not known here, so indirect
//! operands and branches by register are not followed.

use alloc::vec::Vec;

use crate::inst::Inst;

use super::{Check, Detail, Part, Rule, Violation, rules};

/// An instruction of a kernel and its byte offset in it.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// Byte offset.
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
    pub(super) code: &'a [Placed<'a>],
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

pub(super) const RULES: &[Rule] = &[];

pub(super) fn check(part: Part, code: &[Placed<'_>]) -> Vec<PlacedViolation> {
    let mut found = Vec::new();
    let code = Code { part, code };
    for rule in rules() {
        if let Check::Kernel(check) = rule.check
            && rule.generations.contains(part)
        {
            check(
                &code,
                &mut Report {
                    rule,
                    found: &mut found,
                },
            );
        }
    }
    found.sort_by_key(|violation| violation.index);
    found
}

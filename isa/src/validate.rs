//! Restrictions on instructions and kernels: one function each, with its source.
//!
//! PRM: volume 4, chapters 10-14; per rule in `Rule::cite`. What a restriction is for is not
//! modelled: a kernel that breaks one may still run, here and on hardware. Reserved encodings are
//! errors of the decoder, not rules.

use alloc::vec::Vec;

use crate::inst::{Inst, Verx10};
pub use crate::tables::{Generations, Part};

mod accumulator;
mod address;
mod align16;
mod arf;
mod compression;
mod context;
mod control;
mod conversion;
mod double;
mod execution;
mod flow;
mod footprint;
mod immediate;
mod kernel;
mod math;
mod message;
mod mixed;
mod multiply;
mod opcode;
mod region;
mod send;
mod span;
mod three;
mod types;

#[cfg(test)]
mod tests;

use context::Context;
pub use kernel::{Placed, PlacedViolation};

/// How a rule is checked.
#[derive(Clone, Copy)]
enum Check {
    /// On one instruction; the first place that breaks it.
    Inst(fn(&Context<'_>) -> Option<Detail>),
    /// On a kernel.
    Kernel(fn(&kernel::Code<'_>, &mut kernel::Report<'_>)),
}

/// One restriction.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Stable name.
    pub name: &'static str,
    /// What it asks for.
    pub summary: &'static str,
    /// Where it is stated.
    pub cite: &'static str,
    /// Where it holds.
    pub generations: Generations,
    check: Check,
}

impl Rule {
    const fn inst(
        name: &'static str,
        generations: Generations,
        cite: &'static str,
        summary: &'static str,
        check: fn(&Context<'_>) -> Option<Detail>,
    ) -> Rule {
        Rule {
            name,
            summary,
            cite,
            generations,
            check: Check::Inst(check),
        }
    }

    const fn kernel(
        name: &'static str,
        generations: Generations,
        cite: &'static str,
        summary: &'static str,
        check: fn(&kernel::Code<'_>, &mut kernel::Report<'_>),
    ) -> Rule {
        Rule {
            name,
            summary,
            cite,
            generations,
            check: Check::Kernel(check),
        }
    }

    /// Whether the rule looks at whole kernels.
    pub const fn is_kernel(&self) -> bool {
        matches!(self.check, Check::Kernel(_))
    }
}

impl core::fmt::Debug for Rule {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.name == other.name
    }
}

impl Eq for Rule {}

/// Part of an instruction that a violation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the operands by their names")]
pub enum Place {
    Instruction,
    Dst,
    Src0,
    Src1,
    Src2,
}

impl Place {
    const SOURCES: [Place; 3] = [Place::Src0, Place::Src1, Place::Src2];
}

impl core::fmt::Display for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Place::Instruction => "instruction",
            Place::Dst => "destination",
            Place::Src0 => "source 0",
            Place::Src1 => "source 1",
            Place::Src2 => "source 2",
        })
    }
}

/// Where a rule is broken, and the values that break it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Operand.
    pub place: Place,
    /// Named values, the first `None` ends the list.
    pub values: [Option<(&'static str, i64)>; 4],
}

impl Detail {
    const fn new(place: Place) -> Detail {
        Detail {
            place,
            values: [None; 4],
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<i64>) -> Detail {
        if let Some(slot) = self.values.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some((name, value.into()));
        }
        self
    }
}

impl core::fmt::Display for Detail {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.place)?;
        for (index, (name, value)) in self.values.iter().flatten().enumerate() {
            let separator = if index == 0 { ": " } else { ", " };
            write!(f, "{separator}{name} {value}")?;
        }
        Ok(())
    }
}

/// A rule that an instruction breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub rule: &'static Rule,
    /// Where and why.
    pub detail: Detail,
}

impl core::fmt::Display for Violation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Violation { rule, detail } = self;
        write!(f, "{}: {detail} (the rule: {})", rule.name, rule.summary)
    }
}

const GROUPS: &[&[Rule]] = &[
    types::RULES,
    conversion::RULES,
    execution::RULES,
    region::RULES,
    span::RULES,
    align16::RULES,
    immediate::RULES,
    arf::RULES,
    address::RULES,
    accumulator::RULES,
    compression::RULES,
    control::RULES,
    opcode::RULES,
    multiply::RULES,
    math::RULES,
    three::RULES,
    mixed::RULES,
    double::RULES,
    flow::RULES,
    send::RULES,
    message::RULES,
    kernel::BLOCK_RULES,
    kernel::DEPENDENCY_RULES,
];

const fn count() -> usize {
    let (mut total, mut group) = (0, 0);
    while group < GROUPS.len() {
        total += GROUPS[group].len();
        group += 1;
    }
    total
}

static ALL: [Rule; count()] = {
    let mut all = [GROUPS[0][0]; count()];
    let (mut next, mut group) = (0, 0);
    while group < GROUPS.len() {
        let mut index = 0;
        while index < GROUPS[group].len() {
            all[next] = GROUPS[group][index];
            next += 1;
            index += 1;
        }
        group += 1;
    }
    all
};

/// Every rule, by topic.
pub fn rules() -> &'static [Rule] {
    &ALL
}

/// The rule of a name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.name == name)
}

/// Rules that an instruction breaks on every part of a generation, each at most once.
pub fn validate(generation: Verx10, inst: &Inst) -> impl Iterator<Item = Violation> + '_ {
    validate_on(Part::common(generation), inst)
}

/// Rules that an instruction breaks on a part, each at most once.
pub fn validate_on(part: Part, inst: &Inst) -> impl Iterator<Item = Violation> + '_ {
    let context = Context::new(part, inst);
    ALL.iter().filter_map(move |rule| match rule.check {
        Check::Inst(check) if rule.generations.contains(part) => {
            check(&context).map(|detail| Violation { rule, detail })
        }
        _ => None,
    })
}

/// Rules of whole kernels that uncompacted code breaks, in the order of the instructions.
/// Single instructions are not looked at: see [`validate`].
pub fn validate_kernel(generation: Verx10, code: &[Inst]) -> Vec<PlacedViolation> {
    let placed: Vec<Placed<'_>> = code
        .iter()
        .enumerate()
        .map(|(index, inst)| Placed {
            offset: (index as u32).wrapping_mul(16),
            inst,
        })
        .collect();
    validate_kernel_at(generation, &placed)
}

/// Like [`validate_kernel`] for code with compacted instructions: each comes with its byte offset.
pub fn validate_kernel_at(generation: Verx10, code: &[Placed<'_>]) -> Vec<PlacedViolation> {
    kernel::check(Part::common(generation), code)
}

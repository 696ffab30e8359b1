//! Every rule on a legal and on an illegal case; random words.
//!
//! PRM: volume 4, chapters 10-14. Cases are written from the text of each rule's source; what is
//! listed in `tests/*.rs` is all that is asked of a rule here.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::inst::{Inst, Verx10};
use crate::tables::Table;

use super::{Part, Violation, rules, validate_kernel, validate_on};

mod build;
mod code;
mod control;
mod operands;
mod register;
mod send;
mod special;

/// A rule with an instruction that keeps it and one that breaks it.
struct Case {
    rule: &'static str,
    part: Part,
    legal: Inst,
    illegal: Inst,
}

/// Cases of a topic.
struct Cases(Vec<Case>);

impl Cases {
    fn add(&mut self, rule: &'static str, version: u8, legal: Inst, illegal: Inst) {
        let part = Part::common(Verx10::from_times_ten(version));
        self.0.push(Case {
            rule,
            part,
            legal,
            illegal,
        });
    }

    fn add_low_power(&mut self, rule: &'static str, version: u8, legal: Inst, illegal: Inst) {
        self.add(rule, version, legal, illegal);
        if let Some(case) = self.0.last_mut() {
            case.part = Part::low_power(Verx10::from_times_ten(version));
        }
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Cases(Vec::new());
    operands::cases(&mut cases);
    register::cases(&mut cases);
    control::cases(&mut cases);
    special::cases(&mut cases);
    send::cases(&mut cases);
    cases.0
}

/// Violations, without those that say only that the tables of a generation are not there.
fn violations(part: Part, inst: &Inst) -> Vec<Violation> {
    let listed = Table::of(part.generation).is_some();
    validate_on(part, inst)
        .filter(|found| listed || found.rule.name != "opcode-of-generation")
        .collect()
}

#[test]
fn legal_instructions_break_no_rule() {
    for case in cases() {
        let found = violations(case.part, &case.legal);
        assert!(found.is_empty(), "{}: {found:#?}", case.rule);
    }
}

#[test]
fn illegal_instructions_break_their_rule() {
    for case in cases() {
        let found = violations(case.part, &case.illegal);
        assert!(
            found.iter().any(|found| found.rule.name == case.rule),
            "{}: {found:#?}",
            case.rule
        );
    }
}

#[test]
fn kernels_break_the_rules_that_they_are_made_to_break() {
    for case in code::cases() {
        let legal = validate_kernel(Verx10::from_times_ten(case.version), &case.legal);
        assert!(legal.is_empty(), "{}: {legal:#?}", case.rule);
        let illegal = validate_kernel(Verx10::from_times_ten(case.version), &case.illegal);
        assert!(
            illegal
                .iter()
                .any(|found| found.violation.rule.name == case.rule),
            "{}: {illegal:#?}",
            case.rule
        );
    }
}

#[test]
fn every_rule_has_cases() {
    let mut covered: BTreeSet<&str> = cases().iter().map(|case| case.rule).collect();
    covered.extend(code::cases().iter().map(|case| case.rule));
    let missing: Vec<&str> = rules()
        .iter()
        .map(|rule| rule.name)
        .filter(|name| !covered.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn names_are_kebab_case_and_different() {
    let names: BTreeSet<&str> = rules().iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), rules().len());
    for rule in rules() {
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(rule.name.chars().all(kebab), "{}", rule.name);
        assert!(!rule.cite.is_empty() && !rule.summary.is_empty());
        assert_eq!(super::rule(rule.name), Some(rule));
    }
}

#[test]
fn a_violation_says_rule_operand_and_values() {
    use crate::operand::Type;
    let inst = build::mov(4, build::d(2, Type::F), build::g(3, Type::F));
    let found = violations(Part::common(Verx10::GEN40), &inst);
    assert_eq!(
        found[0].to_string(),
        "region-exec-size-width: source 0: execution size 4, vertical stride 8, width 8, \
         horizontal stride 1 (the rule: the execution size is at least the width)"
    );
}

#[test]
fn low_power_rules_are_for_low_power_parts() {
    for case in cases().iter().filter(|case| case.part.low_power) {
        let common = violations(Part::common(case.part.generation), &case.illegal);
        assert!(common.iter().all(|found| found.rule.name != case.rule));
    }
}

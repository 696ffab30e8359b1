//! The short list: which tests are on it, and what a run of it must give.
//! Chosen by number alone: every n-th test of each group.

use std::collections::BTreeMap;

use super::names;
use super::results::{Kind, Outcomes};

/// The tests to run.
pub const LIST: &str = "tests/conformance/piglit-ci.list";
/// Those of them that have to pass.
pub const PASS: &str = "tests/conformance/piglit-ci.pass";
/// Tests that took longer are too slow for the list.
const SECONDS: f64 = 10.0;

/// About `number` tests that llvmpipe passes and the device offers: every n-th of a group, at least
/// one of each.
pub fn choose(node: &Outcomes, baseline: &Outcomes, number: usize) -> Vec<String> {
    let passes = |name: &str| baseline.get(name).is_some_and(|b| b.kind == Kind::Pass);
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, outcome) in node {
        let offered = outcome.kind != Kind::Skip && outcome.seconds <= SECONDS;
        if offered && passes(name) {
            groups.entry(names::group(name)).or_default().push(name);
        }
    }
    let every = |step: usize| -> Vec<String> {
        let tests = groups.values().flat_map(|tests| tests.iter().step_by(step));
        tests.map(|&test| test.to_owned()).collect()
    };
    let all: usize = groups.values().map(Vec::len).sum();
    let steps = 1..all.max(2);
    let few = steps.map(every).find(|tests| tests.len() <= number);
    few.unwrap_or_else(|| every(all.max(1)))
}

/// What a run of the list must not have: each finding names the test.
pub fn findings(node: &Outcomes, list: &[String], must_pass: &[String]) -> Vec<String> {
    let kind = |test: &str| node.get(test).map_or(Kind::Incomplete, |o| o.kind);
    let mut findings = Vec::new();
    for test in list {
        let kind = kind(test);
        if matches!(kind, Kind::Crash | Kind::Timeout | Kind::Incomplete) {
            findings.push(format!("{}: {test}", kind.word()));
        }
    }
    for test in must_pass {
        let found = match kind(test) {
            Kind::Incomplete if !list.contains(test) => "not on the list",
            Kind::Pass | Kind::Crash | Kind::Timeout | Kind::Incomplete => continue,
            kind => kind.word(),
        };
        findings.push(format!("{found}, has to pass: {test}"));
    }
    findings
}

/// The tests that passed.
pub fn passed(node: &Outcomes) -> Vec<&str> {
    let passed = node.iter().filter(|test| test.1.kind == Kind::Pass);
    passed.map(|test| test.0.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::results::Outcome;
    use super::*;

    fn outcomes(tests: &[(&str, Kind)]) -> Outcomes {
        let seconds = 0.5;
        let outcome = |kind| Outcome { kind, seconds };
        let named = |&(name, kind): &(&str, Kind)| (name.to_owned(), outcome(kind));
        tests.iter().map(named).collect()
    }

    #[test]
    fn every_group_is_there() {
        let names: Vec<String> = (0..40).map(|i| format!("spec@big@{i:02}")).collect();
        let mut tests: Vec<(&str, Kind)> = names.iter().map(|n| (n.as_str(), Kind::Fail)).collect();
        tests.extend([("spec@one@a", Kind::Pass), ("spec@none@a", Kind::Skip)]);
        let node = outcomes(&tests);
        let baseline: Outcomes = node
            .keys()
            .map(|name| {
                (
                    name.clone(),
                    Outcome {
                        kind: Kind::Pass,
                        seconds: 0.0,
                    },
                )
            })
            .filter(|test| test.0 != "spec@big@00")
            .collect();
        let list = choose(&node, &baseline, 5);
        assert_eq!(list.len(), 5);
        assert_eq!(list[0], "spec@big@01");
        assert_eq!(list[4], "spec@one@a");
        assert_eq!(choose(&node, &baseline, 100).len(), 40);
        assert_eq!(choose(&node, &baseline, 1).len(), 2);
    }

    #[test]
    fn what_is_wrong() {
        let node = outcomes(&[
            ("a", Kind::Pass),
            ("b", Kind::Crash),
            ("c", Kind::Fail),
            ("d", Kind::Fail),
            ("e", Kind::Skip),
        ]);
        let own = |tests: &[&str]| tests.iter().map(|&t| t.to_owned()).collect::<Vec<_>>();
        let list = own(&["a", "b", "c", "d", "e", "f"]);
        let must = own(&["a", "b", "d", "e", "g"]);
        assert_eq!(
            findings(&node, &list, &must),
            [
                "crash: b",
                "incomplete: f",
                "fail, has to pass: d",
                "skip, has to pass: e",
                "not on the list, has to pass: g"
            ]
        );
        assert_eq!(passed(&node), ["a"]);
    }
}

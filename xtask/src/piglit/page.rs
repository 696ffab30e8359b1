//! Both sides' results as a page and as lines of JSON.
//! Counts only what is in the results; what was not run is said so.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::causes::Causes;
use super::names;
use super::results::{Kind, Outcome, Outcomes};
use super::session::count;

/// Everything the page says.
pub struct Report<'a> {
    pub device: &'a str,
    /// The renderer's own name.
    pub renderer: &'a str,
    /// Installed packages.
    pub versions: &'a str,
    /// Seconds for a test, tests at a time.
    pub timeout: u64,
    pub jobs: usize,
    /// Whence the baseline is.
    pub baseline_from: &'a str,
    pub node: &'a Outcomes,
    pub baseline: &'a Outcomes,
    pub causes: &'a Causes,
}

/// A line of the machine-readable results.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Line {
    pub name: String,
    pub result: String,
    pub baseline: Option<String>,
    pub seconds: f64,
}

/// One JSON object a line, in the order of the names.
pub fn lines(node: &Outcomes, baseline: &Outcomes) -> String {
    let mut text = String::new();
    for (name, outcome) in node {
        let line = Line {
            name: name.clone(),
            result: outcome.kind.word().to_owned(),
            baseline: baseline.get(name).map(|b| b.kind.word().to_owned()),
            seconds: (outcome.seconds * 1000.0).round() / 1000.0,
        };
        // Strings and finite numbers always have a form in JSON; a number that is not finite becomes null.
        text += &serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
    }
    text
}

/// Those lines, read again.
pub fn read_lines(text: &str) -> Result<(Outcomes, Outcomes), String> {
    let (mut node, mut baseline) = (Outcomes::new(), Outcomes::new());
    for (i, line) in text.lines().enumerate() {
        let line: Line = serde_json::from_str(line).map_err(|e| format!("{}: {e}", i + 1))?;
        let outcome = |word: &str, seconds| Outcome {
            kind: Kind::from_word(word),
            seconds,
        };
        if let Some(word) = &line.baseline {
            baseline.insert(line.name.clone(), outcome(word, 0.0));
        }
        node.insert(line.name, outcome(&line.result, line.seconds));
    }
    Ok((node, baseline))
}

/// Tests in the denominator and how many of them pass.
#[derive(Clone, Copy, Default)]
struct Share {
    of: usize,
    pass: usize,
}

impl Share {
    fn percent(self) -> f64 {
        100.0 * self.pass as f64 / self.of.max(1) as f64
    }
}

/// The areas of the summary; the first that fits takes the test.
const AREAS: [(&str, &str, bool); 4] = [
    (
        "`spec@glsl-1.10@execution`",
        "spec@glsl-1.10@execution",
        true,
    ),
    (
        "`spec@glsl-1.20@execution`",
        "spec@glsl-1.20@execution",
        true,
    ),
    ("`spec@glsl-1.10`, the rest", "spec@glsl-1.10", false),
    ("`spec@glsl-1.20`, the rest", "spec@glsl-1.20", false),
];
const ELSEWHERE: &str = "all other groups";

impl Report<'_> {
    /// Tests that count: llvmpipe passes them and the device offers what they need.
    fn counted(&self) -> impl Iterator<Item = (&str, Outcome)> {
        let passes = |name: &str| {
            let baseline = self.baseline.get(name);
            baseline.is_some_and(|b| b.kind == Kind::Pass)
        };
        self.node
            .iter()
            .map(|(name, outcome)| (name.as_str(), *outcome))
            .filter(move |(name, outcome)| outcome.kind != Kind::Skip && passes(name))
    }

    /// Shares of the areas, then of all.
    fn shares(&self) -> Vec<(&'static str, Share)> {
        let mut shares: Vec<(&str, Share)> = AREAS.map(|a| (a.0, Share::default())).to_vec();
        shares.push((ELSEWHERE, Share::default()));
        let mut all = Share::default();
        for (name, outcome) in self.counted() {
            let fits = AREAS.iter().position(|a| name.starts_with(a.1));
            let pass = usize::from(outcome.kind == Kind::Pass);
            for share in [&mut shares[fits.unwrap_or(AREAS.len())].1, &mut all] {
                share.of += 1;
                share.pass += pass;
            }
        }
        shares.push(("all", all));
        shares
    }

    /// A few lines for the terminal.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        for (what, outcomes) in [(self.device, self.node), ("llvmpipe", self.baseline)] {
            let _ = write!(text, "{what:>9}:");
            for (number, kind) in count(outcomes).iter().zip(SHOWN) {
                let _ = write!(text, " {} {number}", kind.word());
            }
            text.push('\n');
        }
        for (area, share) in self.shares() {
            let Share { of, pass } = share;
            let _ = writeln!(
                text,
                "{:6.2} %  {pass:5} of {of:5}  {area}",
                share.percent()
            );
        }
        text
    }

    /// The page.
    pub fn page(&self) -> String {
        let mut page = format!(
            "# piglit on the modelled {}\n\n\
             Written by `cargo xtask piglit --device {}`. {}: profiles {}, {} s for a test, {} at a time.\n\n\
             - device: `{}`, by `crestline exec`, platform gbm, GALLIUM_THREAD=0 (docs/known-gaps.md)\n\
             - baseline: llvmpipe of the same Mesa, platform glx under Xvfb, on what the device does not skip; {}\n\n",
            self.device.to_uppercase(),
            self.device,
            if self.versions.is_empty() {
                "Packages unknown"
            } else {
                self.versions
            },
            names::PROFILES.join(" and "),
            self.timeout,
            self.jobs,
            self.renderer,
            self.baseline_from,
        );
        self.totals(&mut page);
        self.groups(&mut page);
        self.failures(&mut page);
        page
    }

    fn totals(&self, page: &mut String) {
        page.push_str("## Totals\n\n| | tests |");
        for kind in SHOWN {
            let _ = write!(page, " {} |", kind.word());
        }
        page.push_str("\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
        for (what, outcomes) in [(self.device, self.node), ("llvmpipe", self.baseline)] {
            let _ = write!(page, "| {what} | {} |", outcomes.len());
            for number in &count(outcomes)[..SHOWN.len()] {
                let _ = write!(page, " {number} |");
            }
            page.push('\n');
        }
        page.push_str(
            "\nTests that llvmpipe passes and that the device does not skip; a warning is not a pass:\n\n\
             | area | tests | pass | % |\n| --- | --- | --- | --- |\n",
        );
        for (area, share) in self.shares() {
            let Share { of, pass } = share;
            let _ = writeln!(page, "| {area} | {of} | {pass} | {:.2} |", share.percent());
        }
        let seconds: f64 = self.node.values().map(|outcome| outcome.seconds).sum();
        let more = self.node.iter().filter(|(name, outcome)| {
            let baseline = self.baseline.get(*name).map(|b| b.kind);
            outcome.kind == Kind::Pass && baseline.is_some_and(|kind| kind != Kind::Pass)
        });
        let _ = writeln!(
            page,
            "\nThe device passes {} tests that llvmpipe does not. All tests together ran for {seconds:.0} s.",
            more.count()
        );
    }

    fn groups(&self, page: &mut String) {
        page.push_str(
            "\n## Groups\n\nEach cell: device / llvmpipe. `counted` are the tests that llvmpipe passes and the device does not skip, \
             `%` how many of these pass.\n\n\
             | group | counted | % | pass | warn | fail | crash | timeout | skip |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        );
        let mut groups: BTreeMap<&str, ([usize; 7], [usize; 7], Share)> = BTreeMap::new();
        for (name, outcome) in self.node {
            let group = groups.entry(names::group(name)).or_default();
            group.0[outcome.kind as usize] += 1;
            if let Some(baseline) = self.baseline.get(name) {
                group.1[baseline.kind as usize] += 1;
            }
        }
        for (name, outcome) in self.counted() {
            let share = &mut groups.entry(names::group(name)).or_default().2;
            share.of += 1;
            share.pass += usize::from(outcome.kind == Kind::Pass);
        }
        let skipped = |node: &[usize; 7]| node.iter().sum::<usize>() == node[Kind::Skip as usize];
        let (mut silent, mut tests) = (0, 0);
        for (group, (node, baseline, share)) in &groups {
            if skipped(node) {
                silent += 1;
                tests += node[Kind::Skip as usize];
                continue;
            }
            let _ = write!(page, "| {group} | {} | {:.1} |", share.of, share.percent());
            for kind in SHOWN {
                let i = kind as usize;
                let _ = write!(page, " {} / {} |", node[i], baseline[i]);
            }
            page.push('\n');
        }
        let _ = writeln!(
            page,
            "\n{silent} more groups with {tests} tests need what the device does not offer: all skipped."
        );
    }

    /// Crashes and timeouts of tests that llvmpipe ends otherwise without passing: they are in no share.
    fn lost(&self, page: &mut String) -> Vec<(&str, &str)> {
        let lost = |kind| matches!(kind, Kind::Crash | Kind::Timeout);
        let llvmpipe = |name: &str| self.baseline.get(name).map(|outcome| outcome.kind);
        let found: Vec<(&str, Kind)> = self
            .node
            .iter()
            .map(|(name, outcome)| (name.as_str(), outcome.kind))
            .filter(|(name, kind)| lost(*kind) && !llvmpipe(name).is_some_and(lost))
            .filter(|(name, _)| llvmpipe(name) != Some(Kind::Pass))
            .collect();
        if !found.is_empty() {
            page.push_str(
                "\n## Crashes and timeouts of tests that llvmpipe does not pass either\n\n",
            );
        }
        for (name, kind) in &found {
            let says = llvmpipe(name).map_or("was not run", Kind::word);
            let word = kind.word();
            let cause = self.causes.of(name, word);
            let _ = writeln!(page, "- `{word} {name}` (llvmpipe: {says}): {cause}");
        }
        let words = found.into_iter().map(|(name, kind)| (name, kind.word()));
        words.collect()
    }

    fn failures(&self, page: &mut String) {
        let mut by_cause: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (name, outcome) in self.counted().filter(|test| test.1.kind != Kind::Pass) {
            let word = outcome.kind.word();
            let cause = self.causes.of(name, word);
            by_cause.entry(cause).or_default().push((name, word));
        }
        page.push_str("\n## What llvmpipe passes and the device does not\n");
        if by_cause.is_empty() {
            page.push_str("\nNothing.\n");
        }
        let mut causes: Vec<_> = by_cause.iter().collect();
        causes.sort_by_key(|(cause, tests)| (std::cmp::Reverse(tests.len()), **cause));
        for (cause, tests) in causes {
            let _ = write!(page, "\n### {cause}: {}\n\n```\n", tests.len());
            for (name, word) in tests {
                let _ = writeln!(page, "{word:7} {name}");
            }
            page.push_str("```\n");
        }
        let mut failures: Vec<(&str, &str)> = by_cause.into_values().flatten().collect();
        failures.extend(self.lost(page));
        let stale = self.causes.stale(&failures);
        if !stale.is_empty() {
            page.push_str("\n## Causes that no test has any more\n\n");
            for pattern in stale {
                let _ = writeln!(page, "- `{pattern}`");
            }
        }
    }
}

/// The columns; everything but what was not run.
const SHOWN: [Kind; 6] = [
    Kind::Pass,
    Kind::Warn,
    Kind::Fail,
    Kind::Crash,
    Kind::Timeout,
    Kind::Skip,
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn outcomes(tests: &[(&str, Kind)]) -> Outcomes {
        let seconds = 0.25;
        let outcome = |kind| Outcome { kind, seconds };
        let named = |&(name, kind): &(&str, Kind)| (name.to_owned(), outcome(kind));
        tests.iter().map(named).collect()
    }

    #[test]
    fn page_counts() {
        let node = outcomes(&[
            ("spec@glsl-1.10@execution@a", Kind::Pass),
            ("spec@glsl-1.10@execution@b", Kind::Crash),
            ("spec@glsl-1.10@linker@c", Kind::Pass),
            ("spec@glsl-1.20@execution@d", Kind::Fail),
            ("spec@arb_x@e", Kind::Skip),
            ("spec@arb_y@f", Kind::Pass),
            ("spec@arb_y@g", Kind::Warn),
            ("spec@arb_z@h", Kind::Crash),
        ]);
        let others = ["spec@arb_y@f", "spec@arb_z@h"];
        let mut baseline = outcomes(&others.map(|name| (name, Kind::Fail)));
        for name in node.keys().filter(|name| !others.contains(&name.as_str())) {
            baseline.extend(outcomes(&[(name, Kind::Pass)]));
        }
        let causes = Causes::parse("crash * => it crashes\nnothing => old").unwrap();
        let report = Report {
            device: "gm965",
            renderer: "Mesa 965GM",
            versions: "",
            timeout: 1,
            jobs: 1,
            baseline_from: "run",
            node: &node,
            baseline: &baseline,
            causes: &causes,
        };
        let page = report.page();
        for line in [
            "| gm965 | 8 | 3 | 1 | 1 | 2 | 0 | 1 |",
            "| llvmpipe | 8 | 6 | 0 | 2 | 0 | 0 | 0 |",
            "| `spec@glsl-1.10@execution` | 2 | 1 | 50.00 |",
            "| `spec@glsl-1.10`, the rest | 1 | 1 | 100.00 |",
            "| all other groups | 1 | 0 | 0.00 |",
            "| all | 5 | 2 | 40.00 |",
            "The device passes 1 tests that llvmpipe does not. All tests together ran for 2 s.",
            "| spec@arb_y | 1 | 0.0 | 1 / 1 | 1 / 0 | 0 / 1 | 0 / 0 | 0 / 0 | 0 / 0 |",
            "1 more groups with 1 tests need what the device does not offer: all skipped.",
            "### it crashes: 1",
            "### open, not looked at: 2",
            "crash   spec@glsl-1.10@execution@b",
            "- `crash spec@arb_z@h` (llvmpipe: fail): it crashes",
            "- `nothing`",
        ] {
            assert!(page.lines().any(|l| l == line), "{line}\n{page}");
        }
        assert!(report.summary().contains(" 40.00 %      2 of     5  all"));
    }

    #[test]
    fn lines_and_back() {
        let node = outcomes(&[("a", Kind::Pass), ("b", Kind::Skip)]);
        let baseline = outcomes(&[("a", Kind::Timeout)]);
        let text = lines(&node, &baseline);
        assert_eq!(
            text.lines().next(),
            Some(r#"{"name":"a","result":"pass","baseline":"timeout","seconds":0.25}"#)
        );
        let (node_again, baseline_again) = read_lines(&text).unwrap();
        assert_eq!(node_again, node);
        assert_eq!(baseline_again["a"].kind, Kind::Timeout);
        assert_eq!(baseline_again.len(), 1);
    }
}

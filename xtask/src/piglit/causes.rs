//! Why tests do not pass: patterns of names and results, and what was found out.
//! `docs/conformance/NAME.causes` says it, a line each.

/// Where no pattern matches.
pub const OPEN: &str = "open, not looked at";

/// The lines of a table, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Causes {
    rows: Vec<(String, String)>,
}

impl Causes {
    /// `pattern => cause`; `#` begins a comment line. The error names the line.
    pub fn parse(text: &str) -> Result<Causes, String> {
        let mut rows = Vec::new();
        for (i, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once(" => ") {
                Some((pattern, cause)) if !cause.trim().is_empty() => {
                    rows.push((pattern.trim().to_owned(), cause.trim().to_owned()));
                }
                _ => return Err(format!("{}: no `pattern => cause`", i + 1)),
            }
        }
        Ok(Causes { rows })
    }

    /// The cause of the first pattern that matches the test's name, or `RESULT NAME`.
    pub fn of(&self, test: &str, result: &str) -> &str {
        let with_result = format!("{result} {test}");
        let hit = |row: &&(String, String)| matches(&row.0, test) || matches(&row.0, &with_result);
        self.rows.iter().find(hit).map_or(OPEN, |row| &row.1)
    }

    /// Patterns that match none of these failures: they are to be removed.
    pub fn stale<'a>(&'a self, failures: &[(&str, &str)]) -> Vec<&'a str> {
        let hit = |pattern: &str| {
            failures.iter().any(|(test, result)| {
                matches(pattern, test) || matches(pattern, &format!("{result} {test}"))
            })
        };
        let patterns = self.rows.iter().map(|row| row.0.as_str());
        patterns.filter(|pattern| !hit(pattern)).collect()
    }
}

/// Whether the whole text matches; `*` stands for anything, also for nothing.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, wanted) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, text), wanted, "{pattern} {text}");
        }
    }

    #[test]
    fn first_match_wins() {
        let text = "# head\n\ntimeout * => slow\nspec@a* => broken => so\n*b => never\n";
        let causes = Causes::parse(text).unwrap();
        assert_eq!(causes.of("spec@ab", "timeout"), "slow");
        assert_eq!(causes.of("spec@ab", "fail"), "broken => so");
        assert_eq!(causes.of("spec@c", "fail"), OPEN);
        assert_eq!(causes.stale(&[("spec@ab", "fail")]), ["timeout *"]);
        assert_eq!(
            Causes::parse("# x\nfoo").unwrap_err(),
            "2: no `pattern => cause`"
        );
    }
}

//! `docs/coverage/`: statements of the manual, and the tests that cover them.
//! Believes the annotations: a test that says `covers: 14.2-01` has to be about that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use crate::finding::Finding;
use crate::workspace::Workspace;

/// Where the tables are.
const FOLDER: &str = "docs/coverage";

/// What the first line of a table says before the name of its manual.
const TITLE: &str = "# Manual: ";

/// One table of statements with the page made of it.
struct Table {
    items: String,
    /// Statements that no test can hold the model to: `id<TAB>reason`.
    exempt: String,
    page: String,
    title: String,
}

impl Table {
    /// The table of a manual: three files with one stem.
    fn new(stem: &str, title: &str) -> Table {
        let path = |ending| format!("{FOLDER}/{stem}.{ending}");
        Table {
            items: path("items"),
            exempt: path("exempt"),
            page: path("md"),
            title: title.to_owned(),
        }
    }
}

/// The tables in the folder, by name.
fn tables(root: &Path) -> io::Result<Vec<Table>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(root.join(FOLDER))? {
        let path = entry?.path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        if path.extension().is_some_and(|ending| ending == "items") {
            let text = fs::read_to_string(&path)?;
            let first = text.lines().next().unwrap_or_default();
            let title = first.strip_prefix(TITLE).unwrap_or(stem);
            tables.push(Table::new(stem, title));
        }
    }
    tables.sort_by(|a, b| a.items.cmp(&b.items));
    Ok(tables)
}

/// What stands before the numbers of an annotation.
const MARK: &str = "covers: ";

/// A statement.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    id: String,
    /// The first part of the number, or that of the heading above, `# 9. Data types`.
    chapter: u32,
    kind: String,
    text: String,
}

/// Statement to the tests that name it.
type Tests = BTreeMap<String, BTreeSet<String>>;

/// Statement to the reason why no test names it.
type Reasons = BTreeMap<String, String>;

/// Writes the pages.
pub fn write(root: &Path, workspace: &Workspace) -> io::Result<()> {
    let (tests, _) = annotations(workspace);
    for table in &tables(root)? {
        let items = parse(&fs::read_to_string(root.join(&table.items))?);
        let reasons = exempt(root, table)?.into_iter().collect();
        fs::write(
            root.join(&table.page),
            page(table, &items, &tests, &reasons),
        )?;
    }
    Ok(())
}

/// Unknown numbers, needless or unexplained exemptions, and pages that are out of date.
pub fn check(root: &Path, workspace: &Workspace) -> io::Result<Vec<Finding>> {
    let (tests, places) = annotations(workspace);
    let mut known = BTreeSet::new();
    let mut findings = Vec::new();
    for table in &tables(root)? {
        let items = parse(&fs::read_to_string(root.join(&table.items))?);
        let list = exempt(root, table)?;
        findings.extend(wrong_exemptions(table, &list, &items, &tests));
        let reasons = list.into_iter().collect();
        let old = fs::read_to_string(root.join(&table.page)).unwrap_or_default();
        if old != page(table, &items, &tests, &reasons) {
            let what = "out of date: run `cargo xtask coverage`";
            findings.push(Finding::new(&table.page, 1, what));
        }
        for item in items {
            if !known.insert(item.id.clone()) {
                let what = format!("statement {} stands twice", item.id);
                findings.push(Finding::new(&table.items, 1, what));
            }
        }
    }
    for (path, line, id) in places {
        if !known.contains(&id) {
            let what = format!("no statement has the number {id}");
            findings.push(Finding::new(&path, line, what));
        }
    }
    Ok(findings)
}

/// The exemptions of a table in their order.
fn exempt(root: &Path, table: &Table) -> io::Result<Vec<(String, String)>> {
    match fs::read_to_string(root.join(&table.exempt)) {
        Ok(text) => Ok(exemptions(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn exemptions(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let (id, reason) = line.split_once('\t').unwrap_or((line, ""));
            (id.to_owned(), reason.trim().to_owned())
        })
        .collect()
}

fn wrong_exemptions(
    table: &Table,
    list: &[(String, String)],
    items: &[Item],
    tests: &Tests,
) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (id, reason) in list {
        let mut found = |what: String| findings.push(Finding::new(&table.exempt, 1, what));
        if !items.iter().any(|item| item.id == *id) {
            found(format!("no statement has the number {id}"));
        }
        if let Some(named) = tests.get(id).and_then(|t| t.first()) {
            found(format!("{id} is exempt and covered by {named}"));
        }
        if reason.is_empty() {
            found(format!("{id} is exempt without a reason"));
        }
        if !seen.insert(id) {
            found(format!("{id} is exempt twice"));
        }
    }
    findings
}

fn parse(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut heading = 0;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("# ") {
            let number = comment.split_once(". ").map(|(number, _)| number.parse());
            if let Some(Ok(number)) = number {
                heading = number;
            }
        }
        if line.starts_with('#') {
            continue;
        }
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        let id = parts.next().unwrap_or_default();
        items.push(Item {
            chapter: chapter(&id).unwrap_or(heading),
            id,
            kind: parts.next().unwrap_or_default(),
            text: parts.next().unwrap_or_default(),
        });
    }
    items
}

/// Every annotation of the tracked files: tests by statement, and where each number stands.
fn annotations(workspace: &Workspace) -> (Tests, Vec<(String, usize, String)>) {
    let mut tests = Tests::new();
    let mut places = Vec::new();
    for file in &workspace.text {
        if file.path.starts_with("xtask/") || !is_test_text(&file.path) {
            continue;
        }
        let lines: Vec<&str> = file.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(numbers) = annotation(line) else {
                continue;
            };
            let test = match subject(&lines[at + 1..]) {
                Some(name) => format!("{}: {name}", file.path),
                None => file.path.clone(),
            };
            for id in numbers.split(',').map(str::trim) {
                tests.entry(id.to_owned()).or_default().insert(test.clone());
                places.push((file.path.clone(), at + 1, id.to_owned()));
            }
        }
    }
    (tests, places)
}

fn is_test_text(path: &str) -> bool {
    [".rs", ".test", ".asm"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// The numbers of a comment line that is an annotation.
fn annotation(line: &str) -> Option<&str> {
    let comment = line.trim_start().trim_start_matches(['/', ';', '#']);
    comment.trim_start().strip_prefix(MARK)
}

/// The test that an annotation stands before: a function, or a case of a file test. A comment of
/// the head of a file speaks for all of it.
fn subject<'a>(lines: &[&'a str]) -> Option<&'a str> {
    for line in lines {
        let line = line.trim();
        if let Some(rest) = line
            .strip_prefix("fn ")
            .or_else(|| line.strip_prefix("pub fn "))
        {
            return rest.split(['(', '<']).next();
        }
        if let Some(name) = line.strip_prefix("case ") {
            return Some(name.trim());
        }
        let between = line.is_empty() || line.starts_with(['/', ';', '#']);
        if !between || line.starts_with("//!") {
            return None;
        }
    }
    None
}

fn chapter(id: &str) -> Option<u32> {
    id.split('.').next()?.parse().ok()
}

fn page(table: &Table, items: &[Item], tests: &Tests, reasons: &Reasons) -> String {
    let mut page = format!(
        "# Coverage: {}\n\nWhat the manual says, and the tests that hold the model to it. Put together by `cargo xtask coverage` from\n\
         `{}`, the `covers:` comments of the tests, and `{}` for what is no behaviour of the\n\
         model. Kinds: amb ambiguous in the text, cfg differs by device, toc named only in the contents, ext from public drivers,\n\
         know general knowledge.\n\n| chapter | covered | exempt | open | total |\n| --- | --- | --- | --- | --- |\n",
        table.title, table.items, table.exempt
    );
    let mut chapters: BTreeMap<u32, [usize; 3]> = BTreeMap::new();
    for item in items {
        let [covered, exempt, total] = chapters.entry(item.chapter).or_default();
        let named = tests.contains_key(&item.id);
        *covered += usize::from(named);
        *exempt += usize::from(!named && reasons.contains_key(&item.id));
        *total += 1;
    }
    let sum = |i: usize| chapters.values().map(|counts| counts[i]).sum();
    // Writing to a string cannot fail.
    let mut row = |name: String, [covered, exempt, total]: [usize; 3]| {
        let open = total - covered - exempt;
        let _ = writeln!(page, "| {name} | {covered} | {exempt} | {open} | {total} |");
    };
    for (chapter, counts) in &chapters {
        row(chapter.to_string(), *counts);
    }
    row("all".to_owned(), [sum(0), sum(1), sum(2)]);
    let mut last = 0;
    for item in items {
        let now = item.chapter;
        if now != last {
            let _ = writeln!(
                page,
                "\n## Chapter {now}\n\n| number | kind | statement | tests |\n| --- | --- | --- | --- |"
            );
            last = now;
        }
        let named = match (tests.get(&item.id), reasons.get(&item.id)) {
            (Some(tests), _) => {
                let tests: Vec<String> = tests.iter().map(|t| format!("`{t}`")).collect();
                tests.join("<br>")
            }
            (None, Some(reason)) => format!("exempt: {}", reason.replace('|', "\\|")),
            (None, None) => String::new(),
        };
        let text = item.text.replace('|', "\\|");
        let _ = writeln!(page, "| {} | {} | {text} | {named} |", item.id, item.kind);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_name_the_test_below() {
        let lines = ["#[test]", "fn adds() {"];
        assert_eq!(
            annotation("    // covers: 14.2-01, 11.7-02"),
            Some("14.2-01, 11.7-02")
        );
        assert_eq!(annotation("; covers: 14.2-01"), Some("14.2-01"));
        assert_eq!(annotation("let s = \"covers: x\";"), None);
        assert_eq!(subject(&lines), Some("adds"));
        assert_eq!(subject(&["; more words", "case one"]), Some("one"));
        assert_eq!(subject(&["let x = 1;", "fn f() {"]), None);
    }

    #[test]
    fn a_heading_gives_its_chapter_to_numbers_that_have_none() {
        let items = parse(
            "# Manual: notes\n# 9. Types\nS-0100\t\ta\n# 10. Flags\nS-0115\t\tb\n1.1-01\t\tc\n",
        );
        let chapters: Vec<u32> = items.iter().map(|item| item.chapter).collect();
        assert_eq!(chapters, [9, 10, 1]);
    }

    fn two_items() -> (Vec<Item>, Tests) {
        let items =
            parse("# head\n1.1-01\t\tfirst\n1.1-02\tamb\tsecond | third\n1.1-03\ttoc\tlast\n");
        let tests = Tests::from([("1.1-02".to_owned(), BTreeSet::from(["t".to_owned()]))]);
        (items, tests)
    }

    #[test]
    fn the_page_counts() {
        let (items, tests) = two_items();
        let reasons = Reasons::from([("1.1-03".to_owned(), "a | b".to_owned())]);
        let page = page(&Table::new("gen4", "Gen4"), &items, &tests, &reasons);
        assert!(page.contains("| 1 | 1 | 1 | 1 | 3 |"));
        assert!(page.contains("| all | 1 | 1 | 1 | 3 |"));
        assert!(page.contains("| 1.1-01 |  | first |  |"));
        assert!(page.contains("| 1.1-02 | amb | second \\| third | `t` |"));
        assert!(page.contains("| 1.1-03 | toc | last | exempt: a \\| b |"));
    }

    #[test]
    fn exemptions_are_known_explained_and_not_covered() {
        let (items, tests) = two_items();
        let list =
            exemptions("# head\n1.1-02\twhy\n1.1-03\n9.9-99\twhy\n1.1-01\twhy\n1.1-01\twhy\n");
        let found: Vec<String> =
            wrong_exemptions(&Table::new("gen4", "Gen4"), &list, &items, &tests)
                .iter()
                .map(ToString::to_string)
                .collect();
        let tails = [
            "1.1-02 is exempt and covered by t",
            "1.1-03 is exempt without a reason",
            "no statement has the number 9.9-99",
            "1.1-01 is exempt twice",
        ];
        assert_eq!(found.len(), tails.len());
        for (text, tail) in found.iter().zip(tails) {
            assert!(text.ends_with(tail), "{text}");
        }
    }
}

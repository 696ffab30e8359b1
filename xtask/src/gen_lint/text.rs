//! Names in files that are no Rust and in comments that people read as help.
//! In other comments names are citations.

use crate::finding::Finding;
use crate::source::{Kind, RustFile};

use super::names::Names;

/// Endings of files below `src` that are no part of what is built.
const PROSE: [&str; 2] = ["rs", "md"];

/// Derives of clap: comments on such an item and its fields are help texts.
const DERIVES: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];

/// Whether a file is built into a program, such as a page's script.
pub fn is_product(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    path.contains("/src/")
        && !PROSE.contains(&ending)
        && !path.split('/').any(|part| part == "tests")
}

/// Names in a file's text, comments included.
pub fn check(path: &str, text: &str, names: &Names) -> Vec<Finding> {
    let lines = (1..).zip(text.lines());
    let named = lines.filter_map(|(line, text)| Some((line, names.text(text)?)));
    named
        .map(|(line, what)| Finding::new(path, line, report(&what)))
        .collect()
}

fn report(what: &str) -> String {
    format!("names a generation or a device of one: {what}")
}

/// Names in the help of a program: lines, and what they name.
pub fn help(file: &RustFile, names: &Names) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for i in 0..file.tokens.len() {
        let derives = file.is_ident(i, "derive") && file.is_open(i + 1, '(');
        let clap = derives
            && (i + 2..file.closing(i + 1))
                .any(|at| DERIVES.iter().any(|derive| file.is_ident(at, derive)));
        if !clap || file.tokens[i].test {
            continue;
        }
        let Some(open) = (i..file.tokens.len()).find(|&at| file.tokens[at].kind == Kind::Open('{'))
        else {
            continue;
        };
        let close = file.closing(open).min(file.tokens.len() - 1);
        // The comment on the item stands above its attributes.
        let mut first = file.tokens[i].line;
        let is_head = |text: &str| text.starts_with("///") || text.starts_with("#[");
        while first > 1 && is_head(file.lines[first - 2].trim()) {
            first -= 1;
        }
        for line in first..=file.tokens[close].line {
            let text = file.lines.get(line - 1).map_or("", |text| text.trim());
            if let Some(what) = text.strip_prefix("///").and_then(|text| names.text(text)) {
                found.push((line, report(&what)));
            }
        }
    }
    found
}

//! Names in files that are no Rust and in comments that people read as help.
//! In other comments names are citations.

use crate::finding::Finding;
use crate::source::{Kind, RustFile};

use super::names::Names;

/// Endings of files that are no part of what is built, or are read as Rust.
const PROSE: [&str; 3] = ["rs", "md", "lock"];

/// Folders of pages for people.
const PAGES: &str = "docs/";

/// Derives of clap: comments on such an item and its fields are help texts.
const DERIVES: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];

/// Whether a file is a crate's, such as a page's script, a list that a program reads or a manifest with its features.
pub fn is_product(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let in_crate = path.contains('/') || ending == "toml";
    in_crate
        // Folders of tools begin with a dot.
        && !path.starts_with('.')
        && !path.starts_with(PAGES)
        && !PROSE.contains(&ending)
        && !path.split('/').any(|part| part == "tests")
}

/// Names in a file's text, comments included; those of a manifest cite, as those of Rust do.
pub fn check(path: &str, text: &str, names: &Names) -> Vec<Finding> {
    let manifest = path
        .rsplit_once('.')
        .is_some_and(|(_, ending)| ending == "toml");
    let comment = |line: &str| manifest && line.starts_with('#');
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !comment(line));
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
        let is_head = |text: &str| {
            ["///", "/**", "#["]
                .iter()
                .any(|head| text.starts_with(head))
        };
        while first > 1 {
            let above = file.lines[first - 2].trim();
            if above.ends_with("*/") {
                let mut lines = file.lines[..first - 1].iter();
                let begin = lines.rposition(|text| text.contains("/*"));
                first = begin.map_or(first - 1, |begin| begin + 1);
            } else if is_head(above) {
                first -= 1;
            } else {
                break;
            }
        }
        let mut block = false;
        for line in first..=file.tokens[close].line {
            let text = file.lines.get(line - 1).map_or("", |text| text.trim());
            block |= text.starts_with("/**");
            let help = block || text.starts_with("///") || text.starts_with("#[doc");
            if let Some(what) = names.text(text).filter(|_| help) {
                found.push((line, report(&what)));
            }
            block &= !text.contains("*/");
        }
    }
    found
}

//! What leaves a room under a neutral name, and files of tests that are none.
//! `regs::any` has what all generations have; its own tests see to that.

use crate::source::{Kind, RustFile, is_test_path};

use super::names::Names;

/// Crates whose rooms are the generations themselves: what they export is named by its folder.
const TABLES: [&str; 2] = ["regs/src/", "isa/src/tables"];

/// `pub use regs::gen50::VsState`, `pub type State = gen50::VsState`: a generation's type under a neutral name.
pub fn leak(file: &RustFile, i: usize, names: &Names) -> Option<String> {
    if TABLES.iter().any(|tables| file.path.starts_with(tables)) {
        return None;
    }
    let import = file.is_ident(i, "use");
    if !import && !file.is_ident(i, "type") || !is_public(file, i) {
        return None;
    }
    let end = (i..file.tokens.len()).find(|&at| file.is_punct(at, ';'))?;
    let name = |at: usize| match &file.tokens[at].kind {
        Kind::Ident(word) => Some(word.as_str()),
        _ => None,
    };
    let named = |at: usize| name(at).is_some_and(|word| names.identifier(word).is_some());
    if !(i + 1..end).any(named) {
        return None;
    }
    let what = "a room hands on a generation's own under a neutral name";
    let leaked = if import {
        (i + 1..end).find_map(|at| {
            // What is imported stands before one of these; `as` gives it another name.
            let leaf = at + 1 == end || file.is_punct(at + 1, ',') || is_close(file, at + 1);
            let all = file.is_punct(at, '*');
            (leaf && (all || name(at).is_some() && !named(at)))
                .then(|| name(at).unwrap_or("*").to_owned())
        })
    } else {
        (!named(i + 1)).then(|| name(i + 1).unwrap_or_default().to_owned())
    };
    leaked.map(|name| format!("{what}: {name}"))
}

fn is_close(file: &RustFile, at: usize) -> bool {
    matches!(file.tokens.get(at).map(|t| &t.kind), Some(Kind::Close(_)))
}

/// Whether `pub` or `pub(..)` stands before a token.
fn is_public(file: &RustFile, i: usize) -> bool {
    let before = match i.checked_sub(1) {
        Some(at) if is_close(file, at) => file.opening(at),
        _ => Some(i),
    };
    before
        .and_then(|at| at.checked_sub(1))
        .is_some_and(|at| file.is_ident(at, "pub"))
}

/// `#[path = "tests/x.rs"] mod x;` and `include!("../tests/x.rs")`: a file that counts as test code in a program.
pub fn included(file: &RustFile, i: usize) -> Option<String> {
    let path =
        file.is_ident(i, "path") && file.is_punct(i + 1, '=') && i > 0 && file.is_open(i - 1, '[');
    let include =
        file.is_ident(i, "include") && file.is_punct(i + 1, '!') && file.is_open(i + 2, '(');
    if !path && !include {
        return None;
    }
    let end = if path { i + 3 } else { file.closing(i + 2) };
    (i..end).find_map(|at| match &file.tokens.get(at)?.kind {
        Kind::Literal(text) => {
            let text = text.trim_matches('"').trim_start_matches(['.', '/']);
            is_test_path(text).then(|| format!("a file of tests is part of a program: {text}"))
        }
        _ => None,
    })
}

//! Exports of rooms under neutral names, and shipped files that pose as tests.
//! `regs::any` has what generations share; its own tests see to that.

use crate::source::{Kind, RustFile, is_test_path};

use super::names::Names;

/// Rooms that are the tables themselves: a generation's file there has what it shares with an earlier one by that one's path.
const TABLES: [&str; 2] = ["regs/src/", "isa/src/tables"];

/// Types whose values are a generation or a row of one.
const ROWS: [&str; 7] = [
    "Device",
    "DeviceInfo",
    "Generation",
    "InstructionSet",
    "Model",
    "Table",
    "Verx10",
];

const LEAK: &str = "a room hands on a generation's own under a neutral name";

/// `pub use regs::gen50::VsState`, `pub type State = gen50::VsState`, `pub const NEW: Verx10 = ..`: what is a generation's under
/// a neutral name. What `regs::any` has is there by the rule of the code that is generated from the tables.
pub fn leak(file: &RustFile, i: usize, names: &Names) -> Option<String> {
    let own = is_of_one(&file.path, names);
    if own && TABLES.iter().any(|tables| file.path.starts_with(tables)) {
        return None;
    }
    module(file, i, names)
        .or_else(|| constant(file, i, names).filter(|_| !own))
        .or_else(|| import(file, i, names))
        .map(|name| format!("{LEAK}: {name}"))
}

/// Whether a file or its folder is a generation's, so that paths to what it has name that one.
fn is_of_one(path: &str, names: &Names) -> bool {
    let mut parts = path.split(['/', '.']);
    parts.any(|part| names.identifier(part).is_some())
}

/// `#[path = "gen50.rs"] mod recent;`
fn module(file: &RustFile, i: usize, names: &Names) -> Option<String> {
    let path = file.is_ident(i, "path") && file.is_punct(i + 1, '=');
    let Kind::Literal(of) = &file.tokens.get(i + 2).filter(|_| path)?.kind else {
        return None;
    };
    names.literal(of)?;
    let module = (i..file.tokens.len()).find(|&at| file.is_ident(at, "mod"))?;
    match &file.tokens.get(module + 1)?.kind {
        Kind::Ident(name) if names.identifier(name).is_none() => Some(name.clone()),
        _ => None,
    }
}

/// A public constant that is a generation, its row or made from its own. A list of rows is all generations'.
fn constant(file: &RustFile, i: usize, names: &Names) -> Option<String> {
    let item = file.is_ident(i, "const") || file.is_ident(i, "static");
    let Kind::Ident(name) = &file.tokens.get(i + 1)?.kind else {
        return None;
    };
    if !item || !is_public(file, i) || !file.is_punct(i + 2, ':') {
        return None;
    }
    let equals = (i..file.tokens.len()).find(|&at| file.is_punct(at, '='))?;
    let end = (equals..file.tokens.len()).find(|&at| file.is_punct(at, ';'))?;
    let list = (i + 3..equals).any(|at| file.is_open(at, '['));
    let row = |at: usize| ROWS.iter().any(|row| file.is_ident(at, row));
    let named = |at: usize| match &file.tokens[at].kind {
        Kind::Ident(word) => names.identifier(word).is_some(),
        _ => false,
    };
    // `Verx10(V)` is the caller's.
    let parameter = (equals..end).any(|at| file.is_ident(at, "V"));
    let certain = (i + 3..equals).any(row) && !parameter || (i + 3..end).any(named);
    (!list && certain && !named(i + 1)).then(|| name.clone())
}

/// `pub use` and `pub type`.
fn import(file: &RustFile, i: usize, names: &Names) -> Option<String> {
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
    if import {
        (i + 1..end).find_map(|at| {
            // What is imported stands before one of these; `as` gives it another name.
            let leaf = at + 1 == end || file.is_punct(at + 1, ',') || is_close(file, at + 1);
            let all = file.is_punct(at, '*');
            (leaf && (all || name(at).is_some() && !named(at)))
                .then(|| name(at).unwrap_or("*").to_owned())
        })
    } else {
        (!named(i + 1)).then(|| name(i + 1).unwrap_or_default().to_owned())
    }
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

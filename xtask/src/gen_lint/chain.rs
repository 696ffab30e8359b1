//! Operands of expressions: the fields, methods and path segments of each.

use crate::source::{Kind, RustFile};

use super::names::number;

/// Operands of the expression from `begin` to `end`, those in parentheses and tuples too: of `(a.b & 3, c) == d` there are
/// `a.b`, `3`, `c` and `d`.
pub fn operands(file: &RustFile, begin: usize, end: usize) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    let mut from = begin;
    let mut at = begin;
    while at <= end {
        // `f::<V>(x)`
        if at > 0 && file.is_punct(at, '<') && file.is_punct(at - 1, ':') {
            at = (at..end)
                .find(|&at| file.is_punct(at, '>'))
                .map_or(end, |at| at + 1);
            continue;
        }
        let ends = at == end || is_between(file, at);
        if ends && at > from {
            if file.is_open(from, '(') && file.closing(from) + 1 == at {
                out.extend(operands(file, from + 1, at - 1));
            } else {
                out.push(chain_before(file, at));
            }
        }
        if ends {
            from = at + 1;
        }
        at = match file.tokens.get(at).map(|t| &t.kind) {
            Some(Kind::Open(_)) => file.closing(at) + 1,
            _ => at + 1,
        };
    }
    out
}

/// Whether a token stands between operands.
fn is_between(file: &RustFile, at: usize) -> bool {
    match &file.tokens[at].kind {
        Kind::Punct(c) => "+-*/%&|^<>,".contains(*c),
        Kind::Ident(word) => word == "as",
        _ => false,
    }
}

/// Where the expression begins that ends before `end`: behind an assignment, a keyword, a comma or a bracket.
pub fn beginning(file: &RustFile, end: usize) -> usize {
    let mut at = end;
    while let Some(before) = at.checked_sub(1) {
        match &file.tokens[before].kind {
            Kind::Close('}') | Kind::Open(_) | Kind::Punct(';' | ',' | '=') => break,
            Kind::Ident(word) if is_keyword(word) && word != "as" => break,
            Kind::Punct(c @ ('&' | '|')) if before > 0 && file.is_punct(before - 1, *c) => break,
            Kind::Close(_) => match file.opening(before) {
                Some(open) => at = open,
                None => break,
            },
            _ => at = before,
        }
    }
    at
}

/// Where the expression ends that begins at `begin`.
pub fn ending(file: &RustFile, begin: usize) -> usize {
    let mut at = begin;
    while let Some(token) = file.tokens.get(at) {
        match &token.kind {
            Kind::Open('{') | Kind::Close(_) | Kind::Punct(';' | ',' | '=') => break,
            Kind::Punct(c @ ('&' | '|')) if at > begin && file.is_punct(at + 1, *c) => break,
            Kind::Open(_) => at = file.closing(at) + 1,
            _ => at += 1,
        }
    }
    at
}

/// Fields, methods and path segments before `end`, without what is in brackets.
pub fn chain_before(file: &RustFile, end: usize) -> Vec<String> {
    let mut chain = Vec::new();
    let mut at = end;
    let mut wants_name = true;
    while at > 0 {
        at -= 1;
        match &file.tokens[at].kind {
            Kind::Ident(word) if wants_name && !is_keyword(word) => {
                chain.push(word.clone());
                wants_name = false;
            }
            Kind::Literal(text) if chain.is_empty() && number(text).is_none() => {
                return vec![text.clone()];
            }
            Kind::Literal(text) if wants_name && number(text).is_some() => {
                // `x.0.1` has a literal `0.1`.
                chain.extend(text.split('.').rev().map(str::to_owned));
                wants_name = false;
            }
            Kind::Close(')' | ']') if wants_name => {
                let Some(open) = file.opening(at) else { break };
                at = open;
                // Without a name before it, it is a parenthesised expression.
                if !matches!(
                    file.tokens.get(at.wrapping_sub(1)).map(|t| &t.kind),
                    Some(Kind::Ident(_) | Kind::Close(_))
                ) {
                    let inner = chain_before(file, file.closing(open));
                    chain.extend(inner.into_iter().rev());
                    break;
                }
            }
            Kind::Punct('.' | '?' | ':' | '!') if !wants_name => {
                wants_name = true;
                if file.is_punct(at, '?') {
                    continue;
                }
                if file.is_punct(at, ':') {
                    if at == 0 || !file.is_punct(at - 1, ':') {
                        break;
                    }
                    at -= 1;
                }
            }
            Kind::Punct('?') if wants_name => {}
            _ => break,
        }
    }
    chain.reverse();
    chain
}

/// The same behind `begin`.
pub fn chain_after(file: &RustFile, begin: usize) -> Vec<String> {
    let mut chain = Vec::new();
    let mut at = begin;
    while let Some(token) = file.tokens.get(at) {
        match &token.kind {
            Kind::Punct('&' | '*' | '(') if chain.is_empty() => {}
            Kind::Ident(word) if !is_keyword(word) => {
                chain.push(word.clone());
                match file.tokens.get(at + 1).map(|t| &t.kind) {
                    Some(Kind::Open('(' | '[')) => at = file.closing(at + 1),
                    Some(Kind::Punct('.' | '?')) => {}
                    Some(Kind::Punct(':')) if file.is_path_sep(at + 1) => {}
                    _ => break,
                }
            }
            Kind::Literal(text) if !chain.is_empty() => {
                chain.extend(text.split('.').map(str::to_owned));
                if !file.is_punct(at + 1, '.') {
                    break;
                }
            }
            Kind::Punct('.' | '?' | ':') if !chain.is_empty() => {}
            _ => break,
        }
        at += 1;
    }
    chain
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "while"
            | "match"
            | "return"
            | "let"
            | "in"
            | "else"
            | "mut"
            | "as"
            | "for"
            | "where"
            | "move"
    )
}

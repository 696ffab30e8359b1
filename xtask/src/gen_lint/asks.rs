//! Questions which generation or device there is, and answers for unknown ones.

use crate::source::{Kind, RustFile};

use super::names::{Names, number};

/// Identifiers of values that are a generation.
const GENERATIONS: [&str; 7] = [
    "generation",
    "verx10",
    "isa",
    "gen",
    "ver",
    "V",
    "isa_version",
];

/// Identifiers of versions, of generations among others.
const VERSIONS: [&str; 5] = ["version", "times_ten", "number", "g", "v"];

/// Values that are a device, or what a device's row is called.
const DEVICES: [&str; 10] = [
    "d",
    "dev",
    "device",
    "info",
    "model",
    "generation",
    "tables",
    "chip",
    "gpu",
    "gen",
];

/// Fields by which a device or generation could be told from another.
const IDENTITIES: [&str; 12] = [
    "name",
    "title",
    "platform",
    "pci",
    "device",
    "code",
    "version",
    "id",
    "device_id",
    "pci_id",
    "revision",
    "chip",
];

/// Tables of all devices or generations; a row of them other than the first is a certain one.
const TABLES: [&str; 4] = ["DEVICES", "GENERATIONS", "ID_TABLE", "MODELS"];

/// Tables of instruction sets: what a generation has, the later ones have too until the table says otherwise. The numbers that
/// reach them are those of `Table::of` alone.
const SINCE: &str = "isa/src/tables";

/// Functions that compare a text with part of another.
const BEGINS: [&str; 2] = ["starts_with", "strip_prefix"];
const CONTAINS: [&str; 5] = ["ends_with", "strip_suffix", "contains", "find", "rfind"];

/// What the token at `i` asks.
pub fn question(file: &RustFile, i: usize, names: &Names) -> Option<String> {
    match &file.tokens.get(i)?.kind {
        Kind::Punct('=' | '!' | '<' | '>') => comparison(file, i, names),
        Kind::Punct('.') => number_of(file, i),
        Kind::Ident(word) => match word.as_str() {
            "match" => {
                let open = file.body(i + 1)?;
                scrutinee(file, i + 1, open, names)
                    .or_else(|| versions(file, i + 1, open, file.closing(open), names))
                    .map(|what| format!("matches on {what}"))
            }
            "matches" if file.is_punct(i + 1, '!') && file.is_open(i + 2, '(') => {
                let comma = file.comma(i + 3);
                scrutinee(file, i + 3, comma, names)
                    .or_else(|| versions(file, i + 3, comma, file.closing(i + 2), names))
                    .map(|what| format!("matches on {what}"))
            }
            "let" => binding(file, i, names),
            "Verx10" => constructed(file, i),
            "ptr_eq" | "addr_eq" | "eq" => same_row(file, i),
            word if TABLES.contains(&word) && file.is_open(i + 1, '[') => {
                let first = matches!(&file.tokens[i + 2].kind, Kind::Literal(n) if n != "0");
                (first && file.tokens[i + 3].kind == Kind::Close(']'))
                    .then(|| format!("a certain row of {word}"))
            }
            word if BEGINS.contains(&word) || CONTAINS.contains(&word) => {
                let Kind::Literal(text) = &file.tokens.get(i + 2)?.kind else {
                    return None;
                };
                (file.is_open(i + 1, '(') && names.part(text, BEGINS.contains(&word)))
                    .then(|| format!("asks for part of a device's name: {text}"))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A comparison whose operator begins at `i`.
fn comparison(file: &RustFile, i: usize, names: &Names) -> Option<String> {
    let punct = |at: usize| match file.tokens.get(at).map(|t| &t.kind) {
        Some(Kind::Punct(c)) => Some(*c),
        _ => None,
    };
    if i > 0
        && matches!(
            punct(i - 1),
            Some('=' | '!' | '<' | '>' | '-' | '+' | '|' | '&' | '.' | '*' | '/' | ':')
        )
    {
        return None;
    }
    let (first, second) = (punct(i)?, punct(i + 1));
    let (equality, right) = match (first, second) {
        ('=' | '!', Some('=')) => (true, i + 2),
        ('<' | '>', Some('=')) => (false, i + 2),
        ('<', Some('<')) | ('>', Some('>')) | ('=' | '!', _) => return None,
        _ => (false, i + 1),
    };
    let left = chain_before(file, i);
    let after = chain_after(file, right);
    for (asked, other, literal_at) in [(&left, &after, right), (&after, &left, i.saturating_sub(1))]
    {
        let literal = match file.tokens.get(literal_at).map(|t| &t.kind) {
            Some(Kind::Literal(text)) => Some(text),
            _ => None,
        };
        let value = literal.and_then(|text| number(text));
        let row = other.iter().any(|word| TABLES.contains(&word.as_str()));
        if is_generation(asked) && (literal.is_some() || row || !equality && !other.is_empty()) {
            return Some(format!("compares a generation: {}", asked.join(".")));
        }
        if is_version(asked) && value.is_some_and(|value| names.is_version(value)) {
            return Some(format!(
                "compares a version with a generation's: {}",
                asked.join(".")
            ));
        }
        if is_identity(asked) && literal.is_some() {
            return Some(format!("compares a device's identity: {}", asked.join(".")));
        }
    }
    None
}

/// Whether a chain of identifiers ends in a generation, or in its number or text.
fn is_generation(chain: &[String]) -> bool {
    let taken = [
        "0",
        "version",
        "clone",
        "major",
        "dotted",
        "to_string",
        "as_str",
    ];
    let mut rest = chain.iter().rev();
    let last = rest.find(|word| !taken.contains(&word.as_str()));
    last.is_some_and(|word| GENERATIONS.contains(&word.as_str()))
}

/// Whether a chain ends in what may be the version of anything, and is that of a generation where its numbers are.
fn is_version(chain: &[String]) -> bool {
    let mut rest = chain.iter().rev();
    let last = rest.find(|word| word.as_str() != "0");
    last.is_some_and(|word| VERSIONS.contains(&word.as_str()))
}

/// Whether a chain is a field of a device that says which one it is.
fn is_identity(chain: &[String]) -> bool {
    let fields = match chain {
        [fields @ .., last]
            if matches!(
                last.as_str(),
                "0" | "1" | "as_str" | "as_bytes" | "len" | "to_ascii_lowercase"
            ) =>
        {
            fields
        }
        fields => fields,
    };
    let [before @ .., last] = fields else {
        return false;
    };
    IDENTITIES.contains(&last.as_str())
        && before.iter().any(|word| DEVICES.contains(&word.as_str()))
}

/// Fields, methods and path segments before `end`, without what is in brackets.
fn chain_before(file: &RustFile, end: usize) -> Vec<String> {
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
fn chain_after(file: &RustFile, begin: usize) -> Vec<String> {
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

/// Whether what a `match` looks at, from `begin` to `end`, is a generation or tells devices apart.
fn scrutinee(file: &RustFile, begin: usize, end: usize, _names: &Names) -> Option<String> {
    let mut at = begin;
    let mut parts = Vec::new();
    // A tuple's members one by one.
    let (mut from, to) = if file.is_open(begin, '(') && file.closing(begin) + 1 == end {
        (begin + 1, end - 1)
    } else {
        (begin, end)
    };
    while at < to {
        at = file.comma(from).min(to);
        parts.push(chain_before(file, at));
        from = at + 1;
    }
    let asked = parts
        .into_iter()
        .find(|chain| is_generation(chain) || is_identity(chain))?;
    Some(asked.join("."))
}

/// The same for a version with patterns, up to `last`, that are the numbers of generations.
fn versions(
    file: &RustFile,
    begin: usize,
    end: usize,
    last: usize,
    names: &Names,
) -> Option<String> {
    let chain = chain_before(file, end);
    let pattern = |i: &usize| {
        let next = file.is_punct(i + 1, '=') && file.is_punct(i + 2, '>');
        let number = match &file.tokens[*i].kind {
            Kind::Literal(text) => number(text),
            _ => None,
        };
        (next || file.is_punct(i + 1, '|') || i + 1 == last || file.is_punct(i + 1, '.'))
            && number.is_some_and(|number| names.is_version(number))
    };
    (begin < end && is_version(&chain) && (end..last).any(|i| pattern(&i))).then(|| chain.join("."))
}

/// A pattern with a number against a generation: `if let (x, 0..60) = (y, generation)`.
fn binding(file: &RustFile, i: usize, names: &Names) -> Option<String> {
    let rest = &file.tokens[i + 1..];
    let equals = i
        + 1
        + rest
            .iter()
            .take(40)
            .position(|t| t.kind == Kind::Punct('='))?;
    let pattern = &file.tokens[i + 1..equals];
    if file.is_punct(equals + 1, '=')
        || !pattern.iter().any(|t| matches!(&t.kind, Kind::Literal(_)))
    {
        return None;
    }
    if file.is_open(equals + 1, '(') {
        let end = file.closing(equals + 1) + 1;
        return scrutinee(file, equals + 1, end, names).map(|what| format!("matches on {what}"));
    }
    let chain = chain_after(file, equals + 1);
    (is_generation(&chain) || is_identity(&chain))
        .then(|| format!("matches on {}", chain.join(".")))
}

/// The number of a generation: `generation.0`.
fn number_of(file: &RustFile, i: usize) -> Option<String> {
    let zero = matches!(&file.tokens.get(i + 1)?.kind, Kind::Literal(text) if text == "0");
    let Kind::Ident(word) = &file.tokens.get(i.checked_sub(1)?)?.kind else {
        return None;
    };
    (zero && GENERATIONS.contains(&word.as_str()))
        .then(|| format!("takes the number of a generation: {word}.0"))
}

/// `Verx10(50)`, `Verx10::new(50)`, `Verx10::SOMETHING`.
fn constructed(file: &RustFile, i: usize) -> Option<String> {
    let what = "makes a generation of a number".to_owned();
    if file.is_open(i + 1, '(') {
        return Some(what);
    }
    let Kind::Ident(name) = &file.tokens.get(i + 3)?.kind else {
        return None;
    };
    let constant = name
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    (file.is_path_sep(i + 1) && (name == "new" || constant)).then_some(what)
}

/// `ptr::eq(info, other)`.
fn same_row(file: &RustFile, i: usize) -> Option<String> {
    if !file.is_open(i + 1, '(')
        || !(file.is_ident(i.checked_sub(3)?, "ptr") || file.is_ident(i, "ptr_eq"))
    {
        return None;
    }
    let arguments = &file.tokens[i + 2..file.closing(i + 1)];
    let row = arguments.iter().find_map(|t| match &t.kind {
        Kind::Ident(word) if DEVICES.contains(&word.as_str()) => Some(word.clone()),
        Kind::Ident(word) if TABLES.contains(&word.as_str()) => Some(word.clone()),
        _ => None,
    })?;
    Some(format!("compares rows of devices: {row}"))
}

/// An answer for a generation that is not known, which makes it another: an arm `_ => GEN4`, a default.
pub fn fallback(file: &RustFile, i: usize, names: &Names) -> Option<String> {
    if file.is_ident(i, "match") {
        let open = file.body(i + 1)?;
        scrutinee(file, i + 1, open, names)?;
        return arms(file, open);
    }
    let default = ["unwrap_or", "unwrap_or_else", "map_or", "or"];
    if i > 0
        && file.is_punct(i - 1, '.')
        && default.iter().any(|name| file.is_ident(i, name))
        && file.is_open(i + 1, '(')
    {
        let end = if file.is_ident(i, "map_or") {
            file.comma(i + 2)
        } else {
            file.closing(i + 1)
        };
        let named = file.tokens[i + 2..end].iter().find_map(|t| match &t.kind {
            Kind::Ident(word) => names.identifier(word),
            _ => None,
        });
        return named.map(|name| format!("an unknown generation or device becomes {name}"));
    }
    None
}

/// The first arm of a match on a generation that is open to numbers of no generation and does not refuse them.
fn arms(file: &RustFile, open: usize) -> Option<String> {
    let end = file.closing(open);
    let mut at = open + 1;
    while at < end {
        let arrow = (at..end).find(|&k| file.is_punct(k, '=') && file.is_punct(k + 1, '>'))?;
        let pattern = &file.tokens[at..arrow];
        // In the tables of instruction sets a range begins with the generation that has something new.
        let since = file.path.starts_with(SINCE);
        let range = !since
            && pattern
                .windows(2)
                .any(|pair| pair.iter().all(|t| t.kind == Kind::Punct('.')));
        let wild =
            matches!(pattern, [only] if matches!(&only.kind, Kind::Ident(word) if word == "_"));
        let body = arrow + 2;
        let refuses = ["None", "Err", "return", "unreachable", "compile_error"]
            .iter()
            .any(|word| file.is_ident(body, word))
            // What the caller of the macro says.
            || file.is_punct(body, '$') && file.is_ident(body + 1, "otherwise")
            || matches!(&file.tokens[body].kind, Kind::Ident(word) if word == "false" || word == "continue");
        if (wild || range) && !refuses {
            return Some(
                "a match on a generation has an arm for unknown ones: refuse them".to_owned(),
            );
        }
        at = if file.is_open(body, '{') {
            let next = file.closing(body) + 1;
            if file.is_punct(next, ',') {
                next + 1
            } else {
                next
            }
        } else {
            file.comma(body) + 1
        };
    }
    None
}

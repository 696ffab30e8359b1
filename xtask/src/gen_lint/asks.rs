//! Questions which generation or device there is, and answers for unknown ones.

use crate::source::{Kind, RustFile};

use super::chain::{beginning, chain_after, chain_before, ending, operands};
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

/// Those that are a device's whatever stands before them.
const IDS: [&str; 3] = ["pci", "device_id", "pci_id"];

/// Tables of all devices or generations; a row of them other than the first is a certain one.
const TABLES: [&str; 4] = ["DEVICES", "GENERATIONS", "ID_TABLE", "MODELS"];

/// Tables of instruction sets: what a generation has, the later ones have too until the table says otherwise. The numbers that
/// reach them are those of `Table::of` alone.
const SINCE: &str = "isa/src/tables";

/// What goes through a table of all devices or generations row by row; anything else could take a certain one.
const EACH: [&str; 2] = ["iter", "into_iter"];

/// Methods of an iterator that ask each row the same, whatever its place.
const SAME: [&str; 10] = [
    "chain",
    "cloned",
    "copied",
    "filter",
    "filter_map",
    "flat_map",
    "flatten",
    "for_each",
    "inspect",
    "map",
];

/// Methods that end such a walk: what comes behind them is no list of rows any more.
const ENDS: [&str; 6] = ["all", "any", "find", "find_map", "for_each", "collect"];

/// Functions that find a device or generation by what people write or by an id: what they take comes from outside, so it is
/// no literal. The first two are called by the file that reads arguments and by none else.
const FINDERS: [&str; 8] = [
    "spelled",
    "is_called",
    "called",
    "of_device",
    "modelled",
    "find",
    "tables",
    "generation",
];

/// Where those two are called.
const ARGUMENTS: [&str; 2] = ["cli/src/cmd/source.rs", "cli/src/cmd/device.rs"];

/// Ways from a generation to its number and back.
const NUMBER: &str = "times_ten";

/// Comparisons that are methods.
const COMPARES: [&str; 6] = [
    "eq",
    "ne",
    "cmp",
    "partial_cmp",
    "eq_ignore_ascii_case",
    "contains",
];

/// Functions that compare a text with part of another.
const BEGINS: [&str; 2] = ["starts_with", "strip_prefix"];
const CONTAINS: [&str; 5] = ["ends_with", "strip_suffix", "contains", "find", "rfind"];

/// What a device is called.
const TEXTS: [&str; 3] = ["name", "title", "platform"];

/// Methods whose literal is for people, or stands for what is missing.
const MESSAGES: [&str; 4] = ["context", "expect", "ok_or", "unwrap_or"];

/// Methods that ask for a part of a text, or cut it there.
const PARTS: [&str; 14] = [
    "contains",
    "ends_with",
    "find",
    "matches",
    "rfind",
    "rsplit",
    "rsplit_once",
    "split",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
    "trim_start_matches",
];

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
            "ptr_eq" | "addr_eq" => same_row(file, i),
            "eq" if same_row(file, i).is_some() => same_row(file, i),
            "V" if file.path.starts_with(GENERIC) => parameter(file, i),
            word if word.ends_with(NUMBER) && !(i > 0 && file.is_ident(i - 1, "fn")) => {
                Some(format!("takes or makes the number of a generation: {word}"))
            }
            _ if text_method(file, i) => Some(format!(
                "asks for part of a device's name or number: {word}"
            )),
            word if FINDERS.contains(&word) && file.is_open(i + 1, '(') => found(file, i, word),
            word if TABLES.contains(&word) => row(file, i, word),
            word if COMPARES.contains(&word)
                && file.is_open(i + 1, '(')
                && i > 0
                && file.is_punct(i - 1, '.')
                && compared(file, i) =>
            {
                Some(format!("compares a device's identity by {word}"))
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

/// Whether a method of a device's name or of a generation's text has a literal, or one of any name digits alone: `name.split('4')`.
fn text_method(file: &RustFile, i: usize) -> bool {
    let is_method = i > 0 && file.is_punct(i - 1, '.') && file.is_open(i + 1, '(');
    if !is_method || MESSAGES.iter().any(|word| file.is_ident(i, word)) {
        return false;
    }
    // Not the field of a tuple: `a.1`.
    let mut literals = (i + 2..file.closing(i + 1))
        .filter(|&at| !file.is_punct(at - 1, '.'))
        .filter_map(|at| match &file.tokens[at].kind {
            Kind::Literal(text) => Some(text.trim_matches(['b', '"', '\''])),
            _ => None,
        })
        .peekable();
    if literals.peek().is_none() {
        return false;
    }
    let receiver = chain_before(file, i - 1);
    let names = |word: &String| TEXTS.contains(&word.as_str());
    let text = receiver.iter().any(names) && is_identity(&receiver)
        || receiver.iter().any(|word| word == "to_string") && is_generation(&receiver);
    text || receiver.last().is_some_and(names)
        && PARTS.iter().any(|word| file.is_ident(i, word))
        && literals.any(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
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
        let some = file.is_ident(literal_at, "Some") && file.is_open(literal_at + 1, '(');
        let literal_at = if some { literal_at + 2 } else { literal_at };
        let literal = match file.tokens.get(literal_at).map(|t| &t.kind) {
            Some(Kind::Literal(text)) => Some(text),
            _ => None,
        };
        let value = literal.and_then(|text| number(text));
        let row = other.iter().any(|word| TABLES.contains(&word.as_str()));
        if row
            && asked
                .last()
                .is_some_and(|word| DEVICES.contains(&word.as_str()))
        {
            return Some(format!("compares with a certain row: {}", asked.join(".")));
        }
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
    // The end of `f::<V>(1)`.
    let arguments = (1..i).rev().take_while(|&at| {
        !matches!(
            file.tokens[at].kind,
            Kind::Open(_) | Kind::Close(_) | Kind::Punct(';')
        )
    });
    let mut arguments = arguments.filter(|&at| file.is_punct(at, '<'));
    if first == '>' && arguments.any(|at| file.is_punct(at - 1, ':')) {
        return None;
    }
    let sides = [
        operands(file, beginning(file, i), i),
        operands(file, right, ending(file, right)),
    ];
    let literal = |side: &[Vec<String>]| side.iter().any(|chain| is_literal(chain));
    let asks = |side: &[Vec<String>]| {
        let mut chains = side.iter();
        let asked = chains.find(|chain| is_generation(chain) || is_identity(chain))?;
        Some(asked.join("."))
    };
    let [left, right] = &sides;
    let asked = asks(left).filter(|_| literal(right));
    let asked = asked.or_else(|| asks(right).filter(|_| literal(left)))?;
    Some(format!("compares a device's identity: {asked}"))
}

/// Whether an operand is a literal.
fn is_literal(chain: &[String]) -> bool {
    let first = chain.first();
    first.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit() || "\"'".contains(c)))
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
        "trim",
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
    let field = chain
        .iter()
        .rposition(|word| IDENTITIES.contains(&word.as_str()));
    let Some(field) = field else {
        return false;
    };
    // Parts and forms of the field: `.0`, `.as_bytes()`.
    let rest = chain[field + 1..].iter();
    let mut rest = rest.filter(|word| word.parse::<u8>().is_err());
    rest.all(|word| FORMS.contains(&word.as_str()))
        && (IDS.contains(&chain[field].as_str())
            || chain[..field]
                .iter()
                .any(|word| DEVICES.contains(&word.as_str())))
}

/// Forms of a text or number.
const FORMS: [&str; 16] = [
    "trim",
    "as_str",
    "as_bytes",
    "bytes",
    "chars",
    "len",
    "to_ascii_lowercase",
    "to_lowercase",
    "to_string",
    "to_owned",
    "first",
    "last",
    "next",
    "nth",
    "get",
    "into",
];

/// Whether what a `match` looks at, from `begin` to `end`, is a generation or tells devices apart.
fn scrutinee(file: &RustFile, begin: usize, end: usize, _names: &Names) -> Option<String> {
    let parts = operands(file, begin, end);
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

/// A table of all devices or generations that is not gone through row by row.
fn row(file: &RustFile, i: usize, word: &str) -> Option<String> {
    let what = format!("a certain row of {word}, or all of them handed on");
    // Something else of this name, or an import.
    let declared = file.tokens.iter().enumerate().any(|(at, token)| {
        token.kind == file.tokens[i].kind
            && at > 0
            && (file.is_ident(at - 1, "const") || file.is_ident(at - 1, "static"))
    });
    let start = (0..i)
        .rev()
        .find(|&at| file.is_punct(at, ';') || file.is_ident(at, "use") || file.is_ident(at, "fn"));
    let imported = start.is_some_and(|at| file.is_ident(at, "use"));
    let walked = file.is_open(i + 1, '{');
    // `const ID_TABLE: .. = MODELS;`: another name of these.
    let renamed = file.is_punct(i + 1, ';')
        && start.is_some_and(|at| {
            let mut named = (at..i).filter(|&at| file.is_ident(at, "const"));
            named.any(|at| TABLES.iter().any(|table| file.is_ident(at + 1, table)))
        });
    if declared || imported || walked || renamed || file.is_path_sep(i + 1) {
        return None;
    }
    let mut at = i + 1;
    let mut methods = 0;
    while file.is_punct(at, '.')
        && let Some(Kind::Ident(method)) = file.tokens.get(at + 1).map(|t| &t.kind)
    {
        let method = method.as_str();
        methods += 1;
        let ends = ENDS.contains(&method);
        let each = methods == 1 && EACH.contains(&method);
        if !each && (methods == 1 || !ends && !SAME.contains(&method)) {
            return Some(what);
        }
        let open = (at + 2..file.tokens.len()).find(|&at| file.is_open(at, '('))?;
        at = file.closing(open) + 1;
        if ends {
            // A list of all of them, of which one is taken.
            let taken = file.is_open(at, '[') || file.is_punct(at, '.');
            return (method == "collect" && taken).then_some(what);
        }
    }
    (methods == 0).then_some(what)
}

/// A finder with a literal, or the parser of arguments elsewhere.
fn found(file: &RustFile, i: usize, word: &str) -> Option<String> {
    if i > 0 && file.is_ident(i - 1, "fn") {
        return None;
    }
    // Not the field of a tuple: `pci.1`.
    let literal = (i + 2..file.comma(i + 2))
        .any(|at| matches!(file.tokens[at].kind, Kind::Literal(_)) && !file.is_punct(at - 1, '.'));
    if file.closing(i + 1) == i + 2 {
        return None;
    }
    // `text.find("..")` is a text's.
    let text = word == "find" && i > 0 && file.is_punct(i - 1, '.');
    let elsewhere = FINDERS[..2].contains(&word) && !ARGUMENTS.contains(&file.path.as_str());
    (literal && !text || elsewhere).then(|| format!("asks for a certain device by {word}"))
}

/// Whether a method compares a device's identity, or a generation, with a literal.
fn compared(file: &RustFile, i: usize) -> bool {
    let literal = |from: usize| {
        let to = file.closing(from);
        (from..to).any(|at| matches!(file.tokens[at].kind, Kind::Literal(_)))
    };
    let asks = |chain: &[String]| is_identity(chain) || is_generation(chain);
    let receiver = chain_before(file, i - 1);
    let argument = chain_after(file, i + 2);
    asks(&receiver) && literal(i + 1)
        || asks(&argument)
            && file
                .tokens
                .get(i.wrapping_sub(2))
                .is_some_and(|token| matches!(token.kind, Kind::Literal(_) | Kind::Close(_)))
            && (0..i)
                .rev()
                .take_while(|&at| {
                    !matches!(file.tokens[at].kind, Kind::Punct(';') | Kind::Open('{'))
                })
                .any(|at| matches!(file.tokens[at].kind, Kind::Literal(_)))
}

/// Where a generation is a parameter of functions, which is called `V`.
const GENERIC: &str = "isa/src/";

/// The parameter as a value: it stands in `<..>`, or it is a variant of something else.
fn parameter(file: &RustFile, i: usize) -> Option<String> {
    let before = |c| i > 0 && file.is_punct(i - 1, c);
    let handed = before('<') && (file.is_punct(i + 1, '>') || file.is_punct(i + 1, ','));
    let declared = i > 0 && file.is_ident(i - 1, "const");
    let variant = before(':') && i > 1 && file.is_punct(i - 2, ':')
        || file.is_punct(i + 1, ',') && before(',') && !in_parentheses(file, i);
    (!handed && !declared && !variant).then(|| "takes the number of a generation: V".to_owned())
}

/// Whether the innermost bracket around a token is a parenthesis.
fn in_parentheses(file: &RustFile, i: usize) -> bool {
    let mut depth = 0;
    for token in file.tokens[..i].iter().rev() {
        match token.kind {
            Kind::Close(_) => depth += 1,
            Kind::Open(c) if depth == 0 => return c != '{',
            Kind::Open(_) => depth -= 1,
            _ => {}
        }
    }
    false
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
    let default = ["unwrap_or", "unwrap_or_else", "map_or", "or", "or_else"];
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
            // `_`, or a name that takes whatever is left.
            matches!(pattern, [only] if matches!(&only.kind, Kind::Ident(word) if word.starts_with(|c: char| c == '_' || c.is_ascii_lowercase())));
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

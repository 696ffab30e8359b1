//! A Rust file as flat tokens that know their line and whether they are test code.
//! Comments and doc comments are no tokens: checks read them from the lines.

use std::str::FromStr;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Identifier or keyword, without `r#`.
    Ident(String),
    /// One character of an operator.
    Punct(char),
    /// Opening bracket.
    Open(char),
    /// Closing bracket.
    Close(char),
    /// String, character or number, as written.
    Literal(String),
}

/// One token.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Line, counted from one.
    pub line: usize,
    /// Whether it belongs to an item that exists only in tests.
    pub test: bool,
}

/// A source file.
#[derive(Debug)]
pub struct RustFile {
    /// Path below the workspace root.
    pub path: String,
    /// Lines without their ends.
    pub lines: Vec<String>,
    /// Tokens in order.
    pub tokens: Vec<Token>,
}

/// A path as written, one leaf of a use tree or an expression's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// Segments, resolved to begin at the crate's root.
    pub segments: Vec<String>,
    /// Line of the last segment.
    pub line: usize,
    /// Whether it stands in test code.
    pub test: bool,
}

impl RustFile {
    /// Splits a file into tokens.
    pub fn parse(path: &str, text: &str) -> Result<RustFile, LexError> {
        let stream = TokenStream::from_str(text)?;
        let mut tokens = Vec::new();
        flatten(stream, is_test_path(path), &mut tokens);
        Ok(RustFile {
            path: path.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            tokens,
        })
    }

    /// Whether the token at `i` is this identifier.
    pub fn is_ident(&self, i: usize, name: &str) -> bool {
        matches!(self.tokens.get(i).map(|t| &t.kind), Some(Kind::Ident(n)) if n == name)
    }

    /// Whether the token at `i` is this operator character.
    pub fn is_punct(&self, i: usize, c: char) -> bool {
        matches!(self.tokens.get(i).map(|t| &t.kind), Some(Kind::Punct(p)) if *p == c)
    }

    /// Whether the token at `i` opens this bracket.
    pub fn is_open(&self, i: usize, c: char) -> bool {
        matches!(self.tokens.get(i).map(|t| &t.kind), Some(Kind::Open(p)) if *p == c)
    }

    fn ident(&self, i: usize) -> Option<&str> {
        match &self.tokens.get(i)?.kind {
            Kind::Ident(name) => Some(name),
            _ => None,
        }
    }

    /// The bracket that closes the one at `open`, or the end of the file.
    pub fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for (i, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Kind::Open(_) => depth += 1,
                Kind::Close(_) if depth <= 1 => return i,
                Kind::Close(_) => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The bracket that opens the one at `close`.
    pub fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0;
        for i in (0..=close).rev() {
            match self.tokens[i].kind {
                Kind::Close(_) => depth += 1,
                Kind::Open(_) if depth == 1 => return Some(i),
                Kind::Open(_) => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// The first comma from `begin` on, or the bracket that closes what is around it.
    pub fn comma(&self, begin: usize) -> usize {
        let mut i = begin;
        while let Some(token) = self.tokens.get(i) {
            match token.kind {
                Kind::Punct(',') | Kind::Close(_) => return i,
                Kind::Open(_) => i = self.closing(i) + 1,
                _ => i += 1,
            }
        }
        i
    }

    /// The first brace from `begin` on that is not inside other brackets.
    pub fn body(&self, begin: usize) -> Option<usize> {
        let mut i = begin;
        loop {
            match self.tokens.get(i)?.kind {
                Kind::Open('{') => return Some(i),
                Kind::Close(_) | Kind::Punct(';') => return None,
                Kind::Open(_) => i = self.closing(i) + 1,
                _ => i += 1,
            }
        }
    }

    /// Whether `::` stands at `i`.
    pub fn is_path_sep(&self, i: usize) -> bool {
        self.is_punct(i, ':') && self.is_punct(i + 1, ':')
    }

    /// Modules in files of their own that only tests have.
    pub fn test_modules(&self) -> impl Iterator<Item = &str> {
        (1..self.tokens.len())
            .filter(|&i| {
                self.tokens[i].test && self.is_ident(i - 1, "mod") && self.is_punct(i + 1, ';')
            })
            .filter_map(|i| self.ident(i))
    }

    /// Whether the line, or the comment right above its statement, carries a tag such as `PANIC:`.
    pub fn has_tag(&self, line: usize, tag: &str) -> bool {
        let mut at = line;
        loop {
            let Some(text) = at.checked_sub(1).and_then(|i| self.lines.get(i)) else {
                return false;
            };
            let text = text.trim();
            if let Some((_, comment)) = text.split_once("//")
                && comment.contains(tag)
            {
                return true;
            }
            let comment = text.starts_with("//");
            let ends_above = text.is_empty() || text.ends_with([';', '{', '}']);
            // The line itself may end anything; above it only its own statement and comment count.
            if at != line && !comment && ends_above {
                return false;
            }
            at -= 1;
        }
    }

    /// All paths that start at `crate`, `self` or `super`, resolved against the file's module.
    pub fn crate_paths(&self, module: &[String]) -> Vec<PathUse> {
        let mut out = Vec::new();
        // Inline modules around the current token, each with the bracket depth inside it.
        let mut inline: Vec<(String, usize)> = Vec::new();
        let mut depth = 0;
        for i in 0..self.tokens.len() {
            match &self.tokens[i].kind {
                Kind::Open(_) => {
                    depth += 1;
                    if i >= 2
                        && self.is_open(i, '{')
                        && self.is_ident(i - 2, "mod")
                        && let Some(name) = self.ident(i - 1)
                    {
                        inline.push((name.to_owned(), depth));
                    }
                }
                Kind::Close(_) => {
                    if inline.last().is_some_and(|m| m.1 == depth) {
                        inline.pop();
                    }
                    depth -= 1;
                }
                Kind::Ident(name)
                    if matches!(name.as_str(), "crate" | "self" | "super")
                        && self.is_path_sep(i + 1)
                        && !(i >= 2 && self.is_path_sep(i - 2)) =>
                {
                    let mut here: Vec<String> = module.to_vec();
                    here.extend(inline.iter().map(|m| m.0.clone()));
                    let base = if name == "crate" {
                        Vec::new()
                    } else {
                        if name == "super" {
                            here.pop();
                        }
                        here
                    };
                    self.tree(i + 3, base, &mut out);
                }
                _ => {}
            }
        }
        out
    }

    /// Reads what follows a `::` at token `i`: a segment, a list or a star. Returns the next token.
    fn tree(&self, mut i: usize, mut base: Vec<String>, out: &mut Vec<PathUse>) -> usize {
        let Some(token) = self.tokens.get(i) else {
            return i;
        };
        let leaf = |segments| PathUse {
            segments,
            line: token.line,
            test: token.test,
        };
        match &token.kind {
            Kind::Ident(name) => {
                match name.as_str() {
                    "super" => {
                        base.pop();
                    }
                    "self" => {}
                    _ => base.push(name.clone()),
                }
                if self.is_path_sep(i + 1) {
                    return self.tree(i + 3, base, out);
                }
                out.push(leaf(base));
                i += 1;
                if self.is_ident(i, "as") {
                    i += 2;
                }
            }
            Kind::Open('{') => {
                i += 1;
                while let Some(token) = self.tokens.get(i) {
                    match token.kind {
                        Kind::Close(_) => return i + 1,
                        Kind::Punct(',') => i += 1,
                        _ => {
                            let next = self.tree(i, base.clone(), out);
                            i = next.max(i + 1);
                        }
                    }
                }
            }
            Kind::Punct('*') => {
                base.push("*".to_owned());
                out.push(leaf(base));
                i += 1;
            }
            // A turbofish or a qualified path: what came before it is the path.
            _ => out.push(leaf(base)),
        }
        i
    }
}

/// Whether a whole file is test or benchmark code because of its place: a folder that cargo knows, beside `src`. Below `src` a file
/// is test code only where its module is declared for tests ([`Workspace`](crate::workspace::Workspace) follows that).
pub fn is_test_path(path: &str) -> bool {
    let mut folders = path.split('/').take_while(|part| *part != "src");
    let folder = folders.any(|part| matches!(part, "tests" | "benches" | "examples"));
    // The crate of the suites.
    folder || path.starts_with("tests/")
}

fn flatten(stream: TokenStream, test: bool, out: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    // Inside an item that a test attribute marks.
    let mut item = false;
    while let Some(tree) = trees.next() {
        let mut push = |kind, span: proc_macro2::Span, test| {
            out.push(Token {
                kind,
                line: span.start().line,
                test,
            });
        };
        match tree {
            TokenTree::Punct(punct) => {
                let c = punct.as_char();
                if c == '#' {
                    let mut inner = false;
                    if matches!(trees.peek(), Some(TokenTree::Punct(p)) if p.as_char() == '!') {
                        trees.next();
                        inner = true;
                    }
                    if let Some(TokenTree::Group(group)) = trees.peek() {
                        let text = compact(&group.stream());
                        if text.starts_with("doc") {
                            trees.next();
                            continue;
                        }
                        item |= !inner && is_test_attribute(&text);
                    }
                    push(Kind::Punct('#'), punct.span(), test || item);
                    if inner {
                        push(Kind::Punct('!'), punct.span(), test || item);
                    }
                    continue;
                }
                push(Kind::Punct(c), punct.span(), test || item);
                if c == ';' {
                    item = false;
                }
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
                push(Kind::Ident(name), ident.span(), test || item);
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                push(Kind::Literal(text), literal.span(), test || item);
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ('(', ')'),
                    Delimiter::Bracket => ('[', ']'),
                    Delimiter::Brace => ('{', '}'),
                    Delimiter::None => (' ', ' '),
                };
                push(Kind::Open(open), group.span_open(), test || item);
                flatten(group.stream(), test || item, out);
                out.push(Token {
                    kind: Kind::Close(close),
                    line: group.span_close().start().line,
                    test: test || item,
                });
                if open == '{' {
                    item = false;
                }
            }
        }
    }
}

fn compact(stream: &TokenStream) -> String {
    stream
        .to_string()
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect()
}

/// `test`, `cfg(test)` and `cfg(all(test, ..))`. What `any` lists with `test` is compiled elsewhere too.
fn is_test_attribute(text: &str) -> bool {
    text == "test"
        || (text.starts_with("cfg(")
            && !["not(", "any("].iter().any(|word| text.contains(word))
            && text.split(['(', ')', ',']).any(|word| word == "test"))
}

#[cfg(test)]
mod tests;

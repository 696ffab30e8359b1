//! Text of others made safe to print: control characters are escaped.
//!
//! Linux has `string_escape_mem` and `%pE` for this. File names, process names, captures and messages of clients can hold
//! escape sequences that a terminal would obey. Beside it: numbers with a noun, for messages.
use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt::{self, Write as _};

/// Whether a terminal does more with a character than show it. Marks that turn the direction of writing count too.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, keep: &[char]) -> Option<String> {
    let is_kept = |c: char| !is_unsafe(c) || keep.contains(&c);
    if text.chars().all(is_kept) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_kept(c) {
            out.push(c);
        } else {
            // The form of JSON, so that JSON stays what it is. Writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
    }
    Some(out)
}

/// A name as a part of one line: every control character escaped, line feeds too.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    escaped(text, &[]).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Text of several lines: every control character escaped but line feeds and tabs.
#[must_use]
pub fn escape_lines(text: &str) -> Cow<'_, str> {
    escaped(text, &['\n', '\t']).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Shows something as [`escape`] does.
pub struct Escaped<T>(pub T);

impl<T: fmt::Display> fmt::Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&alloc::format!("{}", self.0)))
    }
}

/// A number and what it counts: "1 batch", "2 batches". The noun is given in the singular.
#[derive(Clone, Copy, Debug)]
pub struct Counted<N>(pub N, pub &'static str);

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Counted<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted(number, noun) = self;
        write!(f, "{number} {}", noun_of(*number == N::from(1), noun))
    }
}

/// A noun that stands behind one or another number: for numbers that are written in a form of their own.
#[must_use]
pub fn noun_of(is_one: bool, noun: &'static str) -> Cow<'static, str> {
    match noun {
        _ if is_one => Cow::Borrowed(noun),
        "vertex" => Cow::Borrowed("vertices"),
        "child" => Cow::Borrowed("children"),
        _ if noun.ends_with("ch") || noun.ends_with('s') => Cow::Owned(alloc::format!("{noun}es")),
        _ => Cow::Owned(alloc::format!("{noun}s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_instead() {
        // ECMA-48: ESC [ is CSI, as is U+009B; ESC ] begins a title.
        assert_eq!(escape("a\x1b[31mb"), "a\\u001b[31mb");
        assert_eq!(escape("\u{9b}2J\x07\x7f"), "\\u009b2J\\u0007\\u007f");
        assert_eq!(
            escape("one\ntwo\r\tthree"),
            "one\\u000atwo\\u000d\\u0009three"
        );
        assert_eq!(escape("\u{202e}gpj"), "\\u202egpj");
        assert_eq!(
            escape_lines("one\n\ttwo\r\x1bc"),
            "one\n\ttwo\\u000d\\u001bc"
        );
    }

    #[test]
    fn plain_text_of_any_language_is_left_alone() {
        for text in ["", "frame.crest", "Dreiecke: ÄÖÜ", "三角形 \\u001b"] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(escape_lines(text), Cow::Borrowed(_)));
        }
        assert_eq!(alloc::format!("{}", Escaped("\x1b")), "\\u001b");
    }

    #[test]
    fn nouns_follow_their_number() {
        let text = |n: u64, noun| alloc::format!("{}", Counted(n, noun));
        assert_eq!(text(1, "submission"), "1 submission");
        assert_eq!(text(0, "submission"), "0 submissions");
        assert_eq!(text(1, "batch"), "1 batch");
        assert_eq!(text(2, "batch"), "2 batches");
        assert_eq!(text(3, "pass"), "3 passes");
        assert_eq!(text(3, "vertex"), "3 vertices");
    }
}

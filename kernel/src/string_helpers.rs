//! Text of others made safe to print: control characters are escaped.
//!
//! Linux has `string_escape_mem` and `%pE` for this. File names, process names, captures and messages of clients can hold
//! escape sequences that a terminal would obey.
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
}

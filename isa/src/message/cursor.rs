//! Reading words, names and numbers of a descriptor's text.
//!
//! PRM: volume 4, 13.4. Knows nothing of descriptors.

use super::part::{Names, Radix};
use super::text::MessageParseError;

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Where the next word starts.
    pub(super) fn offset(&mut self) -> usize {
        self.skip();
        self.at
    }

    /// Fails at the next word.
    pub(super) fn fail<T>(&mut self, expected: &'static str) -> Result<T, MessageParseError> {
        Err(MessageParseError {
            offset: self.offset(),
            expected,
        })
    }

    /// Where the text of `wanted` ends if it stands here, white space of any length where it has
    /// some. A wanted letter or digit at the end is the end of a word.
    fn matches(&self, wanted: &str) -> Option<usize> {
        let mut rest = self.rest();
        for piece in wanted.split_whitespace() {
            rest = rest.trim_start().strip_prefix(piece)?;
            if piece.ends_with(part_of_word) && rest.starts_with(part_of_word) {
                return None;
            }
        }
        Some(self.text.len() - rest.len())
    }

    /// Takes `wanted` if it stands here.
    pub(super) fn word(&mut self, wanted: &str) -> bool {
        match self.matches(wanted) {
            Some(end) => {
                self.at = end;
                true
            }
            None => false,
        }
    }

    /// Takes `wanted`.
    pub(super) fn require(&mut self, wanted: &'static str) -> Result<(), MessageParseError> {
        if self.word(wanted) {
            return Ok(());
        }
        self.fail(wanted.trim())
    }

    /// A name of the list, the longest that fits, or `*** invalid .. value N`.
    pub(super) fn name(&mut self, names: &Names, max: u32) -> Result<u32, MessageParseError> {
        let found = names
            .list
            .iter()
            .filter(|(value, name)| !name.is_empty() && *value <= max)
            .filter_map(|(value, name)| Some((self.matches(name)?, *value)))
            .max_by_key(|(end, _)| *end);
        if let Some((end, value)) = found {
            self.at = end;
            return Ok(value);
        }
        if self.word("*** invalid") && self.word(names.what) && self.word("value") {
            return self.number(max, Radix::Decimal);
        }
        match names.list.iter().find(|(_, name)| name.is_empty()) {
            Some((value, _)) => Ok(*value),
            None => self.fail(names.what),
        }
    }

    /// Whether a number stands here.
    pub(super) fn at_digit(&mut self) -> bool {
        self.skip();
        self.rest().starts_with(|c: char| c.is_ascii_digit())
    }

    /// A number up to `max`.
    pub(super) fn number(&mut self, max: u32, radix: Radix) -> Result<u32, MessageParseError> {
        self.skip();
        let rest = self.rest();
        let (digits, base) = match rest.strip_prefix("0x") {
            Some(digits) if radix == Radix::Prefixed => (digits, 10),
            Some(digits) => (digits, 16),
            None => (rest, 10),
        };
        let len = digits
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(digits.len());
        let value = digits
            .get(..len)
            .and_then(|digits| u32::from_str_radix(digits, base).ok());
        match value {
            Some(value) if value <= max => {
                self.at = self.text.len() - digits.len() + len;
                Ok(value)
            }
            Some(_) => self.fail("a smaller number"),
            None if base == 10 => self.fail("a decimal number"),
            None => self.fail("a hexadecimal number"),
        }
    }

    /// Nothing but white space is left.
    pub(super) fn end(&mut self) -> Result<(), MessageParseError> {
        if self.rest().trim_start().is_empty() {
            return Ok(());
        }
        self.fail("the end of the message")
    }
}

fn part_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

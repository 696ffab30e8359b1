//! Position in assembly text: white space, comments, words and numbers.
//!
//! There is no list of tokens: what a letter means depends on what stands before it.

use super::error::Fail;

/// Position in a text.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
    /// Where a comment begins that has no end.
    pub(super) open_comment: Option<usize>,
    /// White space and comments that were passed last.
    gap: (usize, usize),
}

/// A number of the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number<'a> {
    /// Decimal digits.
    Decimal(u64),
    /// `0x` and digits.
    Hex(u64),
    /// With a point or an exponent.
    Float(&'a str),
}

const fn word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor {
            text,
            bytes: text.as_bytes(),
            at: 0,
            open_comment: None,
            gap: (0, 0),
        }
    }

    /// The byte at the position, 0 at the end.
    pub(super) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn ended(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    /// Over white space and comments.
    pub(super) fn space(&mut self) {
        let start = self.at;
        self.over_space();
        if self.at > start {
            self.gap = (start, self.at);
        }
    }

    /// Where the token before the position ends.
    pub(super) fn token_end(&self) -> usize {
        match self.gap {
            (start, end) if end == self.at => start,
            _ => self.at,
        }
    }

    fn over_space(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => self.line_end(),
                b'/' if self.peek_at(1) == b'/' => self.line_end(),
                b'/' if self.peek_at(1) == b'*' => self.block_comment(),
                _ => return,
            }
        }
    }

    /// Over blanks of the line.
    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Over a byte, if it is here.
    pub(super) fn eat_here(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && !self.ended();
        self.at += usize::from(found);
        found
    }

    /// Whether a digit follows after white space.
    pub(super) fn digit_follows(&mut self) -> bool {
        self.space();
        self.at_digit()
    }

    /// `*** invalid .. value 9`, as the disassembler shows numbers that have no name.
    pub(super) fn invalid_value(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..)?.strip_prefix("***")?;
        let line = rest.lines().next()?;
        let (_, after) = line.split_once(" value ")?;
        let length = after.bytes().take_while(u8::is_ascii_digit).count();
        let value = after.get(..length)?.parse().ok()?;
        self.at += 3 + (line.len() - after.len()) + length;
        Some(value)
    }

    /// To the options or the semicolon that end the text of a message.
    pub(super) fn message_end(&mut self) {
        while !self.ended() && !matches!(self.peek(), b'{' | b';') {
            self.at += 1;
        }
    }

    /// Whether ` MsgDesc` follows.
    pub(super) fn message_follows(&self) -> bool {
        let mut ahead = self.clone();
        ahead.blanks();
        ahead.word() == "MsgDesc"
    }

    /// Counts lines from `from` to `to`; returns where the next count goes on.
    pub(super) fn count_lines(
        &self,
        from: usize,
        to: usize,
        line: &mut u32,
        start: &mut usize,
    ) -> usize {
        let to = to.min(self.bytes.len());
        let run = self.bytes.get(from..to).unwrap_or(&[]);
        for (index, _) in run.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            *line += 1;
            *start = from + index + 1;
        }
        to.max(from)
    }

    /// To the end of the line, not over it.
    pub(super) fn line_end(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let length = rest.iter().position(|&byte| byte == b'\n');
        self.at += length.unwrap_or(rest.len());
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let rest = self.text.get(start + 2..).unwrap_or("");
        if let Some(length) = rest.find("*/") {
            self.at = start + 2 + length + 2;
        } else {
            self.open_comment.get_or_insert(start);
            self.at = self.bytes.len();
        }
    }

    /// Over a byte, if it is the next one after white space.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == byte && !self.ended();
        self.at += usize::from(found);
        found
    }

    pub(super) fn require(&mut self, byte: u8, name: &'static str) -> Result<(), Fail> {
        if self.eat(byte) {
            Ok(())
        } else {
            Err(Fail::expected(self.at, name))
        }
    }

    /// Letters, digits and underscores from here; empty when there are none.
    pub(super) fn word(&mut self) -> &'a str {
        let start = self.at;
        while word_byte(self.peek()) {
            self.at += 1;
        }
        self.since(start)
    }

    /// The word at the position, which stays.
    pub(super) fn peek_word(&self) -> &'a str {
        self.clone().word()
    }

    /// A word that begins like a name.
    pub(super) fn at_name(&self) -> bool {
        let byte = self.peek();
        byte.is_ascii_alphabetic() || byte == b'_'
    }

    pub(super) fn at_digit(&self) -> bool {
        self.peek().is_ascii_digit()
    }

    /// Decimal digits; the caller has seen the first.
    pub(super) fn decimal(&mut self) -> Result<u64, Fail> {
        let start = self.at;
        let mut value: u64 = 0;
        while self.at_digit() {
            let digit = u64::from(self.peek() - b'0');
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(digit))
                .ok_or_else(|| Fail::text(start, "the number has more than 64 bits"))?;
            self.at += 1;
        }
        if self.at == start {
            return Err(Fail::expected(start, "a number"));
        }
        Ok(value)
    }

    /// A number without sign. Hexadecimal digits are lower case: type letters are upper case.
    pub(super) fn number(&mut self) -> Result<Number<'a>, Fail> {
        let start = self.at;
        if self.peek() == b'0' && self.peek_at(1) == b'x' {
            self.at += 2;
            return self.hex(start).map(Number::Hex);
        }
        let mut digits = self.clone();
        while digits.at_digit() {
            digits.at += 1;
        }
        let exponent = digits.peek() == b'e'
            && (digits.peek_at(1).is_ascii_digit()
                || matches!(digits.peek_at(1), b'+' | b'-') && digits.peek_at(2).is_ascii_digit());
        if digits.at == start || digits.peek() != b'.' && !exponent {
            return self.decimal().map(Number::Decimal);
        }
        if digits.peek() == b'.' {
            digits.at += 1;
            while digits.at_digit() {
                digits.at += 1;
            }
        }
        if digits.peek() == b'e' {
            digits.at += 1;
            if matches!(digits.peek(), b'+' | b'-') {
                digits.at += 1;
            }
            while digits.at_digit() {
                digits.at += 1;
            }
        }
        self.at = digits.at;
        Ok(Number::Float(self.since(start)))
    }

    fn hex(&mut self, start: usize) -> Result<u64, Fail> {
        let mut value: u64 = 0;
        let first = self.at;
        loop {
            let digit = match self.peek() {
                byte @ b'0'..=b'9' => byte - b'0',
                byte @ b'a'..=b'f' => byte - b'a' + 10,
                _ => break,
            };
            if value >> 60 != 0 {
                return Err(Fail::text(start, "the number has more than 64 bits"));
            }
            value = value << 4 | u64::from(digit);
            self.at += 1;
        }
        if self.at == first {
            return Err(Fail::expected(self.at, "hexadecimal digits in lower case"));
        }
        Ok(value)
    }
}

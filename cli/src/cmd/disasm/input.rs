//! What kernels are kept in: binaries, hexadecimal text, C initialisers.
//!
//! Words of text are little endian in memory, as the hardware reads them.

use crate::cmd::Error;

/// Form of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Decided by the content
    Auto,
    /// The bytes themselves
    Binary,
    /// Hexadecimal bytes (20 02 01 00) or words (00010220) without 0x
    Hex,
    /// C source: every number that begins with 0x counts, all else is skipped
    C,
}

/// The kernel in an input.
pub fn bytes(name: &str, input: Vec<u8>, format: Format) -> Result<Vec<u8>, Error> {
    let is_guess = format == Format::Auto;
    let format = if is_guess { detect(&input) } else { format };
    if format == Format::Binary {
        return Ok(input);
    }
    let text = std::str::from_utf8(&input).map_err(|_| format!("{name}: the input is no text"))?;
    let bytes = match format {
        Format::C if is_guess => prose(text).map_or_else(|| c_source(text), Err),
        Format::C => c_source(text),
        _ => hexadecimal(text),
    }
    .map_err(|(line, what)| {
        let hint = if is_guess {
            "; the input looks like text, but a kernel is expected: a binary, words in hexadecimal, or a C array \
             (--format); `crestline asm` takes assembly text"
        } else {
            ""
        };
        format!("{name}:{line}: {what}{hint}")
    })?;
    if bytes.is_empty() && !input.is_empty() {
        return Err(format!("{name}: no numbers in the text").into());
    }
    Ok(bytes)
}

/// Text is printable throughout; C has `0x`. Kernels have control characters: zeros, if nothing else.
fn detect(input: &[u8]) -> Format {
    let printable = |c: char| matches!(c, '\t' | '\n' | '\r') || !c.is_control();
    let text = std::str::from_utf8(input).unwrap_or_default();
    if text.is_empty() || !text.chars().all(printable) {
        Format::Binary
    } else if input.windows(2).any(|pair| pair == b"0x") {
        Format::C
    } else {
        Format::Hex
    }
}

type Wrong = (usize, String);

/// Where other text than a C array begins: it has no brace before a number, and more words than numbers behind `0x`.
fn prose(text: &str) -> Option<Wrong> {
    let mut braces = text.split('{').skip(1);
    if braces.any(|inside| inside.trim_start().starts_with("0x")) {
        return None;
    }
    let is_word = |token: &str| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut words = tokens(text).filter(|(_, token)| is_word(token));
    let first = words.next()?;
    let numbers =
        tokens(text).filter(|(_, token)| token.starts_with("0x") || token.starts_with("0X"));
    (1 + words.count() > numbers.count()).then(|| (first.0, format!("{} is no number", first.1)))
}

/// Numbers behind `0x`. They are bytes when none has more than two digits.
fn c_source(text: &str) -> Result<Vec<u8>, Wrong> {
    let mut numbers = Vec::new();
    let mut wide = false;
    for (line, token) in tokens(text) {
        let Some(digits) = token.strip_prefix("0x").or(token.strip_prefix("0X")) else {
            continue;
        };
        let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = u32::from_str_radix(digits, 16)
            .map_err(|_| (line, format!("{token} is not a 32-bit word")))?;
        wide |= digits.len() > 2;
        numbers.push(number);
    }
    Ok(if wide {
        numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
    } else {
        // CAST: two digits at most.
        numbers.iter().map(|&n| n as u8).collect()
    })
}

/// Bytes of two digits and words of eight.
fn hexadecimal(text: &str) -> Result<Vec<u8>, Wrong> {
    let mut bytes = Vec::new();
    for (line, token) in tokens(text) {
        let wrong = || (line, format!("{token} is no byte or word in hexadecimal"));
        let number = u32::from_str_radix(token, 16).map_err(|_| wrong())?;
        match token.len() {
            2 => bytes.push(number as u8),
            8 => bytes.extend(number.to_le_bytes()),
            _ => return Err(wrong()),
        }
    }
    Ok(bytes)
}

/// Words of the text with their line, from 1; comments are left out.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().enumerate().flat_map(move |(index, line)| {
        let mut found = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            if inside {
                let Some((_, after)) = rest.split_once("*/") else {
                    break;
                };
                inside = false;
                rest = after;
                continue;
            }
            let comment = ["//", "/*", "#"]
                .into_iter()
                .filter_map(|mark| rest.find(mark).map(|at| (at, mark)))
                .min();
            let code = comment.map_or(rest, |(at, _)| rest.get(..at).unwrap_or(""));
            found.extend(
                code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .filter(|token| !token.is_empty())
                    .map(|token| (index + 1, token)),
            );
            match comment {
                Some((at, "/*")) => {
                    inside = true;
                    rest = rest.get(at + 2..).unwrap_or("");
                }
                _ => break,
            }
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u8>, String> {
        bytes("x", text.as_bytes().to_vec(), Format::Auto).map_err(|e| e.to_string())
    }

    #[test]
    fn forms_are_told_apart() {
        assert_eq!(read("20 02 01 00\n00 0c\n"), Ok(vec![0x20, 2, 1, 0, 0, 12]));
        assert_eq!(read("00010220 // jmpi\n"), Ok(vec![0x20, 2, 1, 0]));
        assert_eq!(
            read("static const uint32_t k[][4] = {\n  { 0x00010220, /* 0xff */ 0x1u },\n};\n"),
            Ok(vec![0x20, 2, 1, 0, 1, 0, 0, 0])
        );
        assert_eq!(read("{ 0x20, 0x2 }"), Ok(vec![0x20, 2]));
        assert_eq!(
            bytes("x", vec![0, 1, 2], Format::Auto).ok(),
            Some(vec![0, 1, 2])
        );
        assert_eq!(
            bytes("x", b"20 02".to_vec(), Format::Binary).ok(),
            Some(b"20 02".to_vec())
        );
        assert_eq!(bytes("x", Vec::new(), Format::Auto).ok(), Some(Vec::new()));
    }

    #[test]
    fn other_text_is_refused() {
        for (text, begin) in [
            (
                "20 02\nmov(8)",
                "x:2: mov is no byte or word in hexadecimal; the input looks like text",
            ),
            ("20 2", "x:1: 2 is no byte or word in hexadecimal; "),
            ("0x123456789", "x:1: 0x123456789 is not a 32-bit word; "),
            ("mov(8) g1 0x3f800000UD", "x:1: mov is no number; "),
            ("// nothing\n", "x: no numbers in the text"),
        ] {
            let said = read(text);
            let begins = |said: &String| said.starts_with(begin);
            assert!(said.as_ref().is_err_and(begins), "{text}: {said:?}");
        }
        let named = bytes("x", b"20 2".to_vec(), Format::Hex).map_err(|e| e.to_string());
        assert_eq!(
            named,
            Err("x:1: 2 is no byte or word in hexadecimal".into())
        );
    }
}

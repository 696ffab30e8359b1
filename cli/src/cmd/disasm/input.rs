//! What kernels are kept in: binaries, hexadecimal text, C initialisers.
//!
//! No PRM chapter. Words of text are little endian in memory, as the hardware reads them.

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
    let format = match format {
        Format::Auto => detect(&input),
        other => other,
    };
    if format == Format::Binary {
        return Ok(input);
    }
    let text = std::str::from_utf8(&input).map_err(|_| format!("{name}: the input is no text"))?;
    let bytes = match format {
        Format::C => c_source(text),
        _ => hexadecimal(text),
    }
    .map_err(|(line, what)| format!("{name}:{line}: {what}"))?;
    if bytes.is_empty() && !input.is_empty() {
        return Err(format!("{name}: no numbers in the text").into());
    }
    Ok(bytes)
}

/// Text is printable throughout; C has `0x`.
fn detect(input: &[u8]) -> Format {
    let printable = |b: &u8| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    if input.is_empty() || !input.iter().all(printable) {
        Format::Binary
    } else if input.windows(2).any(|pair| pair == b"0x") {
        Format::C
    } else {
        Format::Hex
    }
}

type Wrong = (usize, String);

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
        assert_eq!(
            read("20 02\nmov(8)"),
            Err("x:2: mov is no byte or word in hexadecimal".into())
        );
        assert_eq!(
            read("20 2"),
            Err("x:1: 2 is no byte or word in hexadecimal".into())
        );
        assert_eq!(
            read("0x123456789"),
            Err("x:1: 0x123456789 is not a 32-bit word".into())
        );
        assert_eq!(
            read("// nothing\n"),
            Err("x: no numbers in the text".into())
        );
    }
}

//! Names of registers and types.
//!
//! PRM: volume 4, 11.3 and 13.4; names as in Mesa 22.3.6 `i965_lex.l`. Which of them a generation has is
//! the encoder's to say.

use crate::operand::{Type, bare_type};

/// Words that name an architecture register, with the upper half of its number and the registers of
/// that name.
const ARCHITECTURE: [(&str, u8, u8); 16] = [
    ("a", 0x10, 0),
    ("acc", 0x20, 15),
    ("f", 0x30, 15),
    ("mask", 0x40, 15),
    ("ce", 0x40, 0),
    ("ms", 0x50, 15),
    ("msd", 0x60, 15),
    ("sr", 0x70, 15),
    ("cr", 0x80, 15),
    ("n", 0x90, 15),
    ("ip", 0xa0, 0),
    ("tdr", 0xb0, 0),
    ("tm", 0xc0, 15),
    ("fc", 0xd0, 15),
    ("dbg", 0xf0, 15),
    ("null", 0, 0),
];

const IP: u8 = 0xa0;

/// The type that letters name.
pub(super) fn type_of(letters: &[u8]) -> Option<Type> {
    Some(match letters {
        b"F" => Type::F,
        b"D" => Type::D,
        b"UD" => Type::Ud,
        b"UW" => Type::Uw,
        b"W" => Type::W,
        b"UB" => Type::Ub,
        b"B" => Type::B,
        b"VF" => Type::Vf,
        b"V" => Type::V,
        b"UV" => Type::Uv,
        b"DF" => Type::Df,
        b"HF" => Type::Hf,
        b"UQ" => Type::Uq,
        b"Q" => Type::Q,
        _ => return None,
    })
}

/// Whether a word begins with a general or message register.
pub(super) fn numbered(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(['g', 'r', 'm']) else {
        return false;
    };
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < rest.len() && (after.is_empty() || type_of(after.as_bytes()).is_some())
}

/// The architecture register that a word begins with: number, how much of the word, and the type it
/// has without letters.
pub(super) fn known(word: &str) -> Option<(u8, usize, Option<Type>)> {
    let bytes = word.as_bytes();
    // As the disassembler shows numbers that have no name.
    if let Some(digits) = word.strip_prefix("ARF") {
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let nr = digits.get(..length)?.parse().ok()?;
        let rest = digits.as_bytes().get(length..)?;
        return (rest.is_empty() || type_of(rest).is_some()).then_some((nr, 3 + length, None));
    }
    let letters = bytes.iter().take_while(|b| b.is_ascii_lowercase()).count();
    let digits = bytes
        .get(letters..)?
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let length = letters + digits;
    let rest = bytes.get(length..)?;
    if !rest.is_empty() && type_of(rest).is_none() {
        return None;
    }
    let (name, number) = (word.get(..letters)?, word.get(letters..length)?);
    let &(_, base, most) = ARCHITECTURE.iter().find(|row| row.0 == name)?;
    let index = match (base, number) {
        (0 | IP, "") => 0,
        (_, number) => number.parse::<u8>().ok().filter(|&n| n <= most)?,
    };
    let nr = base | index;
    Some((nr, length, bare_type(nr)))
}

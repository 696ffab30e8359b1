//! Assembler on captured kernels, on what the printer writes, and on damaged text.
//!
//! PRM: volume 4, 13.4. The kernels are in `data/gm965_kernels.hex`, with the text of another
//! disassembler; the corpus of that project's assembler is in `mesa_assembler.rs`.

use std::fmt::Write as _;

use fastrand::Rng;
use isa::operand::Addr;
use isa::{Verx10, decode, parse, print};

const KERNELS: &str = include_str!("data/gm965_kernels.hex");

fn vectors() -> impl Iterator<Item = ([u32; 4], &'static str)> {
    KERNELS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (words, text) = line.split_once("  ").expect("two columns");
            let mut raw = [0; 4];
            for (word, hex) in raw.iter_mut().zip(words.split(' ')) {
                *word = u32::from_str_radix(hex, 16).expect("hexadecimal");
            }
            (raw, text)
        })
}

/// Mesa divides the address subregister of a destination by the size of the type; its text is not
/// read back where that loses something.
fn ambiguous(raw: [u32; 4]) -> bool {
    let inst = decode(Verx10::GEN40, raw).unwrap();
    matches!(inst.dst.addr, Addr::Indirect { subreg, .. } if subreg != 0)
}

#[test]
fn the_captured_text_gives_the_captured_words() {
    let mut count = 0;
    for (raw, text) in vectors().filter(|(raw, _)| !ambiguous(*raw)) {
        let program = parse::assemble(Verx10::GEN40, "kernel", text)
            .unwrap_or_else(|errors| panic!("{}", errors[0]));
        assert_eq!(program.items.len(), 1, "{text}");
        assert_eq!(program.items[0].words, raw, "{text}");
        count += 1;
    }
    println!("{count} instructions");
    assert!(count > 600);
}

#[test]
fn what_the_printer_writes_is_read_back() {
    let mut text = String::new();
    for (raw, _) in vectors() {
        let inst = decode(Verx10::GEN40, raw).unwrap();
        let line = print(Verx10::GEN40, &inst);
        assert_eq!(parse::instruction(Verx10::GEN40, &line), Ok(inst), "{line}");
        writeln!(text, "{line}").unwrap();
    }
    let program = parse::assemble(Verx10::GEN40, "kernels", &text).unwrap();
    let words: Vec<[u32; 4]> = program.items.iter().map(|item| item.words).collect();
    let expected: Vec<[u32; 4]> = vectors().map(|(raw, _)| raw).collect();
    assert_eq!(words, expected);
}

const PIECES: [&str; 34] = [
    "(",
    ")",
    "<",
    ">",
    ".",
    ",",
    ";",
    "{",
    "}",
    "[",
    "]",
    "-",
    ":",
    "0x",
    "99999999999999999999",
    "g127",
    "m0",
    "a0.9",
    "f1.3",
    "(abs)",
    "/*",
    "//",
    "#",
    "\n",
    ".declare x g1<8,8,1>F\n",
    ".define y -3\n",
    ".dword 1 2 3 4\n",
    "LABEL0:",
    "JIP: LABEL0",
    "UIP: -1",
    "é",
    "\u{0}",
    "{ align16 compr4 EOT compacted }",
    "[1F, 0F, -2F, 0x30]VF",
];

/// The text with some bytes removed, doubled, replaced, or with pieces of the language put in.
fn damaged(text: &str, random: &mut Rng) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..random.usize(..4) {
        let at = random.usize(..=chars.len());
        match random.usize(..4) {
            0 if at < chars.len() => {
                chars.remove(at);
            }
            1 if at < chars.len() => chars[at] = char::from(b' ' + random.usize(..95) as u8),
            2 => chars.truncate(at),
            _ => {
                let piece = PIECES[random.usize(..PIECES.len())];
                chars.splice(at..at, piece.chars());
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn no_text_panics() {
    let lines: Vec<&str> = vectors().map(|(_, text)| text).collect();
    let mut random = Rng::with_seed(1);
    let (mut good, mut bad) = (0, 0);
    for round in 0..20_000 {
        let generation = Verx10::from_times_ten([40, 45, 50, 60, 70, 75, 80, 90][round % 8]);
        let mut text = String::new();
        for _ in 0..=random.usize(..3) {
            text += &damaged(lines[random.usize(..lines.len())], &mut random);
            text.push('\n');
        }
        match parse::assemble(generation, "damaged", &text) {
            Ok(program) => {
                good += 1;
                assert_eq!(program.bytes().len() % 8, 0);
            }
            Err(errors) => {
                bad += 1;
                assert!(!errors.is_empty() && errors.len() <= parse::MAX_ERRORS);
                for error in errors {
                    let line = text.lines().nth(error.line as usize - 1).unwrap_or("");
                    assert_eq!(error.source, line, "{text}");
                    assert!(error.column as usize <= line.chars().count() + 1, "{error}");
                    assert!(error.to_string().ends_with('^'), "{error}");
                }
            }
        }
    }
    println!("{good} texts assemble, {bad} do not");
}

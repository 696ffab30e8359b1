//! Lines of assembly per second: text to words, whole programs.
//!
//! `cargo bench -p crestline-isa --bench asm`; the text is what the printer writes for
//! captured kernels, repeated, and a part of it with labels. The goal is one million lines a second.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a measurement that fails shall say so"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use isa::{Verx10, decode, parse, print};

const KERNELS: &str = include_str!("../tests/data/gm965_kernels.hex");
const LINES: usize = 100_000;
const ROUNDS: usize = 7;

/// Text of the captured kernels, over and over.
fn kernels() -> String {
    let lines: Vec<String> = KERNELS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (words, _) = line.split_once("  ").unwrap();
            let mut raw = [0; 4];
            for (word, hex) in raw.iter_mut().zip(words.split(' ')) {
                *word = u32::from_str_radix(hex, 16).unwrap();
            }
            print(Verx10::GEN40, &decode(Verx10::GEN40, raw).unwrap())
        })
        .collect();
    let mut text = String::new();
    let mut count = 0;
    for line in lines.iter().cycle() {
        text += line;
        text.push('\n');
        count += line.lines().count();
        if count >= LINES {
            return text;
        }
    }
    text
}

/// Loops, one after the other.
fn labels() -> String {
    let mut text = String::new();
    for index in 0..LINES / 8 {
        write!(
            text,
            "LABEL{index}:\n\
             do(8) {{ align1 }};\n\
             add(8) g2<1>D g2<8,8,1>D 1D {{ align1 }};\n\
             cmp.ge.f0.0(8) null<1>D g2<8,8,1>D g3<8,8,1>D {{ align1 }};\n\
             (+f0.0) break(8) Jump: END{index} Pop: 0 {{ align1 }};\n\
             mul(8) g4<1>F g4<8,8,1>F 1.5F {{ align1 }};\n\
             while(8) Jump: LABEL{index} {{ align1 }};\n\
             END{index}:\n"
        )
        .unwrap();
    }
    text
}

fn measure(name: &str, text: &str) {
    let lines = text.lines().count();
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let program = parse::assemble(Verx10::GEN40, "bench", black_box(text));
        black_box(program.unwrap());
        best = best.min(began.elapsed().as_secs_f64());
    }
    let rate = lines as f64 / best / 1e6;
    println!("{name:<10} {lines} lines, {rate:.2} million lines/s");
}

fn main() {
    measure("kernels", &kernels());
    measure("labels", &labels());
}

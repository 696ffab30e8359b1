//! The corpus of `tests/filetests`, one test a kind.
//!
//! No PRM chapter; every file names the source of its expectations.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crestline_tests::filetest::{KINDS, blessing, corpus, run, strangers};

fn kind(name: &str) {
    let kind = KINDS.iter().find(|k| k.name() == name).expect("a kind");
    let report = run(&corpus(), *kind, blessing());
    println!("{}", report.log);
    assert!(
        report.failures.is_empty(),
        "\n{}{}",
        report.failures,
        report.log
    );
}

#[test]
fn disasm() {
    kind("disasm");
}

#[test]
fn encode() {
    kind("encode");
}

#[test]
fn asm() {
    kind("asm");
}

#[test]
fn asm_errors() {
    kind("asm-errors");
}

#[test]
fn eu_run() {
    kind("eu-run");
}

#[test]
fn cs() {
    kind("cs");
}

#[test]
fn debug() {
    kind("debug");
}

#[test]
fn decode() {
    kind("decode");
}

#[test]
fn regs() {
    kind("regs");
}

#[test]
fn draw() {
    kind("draw");
}

#[test]
fn message() {
    kind("message");
}

#[test]
fn every_folder_belongs_to_a_kind() {
    assert_eq!(strangers(&corpus()), Vec::<String>::new());
    assert_eq!(KINDS.len(), 11, "a kind without a test");
}

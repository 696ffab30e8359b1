//! The instruction set against vectors of other programs and of captures.
//!
//! One program for all of them: each test program costs a link, and most of a cold build was links.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests"
)]

mod assembler;
mod assembler_random;
mod captures;
mod captures_paths;
mod compact;
mod fields;
mod formats;
mod gen4asm;
mod gen4asm_oracle;
mod mesa;
mod mesa_assembler;
mod mesa_text;
mod opcodes;
mod random_words;
mod round_trip;
mod text_round_trip;
mod validate_captures;
mod validate_docs;
mod validate_mesa;
mod validate_random;
mod validate_snb;
mod valleyview;

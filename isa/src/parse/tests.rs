//! Tests of the assembler: text against words of other assemblers, and mistakes.
//!
//! No PRM chapter. Whole corpora are in `tests/`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

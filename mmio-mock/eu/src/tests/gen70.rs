//! ValleyView: general payloads, second flag register, bits, halves, doubles.
//!
//! PRM: ValleyView volume 2 part 2. Programs are assembled from text.

mod bits;
mod control;
mod doubles;
mod numbers;

use super::text;
use crate::r#gen::GEN70;
use crate::{Grf, Thread};

/// Runs the text in both modes of the kernel cache, which agree, and gives the thread.
fn execute(text: &str, t: Thread) -> Thread {
    text::execute(GEN70, text, t).0
}

/// A thread of all channels with these registers.
fn with(registers: &[(usize, Grf)]) -> Thread {
    let mut t = text::thread(GEN70, u32::MAX);
    for (nr, values) in registers {
        t.grf_mut()[*nr] = *values;
    }
    t
}

//! Sandy Bridge: captured kernels, flow control by channel, `math`, three sources.
//!
//! PRM: Sandy Bridge volume 4 part 2. Programs are assembled from text.

mod flow;
mod kernels;
mod values;

use super::text;
pub(super) use super::text::{Memory, floats, run};
use crate::Thread;
use crate::r#gen::GEN60;
use isa::Verx10;

pub(super) fn generation() -> Verx10 {
    GEN60.generation()
}

/// The words of a program.
pub(super) fn assemble(text: &str) -> Vec<u32> {
    text::assemble(GEN60, text)
}

/// A dispatched thread.
pub(super) fn thread(mask: u32) -> Thread {
    text::thread(GEN60, mask)
}

/// Runs the text in both modes of the kernel cache, which agree, and gives the thread.
pub(super) fn execute(text: &str, t: Thread) -> Thread {
    text::execute(GEN60, text, t).0
}

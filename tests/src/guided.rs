//! The targets of coverage-guided fuzzing: what each does with some bytes.
//!
//! `tests/fuzz` has a program of libFuzzer for each; `tests/tests/guided_corpora.rs` runs their corpora in the normal
//! suite. A target panics when something is wrong, and means nothing by an input that is refused.

pub mod assembler;
pub mod batches;
mod calls;
pub mod captures;
pub mod debugger_scripts;
pub mod exec_json;
pub mod ioctl_blocks;
pub mod kernels;
pub mod wire;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name of its program and of its corpus.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: [Target; 8] = [
    Target {
        name: "captures",
        run: captures::run,
    },
    Target {
        name: "exec_json",
        run: exec_json::run,
    },
    Target {
        name: "assembler",
        run: assembler::run,
    },
    Target {
        name: "debugger_scripts",
        run: debugger_scripts::run,
    },
    Target {
        name: "wire",
        run: wire::run,
    },
    Target {
        name: "ioctl_blocks",
        run: ioctl_blocks::run,
    },
    Target {
        name: "batches",
        run: batches::run,
    },
    Target {
        name: "kernels",
        run: kernels::run,
    },
];

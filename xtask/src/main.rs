//! Checks and generators of the workspace: `cargo xtask <task>`.
//! Knows the rules of the code, not what the code does.
#![forbid(unsafe_code)]

mod bench;
mod coverage;
mod finding;
mod fuzz;
mod gaps;
mod gen_lint;
mod guided;
mod layers;
mod locks;
mod models;
mod node;
mod piglit;
mod prepush;
mod progress;
mod regs_docs;
mod sanitize;
mod scenes;
mod source;
mod style;
mod workspace;

use std::io;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use workspace::Workspace;

/// Checks and generators of the workspace.
///
/// A check prints each finding as `file:line: what is wrong`, and exits with 1 when there are any.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check which crate and which module of the model imports which
    Layers,
    /// Check that numbers of hardware generations are only in tables and generation files
    GenLint,
    /// Check first lines and sizes of files, panics, lint exceptions and paths
    Style,
    /// Check that each Cargo.lock is what its Cargo.toml asks for
    Locks,
    /// Write docs/known-gaps.md from docs/known-gaps.d/
    Gaps(Page),
    /// Write docs/coverage/ from the `covers:` comments of the tests
    Coverage(Page),
    /// Write docs/regs/ from regs/tables/
    RegsDocs(Page),
    /// Run all of the above as checks, and write nothing
    Check,
    /// Run `check`, cargo fmt --check and cargo clippy -D warnings
    Prepush,
    /// Run all benchmarks, beside Mesa's software rasterisers where these can be built
    Bench(bench::Options),
    /// Run random batches and kernels in a release build, 10 million of each
    Fuzz(fuzz::Options),
    /// Run libFuzzer on the programs of tests/fuzz, an hour each
    FuzzGuided(guided::Options),
    /// Run the tests of node and shim (the preloaded library) under a sanitizer
    Sanitize(sanitize::Options),
    /// Run models of concurrent code in every order of its host threads
    Loom,
    /// Draw 18 scenes on a modelled device and compare with llvmpipe and softpipe
    Scenes(scenes::Options),
    /// Draw a scene for each capability that the device offers, and compare with llvmpipe and softpipe
    Scenes3(scenes::named::Options),
    /// Run piglit, a test suite of OpenGL, on a modelled device and compare with llvmpipe
    Piglit(piglit::Options),
}

/// A page that is generated.
#[derive(Args, Debug)]
struct Page {
    /// Write nothing; fail when the page in the tree is out of date
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    match run(&Cli::parse().task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a task; false when it found something.
fn run(task: &Task) -> io::Result<bool> {
    let root = workspace::root();
    match task {
        Task::Layers => Ok(finding::report("layers", &layers::check(&load()?))),
        Task::GenLint => Ok(finding::report("gen-lint", &gen_lint::check(&load()?))),
        Task::Style => Ok(style_task(&load()?)),
        Task::Locks => Ok(finding::report("locks", &locks::check(&root, &load()?)?)),
        Task::Gaps(Page { check: false }) => gaps::write(&root).map(|()| true),
        Task::Gaps(_) => Ok(finding::report("gaps", &gaps::check(&root)?)),
        Task::Coverage(Page { check: false }) => coverage::write(&root, &load()?).map(|()| true),
        Task::Coverage(_) => {
            let findings = coverage::check(&root, &load()?)?;
            Ok(finding::report("coverage", &findings))
        }
        Task::RegsDocs(page) => Ok(regs_docs::run(&root, page.check)),
        Task::Check => check(),
        Task::Prepush => {
            let checked = check()?;
            Ok(prepush::cargo_checks(&root)? && checked)
        }
        Task::Bench(options) => bench::run(&root, options),
        Task::Fuzz(options) => fuzz::run(&root, options),
        Task::FuzzGuided(options) => guided::run(&root, options),
        Task::Sanitize(options) => sanitize::run(&root, options),
        Task::Loom => models::run(&root),
        Task::Scenes(options) => scenes::run(&root, options),
        Task::Scenes3(options) => scenes::named::run(&root, options),
        Task::Piglit(options) => piglit::run(&root, options),
    }
}

fn load() -> io::Result<Workspace> {
    Workspace::load(&workspace::root())
}

fn style_task(workspace: &Workspace) -> bool {
    println!("{}", style::sizes(workspace));
    finding::report("style", &style::check(workspace))
}

fn check() -> io::Result<bool> {
    let workspace = load()?;
    let root = workspace::root();
    let results = [
        finding::report("layers", &layers::check(&workspace)),
        finding::report("gen-lint", &gen_lint::check(&workspace)),
        style_task(&workspace),
        finding::report("locks", &locks::check(&root, &workspace)?),
        finding::report("gaps", &gaps::check(&root)?),
        finding::report("coverage", &coverage::check(&root, &workspace)?),
        regs_docs::run(&root, true),
    ];
    Ok(results.iter().all(|&ok| ok))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn every_task_has_its_line() {
        Cli::command().debug_assert();
        for task in Cli::command().get_subcommands() {
            assert!(task.get_about().is_some(), "{}", task.get_name());
        }
    }
}

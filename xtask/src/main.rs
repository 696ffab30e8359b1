//! Checks and generators of the workspace: `cargo xtask <task>`.
//! No PRM chapter. Knows the rules of the code, not what the code does.
#![forbid(unsafe_code)]

mod bench;
mod coverage;
mod finding;
mod fuzz;
mod gaps;
mod gen_lint;
mod layers;
mod node;
mod piglit;
mod prepush;
mod regs_docs;
mod scenes;
mod source;
mod style;
mod workspace;

use std::process::ExitCode;
use std::{env, io};

use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask <task>

  layers               arrows between crates and between the model's modules
  gen-lint             generation numbers stand only in tables and generation files
  style                taglines, file sizes, panics, lint exceptions, paths
  gaps [--check]       write docs/known-gaps.md from docs/known-gaps.d/, or compare
  bench                all benchmarks, with Mesa's rasterisers where they can be built;
    --against REV      those of the model in turn with another commit's: ratios of the times
  coverage [--check]   write docs/coverage/ from the tests' `covers:` comments, or compare
  regs-docs [--check]  write docs/regs/ from regs/tables/, or compare
  check                all of the above, nothing written
  prepush              check, cargo fmt --check, cargo clippy -D warnings
  fuzz [--millions N] [--seed S] [TEST]
                       random batches and kernels in release, 10 million executed each;
                       TEST is a part of a test's name, `random` unless told
  scenes [options]     18 scenes on a served device, beside llvmpipe and softpipe; with
                       `--program glscenes3` those of 76 that the device offers
  piglit [options]     OpenGL's tests on a served device, beside llvmpipe; `--help` after either
                       lists its options

Each finding is printed as file:line: what. Exit code 1 when there is one.
";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a task; false when it found something.
fn run(args: &[&str]) -> io::Result<bool> {
    let root = workspace::root();
    match args {
        ["layers"] => Ok(finding::report("layers", &layers::check(&load()?))),
        ["gen-lint"] => Ok(finding::report("gen-lint", &gen_lint::check(&load()?))),
        ["style"] => Ok(style_task(&load()?)),
        ["gaps"] => gaps::write(&root).map(|()| true),
        ["gaps", "--check"] => Ok(finding::report("gaps", &gaps::check(&root)?)),
        ["bench"] => bench::run(&root),
        ["bench", "--against", revision] => bench::against(&root, revision),
        ["coverage"] => coverage::write(&root, &load()?).map(|()| true),
        ["coverage", "--check"] => {
            let findings = coverage::check(&root, &load()?)?;
            Ok(finding::report("coverage", &findings))
        }
        ["regs-docs"] => Ok(regs_docs::run(&root, false)),
        ["regs-docs", "--check"] => Ok(regs_docs::run(&root, true)),
        ["check"] => check(),
        ["prepush"] => {
            let checked = check()?;
            Ok(prepush::cargo_checks(&root)? && checked)
        }
        ["fuzz", options @ ..] => fuzz::run(&root, options),
        ["scenes", options @ ..] => scenes::run(&root, options),
        ["piglit", options @ ..] => piglit::run(&root, options),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(true)
        }
        _ => {
            eprint!("{USAGE}");
            Ok(false)
        }
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
        finding::report("gaps", &gaps::check(&root)?),
        finding::report("coverage", &coverage::check(&root, &workspace)?),
        regs_docs::run(&root, true),
    ];
    Ok(results.iter().all(|&ok| ok))
}

//! `crestline asm`: assembly text to a kernel.
//!
//! PRM: volume 4, 13.4; the language is described in docs/assembler.md. One file at a time, no linking.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use crestline_cli::{link, shown};
use isa::Verx10;
use isa::parse;
use kernel::string_helpers::Counted;

use super::listing::{self, Hex};
use super::outputs::Files;
use super::{Error, source};

/// Arguments of `crestline asm`.
#[derive(clap::Args)]
pub struct Args {
    /// Assembly text, - for standard input
    input: PathBuf,
    #[arg(long = "gen", value_name = "G", value_parser = source::generation, help = source::help())]
    generation: Verx10,
    /// File to write the kernel to [default: standard output, as text when that is a terminal]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write text instead of the binary
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "words"
    )]
    hex: Option<Hex>,
    /// Do not check the restrictions of the manuals
    #[arg(long)]
    no_warnings: bool,
}

/// Assembles; nothing is written when there is an error.
pub fn run(args: &Args) -> Result<(), Error> {
    let (name, text) = source::text(&args.input)?;
    let program = match parse::assemble(args.generation, &name, &text) {
        Ok(program) => program,
        Err(errors) => {
            for error in &errors {
                super::say(&error.to_string());
            }
            return Err(match errors.len() {
                parse::MAX_ERRORS => format!("{name}: too many errors").into(),
                n => format!("{name}: {}", Counted(n, "error")).into(),
            });
        }
    };
    if !args.no_warnings {
        let count = listing::warn(args.generation, &name, &text, &program, &[]);
        if count > 0 {
            super::say(&listing::advice(count));
        }
    }
    Files::default()
        .read([args.input.as_path()])
        .write(args.output.as_deref())
        .check()?;
    let stdout = io::stdout();
    let hex = args
        .hex
        .or_else(|| (args.output.is_none() && stdout.is_terminal()).then_some(Hex::Words));
    let out = match hex {
        None => program.bytes(),
        Some(form) => program
            .items
            .iter()
            .flat_map(|item| form.line(item.words()).into_bytes())
            .collect(),
    };
    match &args.output {
        Some(path) => {
            link::replace(path, &out).map_err(|e| format!("{}: {e}", shown::path(path)).into())
        }
        None => match stdout.lock().write_all(&out) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e.into()),
            _ => Ok(()),
        },
    }
}

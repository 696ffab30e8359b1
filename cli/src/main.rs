//! The `crestline` program: its arguments, and what each subcommand does.
//!
//! No PRM chapter. Exit code 0 when everything went well, 1 after an error, 2 for wrong arguments.
#![forbid(unsafe_code)]

mod cmd;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use signal_hook::consts::SIGXFSZ;

/// Runs captured frames on modelled GPUs, through a kernel-style driver, ring and MMIO.
///
/// Without a subcommand the built-in frame of three gears runs on a GM965, and crestline.png shows it.
#[derive(Parser)]
#[command(version, about)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Which messages of the driver and the model go to standard error [default: RUST_LOG, or warn]
    ///
    /// A level (off, error, warn, info, debug, trace), or modules with levels such as crestline_driver=debug, separated by
    /// commas.
    #[arg(long, global = true, value_name = "LEVEL|FILTER", value_parser = cmd::logging::filter)]
    log: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program on a modelled device, through a DRM node of its own.
    Exec(cmd::exec::Args),
    /// Stop threads of a captured frame or of a program, and look at them.
    Debug(cmd::debug::Args),
    /// Run a captured frame and show its picture.
    Replay(cmd::replay::Args),
    /// Say how a pixel of a captured frame came about: its thread, triangle and vertices.
    Why(cmd::why::Args),
    /// Write a page of HTML that shows how each pixel of a captured frame came to be.
    Report(cmd::report::Args),
    /// Compress a capture directory into one file.
    Pack(cmd::pack::Args),
    /// List registers, or explain a value.
    Regs(cmd::regs::Args),
    /// Run a kernel on the modelled EU.
    Eu(cmd::eu::Args),
    /// Run a kernel over a grid of threads of the media pipeline.
    Media(cmd::media::Args),
    /// Explain batches and the state they point at.
    Decode(cmd::decode::Args),
    /// Assemble a kernel.
    Asm(cmd::asm::Args),
    /// Disassemble a kernel.
    Disasm(cmd::disasm::Args),
}

fn main() -> ExitCode {
    // A file that grows past the limit of file sizes is an error of the write then, and no silent end. A handler, unlike
    // an ignored signal, is not inherited by programs.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let done = |outcome: Result<(), cmd::Error>| outcome.map(|()| ExitCode::SUCCESS);
    let args = Args::parse();
    // Where that does not work, such a write ends the process, as everywhere.
    let _ = cmd::limits::survive_large_files();
    cmd::logging::install(args.log.as_deref());
    let outcome = match args.command {
        Some(Command::Exec(args)) => cmd::exec::run(&args),
        Some(Command::Debug(args)) => cmd::debug::run(&args),
        None => done(cmd::replay::run_embedded()),
        Some(Command::Replay(args)) => done(cmd::replay::run(&args)),
        Some(Command::Why(args)) => done(cmd::why::run(&args)),
        Some(Command::Report(args)) => done(cmd::report::run(&args)),
        Some(Command::Pack(args)) => done(cmd::pack::run(&args)),
        Some(Command::Regs(args)) => done(cmd::regs::run(&args)),
        Some(Command::Eu(args)) => done(cmd::eu::run(&args)),
        Some(Command::Media(args)) => done(cmd::media::run(&args)),
        Some(Command::Decode(args)) => done(cmd::decode::run(&args)),
        Some(Command::Asm(args)) => done(cmd::asm::run(&args)),
        Some(Command::Disasm(args)) => done(cmd::disasm::run(&args)),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            cmd::say(&format!("crestline: {error}"));
            ExitCode::FAILURE
        }
    }
}

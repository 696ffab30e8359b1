//! The `crestline` program: its arguments, and what each subcommand does.
//!
//! Exit code 0 when everything went well, 1 after an error, 2 for wrong arguments.
#![forbid(unsafe_code)]

mod cmd;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use nix::sys::signal::{SigSet, SigmaskHow};

/// Runs OpenGL programs and captured frames on a modelled Intel GPU, and explains what it does.
///
/// Without a subcommand a built-in frame of three gears runs, and its picture is written to crestline.png.
#[derive(Parser)]
#[command(version, about, after_help = start())]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Which messages of the driver and the model go to standard error [default: RUST_LOG, or warn]
    ///
    /// A level (off, error, warn, info, debug, trace), or modules with levels such as driver=debug, separated by
    /// commas.
    #[arg(long, global = true, display_order = 900, value_name = "LEVEL|FILTER", value_parser = cmd::logging::filter)]
    log: Option<String>,
}

/// Told at the end of `--help`.
fn start() -> String {
    format!(
        "{START}\n\nDevices are written {}.",
        cmd::device::spellings()
    )
}

/// What to try first.
const START: &str = "First steps: `crestline replay --list` shows captured frames, `crestline replay gears --png gears.png --flip-y` runs one, \
    `crestline why gears 120,80 --flip-y` explains a pixel of it.";

#[derive(Subcommand)]
enum Command {
    /// Run an OpenGL or libdrm program on the modelled GPU.
    Exec(cmd::exec::Args),
    /// Debug the shader threads of a captured frame or of a running program.
    Debug(cmd::debug::Args),
    /// Run a captured frame and write its picture.
    Replay(cmd::replay::Args),
    /// Explain a pixel of a captured frame: its shader thread, triangle and vertices.
    Why(cmd::why::Args),
    /// Write a captured frame as an HTML page that explains the pixel you click on.
    Report(cmd::report::Args),
    /// Pack a capture into one file.
    Pack(cmd::pack::Args),
    /// List the registers, show one with its fields, or explain a value.
    Regs(cmd::regs::Args),
    /// Find the machine's own devices that the driver knows.
    Pci(cmd::pci::Args),
    /// Run a kernel on one thread of the modelled execution unit (EU).
    Eu(cmd::eu::Args),
    /// Run a kernel over a grid of threads, with files as input and output.
    Media(cmd::media::Args),
    /// Serve the modelled GPU as a PCI device to a virtual machine (QEMU's vfio-user-pci).
    VfioUser(cmd::vfio_user::Args),
    /// Boot an unmodified Linux with its own i915 on the device and run a program there.
    Boot(cmd::boot::Args),
    #[command(hide = true)]
    UntilParentEnds(cmd::boot::until::Args),
    /// Print the commands of a capture or batch, the state that they point at, and the kernels.
    Decode(cmd::decode::Args),
    #[command(about = cmd::source::about("Assemble"))]
    Asm(cmd::asm::Args),
    #[command(about = cmd::source::about("Disassemble"))]
    Disasm(cmd::disasm::Args),
}

/// Bytes of stack, as the first thread usually has them (getrlimit(2), RLIMIT_STACK).
const STACK: usize = 8 << 20;

/// On a thread whose stack is as large under a small limit (ulimit -s).
fn main() -> ExitCode {
    // Signals are for that thread: subcommands block some of them and wait for them.
    let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK).ok();
    let run = move || {
        // Cannot fail: the mask is one that the system gave.
        let _ = mask.map(|mask| mask.thread_set_mask());
        run()
    };
    let named = std::thread::Builder::new().name("crestline".to_owned());
    match named.stack_size(STACK).spawn(run) {
        // A panic has been told; that is the code that it ends a program with.
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(101)),
        // No more threads (ulimit -u).
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    let done = |outcome: Result<(), cmd::Error>| outcome.map(|()| ExitCode::SUCCESS);
    let args = Args::try_parse().unwrap_or_else(|error| cmd::arguments::refuse(error));
    // Where that does not work, such a write ends the process, as everywhere.
    let _ = cmd::limits::survive_large_files();
    cmd::logging::install(args.log.as_deref());
    if let Err(error) = cmd::engine::choose() {
        cmd::say(&format!("crestline: {error}"));
        return ExitCode::from(2);
    }
    let outcome = match args.command {
        Some(Command::Exec(args)) => cmd::exec::run(&args),
        Some(Command::Debug(args)) => cmd::debug::run(&args),
        None => done(cmd::replay::run_embedded()),
        Some(Command::Replay(args)) => done(cmd::replay::run(&args)),
        Some(Command::Why(args)) => done(cmd::why::run(&args)),
        Some(Command::Report(args)) => done(cmd::report::run(&args)),
        Some(Command::Pack(args)) => done(cmd::pack::run(&args)),
        Some(Command::Regs(args)) => done(cmd::regs::run(&args)),
        Some(Command::Pci(args)) => done(cmd::pci::run(&args)),
        Some(Command::Eu(args)) => done(cmd::eu::run(&args)),
        Some(Command::Media(args)) => done(cmd::media::run(&args)),
        Some(Command::VfioUser(args)) => done(cmd::vfio_user::run(&args)),
        Some(Command::Boot(args)) => cmd::boot::run(&args),
        Some(Command::UntilParentEnds(args)) => done(cmd::boot::until::run(&args)),
        Some(Command::Decode(args)) => done(cmd::decode::run(&args)),
        Some(Command::Asm(args)) => done(cmd::asm::run(&args)),
        Some(Command::Disasm(args)) => done(cmd::disasm::run(&args)),
    };
    let code = outcome.unwrap_or_else(|error| {
        cmd::say(&format!("crestline: {error}"));
        ExitCode::FAILURE
    });
    cmd::logging::finish();
    code
}

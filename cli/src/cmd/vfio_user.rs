//! `crestline vfio-user`: a modelled device as a PCI device of a virtual machine.
//!
//! The machine's monitor (QEMU from 10.1 on, `-device vfio-user-pci`) connects to a socket: docs/bring-up.md.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crestline_cli::{link, shown};
use kernel::string_helpers::Counted;
use nix::sys::signal::Signal;
use vfio::{Options, Server};

use super::Error;
use super::outputs::Files;

/// Told by `--help`.
fn start() -> String {
    format!(
        "The machine needs memory that other processes can map. With QEMU 10.1 or later:

    crestline vfio-user --device {} --socket gpu.sock &
    qemu-system-x86_64 -M q35 -m 1024 \\
      -object memory-backend-memfd,id=ram,size=1024M,share=on -machine memory-backend=ram \\
      -device '{{\"driver\":\"vfio-user-pci\",\"addr\":\"02.0\",\"socket\":{{\"type\":\"unix\",\"path\":\"gpu.sock\"}}}}' ...

Machines are served one after another, each with the device as it is after power-on. SIGINT, SIGTERM and SIGHUP end the command.",
        super::device::first()
    )
}

/// Signals that end the command.
const ENDS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// Arguments of `crestline vfio-user`.
#[derive(clap::Args)]
#[command(after_help = start())]
pub struct Args {
    #[arg(long, default_value = super::device::first(), help = super::device::help())]
    device: String,
    /// Unix socket to make; one that an earlier run has left is replaced
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// Write the registers that guests touch and the model lacks, with how often each was read and written; the file is written
    /// anew when a guest has gone
    #[arg(long, value_name = "FILE")]
    burndown: Option<PathBuf>,
    /// Write every access to a register: seconds, R or W, offset, value, name; entries of the GTT are left out
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<(), Error> {
    let outputs = [&args.burndown, &args.trace];
    let outputs = outputs.into_iter().flatten().map(PathBuf::as_path);
    Files::default().write(outputs).check()?;
    let device = super::device::modelled(&args.device)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in ENDS {
        signal_hook::flag::register(signal as i32, Arc::clone(&stop))?;
    }
    let trace = create(args.trace.as_deref())?;
    // Before anything is served: whether it can be written is better known now.
    drop(create(args.burndown.as_deref())?);
    let server = Server::start(Options {
        device,
        socket: args.socket.clone(),
        trace,
    });
    let mut server = server.map_err(|error| format!("{}: {error}", shown::path(&args.socket)))?;
    super::say(&format!(
        "crestline: {} ({:04x}:{:04x}) at {}",
        device.title,
        device.pci.0,
        device.pci.1,
        shown::path(&args.socket)
    ));
    let mut written = Ok(());
    let ended = server.run(&stop, |server| {
        written = write(args.burndown.as_deref(), server);
    });
    super::say(&format!("crestline: {}", closing(&server)));
    if args.burndown.is_none() {
        super::print(&server.function().report().burndown())?;
    }
    ended?;
    written
}

/// Makes a file that is asked for.
pub fn create(path: Option<&Path>) -> Result<Option<File>, Error> {
    let Some(path) = path else { return Ok(None) };
    let file = link::create(path, 0o666);
    Ok(Some(file.map_err(|error| {
        format!("{}: {error}", shown::path(path))
    })?))
}

fn write(path: Option<&Path>, server: &Server) -> Result<(), Error> {
    let (Some(path), Some(mut file)) = (path, create(path)?) else {
        return Ok(());
    };
    let text = server.function().report().burndown();
    file.write_all(text.as_bytes())
        .map_err(|error| format!("{}: {error}", shown::path(path)).into())
}

/// What has been done, in a line.
fn closing(server: &Server) -> String {
    let function = server.function();
    let signalled = function.interrupts().signalled();
    let touched = function.report().touched().count() as u64;
    format!(
        "{}, {} by the pin and {} by messages, {} touched that {} not modelled",
        Counted(server.clients(), "guest"),
        Counted(signalled.pins, "interrupt"),
        signalled.messages,
        Counted(touched, "register"),
        if touched == 1 { "is" } else { "are" }
    )
}

//! `crestline debug`: stops threads of a frame or of a program, to look at them.
//!
//! PRM: volume 4, chapter 3. The commands are the library's; here are arguments, the prompt and exit codes.

mod prompt;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crestline_cli::capture::Reader;
use crestline_cli::debug::backend::{Backend, HostBackend, RegistersBackend};
use crestline_cli::debug::target::{Program, Target};
use crestline_cli::debug::{Debugger, Flow, Source, run_script};
use crestline_cli::replay::{self, Options};
use kernel::time::Delta;
use mmio_mock::r#gen::DeviceInfo;
use nix::sys::signal::Signal;
use node::Node;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{Error, device, exec, print};

/// Wall time between two looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Told by `--help`.
const EXIT: &str = "Without a script commands are read from the terminal; `help` lists them. The exit code is 0 for a frame and that of a \
program when it has run to its end, 1 when a command of a script fails: the message names its file and line.";

/// Arguments of `crestline debug`.
#[derive(clap::Args)]
#[command(after_help = EXIT)]
pub struct Args {
    /// Capture: a directory with exec_NNNN in it, or a packed file
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    capture: Option<PathBuf>,
    /// Device, by name or PCI id [default: the one that the capture was made for; gm965 for programs]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// How threads are stopped: on the host's side of the model, or through the debug registers
    #[arg(long, value_enum, default_value_t = Kind::Host)]
    backend: Kind,
    /// Carry out the commands of a file, and no others (repeat)
    #[arg(long, value_name = "FILE")]
    script: Vec<PathBuf>,
    /// Carry out a command before those of scripts (repeat)
    #[arg(short = 'c', long = "command", value_name = "COMMAND")]
    first: Vec<String>,
    /// Graphics memory of a program in MiB
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = node::DEFAULT_MEMORY as u64 >> 20,
        value_parser = clap::value_parser!(u64).range(1..4096),
    )]
    memory: u64,
    /// Device time that each submission of a capture may take
    #[arg(long, value_name = "N", default_value_t = 1000)]
    timeout_ms: u64,
    /// The program and its arguments, run as by `crestline exec`
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Rules of the model's own, unseen by what runs.
    Host,
    /// Debug registers and the system routine, as on the real part.
    Registers,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<ExitCode, Error> {
    let interrupt: Arc<AtomicBool> = Arc::default();
    signal_hook::flag::register(SIGINT, Arc::clone(&interrupt))?;
    let scripts = scripts(args)?;
    let asks = scripts.is_empty();
    let (target, info) = match &args.capture {
        Some(path) => capture(args, path)?,
        None => program(args, asks)?,
    };
    pass_on(&target)?;
    let backend: Arc<dyn Backend> = match args.backend {
        Kind::Host => Arc::new(HostBackend::default()),
        Kind::Registers => Arc::new(RegistersBackend::default()),
    };
    let mut debugger = Debugger::new(target, backend, info.isa, Arc::clone(&interrupt))?;
    if asks {
        prompt::run(&mut debugger)?;
        return Ok(leave(debugger));
    }
    for script in &scripts {
        let mut broken = None;
        let outcome = run_script(&mut debugger, script, &mut |text| {
            if let Err(error) = print(text) {
                broken.get_or_insert(error);
            }
        });
        match outcome {
            Ok(Flow::GoOn) => {}
            Ok(_) => break,
            Err(failure) => {
                // Nobody is there to go on with it.
                debugger.give_up();
                let _ = debugger.conclude();
                return Err(failure.into());
            }
        }
        if let Some(error) = broken {
            return Err(error);
        }
    }
    Ok(leave(debugger))
}

/// The commands of the command line, then those of files.
fn scripts(args: &Args) -> Result<Vec<Source>, Error> {
    let mut scripts = Vec::new();
    if !args.first.is_empty() {
        scripts.push(Source {
            name: "--command".to_owned(),
            lines: args.first.clone(),
        });
    }
    for path in &args.script {
        scripts.push(Source::read(path)?);
    }
    Ok(scripts)
}

fn capture(args: &Args, path: &Path) -> Result<(Target, &'static DeviceInfo), Error> {
    let reader = Reader::open(path)?;
    let info = match &args.device {
        Some(name) => device::modelled(name)?,
        None => replay::device_of_reader(&reader)
            .ok_or("no device of the capture's PCI id is modelled")?,
    };
    let options = Options {
        timeout: Delta::from_millis(args.timeout_ms),
        ..Options::new(info)
    };
    let target = Target::capture(path.to_owned(), options)?;
    Ok((target, info))
}

fn program(args: &Args, asks: bool) -> Result<(Target, &'static DeviceInfo), Error> {
    let shim = exec::shim()?;
    let info = device::modelled(args.device.as_deref().unwrap_or("gm965"))?;
    let memory = usize::try_from(args.memory << 20).map_err(|_| "--memory: too much")?;
    let node = Node::start(&node::Options {
        memory,
        ..node::Options::new(info)
    })?;
    let mut command = exec::client(&args.command, &node, shim)?;
    if asks || std::io::stdin().is_terminal() {
        // Standard input is the debugger's, and so is the terminal.
        command.stdin(Stdio::null());
    }
    Ok((Target::program(Program { node, command })?, info))
}

/// A debugger that is told to end takes its program along.
fn pass_on(target: &Target) -> Result<(), Error> {
    let Some(signal) = target.signaller() else {
        return Ok(());
    };
    let told: Arc<AtomicUsize> = Arc::default();
    for number in [SIGTERM, SIGHUP] {
        let value = usize::try_from(number)?;
        signal_hook::flag::register_usize(number, Arc::clone(&told), value)?;
    }
    let watch = move || {
        loop {
            std::thread::sleep(LOOK);
            let number = told.load(Ordering::SeqCst);
            if let Some(code) = u8::try_from(number).ok().filter(|code| *code != 0) {
                signal(Signal::SIGTERM);
                signal(Signal::SIGCONT);
                std::process::exit(128 + i32::from(code));
            }
        }
    };
    std::thread::Builder::new()
        .name("crestline-signals".to_owned())
        .spawn(watch)?;
    Ok(())
}

/// Lets the target run to its end.
fn leave(debugger: Debugger) -> ExitCode {
    let (code, text) = debugger.conclude();
    if !text.is_empty() {
        // What cannot be written changes nothing about the exit code.
        let _ = writeln!(std::io::stderr(), "crestline: {}", text.trim_end());
    }
    ExitCode::from(code)
}

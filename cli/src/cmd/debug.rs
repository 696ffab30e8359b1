//! `crestline debug`: stops threads of a frame or of a program, to look at them.
//!
//! PRM: volume 4, chapter 3. The commands are the library's; here are arguments, the prompt and exit codes.

mod board;
mod prompt;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crestline_cli::debug::backend::{Backend, HostBackend, RegistersBackend};
use crestline_cli::debug::target::{Program, Recording, Target};
use crestline_cli::debug::{Debugger, Flow, Source, run_script};
use crestline_cli::record::Recorder;
use crestline_cli::shown;
use crestline_cli::{replay, start};
use mmio_mock::intel::r#gen::DeviceInfo;
use nix::libc;
use nix::sys::signal::Signal;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use node::Node;
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1,
    SIGUSR2, SIGVTALRM, SIGXCPU,
};

use super::outputs::Files;
use super::{Error, captured, device, exec, logging, print, say};

/// Wall time between two looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Told by `--help`.
const EXIT: &str = "Without --script and --command, commands are read from the terminal; `help` lists them. Exit code: 0 when a frame has run to \
its end, the program's own for a program, 127 when there is no such program, 126 when it cannot be run, 1 when a command of a script has failed; the message names its file and line.";

/// What is debugged is one of the three.
const USAGE: &str = "crestline debug [OPTIONS] <CAPTURE>\n       crestline debug [OPTIONS] -- <CMD>...\n       crestline debug [OPTIONS] --serve <SOCKET>";

/// Arguments of `crestline debug`.
#[derive(clap::Args)]
#[command(after_help = EXIT, override_usage = USAGE)]
pub struct Args {
    #[arg(required_unless_present_any = ["command", "serve"], conflicts_with = "command", help = captured::HELP)]
    capture: Option<PathBuf>,
    #[arg(long, value_name = "NAME", help = device_help())]
    device: Option<String>,
    /// How threads are stopped
    #[arg(long, value_enum, default_value_t = Kind::Host)]
    backend: Kind,
    /// Run the debugger commands in a file, and show no prompt (may be repeated)
    #[arg(long, value_name = "FILE")]
    script: Vec<PathBuf>,
    /// Run a debugger command, before those of scripts, and show no prompt (may be repeated)
    #[arg(short = 'c', long = "command", value_name = "COMMAND")]
    first: Vec<String>,
    /// Graphics memory of a program in MiB, 4 to 4095
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = node::DEFAULT_MEMORY as u64 >> 20,
        value_parser = exec::memory,
    )]
    memory: u64,
    /// Record every submission of a program into a directory without a capture, so that the command `why` works
    #[arg(long, value_name = "DIR", conflicts_with = "capture")]
    record: Option<PathBuf>,
    /// Milliseconds of device time that a submission of a capture or of a recording may take; a tenth of it in which nothing moves (20 ms at least) counts as hung
    #[arg(long, value_name = "N", default_value_t = 1000)]
    timeout_ms: u64,
    /// Run the capture on a device of this machine, by its PCI address, and stop its threads there
    ///
    /// The device is driven as by `crestline replay --pci`. Threads are stopped through its debug registers, by the few commands that
    /// `help` then lists.
    #[arg(long, value_name = "ADDRESS", requires = "capture", conflicts_with_all = ["device", "record", "command"])]
    pci: Option<String>,
    #[command(flatten)]
    place: super::pci::Where,
    /// Serve the device at a Unix socket, as `crestline vfio-user` does, and stop the threads of what a virtual machine's driver runs
    ///
    /// `run` begins to serve. While a thread is stopped the device stands and answers no access, so that the machine waits too.
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["capture", "command", "record", "pci"])]
    serve: Option<PathBuf>,
    /// The program and its arguments, run as by `crestline exec`
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn device_help() -> String {
    format!(
        "Device, by name or PCI id [default: the one that the capture was made for; {} for programs and guests]",
        device::first()
    )
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// By the model itself; the program and its threads cannot notice it.
    Host,
    /// Through the debug registers and the system routine, as on hardware, but not on devices whose debug registers no public text describes
    Registers,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<ExitCode, Error> {
    let interrupt: Arc<AtomicBool> = Arc::default();
    signal_hook::flag::register(SIGINT, Arc::clone(&interrupt))?;
    let scripts = scripts(args)?;
    if let (Some(address), Some(path)) = (&args.pci, &args.capture) {
        return board::run(args, address, path, &scripts);
    }
    if let Some(program) = args.command.first().map(Path::new)
        && let Err(error) = start::look_for(program)
    {
        let why = start::why(program, &error);
        say(&format!("crestline: {}: {why}", shown::path(program)));
        return Ok(exec::not_started(&error));
    }
    let asks = scripts.is_empty();
    let (target, info, recorder) = match (&args.capture, &args.serve) {
        (Some(path), _) => capture(args, path)?,
        (None, Some(socket)) => served(args, socket)?,
        (None, None) => program(args, asks)?,
    };
    let terminal = Terminal::keep(asks);
    pass_on(&target, recorder.clone(), terminal, args.serve.clone())?;
    let backend: Arc<dyn Backend> = match args.backend {
        Kind::Host => Arc::new(HostBackend::default()),
        Kind::Registers => Arc::new(RegistersBackend::default()),
    };
    let mut debugger = Debugger::new(target, backend, info, Arc::clone(&interrupt))?;
    if asks {
        prompt::run(&mut debugger)?;
        return leave(debugger, recorder.as_deref());
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
                // No debugger is left to continue it.
                debugger.give_up();
                let _ = debugger.conclude();
                if let Some(recorder) = &recorder {
                    say_recorded(recorder);
                }
                return Err(failure.into());
            }
        }
        if let Some(error) = broken {
            return Err(error);
        }
    }
    leave(debugger, recorder.as_deref())
}

/// The commands of the command line, then those of files. Standard input may have more.
fn scripts(args: &Args) -> Result<Vec<Source>, Error> {
    Files::default().read([Path::new("-")]).check()?;
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

/// What is debugged, on which device, and who records it.
type Begun = (Target, &'static DeviceInfo, Option<Arc<Recorder>>);

fn capture(args: &Args, path: &Path) -> Result<Begun, Error> {
    let origin = captured::find(path)?;
    // No trace and no picture of a session goes over it.
    Files::default().replays(&origin).check()?;
    let reader = origin.open()?;
    let device = match &args.device {
        Some(name) => Some(device::modelled(name)?),
        None => replay::device_of_reader(&reader),
    };
    let options = captured::options(device, args.timeout_ms)?;
    let info = options.device;
    let target = Target::capture(origin, options)?;
    Ok((target, info, None))
}

/// A device for guests, whose driver is theirs.
fn served(args: &Args, socket: &Path) -> Result<Begun, Error> {
    let info = device::modelled(args.device.as_deref().unwrap_or(device::first()))?;
    let server = vfio::Server::start(vfio::Options {
        device: info,
        socket: socket.to_owned(),
        trace: None,
    });
    let server = server.map_err(|error| format!("{}: {error}", shown::path(socket)))?;
    Ok((Target::served(server)?, info, None))
}

fn program(args: &Args, asks: bool) -> Result<Begun, Error> {
    let program = exec::program_of(&args.command);
    Files::default().read(program.as_deref()).check()?;
    let shim = exec::shim()?;
    let info = device::modelled(args.device.as_deref().unwrap_or(device::first()))?;
    let memory = usize::try_from(args.memory << 20).map_err(|_| "--memory: too much")?;
    let node = Node::start(&node::Options {
        memory,
        ..node::Options::new(info)
    })?;
    let mut command = exec::client(&args.command, &node, &shim)?;
    if asks || std::io::stdin().is_terminal() {
        // Standard input is the debugger's, and so is the terminal.
        command.stdin(Stdio::null());
    }
    let recorder = match &args.record {
        Some(dir) => Some(exec::record(node.first(), dir)?),
        None => None,
    };
    let recording = recorder.clone().map(|recorder| Recording {
        recorder,
        options: captured::on(info, args.timeout_ms),
    });
    let target = Target::program(Program {
        node,
        command,
        recording,
    })?;
    Ok((target, info, recorder))
}

/// The terminal as it was before the prompt changed it.
struct Terminal(Termios);

impl Terminal {
    fn keep(asks: bool) -> Option<Self> {
        let stdin = std::io::stdin();
        if !asks || !stdin.is_terminal() {
            return None;
        }
        tcgetattr(stdin.as_fd()).ok().map(Terminal)
    }

    /// Puts it back. What cannot be put back is no reason to end otherwise.
    fn restore(&self) {
        let mut out = std::io::stdout();
        if out.is_terminal() {
            // xterm's control sequences: no bracketed paste.
            let _ = out.write_all(b"\x1b[?2004l").and_then(|()| out.flush());
        }
        let _ = tcsetattr(std::io::stdin().as_fd(), SetArg::TCSANOW, &self.0);
    }
}

/// Signals that end a program unless it handles them and that others may send to it (signal(7)). A program that aborts by
/// itself ends before anything is put back.
const ENDING: [i32; 15] = [
    SIGABRT,
    SIGTERM,
    SIGHUP,
    SIGQUIT,
    SIGUSR1,
    SIGUSR2,
    SIGALRM,
    SIGVTALRM,
    SIGPROF,
    SIGXCPU,
    SIGIO,
    SIGSYS,
    SIGTRAP,
    Signal::SIGPWR as i32,
    Signal::SIGSTKFLT as i32,
];

/// A debugger that is told to end takes its program and its socket along, and leaves the terminal as it was.
fn pass_on(
    target: &Target,
    recorder: Option<Arc<Recorder>>,
    terminal: Option<Terminal>,
    socket: Option<PathBuf>,
) -> Result<(), Error> {
    let signal = target.signaller();
    if signal.is_none() && terminal.is_none() && socket.is_none() {
        return Ok(());
    }
    let told: Arc<AtomicUsize> = Arc::default();
    let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
    for number in ENDING.into_iter().chain(real_time) {
        let value = usize::try_from(number)?;
        signal_hook::flag::register_usize(number, Arc::clone(&told), value)?;
    }
    let watch = move || {
        loop {
            std::thread::sleep(LOOK);
            let number = told.load(Ordering::SeqCst);
            if let Some(code) = u8::try_from(number).ok().filter(|code| *code != 0) {
                if let Some(signal) = &signal {
                    signal(Signal::SIGTERM);
                    signal(Signal::SIGCONT);
                }
                if let Some(terminal) = &terminal {
                    terminal.restore();
                }
                if let Some(recorder) = &recorder {
                    say_recorded(recorder);
                }
                if let Some(socket) = &socket {
                    // It was made by this process; without it nobody tries to connect.
                    let _ = std::fs::remove_file(socket);
                }
                logging::settle();
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
fn leave(debugger: Debugger, recorder: Option<&Recorder>) -> Result<ExitCode, Error> {
    let (code, text) = debugger.conclude();
    if !text.is_empty() {
        say(&format!("crestline: {}", text.trim_end()));
    }
    if let Some(recorder) = recorder {
        say(&exec::recorded(recorder, "")?);
    }
    Ok(ExitCode::from(code))
}

/// The same where there is another error to end with.
fn say_recorded(recorder: &Recorder) {
    match exec::recorded(recorder, "") {
        Ok(line) => say(&line),
        Err(error) => say(&format!("crestline: {error}")),
    }
}

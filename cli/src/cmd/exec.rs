//! `crestline exec`: an unmodified program on modelled devices.
//!
//! The program gets the shim in `LD_PRELOAD` and finds the node by its environment.

mod advice;
mod devices;
mod preload;
mod program;

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crestline_cli::record::Recorder;
use crestline_cli::shown;
use crestline_cli::start;
use kernel::string_helpers::Counted;
use node::{Card, Node, Options};

use super::limits::FileSize;
use super::outputs::Files;
use super::{Error, trace};
use program::Signals;
pub(super) use program::not_started;

/// File name of the shim.
const SHIM: &str = "libcrestline_drm_shim.so";
/// Variable that names the shim when it lies elsewhere.
const SHIM_VARIABLE: &str = "CRESTLINE_SHIM";
/// TIMEOUT: how long the requests of a program that has ended may go on.
const PATIENCE: Duration = Duration::from_secs(2);

/// Told by `--help`.
const EXIT: &str = "Exit code: the program's own; 128 + N when signal N has ended it; 127 when there is no such program; 126 when it cannot be run;
1 when the modelled device does not start; 2 when arguments are wrong. SIGTERM, SIGINT, SIGHUP and SIGQUIT are passed on to the program.";

/// Prints a line on standard error; one that cannot be written changes nothing about the program's exit code.
macro_rules! say {
    ($($text:tt)*) => {
        super::say(&format!($($text)*))
    };
}

/// Arguments of `crestline exec`.
#[derive(clap::Args)]
#[command(after_help = EXIT)]
pub struct Args {
    #[arg(long, value_name = "DEVICES", default_value = super::device::first(), help = devices::help(), long_help = devices::long_help())]
    device: Vec<String>,
    /// Graphics memory of each device in MiB, 4 to 4095; a page costs the host nothing until it is used
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = node::DEFAULT_MEMORY as u64 >> 20,
        value_parser = memory,
    )]
    memory: u64,
    /// Record every submission into a directory without a capture, for `crestline replay`, `why`, `report` and `debug`;
    /// of several devices each has a directory in it, named after its number and the device
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    #[command(flatten)]
    trace: trace::Args,
    /// Print what the device has done, one line on standard error (of several devices a line for each), when the program has ended
    #[arg(long)]
    stats: bool,
    /// Let the device work only while it serves a request of the program, so that equal runs give equal traces
    ///
    /// Two runs of a program then write the same trace, byte for byte, as long as the program itself does the same twice:
    /// one process, one thread that draws, no decisions by the clock. Mesa is told to draw on one thread
    /// (GALLIUM_THREAD=0), unless this variable is set. Slower than without.
    #[arg(long)]
    deterministic: bool,
    /// Report every request, parameter and path that the device does not know, each time and not only the first time
    #[arg(long)]
    strict: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Least and most graphics memory of a program in MiB: Mesa makes no context with less than four.
const MEMORY: RangeInclusive<u64> = 4..=4095;

/// Parses `--memory`.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let (least, most) = (MEMORY.start(), MEMORY.end());
    match text.parse() {
        Ok(mib) if MEMORY.contains(&mib) => Ok(mib),
        Ok(mib) if mib < *least => Err(format!(
            "the least is {least} MiB, with which Mesa draws small pictures"
        )),
        _ => Err(format!("expected a number of MiB from {least} to {most}")),
    }
}

/// Where the program of a command line is, if it is there.
pub(super) fn program_of(command: &[OsString]) -> Option<PathBuf> {
    start::look_for(Path::new(command.first()?)).ok()
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<ExitCode, Error> {
    let shim = shim()?;
    let memory = usize::try_from(args.memory << 20).map_err(|_| "--memory: too much")?;
    let infos = devices::modelled(&args.device).unwrap_or_else(|error| {
        let text = format!("{error}\n");
        super::arguments::refuse(clap::Error::raw(
            clap::error::ErrorKind::ValueValidation,
            text,
        ))
    });
    let program = program_of(&args.command);
    Files::default()
        .read(program.as_deref())
        .write(args.trace.trace.as_deref())
        .check()?;
    let signals = Signals::take()?;
    let file_size = FileSize::raise();
    let node = Node::start(&Options {
        memory,
        strict: args.strict,
        deterministic: args.deterministic,
        ..Options::of(infos)
    })
    .map_err(|error| match file_size.explain(&error) {
        Some(text) => text.into(),
        None => Error::from(error),
    })?;
    file_size.put_back();
    let outputs = devices::Outputs::begin(&node, args.record.as_deref(), &args.trace)?;
    let started = Instant::now();
    let mut client = client(&args.command, &node, &shim)?;
    if args.deterministic {
        draw_on_one_thread(&mut client);
    }
    let status = match signals.run(&mut client, |process| node.note_program(process)) {
        Ok(status) => status,
        Err(error) => {
            let name = args.command.first().map(PathBuf::from).unwrap_or_default();
            let why = start::why(&name, &error);
            say!("crestline: {}: {why}", shown::path(&name));
            return Ok(program::not_started(&error));
        }
    };
    if let Some(text) = program::crashed(status) {
        let name = args.command.first().map(PathBuf::from).unwrap_or_default();
        say!("crestline: {}: {text}", shown::path(&name));
    }
    let idle = node.quiesce(PATIENCE);
    let report = node.report();
    if !idle {
        say!(
            "crestline: a child process of the program still runs, or {} still busy",
            if node.cards().len() == 1 {
                "the device is"
            } else {
                "devices are"
            }
        );
    }
    if args.stats {
        let seconds = started.elapsed().as_secs_f64();
        for line in format!("{report}; {seconds:.1} s").lines() {
            say!("crestline: {line}");
        }
    }
    devices::say_hangs(&node);
    for card in node.cards() {
        if let Some(place) = card.engine_difference() {
            say!("crestline: compiled code differs from the interpreter: {place}");
        }
    }
    warn_of_others(&node, &report, !status.success());
    outputs.end(&node)?;
    Ok(program::exit_code(status))
}

/// Variable by which Mesa draws on the thread that asks for it, and its value for that.
const ONE_THREAD: (&str, &str) = ("GALLIUM_THREAD", "0");

fn draw_on_one_thread(client: &mut Command) {
    let (name, value) = ONE_THREAD;
    if std::env::var_os(name).is_none() {
        client.env(name, value);
    }
}

/// Records into a directory what clients submit to a device of a node.
pub(super) fn record(card: &Arc<Card>, dir: &Path) -> Result<Arc<Recorder>, Error> {
    let recorder = Recorder::new(card.device(), card.info().pci, dir)
        .map_err(|error| format!("{}: {error}", shown::path(dir)))?;
    let recorder = Arc::new(recorder);
    card.observe(Arc::clone(&recorder) as Arc<dyn driver::observe::Observer>);
    Ok(recorder)
}

/// What there is to say at the end of a recording, behind a beginning of the line.
pub(super) fn recorded(recorder: &Recorder, prefix: &str) -> Result<String, Error> {
    let recorded = recorder.finish()?;
    Ok(format!(
        "crestline: {prefix}{} recorded",
        Counted(recorded, "submission")
    ))
}

/// Says so when the program has drawn on something else.
fn warn_of_others(node: &Node, report: &node::Report, failed: bool) {
    let opened = report.work.opened > 0;
    if report.work.submissions > 0 {
        return;
    }
    let devices = devices::names(node, "or");
    let names = report.renderers.join(", ");
    let it = if node.cards().len() == 1 {
        "the device"
    } else {
        "any of the devices"
    };
    if opened {
        let names = if names.is_empty() { "unknown" } else { &names };
        let (it, has) = if node.cards().len() == 1 {
            ("the device", "has")
        } else {
            ("a device", "have")
        };
        let devices = devices::names(node, "and");
        say!(
            "crestline: the program opened {it} but submitted nothing: {devices} {has} drawn nothing. Its renderer: {names}"
        );
    } else if names.is_empty() {
        say!(
            "crestline: the program did not open {it}: if it has drawn anything, that was not on {devices}"
        );
    } else {
        say!(
            "crestline: the program did not open {it}: it has not run on {devices}, but on {names}"
        );
    }
    for line in advice::drew_elsewhere(&devices::clients(node), opened, failed) {
        say!("crestline: {line}");
    }
}

/// The program, with what it needs to find the node.
pub(super) fn client(words: &[OsString], node: &Node, shim: &Path) -> Result<Command, Error> {
    let (program, rest) = words.split_first().ok_or("no program")?;
    let others = std::env::var_os("LD_PRELOAD");
    let preload = preload::value(shim, node.directory(), others.as_deref())?;
    let mut command = Command::new(program);
    command
        .args(rest)
        .env("LD_PRELOAD", preload)
        .envs(node.environment());
    Ok(command)
}

/// The shim: where the variable says, or beside the program.
pub(super) fn shim() -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os(SHIM_VARIABLE).map(PathBuf::from) {
        if path.is_file() {
            return Ok(std::path::absolute(path)?);
        }
        return Err(format!(
            "{SHIM_VARIABLE} names {}, which is not a file",
            shown::path(path)
        )
        .into());
    }
    let program = std::env::current_exe()?;
    let places = program.parent().into_iter().flat_map(|dir| {
        [
            dir.join(SHIM),
            dir.join("deps").join(SHIM),
            dir.join("../lib/crestline").join(SHIM),
        ]
    });
    let places: Vec<PathBuf> = places.collect();
    places.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        let dir = program.parent().map(shown::path);
        format!(
            "{SHIM} is not in {}: build it with `cargo build --release`, or copy it from target/release of the project, or name it in {SHIM_VARIABLE}",
            dir.unwrap_or_default()
        )
        .into()
    })
}

//! `crestline media run`: a kernel over a grid of threads, files as surfaces.
//!
//! PRM: volume 2 (media pipeline, generic mode). Wall time is measured here alone.

mod file;
mod picture;
mod sink;

use std::fmt::Write as _;
use std::io::Seek as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crestline_cli::media::{Format, Job, Outcome, Source};
use crestline_cli::number;
use crestline_cli::shown;
use crestline_cli::trace::Stream;
use eu::Grf;
use isa::parse::assemble;
use kernel::string_helpers::noun_of;
use kernel::time::Delta;
use mmio_mock::intel::r#gen::{DEVICES, DeviceInfo};
use mmio_mock::intel::status::Unit;
use mmio_mock::intel::td::schedule::{Order, Schedule};

use super::eu::{FUNCTIONS, setting::Load};
use super::outputs::Files;
use super::progress::{Progress, Show};
use super::summary::grouped;
use super::{Error, device, listing, print, source};
pub(super) use file::foreign_suffix;
use file::{FileArg, Layout, Seen};
use sink::Sink;

/// Arguments.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Run a kernel over a grid of threads, with files as its surfaces
    ///
    /// The kernel is assembled first; then a root thread of it starts for each place of the grid. Surfaces have the numbers 0,
    /// 1, .. in the order inputs, outputs. A thread finds the constants from r1 on (one register at least), and in the
    /// register behind them its x and y, the width and height of the grid, and its number.
    Run(Run),
}

/// Arguments of `crestline media run`.
#[derive(clap::Args)]
struct Run {
    /// Assembly text; - reads standard input.
    kernel: PathBuf,
    /// Input: FILE[,width=W,height=H][,pitch=BYTES][,format=F][,view=buffer|image] (may be repeated).
    ///
    /// A name that ends in .png is a picture. Any other file is raw: an image when it has width and height, a buffer otherwise.
    /// Formats: r8 rg8 r16 rgba8 bgra8 r32f.
    #[arg(long = "in", value_name = "FILE", value_parser = file::input)]
    inputs: Vec<FileArg>,
    /// Output: the same form as an input, or FILE,size=BYTES for a buffer (may be repeated).
    ///
    /// Without a size the output is as large as the first input. `-` is standard output; the summary then goes to standard
    /// error.
    #[arg(long = "out", value_name = "FILE")]
    outputs: Vec<FileArg>,
    /// Threads across and down.
    #[arg(long, value_name = "WxH", value_parser = grid)]
    grid: (u32, u32),
    /// Constants for the threads, such as ud:1,2 or f:1.0*8 (may be repeated: later ones follow the earlier).
    #[arg(long, value_name = "TYPE:VALUES", value_parser = constants, allow_hyphen_values = true)]
    curbe: Vec<Vec<u32>>,
    /// Let threads start child threads. URB entries, which carry their payload, are larger then, and stay until a thread gives them back.
    #[arg(long)]
    children: bool,
    /// Kernel for child threads; its interface descriptor follows that of the grid's kernel (may be repeated).
    #[arg(long, value_name = "FILE")]
    child: Vec<PathBuf>,
    /// Pixels across, for raw files whose argument has no width=.
    #[arg(long, value_name = "PIXELS")]
    width: Option<u32>,
    /// Pixels down, for raw files whose argument has no height=.
    #[arg(long, value_name = "PIXELS")]
    height: Option<u32>,
    /// Bytes from one row to the next, for raw files whose argument has no pitch=.
    #[arg(long, value_name = "BYTES")]
    pitch: Option<u32>,
    /// Format, for files whose argument has no format=.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// How the kernel sees files whose argument has no view=.
    #[arg(long, value_name = "VIEW")]
    view: Option<Seen>,
    /// Order in which threads take turns.
    #[arg(long, value_enum, default_value_t = Policy::Fixed)]
    policy: Policy,
    /// Seed of the random order [default: 1].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[arg(long, value_name = "NAME", default_value = device::first(), help = device::help())]
    device: String,
    /// A generation is no device: the error names those of it.
    #[arg(long = "gen", hide = true, value_name = "G", value_parser = no_generation)]
    _generation: Option<std::convert::Infallible>,
    #[command(flatten)]
    trace: super::trace::Args,
    /// Milliseconds of device time that all threads together may take; a tenth of it without a new thread is a hang.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    timeout_ms: u64,
}

/// Refuses `--gen`, which other commands have, and says what to write here.
fn no_generation(text: &str) -> Result<std::convert::Infallible, String> {
    let isa = source::modelled_generation(text)?;
    let names: Vec<String> = DEVICES
        .iter()
        .filter(|device| device.isa == isa)
        .map(|device| format!("--device {}", device.name))
        .collect();
    Err(format!("here a device is named: {}", names.join(", ")))
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Policy {
    /// Round and round from the lowest thread up.
    Fixed,
    /// Round and round from the highest thread down.
    Reversed,
    /// Any thread, for a turn of any length.
    Random,
}

impl Policy {
    fn schedule(self, seed: u64) -> Schedule {
        Schedule::new(match self {
            Policy::Fixed => Order::Ascending,
            Policy::Reversed => Order::Descending,
            Policy::Random => Order::Random(seed),
        })
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<(), Error> {
    let Command::Run(args) = &args.command;
    if args.seed.is_some() && args.policy != Policy::Random {
        let error = "--seed needs --policy random: the other orders are fixed";
        clap::Error::raw(
            clap::error::ErrorKind::ArgumentConflict,
            format!("{error}\n"),
        )
        .exit();
    }
    let info = device::modelled(&args.device)?;
    let mut job = Job::new(info);
    for path in [&args.kernel].into_iter().chain(&args.child) {
        job.kernels.push(kernel(info, path)?);
    }
    let defaults = Layout {
        width: args.width,
        height: args.height,
        pitch: args.pitch,
        format: args.format,
        size: None,
        seen: args.view,
    };
    let mut files = Vec::new();
    for input in &args.inputs {
        files.push(input.load(defaults)?);
    }
    for file in files.iter().filter(|file| file.assumed) {
        let shape = file.shape.map_or("", |shape| shape.format.name());
        super::say(&format!(
            "{}: warning: without format= its pixels were taken for {shape}; formats are {}",
            shown::path(&file.path),
            Format::names()
        ));
    }
    for output in &args.outputs {
        let first = files.first().filter(|_| !args.inputs.is_empty());
        files.push(output.empty(defaults, first)?);
    }
    job.surfaces = files.iter().map(|file| file.surface.clone()).collect();
    job.grid = args.grid;
    job.constants = args.curbe.iter().flatten().copied().collect();
    job.children = args.children;
    job.timeout = Delta::from_millis(args.timeout_ms);
    job.trace = args.trace.text_bytes();
    job.schedule = args.policy.schedule(args.seed.unwrap_or(1));

    // What cannot be written is found before the run, but after what is wrong with the job.
    job.check()?;
    let outputs = files.get(args.inputs.len()..).unwrap_or_default();
    let paths = outputs.iter().map(|file| file.path.as_path());
    // Results may go where inputs came from, the trace may not.
    Files::default()
        .read_early(args.inputs.iter().map(|file| file.path.as_path()))
        .write(args.trace.trace.as_deref())
        .with_dash()
        .check()?;
    let kernels = [&args.kernel].into_iter().chain(&args.child);
    let mut sinks = sink::open_all(
        paths.chain(args.trace.trace.as_deref()),
        kernels.map(PathBuf::as_path),
    )?;
    let say = if sinks.iter().any(Sink::is_stdout) {
        print_error
    } else {
        print
    };

    let began = Instant::now();
    // Events go to a file without a name first: the other one stays as it is when the job cannot run.
    let spool = tempfile::tempfile()?;
    let (trace, stream) = args.trace.stream(info, Box::new(spool.try_clone()?));
    let (columns, rows) = job.grid;
    let progress = Arc::new(if job.children {
        // Threads decide how many children they have.
        Progress::long("running threads: {pos}")
    } else {
        Progress::of(u64::from(columns) * u64::from(rows), "threads")
    });
    let outcome = job.run_attended(trace, progress.attendant(Show::Threads));
    drop(progress);
    let outcome = outcome?;
    let streamed = stream.map(Stream::finish).transpose();
    let elapsed = began.elapsed();
    let mut troubles: Vec<String> = outcome.fault.iter().cloned().collect();
    say(&summary(&job, &outcome, elapsed))?;
    // After a fault the output so far is worth as much as the error.
    let surfaces = job.surfaces.iter().skip(args.inputs.len());
    let mut rest = sinks.iter_mut();
    for ((file, surface), sink) in outputs.iter().zip(surfaces).zip(&mut rest) {
        match file.store(sink, surface) {
            Ok(line) => say(&format!("{line}\n"))?,
            Err(error) => troubles.push(error.to_string()),
        }
    }
    if let Some(sink) = rest.next()
        && let Err(error) = streamed.map_err(Error::from).and_then(|streamed| {
            sink.write(|out| {
                if streamed.is_none() {
                    return Ok(out.write_all(outcome.trace.as_bytes())?);
                }
                let mut spool = spool;
                spool.rewind()?;
                std::io::copy(&mut spool, out)?;
                Ok(())
            })
        })
    {
        troubles.push(error.to_string());
    }
    print_error(&warnings(&outcome))?;
    if troubles.is_empty() {
        Ok(())
    } else {
        Err(troubles.join("\n  and ").into())
    }
}

/// Writes to standard error, which may be closed.
#[expect(clippy::unnecessary_wraps, reason = "the other one can fail")]
fn print_error(text: &str) -> Result<(), Error> {
    if !text.is_empty() {
        super::say(text);
    }
    Ok(())
}

/// What threads asked for past the end of surfaces.
fn warnings(outcome: &Outcome) -> String {
    let mut out = String::new();
    for (name, outside) in &outcome.outside {
        for (count, what) in [
            (outside.reads, "reads past its end were zeros"),
            (outside.writes, "writes past its end were dropped"),
        ] {
            if count > 0 {
                // Writing to a String cannot fail.
                let _ = writeln!(
                    out,
                    "{name}: warning: {} {} of {what}",
                    grouped(count),
                    noun_of(count == 1, "byte")
                );
            }
        }
    }
    out
}

fn kernel(info: &DeviceInfo, path: &Path) -> Result<Source, Error> {
    let (name, text) = source::text(path)?;
    let program = assemble(info.isa, &name, &text).map_err(|errors| source::listing(&errors))?;
    listing::warn_of(info.isa, &name, &text, &program, &[]);
    Ok(Source { name, program })
}

/// What was run, and what it did.
fn summary(job: &Job, outcome: &Outcome, elapsed: Duration) -> String {
    let activity = &outcome.report.activity;
    let media = Unit::Media as usize;
    let of = |counters: &[u64]| counters.get(media).copied().unwrap_or(0);
    let (threads, instructions) = (of(&activity.threads), of(&activity.instructions));
    let (width, height) = job.grid;
    let mut out = format!(
        "{}: grid of {width}x{height} on {} ({:04x}:{:04x}), order {}\n",
        job.kernels
            .first()
            .map_or("", |kernel| kernel.name.as_str()),
        job.device.title,
        job.device.pci.0,
        job.device.pci.1,
        job.schedule
    );
    let messages: u64 = outcome.messages.iter().sum();
    let by_function: Vec<String> = FUNCTIONS
        .iter()
        .zip(outcome.messages)
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} {}", grouped(count)))
        .collect();
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let roots = u64::from(width) * u64::from(height);
    let children = match threads.checked_sub(roots) {
        Some(children) if children > 0 => {
            format!(
                " ({} of the grid, {} {})",
                grouped(roots),
                grouped(children),
                noun_of(children == 1, "child")
            )
        }
        _ => String::new(),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "  threads        {:>14}{children}\n  instructions   {:>14} ({} in SIMD8)\n  messages       {:>14} ({})",
        grouped(threads),
        grouped(instructions),
        grouped(of(&activity.simd8)),
        grouped(messages),
        by_function.join(", ")
    );
    let _ = writeln!(
        out,
        "  {:.1} ms ({:.3} ms of device time), {:.1} million instructions per second",
        seconds * 1e3,
        outcome.report.nanos as f64 / 1e6,
        instructions as f64 / seconds / 1e6
    );
    out
}

/// `WxH`.
fn grid(text: &str) -> Result<(u32, u32), String> {
    let digits = |text: &str| number::parse(text, 10).and_then(|n| u32::try_from(n).ok());
    let parsed = text
        .split_once(['x', 'X'])
        .and_then(|(width, height)| Some((digits(width)?, digits(height)?)));
    match parsed {
        Some((0, _) | (_, 0)) => Err(format!("a grid of {text} has no threads")),
        Some(grid) => Ok(grid),
        None => Err("expected two numbers with an x, such as 120x68".to_owned()),
    }
}

/// `TYPE:VALUES` as dwords.
fn constants(text: &str) -> Result<Vec<u32>, String> {
    if !text.contains(':') {
        return Err("expected TYPE:VALUE,..., as in ud:1,2".to_owned());
    }
    let load: Load = format!("r0={text}").parse()?;
    let mut registers: Vec<Grf> = vec![[0; 8]; 128];
    load.store(&mut registers);
    let dwords = (load.values.len() * load.ty.size()).div_ceil(4);
    Ok(registers.as_flattened()[..dwords].to_vec())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{constants, grid};

    #[test]
    fn grids_are_two_numbers() {
        assert_eq!(grid("120x68"), Ok((120, 68)));
        for text in ["", "3", "3x", "x3", "-1x2", "1x2x3", "4294967296x1"] {
            assert!(grid(text).unwrap_err().contains("such as"), "{text}");
        }
        assert!(grid("0x4").unwrap_err().contains("no threads"));
    }

    #[test]
    fn constants_begin_at_dwords() {
        assert_eq!(constants("ub:1,2,3,4,5"), Ok(vec![0x0403_0201, 5]));
        assert_eq!(constants("f:1.0*2"), Ok(vec![0x3f80_0000; 2]));
        assert_eq!(constants("d:-1"), Ok(vec![u32::MAX]));
        assert!(constants("1,2").is_err());
        assert!(constants("ub:256").is_err());
    }
}

//! `crestline replay`: a captured frame through driver, ring and MMIO; a picture.
//!
//! Wall time is measured here and in `board`.

mod board;
mod writes;

use std::ffi::OsString;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crestline_cli::capture::{CaptureError, Origin, Problem, Reader};
use crestline_cli::picture::{PageReader, PictureError, View};
use crestline_cli::replay::{self, Options, ReplayError, Session};
use crestline_cli::{link, shown};
use kernel::string_helpers::Counted;

use super::outputs::Files;
use super::progress::{Progress, Show};
use super::trace::Tracing;
use super::{Error, captured, device, print, summary};

/// What is asked for is one of the two.
const USAGE: &str = "crestline replay [OPTIONS] <CAPTURE>\n       crestline replay --list [DIR]";

/// Arguments of `crestline replay`.
#[derive(clap::Args)]
#[command(override_usage = USAGE)]
pub struct Args {
    #[arg(help = captured::HELP, required_unless_present = "list")]
    capture: Option<PathBuf>,
    /// List the captures that have names: the built-in one, and those in DIR [default: CRESTLINE_CAPTURES, or tests/data/captures]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "", conflicts_with = "capture")]
    list: Option<OsString>,
    #[arg(long, value_name = "NAME", help = device_help())]
    device: Option<String>,
    /// Write the picture as PNG: the render target of the last draw
    #[arg(long, value_name = "FILE", value_parser = png)]
    png: Option<PathBuf>,
    /// Write the last row first: for a framebuffer object of OpenGL, whose row 0 is at the bottom; not for a window, GBM or pbuffer surface
    #[arg(long)]
    flip_y: bool,
    /// Show the last pixel shader thread that was started for a pixel; row 0 is the surface's first
    ///
    /// The device starts threads for blocks of 2x2 pixels. Shown are the kernel and the number of the object ("primitive")
    /// of the last thread for the block that holds this pixel, and how many threads the block had. The capture runs twice,
    /// the first time to count them. The device counts to 255; if there are more, the 255th thread is shown.
    #[arg(long, value_name = "X,Y", value_parser = pixel, allow_hyphen_values = true)]
    snapshot_pixel: Option<(u16, u16)>,
    /// Print the counters of the statistics registers too
    #[arg(long)]
    stats: bool,
    #[command(flatten)]
    trace: super::trace::Args,
    /// Milliseconds of device time that a submission may take; a tenth of it in which nothing moves (20 ms at least) counts as hung
    #[arg(long, value_name = "N", default_value_t = 1000)]
    timeout_ms: u64,
    /// Run it on a device of this machine, by its PCI address, such as 0000:00:02.0; `crestline pci list` shows them
    ///
    /// The device is driven as a kernel driver would, so no other driver may hold it, and this needs root. Time limits count the wall's
    /// time then. docs/bring-up-real-board.md has the commands in their order.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["device", "list", "snapshot_pixel", "stats", "trace"])]
    pci: Option<String>,
    /// Print every register write that the driver would make, by name, and make none
    ///
    /// The model of the device answers the driver. With --pci only the device's ids are read.
    #[arg(long, conflicts_with_all = ["list", "snapshot_pixel", "stats", "trace", "png"])]
    dry_run: bool,
    /// Memory for a device of this machine, in huge pages of 2 MiB, 8 to 1024
    #[arg(long, value_name = "N", default_value_t = 64, requires = "pci", value_parser = huge_pages)]
    huge_pages: usize,
    #[command(flatten)]
    place: super::pci::Where,
}

/// Parses a number of huge pages.
fn huge_pages(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|pages| (8..=1024).contains(pages));
    number.ok_or_else(|| "from 8 to 1024".to_owned())
}

fn device_help() -> String {
    format!(
        "Device to run it on, {} [default: the one it was captured for]",
        device::spellings()
    )
}

/// Where the built-in frame's picture goes.
const GEARS_PNG: &str = "crestline.png";
/// Replays the built-in frame.
pub fn run_embedded() -> Result<(), Error> {
    run_capture(
        &Origin::BuiltIn,
        &Args {
            capture: None,
            list: None,
            device: None,
            png: Some(GEARS_PNG.into()),
            flip_y: true,
            snapshot_pixel: None,
            stats: false,
            trace: super::trace::Args::default(),
            timeout_ms: 1000,
            pci: None,
            dry_run: false,
            huge_pages: 64,
            place: super::pci::Where::default(),
        },
    )
}

/// Replays a capture, or lists those that have names.
pub fn run(args: &Args) -> Result<(), Error> {
    if let Some(dir) = &args.list {
        let dir = (!dir.is_empty()).then(|| PathBuf::from(dir));
        if let Some(dir) = &dir {
            std::fs::read_dir(dir).map_err(|error| io(dir, error))?;
        }
        let root = dir.or_else(captured::root);
        return print(&captured::table(root.as_deref()));
    }
    // A wrong device name is found before a large capture is read.
    if let Some(name) = &args.device {
        device::modelled(name)?;
    }
    let word = args.capture.as_deref().unwrap_or_else(|| Path::new(""));
    let origin = captured::find(word)?;
    if args.pci.is_some() || args.dry_run {
        let outputs = args.png.iter().map(PathBuf::as_path);
        Files::default().replays(&origin).write(outputs).check()?;
        return board::run(&origin, args);
    }
    run_capture(&origin, args)
}

fn run_capture(origin: &Origin, args: &Args) -> Result<(), Error> {
    let outputs = args.png.iter().chain(&args.trace.trace);
    Files::default()
        .replays(origin)
        .write(outputs.map(PathBuf::as_path))
        .check()?;
    let mut reader = origin.open()?;
    let device = match &args.device {
        Some(name) => Some(device::modelled(name)?),
        None => replay::device_of_reader(&reader),
    };
    let mut options = Options {
        snapshot: args.snapshot_pixel,
        ..captured::options(device, args.timeout_ms)?
    };
    let device = options.device;
    let count = reader.len();
    let name = reader.name();
    print(&format!(
        "{name}: {} on {} ({:04x}:{:04x})\n",
        Counted(count, "submission"),
        device.title,
        device.pci.0,
        device.pci.1
    ))?;
    let mut hits = None;
    if args.snapshot_pixel.is_some() {
        let counted = hits_of(origin.open()?, options)?;
        hits = Some(counted);
        options.instance = u8::try_from(counted.clamp(1, 255)).ok();
    }
    let (trace, tracing) = args.trace.open(device, 0o666)?;
    let mut session = Session::with_trace(options, reader.buffer_limit(), trace)?;
    let began = Instant::now();
    let outcome = submissions(&mut session, &mut reader);
    let elapsed = began.elapsed();
    // After a fault the picture so far is worth as much as the error.
    let shown = show(&session, args, tracing);
    let mut troubles = Vec::new();
    let mut hint = "";
    if let Err(error) = outcome {
        troubles.push(format!("{name}: {error}"));
        if let ReplayError::Fault(report) = &error
            && report.ended.is_some()
        {
            hint = "\ncrestline: `--timeout-ms N` waits longer; `crestline debug` stops its threads, `crestline decode` shows its commands";
        }
    }
    if let Err(error) = shown {
        troubles.push(error.to_string());
    }
    if let Some((x, y)) = args.snapshot_pixel
        && let Err(error) = inside(&session, x, y)
    {
        troubles.push(error.to_string());
    } else if let (Some(hits), Some(snapshot)) = (hits, session.snapshot()) {
        print(&summary::snapshot(args.snapshot_pixel, hits, &snapshot))?;
    }
    if !troubles.is_empty() {
        return Err((troubles.join("\n  and ") + hint).into());
    }
    let report = session.report();
    let unwritten = session.view().ok().filter(|_| args.png.is_none());
    let done = session.platform().device().done_by_engine();
    let size = unwritten.map(|view| format!("{}x{}", view.width, view.height));
    session.finish()?;
    print(&summary::counters(&report, elapsed))?;
    if let Some(size) = size {
        print(&format!(
            "  no picture was written; `--png FILE` writes the last render target, {size} pixels\n"
        ))?;
    }
    if args.stats {
        print(&summary::statistics(&report))?;
        print(&summary::engine(&done, report.instructions()))?;
    }
    Ok(())
}

/// How often the subspan of the pixel comes by, faults or not.
fn hits_of(mut reader: Reader, options: Options) -> Result<u32, Error> {
    let options = Options {
        instance: Some(0),
        ..options
    };
    let mut session = Session::new(options, reader.buffer_limit())?;
    // The run that is shown tells what goes wrong.
    let _ = submissions(&mut session, &mut reader);
    Ok(session.snapshot_instances().unwrap_or(0))
}

/// Whether the pixel lies in the picture.
fn inside(session: &Session, x: u16, y: u16) -> Result<(), Error> {
    let Ok(view) = session.view() else {
        return Ok(());
    };
    if u32::from(x) < view.width && u32::from(y) < view.height {
        return Ok(());
    }
    Err(format!(
        "--snapshot-pixel {x},{y} lies outside the picture of {}x{} pixels",
        view.width, view.height
    )
    .into())
}

fn submissions(session: &mut Session, reader: &mut Reader) -> Result<(), ReplayError> {
    let progress = Arc::new(Progress::of(reader.len() as u64, "submissions"));
    if let Some(attendant) = progress.attendant(Show::Submissions) {
        session.attend(attendant);
    }
    while let Some(submission) = reader.next_submission()? {
        session.run_submission(submission)?;
    }
    Ok(())
}

/// Writes what was asked for: picture and trace.
fn show(session: &Session, args: &Args, tracing: Tracing) -> Result<(), Error> {
    let trace = tracing.end(session.platform());
    let picture = args.png.as_ref().map(|path| picture(session, path, args));
    match (trace, picture) {
        (Err(trace), Some(Err(picture))) => Err(format!("{trace}\n  and {picture}").into()),
        (Err(error), _) | (_, Some(Err(error))) => Err(error),
        _ => Ok(()),
    }
}

/// Writes the picture, or what there is of it with the reason why that is not all.
fn picture(session: &Session, path: &Path, args: &Args) -> Result<(), Error> {
    match session.view() {
        Ok(view) => write_picture(view, path, args),
        Err(error) => match session.view_before() {
            Some(view) => {
                write_picture(view, path, args)?;
                Err(format!("the picture is that of an earlier draw: {error}").into())
            }
            None => Err(format!("no picture: {error}").into()),
        },
    }
}

fn write_picture<R: PageReader>(mut view: View<R>, path: &Path, args: &Args) -> Result<(), Error> {
    let file = BufWriter::new(link::create(path, link::ALL).map_err(|e| io(path, e))?);
    view.write_png(file, args.flip_y)
        .map_err(|e| format!("{}: {e}", shown::path(path)))?;
    print(&format!(
        "{}: {}x{}\n",
        shown::path(path),
        view.width,
        view.height
    ))?;
    match view.outside() {
        None => Ok(()),
        Some(outside) => Err(format!(
            "{}: the picture is not whole: {}",
            shown::path(path),
            PictureError::Outside(outside)
        )
        .into()),
    }
}

fn io(path: &Path, error: std::io::Error) -> CaptureError {
    CaptureError::file(shown::path(path), Problem::Io(error))
}

/// Parses the name of a picture that is written as PNG, whatever it is called.
fn png(text: &str) -> Result<PathBuf, String> {
    if text == "-" {
        return Err("standard output has the counters: name a file, such as frame.png".to_owned());
    }
    let path = PathBuf::from(text);
    match super::media::foreign_suffix(&path) {
        Some(suffix) => Err(format!(
            "the picture is written as PNG, and .{suffix} is another form: name it .png"
        )),
        None => Ok(path),
    }
}

/// Parses a pixel.
pub fn pixel(text: &str) -> Result<(u16, u16), String> {
    let numbers = text.split_once(',').map(|(x, y)| (x.trim(), y.trim()));
    if let Some((Ok(x), Ok(y))) = numbers.map(|(x, y)| (x.parse(), y.parse())) {
        return Ok((x, y));
    }
    let is_negative = |text: &str| text.parse::<i64>().is_ok_and(|n| n < 0);
    Err(match numbers {
        Some((x, y)) if is_negative(x) || is_negative(y) => {
            "columns and rows count from 0, such as 128,64".to_owned()
        }
        _ => "expected column and row with a comma, such as 128,64".to_owned(),
    })
}

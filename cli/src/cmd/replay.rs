//! `crestline replay`: a captured frame through driver, ring and MMIO; a picture.
//!
//! No PRM chapter. Wall time is measured here alone.

use std::fs::File;
use std::io::{BufWriter, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crestline_cli::capture::{Capture, CaptureError, Problem};
use crestline_cli::replay::{self, Options, ReplayError, Session};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kernel::time::Delta;

use super::{Error, device, print, summary};

/// Arguments of `crestline replay`.
#[derive(clap::Args)]
pub struct Args {
    /// Capture: a directory with exec_NNNN in it, or a packed file (see `crestline pack`)
    capture: PathBuf,
    /// Device to run it on, by name (gm965, g965, g35, ...) or PCI id (8086:2a02, 2a02, 0x2a02) [default: the one it was captured for]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Write the picture: the render target of the last primitive
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Write the last row first: GL's row 0 is at the bottom
    #[arg(long)]
    flip_y: bool,
    /// Trap the dispatch of the pixel shader thread at a pixel of the surface, row 0 first
    #[arg(long, value_name = "X,Y", value_parser = pixel)]
    snapshot_pixel: Option<(u16, u16)>,
    /// Print the pipeline statistics counters too
    #[arg(long)]
    stats: bool,
    /// Write the trace of the device's events as text
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Device time that each submission may take
    #[arg(long, value_name = "N", default_value_t = 1000)]
    timeout_ms: u64,
}

/// The built-in frame: three gears and a torus, as Mesa submitted it for a GM965.
const GEARS: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/data/captures/gm965/g_gears/frame.crest"
));
/// Where the built-in frame's picture goes.
const GEARS_PNG: &str = "crestline.png";
/// Most text of a trace.
const TRACE_BYTES: usize = 64 << 20;

/// Replays the built-in frame.
pub fn run_embedded() -> Result<(), Error> {
    let capture = Capture::from_packed("built-in gears frame", GEARS)?;
    run_capture(
        &capture,
        &Args {
            capture: PathBuf::new(),
            device: None,
            png: Some(GEARS_PNG.into()),
            flip_y: true,
            snapshot_pixel: None,
            stats: false,
            trace: None,
            timeout_ms: 1000,
        },
    )
}

/// Replays a capture.
pub fn run(args: &Args) -> Result<(), Error> {
    // A wrong device name is found before a large capture is read.
    if let Some(name) = &args.device {
        device::modelled(name)?;
    }
    run_capture(&Capture::load(&args.capture)?, args)
}

fn run_capture(capture: &Capture, args: &Args) -> Result<(), Error> {
    let device = match &args.device {
        Some(name) => device::modelled(name)?,
        None => {
            replay::device_of(capture).ok_or("no device of the capture's PCI id is modelled")?
        }
    };
    let options = Options {
        timeout: Delta::from_millis(args.timeout_ms),
        trace: args.trace.as_ref().map(|_| TRACE_BYTES),
        snapshot: args.snapshot_pixel,
        ..Options::new(device)
    };
    print(&format!(
        "{}: {} submission{} on {} ({:04x}:{:04x})\n",
        capture.name,
        capture.execs.len(),
        if capture.execs.len() == 1 { "" } else { "s" },
        device.title,
        device.pci.0,
        device.pci.1
    ))?;
    let mut session = Session::new(options, capture.buffer_bytes())?;
    let began = Instant::now();
    let outcome = submissions(&mut session, capture);
    let elapsed = began.elapsed();
    // After a fault the picture so far is worth as much as the error.
    let shown = show(&session, args);
    match (outcome, shown) {
        (Err(error), Err(picture)) => {
            return Err(format!("{error}\n  and no picture: {picture}").into());
        }
        (Err(error), Ok(())) => return Err(error.into()),
        (Ok(()), shown) => shown?,
    }
    if let Some(snapshot) = session.snapshot() {
        print(&summary::snapshot(args.snapshot_pixel, &snapshot))?;
    }
    let report = session.report();
    session.finish()?;
    print(&summary::counters(&report, elapsed))?;
    if args.stats {
        print(&summary::statistics(&report))?;
    }
    Ok(())
}

fn submissions(session: &mut Session, capture: &Capture) -> Result<(), ReplayError> {
    let bar = progress_bar(capture.execs.len());
    let outcome = capture.execs.iter().try_for_each(|exec| {
        bar.set_message(exec.name.clone());
        session.run(exec)?;
        bar.inc(1);
        Ok(())
    });
    bar.finish_and_clear();
    outcome
}

/// A bar on a terminal, nothing elsewhere.
fn progress_bar(execs: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(execs as u64), ProgressDrawTarget::stderr());
    if let Ok(style) =
        ProgressStyle::with_template("{spinner} {pos} of {len} submissions, {msg}, {elapsed}")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Writes what was asked for: picture and trace.
fn show(session: &Session, args: &Args) -> Result<(), Error> {
    if let Some(path) = &args.trace {
        std::fs::write(path, session.trace()).map_err(|e| io(path, e))?;
    }
    let Some(path) = &args.png else { return Ok(()) };
    let picture = session.picture()?;
    let picture = if args.flip_y {
        picture.flipped()
    } else {
        picture
    };
    let file = BufWriter::new(File::create(path).map_err(|e| io(path, e))?);
    picture
        .write_png(file)
        .map_err(|e| format!("{}: {e}", path.display()))?;
    print(&format!(
        "{}: {}x{}
",
        path.display(),
        picture.width,
        picture.height
    ))
}

fn io(path: &Path, error: std::io::Error) -> CaptureError {
    CaptureError::file(path.display().to_string(), Problem::Io(error))
}

fn pixel(text: &str) -> Result<(u16, u16), String> {
    text.split_once(',')
        .and_then(|(x, y)| Some((x.trim().parse().ok()?, y.trim().parse().ok()?)))
        .ok_or_else(|| "two numbers with a comma, such as 128,64".to_owned())
}

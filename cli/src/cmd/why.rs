//! `crestline why`: from a pixel of a captured frame to its vertices.
//!
//! PRM: volume 4 3.3.1.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crestline_cli::capture::Capture;
use crestline_cli::{shown, why};

use super::progress::{Progress, Show};
use super::{Error, captured, print};

/// Arguments of `crestline why`.
#[derive(clap::Args)]
pub struct Args {
    #[arg(help = captured::HELP)]
    capture: PathBuf,
    /// Pixel of the last render target: column and row, both from 0; row 0 is the surface's first
    #[arg(value_name = "X,Y", value_parser = super::replay::pixel, allow_hyphen_values = true)]
    pixel: (u16, u16),
    /// Count rows from the last one, as in a picture that `crestline replay --flip-y` has written: for a framebuffer object of OpenGL, whose row 0 is at the bottom; not for a window, GBM or pbuffer surface
    #[arg(long)]
    flip_y: bool,
    /// Device to run it on, by name or PCI id [default: the one it was captured for]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Milliseconds of device time after which a submission counts as hung
    #[arg(long, value_name = "N", default_value_t = 1000)]
    timeout_ms: u64,
}

/// Walks and prints.
pub fn run(args: &Args) -> Result<(), Error> {
    let (capture, options) =
        captured::load(&args.capture, args.device.as_deref(), args.timeout_ms)?;
    let pixel = if args.flip_y {
        flipped(args.pixel, why::size(&capture, &options))?
    } else {
        args.pixel
    };
    let progress = Arc::new(Progress::long("running the frame again and again"));
    let why = match progress.attendant(Show::Message) {
        Some(attendant) => why::why_attended(&capture, &options, pixel, attendant),
        None => why::why(&capture, &options, pixel),
    };
    drop(progress);
    let why = why?;
    if args.json {
        return print(&format!("{:#}\n", why.to_json()));
    }
    if args.flip_y {
        print(&from_the_top(args.pixel, pixel))?;
    }
    print(&why.to_string())?;
    print(&next(&args.capture, &capture, &why))
}

/// Stops on the way to a thread that are written out.
const STOPS: usize = 8;

/// The command that stops the debugger in the thread, as a line; nothing where no name leads to the submission alone.
fn next(path: &Path, capture: &Capture, why: &why::Why) -> String {
    let submission = why.draw.as_ref().map(|draw| draw.submission.as_str());
    let place = match submission {
        _ if capture.execs.len() == 1 => path.to_owned(),
        Some(name) if path.join(name).is_dir() => path.join(name),
        _ => return String::new(),
    };
    let place = shown::path(place);
    let Ok(place) = shlex::try_quote(&place) else {
        return String::new();
    };
    let (x, y) = why.walk.pixel;
    let before = why.walk.pixel_thread.instance.saturating_sub(1) as usize;
    let (again, rest) = if before <= STOPS {
        (" -c continue".repeat(before), String::new())
    } else {
        (String::new(), format!(", and `continue` {before} times"))
    };
    format!(
        "to stop in this thread: crestline debug {place} -c \"break pixel {x},{y}\" -c run{again}{rest}\n"
    )
}

/// The pixel of the surface that stands at a place of a flipped picture.
pub(super) fn flipped(pixel: (u16, u16), size: Option<(u32, u32)>) -> Result<(u16, u16), Error> {
    let (x, y) = pixel;
    let Some((width, height)) = size else {
        return Err("--flip-y: the size of the picture is not known".into());
    };
    let row = height.checked_sub(u32::from(y) + 1);
    let row = row.filter(|_| u32::from(x) < width);
    match row.and_then(|row| u16::try_from(row).ok()) {
        Some(row) => Ok((x, row)),
        None => {
            Err(format!("pixel {x},{y} lies outside the picture of {width}x{height} pixels").into())
        }
    }
}

/// Where a place of a flipped picture lies in the surface, as a line.
pub(super) fn from_the_top(shown: (u16, u16), pixel: (u16, u16)) -> String {
    let ((x, y), (_, row)) = (shown, pixel);
    format!("{x},{y} of the flipped picture is pixel {x},{row} of the surface\n")
}

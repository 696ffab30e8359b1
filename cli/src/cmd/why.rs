//! `crestline why`: from a pixel of a captured frame to its vertices.
//!
//! PRM: volume 4 3.3.1.

use std::borrow::Cow;
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
    /// Milliseconds of device time that a submission may take; a tenth of it in which nothing moves (20 ms at least) counts as hung
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
    print(&source(&args.capture, &why))?;
    print(&next(&args.capture, &capture, &why))
}

/// Stops on the way to a thread that are written out.
const STOPS: usize = 8;

/// The command that stops the debugger in the thread, as a line; nothing where no name leads to the submission alone.
fn next(path: &Path, capture: &Capture, why: &why::Why) -> String {
    let submission = why.draw.as_ref().map(|draw| draw.submission.as_str());
    let place = match submission {
        _ if capture.execs.len() == 1 => quoted(path),
        Some(name) => submission_of(path, name),
        None => None,
    };
    let Some(place) = place else {
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

/// The path of a submission of a recording, for a shell; `None` where it has no path of its own.
fn submission_of(path: &Path, name: &str) -> Option<String> {
    let path = path.join(name);
    (!name.is_empty() && path.is_dir()).then(|| quoted(&path))?
}

/// A path as a word for a shell.
fn quoted(path: &Path) -> Option<String> {
    let path = shown::path(path);
    shlex::try_quote(&path).map(Cow::into_owned).ok()
}

/// The commands that ask for the pixel where a copy has taken it from, as lines; nothing where that is not known.
fn source(path: &Path, why: &why::Why) -> String {
    let own = why.draw.as_ref().and_then(|draw| draw.own.as_ref());
    let Some(why::Own::Copy { drawn_by, size, .. }) = own else {
        return String::new();
    };
    let place = drawn_by.as_ref().and_then(|name| submission_of(path, name));
    let Some(place) = place else {
        return String::new();
    };
    let ((x, y), (_, height)) = (why.walk.pixel, *size);
    let turned = height.checked_sub(u32::from(y) + 1);
    let turned = turned.map_or_else(String::new, |y| {
        format!("; where the copy is upside down: {x},{y}")
    });
    format!("to ask what was copied: crestline why {place} {x},{y}{turned}\n")
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

//! `crestline why`: from a pixel of a captured frame to its vertices.
//!
//! PRM: volume 4 3.3.1.

use std::path::PathBuf;
use std::sync::Arc;

use crestline_cli::why::{why, why_attended};

use super::progress::{Progress, Show};
use super::{Error, captured, print};

/// Arguments of `crestline why`.
#[derive(clap::Args)]
pub struct Args {
    #[arg(help = captured::HELP)]
    capture: PathBuf,
    /// Pixel: column and row, both from 0; row 0 is the surface's first, which OpenGL draws at the bottom
    #[arg(value_name = "X,Y", value_parser = super::replay::pixel, allow_hyphen_values = true)]
    pixel: (u16, u16),
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
    let progress = Arc::new(Progress::long("running the frame again and again"));
    let why = match progress.attendant(Show::Message) {
        Some(attendant) => why_attended(&capture, &options, args.pixel, attendant),
        None => why(&capture, &options, args.pixel),
    };
    drop(progress);
    let why = why?;
    if args.json {
        print(&format!("{:#}\n", why.to_json()))
    } else {
        print(&why.to_string())
    }
}

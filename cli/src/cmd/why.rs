//! `crestline why`: from a pixel of a captured frame to its vertices.
//!
//! PRM: volume 4 3.3.1.

use std::path::PathBuf;

use crestline_cli::capture::Capture;
use crestline_cli::replay::{self, Options};
use crestline_cli::why::why;
use kernel::time::Delta;

use super::{Error, device, print};

/// Arguments of `crestline why`.
#[derive(clap::Args)]
pub struct Args {
    /// Capture: a directory with exec_NNNN in it, or a packed file
    capture: PathBuf,
    /// Pixel of the surface, row 0 first
    #[arg(value_name = "X,Y", value_parser = super::replay::pixel)]
    pixel: (u16, u16),
    /// Device to run it on, by name or PCI id [default: the one it was captured for]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Device time that each submission may take
    #[arg(long, value_name = "N", default_value_t = 1000)]
    timeout_ms: u64,
}

/// Walks and prints.
pub fn run(args: &Args) -> Result<(), Error> {
    let named = args.device.as_deref().map(device::modelled).transpose()?;
    let capture = Capture::load(&args.capture)?;
    let device = named
        .or_else(|| replay::device_of(&capture))
        .ok_or("no device of the capture's PCI id is modelled")?;
    let options = Options {
        timeout: Delta::from_millis(args.timeout_ms),
        ..Options::new(device)
    };
    let why = why(&capture, &options, args.pixel)?;
    if args.json {
        print(&format!("{:#}\n", why.to_json()))
    } else {
        print(&why.to_string())
    }
}

//! `crestline report`: a captured frame as one page of HTML.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crestline_cli::frame_map::{FrameMap, Origin, VertexId};
use crestline_cli::report::Report;
use crestline_cli::{link, shown};
use kernel::string_helpers::Counted;

use super::outputs::Files;
use super::progress::{Progress, Show};
use super::{Error, captured, print};

/// Arguments of `crestline report`.
#[derive(clap::Args)]
pub struct Args {
    #[arg(help = captured::HELP)]
    capture: PathBuf,
    /// File to write the page to
    #[arg(short, long, value_name = "FILE", required_unless_present = "at")]
    output: Option<PathBuf>,
    /// Print which threads made a pixel; row 0 is the surface's first (may be repeated)
    #[arg(long, value_name = "X,Y", value_parser = super::replay::pixel, allow_hyphen_values = true)]
    at: Vec<(u16, u16)>,
    /// Show the last row first: for a framebuffer object of OpenGL, whose row 0 is at the bottom; not for a window, GBM or pbuffer surface. Rows of --at count from there too
    #[arg(long)]
    flip_y: bool,
    /// Device to run it on, by name or PCI id [default: the one it was captured for]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Milliseconds of device time that a submission may take; a tenth of it in which nothing moves (20 ms at least) counts as hung
    #[arg(long, value_name = "N", default_value_t = 1000)]
    timeout_ms: u64,
}

/// Replays and writes.
pub fn run(args: &Args) -> Result<(), Error> {
    let origin = captured::find(&args.capture)?;
    Files::default()
        .replays(&origin)
        .write(args.output.as_deref())
        .check()?;
    let (capture, options) =
        captured::load(&args.capture, args.device.as_deref(), args.timeout_ms)?;
    let name = &capture.name;
    let progress = Arc::new(Progress::of(capture.execs.len() as u64, "submissions"));
    let map = FrameMap::attended(&capture, options, progress.attendant(Show::Submissions));
    drop(progress);
    let map = map.map_err(|error| format!("{name}: {error}"))?;
    let picture = map.picture();
    for &(x, y) in &args.at {
        if u32::from(x) >= picture.width || u32::from(y) >= picture.height {
            let (width, height) = (picture.width, picture.height);
            let what = format!("--at {x},{y} lies outside the picture of {width}x{height} pixels");
            return Err(what.into());
        }
        let mut at = (x, y);
        if args.flip_y {
            at = super::why::flipped(at, Some((picture.width, picture.height)))?;
            print(&super::why::from_the_top((x, y), at))?;
        }
        print(&pixel(&map, at.0, at.1))?;
    }
    if let Some(path) = &args.output {
        let report = Report {
            capture: &capture,
            map: &map,
            device: options.device,
            flip_y: args.flip_y,
        };
        let progress = Progress::long("writing the page");
        let bytes = page(&report, path);
        drop(progress);
        let bytes = bytes.map_err(|error| format!("{}: {error}", shown::path(path)))?;
        let (width, height) = (picture.width, picture.height);
        let path = shown::path(path);
        print(&format!("{path}: {width}x{height}, {} KiB\n", bytes >> 10))?;
    }
    match map.trouble() {
        None => Ok(()),
        Some(trouble) => Err(format!("{name}: {trouble}").into()),
    }
}

fn page(report: &Report<'_>, path: &Path) -> std::io::Result<u64> {
    let mut file = BufWriter::new(link::create(path, link::ALL)?);
    report.write(&mut file)?;
    file.flush()?;
    Ok(file.get_ref().metadata()?.len())
}

/// The threads on the way to a vertex that are not those of VS, each once: GS, clipper, DS, HS.
fn emitters(map: &FrameMap, id: VertexId, seen: &mut Vec<String>, out: &mut String) {
    let mut say = |text: String| {
        if !seen.contains(&text) {
            out.push_str(&text);
            seen.push(text);
        }
    };
    let behind = match map.vertex(id).map(|vertex| vertex.origin) {
        Some(Origin::Emitted { by, half, .. }) => {
            let Some(between) = map.between(by) else {
                return;
            };
            say(format!(
                "  {} thread {}\n",
                between.unit.name(),
                between.ordinal
            ));
            between.inputs(half)
        }
        Some(Origin::Point {
            patch: at,
            number,
            shader,
            ..
        }) => {
            let Some(patch) = map.patch(at) else {
                return;
            };
            say(format!(
                "  point {number} of patch {}, DS thread {shader}\n",
                at.0
            ));
            let threads: Vec<String> = patch.threads.iter().map(u64::to_string).collect();
            say(format!(
                "  patch {}, HS thread {}\n",
                at.0,
                threads.join(" ")
            ));
            patch.vertices.as_slice()
        }
        _ => return,
    };
    for &id in behind {
        emitters(map, id, seen, out);
    }
}

/// What the map says of a pixel.
fn pixel(map: &FrameMap, x: u16, y: u16) -> String {
    let threads = map.at(x.into(), y.into());
    // Writing to a String cannot fail.
    let mut out = format!("pixel {x},{y}: {}\n", Counted(threads.len(), "thread"));
    for thread in threads {
        let _ = write!(out, "PS thread {}", thread.ordinal);
        let Some(object) = map.object(thread.object) else {
            continue;
        };
        let _ = write!(
            out,
            ", object {}, draw call {}",
            object.ordinal, object.draw
        );
        let _ = match object.setup {
            Some(thread) => writeln!(out, ", SF thread {}", thread.ordinal),
            None => writeln!(out, ", set up by SF itself"),
        };
        let mut fetched: Vec<VertexId> = Vec::new();
        let mut seen = Vec::new();
        for &id in object.vertices() {
            emitters(map, id, &mut seen, &mut out);
            for id in map.fetched(id) {
                if !fetched.contains(&id) {
                    fetched.push(id);
                }
            }
        }
        for id in fetched {
            let Some(Origin::Fetched { index, shader, .. }) =
                map.vertex(id).map(|vertex| vertex.origin)
            else {
                continue;
            };
            let _ = write!(out, "  vertex {index}");
            if let Some(shader) = shader {
                let _ = write!(out, ", VS thread {shader}");
            }
            for input in map.inputs(id) {
                let _ = write!(out, ", {:#010x}", input.address);
            }
            out.push('\n');
        }
    }
    out
}

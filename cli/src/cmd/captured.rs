//! A capture of the command line, and how it is replayed.

use std::path::{Path, PathBuf};

use crestline_cli::capture::{Capture, CaptureError, Origin, named};
use crestline_cli::replay::{self, Options};
use crestline_cli::{alike, shown};
use kernel::string_helpers::Escaped;
use kernel::time::Delta;
use mmio_mock::intel::r#gen::DeviceInfo;

use super::{Error, device};

/// Help of the argument that names a capture, wherever it stands.
pub const HELP: &str =
    "Capture: a packed file (.crest), a directory, or a name that `crestline replay --list` shows";

/// Variable that names the directory of the captures that have names.
const ROOT: &str = "CRESTLINE_CAPTURES";
/// That directory in the project's tree.
const PROJECT: &str = "tests/data/captures";

/// The directory of the captures that have names: the variable's, or the project's when the program runs in it.
pub fn root() -> Option<PathBuf> {
    if let Some(root) = std::env::var_os(ROOT).filter(|root| !root.is_empty()) {
        return Some(root.into());
    }
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().map(|dir| dir.join(PROJECT));
    let root = root.into_iter().find(|dir| dir.is_dir())?;
    // Short, as long as it is below.
    Some(root.strip_prefix(&here).map(Path::to_owned).unwrap_or(root))
}

/// Where the capture is that a word of the command line means.
pub fn find(word: &Path) -> Result<Origin, Error> {
    named::find(word, root().as_deref()).map_err(|alike| {
        let alike = alike.iter().map(|name| Escaped(name).to_string());
        let hint = alike::question(&alike.collect::<Vec<_>>());
        let word = shown::path(word);
        format!(
            "{word}: there is no such file or directory, and no capture has this name.{hint} \
            `crestline replay --list` shows the captures that have names."
        )
        .into()
    })
}

/// A whole capture, and how it is replayed on the device of a name, else on the one it was captured for.
pub fn load(
    path: &Path,
    device: Option<&str>,
    timeout_ms: u64,
) -> Result<(Capture, Options), Error> {
    // A wrong device name is found before a large capture is read.
    let named = device.map(device::modelled).transpose()?;
    let capture = find(path)?.load()?;
    let options = options(named.or_else(|| replay::device_of(&capture)), timeout_ms)?;
    Ok((capture, options))
}

/// How a capture is replayed on a device, if there is one for it.
pub fn options(device: Option<&'static DeviceInfo>, timeout_ms: u64) -> Result<Options, Error> {
    let device = device.ok_or(
        "the model has no device with the PCI id that the capture names; `--device NAME` chooses another one",
    )?;
    Ok(on(device, timeout_ms))
}

/// How anything is replayed on a device.
pub fn on(device: &'static DeviceInfo, timeout_ms: u64) -> Options {
    Options {
        timeout: Delta::from_millis(timeout_ms),
        ..Options::new(device)
    }
}

/// The captures that have names, as a table: name, device, number of submissions, place.
pub fn table(root: Option<&Path>) -> String {
    let mut rows = vec![["NAME", "DEVICE", "SUBMISSIONS", "PLACE"].map(str::to_owned)];
    for named in named::list(root) {
        let place = match &named.origin {
            Origin::Path(path) => shown::path(path),
            Origin::BuiltIn => "in the program".to_owned(),
        };
        let [device, submissions] = match named.origin.open() {
            Ok(reader) => {
                let (vendor, id) = reader.pci();
                let device = match replay::device_of_reader(&reader) {
                    Some(info) => info.title.to_owned(),
                    None => format!("{vendor:04x}:{id:04x} (not modelled)"),
                };
                [device, reader.len().to_string()]
            }
            Err(error) => ["-".to_owned(), broken(&error)],
        };
        let row = [named.name, device, submissions, place];
        rows.push(row.map(|text| Escaped(text).to_string()));
    }
    let mut widths = [0; 3];
    for row in &rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.chars().count().max(*width);
        }
    }
    let [name, device, submissions] = widths;
    let lines = rows
        .iter()
        .map(|[n, d, s, p]| format!("{n:name$}  {d:device$}  {s:>submissions$}  {p}\n"));
    lines.collect()
}

/// A capture that cannot be read, in a word: the whole sentence is what a command that takes it says.
fn broken(_: &CaptureError) -> String {
    "cannot be read".to_owned()
}

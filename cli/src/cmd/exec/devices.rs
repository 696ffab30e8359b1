//! `--device` of `crestline exec`: several devices, and what each of them writes.
//!
//! The files of a device have its number and its name in theirs when there are several.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crestline_cli::record::{Recorder, own_directory};
use crestline_cli::shown;
use driver::r#gen::ClientDriver;
use mmio_mock::intel::r#gen::DeviceInfo;
use node::{Card, MOST_DEVICES, Node};

use super::super::trace::Tracing;
use super::super::{Error, device, trace};
use super::{advice, record, recorded};

/// Help of the option.
pub fn help() -> String {
    format!("Devices, {}; several with commas", device::spellings())
}

/// The same in the long help.
pub fn long_help() -> String {
    const SEVERAL: &str = "Several, eight at most, are written with commas, or the option is given again. The first is card0 and renderD128, the second card1 and \
renderD129, and so on; equal devices may be among them. Each has a model, a driver, memory and a clock of its own.";
    format!("Devices, {}\n\n{SEVERAL}", device::spellings())
}

/// The devices of all uses of the option.
pub fn modelled(given: &[String]) -> Result<Vec<&'static DeviceInfo>, Error> {
    let mut infos = Vec::new();
    for list in given {
        for name in list.split(',') {
            if name.is_empty() && list.contains(',') {
                return Err(format!("--device: a name is missing in {list:?}").into());
            }
            infos.push(device::modelled(name)?);
        }
    }
    if infos.len() > MOST_DEVICES {
        let count = infos.len();
        return Err(
            format!("--device: {count} devices are too many, the most are {MOST_DEVICES}").into(),
        );
    }
    Ok(infos)
}

/// The devices of a node in a sentence, with a word before the last.
pub fn names(node: &Node, word: &str) -> String {
    let names: Vec<_> = node.cards().iter().map(|card| card.info().name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The client drivers of a node's devices, each once.
pub fn clients(node: &Node) -> Vec<&'static ClientDriver> {
    let mut clients = Vec::new();
    for client in node.cards().iter().map(|card| card.device().info().client) {
        if !clients.contains(&client) {
            clients.push(client);
        }
    }
    clients
}

/// A beginning of lines about a device: empty when there is only one.
fn prefix(node: &Node, card: &Card) -> String {
    match node.cards() {
        [_] => String::new(),
        _ => format!("{card}: "),
    }
}

/// What there is to do about devices that were reset.
pub fn say_hangs(node: &Node) {
    for card in node.cards() {
        if card.work().resets > 0 {
            let advice = advice::after_a_hang(card.number());
            super::super::say(&format!("crestline: {}{advice}", prefix(node, card)));
        }
    }
}

/// What the devices of a node write while a program runs.
pub struct Outputs(Vec<Output>);

struct Output {
    card: Arc<Card>,
    recorder: Option<Arc<Recorder>>,
    tracing: Tracing,
}

impl Outputs {
    /// Opens all files before the program begins.
    pub fn begin(node: &Node, dir: Option<&Path>, trace: &trace::Args) -> Result<Self, Error> {
        let mut outputs = Vec::new();
        for card in node.cards() {
            let of_several = node.cards().len() > 1;
            let label = of_several.then(|| card.label());
            let recorder = match dir {
                Some(dir) => {
                    if of_several {
                        let made = own_directory(dir);
                        made.map_err(|error| format!("{}: {error}", shown::path(dir)))?;
                    }
                    let dir = label
                        .as_ref()
                        .map_or(dir.to_owned(), |label| dir.join(label));
                    Some(record(card, &dir)?)
                }
                None => None,
            };
            let path = trace.trace.as_ref().map(|path| match &label {
                Some(label) => labelled(path, label),
                None => path.clone(),
            });
            let trace = trace::Args {
                trace: path,
                ..trace.clone()
            };
            // Others that read it could hold it, and the device with it.
            let (trace, tracing) = trace.open(card.info(), 0o600)?;
            card.platform().device().set_trace(trace);
            outputs.push(Output {
                card: Arc::clone(card),
                recorder,
                tracing,
            });
        }
        Ok(Outputs(outputs))
    }

    /// Writes what is left, of each device also when that of another fails.
    pub fn end(self, node: &Node) -> Result<(), Error> {
        let mut outcome = Ok(());
        for output in self.0 {
            if let Some(recorder) = &output.recorder {
                match recorded(recorder, &prefix(node, &output.card)) {
                    Ok(line) => super::super::say(&line),
                    Err(error) => outcome = outcome.and(Err(error)),
                }
            }
            outcome = outcome.and(output.tracing.end(output.card.platform()));
        }
        outcome
    }
}

/// A file's path with a label before its extension.
fn labelled(path: &Path, label: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".");
    name.push(label);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn names(given: &[&str]) -> Result<Vec<&'static str>, String> {
        let given: Vec<String> = given.iter().map(|&name| name.to_owned()).collect();
        let infos = modelled(&given).map_err(|error| error.to_string())?;
        Ok(infos.iter().map(|info| info.name).collect())
    }

    #[test]
    fn lists_and_repeated_options_are_one_list() {
        assert_eq!(names(&["gm965"]).unwrap(), ["gm965"]);
        let expected = ["gm965", "ironlake", "gm965"];
        assert_eq!(names(&["gm965,ironlake,2a02"]).unwrap(), expected);
        assert_eq!(names(&["gm965", "0042,gm965"]).unwrap(), expected);
        let eight = ["g45"; 8].join(",");
        assert_eq!(names(&[&eight]).unwrap(), ["g45"; 8]);
    }

    #[test]
    fn lists_with_mistakes_are_refused_with_a_reason() {
        for list in ["gm965,", ",gm965", "gm965,,g45", ","] {
            let error = names(&[list]).unwrap_err();
            assert_eq!(error, format!("--device: a name is missing in {list:?}"));
        }
        let error = names(&["gm965,voodoo"]).unwrap_err();
        assert!(error.starts_with("unknown device \"voodoo\""), "{error}");
        assert!(names(&[""]).unwrap_err().starts_with("unknown device"));
        let nine = ["g45"; 9].join(",");
        let most = "--device: 9 devices are too many, the most are 8";
        assert_eq!(names(&[&nine]).unwrap_err(), most);
        assert_eq!(names(&["g45"; 9]).unwrap_err(), most);
    }

    #[test]
    fn files_have_the_device_in_their_names() {
        let of = |path: &str| labelled(Path::new(path), "card1-g45");
        assert_eq!(of("a/trace.txt"), Path::new("a/trace.card1-g45.txt"));
        assert_eq!(of("a.b/trace"), Path::new("a.b/trace.card1-g45"));
    }
}

//! Programs on a modelled device, and on Mesa's software rasterisers.
//! Knows how to start them, not what they draw.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use clap::Args;

/// Where clients find the node.
pub const NODE: &str = "/dev/dri/renderD128";

/// A device that can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// As `crestline exec --device` takes it.
    pub name: &'static str,
    /// What the `GL_RENDERER` of its Mesa driver has in it.
    pub renderer: &'static str,
    /// Its driver hands it strips of quadrilaterals as they are, and makes no triangle strips of them.
    pub quad_strips: bool,
}

/// The mark of such a device, behind its renderer.
const QUAD_STRIPS: &str = "; quad strips";

/// The devices that clients are run on: a line each, name and renderer, and what else is known of them; the first is the default.
const DEVICES: &str = include_str!("../../tests/conformance/devices.txt");

fn devices() -> impl Iterator<Item = Device> {
    let lines = DEVICES.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| line.split_once(' '));
    rows.map(|(name, rest)| {
        let marked = rest.strip_suffix(QUAD_STRIPS);
        Device {
            name,
            renderer: marked.unwrap_or(rest).trim(),
            quad_strips: marked.is_some(),
        }
    })
}

fn device(name: &str) -> Result<Device, String> {
    devices().find(|device| device.name == name).ok_or_else(|| {
        let names: Vec<&str> = devices().map(|device| device.name).collect();
        format!("there are {}", names.join(", "))
    })
}

fn first() -> &'static str {
    devices().next().map_or("", |device| device.name)
}

/// Which device, and how programs get to it.
#[derive(Args, Debug)]
pub struct Served {
    /// The device
    #[arg(long, value_name = "NAME", value_parser = device, default_value = first())]
    pub device: Device,
    /// A program to use instead of crestline; it is called as `PROGRAM exec --device NAME -- CMD ARGS`
    #[arg(long, value_name = "PROGRAM")]
    pub exec: Option<String>,
    /// Platform for the tested program's windows: a name that waffle or glscenes knows
    #[arg(long, value_name = "NAME", default_value = "gbm")]
    pub platform: String,
    /// Text that the name of the OpenGL renderer must contain
    #[arg(long, value_name = "TEXT")]
    renderer: Option<String>,
}

impl Served {
    /// What the renderer's name must have in it.
    pub fn renderer(&self) -> &str {
        let told = self.renderer.as_deref();
        told.unwrap_or(self.device.renderer)
    }
}

/// A number of an option.
pub fn at_least_one<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| "a number from 1".to_owned())
}

/// The cargo that runs this program, in the tree's root.
pub fn cargo(root: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root);
    command
}

/// The target directory of cargo.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from)
}

/// The program that serves a device to another program.
#[derive(Debug)]
pub struct Exec {
    program: PathBuf,
    device: &'static str,
}

impl Exec {
    /// Builds `crestline` in release, unless another program takes its place.
    pub fn new(root: &Path, served: &Served) -> io::Result<Exec> {
        let program = match &served.exec {
            Some(program) => PathBuf::from(program),
            None => build(root)?,
        };
        Ok(Exec {
            program,
            device: served.device.name,
        })
    }

    /// `program` on the device; arguments are added by the caller.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["exec", "--device", self.device, "--"])
            .arg(program);
        command
    }

    /// Changes whenever the program is built anew.
    pub fn stamp(&self) -> io::Result<String> {
        let data = std::fs::metadata(&self.program)?;
        let since = data.modified()?.duration_since(std::time::UNIX_EPOCH);
        let time = since.map_or(0, |time| time.as_nanos());
        Ok(format!("{} {time}", data.len()))
    }
}

fn build(root: &Path) -> io::Result<PathBuf> {
    let mut command = cargo(root);
    command.args(["build", "--release", "--locked", "--quiet"]);
    command.args(["--package", "crestline"]);
    if root.join("drm-shim/Cargo.toml").exists() {
        command.args(["--package", "crestline-drm-shim"]);
    }
    if !command.status()?.success() {
        return Err(io::Error::other("crestline does not build"));
    }
    Ok(target(root).join("release/crestline"))
}

/// Makes a command draw with one of Mesa's software rasterisers.
pub fn software(command: &mut Command, rasteriser: &str) {
    command
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env("GALLIUM_DRIVER", rasteriser);
}

/// Options from their words.
#[cfg(test)]
pub fn parsed<T: Args>(words: &[&str]) -> Result<T, clap::Error> {
    let command = T::augment_args(clap::Command::new("task").no_binary_name(true));
    T::from_arg_matches(&command.try_get_matches_from(words)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Mesa's crocus makes triangle strips of quad strips before generation 6 alone (crocus_draw.c); its renderers' names are
    /// those of crocus_pci_ids.h.
    #[test]
    fn marks_are_no_part_of_a_renderer() {
        let marked: Vec<_> = devices().map(|d| (d.renderer, d.quad_strips)).collect();
        assert_eq!(marked.first(), Some(&("965GM", false)));
        assert!(marked.contains(&("HD Graphics 3000 (SNB GT2)", true)));
        assert!(marked.contains(&("HD Graphics (BYT)", true)));
        assert_eq!(marked.iter().filter(|(_, strips)| *strips).count(), 2);
    }
}

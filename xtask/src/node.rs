//! Programs on a modelled device, and on Mesa's software rasterisers.
//! No PRM chapter. Knows how to start them, not what they draw.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where clients find the node.
pub const NODE: &str = "/dev/dri/renderD128";

/// A device that can be served.
#[derive(Debug, PartialEq, Eq)]
pub struct Device {
    /// As `crestline exec --device` takes it.
    pub name: &'static str,
    /// What the `GL_RENDERER` of its Mesa driver has in it.
    pub renderer: &'static str,
}

const DEVICES: [Device; 1] = [Device {
    name: "gm965",
    renderer: "965GM",
}];

/// The device of that name.
pub fn device(name: &str) -> Option<&'static Device> {
    DEVICES.iter().find(|device| device.name == name)
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
    /// Builds `crestline` in release; `instead` is a program that takes its place.
    pub fn new(root: &Path, device: &Device, instead: Option<&str>) -> io::Result<Exec> {
        let program = match instead {
            Some(program) => PathBuf::from(program),
            None => build(root)?,
        };
        Ok(Exec {
            program,
            device: device.name,
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
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--locked", "--quiet"]);
    command.args(["--package", "crestline"]).current_dir(root);
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

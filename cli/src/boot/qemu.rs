//! QEMU: where it is, whether it is new enough, and its command line.
//!
//! Options are those of qemu-system-x86_64(1); the device is that of QEMU's docs/system/devices/vfio-user.rst.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::apt::Apt;
use super::init::{PORTS, PREFIX};
use super::{Error, tree};
use crate::{shown, start};

/// The program's name, and the variable that names it when it lies elsewhere.
pub const NAME: &str = "qemu-system-x86_64";
/// See [`NAME`].
pub const VARIABLE: &str = "CRESTLINE_QEMU";
/// The first version that has vfio-user-pci.
const FIRST: (u32, u32) = (10, 1);
/// Where packages come from that have such a version.
const RELEASE: &str = "trixie-backports";
/// The package.
const PACKAGE: &str = "qemu-system-x86";
/// Slots on the guest's bus of the device and of the ports. Others would take the first ones.
const SLOTS: (&str, &str) = ("02.0", "03.0");

/// A QEMU that can be started.
#[derive(Debug, Clone)]
pub struct Qemu {
    program: PathBuf,
    /// Words before all others.
    before: Vec<OsString>,
    /// Directories with its data.
    data: Vec<PathBuf>,
    modules: Option<PathBuf>,
}

impl Qemu {
    /// A program.
    ///
    /// # Errors
    /// When it does not start, or is too old.
    pub fn at(program: &Path) -> Result<Self, Error> {
        let qemu = Qemu {
            program: program.to_path_buf(),
            before: Vec::new(),
            data: Vec::new(),
            modules: None,
        };
        qemu.check().map(|()| qemu)
    }

    /// The one in PATH, if it is there and new enough.
    pub fn in_path() -> Option<Self> {
        let program = start::look_for(Path::new(NAME)).ok()?;
        Qemu::at(&program).ok()
    }

    /// One that has been unpacked from packages. It is run by the loader that has come with it, with the libraries that have.
    pub fn of_piece(dir: &Path) -> Self {
        let share = dir.join("usr/share");
        let data = ["qemu", "seabios"].map(|name| share.join(name));
        let libraries = tree::libraries(dir);
        Qemu {
            program: tree::loader(dir).get_program().into(),
            before: vec![
                "--library-path".into(),
                libraries,
                dir.join("usr/bin").join(NAME).into(),
            ],
            data: data.to_vec(),
            modules: Some(dir.join("usr/lib/x86_64-linux-gnu/qemu")),
        }
    }

    /// Fills a piece of the cache. Its version is QEMU's.
    ///
    /// # Errors
    /// Those of apt, and when what has come does not run.
    pub fn fill(apt: &Apt<'_>, dir: &Path) -> Result<String, Error> {
        let version = apt.install(RELEASE, &[PACKAGE], dir, "QEMU")?;
        Qemu::of_piece(dir).check()?;
        Ok(version)
    }

    fn check(&self) -> Result<(), Error> {
        let place = shown::path(&self.program);
        let mut command = self.command();
        let output = command.arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(Error::at(&self.program))?;
        let text = String::from_utf8_lossy(&output.stdout);
        match version(&text) {
            Some(version) if version >= FIRST => Ok(()),
            Some((major, minor)) => Err(Error::Told(format!(
                "{place} is QEMU {major}.{minor}, which has no vfio-user-pci: {}.{} or later is needed",
                FIRST.0, FIRST.1
            ))),
            None => Err(Error::Told(format!("{place} is no QEMU (--version)"))),
        }
    }

    /// The beginning of each command.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.before);
        if let Some(modules) = &self.modules {
            command.env("QEMU_MODULE_DIR", modules);
        }
        command
    }

    /// Program and arguments for a machine, and variables that they need.
    pub fn line(&self, machine: &Line<'_>) -> Started {
        let mut words = vec![self.program.clone().into_os_string()];
        words.extend(self.before.iter().cloned());
        for dir in &self.data {
            words.extend([OsString::from("-L"), dir.into()]);
        }
        words.extend(machine.words());
        let modules = self.modules.clone().map(PathBuf::into_os_string);
        Started {
            words,
            variables: modules
                .map(|dir| ("QEMU_MODULE_DIR", dir))
                .into_iter()
                .collect(),
        }
    }
}

/// A command that has been put together.
#[derive(Debug)]
pub struct Started {
    /// Program and arguments.
    pub words: Vec<OsString>,
    /// Variables of its environment.
    pub variables: Vec<(&'static str, OsString)>,
}

/// The machine.
#[derive(Debug)]
pub struct Line<'a> {
    /// The kernel's image.
    pub kernel: &'a Path,
    /// The archive.
    pub initrd: &'a Path,
    /// What the kernel is told beside the console.
    pub append: &'a str,
    /// Memory in MiB.
    pub memory: u64,
    /// The device's socket.
    pub socket: &'a Path,
    /// The directory with a FIFO for each of [`PORTS`].
    pub ports: &'a Path,
    /// Where the kernel's messages go.
    pub console: &'a Path,
    /// Whether the machine's processor runs the guest.
    pub kvm: bool,
    /// Whether there is a terminal for a shell.
    pub shell: bool,
}

impl Line<'_> {
    /// Arguments of QEMU.
    fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let mut add = |option: &str, value: OsString| {
            words.push(option.into());
            if !value.is_empty() {
                words.push(value);
            }
        };
        let memory = self.memory;
        add("-no-user-config", OsString::new());
        add("-nodefaults", OsString::new());
        add("-no-reboot", OsString::new());
        add("-display", "none".into());
        add("-M", "q35,memory-backend=ram".into());
        if self.kvm {
            add("-accel", "kvm".into());
            add("-cpu", "host".into());
        } else {
            add("-accel", "tcg".into());
        }
        add("-m", memory.to_string().into());
        let ram = format!("memory-backend-memfd,id=ram,size={memory}M,share=on");
        add("-object", ram.into());
        add("-kernel", self.kernel.into());
        add("-initrd", self.initrd.into());
        let mut append = "console=ttyS0 panic=-1".to_owned();
        if !self.append.is_empty() {
            append = format!("{append} {}", self.append);
        }
        add("-append", append.into());
        add("-chardev", file("console", self.console));
        add("-serial", "chardev:console".into());
        let ports = format!("virtio-serial-pci,id=ports,addr={}", SLOTS.1);
        add("-device", ports.into());
        for (number, port) in PORTS.iter().enumerate() {
            let number = number + 1;
            add("-chardev", file(port, &self.ports.join(port)));
            let device = format!(
                "virtserialport,bus=ports.0,nr={number},chardev={port},name={PREFIX}{port}"
            );
            add("-device", device.into());
        }
        if self.shell {
            add("-chardev", "stdio,id=shell,signal=off".into());
            add("-device", "virtconsole,bus=ports.0,chardev=shell".into());
        }
        let path = self.socket.to_string_lossy();
        // Without answers to writes the guest would read memory before what it wrote through the aperture is there.
        let device = serde_json::json!({
            "driver": "vfio-user-pci",
            "addr": SLOTS.0,
            "x-no-posted-writes": true,
            "socket": { "type": "unix", "path": path },
        });
        add("-device", device.to_string().into());
        words
    }
}

/// A character device that writes to a file. In values of options a comma is doubled.
fn file(id: &str, path: &Path) -> OsString {
    let mut value = OsString::from(format!("file,id={id},path="));
    let mut parts = path.as_os_str().as_encoded_bytes().split(|b| *b == b',');
    if let Some(first) = parts.next() {
        value.push(String::from_utf8_lossy(first).as_ref());
    }
    for part in parts {
        value.push(",,");
        value.push(OsStr::new(String::from_utf8_lossy(part).as_ref()));
    }
    value
}

/// Major and minor version in what `--version` prints.
fn version(text: &str) -> Option<(u32, u32)> {
    let rest = text.strip_prefix("QEMU emulator version ")?;
    let mut parts = rest.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests;

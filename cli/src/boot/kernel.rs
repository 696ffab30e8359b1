//! The guest's kernel: its image, and the modules that are needed of it.
//!
//! Files and names are those of Debian's linux-image packages; modules.dep is that of depmod(8).

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::apt::Apt;
use super::archive::Archive;
use super::{Error, output, succeeded};
use crate::shown;

/// Modules that the guest loads.
const WANTED: [&str; 3] = ["i915", "virtio_pci", "virtio_console"];
/// Indices of all modules, which modprobe reads.
const INDICES: [&str; 12] = [
    "modules.alias",
    "modules.alias.bin",
    "modules.builtin",
    "modules.builtin.alias.bin",
    "modules.builtin.bin",
    "modules.builtin.modinfo",
    "modules.dep",
    "modules.dep.bin",
    "modules.order",
    "modules.softdep",
    "modules.symbols",
    "modules.symbols.bin",
];
/// What the names of packages with kernels begin and end with.
const PACKAGE: (&str, &str) = ("linux-image-", "-amd64");

/// What names of packages begin with that have the list of what is built in, the image alone, and the modules.
const PARTS: [&str; 3] = ["linux-base-", "linux-binary-", "linux-modules-"];

/// A kernel that can be booted.
#[derive(Debug)]
pub struct Kernel {
    /// The image.
    pub image: PathBuf,
    /// An archive of modules.
    pub modules: PathBuf,
}

impl Kernel {
    /// The kernel of a piece of the cache.
    pub fn of_piece(dir: &Path) -> Self {
        Kernel {
            image: dir.join("vmlinuz"),
            modules: dir.join("modules.cpio.gz"),
        }
    }
}

/// Whether a text is the number of a kernel, such as 6.1, and no file's name.
pub fn is_number(text: &str) -> bool {
    let mut parts = text.split('.');
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    parts.clone().count() >= 2 && parts.all(digits) && !Path::new(text).exists()
}

/// The newest package of a kernel of this number among names of packages, one in a line and a description behind it.
pub fn newest<'a>(names: &'a str, number: &str) -> Option<&'a str> {
    let version = |name: &'a str| {
        let version = name.strip_prefix(PACKAGE.0)?.strip_suffix(PACKAGE.1)?;
        let rest = version.strip_prefix(number)?;
        let is_it = rest.is_empty() || rest.starts_with(['.', '-', '+']);
        let is_plain = !["-cloud", "-rt", "-dbg", "-unsigned"]
            .iter()
            .any(|other| version.ends_with(other));
        (is_it && is_plain).then_some(version)
    };
    let names = names
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let found = names.filter_map(|name| Some((version(name)?, name)));
    let newest = found.max_by(|(a, _), (b, _)| compare(a, b));
    newest.map(|(_, name)| name)
}

/// Orders versions: numbers in them as numbers.
fn compare(a: &str, b: &str) -> Ordering {
    numbers(a).cmp(&numbers(b))
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// Fills a piece of the cache with the newest kernel of a number. Its version is the kernel's.
///
/// # Errors
/// When no package has a kernel of that number, when apt fails, and when a file cannot be read or written.
pub fn fill(
    apt: &Apt<'_>,
    number: &str,
    dir: &Path,
    scratch: &Path,
    depmod: Command,
) -> Result<String, Error> {
    let names = apt.names(PACKAGE.0)?;
    let package = newest(&names, number).ok_or_else(|| {
        Error::Told(format!(
            "the mirror has no kernel {number} (no package {}{number}*{}); --kernel takes a package's file too",
            PACKAGE.0, PACKAGE.1
        ))
    })?;
    apt.download(package, scratch)?;
    // Newer kernels have these in packages of their own.
    for beginning in PARTS {
        let part = package.replacen(PACKAGE.0, beginning, 1);
        let names = apt.names(beginning)?;
        let mut names = names.lines().map(|line| line.split_whitespace().next());
        if names.any(|name| name == Some(&part)) {
            apt.download(&part, scratch)?;
        }
    }
    unpacked(scratch, dir, depmod)
}

/// Takes image and modules out of a directory with an unpacked package into another; the kernel's version.
///
/// # Errors
/// When they are not there.
pub fn unpacked(root: &Path, into: &Path, depmod: Command) -> Result<String, Error> {
    let lib = root.join("lib");
    if !lib.exists() {
        // depmod looks there.
        std::os::unix::fs::symlink("usr/lib", &lib).map_err(Error::at(&lib))?;
    }
    let (version, modules) = only_modules(root)?;
    let mut image = root.join("boot").join(format!("vmlinuz-{version}"));
    // Newer packages have it there.
    let beside = modules.join("vmlinuz");
    if beside.exists() {
        image = beside;
    }
    let to = into.join("vmlinuz");
    fs::copy(&image, &to).map_err(Error::at(&image))?;
    // A package leaves that to its installation.
    if !modules.join("modules.dep").exists() {
        let mut depmod = depmod;
        depmod.arg("-b").arg(root).arg(&version);
        let output = output(
            &mut depmod,
            "kmod",
            "without --initrd the guest's own is used",
        )?;
        succeeded(&depmod, output)?;
    }
    pack(&modules, &version, &into.join("modules.cpio.gz"))?;
    Ok(version)
}

/// The one directory of modules below lib/modules, and its name.
fn only_modules(root: &Path) -> Result<(String, PathBuf), Error> {
    let entries = fs::read_dir(root.join("lib/modules")).into_iter();
    let dirs: Vec<PathBuf> = entries
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    let name = |dir: &Path| Some(dir.file_name()?.to_str()?.to_owned());
    match dirs.as_slice() {
        [dir] => name(dir)
            .map(|version| (version, dir.clone()))
            .ok_or_else(|| Error::Told(format!("{}: no kernel's version", shown::path(dir)))),
        [] => Err(Error::Told(format!(
            "{}: there are no modules in lib/modules",
            shown::path(root)
        ))),
        _ => Err(Error::Told(format!(
            "{}: lib/modules has those of several kernels",
            shown::path(root)
        ))),
    }
}

/// A kernel's image with the directory of its modules, given or found where systems have it. Its archive goes into `into`.
///
/// # Errors
/// When modules or their index are not there.
pub fn image(image: &Path, modules: Option<&Path>, into: &Path) -> Result<Kernel, Error> {
    let name = image.file_name().map(|name| name.to_string_lossy());
    let version = name.as_deref().and_then(|name| name.split_once('-'));
    let usual = version.map(|(_, version)| Path::new("/lib/modules").join(version));
    let dir = modules.map(Path::to_path_buf).or(usual);
    let dir = dir.filter(|dir| dir.is_dir()).ok_or_else(|| {
        Error::Told(format!(
            "{}: --modules has to name the directory of its modules (lib/modules/VERSION)",
            shown::path(image)
        ))
    })?;
    let dir = fs::canonicalize(&dir).map_err(Error::at(&dir))?;
    let version = dir.file_name().and_then(|name| name.to_str());
    let version = version.ok_or_else(|| {
        Error::at(&dir)(std::io::Error::other(
            "the name of the directory is the kernel's version",
        ))
    })?;
    let archive = into.join("modules.cpio.gz");
    pack(&dir, version, &archive)?;
    Ok(Kernel {
        image: image.to_path_buf(),
        modules: archive,
    })
}

/// Writes an archive of the modules that are needed and of the indices.
fn pack(dir: &Path, version: &str, path: &Path) -> Result<(), Error> {
    let index = dir.join("modules.dep");
    let dependencies = fs::read_to_string(&index).map_err(|error| {
        Error::Told(format!(
            "{}: {error} (depmod makes this file)",
            shown::path(&index)
        ))
    })?;
    let builtin = fs::read_to_string(dir.join("modules.builtin")).unwrap_or_default();
    let modules = needed(&dependencies, &builtin).map_err(|module| {
        Error::Told(format!(
            "{}: this kernel has no module {module}",
            shown::path(dir)
        ))
    })?;
    let file = File::create(path).map_err(Error::at(path))?;
    let packer = GzEncoder::new(BufWriter::new(file), Compression::fast());
    let mut archive = Archive::new(packer);
    let indices = INDICES.iter().map(|name| (*name).to_owned());
    let indices = indices.filter(|name| dir.join(name).exists());
    for name in modules.into_iter().chain(indices) {
        let from = dir.join(&name);
        let done = archive.file(&format!("lib/modules/{version}/{name}"), &from);
        done.map_err(Error::at(&from))?;
    }
    let ended = archive.finish().and_then(|(packer, _)| {
        let file = packer
            .finish()?
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        file.sync_all()
    });
    ended.map_err(Error::at(path))
}

/// The files of the modules that are wanted and of those that they need; the error is the module that there is not.
fn needed(dependencies: &str, builtin: &str) -> Result<BTreeSet<String>, &'static str> {
    let mut files = BTreeSet::new();
    for wanted in WANTED {
        let lines = dependencies.lines().filter_map(|line| line.split_once(':'));
        let mut lines = lines.filter(|(file, _)| module(file) == wanted);
        if let Some((file, others)) = lines.next() {
            let all = std::iter::once(file).chain(others.split_whitespace());
            files.extend(all.map(str::to_owned));
        } else if !builtin.lines().any(|file| module(file) == wanted) {
            return Err(wanted);
        }
    }
    Ok(files)
}

/// The name of a module's file, as modprobe takes it.
fn module(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let name = name.split(".ko").next().unwrap_or(name);
    name.replace('-', "_")
}

#[cfg(test)]
mod tests;

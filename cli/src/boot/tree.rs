//! The guest's files: Debian 12's Mesa with crocus, busybox, kmod.
//!
//! Packages are unpacked and not installed, which programs that draw do not notice. One archive is made of them, once.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::{Apt, INSTEAD};
use super::archive::Archive;
use super::{Error, Watch, output, succeeded};

/// The release that the guest's files come from, whose Mesa has crocus for all devices.
const RELEASE: &str = "bookworm";
/// What the guest needs, and what programs that draw link with. The version of the first is that of the tree.
const PACKAGES: [&str; 10] = [
    "libgl1-mesa-dri",
    "libegl-mesa0",
    "libglx-mesa0",
    "libegl1",
    "libgles2",
    "libgl1",
    "libopengl0",
    "libgbm1",
    "busybox-static",
    "kmod",
];
/// What the guest has no use for.
const LEFT_OUT: [&str; 9] = [
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/lintian",
    "usr/share/bug",
    "usr/share/info",
    "usr/share/initramfs-tools",
    "usr/share/gcc",
    "var",
];
/// Where the dynamic loader looks without being told (ld.so(8), Debian's).
pub const LIBRARIES: [&str; 2] = ["usr/lib/x86_64-linux-gnu", "usr/lib"];

/// A guest's files.
pub struct Tree {
    dir: Option<PathBuf>,
    /// The archive.
    pub archive: PathBuf,
    names: BTreeSet<String>,
}

impl Tree {
    /// The tree of a piece of the cache.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_piece(dir: &Path) -> Result<Self, Error> {
        let list = dir.join("names");
        let names = fs::read_to_string(&list).map_err(Error::at(&list))?;
        Ok(Tree {
            dir: Some(dir.join("root")),
            archive: dir.join("tree.cpio"),
            names: names.lines().map(str::to_owned).collect(),
        })
    }

    /// The archive of a user; what is in it is not known.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn given(archive: &Path) -> Result<Self, Error> {
        File::open(archive).map_err(Error::at(archive))?;
        Ok(Tree {
            dir: None,
            archive: archive.to_path_buf(),
            names: BTreeSet::new(),
        })
    }

    /// Whether it has a file of this name; names have no slash at their beginning.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&super::archive::place(name))
    }

    /// Where it has a program of this name.
    pub fn program(&self, name: &str) -> Option<String> {
        let places = ["usr/bin", "usr/sbin"].map(|dir| format!("{dir}/{name}"));
        places.into_iter().find(|place| self.names.contains(place))
    }

    /// Whether the loader finds a library of this name.
    pub fn has_library(&self, name: &str) -> bool {
        LIBRARIES
            .iter()
            .any(|dir| self.names.contains(&format!("{dir}/{name}")))
    }

    /// depmod of kmod, which the tree has, or the machine's.
    pub fn depmod(&self) -> Command {
        if let Some(root) = &self.dir {
            return kmod(root);
        }
        // Users have no such directory in PATH.
        let place = "/usr/sbin/depmod";
        Command::new(if Path::new(place).exists() {
            place
        } else {
            "depmod"
        })
    }
}

/// depmod from a tree whose libraries this machine may not have.
fn kmod(root: &Path) -> Command {
    let mut command = loader(root);
    command
        .args(["--argv0", "depmod", "--library-path"])
        .arg(libraries(root))
        .arg(existing(root, &["usr/bin/kmod", "bin/kmod"]));
    command
}

/// The loader of a tree, which runs its programs on any machine.
pub fn loader(root: &Path) -> Command {
    let places = [
        "usr/lib64/ld-linux-x86-64.so.2",
        "lib64/ld-linux-x86-64.so.2",
    ];
    Command::new(existing(root, &places))
}

/// The directories of a tree's libraries, as its loader takes them.
pub fn libraries(root: &Path) -> std::ffi::OsString {
    let mut text = root.join("usr/lib/x86_64-linux-gnu").into_os_string();
    text.push(":");
    text.push(root.join("lib/x86_64-linux-gnu"));
    text
}

/// The first of some places that is there, or the first.
fn existing(root: &Path, places: &[&str]) -> PathBuf {
    let mut all = places.iter().map(|place| root.join(place));
    let first = root.join(places.first().copied().unwrap_or_default());
    all.find(|place| place.exists()).unwrap_or(first)
}

/// Fills a piece of the cache: the packages, the archive of them, and the list of its names. Its version is Mesa's.
///
/// # Errors
/// Those of apt, and of files.
pub fn fill(apt: &Apt<'_>, dir: &Path, watch: &dyn Watch) -> Result<String, Error> {
    let root = dir.join("root");
    fs::create_dir(&root).map_err(Error::at(&root))?;
    let version = apt.install(RELEASE, &PACKAGES, &root, "the guest's files (Mesa)")?;
    watch.now("packing the guest's files");
    let applets = applets(&root)?;
    let path = dir.join("tree.cpio");
    let names = archive(&root, &applets, &path)?;
    let list = dir.join("names");
    let mut text = String::new();
    for name in &names {
        text.push_str(name);
        text.push('\n');
    }
    fs::write(&list, text).map_err(Error::at(&list))?;
    Ok(version)
}

/// The programs that busybox stands for.
fn applets(root: &Path) -> Result<Vec<String>, Error> {
    let busybox = existing(root, &["usr/bin/busybox", "bin/busybox"]);
    let mut command = Command::new(&busybox);
    command.arg("--list");
    let output = output(&mut command, "busybox-static", INSTEAD)?;
    let text = succeeded(&command, output)?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().map(str::to_owned).collect())
}

/// Writes the archive of a tree; the names in it. It is not compressed: a guest without KVM would take ten seconds to unpack it.
fn archive(root: &Path, applets: &[String], path: &Path) -> Result<BTreeSet<String>, Error> {
    let file = File::create(path).map_err(Error::at(path))?;
    let mut archive = Archive::new(BufWriter::new(file));
    archive.merged().map_err(Error::at(path))?;
    let keep = |name: &str| !LEFT_OUT.contains(&name);
    archive.tree(root, "", &keep)?;
    // What the packages have goes before busybox's.
    for applet in applets {
        let is_there = ["usr/bin", "usr/sbin"]
            .iter()
            .any(|dir| archive.has(&format!("{dir}/{applet}")));
        if !is_there && !applet.contains('/') {
            let link = archive.link(&format!("usr/bin/{applet}"), "busybox");
            link.map_err(Error::at(path))?;
        }
    }
    let ended = archive.finish().and_then(|(mut file, names)| {
        file.flush()?;
        file.get_ref().sync_all()?;
        Ok(names)
    });
    ended.map_err(Error::at(path))
}

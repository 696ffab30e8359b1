//! What the environment says: where the node is and its tree, and how strict to be.
//!
//! Read once; later changes of the environment are for children.

use core::ffi::CStr;
use std::sync::OnceLock;

use wire::device::{MOST, NODES, RENDER};

use crate::buffer::Buffer;
use crate::sys;

/// One of the nodes: of which device, and which of its two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// Number of the device.
    pub device: usize,
    /// Whether it is the primary node.
    pub primary: bool,
}

impl Node {
    /// Its minor number.
    pub fn minor(self) -> u32 {
        let first = if self.primary { 0 } else { RENDER };
        first + self.device as u32
    }

    /// Its entry in `/dev`.
    pub fn path(self) -> &'static [u8] {
        let paths = NODES.get(self.device);
        paths.map_or(b"", |paths| paths[usize::from(self.primary)].as_bytes())
    }
}

/// What is known of the node.
pub struct Config {
    node: Option<Buffer>,
    tree: Option<Buffer>,
    /// Whether what is not known is reported each time.
    pub strict: bool,
    /// Device and inode of the entries of each device's render and primary node in the tree.
    entries: [[Option<(u64, u64)>; 2]; MOST],
}

impl Config {
    /// Path of the node's socket.
    pub fn node(&self) -> Option<&[u8]> {
        self.node.as_ref().map(Buffer::bytes)
    }

    /// The directory that stands for the system's entries of the device, without a slash at its end.
    pub fn tree(&self) -> Option<&[u8]> {
        self.tree.as_ref().map(Buffer::bytes)
    }

    /// Which node an entry of the tree stands for.
    pub fn entry(&self, dev: u64, ino: u64) -> Option<Node> {
        let mut all = self.entries.iter().enumerate();
        all.find_map(|(device, entries)| {
            let which = entries
                .iter()
                .position(|entry| *entry == Some((dev, ino)))?;
            let primary = which == 1;
            Some(Node { device, primary })
        })
    }

    /// Whether what a directory lists by this inode and name is an entry of a node.
    pub fn is_entry(&self, inode: u64, name: &[u8]) -> bool {
        let known = self.entries.iter().flatten().zip(NODES.iter().flatten());
        known
            .filter_map(|(entry, path)| Some(((*entry)?.1, path)))
            .any(|(entry, path)| {
                let last = path.as_bytes().rsplit(|byte| *byte == b'/').next();
                entry == inode && last == Some(name)
            })
    }

    /// Device and inode of a node's entry in the tree.
    pub fn identity(&self, node: Node) -> Option<(u64, u64)> {
        self.entries.get(node.device)?[usize::from(node.primary)]
    }

    /// Whether the tree has a device of this number.
    pub fn has(&self, device: usize) -> bool {
        let entries = self.entries.get(device);
        entries.is_some_and(|entries| entries.iter().any(Option::is_some))
    }

    fn read() -> Config {
        let node = variable(wire::env::NODE).and_then(copy);
        let tree = variable(wire::env::TREE).and_then(canonical);
        let mut path = Buffer::new().ok();
        let mut entry = |entry: &str| {
            let path = path.as_mut()?;
            path.clear();
            if !path.push(tree.as_ref()?.bytes()) || !path.push(entry.as_bytes()) {
                return None;
            }
            let stat = sys::stat_path(path.as_cstr(), libc::AT_SYMLINK_NOFOLLOW).ok()?;
            Some((stat.st_dev, stat.st_ino))
        };
        let entries = NODES.map(|paths| paths.map(&mut entry));
        Config {
            node,
            tree,
            strict: variable(wire::env::STRICT).is_some_and(|value| value != b"0"),
            entries,
        }
    }
}

fn variable(name: &str) -> Option<&'static [u8]> {
    let mut buffer = [0; 32];
    buffer
        .get_mut(..name.len())?
        .copy_from_slice(name.as_bytes());
    let name = CStr::from_bytes_until_nul(&buffer).ok()?;
    let value = sys::environment(name)?.to_bytes();
    (!value.is_empty()).then_some(value)
}

/// A directory's path without links, as the system gives it for a descriptor.
fn canonical(path: &[u8]) -> Option<Buffer> {
    let given = copy(path)?;
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let fd = sys::openat(libc::AT_FDCWD, given.as_cstr(), flags, 0).ok()?;
    let mut found = Buffer::new().ok();
    let known = found
        .as_mut()
        .is_some_and(|found| sys::path_of(fd, found).is_ok());
    sys::close(fd);
    found.filter(|path| known && path.bytes().starts_with(b"/"))
}

fn copy(path: &[u8]) -> Option<Buffer> {
    let mut copy = Buffer::new().ok()?;
    copy.push(path).then_some(copy)
}

/// The one configuration of this process.
pub fn get() -> &'static Config {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    CONFIG.get_or_init(Config::read)
}

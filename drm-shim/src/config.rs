//! What the environment says: where the node is and its tree, and how strict to be.
//!
//! No PRM chapter. Read once; later changes of the environment are for children.

use core::ffi::CStr;
use std::sync::OnceLock;

use crate::buffer::Buffer;
use crate::sys;

/// Minor numbers of the render and the primary node.
pub const MINORS: [u32; 2] = [128, 0];
/// Major number of DRM devices.
pub const MAJOR: u32 = 226;

/// What is known of the node.
pub struct Config {
    node: Option<Buffer>,
    tree: Option<Buffer>,
    /// Whether what is not known is reported each time.
    pub strict: bool,
    /// Device and inode of the entries of the render and the primary node in the tree.
    pub entries: [Option<(u64, u64)>; 2],
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

    /// Which node an entry of the tree stands for: 0 render, 1 primary.
    pub fn entry(&self, dev: u64, ino: u64) -> Option<usize> {
        self.entries
            .iter()
            .position(|entry| *entry == Some((dev, ino)))
    }

    fn read() -> Config {
        let node = variable(wire::env::NODE).and_then(copy);
        let tree = variable(wire::env::TREE).and_then(canonical);
        let entries = [&b"/dev/dri/renderD128"[..], b"/dev/dri/card0"].map(|entry| {
            let mut path = copy(tree.as_ref()?.bytes())?;
            if !path.push(entry) {
                return None;
            }
            let stat = sys::stat_path(path.as_cstr(), libc::AT_SYMLINK_NOFOLLOW).ok()?;
            Some((stat.st_dev, stat.st_ino))
        });
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

//! What programs see when they look at the node: a character device.
//!
//! `stat` and `statx` of its entries and of its descriptors.

use std::os::fd::RawFd;

use wire::device::MAJOR;

use crate::config::Config;
use crate::inodes::{self, Kind};

/// Type and permissions of a node's entry.
const MODE: u32 = libc::S_IFCHR | 0o666;

/// Makes an entry of the tree, or a descriptor when `fd` is one, look like the node that it is.
pub fn patch(config: &Config, stat: &mut libc::stat, fd: Option<RawFd>) {
    let node = match stat.st_mode & libc::S_IFMT {
        libc::S_IFREG => config.entry(stat.st_dev, stat.st_ino),
        libc::S_IFSOCK => match fd.and_then(|fd| inodes::of_stat(fd, stat)) {
            Some(file) => match file.kind {
                Kind::Node(node) => Some(node),
                Kind::DmaBuf | Kind::Sync => None,
            },
            None => None,
        },
        _ => None,
    };
    let Some(node) = node else { return };
    stat.st_mode = MODE;
    stat.st_rdev = libc::makedev(MAJOR, node.minor());
    stat.st_nlink = 1;
    stat.st_size = 0;
    stat.st_blocks = 0;
    if let Some(identity) = config.identity(node) {
        (stat.st_dev, stat.st_ino) = identity;
    }
}

/// The same for `statx`.
pub fn patch_statx(config: &Config, stat: &mut libc::statx, fd: Option<RawFd>) {
    let format = libc::S_IFMT as u16;
    let dev = libc::makedev(stat.stx_dev_major, stat.stx_dev_minor);
    let node = match u32::from(stat.stx_mode & format) {
        libc::S_IFREG => config.entry(dev, stat.stx_ino),
        libc::S_IFSOCK => match fd.and_then(inodes::of_fd) {
            Some(inodes::File {
                kind: Kind::Node(node),
                ..
            }) => Some(node),
            _ => None,
        },
        _ => None,
    };
    let Some(node) = node else { return };
    stat.stx_mode = MODE as u16;
    (stat.stx_rdev_major, stat.stx_rdev_minor) = (MAJOR, node.minor());
    stat.stx_nlink = 1;
    stat.stx_size = 0;
    stat.stx_blocks = 0;
    if let Some((dev, ino)) = config.identity(node) {
        (stat.stx_dev_major, stat.stx_dev_minor) = (libc::major(dev), libc::minor(dev));
        stat.stx_ino = ino;
    }
}

//! What the system says is mapped where: /proc/self/maps (proc_pid_maps(5)).
//!
//! A program that unmaps past libc leaves this library's table with what is not there any more.

use crate::buffer::Short;
use crate::own;
use crate::sys::memory::Page;
use crate::sys::{self, Result};

/// A mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    /// Protection, as `mmap` takes it.
    pub prot: i32,
    /// Device and inode of what is mapped; zeros for memory alone.
    pub file: (u64, u64),
    /// Byte of the file at `start`.
    pub offset: u64,
}

/// Runs `each` for all that is mapped somewhere in `start..end`, cut to it, in order.
pub fn between(start: u64, end: u64, mut each: impl FnMut(Mapping)) -> Result<()> {
    let mut page = Page::new()?;
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    let file = own::make(|| sys::openat(libc::AT_FDCWD, c"/proc/self/maps", flags, 0))?;
    // What is looked at stands before the name, which may be long.
    let mut line = Short::<96>::new();
    let mut read = || -> Result<()> {
        loop {
            let len = own::using(file, |fd| sys::read(fd, page.as_mut()))?;
            if len == 0 {
                return Ok(());
            }
            for byte in page.as_ref().iter().take(len) {
                if *byte != b'\n' {
                    line.push(&[*byte]);
                    continue;
                }
                let mapping = parse(line.bytes()).ok_or(libc::EINVAL)?;
                line.clear();
                if mapping.start >= end {
                    return Ok(());
                }
                if mapping.end > start {
                    each(Mapping {
                        start: mapping.start.max(start),
                        end: mapping.end.min(end),
                        offset: mapping.offset + start.saturating_sub(mapping.start),
                        ..mapping
                    });
                }
            }
        }
    };
    let result = read();
    own::close(file);
    result
}

/// The beginning of a line: addresses, protection, offset, device, inode.
fn parse(line: &[u8]) -> Option<Mapping> {
    let mut fields = str::from_utf8(line.get(..line.len().min(80))?)
        .ok()?
        .split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let flags = fields.next()?;
    let offset = u64::from_str_radix(fields.next()?, 16).ok()?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let inode = fields.next()?.parse().ok()?;
    let device = libc::makedev(
        u32::from_str_radix(major, 16).ok()?,
        u32::from_str_radix(minor, 16).ok()?,
    );
    let kinds = [
        ('r', libc::PROT_READ),
        ('w', libc::PROT_WRITE),
        ('x', libc::PROT_EXEC),
    ];
    let prot = kinds
        .into_iter()
        .filter(|(letter, _)| flags.contains(*letter));
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        prot: prot.fold(0, |all, (_, bit)| all | bit),
        file: (device, inode),
        offset,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Lines of proc_pid_maps(5).
    #[test]
    fn lines_of_the_manual_page() {
        let line = b"00400000-00452000 r-xp 00005000 08:02 173521      /usr/bin/dbus-daemon";
        let expected = Mapping {
            start: 0x40_0000,
            end: 0x45_2000,
            prot: libc::PROT_READ | libc::PROT_EXEC,
            file: (libc::makedev(8, 2), 173_521),
            offset: 0x5000,
        };
        assert_eq!(parse(line), Some(expected));
        let line = b"f2c6ff8c000-7f2c7078c000 rw-p 00000000 00:00 0    [stack:986]";
        let found = parse(line);
        assert_eq!(found.map(|mapping| mapping.file), Some((0, 0)));
        let end = found.map(|mapping| (mapping.end, mapping.prot));
        assert_eq!(end, Some((0x7f2c_7078_c000, 3)));
        assert_eq!(parse(b"7f2c"), None);
    }
}

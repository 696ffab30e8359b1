//! Links and canonical paths: what comes out are the system's paths.

use core::ffi::{c_char, c_int};
use core::ptr::null_mut;

use libc::AT_FDCWD;

use super::{at, export, text};
use crate::buffer::Buffer;
use crate::inodes::{self, Kind};
use crate::next::{Next, next};
use crate::sys::{self, Result, errno, ours};
use crate::{config, path};

export! {
    [readlink] (path: *const c_char, to: *mut c_char, len: usize) -> isize
        => |path, to, len| readlink_at(AT_FDCWD, path, to, len);
    [__readlink_chk] (path: *const c_char, to: *mut c_char, len: usize, _room: usize) -> isize
        => |path, to, len: usize, room: usize| readlink_at(AT_FDCWD, path, to, len.min(room));
    [readlinkat] (dir: c_int, path: *const c_char, to: *mut c_char, len: usize) -> isize => readlink_at;
    [__readlinkat_chk] (dir: c_int, path: *const c_char, to: *mut c_char, len: usize, _room: usize) -> isize
        => |dir, path, to, len: usize, room: usize| readlink_at(dir, path, to, len.min(room));
    [realpath] (path: *const c_char, to: *mut c_char) -> *mut c_char => real;
    [__realpath_chk] (path: *const c_char, to: *mut c_char, _room: usize) -> *mut c_char
        => |path, to, _| real(path, to);
    [canonicalize_file_name] (path: *const c_char) -> *mut c_char => |path| real(path, null_mut());
}

/// # Safety
///
/// As `readlinkat`.
unsafe fn readlink_at(dir: c_int, path: *const c_char, to: *mut c_char, len: usize) -> isize {
    let elsewhere = || {
        // SAFETY: the kernel checks what it is given.
        let got = sys::check(unsafe { libc::syscall(libc::SYS_readlinkat, dir, path, to, len) })?;
        // SAFETY: as the caller promises.
        let path = unsafe { text(path) }.map_or(&b""[..], |path| path.to_bytes());
        if !path.starts_with(b"/proc/") {
            return Ok(got as isize);
        }
        let got = usize::try_from(got).unwrap_or(0);
        // SAFETY: the kernel has written so many bytes there.
        let seen = unsafe { core::slice::from_raw_parts(to.cast::<u8>(), got) };
        let known = translate(seen);
        if known == seen {
            return Ok(got as isize);
        }
        // SAFETY: the kernel could write there.
        Ok(unsafe { give(known.as_ptr(), known.len(), to, len) })
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(dir, path, elsewhere, |place| {
            let mut link = Buffer::new()?;
            sys::read_link(place.as_cstr(), &mut link)?;
            let known = translate(link.bytes());
            Ok(give(known.as_ptr(), known.len(), to, len))
        })
    })
}

/// Copies as much as fits; without a zero, as `readlink` does. The bytes may lie where they are to go.
unsafe fn give(bytes: *const u8, count: usize, to: *mut c_char, len: usize) -> isize {
    let len = len.min(count);
    // SAFETY: the caller has room for `len` bytes, and there are as many.
    unsafe { core::ptr::copy(bytes.cast(), to, len) };
    len as isize
}

/// What a program should see of a link: no tree, no socket that is the node.
fn translate(seen: &[u8]) -> &[u8] {
    let socket = seen
        .strip_prefix(b"socket:[")
        .and_then(|rest| rest.strip_suffix(b"]"))
        .and_then(|digits| str::from_utf8(digits).ok()?.parse().ok())
        .and_then(inodes::seen);
    match (socket, config::get().tree()) {
        (Some(Kind::Node(node)), _) => node.path(),
        (_, Some(tree)) => path::strip(tree, seen),
        _ => seen,
    }
}

type Real = unsafe extern "C" fn(*const c_char, *mut c_char) -> *mut c_char;
static REAL: Next = Next::new(c"realpath");

/// # Safety
///
/// As `realpath`.
unsafe fn real(path: *const c_char, to: *mut c_char) -> *mut c_char {
    let run = |path: *const c_char| -> Result<*mut c_char> {
        let real = next!(REAL, Real).ok_or(libc::ENOSYS)?;
        // SAFETY: the caller's arguments, or a path of the tree.
        let found = unsafe { real(path, to) };
        if found.is_null() {
            Err(errno())
        } else {
            Ok(found)
        }
    };
    // SAFETY: as the caller promises; what comes back is text that may be changed.
    ours(null_mut(), || unsafe {
        at(
            AT_FDCWD,
            path,
            || run(path),
            |place| {
                let found = run(place.as_cstr().as_ptr())?;
                let all = core::ffi::CStr::from_ptr(found).to_bytes_with_nul();
                let tree = config::get().tree().unwrap_or_default();
                let rest = path::strip(tree, all);
                let (from, len) = (all.len() - rest.len(), rest.len());
                core::ptr::copy(found.add(from), found, len);
                Ok(found)
            },
        )
    })
}

//! Directories and streams.
//!
//! Not modelled: `glob`, `nftw`, `fts` (the calls within libc cannot be seen).

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::null_mut;

use libc::{AT_FDCWD, dirent, dirent64};

use super::{at, export, text};
use crate::next::{Next, next};
use crate::sys::{Result, errno, ours};
use crate::{config, fresh};

type Opendir = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Readdir = unsafe extern "C" fn(*mut c_void) -> *mut dirent64;
type Scandir =
    unsafe extern "C" fn(*const c_char, *mut c_void, *const c_void, *const c_void) -> c_int;
type Fopen = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut c_void;

static OPENDIR: Next = Next::new(c"opendir");
static READDIR: Next = Next::new(c"readdir64");
static SCANDIR: Next = Next::new(c"scandir64");
static FOPEN: Next = Next::new(c"fopen64");

export! {
    [opendir] (path: *const c_char) -> *mut c_void => open_directory;
    [readdir64] (directory: *mut c_void) -> *mut dirent64 => read_directory;
    // The structures are one on 64-bit machines.
    [readdir] (directory: *mut c_void) -> *mut dirent => |directory| read_directory(directory).cast();
    [scandir scandir64] (path: *const c_char, to: *mut c_void, select: *const c_void, order: *const c_void) -> c_int
        => scan_directory;
    [fopen fopen64] (path: *const c_char, mode: *const c_char) -> *mut c_void => open_stream;
}

fn found(pointer: *mut c_void) -> Result<*mut c_void> {
    if pointer.is_null() {
        Err(errno())
    } else {
        Ok(pointer)
    }
}

/// # Safety
///
/// As `opendir`.
unsafe fn open_directory(path: *const c_char) -> *mut c_void {
    let run = |path: *const c_char| {
        let open = next!(OPENDIR, Opendir).ok_or(libc::ENOSYS)?;
        // SAFETY: the caller's path, or one of the tree.
        found(unsafe { open(path) })
    };
    // SAFETY: as the caller promises.
    ours(null_mut(), || unsafe {
        at(
            AT_FDCWD,
            path,
            || run(path),
            |place| run(place.as_cstr().as_ptr()),
        )
    })
}

/// # Safety
///
/// As `readdir`.
unsafe fn read_directory(directory: *mut c_void) -> *mut dirent64 {
    let Some(read) = next!(READDIR, Readdir) else {
        return null_mut();
    };
    // SAFETY: the caller's directory; an entry may be changed until the next is read.
    unsafe {
        let entry = read(directory);
        if let Some(entry) = entry.as_mut()
            && entry.d_type == libc::DT_REG
            && config::get().is_entry(
                entry.d_ino,
                CStr::from_ptr(entry.d_name.as_ptr()).to_bytes(),
            )
        {
            entry.d_type = libc::DT_CHR;
        }
        entry
    }
}

/// # Safety
///
/// As `scandir`.
unsafe fn scan_directory(
    path: *const c_char,
    to: *mut c_void,
    select: *const c_void,
    order: *const c_void,
) -> c_int {
    let run = |path: *const c_char| {
        let scan = next!(SCANDIR, Scandir).ok_or(libc::ENOSYS)?;
        // SAFETY: the caller's arguments, or a path of the tree.
        match unsafe { scan(path, to, select, order) } {
            -1 => Err(errno()),
            count => Ok(count),
        }
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(
            AT_FDCWD,
            path,
            || run(path),
            |place| run(place.as_cstr().as_ptr()),
        )
    })
}

/// # Safety
///
/// As `fopen`.
unsafe fn open_stream(path: *const c_char, mode: *const c_char) -> *mut c_void {
    let run = |path: *const c_char| {
        let open = next!(FOPEN, Fopen).ok_or(libc::ENOSYS)?;
        // SAFETY: the caller's arguments, or a path of the tree.
        found(unsafe { open(path, mode) })
    };
    // SAFETY: as the caller promises.
    ours(null_mut(), || unsafe {
        at(
            AT_FDCWD,
            path,
            || run(path),
            |place| {
                let mode = text(mode).map_or(&b""[..], CStr::to_bytes);
                let access = match (mode.contains(&b'+'), mode.starts_with(b"r")) {
                    (true, _) => libc::O_RDWR,
                    (false, true) => libc::O_RDONLY,
                    (false, false) => libc::O_WRONLY,
                };
                let state = fresh::state(place, access)?;
                let path = state.as_ref().map_or(place.as_cstr(), fresh::State::path);
                run(path.as_ptr())
            },
        )
    })
}

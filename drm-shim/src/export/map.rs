//! `mmap`, `munmap`, `mremap`, `remap_file_pages`.
//!
//! Called by allocators before anything else works: no allocation on what is not the node's.

use core::ffi::{c_int, c_void};

use super::export;
use crate::sys::memory::{self, Wish};
use crate::sys::ours;
use crate::{inodes, map};

export! {
    [mmap mmap64] (address: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void
        => map_at;
    [munmap] (address: *mut c_void, len: usize) -> c_int => unmap;
    [mremap] (old: *mut c_void, len: usize, new_len: usize, flags: c_int, new: *mut c_void) -> *mut c_void => remap;
    [remap_file_pages] (address: *mut c_void, len: usize, prot: c_int, page: usize, flags: c_int) -> c_int => reorder;
}

fn pointer(address: usize) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(address)
}

unsafe fn map_at(
    address: *mut c_void,
    len: usize,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    let wish = Wish {
        address: address.expose_provenance(),
        len,
        prot,
        flags,
        fd,
        offset,
    };
    ours(libc::MAP_FAILED, || {
        if wish.flags & libc::MAP_ANONYMOUS == 0
            && wish.fd >= 0
            && let Some(file) = inodes::of_fd(wish.fd)
        {
            return map::map(file, wish).map(pointer);
        }
        if wish.flags & libc::MAP_FIXED != 0 && map::touches(wish.address, wish.len) {
            return map::over(wish.address, wish.len, || memory::map(wish)).map(pointer);
        }
        memory::map(wish).map(pointer)
    })
}

unsafe fn unmap(address: *mut c_void, len: usize) -> c_int {
    let address = address.addr();
    ours(-1, || {
        let aligned = (address as u64).is_multiple_of(memory::PAGE);
        if aligned && len != 0 && map::touches(address, len) {
            return map::over(address, len, || memory::unmap(address, len));
        }
        memory::unmap(address, len)
    })
}

/// A mapping of the device shows its object in its order.
unsafe fn reorder(
    address: *mut c_void,
    len: usize,
    prot: c_int,
    page: usize,
    flags: c_int,
) -> c_int {
    let address = address.addr();
    ours(-1, || {
        if map::touches(address, len.max(1)) {
            return Err(libc::EINVAL);
        }
        memory::reorder(address, len, prot, page, flags)
    })
}

unsafe fn remap(
    old: *mut c_void,
    len: usize,
    new_len: usize,
    flags: c_int,
    new: *mut c_void,
) -> *mut c_void {
    let fixed = flags & libc::MREMAP_FIXED != 0;
    let wish = map::Move {
        old: old.addr(),
        len,
        new_len,
        flags,
        new: if fixed { new.addr() } else { 0 },
    };
    ours(libc::MAP_FAILED, || {
        if map::touches(wish.old, len.max(1)) || fixed && map::touches(wish.new, new_len) {
            return map::move_mapping(wish).map(pointer);
        }
        wish.make().map(pointer)
    })
}

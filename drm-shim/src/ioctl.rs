//! Requests to the node.
//!
//! i915 `i915_gem_mman.c` for GEM_MMAP. The argument block goes along; what else a request points to, the node reads and
//! writes in the caller's memory itself.

use core::ffi::c_int;
use core::mem::MaybeUninit;

use wire::{Head, Op};
use zerocopy::IntoBytes;

use crate::inodes::File;
use crate::sys::Result;
use crate::sys::memory::{Block, PAGE, copy_out, copy_out_known};
use crate::sys::socket::{Packet, Room};
use crate::{link, map};

/// Types of requests that are the node's: DRM, sync files, dma-bufs.
pub fn is_ours(request: u32) -> bool {
    matches!((request >> 8) as u8, b'd' | b'>' | b'b')
}

/// A request's size of argument, whether the kernel reads it, whether it writes it.
fn layout(request: u32) -> (usize, bool, bool) {
    // The argument is a text that may be shorter than the size says, which is that of a pointer.
    if request & 0xffff == SET_NAME {
        return (0, false, false);
    }
    let size = request >> 16 & 0x3fff;
    (size as usize, request >> 30 & 1 != 0, request >> 31 != 0)
}

/// Type and number of DRM_IOCTL_I915_GEM_MMAP. Its argument has had two sizes (without flags and with them), and the
/// kernel takes any.
const GEM_MMAP: u32 = drm(0x5e);
/// Type and number of DMA_BUF_SET_NAME, of which there are two sizes.
const SET_NAME: u32 = (b'b' as u32) << 8 | 1;

/// Type and number of DRM requests.
const fn drm(number: u32) -> u32 {
    (b'd' as u32) << 8 | number
}

/// Requests that wait and write nothing but their block: handlers of signals run meanwhile. THROTTLE, SET_DOMAIN, WAIT of
/// i915, SYNCOBJ_WAIT, SYNCOBJ_TIMELINE_WAIT.
const WAITS: [u32; 5] = [drm(0x58), drm(0x5f), drm(0x6c), drm(0xc3), drm(0xca)];

/// Sends a request on a file of the node.
#[inline(never)]
pub fn request(file: File, request: u32, argument: usize) -> Result<c_int> {
    let (size, reads, writes) = layout(request);
    let head = Head::new(
        Op::Ioctl,
        file.fd as u64,
        [u64::from(request), argument as u64, 0],
    );
    let payload = Block {
        address: argument,
        len: if reads { size } else { 0 },
    };
    #[expect(
        clippy::large_stack_arrays,
        reason = "nothing may be allocated, and most of it is never touched"
    )]
    let mut room: Room = [MaybeUninit::uninit(); size_of::<Room>()];
    let mut packet = Packet::with(&mut room);
    let result = exchange(request, head, payload, &mut packet);
    // A request that fails may write its block all the same (a wait tells the time that was left).
    if writes && packet.head.len > 0 {
        let len = (packet.head.len as usize).min(size);
        let Some(block) = packet.body_mut().get_mut(..len) else {
            link::protocol("an answer is shorter than it says");
            return Err(libc::ENODEV);
        };
        if request & 0xffff == GEM_MMAP && result.is_ok() {
            place(file, block)?;
        }
        if reads {
            copy_out_known(argument, block);
        } else {
            copy_out(argument, block)?;
        }
    }
    result
}

fn exchange(request: u32, head: Head, payload: Block, packet: &mut Packet) -> Result<c_int> {
    let packet = core::cell::RefCell::new(packet);
    let ask = |link: &mut link::Link| link.ask(head, payload, &mut packet.borrow_mut());
    if WAITS.contains(&(request & 0xffff)) {
        link::with(ask)
    } else {
        link::with_signals_blocked(ask)
    }
}

/// GEM_MMAP: the driver has put the offset of the bytes in the node where the caller expects their address.
fn place(file: File, block: &mut [u8]) -> Result<()> {
    if block.len() < 32 {
        // A mapping whose address the caller cannot be told is not made.
        block.get_mut(24..).unwrap_or_default().fill(0);
        return Ok(());
    }
    let word = |at: usize| {
        let bytes = block.get(at..at + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    let (Some(len), Some(offset)) = (word(16), word(24)) else {
        return Err(libc::EINVAL);
    };
    let wish = crate::sys::memory::Wish {
        address: 0,
        len: len.next_multiple_of(PAGE) as usize,
        prot: libc::PROT_READ | libc::PROT_WRITE,
        flags: libc::MAP_SHARED,
        fd: -1,
        offset: offset as i64,
    };
    let address = map::map(file, wish)? as u64;
    if let Some(to) = block.get_mut(24..32) {
        to.copy_from_slice(address.as_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Numbers as <drm/i915_drm.h> makes them.
    #[test]
    fn requests_say_what_they_carry() {
        assert_eq!(GEM_MMAP, 0xc028_645e & 0xffff);
        assert_eq!(GEM_MMAP, 0xc020_645e & 0xffff);
        // DMA_BUF_SET_NAME_A, DMA_BUF_SET_NAME_B: no block
        assert_eq!(layout(0x4004_6201), (0, false, false));
        assert_eq!(layout(0x4008_6201), (0, false, false));
        // DRM_IOCTL_VERSION
        assert_eq!(layout(0xc040_6400), (64, true, true));
        // DRM_IOCTL_I915_GEM_SW_FINISH
        assert_eq!(layout(0x4004_6460), (4, true, false));
        // DRM_IOCTL_I915_GEM_GET_APERTURE
        assert_eq!(layout(0x8010_6463), (16, false, true));
        assert!(is_ours(0xc040_6400) && !is_ours(0x5401));
    }
}

//! i915_drm.h: execution.
//!
//! Not modelled: the first execbuffer, which Linux refuses as well.
use super::context::UserExtension;
use super::drm::COMMAND_BASE;
use super::{Request, structures};

structures! {
    /// `drm_i915_gem_relocation_entry`.
    Relocation {
        /// Handle, or index with [`HANDLE_LUT`].
        target_handle: u32,
        /// What is added to the target's address.
        delta: u32,
        /// Where the address goes.
        offset: u64,
        /// Where user space believes the target.
        presumed_offset: u64,
        /// Domains that read the target.
        read_domains: u32,
        /// The domain that writes it.
        write_domain: u32,
    }
    /// `drm_i915_gem_exec_object2`.
    Object {
        /// The object.
        handle: u32,
        /// Number of relocations in it.
        relocation_count: u32,
        /// Array of relocations.
        relocs_ptr: u64,
        /// Alignment wanted, 0 for any.
        alignment: u64,
        /// Where it was, is to be, or is.
        offset: u64,
        /// `OBJECT_*`.
        flags: u64,
        /// Bytes of address space, with [`OBJECT_PAD_TO_SIZE`].
        pad_to_size: u64,
        /// Unused.
        rsvd2: u64,
    }
    /// `drm_i915_gem_exec_fence`.
    Fence {
        /// The sync object.
        handle: u32,
        /// `FENCE_WAIT`, `FENCE_SIGNAL`.
        flags: u32,
    }
    /// `drm_i915_gem_execbuffer_ext_timeline_fences`.
    TimelineFences {
        /// Link of the chain.
        base: UserExtension,
        /// Number of fences.
        fence_count: u64,
        /// Array of [`Fence`].
        handles_ptr: u64,
        /// Array of points.
        values_ptr: u64,
    }
    /// `drm_i915_gem_execbuffer2`.
    Execbuffer2 {
        /// Array of [`Object`].
        buffers_ptr: u64,
        /// Number of objects.
        buffer_count: u32,
        /// First byte of the batch in its object.
        batch_start_offset: u32,
        /// Bytes of the batch, 0 for all.
        batch_len: u32,
        /// Must be zero.
        dr1: u32,
        /// Must be zero.
        dr4: u32,
        /// Number of fences, with [`FENCE_ARRAY`].
        num_cliprects: u32,
        /// Array of fences or chain of extensions.
        cliprects_ptr: u64,
        /// Flags, below.
        flags: u64,
        /// The context, in the lower half.
        rsvd1: u64,
        /// Fence descriptors: in, in the lower half, out, in the upper.
        rsvd2: u64,
    }
}

/// `DRM_IOCTL_I915_GEM_EXECBUFFER2`.
pub const EXECBUFFER2: Request = Request::iow::<Execbuffer2>(COMMAND_BASE + 0x29);
/// `DRM_IOCTL_I915_GEM_EXECBUFFER2_WR`.
pub const EXECBUFFER2_WR: Request = Request::iowr::<Execbuffer2>(COMMAND_BASE + 0x29);

/// `I915_EXEC_RING_MASK`.
pub const RING_MASK: u64 = 0x3f;
/// `I915_EXEC_DEFAULT`.
pub const DEFAULT: u64 = 0;
/// `I915_EXEC_RENDER`.
pub const RENDER: u64 = 1;
/// `I915_EXEC_BSD`.
pub const BSD: u64 = 2;
/// `I915_EXEC_BLT`.
pub const BLT: u64 = 3;
/// `I915_EXEC_CONSTANTS_MASK`.
pub const CONSTANTS_MASK: u64 = 3 << 6;
/// `I915_EXEC_GEN7_SOL_RESET`, which has a generation in its name.
pub const SOL_RESET: u64 = 1 << 8;
/// `I915_EXEC_SECURE`.
pub const SECURE: u64 = 1 << 9;
/// `I915_EXEC_IS_PINNED`.
pub const IS_PINNED: u64 = 1 << 10;
/// `I915_EXEC_NO_RELOC`.
pub const NO_RELOC: u64 = 1 << 11;
/// `I915_EXEC_HANDLE_LUT`.
pub const HANDLE_LUT: u64 = 1 << 12;
/// `I915_EXEC_BSD_MASK`.
pub const BSD_MASK: u64 = 3 << 13;
/// `I915_EXEC_RESOURCE_STREAMER`.
pub const RESOURCE_STREAMER: u64 = 1 << 15;
/// `I915_EXEC_FENCE_IN`.
pub const FENCE_IN: u64 = 1 << 16;
/// `I915_EXEC_FENCE_OUT`.
pub const FENCE_OUT: u64 = 1 << 17;
/// `I915_EXEC_BATCH_FIRST`.
pub const BATCH_FIRST: u64 = 1 << 18;
/// `I915_EXEC_FENCE_ARRAY`.
pub const FENCE_ARRAY: u64 = 1 << 19;
/// `I915_EXEC_FENCE_SUBMIT`.
pub const FENCE_SUBMIT: u64 = 1 << 20;
/// `I915_EXEC_USE_EXTENSIONS`.
pub const USE_EXTENSIONS: u64 = 1 << 21;
/// `__I915_EXEC_UNKNOWN_FLAGS`.
pub const UNKNOWN_FLAGS: u64 = !((USE_EXTENSIONS << 1) - 1);

/// `EXEC_OBJECT_NEEDS_FENCE`.
pub const OBJECT_NEEDS_FENCE: u64 = 1 << 0;
/// `EXEC_OBJECT_NEEDS_GTT`.
pub const OBJECT_NEEDS_GTT: u64 = 1 << 1;
/// `EXEC_OBJECT_WRITE`.
pub const OBJECT_WRITE: u64 = 1 << 2;
/// `EXEC_OBJECT_SUPPORTS_48B_ADDRESS`.
pub const OBJECT_SUPPORTS_48B_ADDRESS: u64 = 1 << 3;
/// `EXEC_OBJECT_PINNED`.
pub const OBJECT_PINNED: u64 = 1 << 4;
/// `EXEC_OBJECT_PAD_TO_SIZE`.
pub const OBJECT_PAD_TO_SIZE: u64 = 1 << 5;
/// `EXEC_OBJECT_ASYNC`.
pub const OBJECT_ASYNC: u64 = 1 << 6;
/// `EXEC_OBJECT_CAPTURE`.
pub const OBJECT_CAPTURE: u64 = 1 << 7;
/// `__EXEC_OBJECT_UNKNOWN_FLAGS`.
pub const OBJECT_UNKNOWN_FLAGS: u64 = !((OBJECT_CAPTURE << 1) - 1);

/// `I915_EXEC_FENCE_WAIT`.
pub const FENCE_WAIT: u32 = 1 << 0;
/// `I915_EXEC_FENCE_SIGNAL`.
pub const FENCE_SIGNAL: u32 = 1 << 1;
/// `__I915_EXEC_FENCE_UNKNOWN_FLAGS`.
pub const FENCE_UNKNOWN_FLAGS: u32 = !((FENCE_SIGNAL << 1) - 1);
/// `DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES`.
pub const EXT_TIMELINE_FENCES: u32 = 0;

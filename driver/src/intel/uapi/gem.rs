//! i915_drm.h: objects.
//!
//! Not modelled: protected objects.
use super::drm::COMMAND_BASE;
use super::{Request, structures};

structures! {
    /// `drm_i915_gem_create`.
    Create {
        /// Bytes wanted, then bytes given.
        size: u64,
        /// The new handle.
        handle: u32,
        /// Unused.
        pad: u32,
    }
    /// `drm_i915_gem_create_ext`.
    CreateExt {
        /// Bytes wanted, then bytes given.
        size: u64,
        /// The new handle.
        handle: u32,
        /// [`NEEDS_CPU_ACCESS`].
        flags: u32,
        /// Chain of extensions.
        extensions: u64,
    }
    /// `drm_i915_gem_create_ext_memory_regions`.
    CreateExtMemoryRegions {
        /// Link of the chain.
        base: super::context::UserExtension,
        /// Must be zero.
        pad: u32,
        /// Number of regions.
        num_regions: u32,
        /// Array of regions.
        regions: u64,
    }
    /// `drm_i915_gem_pread` and `drm_i915_gem_pwrite`.
    Transfer {
        /// The object.
        handle: u32,
        /// Unused.
        pad: u32,
        /// First byte in the object.
        offset: u64,
        /// Number of bytes.
        size: u64,
        /// Memory of the process.
        data_ptr: u64,
    }
    /// `drm_i915_gem_mmap`.
    Mmap {
        /// The object.
        handle: u32,
        /// Unused.
        pad: u32,
        /// First byte in the object.
        offset: u64,
        /// Number of bytes.
        size: u64,
        /// Address of the mapping.
        addr_ptr: u64,
        /// [`MMAP_WC`].
        flags: u64,
    }
    /// `drm_i915_gem_mmap_gtt`.
    MmapGtt {
        /// The object.
        handle: u32,
        /// Unused.
        pad: u32,
        /// Offset for `mmap` of the node.
        offset: u64,
    }
    /// `drm_i915_gem_mmap_offset`.
    MmapOffset {
        /// The object.
        handle: u32,
        /// Unused.
        pad: u32,
        /// Offset for `mmap` of the node.
        offset: u64,
        /// `MMAP_OFFSET_*`.
        flags: u64,
        /// Chain of extensions; none exist.
        extensions: u64,
    }
    /// `drm_i915_gem_set_domain`.
    SetDomain {
        /// The object.
        handle: u32,
        /// Domains that will read.
        read_domains: u32,
        /// The domain that will write.
        write_domain: u32,
    }
    /// `drm_i915_gem_sw_finish`.
    SwFinish {
        /// The object.
        handle: u32,
    }
    /// `drm_i915_gem_busy`.
    Busy {
        /// The object.
        handle: u32,
        /// Readers in the upper half, writer in the lower.
        busy: u32,
    }
    /// `drm_i915_gem_caching`.
    Caching {
        /// The object.
        handle: u32,
        /// `CACHING_*`.
        caching: u32,
    }
    /// `drm_i915_gem_set_tiling`.
    SetTiling {
        /// The object.
        handle: u32,
        /// `TILING_*`.
        tiling_mode: u32,
        /// Bytes of a row.
        stride: u32,
        /// How bit 6 of addresses is swizzled.
        swizzle_mode: u32,
    }
    /// `drm_i915_gem_get_tiling`.
    GetTiling {
        /// The object.
        handle: u32,
        /// `TILING_*`.
        tiling_mode: u32,
        /// How bit 6 of addresses is swizzled.
        swizzle_mode: u32,
        /// The same as the memory has it.
        phys_swizzle_mode: u32,
    }
    /// `drm_i915_gem_get_aperture`.
    GetAperture {
        /// Bytes of the GTT.
        aper_size: u64,
        /// Bytes of it that are not pinned.
        aper_available_size: u64,
    }
    /// `drm_i915_gem_madvise`.
    Madvise {
        /// The object.
        handle: u32,
        /// `MADV_*`.
        madv: u32,
        /// Whether the contents are still there.
        retained: u32,
    }
    /// `drm_i915_gem_wait`.
    Wait {
        /// The object.
        bo_handle: u32,
        /// Must be zero.
        flags: u32,
        /// Nanoseconds to wait, negative for ever; then what is left.
        timeout_ns: i64,
    }
    /// `drm_i915_gem_userptr`.
    Userptr {
        /// First byte in the process.
        user_ptr: u64,
        /// Number of bytes.
        user_size: u64,
        /// Flags.
        flags: u32,
        /// The new handle.
        handle: u32,
    }
}

const fn command(number: u32) -> u32 {
    COMMAND_BASE + number
}

/// `DRM_IOCTL_I915_GEM_BUSY`.
pub const BUSY: Request = Request::iowr::<Busy>(command(0x17));
/// `DRM_IOCTL_I915_GEM_THROTTLE`.
pub const THROTTLE: Request = Request::io(command(0x18));
/// `DRM_IOCTL_I915_GEM_CREATE`.
pub const CREATE: Request = Request::iowr::<Create>(command(0x1b));
/// `DRM_IOCTL_I915_GEM_PREAD`.
pub const PREAD: Request = Request::iow::<Transfer>(command(0x1c));
/// `DRM_IOCTL_I915_GEM_PWRITE`.
pub const PWRITE: Request = Request::iow::<Transfer>(command(0x1d));
/// `DRM_IOCTL_I915_GEM_MMAP`.
pub const MMAP: Request = Request::iowr::<Mmap>(command(0x1e));
/// `DRM_IOCTL_I915_GEM_SET_DOMAIN`.
pub const SET_DOMAIN: Request = Request::iow::<SetDomain>(command(0x1f));
/// `DRM_IOCTL_I915_GEM_SW_FINISH`.
pub const SW_FINISH: Request = Request::iow::<SwFinish>(command(0x20));
/// `DRM_IOCTL_I915_GEM_SET_TILING`.
pub const SET_TILING: Request = Request::iowr::<SetTiling>(command(0x21));
/// `DRM_IOCTL_I915_GEM_GET_TILING`.
pub const GET_TILING: Request = Request::iowr::<GetTiling>(command(0x22));
/// `DRM_IOCTL_I915_GEM_GET_APERTURE`.
pub const GET_APERTURE: Request = Request::ior::<GetAperture>(command(0x23));
/// `DRM_IOCTL_I915_GEM_MMAP_GTT`: the shorter form of the next.
pub const MMAP_GTT: Request = Request::iowr::<MmapGtt>(command(0x24));
/// `DRM_IOCTL_I915_GEM_MMAP_OFFSET`.
pub const MMAP_OFFSET: Request = Request::iowr::<MmapOffset>(command(0x24));
/// `DRM_IOCTL_I915_GEM_MADVISE`.
pub const MADVISE: Request = Request::iowr::<Madvise>(command(0x26));
/// `DRM_IOCTL_I915_GEM_WAIT`.
pub const WAIT: Request = Request::iowr::<Wait>(command(0x2c));
/// `DRM_IOCTL_I915_GEM_SET_CACHING`.
pub const SET_CACHING: Request = Request::iow::<Caching>(command(0x2f));
/// `DRM_IOCTL_I915_GEM_GET_CACHING`.
pub const GET_CACHING: Request = Request::iowr::<Caching>(command(0x30));
/// `DRM_IOCTL_I915_GEM_USERPTR`.
pub const USERPTR: Request = Request::iowr::<Userptr>(command(0x33));
/// `DRM_IOCTL_I915_GEM_CREATE_EXT`.
pub const CREATE_EXT: Request = Request::iowr::<CreateExt>(command(0x3c));

/// `I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS`.
pub const NEEDS_CPU_ACCESS: u32 = 1 << 0;
/// `I915_MMAP_WC`.
pub const MMAP_WC: u64 = 1;
/// `I915_MMAP_OFFSET_GTT`: through the aperture.
pub const MMAP_OFFSET_GTT: u64 = 0;
/// `I915_MMAP_OFFSET_WC`: write-combined.
pub const MMAP_OFFSET_WC: u64 = 1;
/// `I915_MMAP_OFFSET_WB`: cached.
pub const MMAP_OFFSET_WB: u64 = 2;
/// `I915_MMAP_OFFSET_UC`: uncached.
pub const MMAP_OFFSET_UC: u64 = 3;
/// `I915_MMAP_OFFSET_FIXED`: as the placement says.
pub const MMAP_OFFSET_FIXED: u64 = 4;

/// Domains (`I915_GEM_DOMAIN_*`).
pub mod domain {
    /// The CPU's caches.
    pub const CPU: u32 = 0x01;
    /// The render cache.
    pub const RENDER: u32 = 0x02;
    /// The sampler's cache.
    pub const SAMPLER: u32 = 0x04;
    /// The command parser.
    pub const COMMAND: u32 = 0x08;
    /// The instruction cache.
    pub const INSTRUCTION: u32 = 0x10;
    /// The vertex fetcher.
    pub const VERTEX: u32 = 0x20;
    /// The aperture.
    pub const GTT: u32 = 0x40;
    /// Write-combined mappings.
    pub const WC: u32 = 0x80;
    /// All of the GPU (`I915_GEM_GPU_DOMAINS`).
    pub const GPU: u32 = RENDER | SAMPLER | COMMAND | INSTRUCTION | VERTEX;
}

/// `I915_CACHING_NONE`.
pub const CACHING_NONE: u32 = 0;
/// `I915_CACHING_CACHED`.
pub const CACHING_CACHED: u32 = 1;
/// `I915_CACHING_DISPLAY`.
pub const CACHING_DISPLAY: u32 = 2;
/// `I915_TILING_NONE`.
pub const TILING_NONE: u32 = 0;
/// `I915_TILING_X`.
pub const TILING_X: u32 = 1;
/// `I915_TILING_Y`.
pub const TILING_Y: u32 = 2;
/// `I915_BIT_6_SWIZZLE_NONE`.
pub const SWIZZLE_NONE: u32 = 0;
/// `I915_MADV_WILLNEED`.
pub const MADV_WILLNEED: u32 = 0;
/// `I915_MADV_DONTNEED`.
pub const MADV_DONTNEED: u32 = 1;
/// `I915_USERPTR_READ_ONLY`.
pub const USERPTR_READ_ONLY: u32 = 1 << 0;
/// `I915_USERPTR_PROBE`.
pub const USERPTR_PROBE: u32 = 1 << 1;
/// `I915_USERPTR_UNSYNCHRONIZED`.
pub const USERPTR_UNSYNCHRONIZED: u32 = 1 << 31;

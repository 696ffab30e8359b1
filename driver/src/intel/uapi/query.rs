//! i915_drm.h: parameters, queries, register reads.
//!
//! Not modelled: perf configurations.
use super::context::EngineClassInstance;
use super::drm::COMMAND_BASE;
use super::{Request, structures};

structures! {
    /// `drm_i915_getparam`.
    Getparam {
        /// Which parameter, see [`param`].
        param: i32,
        /// Hole before a pointer.
        hole: u32,
        /// Where its value goes.
        value: u64,
    }
    /// `drm_i915_setparam`.
    Setparam {
        /// Which parameter.
        param: i32,
        /// Its value.
        value: i32,
    }
    /// `drm_i915_reg_read`.
    RegRead {
        /// The register, and [`REG_READ_8B_WA`].
        offset: u64,
        /// Its value.
        val: u64,
    }
    /// `drm_i915_query`.
    Query {
        /// Number of items.
        num_items: u32,
        /// Must be zero.
        flags: u32,
        /// Array of items.
        items_ptr: u64,
    }
    /// `drm_i915_query_item`.
    QueryItem {
        /// What is asked, `QUERY_*`.
        query_id: u64,
        /// Room, then bytes or a negative errno.
        length: i32,
        /// Depends on the question.
        flags: u32,
        /// Where the answer goes.
        data_ptr: u64,
    }
    /// `drm_i915_query_topology_info` without its masks.
    TopologyInfo {
        /// Must be zero.
        flags: u16,
        /// Slices.
        max_slices: u16,
        /// Subslices of a slice.
        max_subslices: u16,
        /// Execution units of a subslice.
        max_eus_per_subslice: u16,
        /// Where the subslice masks lie.
        subslice_offset: u16,
        /// Bytes of one.
        subslice_stride: u16,
        /// Where the execution unit masks lie.
        eu_offset: u16,
        /// Bytes of one.
        eu_stride: u16,
    }
    /// `drm_i915_query_engine_info` without its engines.
    QueryEngineInfo {
        /// Number of engines.
        num_engines: u32,
        /// Must be zero.
        rsvd: [u32; 3],
    }
    /// `drm_i915_engine_info`.
    EngineInfo {
        /// The engine.
        engine: EngineClassInstance,
        /// Reserved.
        rsvd0: u32,
        /// Flags.
        flags: u64,
        /// Capabilities.
        capabilities: u64,
        /// Instance within the hardware's class.
        logical_instance: u16,
        /// Reserved.
        rsvd1: [u16; 3],
        /// Reserved.
        rsvd2: [u64; 3],
    }
    /// `drm_i915_query_memory_regions` without its regions.
    QueryMemoryRegions {
        /// Number of regions.
        num_regions: u32,
        /// Must be zero.
        rsvd: [u32; 3],
    }
    /// `drm_i915_gem_memory_class_instance`.
    MemoryClassInstance {
        /// 0 for system memory.
        memory_class: u16,
        /// Number within the class.
        memory_instance: u16,
    }
    /// `drm_i915_memory_region_info`.
    MemoryRegionInfo {
        /// The region.
        region: MemoryClassInstance,
        /// Reserved.
        rsvd0: u32,
        /// Bytes.
        probed_size: u64,
        /// Bytes that are free.
        unallocated_size: u64,
        /// Reserved.
        rsvd1: [u64; 8],
    }
}

/// `DRM_IOCTL_I915_GETPARAM`.
pub const GETPARAM: Request = Request::iowr::<Getparam>(COMMAND_BASE + 0x06);
/// `DRM_IOCTL_I915_SETPARAM`.
pub const SETPARAM: Request = Request::iow::<Setparam>(COMMAND_BASE + 0x07);
/// `DRM_IOCTL_I915_REG_READ`.
pub const REG_READ: Request = Request::iowr::<RegRead>(COMMAND_BASE + 0x31);
/// `DRM_IOCTL_I915_QUERY`.
pub const QUERY: Request = Request::iowr::<Query>(COMMAND_BASE + 0x39);

/// `I915_REG_READ_8B_WA`.
pub const REG_READ_8B_WA: u64 = 1;
/// `DRM_I915_QUERY_TOPOLOGY_INFO`.
pub const QUERY_TOPOLOGY_INFO: u64 = 1;
/// `DRM_I915_QUERY_ENGINE_INFO`.
pub const QUERY_ENGINE_INFO: u64 = 2;
/// `DRM_I915_QUERY_PERF_CONFIG`.
pub const QUERY_PERF_CONFIG: u64 = 3;
/// `DRM_I915_QUERY_MEMORY_REGIONS`.
pub const QUERY_MEMORY_REGIONS: u64 = 4;
/// `DRM_I915_QUERY_HWCONFIG_BLOB`.
pub const QUERY_HWCONFIG_BLOB: u64 = 5;
/// `DRM_I915_QUERY_GEOMETRY_SUBSLICES`.
pub const QUERY_GEOMETRY_SUBSLICES: u64 = 6;

macro_rules! parameters {
    ($($name:ident $number:literal)*) => {
        /// Parameters of the device (`I915_PARAM_*`; `HAS_SOL_RESET` has a generation in its name there).
        pub mod param {
            $(#[doc = concat!("`I915_PARAM_", stringify!($name), "`.")]
            pub const $name: i32 = $number;)*
        }
    };
}

parameters! {
    IRQ_ACTIVE 1 ALLOW_BATCHBUFFER 2 LAST_DISPATCH 3 CHIPSET_ID 4 HAS_GEM 5 NUM_FENCES_AVAIL 6 HAS_OVERLAY 7
    HAS_PAGEFLIPPING 8 HAS_EXECBUF2 9 HAS_BSD 10 HAS_BLT 11 HAS_RELAXED_FENCING 12 HAS_COHERENT_RINGS 13
    HAS_EXEC_CONSTANTS 14 HAS_RELAXED_DELTA 15 HAS_SOL_RESET 16 HAS_LLC 17 HAS_ALIASING_PPGTT 18
    HAS_WAIT_TIMEOUT 19 HAS_SEMAPHORES 20 HAS_PRIME_VMAP_FLUSH 21 HAS_VEBOX 22 HAS_SECURE_BATCHES 23
    HAS_PINNED_BATCHES 24 HAS_EXEC_NO_RELOC 25 HAS_EXEC_HANDLE_LUT 26 HAS_WT 27 CMD_PARSER_VERSION 28
    HAS_COHERENT_PHYS_GTT 29 MMAP_VERSION 30 HAS_BSD2 31 REVISION 32 SUBSLICE_TOTAL 33 EU_TOTAL 34 HAS_GPU_RESET 35
    HAS_RESOURCE_STREAMER 36 HAS_EXEC_SOFTPIN 37 HAS_POOLED_EU 38 MIN_EU_IN_POOL 39 MMAP_GTT_VERSION 40
    HAS_SCHEDULER 41 HUC_STATUS 42 HAS_EXEC_ASYNC 43 HAS_EXEC_FENCE 44 HAS_EXEC_CAPTURE 45 SLICE_MASK 46
    SUBSLICE_MASK 47 HAS_EXEC_BATCH_FIRST 48 HAS_EXEC_FENCE_ARRAY 49 HAS_CONTEXT_ISOLATION 50
    CS_TIMESTAMP_FREQUENCY 51 MMAP_GTT_COHERENT 52 HAS_EXEC_SUBMIT_FENCE 53 PERF_REVISION 54
    HAS_EXEC_TIMELINE_FENCES 55 HAS_USERPTR_PROBE 56
}

//! Calls that ask: parameters, queries, registers.
//!
//! i915 `i915_getparam.c`, `i915_query.c`, `i915_ioctl.c`. Not modelled: perf.
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Error, Result, code::EFAULT, code::EINVAL, code::ENODEV};
use kernel::uaccess::UserPtr;
use zerocopy::{Immutable, IntoBytes};

use super::Call;
use crate::intel::r#gen::{EngineInfo as EngineRow, checks};
use crate::intel::registers::RegId;
use crate::intel::uapi::context::{CLASS_COPY, CLASS_RENDER, EngineClassInstance};
use crate::intel::uapi::query::{
    EngineInfo, Getparam, MemoryRegionInfo, QUERY_ENGINE_INFO, QUERY_GEOMETRY_SUBSLICES,
    QUERY_HWCONFIG_BLOB, QUERY_MEMORY_REGIONS, QUERY_PERF_CONFIG, QUERY_TOPOLOGY_INFO, Query,
    QueryEngineInfo, QueryItem, QueryMemoryRegions, REG_READ_8B_WA, RegRead, param,
};

/// Version of mappings through the aperture: 4 has MMAP_OFFSET (i915 `i915_gem_mmap_gtt_version`).
const MMAP_GTT_VERSION: i32 = 4;
/// Version of the perf interface (i915 `i915_perf_ioctl_version`).
const PERF_REVISION: i32 = 5;
/// Configuration space: the revision.
const PCI_REVISION: usize = 8;
/// Configuration space: the device id.
const PCI_DEVICE: usize = 2;
/// Flags of a perf query that exist.
const PERF_FLAGS: core::ops::RangeInclusive<u32> = 1..=3;
/// `I915_ENGINE_INFO_HAS_LOGICAL_INSTANCE`.
const HAS_LOGICAL_INSTANCE: u64 = 1;

fn parameter(call: &Call<'_>, which: i32) -> Result<i32> {
    let config = call.device.uncore().config();
    let info = call.device.info();
    Ok(match which {
        // Legacy DRI1, and what this family has none of.
        param::IRQ_ACTIVE
        | param::ALLOW_BATCHBUFFER
        | param::LAST_DISPATCH
        | param::HAS_EXEC_CONSTANTS
        | param::SUBSLICE_TOTAL
        | param::EU_TOTAL
        | param::HUC_STATUS
        | param::SLICE_MASK
        | param::SUBSLICE_MASK => return Err(ENODEV),
        param::CHIPSET_ID => i32::from(config.read16(PCI_DEVICE)),
        param::REVISION => i32::from(config.read8(PCI_REVISION)),
        param::NUM_FENCES_AVAIL => call.device.ggtt().fences().count() as i32,
        // The ring is there (QUERY_ENGINE_INFO lists it), the decoder behind it is not: clients that take this for a decoder
        // (intel-vaapi-driver) would offer what the device refuses.
        // HAS_SEMAPHORES is a property of the scheduler of execution lists (i915 `set_scheduler_caps`).
        param::HAS_BSD
        | param::HAS_OVERLAY
        | param::HAS_VEBOX
        | param::HAS_BSD2
        | param::HAS_WT
        | param::HAS_SEMAPHORES
        | param::HAS_RESOURCE_STREAMER
        | param::HAS_POOLED_EU
        | param::MIN_EU_IN_POOL
        | param::HAS_SCHEDULER => 0,
        // Engines that keep the state of contexts, by class (i915 `intel_engines_has_context_isolation`).
        param::HAS_CONTEXT_ISOLATION => 1 << CLASS_RENDER,
        param::CMD_PARSER_VERSION => {
            let mut engines = info.engines.iter();
            let looks = engines.any(|engine| engine.checks.is_some());
            if looks { checks::VERSION } else { 0 }
        }
        param::HAS_SECURE_BATCHES => i32::from(info.privileged_batches && call.task.is_admin()),
        // Of the whole device, or of engines as well.
        param::HAS_GPU_RESET => 1 + i32::from(info.resets_engines),
        param::MMAP_GTT_COHERENT => i32::from(info.coherent_aperture),
        param::HAS_BLT => i32::from(info.engine(CLASS_COPY).is_some()),
        param::HAS_LLC => i32::from(info.llc),
        param::HAS_ALIASING_PPGTT => i32::from(info.space.is_some()),
        param::MMAP_GTT_VERSION => MMAP_GTT_VERSION,
        param::PERF_REVISION => PERF_REVISION,
        param::CS_TIMESTAMP_FREQUENCY => info.timestamp_hz as i32,
        param::MMAP_VERSION
        | param::HAS_GEM
        | param::HAS_PAGEFLIPPING
        | param::HAS_EXECBUF2
        | param::HAS_RELAXED_FENCING
        | param::HAS_COHERENT_RINGS
        | param::HAS_RELAXED_DELTA
        | param::HAS_SOL_RESET
        | param::HAS_WAIT_TIMEOUT
        | param::HAS_PRIME_VMAP_FLUSH
        | param::HAS_PINNED_BATCHES
        | param::HAS_EXEC_NO_RELOC
        | param::HAS_EXEC_HANDLE_LUT
        | param::HAS_COHERENT_PHYS_GTT
        | param::HAS_EXEC_SOFTPIN
        | param::HAS_EXEC_ASYNC
        | param::HAS_EXEC_FENCE
        | param::HAS_EXEC_CAPTURE
        | param::HAS_EXEC_BATCH_FIRST
        | param::HAS_EXEC_FENCE_ARRAY
        | param::HAS_EXEC_SUBMIT_FENCE
        | param::HAS_EXEC_TIMELINE_FENCES
        | param::HAS_USERPTR_PROBE => 1,
        _ => return Err(EINVAL),
    })
}

pub(super) fn getparam(call: &Call<'_>, arg: &mut Getparam) -> Result {
    let value = parameter(call, arg.param)?;
    UserPtr::new(call.task.memory(), arg.value)?.write(&value)
}

pub(super) fn query(call: &Call<'_>, arg: &mut Query) -> Result {
    if arg.flags != 0 {
        return Err(EINVAL);
    }
    let mut at = arg.items_ptr;
    for _ in 0..arg.num_items {
        let item: QueryItem = UserPtr::new(call.task.memory(), at)?.read()?;
        if item.query_id == 0 {
            return Err(EINVAL);
        }
        let length = match answer(call, &item) {
            Ok(length) => length,
            Err(error) => error.to_errno(),
        };
        if length != item.length {
            // `length` lies behind the eight bytes of the number.
            let pointer = UserPtr::<i32>::new(call.task.memory(), at.wrapping_add(8))?;
            pointer.write(&length)?;
        }
        at = at.wrapping_add(size_of::<QueryItem>() as u64);
    }
    Ok(())
}

fn answer(call: &Call<'_>, item: &QueryItem) -> Result<i32> {
    match item.query_id {
        // This family counts neither slices nor execution units.
        QUERY_TOPOLOGY_INFO if item.flags != 0 => Err(EINVAL),
        QUERY_PERF_CONFIG if !PERF_FLAGS.contains(&item.flags) => Err(EINVAL),
        QUERY_TOPOLOGY_INFO
        | QUERY_PERF_CONFIG
        | QUERY_HWCONFIG_BLOB
        | QUERY_GEOMETRY_SUBSLICES => Err(ENODEV),
        QUERY_ENGINE_INFO => {
            let rows = call.device.info().engines.iter();
            let engines: Vec<EngineInfo> = rows.map(engine_info).collect();
            let head = QueryEngineInfo {
                num_engines: engines.len() as u32,
                rsvd: [0; 3],
            };
            list(call, item, &head, &engines)
        }
        QUERY_MEMORY_REGIONS => {
            let bytes = (call.device.ggtt().entries() * PAGE_SIZE) as u64;
            let mut region = MemoryRegionInfo {
                probed_size: bytes,
                unallocated_size: bytes,
                ..MemoryRegionInfo::default()
            };
            region.rsvd1[0] = bytes;
            region.rsvd1[1] = bytes;
            let head = QueryMemoryRegions {
                num_regions: 1,
                rsvd: [0; 3],
            };
            list(call, item, &head, &[region])
        }
        _ => Err(EINVAL),
    }
}

/// What user space sees of an engine.
fn engine_info(row: &EngineRow) -> EngineInfo {
    EngineInfo {
        engine: EngineClassInstance {
            engine_class: row.class,
            engine_instance: 0,
        },
        flags: HAS_LOGICAL_INSTANCE,
        ..EngineInfo::default()
    }
}

/// A header whose input must be zero, and elements behind it (i915 `copy_query_item`).
fn list<H, E>(call: &Call<'_>, item: &QueryItem, head: &H, elements: &[E]) -> Result<i32>
where
    H: IntoBytes + Immutable,
    E: IntoBytes + Immutable,
{
    if item.flags != 0 {
        return Err(EINVAL);
    }
    let total = size_of::<H>() + size_of_val(elements);
    let length = i32::try_from(total).map_err(|_| EINVAL)?;
    if item.length == 0 {
        return Ok(length);
    }
    // The comparison is unsigned in C: a negative length is enough.
    if (item.length as u32) < total as u32 {
        return Err(EINVAL);
    }
    let out = call.slice(item.data_ptr, total as u64)?;
    if out.read::<[u32; 4]>(0)? != [0; 4] {
        return Err(EINVAL);
    }
    let mut at = size_of::<H>() as u64;
    for element in elements {
        out.write(at, element).map_err(|_: Error| EFAULT)?;
        at += size_of::<E>() as u64;
    }
    out.write(0, head).map_err(|_: Error| EFAULT)?;
    Ok(length)
}

pub(super) fn reg_read(call: &Call<'_>, arg: &mut RegRead) -> Result {
    // The list has one register on this family (i915 `reg_read_whitelist`).
    let register = (call.device.info().tables.register_desc)(RegId::Timestamp);
    let offset = register.ok_or(EINVAL)?.offset;
    let flags = arg.offset & 7;
    if arg.offset & !7 != u64::from(offset) || flags > REG_READ_8B_WA {
        return Err(EINVAL);
    }
    let io = call.device.uncore().io();
    let (low, high) = (offset as usize, offset as usize + 4);
    // intel_uncore_read64_2x32: again when the upper half has moved meanwhile.
    let mut upper = io.read32(high);
    for _ in 0..2 {
        arg.val = u64::from(io.read32(low)) | u64::from(upper) << 32;
        let again = io.read32(high);
        if again == upper {
            break;
        }
        upper = again;
    }
    Ok(())
}

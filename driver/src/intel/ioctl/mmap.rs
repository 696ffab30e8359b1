//! Calls that prepare mappings.
//!
//! i915 `i915_gem_mman.c`. Not modelled: GEM_MMAP, which maps in the call itself; the node does that.
use kernel::error::{Result, code::EINVAL, code::ENODEV};

use super::Call;
use crate::core::mmap::Kind;
use crate::intel::extension;
use crate::intel::uapi::gem::{
    MMAP_OFFSET_FIXED, MMAP_OFFSET_GTT, MMAP_OFFSET_UC, MMAP_OFFSET_WB, MMAP_OFFSET_WC, MMAP_WC,
    Mmap, MmapOffset,
};

/// Checks the arguments and gives the offset that the node maps for the caller: `addr_ptr` comes back as the offset of
/// the object in the node plus `offset`, for the node to replace by the address.
pub(super) fn mmap(call: &Call<'_>, arg: &mut Mmap) -> Result {
    if arg.flags & !MMAP_WC != 0 {
        return Err(EINVAL);
    }
    let object = call.file.object(arg.handle)?;
    let end = arg.offset.checked_add(arg.size).ok_or(EINVAL)?;
    if end > object.size() as u64 {
        return Err(EINVAL);
    }
    let kind = if arg.flags & MMAP_WC != 0 {
        Kind::Wc
    } else {
        Kind::Wb
    };
    // vm_mmap: no mapping is empty or starts within a page.
    if arg.size == 0 || !arg.offset.is_multiple_of(kernel::dma::PAGE_SIZE as u64) {
        return Err(EINVAL);
    }
    let number = call.file.number();
    let base = call
        .file
        .offset(&object, |table| table.assign_inside(&object, kind, number))?;
    arg.addr_ptr = base.wrapping_add(arg.offset);
    Ok(())
}

pub(super) fn mmap_offset(call: &Call<'_>, arg: &mut MmapOffset) -> Result {
    extension::none(call, arg.extensions)?;
    let kind = match arg.flags {
        MMAP_OFFSET_GTT => Some(Kind::Gtt),
        MMAP_OFFSET_WC => Some(Kind::Wc),
        MMAP_OFFSET_WB => Some(Kind::Wb),
        MMAP_OFFSET_UC => Some(Kind::Uc),
        MMAP_OFFSET_FIXED => None,
        _ => return Err(EINVAL),
    };
    let object = call.file.object(arg.handle)?;
    // Fixed placements are for devices with memory of their own.
    let kind = kind.ok_or(ENODEV)?;
    let number = call.file.number();
    arg.offset = call
        .file
        .offset(&object, |table| table.assign(&object, kind, number))?;
    Ok(())
}

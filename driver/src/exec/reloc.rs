//! Writes addresses into objects where user space asks for it.
//!
//! i915 `i915_gem_execbuffer.c` (`eb_relocate_entry`). Not modelled: relocation by the GPU, 64-bit addresses.
use kernel::error::{Result, code::EINTR, code::EINVAL, code::ENOENT};

use super::parse::Submission;
use crate::gem::Object;
use crate::ioctl::Call;
use crate::uapi::exec::{OBJECT_WRITE, Relocation};
use crate::uapi::gem::domain;
use crate::wait::wait_object;

/// Bytes of an address.
const ADDRESS: u64 = 4;
/// Byte offset of `presumed_offset` in a relocation.
const PRESUMED_OFFSET: u64 = 16;
/// Relocations that are read at a time.
const CHUNK: u64 = 512;

/// Applies all relocations, and tells user space the addresses that it did not know.
pub(super) fn relocate(call: &Call<'_>, submission: &mut Submission) -> Result {
    for index in 0..submission.entries.len() {
        let Some(entry) = submission.entries.get(index) else {
            break;
        };
        let (object, count) = (entry.object.clone(), u64::from(entry.exec.relocation_count));
        let bytes = size_of::<Relocation>() as u64;
        let address = entry.exec.relocs_ptr;
        let user = call.array::<Relocation>(address, count)?;
        let mut idle = false;
        let mut at = 0;
        while at < count {
            if call.task.signal_pending() {
                return Err(EINTR);
            }
            let part = CHUNK.min(count - at);
            let first = address.wrapping_add(at * bytes);
            let list = call.array::<Relocation>(first, part)?.read_array()?;
            for (reloc, number) in list.into_iter().zip(at..) {
                if let Some(address) = apply(call, submission, &object, &reloc, &mut idle)? {
                    // Lost when the array cannot be written: user space will find out by itself.
                    let _ = user.write(number * bytes + PRESUMED_OFFSET, &address);
                }
            }
            at += part;
        }
    }
    Ok(())
}

/// Applies one relocation; the target's address when user space had another in mind.
fn apply(
    call: &Call<'_>,
    submission: &mut Submission,
    object: &Object,
    reloc: &Relocation,
    idle: &mut bool,
) -> Result<Option<u64>> {
    let target = submission.target(reloc.target_handle).ok_or(ENOENT)?;
    let target = submission.entries.get_mut(target).ok_or(ENOENT)?;
    if reloc.write_domain & reloc.write_domain.wrapping_sub(1) != 0 {
        return Err(EINVAL);
    }
    if (reloc.write_domain | reloc.read_domains) & !domain::GPU != 0 {
        return Err(EINVAL);
    }
    if reloc.write_domain != 0 {
        target.exec.flags |= OBJECT_WRITE;
    }
    let address = target.exec.offset;
    if address == reloc.presumed_offset {
        return Ok(None);
    }
    if reloc.offset > object.size() as u64 - ADDRESS || reloc.offset & 3 != 0 {
        return Err(EINVAL);
    }
    if !*idle {
        wait_object(call.device, call.task, object, false, None)?;
        *idle = true;
    }
    let value = (address as u32).wrapping_add(reloc.delta);
    let offset = usize::try_from(reloc.offset).map_err(|_| EINVAL)?;
    object.write(offset, &value.to_le_bytes())?;
    Ok(Some(address))
}

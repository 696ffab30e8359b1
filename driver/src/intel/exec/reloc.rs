//! Writes addresses into objects where user space asks for it.
//!
//! i915 `i915_gem_execbuffer.c` (`eb_relocate_entry`). Not modelled: relocation by the GPU, 64-bit addresses.
use alloc::vec::Vec;

use kernel::error::{Result, code::EINTR, code::EINVAL, code::ENOENT, code::ENOMEM};

use super::busy::{Step, Stop, user_of};
use super::parse::Submission;
use crate::core::gem::Object;
use crate::intel::call::Call;
use crate::intel::uapi::exec::{OBJECT_WRITE, Relocation};
use crate::intel::uapi::gem::domain;

/// Bytes of an address.
const ADDRESS: u64 = 4;
/// Byte offset of `presumed_offset` in a relocation.
const PRESUMED_OFFSET: u64 = 16;
/// Relocations that are read at a time.
const CHUNK: u64 = 512;
/// Most relocations of a submission; Linux has as many as there is memory for.
const MOST: u64 = 1 << 20;

/// The relocations of a submission, object by object.
pub(super) struct Lists(Vec<Vec<Relocation>>);

/// An address that user space did not know, and where in its memory it wants to be told.
pub(super) struct News {
    entry: usize,
    number: u64,
    address: u64,
    /// What is to be written, and at which byte offset of the object.
    value: u32,
    offset: usize,
}

/// Reads all relocations. Not under the lock of submissions: how long the caller's memory takes is the caller's choice.
pub(super) fn read(call: &Call<'_>, submission: &Submission) -> Result<Lists> {
    let counts = submission.entries.iter();
    let total: u64 = counts
        .map(|entry| u64::from(entry.exec.relocation_count))
        .sum();
    let bytes = size_of::<Relocation>() as u64;
    if total > MOST {
        // Linux touches all of an array before it makes room for it (check_relocations).
        for entry in &submission.entries {
            let count = u64::from(entry.exec.relocation_count);
            let list = call.array::<Relocation>(entry.exec.relocs_ptr, count)?;
            if let Some(last) = count.checked_sub(1) {
                let _: Relocation = list.read(last * bytes)?;
            }
        }
        return Err(ENOMEM);
    }
    let mut lists = Vec::with_capacity(submission.entries.len());
    for entry in &submission.entries {
        let count = u64::from(entry.exec.relocation_count);
        let address = entry.exec.relocs_ptr;
        // All of it must be an array of the caller's before the first is looked at.
        call.array::<Relocation>(address, count)?;
        let mut list = Vec::new();
        let mut at = 0;
        while at < count {
            if call.task.signal_pending() {
                return Err(EINTR);
            }
            let part = CHUNK.min(count - at);
            let first = address.wrapping_add(at * bytes);
            let part_list: Vec<Relocation> = call.array::<Relocation>(first, part)?.read_array()?;
            list.extend(part_list);
            at += part;
        }
        lists.push(list);
    }
    Ok(Lists(lists))
}

/// Applies all relocations, or none when an object is in use; the addresses that user space did not know.
pub(super) fn relocate(
    call: &Call<'_>,
    submission: &mut Submission,
    lists: &Lists,
) -> Step<Vec<News>> {
    let mut news = Vec::new();
    for (index, list) in lists.0.iter().enumerate() {
        let Some(entry) = submission.entries.get(index) else {
            break;
        };
        let object = entry.object.clone();
        let mut idle = false;
        for (reloc, number) in list.iter().zip(0..) {
            let Some((address, offset)) = look(submission, &object, reloc)? else {
                continue;
            };
            if !idle && let Some(fence) = user_of(call, &object) {
                return Err(Stop::Relocates(fence));
            }
            idle = true;
            news.push(News {
                entry: index,
                number,
                address,
                // CAST: the GTT has 32 bits.
                value: (address as u32).wrapping_add(reloc.delta),
                offset,
            });
        }
    }
    for news in &news {
        if let Some(entry) = submission.entries.get(news.entry) {
            let value = news.value.to_le_bytes();
            entry.object.write(news.offset, &value)?;
        }
    }
    Ok(news)
}

/// Tells user space the addresses that it did not know. Where an array cannot be written the address is lost: user space
/// will find out by itself.
pub(super) fn tell(call: &Call<'_>, submission: &Submission, news: &[News]) {
    let bytes = size_of::<Relocation>() as u64;
    for news in news {
        if let Some(entry) = submission.entries.get(news.entry) {
            let count = u64::from(entry.exec.relocation_count);
            if let Ok(user) = call.array::<Relocation>(entry.exec.relocs_ptr, count) {
                let _ = user.write(news.number * bytes + PRESUMED_OFFSET, &news.address);
            }
        }
    }
}

/// Checks one relocation; the target's address when user space had another in mind, and the offset that it belongs at.
fn look(
    submission: &mut Submission,
    object: &Object,
    reloc: &Relocation,
) -> Result<Option<(u64, usize)>> {
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
        if reloc.write_domain == domain::INSTRUCTION {
            // Stores of the command streamer may go through the global GTT (i915: an erratum of Sandy Bridge, whose
            // PIPE_CONTROL writes in batches of users do so).
            target.object.make_global()?;
        }
    }
    let address = target.exec.offset;
    if address == reloc.presumed_offset {
        return Ok(None);
    }
    if reloc.offset > object.size() as u64 - ADDRESS || reloc.offset & 3 != 0 {
        return Err(EINVAL);
    }
    let offset = usize::try_from(reloc.offset).map_err(|_| EINVAL)?;
    Ok(Some((address, offset)))
}

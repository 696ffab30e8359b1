//! Copies of batches, which run with privileges once they have been looked through.
//!
//! i915 `i915_gem_execbuffer.c` (`eb_parse`), `gt/intel_gt_buffer_pool.c`. A copy lies in the global GTT and in the space of clients, which
//! read it alone. The request starts it, and then what is behind it: nothing, or the client's own batch when something in that
//! is forbidden. Not modelled: batches beyond a length; copies that are given back after a while without use.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::EFAULT, code::EINVAL, code::ENOMEM, code::ENOSPC};

use super::busy::{Step, Stop};
use super::check::{BATCH_END, Verdict, check};
use super::parse::Submission;
use super::pin::make_room;
use crate::core::account::Permit;
use crate::core::fence::Fence;
use crate::core::gem::{Object, Pin};
use crate::core::range::Search;
use crate::core::wait::awaited;
use crate::intel::call::Call;
use crate::intel::device::Device;
use crate::intel::r#gen::checks::Checks;
use crate::intel::gtt::{Place, Scope};
use crate::intel::timeline::{Original, Uses};

/// Longest batch that is looked through. Mesa's are 256 KiB at most; Linux takes what there is memory for.
const MOST: usize = 4 << 20;
/// Sizes of copies are powers of two up to this, and multiples of it beyond.
const LARGE: usize = 64 << 10;
/// MI_BATCH_BUFFER_START of a batch without privileges (i915 `MI_BATCH_NON_SECURE_I965`).
const CHAIN: u32 = 0x1880_0100;

/// A batch that has been looked through.
pub(super) struct Checked {
    /// The copy, which begins with what runs with privileges.
    copy: Object,
    /// Byte offset in it of what the request starts second.
    second: u32,
    /// What its pages count for.
    counts: Option<Arc<[Permit; 3]>>,
    original: Original,
    pin: Pin,
}

impl Checked {
    /// Lets a request run the copy; where it begins.
    pub(super) fn run(&self, uses: &mut Uses) -> u32 {
        let start = self.pin.address();
        uses.prologue.trusted = true;
        uses.prologue.second = Some(start.wrapping_add(self.second));
        uses.objects.push(self.copy.clone());
        uses.copy.clone_from(&self.counts);
        uses.original = Some(self.original);
        start
    }

    /// The request is queued: others may take the copy when it has ended.
    pub(super) fn queued(&self, device: &Device, fence: &Arc<Fence>) {
        self.copy.state(|state| state.mark_active(fence, false));
        device.copies().keep(&self.copy);
    }
}

/// A batch in a bound object, and for whom it is looked through.
pub(super) struct Wanted<'a> {
    pub(super) device: &'a Device,
    /// The call that it comes by; `None` for the kernel's own.
    pub(super) call: Option<&'a Call<'a>>,
    pub(super) object: &'a Object,
    /// Graphics address of the object.
    pub(super) address: u32,
    /// Byte offset of the first command, and how many bytes there are.
    pub(super) range: (u32, u32),
}

/// Looks through the batch of a placed submission where its engine has rules for it. Nothing is looked through whose length is
/// not given (i915 `eb_use_cmdparser`).
pub(super) fn look(call: &Call<'_>, submission: &mut Submission) -> Step {
    let row = call.device.info().engines.get(submission.engine);
    let checks = row.and_then(|row| row.checks);
    let Some(checks) = checks.filter(|_| submission.batch_len != 0) else {
        submission.checked = None;
        return Ok(());
    };
    let entry = submission.entries.get(submission.batch).ok_or(EINVAL)?;
    let wanted = Wanted {
        device: call.device,
        call: Some(call),
        object: &entry.object,
        address: entry.pin.as_ref().ok_or(EFAULT)?.address(),
        range: (submission.batch_start, submission.batch_len),
    };
    submission.checked = match look_through(&wanted, checks) {
        Err(Stop::Error(error)) => Some(Err(error)),
        other => Some(Ok(other?)),
    };
    Ok(())
}

/// Looks through a batch and makes what runs instead of it.
pub(super) fn look_through(wanted: &Wanted<'_>, checks: &Checks) -> Step<Checked> {
    let (start, length) = (wanted.range.0, wanted.range.1 as usize);
    if length > MOST {
        return Err(ENOMEM.into());
    }
    if let Some(fence) = awaited(wanted.device, wanted.object, true) {
        return Err(Stop::Relocates(fence));
    }
    let mut bytes = zeros(length)?;
    wanted.object.read(start as usize, &mut bytes)?;
    let verdict = check(checks, &bytes)?;
    let (copy, counts) = take(wanted, length + Original::BEHIND)?;
    let original = Original {
        address: wanted.address.wrapping_add(start),
        len: wanted.range.1,
        runs: verdict == Verdict::Unsafe,
    };
    match verdict {
        Verdict::Safe => {
            copy.write(0, &bytes)?;
            copy.write_dwords(length, &[BATCH_END, 0])?;
        }
        Verdict::Unsafe => {
            copy.write_dwords(0, &[BATCH_END, 0])?;
            copy.write_dwords(length, &[CHAIN, original.address])?;
        }
    }
    Ok(Checked {
        pin: copy.pin()?,
        copy,
        second: wanted.range.1,
        counts,
        original,
    })
}

fn zeros(length: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| ENOMEM)?;
    bytes.resize(length, 0);
    Ok(bytes)
}

/// A bound copy with room for so many bytes.
fn take(wanted: &Wanted<'_>, bytes: usize) -> Step<(Object, Option<Arc<[Permit; 3]>>)> {
    let (device, call) = (wanted.device, wanted.call);
    let platform = device.platform();
    let copy = if let Some(copy) = device.copies().take(bytes) {
        copy
    } else {
        let size = if bytes > LARGE {
            bytes.next_multiple_of(LARGE)
        } else {
            bytes.next_power_of_two().max(PAGE_SIZE)
        };
        let new = || {
            let name = "copy of a batch".into();
            Object::own_read_only(platform, device.ggtt(), name, size)
        };
        new().or_else(|_| {
            device.copies().give_back();
            new()
        })?
    };
    let counts = match (call, platform.dma().guarded_pages()) {
        (Some(call), Some(all)) => {
            let pages = copy.size().div_ceil(PAGE_SIZE);
            Some(Arc::new(call.program().account().take_pages(pages, all)?))
        }
        _ => None,
    };
    if copy.bound_at().is_none() {
        match (copy.bind(0, Search::High), call) {
            (Err(ENOSPC), Some(call)) => {
                let place = Place {
                    scope: Scope::Everybody,
                    ..Place::default()
                };
                make_room(call, &place, copy.size() as u64)?;
                copy.bind_user(&place)?;
            }
            (bound, _) => drop(bound?),
        }
    }
    device.user().lru.touch(&copy);
    Ok((copy, counts))
}

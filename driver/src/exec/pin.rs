//! Brings every object of a submission to an address, evicting others.
//!
//! i915 `i915_gem_execbuffer.c` (`eb_validate_vmas`, `eb_reserve`), `i915_gem_evict.c`. Not modelled: the mappable part
//! of the GTT, which is all of it here.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::EINVAL, code::ENOSPC};

use super::parse::{BATCH_OFFSET_BIAS, Entry, Submission};
use crate::engine::Engine;
use crate::engine::switch::{Held, Image};
use crate::gem::Object;
use crate::gtt::Place;
use crate::gtt::range::Search;
use crate::ioctl::Call;
use crate::uapi::exec::OBJECT_PINNED;
use crate::wait::wait_object;

const PAGE: u64 = PAGE_SIZE as u64;

impl Entry {
    fn is_fixed(&self) -> bool {
        self.exec.flags & OBJECT_PINNED != 0
    }

    fn place(&self) -> Place {
        Place {
            size: self.exec.pad_to_size,
            align: self.exec.alignment,
            above: self.above,
            fixed: self.is_fixed().then_some(self.exec.offset),
        }
    }

    /// Whether the object is not where it may be (eb_vma_misplaced).
    fn is_misplaced(&self, address: u64) -> bool {
        self.object.bound_size() < self.exec.pad_to_size
            || self.is_fixed() && address != self.exec.offset
            || self.would_misplace(address)
    }

    /// Holds the object where it is.
    fn hold(&mut self) -> Result {
        let pin = self.object.pin()?;
        let address = u64::from(pin.address());
        if self.exec.offset != address {
            self.exec.offset = address;
            self.moved = true;
        }
        self.pin = Some(pin);
        Ok(())
    }

    /// Leaves the object where it is, or takes the place that user space believes it in (eb_pin_vma).
    fn try_keep(&mut self, call: &Call<'_>) -> Result<bool> {
        if let Some(address) = self.object.address() {
            if !self.is_misplaced(u64::from(address)) {
                self.hold()?;
                return Ok(true);
            }
            if self.object.is_pinned() {
                // Somebody else needs it where it is; nothing will change that.
                return Err(ENOSPC);
            }
            unbind(call, &self.object)?;
        }
        // Nothing is at 0 by itself: that is what new objects are believed to be at.
        let believed = self.exec.offset & !(PAGE - 1);
        if believed != 0 && !self.is_fixed() && !self.would_misplace(believed) {
            let place = Place {
                fixed: Some(believed),
                ..self.place()
            };
            if self.object.bind_user(&place).is_ok() {
                self.hold()?;
                return Ok(true);
            }
        }
        // Low addresses go last: an object that becomes a relocated batch later need not move then. On hardware they are
        // taken by firmware.
        let high = Place {
            above: self.above.max(BATCH_OFFSET_BIAS),
            ..self.place()
        };
        let bound = match self.object.bind_user(&high) {
            Err(ENOSPC) => self.object.bind_user(&self.place()),
            other => other,
        };
        match bound {
            Ok(_) => self.hold().map(|()| true),
            Err(ENOSPC | EINVAL) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether it may not be at an address, wherever it is now.
    fn would_misplace(&self, address: u64) -> bool {
        !address.is_multiple_of(self.exec.alignment.max(1)) || address < self.above
    }

    /// Binds the object, evicting what is in the way (eb_reserve_vma).
    fn reserve(&mut self, call: &Call<'_>) -> Result {
        if self.pin.is_some() {
            return Ok(());
        }
        if self.object.address().is_none() {
            let place = self.place();
            let size = place.size.max(self.object.size() as u64);
            if place.fixed.is_some_and(|start| {
                start
                    .checked_add(size)
                    .is_none_or(|end| end > call.device.ggtt().ranges().limit())
            }) {
                // i915_vma_insert: a fixed place outside of the address space.
                return Err(EINVAL);
            }
            if let Err(error) = self.object.bind_user(&place) {
                if error != ENOSPC {
                    return Err(error);
                }
                make_room(call, &place, size)?;
                self.object.bind_user(&place)?;
            }
        }
        self.hold()
    }
}

/// Takes an object out of the GTT when the device is done with it.
fn unbind(call: &Call<'_>, object: &Object) -> Result {
    wait_object(call.device, call.task, object, false, None)?;
    object.unbind();
    Ok(())
}

/// Evicts the fewest least recently used objects that leave a hole for `place` (i915_gem_evict_something), or those that
/// lie where it must be (i915_gem_evict_for_node).
fn make_room(call: &Call<'_>, place: &Place, size: u64) -> Result {
    let mut ranges = call.device.ggtt().ranges();
    let mut scanned: Vec<(u64, u64, Object)> = Vec::new();
    let mut hole = place.fixed;
    for object in call.device.user().lru.evictable() {
        let Some(start) = object.address().map(u64::from) else {
            continue;
        };
        let Some(end) = ranges.remove(start) else {
            continue;
        };
        scanned.push((start, end, object));
        if place.fixed.is_none() {
            hole = ranges.lowest(size, place.align.max(PAGE), place.above);
            if hole.is_some() {
                break;
            }
        }
    }
    let start = hole.ok_or(ENOSPC)?;
    let end = start.saturating_add(size);
    let overlaps = |other: (u64, u64)| other.0 < end && other.1 > start;
    // What is left in `ranges` cannot go.
    if ranges
        .iter()
        .any(|range| overlaps((range.start, range.end)))
    {
        return Err(ENOSPC);
    }
    for (_, _, object) in scanned.iter().filter(|s| overlaps((s.0, s.1))) {
        unbind(call, object)?;
    }
    Ok(())
}

/// Pins all objects and the context's image; the submission holds them until it is dropped. `ENOSPC` when they do not fit together.
pub(super) fn pin(call: &Call<'_>, submission: &mut Submission) -> Result {
    let outcome = pin_image(call, submission).and_then(|()| pin_all(call, submission));
    // Also when it fails: what has been bound can be evicted.
    for entry in &submission.entries {
        call.device.user().lru.touch(&entry.object);
    }
    outcome
}

/// Brings the image of the submission's context to an address, and the driver's own before the first.
fn pin_image(call: &Call<'_>, submission: &mut Submission) -> Result {
    let engine = call.device.engine();
    let make = || Engine::new_image(call.device.ggtt());
    if !engine.switch().is_ready() {
        engine
            .switch()
            .set_own(hold_image(call, &Arc::new(make()?))?);
    }
    let image = submission.context.image(make)?;
    submission.image = Some(Arc::new(hold_image(call, &image)?));
    call.device.user().lru.touch(image.object());
    Ok(())
}

/// Binds an image as far up as it goes, out of the way of addresses that users choose.
fn hold_image(call: &Call<'_>, image: &Arc<Image>) -> Result<Held> {
    let object = image.object();
    if object.address().is_none() && object.bind(0, Search::High) == Err(ENOSPC) {
        let place = Place::default();
        make_room(call, &place, PAGE)?;
        object.bind_user(&place)?;
    }
    Held::new(image)
}

fn pin_all(call: &Call<'_>, submission: &mut Submission) -> Result {
    let mut complete = true;
    for entry in &mut submission.entries {
        complete &= entry.try_keep(call)?;
    }
    if !complete {
        match reserve_all(call, submission) {
            Err(ENOSPC) => {
                // Once more from scratch, with nothing else in the way and fixed places first.
                for entry in &mut submission.entries {
                    entry.pin = None;
                }
                for object in call.device.user().lru.evictable() {
                    unbind(call, &object)?;
                }
                for entry in &submission.entries {
                    if !entry.object.is_pinned() {
                        unbind(call, &entry.object)?;
                    }
                }
                reserve_all(call, submission)?;
            }
            other => other?,
        }
    }
    Ok(())
}

fn reserve_all(call: &Call<'_>, submission: &mut Submission) -> Result {
    for fixed in [true, false] {
        let entries = submission.entries.iter_mut();
        for entry in entries.filter(|entry| entry.is_fixed() == fixed) {
            entry.reserve(call)?;
        }
    }
    Ok(())
}

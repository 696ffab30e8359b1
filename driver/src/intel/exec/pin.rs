//! Brings every object of a submission to an address, evicting others.
//!
//! i915 `i915_gem_execbuffer.c` (`eb_validate_vmas`, `eb_reserve`), `i915_gem_evict.c`. Not modelled: the mappable part
//! of the GTT, which is all of it here.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::EINVAL, code::ENOSPC};

use super::busy::{Step, Stop, user_of};
use super::parse::{BATCH_OFFSET_BIAS, Entry, Submission};
use crate::core::gem::Object;
use crate::intel::call::Call;
use crate::intel::engine::Engine;
use crate::intel::gtt::{Place, Scope};
use crate::intel::switch::{Held, Image};
use crate::intel::uapi::exec::{OBJECT_NEEDS_GTT, OBJECT_PINNED};

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
            scope: Scope::Process,
        }
    }

    /// Whether the object is not where it may be (eb_vma_misplaced).
    fn is_misplaced(&self, address: u64) -> bool {
        self.object.bound_size() < self.exec.pad_to_size
            || self.is_fixed() && address != self.exec.offset
            || self.would_misplace(address)
    }

    /// Holds the object where it is.
    fn hold(&mut self, call: &Call<'_>) -> Result {
        let pin = self.object.pin()?;
        if self.exec.flags & OBJECT_NEEDS_GTT != 0 {
            self.object.make_global()?;
        }
        // At once, so that eviction does not meet the objects of this submission first.
        call.device.user().lru.touch(&self.object);
        let address = u64::from(pin.address());
        if self.exec.offset != address {
            self.exec.offset = address;
            self.moved = true;
        }
        self.pin = Some(pin);
        Ok(())
    }

    /// Leaves the object where it is, or takes the place that user space believes it in (eb_pin_vma).
    fn try_keep(&mut self, call: &Call<'_>) -> Step<bool> {
        if let Some(address) = self.object.address() {
            if !self.is_misplaced(u64::from(address)) {
                self.hold(call)?;
                return Ok(true);
            }
            if self.object.is_pinned() {
                // Another submission needs it where it is; nothing will change that.
                return Err(ENOSPC.into());
            }
            unbind(call, &self.object)?;
        }
        // i915_vma_insert refuses such a place, once everything else has been looked at.
        if self.is_fixed() && !self.exec.offset.is_multiple_of(self.exec.alignment.max(1)) {
            return Err(EINVAL.into());
        }
        // Nothing is at 0 by itself: that is what new objects are believed to be at.
        let believed = self.exec.offset & !(PAGE - 1);
        if believed != 0 && !self.is_fixed() && !self.would_misplace(believed) {
            let place = Place {
                fixed: Some(believed),
                ..self.place()
            };
            if self.object.bind_user(&place).is_ok() {
                self.hold(call)?;
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
            Ok(_) => {
                self.hold(call)?;
                Ok(true)
            }
            Err(ENOSPC | EINVAL) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether it may not be at an address, wherever it is now.
    fn would_misplace(&self, address: u64) -> bool {
        !address.is_multiple_of(self.exec.alignment.max(1)) || address < self.above
    }

    /// Binds the object, evicting what is in the way (eb_reserve_vma).
    fn reserve(&mut self, call: &Call<'_>) -> Step {
        if self.pin.is_some() {
            return Ok(());
        }
        if self.object.address().is_none() {
            let place = self.place();
            let size = place.size.max(self.object.size() as u64);
            if place.fixed.is_some_and(|start| {
                start
                    .checked_add(size)
                    .is_none_or(|end| end > call.device.ggtt().limit())
            }) {
                // i915_vma_insert: a fixed place outside of the address space.
                return Err(EINVAL.into());
            }
            if let Err(error) = self.object.bind_user(&place) {
                if error != ENOSPC {
                    return Err(error.into());
                }
                make_room(call, &place, size)?;
                self.object.bind_user(&place)?;
            }
        }
        self.hold(call)?;
        Ok(())
    }
}

/// Takes an object out of the GTT, unless the device is at work with it.
fn unbind(call: &Call<'_>, object: &Object) -> Step {
    if let Some(fence) = user_of(call, object) {
        return Err(Stop::Evicts(fence, object.clone()));
    }
    object.unbind();
    Ok(())
}

/// Makes room at a fixed place, or somewhere.
pub(super) fn make_room(call: &Call<'_>, place: &Place, size: u64) -> Step {
    let victims = match place.fixed {
        Some(start) => in_the_way(call, start, start.saturating_add(size))?,
        None => least_used(call, place, size)?,
    };
    for object in victims {
        unbind(call, &object)?;
    }
    Ok(())
}

/// The objects that lie in `start..end` (i915_gem_evict_for_node); `ENOSPC` when something there cannot go.
fn in_the_way(call: &Call<'_>, start: u64, end: u64) -> Result<Vec<Object>> {
    let lru = &call.device.user().lru;
    let mut victims = Vec::new();
    for weak in call.device.ggtt().objects_in(start, end) {
        // One that is gone by now has left its place.
        let Some(object) = weak.ok_or(ENOSPC)?.upgrade() else {
            continue;
        };
        if object.is_pinned() || !lru.knows(&object) {
            return Err(ENOSPC);
        }
        victims.push(object);
    }
    Ok(victims)
}

/// The fewest least recently used objects that leave a hole for `place` (i915_gem_evict_something).
fn least_used(call: &Call<'_>, place: &Place, size: u64) -> Result<Vec<Object>> {
    let ggtt = call.device.ggtt();
    // What would be free without the objects that have been looked at.
    let mut gaps = ggtt.gaps();
    let mut scanned: Vec<(u64, u64, Object)> = Vec::new();
    let mut after = 0;
    while let Some((stamp, object)) = call.device.user().lru.next_evictable(after) {
        after = stamp;
        let Some(start) = object.address() else {
            continue;
        };
        let (start, bytes) = (u64::from(start), ggtt.size_at(start));
        if bytes == 0 {
            continue;
        }
        gaps.give(start, start + bytes);
        scanned.push((start, start + bytes, object));
        if let Some(hole) = gaps.lowest(size, place.align.max(PAGE), place.above.max(PAGE)) {
            let end = hole.saturating_add(size);
            scanned.retain(|other| other.0 < end && other.1 > hole);
            return Ok(scanned.into_iter().map(|(_, _, object)| object).collect());
        }
    }
    Err(ENOSPC)
}

/// Pins all objects and the context's image; the submission holds them until it is dropped or lets them go. `ENOSPC` when
/// they do not fit together.
pub(super) fn pin(call: &Call<'_>, submission: &mut Submission) -> Step {
    pin_image(call, submission)?;
    pin_all(call, submission)
}

/// Brings the image of the submission's context to an address, and the driver's own before the first.
fn pin_image(call: &Call<'_>, submission: &mut Submission) -> Step {
    let engine = call.device.engine();
    let engines = call.device.engines();
    if !(engines.get(submission.engine)).is_some_and(|engine| engine.info().has_images) {
        return Ok(());
    }
    let ggtt = call.device.ggtt();
    if !engine.switch().is_ready() {
        let own = Arc::new(Engine::new_image(ggtt, None)?);
        engine.switch().set_own(hold_image(call, &own)?);
    }
    let account = call.program().account();
    let make = || Engine::new_image(ggtt, Some(&account));
    let image = submission.context.image(make)?;
    submission.image = Some(Arc::new(hold_image(call, &image)?));
    call.device.user().lru.touch(image.object());
    Ok(())
}

/// Binds an image as far up as it goes, out of the way of addresses that users choose.
fn hold_image(call: &Call<'_>, image: &Arc<Image>) -> Step<Held> {
    let object = image.object();
    if object.address().is_none() && object.bind_own() == Err(ENOSPC) {
        let place = Place {
            scope: Scope::Global,
            ..Place::default()
        };
        make_room(call, &place, object.size() as u64)?;
        object.bind_user(&place)?;
    }
    Ok(Held::new(image)?)
}

fn pin_all(call: &Call<'_>, submission: &mut Submission) -> Step {
    let mut complete = true;
    for entry in &mut submission.entries {
        complete &= entry.try_keep(call)?;
    }
    if !complete {
        match reserve_all(call, submission) {
            Err(Stop::Error(ENOSPC)) => {
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

fn reserve_all(call: &Call<'_>, submission: &mut Submission) -> Step {
    for fixed in [true, false] {
        let entries = submission.entries.iter_mut();
        for entry in entries.filter(|entry| entry.is_fixed() == fixed) {
            entry.reserve(call)?;
        }
    }
    Ok(())
}

//! Linear views of tiled objects: what a mapping through a fence shows.
//!
//! PRM volume 1 (fence registers). Hardware translates each access; here a linear copy is merged with the object in
//! both directions: CPU to device before a submission, device to CPU when the client has waited.
//! Not modelled: seeing the device's writes without having asked whether it is done.

mod room;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};
use std::os::fd::OwnedFd;

use driver::{Object, Tiling, WeakObject};
use mem::PhysAddr;
use memmap2::MmapMut;
use mmio_mock::LivePlatform;
use parking_lot::{Mutex, MutexGuard};

use self::room::Room;
use crate::process::Mappings;
use crate::work;

/// Address space for views. Only pages that are used cost anything.
const SPACE: usize = 2 << 30;
const PAGE: usize = 4096;
/// Most bytes that are compared and copied at a time; all runs of tiled objects are this long or shorter.
const PIECE: usize = 512;
/// Views that are looked at each time that one is asked for, so that those of objects that are gone are found: more than
/// one, as one may be made each time.
const LOOKS: usize = 8;
/// Views that are looked at before others get their turn, when all have to be.
const TURN: usize = 256;

struct View {
    object: WeakObject,
    /// Where it lies in the memory of views.
    range: Range<usize>,
    tiling: Tiling,
    stride: u32,
    /// The linear bytes as both sides knew them last.
    known: Vec<u8>,
}

struct Inner {
    map: MmapMut,
    /// By the object's number.
    views: BTreeMap<usize, View>,
    /// Those whose objects the device may have written since.
    stale: BTreeSet<usize>,
    room: Room,
    /// Where the search for objects that are gone goes on: behind this number.
    reached: usize,
}

/// All views.
pub struct Views {
    fd: OwnedFd,
    inner: Mutex<Inner>,
}

impl Views {
    pub fn new() -> std::io::Result<Self> {
        let fd = crate::edge::create(c"crestline-views", SPACE)?;
        let map = crate::edge::map(&fd)?;
        Ok(Views {
            fd,
            inner: Mutex::new(Inner {
                map,
                views: BTreeMap::new(),
                stale: BTreeSet::new(),
                room: Room::new(SPACE),
                reached: 0,
            }),
        })
    }

    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// The view of a tiled object, up to date; where it lies. `None` when there is no room for it, or no memory.
    pub fn show(&self, platform: &LivePlatform, object: &Object) -> Option<usize> {
        let mut inner = self.lock();
        inner.collect(&self.fd, LOOKS);
        let key = object.key();
        if !inner.views.contains_key(&key) && !inner.add(object) {
            // The views of objects that are gone may be in the way.
            self.collect_all(&mut inner);
            if !inner.views.contains_key(&key) && !inner.add(object) {
                return None;
            }
        }
        let inner = &mut *inner;
        let view = inner.views.get_mut(&key)?;
        let mut is_stale = inner.stale.remove(&key);
        is_stale |= view.set_layout(object);
        // Clients map first and wait then: what the device draws in between is brought after the wait. Any use counts:
        // not all submissions say what they write (stencil without depth, with Mesa's crocus).
        let busy = object.is_busy(false);
        if is_stale {
            view.pull(platform, object, &mut inner.map);
        }
        if busy {
            inner.stale.insert(key);
        }
        Some(view.range.start)
    }

    /// Looks at all views there are; others get their turn in between.
    fn collect_all(&self, inner: &mut MutexGuard<'_, Inner>) {
        let mut left = inner.views.len();
        while left > 0 {
            let looks = left.min(TURN);
            inner.collect(&self.fd, looks);
            left -= looks;
            MutexGuard::bump(inner);
        }
    }

    /// Brings what the CPU wrote into the object.
    pub fn push(&self, platform: &LivePlatform, object: &Object) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        if let Some(view) = inner.views.get_mut(&object.key()) {
            view.push(platform, object, &inner.map);
        }
    }

    /// The same for all objects of a submission.
    pub fn before<'a>(&self, platform: &LivePlatform, objects: impl Iterator<Item = &'a Object>) {
        if self.lock().views.is_empty() {
            return;
        }
        // Others have their turn between two of them.
        objects.for_each(|object| self.push(platform, object));
    }

    /// The objects are busy with a submission now. Not a moment earlier: another client's wait in between would take
    /// their views for current.
    pub fn after<'a>(&self, objects: impl Iterator<Item = &'a Object>) {
        for object in objects {
            self.changed(object);
        }
    }

    /// Notes that the object has changed behind the view's back.
    pub fn changed(&self, object: &Object) {
        let inner = &mut *self.lock();
        let key = object.key();
        if inner.views.contains_key(&key) {
            inner.stale.insert(key);
        }
    }

    /// Brings what the device wrote into the view of an object, unless it is still at it. While it uses the object in
    /// ways that were not declared as writes, the view stays stale.
    pub fn pull(&self, platform: &LivePlatform, object: &Object) {
        self.pull_of(platform, object.key());
    }

    /// The same for all objects that a process has mapped: its wait is for no others, however many there are.
    pub fn pull_all(&self, platform: &LivePlatform, mapped: &Mappings) {
        let inner = self.lock();
        let stale = inner.stale.len();
        if stale == 0 {
            return;
        }
        let is_stale = |key: &usize| {
            work::one();
            inner.stale.contains(key)
        };
        let is_mapped = |key: &usize| {
            work::one();
            mapped.has_fenced(*key)
        };
        // Whichever are fewer.
        let keys: Vec<usize> = if stale < mapped.count_fenced() {
            inner.stale.iter().copied().filter(is_mapped).collect()
        } else {
            mapped.fenced().filter(is_stale).collect()
        };
        drop(inner);
        for key in keys {
            self.pull_of(platform, key);
        }
    }

    fn pull_of(&self, platform: &LivePlatform, key: usize) {
        let inner = &mut *self.lock();
        if !inner.stale.contains(&key) {
            return;
        }
        if let Some(view) = inner.views.get_mut(&key)
            && let Some(object) = view.object.upgrade()
            && !object.is_busy(true)
        {
            let busy = object.is_busy(false);
            view.pull(platform, &object, &mut inner.map);
            if !busy {
                inner.stale.remove(&key);
            }
        }
    }

    /// The object's layout is about to change: its linear bytes are brought home.
    pub fn relayout(&self, platform: &LivePlatform, object: &Object) {
        self.push(platform, object);
        self.changed(object);
    }
}

impl Inner {
    /// Makes the view of an object; false when there is no room for it, or no memory.
    fn add(&mut self, object: &Object) -> bool {
        // How much that is the client has decided.
        let mut known = Vec::new();
        let size = object.size().next_multiple_of(PAGE);
        if known.try_reserve_exact(size).is_err() {
            return false;
        }
        let Some(range) = self.room.take(size) else {
            return false;
        };
        known.resize(size, 0);
        let view = View {
            object: object.downgrade(),
            known,
            range,
            tiling: object.tiling(),
            stride: object.stride(),
        };
        self.views.insert(object.key(), view);
        self.stale.insert(object.key());
        true
    }

    /// Looks at so many views, from the first that was not reached the last time on, and lets go of those whose objects
    /// are gone: mappings hold their objects, so no client can see these. How many there are in all is the clients' choice.
    fn collect(&mut self, fd: &OwnedFd, looks: usize) {
        for _ in 0..looks.min(self.views.len()) {
            work::one();
            let behind = (Bound::Excluded(self.reached), Bound::Unbounded);
            let next = self.views.range(behind).next();
            let Some((&key, view)) = next.or_else(|| self.views.iter().next()) else {
                return;
            };
            self.reached = key;
            if !view.object.is_alive() {
                self.forget(fd, key);
            }
        }
    }

    fn forget(&mut self, fd: &OwnedFd, key: usize) {
        self.stale.remove(&key);
        let Some(view) = self.views.remove(&key) else {
            return;
        };
        let (start, len) = (view.range.start, view.range.len());
        if !punch(fd, start, len)
            && let Some(bytes) = self.map.get_mut(view.range.clone())
        {
            bytes.fill(0);
        }
        self.room.give(&view.range);
    }
}

/// Gives the pages of a range back; they read as zeros then.
fn punch(fd: &OwnedFd, start: usize, len: usize) -> bool {
    use nix::fcntl::{FallocateFlags, fallocate};
    let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    fallocate(fd, flags, start as i64, len as i64).is_ok()
}

impl View {
    /// Whether the layout has changed.
    fn set_layout(&mut self, object: &Object) -> bool {
        let layout = (object.tiling(), object.stride());
        let is_new = layout != (self.tiling, self.stride);
        (self.tiling, self.stride) = layout;
        is_new
    }

    /// Calls `copy(linear offset, tiled offset, bytes)` for every run of bytes that lie side by side in both; `copy`
    /// says whether to go on.
    fn runs(&self, size: usize, mut copy: impl FnMut(usize, usize, usize)) {
        let (tiling, unit) = match self.tiling {
            Tiling::None => return copy(0, 0, size),
            Tiling::X => (mem::Tiling::X, 512),
            Tiling::Y => (mem::Tiling::Y, 16),
        };
        let stride = self.stride as usize;
        let height = tiling.tile_height() as usize;
        // Rows of tiles that lie in the object as a whole; what is left shows as it is.
        let rows = size.checked_div(stride * height).unwrap_or(0) * height;
        for y in 0..rows {
            for x in (0..stride).step_by(unit) {
                let at = mem::tiling::offset(tiling, self.stride, x as u32, y as u32);
                copy(y * stride + x, at as usize, unit);
            }
        }
        let whole = rows * stride;
        if whole < size {
            copy(whole, whole, size - whole);
        }
    }

    /// CPU to device: bytes that differ from what both knew.
    fn push(&mut self, platform: &LivePlatform, object: &Object, map: &MmapMut) {
        let Some(linear) = map.get(self.range.clone()) else {
            return;
        };
        if linear == self.known.as_slice() {
            return;
        }
        let size = object.size();
        let mut known = std::mem::take(&mut self.known);
        with_bytes(platform, object, |tiled| {
            self.runs(size, |lin, at, n| {
                let (Some(new), Some(old), Some(to)) = (
                    linear.get(lin..lin + n),
                    known.get_mut(lin..lin + n),
                    tiled.get_mut(at..at + n),
                ) else {
                    return;
                };
                let olds = old.chunks_mut(PIECE);
                for ((new, old), to) in new.chunks(PIECE).zip(olds).zip(to.chunks_mut(PIECE)) {
                    push_piece(new, old, to);
                }
            });
        });
        self.known = known;
    }

    /// Device to CPU: everything but what the CPU has written since.
    fn pull(&mut self, platform: &LivePlatform, object: &Object, map: &mut MmapMut) {
        let Some(linear) = map.get_mut(self.range.clone()) else {
            return;
        };
        let size = object.size();
        let mut known = std::mem::take(&mut self.known);
        with_bytes(platform, object, |tiled| {
            self.runs(size, |lin, at, n| {
                let (Some(from), Some(old), Some(to)) = (
                    tiled.get(at..at + n),
                    known.get_mut(lin..lin + n),
                    linear.get_mut(lin..lin + n),
                ) else {
                    return;
                };
                if from == old {
                    return;
                }
                if to == old {
                    to.copy_from_slice(from);
                    old.copy_from_slice(from);
                    return;
                }
                for ((to, old), from) in to.iter_mut().zip(old).zip(from) {
                    if *to == *old {
                        *to = *from;
                        *old = *from;
                    }
                }
            });
        });
        self.known = known;
    }
}

/// Brings what differs between `new` and `old` to both `old` and `to`. The client may write to `new` meanwhile: it is read once.
fn push_piece(new: &[u8], old: &mut [u8], to: &mut [u8]) {
    let mut copy = [0; PIECE];
    let Some(now) = copy.get_mut(..new.len()) else {
        return;
    };
    now.copy_from_slice(new);
    if now == old {
        return;
    }
    for ((to, old), now) in to.iter_mut().zip(old).zip(now) {
        if *now != *old {
            *to = *now;
            *old = *now;
        }
    }
}

/// Looks at an object's bytes where they lie.
fn with_bytes(platform: &LivePlatform, object: &Object, look: impl FnOnce(&mut [u8])) {
    let Some(address) = object.dma_address() else {
        return;
    };
    // With the device stopped: its slices leave the memory's lock free for too short a time.
    platform.with_device(|_| {
        let mut memory = mmio_mock::core::memory::lock(platform.model().memory());
        if let Ok(bytes) = memory.phys_slice_mut(PhysAddr(address), object.size()) {
            look(bytes);
        }
    });
}

#[cfg(test)]
mod tests;

//! Linear views of tiled objects: what a mapping through a fence shows.
//!
//! PRM volume 1 (fence registers). Hardware translates each access; here a linear copy is merged with the object in
//! both directions: CPU to device before a submission, device to CPU when the client has waited.
//! Not modelled: seeing the device's writes without having asked whether it is done.

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::OwnedFd;

use driver::{Object, Tiling, WeakObject};
use mem::PhysAddr;
use memmap2::MmapMut;
use mmio_mock::LivePlatform;
use parking_lot::{Mutex, MutexGuard};

/// Address space for views. Only pages that are used cost anything.
const SPACE: usize = 2 << 30;
const PAGE: usize = 4096;
/// Most bytes that are compared and copied at a time; all runs of tiled objects are this long or shorter.
const PIECE: usize = 512;

struct View {
    object: WeakObject,
    /// Where it lies in the memory of views.
    range: Range<usize>,
    tiling: Tiling,
    stride: u32,
    /// The linear bytes as both sides knew them last.
    known: Vec<u8>,
    /// Whether the device may have written the object since.
    stale: bool,
}

struct Inner {
    map: MmapMut,
    /// By the object's number.
    views: BTreeMap<usize, View>,
    /// Free ranges: start, end.
    free: BTreeMap<usize, usize>,
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
                free: BTreeMap::from([(0, SPACE)]),
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
        let inner = &mut *inner;
        inner.collect(&self.fd);
        let key = object.key();
        if !inner.views.contains_key(&key) {
            // How much that is the client has decided.
            let mut known = Vec::new();
            let size = object.size().next_multiple_of(PAGE);
            known.try_reserve_exact(size).ok()?;
            known.resize(size, 0);
            let range = inner.take(size)?;
            let view = View {
                object: object.downgrade(),
                known,
                range,
                tiling: object.tiling(),
                stride: object.stride(),
                stale: true,
            };
            inner.views.insert(key, view);
        }
        let view = inner.views.get_mut(&key)?;
        view.set_layout(object);
        let start = view.range.start;
        // Clients map first and wait then: what the device draws in between is brought after the wait. Any use counts:
        // not all submissions say what they write (stencil without depth, with Mesa's crocus).
        let busy = object.is_busy(false);
        view.pull(platform, object, &mut inner.map);
        view.stale |= busy;
        Some(start)
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
        let mut inner = self.lock();
        let inner = &mut *inner;
        if inner.views.is_empty() {
            return;
        }
        for object in objects {
            if let Some(view) = inner.views.get_mut(&object.key()) {
                view.push(platform, object, &inner.map);
            }
        }
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
        if let Some(view) = self.lock().views.get_mut(&object.key()) {
            view.stale = true;
        }
    }

    /// Brings what the device wrote into the view of an object, or of all, unless it is still at it. While it uses the
    /// object in ways that were not declared as writes, the view stays stale.
    pub fn pull(&self, platform: &LivePlatform, only: Option<&Object>) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let Inner { map, views, .. } = inner;
        let mut pull = |view: &mut View| {
            if view.stale
                && let Some(object) = view.object.upgrade()
                && !object.is_busy(true)
            {
                let busy = object.is_busy(false);
                view.pull(platform, &object, map);
                view.stale |= busy;
            }
        };
        match only {
            Some(object) => {
                if let Some(view) = views.get_mut(&object.key()) {
                    pull(view);
                }
            }
            None => views.values_mut().for_each(pull),
        }
    }

    /// The object's layout is about to change: its linear bytes are brought home.
    pub fn relayout(&self, platform: &LivePlatform, object: &Object) {
        self.push(platform, object);
        self.changed(object);
    }
}

impl Inner {
    fn take(&mut self, bytes: usize) -> Option<Range<usize>> {
        let bytes = bytes.next_multiple_of(PAGE);
        let (&start, &end) = self
            .free
            .iter()
            .find(|(start, end)| **end - **start >= bytes)?;
        self.free.remove(&start);
        if end > start + bytes {
            self.free.insert(start + bytes, end);
        }
        Some(start..start + bytes)
    }

    fn give(&mut self, range: &Range<usize>) {
        let (mut start, mut end) = (range.start, range.end);
        if let Some((&before, &stop)) = self.free.range(..start).next_back()
            && stop == start
        {
            self.free.remove(&before);
            start = before;
        }
        if let Some(stop) = self.free.remove(&end) {
            end = stop;
        }
        self.free.insert(start, end);
    }

    /// Lets go of the views of objects that are gone: mappings hold their objects, so no client can see these.
    fn collect(&mut self, fd: &OwnedFd) {
        let dead: Vec<usize> = self
            .views
            .iter()
            .filter(|(_, view)| !view.object.is_alive())
            .map(|(key, _)| *key)
            .collect();
        for key in dead {
            let Some(view) = self.views.remove(&key) else {
                continue;
            };
            let (start, len) = (view.range.start, view.range.len());
            if !punch(fd, start, len)
                && let Some(bytes) = self.map.get_mut(view.range.clone())
            {
                bytes.fill(0);
            }
            self.give(&view.range);
        }
    }
}

/// Gives the pages of a range back; they read as zeros then.
fn punch(fd: &OwnedFd, start: usize, len: usize) -> bool {
    use nix::fcntl::{FallocateFlags, fallocate};
    let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    fallocate(fd, flags, start as i64, len as i64).is_ok()
}

impl View {
    fn set_layout(&mut self, object: &Object) {
        let layout = (object.tiling(), object.stride());
        if layout != (self.tiling, self.stride) {
            (self.tiling, self.stride) = layout;
            self.stale = true;
        }
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
        if !std::mem::take(&mut self.stale) {
            return;
        }
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
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::sync::Arc;

    use driver::{Device, Driver};
    use kernel::platform::Platform;
    use mmio_mock::ModelPlatform;

    use super::*;

    fn device() -> (Arc<LivePlatform>, Device) {
        let model = ModelPlatform::new(mmio_mock::intel::r#gen::find("gm965").unwrap(), 16 << 20);
        let live = LivePlatform::new(model);
        let device = Driver::probe(Arc::clone(&live) as Arc<dyn Platform>).unwrap();
        (live, device)
    }

    /// PRM volume 1: X tiles are 512 bytes by 8 rows; Y tiles 128 bytes by 32 rows in columns of 16 bytes.
    fn home(tiling: Tiling, stride: usize, x: usize, y: usize) -> usize {
        let (width, height) = if tiling == Tiling::X {
            (512, 8)
        } else {
            (128, 32)
        };
        let tile = (y / height) * (stride / width) + x / width;
        let (x, y) = (x % width, y % height);
        let inside = match tiling {
            Tiling::X => y * 512 + x,
            _ => x / 16 * 512 + y * 16 + x % 16,
        };
        tile * 4096 + inside
    }

    fn bytes_of(object: &Object) -> Vec<u8> {
        let mut bytes = vec![0; object.size()];
        object.read(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn both_sides_see_what_the_other_wrote() {
        for (tiling, stride) in [(Tiling::X, 1024), (Tiling::Y, 256)] {
            let (live, device) = device();
            let views = Views::new().unwrap();
            let object = device.create_object(16384, tiling, stride as u32).unwrap();
            let tiled: Vec<u8> = (0..16384_u32).map(|i| ((i * 7) >> 3) as u8).collect();
            object.write(0, &tiled).unwrap();
            let start = views.show(&live, &object).unwrap();
            let mut client = crate::edge::map(views.fd()).unwrap();
            for (y, x) in [(0, 0), (3, 17), (9, 200), (15, stride - 1)] {
                let expected = tiled[home(tiling, stride, x, y)];
                assert_eq!(
                    client[start + y * stride + x],
                    expected,
                    "{tiling:?} {x},{y}"
                );
            }
            // The CPU writes one byte, the device another and the same row.
            client[start + 5 * stride + 40] = 0xa5;
            let behind = home(tiling, stride, 41, 5);
            object.write(behind, &[0x5a]).unwrap();
            views.before(&live, std::iter::once(&object));
            views.after(std::iter::once(&object));
            let now = bytes_of(&object);
            assert_eq!(now[home(tiling, stride, 40, 5)], 0xa5);
            assert_eq!(now[behind], 0x5a);
            views.pull(&live, Some(&object));
            assert_eq!(client[start + 5 * stride + 41], 0x5a);
            assert_eq!(client[start + 5 * stride + 40], 0xa5);
        }
    }

    #[test]
    fn what_the_cpu_wrote_survives_a_pull() {
        let (live, device) = device();
        let views = Views::new().unwrap();
        let object = device.create_object(8192, Tiling::X, 512).unwrap();
        let start = views.show(&live, &object).unwrap();
        let mut client = crate::edge::map(views.fd()).unwrap();
        client[start + 700] = 1;
        object.write(home(Tiling::X, 512, 189, 1), &[2]).unwrap();
        views.changed(&object);
        views.pull(&live, None);
        assert_eq!((client[start + 700], client[start + 701]), (1, 2));
        views.push(&live, &object);
        assert_eq!(bytes_of(&object)[home(Tiling::X, 512, 188, 1)], 1);
    }

    #[test]
    fn views_of_objects_that_are_gone_make_room_and_read_as_zeros() {
        let (live, device) = device();
        let views = Views::new().unwrap();
        let first = device.create_object(4096, Tiling::X, 512).unwrap();
        first.write(0, &[9; 4096]).unwrap();
        let start = views.show(&live, &first).unwrap();
        drop(first);
        let second = device.create_object(4096, Tiling::X, 512).unwrap();
        assert_eq!(views.show(&live, &second), Some(start));
        let client = crate::edge::map(views.fd()).unwrap();
        assert!(client[start..start + 4096].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_new_layout_keeps_the_linear_bytes_of_the_cpu_at_home() {
        let (live, device) = device();
        let views = Views::new().unwrap();
        let object = device.create_object(8192, Tiling::X, 512).unwrap();
        let start = views.show(&live, &object).unwrap();
        let mut client = crate::edge::map(views.fd()).unwrap();
        client[start + 512 + 3] = 7;
        views.relayout(&live, &object);
        assert_eq!(bytes_of(&object)[home(Tiling::X, 512, 3, 1)], 7);
    }
}

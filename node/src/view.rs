//! Linear views of tiled objects: what a mapping through a fence shows.
//!
//! PRM volume 1 (fence registers). Hardware translates each access; here a linear copy is merged with the object in
//! both directions: CPU to device before a submission, device to CPU when the client has waited, and both where the client says that it goes
//! from one kind of mapping to another (SET_DOMAIN, DMA_BUF_IOCTL_SYNC).
//! Not modelled: seeing the device's writes without having asked whether it is done.
//!
//! Order of locks: the client's lane, then a view's copy, then the door to the device, then device and memory; and a view's copy, then
//! the map of views. The map is locked for a few looks at a time and with nothing taken under it. Copies are as large as clients
//! like, so only those that use the same object wait for one.
//!
//! The file of the views is read and written through its mapping alone, and its pages are never given back: a system call would
//! need the lock of the file, which a client's own system call can hold for as long as that client likes.

mod marks;
mod merge;
mod room;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use driver::{Object, WeakObject};
use mmio_mock::LivePlatform;
use parking_lot::{Mutex, MutexGuard};

use self::marks::Marks;
use self::merge::{Copy, Sides};
use self::room::Room;
use crate::edge::Window;
use crate::process::Mappings;
use crate::{lane, work};

/// Address space for views. Only pages that are used cost anything.
const SPACE: usize = 2 << 30;
const PAGE: usize = 4096;
/// Views that are looked at each time that one is asked for, so that those of objects that are gone are found: more than
/// one, as one may be made each time.
const LOOKS: usize = 8;
/// Views that are looked at before others get their turn, when all have to be.
const TURN: usize = 256;

struct View {
    object: WeakObject,
    /// Where it lies in the memory of views.
    range: Range<usize>,
    /// The lock is taken by code that has a handle of the object. Code that writes into the range has a [`driver::Shown`] of the object
    /// as well, so that no other object gets the range meanwhile.
    copy: Mutex<Copy>,
}

struct Inner {
    /// By the object's number.
    views: BTreeMap<usize, Arc<View>>,
    /// Those whose objects the device may have written since, with the number of the last change.
    stale: BTreeMap<usize, u64>,
    changes: u64,
    room: Room,
    /// No view has lain behind this place: there are zeros.
    used: usize,
    /// Where the search for objects that are spent goes on: behind this number.
    reached: usize,
}

/// All views.
pub struct Views {
    fd: OwnedFd,
    window: Window,
    marks: Marks,
    inner: Mutex<Inner>,
    door: Mutex<()>,
}

impl Views {
    pub fn new() -> std::io::Result<Self> {
        let fd = crate::edge::create(c"crestline-views", SPACE)?;
        let window = Window::new(&fd)?;
        Ok(Views {
            fd,
            window,
            marks: Marks::new(),
            inner: Mutex::new(Inner {
                views: BTreeMap::new(),
                stale: BTreeMap::new(),
                changes: 0,
                room: Room::new(SPACE),
                used: 0,
                reached: 0,
            }),
            door: Mutex::new(()),
        })
    }

    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    fn sides<'a>(&'a self, platform: &'a LivePlatform) -> Sides<'a> {
        Sides {
            platform,
            window: &self.window,
            door: &self.door,
        }
    }

    /// The view of a tiled object, up to date; where it lies. `None` when there is no room for it, or no memory.
    pub fn show(&self, platform: &LivePlatform, object: &Object) -> Option<usize> {
        self.collect(LOOKS);
        let view = self.view(object).or_else(|| {
            // The views of objects that are gone may be in the way.
            self.collect_all();
            self.view(object)
        })?;
        lane::turn(|| self.show_view(platform, object, &view))
    }

    fn show_view(&self, platform: &LivePlatform, object: &Object, view: &View) -> Option<usize> {
        let mut copy = view.copy.lock();
        let size = view.range.len();
        if !copy.allocate(&self.window, size) {
            self.collect_all();
            if !copy.allocate(&self.window, size) {
                return None;
            }
        }
        let key = object.key();
        let seen = self.lock().stale.get(&key).copied();
        let is_new = copy.set_layout(object);
        // Clients map first and wait then: what the device draws in between is brought after the wait. Any use counts:
        // not all submissions say what they write (stencil without depth, with Mesa's crocus).
        let busy = object.is_busy(false);
        if is_new || seen.is_some() {
            copy.pull(&self.sides(platform), object);
        }
        let mut inner = self.lock();
        if busy {
            inner.note(key);
        } else {
            inner.settle(key, seen);
        }
        Some(view.range.start)
    }

    /// The view of an object; it is made when the object has no view yet. `None` when there is no room for the view.
    fn view(&self, object: &Object) -> Option<Arc<View>> {
        let key = object.key();
        let mut inner = self.lock();
        if let Some(view) = inner.views.get(&key) {
            return Some(Arc::clone(view));
        }
        let range = inner.room.take(object.size().next_multiple_of(PAGE))?;
        let used = inner.used.clamp(range.start, range.end);
        inner.used = inner.used.max(range.end);
        let view = Arc::new(View {
            object: object.downgrade(),
            copy: Mutex::new(Copy::new(object, range.start..used)),
            range,
        });
        inner.views.insert(key, Arc::clone(&view));
        inner.note(key);
        self.marks.add(key);
        Some(view)
    }

    /// The view that an object has.
    fn find(&self, object: &Object) -> Option<Arc<View>> {
        let key = object.key();
        let may_have = self.marks.has(key);
        may_have.then(|| self.lock().views.get(&key).cloned())?
    }

    /// Looks at so many views and lets go of those whose objects are gone, or have lost their contents.
    fn collect(&self, looks: usize) {
        let looked = self.lock().next(looks);
        // Not under the lock: what looks at an object may be the last to hold it.
        let spent = looked.iter().filter(|(_, object)| object.is_spent());
        let spent: Vec<usize> = spent.map(|(key, _)| *key).collect();
        let gone = self.lock().take(&spent);
        for (key, _) in &gone {
            self.marks.remove(*key);
        }
        // Not under the lock: what was known of them may be large.
        drop(gone);
    }

    /// Looks at all views there are; others get their turn in between.
    fn collect_all(&self) {
        let mut left = self.lock().views.len();
        while left > 0 {
            let looks = left.min(TURN);
            self.collect(looks);
            left -= looks;
        }
    }

    /// Brings what the CPU wrote into the object.
    pub fn push(&self, platform: &LivePlatform, object: &Object) {
        if let Some(view) = self.find(object) {
            lane::turn(|| {
                let mut copy = view.copy.lock();
                copy.push(&self.sides(platform), object);
                // To another client, which has waited: threads of this one come one after another.
                MutexGuard::unlock_fair(copy);
            });
        }
    }

    /// The same for all objects of a submission.
    pub fn before<'a>(&self, platform: &LivePlatform, objects: impl Iterator<Item = &'a Object>) {
        objects.for_each(|object| self.push(platform, object));
    }

    /// The objects are busy with a submission now. Not a moment earlier: another client's wait in between would take
    /// their views for current.
    pub fn after<'a>(&self, objects: impl Iterator<Item = &'a Object>) {
        for object in objects {
            self.changed(object);
        }
    }

    /// Notes that the object has changed behind the view's back. Does not wait for one that is at the view.
    pub fn changed(&self, object: &Object) {
        let key = object.key();
        if !self.marks.has(key) {
            return;
        }
        let mut inner = self.lock();
        if inner.views.contains_key(&key) {
            inner.note(key);
        }
    }

    /// Brings what the device wrote into the view of an object, unless it is still at it. While it uses the object in
    /// ways that were not declared as writes, the view stays stale.
    pub fn pull(&self, platform: &LivePlatform, object: &Object) {
        let key = object.key();
        if self.marks.has(key) {
            self.pull_of(platform, key);
        }
    }

    /// The numbers of the objects that a process has mapped and the device may have written: its wait is for no others,
    /// however many there are.
    pub fn stale(&self, mapped: &Mappings) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let count = self.lock().stale.len();
        if count == 0 {
            return found;
        }
        // Whichever are fewer. Others get their turn in between.
        if count >= mapped.count_fenced() {
            let mut keys = mapped.fenced().peekable();
            while keys.peek().is_some() {
                let inner = self.lock();
                let is_stale = |key: &usize| {
                    work::one();
                    inner.stale.contains_key(key)
                };
                found.extend(keys.by_ref().take(TURN).filter(is_stale));
            }
            return found;
        }
        let mut from = Bound::Unbounded;
        loop {
            let inner = self.lock();
            let mut last = None;
            let keys = inner.stale.range((from, Bound::Unbounded)).take(TURN);
            for (&key, _) in keys {
                work::one();
                last = Some(key);
                if mapped.has_fenced(key) {
                    found.insert(key);
                }
            }
            let Some(last) = last else {
                return found;
            };
            from = Bound::Excluded(last);
        }
    }

    /// [`pull`](Self::pull) for objects by their numbers.
    pub fn pull_all(&self, platform: &LivePlatform, keys: &BTreeSet<usize>) {
        for key in keys {
            self.pull_of(platform, *key);
        }
    }

    fn pull_of(&self, platform: &LivePlatform, key: usize) {
        let inner = self.lock();
        if !inner.stale.contains_key(&key) {
            return;
        }
        let view = inner.views.get(&key).cloned();
        drop(inner);
        let Some(view) = view else {
            return;
        };
        // Dropped after the lock of the copy: with the last handle the object goes.
        let Some(object) = view.object.upgrade() else {
            return;
        };
        lane::turn(|| {
            // Stale until its bytes are all there: others that ask for the same view wait here.
            let mut copy = view.copy.lock();
            let Some(seen) = self.lock().stale.get(&key).copied() else {
                return;
            };
            if object.is_busy(true) {
                return;
            }
            let busy = object.is_busy(false);
            copy.pull(&self.sides(platform), &object);
            if !busy {
                self.lock().settle(key, Some(seen));
            }
            MutexGuard::unlock_fair(copy);
        });
    }

    /// The object's layout is about to change: its linear bytes are brought home.
    pub fn relayout(&self, platform: &LivePlatform, object: &Object) {
        self.push(platform, object);
        self.changed(object);
    }
}

impl Inner {
    /// The object of a view has changed.
    fn note(&mut self, key: usize) {
        self.changes = self.changes.wrapping_add(1);
        self.stale.insert(key, self.changes);
    }

    /// A view is up to date with the change that was the last when it was begun with.
    fn settle(&mut self, key: usize, seen: Option<u64>) {
        if seen.is_some() && self.stale.get(&key).copied() == seen {
            self.stale.remove(&key);
        }
    }

    /// The objects of so many views, from the first that was not reached the last time on. How many there are in all is the clients'
    /// choice.
    fn next(&mut self, looks: usize) -> Vec<(usize, WeakObject)> {
        let mut next = Vec::new();
        for _ in 0..looks.min(self.views.len()) {
            let behind = (Bound::Excluded(self.reached), Bound::Unbounded);
            let found = self.views.range(behind).next();
            let Some((&key, view)) = found.or_else(|| self.views.iter().next()) else {
                break;
            };
            self.reached = key;
            next.push((key, view.object.clone()));
        }
        next
    }

    /// Takes views out whose objects are spent. Their ranges are free then: a mapping holds its object and the contents, so no client can
    /// see these.
    fn take(&mut self, spent: &[usize]) -> Vec<(usize, Arc<View>)> {
        let mut gone = Vec::new();
        for &key in spent {
            self.stale.remove(&key);
            if let Some(view) = self.views.remove(&key) {
                self.room.give(&view.range);
                gone.push((key, view));
            }
        }
        gone
    }
}

#[cfg(test)]
mod tests;

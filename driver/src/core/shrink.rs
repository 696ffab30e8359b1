//! Room for objects: least recently used order, eviction, purging.
//!
//! i915 `i915_gem_evict.c`, `i915_gem_shrinker.c`. Not modelled: swapping; what may not go stays.
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kernel::sync::{AtomicU64, Mutex, Ordering, SpinLock};
use kernel::time::Clock;

use crate::core::gem::state::Madvise;
use crate::core::gem::{Object, WeakObject};

/// Fewer entries are not worth looking through.
const PRUNE: usize = 1024;

/// Objects that users have bound, by their last use, and those that they do not need.
#[derive(Default)]
pub(crate) struct Lru {
    inner: SpinLock<Inner>,
    /// Held while contents are taken; before `inner`.
    turn: Mutex<()>,
    purges: AtomicU64,
}

#[derive(Default)]
struct Inner {
    stamp: u64,
    /// Objects and their keys.
    by_use: BTreeMap<u64, (usize, WeakObject)>,
    stamps: BTreeMap<usize, u64>,
    /// By their keys.
    purgeable: BTreeMap<usize, WeakObject>,
    /// Numbers of entries at which those of objects that are gone are looked for.
    prune_at: usize,
    prune_purgeable_at: usize,
}

impl Inner {
    fn forget(&mut self, stamp: u64) {
        if let Some((key, _)) = self.by_use.remove(&stamp) {
            self.stamps.remove(&key);
        }
    }
}

impl Lru {
    /// Notes the use of a bound object.
    pub(crate) fn touch(&self, object: &Object) {
        let mut inner = self.inner.lock();
        inner.stamp += 1;
        let stamp = inner.stamp;
        let key = object.key();
        if let Some(old) = inner.stamps.insert(key, stamp) {
            inner.by_use.remove(&old);
        }
        inner.by_use.insert(stamp, (key, object.downgrade()));
        if inner.by_use.len() > inner.prune_at.max(PRUNE) {
            let Inner {
                by_use,
                stamps,
                prune_at,
                ..
            } = &mut *inner;
            by_use.retain(|_, (key, weak)| {
                let alive = weak.is_alive();
                if !alive {
                    stamps.remove(key);
                }
                alive
            });
            *prune_at = by_use.len() * 2;
        }
    }

    /// The least recently used object after a stamp (0 for the first) that is bound and not pinned, and its own
    /// stamp. Forgets those in between that are gone.
    pub(crate) fn next_evictable(&self, mut after: u64) -> Option<(u64, Object)> {
        loop {
            let (stamp, weak) = {
                let inner = self.inner.lock();
                let mut rest = inner.by_use.range(after + 1..);
                let (stamp, (_, weak)) = rest.next()?;
                (*stamp, weak.clone())
            };
            // Not under the lock: dropping the last hold frees the object.
            match weak.upgrade().filter(|object| object.bound_at().is_some()) {
                None => self.inner.lock().forget(stamp),
                Some(object) if object.is_pinned() => {}
                Some(object) => return Some((stamp, object)),
            }
            after = stamp;
        }
    }

    /// All such objects, least recently used first.
    pub(crate) fn evictable(&self) -> Vec<Object> {
        let mut all = Vec::new();
        let mut after = 0;
        while let Some((stamp, object)) = self.next_evictable(after) {
            all.push(object);
            after = stamp;
        }
        all
    }

    /// Whether users have bound an object.
    pub(crate) fn knows(&self, object: &Object) -> bool {
        self.inner.lock().stamps.contains_key(&object.key())
    }

    /// Number of entries.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().by_use.len()
    }

    /// Notes an object whose contents may go.
    pub(crate) fn dont_need(&self, object: &Object) {
        let mut inner = self.inner.lock();
        inner.purgeable.insert(object.key(), object.downgrade());
        if inner.purgeable.len() > inner.prune_purgeable_at.max(PRUNE) {
            inner.purgeable.retain(|_, weak| weak.is_alive());
            inner.prune_purgeable_at = inner.purgeable.len() * 2;
        }
    }

    /// How often contents have been taken.
    pub(crate) fn purges(&self) -> u64 {
        self.purges.load(Ordering::Acquire)
    }

    /// Takes the contents of every idle object that is not needed; whether there are more pages now than when [`purges`](Self::purges) was
    /// `before`. Requests that have ended have been retired before.
    pub(crate) fn purge(&self, clock: &dyn Clock, before: u64) -> bool {
        // One thread at a time: in another's turn the objects are in no list, and what it takes is there for all.
        let _turn = self.turn.lock(clock);
        if self.purges() != before {
            return true;
        }
        let candidates = core::mem::take(&mut self.inner.lock().purgeable);
        let mut purged = false;
        for object in candidates.values().filter_map(WeakObject::upgrade) {
            if object.state(|state| state.madvise != Madvise::DontNeed) {
                continue;
            }
            match object.purge() {
                (true, pages) => purged |= pages,
                (false, _) => self.dont_need(&object),
            }
        }
        if purged {
            self.purges.fetch_add(1, Ordering::Release);
        }
        purged
    }
}

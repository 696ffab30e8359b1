//! Room for objects: least recently used order, eviction, purging.
//!
//! i915 `i915_gem_evict.c`, `i915_gem_shrinker.c`. Not modelled: swapping; what may not go stays.
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kernel::sync::SpinLock;

use crate::device::Device;
use crate::gem::state::Madvise;
use crate::gem::{Object, WeakObject};

/// Fewer entries are not worth looking through.
const PRUNE: usize = 1024;

/// Objects that users have bound, by their last use, and those that they do not need.
#[derive(Default)]
pub(crate) struct Lru {
    inner: SpinLock<Inner>,
}

#[derive(Default)]
struct Inner {
    stamp: u64,
    by_use: BTreeMap<u64, WeakObject>,
    stamps: BTreeMap<usize, u64>,
    purgeable: Vec<WeakObject>,
    /// Number of entries at which those of objects that are gone are looked for.
    prune_at: usize,
}

impl Lru {
    /// Notes the use of a bound object.
    pub(crate) fn touch(&self, object: &Object) {
        let mut inner = self.inner.lock();
        inner.stamp += 1;
        let stamp = inner.stamp;
        if let Some(old) = inner.stamps.insert(object.key(), stamp) {
            inner.by_use.remove(&old);
        }
        inner.by_use.insert(stamp, object.downgrade());
        if inner.by_use.len() > inner.prune_at.max(PRUNE) {
            let Inner {
                by_use,
                stamps,
                prune_at,
                ..
            } = &mut *inner;
            by_use.retain(|_, weak| weak.is_alive());
            stamps.retain(|_, stamp| by_use.contains_key(stamp));
            *prune_at = by_use.len() * 2;
        }
    }

    /// The objects that are bound and pinned by nobody, least recently used first. Forgets those that are gone.
    pub(crate) fn evictable(&self) -> Vec<Object> {
        let (alive, gone): (Vec<_>, Vec<_>) = {
            let inner = self.inner.lock();
            let all = inner.by_use.iter();
            all.map(|(stamp, weak)| (*stamp, weak.upgrade()))
                .partition(|(_, object)| object.as_ref().is_some_and(|o| o.address().is_some()))
        };
        let mut inner = self.inner.lock();
        for (stamp, _) in &gone {
            inner.by_use.remove(stamp);
            inner.stamps.retain(|_, other| other != stamp);
        }
        drop(inner);
        let objects = alive.into_iter().filter_map(|(_, object)| object);
        objects.filter(|object| !object.is_pinned()).collect()
    }

    /// Number of entries.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.inner.lock().by_use.len()
    }

    /// Notes an object whose contents may go.
    pub(crate) fn dont_need(&self, object: &Object) {
        let old = core::mem::take(&mut self.inner.lock().purgeable);
        // The last holder of an object frees it, which takes time: not under the lock.
        let mut kept: Vec<_> = old
            .into_iter()
            .filter(|weak| {
                weak.upgrade().is_some_and(|other| {
                    other != *object && other.state(|s| s.madvise == Madvise::DontNeed)
                })
            })
            .collect();
        kept.push(object.downgrade());
        self.inner.lock().purgeable.append(&mut kept);
    }
}

/// Takes the contents of every idle object that nobody needs; whether there was any.
pub(crate) fn purge(device: &Device) -> bool {
    device.timeline().retire();
    let candidates = core::mem::take(&mut device.user().lru.inner.lock().purgeable);
    let mut purged = false;
    for object in candidates.iter().filter_map(WeakObject::upgrade) {
        if object.state(|state| state.madvise != Madvise::DontNeed) {
            continue;
        }
        match object.purge() {
            (true, pages) => purged |= pages,
            (false, _) => device.user().lru.dont_need(&object),
        }
    }
    purged
}

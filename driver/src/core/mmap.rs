//! Offsets for `mmap` of the node: which object they show, and how.
//!
//! drm_vma_manager.c; kinds as in i915 `i915_gem_mman.c`. Not modelled: the mapping itself, which is the node's: it asks
//! [`Offsets::resolve`] and maps the pages at the object's bus address, tiled objects of kind GTT untiled.
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::EACCES, code::EINVAL, code::ENOSPC};
use kernel::sync::SpinLock;

use crate::core::gem::{Object, WeakObject};
use crate::core::range::RangeAllocator;

/// First offset (`DRM_FILE_PAGE_OFFSET_START`): nothing below 4 GiB, where legacy maps were.
const START: u64 = 1 << 32;
/// First offset that is too high (`DRM_FILE_PAGE_OFFSET_SIZE`: 256 times as much).
const END: u64 = START + (256 << 32);

/// How many offsets that may be free again are looked at whenever one is given out.
const LOOKS: usize = 8;

/// How an object is shown (uAPI `I915_MMAP_OFFSET_*`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Through the aperture: tiled objects look linear.
    Gtt,
    /// Its pages, write-combined.
    Wc,
    /// Its pages, cached.
    Wb,
    /// Its pages, uncached.
    Uc,
}

struct Entry {
    object: WeakObject,
    key: usize,
    kind: Kind,
    size: u64,
    /// Whether the first GEM_MMAP has given it out, which knows offsets in an object.
    inside: bool,
    /// Files that have asked for the offset.
    files: BTreeSet<u64>,
    /// It is among those that may go.
    leaves: bool,
}

struct Inner {
    ranges: RangeAllocator,
    entries: BTreeMap<u64, Entry>,
    /// Offsets by the key of the object and the kind.
    known: BTreeMap<(usize, Kind), u64>,
    /// Offsets that no file has any more: their objects go as soon as nothing maps them.
    leaving: VecDeque<u64>,
}

impl Inner {
    /// Gives offsets of objects that are gone back, as far as `looks` at those that may be.
    fn prune(&mut self, looks: usize) {
        for _ in 0..looks.min(self.leaving.len()) {
            let Some(offset) = self.leaving.pop_front() else {
                return;
            };
            let Some(entry) = self.entries.get_mut(&offset) else {
                continue;
            };
            if !entry.files.is_empty() {
                entry.leaves = false;
                continue;
            }
            if entry.object.is_alive() {
                self.leaving.push_back(offset);
                continue;
            }
            self.known.remove(&(entry.key, entry.kind));
            self.entries.remove(&offset);
            self.ranges.remove(offset);
        }
    }
}

/// What a range of offsets shows.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The object; its first byte is at the start of the range.
    pub object: Object,
    /// How it is shown.
    pub kind: Kind,
    /// Byte of the object that the mapping begins with; not 0 only in what the first GEM_MMAP has given out.
    pub start: u64,
}

/// The table of offsets of a device.
pub struct Offsets(SpinLock<Inner>);

impl Default for Offsets {
    fn default() -> Self {
        Offsets(SpinLock::new(Inner {
            ranges: RangeAllocator::new(START, END),
            entries: BTreeMap::new(),
            known: BTreeMap::new(),
            leaving: VecDeque::new(),
        }))
    }
}

impl Offsets {
    /// The offset of an object for a kind of mapping; the same again for the same question. `ENOSPC` when there is none.
    pub(crate) fn assign(&self, object: &Object, kind: Kind, file: u64) -> Result<u64> {
        let mut inner = self.0.lock();
        let key = object.key();
        if let Some(offset) = inner.known.get(&(key, kind)).copied() {
            if let Some(entry) = inner.entries.get_mut(&offset) {
                entry.files.insert(file);
            }
            return Ok(offset);
        }
        inner.prune(LOOKS);
        let size = object.size() as u64;
        let take = |inner: &mut Inner| {
            let ranges = &mut inner.ranges;
            ranges.insert_above("", size, PAGE_SIZE as u64, START)
        };
        let offset = take(&mut inner)
            .or_else(|_| {
                inner.prune(usize::MAX);
                take(&mut inner)
            })
            .map_err(|_| ENOSPC)?;
        inner.known.insert((key, kind), offset);
        inner.entries.insert(
            offset,
            Entry {
                object: object.downgrade(),
                key,
                kind,
                size,
                inside: false,
                files: BTreeSet::from([file]),
                leaves: false,
            },
        );
        Ok(offset)
    }

    /// The same for the first GEM_MMAP, which maps from the middle of an object too.
    pub(crate) fn assign_inside(&self, object: &Object, kind: Kind, file: u64) -> Result<u64> {
        let offset = self.assign(object, kind, file)?;
        if let Some(entry) = self.0.lock().entries.get_mut(&offset) {
            entry.inside = true;
        }
        Ok(offset)
    }

    /// A file has closed its handle of an object.
    pub(crate) fn revoke(&self, object: &Object, file: u64) {
        let key = object.key();
        let mut inner = self.0.lock();
        let Inner {
            entries,
            known,
            leaving,
            ..
        } = &mut *inner;
        for offset in known
            .range((key, Kind::Gtt)..=(key, Kind::Uc))
            .map(|(_, offset)| *offset)
        {
            if let Some(entry) = entries.get_mut(&offset)
                && entry.files.remove(&file)
                && entry.files.is_empty()
                && !entry.leaves
            {
                entry.leaves = true;
                leaving.push_back(offset);
            }
        }
    }

    /// See [`Offsets::resolve`], for the number of a file.
    pub(crate) fn resolve_for(&self, file: u64, offset: u64, len: u64) -> Result<Mapping> {
        let inner = self.0.lock();
        let (base, entry) = inner.entries.range(..=offset).next_back().ok_or(EINVAL)?;
        let start = offset - base;
        if start != 0 && (!entry.inside || start >= entry.size) {
            return Err(EINVAL);
        }
        let object = entry.object.upgrade().ok_or(EINVAL)?;
        if len == 0 || len > entry.size - start {
            return Err(EINVAL);
        }
        if !entry.files.contains(&file) {
            return Err(EACCES);
        }
        Ok(Mapping {
            object,
            kind: entry.kind,
            start,
        })
    }

    /// How many offsets are taken, once those that are free again have been looked for.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> usize {
        let mut inner = self.0.lock();
        inner.prune(usize::MAX);
        inner.entries.len()
    }

    /// How many offsets are looked at now and then, whether they are free again.
    #[cfg(test)]
    pub(crate) fn leaving(&self) -> usize {
        self.0.lock().leaving.len()
    }

    /// The objects that may be mapped in a way.
    pub(crate) fn shown(&self, kind: Kind) -> impl Iterator<Item = Object> + use<> {
        let shown: Vec<_> = {
            let inner = self.0.lock();
            let of_kind = inner.entries.values().filter(|entry| entry.kind == kind);
            of_kind.filter_map(|entry| entry.object.upgrade()).collect()
        };
        // The last hold on an object is dropped outside the lock.
        shown.into_iter()
    }
}

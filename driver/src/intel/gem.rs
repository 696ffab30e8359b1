//! Buffer objects in the GTT: layout, caching domains, addresses, fence registers.
//!
//! i915 GEM in its smallest form; `core::gem` has what all vendors' objects have. Tiled objects lie in memory tiled. Not
//! modelled: caches; memory is coherent, so that what may be cached is bookkeeping.
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::{Result, code::EINVAL};
use kernel::platform::Platform;
use kernel::sync::SpinLock;

use crate::core::gem::{self, Pin};
use crate::core::mmap::{Kind, Mapping, Offsets};
use crate::core::range::Search;
use crate::intel::r#gen::PageUse;
use crate::intel::gtt::{Ggtt, Pages, Place, Scope};
use crate::intel::uapi::gem::domain;

pub use crate::core::gem::{Object, WeakObject};
pub use crate::intel::tiling::Tiling;

/// How an object lies in memory and in whose caches it is.
#[derive(Debug)]
pub(crate) struct Layout {
    tiling: Tiling,
    stride: u32,
    fence: Option<usize>,
    /// The processor's caches may hold it.
    cached: bool,
    pub(crate) read_domains: u32,
    pub(crate) write_domain: u32,
}

/// What i915 keeps of an object.
struct Part {
    ggtt: Arc<Ggtt>,
    // Lock order: an object's binding, then this.
    layout: SpinLock<Layout>,
    /// The device only reads it.
    read_only: bool,
}

impl Part {
    fn put_fence(&self, index: usize) {
        if self.ggtt.is_live() {
            self.ggtt.fences().put(self.ggtt.uncore(), index);
        }
    }
}

impl gem::Part for Part {
    fn unbind(&self, address: u64) {
        let fence = self.layout.lock().fence.take();
        if let Some(index) = fence {
            self.put_fence(index);
        }
        self.ggtt.remove(graphics(address));
    }
}

/// An address that the GTT has given out.
fn graphics(address: u64) -> u32 {
    // CAST: the GTT's addresses have 32 bits.
    address as u32
}

impl Part {
    /// How the device uses its pages.
    fn used(&self) -> PageUse {
        PageUse {
            cached: self.layout.lock().cached,
            writable: !self.read_only,
        }
    }

    fn new(ggtt: &Arc<Ggtt>, tiling: Tiling, stride: u32) -> Self {
        Part {
            ggtt: Arc::clone(ggtt),
            read_only: false,
            layout: SpinLock::new(Layout {
                tiling,
                stride,
                fence: None,
                // i915 `i915_gem_object_create_shmem`.
                cached: ggtt.info().llc,
                // i915 `i915_gem_object_create_shmem`: new objects are in the CPU's domain.
                read_domains: domain::CPU,
                write_domain: domain::CPU,
            }),
        }
    }
}

impl Object {
    /// An object of the device that owns `ggtt`.
    pub(crate) fn new(
        platform: &Arc<dyn Platform>,
        ggtt: &Arc<Ggtt>,
        name: String,
        size: usize,
        tiling: Tiling,
        stride: u32,
    ) -> Result<Self> {
        if size == 0 {
            return Err(EINVAL);
        }
        if let Some((width, _)) = tiling.tile()
            && (stride == 0 || !stride.is_multiple_of(width))
        {
            return Err(EINVAL);
        }
        let part = Part::new(ggtt, tiling, stride);
        Object::with(platform, name, size, Box::new(part))
    }

    /// An object of the driver's own, whose pages no client reaches.
    pub(crate) fn own(
        platform: &Arc<dyn Platform>,
        ggtt: &Arc<Ggtt>,
        name: String,
        size: usize,
    ) -> Result<Self> {
        let part = Part::new(ggtt, Tiling::None, 0);
        Object::guarded(platform, name, size, Box::new(part))
    }

    /// The same for one that the device only reads, where entries say so.
    pub(crate) fn own_read_only(
        platform: &Arc<dyn Platform>,
        ggtt: &Arc<Ggtt>,
        name: String,
        size: usize,
    ) -> Result<Self> {
        let part = Part {
            read_only: true,
            ..Part::new(ggtt, Tiling::None, 0)
        };
        Object::guarded(platform, name, size, Box::new(part))
    }

    fn in_ggtt(&self) -> Result<&Part> {
        self.part().ok_or(EINVAL)
    }

    /// Looks at layout and domains; `None` for another vendor's object.
    pub(crate) fn layout<T>(&self, look: impl FnOnce(&mut Layout) -> T) -> Option<T> {
        Some(look(&mut self.part::<Part>()?.layout.lock()))
    }

    /// Layout.
    #[must_use]
    pub fn tiling(&self) -> Tiling {
        self.layout(|layout| layout.tiling).unwrap_or_default()
    }

    /// Bytes of a row, 0 when it was not given.
    #[must_use]
    pub fn stride(&self) -> u32 {
        self.layout(|layout| layout.stride).unwrap_or_default()
    }

    /// Graphics address, when bound.
    #[must_use]
    pub fn address(&self) -> Option<u32> {
        self.bound_at().map(graphics)
    }

    /// Whether this is an object of the device that owns `ggtt`.
    pub(crate) fn belongs_to(&self, ggtt: &Arc<Ggtt>) -> bool {
        self.part::<Part>()
            .is_some_and(|part| Arc::ptr_eq(&part.ggtt, ggtt))
    }

    fn bind_by(&self, place: impl FnOnce(&Ggtt, &str, Pages<'_>) -> Result<u32>) -> Result<u32> {
        let part = self.in_ggtt()?;
        let ggtt = &part.ggtt;
        let bound = self.bind_with(|name, memory| {
            let used = part.used();
            let address = place(ggtt, name, Pages { memory, used })?;
            ggtt.note(address, self.downgrade());
            Ok(u64::from(address))
        })?;
        Ok(graphics(bound))
    }

    /// Binds at a chosen address.
    pub(crate) fn bind_at(&self, address: u32) -> Result<u32> {
        self.bind_by(|ggtt, name, pages| ggtt.insert_at(name, pages, address))
    }

    /// Binds at the lowest (or highest) address that is free.
    pub(crate) fn bind(&self, align: u32, search: Search) -> Result<u32> {
        let scope = Scope::Everybody;
        self.bind_by(|ggtt, name, pages| ggtt.insert(name, (pages, scope), align, search))
    }

    /// Binds at the highest address that is free, for the driver's commands alone.
    pub(crate) fn bind_own(&self) -> Result<u32> {
        let scope = Scope::Global;
        self.bind_by(|ggtt, name, pages| ggtt.insert(name, (pages, scope), 0, Search::High))
    }

    /// Lets the driver's commands, too, see a bound object: commands whose stores go through the global GTT.
    pub(crate) fn make_global(&self) -> Result {
        let part = self.in_ggtt()?;
        let memory = self.pages()?;
        self.while_bound(|address| {
            let address = address.map(graphics).ok_or(EINVAL)?;
            let pages = Pages {
                memory: &memory,
                used: part.used(),
            };
            part.ggtt.make_global(pages, address)
        })
    }

    /// Whether the processor's caches may hold it.
    pub(crate) fn is_cached(&self) -> bool {
        self.layout(|layout| layout.cached).unwrap_or_default()
    }

    /// Says whether the processor's caches may hold it, from the next time on that it is bound.
    pub(crate) fn set_cached(&self, cached: bool) {
        self.layout(|layout| layout.cached = cached);
    }

    /// Binds as a user asks for it.
    pub(crate) fn bind_user(&self, place: &Place) -> Result<u32> {
        self.bind_by(|ggtt, name, pages| ggtt.place(name, pages, place))
    }

    /// Bytes of address space that the object takes, 0 when it is not bound.
    pub(crate) fn bound_size(&self) -> u64 {
        let (Some(address), Ok(part)) = (self.address(), self.in_ggtt()) else {
            return 0;
        };
        part.ggtt.size_at(address)
    }

    /// Puts a fence register over the object, so that the aperture shows it untiled; returns its number.
    ///
    /// `EINVAL` when the object is linear or not bound, `EBUSY` when all fence registers are taken.
    pub fn fence(&self) -> Result<usize> {
        let part = self.in_ggtt()?;
        if self.address().is_some() {
            // The aperture is a view of the global GTT.
            self.make_global()?;
        }
        self.while_bound(|address| {
            let mut layout = part.layout.lock();
            if let Some(index) = layout.fence {
                return Ok(index);
            }
            let address = address.map(graphics).ok_or(EINVAL)?;
            let size = u32::try_from(self.size()).map_err(|_| EINVAL)?;
            let fences = part.ggtt.fences();
            let value = fences.encode((address, size), layout.tiling, layout.stride)?;
            let index = fences.take(part.ggtt.uncore(), value)?;
            layout.fence = Some(index);
            Ok(index)
        })
    }

    /// Changes the layout; a fence register over the old one is given back.
    pub(crate) fn set_layout(&self, tiling: Tiling, stride: u32) {
        let Ok(part) = self.in_ggtt() else {
            return;
        };
        self.while_bound(|_| {
            let mut layout = part.layout.lock();
            let changed = (layout.tiling, layout.stride) != (tiling, stride);
            (layout.tiling, layout.stride) = (tiling, stride);
            if changed && let Some(index) = layout.fence.take() {
                part.put_fence(index);
            }
        });
    }

    /// Notes that the device writes the object.
    pub(crate) fn mark_rendered(&self) {
        self.layout(|layout| {
            layout.read_domains = domain::RENDER;
            layout.write_domain = domain::RENDER;
        });
    }
}

impl Pin {
    /// Graphics address of the object.
    pub(crate) fn address(&self) -> u32 {
        graphics(self.at())
    }
}

impl Mapping {
    /// Whether the object must be shown untiled.
    #[must_use]
    pub fn is_untiled(&self) -> bool {
        self.kind == Kind::Gtt && self.object.tiling() != Tiling::None
    }
}

impl Offsets {
    /// The tiled objects that may be visible through the aperture: their shadows are to be merged around a submission.
    #[must_use]
    pub fn untiled(&self) -> Vec<Object> {
        let tiled = |object: &Object| object.tiling() != Tiling::None;
        self.shown(Kind::Gtt).filter(tiled).collect()
    }
}

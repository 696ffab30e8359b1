//! GEM objects: pages, tiling, binding into the GTT, activity.
//!
//! i915 GEM in its smallest form. Contents are as they lie in memory, tiled objects tiled. Not modelled: swapping,
//! pages that come with their first use (an object has them from its creation on).
pub mod state;

use alloc::format;
use alloc::string::String;
use alloc::sync::{Arc, Weak};
use core::fmt;

use kernel::dma::{CoherentAllocation, DmaAddress, PAGE_SIZE};
use kernel::drm::BaseObject;
use kernel::error::{Result, code::EBUSY, code::EFAULT, code::EINVAL};
use kernel::platform::Platform;
use kernel::sync::SpinLock;

use self::state::{Madvise, State};
use crate::core::range::Search;
use crate::core::work;
use crate::intel::gtt::{Ggtt, Place, fence_reg};

/// Layout of an object (uAPI `I915_TILING_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tiling {
    /// Linear.
    #[default]
    None,
    /// X-major tiles of 512 bytes by 8 rows.
    X,
    /// Y-major tiles of 128 bytes by 32 rows.
    Y,
}

impl Tiling {
    /// Width and height of a tile in bytes and rows; linear memory has no tiles.
    #[must_use]
    pub const fn tile(self) -> Option<(u32, u32)> {
        match self {
            Tiling::None => None,
            Tiling::X => Some((512, 8)),
            Tiling::Y => Some((128, 32)),
        }
    }
}

/// Largest object: the whole of a 512 MiB GTT.
const MAX_SIZE: usize = 512 << 20;

#[derive(Default)]
struct Binding {
    address: Option<u32>,
    fence: Option<usize>,
    /// Holders that need it to stay where it is.
    pins: u32,
}

pub(crate) struct Inner {
    name: String,
    size: usize,
    ggtt: Arc<Ggtt>,
    // Lock order: binding, then state.
    binding: SpinLock<Binding>,
    state: SpinLock<State>,
}

/// A buffer object; clones share it. The last one to go unbinds it and frees its pages.
#[derive(Clone)]
pub struct Object {
    inner: Arc<Inner>,
}

/// A buffer object that others keep alive.
#[derive(Clone)]
pub struct WeakObject(Weak<Inner>);

impl WeakObject {
    /// Whether the object is still there.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        work::one();
        self.0.strong_count() > 0
    }

    /// The object, unless it is gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Object> {
        work::one();
        self.0.upgrade().map(|inner| Object { inner })
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("name", &self.inner.name)
            .field("size", &self.inner.size)
            .field("tiling", &self.tiling())
            .field("stride", &self.stride())
            .field("address", &self.address())
            .finish()
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        work::one();
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Object {}

impl BaseObject for Object {
    fn size(&self) -> usize {
        self.inner.size
    }
}

impl Object {
    pub(crate) fn new(
        platform: &Arc<dyn Platform>,
        ggtt: &Arc<Ggtt>,
        name: String,
        size: usize,
        tiling: Tiling,
        stride: u32,
    ) -> Result<Self> {
        if size == 0 || size > MAX_SIZE {
            return Err(EINVAL);
        }
        if let Some((width, _)) = tiling.tile()
            && (stride == 0 || !stride.is_multiple_of(width))
        {
            return Err(EINVAL);
        }
        let pages = CoherentAllocation::alloc_coherent(platform, size.div_ceil(PAGE_SIZE))?;
        Ok(Object {
            inner: Arc::new(Inner {
                name,
                size: pages.size(),
                ggtt: Arc::clone(ggtt),
                binding: SpinLock::new(Binding::default()),
                state: SpinLock::new(State::new(pages, tiling, stride)),
            }),
        })
    }

    pub(crate) fn name(number: u32) -> String {
        format!("object {number}")
    }

    /// Size in bytes, whole pages.
    #[must_use]
    pub fn size(&self) -> usize {
        self.inner.size
    }

    /// A handle that does not keep the object.
    #[must_use]
    pub fn downgrade(&self) -> WeakObject {
        WeakObject(Arc::downgrade(&self.inner))
    }

    /// A number that no other object has while this one, or a weak handle of it, lives.
    #[must_use]
    pub fn key(&self) -> usize {
        Arc::as_ptr(&self.inner).addr()
    }

    /// Looks at the part of the object that is not its binding.
    pub(crate) fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.inner.state.lock())
    }

    /// The pages; no lock is held while they are read or written.
    fn pages(&self) -> Result<Arc<CoherentAllocation>> {
        self.state(|state| state.pages().map(Arc::clone))
    }

    /// Layout.
    #[must_use]
    pub fn tiling(&self) -> Tiling {
        self.state(|state| state.tiling)
    }

    /// Bytes of a row, 0 when it was not given.
    #[must_use]
    pub fn stride(&self) -> u32 {
        self.state(|state| state.stride)
    }

    /// Bus address of the first byte; the pages follow one another. `None` once the contents have been purged.
    #[must_use]
    pub fn dma_address(&self) -> Option<DmaAddress> {
        self.pages().ok().map(|pages| pages.dma_handle())
    }

    /// Graphics address, when bound.
    #[must_use]
    pub fn address(&self) -> Option<u32> {
        self.inner.binding.lock().address
    }

    /// Whether this is an object of the device that owns `ggtt`.
    pub(crate) fn belongs_to(&self, ggtt: &Arc<Ggtt>) -> bool {
        Arc::ptr_eq(&self.inner.ggtt, ggtt)
    }

    /// Writes bytes at `offset`; `EINVAL` when the range leaves the object, `EFAULT` when it has been purged.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result {
        self.pages()?.write(offset, bytes)
    }

    /// Reads bytes at `offset`; `EINVAL` when the range leaves the object, `EFAULT` when it has been purged.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result {
        self.pages()?.read(offset, bytes)
    }

    /// Writes little-endian dwords at `offset`.
    pub fn write_dwords(&self, offset: usize, dwords: &[u32]) -> Result {
        let bytes: alloc::vec::Vec<u8> =
            dwords.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write(offset, &bytes)
    }

    /// Reads the little-endian dword at `offset`.
    pub fn read32(&self, offset: usize) -> Result<u32> {
        self.pages()?.read32(offset)
    }

    fn bind_with(
        &self,
        place: impl FnOnce(&Inner, &CoherentAllocation) -> Result<u32>,
    ) -> Result<u32> {
        let mut binding = self.inner.binding.lock();
        if binding.address.is_some() {
            return Err(EBUSY);
        }
        let address = place(&self.inner, &*self.pages()?)?;
        binding.address = Some(address);
        self.inner.ggtt.note(address, self.downgrade());
        Ok(address)
    }

    /// Binds at a chosen address.
    pub(crate) fn bind_at(&self, address: u32) -> Result<u32> {
        self.bind_with(|inner, pages| inner.ggtt.insert_at(&inner.name, pages, address))
    }

    /// Binds at the lowest (or highest) address that is free.
    pub(crate) fn bind(&self, align: u32, search: Search) -> Result<u32> {
        self.bind_with(|inner, pages| inner.ggtt.insert(&inner.name, pages, align, search))
    }

    /// Binds as a user asks for it.
    pub(crate) fn bind_user(&self, place: &Place) -> Result<u32> {
        self.bind_with(|inner, pages| inner.ggtt.place(&inner.name, pages, place))
    }

    /// Bytes of address space that the object takes, 0 when it is not bound.
    pub(crate) fn bound_size(&self) -> u64 {
        self.address()
            .map_or(0, |address| self.inner.ggtt.size_at(address))
    }

    /// Keeps the object bound where it is until the pin is dropped; `EFAULT` when it is not bound.
    pub(crate) fn pin(&self) -> Result<Pin> {
        let mut binding = self.inner.binding.lock();
        let address = binding.address.ok_or(EFAULT)?;
        binding.pins = binding.pins.saturating_add(1);
        Ok(Pin {
            object: self.clone(),
            address,
        })
    }

    /// Whether the object is needed where it is.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.inner.binding.lock().pins > 0
    }

    /// Gives the contents up when neither user space, nor the device, nor a holder of a pin needs them. Whether
    /// that was so; whether there were any.
    pub(crate) fn purge(&self) -> (bool, bool) {
        let mut binding = self.inner.binding.lock();
        let unneeded =
            self.state(|state| state.madvise == Madvise::DontNeed && state.active(false).is_none());
        if !unneeded || binding.pins > 0 {
            return (false, false);
        }
        self.inner.release(&mut binding);
        // It cannot be bound meanwhile. The pages go back outside the locks.
        let pages = self.state(State::purge);
        drop(binding);
        (true, pages.is_some())
    }

    /// Unbinds; nothing happens when the object is not bound. The caller knows that the device is done with it.
    pub fn unbind(&self) {
        self.inner.unbind();
    }

    /// Puts a fence register over the object, so that the aperture shows it untiled; returns its number.
    ///
    /// `EINVAL` when the object is linear or not bound, `EBUSY` when all fence registers are taken.
    pub fn fence(&self) -> Result<usize> {
        let inner = &self.inner;
        let mut binding = inner.binding.lock();
        if let Some(index) = binding.fence {
            return Ok(index);
        }
        let address = binding.address.ok_or(EINVAL)?;
        let size = u32::try_from(inner.size).map_err(|_| EINVAL)?;
        let value = fence_reg::encode(address, size, self.tiling(), self.stride())?;
        let index = inner.ggtt.fences().take(inner.ggtt.uncore(), value)?;
        binding.fence = Some(index);
        Ok(index)
    }

    /// Whether the device may still write it (or, without `writer`, use it).
    #[must_use]
    pub fn is_busy(&self, writer: bool) -> bool {
        self.state(|state| state.active(writer).is_some())
    }

    /// Changes the layout; a fence register over the old one is given back.
    pub(crate) fn set_layout(&self, tiling: Tiling, stride: u32) {
        let mut binding = self.inner.binding.lock();
        let changed = self.state(|state| {
            let old = (state.tiling, state.stride);
            (state.tiling, state.stride) = (tiling, stride);
            old != (tiling, stride)
        });
        if changed && let Some(index) = binding.fence.take() {
            self.inner.put_fence(index);
        }
    }
}

/// Keeps an object bound.
pub(crate) struct Pin {
    object: Object,
    address: u32,
}

impl Pin {
    /// Where the object is.
    pub(crate) fn address(&self) -> u32 {
        self.address
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut binding = self.object.inner.binding.lock();
        binding.pins = binding.pins.saturating_sub(1);
    }
}

impl Inner {
    fn put_fence(&self, index: usize) {
        if self.ggtt.is_live() {
            self.ggtt.fences().put(self.ggtt.uncore(), index);
        }
    }

    fn unbind(&self) {
        self.release(&mut self.binding.lock());
    }

    fn release(&self, binding: &mut Binding) {
        if let Some(index) = binding.fence.take() {
            self.put_fence(index);
        }
        if let Some(address) = binding.address.take() {
            self.ggtt.remove(address);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.unbind();
    }
}

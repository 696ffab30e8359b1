//! Buffer objects: pages, activity, and where the device sees them.
//!
//! drm_gem.c. What only a vendor's devices know of an object (its layout, say) is in the vendor's [`Part`] of it.
//! Contents are as they lie in memory. Not modelled: swapping, pages that come with their first use (an object has them
//! from its creation on).
pub mod state;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::{Arc, Weak};
use core::any::Any;
use core::fmt;
use core::ops::Deref;

use kernel::dma::{CoherentAllocation, DmaAddress, PAGE_SIZE};
use kernel::drm::BaseObject;
use kernel::error::{Result, code::EBUSY, code::EFAULT};
use kernel::platform::Platform;
use kernel::sync::SpinLock;

pub(crate) use self::state::Claim;
use self::state::State;
use crate::core::work;

/// What a vendor keeps of an object.
pub trait Part: Any + Send + Sync {
    /// The device is to see the object no longer at an address where it has been bound. The object's binding is locked.
    fn unbind(&self, address: u64);
}

#[derive(Default)]
struct Binding {
    address: Option<u64>,
    /// Holders that need it to stay where it is.
    pins: u32,
}

pub(crate) struct Inner {
    name: String,
    size: usize,
    part: Box<dyn Part>,
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

    /// Whether the object is gone, or its contents are. Neither comes back, and nobody maps the object again.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        work::one();
        let object = self.0.upgrade().map(|inner| Object { inner });
        object.is_none_or(|object| object.pages().is_err())
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
            .field("address", &self.bound_at())
            .finish_non_exhaustive()
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
    /// An object of whole pages, at least `size` bytes of zeros, with a vendor's part.
    pub(crate) fn with(
        platform: &Arc<dyn Platform>,
        name: String,
        size: usize,
        part: Box<dyn Part>,
    ) -> Result<Self> {
        let pages = CoherentAllocation::alloc_coherent(platform, size.div_ceil(PAGE_SIZE))?;
        Ok(Self::over(pages, name, part))
    }

    /// The same over pages that no client reaches.
    pub(crate) fn guarded(
        platform: &Arc<dyn Platform>,
        name: String,
        size: usize,
        part: Box<dyn Part>,
    ) -> Result<Self> {
        let pages = CoherentAllocation::alloc_guarded(platform, size.div_ceil(PAGE_SIZE))?;
        Ok(Self::over(pages, name, part))
    }

    fn over(pages: CoherentAllocation, name: String, part: Box<dyn Part>) -> Self {
        Object {
            inner: Arc::new(Inner {
                name,
                size: pages.size(),
                part,
                binding: SpinLock::new(Binding::default()),
                state: SpinLock::new(State::new(pages)),
            }),
        }
    }

    /// The vendor's part; `None` when it is another vendor's.
    pub(crate) fn part<P: Part>(&self) -> Option<&P> {
        let part: &dyn Any = &*self.inner.part;
        part.downcast_ref()
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
    pub(crate) fn pages(&self) -> Result<Arc<CoherentAllocation>> {
        self.state(|state| state.pages().map(Arc::clone))
    }

    /// Bus address of the first byte; the pages follow one another. `None` once the contents have been purged.
    #[must_use]
    pub fn dma_address(&self) -> Option<DmaAddress> {
        self.pages().ok().map(|pages| pages.dma_handle())
    }

    /// Where the device sees it, when bound.
    #[must_use]
    pub fn bound_at(&self) -> Option<u64> {
        self.inner.binding.lock().address
    }

    /// Looks at where it is bound and keeps that as it is meanwhile.
    pub(crate) fn while_bound<T>(&self, look: impl FnOnce(Option<u64>) -> T) -> T {
        look(self.inner.binding.lock().address)
    }

    /// Writes bytes at `offset`; `EINVAL` when the range leaves the object, `EFAULT` when it has been purged.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result {
        self.pages()?.write(offset, bytes)
    }

    /// Reads bytes at `offset`; `EINVAL` when the range leaves the object, `EFAULT` when it has been purged.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result {
        self.state(|state| state.touched = true);
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
        self.state(|state| state.touched = true);
        self.pages()?.read32(offset)
    }

    /// Binds where `place`, which gets name and pages, finds room; `EBUSY` when it is bound already.
    pub(crate) fn bind_with(
        &self,
        place: impl FnOnce(&str, &CoherentAllocation) -> Result<u64>,
    ) -> Result<u64> {
        let mut binding = self.inner.binding.lock();
        if binding.address.is_some() {
            return Err(EBUSY);
        }
        let address = place(&self.inner.name, &*self.pages()?)?;
        self.state(|state| state.touched = true);
        binding.address = Some(address);
        Ok(address)
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

    /// A hold on the object for a mapping of a program; `as_pages` when the mapping has the pages as they lie, not by way of a fence.
    #[must_use]
    pub fn show(&self, as_pages: bool) -> Shown {
        self.state(|state| state.show(as_pages));
        Shown(self.clone())
    }

    /// Whether its contents stay because of [`show`](Self::show).
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.state(|state| state.is_shown())
    }

    /// Whether a mapping has ever had the pages as they lie.
    #[must_use]
    pub fn has_shown_pages(&self) -> bool {
        self.state(|state| state.has_shown_pages)
    }

    /// Gives the contents up when neither user space, nor a mapping, nor the device, nor a holder of a pin needs them. Whether
    /// that was so; whether there were any.
    pub(crate) fn purge(&self) -> (bool, bool) {
        let mut binding = self.inner.binding.lock();
        if binding.pins > 0 {
            return (false, false);
        }
        // It cannot be bound meanwhile. The pages go back outside the locks.
        let Ok(pages) = self.state(State::purge) else {
            return (false, false);
        };
        self.inner.release(&mut binding);
        drop(binding);
        (true, pages.is_some())
    }

    /// Unbinds; nothing happens when the object is not bound. The caller knows that the device is done with it.
    pub fn unbind(&self) {
        self.inner.unbind();
    }

    /// Whether the device may still write it (or, without `writer`, use it).
    #[must_use]
    pub fn is_busy(&self, writer: bool) -> bool {
        self.state(|state| state.active(writer).is_some())
    }
}

/// An object that a mapping shows: its contents stay meanwhile, also where they are not needed. Each clone is a mapping.
#[derive(Debug)]
pub struct Shown(Object);

impl Clone for Shown {
    fn clone(&self) -> Self {
        self.0.show(false)
    }
}

impl Deref for Shown {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.0
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.state(State::hide);
    }
}

/// Keeps an object bound.
pub(crate) struct Pin {
    object: Object,
    address: u64,
}

impl Pin {
    /// Where the object is.
    pub(crate) fn at(&self) -> u64 {
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
    fn unbind(&self) {
        self.release(&mut self.binding.lock());
    }

    fn release(&self, binding: &mut Binding) {
        if let Some(address) = binding.address.take() {
            self.part.unbind(address);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.unbind();
    }
}

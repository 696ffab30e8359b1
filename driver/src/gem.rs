//! GEM objects: pages, tiling, binding into the GTT.
//!
//! i915 GEM in its smallest form. Not modelled: handles, caching modes, eviction, user mappings; contents are as they
//! lie in memory, tiled objects tiled.
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use kernel::dma::{CoherentAllocation, PAGE_SIZE};
use kernel::drm::BaseObject;
use kernel::error::{Result, code::EBUSY, code::EINVAL};
use kernel::platform::Platform;
use kernel::sync::SpinLock;

use crate::gtt::range::Search;
use crate::gtt::{Ggtt, fence_reg};

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
}

struct Inner {
    name: String,
    tiling: Tiling,
    stride: u32,
    pages: CoherentAllocation,
    ggtt: Arc<Ggtt>,
    binding: SpinLock<Binding>,
}

/// A buffer object; clones share it. The last one to go unbinds it and frees its pages.
#[derive(Clone)]
pub struct Object {
    inner: Arc<Inner>,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("name", &self.inner.name)
            .field("size", &self.inner.pages.size())
            .field("tiling", &self.inner.tiling)
            .field("stride", &self.inner.stride)
            .field("address", &self.address())
            .finish()
    }
}

impl BaseObject for Object {
    fn size(&self) -> usize {
        self.inner.pages.size()
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
                tiling,
                stride,
                pages,
                ggtt: Arc::clone(ggtt),
                binding: SpinLock::new(Binding::default()),
            }),
        })
    }

    pub(crate) fn name(number: u32) -> String {
        format!("object {number}")
    }

    /// Size in bytes, whole pages.
    #[must_use]
    pub fn size(&self) -> usize {
        self.inner.pages.size()
    }

    /// Layout.
    #[must_use]
    pub fn tiling(&self) -> Tiling {
        self.inner.tiling
    }

    /// Bytes of a row, 0 when nobody said.
    #[must_use]
    pub fn stride(&self) -> u32 {
        self.inner.stride
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

    /// Writes bytes at `offset`; `EINVAL` when the range leaves the object.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result {
        self.inner.pages.write(offset, bytes)
    }

    /// Reads bytes at `offset`; `EINVAL` when the range leaves the object.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result {
        self.inner.pages.read(offset, bytes)
    }

    /// Writes little-endian dwords at `offset`.
    pub fn write_dwords(&self, offset: usize, dwords: &[u32]) -> Result {
        let bytes: alloc::vec::Vec<u8> =
            dwords.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write(offset, &bytes)
    }

    /// Reads the little-endian dword at `offset`.
    pub fn read32(&self, offset: usize) -> Result<u32> {
        self.inner.pages.read32(offset)
    }

    fn bind_with(&self, place: impl FnOnce(&Inner) -> Result<u32>) -> Result<u32> {
        let mut binding = self.inner.binding.lock();
        if binding.address.is_some() {
            return Err(EBUSY);
        }
        let address = place(&self.inner)?;
        binding.address = Some(address);
        Ok(address)
    }

    /// Binds at a chosen address.
    pub(crate) fn bind_at(&self, address: u32) -> Result<u32> {
        self.bind_with(|inner| inner.ggtt.insert_at(&inner.name, &inner.pages, address))
    }

    /// Binds at the lowest (or highest) address that is free.
    pub(crate) fn bind(&self, align: u32, search: Search) -> Result<u32> {
        self.bind_with(|inner| inner.ggtt.insert(&inner.name, &inner.pages, align, search))
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
        let size = u32::try_from(inner.pages.size()).map_err(|_| EINVAL)?;
        let value = fence_reg::encode(address, size, inner.tiling, inner.stride)?;
        let index = inner.ggtt.fences().take(inner.ggtt.uncore(), value)?;
        binding.fence = Some(index);
        Ok(index)
    }
}

impl Inner {
    fn unbind(&self) {
        let Binding { address, fence } = core::mem::take(&mut *self.binding.lock());
        if let Some(index) = fence
            && self.ggtt.is_live()
        {
            self.ggtt.fences().put(self.ggtt.uncore(), index);
        }
        if let Some(address) = address {
            self.ggtt.remove(address);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.unbind();
    }
}

//! Open files: handles of objects and sync objects.
//!
//! drm_file.c, drm_gem.c. Duplicates of a descriptor share a file, a second open makes a new one. What a vendor keeps of
//! a file (contexts, address spaces) is the file's part.
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use core::any::Any;

use kernel::error::{Result, code::EINVAL, code::ENOENT};
use kernel::sync::{Ordering, SpinLock};
use kernel::time::Ktime;

use crate::core::client::Client;
use crate::core::device::Device;
use crate::core::fence::Fence;
use crate::core::gem::Object;
use crate::core::handles::Handles;
use crate::core::master::{Membership, Node, Opener};
use crate::core::mmap::{Mapping, Offsets};
use crate::core::syncobj::Syncobj;

/// Requests of a file that are remembered for throttling.
const REMEMBERED: usize = 64;

/// Most handles of objects of a file: as many as there are pages in 4 GiB.
const OBJECTS: u32 = 1 << 20;
/// Most sync objects of a file. Linux has as many as there is kernel memory; Mesa has them by the hundred.
const SYNCOBJS: u32 = 1 << 16;

#[derive(Default)]
struct Objects {
    handles: Handles<Object, OBJECTS>,
    /// How many handles each object has, by its key.
    counts: BTreeMap<usize, u32>,
    /// Handles that PRIME has given out or taken in, behind the keys of their objects.
    prime: BTreeSet<(usize, u32)>,
}

impl Objects {
    fn add(&mut self, object: &Object) -> Result<u32> {
        let handle = self.handles.insert(object.clone())?;
        let count = self.counts.entry(object.key()).or_insert(0);
        *count = count.saturating_add(1);
        Ok(handle)
    }

    /// The object of a handle that is closed, and whether that was its last.
    fn remove(&mut self, handle: u32) -> Option<(Object, bool)> {
        let object = self.handles.remove(handle)?;
        let key = object.key();
        self.prime.remove(&(key, handle));
        let count = self.counts.entry(key).or_insert(1);
        *count = count.saturating_sub(1);
        let last = *count == 0;
        if last {
            self.counts.remove(&key);
        }
        Some((object, last))
    }
}

/// An open file. Dropping it closes everything; what it has submitted may go on for a while
/// ([`TimeLimits::after_close`](crate::TimeLimits)).
pub struct File {
    device: Arc<dyn Device>,
    node: Node,
    number: u64,
    objects: SpinLock<Objects>,
    pub(crate) syncobjs: SpinLock<Handles<Arc<Syncobj>, SYNCOBJS>>,
    part: Box<dyn Any + Send + Sync>,
    client: Arc<Client>,
    pub(crate) member: Membership,
    recent: SpinLock<VecDeque<(Ktime, Arc<Fence>)>>,
}

impl File {
    /// Opens a node of a device with all rights.
    #[must_use]
    pub fn open(device: &(impl Device + Clone), node: Node) -> Self {
        Self::open_by(device, node, Opener::ROOT)
    }

    /// Opens a node of a device for a process.
    #[must_use]
    pub fn open_by(device: &(impl Device + Clone), node: Node, opener: Opener) -> Self {
        let client = Arc::new(Client::default());
        File {
            device: Arc::new(device.clone()),
            node,
            number: device.user().files.fetch_add(1, Ordering::Relaxed),
            objects: SpinLock::new(Objects::default()),
            syncobjs: SpinLock::new(Handles::default()),
            part: device.open_file(&client),
            client,
            member: Membership::new(node, &device.user().seat, opener),
            recent: SpinLock::new(VecDeque::new()),
        }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// The device, when it is a `D`.
    #[must_use]
    pub fn device_as<D: Device>(&self) -> Option<&D> {
        let device: &dyn Any = &*self.device;
        device.downcast_ref()
    }

    /// The vendor's part of the file, when it is a `P`.
    pub(crate) fn part<P: Any>(&self) -> Option<&P> {
        self.part.downcast_ref()
    }

    /// Which node it is of.
    #[must_use]
    pub fn node(&self) -> Node {
        self.node
    }

    /// A number that no other file of the device has had.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The object of a handle; `ENOENT` when there is none.
    pub fn object(&self, handle: u32) -> Result<Object> {
        let objects = self.objects.lock();
        objects.handles.get(handle).cloned().ok_or(ENOENT)
    }

    /// The offset that `assign` takes from the device's table for an object; `ENOENT` when the last handle of the object has been closed
    /// meanwhile. Each offset is taken from the file again when that happens, see [`close_object`](Self::close_object).
    pub(crate) fn offset(
        &self,
        object: &Object,
        assign: impl FnOnce(&Offsets) -> Result<u64>,
    ) -> Result<u64> {
        let objects = self.objects.lock();
        if !objects.counts.contains_key(&object.key()) {
            return Err(ENOENT);
        }
        assign(&self.device.user().mappings)
    }

    /// Gives an object a new handle.
    pub(crate) fn add_object(&self, object: &Object) -> Result<u32> {
        self.add_by(object, |objects| objects.add(object))
    }

    /// The handle that PRIME knows for an object, or a new one.
    pub(crate) fn import(&self, object: &Object) -> Result<u32> {
        let key = object.key();
        let known = |objects: &Objects| {
            let mut prime = objects.prime.range((key, 0)..=(key, u32::MAX));
            prime.next().map(|(_, handle)| *handle)
        };
        if let Some(handle) = known(&self.objects.lock()) {
            return Ok(handle);
        }
        let mut is_new = true;
        let handle = self.add_by(object, |objects| {
            // Another thread may have imported it meanwhile.
            if let Some(handle) = known(objects) {
                is_new = false;
                return Ok(handle);
            }
            let handle = objects.add(object)?;
            objects.prime.insert((key, handle));
            Ok(handle)
        })?;
        if !is_new {
            self.forget(object);
        }
        Ok(handle)
    }

    /// The same for an object whose name has been found. The caller holds the lock of the names, and with it every [`forget`](Self::forget)
    /// up.
    pub(crate) fn open_named(&self, object: &Object) -> Result<u32> {
        let handle = self.objects.lock().add(object)?;
        object.state(|state| state.handles = state.handles.saturating_add(1));
        Ok(handle)
    }

    /// Counts a handle of an object that `add` makes.
    fn add_by(
        &self,
        object: &Object,
        add: impl FnOnce(&mut Objects) -> Result<u32>,
    ) -> Result<u32> {
        object.state(|state| state.handles = state.handles.saturating_add(1));
        let handle = add(&mut self.objects.lock());
        if handle.is_err() {
            self.forget(object);
        }
        handle
    }

    /// Notes that PRIME has given a handle out.
    pub(crate) fn exported(&self, handle: u32) {
        let mut objects = self.objects.lock();
        if let Some(key) = objects.handles.get(handle).map(Object::key) {
            objects.prime.insert((key, handle));
        }
    }

    /// Closes a handle; `EINVAL` when there is none.
    pub(crate) fn close_object(&self, handle: u32) -> Result {
        let mut objects = self.objects.lock();
        let (object, last) = objects.remove(handle).ok_or(EINVAL)?;
        if last {
            // Before a new handle can ask for an offset.
            self.device.user().mappings.revoke(&object, self.number);
        }
        drop(objects);
        self.forget(&object);
        Ok(())
    }

    /// One handle of an object less; the last takes its global name away (drm_gem_object_handle_put_unlocked).
    fn forget(&self, object: &Object) {
        // Before the object's state, and held as long as it takes: GEM_OPEN adds a handle by the name under this lock.
        let mut names = self.device.user().names.lock();
        let name = object.state(|state| {
            state.handles = state.handles.saturating_sub(1);
            if state.handles == 0 {
                core::mem::take(&mut state.name)
            } else {
                0
            }
        });
        if name != 0 {
            names.remove(name);
        }
    }

    /// The sync object of a handle; `ENOENT` when there is none.
    pub(crate) fn syncobj(&self, handle: u32) -> Result<Arc<Syncobj>> {
        let syncobjs = self.syncobjs.lock();
        syncobjs.get(handle).map(Arc::clone).ok_or(ENOENT)
    }

    /// The hangs of this file.
    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// Remembers a request for throttling.
    pub(crate) fn submitted(&self, now: Ktime, fence: &Arc<Fence>) {
        let mut recent = self.recent.lock();
        recent.retain(|(_, fence)| fence.status().is_none());
        if recent.len() >= REMEMBERED {
            recent.pop_front();
        }
        recent.push_back((now, Arc::clone(fence)));
    }

    /// The newest request that is no younger than `before` and has not ended.
    pub(crate) fn oldest_wait(&self, before: Ktime) -> Option<Arc<Fence>> {
        let recent = self.recent.lock();
        let mut old = recent.iter().rev().filter(|(at, _)| *at <= before);
        old.find(|(_, fence)| fence.status().is_none())
            .map(|(_, fence)| Arc::clone(fence))
    }
}

impl Offsets {
    /// What `mmap` of `len` bytes at `offset` shows (drm_gem_mmap).
    ///
    /// `EINVAL` when nothing starts there or it is shorter, `EACCES` when the file did not ask for the offset.
    pub fn resolve(&self, file: &File, offset: u64, len: u64) -> Result<Mapping> {
        self.resolve_for(file.number, offset, len)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.client.close();
        self.member.release(&self.device.user().seat);
        let objects = core::mem::take(&mut self.objects.lock().handles);
        for object in objects.iter() {
            self.forget(object);
            self.device.user().mappings.revoke(object, self.number);
        }
    }
}

//! Open files: handles of objects, contexts and sync objects.
//!
//! drm_file.c, drm_gem.c, i915 `i915_gem_context.c`. Duplicates of a descriptor share a file, a second open makes a
//! new one.
mod handles;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;

use kernel::error::{Result, code::EINVAL, code::ENOENT};
use kernel::sync::{AtomicU32, AtomicU64, Mutex, Ordering, SpinLock};
use kernel::time::Ktime;

pub(crate) use self::handles::Handles;
use crate::context::{Client, Context, Parameters};
use crate::device::Device;
use crate::fence::Fence;
use crate::gem::{Object, WeakObject};
use crate::hangcheck::{Ledger, Waiting};
use crate::master::{Membership, Opener, Seat};
use crate::mmap::Offsets;
use crate::observe::Slot;
use crate::shrink::Lru;
use crate::syncobj::Syncobj;

/// Requests of a file that are remembered for throttling.
const REMEMBERED: usize = 64;

/// Most handles of objects of a file: as many as there are pages in 4 GiB.
const OBJECTS: u32 = 1 << 20;
/// Most sync objects of a file, and most contexts beside the default one. Linux has as many as there is kernel memory;
/// Mesa has a handful of contexts, and sync objects by the hundred.
const SYNCOBJS: u32 = 1 << 16;
const CONTEXTS: u32 = 1 << 14;

/// Which node was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// `/dev/dri/cardN`: the first to open it is master, see [`Opener`].
    Primary,
    /// `/dev/dri/renderDN`.
    Render,
}

/// What all open files of a device share.
#[derive(Default)]
pub(crate) struct UserState {
    /// One submission, eviction or change of layout at a time.
    pub(crate) exec: Mutex<()>,
    /// One reset at a time; taken last.
    pub(crate) reset: Mutex<()>,
    pub(crate) lru: Lru,
    pub(crate) mappings: Offsets,
    pub(crate) observer: Slot,
    pub(crate) names: SpinLock<Handles<WeakObject>>,
    pub(crate) resets: AtomicU32,
    pub(crate) seat: Seat,
    pub(crate) waiting: Waiting,
    pub(crate) ledger: Ledger,
    files: AtomicU64,
}

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
    device: Device,
    node: Node,
    number: u64,
    objects: SpinLock<Objects>,
    pub(crate) syncobjs: SpinLock<Handles<Arc<Syncobj>, SYNCOBJS>>,
    contexts: SpinLock<Handles<Arc<Context>, CONTEXTS>>,
    default_context: Arc<Context>,
    client: Arc<Client>,
    pub(crate) member: Membership,
    recent: SpinLock<VecDeque<(Ktime, Arc<Fence>)>>,
}

impl File {
    /// Opens a node of a device with all rights.
    #[must_use]
    pub fn open(device: &Device, node: Node) -> Self {
        Self::open_by(device, node, Opener::ROOT)
    }

    /// Opens a node of a device for a process.
    #[must_use]
    pub fn open_by(device: &Device, node: Node, opener: Opener) -> Self {
        let client = Arc::new(Client::default());
        let default_context = Arc::new(Context::new(&client, Parameters::default()));
        default_context.finalize();
        File {
            device: device.clone(),
            node,
            number: device.user().files.fetch_add(1, Ordering::Relaxed),
            objects: SpinLock::new(Objects::default()),
            syncobjs: SpinLock::new(Handles::default()),
            contexts: SpinLock::new(Handles::default()),
            default_context,
            client,
            member: Membership::new(node, &device.user().seat, opener),
            recent: SpinLock::new(VecDeque::new()),
        }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
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

    /// Gives an object a new handle.
    pub(crate) fn add_object(&self, object: &Object) -> Result<u32> {
        object.state(|state| state.handles = state.handles.saturating_add(1));
        let handle = self.objects.lock().add(object);
        if handle.is_err() {
            self.forget(object);
        }
        handle
    }

    /// The handle that PRIME knows for an object, or a new one.
    pub(crate) fn import(&self, object: &Object) -> Result<u32> {
        let key = object.key();
        let known = {
            let objects = self.objects.lock();
            let mut prime = objects.prime.range((key, 0)..=(key, u32::MAX));
            prime.next().map(|(_, handle)| *handle)
        };
        if let Some(handle) = known {
            return Ok(handle);
        }
        let handle = self.add_object(object)?;
        self.exported(handle);
        Ok(handle)
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
        let (object, last) = self.objects.lock().remove(handle).ok_or(EINVAL)?;
        self.forget(&object);
        if last {
            self.device.mappings().revoke(&object, self.number);
        }
        Ok(())
    }

    /// One handle of an object less; the last takes its global name away (drm_gem_object_handle_put_unlocked).
    fn forget(&self, object: &Object) {
        let name = object.state(|state| {
            state.handles = state.handles.saturating_sub(1);
            if state.handles == 0 {
                core::mem::take(&mut state.name)
            } else {
                0
            }
        });
        if name != 0 {
            self.device.user().names.lock().remove(name);
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

    /// Adds a context.
    pub(crate) fn add_context(&self, parameters: Parameters) -> Result<u32> {
        let context = Arc::new(Context::new(&self.client, parameters));
        self.contexts.lock().insert(context)
    }

    /// The context of a number, 0 for the default one, as it is; `ENOENT` when there is none.
    pub(crate) fn peek_context(&self, id: u32) -> Result<Arc<Context>> {
        if id == 0 {
            return Ok(Arc::clone(&self.default_context));
        }
        let contexts = self.contexts.lock();
        contexts.get(id).map(Arc::clone).ok_or(ENOENT)
    }

    /// The same for use, which makes its engine map final (i915_gem_context_lookup).
    pub(crate) fn context(&self, id: u32) -> Result<Arc<Context>> {
        let context = self.peek_context(id)?;
        context.finalize();
        Ok(context)
    }

    /// Removes a context; `ENOENT` when there is none, and for the default one.
    pub(crate) fn remove_context(&self, id: u32) -> Result {
        self.contexts.lock().remove(id).map(drop).ok_or(ENOENT)
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

impl Drop for File {
    fn drop(&mut self) {
        self.client.close();
        self.member.release(&self.device.user().seat);
        let objects = core::mem::take(&mut self.objects.lock().handles);
        for object in objects.iter() {
            self.forget(object);
            self.device.mappings().revoke(object, self.number);
        }
    }
}

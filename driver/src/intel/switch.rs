//! The hardware's logical contexts: whose state the engine holds.
//!
//! i915 `intel_ring_submission.c` (`switch_context`, `mi_set_context`), `intel_context.c`. A context begins with the
//! driver's own state, which no client has touched: the engine is led through the driver's context and keeps what that
//! has while it enters the new one. Not modelled: images that outlive their device, workaround register lists.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::Result;
use kernel::sync::{AtomicBool, AtomicU32, Ordering, SpinLock};

use crate::core::account::Permit;
use crate::core::gem::{Object, Pin};

/// Where the device keeps a context's state while another one is current.
pub struct Image {
    object: Object,
    /// The device has written it.
    saved: AtomicBool,
    /// The reset since which a request has been queued that enters the context.
    entered: AtomicU32,
    /// What its pages count for; the driver's own counts for nobody.
    _permits: Option<[Permit; 3]>,
}

impl Image {
    /// An image that nobody has written yet.
    pub(crate) fn new(object: Object, permits: Option<[Permit; 3]>) -> Self {
        Image {
            object,
            saved: AtomicBool::new(false),
            entered: AtomicU32::new(u32::MAX),
            _permits: permits,
        }
    }

    /// Where it lies.
    pub fn object(&self) -> &Object {
        &self.object
    }
}

/// An image that stays bound.
pub struct Held {
    image: Arc<Image>,
    pin: Pin,
}

impl Held {
    /// Holds a bound image; `EFAULT` when it is not bound.
    pub fn new(image: &Arc<Image>) -> Result<Self> {
        Ok(Held {
            image: Arc::clone(image),
            pin: image.object.pin()?,
        })
    }

    /// Its graphics address.
    pub fn address(&self) -> u32 {
        self.pin.address()
    }

    /// Its object.
    pub fn object(&self) -> &Object {
        self.image.object()
    }

    /// Notes that the device has saved the context.
    pub fn mark_saved(&self) {
        self.image.saved.store(true, Ordering::Release);
    }

    /// Whether a request that enters the context has been queued before.
    pub fn has_run(&self) -> bool {
        let image = &self.image;
        image.saved.load(Ordering::Acquire) || image.entered.load(Ordering::Relaxed) != u32::MAX
    }

    fn is(&self, other: &Held) -> bool {
        Arc::ptr_eq(&self.image, &other.image)
    }
}

/// One MI_SET_CONTEXT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Graphics address of the image.
    pub address: u32,
    /// The engine keeps the state that it has.
    pub inhibit: bool,
}

/// What a request does before its batch.
#[derive(Default)]
pub struct Plan {
    /// The switches, in order.
    pub steps: Vec<Step>,
    /// Contexts that are saved by them.
    pub saves: Vec<Arc<Held>>,
    /// Contexts that are entered, in the order of the steps.
    enters: Vec<Arc<Held>>,
}

#[derive(Default)]
struct State {
    /// The driver's own context, once it is needed.
    own: Option<Arc<Held>>,
    /// The one that the requests queued so far leave the engine in.
    current: Option<Arc<Held>>,
    resets: u32,
}

/// Whose state the engine holds. Who plans has the lock of the ring until the plan is carried out.
#[derive(Default)]
pub struct Switch {
    state: SpinLock<State>,
}

impl Switch {
    /// Whether the driver's own context is there.
    pub fn is_ready(&self) -> bool {
        self.state.lock().own.is_some()
    }

    /// Gives the driver its own context, unless it has one.
    pub fn set_own(&self, own: Held) {
        self.state.lock().own.get_or_insert(Arc::new(own));
    }

    /// What a request of a context has to do; without one it runs in the driver's own, or in what is there while there
    /// are no others.
    pub fn plan(&self, wanted: Option<&Arc<Held>>) -> Plan {
        let state = self.state.lock();
        let mut plan = Plan::default();
        let Some(own) = &state.own else {
            return plan;
        };
        let Some(wanted) = wanted.or(state.current.as_ref().map(|_| own)) else {
            return plan;
        };
        let current = state.current.as_ref();
        if current.is_some_and(|current| current.is(wanted)) {
            return plan;
        }
        if current.is_none() && !state.can_restore(own) {
            // The engine is as a reset has left it, which is what the driver's context begins with.
            state.enter(&mut plan, own, true);
        }
        let inhibit = !wanted.is(own) && !state.can_restore(wanted);
        if inhibit {
            state.enter(&mut plan, own, false);
        }
        state.enter(&mut plan, wanted, inhibit);
        plan
    }

    /// Notes that a request with the plan is in the ring.
    pub fn carried_out(&self, plan: &Plan) {
        let mut state = self.state.lock();
        for held in &plan.enters {
            held.image.entered.store(state.resets, Ordering::Relaxed);
        }
        if let Some(last) = plan.enters.last() {
            state.current = Some(Arc::clone(last));
        }
    }

    /// A reset has taken the engine's state, which is then what the driver's own context begins with: its image, which a batch may
    /// have written over, is not read again.
    pub fn reset(&self) {
        let mut state = self.state.lock();
        if let Some(own) = &state.own {
            own.image.saved.store(false, Ordering::Release);
        }
        let old = state.current.take();
        state.resets = state.resets.wrapping_add(1);
        drop(state);
        drop(old);
    }

    /// Lets go of everything, at the end.
    pub fn clear(&self) {
        let old = core::mem::take(&mut *self.state.lock());
        drop(old);
    }
}

impl State {
    /// Whether the image will hold a state when the engine comes to it: the device has saved it at some time, or a
    /// request that is queued leaves it behind.
    fn can_restore(&self, held: &Held) -> bool {
        held.image.saved.load(Ordering::Acquire)
            || held.image.entered.load(Ordering::Relaxed) == self.resets
    }

    /// Adds a step, unless the engine is there already.
    fn enter(&self, plan: &mut Plan, next: &Arc<Held>, inhibit: bool) {
        let current = plan.enters.last().or(self.current.as_ref());
        if current.is_some_and(|current| current.is(next)) {
            return;
        }
        plan.saves.extend(current.cloned());
        plan.enters.push(Arc::clone(next));
        plan.steps.push(Step {
            address: next.address(),
            inhibit,
        });
    }
}

#[cfg(test)]
mod tests;

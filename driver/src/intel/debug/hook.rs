//! The device's side of a session: what submissions and the hang check ask.
//!
//! PRM vol4 3.2.1 (global debug enable), vol2 STATE_SIP. Not modelled: a system routine of clients that is known before
//! their first batch in a session.
use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

use kernel::error::{Result, code::EBUSY};
use kernel::sync::{AtomicBool, AtomicU32, Ordering, SpinLock};

use super::Shared;
use super::attention;
use super::batch::{self, Patch, What};
use super::breakpoint::Before;
use crate::core::fence::Fence;
use crate::core::gem::Object;
use crate::intel::device::Device;
pub use crate::intel::prologue::Prologue;
use crate::intel::registers::fields::INSTPM as InstPm;
use crate::intel::registers::reg::INSTPM;
use crate::intel::uncore::Uncore;

/// The debugger's place in a device.
#[derive(Default)]
pub struct Hook {
    active: AtomicBool,
    /// There has been a session.
    used: AtomicBool,
    session: SpinLock<Weak<Shared>>,
    /// System routines of clients, by the address of their context's image.
    clients: SpinLock<BTreeMap<u32, u32>>,
    /// Batches are read for their bases, also without a session.
    watching: AtomicBool,
    /// What kernels are relative to, as the last batch that was read has set it.
    kernel_base: SpinLock<Option<u32>>,
    /// Who needs the global debug enable.
    enables: AtomicU32,
}

impl Hook {
    /// Whether there is a session.
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    pub(super) fn attach(&self, shared: &Arc<Shared>) -> Result {
        if self.active.swap(true, Ordering::AcqRel) {
            return Err(EBUSY);
        }
        *self.session.lock() = Arc::downgrade(shared);
        self.used.store(true, Ordering::Release);
        Ok(())
    }

    pub(super) fn detach(&self) {
        *self.session.lock() = Weak::new();
        self.active.store(false, Ordering::Release);
    }

    fn session(&self) -> Option<Arc<Shared>> {
        if !self.is_active() {
            return None;
        }
        self.session.lock().upgrade()
    }

    /// Switches the global debug enable on.
    pub fn enable(&self, uncore: &Uncore) {
        self.enables.fetch_add(1, Ordering::AcqRel);
        uncore
            .reg(INSTPM)
            .write_masked(InstPm::GLOBAL_DEBUG_ENABLE::SET);
    }

    /// Switches the global debug enable off, unless somebody else needs it.
    pub fn disable(&self, uncore: &Uncore) {
        if self.enables.fetch_sub(1, Ordering::AcqRel) == 1 {
            uncore
                .reg(INSTPM)
                .write_masked(InstPm::GLOBAL_DEBUG_ENABLE::CLEAR);
        }
    }

    /// What a reset takes away, before it does: breakpoints of a session.
    pub fn save(&self, uncore: &Uncore) -> Option<Before> {
        self.is_active().then(|| Before::take(uncore))
    }

    /// Puts it back, and the global debug enable. Armed snapshots are lost.
    pub fn restore(&self, uncore: &Uncore, saved: Option<&Before>) {
        if self.enables.load(Ordering::Acquire) > 0 {
            uncore
                .reg(INSTPM)
                .write_masked(InstPm::GLOBAL_DEBUG_ENABLE::SET);
        }
        if let Some(saved) = saved {
            saved.restore(uncore);
        }
    }

    /// Whether a thread stands for the debugger.
    pub fn holds(&self, uncore: &Uncore) -> bool {
        self.is_active() && attention::raised(uncore).next().is_some()
    }

    /// Reads the bases of batches from now on, or no more.
    pub fn watch_bases(&self, on: bool) {
        self.watching.store(on, Ordering::Release);
    }

    /// What kernels are relative to, when a batch since [`watch_bases`](Self::watch_bases) has set it.
    pub fn kernel_base(&self) -> Option<u32> {
        *self.kernel_base.lock()
    }

    /// Prepares a batch, of the context with an image at `image` (0 without one): its system routine gives way to the
    /// session's, which `objects` keep.
    pub fn prepare(
        &self,
        device: &Device,
        objects: &mut Vec<Object>,
        image: u32,
        start: u32,
    ) -> Result<Prologue> {
        if self.watching.load(Ordering::Acquire)
            && let Some(base) = batch::survey(device, start).instructions
        {
            *self.kernel_base.lock() = Some(base);
        }
        if !self.used.load(Ordering::Acquire) {
            return Ok(Prologue::default());
        }
        let Some(shared) = self.session() else {
            // The context's state may still name the routine of a session.
            let sip = self.clients.lock().get(&image).copied();
            return Ok(Prologue {
                sip,
                ..Prologue::default()
            });
        };
        let survey = batch::survey(device, start);
        let mut state = shared.lock();
        if shared.over.load(Ordering::Acquire) {
            return Ok(Prologue::default());
        }
        shared.tidy(&mut state);
        state.general = survey.general.unwrap_or(state.general);
        state.instructions = survey.instructions.unwrap_or(state.instructions);
        let (sip, routine) = shared.routine(&mut state)?;
        let end = shared
            .area_address
            .wrapping_add(super::system_routine::AREA);
        let mut client = survey.sip;
        for mut found in survey.found {
            let known = state.patches.iter().find_map(|p| p.original(found.address));
            if let Some((original, ours)) = known
                && ours == found.value
            {
                found.value = original;
            }
            let ours = match found.what {
                What::Sip => {
                    client = Some(found.value & !0xf);
                    found.value & 0xf | sip
                }
                // All of the address space.
                What::Bound if found.value & !0xfff < end => found.value | !0xfff,
                What::Bound => continue,
            };
            let patch = Patch::apply(device, objects, &found, ours)?;
            state
                .patches
                .retain(|p| p.original(found.address).is_none());
            state.patches.push(patch);
        }
        let reset_counters = core::mem::take(&mut state.reset_counters);
        drop(state);
        let mut clients = self.clients.lock();
        let known = clients.entry(image).or_insert(0);
        *known = client.unwrap_or(*known);
        drop(clients);
        objects.push(routine);
        objects.push(shared.area.clone());
        Ok(Prologue {
            sip: Some(sip),
            reset_counters,
            trusted: false,
        })
    }

    /// Puts batches back that have run.
    pub fn tidy(&self) {
        if let Some(shared) = self.session() {
            shared.tidy(&mut shared.lock());
        }
    }

    /// Notes that the batch that was prepared last is in the ring.
    pub fn queued(&self, fence: &Arc<Fence>) {
        if let Some(shared) = self.session() {
            for patch in &mut shared.lock().patches {
                patch.queued(fence);
            }
        }
    }
}

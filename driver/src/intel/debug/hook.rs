//! The device's side of a session: what submissions and the hang check ask.
//!
//! PRM vol4 3.2.1 (global debug enable), vol2 STATE_SIP. Not modelled: what clients have set before their first batch that
//! was read, in a session or for the walk: system routine, bases, bounds.
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

use kernel::error::{Result, code::EBUSY};
use kernel::pr_warn;
use kernel::sync::{AtomicBool, AtomicU32, Ordering, SpinLock};

use super::Shared;
use super::attention;
use super::batch::{self, Patch, Survey, What};
use super::breakpoint::Before;
use super::contexts::{Contexts, Which};
use super::routines::{Need, Origin};
use super::system_routine::{AREA, CODE};
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
    /// What batches have left behind in the contexts of clients.
    contexts: SpinLock<Contexts>,
    /// Batches have run that were not read.
    missed: AtomicBool,
    /// Batches are read for their bases, also without a session.
    watching: AtomicBool,
    /// What kernels of the last batch that was read are relative to.
    kernel_bases: SpinLock<Vec<u32>>,
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
        let mut contexts = self.contexts.lock();
        if self.missed.swap(false, Ordering::AcqRel) {
            contexts.miss();
        }
        contexts.reset();
    }

    /// Whether a thread stands for the debugger.
    pub fn holds(&self, uncore: &Uncore) -> bool {
        self.is_active() && attention::raised(uncore).next().is_some()
    }

    /// Reads the bases of batches from now on, or no more.
    pub fn watch_bases(&self, on: bool) {
        self.watching.store(on, Ordering::Release);
    }

    /// What kernels of the last batch that was read are relative to, in the order of its commands; empty when it starts no
    /// threads.
    pub fn kernel_bases(&self) -> Vec<u32> {
        self.kernel_bases.lock().clone()
    }

    /// Reads a batch: what it does, and the bases of its stretches.
    fn read(&self, device: &Device, context: Which, start: u32) -> (Survey, Vec<Origin>) {
        let survey = batch::survey(device, start);
        let mut contexts = self.contexts.lock();
        if self.missed.swap(false, Ordering::AcqRel) {
            contexts.miss();
        }
        let before = contexts.bases(context);
        contexts.set_bases(context, survey.bases.or(before));
        drop(contexts);
        let mut origins = Vec::new();
        for stretch in &survey.stretches {
            let bases = stretch.bases.or(before);
            if !bases.is_known() {
                pr_warn!(
                    "debugger: the batch at {start:#010x} starts threads with base addresses that were set before the debugger \
                     looked; they are taken as 0"
                );
            }
            origins.push(bases.origin());
        }
        let mut bases: Vec<u32> = Vec::new();
        for origin in &origins {
            if !bases.contains(&origin.instructions) {
                bases.push(origin.instructions);
            }
        }
        *self.kernel_bases.lock() = bases;
        (survey, origins)
    }

    /// Prepares a batch: its system routine gives way to the session's, which `objects` keep.
    ///
    /// `ENOSPC` when the routine cannot be reached from all bases of the batch.
    pub fn prepare(
        &self,
        device: &Device,
        objects: &mut Vec<Object>,
        context: Which,
        start: u32,
    ) -> Result<Prologue> {
        let session = self.session();
        let Some(shared) = session else {
            if self.watching.load(Ordering::Acquire) {
                self.read(device, context, start);
            } else if !self.missed.load(Ordering::Relaxed) {
                self.missed.store(true, Ordering::Release);
            }
            let mut prologue = Prologue::default();
            if self.used.load(Ordering::Acquire) {
                // The context's state may still name the routine of a session.
                prologue.sip = self.contexts.lock().sip(context);
            }
            return Ok(prologue);
        };
        let (survey, mut origins) = self.read(device, context, start);
        let mut state = shared.lock();
        if shared.over.load(Ordering::Acquire) {
            return Ok(Prologue::default());
        }
        shared.tidy(&mut state);
        let last = self.contexts.lock().bases(context).origin();
        state.last = last;
        if origins.is_empty() {
            // No thread comes to it.
            origins.push(last);
        }
        let need = Need {
            batch: start,
            stretches: &survey.stretches,
            origins: &origins,
            may_evict: context.is_user(),
        };
        let (sip, routines) = state.routines.serve(device, shared.area_address, &need)?;
        let end = |object: &Object| object.address().map_or(0, |at| at.wrapping_add(CODE));
        let ends = routines.iter().map(end);
        let end = ends.fold(shared.area_address.wrapping_add(AREA), u32::max);
        let mut client = survey.sip;
        for mut found in survey.found {
            let known = state.patches.get(&found.address).map(Patch::values);
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
            state.patches.insert(found.address, patch);
        }
        let reset_counters = core::mem::take(&mut state.reset_counters);
        drop(state);
        self.contexts.lock().set_sip(context, client);
        objects.extend(routines);
        objects.push(shared.area.clone());
        Ok(Prologue {
            sip: Some(sip),
            reset_counters,
            ..Prologue::default()
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
            for patch in shared.lock().patches.values_mut() {
                patch.queued(fence);
            }
        }
    }
}

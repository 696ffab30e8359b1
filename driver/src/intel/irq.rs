//! Interrupts: setup, the handler, error interrupts.
//!
//! Orders of i915 `i915_irq.c` (`i965_irq_postinstall`, `i965_irq_handler`, `ilk_irq_handler`, `valleyview_irq_handler`, `i9xx_error_irq_ack`).
//! Not modelled: display interrupts.
mod bank;

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::Result;
use kernel::irq::{Handler, IrqReturn};
use kernel::pr_debug;
use kernel::sync::{AtomicBool, AtomicU32, Ordering, SpinLock};
use regs::ids::RegId;

use self::bank::Bank;
use crate::intel::error_state::{ErrorState, Source};
use crate::intel::r#gen::{
    DeviceInfo, EngineInfo, InterruptBank, InterruptInfo, MasterInterrupt, Switch,
};
use crate::intel::gtt::Ggtt;
use crate::intel::timeline::Timeline;
use crate::intel::uncore::Uncore;

/// Bit of an engine's fault register: it tells of a fault (i915 `RING_FAULT_VALID`).
const FAULT_VALID: u32 = 1;

/// Interrupt state of a device, and its handler.
pub struct Interrupts {
    uncore: Uncore,
    ggtt: Arc<Ggtt>,
    info: &'static DeviceInfo,
    /// The engines, the render engine first.
    timelines: Vec<(&'static EngineInfo, Arc<Timeline>)>,
    resets: AtomicU32,
    mask: AtomicU32,
    enabled: AtomicBool,
    error: SpinLock<Option<Arc<ErrorState>>>,
}

impl Interrupts {
    pub fn new(
        ggtt: &Arc<Ggtt>,
        info: &'static DeviceInfo,
        timelines: Vec<(&'static EngineInfo, Arc<Timeline>)>,
    ) -> Self {
        Interrupts {
            uncore: ggtt.uncore().clone(),
            ggtt: Arc::clone(ggtt),
            info,
            timelines,
            resets: AtomicU32::new(0),
            mask: AtomicU32::new(u32::MAX),
            enabled: AtomicBool::new(false),
            error: SpinLock::new(None),
        }
    }

    fn bank(&self) -> Bank<'_> {
        Bank::new(&self.uncore, self.rows().bank)
    }

    /// Banks of interrupts that nobody waits for.
    fn masked(&self) -> impl Iterator<Item = Bank<'_>> {
        let rows = self.rows().masked.iter();
        rows.map(|row| Bank::new(&self.uncore, *row))
    }

    fn rows(&self) -> &'static InterruptInfo {
        self.info.interrupts
    }

    /// Bit of the error interrupt, 0 where errors raise none.
    fn error_bit(&self) -> u32 {
        self.rows().error.map_or(0, |error| error.bit)
    }

    fn master(&self) -> Option<Master<'_>> {
        let row = self.rows().master.as_ref()?;
        let uncore = &self.uncore;
        Some(Master { uncore, row })
    }

    /// Bits of the engines' user interrupts.
    fn user(&self) -> u32 {
        let engines = self.info.engines.iter();
        engines.fold(0, |bits, engine| bits | engine.user_interrupt)
    }

    /// Masks everything and clears what is pending.
    fn reset(&self) {
        if let Some(master) = self.master() {
            master.reset();
        }
        self.bank().reset();
        for bank in self.masked() {
            bank.reset();
        }
        self.mask.store(u32::MAX, Ordering::Release);
    }

    /// Enables errors and, still masked, the user interrupts.
    fn postinstall(&self) {
        let rows = self.rows();
        if let Some(error) = rows.error {
            self.write(RegId::Emr, error.mask);
        }
        let error = self.error_bit();
        self.mask.store(!error, Ordering::Release);
        self.bank().init(error | self.user(), !error);
        for bank in self.masked() {
            bank.init(0, u32::MAX);
        }
        if let Some(master) = self.master() {
            master.init();
        }
    }

    /// Registers the handler and enables the interrupts that are always on.
    pub fn install(self: &Arc<Self>) -> Result {
        self.reset();
        let handler: Arc<dyn Handler> = self.clone();
        self.uncore.platform().irq().request(handler)?;
        self.enabled.store(true, Ordering::Release);
        self.postinstall();
        Ok(())
    }

    /// Sets the interrupts up again after a device reset.
    pub fn reinstall(&self) {
        self.enabled.store(false, Ordering::Release);
        self.reset();
        self.enabled.store(true, Ordering::Release);
        self.postinstall();
    }

    /// Masks everything and lets the line go.
    pub fn uninstall(&self) {
        self.enabled.store(false, Ordering::Release);
        self.reset();
        self.uncore.platform().irq().free();
    }

    /// Engines with a mask of their own, and where it is.
    fn own_masks(&self) -> impl Iterator<Item = (usize, &'static EngineInfo)> + use<> {
        let engines = self.info.engines.iter();
        engines.filter_map(|engine| Some((engine.interrupt_mask? as usize, engine)))
    }

    /// Unmasks the user interrupts.
    pub fn enable_user(&self) {
        for (register, engine) in self.own_masks() {
            let io = self.uncore.io();
            io.write32(!engine.user_interrupt, register);
            io.posting_read(register);
        }
        let mask = self.mask.load(Ordering::Acquire) & !self.user();
        self.mask.store(mask, Ordering::Release);
        self.bank().mask_now(mask);
    }

    /// Masks the user interrupts.
    pub fn disable_user(&self) {
        for (register, _) in self.own_masks() {
            self.uncore.io().write32(u32::MAX, register);
        }
        let mask = self.mask.load(Ordering::Acquire) | self.user();
        self.mask.store(mask, Ordering::Release);
        self.bank().mask(mask);
    }

    /// Tells error states how many resets there have been.
    pub fn set_resets(&self, resets: u32) {
        self.resets.store(resets, Ordering::Relaxed);
    }

    fn source(&self, engine: &'static EngineInfo) -> Source {
        Source {
            uncore: self.uncore.clone(),
            ggtt: Arc::clone(&self.ggtt),
            info: self.info,
            engine,
            timelines: self.timelines.clone(),
        }
    }

    /// The device as it is, with its render engine.
    pub fn capture(&self, reason: &str) -> ErrorState {
        let resets = self.resets.load(Ordering::Relaxed);
        self.source(self.info.render())
            .capture(reason, false, resets)
    }

    /// Captures the error state of an engine, unless an earlier one is still there: the first error is the one that tells.
    pub fn record(&self, engine: &'static EngineInfo, reason: &str, hung: bool) {
        if self.error.lock().is_some() || self.source(engine).is_unwanted() {
            return;
        }
        let resets = self.resets.load(Ordering::Relaxed);
        let state = self.source(engine).capture(reason, hung, resets);
        let mut slot = self.error.lock();
        if slot.is_none() {
            *slot = Some(Arc::new(state));
        }
    }

    /// The recorded error state.
    pub fn error_state(&self) -> Option<Arc<ErrorState>> {
        self.error.lock().clone()
    }

    /// Takes the recorded error state, making room for the next.
    pub fn take_error_state(&self) -> Option<Arc<ErrorState>> {
        self.error.lock().take()
    }

    /// Reads a register; 0 where the device does not have it.
    fn read(&self, id: RegId) -> u32 {
        let at = self.info.register(id);
        at.map_or(0, |at| self.uncore.io().read32(at))
    }

    /// Writes a register where the device has it.
    fn write(&self, id: RegId, value: u32) {
        if let Some(at) = self.info.register(id) {
            self.uncore.io().write32(value, at);
        }
    }

    /// Clears the error registers; what stays set is masked.
    pub fn clear_errors(&self) {
        self.write(RegId::PgtblEr, self.read(RegId::PgtblEr));
        self.write(RegId::Eir, self.read(RegId::Eir));
        let stuck = self.read(RegId::Eir);
        if stuck != 0 {
            self.write(RegId::Emr, self.read(RegId::Emr) | stuck);
            self.bank().acknowledge(self.error_bit());
        }
        let io = self.uncore.io();
        for register in self.info.engines.iter().filter_map(|engine| engine.fault) {
            let register = register as usize;
            io.write32(io.read32(register) & !FAULT_VALID, register);
            io.posting_read(register);
        }
    }

    fn acknowledge_error(&self) {
        let eir = self.read(RegId::Eir);
        let reason = format!("master error interrupt, EIR {eir:#010x}");
        // i915 `i9xx_error_irq_handler` makes no more of it either: who sees the error state sees it.
        pr_debug!("{reason}");
        self.record(self.info.render(), &reason, false);
        if self
            .rows()
            .error
            .is_some_and(|error| eir & error.page_table != 0)
        {
            // The summary bit follows its cause.
            self.write(RegId::PgtblEr, self.read(RegId::PgtblEr));
            if let Some(at) = self.info.register(RegId::PgtblEr) {
                self.uncore.io().posting_read(at);
            }
        }
        self.write(RegId::Eir, eir);
        let stuck = self.read(RegId::Eir);
        if stuck != 0 {
            // Toggling the mask makes the edge that the master error bit needs to be seen again; what does not clear
            // stays masked.
            let emr = self.read(RegId::Emr);
            self.write(RegId::Emr, u32::MAX);
            self.write(RegId::Emr, emr | stuck);
        }
    }
}

/// The switch of all interrupts.
struct Master<'a> {
    uncore: &'a Uncore,
    row: &'a MasterInterrupt,
}

impl Master<'_> {
    fn bank(&self, at: InterruptBank) -> Bank<'_> {
        Bank::new(self.uncore, at)
    }

    fn write(&self, value: u32) {
        match self.row.place {
            Switch::Bank(at) => self.bank(at).enable(value),
            Switch::Register(at) => self.uncore.io().write32(value, at as usize),
        }
    }

    /// The same, and waits until the device has seen it.
    fn write_now(&self, value: u32) {
        self.write(value);
        if let Switch::Register(at) = self.row.place {
            self.uncore.io().posting_read(at as usize);
        }
    }

    /// Off, with nothing pending.
    fn reset(&self) {
        match self.row.place {
            Switch::Bank(at) => self.bank(at).reset(),
            Switch::Register(_) => self.write_now(0),
        }
    }

    /// On for the first time.
    fn init(&self) {
        match self.row.place {
            Switch::Bank(at) => self.bank(at).init(self.row.enable, u32::MAX),
            Switch::Register(_) => self.write_now(self.row.enable),
        }
    }

    fn off(&self) {
        self.write(0);
    }

    fn on(&self) {
        self.write(self.row.enable);
    }

    /// Whether it is off while the handler looks what is pending.
    fn is_off_first(&self) -> bool {
        matches!(self.row.place, Switch::Bank(_))
    }
}

impl Interrupts {
    /// Clears what is pending of the engines' interrupts, and tells the error interrupt from the others.
    fn acknowledge(&self, iir: u32) {
        if iir & self.error_bit() != 0 {
            self.acknowledge_error();
        }
        self.bank().acknowledge(iir);
    }

    /// Signals the requests that interrupts tell of.
    fn signal(&self, iir: u32) {
        for (engine, timeline) in &self.timelines {
            if iir & engine.user_interrupt != 0 {
                timeline.signal();
            }
        }
    }
}

impl Handler for Interrupts {
    fn handle(&self) -> IrqReturn {
        if !self.enabled.load(Ordering::Acquire) {
            return IrqReturn::None;
        }
        // Off while what is pending is cleared, so that what comes meanwhile is an edge when it is on again. Where it is a register of
        // its own, i915 signals what it has found when it is on again (`valleyview_irq_handler`).
        let master = self.master();
        let first = master.as_ref().filter(|master| master.is_off_first());
        if let Some(master) = first {
            master.off();
        }
        let iir = self.bank().pending();
        if iir != 0 {
            let late = master.as_ref().filter(|master| !master.is_off_first());
            if let Some(master) = late {
                master.off();
            }
            self.acknowledge(iir);
            if let Some(master) = late {
                master.on();
            }
            self.signal(iir);
        }
        if let Some(master) = first {
            master.on();
        }
        if iir == 0 {
            IrqReturn::None
        } else {
            IrqReturn::Handled
        }
    }
}

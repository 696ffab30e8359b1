//! The modelled device as a platform that works by itself, on its own thread.
//!
//! Drivers see the same registers and memory as on [`ModelPlatform`], whose shell this is; but work
//! goes on while no thread waits for it, interrupts come from the device's thread, and waiting is sleeping. What happens
//! when depends on the host's scheduler: for one and the same trace use [`LivePlatform::in_step`], where the device has no
//! thread and moves only while a thread waits for it.

mod atomics;
mod events;
mod gate;
mod posted;
mod step;
mod thread;
mod time;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use kernel::dma::{DmaAddress, DmaAllocator};
use kernel::error::Result;
use kernel::io::Io;
use kernel::irq::{Handler, IrqLine};
use kernel::pci::{ConfigSpace, Resource};
use kernel::platform::Platform;
use kernel::time::{Clock, Delta, Ktime};

use super::memory::lock;
use super::model::Model;
use super::platform::ModelPlatform;
use thread::Core;

/// How device and host share the processors.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Wall time of a slice: about as long others wait for the device at most.
    pub slice: Duration,
    /// How long a device that has nothing to do, and a thread that lets time pass, wait awake before they sleep.
    /// Waking a processor that halts takes longer than most batches.
    pub spin: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            slice: Duration::from_micros(30),
            spin: Duration::from_micros(60),
        }
    }
}

/// What the device's thread has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activity {
    /// Slices in which it ran the device.
    pub slices: u64,
    /// Wall time that these took.
    pub busy: Duration,
    /// Times it went to sleep because there was nothing to do.
    pub naps: u64,
}

/// A device that runs on its own thread, until it is dropped.
pub struct LivePlatform<M: Model> {
    core: Arc<Core<M>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl<M: Model + 'static> LivePlatform<M> {
    /// Lets a device run.
    #[must_use]
    pub fn new(model: Arc<ModelPlatform<M>>) -> Arc<Self> {
        Self::with_options(model, Options::default())
    }

    /// The same with other spans.
    #[must_use]
    pub fn with_options(model: Arc<ModelPlatform<M>>, options: Options) -> Arc<Self> {
        let core = Arc::new(Core::new(model, options, false));
        let run = Arc::clone(&core);
        let thread = Builder::new()
            .name("crestline-device".into())
            .spawn(move || run.run());
        if let Err(error) = &thread {
            log::error!("no thread for the device, which will not move: {error}");
            core.end();
        }
        Arc::new(LivePlatform {
            core,
            thread: Mutex::new(thread.ok()),
        })
    }

    /// A device without a thread of its own. It moves only inside [`Clock::relax`] and [`settle`](Self::settle), on the
    /// thread that calls them, and its time passes nowhere else: calls in the same order make the same trace.
    #[must_use]
    pub fn in_step(model: Arc<ModelPlatform<M>>) -> Arc<Self> {
        Arc::new(LivePlatform {
            core: Arc::new(Core::new(model, Options::default(), true)),
            thread: Mutex::new(None),
        })
    }

    /// Whether the device has no thread of its own.
    #[must_use]
    pub fn is_in_step(&self) -> bool {
        self.core.in_step
    }

    /// Runs a device that is in step until it has nothing to do or waits for its host, for `span` of its time at most.
    /// Does nothing on others.
    pub fn settle(&self, span: Delta) {
        if self.core.in_step {
            self.core.settle(span.as_nanos());
        }
    }

    /// The model. Its clock and its interrupt line are not in use.
    #[must_use]
    pub fn model(&self) -> &Arc<ModelPlatform<M>> {
        &self.core.model
    }

    /// Looks at the device, or changes it, between two slices. `look` must not use the platform.
    pub fn with_device<T>(&self, look: impl FnOnce(&mut M) -> T) -> T {
        let result = look(&mut self.core.lock().device);
        self.core.touch();
        result
    }

    /// Looks at the device between two slices, or does to it what gives it no work: its thread sleeps on. `look` must not
    /// use the platform.
    pub fn look_at_device<T>(&self, look: impl FnOnce(&mut M) -> T) -> T {
        look(&mut self.core.lock().device)
    }

    /// Looks at memory, or changes it, between two slices. `look` must not use the platform.
    pub fn with_memory<T>(&self, look: impl FnOnce(&mut mem::Memory) -> T) -> T {
        let _turn = self.core.gate.turn();
        look(&mut lock(self.core.model.memory()))
    }

    /// Makes the device stand still, and its time with it, until the hold is dropped. Threads that wait for it wait on.
    /// Not for interrupt handlers.
    pub fn hold(&self) -> Hold<'_, M> {
        self.core.hold();
        Hold(self)
    }

    /// What the device's thread has done.
    #[must_use]
    pub fn activity(&self) -> Activity {
        Activity {
            slices: self.core.slices(),
            busy: Duration::from_nanos(self.core.busy()),
            naps: self.core.naps(),
        }
    }
}

impl<M: Model> Drop for LivePlatform<M> {
    fn drop(&mut self) {
        self.core.stop();
        let slot = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = slot.take()
            // The last to go may be the interrupt handler.
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            log::error!("the device's thread has panicked");
        }
    }
}

/// A device that stands still.
pub struct Hold<'a, M: Model>(&'a LivePlatform<M>);

impl<M: Model> Hold<'_, M> {
    /// Runs the device for some of its time on this thread, and delivers its interrupts.
    pub fn run(&self, span: Delta) {
        self.0.core.run_held(span.as_nanos());
    }
}

impl<M: Model> Drop for Hold<'_, M> {
    fn drop(&mut self) {
        self.0.core.release();
    }
}

impl<M: Model + 'static> Platform for LivePlatform<M> {
    fn io(&self) -> &dyn Io {
        self
    }
    fn config(&self) -> &dyn ConfigSpace {
        self
    }
    fn dma(&self) -> &dyn DmaAllocator {
        self
    }
    fn clock(&self) -> &dyn Clock {
        self
    }
    fn irq(&self) -> &dyn IrqLine {
        self
    }
}

impl<M: Model> Io for LivePlatform<M> {
    fn read32(&self, offset: usize) -> u32 {
        u32::try_from(offset).map_or(u32::MAX, |offset| self.core.lock().device.read32(offset))
    }
    fn write32(&self, value: u32, offset: usize) {
        if let Ok(offset) = u32::try_from(offset) {
            self.core.post(offset, value);
        }
    }
}

impl<M: Model> Clock for LivePlatform<M> {
    fn now(&self) -> Ktime {
        Ktime::from_nanos(self.core.time.now())
    }
    fn relax(&self, span: Delta) {
        let core = &*self.core;
        if core.in_step {
            return core.pass(span.as_nanos());
        }
        if core.is_here() {
            // No time passes for as long as the handler runs.
            return;
        }
        core.events
            .relax(&core.time, span.as_nanos(), core.options.spin, || {
                core.is_held()
            });
    }
    fn outside(&self) -> Ktime {
        if self.core.in_step {
            // Nothing may depend on the wall.
            return self.now();
        }
        Ktime::from_nanos(self.core.outside.now())
    }
}

impl<M: Model> DmaAllocator for LivePlatform<M> {
    fn alloc(&self, pages: usize) -> Result<DmaAddress> {
        let _turn = self.core.gate.turn();
        self.core.model.alloc(pages)
    }
    fn free(&self, address: DmaAddress, pages: usize) {
        let _turn = self.core.gate.turn();
        DmaAllocator::free(&*self.core.model, address, pages);
    }
    fn alloc_guarded(&self, pages: usize) -> Result<DmaAddress> {
        let _turn = self.core.gate.turn();
        self.core.model.alloc_guarded(pages)
    }
    fn guarded_pages(&self) -> Option<usize> {
        let _turn = self.core.gate.turn();
        self.core.model.guarded_pages()
    }
    fn read(&self, address: DmaAddress, bytes: &mut [u8]) -> Result {
        let _turn = self.core.gate.turn();
        self.core.model.read(address, bytes)
    }
    fn write(&self, address: DmaAddress, bytes: &[u8]) -> Result {
        let _turn = self.core.gate.turn();
        self.core.model.write(address, bytes)
    }
}

impl<M: Model> IrqLine for LivePlatform<M> {
    fn request(&self, handler: Arc<dyn Handler>) -> Result {
        self.core.line.request(handler)
    }
    fn free(&self) {
        self.core.line.free();
    }
}

impl<M: Model> LivePlatform<M> {
    /// A write to configuration space, after the register writes that came before.
    fn configure(&self, write: impl FnOnce(&ModelPlatform<M>)) {
        let turn = self.core.gate.turn();
        drop(self.core.lock());
        write(&self.core.model);
        drop(turn);
        self.core.touch();
    }
}

impl<M: Model> ConfigSpace for LivePlatform<M> {
    fn read8(&self, offset: usize) -> u8 {
        ConfigSpace::read8(&*self.core.model, offset)
    }
    fn read16(&self, offset: usize) -> u16 {
        ConfigSpace::read16(&*self.core.model, offset)
    }
    fn read32(&self, offset: usize) -> u32 {
        ConfigSpace::read32(&*self.core.model, offset)
    }
    fn write8(&self, value: u8, offset: usize) {
        self.configure(|model| ConfigSpace::write8(model, value, offset));
    }
    fn write16(&self, value: u16, offset: usize) {
        self.configure(|model| ConfigSpace::write16(model, value, offset));
    }
    fn write32(&self, value: u32, offset: usize) {
        self.configure(|model| ConfigSpace::write32(model, value, offset));
    }
    fn bar(&self, index: usize) -> Option<Resource> {
        self.core.model.bar(index)
    }
}

//! The PCI driver: probe order, removal.
//!
//! i915 `i915_pci.c`. The id table has the rows of `gen/models.rs`.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::Result;
use kernel::pci::{self, DeviceId, IdTable};
use kernel::platform::Platform;
use kernel::pr_info;
use kernel::sync::{AtomicBool, AtomicU32};

use crate::core::device::UserState;
use crate::intel::copies::Pool;
use crate::intel::debug::hook::Hook;
use crate::intel::device::{Device, Inner};
use crate::intel::engine::Engine;
use crate::intel::r#gen::{MODELS, Model};
use crate::intel::gtt::Ggtt;
use crate::intel::irq::Interrupts;
use crate::intel::observe::Slot;
use crate::intel::sample::Hangcheck;
use crate::intel::timeline::Timeline;
use crate::intel::uncore::Uncore;

/// The driver.
pub struct Driver;

impl Driver {
    /// Binds to the device behind `platform`; `ENODEV` when it is none of ours.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the device keeps the platform; callers hand over their handle"
    )]
    pub fn probe(platform: Arc<dyn Platform>) -> Result<Device> {
        pci::bind::<Driver>(&platform)
    }
}

impl pci::Driver for Driver {
    type IdInfo = Model;
    type Bound = Device;

    const ID_TABLE: IdTable<Model> = MODELS;

    /// GTT, memory of the engines, interrupts, workarounds, rings.
    fn probe(platform: &Arc<dyn Platform>, id: DeviceId, model: &'static Model) -> Result<Device> {
        pci::enable_device(platform.config());
        let uncore = Uncore::new(platform, model.info.forcewake);
        let ggtt = Arc::new(Ggtt::probe(&uncore, model.info)?);
        let mut engines = Vec::new();
        for info in model.info.engines {
            let timeline = Arc::new(Timeline::new(platform)?);
            engines.push(Engine::new(&ggtt, info, &timeline)?);
        }
        let timelines = engines.iter();
        let timelines = timelines.map(|engine| (engine.info(), Arc::clone(engine.timeline())));
        let interrupts = Arc::new(Interrupts::new(&ggtt, model.info, timelines.collect()));
        let inner = Inner {
            uncore,
            model,
            ggtt,
            interrupts,
            engines,
            objects: AtomicU32::new(1),
            removed: AtomicBool::new(false),
            user: UserState::default(),
            observer: Slot::default(),
            copies: Pool::default(),
            hangcheck: Hangcheck::default(),
            debug: Hook::default(),
        };
        // From here on dropping `inner` undoes everything.
        inner.interrupts.clear_errors();
        inner.interrupts.install()?;
        for engine in &inner.engines {
            engine.prepare_reset();
        }
        inner.start()?;
        pr_info!(
            "{} ({:04x}:{:04x}, {}): {} GTT entries",
            model.name,
            id.vendor,
            id.device,
            model.info.platform,
            inner.ggtt.entries()
        );
        Ok(Device {
            inner: Arc::new(inner),
        })
    }

    fn remove(bound: Device) -> Result {
        bound.remove()
    }
}

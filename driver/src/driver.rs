//! The PCI driver: probe order, removal.
//!
//! i915 `i915_pci.c`. The id table has the rows of `gen/models.rs`.
use alloc::sync::Arc;

use kernel::drm::DriverInfo;
use kernel::error::Result;
use kernel::pci::{self, DeviceId, IdTable};
use kernel::platform::Platform;
use kernel::pr_info;
use kernel::sync::{AtomicBool, AtomicU32};

use crate::debug::hook::Hook;
use crate::device::{Device, Inner};
use crate::engine::Engine;
use crate::file::UserState;
use crate::r#gen::MODELS;
pub use crate::r#gen::Model;
use crate::gtt::Ggtt;
use crate::hangcheck::Hangcheck;
use crate::irq::Interrupts;
use crate::timeline::Timeline;
use crate::uncore::Uncore;

/// Name and version for `DRM_IOCTL_VERSION`: user space of this family looks for "i915" 1.6.
pub const INFO: DriverInfo = DriverInfo {
    major: 1,
    minor: 6,
    patchlevel: 0,
    name: "i915",
    desc: "Intel Graphics",
};

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

    /// GTT, memory of the engine, interrupts, workarounds, ring.
    fn probe(platform: &Arc<dyn Platform>, id: DeviceId, model: &'static Model) -> Result<Device> {
        pci::enable_device(platform.config());
        let uncore = Uncore::new(platform);
        let ggtt = Arc::new(Ggtt::probe(&uncore, model.info)?);
        let timeline = Arc::new(Timeline::new(platform)?);
        let engine = Engine::new(&ggtt, model.info.render(), &timeline)?;
        let interrupts = Arc::new(Interrupts::new(&uncore, model.info, &timeline));
        let inner = Inner {
            uncore,
            model,
            ggtt,
            timeline,
            interrupts,
            engine,
            objects: AtomicU32::new(1),
            removed: AtomicBool::new(false),
            user: UserState::default(),
            hangcheck: Hangcheck::default(),
            debug: Hook::default(),
        };
        // From here on dropping `inner` undoes everything.
        inner.interrupts.clear_errors();
        inner.interrupts.install()?;
        inner.engine.prepare_reset();
        inner.start()?;
        pr_info!(
            "{} ({:04x}:{:04x}, {}): {} GTT entries",
            model.name,
            id.vendor,
            id.device,
            model.info.platform,
            inner.ggtt.entries()
        );
        let inner = Arc::new(inner);
        inner.engine.belongs_to(&inner);
        Ok(Device { inner })
    }

    fn remove(bound: Device) -> Result {
        bound.remove()
    }
}

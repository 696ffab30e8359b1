//! The PCI driver: id table, probe order, removal.
//!
//! Ids and names as in i915 `i915_pciids.h` and its device info table.
use alloc::sync::Arc;

use kernel::error::Result;
use kernel::pci::{self, DeviceId, IdTable, VENDOR_INTEL};
use kernel::platform::Platform;
use kernel::pr_info;
use kernel::sync::{AtomicBool, AtomicU32};

use crate::core::device::UserState;
use crate::intel::debug::hook::Hook;
use crate::intel::device::{Device, Inner};
use crate::intel::engine::Engine;
use crate::intel::r#gen::{DeviceInfo, G45, GM45, I965G, I965GM, IRONLAKE};
use crate::intel::gtt::Ggtt;
pub use crate::intel::identity::{INFO, Model};
use crate::intel::irq::Interrupts;
use crate::intel::observe::Slot;
use crate::intel::sample::Hangcheck;
use crate::intel::timeline::Timeline;
use crate::intel::uncore::Uncore;

const fn row(device: u16, name: &'static str, info: &'static DeviceInfo) -> (DeviceId, Model) {
    (
        DeviceId::from_id(VENDOR_INTEL, device),
        Model { name, info },
    )
}

static MODELS: &[(DeviceId, Model)] = &[
    row(0x2972, "946GZ", &I965G),
    row(0x2982, "G35", &I965G),
    row(0x2992, "Q965", &I965G),
    row(0x29a2, "G965", &I965G),
    row(0x2a02, "GM965", &I965GM),
    row(0x2a12, "GME965", &I965GM),
    row(0x2a42, "GM45", &GM45),
    row(0x2e02, "Eaglelake", &G45),
    row(0x2e12, "Q45", &G45),
    row(0x2e22, "G45", &G45),
    row(0x2e32, "G41", &G45),
    row(0x2e42, "B43", &G45),
    row(0x2e92, "B43.1", &G45),
    row(0x0042, "Ironlake", &IRONLAKE),
    row(0x0046, "Ironlake-M", &IRONLAKE),
];

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
            observer: Slot::default(),
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
        Ok(Device {
            inner: Arc::new(inner),
        })
    }

    fn remove(bound: Device) -> Result {
        bound.remove()
    }
}

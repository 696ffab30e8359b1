//! The driver bound to a modelled GM965, and the proof that it is idle afterwards.

use std::sync::Arc;

use driver::{BatchDesc, Device, Driver, Object, Request, Tiling};
use kernel::platform::Platform;
use kernel::time::Delta;
use mmio_mock::Model;
use mmio_mock::ModelPlatform;

/// Device time that a small batch gets.
pub const SHORT: Delta = Delta::from_millis(10);

/// A bound device.
pub struct Rig {
    /// Below the driver.
    pub platform: Arc<ModelPlatform>,
    /// The driver's device.
    pub device: Device,
}

impl Rig {
    /// Powers a GM965 with 16 MiB of memory on and probes it.
    pub fn new() -> Self {
        Self::on("gm965")
    }

    /// The same with a device by its name.
    pub fn on(device: &str) -> Self {
        let info = mmio_mock::intel::r#gen::find(device).expect("a known device");
        let platform = ModelPlatform::new(info, 16 << 20);
        let device = Driver::probe(Arc::clone(&platform) as Arc<dyn Platform>).expect("probe");
        Rig { platform, device }
    }

    /// A linear object of whole pages at an address, with dwords at its start.
    pub fn object(&self, address: u32, bytes: usize, dwords: &[u32]) -> Object {
        let object = self
            .device
            .create_object(bytes, Tiling::None, 0)
            .expect("object");
        object.write_dwords(0, dwords).expect("contents");
        self.device.bind_at(&object, address).expect("bind");
        object
    }

    /// Submits an object as a batch from its first dword on.
    pub fn submit(&self, batch: &Object) -> Request {
        let desc = BatchDesc {
            object: batch,
            start: 0,
            len: batch.size() as u32,
        };
        self.device.submit(&desc).expect("submission")
    }

    /// Runs dwords as a batch at 1 MiB to their end.
    pub fn run(&self, dwords: &[u32]) {
        let batch = self.object(0x0010_0000, (dwords.len() * 4).max(4), dwords);
        self.submit(&batch).wait(SHORT).expect("the batch ends");
        batch.unbind();
    }

    /// The same for a batch of the kernel's own, with privileged commands.
    pub fn run_trusted(&self, dwords: &[u32]) {
        let batch = self.object(0x0010_0000, (dwords.len() * 4).max(4), dwords);
        let desc = BatchDesc {
            object: &batch,
            start: 0,
            len: batch.size() as u32,
        };
        let request = self.device.submit_trusted(&desc).expect("submission");
        request.wait(SHORT).expect("the batch ends");
        batch.unbind();
    }

    /// Proves that the device is idle, without error, and gives everything back.
    pub fn finish(self) {
        let error = self.device.error_state();
        assert!(error.is_none(), "{}", error.expect("an error state"));
        let faults = self.platform.device().status().faults().to_vec();
        assert!(faults.is_empty(), "{faults:?}");
        self.finish_after_fault();
    }

    /// Like [`finish`](Self::finish) where the test has provoked faults, and reset the device since.
    pub fn finish_after_fault(self) {
        self.device.wait_idle(SHORT).expect("idle");
        assert!(self.device.is_idle());
        assert!(self.platform.device().idle());
        assert!(self.platform.device().hung_threads().is_empty());
        self.device.remove().expect("remove");
        assert_eq!(self.platform.allocated_pages(), 0, "pages leak");
    }
}

impl Default for Rig {
    fn default() -> Self {
        Self::new()
    }
}

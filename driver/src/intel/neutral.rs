//! What the core asks of Intel's devices.
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;

use kernel::error::Result;
use kernel::time::Clock;

use crate::core::client::Client;
use crate::core::device::{self, Identity, UserState};
use crate::core::gem::Object;
use crate::intel::device::Device;
use crate::intel::file::Contexts;
use crate::intel::identity::IDENTITY;

impl device::Device for Device {
    fn identity(&self) -> &'static Identity {
        &IDENTITY
    }

    fn clock(&self) -> &dyn Clock {
        self.uncore().clock()
    }

    fn check_live(&self) -> Result {
        Device::check_live(self)
    }

    fn retire(&self) {
        Device::retire(self);
    }

    fn tidy(&self) {
        Device::tidy(self);
    }

    fn watch(&self) {
        Device::watch(self);
    }

    fn user(&self) -> &UserState {
        Device::user(self)
    }

    fn owns(&self, object: &Object) -> bool {
        object.belongs_to(self.ggtt())
    }

    fn open_file(&self, client: &Arc<Client>) -> Box<dyn Any + Send + Sync> {
        Box::new(Contexts::new(client))
    }
}

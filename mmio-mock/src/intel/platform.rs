//! An Intel device on its bus: the platforms of `core` over a row.
//!

use std::sync::{Arc, Mutex};

use super::device::Device;
use super::r#gen::DeviceInfo;
use crate::core::{live, platform};

/// A device on its bus.
pub type ModelPlatform = platform::ModelPlatform<Device>;

/// A device that works by itself, on its own thread.
pub type LivePlatform = live::LivePlatform<Device>;

impl ModelPlatform {
    /// Powers a device on, with at most `memory_bytes` of system memory.
    pub fn new(info: &'static DeviceInfo, memory_bytes: usize) -> Arc<Self> {
        let memory = mem::Memory::with_format(memory_bytes, info.gtt_format, info.gtt_entries);
        Self::with_memory(info, memory)
    }

    /// Powers a device on with a memory that is there already.
    pub fn with_memory(info: &'static DeviceInfo, memory: mem::Memory) -> Arc<Self> {
        let memory = Arc::new(Mutex::new(memory));
        Self::over(Device::new(info, Arc::clone(&memory)), memory)
    }
}

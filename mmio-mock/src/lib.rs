//! The software device model behind the mock MMIO bus.
#![forbid(unsafe_code)]

mod atomics;
pub mod bench;
pub mod blt;
pub mod bus;
pub mod cc;
pub mod cs;
pub mod debug;
pub mod device;
pub mod fault;
pub mod ff;
pub mod r#gen;
pub mod irq;
pub mod live;
pub mod machine;
pub mod media;
pub mod mmio;
pub mod platform;
pub mod shared;
pub mod spin;
pub mod status;
pub mod surface;
pub mod td;
pub mod trace;
pub mod urb;

pub use device::Device;
pub use fault::UnitFault;
pub use live::LivePlatform;
pub use platform::ModelPlatform;

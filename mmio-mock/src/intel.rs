//! Intel's devices: units, rows of the generations, and the device that owns them.
//!
//! The manuals' names of the units are those of the modules; `gen` has a room for each generation.

pub mod bench;
pub mod blt;
pub mod cc;
pub mod cs;
pub mod debug;
pub mod device;
pub mod ff;
pub mod r#gen;
pub mod irq;
pub mod machine;
pub mod media;
pub mod mmio;
pub mod platform;
pub mod registers;
pub mod shared;
pub mod spin;
pub mod status;
pub mod surface;
pub mod td;
pub mod trace;
pub mod urb;

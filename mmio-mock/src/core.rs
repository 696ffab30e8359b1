//! What the devices of all vendors have: registers, time, bus, live shell.
//!
//! A vendor's room (`intel`) builds its device from these and implements [`Model`]; nothing here names
//! a register, a unit or a table of a vendor. `cargo xtask layers` refuses an import of a vendor's room.

pub mod bus;
pub mod clock;
pub mod fault;
pub mod line;
pub mod live;
pub mod memory;
pub mod model;
pub mod platform;
pub mod status;
pub mod trace;

pub use clock::Clock;
pub use model::{Ended, Identity, Model};

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;

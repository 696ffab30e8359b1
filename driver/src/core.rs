//! What the drivers of all vendors have: handles, ranges, user API.
//!
//! No PRM chapter. Nothing here names a register, a command or a table of a vendor; `cargo xtask layers` refuses an
//! import of a vendor's room.

pub(crate) mod handles;
pub mod range;
pub mod uapi;
pub(crate) mod work;

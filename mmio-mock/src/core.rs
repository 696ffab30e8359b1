//! What every device has, whoever made it: bus, live shell, platform, faults.
//!
//! No PRM section. Rooms of a vendor (`intel`) import these; these import no vendor's.

pub mod bus;
pub mod fault;
pub mod live;
pub mod platform;

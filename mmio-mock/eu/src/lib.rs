//! The execution unit: one thread's registers, instructions and masks.
//!
//! PRM: Intel 965 Express Chipset Family, volume 4, chapters 9-14.
//! The unit knows no bus, no memory and no clock: it fetches and sends through [`Port`].
#![forbid(unsafe_code)]

pub mod port;

pub use port::{Delivery, Grf, Message, NoObserver, Observer, Port, Stop, ThreadId, ThreadInit};

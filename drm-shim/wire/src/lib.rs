//! Messages between the shim in a client's process and the node that serves it.
//!
//! One sequenced-packet socket per client thread; one message is one packet: a fixed
//! head, then the payload that the operation names, or the same in a page
//! that both ends look at (`board`). Both ends run on one machine: native layout.
#![forbid(unsafe_code)]

mod atomics;
pub mod board;
pub mod device;
pub mod env;
pub mod message;
pub mod patience;
mod place;

pub use message::{Head, NO_FILE, Op, Reply, VERSION};

//! Messages between the shim in a client's process and the node that serves it.
//!
//! One sequenced-packet socket per client thread; one message is one packet: a fixed
//! head, then the payload that the operation names. Both ends run on one machine: native layout.
#![forbid(unsafe_code)]

pub mod device;
pub mod env;
pub mod message;

pub use message::{Head, NO_FILE, Op, Reply, VERSION};

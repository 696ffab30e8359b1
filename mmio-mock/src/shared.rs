//! Shared functions: what a `send` reaches, and the router that chooses among them.
//!
//! PRM: volume 4, 2.5, 2.6 and chapters 4-8.

pub mod context;
pub mod math;
pub mod null;
pub mod urb_msg;

pub use context::{EotEvent, Events, ForwardEvent, StateBases, ThreadContext, UrbEvent};

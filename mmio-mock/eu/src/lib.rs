//! The execution unit: one thread's registers, instructions and masks.
//!
//! PRM: Intel 965 Express Chipset Family, volume 4, chapters 9-14.
//! The unit knows no bus, no memory and no clock: it fetches and sends through [`Port`].
//! Not modelled: instruction timing, the thread scoreboard and prefetch.
#![forbid(unsafe_code)]

mod alike;
mod arf;
pub mod cache;
mod class;
mod decoded;
mod exception;
mod exec;
mod exposed;
mod flow;
pub mod r#gen;
pub mod graph;
pub mod grf;
mod liveness;
mod lower;
pub mod mask;
pub mod math;
mod operand;
mod paths;
pub mod port;
mod predicate;
mod reach;
mod reached;
mod region;
mod rounding;
mod run;
mod scoreboard;
mod send;
mod sent;
pub mod straight;
pub mod stretch;
#[cfg(test)]
mod tests;
pub mod thread;
mod warm;

pub use alike::Alike;
pub use cache::KernelCache;
pub use r#gen::InstructionSet;
pub use mask::Masks;
pub use port::{
    Delivery, FloatMode, Grf, Message, NoObserver, Observer, Port, Stop, ThreadId, ThreadInit,
};
pub use run::RunStats;
pub use thread::{Flags, Thread, View};

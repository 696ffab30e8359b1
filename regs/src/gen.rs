//! The generations, each with the types and descriptors of its tables.
//! genxml and i915; each item cites its own section.

pub mod gen40;
pub mod gen45;
pub mod gen50;
pub mod gen60;
pub mod gen70;
pub(crate) mod platform;
#[cfg(test)]
mod roundtrip;
mod rules70;

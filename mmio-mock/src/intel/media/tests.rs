//! Media batches on a device: root threads, payloads, children, what goes wrong.
//!
//! What is expected follows from the layouts that intel-vaapi-driver and its kernels use, and from PRM volume 4, 3.3.11.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod children;
mod commanded;
mod gateway;
mod grids;
mod kernels;
mod messages;
mod random;
mod rig;
mod roots;
mod spaces;

//! Dispatcher, shared functions, attention, breakpoints: registers over MMIO.
//!
//! PRM: volume 4, 3.4 to 3.7 and chapter 12. Expectations come from the text and from arithmetic on the scenes. Not
//! covered: the snapshots of fixed functions.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "debug_functions/arbiter.rs"]
mod arbiter;
#[path = "debug_functions/attention.rs"]
mod attention;
#[path = "debug_functions/caches.rs"]
mod caches;
#[path = "debug_functions/dispatch.rs"]
mod dispatch;
#[path = "debug_functions/errors.rs"]
mod errors;
#[path = "debug_functions/steps.rs"]
mod steps;

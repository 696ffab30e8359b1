//! Dispatcher, shared functions, attention, breakpoints: registers over MMIO.
//!
//! PRM: volume 4, 3.4 to 3.7 and chapter 12. Expectations come from the text and from arithmetic on the scenes. Not
//! covered: the snapshots of fixed functions.

mod arbiter;
mod attention;
mod caches;
mod dispatch;
mod errors;
mod steps;

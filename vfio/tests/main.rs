//! Clients at a socket: what they see, and what they may do wrong.
//!
//! Whatever one does, the next one is served.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests"
)]

mod clients;
mod corpus;
mod random;
mod served;

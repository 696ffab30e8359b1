//! Clients at a socket: what they see, what they may do wrong, and that the next one is served.
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

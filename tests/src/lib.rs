//! Helpers shared by the test suites.
#![forbid(unsafe_code)]

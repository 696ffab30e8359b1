//! Tests of the reader on captures made here.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;

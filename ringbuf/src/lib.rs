//! Ring buffer arithmetic, reservation and typed command emission.
#![no_std]
#![forbid(unsafe_code)]

//! Kernel-style crate shim: what the driver may ask of a kernel.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

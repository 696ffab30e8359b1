//! Gen EU instruction set: decode, encode and print.
//!
//! PRM: Intel 965 Express Chipset Family, volume 4, chapters 9-14. Other generations share the
//! types and come as further tables.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod inst;
pub mod operand;

pub use inst::{Inst, Opcode, Verx10};

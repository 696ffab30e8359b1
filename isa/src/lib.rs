//! Gen EU instruction set: decode, encode and print.
//!
//! PRM: Intel 965 Express Chipset Family, volume 4, chapters 9-14. Other generations share the
//! types and come as further tables.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod compact;
pub mod decode;
pub mod encode;
pub mod error;
pub mod inst;
pub mod message;
pub mod opcode;
pub mod operand;
pub mod parse;
pub mod print;
pub mod tables;
pub mod validate;

pub use compact::{compact, decode_stream, uncompact};
pub use decode::decode;
pub use encode::encode;
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use inst::{Inst, Opcode, Verx10};
pub use print::{print, print_kernel};

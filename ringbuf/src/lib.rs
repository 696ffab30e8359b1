//! Ring buffer arithmetic, reservation, typed emission, batch building.
//!
//! PRM vol1 (965/G35) Memory Interface and Commands: ring buffers and batch buffers. Not modelled: execution lists.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod batch;
pub mod emit;
pub mod r#gen;
pub mod media;
pub mod mi;
pub mod reserve;
pub mod ring;
pub mod tail;

pub use reserve::{Reservation, RingBuffer};
pub use ring::Ring;

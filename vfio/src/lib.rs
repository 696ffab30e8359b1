//! A modelled device as a PCI device of any VMM that speaks vfio-user.
//!
//! The protocol is that of QEMU's docs/interop/vfio-user.rst, version 0.1 and before; its structures are those of Linux's
//! include/uapi/linux/vfio.h. [`Server`] takes a client at a time; [`session`] is the protocol without sockets.
//! Not modelled: DMA by messages, migration, twin sockets, I/O by descriptors, PCI power states.
#![deny(unsafe_code)]

mod channel;
pub mod client;
pub mod config;
mod edge;
pub mod function;
pub mod guest;
pub mod irq;
pub mod pause;
pub mod protocol;
pub mod report;
pub mod server;
pub mod session;
mod spin;

pub use server::{Options, Server};

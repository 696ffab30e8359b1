//! PCI devices from user space: what sysfs shows of them, and a platform on one.
//!
//! Linux `Documentation/PCI/sysfs-pci.rst`, `Documentation/driver-api/vfio.rst`, `Documentation/driver-api/uio-howto.rst`. The files are
//! those of a [`Tree`]: the machine's, or a directory that looks like them. Unsafe code is in `edge` alone. Not modelled: bridges, hot
//! plug, MSI, power states.
#![deny(unsafe_code)]

mod address;
mod board;
mod clock;
mod config;
mod edge;
mod error;
mod function;
mod hold;
mod line;
mod list;
mod memory;
mod pagemap;
mod recorded;
mod resource;
mod tree;
mod uio;
mod vfio;

pub use address::Address;
pub use board::{Board, Interrupts, Options, PIECE};
pub use clock::{Bell, HostClock};
pub use config::ConfigFile;
pub use edge::Window;
pub use error::PciError;
pub use function::{BARS, Function, Using};
pub use hold::Hold;
pub use line::{Line, Look, Source};
pub use list::{Entry, Listing, list};
pub use memory::{Chunk, Pool};
pub use recorded::{Recorded, Write};
pub use resource::{Bar, Space};
pub use tree::Tree;

#[cfg(test)]
mod tests;

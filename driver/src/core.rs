//! What the drivers of all vendors have: objects, fences, files, calls of DRM.
//!
//! A vendor's room (`intel`) implements [`device::Device`] and lists its calls in an `ioctl::table::Table`;
//! nothing here names a register, a command or a table of a vendor. `cargo xtask layers` refuses an import of a vendor's
//! room.

pub mod account;
pub(crate) mod call;
pub mod client;
pub mod device;
pub mod dma_buf;
pub(crate) mod ends;
pub mod fence;
pub mod file;
pub mod gem;
pub(crate) mod groups;
pub(crate) mod handles;
pub(crate) mod ioctl;
pub mod limits;
pub(crate) mod line;
pub mod master;
pub mod mmap;
pub(crate) mod pace;
pub mod program;
pub(crate) mod queue;
pub mod range;
pub(crate) mod reason;
pub mod share;
pub(crate) mod shrink;
pub mod sync_file;
pub mod syncobj;
pub mod task;
pub mod timeline;
pub(crate) mod turn;
pub mod uapi;
pub(crate) mod wait;
pub(crate) mod work;

#[cfg(test)]
pub(crate) mod tests;

//! Graphics memory: system pages, address spaces, tables, fences and tiling.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (memory interface, GTT, tiling).
//! Not modelled: caches between a unit and memory, and snooping.
#![forbid(unsafe_code)]

pub mod addr;
pub mod arena;
pub mod fence;
pub mod gtt;
pub mod memory;
pub mod space;
mod square;
pub mod table;
pub mod tiling;
mod tlb;
pub mod windows;

pub use addr::{Access, Fault, FaultKind, GpuAddr, PhysAddr, PhysFault};
pub use fence::{FENCE_COUNT, Fence};
pub use gtt::{FLAT_GTT, GTT_ENTRIES, Pte};
pub use memory::{DEFAULT_SYSTEM_BYTES, Memory};
pub use space::{Process, Space};
pub use square::Square;
pub use table::{Root, TableFormat, Tables};
pub use tiling::{BitSixSwizzle, Tiling};

/// Bytes of a page of the GTT and of a tile.
pub const PAGE_SIZE: usize = 4096;

#[cfg(target_endian = "big")]
compile_error!("guest structures are read in place and are little-endian");

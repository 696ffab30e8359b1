//! What a device gives its driver: registers, memory, time, an interrupt line.
//!
//! A device model implements this; a real PCI device implements it over its BAR.
use crate::dma::DmaAllocator;
use crate::io::Io;
use crate::irq::IrqLine;
use crate::pci::ConfigSpace;
use crate::time::Clock;

/// The bundle of services around one PCI device.
pub trait Platform: Send + Sync {
    /// The register BAR (on 965-class devices BAR 0: registers, then the GTT at 512 KiB).
    fn io(&self) -> &dyn Io;

    /// The aperture BAR (graphics memory seen through the GTT), when the platform maps it.
    fn aperture(&self) -> Option<&dyn Io> {
        None
    }

    /// PCI configuration space.
    fn config(&self) -> &dyn ConfigSpace;

    /// DMA memory.
    fn dma(&self) -> &dyn DmaAllocator;

    /// Time.
    fn clock(&self) -> &dyn Clock;

    /// The interrupt line.
    fn irq(&self) -> &dyn IrqLine;
}

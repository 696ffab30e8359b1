//! Interrupt lines and handlers.
//!
//! Shape of `kernel::irq` of Rust-for-Linux. Not modelled: threaded handlers, affinity, MSI vectors.
use alloc::sync::Arc;

use crate::error::Result;

/// What a handler did with an interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IrqReturn {
    /// The interrupt was not from this device.
    None,
    /// The interrupt was handled.
    Handled,
}

/// An interrupt handler.
pub trait Handler: Send + Sync {
    /// Handles one interrupt; may be called on any thread, one call at a time.
    fn handle(&self) -> IrqReturn;
}

/// One interrupt line of a device.
///
/// The platform calls the handler while the line is asserted, holding none of its own locks, so that the handler can
/// use the same `Io`. It calls it again while the line stays asserted and the handler says [`IrqReturn::Handled`];
/// after [`IrqReturn::None`] it waits for the next edge.
pub trait IrqLine: Send + Sync {
    /// Registers the handler; `EBUSY` when there is one already.
    fn request(&self, handler: Arc<dyn Handler>) -> Result;

    /// Unregisters the handler; on return it is not running any more. Nothing happens when there is none.
    fn free(&self);
}

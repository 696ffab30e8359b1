//! A platform on a PCI function: its BARs, memory in huge pages, its interrupts.
//!
//! Registers and aperture are `resource0` and `resource2` of sysfs. The device reaches memory by physical addresses, so no IOMMU may stand
//! between. Not modelled: VFIO, memory above 4 GiB.

use std::num::NonZeroUsize;
use std::sync::Arc;

use kernel::dma::DmaAllocator;
use kernel::io::Io;
use kernel::irq::IrqLine;
use kernel::pci::{self, ConfigSpace};
use kernel::platform::Platform;
use kernel::time::Clock;

use crate::edge::Memory;
use crate::pagemap::Pagemap;
use crate::uio::Uio;
use crate::{
    Bell, Chunk, ConfigFile, Function, Hold, HostClock, Line, Look, PciError, Pool, Source, Using, Window,
};

/// Bytes of a huge page.
pub const PIECE: usize = 2 << 20;
/// First address that devices do not reach: the status page of the 965 is at an address of 32 bits (i915 intel_ring_submission.c
/// `ring_setup_phys_status_page` and the DMA mask of i915_driver.c).
const LIMIT: u64 = 1 << 32;

/// What a platform is made of.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Huge pages of memory.
    pub pieces: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { pieces: 64 }
    }
}

/// How interrupts come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interrupts {
    /// By a file of `uio_pci_generic`.
    Uio,
    /// Nobody tells of them: the device is looked at every millisecond.
    Looks,
}

/// The platform.
pub struct Board {
    // The thread of the line uses the other parts: it goes first.
    line: Line,
    io: Window,
    aperture: Option<Window>,
    config: ConfigFile,
    clock: HostClock,
    interrupts: Interrupts,
    pool: Pool,
}

impl Board {
    /// Takes a function that nobody works with.
    ///
    /// # Errors
    /// What stands in the way, and what to do about it.
    pub fn open(function: &Function, options: Options) -> Result<Arc<Self>, PciError> {
        check(function)?;
        let pool = huge_pages(function, options.pieces)?;
        Self::with_pool(function, pool)
    }

    /// The same with memory that is there already.
    pub(crate) fn with_pool(function: &Function, pool: Pool) -> Result<Arc<Self>, PciError> {
        let config = function.config(Using::Driving)?;
        // Registers answer only where memory decoding is on; the device stays off the bus until the driver lets it on.
        let command = config.read16(pci::config::COMMAND);
        config.write16(command | pci::config::COMMAND_MEMORY, pci::config::COMMAND);
        function.check_awake(&config)?;
        let io = function.window(0, Using::Driving)?;
        let aperture = match function.bar(2) {
            Some(_) => Some(function.window(2, Using::Driving)?),
            None => None,
        };
        let (source, interrupts): (Box<dyn Source>, _) = match function.hold() {
            Hold::Uio => (Box::new(Uio::open(function)?), Interrupts::Uio),
            _ => (Box::new(Look), Interrupts::Looks),
        };
        let bell = Arc::new(Bell::default());
        Ok(Arc::new(Board {
            line: Line::new(source, &bell),
            io,
            aperture,
            config,
            clock: HostClock::new(&bell),
            interrupts,
            pool,
        }))
    }

    /// How interrupts come.
    #[must_use]
    pub fn interrupts(&self) -> Interrupts {
        self.interrupts
    }

    /// Whether the device is still there.
    #[must_use]
    pub fn is_there(&self) -> bool {
        !self.io.is_lost() && !self.config.is_gone()
    }

    /// The device's memory.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// That a platform can be made on a function: everything that can be told before anything is touched.
fn check(function: &Function) -> Result<(), PciError> {
    function.check_free()?;
    let address = function.address();
    if function.hold() == Hold::Vfio {
        return Err(PciError::Refused(format!(
            "{address} belongs to vfio-pci, whose files are not used here. This gives it to uio_pci_generic:\n  \
            modprobe uio_pci_generic\n  \
            echo {address} > /sys/bus/pci/devices/{address}/driver/unbind\n  \
            echo uio_pci_generic > /sys/bus/pci/devices/{address}/driver_override\n  \
            echo {address} > /sys/bus/pci/drivers_probe"
        )));
    }
    // Domains of type identity leave addresses as they are (Documentation/ABI/testing/sysfs-kernel-iommu_groups).
    if let Some((number, kind)) = function.group()?
        && kind != "identity"
    {
        return Err(PciError::Refused(format!(
            "{address} is in IOMMU group {number}, whose domain is of type {}: the device would not reach the memory that the driver gives \
            it, and each access would be a fault of the IOMMU. Boot with iommu=pt (or intel_iommu=igfx_off)",
            if kind.is_empty() { "unknown".to_owned() } else { kind.escape_default().to_string() }
        )));
    }
    Ok(())
}

/// Memory whose physical addresses are known and stay.
fn huge_pages(function: &Function, pieces: usize) -> Result<Pool, PciError> {
    let refused = |text: String| PciError::Refused(text);
    let len = pieces.checked_mul(PIECE).and_then(NonZeroUsize::new);
    let len = len.ok_or_else(|| refused(format!("{pieces} huge pages are no memory")))?;
    let tree = function.tree();
    let help = format!(
        "These make room for them:\n  sysctl vm.nr_hugepages={pieces}\n\
        or, where memory is too scattered, hugepages={pieces} on the kernel's command line"
    );
    if let Some(free) = tree.free_huge_pages()
        && free < pieces as u64
    {
        return Err(refused(format!(
            "the device's memory needs {pieces} huge pages of 2 MiB, and {free} are free. {help}"
        )));
    }
    let memory = Memory::huge(len)
        .map_err(|error| refused(format!("{pieces} huge pages of 2 MiB: {error}. {help}")))?;
    let pagemap = Pagemap::open(tree)?;
    let chunks = (0..pieces).map(|piece| {
        let at = piece * PIECE;
        let bus = pagemap.physical(memory.address() + at)?;
        Ok(Chunk { bus, at, len: PIECE })
    });
    let chunks = chunks.collect::<Result<Vec<_>, PciError>>()?;
    let pool = Pool::new(memory, chunks, LIMIT);
    if pool.size() < len.get() as u64 {
        return Err(refused(format!(
            "only {} of {pieces} huge pages lie below 4 GiB, where every device reaches them. hugepages={pieces} on the kernel's command \
            line takes them early; mem=4G there leaves nothing else",
            pool.size() / PIECE as u64
        )));
    }
    Ok(pool)
}

impl Platform for Board {
    fn io(&self) -> &dyn Io {
        &self.io
    }
    fn aperture(&self) -> Option<&dyn Io> {
        self.aperture.as_ref().map(|window| window as &dyn Io)
    }
    fn config(&self) -> &dyn ConfigSpace {
        &self.config
    }
    fn dma(&self) -> &dyn DmaAllocator {
        &self.pool
    }
    fn clock(&self) -> &dyn Clock {
        &self.clock
    }
    fn irq(&self) -> &dyn IrqLine {
        &self.line
    }
}

impl Drop for Board {
    /// The device leaves the bus before its memory goes to others.
    fn drop(&mut self) {
        self.line.free();
        if !self.config.is_gone() {
            pci::clear_master(&self.config);
        }
    }
}

//! A platform on a PCI function: its BARs, its memory, its interrupts.
//!
//! Registers and aperture are `resource0` and `resource2` of sysfs, and the device reaches memory by physical addresses, so that no IOMMU may
//! stand between; or all comes from VFIO, which needs one. Not modelled: memory above 4 GiB.

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
use crate::vfio::Vfio;
use crate::{
    Bell, Chunk, ConfigFile, Function, Hold, HostClock, Line, Look, PciError, Pool, Source, Using,
    Window,
};

/// Bytes of a huge page.
pub const PIECE: usize = 2 << 20;
/// First address that devices do not reach: the status page of the 965 is at an address of 32 bits (i915 intel_ring_submission.c
/// `ring_setup_phys_status_page` and the DMA mask of i915_driver.c).
const LIMIT: u64 = 1 << 32;

/// What a platform is made of.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Memory, in pieces of 2 MiB.
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
    /// By an eventfd of VFIO.
    Vfio,
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
    // Before the memory that the device sees through it.
    _vfio: Option<Vfio>,
    pool: Pool,
}

impl Board {
    /// Takes a function that nobody works with.
    ///
    /// # Errors
    /// What stands in the way, and what to do about it.
    pub fn open(function: &Function, options: Options) -> Result<Arc<Self>, PciError> {
        function.check_free()?;
        if function.hold() == Hold::Vfio {
            return Self::by_vfio(function, options);
        }
        check_group(function)?;
        // Who may not open it hears so before anything else is asked for.
        function.can_open(0, Using::Driving)?;
        let pool = huge_pages(function, options.pieces)?;
        Self::with_pool(function, pool)
    }

    /// The files of sysfs, with memory that is there already.
    pub(crate) fn with_pool(function: &Function, pool: Pool) -> Result<Arc<Self>, PciError> {
        let config = awake(function, function.config(Using::Driving)?)?;
        let (source, interrupts): (Box<dyn Source>, _) = match function.hold() {
            Hold::Uio => (Box::new(Uio::open(function)?), Interrupts::Uio),
            _ => (Box::new(Look), Interrupts::Looks),
        };
        let aperture = match function.bar(2) {
            Some(_) => Some(function.window(2, Using::Driving)?),
            None => None,
        };
        let parts = Parts {
            io: function.window(0, Using::Driving)?,
            aperture,
            config,
            source,
            interrupts,
            pool,
            vfio: None,
        };
        Ok(Self::of(parts))
    }

    /// The files of VFIO.
    fn by_vfio(function: &Function, options: Options) -> Result<Arc<Self>, PciError> {
        let vfio = Vfio::open(function)?;
        // Memory decoding goes first: a mapped BAR of a device without it ends in SIGBUS.
        let config = awake(function, vfio.config()?)?;
        let pool = vfio.memory(bytes(options.pieces)?)?;
        let aperture = match function.bar(2) {
            Some(_) => Some(vfio.window(2)?),
            None => None,
        };
        let parts = Parts {
            io: vfio.window(0)?,
            aperture,
            config,
            source: Box::new(vfio.interrupts()?),
            interrupts: Interrupts::Vfio,
            pool,
            vfio: Some(vfio),
        };
        Ok(Self::of(parts))
    }

    fn of(parts: Parts) -> Arc<Self> {
        let bell = Arc::new(Bell::default());
        Arc::new(Board {
            line: Line::new(parts.source, &bell),
            io: parts.io,
            aperture: parts.aperture,
            config: parts.config,
            clock: HostClock::new(&bell),
            interrupts: parts.interrupts,
            _vfio: parts.vfio,
            pool: parts.pool,
        })
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

/// What a platform is put together from.
struct Parts {
    io: Window,
    aperture: Option<Window>,
    config: ConfigFile,
    source: Box<dyn Source>,
    interrupts: Interrupts,
    pool: Pool,
    vfio: Option<Vfio>,
}

/// Registers answer only where memory decoding is on; the device stays off the bus until the driver lets it on.
fn awake(function: &Function, config: ConfigFile) -> Result<ConfigFile, PciError> {
    function.check_power(&config)?;
    let command = config.read16(pci::config::COMMAND);
    config.write16(command | pci::config::COMMAND_MEMORY, pci::config::COMMAND);
    function.check_awake(&config)?;
    Ok(config)
}

/// Bytes of so many huge pages.
fn bytes(pieces: usize) -> Result<NonZeroUsize, PciError> {
    let len = pieces.checked_mul(PIECE).and_then(NonZeroUsize::new);
    len.ok_or_else(|| PciError::Refused(format!("{pieces} huge pages are no memory")))
}

/// That the device reaches memory by physical addresses.
fn check_group(function: &Function) -> Result<(), PciError> {
    let address = function.address();
    // Domains of type identity leave addresses as they are (Documentation/ABI/testing/sysfs-kernel-iommu_groups).
    if let Some((number, kind)) = function.group()?
        && kind != "identity"
    {
        return Err(PciError::Refused(format!(
            "{address} is in IOMMU group {number}, whose domain is of type {}: the device would not reach the memory that the driver gives \
            it, and each access would be a fault of the IOMMU. Boot with iommu=pt (or intel_iommu=igfx_off), or give it to vfio-pci instead of \
            uio_pci_generic",
            if kind.is_empty() {
                "unknown".to_owned()
            } else {
                kind.escape_default().to_string()
            }
        )));
    }
    Ok(())
}

/// Memory whose physical addresses are known and stay.
fn huge_pages(function: &Function, pieces: usize) -> Result<Pool, PciError> {
    let refused = |text: String| PciError::Refused(text);
    let len = bytes(pieces)?;
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
        Ok(Chunk {
            bus,
            at,
            len: PIECE,
        })
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

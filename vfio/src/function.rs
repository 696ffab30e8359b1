//! The modelled device behind the protocol: BARs, interrupts, memory.
//!
//! BAR 0 has the registers and the GTT, BAR 2 shows graphics memory through GTT and fences, BAR 4 is a pair of I/O ports.
//! The aperture is served by messages: its pages change with each entry of the GTT and lie in the guest's own memory, which
//! no mapping of one file can follow. The device works on a thread of its own ([`LivePlatform`]); what is done to it here is
//! done between two of its slices.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use kernel::error::code::EIO;
use kernel::io::Io as _;
use kernel::irq::{Handler, IrqLine as _, IrqReturn};
use mem::{FENCE_COUNT, Memory, PAGE_SIZE};
use mmio_mock::core::memory::lock;
use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::{Device, LivePlatform, Model as _, ModelPlatform};
use rustix::io::Errno;

use crate::config::Config;
use crate::edge;
use crate::guest::Guest;
use crate::irq::{self, Interrupts};
use crate::protocol::{DmaMap, DmaUnmap, IrqSet, region};
use crate::report::Report;
use crate::session::Function;

/// Address space for guests' memory: all that a GTT's slots can point at.
const BLOCK: usize = (4 << 30) - PAGE_SIZE;

/// Most faults that are told of a guest.
const MAX_TOLD: u64 = 16;

/// The device's thread hands its line on.
struct Line {
    irqs: Arc<Interrupts>,
    live: Weak<LivePlatform>,
}

impl Handler for Line {
    fn handle(&self) -> IrqReturn {
        if let Some(live) = self.live.upgrade() {
            // As it is now: it may have changed since the slice ended.
            let line = live.look_at_device(|device| device.irq_line());
            self.irqs.look(line);
        }
        // It stays asserted until the guest acknowledges it.
        IrqReturn::None
    }
}

/// A modelled device as a PCI function.
pub struct Modelled {
    info: &'static DeviceInfo,
    live: Arc<LivePlatform>,
    config: Config,
    irqs: Arc<Interrupts>,
    guest: Guest,
    report: Report,
    /// The first I/O port: which register the second one is.
    port: u32,
    /// Faults since the guest came.
    faults: u64,
}

impl Modelled {
    /// Powers a device on. Accesses to registers are written into `trace`.
    ///
    /// # Errors
    /// When the host has no address space or no thread for it.
    pub fn new(info: &'static DeviceInfo, trace: Option<File>) -> io::Result<Self> {
        let block = edge::reserve(BLOCK)?;
        let mut memory = Memory::over((block, 0), info.gtt_format, info.gtt_entries);
        memory.open_windows();
        memory.set_swizzle(info.swizzle.0, info.swizzle.1);
        let live = LivePlatform::new(ModelPlatform::with_memory(info, memory));
        let irqs = Arc::new(Interrupts::default());
        let line = Line {
            irqs: Arc::clone(&irqs),
            live: Arc::downgrade(&live),
        };
        let busy = |_| io::Error::from_raw_os_error(EIO.to_errno());
        live.request(Arc::new(line)).map_err(busy)?;
        let identity = live.look_at_device(|device| device.identity());
        Ok(Modelled {
            info,
            config: Config::new(&identity),
            irqs,
            guest: Guest::default(),
            report: Report::new(info.tables, trace),
            port: 0,
            faults: 0,
            live,
        })
    }

    /// What has been noted of the guests.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Its interrupts.
    #[must_use]
    pub fn interrupts(&self) -> &Arc<Interrupts> {
        &self.irqs
    }

    /// The device as it runs.
    #[must_use]
    pub fn live(&self) -> &Arc<LivePlatform> {
        &self.live
    }

    /// The memory that the guest has told of.
    #[must_use]
    pub fn guest(&self) -> &Guest {
        &self.guest
    }

    /// The client has gone: nothing of it is left, and the next one finds a device after power-on.
    pub fn leave(&mut self) {
        self.report.note("the guest has gone");
        self.tell_faults();
        self.faults = 0;
        self.irqs.clear();
        self.power_on();
        let guest = &mut self.guest;
        self.live.with_memory(|memory| guest.clear(memory));
    }

    fn power_on(&mut self) {
        let info = self.info;
        let memory = Arc::clone(self.live.model().memory());
        self.live.with_device(|device| {
            // Tables of processes go with the registers that name them.
            device.reset();
            let now = device.nanos();
            let mut old = std::mem::replace(device, Device::new(info, Arc::clone(&memory)));
            // A debugger on this side stays, whatever the guest does.
            device.inherit_debugger(&mut old);
            device.clock_mut().pass_to(now);
            let mut memory = lock(&memory);
            for entry in 0..memory.gtt_entries() {
                memory.gtt_write_wide(entry, 0);
            }
            for fence in 0..FENCE_COUNT {
                memory.fence_write(fence, 0);
            }
        });
        let identity = self.live.look_at_device(|device| device.identity());
        self.config = Config::new(&identity);
        self.port = 0;
        self.irqs.switch_pin(false);
        self.look();
    }

    /// Tells what the device has met: mistakes of the guest, and what is not modelled.
    fn tell_faults(&mut self) {
        let (faults, lost) = self.live.look_at_device(mmio_mock::Model::take_faults);
        for record in faults {
            self.faults += 1;
            if self.faults <= MAX_TOLD {
                log::warn!("{}, {}: {}", record.client, record.place, record.fault);
            }
        }
        self.faults += lost;
        if self.faults > MAX_TOLD && lost > 0 {
            log::debug!("the device has met {} faults", self.faults);
        }
    }

    /// Looks at the interrupt line.
    fn look(&self) {
        let line = self.live.look_at_device(|device| device.irq_line());
        self.irqs.look(line);
    }

    /// Whether a dword of BAR 0 is an entry of the GTT, which lies in the upper half.
    fn is_entry(&self, offset: u32) -> bool {
        offset >= self.info.bar_bytes / 2
    }

    fn read_register(&mut self, offset: u32) -> u32 {
        let value = self.live.read32(offset as usize);
        if !self.is_entry(offset) {
            self.report.read(offset, value);
        }
        value
    }

    fn write_register(&mut self, offset: u32, value: u32) {
        if self.is_entry(offset) {
            self.live
                .look_at_device(|device| device.write32(offset, value));
            return;
        }
        self.report.write(offset, value);
        let line = self.live.with_device(|device| {
            device.write32(offset, value);
            device.irq_line()
        });
        self.irqs.look(line);
        self.tell_faults();
    }

    /// Reads registers by dwords, whatever the bytes that are asked for.
    fn read_registers(&mut self, offset: u32, into: &mut [u8]) {
        for (at, bytes, inside) in dwords(offset, into.len()) {
            let value = self.read_register(at).to_le_bytes();
            copy(&mut into[bytes], &value[inside]);
        }
    }

    /// Writes registers by dwords; bytes of one that are not written keep what they read.
    fn write_registers(&mut self, offset: u32, from: &[u8]) {
        for (at, bytes, inside) in dwords(offset, from.len()) {
            let mut value = [0; 4];
            if inside.len() < 4 {
                value = self.live.read32(at as usize).to_le_bytes();
            }
            copy(&mut value[inside], &from[bytes]);
            self.write_register(at, u32::from_le_bytes(value));
        }
    }

    /// PRM volume 1 and i915_reg.h `MMIO_INDEX`: the first port chooses a register, the second one is it.
    fn ports(&mut self, offset: u64, bytes: usize) -> Result<bool, Errno> {
        match (offset, bytes) {
            (0, 4) => Ok(false),
            (4, 4) if self.port < self.info.bar_bytes => Ok(true),
            _ => Err(Errno::INVAL),
        }
    }
}

/// The dwords that a range of bytes touches: the offset of each, which bytes of the range it has, and where they lie in it.
fn dwords(
    offset: u32,
    len: usize,
) -> impl Iterator<Item = (u32, std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        // CAST: regions of registers are small.
        let at = offset + done as u32;
        let first = at as usize % 4;
        let count = (4 - first).min(len - done);
        if count == 0 {
            return None;
        }
        let bytes = done..done + count;
        done += count;
        Some((at & !3, bytes, first..first + count))
    })
}

/// Copies bytes; as many as both have.
fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Reads graphics memory as the CPU sees it; what is mapped nowhere reads all ones.
fn read_aperture(memory: &Memory, mut offset: u32, mut into: &mut [u8]) {
    while !into.is_empty() {
        let in_page = PAGE_SIZE - (offset as usize & (PAGE_SIZE - 1));
        let (now, rest) = into.split_at_mut(in_page.min(into.len()));
        if memory.aperture_read(offset, now).is_err() {
            now.fill(0xff);
        }
        offset = offset.wrapping_add(now.len() as u32);
        into = rest;
    }
}

/// Writes graphics memory as the CPU does; what is mapped nowhere takes nothing.
fn write_aperture(memory: &mut Memory, mut offset: u32, from: &[u8]) {
    let mut from = from;
    while !from.is_empty() {
        let in_page = PAGE_SIZE - (offset as usize & (PAGE_SIZE - 1));
        let (now, rest) = from.split_at(in_page.min(from.len()));
        // A fault is the guest's: the bus drops such a write.
        let _ = memory.aperture_write(offset, now);
        offset = offset.wrapping_add(now.len() as u32);
        from = rest;
    }
}

impl Function for Modelled {
    fn region_size(&self, index: u32) -> u64 {
        self.config.size(index)
    }

    fn read(&mut self, index: u32, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        // CAST: offsets lie in the region, whose size fits.
        let at = offset as u32;
        match index {
            region::BAR0 => self.read_registers(at, into),
            region::BAR2 => self
                .live
                .with_memory(|memory| read_aperture(memory, at, into)),
            region::BAR4 => {
                let value = if self.ports(offset, into.len())? {
                    self.read_register(self.port & !3)
                } else {
                    self.port
                };
                copy(into, &value.to_le_bytes());
            }
            region::CONFIG => {
                let line = self.live.look_at_device(|device| device.irq_line());
                for (at, to) in (at as usize..).zip(into) {
                    *to = self.config.read(at, line);
                }
            }
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }

    fn write(&mut self, index: u32, offset: u64, from: &[u8]) -> Result<(), Errno> {
        // CAST: as above.
        let at = offset as u32;
        match index {
            region::BAR0 => self.write_registers(at, from),
            region::BAR2 => self
                .live
                .with_memory(|memory| write_aperture(memory, at, from)),
            region::BAR4 => {
                let is_data = self.ports(offset, from.len())?;
                let mut value = [0; 4];
                copy(&mut value, from);
                let value = u32::from_le_bytes(value);
                if is_data {
                    self.write_register(self.port & !3, value);
                } else {
                    self.port = value;
                }
            }
            region::CONFIG => {
                let live = &self.live;
                for (at, &value) in (at as usize..).zip(from) {
                    let device = |at, value| live.with_device(|d| d.write_config(at, value));
                    self.config.write(at, value, device);
                }
                self.irqs.switch_pin(self.config.is_pin_off());
                self.look();
            }
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }

    fn irq(&self, index: u32) -> (u32, u32) {
        (irq::count(index), irq::flags(index))
    }

    fn set_irqs(&mut self, set: &IrqSet, meant: &[u8], files: Vec<OwnedFd>) -> Result<(), Errno> {
        self.irqs.set(set, meant, files)?;
        self.look();
        Ok(())
    }

    fn map(&mut self, range: &DmaMap, file: Option<OwnedFd>) -> Result<(), Errno> {
        let guest = &mut self.guest;
        let outcome = self
            .live
            .with_memory(|memory| guest.map(memory, range, file.as_ref()));
        let (address, size) = (range.address, range.size);
        match (outcome, file) {
            (Ok(()), Some(_)) | (Err(_), None) => {}
            (Ok(()), None) => {
                log::info!(
                    "memory at {address:#x}, {size:#x} bytes, has no file: out of the device's reach"
                );
            }
            (Err(error), Some(_)) => log::warn!(
                "memory at {address:#x}, {size:#x} bytes, is refused: {error}; a memfd that is sealed against shrinking is taken"
            ),
        }
        outcome
    }

    fn unmap(&mut self, range: &DmaUnmap) -> Result<(), Errno> {
        let guest = &mut self.guest;
        self.live.with_memory(|memory| guest.unmap(memory, range))
    }

    fn reset(&mut self) -> Result<(), Errno> {
        self.report.note("reset");
        self.power_on();
        Ok(())
    }
}

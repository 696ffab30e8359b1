//! A bare device with ring and status page, no driver: for `cs` and `debug`.
//!
//! PRM: volume 1 (ring registers, GTT, hardware status page). Statements: `map ADDRESS [PAGES]`, `mem ADDRESS: DWORDS`
//! (maps what is not mapped), `write REGISTER VALUE`, `ring: DWORDS` (pads to a quadword and runs), `tail OFFSET` (moves the empty
//! ring), `batch ADDRESS: DWORDS`, `run TICKS`, `reset`. A register is a name, `NAME+4` for its second dword, `NAME[3]`
//! for an element, or an offset.

use std::sync::{Arc, Mutex};

use mem::{GpuAddr, Memory, PhysAddr};
use mmio_mock::Model;
use mmio_mock::core::memory::{SharedMemory, lock};
use mmio_mock::intel::device::Device;
use regs::gen40::RegId;
use regs::platform::GEN40;

use super::file::{Case, File, Line, Problem};
use super::value::{dwords, number};

/// Where the ring is; one page.
const RING: u32 = 0x0001_0000;
const RING_BYTES: u32 = 4096;
/// Time that a submission gets.
const TICKS: u64 = 100_000;
/// MI_BATCH_BUFFER_START of Gen4 (i915 gt/intel_gpu_commands.h): non-secure, in the GTT.
const BATCH_START: u32 = 0x31 << 23 | 2 << 6;

/// The device and what surrounds it.
pub struct Bench {
    /// The device.
    pub device: Device,
    memory: SharedMemory,
    status: PhysAddr,
    tail: u32,
}

impl Bench {
    /// A device after reset with an empty ring; carries all statements of a case out.
    ///
    /// `read` lines are handed to `read`.
    pub fn new(
        file: &File,
        case: &Case,
        mut read: impl FnMut(&mut Bench, &str) -> Result<(), String>,
    ) -> Result<Bench, Problem> {
        let mut bench =
            Bench::power_on(file.option("device")).map_err(|what| case.problem(what))?;
        for line in &case.input {
            let result = match line.text.strip_prefix("read ") {
                Some(what) => read(&mut bench, what),
                None => bench.statement(&line.text),
            };
            result.map_err(|what| line.problem(what))?;
        }
        Ok(bench)
    }

    fn power_on(device: Option<&Line>) -> Result<Bench, String> {
        let name = device.map_or("gm965", |l| l.text.as_str());
        let info =
            mmio_mock::intel::r#gen::find(name).ok_or_else(|| format!("no device `{name}`"))?;
        let mut memory = Memory::new(4 << 20, info.gtt_entries);
        let full = "the memory is too small";
        memory
            .alloc_mapped(GpuAddr::from(RING), RING_BYTES as usize)
            .ok_or(full)?;
        let status = memory.alloc_pages(1).ok_or(full)?;
        let memory = Arc::new(Mutex::new(memory));
        let mut bench = Bench {
            device: Device::new(info, Arc::clone(&memory)),
            memory,
            status,
            tail: 0,
        };
        bench.start_ring()?;
        Ok(bench)
    }

    fn start_ring(&mut self) -> Result<(), String> {
        let status = u32::try_from(self.status.0).map_err(|_| "status page beyond 4 GiB")?;
        for (register, value) in [
            (RegId::HwsPga, status),
            (RegId::Prb0Ctl, 0),
            (RegId::Prb0Head, self.tail),
            (RegId::Prb0Tail, self.tail),
            (RegId::Prb0Start, RING),
            // One page, enabled.
            (RegId::Prb0Ctl, 1),
        ] {
            self.device.write_register(register, 0, value);
        }
        Ok(())
    }

    fn statement(&mut self, text: &str) -> Result<(), String> {
        let (verb, rest) = text.split_once([' ', ':']).unwrap_or((text, ""));
        let rest = rest.trim();
        match verb {
            "map" => {
                let (address, pages) = rest.split_once(' ').unwrap_or((rest, "1"));
                let (address, pages) = (number(address)?, number(pages)?);
                (0..pages.min(256)).try_for_each(|i| self.map(address + i * 4096))
            }
            "mem" => {
                let (address, data) = rest.split_once(':').ok_or("mem ADDRESS: DWORDS")?;
                self.fill(number(address)?, &dwords(data)?)
            }
            "write" => {
                let (name, value) = rest.split_once(' ').ok_or("write REGISTER VALUE")?;
                let offset = offset(name)?;
                self.device.write32(offset, number(value.trim())?);
                Ok(())
            }
            "ring" => self.submit(dwords(rest)?),
            "batch" => {
                let (address, data) = rest.split_once(':').ok_or("batch ADDRESS: DWORDS")?;
                let address = number(address)?;
                self.fill(address, &dwords(data)?)?;
                self.submit(vec![BATCH_START, address])
            }
            "tail" => {
                self.tail = number(rest)? & 0xff8;
                self.start_ring()
            }
            "run" => {
                self.device.run(number(rest)?.into());
                Ok(())
            }
            "reset" => {
                self.device.reset();
                self.tail = 0;
                self.start_ring()
            }
            _ => Err(format!("unknown statement `{verb}`")),
        }
    }

    fn map(&mut self, address: u32) -> Result<(), String> {
        let mut memory = lock(&self.memory);
        let page = GpuAddr::from(address & !0xfff);
        if memory.read_u32(page).is_ok() {
            return Ok(());
        }
        let mapped = memory.alloc_mapped(page, 4096);
        mapped.map(|_| ()).ok_or_else(|| "out of memory".to_owned())
    }

    fn fill(&mut self, address: u32, data: &[u32]) -> Result<(), String> {
        let last = address + 4 * data.len().saturating_sub(1) as u32;
        for page in address >> 12..=last >> 12 {
            self.map(page << 12)?;
        }
        lock(&self.memory)
            .write_dwords(GpuAddr::from(address), data)
            .map_err(|fault| fault.to_string())
    }

    /// Puts commands behind the tail and lets them run.
    fn submit(&mut self, mut commands: Vec<u32>) -> Result<(), String> {
        if !commands.len().is_multiple_of(2) {
            commands.push(0);
        }
        if commands.len() * 4 >= RING_BYTES as usize {
            return Err("more commands than the ring holds".to_owned());
        }
        let mut memory = lock(&self.memory);
        for dword in commands {
            memory
                .write_u32(GpuAddr::from(RING + self.tail), dword)
                .map_err(|fault| fault.to_string())?;
            self.tail = (self.tail + 4) % RING_BYTES;
        }
        drop(memory);
        self.device.write_register(RegId::Prb0Tail, 0, self.tail);
        self.device.run(TICKS);
        Ok(())
    }

    /// A register as the bus shows it.
    pub fn register(&mut self, name: &str) -> Result<u32, String> {
        Ok(self.device.read32(offset(name)?))
    }

    /// Dwords of graphics memory.
    pub fn dwords(&self, address: u32, count: usize) -> Result<Vec<u32>, String> {
        let mut out = vec![0; count];
        lock(&self.memory)
            .read_dwords(GpuAddr::from(address), &mut out)
            .map_err(|fault| fault.to_string())?;
        Ok(out)
    }

    /// Dwords of the hardware status page.
    pub fn status_page(&self, first: u32, count: usize) -> Result<Vec<u32>, String> {
        let memory = lock(&self.memory);
        (0..count as u64)
            .map(|i| {
                let at = PhysAddr(self.status.0 + 4 * (u64::from(first) + i));
                memory.phys_read_u32(at).map_err(|fault| fault.to_string())
            })
            .collect()
    }
}

/// Offset of a register in the BAR.
pub fn offset(name: &str) -> Result<u32, String> {
    if name.starts_with("0x") {
        return number(name);
    }
    let (name, plus) = name.split_once('+').unwrap_or((name, "0"));
    let (name, index) = match name.split_once('[') {
        Some((name, index)) => (name, number(index.trim_end_matches(']'))?),
        None => (name, 0),
    };
    let desc = GEN40
        .register(name)
        .filter(|desc| desc.name == name)
        .ok_or_else(|| format!("no register `{name}`"))?;
    Ok(desc.offset + index * desc.stride + number(plus)?)
}

//! Batches on the model: dwords, commands, and captured frames that are changed.
//!
//! The first byte of an input says which, on which device, and what stands in memory. The device has no driver; it is powered on for
//! every input and runs for a bounded time through its ring.

use std::sync::{Arc, Mutex};

use arbitrary::{Result, Unstructured};
use crestline_cli::capture::Exec;
use mem::{GpuAddr, Memory};
use mmio_mock::Model;
use mmio_mock::core::memory::{SharedMemory, lock};
use mmio_mock::intel::cs::engine::StatusPage;
use mmio_mock::intel::device::Device;
use mmio_mock::intel::r#gen::DeviceInfo;
use regs::desc::CommandDesc;
use regs::ids::RegId;

use crate::scenes::{self, DEVICES, capture_of};

/// Device time of noise, in ticks.
const NOISE: u64 = 10_000;
/// Device time of a frame: its first primitives.
const FRAME: u64 = 60_000;
const RING: u32 = 0x0001_0000;
const STATUS: u32 = 0x0002_0000;
const BATCH: u32 = 0x0010_0000;
const BATCH_BYTES: usize = 8192;
const DATA: u32 = 0x0020_0000;
const DATA_BYTES: usize = 1 << 14;
/// Scenes of small frames with textures, depth and stencil.
const SCENES: [&str; 3] = ["b_flat", "d_tex_nearest", "k_stencil_scissor"];
/// MI_BATCH_BUFFER_START, GTT (i915 gt/intel_gpu_commands.h).
const START: u32 = 0x31 << 23 | 2 << 6;
/// MI_BATCH_BUFFER_END.
const END: u32 = 0x0a << 23;

struct Bench {
    device: Device,
    memory: SharedMemory,
    status: u32,
}

impl Bench {
    fn new(info: &'static DeviceInfo, bytes: usize) -> Self {
        let mut memory = Memory::new(bytes, info.gtt_entries);
        memory
            .alloc_mapped(GpuAddr::from(RING), 4096)
            .expect("a ring");
        let status = match info.render.status_page {
            StatusPage::Graphics => {
                let page = memory.alloc_mapped(GpuAddr::from(STATUS), 4096);
                page.map(|_| STATUS).expect("a status page")
            }
            StatusPage::Physical => {
                let page = memory.alloc_pages(1).expect("a status page");
                u32::try_from(page.0).expect("low memory")
            }
        };
        let memory = Arc::new(Mutex::new(memory));
        Bench {
            device: Device::new(info, Arc::clone(&memory)),
            memory,
            status,
        }
    }

    fn place(&self, address: u32, bytes: usize, contents: &[u8]) {
        let mut memory = lock(&self.memory);
        let address = GpuAddr::from(address);
        memory.alloc_mapped(address, bytes).expect("memory");
        memory.write_bytes(address, contents).expect("mapped");
    }

    /// Starts a batch from the ring; whatever it did, the device can be reset and is idle then.
    fn run(mut self, batch: u32, ticks: u64) {
        let start = lock(&self.memory).write_dwords(GpuAddr::from(RING), &[START, batch]);
        start.expect("the ring is mapped");
        for (register, value) in [
            (RegId::HwsPga, self.status),
            (RegId::Prb0Start, RING),
            (RegId::Prb0Ctl, 1),
            (RegId::Prb0Tail, 8),
        ] {
            self.device.write_register(register, 0, value);
        }
        let used = self.device.run(ticks);
        assert!(used <= ticks);
        self.device.hung_threads();
        self.device.running_blit();
        self.device.take_faults();
        self.device.reset();
        assert!(self.device.idle());
    }
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let first: u8 = input.arbitrary().unwrap_or_default();
    let bits = usize::from(first & 0x7f);
    if first < 0x80 {
        let info = scenes::device(DEVICES[bits / 2 % DEVICES.len()]);
        noise(&mut input, info, bits & 1 == 0);
    } else {
        // An input that ends early is a frame with fewer changes.
        let which = bits % (DEVICES.len() * SCENES.len());
        let _ = frame(&mut input, which);
    }
}

/// A batch of dwords or of commands.
fn noise(input: &mut Unstructured<'_>, info: &'static DeviceInfo, commands: bool) {
    let bench = Bench::new(info, 1 << 20);
    let mut words = Vec::new();
    while words.len() < BATCH_BYTES / 4 - 256 && !input.is_empty() {
        if commands {
            let _ = command(input, info.tables.commands, &mut words);
        } else {
            words.push(input.arbitrary().unwrap_or_default());
        }
    }
    words.extend([END, 0]);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bench.place(BATCH, BATCH_BYTES, &bytes);
    // State, vertices and kernels at once: the batch again and again.
    let data: Vec<u8> = bytes.iter().copied().cycle().take(DATA_BYTES).collect();
    bench.place(DATA, DATA_BYTES, &data);
    bench.run(BATCH, NOISE);
}

/// A command: a byte chooses it, one says whether it has its shortest length, then its operands.
fn command(input: &mut Unstructured<'_>, all: &[&CommandDesc], words: &mut Vec<u32>) -> Result<()> {
    let choice: u8 = input.arbitrary()?;
    let bits: u32 = input.arbitrary()?;
    let desc = all[usize::from(choice) % all.len()];
    let free = bits & !desc.mask;
    let header = if bits & 1 << 31 == 0 {
        desc.value | (free & !0xff) | desc.min_dwords.saturating_sub(2)
    } else {
        desc.value | free
    };
    words.push(header);
    for _ in 1..desc.dwords(header).min(64) {
        words.push(operand(input)?);
    }
    Ok(())
}

/// An operand: a byte says whether it is a small number, coordinates, or an address of something that is there.
fn operand(input: &mut Unstructured<'_>) -> Result<u32> {
    Ok(match input.arbitrary::<u8>()? & 7 {
        0 => input.arbitrary::<u8>()?.into(),
        1 => u32::from(input.arbitrary::<u8>()?) << 16 | u32::from(input.arbitrary::<u8>()?),
        2 => DATA + u32::from(input.arbitrary::<u16>()?),
        3 => BATCH + u32::from(input.arbitrary::<u16>()? & 0x1fff),
        _ => input.arbitrary()?,
    })
}

thread_local! {
    /// Device after device, the scenes of each.
    static FRAMES: [[Exec; SCENES.len()]; DEVICES.len()] =
        DEVICES.map(|device| SCENES.map(|scene| capture_of(device, scene).execs.swap_remove(0)));
}

/// A captured frame with changed dwords: a byte chooses the buffer, two the place, four are the bits that change.
fn frame(input: &mut Unstructured<'_>, which: usize) -> Result<()> {
    FRAMES.with(|frames| {
        let device = which / SCENES.len();
        let exec = &frames[device][which % SCENES.len()];
        let bench = Bench::new(scenes::device(DEVICES[device]), 32 << 20);
        for buffer in &exec.buffers {
            bench.place(buffer.address, buffer.size as usize, &buffer.data);
        }
        let changed = change(input, exec, &bench);
        bench.run(exec.batch_address(), FRAME);
        changed
    })
}

fn change(input: &mut Unstructured<'_>, exec: &Exec, bench: &Bench) -> Result<()> {
    while !input.is_empty() {
        let (which, at, bits): (u8, u16, u32) = input.arbitrary()?;
        let buffer = &exec.buffers[usize::from(which) % exec.buffers.len()];
        let dwords = (buffer.data.len() / 4).max(1) as u32;
        let address = GpuAddr::from(buffer.address + u32::from(at) % dwords * 4);
        let mut memory = lock(&bench.memory);
        let word = memory.read_u32(address).expect("mapped");
        memory.write_u32(address, word ^ bits).expect("mapped");
    }
    Ok(())
}

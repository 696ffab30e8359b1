//! Random bytes as batches and as kernels: faults or nothing, no panic, no hang.
//!
//! Each generation has a device of its own in turn. Seeds are printed and fixed, so that every run is the same. CRESTLINE_FUZZ_MILLIONS sets how many
//! million commands or instructions each test executes, as the model counts them; CRESTLINE_FUZZ_SEED sets another seed.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use crestline_cli::capture::Exec;
use crestline_tests::fuzz::{Counts, Run, goal};
use crestline_tests::scenes::{capture_of, device};
use driver::{BatchDesc, Device, Driver, Object, Tiling};
use fastrand::Rng;
use isa::Verx10;
use isa::tables::Table;
use kernel::platform::Platform;
use kernel::time::Delta;
use mem::{GpuAddr, Memory};
use mmio_mock::Model;
use mmio_mock::ModelPlatform;
use mmio_mock::core::memory::{SharedMemory, lock};
use mmio_mock::intel::cs::engine::{EngineInfo, StatusPage};
use mmio_mock::intel::device::Device as ModelDevice;
use mmio_mock::intel::r#gen::DeviceInfo;
use regs::desc::{CommandDesc, Engine};

mod frames;

/// Device time of a batch of commands: 25 000 clocks.
const SHORT: Delta = Delta::from_micros(50);
/// Device time of a frame; most need half of that.
const FRAME: Delta = Delta::from_millis(1);
/// Device time of a frame with kernels that mean nothing.
const NONSENSE: Delta = Delta::from_micros(100);
/// Iterations before a fresh device, because a batch may have rewritten GTT and registers.
const LIFETIME: u32 = 1000;
const BATCH: u32 = 0x0010_0000;
const DATA: u32 = 0x0020_0000;
const DATA_BYTES: usize = 1 << 16;

struct Fuzz {
    platform: Arc<ModelPlatform>,
    device: Device,
    objects: Vec<Object>,
    /// The frame that is damaged over and over.
    frame: Option<Exec>,
    counted: Counts,
}

impl Fuzz {
    fn new(name: &str) -> Self {
        let info = device(name);
        let platform = ModelPlatform::new(info, 16 << 20);
        let device = Driver::probe(Arc::clone(&platform) as Arc<dyn Platform>).unwrap();
        Fuzz {
            platform,
            device,
            objects: Vec::new(),
            frame: None,
            counted: Counts::default(),
        }
    }

    /// A device with the buffers of a captured frame.
    fn with_frame(name: &str, scene: &str) -> Self {
        let frame = capture_of(name, scene).execs.swap_remove(0);
        let mut fuzz = Fuzz::new(name);
        for buffer in &frame.buffers {
            // Vertex uploads of 1 MiB hold some bytes alone.
            let index = fuzz.object(buffer.address, buffer.size as usize);
            fuzz.objects[index].write(0, &buffer.data).unwrap();
        }
        fuzz.frame = Some(frame);
        fuzz
    }

    /// The commands of its generation.
    fn commands(&self) -> &'static [&'static CommandDesc] {
        self.platform.device().info().tables.commands
    }

    fn object(&mut self, address: u32, bytes: usize) -> usize {
        let object = self.device.create_object(bytes, Tiling::None, 0).unwrap();
        self.device.bind_at(&object, address).unwrap();
        self.objects.push(object);
        self.objects.len() - 1
    }

    /// Runs a batch, and resets the device when it did not end; returns what was executed, and
    /// whether the device can be used further.
    fn run(&mut self, batch: usize, len: u32, time: Delta) -> (Counts, bool) {
        let desc = BatchDesc {
            object: &self.objects[batch],
            start: 0,
            len,
        };
        let ended = self
            .device
            .submit(&desc)
            .is_ok_and(|r| r.wait(time).is_ok());
        let _ = self.device.take_error_state();
        let usable = ended || self.device.reset().is_ok();
        let counts = Counts::of(&self.platform.device());
        let new = counts.since(self.counted);
        self.counted = counts;
        (new, usable)
    }

    /// Runs the frame.
    fn run_frame(&mut self, time: Delta) -> (Counts, bool) {
        let (batch, len) = self
            .frame
            .as_ref()
            .map_or((0, 0), |exec| (exec.batch, exec.batch_len));
        self.run(batch, len, time)
    }

    /// The contents of one of the frame's buffers as captured.
    fn original(&self, index: usize) -> &[u8] {
        self.frame
            .as_ref()
            .map_or(&[], |exec| exec.buffers[index].data.as_slice())
    }

    /// Whatever happened, removal works and gives every page back.
    fn finish(self) {
        let _ = self.device.reset();
        drop(self.objects);
        self.device.remove().unwrap();
        assert_eq!(self.platform.allocated_pages(), 0);
    }
}

/// An operand: often an address of something that is there.
fn operand(random: &mut Rng) -> u32 {
    match random.u32(..8) {
        0 | 1 => DATA + random.u32(..DATA_BYTES as u32),
        2 => BATCH + random.u32(..4096),
        3 => random.u32(..256),
        4 => random.u32(..) & 0x001f_001f,
        _ => random.u32(..),
    }
}

/// A command with a good header and random operands.
fn command(random: &mut Rng, all: &[&CommandDesc], words: &mut Vec<u32>) {
    let desc = &all[random.u32(..all.len() as u32) as usize];
    let free = random.u32(..) & !desc.mask;
    // Half of the time the length field is that of the shortest form.
    let header = if random.u32(..2) == 0 {
        desc.value | (free & !0xff) | desc.min_dwords.saturating_sub(2)
    } else {
        desc.value | free
    };
    words.push(header);
    // Most blits are small: coordinates are dwords 2 and 3, and a whole surface takes its time.
    let small = header >> 29 == 2 && random.u32(..16) > 0;
    for i in 1..desc.dwords(header).min(64) {
        let mask = if small && (i == 2 || i == 3) {
            0x003f_003f
        } else {
            u32::MAX
        };
        words.push(operand(random) & mask);
    }
}

/// A device with a ring and one page of batch, without driver: a reset is cheap there.
struct Bare {
    device: ModelDevice,
    memory: SharedMemory,
    status: u32,
    engine: &'static EngineInfo,
}

impl Bare {
    const RING: u32 = 0x0001_0000;

    const STATUS: u32 = 0x0002_0000;

    fn new(name: &str) -> Self {
        let info = device(name);
        Self::on(info, info.render)
    }

    fn on(info: &'static DeviceInfo, engine: &'static EngineInfo) -> Self {
        let mut memory = Memory::new(1 << 20, info.gtt_entries);
        memory
            .alloc_mapped(GpuAddr::from(Self::RING), 4096)
            .unwrap();
        memory.alloc_mapped(GpuAddr::from(BATCH), 4096).unwrap();
        memory
            .alloc_mapped(GpuAddr::from(Self::STATUS), 4096)
            .unwrap();
        let status = match engine.status_page {
            StatusPage::Graphics => Self::STATUS,
            StatusPage::Physical => u32::try_from(memory.alloc_pages(1).unwrap().0).unwrap(),
        };
        let memory = Arc::new(Mutex::new(memory));
        Bare {
            device: ModelDevice::new(info, Arc::clone(&memory)),
            memory,
            status,
            engine,
        }
    }

    /// Ring and batch as they should be; false when a batch has damaged the GTT.
    fn fill(&self, words: &[u32]) -> bool {
        let mut memory = lock(&self.memory);
        memory.write_dwords(GpuAddr::from(BATCH), words).is_ok()
    }

    /// Resets the device and starts a batch at an address (i915 gt/intel_gpu_commands.h: MI_BATCH_BUFFER_START 31h, GTT).
    fn run(&mut self, address: u32) -> Counts {
        let before = Counts::of(&self.device);
        let start = [0x31 << 23 | 2 << 6, address];
        let ring = lock(&self.memory).write_dwords(GpuAddr::from(Self::RING), &start);
        if ring.is_err() {
            return Counts::default();
        }
        self.device.reset();
        let ring = &self.engine.registers;
        for (register, value) in [
            (ring.hws_pga, self.status),
            (ring.start, Self::RING),
            (ring.ctl, 1),
            (ring.tail, 8),
        ] {
            self.device.write_register(register, 0, value);
        }
        self.device.run(25_000);
        Counts::of(&self.device).since(before)
    }
}

/// Every dword is tried as the first of a batch: most are refused, and those behind would never be seen.
#[test]
fn random_dwords_as_batch() {
    const DWORDS: u32 = 1024;
    let run = Run::new("random_dwords_as_batch", 1, goal(), |c| c.parsed);
    run.devices(
        20,
        |_, name| Bare::new(name),
        |run, random, bare| {
            let words: Vec<u32> = (0..DWORDS).map(|_| random.u32(..)).collect();
            let mut intact = false;
            for at in (0..DWORDS * 4).step_by(4) {
                if !intact && !bare.fill(&words) {
                    return false;
                }
                if at == 0 {
                    run.input("a page of dwords, each the start of a batch", &words);
                }
                let new = bare.run(BATCH + at);
                run.count(new);
                intact = new.commands == 0;
            }
            true
        },
        drop,
    );
}

/// The same through the driver, which resets the device after each.
#[test]
fn random_dwords_as_submissions() {
    let goal = goal().min(1_000_000);
    let run = Run::new("random_dwords_as_submissions", 500_000, goal, |c| c.parsed);
    run.devices(
        2000,
        |_, name| {
            let mut fuzz = Fuzz::new(name);
            fuzz.object(BATCH, 4096);
            fuzz
        },
        |run, random, fuzz| {
            let words: Vec<u32> = (0..64).map(|_| random.u32(..)).collect();
            run.input("a batch", &words);
            fuzz.objects[0].write_dwords(0, &words).unwrap();
            let (new, usable) = fuzz.run(0, 256, SHORT);
            run.count(new);
            usable
        },
        Fuzz::finish,
    );
}

#[test]
fn random_commands_as_batch() {
    let run = Run::new("random_commands_as_batch", 1_000_000, goal(), |c| {
        c.commands
    });
    run.devices(
        LIFETIME,
        |random, name| {
            let mut fuzz = Fuzz::new(name);
            fuzz.object(BATCH, 4096);
            let data = fuzz.object(DATA, DATA_BYTES);
            let noise: Vec<u32> = (0..DATA_BYTES / 4).map(|_| random.u32(..)).collect();
            fuzz.objects[data].write_dwords(0, &noise).unwrap();
            fuzz
        },
        |run, random, fuzz| {
            let mut words = Vec::new();
            let all = fuzz.commands();
            while words.len() < 250 {
                command(random, all, &mut words);
            }
            words.truncate(1022);
            words.extend([0x0a << 23, 0]);
            run.input("a batch", &words);
            fuzz.objects[0].write_dwords(0, &words).unwrap();
            let (new, usable) = fuzz.run(0, 4096, SHORT);
            run.count(new);
            usable
        },
        Fuzz::finish,
    );
}

/// A blitter of its own takes other commands than the render engine; of several engines each has its turn.
#[test]
fn random_commands_on_other_engines() {
    let goal = goal() / 4;
    let run = Run::new("random_commands_on_other_engines", 7_000_000, goal, |c| {
        c.commands
    });
    run.only(&["sandybridge", "valleyview"]).devices(
        LIFETIME,
        |random, name| {
            let info = device(name);
            let engine = &info.engines[random.usize(..info.engines.len())];
            let bare = Bare::on(info, engine);
            let noise: Vec<u32> = (0..DATA_BYTES / 4).map(|_| random.u32(..)).collect();
            let mut memory = lock(&bare.memory);
            let data = GpuAddr::from(DATA);
            memory.alloc_mapped(data, DATA_BYTES).unwrap();
            memory.write_dwords(data, &noise).unwrap();
            drop(memory);
            bare
        },
        |run, random, bare| {
            let class: Engine = bare.engine.class;
            let all = bare.device.info().tables.commands.iter();
            let all: Vec<&CommandDesc> = all.copied().filter(|c| c.runs_on(class)).collect();
            let mut words = Vec::new();
            while words.len() < 250 {
                command(random, &all, &mut words);
            }
            words.truncate(1022);
            words.extend([0x0a << 23, 0]);
            run.input("a batch of an engine beside the render engine", &words);
            if !bare.fill(&words) {
                return false;
            }
            let new = bare.run(BATCH);
            run.count(new);
            true
        },
        drop,
    );
}

/// Random instructions. An eighth of the kernels is noise; the others have opcodes and sizes that exist, so that
/// more than the first instruction of a thread is reached.
fn random_kernel(random: &mut Rng, isa: Verx10, length: usize) -> Vec<u32> {
    let table = Table::of(isa).unwrap();
    let opcodes: Vec<u32> = table.rows().map(|row| row.hw.into()).collect();
    let noise = random.u32(..8) == 0;
    (0..length / 16)
        .flat_map(|_| {
            let mut inst = [0; 4].map(|_: u32| random.u32(..));
            if noise || random.u32(..16) == 0 {
                return inst;
            }
            let opcode = opcodes[random.u32(..opcodes.len() as u32) as usize];
            // No debug control; execution size of at most 16.
            inst[0] = inst[0] & 0x1f9f_ff80 | opcode | random.u32(..5) << 21;
            if random.u32(..4) > 0 {
                // Without predicate and conditional modifier; jumps stay near.
                inst[0] &= !(0x1f << 16) & !(0xf << 24) & !(3 << 28);
                inst[3] &= 0x001f_ffff;
                if opcode == 0x22 || (0x24..=0x2a).contains(&opcode) {
                    inst[3] = (inst[3] & 0x000f_0007) | (random.u32(..2) * 0xfff0);
                }
            }
            inst
        })
        .collect()
}

fn fuzz_kernels(name: &'static str, scene: &str, seed: u64) {
    const KERNELS: usize = 3;
    // Two tests share the goal.
    Run::new(name, seed, goal() / 2, |c| c.instructions).devices(
        LIFETIME,
        |_, name| Fuzz::with_frame(name, scene),
        |run, random, fuzz| {
            let isa = fuzz.platform.device().info().isa;
            let words = random_kernel(random, isa, fuzz.original(KERNELS).len());
            run.input("the kernels of a frame", &words);
            fuzz.objects[KERNELS].write_dwords(0, &words).unwrap();
            let (new, usable) = fuzz.run_frame(NONSENSE);
            run.count(new);
            usable
        },
        Fuzz::finish,
    );
}

/// Flips a few bits. Most of the frame stays whole, so that a test needs many instructions.
fn fuzz_flips(name: &'static str, scene: &str, buffer: usize, seed: u64) {
    let goal = goal().saturating_mul(40);
    let run = Run::new(name, seed, goal, |c| c.commands + c.instructions).uncapped();
    run.devices(
        LIFETIME,
        |_, name| Fuzz::with_frame(name, scene),
        |run, random, fuzz| {
            let mut data = fuzz.original(buffer).to_vec();
            let mut note = format!("{scene}, buffer {buffer}, with flipped bits");
            let flips = random.u32(..4) + 1;
            for _ in 0..flips {
                let at = random.u32(..data.len() as u32) as usize;
                let bit = random.u32(..8);
                data[at] ^= 1 << bit;
                // Writing to a String cannot fail.
                let _ = write!(note, "\n  byte {at:#x}, bit {bit}");
            }
            run.choices(note, flips.into());
            fuzz.objects[buffer].write(0, &data).unwrap();
            let (new, usable) = fuzz.run_frame(FRAME);
            run.count(new);
            usable
        },
        Fuzz::finish,
    );
}

#[test]
fn random_bytes_as_kernels() {
    fuzz_kernels("random_bytes_as_kernels", "b_flat", 2_000_000);
}

#[test]
fn random_bytes_as_texturing_kernels() {
    let name = "random_bytes_as_texturing_kernels";
    fuzz_kernels(name, "d_tex_nearest", 3_000_000);
}

#[test]
fn flipped_bits_in_kernels() {
    fuzz_flips("flipped_bits_in_kernels", "d_tex_nearest", 3, 4_000_000);
}

#[test]
fn flipped_bits_in_state() {
    fuzz_flips("flipped_bits_in_state", "k_stencil_scissor", 2, 5_000_000);
}

#[test]
fn flipped_bits_in_batches() {
    fuzz_flips("flipped_bits_in_batches", "g_gears", 0, 6_000_000);
}

#[test]
fn random_dwords_in_frames() {
    frames::change("random_dwords_in_frames", 8_000_000);
}

#[test]
fn fields_at_the_ends_of_their_ranges() {
    frames::fields::ends();
}

#[test]
fn barrier_that_is_never_full() {
    frames::fields::barrier_that_is_never_full();
}

#[test]
fn changed_frames_reach_all_units() {
    frames::reach();
}

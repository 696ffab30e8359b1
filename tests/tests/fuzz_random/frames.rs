//! Captured frames of ValleyView with changed dwords.
//!
//! The scenes are those with stages that came with this device: tessellation, geometry shaders of many instances, streams, groups of
//! compute threads, atomic counters, draws whose numbers stand in memory, predicates. The device has no driver, and batches run with
//! privileges. After each input there is a reason: the frame is complete, a fault or a thread that stands still has a name, or there is
//! work left when the time is over.

pub mod fields;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex};

use crestline_cli::capture::Exec;
use crestline_tests::fuzz::{Counts, Run, goal};
use crestline_tests::scenes::{capture_of, device};
use fastrand::Rng;
use mem::{GpuAddr, Memory};
use mmio_mock::Model;
use mmio_mock::core::memory::{SharedMemory, lock};
use mmio_mock::intel::device::Device;
use mmio_mock::intel::status::{Activity, Statistics, Unit};
use mmio_mock::intel::td::engine::Engine;
use mmio_mock::intel::trace::{Event, Sink, Trace};
use regs::desc::{CommandDesc, Property};
use regs::ids::RegId;

const DEVICE: &str = "valleyview";
const SCENES: [&str; 16] = [
    "compute",
    "condrender",
    "fp64",
    "geom",
    "image",
    "indirect",
    "instance",
    "intrt",
    "layered",
    "msaa",
    "queries",
    "ssbo",
    "tessiso",
    "tessquad",
    "texbuf",
    "xfb",
];
/// Device time of an input; a whole frame needs up to ten times as much.
const TIME: u64 = 120_000;
/// Device time of a whole frame.
const WHOLE: u64 = 20 * TIME;
/// Device time after which a device that still works has been seen to.
const MORE: u64 = 20_000;
/// Inputs before a fresh device with another frame and another engine.
const LIFETIME: u32 = 12;
const RING: u32 = 0x0001_0000;
const STATUS: u32 = 0x0002_0000;
/// MI_BATCH_BUFFER_START of a batch with privileges (i915 gt/intel_gpu_commands.h).
const START: u32 = 0x31 << 23;
/// Opcode of MI_SEMAPHORE_MBOX, which waits for somebody else for as long as it takes.
const SEMAPHORE: u32 = 0x16;

/// The submissions that are changed: the first of each scene, which sets all the state that it needs.
static FRAMES: LazyLock<Vec<(String, Exec)>> = LazyLock::new(|| {
    let first = |scene: &&str| {
        (
            (*scene).to_owned(),
            capture_of(DEVICE, scene).execs.swap_remove(0),
        )
    };
    SCENES.iter().map(first).collect()
});

/// What executes the kernels of a device, and by how many threads of the host.
const ENGINES: [(Engine, usize); 5] = [
    (Engine::Compiled, 0),
    (Engine::Interpreter, 0),
    (Engine::Check, 0),
    (Engine::Compiled, 2),
    (Engine::Wave, 3),
];

struct Bench {
    device: Device,
    memory: SharedMemory,
    name: &'static str,
    exec: &'static Exec,
    engine: Engine,
    /// The commands of the batch, with their addresses.
    commands: Vec<(u32, &'static CommandDesc)>,
}

impl Bench {
    fn new(random: &mut Rng) -> Self {
        let (name, exec) = &FRAMES[random.usize(..FRAMES.len())];
        let (engine, workers) = ENGINES[random.usize(..ENGINES.len())];
        Bench::of(name, exec, engine, workers)
    }

    fn of(name: &'static str, exec: &'static Exec, engine: Engine, workers: usize) -> Self {
        let info = device(DEVICE);
        let mut memory = Memory::new(16 << 20, info.gtt_entries);
        for address in [RING, STATUS] {
            memory.alloc_mapped(GpuAddr::from(address), 4096).unwrap();
        }
        for buffer in &exec.buffers {
            let address = GpuAddr::from(buffer.address);
            memory.alloc_mapped(address, buffer.size as usize).unwrap();
        }
        let memory = Arc::new(Mutex::new(memory));
        let mut device = Device::new(info, Arc::clone(&memory));
        device.set_engine(engine);
        device.set_workers(workers);
        Bench {
            device,
            memory,
            name,
            exec,
            engine,
            commands: commands(exec),
        }
    }

    /// The frame as it was captured; false when a batch has damaged the GTT.
    fn restore(&self) -> bool {
        let mut memory = lock(&self.memory);
        self.exec.buffers.iter().all(|buffer| {
            let address = GpuAddr::from(buffer.address);
            let rest = vec![0; buffer.size as usize - buffer.data.len()];
            memory.write_bytes(address, &buffer.data).is_ok()
                && memory
                    .write_bytes(address.offset(buffer.data.len() as u32), &rest)
                    .is_ok()
        })
    }

    /// Changes a few dwords, half of them in the batch; what was changed.
    fn change(&self, random: &mut Rng) -> (String, u64) {
        let mut note = format!("{}, {}", self.name, self.engine);
        let changes = random.u64(1..=3);
        let mut memory = lock(&self.memory);
        for _ in 0..changes {
            let buffers = &self.exec.buffers;
            if random.u32(..3) == 0 {
                let (at, new, what) = field(random, &self.commands, self.exec);
                memory.write_u32(GpuAddr::from(at), new).unwrap();
                let _ = write!(note, "\n  {at:#010x}: {new:08x}, {what}");
                continue;
            }
            let index = if random.bool() {
                self.exec.batch
            } else {
                random.usize(..buffers.len())
            };
            let buffer = &buffers[index];
            let dwords = (buffer.data.len() / 4) as u32;
            if dwords == 0 {
                continue;
            }
            // Most of a buffer is empty.
            let mut places = std::iter::repeat_with(|| random.u32(..dwords) * 4);
            let full = |at: &u32| buffer.dword(*at) != Some(0);
            let at = places
                .by_ref()
                .take(6)
                .find(full)
                .or(places.next())
                .unwrap();
            let old = buffer.dword(at).unwrap();
            let new = value(random, old, buffers);
            let address = GpuAddr::from(buffer.address + at);
            memory.write_u32(address, new).unwrap();
            // Writing to a String cannot fail.
            let _ = write!(
                note,
                "\n  buffer {index}, byte {at:#x}: {old:08x} to {new:08x}"
            );
        }
        (note, changes)
    }

    /// Runs the frame from power-on, for so much device time.
    fn run(&mut self, time: u64) -> Outcome {
        let batch = self.exec.batch_address();
        let ring = lock(&self.memory).write_dwords(GpuAddr::from(RING), &[START, batch]);
        if ring.is_err() {
            return Outcome::Damaged;
        }
        self.device.reset();
        self.device.take_faults();
        for (register, value) in [
            (RegId::HwsPga, STATUS),
            (RegId::Prb0Start, RING),
            (RegId::Prb0Ctl, 1),
            (RegId::Prb0Tail, 8),
        ] {
            self.device.write_register(register, 0, value);
        }
        let used = self.device.run(time);
        assert!(used <= time);
        let difference = self.device.done_by_engine().difference;
        assert_eq!(difference, None, "compiled code differs");
        self.outcome()
    }

    fn outcome(&mut self) -> Outcome {
        let faults = self.device.status().faults();
        if let Some(fault) = faults.first() {
            assert!(!fault.fault.to_string().is_empty() && !fault.place.is_empty());
            return Outcome::Fault;
        }
        let hung = self.device.hung_threads();
        if let Some(line) = hung.first() {
            assert!(!line.is_empty());
            return Outcome::Hang;
        }
        if self.device.idle() {
            return Outcome::Complete;
        }
        let before = progress(&self.device);
        for _ in 0..4 {
            self.device.run(MORE);
            let more = !self.device.status().faults().is_empty() || self.device.idle();
            if more || before != progress(&self.device) || self.device.running_blit().is_some() {
                return Outcome::Unfinished;
            }
        }
        let header = self.device.read_register(RegId::Ipehr, 0);
        if header >> 23 == SEMAPHORE {
            return Outcome::Unfinished;
        }
        panic!("it stands still at {header:#010x}, and nothing says why");
    }
}

/// The commands of a submission's batch.
fn commands(exec: &Exec) -> Vec<(u32, &'static CommandDesc)> {
    let tables = device(DEVICE).tables;
    let mut commands = Vec::new();
    let mut at = exec.batch_address();
    while let Some(header) = exec.dword(at)
        && let Some(desc) = (tables.command)(header)
    {
        commands.push((at, desc));
        if desc.is(Property::Ends) {
            break;
        }
        at += 4 * desc.dwords(header) as u32;
    }
    commands
}

/// A field of a command with another value: where, the dword, and its name.
fn field(
    random: &mut Rng,
    commands: &[(u32, &'static CommandDesc)],
    exec: &Exec,
) -> (u32, u32, String) {
    loop {
        let (at, desc) = commands[random.usize(..commands.len())];
        if desc.fields.is_empty() {
            continue;
        }
        let field = &desc.fields[random.usize(..desc.fields.len())];
        // A command that is too long swallows those behind it.
        if field.name == "DWord Length" && random.u32(..8) > 0 {
            continue;
        }
        let at = at + u32::from(field.start) / 32 * 4;
        let shift = u32::from(field.start) % 32;
        let mask = u32::MAX >> (32 - u32::from(field.width).clamp(1, 32 - shift));
        let Some(old) = exec.dword(at) else {
            continue;
        };
        let new = match random.u32(..6) {
            0 => 0,
            1 => mask,
            2 => 1,
            3 => mask >> 1,
            4 => (old >> shift).wrapping_add(1),
            _ => random.u32(..),
        };
        let new = old & !(mask << shift) | (new & mask) << shift;
        return (at, new, format!("{} of {}", field.name, desc.name));
    }
}

/// How a frame ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Complete,
    /// A unit says what it cannot do.
    Fault,
    /// A thread, or several that wait for one another, cannot go on.
    Hang,
    /// There is work left.
    Unfinished,
    /// The batch has changed the global GTT.
    Damaged,
}

/// What changes while anything works.
fn progress(device: &Device) -> (Activity, Statistics) {
    (device.status().activity, device.status().statistics)
}

/// What stands in a dword instead: bits turned over, numbers at the ends of ranges, or another dword of the frame.
fn value(random: &mut Rng, old: u32, buffers: &[crestline_cli::capture::Buffer]) -> u32 {
    // Infinities, NaN, the smallest and greatest integers, denormals, what is just beyond fields of 5, 8, 10 and 16 bits.
    const ENDS: [u32; 16] = [
        0,
        1,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x8000_0000,
        0x7fff_ffff,
        u32::MAX,
        0x0000_0001,
        0x0000_0020,
        0x0000_0100,
        0x0000_0400,
        0x0001_0000,
        0x4282_0000,
        0xbf80_0000,
        0xffff_fffc,
    ];
    match random.u32(..8) {
        0 | 1 => old ^ 1 << random.u32(..32),
        2 => old ^ random.u32(..) & random.u32(..) & random.u32(..),
        3 => old.wrapping_add(random.u32(..64)).wrapping_sub(32),
        4 | 5 => ENDS[random.usize(..ENDS.len())],
        6 => {
            let buffer = &buffers[random.usize(..buffers.len())];
            let dwords = (buffer.data.len() / 4).max(1) as u32;
            buffer.dword(random.u32(..dwords) * 4).unwrap_or_default()
        }
        _ => random.u32(..),
    }
}

/// Changes frames until so much has been executed; the name is that of the test.
pub fn change(name: &'static str, seed: u64) {
    let goal = goal().saturating_mul(40);
    let run = Run::new(name, seed, goal, |c| c.commands + c.instructions);
    run.uncapped().only(&[DEVICE]).devices(
        LIFETIME,
        |random, _| Bench::new(random),
        |run, random, bench| {
            if !bench.restore() {
                return false;
            }
            let (note, changes) = bench.change(random);
            run.choices(note, changes);
            let before = Counts::of(&bench.device);
            let outcome = bench.run(TIME);
            run.count(Counts::of(&bench.device).since(before));
            outcome != Outcome::Damaged
        },
        drop,
    );
}

/// What has been reached, with how often.
#[derive(Clone, Default)]
struct Reached(Arc<Mutex<BTreeMap<String, u64>>>);

impl Sink<Event> for Reached {
    fn event(&mut self, _: u64, event: &Event) {
        let name = match event {
            Event::Command { header, .. } => {
                let desc = (device(DEVICE).tables.command)(*header).unwrap();
                // Predicate Enable and Indirect Parameter Enable of 3DPRIMITIVE and GPGPU_WALKER (genxml gen7).
                let [predicate, indirect] = match desc.name {
                    "3DPRIMITIVE" | "GPGPU_WALKER" => [header & 1 << 8 != 0, header & 1 << 10 != 0],
                    _ => [false; 2],
                };
                let predicate = if predicate { " predicated" } else { "" };
                let indirect = if indirect { " indirect" } else { "" };
                format!("{}{predicate}{indirect}", desc.name)
            }
            Event::Dispatch(dispatch) => {
                let unit = Unit::ALL
                    .into_iter()
                    .find(|unit| unit.ffid() == dispatch.ffid);
                format!("{} thread", unit.unwrap().name())
            }
            Event::Message { sfid, desc, .. } => message(*sfid, *desc).to_owned(),
            _ => return,
        };
        *self.0.lock().unwrap().entry(name).or_default() += 1;
    }
}

/// Mesa 22.3.6 brw_eu_defines.h: `GFX7_DATAPORT_DC_*`, `GFX7_DATAPORT_RC_*`, `GFX7_BTI_SLM`, `BRW_MESSAGE_GATEWAY_SFID_BARRIER_MSG`.
fn message(sfid: u8, desc: u32) -> &'static str {
    let kind = desc >> 14 & 15;
    match (sfid, kind) {
        (2, _) => "sampler",
        (3, _) if desc & 7 == 4 => "barrier",
        (6, _) => "URB",
        (10, 5 | 6 | 13) if desc & 0xff == 254 => "local memory",
        (10, 5) => "untyped read",
        (10, 6) => "untyped atomic",
        (10, 13) => "untyped write",
        (5, 5) => "typed read",
        (5, 6) => "typed atomic",
        (5, 13) => "typed write",
        (5, 12) => "render target write",
        _ => "another message",
    }
}

/// What changed frames reach, in spite of their changes.
const WANTED: [&str; 27] = [
    "VS thread",
    "HS thread",
    "DS thread",
    "GS thread",
    "PS thread",
    "MEDIA thread",
    "sampler",
    "barrier",
    "URB",
    "local memory",
    "untyped read",
    "untyped write",
    "untyped atomic",
    "typed read",
    "typed write",
    "typed atomic",
    "render target write",
    "3DPRIMITIVE predicated",
    "3DPRIMITIVE indirect",
    "GPGPU_WALKER",
    "MI_PREDICATE",
    "MI_LOAD_REGISTER_MEM",
    "MI_STORE_REGISTER_MEM",
    "PIPE_CONTROL",
    "3DSTATE_STREAMOUT",
    "3DSTATE_TE",
    "tessellated and streamed",
];

/// Changes each frame a few times, and looks what has worked.
pub fn reach() {
    let reached = Reached::default();
    let mut random = Rng::with_seed(1);
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let (mut points, mut streamed, mut invocations) = (0, 0, 0);
    for (name, exec) in FRAMES.iter() {
        let mut bench = Bench::of(name, exec, Engine::Compiled, 0);
        bench.device.set_trace(Trace::to(Box::new(reached.clone())));
        for _ in 0..12 {
            assert!(bench.restore());
            println!("{}", bench.change(&mut random).0);
            let outcome = bench.run(WHOLE);
            *ends.entry(format!("{outcome:?}")).or_default() += 1;
            let statistics = bench.device.status().statistics;
            points += statistics.ds_invocations;
            streamed += statistics.so_prims_written.iter().sum::<u64>();
            invocations += statistics.cs_invocations;
            if outcome == Outcome::Damaged {
                break;
            }
        }
    }
    let mut reached = reached.0.lock().unwrap();
    if points > 0 && streamed > 0 && invocations > 0 {
        reached.insert("tessellated and streamed".to_owned(), points + streamed);
    }
    println!("{ends:?}\n{reached:?}");
    let missing: Vec<_> = WANTED
        .iter()
        .filter(|name| !reached.contains_key(**name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    // Most changes leave something to be done.
    let complete = ends.get("Complete").copied().unwrap_or_default();
    let all: u64 = ends.values().sum();
    assert!(complete * 4 > all && complete < all, "{ends:?}");
}

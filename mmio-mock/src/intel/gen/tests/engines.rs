//! Engines of a device: rings beside one another, their commands and resets.
//!
//! Offsets and bits: i915 gt/intel_engine_regs.h (`RING_*`), i915_reg.h (`BSD_RING_BASE`, `I915_BSD_USER_INTERRUPT`),
//! gt/intel_gt_regs.h (`ILK_BSD_USER_INTERRUPT`); intel-gpu-tools lib/intel_reg.h (`G4X_BCS_DONE`). Commands:
//! gt/intel_gpu_commands.h, intel-vaapi-driver i965_defines.h.

use std::sync::Arc;

use kernel::io::Io;
use kernel::pci::ConfigSpace;
use mem::GpuAddr;
use regs::desc::Engine;
use regs::ids::RegId;

use crate::core::memory::lock;
use crate::core::{Ended, Model};
use crate::intel::r#gen::{DEVICES, find};
use crate::intel::platform::ModelPlatform;

const RENDER: usize = 0x2000;
const BSD: usize = 0x4000;
const TAIL: usize = 0x30;
const HEAD: usize = 0x34;
const START: usize = 0x38;
const CTL: usize = 0x3c;
const IPEIR: usize = 0x64;
const IPEHR: usize = 0x68;
const ACTHD: usize = 0x74;
const HWS_PGA: usize = 0x80;
const NOPID: usize = 0x94;
const MI_MODE: usize = 0x9c;
const ESR: usize = 0xb8;
const STOP_RING: u32 = 1 << 8;
const MODE_IDLE: u32 = 1 << 9;

const NOOP: u32 = 0;
const USER_INTERRUPT: u32 = 0x0100_0000;
const BATCH_END: u32 = 0x0500_0000;
/// MI_BATCH_BUFFER_START in the GTT.
const BATCH_START: u32 = 0x1880_0080;
/// MI_STORE_DATA_INDEX of one dword, MI_STORE_DATA_IMM of one dword in the GTT.
const STORE_INDEX: u32 = 0x1080_0001;
const STORE_IMM: u32 = 0x1040_0002;
const DRAW: u32 = 0x7b00_0004;
const SET_CONTEXT: u32 = 0x0c00_0000;
/// CMD_AVC_BSD_IMG_STATE, six dwords.
const IMG_STATE: u32 = 0x7400_0004;

/// Graphics addresses: a ring and a status page of each engine, a batch, and a page for what commands store.
const RINGS: [u32; 2] = [0x1_0000, 0x1_1000];
const STATUS: [u32; 2] = [0x1_2000, 0x1_3000];
const BATCH: u32 = 0x1_4000;
const TARGET: u32 = 0x1_5000;

struct Bench(Arc<ModelPlatform>);

impl Bench {
    fn new(name: &str) -> Self {
        let platform = ModelPlatform::new(find(name).unwrap(), 4 << 20);
        {
            let mut memory = lock(platform.memory());
            for page in [RINGS[0], RINGS[1], STATUS[0], STATUS[1], BATCH, TARGET] {
                memory.alloc_mapped(GpuAddr::from(page), 4096).unwrap();
            }
        }
        let bench = Bench(platform);
        bench.start(RENDER);
        bench.start(BSD);
        bench
    }

    /// An empty ring of a page.
    fn start(&self, base: usize) {
        let number = usize::from(base == BSD);
        self.write(base + HWS_PGA, STATUS[number]);
        self.write(base + CTL, 0);
        self.write(base + HEAD, 0);
        self.write(base + TAIL, 0);
        self.write(base + START, RINGS[number]);
        self.write(base + CTL, 1);
    }

    fn read(&self, at: usize) -> u32 {
        Io::read32(&*self.0, at)
    }

    fn write(&self, at: usize, value: u32) {
        Io::write32(&*self.0, value, at);
    }

    fn fill(&self, at: u32, words: &[u32]) {
        let mut memory = lock(self.0.memory());
        memory.write_dwords(GpuAddr::from(at), words).unwrap();
    }

    fn dword(&self, at: u32) -> u32 {
        lock(self.0.memory()).read_u32(GpuAddr::from(at)).unwrap()
    }

    /// Puts commands behind those that are in a ring.
    fn queue(&self, base: usize, words: &[u32]) {
        let tail = self.read(base + TAIL);
        self.fill(RINGS[usize::from(base == BSD)] + tail, words);
        self.write(base + TAIL, tail + 4 * words.len() as u32);
    }

    fn run(&self, ticks: u64) -> Ended {
        let (_, ended) = self.0.device().work(ticks, 64, &mut |_| false);
        ended
    }

    fn faults(&self) -> Vec<String> {
        let (faults, _) = self.0.device().take_faults();
        let text = faults.iter().map(|f| format!("{}: {}", f.place, f.fault));
        text.collect()
    }
}

/// RING_* of gt/intel_engine_regs.h at the bases of `intel_engines`.
// covers: S-0001
#[test]
fn registers_lie_at_their_places_from_the_base_of_the_engine() {
    for device in DEVICES {
        let names: Vec<_> = device
            .all_engines()
            .map(|engine| (engine.name, engine.class, engine.base))
            .collect();
        let (render, video) = (
            ("rcs0", Engine::Render, 0x2000),
            ("vcs0", Engine::Video, 0x4000),
        );
        let wanted = match device.isa.times_ten() {
            40 => vec![render],
            45 | 50 => vec![render, video],
            // GEN6_BSD_RING_BASE, BLT_RING_BASE.
            _ => vec![
                render,
                ("vcs0", Engine::Video, 0x1_2000),
                ("bcs0", Engine::Blitter, 0x2_2000),
            ],
        };
        assert_eq!(names, wanted, "{}", device.name);
        for engine in device.all_engines() {
            assert_eq!(engine.has_pipelines, engine.name == "rcs0");
            let r = &engine.registers;
            for (id, at) in [
                (r.tail, TAIL),
                (r.head, HEAD),
                (r.start, START),
                (r.ctl, CTL),
                (r.ipeir, IPEIR),
                (r.ipehr, IPEHR),
                (r.acthd, ACTHD),
                (r.dma_fadd, 0x78usize),
                (r.hws_pga, HWS_PGA),
                (r.nopid, NOPID),
                (r.mi_mode, MI_MODE),
            ] {
                let desc = (device.tables.register_desc)(id).unwrap();
                let at = match (id == r.hws_pga, device.isa.times_ten(), engine.name) {
                    // RING_HWS_PGA_GEN6: the base and 2080h.
                    (true, 60, _) => engine.base + 0x2080,
                    // RENDER_HWS_PGA_GEN7, BSD_HWS_PGA_GEN7, BLT_HWS_PGA_GEN7.
                    (true, 70, "rcs0") => 0x4080,
                    (true, 70, "vcs0") => 0x4180,
                    (true, 70, _) => 0x4280,
                    _ => engine.base + at as u32,
                };
                assert_eq!(desc.offset, at, "{id:?}");
            }
            let bit = device.interrupts.iir;
            let bits = match (bit, engine.name) {
                // GT_BLT_USER_INTERRUPT, GT_BSD_USER_INTERRUPT.
                (_, "bcs0") => 1 << 22,
                (_, "vcs0") if device.isa.times_ten() >= 60 => 1 << 12,
                (RegId::Iir, "rcs0") => 1 << 1,
                (RegId::Iir, _) => 1 << 25,
                (_, "rcs0") => 1 << 0,
                _ => 1 << 5,
            };
            assert_eq!(engine.user_interrupt, bits, "{}", device.name);
        }
    }
}

#[test]
fn the_decoders_ring_runs_beside_an_idle_render_engine() {
    for (name, [imr, ier, iir], bit) in [
        ("g45", [0x20a8, 0x20a0, 0x20a4], 1 << 25),
        ("gm45", [0x20a8, 0x20a0, 0x20a4], 1 << 25),
        ("ironlake", [0x44014, 0x4401c, 0x44018], 1 << 5),
    ] {
        let bench = Bench::new(name);
        bench.write(imr, !bit);
        bench.write(ier, bit);
        bench.write(0x4400c, 1 << 31);
        bench.fill(
            BATCH,
            &[STORE_IMM | 1 << 22, 0, TARGET, 0xabcd, BATCH_END, NOOP],
        );
        bench.queue(BSD, &[NOOP | 1 << 22 | 0x123, NOOP, BATCH_START, BATCH]);
        bench.queue(BSD, &[STORE_INDEX, 0x40 * 4, 7, USER_INTERRUPT]);
        let instdone = bench.read(0x207c) >> 31;
        assert_eq!(instdone, 0, "{name}: BCS Done");
        assert_eq!(bench.read(BSD + MI_MODE) & MODE_IDLE, 0, "{name}");
        assert_eq!(bench.read(RENDER + MI_MODE) & MODE_IDLE, MODE_IDLE);
        assert!(!bench.0.device().idle());
        assert_eq!(bench.run(1000), Ended::Idle, "{name}");
        assert!(bench.0.device().idle());
        assert_eq!(bench.read(0x207c) >> 31, 1, "{name}: BCS Done");
        assert_eq!(bench.read(BSD + HEAD), bench.read(BSD + TAIL));
        assert_eq!(bench.read(BSD + NOPID), 0x123);
        assert_eq!(bench.read(BSD + IPEHR), USER_INTERRUPT);
        assert_eq!(bench.read(BSD + ACTHD), RINGS[1] + 7 * 4, "{name}");
        assert_eq!(bench.dword(TARGET), 0xabcd, "{name}");
        assert_eq!(bench.dword(STATUS[1] + 0x100), 7, "{name}");
        assert_eq!(bench.dword(STATUS[0] + 0x100), 0, "{name}");
        assert_eq!(bench.read(iir), bit, "{name}");
        assert!(bench.0.device().irq_line(), "{name}");
        assert_eq!(bench.read(RENDER + ACTHD), 0, "{name}");
        assert_eq!(bench.faults(), [""; 0]);
    }
}

#[test]
fn gm965_has_nothing_there() {
    let bench = Bench::new("gm965");
    assert_eq!(bench.read(BSD + CTL), 0);
    bench.queue(BSD, &[STORE_INDEX, 0x100, 7, USER_INTERRUPT]);
    assert_eq!(bench.run(1000), Ended::Idle);
    assert_eq!(bench.dword(STATUS[1] + 0x100), 0);
}

/// Stores that count up in a dword of the status page.
fn counting(steps: u32) -> Vec<u32> {
    (1..=steps)
        .flat_map(|step| [STORE_INDEX, 0x100, step, NOOP])
        .collect()
}

#[test]
fn two_engines_work_at_the_same_time_in_the_same_order() {
    const STEPS: u32 = 200;
    let counts = |ticks: u64| {
        let bench = Bench::new("g45");
        bench.queue(RENDER, &counting(STEPS));
        bench.queue(BSD, &counting(STEPS));
        bench.run(ticks);
        STATUS.map(|page| bench.dword(page + 0x100))
    };
    // A dword of commands takes a tick.
    for ticks in [1, 40, 100, 333, 500] {
        let [render, bsd] = counts(ticks);
        assert_eq!(counts(ticks), [render, bsd], "another run");
        assert!(render.abs_diff(bsd) <= 1, "{render} and {bsd} of {ticks}");
        assert!(render.abs_diff(ticks as u32 / 4) <= 1, "{render}: {ticks}");
    }
    assert_eq!(counts(u64::from(4 * STEPS)), [STEPS; 2]);
}

#[test]
fn a_stopped_engine_lets_the_other_go_on() {
    for (stopped, runs) in [(RENDER, BSD), (BSD, RENDER)] {
        let bench = Bench::new("ironlake");
        bench.write(stopped + MI_MODE, STOP_RING << 16 | STOP_RING);
        for base in [stopped, runs] {
            bench.queue(base, &counting(3));
        }
        bench.run(1000);
        let count = |base| bench.dword(STATUS[usize::from(base == BSD)] + 0x100);
        assert_eq!((count(stopped), count(runs)), (0, 3));
        assert_eq!(bench.read(stopped + MI_MODE) & MODE_IDLE, MODE_IDLE);
        bench.write(stopped + MI_MODE, STOP_RING << 16);
        assert_eq!(bench.run(1000), Ended::Idle);
        assert_eq!(count(stopped), 3);
    }
}

#[test]
fn a_command_of_another_engine_or_of_the_decoder_stops_one_engine_alone() {
    for (base, words, what) in [
        (BSD, [DRAW, 0], "3DPRIMITIVE is a command of another engine"),
        (BSD, [0x2000_0000, 0], "BSD: unknown command 0x20000000"),
        (
            BSD,
            [SET_CONTEXT, 0],
            "MI_SET_CONTEXT is a command of another engine",
        ),
        (
            BSD,
            [0x5400_0004, 0],
            "XY_COLOR_BLT is a command of another engine",
        ),
        (BSD, [IMG_STATE, 0], "AVC_BSD_IMG_STATE"),
        (BSD, [0x7408_0006, 0], "AVC_BSD_OBJECT"),
        (
            RENDER,
            [IMG_STATE, 0],
            "AVC_BSD_IMG_STATE is a command of another engine",
        ),
    ] {
        let bench = Bench::new("g45");
        let other = RENDER + BSD - base;
        bench.queue(base, &words);
        bench.queue(base, &counting(3));
        bench.queue(other, &counting(3));
        assert_eq!(bench.run(1000), Ended::Blocked);
        assert!(!bench.0.device().idle());
        let faults = bench.faults();
        let place = if base == BSD { "BSD, ring" } else { "CS, ring" };
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with(place), "{faults:?}");
        let named = what.split(": ").all(|part| faults[0].contains(part));
        assert!(named, "{faults:?}");
        assert_eq!(bench.read(base + IPEHR), words[0]);
        assert_eq!(
            (bench.read(base + IPEIR), bench.read(other + IPEIR)),
            (1, 0)
        );
        assert_eq!((bench.read(base + ESR), bench.read(other + ESR)), (1, 0));
        let done = |base| bench.dword(STATUS[usize::from(base == BSD)] + 0x100);
        assert_eq!((done(base), done(other)), (0, 3));
    }
}

/// `g4x_do_reset`, `ilk_do_reset`: a domain each.
#[test]
fn a_reset_of_a_domain_is_one_of_its_engine() {
    for (name, media, render) in [
        ("g45", 3 << 2 | 1, 1 << 2 | 1),
        ("ironlake", 3 << 1 | 1, 1 << 1 | 1),
    ] {
        let bench = Bench::new(name);
        let reset = |value: u32| match name {
            "g45" => bench.0.write8(value as u8, 0xc0),
            _ => bench.write(0x12ca4, value),
        };
        bench.queue(BSD, &[DRAW, 0]);
        bench.queue(RENDER, &[IMG_STATE, 0]);
        bench.run(1000);
        reset(media);
        assert_eq!(bench.read(BSD + CTL), 0, "{name}");
        assert_eq!(bench.read(BSD + IPEIR) | bench.read(BSD + ESR), 0);
        assert_eq!(bench.read(RENDER + IPEIR), 1, "{name}");
        assert_eq!(bench.read(RENDER + CTL), 1, "{name}");
        bench.start(BSD);
        bench.queue(BSD, &counting(5));
        bench.run(1000);
        assert_eq!(bench.dword(STATUS[1] + 0x100), 5, "{name}");
        bench.queue(BSD, &counting(9));
        reset(render);
        assert_eq!(bench.read(RENDER + CTL), 0, "{name}");
        assert_eq!(bench.read(RENDER + IPEIR), 0, "{name}");
        assert_eq!(bench.read(BSD + HWS_PGA), STATUS[1], "{name}");
        assert_eq!(bench.run(1000), Ended::Idle, "{name}");
        assert_eq!(bench.dword(STATUS[1] + 0x100), 9, "{name}");
        // Field value 0 is all domains (`GRDOM_FULL`, `ILK_GRDOM_FULL`).
        reset(1);
        assert_eq!(bench.read(BSD + CTL), 0, "{name}");
        assert_eq!(bench.read(BSD + HWS_PGA), 0, "{name}");
    }
}

/// A batch that starts itself, with nothing in it.
#[test]
fn a_parser_that_goes_round_is_told_unless_another_engine_gets_on() {
    let bench = Bench::new("g45");
    bench.fill(BATCH, &[BATCH_START, BATCH]);
    bench.queue(BSD, &[BATCH_START, BATCH]);
    assert_eq!(bench.run(100_000), Ended::Spins);
    bench.queue(RENDER, &counting(200));
    bench.run(100);
    assert_eq!(bench.run(100_000), Ended::Spins);
    assert_eq!(bench.dword(STATUS[0] + 0x100), 200);
    // The host ends it.
    bench.fill(BATCH, &[BATCH_END, NOOP]);
    assert_eq!(bench.run(1000), Ended::Idle);
}

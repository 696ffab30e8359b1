//! The host's side of Sandy Bridge: rings, tables of a process, wakes, resets.
//!
//! Offsets and words: i915 gt/intel_engine_regs.h (`RING_*`), i915_reg.h (`BLT_RING_BASE`, `GEN6_BSD_RING_BASE`), gt/intel_gt_regs.h
//! (`GEN6_GDRST`, `FORCEWAKE`), gt/gen6_ppgtt.c, gt/gen6_engine_cs.c, gt/intel_gpu_commands.h.

use std::sync::Arc;

use kernel::io::Io;
use mem::PhysAddr;

use crate::core::memory::lock;
use crate::intel::r#gen::find;
use crate::intel::platform::ModelPlatform;

const RENDER: usize = 0x2000;
const VIDEO: usize = 0x1_2000;
const BLITTER: usize = 0x2_2000;

/// Graphics addresses: a ring, a status page, a batch, a page for what is stored.
const RING: u32 = 0x1_0000;
const STATUS: u32 = 0x1_1000;
const BATCH: u32 = 0x1_2000;
const TARGET: u32 = 0x1_3000;

/// Images of two contexts.
const CONTEXTS: [u32; 2] = [0x1_4000, 0x1_5000];

struct Bench(Arc<ModelPlatform>);

impl Bench {
    fn new() -> Self {
        let platform = ModelPlatform::new(find("sandybridge").unwrap(), 4 << 20);
        for page in [RING, STATUS, BATCH, TARGET, CONTEXTS[0], CONTEXTS[1]] {
            let mut memory = lock(platform.memory());
            memory.alloc_mapped(page.into(), 4096).unwrap();
        }
        Bench(platform)
    }

    fn write(&self, offset: usize, value: u32) {
        self.0.write32(value, offset);
    }

    fn read(&self, offset: usize) -> u32 {
        self.0.read32(offset)
    }

    fn load(&self, at: u32) -> u32 {
        lock(self.0.memory()).read_u32(at.into()).unwrap()
    }

    fn put(&self, at: u32, dwords: &[u32]) {
        let mut memory = lock(self.0.memory());
        memory.write_dwords(at.into(), dwords).unwrap();
    }

    /// Runs commands on the ring of an engine; an even number of dwords.
    fn run(&self, base: usize, commands: &[u32]) {
        self.put(RING, commands);
        // RING_HWS_PGA_GEN6.
        self.write(base + 0x2080, STATUS);
        self.write(base + 0x38, RING);
        self.write(base + 0x34, 0);
        self.write(base + 0x30, 0);
        // RING_VALID, one page.
        self.write(base + 0x3c, 1);
        self.write(base + 0x30, 4 * commands.len() as u32);
        self.0.run(100_000);
    }

    fn done(&self, base: usize) -> bool {
        self.read(base + 0x34) & 0x1f_fffc == self.read(base + 0x30)
    }
}

/// FORCEWAKE and FORCEWAKE_MT with their acknowledges; GT_FIFO_NUM_RESERVED_ENTRIES is 20.
// covers: S-0053
#[test]
fn a_wake_is_acknowledged() {
    let bench = Bench::new();
    assert_eq!(bench.read(0x13_0090) & 1, 0);
    bench.write(0xa18c, 1);
    assert_eq!(bench.read(0x13_0090) & 1, 1);
    bench.write(0xa18c, 0);
    assert_eq!(bench.read(0x13_0090) & 1, 0);
    bench.write(0xa188, 1 << 16 | 1);
    assert_eq!(bench.read(0x13_0040) & 1, 1);
    assert!(bench.read(0x12_0008) & 0x7f > 20);
    assert_eq!(bench.read(0x13_805c) & 7, 0, "all cores are awake");
}

/// `flush_cs_tlb` waits for INSTPM_SYNC_FLUSH to fall.
#[test]
fn a_flush_of_translations_is_over_at_once() {
    let bench = Bench::new();
    for base in [RENDER, VIDEO, BLITTER] {
        bench.write(base + 0xc0, (1 << 9 | 1 << 5) << 16 | 1 << 9 | 1 << 5);
        assert_eq!(bench.read(base + 0xc0) & 1 << 5, 0, "{base:x}");
    }
}

/// GEN6_GRDOM_BLT is bit 3, GEN6_GRDOM_RENDER bit 1, GEN6_GRDOM_FULL bit 0.
// covers: S-0002
#[test]
fn a_reset_of_a_domain_is_that_of_its_ring() {
    let bench = Bench::new();
    for base in [RENDER, VIDEO, BLITTER] {
        bench.write(base + 0x38, RING);
    }
    let starts = || [RENDER, VIDEO, BLITTER].map(|base| bench.read(base + 0x38));
    bench.write(0x941c, 1 << 3);
    assert_eq!(bench.read(0x941c), 0);
    assert_eq!(starts(), [RING, RING, 0]);
    bench.write(0x941c, 1 << 1);
    assert_eq!(starts(), [0, RING, 0]);
    bench.write(0x941c, 1);
    assert_eq!(starts(), [0; 3]);
}

/// `gen6_emit_breadcrumb_xcs`, after an XY_COLOR_BLT of two by one pixels; GT_BLT_USER_INTERRUPT is bit 22 of GTIIR.
// covers: S-0005, S-0054, S-0056, S-0059
#[test]
fn the_blitter_has_a_ring_of_its_own() {
    let bench = Bench::new();
    bench.write(0x4_4014, 0);
    bench.write(BLITTER + 0xa8, !(1 << 22));
    let blit = [
        0x5400_0004 | 3 << 20,
        0x03f0_0000 | 256,
        0,
        1 << 16 | 2,
        TARGET,
        0x1122_3344,
    ];
    let breadcrumb = [
        0x1300_0001 | 1 << 14 | 1 << 21,
        0x100 | 1 << 2,
        77,
        0x0100_0000,
    ];
    bench.run(BLITTER, &[blit.as_slice(), &breadcrumb].concat());
    assert!(bench.done(BLITTER));
    assert_eq!(bench.load(TARGET), 0x1122_3344);
    assert_eq!(bench.load(TARGET + 4), 0x1122_3344);
    assert_eq!(bench.load(STATUS + 0x100), 77);
    assert_eq!(bench.read(0x4_4018) & 1 << 22, 1 << 22);
    // RING_IMR masks.
    bench.write(0x4_4018, u32::MAX);
    bench.write(BLITTER + 0xa8, u32::MAX);
    bench.run(BLITTER, &[0x0100_0000, 0]);
    assert_eq!(bench.read(0x4_4018) & 1 << 22, 0);
    // The render engine takes no blits.
    bench.run(RENDER, &blit);
    assert!(!bench.done(RENDER));
}

/// `gen6_ppgtt_insert_entries`, `set_pp_dir`, `gen6_ppgtt_enable`, `gen6_emit_bb_start`: what the tables of a process say counts
/// for batches in it, and without them such batches are global ones.
#[test]
fn a_batch_of_a_process_has_its_addresses() {
    let bench = Bench::new();
    let own = 0x40_0000;
    // MI_STORE_DATA_IMM without MI_USE_GGTT, MI_BATCH_BUFFER_END.
    let store = |value| [0x1000_0002, 0, own, value, 0x0500_0000, 0];
    let (page, code) = {
        let mut memory = lock(bench.0.memory());
        let pages = memory.alloc_pages(3).unwrap();
        let [table, page, code] = [0, 4096, 8192].map(|at| pages.0 + at);
        // A directory from entry 400h of the global GTT on, whose second entry has the table; in it 40_0000h and 40_1000h.
        memory.gtt_write(0x401, table as u32 | 1);
        for (entry, at) in [(0, page), (1, code)] {
            let entry = PhysAddr(table + 4 * entry);
            memory
                .phys_write_u32(entry, at as u32 | 2 << 1 | 1)
                .unwrap();
        }
        (page, code)
    };
    for (n, dword) in store(5).into_iter().enumerate() {
        let at = PhysAddr(code + 4 * n as u64);
        lock(bench.0.memory()).phys_write_u32(at, dword).unwrap();
    }
    // PP_DIR_DCLV_2G, PP_DIR_BASE in cache lines, GFX_PPGTT_ENABLE.
    bench.write(RENDER + 0x220, u32::MAX);
    bench.write(RENDER + 0x228, (0x400 * 4) << 10);
    bench.write(0x2520, 1 << 25 | 1 << 9);
    bench.run(RENDER, &[0x1880_0100, own + 0x1000]);
    assert!(bench.done(RENDER), "{:x}", bench.read(RENDER + 0x74));
    let memory = lock(bench.0.memory());
    let stored = memory.phys_read_u32(PhysAddr(page)).unwrap();
    drop(memory);
    assert_eq!(stored, 5);
    // Switched off: the global GTT.
    bench.write(0x2520, 1 << 25);
    let store = [0x1000_0002, 0, TARGET, 9, 0x0500_0000, 0];
    bench.put(BATCH, &store);
    bench.run(RENDER, &[0x1880_0100, BATCH]);
    assert_eq!(bench.load(TARGET), 9);
}

/// MI_SEMAPHORE_MBOX | COMPARE | REGISTER | SYNC_BR, seqno - 1 (i915 of Linux 4.9, intel_ringbuffer.c `gen6_ring_sync_to`): the
/// batch on the render ring goes on when the blitter's ring has written GEN6_RBSYNC (`gen6_signal`).
// covers: S-0055
#[test]
fn commands_of_the_streamers_lead_to_batches_and_wait_for_one_another() {
    const RBSYNC: u32 = 0x2044;
    let bench = Bench::new();
    let store = |at, value| [0x1000_0002 | 1 << 22, 0, at, value];
    let wait = [0x0b00_0001 | 1 << 20 | 1 << 18 | 2 << 16, 41, 0];
    let end = [0x0500_0000];
    let (before, after) = (store(TARGET, 5), store(TARGET + 4, 6));
    bench.put(BATCH, &[&before[..], &wait, &after, &end].concat());
    bench.run(RENDER, &[0x1880_0000, BATCH]);
    let stored = || [TARGET, TARGET + 4].map(|at| bench.load(at));
    assert_eq!(stored(), [5, 0]);
    // As much as is waited for is not enough, one more is.
    for (value, expected) in [(41, [5, 0]), (42, [5, 6])] {
        bench.run(BLITTER, &[0x1100_0001, RBSYNC, value, 0]);
        assert_eq!(stored(), expected);
    }
    assert!(bench.done(RENDER));
}

/// MFD_AVC_BSD_OBJECT is 3/2/1/28h and has six dwords (genxml gen6): the video ring parses it and says that there is no decoder; on the
/// other rings it is a mistake.
// covers: S-0058
#[test]
fn commands_of_the_decoder_belong_to_the_video_ring() {
    use crate::core::fault::UnitFault;
    let tables = find("sandybridge").unwrap().tables;
    for (header, name, dwords) in [(0x7128_0004, "MFD_AVC_BSD_OBJECT", 6)] {
        let known = (tables.command)(header).unwrap();
        assert_eq!((known.name, known.dwords(header)), (name, dwords));
        let mut commands = vec![header];
        commands.resize(dwords + dwords % 2, 0);
        for base in [RENDER, VIDEO, BLITTER] {
            let bench = Bench::new();
            bench.run(base, &commands);
            assert!(!bench.done(base));
            let device = bench.0.device();
            let fault = &device.status().faults()[0].fault;
            match fault {
                UnitFault::Unimplemented { what, .. } if base == VIDEO => assert_eq!(*what, name),
                UnitFault::Command { what, .. } if base != VIDEO => {
                    assert!(what.contains("another engine"), "{what}");
                }
                other => panic!("{base:#x}: {other}"),
            }
        }
    }
}

/// Opcodes that mean a command of the codec on the video ring, and one of the media pipeline on the render ring (genxml gen6, and
/// intel-vaapi-driver i965_defines.h for MFX_SURFACE_STATE). Their lengths are in bits 11:0.
// covers: S-0058, S-0060
#[test]
fn an_opcode_means_what_the_ring_says() {
    use crate::core::fault::UnitFault;
    let commands = [
        (0x7000_0002, "MFX_PIPE_MODE_SELECT"),
        (0x7001_0004, "MFX_SURFACE_STATE"),
        (0x7002_0016, "MFX_PIPE_BUF_ADDR_STATE"),
        (0x7003_0009, "MFX_IND_OBJ_BASE_ADDR_STATE"),
        (0x7004_0002, "MFX_BSP_BUF_BASE_ADDR_STATE"),
        (0x7100_000b, "MFX_AVC_IMG_STATE"),
        (0x7102_0043, "MFX_AVC_DIRECTMODE_STATE"),
        (0x7103_0008, "MFX_AVC_SLICE_STATE"),
    ];
    let run = |base, header: u32| {
        let bench = Bench::new();
        let mut words = vec![header];
        words.resize((header as usize & 0xfff).next_multiple_of(2) + 2, 0);
        bench.run(base, &words);
        let device = bench.0.device();
        let fault = device.status().faults().first();
        fault.map(|fault| fault.fault.clone())
    };
    for (header, name) in commands {
        match run(VIDEO, header) {
            Some(UnitFault::Unimplemented { what, unit, .. }) => {
                assert_eq!((what, unit), (name, "VCS"));
            }
            other => panic!("{name}: {other:?}"),
        }
        let said = |base| run(base, header).map_or_else(String::new, |fault| fault.to_string());
        assert!(!said(RENDER).contains("MFX"), "{name}");
        assert!(said(BLITTER).contains("another engine"), "{name}");
    }
    // The whole command is read: one that ends where nothing is mapped is a fault of memory.
    let bench = Bench::new();
    bench.put(CONTEXTS[1] + 0xff8, &[0x7000_0002, 0]);
    bench.run(VIDEO, &[0x1880_0000, CONTEXTS[1] + 0xff8]);
    let device = bench.0.device();
    let fault = &device.status().faults()[0].fault;
    assert!(matches!(fault, UnitFault::Memory(_)), "{fault}");
    drop(device);
    // More dwords than a command can have.
    match run(VIDEO, 0x7000_0fff) {
        Some(UnitFault::Command { what, .. }) => assert!(what.contains("length"), "{what}"),
        other => panic!("{other:?}"),
    }
}

/// `i965_write_fence_reg` of generation 6 at 100000h; timestamps count 80 ns.
#[test]
fn fences_and_timestamps_have_their_own_units() {
    let bench = Bench::new();
    bench.write(0x10_0000, TARGET | 3);
    // 128 bytes a row, less one unit of 128: 0.
    bench.write(0x10_0004, TARGET);
    assert_eq!(bench.read(0x10_0000), TARGET | 3);
    // Within 128 bytes a row, row 1 of a tile in columns of 16 bytes is 16 bytes on.
    let (at, _) = lock(bench.0.memory()).aperture_resolve(TARGET + 128);
    assert_eq!(at, (TARGET + 16).into());
    // 80 microseconds at 650 MHz are 1000 counts.
    let device = find("sandybridge").unwrap();
    assert_eq!(device.timestamp.at(u64::from(device.core_mhz) * 80), 1000);
}

/// Parts with one and two slices of EUs (i915_pciids.h, `INTEL_SNB_*_GT1_IDS` and `GT2_IDS`) have 32 and 64 KB, in rows of 32 bytes.
// covers: S-0077
#[test]
fn the_urb_has_two_sizes() {
    let kilobytes = |id: u16| {
        let mut devices = crate::intel::r#gen::gen60::DEVICES.iter();
        let device = devices.find(|device| device.pci == (0x8086, id)).unwrap();
        u32::from(device.urb_rows) * 32 / 1024
    };
    assert_eq!([0x0102, 0x0106].map(kilobytes), [32; 2]);
    assert_eq!([0x0112, 0x0116, 0x0122, 0x0126].map(kilobytes), [64; 4]);
}

/// MI_SET_CONTEXT with MI_MM_SPACE_GTT, MI_SAVE_EXT_STATE_EN and MI_RESTORE_EXT_STATE_EN; the first time with
/// MI_RESTORE_INHIBIT (i915 gt/intel_gpu_commands.h).
fn set_context(number: usize, first: bool) -> [u32; 2] {
    [
        0x18 << 23,
        CONTEXTS[number] | 1 << 8 | 1 << 3 | 1 << 2 | u32::from(first),
    ]
}

/// State of two programs by genxml gen6, each command another, and a counter (IA_VERTICES_COUNT, i915 i915_reg.h).
fn state_of(number: u32) -> Vec<Vec<u32>> {
    let at = number * 0x1_0000;
    vec![
        vec![0x1100_0001, 0x2310, 70 + number],
        vec![0x6904_0000],
        vec![
            0x6101_0008,
            1,
            0x0011_2001 + at,
            0x0021_2001 + at,
            1,
            0x0010_4001 + at,
            0xffff_f001,
            0x0070_0001 + at,
            0xffff_f001,
            0xffff_f001,
        ],
        // VS, GS and PS tables, all of them changed.
        vec![0x7801_1302, 0x20 + at, 0x40 + at, 0x60 + at],
        vec![0x7802_1302, 0x120 + at, 0x140 + at, 0x160 + at],
        vec![0x7805_0001, 0x0100 - number, 0],
        // Blending, depth and stencil, colour calculator: each with its change bit.
        vec![0x780e_0002, 0xc1 + at, 0x141 + at, 0x101 + at],
        vec![0x7810_0004, 0x40 + at, 0, 0, 0x0010_0800, 0x7800_0401],
        vec![0x7900_0002, number, 0x00ff_00ff - number, 0],
        vec![0x790d_0001, number, 0],
    ]
}

/// The context image of the model is the commands that set the state again; whatever is set has its place there, also
/// when two programs take turns command by command.
#[test]
fn images_of_two_contexts_hold_what_each_has_set() {
    let bench = Bench::new();
    let programs = [state_of(0), state_of(1)];
    let commands = programs[0].len();
    for turn in 0..commands {
        for (number, program) in programs.iter().enumerate() {
            let mut ring = set_context(number, turn == 0).to_vec();
            ring.extend(&program[turn]);
            ring.resize(ring.len().next_multiple_of(2), 0);
            bench.run(RENDER, &ring);
            assert!(bench.done(RENDER));
        }
        // A batch that hangs, and the reset of the render engine: what is current is lost, the images stay.
        if turn == 4 {
            bench.run(RENDER, &set_context(0, false));
            bench.run(RENDER, &[0x7fff_0000, 0]);
            assert!(!bench.done(RENDER));
            bench.write(0x941c, 1 << 1);
        }
    }
    // Blending's pointer alone, as a program that changes one; and both images are written.
    let mut ring = set_context(0, false).to_vec();
    ring.extend([0x780e_0002, 0x1c1, 0, 0]);
    ring.extend(set_context(1, false));
    ring.extend(set_context(0, false));
    bench.run(RENDER, &ring);
    assert!(bench.done(RENDER));
    let mut expected = programs.clone();
    expected[0][6] = vec![0x780e_0002, 0x1c1, 0x141, 0x101];
    for (number, expected) in expected.iter().enumerate() {
        let image: Vec<u32> = (0..1024)
            .map(|n| bench.load(CONTEXTS[number] + 4 * n))
            .collect();
        let end = image.iter().position(|word| *word == 0x0500_0000).unwrap();
        let image = &image[..end];
        // Registers first, in one MI_LOAD_REGISTER_IMM; then the pipeline and the bases.
        assert_eq!(image[0] >> 23, 0x22);
        let pairs = (image[0] as usize & 0xff).div_ceil(2);
        let mut registers = image[1..].chunks_exact(2).take(pairs);
        assert!(registers.any(|pair| *pair == expected[0][1..]), "{number}");
        let behind = &image[1 + pairs * 2..];
        assert_eq!(behind[..1], expected[1]);
        assert_eq!(behind[1..11], expected[2]);
        for command in &expected[3..] {
            let times = behind.windows(command.len()).filter(|at| at == command);
            assert_eq!(times.count(), 1, "{number}: {command:x?} in {behind:x?}");
        }
    }
}

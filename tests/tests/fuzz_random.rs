//! Random bytes as batches and as kernels: faults or nothing, no panic, no hang.
//!
//! No PRM chapter. Seeds are printed and fixed, so that every run is the same. CRESTLINE_FUZZ_MILLIONS sets how many
//! million commands and instructions each test executes; CRESTLINE_FUZZ_SEED sets another seed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::sync::Arc;

use crestline_cli::capture::Capture;
use crestline_tests::random::Random;
use crestline_tests::scenes::capture;
use driver::{BatchDesc, Device, Driver, Object, Tiling};
use kernel::platform::Platform;
use kernel::time::Delta;
use mmio_mock::ModelPlatform;
use regs::gen40;

/// Executed commands or instructions in the normal suite.
const NORMAL: u64 = 200_000;
/// Device time of a batch of commands: 25 000 clocks.
const SHORT: Delta = Delta::from_micros(50);
/// Device time of a frame; most need half of that.
const FRAME: Delta = Delta::from_millis(1);
/// Iterations before a fresh device, because a batch may have rewritten GTT and registers.
const LIFETIME: u32 = 200;
const BATCH: u32 = 0x0010_0000;
const DATA: u32 = 0x0020_0000;
const DATA_BYTES: usize = 1 << 16;

fn goal() -> u64 {
    match std::env::var("CRESTLINE_FUZZ_MILLIONS") {
        Ok(millions) => millions.parse::<u64>().expect("a number") * 1_000_000,
        Err(_) => NORMAL,
    }
}

fn seed(default: u64) -> u64 {
    let seed =
        std::env::var("CRESTLINE_FUZZ_SEED").map_or(default, |s| s.parse().expect("a number"));
    println!("seed {seed}");
    seed
}

struct Fuzz {
    platform: Arc<ModelPlatform>,
    device: Device,
    objects: Vec<Object>,
    counted: u64,
}

impl Fuzz {
    fn new() -> Self {
        let info = mmio_mock::r#gen::find("gm965").unwrap();
        let platform = ModelPlatform::new(info, 16 << 20);
        let device = Driver::probe(Arc::clone(&platform) as Arc<dyn Platform>).unwrap();
        Fuzz {
            platform,
            device,
            objects: Vec::new(),
            counted: 0,
        }
    }

    fn object(&mut self, address: u32, bytes: usize) -> usize {
        let object = self.device.create_object(bytes, Tiling::None, 0).unwrap();
        self.device.bind_at(&object, address).unwrap();
        self.objects.push(object);
        self.objects.len() - 1
    }

    /// Runs a batch, and resets the device when it did not end; returns what was executed, and
    /// whether the device can be used further.
    fn run(&mut self, batch: usize, len: u32, time: Delta) -> (u64, bool) {
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
        let activity = self.platform.device().status().activity;
        // A header that is refused was executed as far as it goes.
        let counted =
            activity.commands + activity.instructions.iter().sum::<u64>() + u64::from(!ended);
        let new = counted.saturating_sub(self.counted).max(1);
        self.counted = activity.commands + activity.instructions.iter().sum::<u64>();
        (new, usable)
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
fn operand(random: &mut Random) -> u32 {
    match random.below(8) {
        0 | 1 => DATA + random.below(DATA_BYTES as u32),
        2 => BATCH + random.below(4096),
        3 => random.below(256),
        4 => random.next_u32() & 0x001f_001f,
        _ => random.next_u32(),
    }
}

/// A command with a good header and random operands.
fn command(random: &mut Random, words: &mut Vec<u32>) {
    let all = &gen40::COMMANDS;
    let desc = &all[random.below(all.len() as u32) as usize];
    let free = random.next_u32() & !desc.mask;
    // Half of the time the length field is that of the shortest form.
    let header = if random.below(2) == 0 {
        desc.value | (free & !0xff) | desc.min_dwords.saturating_sub(2)
    } else {
        desc.value | free
    };
    words.push(header);
    for _ in 1..desc.dwords(header).min(64) {
        words.push(operand(random));
    }
}

fn fuzz_batches(name: &str, seed: u64, fill: impl Fn(&mut Random, &mut Vec<u32>)) {
    let mut random = Random(seed);
    let (mut executed, mut batches, goal) = (0, 0u64, goal());
    while executed < goal {
        let mut fuzz = Fuzz::new();
        let batch = fuzz.object(BATCH, 4096);
        let data = fuzz.object(DATA, DATA_BYTES);
        let noise: Vec<u32> = (0..DATA_BYTES / 4).map(|_| random.next_u32()).collect();
        fuzz.objects[data].write_dwords(0, &noise).unwrap();
        for _ in 0..LIFETIME {
            let mut words = Vec::new();
            while words.len() < 250 {
                fill(&mut random, &mut words);
            }
            words.truncate(1022);
            words.extend([0x0a << 23, 0]);
            fuzz.objects[batch].write_dwords(0, &words).unwrap();
            let (new, usable) = fuzz.run(batch, 4096, SHORT);
            executed += new;
            batches += 1;
            if !usable || executed >= goal {
                break;
            }
        }
        fuzz.finish();
    }
    println!("{name}: {executed} commands and instructions in {batches} batches");
}

#[test]
fn random_dwords_as_batch() {
    let mut random = Random(seed(1));
    let (mut executed, goal) = (0, goal());
    while executed < goal {
        let mut fuzz = Fuzz::new();
        let batch = fuzz.object(BATCH, 4096);
        for _ in 0..2000 {
            let words: Vec<u32> = (0..64).map(|_| random.next_u32()).collect();
            fuzz.objects[batch].write_dwords(0, &words).unwrap();
            let (new, usable) = fuzz.run(batch, 256, SHORT);
            executed += new;
            if !usable || executed >= goal {
                break;
            }
        }
        fuzz.finish();
    }
    println!("random dwords: {executed} commands");
}

#[test]
fn random_commands_as_batch() {
    fuzz_batches("random commands", seed(2), command);
}

/// A captured frame whose kernels, state or commands are damaged over and over.
struct Victim {
    capture: Capture,
    fuzz: Fuzz,
}

impl Victim {
    fn new(scene: &str) -> Self {
        let capture = capture(scene);
        let mut fuzz = Fuzz::new();
        for buffer in &capture.execs[0].buffers {
            // Vertex uploads of 1 MiB hold some bytes alone.
            let index = fuzz.object(buffer.address, buffer.size as usize);
            fuzz.objects[index].write(0, &buffer.data).unwrap();
        }
        Victim { capture, fuzz }
    }

    fn restore(&self, index: usize) {
        let data = &self.capture.execs[0].buffers[index].data;
        self.fuzz.objects[index].write(0, data).unwrap();
    }
}

/// Damages buffer `index` of a scene before every run.
fn fuzz_frames(
    scene: &str,
    index: usize,
    (seed, goal): (u64, u64),
    damage: impl Fn(&mut Random, &Victim),
) {
    let mut random = Random(seed);
    let (mut executed, mut frames) = (0, 0u64);
    while executed < goal {
        let mut victim = Victim::new(scene);
        let exec = victim.capture.execs[0].clone();
        for _ in 0..LIFETIME {
            victim.restore(index);
            damage(&mut random, &victim);
            let (new, usable) = victim.fuzz.run(exec.batch, exec.batch_len, FRAME);
            executed += new;
            frames += 1;
            if !usable || executed >= goal {
                break;
            }
        }
        victim.fuzz.finish();
    }
    println!("{scene} buffer {index}: {executed} commands and instructions in {frames} frames");
}

/// Writes random instructions over the program cache; some keep a real opcode.
fn random_kernel(random: &mut Random, victim: &Victim, index: usize) {
    let length = victim.capture.execs[0].buffers[index].data.len();
    let opcodes = [
        0x01, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0c, 0x10, 0x20, 0x22, 0x24, 0x25, 0x26,
        0x27, 0x28, 0x29, 0x2d, 0x31, 0x32, 0x40, 0x41, 0x42, 0x45, 0x48, 0x54, 0x57, 0x7e,
    ];
    let words: Vec<u32> = (0..length / 16)
        .flat_map(|_| {
            let mut inst = [0; 4].map(|_: u32| random.next_u32());
            if random.below(4) > 0 {
                let opcode = opcodes[random.below(opcodes.len() as u32) as usize];
                // No debug control; execution size of at most 16.
                inst[0] = inst[0] & 0x1f9f_ff80 | opcode | random.below(5) << 21;
            }
            inst
        })
        .collect();
    victim.fuzz.objects[index].write_dwords(0, &words).unwrap();
}

/// Flips a few bits. Most of the frame stays whole, so that a test needs many instructions.
fn flip(random: &mut Random, victim: &Victim, index: usize) {
    let data = &victim.capture.execs[0].buffers[index].data;
    for _ in 0..=random.below(4) {
        let at = random.below(data.len() as u32) as usize;
        let byte = [data[at] ^ 1 << random.below(8)];
        victim.fuzz.objects[index].write(at, &byte).unwrap();
    }
}

#[test]
fn random_bytes_as_kernels() {
    fuzz_frames("b_flat", 3, (seed(3), goal()), |random, victim| {
        random_kernel(random, victim, 3);
    });
}

#[test]
fn random_bytes_as_texturing_kernels() {
    fuzz_frames("d_tex_nearest", 3, (seed(4), goal()), |random, victim| {
        random_kernel(random, victim, 3);
    });
}

#[test]
fn flipped_bits_in_kernels() {
    fuzz_frames(
        "d_tex_nearest",
        3,
        (seed(5), 40 * goal()),
        |random, victim| {
            flip(random, victim, 3);
        },
    );
}

#[test]
fn flipped_bits_in_state() {
    fuzz_frames(
        "k_stencil_scissor",
        2,
        (seed(6), 40 * goal()),
        |random, victim| {
            flip(random, victim, 2);
        },
    );
}

#[test]
fn flipped_bits_in_batches() {
    fuzz_frames("g_gears", 0, (seed(7), 40 * goal()), |random, victim| {
        flip(random, victim, 0);
    });
}

//! The example kernels on the media pipeline, against the host.
//!
//! Everything has to be equal to the last bit, for every size and every order of the threads.

mod host;

use std::path::PathBuf;

use crestline_cli::media::{Format, Job, Outcome, Shape, Source, Surface, View};
use fastrand::Rng;
use isa::Verx10;
use mmio_mock::intel::td::schedule::{Order, Schedule};

/// Sizes of images: whole blocks, odd ones, and a picture of today.
const SIZES: [(u32, u32); 8] = [
    (16, 16),
    (17, 19),
    (31, 16),
    (64, 64),
    (113, 57),
    (640, 361),
    (1919, 1079),
    (1920, 1080),
];

fn orders() -> Vec<Schedule> {
    let random = |seed| Schedule::new(Order::Random(seed));
    vec![
        Schedule::new(Order::Ascending),
        Schedule::new(Order::Descending),
        random(1),
        random(2),
        random(0xdead_beef_cafe),
    ]
}

fn kernel(name: &str, generation: Verx10) -> Source {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../examples/kernels").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let program = isa::parse::assemble(generation, name, &text).unwrap();
    Source {
        name: name.to_owned(),
        program,
    }
}

fn job(kernel_name: &str, surfaces: Vec<Surface>, grid: (u32, u32), constants: &[u32]) -> Job {
    Job {
        kernels: vec![kernel(kernel_name, Verx10::GEN40)],
        surfaces,
        grid,
        constants: constants.to_vec(),
        ..Job::new(mmio_mock::intel::r#gen::find("gm965").unwrap())
    }
}

fn run(job: &mut Job) -> Outcome {
    let outcome = job.run().unwrap();
    assert_eq!(outcome.fault, None, "order {}", job.schedule);
    outcome
}

fn image(width: u32, height: u32, bytes: Vec<u8>) -> Surface {
    Surface {
        name: "image".into(),
        view: View::Image(Shape {
            width,
            height,
            format: Format::R8,
        }),
        bytes,
    }
}

fn buffer(size: usize, bytes: Vec<u8>) -> Surface {
    Surface {
        name: "buffer".into(),
        view: View::Buffer(size),
        bytes,
    }
}

/// Bytes that are the same each time.
fn noise(count: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; count];
    Rng::with_seed(seed).fill(&mut bytes);
    bytes
}

/// Grid of blocks over an image.
fn blocks(width: u32, height: u32, block: (u32, u32)) -> (u32, u32) {
    (width.div_ceil(block.0), height.div_ceil(block.1))
}

/// Threads of 128 bytes each.
fn lines(bytes: usize) -> (u32, u32) {
    (bytes.div_ceil(128) as u32, 1)
}

fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|b| u32::from_le_bytes(*b))
        .collect()
}

#[test]
fn fill() {
    for (width, height) in SIZES {
        let size = (width * height) as usize;
        let value = 0x8123_4567u32;
        let mut job = job(
            "fill.asm",
            vec![buffer(size, Vec::new())],
            lines(size),
            &[value],
        );
        let outcome = run(&mut job);
        let expected: Vec<u8> = value.to_le_bytes().into_iter().cycle().take(size).collect();
        assert!(job.surfaces[0].bytes == expected, "{width}x{height}");
        let threads = size.div_ceil(128) as u64;
        assert_eq!(outcome.report.activity.threads.iter().sum::<u64>(), threads);
        // A write, and the end.
        assert_eq!(
            (outcome.messages[5], outcome.messages[7]),
            (threads, threads)
        );
    }
}

#[test]
fn copy() {
    for (width, height) in SIZES {
        let size = (width * height) as usize;
        let bytes = noise(size, width.into());
        let surfaces = vec![buffer(size, bytes.clone()), buffer(size, Vec::new())];
        let mut job = job("copy.asm", surfaces, lines(size), &[]);
        run(&mut job);
        assert!(job.surfaces[1].bytes == bytes, "{width}x{height}");
        assert!(job.surfaces[0].bytes == bytes, "the input changed");
    }
}

fn blur_job(width: u32, height: u32) -> Job {
    let bytes = noise((width * height) as usize, width.into());
    let surfaces = vec![
        image(width, height, bytes),
        image(width, height, Vec::new()),
    ];
    job("blur.asm", surfaces, blocks(width, height, (16, 8)), &[])
}

#[test]
fn blur() {
    for (width, height) in SIZES {
        let mut job = blur_job(width, height);
        let expected = host::blur(width, height, &job.surfaces[0].bytes);
        run(&mut job);
        assert!(job.surfaces[1].bytes == expected, "{width}x{height}");
    }
}

/// A frame and the one before it: most of it has moved by (3, -2), and all of it is noisy.
fn motion_job(width: u32, height: u32) -> Job {
    let (w, h) = (width as usize, height as usize);
    let before = noise(w * h, width.into());
    let grain = noise(w * h, height.into());
    let frame = (0..w * h)
        .map(|i| {
            let (x, y) = (i % w, i / w);
            let moved = before[(y + h - 2) % h * w + (x + 3) % w];
            moved.saturating_add(grain[i] & 3)
        })
        .collect();
    let grid = blocks(width, height, (16, 16));
    let vectors = (grid.0 * grid.1 * 16) as usize;
    let surfaces = vec![
        image(width, height, frame),
        image(width, height, before),
        buffer(vectors, Vec::new()),
    ];
    job("motion.asm", surfaces, grid, &[])
}

#[test]
fn motion() {
    for (width, height) in SIZES {
        let mut job = motion_job(width, height);
        let [frame, before] = [0, 1].map(|i: usize| job.surfaces[i].bytes.clone());
        run(&mut job);
        let found = dwords(&job.surfaces[2].bytes);
        let expected = host::motion(width, height, &frame, &before);
        for (block, (found, expected)) in found.chunks(4).zip(expected.chunks(4)).enumerate() {
            assert_eq!(found, expected, "{width}x{height}, block {block}");
        }
        assert_eq!(found.len(), expected.len());
    }
}

/// Each of the root threads adds up a part of the buffer.
fn reduce_job(size: usize, roots: u32) -> Job {
    let all = size.div_ceil(128) as u32;
    let surfaces = vec![
        buffer(size, noise(size, 99)),
        buffer(roots as usize * 16, Vec::new()),
    ];
    Job {
        children: true,
        ..job("reduce.asm", surfaces, (roots, 1), &[all.div_ceil(roots)])
    }
}

#[test]
fn reduce() {
    for (width, height) in SIZES {
        // Dwords of the image's bytes, whole ones.
        let size = (width * height) as usize / 4 * 4;
        for roots in [1, 7] {
            let mut job = reduce_job(size, roots);
            let outcome = run(&mut job);
            let share = job.constants[0] as usize * 32;
            let expected = host::sums(&dwords(&job.surfaces[0].bytes), share, roots as usize);
            let found = dwords(&job.surfaces[1].bytes);
            assert_eq!(found, expected, "{width}x{height}, {roots} roots");
            // Each root has four children, and each of those four.
            let threads = outcome.report.activity.threads.iter().sum::<u64>();
            assert_eq!(threads, 21 * u64::from(roots));
        }
    }
}

fn ring_job(children: u32, laps: u32, token: u32) -> Job {
    Job {
        children: true,
        ..job(
            "ring.asm",
            vec![buffer(16, Vec::new())],
            (1, 1),
            &[children, laps, token],
        )
    }
}

#[test]
fn ring() {
    for (children, laps, token) in [(1, 1, 0), (2, 1, 7), (5, 3, 1), (16, 100, 0xffff_fff0)] {
        let mut job = ring_job(children, laps, token);
        let outcome = run(&mut job);
        let found = dwords(&job.surfaces[0].bytes);
        let expected = host::token(children, laps, token);
        assert_eq!(found, [expected, laps, 0, 0], "{children} children");
        let threads = outcome.report.activity.threads.iter().sum::<u64>();
        assert_eq!(threads, u64::from(children) + 1);
    }
}

/// No order of the threads changes a result.
#[test]
fn every_order_has_the_same_results() {
    let jobs = [
        blur_job(113, 57),
        motion_job(65, 33),
        reduce_job(40_000, 5),
        ring_job(11, 9, 5),
        job(
            "copy.asm",
            vec![buffer(10_001, noise(10_001, 3)), buffer(10_001, Vec::new())],
            lines(10_001),
            &[],
        ),
    ];
    for original in jobs {
        let mut first: Option<Vec<Surface>> = None;
        for schedule in orders() {
            let mut job = original.clone();
            job.schedule = schedule;
            run(&mut job);
            let same = first.get_or_insert_with(|| job.surfaces.clone());
            assert!(
                *same == job.surfaces,
                "{}: order {schedule} changes the result",
                job.kernels[0].name
            );
        }
    }
}

/// The same job twice is the same to the tick.
#[test]
fn runs_repeat() {
    for schedule in orders() {
        let run = || {
            let mut job = ring_job(6, 4, 2);
            job.schedule = schedule;
            job.trace = Some(1 << 20);
            let outcome = run(&mut job);
            (outcome.report, outcome.trace, outcome.messages)
        };
        assert!(run() == run(), "order {schedule}");
    }
}

/// A job on another device, its kernels assembled for it.
fn on(device: &str, mut job: Job) -> Job {
    job.device = mmio_mock::intel::r#gen::find(device).unwrap();
    for source in &mut job.kernels {
        let text = match device {
            "sandybridge" => format!("sandybridge/{}", source.name),
            _ => source.name.clone(),
        };
        *source = kernel(&text, job.device.isa);
    }
    job
}

/// Later devices run the same kernels, whose messages they say in other words. Those of Sandy Bridge have a text of their own.
#[test]
fn later_devices() {
    for device in ["g45", "ironlake", "sandybridge"] {
        for (width, height) in [(17, 19), (113, 57)] {
            let place = format!("{device}, {width}x{height}");
            let size = (width * height) as usize;

            let bytes = noise(size, 5);
            let surfaces = vec![buffer(size, bytes.clone()), buffer(size, Vec::new())];
            let mut copy = on(device, job("copy.asm", surfaces, lines(size), &[]));
            run(&mut copy);
            assert!(copy.surfaces[1].bytes == bytes, "copy on {place}");

            let mut blur = on(device, blur_job(width, height));
            let expected = host::blur(width, height, &blur.surfaces[0].bytes);
            run(&mut blur);
            assert!(blur.surfaces[1].bytes == expected, "blur on {place}");

            let mut motion = on(device, motion_job(width, height));
            let [frame, before] = [0, 1].map(|i: usize| motion.surfaces[i].bytes.clone());
            run(&mut motion);
            let expected = host::motion(width, height, &frame, &before);
            let found = dwords(&motion.surfaces[2].bytes);
            assert_eq!(found, expected, "motion on {place}");

            let mut reduce = on(device, reduce_job(size / 4 * 4, 7));
            run(&mut reduce);
            let share = reduce.constants[0] as usize * 32;
            let expected = host::sums(&dwords(&reduce.surfaces[0].bytes), share, 7);
            let found = dwords(&reduce.surfaces[1].bytes);
            assert_eq!(found, expected, "reduce on {place}");
        }
        let (children, laps, token) = (5, 3, 1);
        let mut ring = on(device, ring_job(children, laps, token));
        run(&mut ring);
        let found = dwords(&ring.surfaces[0].bytes);
        let expected = host::token(children, laps, token);
        assert_eq!(found, [expected, laps, 0, 0], "ring on {device}");
    }
}

/// What is bound is checked against the messages of each device.
#[test]
fn surfaces_that_messages_want() {
    for device in ["gm965", "g45", "ironlake", "sandybridge"] {
        let mut blur = on(device, blur_job(32, 32));
        blur.surfaces.truncate(1);
        let error = blur.check().unwrap_err().to_string();
        assert!(error.contains("surface 1"), "{device}: {error}");
        let mut blur = on(device, blur_job(32, 32));
        blur.surfaces[0] = buffer(1024, Vec::new());
        let error = blur.check().unwrap_err().to_string();
        assert!(error.contains("an image"), "{device}: {error}");
    }
}

//! Waves of pixel threads: what they read, and what they meet at the end of memory.
//!
//! PRM: volume 4, 5.10.5, 2.6.11. Each frame is drawn with workers and without; frames of applications are compared by
//! `workers_change_nothing`.

use crestline_tests::scene::draw::{Draw, places};
use crestline_tests::scene::surface::buffer;
use crestline_tests::scene::{Scene, kernels};
use driver::Object;
use kernel::time::Delta;
use mmio_mock::intel::device::Device;
use mmio_mock::intel::td::wave::Ran;

const SIZE: u32 = 64;
const WORKERS: usize = 3;
/// Elements of 16 bytes of the buffer that threads read.
const ELEMENTS: u32 = 1024;

/// Two triangles that cover the target.
fn everywhere() -> Vec<[f32; 8]> {
    let size = SIZE as f32;
    let (a, c) = ([0.0, size], [size, 0.0]);
    places(&[[0.0, 0.0], a, c, c, a, [size, size]])
}

/// How threads ran.
fn ran(scene: &Scene) -> Ran {
    scene.rig.platform.device().done_by_engine().ran
}

/// An object of [`ELEMENTS`] elements, in which an entry is the part of its number in 256.
fn numbers(scene: &mut Scene) -> Object {
    let object = scene.object(ELEMENTS as usize * 16);
    let value = |n: u32| ((n % 256) as f32 / 255.0).to_bits();
    let bytes = (0..ELEMENTS * 4).flat_map(|n| value(n).to_le_bytes());
    object.write(0, &bytes.collect::<Vec<u8>>()).unwrap();
    object
}

/// What the threads of [`gathered`] read.
#[derive(Clone, Copy)]
enum From {
    /// So many elements.
    Elements(u32),
    /// The target itself.
    Target,
}

/// What a frame leaves behind.
struct Found {
    pixels: Vec<u32>,
    threads: Ran,
    /// Bytes that were read past the end of the buffer.
    past: u64,
}

fn gathered(workers: usize, from: From) -> Found {
    let mut scene = Scene::new();
    scene.rig.platform.device().set_workers(workers);
    let target = scene.target(SIZE, SIZE);
    let input = numbers(&mut scene);
    let mut draw = Draw::flat(target.state());
    draw.wm_kernel = kernels::wm_gather16();
    draw.surfaces.push(match from {
        From::Elements(count) => buffer(input.address().unwrap(), count),
        From::Target => buffer(draw.surfaces[0].surface_base_address(), ELEMENTS),
    });
    scene.vertices(&mut draw, &everywhere());
    draw.topology(4, 6);
    scene.draw(&draw);
    scene.run();
    let past = |device: &Device| device.outside().get(&1).map_or(0, |past| past.reads);
    let past = past(&scene.rig.platform.device());
    let found = Found {
        pixels: target.words(),
        threads: ran(&scene),
        past,
    };
    drop((target, input));
    scene.finish();
    found
}

/// Few threads run once more: the first that wants the target, that wants the buffer, and that comes to the last rows.
#[test]
fn threads_that_read_a_buffer_run_with_others() {
    let from = From::Elements(ELEMENTS);
    let (alone, together) = (gathered(0, from), gathered(WORKERS, from));
    for y in 0..SIZE {
        for x in 0..SIZE {
            // The kernel counts rows of 32.
            let red = (y * 32 + x) % 256;
            let green = if y < 48 { 0xff } else { 0 };
            let want = 0xff00_00ff | red << 16 | green << 8;
            assert_eq!(alone.pixels[(y * SIZE + x) as usize], want, "{x} {y}");
        }
    }
    assert!(alone.pixels == together.pixels, "the pictures differ");
    assert_eq!((alone.threads.waves, together.past), (0, 0));
    let threads = together.threads;
    assert!(threads.waves > 100 && threads.again < 12, "{threads:?}");
}

/// The device counts what lies past the end of a buffer.
#[test]
fn threads_that_read_past_the_end_are_counted() {
    let from = From::Elements(16);
    let (alone, together) = (gathered(0, from), gathered(WORKERS, from));
    // Two rows of 32 entries are inside.
    assert_eq!(alone.pixels[SIZE as usize + 31], 0xff3f_ffff);
    assert_eq!(alone.pixels[(2 * SIZE) as usize], 0xff00_ffff);
    assert!(alone.pixels == together.pixels, "the pictures differ");
    assert!(together.threads.waves > 100 && alone.past > 10_000);
    assert_eq!(alone.past, together.past);
}

/// Threads read what those before them have written into the same buffer.
#[test]
fn threads_that_read_their_target_run_alone() {
    let (alone, together) = (gathered(0, From::Target), gathered(WORKERS, From::Target));
    assert!(alone.pixels == together.pixels, "the pictures differ");
    assert_eq!(together.threads.waves, 0);
}

/// The target ends in the middle: what came before is in the picture, and the error state is the same.
#[test]
fn a_target_that_ends_early_stops_a_wave_at_its_place() {
    const BASE: u32 = 0x0700_0000;
    const BYTES: usize = 8192;
    let drawn = |workers| {
        let mut scene = Scene::new();
        scene.rig.platform.device().set_workers(workers);
        let whole = scene.target(SIZE, SIZE);
        let part = scene.rig.object(BASE, BYTES, &[]);
        let input = numbers(&mut scene);
        let mut draw = Draw::flat(whole.state());
        draw.surfaces[0].set_surface_base_address(BASE);
        draw.wm_kernel = kernels::wm_gather16();
        draw.surfaces
            .push(buffer(input.address().unwrap(), ELEMENTS));
        scene.vertices(&mut draw, &everywhere());
        draw.topology(4, 6);
        scene.draw(&draw);
        let report = scene.hang(Delta::from_millis(2));
        let mut pixels = vec![0; BYTES];
        part.read(0, &mut pixels).unwrap();
        let threads = ran(&scene).waves;
        drop((whole, part, input));
        scene.finish_after_fault();
        (pixels, report, threads)
    };
    let (alone, together) = (drawn(0), drawn(WORKERS));
    assert!(alone.1.contains("PGTBL_ER"), "{}", alone.1);
    assert_eq!(alone.1, together.1);
    assert!(alone.0.iter().any(|&byte| byte != 0));
    assert!(alone.0 == together.0, "the pictures differ");
    assert!(together.2 > 0);
}

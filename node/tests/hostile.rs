//! Clients that hang, send garbage and die do not disturb another one.
//!
//! The pictures are those of a node that serves nobody else. Not covered: batches that write where other
//! clients' objects are, which one address space for all does not prevent (PRM volume 1, global GTT).

use crate::support::{self, DEVICES};

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use kernel::time::Delta;

use crate::support::frame::{Frame, Party};
use crate::support::random::Random;

const PATIENCE: Duration = Duration::from_secs(20);
/// `jmpi -1` of intel-gen4asm, which counts from the instruction behind: an endless loop.
const JMPI_SELF: [u32; 4] = [0x0000_0020, 0x3400_1c00, 0x0000_1400, 0xffff_ffff];
const BATCH_END: u32 = 0x0a << 23;
const UNKNOWN: u32 = 0x7fff_0000;

fn undisturbed(device: &str, frame: &Frame) -> Vec<Vec<u8>> {
    let (node, name) = support::start_on(device);
    node.first()
        .device()
        .set_hang_check_period(Delta::from_millis(500));
    Party::new(&name).draw(frame)
}

/// A frame with an endless loop: on the first device in the pixel shader of its second draw (crocus's decode: 0c0h of the
/// shader buffer), on later ones, whose jumps count differently, in its batch.
fn endless(device: &str) -> Frame {
    let mut frame = Frame::read_of(device, "b_flat");
    if device != DEVICES[0] {
        return frame.that_jumps_for_ever();
    }
    for (i, word) in JMPI_SELF.iter().enumerate() {
        frame.buffers[3].data[0xc0 + i * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
    frame
}

/// A frame with bits of its state and shaders turned over, but for addresses and what says how far surfaces reach.
fn garbled(frame: &Frame, random: &mut Random) -> Frame {
    let mut frame = frame.clone();
    for buffer in &mut frame.buffers {
        for _ in 0..=random.below(12) {
            let words = buffer.data.len() / 4;
            if words == 0 {
                break;
            }
            let at = random.below(words) * 4;
            let address =
                |r: &(u64, u32, u32, u32, u32)| (r.0..r.0 + 28).contains(&(at as u64 + 8));
            if !buffer.relocations.iter().any(address) {
                buffer.data[at + random.below(4)] ^= 1 << random.below(8);
            }
        }
    }
    frame
}

/// Commands of the 3D pipeline that nobody meant, and some that do not exist.
fn noise(random: &mut Random) -> Vec<u8> {
    let mut words = vec![BATCH_END; 16384];
    let length = 8 + random.below(56);
    for word in words.iter_mut().take(length) {
        *word = match random.below(4) {
            // 3DSTATE_*, with lengths as they come.
            0 => 0x7800_0000 | random.next() & 0x010f_0007,
            1 => UNKNOWN | random.next() & 0xff,
            2 => random.next() & 0xffff,
            _ => 0,
        };
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A thread at work, until it ends, however.
struct AtWork<'a>(&'a AtomicU32);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[test]
fn neighbours_that_hang_send_garbage_and_die_leave_a_picture_exact() {
    DEVICES.into_iter().for_each(neighbours);
}

fn neighbours(device: &str) {
    let scenes = ["g_gears", "d_tex_nearest", "k_stencil_scissor"];
    let frames = scenes.map(|scene| Frame::read_of(device, scene));
    let expected = frames.each_ref().map(|frame| undisturbed(device, frame));
    let (node, name) = support::start_on(device);
    let begun = Instant::now();
    let at_work = AtomicU32::new(3);
    let drawn = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let (at_work, name, frames) = (&at_work, &name, &frames);
        let busy = move |work: &dyn Fn()| {
            let _end = AtWork(at_work);
            work();
        };
        scope.spawn(move || {
            busy(&|| {
                let frame = endless(device);
                for _ in 0..2 {
                    // Clients that hang often get no more contexts: a new one each time.
                    let party = Party::new(name);
                    let handles = party.load(&frame);
                    assert_eq!(party.submit(&frame, &handles), 0);
                    assert_eq!(party.wait(handles[0], -1), 0);
                }
            });
        });
        scope.spawn(move || {
            busy(&|| {
                let mut random = Random::new(device.len() as u64);
                for round in 0..8 {
                    let party = Party::new(name);
                    let frame = garbled(&frames[round % frames.len()], &mut random);
                    let handles = party.load(&frame);
                    party.submit(&frame, &handles);
                    let batch = party.create(1 << 16);
                    party.write(batch, &noise(&mut random));
                    party.run(batch);
                    assert_eq!(party.wait(batch, -1), 0);
                }
            });
        });
        scope.spawn(move || {
            busy(&|| {
                let hanging = endless(device);
                for round in 0..6_usize {
                    let party = Party::new(name);
                    let frame = &frames[round % frames.len()];
                    let handles = party.load(frame);
                    let loops = (round % 5 == 0).then(|| party.load(&hanging));
                    for _ in 0..4 {
                        party.submit(frame, &handles);
                    }
                    if let Some(loops) = &loops {
                        party.submit(&hanging, loops);
                        party.submit(frame, &handles);
                    }
                    // Everything is closed with requests under way.
                    drop(party);
                }
            });
        });
        let party = Party::new(name);
        let mut round = 0;
        while at_work.load(Ordering::Acquire) > 0 || round < 4 {
            let which = round % frames.len();
            let now = party.draw(&frames[which]);
            let wrong: Vec<_> = (now.iter().zip(&expected[which]).enumerate())
                .map(|(at, (now, then))| (at, now.iter().zip(then).filter(|(a, b)| a != b).count()))
                .filter(|(_, count)| *count > 0)
                .collect();
            assert!(
                wrong.is_empty(),
                "picture {round}: {wrong:?} bytes of buffers differ; (guilty, innocent): {:?}",
                party.reset_stats()
            );
            round += 1;
            drawn.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(node.quiesce(PATIENCE), "everything comes to its end");
    assert!(node.report().work.resets >= 4);
    println!(
        "{} pictures beside {} resets in {:.1} s",
        drawn.into_inner(),
        node.report().work.resets,
        begun.elapsed().as_secs_f64()
    );
    let party = Party::new(&name);
    for (frame, expected) in frames.iter().zip(&expected) {
        assert!(party.draw(frame) == *expected);
    }
}

#[test]
fn an_unknown_command_and_a_batch_without_end_are_survived() {
    DEVICES.into_iter().for_each(unknown);
}

fn unknown(device: &str) {
    let (node, name) = support::start_on(device);
    let frame = Frame::read_of(device, "c_gouraud");
    let expected = undisturbed(device, &frame);
    let hostile = Party::new(&name);
    for words in [vec![UNKNOWN], vec![0; 1024], vec![u32::MAX; 1024]] {
        let batch = hostile.create(4096);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        hostile.write(batch, &bytes);
        hostile.run(batch);
        assert!(Party::new(&name).draw(&frame) == expected);
        hostile.wait(batch, -1);
    }
    drop(hostile);
    assert!(node.quiesce(PATIENCE));
}

//! Long work takes device time: it goes by slices, times out, ends with a reset.
//!
//! PRM volume 4, 2.6.9 (no latency is promised), volume 1 (blitter). Command words are written by hand from
//! i915 gt/intel_gpu_commands.h and genxml gen4.

use crestline_cli::replay::{Options, ReplayError, Session};
use crestline_tests::rig::{Rig, SHORT};
use crestline_tests::scenes::{capture, options};
use kernel::error::code::ETIME;
use kernel::platform::Platform as _;
use kernel::time::Delta;
use mmio_mock::Model;

const END: u32 = 0x0a << 23;
/// XY_COLOR_BLT of six dwords, XY_SRC_COPY_BLT of eight.
const COLOR_BLT: u32 = 2 << 29 | 0x50 << 22 | 4;
const SRC_COPY_BLT: u32 = 2 << 29 | 0x53 << 22 | 6;
/// BR13: 8 bits a pixel, raster operations COPY, PATCOPY, and DPx, which needs the destination.
const COPY: u32 = 0xcc << 16;
const PATCOPY: u32 = 0xf0 << 16;
const PATINVERT: u32 = 0x5a << 16;

const BATCH: u32 = 0x0010_0000;
const TARGET: u32 = 0x0100_0000;

/// A fill of 8-bit pixels; rows begin `pitch` bytes after one another.
fn fill(rop: u32, pitch: u32, width: u32, height: u32) -> [u32; 8] {
    let corner = height << 16 | width;
    let colour = 0x5a;
    [COLOR_BLT, rop | pitch, 0, corner, TARGET, colour, END, 0]
}

/// Ticks of a batch from the submission to its fence, to a microsecond.
fn ticks(rig: &Rig, dwords: &[u32]) -> u64 {
    let batch = rig.object(BATCH, dwords.len() * 4, dwords);
    let before = rig.platform.device().ticks();
    let request = rig.submit(&batch);
    while !request.is_complete() {
        rig.platform.clock().relax(Delta::from_micros(1));
    }
    batch.unbind();
    let after = rig.platform.device().ticks();
    after - before
}

#[test]
fn a_huge_blit_times_out_and_a_reset_ends_it() {
    for rop in [PATCOPY, PATINVERT] {
        let rig = Rig::new();
        let target = rig.object(TARGET, 0x8000, &[]);
        let batch = rig.object(BATCH, 4096, &fill(rop, 0, 0x7fff, 0x7fff));
        let before = rig.platform.clock().now();
        let request = rig.submit(&batch);
        assert_eq!(request.wait(SHORT), Err(ETIME));
        let took = rig.platform.clock().now() - before;
        assert!(took >= SHORT && took < Delta::from_millis(20), "{took}");
        let blit = rig.platform.device().running_blit().expect("a blit");
        assert!(blit.starts_with("XY_COLOR_BLT at 0x00100000: "), "{blit}");
        assert!(blit.ends_with(" of 32767 rows"), "{blit}");
        assert!(!rig.platform.device().idle());

        rig.device.reset().unwrap();
        assert_eq!(rig.platform.device().running_blit(), None);
        drop((batch, request));
        target.write_dwords(0, &[0; 16]).unwrap();
        rig.run(&fill(PATCOPY, 16, 4, 2));
        let mut found = [0; 32];
        target.read(0, &mut found).unwrap();
        let expected: Vec<u8> = (0..32).map(|i| if i % 16 < 4 { 0x5a } else { 0 }).collect();
        assert_eq!(found[..], expected);
        drop(target);
        rig.finish_after_fault();
    }
}

#[test]
fn a_blit_takes_time_by_its_size() {
    let rig = Rig::new();
    let target = rig.object(TARGET, 256 << 10, &[]);
    for rop in [PATCOPY, PATINVERT] {
        let small = ticks(&rig, &fill(rop, 1024, 1024, 64));
        let large = ticks(&rig, &fill(rop, 1024, 1024, 256));
        // Four times the rows; submission and the last slice are the same.
        let (least, most) = (3 * small, 5 * small);
        assert!((least..most).contains(&large), "{small} and {large}");
    }
    drop(target);
    rig.finish();
}

/// A copy in one surface gives the same whatever the slices: source and destination overlap both ways.
#[test]
fn slices_do_not_show() {
    const PITCH: u32 = 64;
    const ROWS: u32 = 64;
    let pattern: Vec<u32> = (0..PITCH * ROWS / 4)
        .map(|i| i.wrapping_mul(0x9e37_79b9))
        .collect();
    for (from, to) in [((0, 0), (5, 3)), ((5, 3), (0, 0)), ((0, 7), (9, 0))] {
        let (width, height) = (40, 48);
        let copy = [
            SRC_COPY_BLT,
            COPY | PITCH,
            to.1 << 16 | to.0,
            (to.1 + height) << 16 | (to.0 + width),
            TARGET,
            from.1 << 16 | from.0,
            PITCH,
            TARGET,
            END,
            0,
        ];
        let mut expected: Vec<u8> = pattern.iter().flat_map(|d| d.to_le_bytes()).collect();
        let old = expected.clone();
        for y in 0..height {
            for x in 0..width {
                let at = |(x0, y0): (u32, u32)| ((y + y0) * PITCH + x + x0) as usize;
                expected[at(to)] = old[at(from)];
            }
        }
        for slice in [1, 7, 100, 1_000_000] {
            let rig = Rig::new();
            let target = rig.object(TARGET, (PITCH * ROWS) as usize, &pattern);
            let batch = rig.object(BATCH, 4096, &copy);
            let request = rig.submit(&batch);
            let (mut seen, mut slices) = (0, 0);
            while !request.is_complete() {
                rig.platform.run(slice);
                slices += 1;
                let rows = rig.platform.device().status().activity.blit_rows;
                assert!(rows >= seen);
                seen = rows;
            }
            assert_eq!(seen, u64::from(height));
            // Each row has at least its bytes to move; time that is owed is paid before the fence.
            assert!(slices * slice >= u64::from(width * height / 8), "{slices}");
            let mut found = vec![0; expected.len()];
            target.read(0, &mut found).unwrap();
            assert!(found == expected, "{from:?} {to:?} by {slice}");
            drop((batch, request, target));
            rig.finish();
        }
    }
}

/// The program's error names the command and where it stands.
#[test]
fn replay_names_the_blit() {
    let mut capture = capture("b_flat");
    let exec = &mut capture.execs[0];
    let large = exec.buffers.iter().max_by_key(|b| b.size).unwrap().address;
    let mut words = fill(PATCOPY, 0, 0x7fff, 0x7fff);
    words[4] = large;
    let batch = &mut exec.buffers[exec.batch];
    for (to, word) in batch.data.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    exec.batch_len = 32;
    let options = Options {
        timeout: Delta::from_millis(5),
        ..options(&capture)
    };
    let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
    let error = match session.run(&capture.execs[0]) {
        Err(ReplayError::Fault(report)) => report.to_string(),
        other => panic!("{other:?}"),
    };
    let first = error.lines().next().unwrap();
    assert!(first.contains("not done after 5 ms"), "{first}");
    assert!(first.contains("XY_COLOR_BLT at 0x"), "{first}");
    assert!(first.contains("[buffer 0 "), "{first}");
    session.device().reset().unwrap();
    assert!(session.device().is_idle());
    session.finish().unwrap();
}

/// A loop of messages that ask for much is over in device time after few of them: the scene's
/// pixel shader jumps back to its sampler message for ever.
#[test]
fn a_loop_of_messages_costs_what_they_do() {
    let mut capture = capture("d_tex_nearest");
    // crocus's decode of the scene: the pixel shader is at 001040c0h in buffer 3, the send its 16th instruction;
    // `jmpi -2` of intel-gen4asm goes behind it.
    let cache = &mut capture.execs[0].buffers[3];
    assert_eq!(cache.address, 0x0010_4000);
    let send = (0xc0..cache.data.len())
        .step_by(16)
        .find(|&at| cache.data[at] & 0x7f == 0x31 && cache.data[at + 15] & 0xf == 2);
    let behind = send.expect("a sampler message") + 16;
    let jump = [0x0000_0020u32, 0x3400_1c00, 0x0000_1400, 0xffff_fffe];
    for (i, word) in jump.iter().enumerate() {
        cache.data[behind + i * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
    let options = Options {
        timeout: Delta::from_millis(50),
        ..options(&capture)
    };
    let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
    let began = session.report().activity.instructions.iter().sum::<u64>();
    assert!(matches!(
        session.run(&capture.execs[0]),
        Err(ReplayError::Fault(_))
    ));
    let executed = session.report().activity.instructions.iter().sum::<u64>() - began;
    // 50 ms are 25 million ticks: sixteen texels a message, and registers on the way.
    assert!(executed < 25_000_000 / 8, "{executed}");
    session.device().reset().unwrap();
    session.finish().unwrap();
}

//! A picture that i965-va-driver scales on Ironlake, beside swscale.
//!
//! Its kernel runs on media threads with samplers. The capture and what swscale makes of the same picture come from `tests/tools/vpp.c`.

use std::fs;
use std::path::{Path, PathBuf};

use crestline_cli::capture::{Capture, Exec};
use crestline_cli::replay::Session;
use crestline_tests::scenes::options;

/// The target: samples of luma, bytes of a row, and where chroma begins.
const SIZE: (usize, usize) = (71, 40);
const PITCH: usize = 80;
const CHROMA: usize = PITCH * SIZE.1;
/// Number of the target in the execution list, and what it holds before.
const TARGET: usize = 1;
const BEFORE: u8 = 0x55;
/// MEDIA_OBJECT with sixteen inline dwords.
const OBJECT: u32 = 0x7100_0012;

fn recorded(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/captures/recorded");
    dir.join(name)
}

/// What the target holds after the submission, which `change` may change.
fn scaled(change: impl Fn(&mut Exec)) -> Vec<u8> {
    let mut capture = Capture::load(&recorded("vpp.crest")).unwrap();
    assert_eq!(capture.execs.len(), 1);
    let exec = &mut capture.execs[0];
    let size = exec.buffers[TARGET].size as usize;
    exec.buffers[TARGET].data = vec![BEFORE; size];
    change(exec);
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    session.run(&capture.execs[0]).unwrap();
    let bytes = session.contents(&capture.execs[0].buffers[TARGET]).unwrap();
    session.finish().unwrap();
    bytes
}

#[test]
fn a_scaled_picture_is_that_of_swscale() {
    let got = scaled(|_| {});
    let want = fs::read(recorded("vpp.swscale")).unwrap();
    let (width, height) = SIZE;
    let (columns, rows) = (width.div_ceil(2), height / 2);
    assert_eq!(want.len(), width * height + 2 * columns * rows);
    let (luma, chroma) = want.split_at(width * height);
    let mut greatest = [0; 2];
    for (n, want) in luma.iter().enumerate() {
        let got = got[n / width * PITCH + n % width];
        greatest[0] = greatest[0].max(got.abs_diff(*want));
    }
    for (n, want) in chroma.iter().enumerate() {
        let (plane, n) = (n / (columns * rows), n % (columns * rows));
        let got = got[CHROMA + n / columns * PITCH + n % columns * 2 + plane];
        greatest[1] = greatest[1].max(got.abs_diff(*want));
    }
    assert!(greatest.iter().all(|off| *off <= 2), "{greatest:?}");
    // The masks of the last column keep what is behind the picture.
    for y in 0..height {
        assert_eq!(got[y * PITCH + width..][..PITCH - width], [BEFORE; 9]);
    }
}

/// The driver's own batches have masks of zero on this device (`tests/tools/vpp.c` sets them): no sample may change.
#[test]
fn blocks_that_are_masked_stay() {
    let got = scaled(|exec| {
        let batch = &mut exec.buffers[exec.batch].data;
        let (dwords, _) = batch.as_chunks_mut::<4>();
        let at = |dwords: &[[u8; 4]], n: usize| u32::from_le_bytes(dwords[n]);
        let objects: Vec<_> = (0..dwords.len().saturating_sub(20))
            .filter(|n| at(dwords, *n) == OBJECT)
            .collect();
        assert_eq!(objects.len(), SIZE.1 / 8);
        for n in objects {
            // g5.6, whose last byte counts blocks; g6.1 and g6.2.
            dwords[n + 10][..3].fill(0);
            dwords[n + 13].fill(0);
            dwords[n + 14].fill(0);
        }
    });
    assert!(got.iter().all(|byte| *byte == BEFORE));
}

//! The driver on the model: the windower's pixel snapshot on captured frames.
//!
//! PRM volume 4 3.2, 3.3.9. Kernel start pointers are those of crocus's own decode of the batches.

use crestline_cli::replay::{Options, Session, Snapshot};
use crestline_tests::scenes::{capture, options};
use driver::debug::snapshot::PixelTrigger;

fn snapshot(scene: &str, x: u16, y: u16) -> Snapshot {
    let capture = capture(scene);
    let options = Options {
        snapshot: Some((x, y)),
        ..options(&capture)
    };
    let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
    session.run(&capture.execs[0]).unwrap();
    let snapshot = session.snapshot().unwrap();
    session.finish().unwrap();
    snapshot
}

#[test]
fn the_first_thread_at_a_pixel_is_the_clear() {
    let snapshot = snapshot("b_flat", 128, 128);
    assert!(snapshot.complete);
    assert_eq!(snapshot.kernel_pointer, 0x0010_4180);
    assert_eq!(
        snapshot.place.as_deref(),
        Some("buffer 3 (bo_003.bin) + 0x180")
    );
    // The decode's text of this kernel, its first and last instruction.
    assert!(
        snapshot.kernel[0].starts_with("mov(8)          m3<1>F          g4.3<0,1,0>F"),
        "{:?}",
        snapshot.kernel
    );
    assert!(
        snapshot
            .kernel
            .iter()
            .any(|line| line.starts_with("send(16)")),
        "{:?}",
        snapshot.kernel
    );
}

#[test]
fn a_later_occurrence_is_the_triangle() {
    // Inside the triangle the subspan comes by twice: for the clear and for the triangle.
    let capture = capture("b_flat");
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    let device = session.device().clone();
    let armed = device
        .arm_pixel_snapshot(PixelTrigger {
            x: 128,
            y: 128,
            instance: Some(2),
            flag_thread: false,
        })
        .unwrap();
    assert!(!armed.is_complete());
    session.run(&capture.execs[0]).unwrap();
    assert!(armed.is_complete());
    let trapped = armed.read().unwrap();
    assert_eq!(trapped.kernel_pointer, 0x0010_40c0);
    assert_eq!(trapped.subspan_instances, 2);
    armed.disarm();
    drop(device);
    session.finish().unwrap();
}

#[test]
fn a_pixel_outside_the_surface_is_never_trapped() {
    let snapshot = snapshot("b_flat", 300, 10);
    assert!(!snapshot.complete);
    assert!(snapshot.kernel.is_empty());
}

#[test]
fn the_snapshot_changes_no_picture() {
    let capture = capture("e_depth");
    let picture = |snapshot| {
        let options = Options {
            snapshot,
            ..options(&capture)
        };
        let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
        session.run(&capture.execs[0]).unwrap();
        let picture = session.picture().unwrap();
        session.finish().unwrap();
        picture
    };
    assert!(picture(None) == picture(Some((128, 128))));
}

//! Every captured frame through driver, ring and MMIO to its picture.
//!
//! Expectations are the pictures of Mesa's llvmpipe and softpipe, and the captures' own dumps.

use crestline_cli::capture::Capture;
use crestline_cli::picture::Picture;
use crestline_cli::replay::{Options, Report, Session};
use crestline_tests::image::Difference;
use crestline_tests::scenes::{REFERENCES, SCENES, capture, options, reference};

/// Replays a capture; the session proves the device idle, faultless and without leaks at its end.
fn replay(capture: &Capture, options: Options) -> (Picture, Report, String) {
    let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
    for exec in &capture.execs {
        session.run(exec).unwrap_or_else(|e| panic!("{e}"));
    }
    let result = (
        session.picture().unwrap(),
        session.report(),
        session.trace(),
    );
    let device = session.device().clone();
    assert!(device.is_idle());
    assert!(device.error_state().is_none());
    drop(device);
    assert!(session.platform().device().status().faults().is_empty());
    session.finish().unwrap_or_else(|e| panic!("{e}"));
    result
}

fn matches_a_reference(scene: &str) {
    let capture = capture(scene);
    let (picture, ..) = replay(&capture, options(&capture));
    // GL's row 0 is the bottom row, the references are top-down.
    let picture = picture.flipped();
    let differences = REFERENCES.map(|by| Difference::of(&picture, &reference(scene, by)));
    for (by, difference) in REFERENCES.iter().zip(&differences) {
        println!(
            "{scene} {by}: {} of {} off, {} of them not on edges, largest difference {}",
            difference.off,
            difference.pixels,
            difference.off_edge.len(),
            difference.largest
        );
    }
    assert!(
        differences.iter().any(Difference::acceptable),
        "{differences:?}"
    );
}

#[test]
fn clear() {
    matches_a_reference("a_clear");
}

#[test]
fn flat_triangle() {
    matches_a_reference("b_flat");
}

// The kernels compute from nothing but their payload.
// covers: 11.3.2-02
#[test]
fn gouraud_triangle() {
    matches_a_reference("c_gouraud");
}

#[test]
fn textured_quad() {
    matches_a_reference("d_tex_nearest");
}

#[test]
fn depth_test() {
    matches_a_reference("e_depth");
}

#[test]
fn gears() {
    matches_a_reference("g_gears");
}

#[test]
fn stencil_and_scissor() {
    matches_a_reference("k_stencil_scissor");
}

#[test]
fn twice_the_same_trace() {
    for scene in SCENES {
        let capture = capture(scene);
        let options = Options {
            trace: Some(8 << 20),
            ..options(&capture)
        };
        let first = replay(&capture, options);
        let second = replay(&capture, options);
        assert!(first.1.trace.0 > 100, "{scene}: {:?}", first.1.trace);
        assert_eq!(first.1.trace, second.1.trace, "{scene}");
        assert!(first.2 == second.2, "{scene}: the texts differ");
        assert!(first == second, "{scene}");
    }
}

#[test]
fn what_the_driver_of_the_frame_drew() {
    // Vertex counts of the 3DPRIMITIVEs in crocus's own decode of the gears batch: a RECTLIST of 3 for the clear with
    // statistics off; a TRIFAN of 4 and TRILISTs of 1320, 660, 660 and 9216 with statistics on.
    let capture = capture("g_gears");
    let (_, report, _) = replay(&capture, options(&capture));
    assert_eq!(report.activity.batches, 1);
    assert_eq!(report.activity.draws, 6);
    assert_eq!(report.activity.vertices, 3 + 4 + 1320 + 660 + 660 + 9216);
    assert_eq!(report.statistics.ia_vertices, 4 + 1320 + 660 + 660 + 9216);
    assert_eq!(report.statistics.ia_primitives, 2 + 3952);
}

#[test]
fn the_gpu_writes_render_targets_alone() {
    // exec_object2.flags bit 2 (WRITE) stands at the colour buffer; the depth buffer is the only other target. The
    // workaround buffer (index 1) may be written by PIPE_CONTROL.
    for scene in SCENES {
        let capture = capture(scene);
        let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
        let exec = &capture.execs[0];
        session.run(exec).unwrap();
        for (index, buffer) in exec.buffers.iter().enumerate() {
            let now = session.contents(buffer).unwrap();
            let mut dumped = buffer.data.clone();
            dumped.resize(buffer.size as usize, 0);
            let drawn_to = buffer.tiling != driver::Tiling::None && buffer.data.is_empty();
            if index != 1 && !drawn_to {
                assert!(now == dumped, "{scene}: buffer {index} changed");
            }
        }
        session.finish().unwrap();
    }
}

#[test]
fn other_devices_of_the_generation_draw_the_same() {
    let capture = capture("e_depth");
    let (expected, ..) = replay(&capture, options(&capture));
    let first = isa::Verx10::GEN40;
    for device in mmio_mock::intel::r#gen::DEVICES
        .iter()
        .filter(|d| d.isa == first)
    {
        let (picture, ..) = replay(&capture, Options::new(device));
        assert!(picture == expected, "{}", device.name);
    }
}

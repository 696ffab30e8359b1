//! Numbers at the ends of their ranges: grids, tessellation factors, instances.
//!
//! genxml gen7 names the fields; the captured frames have everything else. Expectations: a grid without groups has no threads, a group has room or
//! is refused, and a patch has at most 65 by 65 points (Direct3D 11, whose tessellator this is).
use crestline_cli::capture::Exec;
use crestline_cli::replay::Session;
use crestline_tests::scenes::{capture_of, device, options};
use mmio_mock::intel::status::Statistics;
use regs::desc::Property;

/// Points of a patch at most.
const POINTS: u64 = 65 * 65;

/// The submission with another value in a field of all commands of a name.
fn with(exec: &Exec, command: &str, field: &str, value: u32) -> Exec {
    let tables = device("valleyview").tables;
    let mut changed = exec.clone();
    let mut at = exec.batch_address();
    let mut count = 0;
    while let Some(header) = exec.dword(at)
        && let Some(desc) = (tables.command)(header)
        && !desc.is(Property::Ends)
    {
        if desc.name == command {
            let field = desc.fields.iter().find(|found| found.name == field);
            let field = field.unwrap();
            let place = at + u32::from(field.start) / 32 * 4;
            let shift = u32::from(field.start) % 32;
            let mask = u32::MAX >> (32 - u32::from(field.width)) << shift;
            let new = exec.dword(place).unwrap() & !mask | value << shift & mask;
            let (buffer, offset) = exec.find(place).unwrap();
            let offset = offset as usize;
            changed.buffers[buffer].data[offset..offset + 4].copy_from_slice(&new.to_le_bytes());
            count += 1;
        }
        at += 4 * desc.dwords(header) as u32;
    }
    assert!(count > 0, "{command}");
    changed
}

/// Runs the first submission of a scene with a change; how it ends, and what was counted.
fn run(scene: &str, changes: &[(&str, &str, u32)]) -> (Result<(), String>, Statistics) {
    let capture = capture_of("valleyview", scene);
    let exec = changes
        .iter()
        .fold(capture.execs[0].clone(), |exec, change| {
            with(&exec, change.0, change.1, change.2)
        });
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    let outcome = session.run(&exec).map_err(|error| error.to_string());
    let statistics = session.platform().device().status().statistics;
    if outcome.is_ok() {
        session.finish().unwrap();
    }
    (outcome, statistics)
}

const WALKER: &str = "GPGPU_WALKER";

#[test]
fn a_grid_without_groups_has_no_threads() {
    let (outcome, usual) = run("compute", &[]);
    assert_eq!(outcome, Ok(()));
    assert!(usual.cs_invocations > 0);
    for axis in ["X", "Y", "Z"] {
        let dimension = format!("Thread Group ID {axis} Dimension");
        let (outcome, statistics) = run("compute", &[(WALKER, &dimension, 0)]);
        assert_eq!((outcome, statistics.cs_invocations), (Ok(()), 0), "{axis}");
    }
}

/// A group of 64 threads of 32 channels and more has no room on a part with 32 threads; so has none that says 262,144.
#[test]
fn groups_that_are_too_large_are_refused() {
    for (width, height, depth, threads) in [(63, 0, 0, 64), (63, 63, 63, 64 * 64 * 64)] {
        let (outcome, statistics) = run(
            "compute",
            &[
                (WALKER, "Thread Width Counter Maximum", width),
                (WALKER, "Thread Height Counter Maximum", height),
                (WALKER, "Thread Depth Counter Maximum", depth),
            ],
        );
        let error = outcome.unwrap_err();
        let text = format!("thread groups of {threads} threads");
        assert!(error.contains(&text), "{error}");
        assert_eq!(statistics.cs_invocations, 0);
    }
}

/// Bounds of factors that are no numbers: each patch is cut somehow, or not at all.
#[test]
fn bounds_of_factors_may_be_anything() {
    for scene in ["tessiso", "tessquad"] {
        let (outcome, usual) = run(scene, &[]);
        assert_eq!(outcome, Ok(()));
        assert!(usual.ds_invocations > 0 && usual.hs_invocations > 0);
        for bound in [
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            -1.0,
            0.0,
            65.0,
            1e30,
        ] {
            let bits = bound.to_bits();
            let changes = [
                ("3DSTATE_TE", "Maximum Tessellation Factor Odd", bits),
                ("3DSTATE_TE", "Maximum Tessellation Factor Not Odd", bits),
            ];
            let (outcome, statistics) = run(scene, &changes);
            assert_eq!(outcome, Ok(()), "{scene}, {bound}");
            assert_eq!(statistics.hs_invocations, usual.hs_invocations);
            let most = statistics.hs_invocations * POINTS;
            assert!(statistics.ds_invocations <= most, "{scene}, {bound}");
        }
    }
}

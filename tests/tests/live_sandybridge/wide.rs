//! A pixel thread of 32 channels under the debugger: breakpoint and steps.
//!
//! Kernel after Mesa 22.3.6's of 32 pixels (brw_fs_generator.cpp): a render target write of sixteen pixels for each half.

use super::{finish, scene};
use crestline_tests::scene::FRAME;
use mmio_mock::Model;
use mmio_mock::intel::debug::host::{Go, Rule, Why};
use mmio_mock::intel::status::Unit;

/// Four instructions for a colour, then a write of each half.
const COLOUR: &str = "\
mov(16) m1<1>F 0.25F { align1 WE_all 1H };
mov(16) m3<1>F 0.5F { align1 WE_all 1H };
mov(16) m5<1>F 0.75F { align1 WE_all 1H };
mov(16) m7<1>F 1F { align1 WE_all 1H };
sendc(16) null<1>UW m1<8,8,1>F render MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 8 rlen 0 { align1 1H };
sendc(16) null<1>UW m1<8,8,1>F render MsgDesc: RT write SIMD16 Hi LastRT Surface = 0 mlen 8 rlen 0 { align1 2H EOT };
";

#[test]
fn a_thread_of_thirty_two_pixels_stops_and_steps() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let corner = |x: f32, y: f32| [x, y, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0];
    let corners = [corner(1.0, 1.0), corner(-1.0, 1.0), corner(-1.0, -1.0)];
    scene.vertices_of(&mut draw, &corners);
    draw.topology(15, 3);
    draw.wm_kernel = COLOUR.to_owned();
    draw.wm
        .set_n8_pixel_dispatch_enable(false)
        .set_n32_pixel_dispatch_enable(true)
        .set_barycentric_interpolation_mode(0)
        .set_dispatch_grf_start_register_for_constant_setup_data_0(3);
    scene.draw_of(&draw);
    {
        let mut device = scene.rig.platform.device();
        device.set_debugger(true);
        device.debugger().unwrap().add(Rule::Dispatch(Unit::Wiz));
    }
    let frame = scene.submit();
    let stop = |how: Option<Go>| {
        let mut device = scene.rig.platform.device();
        if let Some(how) = how {
            device.debugger().unwrap().go(how);
        }
        device.run(10_000_000);
        device.debugger().unwrap().stopped()
    };
    let at = |(eu, slot): (u8, u8)| {
        let device = scene.rig.platform.device();
        device.thread(eu, slot).unwrap().ip()
    };
    let first = stop(None).unwrap();
    let (key, eu, slot) = first.thread.unwrap();
    let start = at((eu, slot));
    {
        let device = scene.rig.platform.device();
        // All channels of both halves are there: eight subspans, whose places are in r1 and r2.
        let thread = device.thread(eu, slot).unwrap();
        assert_eq!([thread.grf()[1][7], thread.grf()[2][7]], [0xffff; 2]);
    }
    // A breakpoint at the first write, and nothing is written in front of it.
    let send = start + 4 * 16;
    let rule = {
        let mut device = scene.rig.platform.device();
        device.debugger().unwrap().add(Rule::Address(send))
    };
    let stopped = stop(Some(Go::Finish)).unwrap();
    assert_eq!((stopped.why, at((eu, slot))), (Why::Rule(rule), send));
    assert!(target.lit().is_empty());
    // A step: sixteen pixels, and the thread stands at the second write.
    let stopped = stop(Some(Go::Step(1))).unwrap();
    assert_eq!((stopped.why, at((eu, slot))), (Why::Stepped, send + 16));
    assert_eq!(target.lit().len(), 16);
    // Another: the other half, and the end of the thread.
    let stopped = stop(Some(Go::Step(1))).unwrap();
    assert_eq!(stopped.why, Why::Ended);
    assert_eq!(stopped.thread.unwrap().0, key);
    assert_eq!(target.lit().len(), 32);
    // The second thread, instruction by instruction.
    let stopped = stop(Some(Go::Continue)).unwrap();
    let (second, eu, slot) = stopped.thread.unwrap();
    assert_eq!((second.ordinal, at((eu, slot))), (key.ordinal + 1, start));
    for n in 1..6 {
        let stopped = stop(Some(Go::Step(1))).unwrap();
        let why = if n == 4 {
            Why::Rule(rule)
        } else {
            Why::Stepped
        };
        assert_eq!((stopped.why, at((eu, slot))), (why, start + n * 16));
    }
    assert_eq!(target.lit().len(), 48);
    assert_eq!(stop(Some(Go::Continue)), None);
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    scene.rig.platform.device().set_debugger(false);
    // B8G8R8A8: 0.25, 0.5 and 0.75 of 255.
    assert_eq!(target.words(), vec![0xff40_80bf; 64]);
    finish(scene, target);
}

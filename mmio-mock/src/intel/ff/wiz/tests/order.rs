//! Depth tests before, behind and without threads; resolves without HiZ.
//! ValleyView volume 2 part 2, 3DSTATE_WM: Early Depth/Stencil Control, Thread Dispatch Enable, both resolves.

use super::*;
use crate::intel::cc::Compare;
use crate::intel::ff::state::windower::TestOrder;

/// What a rectangle at depth 1/2 does over a buffer of zeros: whether threads start for it, and what is in the buffer then. Threads of
/// the bench write nothing.
fn drawn(change: impl Fn(&mut WizState)) -> (bool, u32) {
    let mut s = state();
    s.wm.headerless = true;
    s.depth_buffer = Some(depth_buffer());
    s.cc.depth.test = true;
    s.cc.depth.write = true;
    change(&mut s);
    let mut bench = Bench::new();
    draw(&mut Wiz::new(), &s, &rect(0.0, 0.0, 8.0, 8.0), &mut bench);
    let field = bench.mem.read_u32(GpuAddr::from(DEPTH)).unwrap();
    (!bench.threads.is_empty(), field & 0xff_ffff)
}

const HIDDEN: Compare = Compare::Less;
const SEEN: Compare = Compare::GreaterEqual;
/// 1/2 in 24 bits.
const HALF: u32 = 0x80_0000;

// covers: V-0516
#[test]
fn tests_come_before_or_behind_threads() {
    let with = |order, kills, function| {
        drawn(|s| {
            s.wm.test_order = order;
            s.wm.pixel_shader_kills_pixel = kills;
            s.cc.depth.function = function;
        })
    };
    // EDSC_NORMAL: as behind the thread, which hidden pixels need not have.
    assert_eq!(with(TestOrder::Normal, false, HIDDEN), (false, 0));
    assert_eq!(with(TestOrder::Normal, true, SEEN), (true, 0));
    // EDSC_PSEXEC: behind the thread, which hidden pixels have.
    assert_eq!(with(TestOrder::Behind, false, HIDDEN), (true, 0));
    assert_eq!(with(TestOrder::Behind, false, SEEN), (true, 0));
    // EDSC_PREPS: before the thread. Hidden pixels have none, and depth is written whatever the thread does.
    assert_eq!(with(TestOrder::Ahead, true, HIDDEN), (false, 0));
    assert_eq!(with(TestOrder::Ahead, true, SEEN), (true, HALF));
    // What a thread computes for depth does not count then.
    let computed = drawn(|s| {
        s.wm.test_order = TestOrder::Ahead;
        s.wm.pixel_shader_computed_depth = true;
        s.cc.depth.function = SEEN;
    });
    assert_eq!(computed, (true, HALF));
}

/// Thread Dispatch Enable says that threads may write something. Without the bit no thread starts, and only depth is drawn.
// covers: V-0507
#[test]
fn without_dispatch_there_are_no_threads() {
    let with = |dispatch| {
        drawn(|s| {
            s.wm.thread_dispatch_enable = dispatch;
            s.cc.depth.function = SEEN;
        })
    };
    assert_eq!(with(true), (true, HALF));
    assert_eq!(with(false), (false, HALF));
}

// covers: V-0510, V-0512
#[test]
fn resolves_without_a_hierarchical_buffer_change_nothing() {
    for resolve in [DepthResolve::Depth, DepthResolve::Hierarchical] {
        let mut s = state();
        s.wm.headerless = true;
        s.wm.thread_dispatch_enable = false;
        s.wm.depth_resolve = Some(resolve);
        s.depth_buffer = Some(depth_buffer());
        let mut bench = Bench::new();
        for at in 0..64 * 64 {
            let address = GpuAddr::from(DEPTH + at * 4);
            bench.mem.write_u32(address, at).unwrap();
        }
        draw(&mut Wiz::new(), &s, &rect(0.0, 0.0, 64.0, 64.0), &mut bench);
        assert!(bench.threads.is_empty());
        for at in 0..64 * 64 {
            let address = GpuAddr::from(DEPTH + at * 4);
            assert_eq!(bench.mem.read_u32(address).unwrap(), at);
        }
    }
}

//! Vertices of shader threads that have halted, by the snapshot of all threads.
//!
//! PRM: volume 4, 3.3.5, 3.4.1. Without the vertex cache every index of the list is shaded, two by two. Not covered: VS
//! that is switched off, which starts no threads.

use super::bench::*;
use super::vf::indexed;
use crestline_tests::debugged::LONG;
use crestline_tests::scene::grid::header_points;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{FRAME, Scene};
use driver::debug::{DebugSession, HaltMatch};
use kernel::error::code::EINVAL;
use regs::gen40::reg;

/// r0.6, r0.7 as the odd vertices of a list show them at their places.
fn shown(target: &Surface, list: &[u32]) -> Vec<[u32; 2]> {
    let odd = list.iter().skip(1).step_by(2);
    odd.map(|x| {
        let [.., id, flag] = target.bits(*x, 0);
        [id, flag]
    })
    .collect()
}

/// Draws a list of points; the vertices of each VS thread when it halts.
fn halts(cache: bool, list: &[u32]) -> Vec<Vec<u32>> {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    target.fill(&[0xee; 16]);
    let session: DebugSession = scene.rig.device.debug().unwrap();
    session.halt_on_match(Some(HaltMatch::default()));
    let vertices = session.follow_vertices().unwrap();
    let mut draw = header_points(&mut scene, &target, 64);
    draw.vs.set_vertex_cache_disable(!cache);
    indexed(&mut scene, &mut draw, 1, list);
    scene.draw(&draw);
    reset_counters(&mut scene);
    let frame = scene.submit();
    let mut seen = Vec::new();
    while let Ok(threads) = session.wait(LONG) {
        for thread in threads {
            match vertices.of(&thread) {
                Ok(indices) => {
                    // One at a time: nobody else is in the latch.
                    assert_eq!(thread.ffid, 2);
                    let r0 = thread.read_registers().unwrap().grf[0];
                    assert_eq!(r0[6..], [seen.len() as u32, 0]);
                    seen.push(indices);
                }
                Err(error) => {
                    assert_ne!(thread.ffid, 2);
                    assert_eq!(error, EINVAL);
                }
            }
            thread.resume().unwrap();
        }
    }
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    vertices.end();
    assert_eq!(read(&scene, VS_CTL), 0);
    assert_eq!(read(&scene, reg::TD_CTL2.offset()), 0);
    drop(session);
    if !cache {
        // The flag that marks every thread for the latch is not seen by any.
        assert_eq!(shown(&target, &list[2..]), [[1, 0], [2, 0]]);
    }
    finish(scene, target);
    seen
}

// covers: 3.3.5-03, 3.2-02
#[test]
fn the_vertices_of_halted_threads_are_told_one_after_the_other() {
    let list = [9, 3, 4, 7, 3, 5, 8];
    let pairs: Vec<Vec<u32>> = list.chunks(2).map(<[u32]>::to_vec).collect();
    assert_eq!(halts(false, &list), pairs);
    // With the cache each is shaded once.
    let mut once: Vec<u32> = halts(true, &list).concat();
    once.sort_unstable();
    assert_eq!(once, [3, 4, 5, 7, 8, 9]);
}

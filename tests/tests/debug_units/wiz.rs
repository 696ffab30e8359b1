//! Windower: the pixel snapshot, its instances, the flag that comes from SF.
//!
//! PRM: volume 4, 3.3.9. Mux value 3, the thread id, is the model's choice. Not covered: dispatch (pixels.rs).

use super::bench::*;
use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{Scene, kernels};

/// Rectangles by their upper left corner, 16 by 16; pixels show r0.4 to r0.7 of their thread.
pub fn rectangles(scene: &mut Scene, target: &Surface, at: &[(u32, u32)]) -> Draw {
    target.fill(&[0xee; 16]);
    let mut draw = Draw::flat(target.state());
    draw.wm_kernel = kernels::wm_debug16();
    let vertices: Vec<_> = at
        .iter()
        .flat_map(|&(x, y)| {
            let (x, y) = (x as f32, y as f32);
            [(16.0, 16.0), (0.0, 16.0), (0.0, 0.0)]
                .map(|(dx, dy)| [x + dx, y + dy, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0])
        })
        .collect();
    scene.vertices(&mut draw, &vertices);
    draw.topology(15, vertices.len() as u32);
    scene.draw(&draw);
    reset_counters(scene);
    draw
}

/// r0.6 and r0.7 of a pixel's thread.
pub fn header(target: &Surface, x: u32, y: u32) -> [u32; 2] {
    let [.., id, word] = target.bits(x, y);
    [id, word]
}

/// Thread numbers begin anew with each primitive; r0.7 has the number of the primitive, as SF gave it.
// covers: 3.3.9-01, 3.3.9-02, 3.3.8-01, 3.3.1-01, 3.2.1-02, 3.2.1-04
#[test]
fn threads_are_numbered_within_their_primitive() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    let places = [(0, 0), (20, 4), (40, 32)];
    for on in [true, false] {
        debug(&scene, on);
        rectangles(&mut scene, &target, &places);
        scene.run();
        for (number, (left, top)) in (0..).zip(places) {
            let mut ids = Vec::new();
            for y in (top..top + 16).step_by(4) {
                for x in (left..left + 16).step_by(4) {
                    let block = header(&target, x, y);
                    // A thread is four subspans, one square.
                    let same = |n: u32| header(&target, x + n % 4, y + n / 4) == block;
                    assert!((0..16).all(same), "{x} {y}");
                    assert_eq!(block[1], if on { number } else { 0 });
                    ids.push(block[0]);
                }
            }
            ids.sort_unstable();
            let expected: Vec<u32> = if on { (0..16).collect() } else { vec![0; 16] };
            assert_eq!(ids, expected, "primitive {number}");
        }
    }
    finish(scene, target);
}

/// The pixel's coordinates in, kernel, count, primitive and thread out; bit 0 of either coordinate does not count.
// covers: 3.3.1-02, 3.3.9-02, 3.3.9-08, 3.2-02, 3.2-03, 3.3.9.1-R, 3.3.9.2-R, 3.3.9.3-R
#[test]
fn a_pixel_names_its_thread_and_primitive() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    let places = [(0, 0), (20, 4), (40, 32)];
    for (number, x, y) in [
        (1, 24, 10),
        (1, 25, 10),
        (1, 24, 11),
        (1, 25, 11),
        (1, 26, 10),
        (0, 0, 0),
        (2, 55, 47),
    ] {
        write(&scene, WIZ_STRG_VAL, y << 16 | x);
        write(&scene, WIZ_CTL, 0b011);
        rectangles(&mut scene, &target, &places);
        let [.., kernel] = kernel_pointers(&scene);
        assert!(!complete(&scene, WIZ_CTL), "before");
        scene.run();
        assert!(complete(&scene, WIZ_CTL), "{x} {y}");
        let [id, _] = header(&target, x, y);
        let shown: Vec<u32> = (0..6)
            .map(|mux| show(&scene, WIZ_CTL, mux, WIZ_RDATA))
            .collect();
        assert_eq!(shown, [kernel, 1, number, id, 0, 0]);
        // Thread Snapshot Enable: the square's thread and no other is flagged.
        for v in 0..64 {
            for u in 0..64 {
                let [_, word] = header(&target, u, v);
                let (left, top) = places[number as usize];
                let square = |p: u32, from: u32| (p.wrapping_sub(from)) / 4;
                let same = square(u, left) == square(x, left) && square(v, top) == square(y, top);
                let painted = word != 0xeeee_eeee;
                assert_eq!(painted && word & FLAG != 0, same, "{u} {v}");
            }
        }
    }
    // Neither a pixel that nothing covers, nor one without the global debug enable.
    for (on, x, y) in [(true, 60, 60), (true, 36, 4), (false, 0, 0)] {
        debug(&scene, on);
        write(&scene, WIZ_STRG_VAL, y << 16 | x);
        write(&scene, WIZ_CTL, 0b111 & !(u32::from(on) << 2));
        rectangles(&mut scene, &target, &places);
        scene.run();
        assert!(!complete(&scene, WIZ_CTL), "{on} {x} {y}");
        let flagged = |(left, top)| header(&target, left, top)[1] & FLAG != 0;
        assert!(!places.into_iter().any(flagged));
    }
    finish(scene, target);
}

/// The n-th occurrence; the count can be read before and after.
// covers: 3.3.9-03, 3.2-03, 3.3.9.1-R, 3.3.9.3-R
#[test]
fn a_later_occurrence_can_be_chosen() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    // Primitives 0, 2, 3 and 5 cover the pixel.
    let (here, away) = ((0, 0), (32, 32));
    let places = [here, away, here, here, away, here];
    let mut trap = |control| {
        write(&scene, WIZ_STRG_VAL, 7 << 16 | 9);
        write(&scene, WIZ_CTL, control);
        rectangles(&mut scene, &target, &places);
        scene.run();
        let count = show(&scene, WIZ_CTL, 1, WIZ_RDATA);
        let primitive = show(&scene, WIZ_CTL, 2, WIZ_RDATA);
        (complete(&scene, WIZ_CTL), count, primitive)
    };
    for (instance, primitive) in (1..).zip([0, 2, 3, 5]) {
        assert_eq!(
            trap(instance << 16 | 1 << 4 | 1),
            (true, instance, primitive)
        );
    }
    let (hit, count, _) = trap(5 << 16 | 1 << 4 | 1);
    assert_eq!((hit, count), (false, 4), "running count");
    assert!(!trap(255 << 16 | 1 << 4 | 1).0);
    // Without the compare the number does not matter: the first.
    assert_eq!(trap(3 << 16 | 1), (true, 1, 0));
    finish(scene, target);
}

/// With Use Upstream Snapshot Flag only the primitive that SF has trapped counts.
// covers: 3.3.9-04, 3.3.8-04, 3.3.1-04, 3.3.9.1-R
#[test]
fn the_flag_of_sf_chooses_the_primitive() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    let places = [(0, 0); 5];
    for (sf, trigger, upstream, expected) in [
        (1, 3, true, Some(3)),
        (1, 0, true, Some(0)),
        (1, 9, true, None),
        (0, 3, true, None),
        // All Threads of SF flags every primitive.
        (4, 3, true, Some(0)),
        (1, 3, false, Some(0)),
    ] {
        write(&scene, SF_STRG_VAL, trigger);
        write(&scene, SF_CTL, sf);
        write(&scene, WIZ_STRG_VAL, 4 << 16 | 4);
        write(&scene, WIZ_CTL, u32::from(upstream) << 3 | 1);
        rectangles(&mut scene, &target, &places);
        scene.run();
        assert_eq!(
            complete(&scene, WIZ_CTL),
            expected.is_some(),
            "{sf} {trigger}"
        );
        if let Some(number) = expected {
            assert_eq!(show(&scene, WIZ_CTL, 2, WIZ_RDATA), number);
        }
    }
    finish(scene, target);
}

/// The manual's pseudo code for all control bits, a subspan that is there or not, a primitive that SF traps or not.
// covers: 3.3.9-05, 3.2-04, 3.2.1-05, 3.3.9.1-R
#[test]
fn the_flag_follows_the_printed_equations() {
    let mut scene = Scene::new();
    let target = target(&mut scene);
    debug(&scene, true);
    let places = [(0, 0), (32, 16)];
    for bits in 0..64u32 {
        let on = |n: u32| bits >> n & 1 == 1;
        let (enable, thread_enable, all, use_upstream) = (on(0), on(1), on(2), on(3));
        let (there, armed) = (on(4), on(5));
        write(&scene, SF_STRG_VAL, 0);
        write(&scene, SF_CTL, u32::from(armed));
        write(
            &scene,
            WIZ_STRG_VAL,
            if there { 0x0005_0006 } else { 0x003e_003e },
        );
        write(&scene, WIZ_CTL, bits & 15);
        rectangles(&mut scene, &target, &places);
        scene.run();
        let mut trapped = false;
        for (number, (left, top)) in (0..).zip(places) {
            for square in 0..16 {
                let (x, y) = (square % 4 * 4, square / 4 * 4);
                let matches = there && number == 0 && (x, y) == (4, 4);
                let upstream = armed && number == 0;
                let local = all || (enable && matches);
                let last = if use_upstream {
                    upstream && local
                } else {
                    local
                };
                let [_, word] = header(&target, left + x, top + y);
                assert_eq!(
                    word & FLAG != 0,
                    thread_enable && last,
                    "{bits:#08b} {number} {x} {y}"
                );
                trapped |= enable && matches && (!use_upstream || upstream);
            }
        }
        assert_eq!(complete(&scene, WIZ_CTL), trapped, "{bits:#08b}");
    }
    // All threads: the data of the last one stay.
    write(&scene, WIZ_CTL, 4);
    rectangles(&mut scene, &target, &places);
    scene.run();
    assert_eq!(show(&scene, WIZ_CTL, 2, WIZ_RDATA), 1);
    assert_eq!(show(&scene, WIZ_CTL, 3, WIZ_RDATA), 15);
    finish(scene, target);
}

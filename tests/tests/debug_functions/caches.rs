//! Render cache colour, texture cache switch, trap of URB writes.
//!
//! PRM: volume 4, 3.4.6, 3.4.8, 3.4.9. Formats as in 4.7.2.1.1.

use crestline_tests::scene::draw::Draw;
use crestline_tests::scene::kernels;
use crestline_tests::scene::surface::Layout;
use regs::gen40::RegId;
use regs::gen40::values::surface_format as f;

use super::arbiter::{Frame, ticks};
use crestline_tests::stops::{Bench, corner, tiny};

/// RC_CTL.
const DEFAULT_COLOR: u32 = 1 << 2;
const SNAPSHOT: u32 = 1 << 0;

/// Two triangles, each of one thread: at (0, 0) and at (8, 0).
fn two(bench: &mut Bench) -> Draw {
    let mut draw = tiny(bench, kernels::wm_flat16());
    let vertices = [corner(0.0, 0.0), corner(8.0, 0.0)];
    bench.scene.vertices(&mut draw, vertices.as_flattened());
    draw
}

/// The pixels of the thread that WIZ flags take RC_DEF_CLR, whose most significant bits each channel has; those of
/// other threads their own colour.
// covers: 3.4.8-01, 3.4.8.1-R, 3.4.8.2-R
#[test]
fn flagged_pixels_take_the_default_colour() {
    let value = 0xa1b2_c3d4;
    let half = [0xb2, 0xa1];
    let word = [0xd4, 0xc3, 0xb2, 0xa1];
    // The colour of the others is 0.2, 0.4, 0.6 and 1.
    let floats: Vec<u8> = [0.2f32, 0.4, 0.6, 1.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let cases = [
        (f::B8G8R8A8_UNORM, vec![0xa1; 4], vec![153, 102, 51, 255]),
        (f::R8G8B8A8_UNORM, vec![0xa1; 4], vec![51, 102, 153, 255]),
        // 10100 101000 10100; a fifth of 31, two fifths of 63 and three of 31 are 6, 25 and 19.
        (
            f::B5G6R5_UNORM,
            0xa514u16.to_le_bytes().to_vec(),
            0x3333u16.to_le_bytes().to_vec(),
        ),
        (
            f::R16G16B16A16_UNORM,
            half.repeat(4),
            [13107u16, 26214, 39321, 65535]
                .iter()
                .flat_map(|v| v.to_le_bytes())
                .collect(),
        ),
        (f::R32_FLOAT, word.to_vec(), floats[..4].to_vec()),
        (f::R32G32B32A32_FLOAT, word.repeat(4), floats.clone()),
    ];
    for (format, flagged, other) in cases {
        let mut bench = Bench::new(16, 16);
        let size = flagged.len();
        let target = bench
            .scene
            .surface((format, size), (16, 16), Layout::Linear);
        bench.write(RegId::RcDefClr, value);
        assert_eq!(bench.read(RegId::RcDefClr), value);
        bench.write(RegId::WizStrgVal, 9);
        // Switch, flag handed on, global enable.
        for (control, flag, global) in [
            (DEFAULT_COLOR, true, true),
            (0, true, true),
            (SNAPSHOT, true, true),
            (DEFAULT_COLOR, false, true),
            (DEFAULT_COLOR, true, false),
        ] {
            target.fill(&[0; 16][..size]);
            bench.write(RegId::Instpm, 1 << 20 | u32::from(global) << 4);
            bench.write(RegId::WizCtl, 0);
            bench.write(RegId::WizCtl, 1 | u32::from(flag) << 1);
            bench.write(RegId::RcCtl, control);
            let mut draw = two(&mut bench);
            draw.surfaces = vec![target.state()];
            bench.draw(&draw);
            bench.scene.run();
            let forced = control == DEFAULT_COLOR && flag && global;
            let mut lit = 0;
            for y in 0..16 {
                for x in 0..16 {
                    let pixel = target.pixel(x, y);
                    if pixel.iter().all(|&byte| byte == 0) {
                        continue;
                    }
                    lit += 1;
                    let expected = if forced && x >= 8 { &flagged } else { &other };
                    assert_eq!(&pixel, expected, "{format:#x} {x} {y} {control:#x}");
                }
            }
            assert_eq!(lit, 8);
        }
        bench.write(RegId::RcCtl, 0);
        bench.write(RegId::WizCtl, 0);
        drop(target);
        bench.finish();
    }
}

/// Snapshot Enable of the render cache shows nothing: every mux value is left to a document outside the manual.
// covers: 3.4.8-02, 3.4.8.1-R, 3.4.8.3-R
#[test]
fn the_render_cache_shows_nothing() {
    let mut bench = Bench::new(16, 16);
    bench.write(RegId::RcCtl, u32::MAX);
    assert_eq!(bench.read(RegId::RcCtl), 0xff07);
    bench.write(RegId::RcCtl, SNAPSHOT);
    bench.write(RegId::WizCtl, 0b111);
    let draw = two(&mut bench);
    bench.draw(&draw);
    bench.scene.run();
    for mux in 0..256 {
        assert_eq!(bench.show(RegId::RcCtl, mux, RegId::RcRdata), 0);
    }
    bench.write(RegId::RcCtl, 0);
    bench.write(RegId::WizCtl, 0);
    bench.finish();
}

/// Without its L1 cache the sampler fetches every texel from memory: the same picture, later. No debug enable
/// qualifies the switch.
// covers: 3.4.6-02, 3.4.6.1-R
#[test]
fn textures_do_without_their_cache() {
    let mut results = Vec::new();
    for control in [0, 1 << 2, 0] {
        let mut frame = Frame::new();
        let draw = frame.draw();
        let bench = &mut frame.bench;
        bench.write(RegId::Instpm, 1 << 20);
        // The cache is empty behind an MI_FLUSH with Map Cache Invalidate.
        bench.scene.commands.push(0x0200_0001);
        bench.draw(&draw);
        bench.write(RegId::SamplerCtl, control);
        let start = ticks(bench);
        let submitted = bench.submit();
        while !bench.idle() {
            bench.run(10);
        }
        let time = ticks(bench) - start;
        bench.end(submitted);
        bench.write(RegId::SamplerCtl, 0);
        results.push((frame.take(), time));
        frame.finish();
    }
    assert!(results[0].0 == results[1].0 && results[0].0 == results[2].0);
    assert_eq!(results[0].1, results[2].1);
    assert!(
        results[1].1 > results[0].1 + 1000,
        "{} {}",
        results[1].1,
        results[0].1
    );
}

/// The n-th data phase of the first URB write whose header has the flag: all eight dwords of it, until software
/// clears Snapshot Complete.
// covers: 3.4.9-01, 3.4.9.1-R, 3.4.9.2-R
#[test]
fn a_data_phase_of_a_flagged_write_is_trapped() {
    let mut bench = Bench::new(16, 16);
    let control = RegId::UrbCtl;
    // Setup flags all its threads, or none; URB enable; global enable; phase.
    for (flag, enable, global, phase) in [
        (true, 1, true, 3),
        (true, 1, true, 0),
        (false, 1, true, 3),
        (true, 0, true, 3),
        (true, 1, false, 3),
        // The message has the phases 0 to 3.
        (true, 1, true, 4),
    ] {
        bench.write(RegId::Instpm, 1 << 20 | u32::from(global) << 4);
        bench.write(RegId::SfCtl, if flag { 0b110 } else { 0 });
        bench.write(control, phase << 16 | enable);
        let mut draw = tiny(&mut bench, kernels::wm_flat16());
        let mut vertices = [corner(1.0, 3.0), corner(9.0, 5.0)];
        for (triangle, red) in vertices.iter_mut().zip([0.125, 0.75]) {
            for vertex in triangle {
                vertex[4] = red;
            }
        }
        bench.scene.vertices(&mut draw, vertices.as_flattened());
        // MI_FLUSH with Global Snapshot Count Reset.
        bench.scene.commands.push(0x0200_0008);
        bench.draw(&draw);
        bench.scene.run();
        let trapped = flag && enable == 1 && global && phase < 4;
        assert_eq!(bench.read(control) >> 31 == 1, trapped, "phase {phase}");
        if !trapped {
            continue;
        }
        let found: Vec<u32> = (8..16)
            .map(|mux| bench.show(control, mux, RegId::UrbRdata))
            .collect();
        if phase == 3 {
            // The first vertex of the first triangle: x, y, z, 1/w and colour.
            let expected = [1.0f32, 3.0, 0.5, 1.0, 0.125, 0.4, 0.6, 1.0];
            assert_eq!(found, expected.map(f32::to_bits));
        } else {
            // The header: the thread's own number, 0, and the flag.
            assert_eq!((found[6] & 0x00ff_ffff, found[7] >> 31), (0, 1));
        }
        for mux in (4..8).chain(16..256) {
            assert_eq!(bench.show(control, mux, RegId::UrbRdata), 0, "{mux}");
        }
    }
    bench.write(control, 0);
    bench.write(RegId::SfCtl, 0);
    bench.finish();
}

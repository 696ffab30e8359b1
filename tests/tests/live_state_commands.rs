//! State commands and headers with values that tell their fields apart.
//!
//! PRM: volume 2 (3DSTATE commands, unit states), volume 4, 3.2 and 3.3.8. Expectations by hand.

use crestline_tests::scene::draw::{Draw, component, element, places};
use crestline_tests::scene::registers::{debug, read, show, write};
use crestline_tests::scene::surface::Layout;
use crestline_tests::scene::{Scene, kernels};
use regs::gen40::values::surface_format as sf;
use regs::gen40::{
    ConstantBuffer, CsUrbState, MiStoreRegisterMem, SamplerState, State3dChromaKey,
    State3dLineStipple, State3dPolyStippleOffset, UrbFence, reg,
};

const LINE_LIST: u32 = 2;
const LINE_STRIP: u32 = 3;
const LINE_STRIP_CONT: u32 = 0x12;
const TRI_FAN: u32 = 6;
const TRI_FAN_NOSTIPPLE: u32 = 0x16;

/// The offsets are added to the pixel's place: Mesa turns a window upside down with
/// y offset = 32 - height mod 32 (brw_misc_state.c). X and y get different ones.
// covers: V-0014, V-0019
#[test]
fn polygon_stipple_offsets() {
    let mut scene = Scene::new();
    let target = scene.target(40, 40);
    let pattern: Vec<u32> = (0..32u32)
        .map(|i| 0x8421_0ff1u32.rotate_left(i * 5) ^ i)
        .collect();
    let square = [[0.0, 0.0], [40.0, 0.0], [40.0, 40.0], [0.0, 40.0]];
    for (dx, dy) in [(5, 19), (31, 0), (0, 7)] {
        for (topology, stippled) in [(TRI_FAN, true), (TRI_FAN_NOSTIPPLE, false)] {
            target.fill(&[0; 4]);
            let mut draw = Draw::flat(target.state());
            draw.wm.set_polygon_stipple_enable(true);
            scene.commands.push(0x7907_001f);
            scene.commands.extend(&pattern);
            let mut offset = State3dPolyStippleOffset::new();
            offset
                .set_polygon_stipple_x_offset(dx)
                .set_polygon_stipple_y_offset(dy);
            scene.commands.extend(offset.dwords());
            scene.paint(&mut draw, topology, &square);
            for y in 0..40 {
                for x in 0..40 {
                    let row = pattern[((y + dy) % 32) as usize];
                    let on = !stippled || row >> (31 - (x + dx) % 32) & 1 == 1;
                    assert_eq!(target.word(x, y) != 0, on, "{dx} {dy} at {x} {y}");
                }
            }
        }
    }
    drop(target);
    scene.finish();
}

/// Modify Enable loads index and repeat counter; a strip begins the pattern anew, one that continues does not.
#[test]
fn line_stipple_goes_on_where_it_is_told_to() {
    let mut scene = Scene::new();
    let target = scene.target(64, 8);
    let (pattern, repeat) = (0x8c35u32, 3);
    for (topology, modify, first) in [
        // Index 5, of three pixels each, and two pixels of it used up.
        (LINE_STRIP_CONT, true, 5 * 3 + 2),
        (LINE_STRIP, true, 0),
        (LINE_LIST, true, 0),
        // What the 24 pixels of the strip before it left: 24 mod 48.
        (LINE_STRIP_CONT, false, 24),
    ] {
        let mut stipple = State3dLineStipple::new();
        stipple
            .set_line_stipple_pattern(pattern)
            .set_line_stipple_repeat_count(repeat)
            .set_line_stipple_inverse_repeat_count(1.0 / 3.0)
            .set_current_stipple_index(5)
            .set_current_repeat_counter(2);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::sf_flat_line();
        draw.wm.set_line_stipple_enable(true);
        // The strip that runs up the counter.
        scene.commands.extend(stipple.dwords());
        scene.paint(&mut draw, LINE_STRIP, &[[1.5, 6.5], [25.5, 6.5]]);
        target.fill(&[0; 4]);
        stipple.set_modify_enable(modify);
        scene.commands.extend(stipple.dwords());
        scene.paint(&mut draw, topology, &[[2.5, 3.5], [60.5, 3.5]]);
        for s in 0..58 {
            let on = pattern >> ((s + first) / repeat % 16) & 1 == 1;
            let lit = target.word(2 + s, 3) != 0;
            assert_eq!(
                lit, on,
                "topology {topology:#x}, modify {modify}, pixel {s}"
            );
        }
    }
    drop(target);
    scene.finish();
}

/// The key of the sampler's index, and of no other; texels within low..=high channel by channel become black.
// covers: 4.7.5-03, 4.7.3-35, 4.3.1-02
#[test]
fn chroma_keys_by_index() {
    let mut scene = Scene::new();
    let target = scene.target(8, 8);
    let texture = scene.surface((sf::B8G8R8A8_UNORM, 4), (2, 1), Layout::Linear);
    // A R G B: the left texel lies in the key, the right one's green does not.
    texture.set(0, 0, &0xff20_4060u32.to_le_bytes());
    texture.set(1, 0, &0xff20_5060u32.to_le_bytes());
    for index in 0..4u32 {
        target.fill(&[0xee; 4]);
        for entry in 0..4u32 {
            let mut key = State3dChromaKey::new();
            key.set_chromakey_table_index(entry);
            if entry == index {
                key.set_chromakey_low_value(0x8010_3050)
                    .set_chromakey_high_value(0xff30_4f70);
            } else {
                // Nothing lies between these.
                key.set_chromakey_low_value(0xffff_ffff)
                    .set_chromakey_high_value(0);
            }
            scene.commands.extend(key.dwords());
        }
        let mut sampler = SamplerState::new();
        sampler
            .set_chromakey_enable(true)
            .set_chromakey_index(index)
            // Replace by black.
            .set_chromakey_mode(1)
            .set_tcx_address_control_mode(2)
            .set_tcy_address_control_mode(2);
        let mut draw = Draw::flat(target.state());
        draw.sf_kernel = kernels::captured("sf c_gouraud");
        draw.wm_kernel = kernels::wm_tex16();
        draw.surfaces.push(texture.state());
        draw.sampler = Some((sampler, [0.0; 4]));
        let at = |x: f32, y: f32| [x * 8.0, y * 8.0, 0.5, 1.0, x, y, 0.0, 0.0];
        let (a, b, c, d) = (at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0));
        scene.vertices(&mut draw, &[a, b, c, a, c, d]);
        scene.draw(&draw);
        scene.run();
        assert_eq!(target.word(1, 3), 0, "index {index}: keyed");
        assert_eq!(target.word(6, 3), 0xff20_5060, "index {index}: not keyed");
    }
    drop((target, texture));
    scene.finish();
}

/// A kernel that changes in memory runs as it is from the next invalidation on: that of MI_FLUSH bit 1, or that of
/// PIPE_CONTROL bit 11.
#[test]
fn instruction_cache_invalidation() {
    let mut scene = Scene::new();
    let target = scene.target(8, 8);
    for command in [&[0x0200_0002u32][..], &[0x7a00_0802, 0, 0, 0]] {
        target.fill(&[0; 4]);
        let mut draw = Draw::flat(target.state());
        let corner = |x: f32, y: f32| [x, y, 0.5, 1.0, 1.0, 0.0, 0.0, 1.0];
        let kernel = scene.state(64, &draw.wm_kernel);
        let mut wm = draw.wm;
        wm.set_kernel_start_pointer_0(kernel);
        let wm = scene.state(32, wm.dwords());
        scene.vertices(
            &mut draw,
            &[corner(0.0, 0.0), corner(16.0, 0.0), corner(0.0, 16.0)],
        );
        scene.draw(&draw);
        // 3DSTATE_PIPELINED_POINTERS: the windower's state with the kernel whose address is known.
        let at = scene.commands.iter().position(|&c| c == 0x7800_0005);
        scene.commands[at.unwrap() + 5] = wm;
        // Of the first two instructions, which move red, the source becomes green: dword 2, g4.12 to g4.28.
        for instruction in 0..2 {
            let place = kernel + instruction * 16 + 8;
            let source = draw.wm_kernel[(instruction * 4 + 2) as usize];
            assert_eq!(source, 0x0000_008c);
            scene.commands.extend([0x1040_0002, 0, place, source + 16]);
        }
        scene.commands.extend(command);
        scene.commands.extend(draw.primitive.dwords());
        scene.run();
        assert_eq!(target.word(3, 3), 0xff00_0000, "after {command:x?}");
    }
    drop(target);
    scene.finish();
}

/// MI_FLUSH bit 3 starts the snapshot counters anew (PRM volume 4, 3.2.1): the second primitive behind it is number 1.
#[test]
fn snapshot_counters_restart_at_a_flush() {
    for reset in [true, false] {
        let mut scene = Scene::new();
        let target = scene.target(64, 64);
        debug(&scene, true);
        let triangle = [[0.0, 0.0], [64.0, 0.0], [0.0, 64.0]];
        let three = [triangle, triangle, triangle].concat();
        let mut draw = Draw::flat(target.state());
        scene.paint(&mut draw, 4, &three);
        // Number 1 if the counters restart, number 4 if they go on.
        let number = if reset { 1 } else { 4 };
        write(&scene, reg::SF_STRG_VAL.offset(), number);
        write(&scene, reg::SF_CTL.offset(), 1);
        scene.commands.push(0x0200_0000 | u32::from(reset) << 3);
        scene.paint(&mut draw, 4, &three);
        let control = read(&scene, reg::SF_CTL.offset());
        assert_eq!(control >> 31, 1, "reset {reset}: complete");
        // Mux 0: the first vertex, FFID of VF (VS is in bypass mode) and its sequence number, 3 or 9 + 3.
        let vertex = if reset { 3 } else { 12 };
        let shown = read(&scene, reg::SF_RDATA.offset());
        assert_eq!(shown, 1 << 28 | vertex, "reset {reset}");
        debug(&scene, false);
        drop(target);
        scene.finish();
    }
}

/// PIPE_CONTROL's timestamp is the one that the register shows: between two reads of it.
#[test]
fn timestamps_are_those_of_the_register() {
    let mut scene = Scene::new();
    let results = scene.object(4096);
    let base = results.address().unwrap();
    let store = |scene: &mut Scene, slot: u32| {
        for half in 0..2 {
            let mut command = MiStoreRegisterMem::new();
            command
                .set_use_global_gtt(true)
                .set_register_address(0x2358 + half * 4)
                .set_memory_address(base + slot * 8 + half * 4);
            scene.commands.extend(command.dwords());
        }
    };
    // Some time first, so that small factors show.
    scene.commands.extend([0; 400]);
    store(&mut scene, 0);
    scene.post_sync(3, base + 8, 0);
    store(&mut scene, 2);
    scene.run();
    let at = |slot: usize| {
        let half = |i| u64::from(results.read32(slot * 8 + i).unwrap());
        half(0) | half(4) << 32
    };
    assert!(at(0) >= 400, "a command dword takes a tick at least");
    assert!(
        at(0) <= at(1) && at(1) <= at(2),
        "{} {} {}",
        at(0),
        at(1),
        at(2)
    );
    assert!(at(2) - at(0) < 100, "a few commands");
    drop(results);
    scene.finish();
}

/// URB_FENCE may name one section alone; the others stay where they were, and it starts behind the one before it.
#[test]
fn one_fence_moves_alone() {
    let mut scene = Scene::new();
    let target = scene.float_target((64, 8));
    let mut draw = Draw::flat(target.state());
    draw.wm_kernel = kernels::wm_const16();
    draw.constants = vec![0.5; 16];
    draw.wm.set_constant_urb_entry_read_length(2);
    scene.vertices(&mut draw, &places(&[[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]));
    draw.topology(4, 3);
    scene.draw(&draw);
    let primitive = scene.commands.split_off(scene.commands.len() - 6);
    // CS alone, one unit longer; its contents must lie behind the setup entries, not over them.
    let mut fence = UrbFence::new();
    fence
        .set_cs_unit_urb_reallocation_request(true)
        .set_cs_fence(draw.fences[4] + 1);
    scene.commands.extend(fence.dwords());
    let mut entries = CsUrbState::new();
    entries.set_number_of_urb_entries(1);
    scene.commands.extend(entries.dwords());
    let at = scene.floats(&[0.375; 16]);
    let mut buffer = ConstantBuffer::new();
    buffer.set_valid(true).set_buffer_starting_address(at);
    scene.commands.extend(buffer.dwords());
    scene.commands.extend(primitive);
    scene.run();
    assert_eq!(target.bits(1, 1), [0.375f32.to_bits(); 4]);
    drop(target);
    scene.finish();
}

/// Start Vertex Location counts without indices; Base Vertex Location is for indices alone (PRM volume 2, 3DPRIMITIVE).
#[test]
fn base_vertex_is_for_indices_alone() {
    let mut scene = Scene::new();
    let target = scene.target(16, 4);
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::sf_point();
    let row: Vec<[f32; 2]> = (0..16).map(|i| [i as f32 + 0.5, 1.5]).collect();
    scene.vertices(&mut draw, &places(&row));
    draw.primitive
        .set_start_vertex_location(3)
        .set_base_vertex_location(5);
    draw.topology(1, 4);
    scene.draw(&draw);
    scene.run();
    let lit: Vec<u32> = (0..16).filter(|&x| target.word(x, 1) != 0).collect();
    assert_eq!(lit, [3, 4, 5, 6]);
    drop(target);
    scene.finish();
}

/// An element without its Valid bit is not stored.
#[test]
fn invalid_elements_store_nothing() {
    let mut scene = Scene::new();
    let target = scene.target(16, 16);
    let mut draw = Draw::flat(target.state());
    scene.vertices(&mut draw, &places(&[[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]]));
    // Would make the colour zero.
    let mut off = element(0, 0, sf::R32G32B32A32_FLOAT, 12, [component::ZERO; 4]);
    off.set_valid(false);
    draw.elements.push(off);
    scene.draw(&draw);
    scene.run();
    assert_eq!(target.word(4, 4), u32::MAX);
    drop(target);
    scene.finish();
}

/// Statistics of a unit are counted under that unit's own enable.
#[test]
fn each_unit_counts_under_its_own_enable() {
    for which in 0..5 {
        let mut scene = Scene::new();
        let target = scene.target(32, 32);
        let mut draw = Draw::flat(target.state());
        draw.perspective(32.0, 32.0);
        draw.gs_kernel = Some(kernels::gs_quads());
        match which {
            0 => drop(draw.vs.set_statistics_enable(true)),
            1 => drop(draw.clip.set_clipper_statistics_enable(true)),
            2 => drop(draw.gs.set_gs_output_object_statistics_enable(true)),
            3 => drop(draw.wm.set_statistics_enable(true)),
            _ => {}
        }
        let quad = [[-1.0, -1.0], [0.0, -1.0], [0.0, 0.0], [-1.0, 0.0]]
            .map(|p| [p[0], p[1], 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        scene.vertices(&mut draw, &quad);
        draw.topology(7, 4);
        scene.draw(&draw);
        scene.run();
        let s = scene.rig.platform.device().status().statistics;
        // One quad, two triangles of it, a quarter of the target.
        let on = |unit, count| if which == unit { count } else { 0 };
        assert_eq!(s.vs_invocations, on(0, 4), "{which}");
        assert_eq!((s.cl_invocations, s.cl_primitives), (on(1, 2), on(1, 2)));
        assert_eq!(s.gs_primitives, on(2, 2), "{which}");
        assert_eq!(s.ps_invocations, on(3, 256), "{which}");
        assert_eq!((s.ia_vertices, s.ia_primitives), (0, 0));
        drop(target);
        scene.finish();
    }
}

/// A cut index ends a line loop, which then closes; so does the last index.
#[test]
fn cut_indices_close_loops() {
    let mut scene = Scene::new();
    let target = scene.target(32, 16);
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::sf_flat_line();
    // Two squares of eight pixels, sixteen apart; closing lines are their left sides.
    let square = |x: f32| [[x, 2.5], [x + 8.0, 2.5], [x + 8.0, 10.5], [x, 10.5]];
    let all = [square(2.5), square(18.5)].concat();
    scene.vertices(&mut draw, &places(&all));
    // Bytes: 0 1 2 3 ff 4 5 6 7.
    let at = scene.state(64, &[0x0302_0100, 0x0605_04ff, 7]);
    let mut indices = regs::gen40::State3dIndexBuffer::new();
    indices
        .set_cut_index_enable(true)
        .set_buffer_starting_address(at)
        .set_buffer_ending_address(at + 8);
    draw.index_buffer = Some(indices);
    draw.primitive.set_vertex_access_type(1);
    draw.topology(0x10, 9);
    scene.draw(&draw);
    scene.run();
    let lit: Vec<u32> = (0..32).filter(|&x| target.word(x, 6) != 0).collect();
    assert_eq!(lit, [2, 10, 18, 26]);
    drop(target);
    scene.finish();
}

/// Vertices out of a clip thread have their number within it in the setup snapshot (PRM volume 4, 3.3.8).
#[test]
fn clipped_vertices_are_numbered() {
    let mut scene = Scene::new();
    let target = scene.target(32, 32);
    let mut draw = Draw::flat(target.state());
    draw.perspective(32.0, 32.0);
    let v = |x: f32, y: f32| [x, y, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    // Sticks out on the right: four corners are left, two triangles.
    scene.vertices(&mut draw, &[v(-0.5, -0.5), v(3.0, 0.0), v(-0.5, 0.5)]);
    draw.topology(4, 3);
    debug(&scene, true);
    write(&scene, reg::SF_STRG_VAL.offset(), 1);
    write(&scene, reg::SF_CTL.offset(), 1);
    scene.draw(&draw);
    scene.run();
    let control = reg::SF_CTL.offset();
    assert_eq!(read(&scene, control) >> 31, 1, "a second triangle");
    // Mux 1, 3, 5: relative counts. The second triangle of the polygon is its vertices 0, 2, 3.
    let relative: Vec<u32> = [1, 3, 5]
        .map(|mux| show(&scene, control, mux, reg::SF_RDATA.offset()))
        .to_vec();
    assert_eq!(relative, [0, 2, 3]);
    debug(&scene, false);
    drop(target);
    scene.finish();
}

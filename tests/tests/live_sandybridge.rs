//! Sandy Bridge from vertex buffers to pixels: what threads find and leave.
//!
//! The numbers of the vertices and constants come back from the registers of threads that the model's debugger stops before
//! their first instruction. Layouts: Mesa 22.3.6 brw_vec4.cpp `setup_attributes`, brw_fs_thread_payload.cpp, gfx6_gs_visitor.cpp.

use std::fmt::Write;

use crestline_tests::scene::sandybridge::{Draw, VS_PASS, element, viewport};
use crestline_tests::scene::surface::Surface;
use crestline_tests::scene::{FRAME, Scene};
use mmio_mock::Model;
use mmio_mock::intel::debug::host::{Go, Rule};
use mmio_mock::intel::status::Unit;

mod geometry;
mod sides;
mod wide;

pub(crate) type Register = [u32; 8];

/// A scene with a target, eight by eight unless told.
pub(crate) fn scene(size: [u32; 2]) -> (Scene, Surface, Draw) {
    let mut scene = Scene::on("sandybridge");
    let target = scene.target(size[0], size[1]);
    target.fill(&[0; 4]);
    let draw = Draw::new(
        &regs::gen60::SurfaceState::from_dwords(target.state().dwords()),
        size,
    );
    (scene, target, draw)
}

/// Submits the frame; the registers of each thread of a unit before its first instruction, in their order.
pub(crate) fn payloads(scene: &mut Scene, unit: Unit) -> Vec<Vec<Register>> {
    {
        let mut device = scene.rig.platform.device();
        device.set_debugger(true);
        device.debugger().unwrap().add(Rule::Dispatch(unit));
    }
    let frame = scene.submit();
    let mut all = Vec::new();
    loop {
        let mut device = scene.rig.platform.device();
        device.run(10_000_000);
        let Some(stopped) = device.debugger().unwrap().stopped() else {
            break;
        };
        let (_, eu, slot) = stopped.thread.unwrap();
        all.push(device.thread(eu, slot).unwrap().grf().to_vec());
        device.debugger().unwrap().go(Go::Continue);
    }
    frame.wait(FRAME).expect("the frame ends");
    frame.release();
    scene.rig.platform.device().set_debugger(false);
    all
}

pub(crate) fn floats(register: &[u32]) -> Vec<f32> {
    register.iter().map(|bits| f32::from_bits(*bits)).collect()
}

/// Vertices whose numbers tell vertex and component: 10.0, 10.25, .. 11.75 of the first, from 20.0 on of the second.
pub(crate) fn numbered(count: usize) -> Vec<[f32; 8]> {
    (0..count)
        .map(|n| std::array::from_fn(|i| (10 * (n + 1)) as f32 + i as f32 / 4.0))
        .collect()
}

fn finish(scene: Scene, target: Surface) {
    drop(target);
    drop(scene.rig.device.take_error_state());
    scene.finish();
}

/// Three vertices of four elements: two threads, the second with one vertex. Behind the header are three rows of constants,
/// then a register for each element: two elements are a unit of the read length.
// covers: S-0008, S-0012, S-0013, S-0079, S-0082, S-0094, S-0095, S-0198, S-0199
#[test]
fn a_vertex_thread_has_constants_and_then_its_vertices_side_by_side() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let vertices = numbered(3);
    scene.vertices_of(&mut draw, &vertices);
    draw.elements = [0, 16, 16, 0].map(element).to_vec();
    draw.vs.set_vertex_urb_entry_read_length(2);
    draw.constants[0] = (1..=24).map(|n| n as f32).collect();
    draw.vs_kernel = Some(VS_PASS.replace("g1<4>", "g4<4>").replace("g2<4>", "g5<4>"));
    scene.draw_of(&draw);
    let threads = payloads(&mut scene, Unit::Vs);
    assert_eq!(threads.len(), 2);
    for (thread, pair) in threads.iter().zip(vertices.chunks(2)) {
        for row in 0..3 {
            let expected: Vec<f32> = (1..=8).map(|n| (8 * row + n) as f32).collect();
            assert_eq!(floats(&thread[1 + row]), expected);
        }
        for (element, half) in [0, 1, 1, 0].into_iter().enumerate() {
            let register = floats(&thread[4 + element]);
            for (side, vertex) in pair.iter().enumerate() {
                let expected = &vertex[4 * half..][..4];
                assert_eq!(&register[4 * side..][..4], expected, "element {element}");
            }
        }
        // Nothing behind them, as if the registers were new.
        assert_eq!(thread[8], [0; 8]);
    }
    finish(scene, target);
}

/// From the second row of the entry on: the third element is the first that the thread gets.
// covers: S-0013
#[test]
fn a_read_offset_counts_pairs_of_elements_too() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let vertices = numbered(2);
    scene.vertices_of(&mut draw, &vertices);
    draw.elements = [0, 0, 16, 0].map(element).to_vec();
    draw.vs.set_vertex_urb_entry_read_offset(1);
    scene.draw_of(&draw);
    let threads = payloads(&mut scene, Unit::Vs);
    assert_eq!(floats(&threads[0][1])[..4], vertices[0][4..]);
    assert_eq!(floats(&threads[0][2])[4..], vertices[1][..4]);
    finish(scene, target);
}

/// The header names the tables of the vertex shader and two entries. What the threads write there is what the pixels have: red and
/// green of one vertex, blue of another would show a mistake.
// covers: S-0014, S-0190, S-0197, S-0069, S-0057
#[test]
fn vertices_go_to_the_entries_of_the_header() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let corner = |x: f32, y: f32, n: f32| [x, y, 0.5, 1.0, n / 8.0, 1.0 - n / 8.0, n / 16.0, 1.0];
    let corners = [
        corner(-1.0, -1.0, 0.0),
        corner(0.0, -1.0, 1.0),
        corner(-1.0, 0.0, 2.0),
        corner(1.0, -1.0, 3.0),
        corner(1.0, 1.0, 4.0),
        corner(0.0, 1.0, 5.0),
    ];
    scene.vertices_of(&mut draw, &corners);
    // VS tables: binding table 2c0h, sampler states 140h.
    draw.more = vec![0x7801_0102, 0x2c0, 0, 0, 0x7802_0102, 0x140, 0, 0];
    // Flat: the third vertex of each triangle.
    draw.sf.set_constant_interpolation_enable(1);
    scene.draw_of(&draw);
    let threads = payloads(&mut scene, Unit::Vs);
    assert_eq!(threads.len(), 3);
    for thread in &threads {
        let r0 = thread[0];
        assert_eq!((r0[3], r0[4]), (0x140, 0x2c0));
        assert_ne!(r0[0] & 0xffff, r0[1] & 0xffff, "an entry for each vertex");
    }
    let bytes = |n: f32| {
        let byte = |v: f32| (v * 255.0).round_ties_even() as u32;
        0xff00_0000 | byte(n / 8.0) << 16 | byte(1.0 - n / 8.0) << 8 | byte(n / 16.0)
    };
    assert_eq!(target.word(0, 0), bytes(2.0));
    assert_eq!(target.word(7, 2), bytes(5.0));
    finish(scene, target);
}

/// Two rows of constants, then two registers for each of two attributes: what the second and third vertex have beyond the first,
/// and the first (Mesa brw_fs.cpp `interp_reg`).
// covers: S-0049
#[test]
fn a_pixel_thread_has_constants_and_then_planes() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let corners = [
        [-1.0, -1.0, 0.5, 1.0, 0.5, 0.25, 0.125, 1.0],
        [1.0, -1.0, 0.5, 1.0, 0.625, 0.5, 0.125, 0.5],
        [-1.0, 1.0, 0.5, 1.0, 1.0, 0.75, 0.25, 1.0],
    ];
    scene.vertices_of(&mut draw, &corners);
    draw.vs_kernel = Some(
        VS_PASS
            .replace("mov(8) m1<1>UD", "mov(8) m5<1>F g1<4>F { align16 1Q };\nmov(8) m6<1>F 0F { align16 1Q };\nmov(8) m1<1>UD")
            .replace("mlen 5", "mlen 7"),
    );
    draw.constants[2] = (1..=16).map(|n| n as f32).collect();
    draw.sf.set_number_of_sf_output_attributes(2);
    draw.wm.set_number_of_sf_output_attributes(2);
    draw.wm_kernel = draw.wm_kernel.replace("g5", "g7").replace("g4", "g6");
    scene.draw_of(&draw);
    let threads = payloads(&mut scene, Unit::Wiz);
    let [a, b, c] = corners;
    for thread in &threads {
        for row in 0..2 {
            let expected: Vec<f32> = (1..=8).map(|n| (8 * row + n) as f32).collect();
            assert_eq!(floats(&thread[4 + row]), expected);
        }
        // The colour, then the position as the second attribute.
        for (attribute, first) in [4, 0].into_iter().enumerate() {
            for component in 0..4 {
                let at = first + component;
                let register = floats(&thread[6 + 2 * attribute + component / 2]);
                let found = &register[component % 2 * 4..][..4];
                assert_eq!(
                    found,
                    [b[at] - a[at], c[at] - a[at], 0.0, a[at]],
                    "{component}"
                );
            }
        }
        assert_eq!(thread[10], [0; 8]);
    }
    assert!(!threads.is_empty());
    finish(scene, target);
}

/// A vertex shader whose header is the colour's bits: array index, viewport, width of the point.
fn header_from_attribute() -> String {
    VS_PASS
        .replace("mov(8) m2<1>D 0D", "mov(8) m2<1>D g2<4>D")
        .replace("m4<1>F g2<4>F", "m4<1>F 1F")
}

/// Points of 1, 3 and 2 pixels by their own width, the second in the other viewport, which is the right half, the third in slice
/// 1 of the target. The rows of a slice are 34: 8 and 4 of the levels, 11 times the vertical alignment of 2 (Mesa isl.c,
/// `isl_calc_array_pitch_el_rows_gfx4_2d`).
// covers: S-0016, S-0017, S-0018, S-0019, S-0033
#[test]
fn the_head_of_a_vertex_chooses_slice_viewport_and_width() {
    const SLICE: u32 = 34;
    let mut scene = Scene::on("sandybridge");
    let target = scene.surface_rows(
        (0xc0, 4),
        (16, 8),
        2 * SLICE,
        crestline_tests::scene::surface::Layout::Linear,
    );
    target.fill(&[0; 4]);
    let mut state = regs::gen60::SurfaceState::from_dwords(target.state().dwords());
    state.set_depth(1).set_render_target_view_extent(1);
    let mut draw = Draw::new(&state, [16, 8]);
    let of = |slice: u32, viewport: u32, width: f32, [x, y]: [f32; 2]| {
        let head = [0, slice, viewport].map(f32::from_bits);
        [x, y, 0.5, 1.0, head[0], head[1], head[2], width]
    };
    let vertices = [
        of(0, 0, 1.0, [-0.875, -0.875]),
        of(0, 1, 3.0, [-0.125, 0.125]),
        of(1, 0, 2.0, [0.0, 0.0]),
    ];
    scene.vertices_of(&mut draw, &vertices);
    draw.topology(1, 3);
    draw.vs_kernel = Some(header_from_attribute());
    draw.viewports = vec![
        viewport([8.0, 8.0], [0.0; 2]),
        viewport([8.0, 8.0], [8.0, 0.0]),
    ];
    draw.clip.set_maximum_vp_index(1);
    draw.sf.set_point_width_source(0);
    scene.draw_of(&draw);
    let threads = payloads(&mut scene, Unit::Wiz);
    // Slice in bits 26:16, viewport in bits 30:27, the topology below (Mesa brw_fs.cpp `fetch_render_target_array_index`).
    let mut heads: Vec<u32> = threads
        .iter()
        .map(|thread| thread[0][0] & 0x7fff_001f)
        .collect();
    heads.dedup();
    assert_eq!(heads, [1, 1 << 27 | 1, 1 << 16 | 1]);
    let mut lit = Vec::new();
    for y in 0..2 * SLICE {
        lit.extend((0..16).filter(|x| target.word(*x, y) != 0).map(|x| (x, y)));
    }
    let mut expected = vec![(0, 0)];
    expected.extend((3..6).flat_map(|y| (10..13).map(move |x| (x, y))));
    expected.extend((3..5).flat_map(|y| (3..5).map(move |x| (x, SLICE + y))));
    assert_eq!(lit, expected);
    finish(scene, target);
}

/// Line loops of three vertices, two instances of one: the last vertex closes the loop, the first begins another. The pixels' header
/// has the code of LINESTRIP, 3: LINELOOP becomes one at the beginning of the 3D pipeline (Kaby Lake's manual, volume 2b, 3D_Prim_Topo_Type).
// covers: S-0034
#[test]
fn the_ends_of_a_primitive_reach_the_screen() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let corner = |x: f32, y: f32| {
        let [x, y] = [x, y].map(|v| v / 4.0 - 1.0);
        [x, y, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]
    };
    // A square of which a side is missing without the way back from the last vertex.
    let corners = [[1.5, 1.5], [6.5, 1.5], [6.5, 6.5], [1.5, 6.5]].map(|[x, y]| corner(x, y));
    scene.vertices_of(&mut draw, &corners);
    draw.topology(16, 4);
    draw.primitive.set_instance_count(2);
    scene.draw_of(&draw);
    let threads = payloads(&mut scene, Unit::Wiz);
    assert!(threads.iter().all(|thread| thread[0][0] & 31 == 3));
    let lit: Vec<(u32, u32)> = target.lit();
    let side = |at: u32| (1..=6).contains(&at);
    let expected: Vec<(u32, u32)> = (0..8)
        .flat_map(|y| (0..8).map(move |x| (x, y)))
        .filter(|&(x, y)| side(x) && side(y) && (x == 1 || x == 6 || y == 1 || y == 6))
        .collect();
    assert_eq!(lit, expected);
    finish(scene, target);
}

/// Sixteen slots of four dwords in 256 bytes: header, position and fourteen attributes. The last one arrives, and the entries of two
/// vertices lie so far from one another.
// covers: S-0022
#[test]
fn an_entry_has_room_for_as_many_attributes_as_its_size_says() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let corners = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]
        .map(|[x, y]| [x, y, 0.5, 1.0, 0.25, 0.5, 0.75, 1.0]);
    scene.vertices_of(&mut draw, &corners);
    draw.urb.set_vs_urb_entry_allocation_size(1);
    let mut text =
        String::from("mov(8) m2<1>D 0D { align16 1Q };\nmov(8) m3<1>F g1<4>F { align16 1Q };\n");
    for slot in 4..16 {
        writeln!(text, "mov(8) m{slot}<1>F 0F {{ align16 1Q }};").unwrap();
    }
    // The first fourteen slots, then the last two, seven rows on.
    text += "mov(8) m1<1>UD g0<4>UD { align16 WE_all 1Q };\n\
        send(8) null<1>F m1<4>F urb MsgDesc: offset 0 urb_write interleave mlen 15 rlen 0 header { align16 1Q };\n\
        mov(8) m3<1>F g2<4>F { align16 1Q };\n\
        send(8) null<1>F m1<4>F urb MsgDesc: offset 7 urb_write interleave used complete mlen 3 rlen 0 header { align16 1Q EOT };\n";
    draw.vs_kernel = Some(text);
    // Source of attribute 0: number 13, by Attribute Swizzle Enable.
    let mut sf: Vec<u32> = draw.sf.dwords().to_vec();
    sf[1] |= 1 << 21;
    sf[8] |= 0xd;
    draw.sf = regs::gen60::State3dSf::from_dwords(&sf);
    scene.draw_of(&draw);
    let threads = payloads(&mut scene, Unit::Vs);
    let [first, second] = [threads[0][0][0], threads[0][0][1]].map(|handle| handle & 0xffff);
    assert_eq!(first.abs_diff(second) * 32, 256);
    let expected = 0xff00_0000 | 0x40 << 16 | 0x80 << 8 | 0xbf;
    assert_eq!(target.words(), vec![expected; 64]);
    finish(scene, target);
}

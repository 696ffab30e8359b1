//! GS threads: registers, entries one after another, streams into memory.
//!
//! Kernels after Mesa 22.3.6's own for stream output (brw_compile_ff_gs.c): FF_SYNC for the first entry, then URB_WRITE with
//! Allocate. A vertex has two rows: header and position, two attributes.

use std::fmt::Write;

use super::{Register, finish, floats, numbered, payloads, scene};
use crestline_tests::scene::sandybridge::VS_PASS;
use mmio_mock::intel::status::Unit;
use regs::gen60::SurfaceState;

/// Codes of topologies (genxml gen6, 3D_Prim_Topo_Type).
const POINTS: u32 = 1;
const TRIANGLES: u32 = 4;
const STRIP: u32 = 5;

/// Asks for the first entry: header in g11, its handle in g11.0.
const SYNC: &str = "\
mov(8) g11<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
mov(1) g11.1<1>UD 1UD { align1 WE_all 1N };
mov(8) m0<1>UD g11<8,8,1>UD { align1 WE_all 1Q };
send(8) g12<1>UD m0<8,8,1>F urb MsgDesc: offset 0 ff_sync allocate mlen 1 rlen 1 header { align1 WE_all 1Q };
mov(1) g11<1>UD g12<0,1,0>UD { align1 WE_all 1N };
";

/// A vertex from two registers: its place in the topology (PrimStart 2, PrimEnd 1); the last one ends the thread.
fn emit(rows: [u32; 2], topology: u32, place: u32, last: bool) -> String {
    let head = format!(
        "mov(1) g11.2<1>UD {:#x}UD {{ align1 WE_all 1N }};\n\
         mov(8) m1<1>UD g{}<8,8,1>UD {{ align1 WE_all 1Q }};\n\
         mov(8) m2<1>UD g{}<8,8,1>UD {{ align1 WE_all 1Q }};\n\
         mov(8) m0<1>UD g11<8,8,1>UD {{ align1 WE_all 1Q }};\n",
        topology << 2 | place,
        rows[0],
        rows[1]
    );
    let send = if last {
        "send(8) null<1>UD m0<8,8,1>F urb MsgDesc: offset 0 urb_write used complete mlen 3 rlen 0 header { align1 WE_all 1Q EOT };\n"
    } else {
        "send(8) g12<1>UD m0<8,8,1>F urb MsgDesc: offset 0 urb_write allocate used complete mlen 3 rlen 1 header { align1 WE_all 1Q };\n\
         mov(1) g11<1>UD g12<0,1,0>UD { align1 WE_all 1N };\n"
    };
    head + send
}

/// The triangle in g2 to g7 as it is.
fn pass() -> String {
    SYNC.to_owned()
        + &emit([2, 3], TRIANGLES, 2, false)
        + &emit([4, 5], TRIANGLES, 0, false)
        + &emit([6, 7], TRIANGLES, 1, true)
}

/// Two triangles: a thread for each, whose constants are followed by the rows of each of its vertices. The vertex shader has
/// doubled the colours, so that they come out of the entries and not out of the buffer.
// covers: S-0026, S-0027, S-0083
#[test]
fn a_geometry_thread_has_constants_and_then_vertex_behind_vertex() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let vertices = numbered(6);
    scene.vertices_of(&mut draw, &vertices);
    draw.vs_kernel = Some(VS_PASS.replace("mov(8) m4<1>F g2<4>F", "add(8) m4<1>F g2<4>F g2<4>F"));
    draw.constants[1] = (1..=8).map(|n| n as f32).collect();
    draw.gs_kernel = Some(pass());
    scene.draw_of(&draw);
    let threads: Vec<Vec<Register>> = payloads(&mut scene, Unit::Gs);
    assert_eq!(threads.len(), 2);
    for (thread, triangle) in threads.iter().zip(vertices.chunks(3)) {
        assert_eq!(floats(&thread[2]), draw.constants[1]);
        for (vertex, at) in triangle.iter().zip([3, 5, 7]) {
            let doubled: Vec<f32> = vertex[4..].iter().map(|v| 2.0 * v).collect();
            assert_eq!(floats(&thread[at])[..4], [0.0; 4], "header");
            assert_eq!(floats(&thread[at])[4..], vertex[..4], "position");
            assert_eq!(floats(&thread[at + 1])[..4], doubled, "attribute");
        }
        assert_eq!(thread[9], [0; 8]);
    }
    finish(scene, target);
}

/// Of each point a strip of four vertices: had one entry been used twice, a corner would be another's. A second strip begins where
/// PrimStart says so.
// covers: S-0029, S-0034
#[test]
fn entries_are_written_and_asked_for_in_turn() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let point = |x: f32, y: f32| [x, y, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0];
    scene.vertices_of(&mut draw, &[point(-1.0, -1.0), point(0.0, 0.0)]);
    draw.topology(POINTS, 2);
    // Corners in g20 to g23: two pixels to the right, two down.
    let mut text = SYNC.to_owned();
    for corner in 0..4 {
        writeln!(
            text,
            "mov(8) g{}<1>UD g2<8,8,1>UD {{ align1 WE_all 1Q }};",
            20 + corner
        )
        .unwrap();
    }
    for (corner, component) in [(21, 4), (22, 5), (23, 4), (23, 5)] {
        let place = format!("g{corner}.{component}");
        writeln!(
            text,
            "add(1) {place}<1>F {place}<0,1,0>F 0.5F {{ align1 WE_all 1N }};"
        )
        .unwrap();
    }
    text += &emit([20, 3], STRIP, 2, false);
    text += &emit([21, 3], STRIP, 0, false);
    text += &emit([22, 3], STRIP, 0, false);
    text += &emit([23, 3], STRIP, 1, true);
    draw.gs_kernel = Some(text);
    scene.draw_of(&draw);
    scene.run();
    let square = |x: u32, y: u32| (x < 2 && y < 2) || ((4..6).contains(&x) && (4..6).contains(&y));
    let expected: Vec<(u32, u32)> = (0..8)
        .flat_map(|y| (0..8).map(move |x| (x, y)))
        .filter(|&(x, y)| square(x, y))
        .collect();
    assert_eq!(target.lit(), expected);
    finish(scene, target);
}

/// Colours of two triangles' vertices through the data port into elements 5 to 10 of a buffer of eleven, and the triangles on the
/// screen: index 5 comes with the first thread, and goes on by three.
// covers: S-0028
#[test]
fn a_thread_puts_vertices_out_and_streams_them_into_memory() {
    let (mut scene, target, mut draw) = scene([8, 8]);
    let buffer = scene.object(4096);
    let corner = |x: f32, y: f32, n: f32| [x, y, 0.5, 1.0, n / 8.0, n / 16.0, n / 32.0, 1.0];
    let vertices = [
        corner(-1.0, -1.0, 1.0),
        corner(1.0, -1.0, 2.0),
        corner(-1.0, 1.0, 3.0),
        corner(1.0, -1.0, 4.0),
        corner(1.0, 1.0, 5.0),
        corner(-1.0, 1.0, 6.0),
    ];
    scene.vertices_of(&mut draw, &vertices);
    let mut text = String::from("mov(8) g13<1>UD g0<8,8,1>UD { align1 WE_all 1Q };\n");
    for (vertex, row) in [3, 5, 7].into_iter().enumerate() {
        writeln!(text, "add(1) g13.5<1>UD g1<0,1,0>UD {vertex}UD {{ align1 WE_all 1N }};\n\
             mov(4) g13<1>UD g{row}<4,4,1>UD {{ align1 WE_all 1N }};\n\
             mov(8) m1<1>UD g13<8,8,1>UD {{ align1 WE_all 1Q }};\n\
             send(8) null<1>F m1<8,8,1>F render MsgDesc: streamed VB write MsgCtrl = 0x0 Surface = 0 mlen 1 rlen 0 header {{ align1 WE_all 1Q }};").unwrap();
    }
    draw.gs_kernel = Some(text + &pass());
    // SURFTYPE_BUFFER of eleven elements of sixteen bytes, R32G32B32A32_FLOAT.
    let state = SurfaceState::new()
        .with_surface_type(4)
        .with_surface_base_address(buffer.address().unwrap())
        .with_width(10)
        .with_surface_pitch(15);
    let state = scene.state(32, state.dwords());
    let table = scene.state(32, &[state]);
    // 3DSTATE_BINDING_TABLE_POINTERS of GS, 3DSTATE_GS_SVB_INDEX of index 0.
    draw.more = vec![0x7801_0202, 0, table, 0, 0x790b_0002, 0, 5, 11];
    draw.gs
        .set_svbi_post_increment_enable(true)
        .set_svbi_post_increment_value(3);
    draw.sf.set_constant_interpolation_enable(1);
    scene.draw_of(&draw);
    scene.run();
    let mut bytes = vec![0; 11 * 16];
    buffer.read(0, &mut bytes).unwrap();
    let words = bytes
        .chunks(4)
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()));
    let words: Vec<u32> = words.collect();
    assert_eq!(words[..20], [0; 20]);
    let streamed: Vec<f32> = vertices.iter().flat_map(|v| v[4..].to_vec()).collect();
    assert_eq!(floats(&words[20..]), streamed);
    // Flat in the colour of the third vertex.
    let byte = |v: f32| (v * 255.0).round_ties_even() as u32;
    let colour = |v: [f32; 8]| 0xff00_0000 | byte(v[4]) << 16 | byte(v[5]) << 8 | byte(v[6]);
    assert_eq!(target.word(0, 0), colour(vertices[2]));
    assert_eq!(target.word(7, 7), colour(vertices[5]));
    drop(buffer);
    finish(scene, target);
}

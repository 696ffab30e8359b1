//! Kernels that Mesa 22.3.6 made for Bay Trail, through all three stages.
//!
//! A quadrilateral patch of a frame of `tests/tools/glscenes3.c` (tessquad): the shaders stand there, and what they compute is computed
//! here once more.

use isa::Verx10;
use mem::GpuAddr;
use tess::{Domain, Factors, Output, Partitioning, Setting, Tessellator};

use super::rig::{DS_KERNEL, HS_KERNEL, Rig};
use crate::intel::ff::Step;
use crate::intel::ff::ds::Ds;
use crate::intel::ff::hs::Hs;
use crate::intel::ff::link::Link;
use crate::intel::ff::stage::Stage;
use crate::intel::ff::state::tessellation::FactorPlaces;
use crate::intel::ff::te::Te;
use crate::intel::ff::topology::Topology;
use crate::intel::r#gen::readers;
use crate::intel::urb::{Owner, UrbHandle};

/// The tessellation control shader: two threads, which wait for one another twice.
const HULL: [u64; 154] = [
    0x20a00c2100000005,
    0x007f000000000008,
    0x20a00c2100000008,
    0x0000000f000000a0,
    0x20b00c2100000040,
    0x00000001000000a0,
    0x00002d0020006d01,
    0x25b4006100000201,
    0x0000ff0000000000,
    0x22002d2800000240,
    0x00080008000000a0,
    0x22002d0800000209,
    0x0002000200000200,
    0x25a0002100000201,
    0x0000000000008000,
    0x22002d2800000240,
    0x00080008000000b0,
    0x22002d0800000209,
    0x0002000200000200,
    0x25a4002100000201,
    0x0000000000008000,
    0x21c10ca500600109,
    0x00000001006000a0,
    0x218f002100600301,
    0x00000000006e05a4,
    0x00002e0020006d01,
    0x25d4006100000201,
    0x0000ff0000000000,
    0x25c0002100200201,
    0x0000000000000000,
    0x25cc002100200201,
    0x00000000006001c0,
    0x216f0c2506600131,
    0x0219400b006e0184,
    0x21ef002100600301,
    0x00000000006e05c4,
    0x220f00a500600301,
    0x00000000006e0164,
    0x200f0c3c06600131,
    0x04094019006e01e4,
    0x224f002100600301,
    0x00000000006e05a4,
    0x226f002100600301,
    0x00000000006e05c4,
    0x222f0c2506600131,
    0x02194013006e0244,
    0x228f00a500600301,
    0x00000000006e0224,
    0x200f0c3c06600131,
    0x04094021006e0264,
    0x0000140020006d01,
    0x22880c2100000205,
    0x0000f00000000008,
    0x22880c2100000209,
    0x0000000c00000288,
    0x22880c2100000206,
    0x0000840000000288,
    0x20000c2803600231,
    0x0200000400690280,
    0x3201700000000330,
    0x006e000400001200,
    0x20011ca401608110,
    0x00000000006000a0,
    0x200f3c8400620122,
    0x00350035000e0004,
    0x00001f0020006d01,
    0x23f4006100000201,
    0x0000ff0000000000,
    0x23e0002100200201,
    0x0000000000000020,
    0x244110e500600101,
    0x3f80000000000000,
    0x00002f0020006d01,
    0x25f4006100000201,
    0x0000ff0000000000,
    0x25e0002100200201,
    0x0000000000000000,
    0x23cf0c2506600131,
    0x02194013006e03e4,
    0x248f002100600301,
    0x00000000006e05e4,
    0x24a87fbd00600540,
    0x40000000006f03cf,
    0x24217fbd00600141,
    0x3e99999a006f43cf,
    0x24a27fbd00600d40,
    0x40a0000000600420,
    0x250200a000600d5c,
    0x088000440001e1fe,
    0x24a4006100600901,
    0x4040000000000000,
    0x200f0c3c06600131,
    0x04094009006e0484,
    0x20e87fbd00600540,
    0x40400000006f03cf,
    0x0000250020006d01,
    0x24b4006100000201,
    0x0000cc0000000000,
    0x24a0002100200201,
    0x0000000000000000,
    0x20e4006100600901,
    0x4020000000000000,
    0x24cf00a500600301,
    0x00000000006e00e4,
    0x200f0c3c06600131,
    0x04094001006e04a4,
    0x24ef002100600301,
    0x00000000006e05e4,
    0x252f002100600301,
    0x00000000006e05e4,
    0x24cf0c2506600131,
    0x02194053006e04e4,
    0x254f7fbd00600141,
    0x3dcccccd006e04c4,
    0x200f0c3c06600131,
    0x04094011006e0524,
    0x200f3c8400600125,
    0x00000002006e0004,
    0x00002a0020006d01,
    0x25480c2100000205,
    0x0000f00000000008,
    0x25480c2100000209,
    0x0000000c00000548,
    0x25480c2100000206,
    0x0000840000000548,
    0x20000c2803600231,
    0x0200000400690540,
    0x3201700000000330,
    0x006e000400001200,
    0x200f003c01600101,
    0x00000000000000a0,
    0x200f3c8400610122,
    0x000c000c000e0004,
    0x00002b0020006d01,
    0x2560002100200201,
    0x0000000000450020,
    0x200f0c3c06600131,
    0x0208c003006e0564,
    0x00002c0020006d01,
    0x2580002100200201,
    0x0000000000450028,
    0x200f0c3c06600131,
    0x0208c003006e0584,
    0x200f3c8400600125,
    0x00000002006e0004,
    0x2fc0007d00600201,
    0x0000000000000000,
    0x2fd4006100000201,
    0x0000010000000000,
    0x00007e0020004001,
    0x2fe0007d00600201,
    0x0000000000000000,
    0x200f0fbc06600131,
    0x84080001006e0fc4,
];

/// The tessellation evaluation shader.
const POINTS: [u64; 48] = [
    0x276f00a500600101,
    0x00000000000e0074,
    0x278f00a500600101,
    0x00000000000e0094,
    0x27a303bd00600101,
    0x00000000006e0024,
    0x27ef00a500600101,
    0x00000000000e00b4,
    0x280f00a500600101,
    0x00000000000e00d4,
    0x28c17fbd00600141,
    0x4080000000000060,
    0x290700a500600101,
    0x00000000000a0084,
    0x292700a500600101,
    0x00000000000a00a4,
    0x296700a500600101,
    0x00000000000a00c4,
    0x298700a500600101,
    0x00000000000a00e4,
    0x00007200200c6c01,
    0x3e1e00000060015c,
    0x0ec720783903d000,
    0x28a17fbd00600140,
    0x3f800000006047a0,
    0x411e00000060015c,
    0x0fc720803903d000,
    0x3d46475ae0064c41,
    0x4a0e00000060015c,
    0x120520922903d000,
    0x4d0e00000060015c,
    0x12c520982903d000,
    0x421e00000060015c,
    0x0f8720823903d0aa,
    0x740e00000060055c,
    0x1285209a2903d0aa,
    0x730400000060055b,
    0x11c0008a000420aa,
    0x2e88006100600901,
    0x3f80000000000000,
    0x2e6d002100600901,
    0x00000000006e0840,
    0x2e2f002100600301,
    0x00000000006e0004,
    0x2e340c2100000206,
    0x0000ff0000000014,
    0x200f0fbc06600131,
    0x8a08c000006e0e24,
];

/// Position and colour of the patch's vertices; w of the first colour is the factor of all levels.
const VERTICES: [[[f32; 4]; 2]; 4] = [
    [[-0.5, -0.5, 0.0, 1.0], [0.7, 0.1, 0.2, 1.3]],
    [[0.5, -0.25, 0.0, 1.0], [0.1, 0.6, 0.3, 1.3]],
    [[-0.75, 0.5, 0.0, 1.0], [0.2, 0.3, 0.7, 1.3]],
    [[0.25, 0.75, 0.0, 1.0], [0.4, 0.5, 0.6, 1.3]],
];

/// Four dwords of an entry, from a multiple of four on.
fn four(rig: &Rig, entry: UrbHandle, at: u16) -> [f32; 4] {
    let row = rig.urb.row(entry, at / 2).unwrap();
    let from = usize::from(at % 2) * 4;
    std::array::from_fn(|i| f32::from_bits(row[from + i]))
}

fn close(a: [f32; 4], b: [f32; 4]) {
    let near = a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(near, "{a:?} {b:?}");
}

fn mix(a: [f32; 4], b: [f32; 4], t: f32) -> [f32; 4] {
    std::array::from_fn(|i| a[i] * (1.0 - t) + b[i] * t)
}

#[test]
fn a_patch_of_mesa() {
    let layout = readers(Verx10::from_times_ten(70))
        .unwrap()
        .pipeline
        .layout();
    let mut rig = Rig::of(
        Verx10::from_times_ten(70),
        layout,
        [(8, 2), (4, 6), (288, 2)],
    );
    for (at, kernel) in [(HS_KERNEL, &HULL[..]), (DS_KERNEL, &POINTS[..])] {
        let bytes: Vec<u8> = kernel.iter().flat_map(|word| word.to_le_bytes()).collect();
        rig.mem.write_bytes(GpuAddr::from(at), &bytes).unwrap();
    }
    let hs = rig.draw.hs.as_mut().unwrap();
    (hs.instances, hs.unit.kernel.urb_start) = (2, 5);
    rig.draw.ds.as_mut().unwrap().unit.read_rows = 6;
    let setting = Setting {
        domain: Domain::Quad,
        partitioning: Partitioning::EvenFractional,
        output: Output::Clockwise,
        ..Setting::default()
    };
    let te = rig.draw.te.as_mut().unwrap();
    te.setting = setting;
    te.places = FactorPlaces {
        outside: [7, 6, 5, 4],
        inside: [3, 2],
    };
    let (mut hs, mut te, mut ds) = (Hs::default(), Te::default(), Ds::default());
    rig.start(&mut hs, Topology::PatchList4).unwrap();
    let vertices = rig.vertices(Topology::PatchList4, 4);
    for (vertex, [position, colour]) in vertices.iter().zip(VERTICES) {
        let rows = [[0.0; 4], position, colour, [0.0; 4]].concat();
        for (at, row) in (0..).zip(rows.chunks_exact(8)) {
            let row: Vec<u32> = row.iter().map(|v| v.to_bits()).collect();
            rig.urb
                .row_mut(vertex.handle, at)
                .unwrap()
                .copy_from_slice(&row);
        }
    }
    let mut links = [Link::default(), Link::default(), Link::default()];
    links[0].vertices = vertices.into();
    let [vertices, patches, domain] = &mut links;
    let step = rig.run(|ctx| hs.step(vertices, patches, ctx));
    assert_eq!(step, Step::Idle, "{:?}", rig.td.hung().collect::<Vec<_>>());
    assert!(rig.status.faults().is_empty(), "{:?}", rig.status.faults());

    // What the control shader makes of them.
    let k = 1.3;
    let patch = patches.patches[0].entry;
    let factors = Factors {
        outside: [2.0 + k, 3.0, 5.0 - k * 0.3, 1.0 + 2.0 * k],
        inside: [3.0 + k, 2.5],
    };
    let [a, b, c, d] = factors.outside;
    close(four(&rig, patch, 1), [d, c, b, a]);
    let [u, v] = factors.inside;
    close([0.0, 0.0, v, u], {
        let [_, _, v, u] = four(&rig, patch, 0);
        [0.0, 0.0, v, u]
    });
    let bulge = VERTICES[3][1].map(|colour| colour * 0.1);
    close(four(&rig, patch, 2), bulge);
    for (n, [position, colour]) in (0..).zip(VERTICES) {
        close(four(&rig, patch, 3 + 2 * n), position);
        close(four(&rig, patch, 4 + 2 * n), colour);
    }

    // The points of the tessellator, with the factors as the shader has them.
    let row = *rig.urb.row(patch, 0).unwrap();
    let factor = |dword: usize| f32::from_bits(row[dword]);
    let mut cut = Tessellator::new();
    let written = Factors {
        outside: [7, 6, 5, 4].map(factor),
        inside: [3, 2].map(factor),
    };
    assert!(cut.patch(&setting, &written));
    rig.run(|ctx| te.step(patches, domain, ctx));

    // What the evaluation shader makes of them.
    let mut out = Link::default();
    rig.run(|ctx| match ds.step(domain, &mut out, ctx) {
        Step::Idle => ds.step_short(domain, &mut out, ctx),
        step => step,
    });
    assert!(rig.status.faults().is_empty(), "{:?}", rig.status.faults());
    let indices = cut.triangles().as_flattened();
    assert_eq!(out.vertices.len(), indices.len());
    for (vertex, &index) in out.vertices.iter().zip(indices) {
        let [u, v] = cut.points()[usize::from(index)].uv();
        let [[p0, c0], [p1, c1], [p2, c2], [p3, c3]] = VERTICES;
        let mut position = mix(mix(p0, p1, u), mix(p2, p3, u), v);
        position[1] += bulge[0] * u * (1.0 - u) * 4.0;
        close(four(&rig, vertex.handle, 1), position);
        let [red, green, blue, _] = mix(mix(c0, c1, u), mix(c2, c3, u), v);
        close(four(&rig, vertex.handle, 2), [red, green, blue, 1.0]);
    }
    let statistics = rig.status.statistics;
    let points = cut.points().len() as u64;
    assert_eq!(
        (statistics.hs_invocations, statistics.ds_invocations),
        (1, points)
    );
    assert_eq!((rig.used(Owner::Vs), rig.used(Owner::Hs)), (0, 0));
}

//! Hierarchical depth: clears, resolves, and what is drawn after them.

use super::*;
use crate::intel::cc::Compare;
use crate::intel::surface::DepthDesc;
use crate::intel::surface::hierarchical::HierDesc;
use crate::intel::surface::mip::Align;

/// After the depth buffer, 64 KiB.
const HIER: u32 = 0x4_0000;

/// Sizes of levels.
const ALIGN: Align = Align {
    rows: 4,
    ..Align::FIRST
};

/// Three layers of 64 columns and so many rows, 24 bits of depth.
fn layers(height: u32) -> DepthBuffer {
    let command = State3dDepthBuffer::new()
        .with_surface_type(values::surftype::SURFTYPE_2D)
        .with_surface_format(3)
        .with_surface_base_address(DEPTH)
        .with_surface_pitch(255)
        .with_tiled_surface(true)
        .with_tile_walk(1)
        .with_width(63);
    DepthBuffer::resolve(&DepthDesc {
        height,
        depth: 3,
        view_extent: 3,
        align: ALIGN,
        hierarchical: Some(HierDesc {
            base: GpuAddr::from(HIER),
            pitch: 128,
            levels: None,
        }),
        ..crate::intel::r#gen::gen40::surface::depth_buffer(command.dwords())
    })
    .unwrap()
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    let at = GpuAddr::from(HIER);
    bench.mem.alloc_mapped(at, 2 * mem::PAGE_SIZE).unwrap();
    bench
}

fn clearing(height: u32, depth: f32) -> WizState {
    let mut s = state();
    s.wm.headerless = true;
    s.wm.thread_dispatch_enable = false;
    s.wm.depth_clear = Some(depth);
    s.depth_buffer = Some(layers(height));
    s
}

/// Depth is tested and not written: LESS against 0.5, so that pixels whose depth is greater than that pass.
fn testing(height: u32) -> WizState {
    let mut s = state();
    s.wm.headerless = true;
    s.wm.unit.statistics = true;
    s.cc.depth.test = true;
    s.cc.depth.function = Compare::Less;
    s.depth_buffer = Some(layers(height));
    s
}

fn of_layer(primitive: SetupPrimitive, layer: u16) -> SetupPrimitive {
    SetupPrimitive {
        render_target_array_index: layer,
        ..primitive
    }
}

fn field(bench: &Bench, height: u32, (x, y): (u32, u32), layer: u16) -> u32 {
    let target = DepthTarget::new(&layers(height), layer).unwrap();
    bench.mem.read_u32(target.address(x, y).unwrap()).unwrap()
}

/// Mesa clears with the height rounded up to 4 (blorp.c `blorp_hiz_op`), so that the layers of the depth buffer lie elsewhere for the
/// clear than for the draw (level 1 of 9 rows has 4, that of 12 rows has 6, which take up 8). Every layer is cleared all the same.
#[test]
fn clears_find_every_layer_at_every_height() {
    for height in 1..40u32 {
        let rounded = height.next_multiple_of(4);
        let mut bench = bench();
        let mut wiz = Wiz::new();
        for layer in 0..3 {
            let depth = 0.25 * f32::from(layer + 1);
            let s = clearing(rounded, depth);
            // CAST: small.
            let rect = rect(0.0, 0.0, 64.0, rounded as f32);
            draw(&mut wiz, &s, &of_layer(rect, layer), &mut bench);
        }
        assert_eq!(field(&bench, height, (0, 0), 0), 0, "not written yet");
        for layer in 0..3 {
            bench.depth_count = 0;
            // CAST: small.
            let rect = rect(0.0, 0.0, 64.0, height as f32);
            draw(
                &mut wiz,
                &testing(height),
                &of_layer(rect, layer),
                &mut bench,
            );
            // 0.25 and 0.5 are not greater than 0.5.
            let passed = if layer == 2 { 64 * height } else { 0 };
            assert_eq!(bench.depth_count, passed, "height {height} layer {layer}");
            for at in [(0, 0), (63, height - 1), (31, height / 2)] {
                let want = num::f32_to_unorm(0.25 * f32::from(layer + 1), 24);
                assert_eq!(field(&bench, height, at, layer), want);
            }
        }
    }
}

/// Depth Buffer Resolve Enable writes what was cleared; other blocks stay, and so does what lies in the upper eight bits.
#[test]
fn a_resolve_of_depth_writes_cleared_blocks_alone() {
    let mut bench = bench();
    let mut wiz = Wiz::new();
    let target = DepthTarget::new(&layers(32), 0).unwrap();
    for y in 0..32 {
        for x in 0..64 {
            let at = target.address(x, y).unwrap();
            bench.mem.write_u32(at, 0xab00_0000 | y << 8 | x).unwrap();
        }
    }
    let s = clearing(32, 1.0);
    draw(&mut wiz, &s, &rect(16.0, 8.0, 40.0, 20.0), &mut bench);
    let mut resolve = s;
    resolve.wm.depth_clear = None;
    resolve.wm.depth_resolve = Some(DepthResolve::Depth);
    draw(&mut wiz, &resolve, &rect(0.0, 0.0, 64.0, 32.0), &mut bench);
    for y in 0..32 {
        for x in 0..64 {
            let cleared = (16..40).contains(&x) && (8..20).contains(&y);
            let want = if cleared { 0xff_ffff } else { y << 8 | x };
            assert_eq!(field(&bench, 32, (x, y), 0), 0xab00_0000 | want, "{x} {y}");
        }
    }
}

/// Hierarchical Depth Buffer Resolve Enable: the depth buffer is what counts, whatever was cleared before.
// covers: V-0512
#[test]
fn a_hierarchical_resolve_forgets_clears() {
    let mut bench = bench();
    let mut wiz = Wiz::new();
    let s = clearing(32, 1.0);
    draw(&mut wiz, &s, &rect(0.0, 0.0, 64.0, 32.0), &mut bench);
    let mut resolve = s;
    resolve.wm.depth_clear = None;
    resolve.wm.depth_resolve = Some(DepthResolve::Hierarchical);
    draw(&mut wiz, &resolve, &rect(0.0, 0.0, 64.0, 32.0), &mut bench);
    assert!(bench.threads.is_empty());
    bench.depth_count = 0;
    draw(
        &mut wiz,
        &testing(32),
        &rect(0.0, 0.0, 64.0, 32.0),
        &mut bench,
    );
    assert_eq!(bench.depth_count, 0, "the buffer holds zeros");
    assert_eq!(field(&bench, 32, (5, 5), 0), 0);
}

/// Four samples of a pixel lie in two columns and rows: a block of the hierarchical buffer is four by two pixels.
#[test]
fn samples_are_cleared_with_their_pixels() {
    let mut bench = bench();
    let mut wiz = Wiz::new();
    let sampled = |mut s: WizState| {
        let hierarchical = HierDesc {
            base: GpuAddr::from(HIER),
            pitch: 128,
            levels: None,
        };
        let command = State3dDepthBuffer::new()
            .with_surface_type(values::surftype::SURFTYPE_2D)
            .with_surface_format(1)
            .with_surface_base_address(DEPTH)
            .with_surface_pitch(255)
            .with_tiled_surface(true)
            .with_tile_walk(1)
            .with_width(20)
            .with_height(10);
        let desc = DepthDesc {
            samples: 4,
            align: ALIGN,
            hierarchical: Some(hierarchical),
            ..crate::intel::r#gen::gen40::surface::depth_buffer(command.dwords())
        };
        s.depth_buffer = Some(DepthBuffer::resolve(&desc).unwrap());
        s.wm.samples.count = 4;
        s
    };
    let s = sampled(clearing(11, 0.75));
    draw(&mut wiz, &s, &rect(0.0, 0.0, 24.0, 12.0), &mut bench);
    let mut resolve = s.clone();
    resolve.wm.depth_clear = None;
    resolve.wm.depth_resolve = Some(DepthResolve::Depth);
    draw(&mut wiz, &resolve, &rect(0.0, 0.0, 24.0, 12.0), &mut bench);
    let target = DepthTarget::new(s.depth_buffer.as_ref().unwrap(), 0).unwrap();
    for (x, y) in [(0, 0), (20, 10), (7, 9)] {
        for sample in 0..4 {
            let at = target.of_sample(sample).address(x, y).unwrap();
            assert_eq!(bench.mem.read_u32(at).unwrap(), 0.75f32.to_bits());
        }
    }
}

/// An address without a page is a fault, not a clear that is lost.
#[test]
fn a_buffer_that_is_not_there_is_a_fault() {
    let mut bench = Bench::new();
    let mut wiz = Wiz::new();
    let s = clearing(32, 1.0);
    let rect = rect(0.0, 0.0, 64.0, 32.0);
    assert!(wiz.begin(&s, &rect, &mut bench).unwrap());
    assert!(wiz.run(&s, &mut bench).is_err());
    assert!(Wiz::new().begin(&testing(32), &rect, &mut bench).is_err());
}

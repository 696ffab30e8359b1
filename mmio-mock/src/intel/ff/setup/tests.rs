//! Attributes and planes by hand.

use super::*;
use crate::intel::ff::link::Corner;
use crate::intel::ff::state::{ClipperState, Viewport};
use crate::intel::ff::topology::Object;
use crate::intel::urb::Owner;

/// Vertices with a position (clip space) and two attributes each.
fn piece(vertices: &[([f32; 4], [[f32; 4]; 2])]) -> (Urb, Piece) {
    let mut urb = Urb::new();
    urb.fence(Owner::Vs, 0, 64);
    urb.partition(Owner::Vs, 16, 4);
    let mut object = Object {
        topology: Topology::TriList,
        vertices: [UrbHandle(0); 6],
        tags: Default::default(),
        count: vertices.len(),
        first: true,
        last: true,
        number: 0,
        edges: [true; 6],
    };
    let mut corners = [Corner::default(); 3];
    for (i, (position, attributes)) in vertices.iter().enumerate() {
        let handle = urb.allocate(Owner::Vs).unwrap();
        object.vertices[i] = handle;
        urb.row_mut(handle, 0).unwrap()[4..8].copy_from_slice(&position.map(f32::to_bits));
        let row = urb.row_mut(handle, 1).unwrap();
        row.copy_from_slice(
            &attributes
                .as_flattened()
                .iter()
                .map(|v| v.to_bits())
                .collect::<Vec<_>>(),
        );
        corners[i] = Corner {
            position: position.map(f64::from),
            along: if i == 0 { 0.0 } else { 1.0 },
        };
    }
    let last = vertices.len() as u8 - 1;
    let piece = Piece {
        object,
        vertices: [0, 1.min(last), 2.min(last)],
        corners,
        count: vertices.len(),
        edges: [true; 3],
        viewport: 0,
        array_index: 0,
    };
    (urb, piece)
}

fn draw() -> DrawState {
    let viewport = Viewport {
        scale: [10.0, 10.0, 0.5],
        offset: [10.0, 10.0, 0.5],
    };
    DrawState {
        clipper: ClipperState {
            enable: true,
            point_width: (0.125, 255.875),
            ..ClipperState::default()
        },
        setup: SetupState {
            viewports: Some([viewport; 16]),
            attributes: 2,
            read_offset: 1,
            provoking_triangle: 2,
            ..SetupState::default()
        },
        ..DrawState::default()
    }
}

const TRIANGLE: [([f32; 4], [[f32; 4]; 2]); 3] = [
    ([-1.0, -1.0, -1.0, 1.0], [[0.0, 1.0, 2.0, 3.0], [9.0; 4]]),
    // Twice as far away, at the same height.
    ([2.0, -2.0, 0.0, 2.0], [[1.0, 1.0, 1.0, 1.0], [8.0; 4]]),
    ([-1.0, 1.0, 1.0, 1.0], [[5.0, 4.0, 3.0, 2.0], [7.0; 4]]),
];

fn floats(register: &Grf) -> [f32; 8] {
    register.map(f32::from_bits)
}

// covers: S-0021, S-0035, S-0050
#[test]
fn a_component_is_what_two_vertices_have_beyond_the_first() {
    let (urb, piece) = piece(&TRIANGLE);
    let state = SetupState {
        constant: 0b10,
        ..draw().setup
    };
    let mut out = Vec::new();
    attributes(&mut out, &piece, &state, false, &urb);
    assert_eq!(floats(&out[0]), [1.0, 5.0, 0.0, 0.0, 0.0, 3.0, 0.0, 1.0]);
    assert_eq!(floats(&out[1]), [-1.0, 1.0, 0.0, 2.0, -2.0, -1.0, 0.0, 3.0]);
    // The last vertex provokes.
    assert_eq!(floats(&out[2]), [0.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 7.0]);
    assert_eq!(out.len(), 4);
}

// covers: V-0207
#[test]
fn sources_are_chosen_and_overridden() {
    let (urb, piece) = piece(&TRIANGLE);
    let mut sources = [AttributeSource::default(); 16];
    sources[0] = AttributeSource {
        source: 0,
        facing: true,
        ..AttributeSource::default()
    };
    sources[1] = AttributeSource {
        source: 0,
        replicate_w: true,
        constant: ConstantSource::ZeroZeroZeroOne,
        overrides: 0b1001,
        ..AttributeSource::default()
    };
    let state = SetupState {
        sources: Some(sources),
        constant: 0b11,
        ..draw().setup
    };
    let mut out = Vec::new();
    attributes(&mut out, &piece, &state, false, &urb);
    assert_eq!(floats(&out[0])[3], 5.0);
    let fourth = |out: &[Grf]| [floats(&out[2])[3], floats(&out[2])[7], floats(&out[3])[7]];
    assert_eq!(fourth(&out), [0.0, 2.0, 1.0]);
    // The back has the attribute behind.
    attributes(&mut out, &piece, &state, true, &urb);
    assert_eq!(floats(&out[0])[3], 7.0);
}

/// Its bits are an integer's (genxml gen6 SF_OUTPUT_ATTRIBUTE_DETAIL, PRIM_ID).
#[test]
fn the_number_of_the_primitive_takes_the_place_of_components() {
    let (urb, mut piece) = piece(&TRIANGLE);
    piece.object.number = 0x7fc0_1234;
    let mut sources = [AttributeSource::default(); 16];
    sources[0] = AttributeSource {
        source: 0,
        constant: ConstantSource::PrimitiveId,
        overrides: 0b0001,
        ..AttributeSource::default()
    };
    let state = SetupState {
        sources: Some(sources),
        constant: 0b1,
        ..draw().setup
    };
    let mut out = Vec::new();
    attributes(&mut out, &piece, &state, false, &urb);
    assert_eq!(out[0][3], 0x7fc0_1234);
    assert_eq!(floats(&out[0])[7], 4.0);
}

#[test]
fn the_shorter_way_round() {
    let vertices = [
        ([-1.0, -1.0, 0.0, 1.0], [[0.1, 0.1, 0.9, 0.5], [0.0; 4]]),
        ([1.0, -1.0, 0.0, 1.0], [[0.9, 0.9, 0.1, 0.6], [0.0; 4]]),
        ([-1.0, 1.0, 0.0, 1.0], [[0.1, 0.1, 0.9, 0.5], [0.0; 4]]),
    ];
    let (urb, piece) = piece(&vertices);
    let mut state = draw().setup;
    state.wrap_shortest[0] = 0b1101;
    let mut out = Vec::new();
    attributes(&mut out, &piece, &state, false, &urb);
    let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
    assert!(near(floats(&out[0])[0], -0.2) && near(floats(&out[0])[4], 0.8));
    assert!(near(floats(&out[1])[0], 0.2) && near(floats(&out[1])[4], 0.1));
}

#[test]
fn a_points_sprite_goes_across_it() {
    let (urb, mut piece) = piece(&TRIANGLE[..1]);
    piece.object.topology = Topology::PointList;
    let mut state = SetupState {
        point_width: Some(4.0),
        sprites: 0b10,
        ..draw().setup
    };
    let mut out = Vec::new();
    attributes(&mut out, &piece, &state, false, &urb);
    assert_eq!(floats(&out[0]), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats(&out[2]), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(floats(&out[3]), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    state.sprite_origin_lower = true;
    attributes(&mut out, &piece, &state, false, &urb);
    assert_eq!(floats(&out[2])[4..], [0.0, -1.0, 0.0, 1.0]);
    let draw = DrawState {
        setup: state,
        ..draw()
    };
    let set_up = primitive(&piece, &draw, &urb).unwrap();
    // Four pixels wide around (0, 0).
    let weights = set_up.interpolation.unwrap().weights(1.0, -1.0);
    assert_eq!(weights.perspective, [0.75, 0.25]);
}

#[test]
fn weights_are_one_at_their_vertex() {
    let (urb, piece) = piece(&TRIANGLE);
    let set_up = primitive(&piece, &draw(), &urb).unwrap();
    assert_eq!(
        set_up.v.map(|v| (v.x, v.y)),
        [(0.0, 0.0), (20.0, 0.0), (0.0, 20.0)]
    );
    let planes = set_up.interpolation.unwrap();
    for (x, y, want, w) in [
        (0.0, 0.0, [0.0, 0.0], 1.0),
        (20.0, 0.0, [1.0, 0.0], 2.0),
        (0.0, 20.0, [0.0, 1.0], 1.0),
    ] {
        let at = planes.weights(x, y);
        assert_eq!((at.perspective, at.linear, at.w), (want, want, w));
    }
    // Half way to a vertex that is twice as far away, a third of the way in space: 1/w is 3/4.
    let half = planes.weights(10.0, 0.0);
    assert!((half.perspective[0] - 1.0 / 3.0).abs() < 1e-6);
    assert_eq!(half.linear[0], 0.5);
    assert!((half.w - 4.0 / 3.0).abs() < 1e-6);
    // z/w is -1, 0, 1.
    for (x, y, want) in [
        (0.0, 0.0, 0.0),
        (20.0, 0.0, 0.5),
        (0.0, 20.0, 1.0),
        (10.0, 0.0, 0.25),
    ] {
        assert!((planes.depth.at(x, y) - want).abs() < 1e-12);
    }
}

#[test]
fn a_cut_changes_no_weight() {
    let (urb, mut piece) = piece(&TRIANGLE);
    let whole = primitive(&piece, &draw(), &urb).unwrap().interpolation;
    // The half of the triangle next to its first vertex.
    for i in [1, 2] {
        let [from, to] = [piece.corners[0].position, piece.corners[i].position];
        piece.corners[i].position = std::array::from_fn(|n| f64::midpoint(from[n], to[n]));
    }
    let cut = primitive(&piece, &draw(), &urb).unwrap();
    assert_eq!(cut.interpolation, whole);
    assert!((cut.v[1].x - 40.0 / 3.0).abs() < 1e-5);
}

#[test]
fn facing_goes_by_the_winding_on_the_screen() {
    let (urb, piece) = piece(&TRIANGLE);
    // Right, then down: clockwise.
    let cull = |cull, front_counter_clockwise| {
        let mut draw = draw();
        draw.setup.cull = cull;
        draw.setup.front_counter_clockwise = front_counter_clockwise;
        primitive(&piece, &draw, &urb).map(|p| p.back_facing)
    };
    assert_eq!(cull(CullMode::Neither, false), Some(false));
    assert_eq!(cull(CullMode::Neither, true), Some(true));
    assert_eq!(cull(CullMode::Back, true), None);
    assert_eq!(cull(CullMode::Front, false), None);
    assert_eq!(cull(CullMode::Both, false), None);
}

#[test]
fn wireframes_are_the_edges_of_the_outline() {
    let (urb, mut piece) = piece(&TRIANGLE);
    piece.edges = [true, false, true];
    let mut draw = draw();
    draw.setup.fill = [FillMode::Wireframe, FillMode::Point];
    draw.setup.offset.wireframe = true;
    let set_up = primitive(&piece, &draw, &urb).unwrap();
    let mut setup = Setup::default();
    setup.fill(&set_up, &piece, &draw, &urb);
    let ends: Vec<_> = setup
        .ready
        .iter()
        .map(|p| (p.kind, p.v[0].x, p.v[1].x))
        .collect();
    assert_eq!(
        ends,
        [
            (PrimitiveKind::Line, 0.0, 20.0),
            (PrimitiveKind::Line, 0.0, 0.0)
        ]
    );
    // Depth grows by 1/2 in 20 pixels to the right, and by 1 downwards.
    assert!(setup.ready.iter().all(|p| p.depth_slope == Some(0.05)));
}

/// Polygons whose corners are drawn have sprites like points: OpenGL 2.1, 3.5.4 and 3.3.1, s = 1/2 + (x - xw)/size, and t likewise from the
/// top. Attributes that are no sprite coordinates are those of the corner.
#[test]
fn corners_of_triangles_are_sprites() {
    let (urb, piece) = piece(&TRIANGLE);
    let mut draw = draw();
    draw.setup.fill = [FillMode::Point; 2];
    draw.setup.point_width = Some(4.0);
    draw.setup.attributes = 2;
    draw.setup.sprites = 0b10;
    let set_up = primitive(&piece, &draw, &urb).unwrap();
    let mut setup = Setup::default();
    attributes(&mut setup.attributes, &piece, &draw.setup, false, &urb);
    setup.fill(&set_up, &piece, &draw, &urb);
    assert_eq!((setup.ready.len(), setup.corners.len()), (3, 3));
    for ((point, registers), vertex) in setup.ready.iter().zip(&setup.corners).zip(&TRIANGLE) {
        let [x, y] = [point.v[0].x, point.v[0].y].map(f64::from);
        let planes = point.interpolation.unwrap();
        let value = |attribute: usize, component: usize, [dx, dy]: [f64; 2]| {
            let weights = planes.weights(x + dx, y + dy).perspective;
            let register = registers[attribute * 2 + component / 2];
            let at = component % 2 * 4;
            let [second, third, _, first]: [f32; 4] =
                std::array::from_fn(|i| f32::from_bits(register[at + i]));
            first + second * weights[0] + third * weights[1]
        };
        let near = |a: f32, b: f32| assert!((a - b).abs() < 1e-5, "{a} {b}");
        for [dx, dy] in [[0.0, 0.0], [1.0, -1.0], [-1.5, 0.5]] {
            near(value(1, 0, [dx, dy]), 0.5 + dx as f32 / 4.0);
            near(value(1, 1, [dx, dy]), 0.5 + dy as f32 / 4.0);
            for component in 0..4 {
                near(value(0, component, [dx, dy]), vertex.1[0][component]);
            }
        }
    }
}

#[test]
fn provoking_vertices_of_polygons() {
    let (_, mut piece) = piece(&TRIANGLE);
    let mut which = |topology, count, select| {
        piece.object.topology = topology;
        piece.object.count = count;
        provoking(
            &piece,
            &SetupState {
                provoking_triangle: select,
                ..draw().setup
            },
        )
    };
    // First or last vertex convention: quadrilaterals, which are polygons, do not follow it (Mesa crocus_screen.c).
    assert_eq!(which(Topology::Polygon, 3, 2), 0);
    assert_eq!(which(Topology::Polygon, 3, 0), 0);
    assert_eq!(which(Topology::TriStrip, 3, 0), 0);
}

/// Corners that are drawn as points are as wide as points of these vertices would be (OpenGL 2.1, 3.5.4 and 3.3): by the state's width,
/// or by what each vertex says (3DSTATE_SF, Point Width Source), within the clipper's limits. A corner that the clipper made
/// lies between vertices, and its width does.
#[test]
fn corners_of_triangles_are_as_wide_as_their_vertices_say() {
    let (mut urb, mut piece) = piece(&TRIANGLE);
    for (handle, width) in piece.object.vertices.into_iter().zip([4.0f32, 8.0, 1000.0]) {
        urb.row_mut(handle, 0).unwrap()[3] = width.to_bits();
    }
    let mut draw = draw();
    draw.setup.fill = [FillMode::Point; 2];
    let widths = |piece: &Piece, draw: &DrawState| {
        let set_up = primitive(piece, draw, &urb).unwrap();
        let mut setup = Setup::default();
        setup.fill(&set_up, piece, draw, &urb);
        let widths: Vec<f32> = setup.ready.iter().map(|p| p.point_width).collect();
        widths
    };
    draw.setup.point_width = None;
    assert_eq!(widths(&piece, &draw), [4.0, 8.0, 255.875]);
    draw.setup.point_width = Some(3.0);
    assert_eq!(widths(&piece, &draw), [3.0; 3]);
    // Half way from the first vertex to the second in clip space, so that both count alike.
    draw.setup.point_width = None;
    let half = TRIANGLE[0]
        .0
        .iter()
        .zip(TRIANGLE[1].0)
        .map(|(a, b)| f64::from(a + b) / 2.0);
    piece.corners[1].position = half.collect::<Vec<_>>().try_into().unwrap();
    let found = widths(&piece, &draw);
    assert!((found[1] - 6.0).abs() < 1e-5, "{found:?}");
}

/// ValleyView volume 2 part 2, 3DSTATE_SF, fill modes: a triangle that is clipped has points at its own vertices alone, and those that
/// edge flags hide have none.
// covers: V-0261
#[test]
fn corners_that_the_clipper_made_are_no_points() {
    let (urb, mut piece) = piece(&TRIANGLE);
    piece.corners[1].position = [0.5, -1.5, -0.5, 1.5];
    let mut draw = draw();
    draw.setup.fill = [FillMode::Point; 2];
    let places = |piece: &Piece, draw: &DrawState| {
        let set_up = primitive(piece, draw, &urb).unwrap();
        let mut setup = Setup::default();
        setup.fill(&set_up, piece, draw, &urb);
        let places: Vec<_> = setup.ready.iter().map(|p| (p.v[0].x, p.v[0].y)).collect();
        places
    };
    assert_eq!(places(&piece, &draw).len(), 3);
    draw.setup.original_corners_only = true;
    assert_eq!(places(&piece, &draw), [(0.0, 0.0), (0.0, 20.0)]);
    piece.edges = [false, true, true];
    assert_eq!(places(&piece, &draw), [(0.0, 20.0)]);
}

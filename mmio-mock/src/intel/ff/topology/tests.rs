//! Assembly against the vertex orders of OpenGL 2.1, 2.6.1.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;

use super::*;

#[derive(Default)]
struct Counts(BTreeMap<u16, i32>);

impl References for Counts {
    fn reference(&mut self, handle: UrbHandle) {
        *self.0.entry(handle.0).or_default() += 1;
    }
    fn release(&mut self, handle: UrbHandle) {
        *self.0.entry(handle.0).or_default() -= 1;
    }
}

/// Runs `n` vertices through; returns the objects and proves that no reference leaks.
fn assemble(topology: Topology, n: u16) -> Vec<(Topology, Vec<u16>, bool, bool)> {
    assemble_with(topology, n, false)
}

/// The same with the vertices next to the objects, or without.
fn assemble_with(
    topology: Topology,
    n: u16,
    adjacent: bool,
) -> Vec<(Topology, Vec<u16>, bool, bool)> {
    let mut assembler = Assembler::default();
    assembler.keep_adjacent(adjacent, false);
    assemble_by(assembler, topology, n)
}

fn assemble_by(
    mut assembler: Assembler,
    topology: Topology,
    n: u16,
) -> Vec<(Topology, Vec<u16>, bool, bool)> {
    let mut counts = Counts::default();
    let mut out = Vec::new();
    for i in 0..n {
        counts.reference(UrbHandle(i));
        let vertex = StreamVertex {
            handle: UrbHandle(i),
            topology,
            start: i == 0,
            end: i + 1 == n,
            renumber: i == 0,
            number: None,
            edge: true,
            tag: Tag::of(Unit::Vs, u32::from(i)),
        };
        for object in assembler.push(vertex, &mut counts).into_iter().flatten() {
            for &h in object.handles() {
                counts.release(h);
            }
            out.push((
                object.topology,
                object.handles().iter().map(|h| h.0).collect(),
                object.first,
                object.last,
            ));
        }
    }
    assert!(
        counts.0.values().all(|&c| c == 0),
        "{topology:?}: leaked {:?}",
        counts.0
    );
    out
}

fn orders(topology: Topology, n: u16) -> Vec<Vec<u16>> {
    assemble(topology, n).into_iter().map(|o| o.1).collect()
}

#[test]
fn lists_drop_what_is_left_over() {
    assert_eq!(orders(Topology::PointList, 2), [[0], [1]]);
    assert_eq!(orders(Topology::LineList, 5), [[0, 1], [2, 3]]);
    assert_eq!(orders(Topology::TriList, 8), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(orders(Topology::RectList, 3), [[0, 1, 2]]);
    assert_eq!(orders(Topology::QuadList, 4), [[0, 1, 2, 3]]);
}

#[test]
fn strips_fans_and_loops() {
    assert_eq!(orders(Topology::LineStrip, 3), [[0, 1], [1, 2]]);
    assert_eq!(orders(Topology::LineLoop, 3), [[0, 1], [1, 2], [2, 0]]);
    assert_eq!(
        orders(Topology::TriFan, 5),
        [[0, 1, 2], [0, 2, 3], [0, 3, 4]]
    );
    assert_eq!(orders(Topology::Polygon, 4), [[0, 1, 2], [0, 2, 3]]);
    // Round the quad: a thread that emits 2, 3, 0, 1 of its payload must get a convex polygon.
    assert_eq!(orders(Topology::QuadStrip, 6), [[0, 1, 3, 2], [2, 3, 5, 4]]);
    let strip = assemble(Topology::TriStrip, 5);
    let kinds: Vec<_> = strip.iter().map(|o| o.0).collect();
    assert_eq!(
        orders(Topology::TriStrip, 5),
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    );
    assert_eq!(
        kinds,
        [
            Topology::TriStrip,
            Topology::TriStripReverse,
            Topology::TriStrip
        ]
    );
}

/// Kaby Lake's manual, volume 2b, 3D_Prim_Topo_Type: QUADLIST and QUADSTRIP become POLYGON at the beginning of the 3D pipeline, LINELOOP
/// becomes LINESTRIP. Quadrilateral i of a strip is 2i, 2i + 1, 2i + 3, 2i + 2 and its last vertex in the stream, 2i + 3, provokes
/// (OpenGL 3.2, table 2.2), where a polygon's first does.
#[test]
fn quadrilaterals_become_polygons_and_loops_strips() {
    let convert = |topology, n| {
        let mut assembler = Assembler::default();
        assembler.convert(true);
        assemble_by(assembler, topology, n)
    };
    let polygon = |v: [u16; 3], first, last| (Topology::Polygon, v.to_vec(), first, last);
    assert_eq!(
        convert(Topology::QuadList, 8),
        [
            polygon([3, 0, 1], true, false),
            polygon([3, 1, 2], false, true),
            polygon([7, 4, 5], true, false),
            polygon([7, 5, 6], false, true),
        ]
    );
    assert_eq!(
        convert(Topology::QuadStrip, 6),
        [
            polygon([3, 2, 0], true, false),
            polygon([3, 0, 1], false, true),
            polygon([5, 4, 2], true, false),
            polygon([5, 2, 3], false, true),
        ]
    );
    let line = |v: [u16; 2], first, last| (Topology::LineStrip, v.to_vec(), first, last);
    assert_eq!(
        convert(Topology::LineLoop, 3),
        [
            line([0, 1], true, false),
            line([1, 2], false, false),
            line([2, 0], false, true),
        ]
    );
}

/// The triangles of a quadrilateral are one primitive (OpenGL 3.2, 7.1: gl_PrimitiveID), which is counted once.
#[test]
fn a_quadrilateral_is_one_primitive() {
    let mut assembler = Assembler::default();
    assembler.convert(true);
    let mut counts = Counts::default();
    let mut numbers = Vec::new();
    let mut count = 0;
    for i in 0..8 {
        let vertex = StreamVertex {
            handle: UrbHandle(i),
            topology: Topology::QuadList,
            start: i == 0,
            end: i == 7,
            renumber: i == 0,
            number: None,
            edge: true,
            tag: Tag::default(),
        };
        let objects = assembler.push(vertex, &mut counts);
        count += primitives(&objects);
        numbers.extend(objects.into_iter().flatten().map(|object| object.number));
    }
    assert_eq!((numbers, count), (vec![0, 0, 1, 1], 2));
}

#[test]
fn too_few_vertices_make_nothing() {
    assert!(orders(Topology::TriStrip, 2).is_empty());
    assert!(orders(Topology::TriFan, 2).is_empty());
    assert!(orders(Topology::LineLoop, 1).is_empty());
    assert!(orders(Topology::QuadStrip, 3).is_empty());
}

#[test]
fn first_and_last_objects_are_marked() {
    let fan = assemble(Topology::Polygon, 5);
    let marks: Vec<_> = fan.iter().map(|o| (o.2, o.3)).collect();
    assert_eq!(marks, [(true, false), (false, false), (false, true)]);
}

/// Lists and strips of lines: line i of a list is 4i + 2 and 4i + 3 between 4i + 1 and 4i + 4, of a strip i + 2 and i + 3 between
/// i + 1 and i + 4, numbered from 1 (OpenGL 3.2, 2.6.1). What is left over is ignored.
/// OpenGL 3.2, 7.1 (gl_PrimitiveID): a restarted primitive counts on, an instance anew.
#[test]
fn objects_are_numbered_in_their_instance() {
    let mut assembler = Assembler::default();
    let mut counts = Counts::default();
    let mut numbers = Vec::new();
    // Two instances of a strip of two triangles, cut, and one of a single triangle.
    for (i, at) in (0..14u16).map(|i| (i, i % 7)) {
        let vertex = StreamVertex {
            handle: UrbHandle(i),
            topology: Topology::TriStrip,
            start: at == 0 || at == 4,
            end: at == 3 || at == 6,
            renumber: at == 0,
            number: None,
            edge: true,
            tag: Tag::default(),
        };
        let objects = assembler.push(vertex, &mut counts).into_iter().flatten();
        numbers.extend(objects.map(|object| object.number));
    }
    assert_eq!(numbers, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn lines_with_adjacency() {
    for n in 0..14u16 {
        let with: Vec<_> = (0..n / 4)
            .map(|i| vec![4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3])
            .collect();
        compare(Topology::LineListAdj, n, &with, |_| Topology::LineList);
        let with: Vec<_> = (0..n.saturating_sub(3))
            .map(|i| vec![i, i + 1, i + 2, i + 3])
            .collect();
        compare(Topology::LineStripAdj, n, &with, |_| Topology::LineStrip);
    }
}

/// Triangle i of a list: 6i + 1, 6i + 3, 6i + 5, each followed by the vertex across the edge to the next.
#[test]
fn triangles_with_adjacency() {
    for n in 0..20u16 {
        let with: Vec<_> = (0..n / 6).map(|i| (6 * i..6 * i + 6).collect()).collect();
        compare(Topology::TriListAdj, n, &with, |_| Topology::TriList);
    }
}

/// OpenGL's table for strips with adjacency (ARB_geometry_shader4, table 2.X1; OpenGL 3.2, table 2.4): vertices numbered from 1,
/// corners and what lies across the edges 1/2, 2/3 and 3/1.
fn strip_row(i: u16, n: u16) -> ([u16; 3], [u16; 3]) {
    match (i, i + 1 == n, i % 2) {
        (0, true, _) => ([1, 3, 5], [2, 6, 4]),
        (0, false, _) => ([1, 3, 5], [2, 7, 4]),
        (_, false, 1) => (
            [2 * i + 3, 2 * i + 1, 2 * i + 5],
            [2 * i - 1, 2 * i + 4, 2 * i + 7],
        ),
        (_, false, _) => (
            [2 * i + 1, 2 * i + 3, 2 * i + 5],
            [2 * i - 1, 2 * i + 7, 2 * i + 4],
        ),
        (_, true, 1) => (
            [2 * i + 3, 2 * i + 1, 2 * i + 5],
            [2 * i - 1, 2 * i + 4, 2 * i + 6],
        ),
        (_, true, _) => (
            [2 * i + 1, 2 * i + 3, 2 * i + 5],
            [2 * i - 1, 2 * i + 6, 2 * i + 4],
        ),
    }
}

/// A row of the table as a payload: corners and neighbours in turn.
fn payload((corners, across): ([u16; 3], [u16; 3])) -> Vec<u16> {
    (0..3)
        .flat_map(|c| [corners[c] - 1, across[c] - 1])
        .collect()
}

#[test]
fn strips_of_triangles_with_adjacency() {
    for vertices in 0..24u16 {
        // 2n + 4 + k vertices make n triangles, k being 0 or 1.
        let n = (vertices / 2).saturating_sub(2);
        let with: Vec<_> = (0..n).map(|i| payload(strip_row(i, n))).collect();
        compare(Topology::TriStripAdj, vertices, &with, |i| {
            [Topology::TriStrip, Topology::TriStripReverse][i % 2]
        });
    }
}

/// With adjacency `with`, each object of the stream's topology; without, only what lies inside, in the order of the stream.
fn compare(topology: Topology, n: u16, with: &[Vec<u16>], plain: impl Fn(usize) -> Topology) {
    let found = assemble_with(topology, n, true);
    let orders: Vec<_> = found.iter().map(|o| o.1.clone()).collect();
    assert_eq!(orders, with, "{topology:?} of {n}");
    assert!(found.iter().all(|o| o.0 == topology));
    let discarded = assemble_with(topology, n, false);
    let inside: Vec<_> = with
        .iter()
        .enumerate()
        .map(|(i, all)| {
            let mut corners = match all.len() {
                4 => vec![all[1], all[2]],
                _ => vec![all[0], all[2], all[4]],
            };
            corners.sort_unstable();
            (plain(i), corners)
        })
        .collect();
    let objects: Vec<_> = discarded.iter().map(|o| (o.0, o.1.clone())).collect();
    assert_eq!(objects, inside, "{topology:?} of {n}, discarded");
    for objects in [found, discarded] {
        for (i, object) in objects.iter().enumerate() {
            assert_eq!(object.2, i == 0, "{topology:?} of {n}: first");
        }
    }
}

/// Of eight, nine, ... vertices, the odd triangles begin with the vertex that comes first in the stream: OpenGL's corners
/// 5, 3, 7 with 1, 6 and 9 across are 3, 7, 5 with 6, 9 and 1 (Mesa crocus_state.c: the orientation stays).
#[test]
fn odd_triangles_with_adjacency_may_begin_with_the_first_vertex() {
    let orders = |n| {
        let mut assembler = Assembler::default();
        assembler.keep_adjacent(true, true);
        let objects = assemble_by(assembler, Topology::TriStripAdj, n);
        let from_one = |o: (_, Vec<u16>, _, _)| o.1.into_iter().map(|v| v + 1).collect::<Vec<_>>();
        objects.into_iter().map(from_one).collect::<Vec<_>>()
    };
    assert_eq!(orders(6), [[1, 2, 3, 6, 5, 4]]);
    assert_eq!(orders(8), [[1, 2, 3, 7, 5, 4], [3, 6, 7, 8, 5, 1]]);
    assert_eq!(
        orders(10),
        [[1, 2, 3, 7, 5, 4], [3, 6, 7, 9, 5, 1], [5, 3, 7, 10, 9, 8]]
    );
}

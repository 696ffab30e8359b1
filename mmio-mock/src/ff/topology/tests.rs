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
    let mut counts = Counts::default();
    let mut assembler = Assembler::default();
    let mut out = Vec::new();
    for i in 0..n {
        counts.reference(UrbHandle(i));
        let vertex = StreamVertex {
            handle: UrbHandle(i),
            topology,
            start: i == 0,
            end: i + 1 == n,
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

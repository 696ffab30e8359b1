//! Factors of patches in the URB, and the order of points.

use tess::{Domain, Factors, Output, Partitioning, Setting, Tessellator};

use super::rig::Rig;
use crate::intel::ff::Step;
use crate::intel::ff::link::{DomainVertex, Link, Patch};
use crate::intel::ff::stage::Stage;
use crate::intel::ff::state::tessellation::FactorPlaces;
use crate::intel::ff::te::Te;
use crate::intel::ff::topology::Topology;
use crate::intel::urb::Owner;

/// Factors in an order of their own.
const PLACES: FactorPlaces = FactorPlaces {
    outside: [7, 6, 5, 4],
    inside: [3, 2],
};

fn rig(domain: Domain, output: Output) -> Rig {
    let mut rig = Rig::new(4, 4, 4);
    let te = rig.draw.te.as_mut().unwrap();
    te.places = PLACES;
    te.setting = Setting {
        domain,
        output,
        partitioning: Partitioning::EvenFractional,
        ..Setting::default()
    };
    rig
}

/// The points of patches with these first rows.
fn points(rig: &mut Rig, rows: &[[f32; 8]]) -> Vec<DomainVertex> {
    let mut te = Te::default();
    rig.start(&mut te, Topology::PatchList1).unwrap();
    let (mut input, mut out) = (Link::default(), Link::default());
    for (number, row) in (0..).zip(rows) {
        let entry = rig.urb.allocate(Owner::Hs).unwrap();
        *rig.urb.row_mut(entry, 0).unwrap() = row.map(f32::to_bits);
        input.patches.push_back(Patch { entry, number });
    }
    let step = rig.run(|ctx| te.step(&mut input, &mut out, ctx));
    assert_eq!(step, Step::Idle);
    assert!(!te.busy(&input));
    out.domain.into()
}

#[test]
fn triangles_are_those_of_the_tessellator() {
    let mut rig = rig(Domain::Quad, Output::Clockwise);
    let all = points(&mut rig, &[[0.0, 0.0, 6.0, 5.0, 4.0, 3.0, 2.5, 8.0]]);
    let mut cut = Tessellator::new();
    let setting = rig.draw.te.unwrap().setting;
    let factors = Factors {
        outside: [8.0, 2.5, 3.0, 4.0],
        inside: [5.0, 6.0],
    };
    assert!(cut.patch(&setting, &factors));
    let indices: Vec<u16> = all.iter().map(|vertex| vertex.index).collect();
    assert_eq!(indices, cut.triangles().as_flattened());
    assert!(indices.len() > 100, "several batches");
    for (at, vertex) in all.iter().enumerate() {
        assert_eq!(vertex.point, cut.points()[usize::from(vertex.index)]);
        assert_eq!(vertex.topology, Topology::TriList);
        let last = at + 1 == all.len();
        assert_eq!((vertex.start, vertex.end), (at == 0, last));
        assert_eq!(vertex.last, last);
    }
}

#[test]
fn isolines_are_strips() {
    let mut rig = rig(Domain::Isoline, Output::Lines);
    // Three lines of four segments each.
    let all = points(&mut rig, &[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 3.0]]);
    assert_eq!(all.len(), 3 * 5);
    for (at, vertex) in all.iter().enumerate() {
        assert_eq!(usize::from(vertex.index), at);
        assert_eq!(vertex.topology, Topology::LineStrip);
        assert_eq!((vertex.start, vertex.end), (at % 5 == 0, at % 5 == 4));
        assert_eq!(vertex.last, at == 14);
    }
}

#[test]
fn points_are_a_list() {
    let mut rig = rig(Domain::Triangle, Output::Points);
    let all = points(&mut rig, &[[2.0; 8]]);
    // Two segments a side, and the centre.
    assert_eq!(all.len(), 7);
    assert!(all.iter().all(|v| v.topology == Topology::PointList));
    assert!(all[6].last && !all[5].last);
}

#[test]
fn a_patch_that_is_culled_leaves_nothing() {
    let mut rig = rig(Domain::Quad, Output::CounterClockwise);
    let culled = |dword: usize, factor: f32| {
        let mut row = [2.0; 8];
        row[dword] = factor;
        row
    };
    let rows = [
        culled(7, 0.0),
        culled(4, f32::NAN),
        culled(5, -1.0),
        // A factor of the inside culls nothing.
        culled(3, 0.0),
    ];
    let all = points(&mut rig, &rows);
    assert!(all.iter().all(|vertex| vertex.patch.number == 3));
    assert!(!all.is_empty());
    // The last one's entry goes with its last point.
    assert_eq!(rig.used(Owner::Hs), 1);
}

// covers: V-0353, V-0357, V-0358, V-0359
#[test]
fn what_makes_no_sense_is_refused() {
    for (domain, output) in [
        (Domain::Quad, Output::Lines),
        (Domain::Triangle, Output::Lines),
        (Domain::Isoline, Output::Clockwise),
        (Domain::Isoline, Output::CounterClockwise),
    ] {
        let mut rig = rig(domain, output);
        let refused = rig.start(&mut Te::default(), Topology::PatchList1);
        assert!(refused.is_err(), "{domain:?} {output:?}");
    }
    let mut rig = rig(Domain::Quad, Output::Points);
    rig.start(&mut Te::default(), Topology::PatchList1).unwrap();
    rig.draw.te.as_mut().unwrap().software = true;
    let refused = rig.start(&mut Te::default(), Topology::PatchList1);
    assert!(refused.unwrap_err().contains("SW_TESS"));
}

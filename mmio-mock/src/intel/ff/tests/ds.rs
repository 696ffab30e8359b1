//! Points become vertices: threads, what they get, what is shaded once.

use tess::{Domain, Output, Setting};

use super::rig::{DONE, DS_KERNEL, HS_KERNEL, INTERLEAVED, Rig, urb_write};
use crate::intel::ff::Step;
use crate::intel::ff::ds::Ds;
use crate::intel::ff::hs::Hs;
use crate::intel::ff::link::{DomainVertex, Link, Patch};
use crate::intel::ff::stage::Stage;
use crate::intel::ff::state::tessellation::FactorPlaces;
use crate::intel::ff::te::Te;
use crate::intel::ff::topology::{StreamVertex, Topology};
use crate::intel::status::Unit;
use crate::intel::urb::Owner;

/// A thread that writes r1 and then the first row of the patch into its vertices, a half to each.
fn kernel() -> String {
    let text = "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n\
                mov(8) m2<1>UD g1<8,8,1>UD { align1 };\n\
                mov(8) m3<1>UD g2<8,8,1>UD { align1 };\n";
    text.to_owned() + &urb_write(3, DONE | INTERLEAVED)
}

fn rig(points: u16) -> Rig {
    let mut rig = Rig::new(4, 2, points);
    rig.kernel(DS_KERNEL, &kernel());
    rig
}

fn patch(rig: &mut Rig, number: u32) -> Patch {
    let entry = rig.urb.allocate(Owner::Hs).unwrap();
    *rig.urb.row_mut(entry, 0).unwrap() = std::array::from_fn(|dword| 100 * number + dword as u32);
    Patch { entry, number }
}

/// Points of a patch by their numbers; number n lies at (n / 16, 1 / 2).
fn points(patch: Patch, indices: &[u16]) -> impl Iterator<Item = DomainVertex> {
    let count = indices.len();
    let all = indices.iter().enumerate();
    all.map(move |(at, &index)| DomainVertex {
        patch,
        index,
        point: tess::Point {
            u: u32::from(index) << 12,
            v: 0x8000,
        },
        topology: Topology::TriList,
        start: at == 0,
        end: at + 1 == count,
        last: at + 1 == count,
    })
}

/// Shades points, and gives back every vertex at once: its number and first row.
fn shade(rig: &mut Rig, ds: &mut Ds, input: &mut Link) -> Vec<(StreamVertex, [u32; 8])> {
    let mut all = Vec::new();
    for _ in 0..1000 {
        let mut out = Link::default();
        let step = rig.with(|ctx| match ds.step(input, &mut out, ctx) {
            Step::Idle => ds.step_short(input, &mut out, ctx),
            step => step,
        });
        for vertex in out.vertices {
            all.push((vertex, *rig.urb.row(vertex.handle, 0).unwrap()));
            rig.urb.release(vertex.handle);
        }
        if step == Step::Idle {
            break;
        }
        rig.budget = 1 << 20;
    }
    assert!(!ds.busy(input));
    all
}

/// Numbers of the points that vertices were made of, by u.
fn indices(shaded: &[(StreamVertex, [u32; 8])]) -> Vec<u16> {
    let all = shaded.iter();
    all.map(|(_, row)| (f32::from_bits(row[0]) * 16.0) as u16)
        .collect()
}

#[test]
fn a_point_of_several_objects_is_shaded_once() {
    let mut rig = rig(16);
    let (mut ds, mut input) = (Ds::default(), Link::default());
    let first = patch(&mut rig, 7);
    let order = [0, 1, 2, 2, 1, 3, 3, 1, 4];
    input.domain.extend(points(first, &order));
    let shaded = shade(&mut rig, &mut ds, &mut input);
    assert_eq!(indices(&shaded), order);
    assert_eq!(rig.status.statistics.ds_invocations, 5);
    // Two points a thread; the fifth is alone.
    assert_eq!(rig.status.activity.threads[Unit::Ds as usize], 3);
    let half = 0.5f32.to_bits();
    for (at, (vertex, row)) in shaded.iter().enumerate() {
        assert_eq!((row[1], row[2]), (half, 0));
        // The first point of a thread has its data from the lower half of the registers.
        let data = match row[3] {
            7 => [704, 705, 706, 707],
            entry => {
                assert_eq!(entry, u32::from(first.entry.0));
                [700, 701, 702, 703]
            }
        };
        assert_eq!(row[4..], data);
        assert_eq!(vertex.number, Some(7));
        assert_eq!((vertex.start, vertex.end), (at == 0, at == 8));
    }
    // The patch has gone, and every vertex.
    assert_eq!((rig.used(Owner::Hs), rig.used(Owner::Ds)), (0, 0));
}

#[test]
fn threads_have_points_of_one_patch() {
    let mut rig = rig(16);
    let (mut ds, mut input) = (Ds::default(), Link::default());
    for number in [1, 2] {
        let patch = patch(&mut rig, number);
        input.domain.extend(points(patch, &[5, 6, 7]));
    }
    let shaded = shade(&mut rig, &mut ds, &mut input);
    assert_eq!(indices(&shaded), [5, 6, 7, 5, 6, 7]);
    // The same numbers are other points in another patch.
    assert_eq!(rig.status.statistics.ds_invocations, 6);
    assert_eq!(rig.status.activity.threads[Unit::Ds as usize], 4);
    let numbers: Vec<_> = shaded.iter().map(|(vertex, _)| vertex.number).collect();
    let [one, two] = [Some(1), Some(2)];
    assert_eq!(numbers, [one, one, one, two, two, two]);
    assert_eq!(rig.used(Owner::Hs), 0);
}

#[test]
fn a_small_section_has_points_shaded_again() {
    let mut rig = rig(4);
    let (mut ds, mut input) = (Ds::default(), Link::default());
    let patch = patch(&mut rig, 0);
    let order = [0, 1, 2, 3, 4, 5, 6, 7, 0, 7, 6, 1];
    input.domain.extend(points(patch, &order));
    let shaded = shade(&mut rig, &mut ds, &mut input);
    assert_eq!(indices(&shaded), order);
    let count = rig.status.statistics.ds_invocations;
    assert!((10..=12).contains(&count), "{count}");
    assert_eq!((rig.used(Owner::Hs), rig.used(Owner::Ds)), (0, 0));
}

// covers: V-0371
#[test]
fn without_an_entry_points_wait() {
    let mut rig = rig(2);
    let (mut ds, mut input, mut out) = (Ds::default(), Link::default(), Link::default());
    let patch = patch(&mut rig, 0);
    input.domain.extend(points(patch, &[0, 1, 2]));
    let step = rig.run(|ctx| ds.step(&mut input, &mut out, ctx));
    // The next stage holds both entries.
    assert_eq!((step, out.vertices.len()), (Step::Blocked, 2));
    for vertex in out.vertices.drain(..) {
        rig.urb.release(vertex.handle);
    }
    assert_eq!(shade(&mut rig, &mut ds, &mut input).len(), 1);
}

#[test]
fn a_point_may_be_alone_in_its_thread_and_the_cache_off() {
    let mut rig = rig(16);
    let state = rig.draw.ds.as_mut().unwrap();
    (state.single, state.cache_disable, state.third) = (true, true, true);
    let (mut ds, mut input) = (Ds::default(), Link::default());
    let patch = patch(&mut rig, 0);
    input.domain.extend(points(patch, &[4, 4, 8]));
    let shaded = shade(&mut rig, &mut ds, &mut input);
    assert_eq!(indices(&shaded), [4, 4, 8]);
    assert_eq!(f32::from_bits(shaded[0].1[2]), 0.25);
    assert_eq!(rig.status.statistics.ds_invocations, 3);
    assert_eq!(rig.status.activity.threads[Unit::Ds as usize], 3);
}

#[test]
fn threads_go_on_in_the_next_time_slice() {
    let mut rig = rig(16);
    let (mut ds, mut input, mut out) = (Ds::default(), Link::default(), Link::default());
    let patch = patch(&mut rig, 0);
    input.domain.extend(points(patch, &[0, 1]));
    let mut slices = 0;
    while out.vertices.is_empty() {
        rig.budget = 2;
        slices += 1;
        rig.run(|ctx| ds.step(&mut input, &mut out, ctx));
    }
    assert!(slices > 2);
    assert_eq!(rig.status.statistics.ds_invocations, 2);
    assert_eq!(rig.status.activity.threads[Unit::Ds as usize], 1);
}

/// A patch through all three: factors that a thread wrote make as many vertices as the tessellator says.
#[test]
fn a_patch_becomes_triangles() {
    let mut rig = rig(64);
    let text = "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n\
                mov(8) m2<1>F 3.0F { align1 };\n";
    rig.kernel(HS_KERNEL, &(text.to_owned() + &urb_write(2, DONE)));
    let te = rig.draw.te.as_mut().unwrap();
    te.setting = Setting {
        domain: Domain::Quad,
        output: Output::Clockwise,
        ..Setting::default()
    };
    te.places = FactorPlaces {
        outside: [7, 6, 5, 4],
        inside: [3, 2],
    };
    let (mut hs, mut te, mut ds) = (Hs::default(), Te::default(), Ds::default());
    rig.start(&mut hs, Topology::PatchList4).unwrap();
    rig.start(&mut te, Topology::PatchList4).unwrap();
    rig.start(&mut ds, Topology::PatchList4).unwrap();
    let mut links = [Link::default(), Link::default(), Link::default()];
    links[0].vertices = rig.vertices(Topology::PatchList4, 4).into();
    let [vertices, patches, domain] = &mut links;
    rig.run(|ctx| hs.step(vertices, patches, ctx));
    rig.run(|ctx| te.step(patches, domain, ctx));
    let shaded = shade(&mut rig, &mut ds, domain);
    // Three by three squares, of two triangles each, with four by four points.
    assert_eq!(shaded.len(), 9 * 2 * 3);
    assert_eq!(rig.status.statistics.ds_invocations, 16);
    for owner in [Owner::Vs, Owner::Hs, Owner::Ds] {
        assert_eq!(rig.used(owner), 0, "{owner:?}");
    }
}

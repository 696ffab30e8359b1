//! Patches: their vertices, threads that live together, what is dropped.

use super::rig::{DONE, HS_KERNEL, Rig, urb_write};
use crate::intel::ff::Step;
use crate::intel::ff::hs::Hs;
use crate::intel::ff::link::{Link, Patch};
use crate::intel::ff::stage::Stage;
use crate::intel::ff::topology::Topology;
use crate::intel::td::SlotId;
use crate::intel::urb::Owner;

/// A thread that writes 2.0 into the first row of its patch, and the handles of vertices into the second.
fn kernel() -> String {
    let text = "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n\
                mov(8) m2<1>F 2.0F { align1 };\n\
                mov(8) m3<1>UD g1<8,8,1>UD { align1 };\n";
    text.to_owned() + &urb_write(3, DONE)
}

fn vertices(rig: &mut Rig, topology: Topology, count: usize) -> Link {
    Link {
        vertices: rig.vertices(topology, count).into(),
        ..Link::default()
    }
}

fn patches(rig: &mut Rig, hs: &mut Hs, input: &mut Link) -> (Step, Vec<Patch>) {
    let mut out = Link::default();
    let step = rig.run(|ctx| hs.step(input, &mut out, ctx));
    (step, out.patches.into())
}

#[test]
fn a_patch_has_its_vertices_and_a_number() {
    let mut rig = Rig::new(32, 4, 4);
    rig.kernel(HS_KERNEL, &kernel());
    let mut hs = Hs::default();
    rig.start(&mut hs, Topology::PatchList3).unwrap();
    let mut input = vertices(&mut rig, Topology::PatchList3, 8);
    let handles: Vec<u32> = input.vertices.iter().map(|v| v.handle.0.into()).collect();
    let (step, patches) = patches(&mut rig, &mut hs, &mut input);
    assert_eq!(step, Step::Idle);
    // Two of the eight vertices make no patch.
    assert_eq!(patches.iter().map(|p| p.number).collect::<Vec<_>>(), [0, 1]);
    for (patch, handles) in patches.iter().zip(handles.chunks(3)) {
        let factors = rig.urb.row(patch.entry, 0).unwrap();
        assert_eq!(*factors, [2.0f32.to_bits(); 8]);
        let seen = rig.urb.row(patch.entry, 1).unwrap();
        assert_eq!(seen[..3], *handles);
    }
    rig.finish(&mut hs);
    assert_eq!((rig.used(Owner::Vs), rig.used(Owner::Hs)), (0, 2));
    assert!(!hs.busy(&input));
    let statistics = rig.status.statistics;
    assert_eq!(
        (statistics.hs_invocations, statistics.ia_primitives),
        (2, 2)
    );
    // Numbers begin anew with an instance, and go on with another primitive of it.
    input.vertices = rig.vertices(Topology::PatchList3, 3).into();
    assert_eq!(self::patches(&mut rig, &mut hs, &mut input).1[0].number, 0);
    input.vertices = rig.vertices(Topology::PatchList3, 3).into();
    input.vertices[0].renumber = false;
    assert_eq!(self::patches(&mut rig, &mut hs, &mut input).1[0].number, 1);
}

#[test]
fn a_primitive_that_ends_early_has_no_patch() {
    let mut rig = Rig::new(32, 4, 4);
    rig.kernel(HS_KERNEL, &kernel());
    let mut hs = Hs::default();
    rig.start(&mut hs, Topology::PatchList4).unwrap();
    let mut input = Link::default();
    for count in [3, 5] {
        input
            .vertices
            .extend(rig.vertices(Topology::PatchList4, count));
    }
    let (_, patches) = patches(&mut rig, &mut hs, &mut input);
    assert_eq!(patches.len(), 1);
    rig.finish(&mut hs);
    assert_eq!(rig.used(Owner::Vs), 0);
}

#[test]
fn without_an_entry_the_patch_waits() {
    let mut rig = Rig::new(32, 1, 4);
    rig.kernel(HS_KERNEL, &kernel());
    let mut hs = Hs::default();
    rig.start(&mut hs, Topology::PatchList1).unwrap();
    let mut input = vertices(&mut rig, Topology::PatchList1, 2);
    let (step, first) = patches(&mut rig, &mut hs, &mut input);
    assert_eq!((step, first.len()), (Step::Blocked, 1));
    assert!(hs.busy(&input));
    rig.urb.release(first[0].entry);
    let (step, second) = patches(&mut rig, &mut hs, &mut input);
    assert_eq!((step, second.len()), (Step::Idle, 1));
}

/// All threads of a patch live at the same time, and go on when they are woken, in any order.
#[test]
fn threads_of_a_patch_wait_for_one_another() {
    let mut rig = Rig::new(32, 1, 4);
    let text = "wait(1) n0<1>UD { align1 };\n".to_owned() + &kernel();
    rig.kernel(HS_KERNEL, &text);
    let mut hs = Hs::default();
    rig.draw.hs.as_mut().unwrap().instances = 3;
    rig.start(&mut hs, Topology::PatchList1).unwrap();
    let mut input = vertices(&mut rig, Topology::PatchList1, 1);
    let (step, none) = patches(&mut rig, &mut hs, &mut input);
    assert_eq!((step, none.len()), (Step::Blocked, 0));
    assert_eq!(rig.td.standing().count(), 3);
    for woken in [2, 0] {
        rig.td.thread_mut(SlotId(woken)).notify(0);
        let (step, none) = patches(&mut rig, &mut hs, &mut input);
        assert_eq!((step, none.len()), (Step::Blocked, 0));
    }
    assert_eq!(rig.td.standing().count(), 1);
    assert_eq!(rig.used(Owner::Vs), 1);
    rig.td.thread_mut(SlotId(1)).notify(0);
    let (step, patches) = patches(&mut rig, &mut hs, &mut input);
    assert_eq!((step, patches.len()), (Step::Idle, 1));
    assert_eq!(rig.used(Owner::Vs), 0);
    assert_eq!(rig.status.statistics.hs_invocations, 1);
}

#[test]
fn threads_go_on_in_the_next_time_slice() {
    let mut rig = Rig::new(32, 1, 4);
    rig.kernel(HS_KERNEL, &kernel());
    let mut hs = Hs::default();
    rig.draw.hs.as_mut().unwrap().instances = 4;
    rig.start(&mut hs, Topology::PatchList1).unwrap();
    let mut input = vertices(&mut rig, Topology::PatchList1, 1);
    let mut slices = 0;
    let all = loop {
        rig.budget = 2;
        slices += 1;
        let (_, all) = patches(&mut rig, &mut hs, &mut input);
        if !all.is_empty() {
            break all;
        }
    };
    assert_eq!(all.len(), 1);
    assert!(slices > 4);
    assert!(rig.td.idle());
}

// covers: V-0360, V-0680
#[test]
fn the_three_stages_are_on_together_and_for_patches() {
    let mut rig = Rig::new(4, 1, 4);
    let mut hs = Hs::default();
    let refused = rig.start(&mut hs, Topology::TriList).unwrap_err();
    assert!(refused.contains("no patch"), "{refused}");
    rig.draw.te = None;
    let refused = rig.start(&mut hs, Topology::PatchList3).unwrap_err();
    assert!(refused.contains("without TE"), "{refused}");
    rig.draw.hs = None;
    assert!(hs.off(&rig.draw) && hs.section(&rig.draw).is_none());
}

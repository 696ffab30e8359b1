//! Vertices on their way through VF and VS: the cache, and what is counted.
//! ValleyView volume 2 part 2, 3DSTATE_VS (Vertex Cache Disable, VS Function Enable, Statistics Enable), 3DSTATE_VERTEX_BUFFERS.

use mem::GpuAddr;

use super::rig::{DONE, INTERLEAVED, Rig, urb_write};
use crate::core::fault::UnitFault;
use crate::intel::ff::Step;
use crate::intel::ff::link::Link;
use crate::intel::ff::stage::{Stage, StartContext};
use crate::intel::ff::state::{IndexBuffer, PipelineState, Primitive, UnitConfig, VsState};
use crate::intel::ff::topology::Topology;
use crate::intel::ff::vf::Vf;
use crate::intel::ff::vs::Vs;
use crate::intel::td::KernelState;
use crate::intel::urb::{Owner, UrbHandle};

const KERNEL: u32 = 0x1000;
const INDICES: u32 = 0x4000;
/// Vertices of the draws: three different ones.
const LIST: [u16; 5] = [7, 9, 7, 3, 9];

/// A machine whose VS is in a state, with its kernel and the list of indices.
fn rig(enable: bool, cached: bool) -> (Rig, PipelineState) {
    let mut rig = Rig::new(32, 4, 4);
    let header = "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n".to_owned();
    rig.kernel(KERNEL, &(header + &urb_write(3, DONE | INTERLEAVED)));
    for (at, index) in (INDICES..).step_by(2).zip(LIST) {
        rig.mem
            .write_bytes(GpuAddr::from(at), &index.to_le_bytes())
            .unwrap();
    }
    rig.draw.vs = VsState {
        unit: UnitConfig {
            kernel: KernelState {
                ip: KERNEL,
                grf_count: 128,
                urb_start: 1,
                ..KernelState::default()
            },
            read_rows: 1,
            urb_entries: 32,
            urb_entry_rows: 1,
            statistics: true,
            ..UnitConfig::default()
        },
        enable,
        vertex_cache_disable: !cached,
        counts_passing: true,
    };
    let state = PipelineState {
        index_buffer: Some(IndexBuffer {
            bytes: 2,
            cut: false,
            start: INDICES,
            end: INDICES + 9,
        }),
        ..PipelineState::default()
    };
    (rig, state)
}

fn begin(
    rig: &mut Rig,
    vf: &mut Vf,
    state: &PipelineState,
    instances: u32,
) -> Result<(), UnitFault> {
    let reader = rig.reader();
    rig.with(|ctx| {
        let start = StartContext {
            command: &Primitive {
                topology: Ok(Topology::PointList),
                random: state.index_buffer.is_some(),
                count: 5,
                instances,
                ..reader.primitive(&[0; 6])
            },
            reader,
            state,
            draw: ctx.draw,
        };
        vf.start(&start, ctx.machine)
    })
}

/// The entries of a draw's vertices, and how many vertices VS has counted.
fn drawn(
    rig: &mut Rig,
    stages: &mut (Vf, Vs),
    state: &PipelineState,
    instances: u32,
) -> (Vec<UrbHandle>, u64) {
    let before = rig.status.statistics.vs_invocations;
    let (vf, vs) = stages;
    begin(rig, vf, state, instances).unwrap();
    let (mut fetched, mut out) = (Link::default(), Link::default());
    while vf.busy(&Link::default()) {
        rig.with(|ctx| vf.step(&mut Link::default(), &mut fetched, ctx));
        rig.with(|ctx| vs.step(&mut fetched, &mut out, ctx));
    }
    while vs.busy(&fetched) {
        let step = rig.with(|ctx| vs.step_short(&mut fetched, &mut out, ctx));
        assert_ne!(step, Step::Dead);
    }
    let handles: Vec<_> = out.vertices.iter().map(|v| v.handle).collect();
    for handle in &handles {
        rig.urb.release(*handle);
    }
    assert_eq!(rig.used(Owner::Vs), 0);
    (handles, rig.status.statistics.vs_invocations - before)
}

fn different(handles: &[UrbHandle]) -> usize {
    let mut all: Vec<u16> = handles.iter().map(|h| h.0).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

// covers: V-0476, V-0478
#[test]
fn the_cache_spares_vertices_whether_they_are_shaded_or_pass() {
    for (enable, cached, want) in [
        (true, false, 5),
        (true, true, 3),
        (false, true, 3),
        (false, false, 5),
    ] {
        let (mut rig, state) = rig(enable, cached);
        let (handles, count) = drawn(&mut rig, &mut Default::default(), &state, 1);
        assert_eq!((handles.len(), different(&handles)), (5, want));
        assert_eq!(count, want as u64, "shaded {enable}, cached {cached}");
    }
    // Without statistics nothing is counted, and other devices count threads alone.
    for (statistics, counts_passing) in [(false, true), (true, false)] {
        let (mut rig, state) = rig(false, true);
        rig.draw.vs.unit.statistics = statistics;
        rig.draw.vs.counts_passing = counts_passing;
        assert_eq!(drawn(&mut rig, &mut Default::default(), &state, 1).1, 0);
    }
}

// covers: V-0477
#[test]
fn the_cache_ends_with_its_draw_and_its_instance() {
    let (mut rig, state) = rig(true, true);
    let mut stages = Default::default();
    assert_eq!(drawn(&mut rig, &mut stages, &state, 1).1, 3);
    assert_eq!(drawn(&mut rig, &mut stages, &state, 1).1, 3);
    assert_eq!(drawn(&mut rig, &mut stages, &state, 4).1, 12);
    // Switched off and on again, and the shader as well.
    rig.draw.vs.vertex_cache_disable = true;
    assert_eq!(drawn(&mut rig, &mut stages, &state, 1).1, 5);
    rig.draw.vs.vertex_cache_disable = false;
    assert_eq!(drawn(&mut rig, &mut stages, &state, 1).1, 3);
    rig.draw.vs.enable = false;
    assert_eq!(drawn(&mut rig, &mut stages, &state, 1).1, 3);
    rig.draw.vs.enable = true;
    assert_eq!(drawn(&mut rig, &mut stages, &state, 1).1, 3);
}

/// VERTEX_ELEMENT_STATE: component controls 5 and 6 are the numbers of vertex and instance, 2 is zero, 1 the source.
// covers: V-0412
#[test]
fn elements_of_numbers_need_no_buffer() {
    let (mut rig, mut state) = rig(false, true);
    let mut vf = Vf::default();
    let element = |controls: [u32; 4]| {
        let [x, y, z, w] = controls;
        let words = regs::gen40::VertexElementState::new()
            .with_vertex_buffer_index(4)
            .with_valid(true)
            .with_component_0_control(x)
            .with_component_1_control(y)
            .with_component_2_control(z)
            .with_component_3_control(w);
        words.dwords().to_vec()
    };
    state.vertex_elements = element([5, 6, 2, 2]);
    assert!(begin(&mut rig, &mut vf, &state, 1).is_ok());
    let mut vf = Vf::default();
    state.vertex_elements.extend(element([1, 2, 2, 2]));
    let fault = begin(&mut rig, &mut vf, &state, 1).unwrap_err().to_string();
    assert!(fault.contains("vertex buffer 4"), "{fault}");
}

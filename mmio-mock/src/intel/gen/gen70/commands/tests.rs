//! Words from captures and from i915, and what the reader makes of them.

use mem::GpuAddr;

use super::*;
use crate::intel::cs::reader::Chosen;

/// b_flat of the captures: 3DSTATE_VERTEX_BUFFERS of a draw with two buffers.
#[test]
fn vertex_buffers_have_ends_and_a_bit_for_their_addresses() {
    let d = [
        0x7808_0007,
        0x0001_400c,
        0x0011_4040,
        0x0011_4063,
        0,
        0x0401_4000,
        0x0011_4080,
        0x0011_409f,
        0,
    ];
    let buffers = Reader.vertex_buffers(&d);
    let [(0, first), (1, second)] = buffers[..] else {
        panic!("two buffers: {buffers:?}");
    };
    assert_eq!((first.pitch, first.start), (12, 0x11_4040));
    assert_eq!(first.end, Some(0x11_4063));
    assert_eq!((second.pitch, second.start), (0, 0x11_4080));
    assert_eq!(Reader.kept_addresses(&d), 0);
    // Bit 14 of the second one's first dword: Address Modify Enable.
    let mut kept = d;
    kept[5] &= !0x4000;
    assert_eq!(Reader.kept_addresses(&kept), 1 << 1);
}

/// b_flat: a write of zero to 0x109060 of the process; genxml gen7 LRI Post Sync Operation, bit 23.
#[test]
fn a_flush_stores_where_its_bit_says() {
    let pc = Reader.pipe_control(&[0x7a00_0003, 0x0010_4000, 0x0010_9060, 5, 6]);
    assert_eq!(pc.post_sync, PostSync::Immediate(6 << 32 | 5));
    assert_eq!(pc.space, Some(Chosen::Process));
    assert_eq!(pc.address, GpuAddr(0x10_9060));
    // PIPE_CONTROL_GLOBAL_GTT_IVB is bit 24 of dword 1 (i915 gt/intel_gpu_commands.h).
    let pc = Reader.pipe_control(&[0x7a00_0003, 1 << 24 | 0x4000, 0x2000, 7, 0]);
    assert_eq!(pc.space, Some(Chosen::Global));
    let pc = Reader.pipe_control(&[0x7a00_0003, 1 << 23, 0x2358, 7, 0]);
    assert_eq!(pc.post_sync, PostSync::Register(7));
    assert_eq!(pc.address, GpuAddr(0x2358));
    // Caches of state, constants, textures and instructions.
    let pc = Reader.pipe_control(&[0x7a00_0003, 0x0010_0c0e, 0, 0, 0]);
    assert!(pc.invalidate_instructions && pc.flush_writes);
}

/// genxml gen7 MI_PREDICATE; Mesa crocus_query.c (`MI_PREDICATE | MI_PREDICATE_LOADOP_LOADINV | MI_PREDICATE_COMBINEOP_SET |
/// MI_PREDICATE_COMPAREOP_SRCS_EQUAL` of crocus_state.c draws when the two sources differ).
#[test]
fn a_predicate_compares_and_combines() {
    let predicate = Reader.predicate(&[0x0600_0000 | 3 << 6 | 2]);
    assert_eq!(predicate.comparison, Comparison::Equal);
    assert_eq!(predicate.combination, Combination::Set);
    assert_eq!(predicate.inverts, Some(true));
    let predicate = Reader.predicate(&[0x0600_0000 | 2 << 6 | 3 << 3 | 3]);
    assert_eq!(predicate.comparison, Comparison::DeltasEqual);
    assert_eq!(predicate.combination, Combination::Xor);
    assert_eq!(predicate.inverts, Some(false));
    assert_eq!(Reader.predicate(&[0x0600_0000]).inverts, None);
}

/// i915 gt/intel_gpu_commands.h: MI_LOAD_REGISTER_MEM is 0x29 << 23; MI_SRM_LRM_GLOBAL_GTT bit 22.
#[test]
fn a_register_is_loaded_from_either_space() {
    let load = Reader.load_register_mem(&[0x1480_0001, 0x2434, 0x1000]);
    assert_eq!(load.register, 0x2434);
    let place = |space| Place::Graphics(space, GpuAddr(0x1000));
    assert_eq!(load.place, place(Chosen::Process));
    let load = Reader.load_register_mem(&[0x14c0_0001, 0x2434, 0x1000]);
    assert_eq!(load.place, place(Chosen::Global));
}

/// genxml gen7 PIPELINE_SELECT: 3D, media, GPGPU.
#[test]
fn compute_goes_through_the_media_pipeline() {
    let selected = |code: u32| Reader.pipeline_select(&[0x6904_0000 | code]);
    assert_eq!(selected(0), Some(false));
    assert_eq!(selected(1), Some(true));
    assert_eq!(selected(2), Some(true));
    assert_eq!(selected(3), None);
}

/// 3DSTATE_VERTEX_BUFFERS: Vertex Buffer Index, bits 31:26 of a structure, says which buffer it defines; a command says nothing of others.
// covers: V-0411
#[test]
fn a_command_defines_the_buffers_that_it_names() {
    let words = |indices: &[u32]| {
        let states = indices
            .iter()
            .flat_map(|n| [n << 26 | 0x4010, 0x1000 * n, 0x1000 * n + 63, 0]);
        let mut words = vec![0x7808_0000 | (indices.len() as u32 * 4 - 1)];
        words.extend(states);
        words
    };
    let mut buffers = [VertexBuffer::default(); 33];
    for indices in [&[0, 7, 32][..], &[7], &[32, 1]] {
        let before = buffers;
        for (index, buffer) in Reader.vertex_buffers(&words(indices)) {
            buffers[index] = buffer;
        }
        for (n, buffer) in (0..).zip(&buffers) {
            if indices.contains(&n) {
                assert_eq!((buffer.start, buffer.pitch), (0x1000 * n, 16));
            } else {
                assert_eq!(*buffer, before[n as usize]);
            }
        }
    }
}

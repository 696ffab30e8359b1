//! Commands of the captured compute scene, as Mesa's decoder prints them.

use mem::Memory;

use super::*;
use crate::intel::shared::context::ThreadContext;

/// MEDIA_VFE_STATE: GPGPU mode, 32 threads, eight rows of constants, no URB entries.
const VFE: [u32; 8] = [0x7000_0006, 0, 0x001f_00c4, 0, 8, 0, 0, 0];

#[test]
fn the_front_end_of_a_compute_scene() {
    let mem = Memory::new(1 << 20, 1 << 8);
    let bases = StateBases::default();
    let state = Reader.front_end(&mem, &bases, &VFE).unwrap();
    assert_eq!((state.threads, state.groups, state.entries), (32, true, 0));
    assert_eq!((state.missing, state.scratch_bytes), (None, 1024));
    assert_eq!(Reader.sections(&VFE).constants, 8);
    // 3 means 4 KB here (crocus_state.c).
    let mut scratch = VFE;
    scratch[1] = 0x8000 | 3;
    let state = Reader.front_end(&mem, &bases, &scratch).unwrap();
    assert_eq!((state.scratch, state.scratch_bytes), (0x8000, 4096));
}

#[test]
fn grids_of_eight_threads_of_sixteen_channels() {
    // crocus_state.c: SIMD16, 8 threads, 2 x 3 x 4 groups.
    let words = [
        0x7105_0009,
        1,
        1 << 30 | 7,
        0,
        2,
        0,
        3,
        0,
        4,
        0xffff,
        0xffff_ffff,
    ];
    let grid = Reader.grid(&words);
    assert_eq!((grid.descriptor, grid.channels), (32, 16));
    assert_eq!(
        (grid.threads, grid.first, grid.end),
        ([8, 1, 1], [0; 3], [2, 3, 4])
    );
    assert_eq!((grid.right, grid.bottom), (0xffff, 0xffff_ffff));
    assert!(!grid.indirect && !grid.predicated);
    let mut indirect = words;
    indirect[0] |= 1 << 10 | 1 << 8;
    let grid = Reader.grid(&indirect);
    assert!(grid.indirect && grid.predicated);
}

#[test]
fn a_descriptor_has_threads_local_memory_and_a_barrier() {
    let mem = Memory::new(1 << 20, 1 << 8);
    let bases = StateBases::default();
    // The compute scene: binding table 40h with one entry, one row of constants.
    let descriptor = [0x2000, 0, 0, 0x41, 0x1_0000, 1 << 21 | 2 << 16 | 8, 0, 0];
    let loaded = Descriptors {
        start: 0x180,
        words: descriptor.to_vec(),
    };
    let kernel = Reader.group_kernel(&mem, &bases, &loaded, 0x180).unwrap();
    assert_eq!((kernel.local, kernel.barrier), (8 << 10, Some(8)));
    let MediaKernel {
        kernel,
        context,
        constant_rows,
        ..
    } = kernel.kernel;
    assert_eq!((kernel.ip, context.binding_table_pointer), (0x2000, 0x40));
    assert_eq!(constant_rows, 1);
    assert!(Reader.group_kernel(&mem, &bases, &loaded, 0x1a0).is_err());
}

#[test]
fn a_thread_finds_its_group_and_barrier() {
    let r0 = Reader.group_root(&GroupHeader {
        group: [5, 6, 7],
        barrier: 9,
        context: ThreadContext {
            binding_table_pointer: 0x40,
            sampler_state_pointer: 0x60,
            ..ThreadContext::default()
        },
        scratch_power: 3,
        scratch: 0x1_2000,
        number: 31,
    });
    assert_eq!(r0, [0, 5, 9 << 24, 0x63, 0x40, 0x1_201f, 6, 7]);
}

#[test]
fn persistent_threads_have_twelve_dwords() {
    let mut words = [0; 16];
    words[..3].copy_from_slice(&[0x7102_000e, 2, 1 << 31]);
    words[4] = 77;
    let object = Reader.persistent(&words).unwrap();
    assert_eq!((object.descriptor, object.children), (64, true));
    assert_eq!((object.inline.len(), object.inline[0]), (12, 77));
}

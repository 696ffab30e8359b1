//! Fields of commands and what the windower's state makes of them.
//!
//! genxml gen7 for bits; ValleyView volume 2 part 2 for what they mean; sample places of Mesa 22.3.6.

use super::*;
use crate::intel::cc::control::Pass;

const HEADERS: [(CommandId, u32, usize); 2] = [
    (CommandId::State3dWm, 0x7814_0001, 3),
    (CommandId::State3dPs, 0x7820_0006, 8),
];

/// State with some dwords of 3DSTATE_WM and of 3DSTATE_PS.
fn state(wm: &[(usize, u32)], ps: &[(usize, u32)]) -> PipelineState {
    let mut state = PipelineState::default();
    for ((id, header, length), dwords) in HEADERS.into_iter().zip([wm, ps]) {
        let mut words = vec![0; length];
        words[0] = header;
        for (at, bits) in dwords {
            words[*at] |= bits;
        }
        state.kept.insert(id, words);
    }
    state
}

fn read_wm(state: &PipelineState) -> WmState {
    let s = table::State3dWm::from_dwords(words(state, CommandId::State3dWm));
    let ps = table::State3dPs::from_dwords(words(state, CommandId::State3dPs));
    wm(state, (&s, &ps), &sf(state), &surface::depth_of(state))
}

fn read_samples(multisample: [u32; 4], mask: Option<u32>, wm: [u32; 3]) -> Samples {
    let mut state = PipelineState::default();
    let id = CommandId::State3dMultisample;
    state.kept.insert(id, multisample.to_vec());
    if let Some(mask) = mask {
        let id = CommandId::State3dSampleMask;
        state.kept.insert(id, vec![0x7818_0000, mask]);
    }
    samples(&state, &table::State3dWm::from_dwords(&wm))
}

/// The places of four and of eight samples that Mesa 22.3.6 sends (intel_sample_positions.c,
/// intel_sample_positions.h), packed by hand: y in the lower nibble of each byte.
// covers: V-0120
#[test]
fn places_of_four_and_eight() {
    let per_sample = [0x7814_0001, 3, 0];
    let four = read_samples([0x790d_0002, 2 << 1, 0xae2a_e662, 0], None, per_sample);
    assert_eq!((four.count, four.mask), (4, 0xff));
    assert_eq!((four.pattern, four.per_sample), (true, true));
    assert_eq!(four.places[0], [0.375, 0.125]);
    assert_eq!(four.places[3], [0.625, 0.875]);
    let per_pixel = [0x7814_0001, 2, 1 << 31];
    let eight = [
        [9, 5],
        [7, 11],
        [13, 9],
        [5, 3],
        [3, 13],
        [1, 7],
        [11, 15],
        [15, 1],
    ];
    let dword = |samples: &[[u32; 2]]| {
        let bytes = samples.iter().zip(0..);
        bytes.fold(0, |word, ([x, y], n)| word | (x << 4 | y) << (8 * n))
    };
    let words = [0x790d_0002, 3 << 1, dword(&eight[..4]), dword(&eight[4..])];
    let found = read_samples(words, Some(0x5a), per_pixel);
    assert_eq!((found.count, found.mask), (8, 0x5a));
    assert_eq!((found.pattern, found.per_sample), (false, false));
    let want = eight.map(|place| place.map(|n| n as f32 / 16.0));
    assert_eq!(found.places, want);
    let one = read_samples([0x790d_0002, 0, 0x88, 0], Some(1), per_sample);
    assert_eq!((one.count, one.pattern, one.per_sample), (1, false, false));
}

// covers: V-0048
#[test]
fn passes_over_targets() {
    assert_eq!(color_calc::backend(&PipelineState::default()).pass, None);
    for (bits, want) in [
        (1 << 8, Some(Pass::Clear)),
        (1 << 6, Some(Pass::Resolve)),
        (1 << 7, None),
    ] {
        let state = state(&[], &[(4, bits)]);
        assert_eq!(color_calc::backend(&state).pass, want);
    }
}

/// 3DSTATE_PS: kernels in dwords 1, 6 and 7; where their constants begin in bits 22:16, 14:8 and 6:0 of dword 5. Kernel 0 is that of
/// 8 pixels, or the one there is; 1 has 32 pixels and 2 has 16 (Mesa 22.3.6 brw_compiler.h `brw_fs_simd_width_for_ksp`).
// covers: V-0070
#[test]
fn each_width_has_a_kernel_and_a_first_register() {
    let kernels = [(1, 0x40), (6, 0x80), (7, 0xc0), (5, 2 << 16 | 4 << 8 | 6)];
    let with = |widths: u32| {
        let ps: Vec<_> = kernels.into_iter().chain([(4, widths)]).collect();
        let wm = read_wm(&state(&[], &ps));
        let place = |kernel: KernelState| (kernel.ip, kernel.urb_start);
        let third = wm.kernel_32.map(place);
        (
            [wm.dispatch_8, wm.dispatch_16, wm.dispatch_32],
            [place(wm.unit.kernel), place(wm.kernel_16)],
            third,
        )
    };
    let (widths, [eight, sixteen], third) = with(0b111);
    assert_eq!(widths, [true; 3]);
    assert_eq!((eight, sixteen), ((0x40, 2), (0xc0, 6)));
    assert_eq!(third, Some((0x80, 4)));
    // One alone.
    let (widths, [_, sixteen], _) = with(0b010);
    assert_eq!((widths, sixteen), ([false, true, false], (0x40, 2)));
    let (widths, _, third) = with(0b100);
    assert_eq!((widths, third), ([false, false, true], Some((0x40, 2))));
}

/// 3DSTATE_WM, Early Depth/Stencil Control, bits 22:21 of dword 1.
// covers: V-0516
#[test]
fn the_order_of_tests_and_threads() {
    let order = |code: u32| read_wm(&state(&[(1, code << 21)], &[])).test_order;
    assert_eq!(order(0), TestOrder::Normal);
    assert_eq!(order(1), TestOrder::Behind);
    assert_eq!(order(2), TestOrder::Ahead);
}

/// 3DSTATE_WM: Thread Dispatch Enable is bit 29 of dword 1, Depth Buffer Resolve Enable 28, Hierarchical Depth Buffer Resolve Enable 27,
/// Depth Buffer Clear 30.
#[test]
fn threads_clears_and_resolves() {
    let with = |bit: u32| read_wm(&state(&[(1, 1 << bit)], &[]));
    assert!(with(29).thread_dispatch_enable && !with(28).thread_dispatch_enable);
    assert_eq!(with(28).depth_resolve, Some(DepthResolve::Depth));
    assert_eq!(with(27).depth_resolve, Some(DepthResolve::Hierarchical));
    assert_eq!(
        (with(30).depth_resolve, with(29).depth_resolve),
        (None, None)
    );
    assert_eq!(with(30).depth_clear, Some(0.0));
    assert_eq!(with(28).depth_clear, None);
}

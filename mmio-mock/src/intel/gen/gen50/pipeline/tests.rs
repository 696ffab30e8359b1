//! State: words of a captured frame (Ironlake, gears), and hand-made ones.
//!
//! Bits: genxml gen5.

use super::*;
use crate::intel::r#gen::gen50::functions;
use crate::intel::shared::reader::FunctionReader;
use mem::GpuAddr;

/// Places of unit state.
const AT: [u32; 6] = [0x1000, 0x1100, 0x1200, 0x1300, 0x1400, 0x1500];

fn memory(states: &[(usize, &[u32])]) -> (Memory, PipelineState) {
    let mut mem = Memory::new(1 << 20, 512);
    mem.alloc_mapped(GpuAddr(0x1000), 4096).unwrap();
    for &(unit, words) in states {
        mem.write_dwords(GpuAddr::from(AT[unit]), words).unwrap();
    }
    let state = PipelineState {
        pointers: [AT[0], AT[1] | 1, AT[2] | 1, AT[3], AT[4], AT[5]],
        ..PipelineState::default()
    };
    (mem, state)
}

/// VS_STATE of the frame: 32 in Number of URB Entries are 128.
const VS: [u32; 7] = [
    0x0000_0600,
    0x8000_0000,
    0,
    0x0200_0801,
    0x7e01_0000,
    0x0011_2000,
    1,
];
/// CLIP_STATE of the frame, without guard band: mode 5, ten entries.
const CLIP: [u32; 11] = [
    0x0000_0682,
    0x8001_0000,
    0,
    0x0000_1001,
    0x1e00_5000,
    0x1900_a000,
    0,
    0xbf80_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0000,
];

#[test]
fn captured_units() {
    let (mem, state) = memory(&[(0, &VS), (2, &CLIP)]);
    let draw = Reader.units(&mem, &state).unwrap();
    let vs = draw.vs;
    assert!(vs.enable);
    assert_eq!(vs.unit.kernel.ip, 0x600);
    assert_eq!(vs.unit.urb_entries, 128);
    assert_eq!((vs.unit.read_rows, vs.unit.constant_rows), (1, 1));
    assert!(!vs.unit.entry_on_request);
    let clip = draw.clip.unwrap();
    assert_eq!(clip.mode, ClipMode::Normal);
    assert_eq!(clip.unit.kernel.ip, 0x680);
    assert_eq!(clip.unit.urb_entries, 10);
    assert!(clip.unit.entry_on_request);
    // Rendering Enabled is bit 8 of dword 4 of GS_STATE; that of the test is clear.
    let gs = draw.gs.unwrap();
    assert!(gs.no_rendering && gs.unit.entry_on_request);
}

#[test]
fn rendering_enabled() {
    let (mem, state) = memory(&[(1, &[0, 0, 0, 0, 1 << 8, 0, 0])]);
    let gs = Reader.units(&mem, &state).unwrap().gs.unwrap();
    assert!(!gs.no_rendering);
}

/// WM_STATE of the frame: kernels of 8 and 16 pixels.
const WM: [u32; 11] = [
    0x0000_058e,
    0x0004_0100,
    0,
    0x0000_1002,
    0x0011_2000,
    0x8e05_0003,
    0,
    0,
    0x0000_0580,
    0x0000_05ce,
    0,
];

#[test]
fn each_width_has_its_kernel() {
    let read = |words: &[u32; 11]| {
        wm(
            &table::WmState::from_dwords(words),
            &PipelineState::default(),
        )
    };
    let both = read(&WM);
    assert!(both.dispatch_8 && both.dispatch_16);
    assert_eq!(both.unit.kernel.ip, 0x580);
    assert_eq!(both.kernel_16.ip, 0x5c0);
    assert_eq!(both.kernel_16.grf_count, 128);
    assert_eq!(both.kernel_16.urb_start, 2);
    assert_eq!(both.maximum_threads, 72);
    // 16 pixels alone: kernel 0.
    let mut alone = WM;
    alone[5] &= !1;
    let alone = read(&alone);
    assert!(!alone.dispatch_8 && alone.dispatch_16);
    assert_eq!(alone.kernel(4).0.ip, 0x580);
}

/// 3DSTATE_VERTEX_ELEMENTS of the frame has no places in vertices.
#[test]
fn elements_follow_one_another() {
    let elements = elements(&[
        0x0400_0000,
        0x1111_0000,
        // Not valid: takes no place.
        0x0000_0010,
        0x1111_0000,
        0x0400_0010,
        0x1111_0000,
    ]);
    let places: Vec<_> = elements.iter().map(|e| (e.offset, e.destination)).collect();
    assert_eq!(places, [(0, 0), (0x10, 4)]);
}

#[test]
fn what_is_missing_is_told() {
    let told = |depth: Vec<u32>, wm: [u32; 11]| {
        let (mem, mut state) = memory(&[(4, &wm)]);
        state.depth_buffer = depth;
        matches!(
            Reader.windower(&mem, &state),
            Err(UnitFault::Unimplemented { .. })
        )
    };
    let null = vec![0x7905_0004, 7 << 29, 0, 0, 0, 0];
    assert!(!told(null.clone(), [0; 11]));
    // Bits 21 and 22 of dword 1: separate stencil, hierarchical depth.
    for bit in [21, 22] {
        let mut depth = null.clone();
        depth[1] |= 1 << bit;
        assert!(told(depth, [0; 11]), "{bit}");
    }
    // Dword 5: clear and resolves in 7 to 9, contiguous dispatch in 3 and 4 (19: dispatch at all).
    for bits in [1 << 7, 1 << 8, 1 << 9, 1 << 19 | 1 << 3, 1 << 19 | 1 << 4] {
        let mut wm = [0; 11];
        wm[5] = bits;
        assert!(told(null.clone(), wm), "{bits:#x}");
    }
}

/// Twelve dwords: UNORM8, floats, half floats, UNORM16, SNORM16, SNORM8 of a red of 2 and an alpha of -1 or 0, as Mesa writes
/// them (genX_state_upload.c `upload_default_color`).
#[test]
fn border_colours_have_a_value_for_each_format() {
    let (mem, _) = memory(&[(
        0,
        &[
            0x0000_80ff,
            2.0f32.to_bits(),
            0.5f32.to_bits(),
            0,
            (-1.0f32).to_bits(),
            0x3800_4000,
            0xbc00_0000,
            0x8000_ffff,
            0x0000_0000,
            0x4000_7fff,
            0x8001_0000,
            0x8100_407f,
        ],
    )]);
    let border = functions::Reader
        .border(&mem, GpuAddr::from(AT[0]))
        .unwrap();
    let of = |code: u32| border.of(crate::intel::surface::Format::layout(code).unwrap());
    // Codes of PRM volume 4, 4.7.2.1.1: R32G32B32A32_FLOAT, R16G16B16A16_FLOAT, R8G8B8A8_UNORM, R16G16B16A16_UNORM,
    // R16G16B16A16_SNORM, R8G8B8A8_SNORM, BC1_UNORM.
    assert_eq!(of(0x000), [2.0, 0.5, 0.0, -1.0]);
    assert_eq!(of(0x084), [2.0, 0.5, 0.0, -1.0]);
    assert_eq!(of(0x0c7), [1.0, 128.0 / 255.0, 0.0, 0.0]);
    assert_eq!(of(0x080), [1.0, 32768.0 / 65535.0, 0.0, 0.0]);
    assert_eq!(of(0x081), [1.0, 16384.0 / 32767.0, 0.0, -1.0]);
    assert_eq!(of(0x0c9), [1.0, 64.0 / 127.0, 0.0, -1.0]);
    assert_eq!(of(0x186), of(0x0c7));
    // 965 has floats for all.
    let first =
        crate::intel::r#gen::gen40::sampler::border(&mem, GpuAddr::from(AT[0] + 4)).unwrap();
    assert_eq!(
        first.of(crate::intel::surface::Format::layout(0x0c7).unwrap()),
        [2.0, 0.5, 0.0, -1.0]
    );
}

/// A cube of 16x16 texels: the second face lies below the levels of the first, as in a 2D array, not beside it.
#[test]
fn faces_of_a_cube_are_slices() {
    let words = [
        3 << 29 | 0x0c7 << 18 | 0x3f,
        0x0010_0000,
        15 << 19 | 15 << 6,
        63 << 3,
        0,
        0,
    ];
    let desc = functions::Reader.surface(&words);
    let cube =
        crate::intel::surface::Surface::resolve(&desc, crate::intel::surface::state::Use::Sampler)
            .unwrap();
    let (x, y) = cube.geometry.origin(1, 0);
    assert_eq!(x, 0);
    // h0 + h1 + 11 * j rows, and j is 2 (965 PRM volume 1, 2D array spacing).
    assert_eq!(y, 16 + 8 + 11 * 2);
}

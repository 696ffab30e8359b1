//! Each field of the windower's commands where genxml gen6 has it, alone.

use super::*;
use crate::intel::ff::state::windower::DepthResolve;
use crate::intel::shared::context::StateBases;
use mem::GpuAddr;

/// A page of state, at the base of dynamic state.
const PAGE: u32 = 0x1000;

fn state(commands: &[(CommandId, &[u32])]) -> PipelineState {
    PipelineState {
        bases: StateBases {
            dynamic_state_base: Some(PAGE),
            ..StateBases::default()
        },
        kept: commands
            .iter()
            .map(|(id, words)| (*id, words.to_vec()))
            .collect(),
        ..PipelineState::default()
    }
}

fn memory() -> Memory {
    let mut mem = Memory::new(1 << 20, 512);
    mem.alloc_mapped(PAGE.into(), 4096).unwrap();
    mem
}

fn wm_of(state: &PipelineState) -> WmState {
    let s = table::State3dWm::from_dwords(words(state, CommandId::State3dWm));
    wm(state, &s, &sf(state), &surface::depth_of(state))
}

/// What a field changes.
type Change = fn(&mut WmState);

/// The bits of 3DSTATE_WM, one field at a time, on top of `base`.
fn fields(base: [u32; 9], rows: &[(usize, u32, Change)]) {
    let plain = wm_of(&state(&[(CommandId::State3dWm, &base)]));
    for (dword, bits, change) in rows {
        let mut words = base;
        words[*dword] |= bits;
        let mut expected = plain;
        change(&mut expected);
        assert_ne!(expected, plain, "{dword} {bits:#x}: changes nothing");
        let found = wm_of(&state(&[(CommandId::State3dWm, &words)]));
        assert_eq!(found, expected, "{dword} {bits:#x}");
    }
}

/// The three kernels of a state in which each width has its own.
fn each(wm: &mut WmState, change: fn(&mut KernelState)) {
    change(&mut wm.unit.kernel);
    change(&mut wm.kernel_16);
    change(wm.kernel_32.as_mut().unwrap());
}

/// Kernel 1 is that of 32 pixels and kernel 2 that of 16 (Mesa brw_compiler.h `brw_fs_simd_width_for_ksp`).
#[test]
fn kernels_and_their_payload() {
    fields(
        [0; 9],
        &[
            (1, 0xffff_ffc0, |w| w.unit.kernel.ip = 0xffff_ffc0),
            (7, 0x40, |w| w.kernel_32.as_mut().unwrap().ip = 0x40),
            (8, 0x80, |w| w.kernel_16.ip = 0x80),
            (2, 1 << 7, |w| each(w, |k| k.software_exception = true)),
            (2, 1 << 11, |w| each(w, |k| k.mask_stack_exception = true)),
            (2, 1 << 13, |w| {
                each(w, |k| k.illegal_opcode_exception = true);
            }),
            (2, 1 << 16, |w| each(w, |k| k.alt_float = true)),
            (2, 1 << 17, |w| each(w, |k| k.high_priority = true)),
            (2, 1 << 31, |w| each(w, |k| k.single_program_flow = true)),
            (3, 1, |w| {
                w.unit.scratch_power = 1;
                w.unit.context.scratch_size = 2048;
            }),
            (3, 0x400, |w| w.unit.context.scratch_base = 0x400),
            (4, 0x7f, |w| w.kernel_16.urb_start = 127),
            (4, 0x7f << 8, |w| {
                w.kernel_32.as_mut().unwrap().urb_start = 127;
            }),
            (4, 0x7f << 16, |w| w.unit.kernel.urb_start = 127),
            (5, 1, |w| w.dispatch_8 = true),
        ],
    );
    // 16 pixels alone: kernel 0 is theirs.
    let alone = [0, 0x40, 0, 0, 6 << 16, 1 << 1, 0, 0x80, 0xc0];
    let alone = wm_of(&state(&[(CommandId::State3dWm, &alone)]));
    assert!(alone.dispatch_16 && !alone.dispatch_8 && !alone.dispatch_32);
    assert_eq!((alone.kernel_16.ip, alone.kernel_16.urb_start), (0x40, 6));
    let alone = [0, 0x40, 0, 0, 0, 1 << 2, 0, 0x80, 0xc0];
    let alone = wm_of(&state(&[(CommandId::State3dWm, &alone)]));
    assert!(alone.dispatch_32 && !alone.dispatch_16);
    assert_eq!(alone.kernel_32.unwrap().ip, 0x40);
}

#[test]
fn what_threads_get_and_do() {
    fields(
        [0; 9],
        &[
            (4, 1 << 27, |w| {
                w.depth_resolve = Some(DepthResolve::Hierarchical);
            }),
            (4, 1 << 28, |w| w.depth_resolve = Some(DepthResolve::Depth)),
            (4, 1 << 30, |w| w.depth_clear = Some(0.0)),
            (4, 1 << 31, |w| w.unit.statistics = true),
            (5, 1 << 8, |w| w.pixel_shader_uses_source_w = true),
            (5, 1 << 11, |w| w.line_stipple_enable = true),
            (5, 1 << 13, |w| w.polygon_stipple_enable = true),
            // 0.5, 1, 2 and 4 pixels.
            (5, 1 << 14, |w| w.line_antialiasing_region_width = 1.0),
            (5, 3 << 14, |w| w.line_antialiasing_region_width = 4.0),
            (5, 2 << 16, |w| {
                w.line_end_cap_antialiasing_region_width = 2.0;
            }),
            (5, 1 << 19, |w| w.thread_dispatch_enable = true),
            (5, 1 << 20, |w| w.pixel_shader_uses_source_depth = true),
            (5, 1 << 21, |w| w.pixel_shader_computed_depth = true),
            (5, 1 << 22, |w| w.pixel_shader_kills_pixel = true),
            (5, 1 << 23, |w| w.legacy_diamond_line_rasterization = true),
            (5, 0x7f << 25, |w| w.maximum_threads = 128),
            (6, 0x3f << 10, |w| w.barycentrics = 0x3f),
            (6, 2 << 16, |w| w.position_zw = Location::Centroid),
            (6, 3 << 16, |w| w.position_zw = Location::Sample),
            (6, 2 << 18, |w| {
                w.position_xy_offset = Some(Location::Centroid);
            }),
            (6, 3 << 18, |w| {
                w.position_xy_offset = Some(Location::Sample);
            }),
        ],
    );
}

/// 3DSTATE_MULTISAMPLE: NUMSAMPLES_4 is code 2; places in sixteenths, y below x. A mode of 3DSTATE_WM counts with four samples alone.
#[test]
fn multisampling() {
    let read = |wm: [u32; 9], m: [u32; 3], mask: Option<u32>| {
        let mut state = state(&[
            (CommandId::State3dWm, &wm),
            (CommandId::State3dMultisample, &m),
        ]);
        if let Some(mask) = mask {
            let words = vec![0, mask];
            state.kept.insert(CommandId::State3dSampleMask, words);
        }
        wm_of(&state).samples
    };
    let with = |bits| {
        let mut words = [0; 9];
        words[6] = bits;
        words
    };
    let four = read(with(0), [0, 2 << 1, 0xae2a_e662], None);
    assert_eq!(four.count, 4);
    // Mesa's places of four samples (intel_sample_positions.h): 6/16, 2/16; 14/16, 6/16; 2/16, 10/16; 10/16, 14/16.
    assert_eq!(
        four.places[..4],
        [
            [0.375, 0.125],
            [0.875, 0.375],
            [0.125, 0.625],
            [0.625, 0.875]
        ]
    );
    assert_eq!(
        (four.pattern, four.per_sample, four.mask),
        (false, true, 0xf)
    );
    // MSDISPMODE_PERPIXEL; MSRASTMODE_OFF_PATTERN and ON_PATTERN are 1 and 3.
    assert!(!read(with(1), [0, 2 << 1, 0], None).per_sample);
    assert!(read(with(1 << 1), [0, 2 << 1, 0], None).pattern);
    assert!(!read(with(2 << 1), [0, 2 << 1, 0], None).pattern);
    assert!(read(with(3 << 1), [0, 2 << 1, 0], None).pattern);
    let one = read(with(3 << 1), [0, 0, 0], Some(5));
    assert_eq!(
        (one.count, one.pattern, one.per_sample, one.mask),
        (1, false, false, 5)
    );
}

/// What stands in 3DSTATE_SF and 3DSTATE_MULTISAMPLE and is the windower's.
#[test]
fn rasterisation() {
    let read = |sf_bits: (usize, u32), wm_bits: u32, m: u32| {
        let mut sf_words = [0; 20];
        sf_words[sf_bits.0] = sf_bits.1;
        let mut wm_words = [0; 9];
        wm_words[6] = wm_bits;
        let state = state(&[
            (CommandId::State3dSf, &sf_words),
            (CommandId::State3dWm, &wm_words),
            (CommandId::State3dMultisample, &[0, m, 0]),
        ]);
        let wm_table = table::State3dWm::from_dwords(words(&state, CommandId::State3dWm));
        (raster(&state, &sf(&state), &wm_table), wm_of(&state))
    };
    let (plain, _) = read((0, 0), 0, 0);
    // Pixel Location: the centre is half a pixel from the upper left corner.
    assert_eq!((plain.origin_bias_x, plain.origin_bias_y), (0.5, 0.5));
    assert_eq!(plain.subpixel_bits, 8);
    assert_eq!(plain.point_rule, PointRule::UpperLeft);
    assert!(!plain.last_pixel_enable && !plain.antialiasing_enable);
    let (corner, _) = read((0, 0), 0, 1 << 4);
    assert_eq!((corner.origin_bias_x, corner.origin_bias_y), (0.0, 0.0));
    assert_eq!(read((4, 1 << 12), 0, 0).0.subpixel_bits, 4);
    assert!(read((4, 1 << 31), 0, 0).0.last_pixel_enable);
    assert!(read((3, 1 << 31), 0, 0).0.antialiasing_enable);
    assert_eq!(read((0, 0), 1 << 9, 0).0.point_rule, PointRule::UpperRight);
    let two = 2.0f32.to_bits();
    assert!(read((2, 1 << 11), 0, 0).1.legacy_global_depth_bias_enable);
    assert_eq!(read((5, two), 0, 0).1.global_depth_offset_constant, 2.0);
    assert_eq!(read((6, two), 0, 0).1.global_depth_offset_scale, 2.0);
    let mut words = [0; 20];
    words[7] = two;
    let found = windower(&memory(), &state(&[(CommandId::State3dSf, &words)])).unwrap();
    assert_eq!(found.depth_offset_clamp, 2.0);
}

/// SCISSOR_RECT and CC_VIEWPORT, eight bytes each: as many as Maximum VP Index says.
#[test]
fn limits_of_viewports() {
    let mut mem = memory();
    let put = |mem: &mut Memory, at: u32, words: &[u32]| {
        mem.write_dwords(GpuAddr::from(PAGE + at), words).unwrap();
    };
    put(&mut mem, 0x40, &[2 << 16 | 1, 4 << 16 | 3]);
    put(&mut mem, 0x48, &[6 << 16 | 5, 8 << 16 | 7]);
    let depths = [0.25f32, 0.5, 0.125, 0.75].map(f32::to_bits);
    put(&mut mem, 0x80, &depths);
    let read = |sf_bits: u32, maximum: u32| {
        let mut sf_words = [0; 20];
        sf_words[3] = sf_bits;
        let state = state(&[
            (CommandId::State3dSf, &sf_words),
            (CommandId::State3dClip, &[0, 0, 0, maximum]),
            (CommandId::State3dScissorStatePointers, &[0, 0x40]),
            (CommandId::State3dViewportStatePointers, &[0, 0, 0, 0x80]),
        ]);
        windower(&mem, &state).unwrap()
    };
    let first = PixelRect {
        x_min: 1,
        y_min: 2,
        x_max: 3,
        y_max: 4,
    };
    let second = PixelRect {
        x_min: 5,
        y_min: 6,
        x_max: 7,
        y_max: 8,
    };
    // Scissor Rectangle Enable: bit 11 of dword 3.
    assert_eq!(read(0, 0).scissor, None);
    assert_eq!(read(1 << 11, 0).scissor, Some(first));
    assert!(read(1 << 11, 0).viewports.is_empty());
    let both = read(1 << 11, 1);
    assert_eq!(both.scissor, None);
    assert_eq!(
        both.viewports,
        [
            ViewportLimits {
                scissor: Some(first),
                depth: (0.25, 0.5)
            },
            ViewportLimits {
                scissor: Some(second),
                depth: (0.125, 0.75)
            }
        ]
    );
}

/// 3DSTATE_CLEAR_PARAMS has the depth in the buffer's format (Mesa isl_emit_depth_stencil.c): 3DSTATE_DEPTH_BUFFER, Surface Format
/// in bits 20:18 of dword 1, where 1 is D32_FLOAT, 3 D24_UNORM_X8_UINT and 5 D16_UNORM.
#[test]
fn cleared_depths() {
    let mut clear = [0; 9];
    clear[4] = 1 << 30;
    let read = |format: u32, value: u32| {
        let state = PipelineState {
            depth_buffer: vec![0, format << 18, 0, 0, 0, 0, 0],
            ..state(&[
                (CommandId::State3dWm, &clear),
                (CommandId::State3dClearParams, &[1 << 15, value]),
            ])
        };
        wm_of(&state).depth_clear
    };
    assert_eq!(read(1, 0.25f32.to_bits()), Some(0.25));
    assert_eq!(read(3, 0xff_ffff), Some(1.0));
    assert_eq!(read(5, 0xffff), Some(1.0));
    assert_eq!(read(5, 0), Some(0.0));
}

/// 3DSTATE_LINE_STIPPLE: pattern in dword 1 with the current counters, repeat count in dword 2.
#[test]
fn stipples() {
    let state = PipelineState {
        line_stipple: [0x000f_8421 | 5 << 21, 7],
        ..PipelineState::default()
    };
    let found = line_stipple(&state);
    assert_eq!(found.pattern, 0x8421);
    assert_eq!(found.repeat_count, 7);
    assert_eq!((found.current_index, found.current_repeat), (15, 5));
}

/// A draw that starts no threads does not look at BLEND_STATE: before the clear of a depth buffer Mesa (blorp_genX_exec.h) leaves
/// its pointer as it was, and another Dynamic State Base Address makes it one to anything.
#[test]
fn without_threads_nothing_is_blended() {
    let mut mem = memory();
    // Color Buffer Blend Enable with source factor 16, which is reserved (genxml gen6, BLEND_STATE_ENTRY).
    let entry = [1 << 31 | 16 << 5, 0];
    mem.write_dwords(GpuAddr::from(PAGE + 0xc0), &entry)
        .unwrap();
    let read = |dispatch: u32| {
        let wm = [0, 0, 0, 0, 0, dispatch, 0, 0, 0];
        let state = state(&[
            (CommandId::State3dWm, &wm),
            (CommandId::State3dCcStatePointers, &[0, 0xc0 | 1, 0, 0]),
        ]);
        windower(&mem, &state)
    };
    let (enable, eight) = (1 << 19, 1);
    for dispatch in [0, enable, eight] {
        assert!(read(dispatch).unwrap().cc.blend.is_none());
    }
    assert!(matches!(
        read(enable | eight),
        Err(UnitFault::State { unit: "CC", .. })
    ));
}

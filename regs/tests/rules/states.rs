//! Rules on what a draw finds: rasterization, pixel threads, depth.

use regs::gen70 as table;

use super::{BLEND, Batch, SAMPLER, broken, change, draw};

const NONE: [&str; 0] = [];

// covers: V-0257, V-0678
#[test]
fn depth_formats_agree() {
    let found = broken(|b| change!(b, State3dSf, with_depth_buffer_surface_format = 5));
    assert_eq!(found, ["sf-depth-format"]);
    // Without a buffer there is no format.
    let found = broken(|b| {
        change!(b, State3dSf, with_depth_buffer_surface_format = 5);
        change!(b, State3dDepthBuffer, with_surface_type = 7);
    });
    assert_eq!(found, NONE);
}

// covers: V-0259
#[test]
fn setup_counts_with_the_clipper() {
    let with = |sf: bool, enable: bool, counts: bool| {
        broken(|b| {
            change!(b, State3dSf, with_statistics_enable = sf);
            change!(
                b,
                State3dClip,
                with_clip_enable = enable,
                with_statistics_enable = counts
            );
        })
    };
    assert_eq!(with(false, true, true), ["sf-statistics"]);
    assert_eq!(with(true, false, true), ["sf-statistics"]);
    assert_eq!(with(true, true, false), ["sf-statistics"]);
    assert_eq!(with(false, false, true), NONE);
}

// covers: V-0260
#[test]
fn rectangles_are_filled() {
    let with = |topology: u32, front: u32, back: u32| {
        broken(|b| {
            change!(
                b,
                State3dSf,
                with_frontface_fill_mode = front,
                with_backface_fill_mode = back
            );
            b.commands.pop();
            b.commands.push(draw(topology));
        })
    };
    assert_eq!(with(15, 1, 0), ["sf-rectangles"]);
    assert_eq!(with(15, 0, 2), ["sf-rectangles"]);
    assert_eq!(with(15, 0, 0), NONE);
    assert_eq!(with(4, 1, 2), NONE);
}

// covers: V-0263
#[test]
fn lines_have_a_width_when_samples_are_on() {
    let with = |mode: u32, width: f32, topology: u32, fill: u32| {
        broken(|b| {
            change!(
                b,
                State3dSf,
                with_line_width = width,
                with_multisample_rasterization_mode = mode,
                with_frontface_fill_mode = fill
            );
            change!(b, State3dWm, with_multisample_rasterization_mode = mode);
            b.commands.pop();
            b.commands.push(draw(topology));
        })
    };
    assert_eq!(with(2, 0.0, 2, 0), ["sf-line-width"]);
    assert_eq!(with(3, 0.0, 3, 0), ["sf-line-width"]);
    assert_eq!(with(3, 0.0, 4, 1), ["sf-line-width"]);
    assert_eq!(with(1, 0.0, 2, 0), NONE);
    assert_eq!(with(3, 1.0, 2, 0), NONE);
    // Without lines there is no width.
    assert_eq!(with(3, 0.0, 4, 0), NONE);
    assert_eq!(with(3, 0.0, 15, 0), NONE);
}

// covers: V-0264, V-0523, V-0678
#[test]
fn rasterization_modes_agree() {
    let found = broken(|b| change!(b, State3dWm, with_multisample_rasterization_mode = 3));
    assert_eq!(found, ["multisample-modes"]);
}

// covers: V-0065
#[test]
fn pixel_threads_are_even_in_number() {
    let with =
        |maximum| broken(|b| change!(b, State3dPs, with_maximum_number_of_threads = maximum));
    assert_eq!(with(30), ["ps-threads-even"]);
    assert_eq!(with(29), NONE);
}

// covers: V-0693
#[test]
fn there_are_four_to_thirty_two_pixel_threads() {
    let with =
        |maximum| broken(|b| change!(b, State3dPs, with_maximum_number_of_threads = maximum));
    assert_eq!(with(1), ["ps-threads"]);
    assert_eq!(with(33), ["ps-threads"]);
    assert_eq!(with(3), NONE);
}

// covers: V-0068
#[test]
fn offsets_of_samples_are_for_threads_of_samples() {
    let with = |select: u32, per_pixel: u32| {
        broken(|b| {
            change!(b, State3dPs, with_position_xy_offset_select = select);
            change!(b, State3dWm, with_multisample_dispatch_mode = per_pixel);
        })
    };
    assert_eq!(with(3, 1), ["ps-sample-offsets"]);
    assert_eq!(with(3, 0), NONE);
    assert_eq!(with(2, 1), NONE);
}

// covers: V-0069
#[test]
fn widths_are_those_that_there_are() {
    let with = |widths: [bool; 3], per_pixel: u32, samples: u32| {
        broken(|b| {
            change!(
                b,
                State3dPs,
                with_n8_pixel_dispatch_enable = widths[0],
                with_n16_pixel_dispatch_enable = widths[1],
                with_n32_pixel_dispatch_enable = widths[2]
            );
            change!(b, State3dWm, with_multisample_dispatch_mode = per_pixel);
            change!(b, State3dMultisample, with_number_of_multisamples = samples);
        })
    };
    assert_eq!(with([false; 3], 1, 0), ["ps-widths"]);
    // Note D: several widths, not for samples.
    assert_eq!(with([true, true, false], 0, 2), ["ps-widths"]);
    assert_eq!(with([true, true, false], 1, 2), NONE);
    assert_eq!(with([true, true, true], 0, 0), NONE);
    assert_eq!(with([false, true, false], 0, 3), NONE);
    // Note E: 32 pixels, not for samples when there are eight.
    assert_eq!(with([false, false, true], 0, 3), ["ps-widths"]);
    assert_eq!(with([false, false, true], 0, 2), NONE);
}

// covers: V-0121, V-0122
#[test]
fn the_mask_has_the_samples_that_there_are() {
    let with = |samples: u32, mask: u32| {
        broken(|b| {
            change!(b, State3dMultisample, with_number_of_multisamples = samples);
            change!(b, State3dSampleMask, with_sample_mask = mask);
        })
    };
    assert_eq!(with(0, 3), ["sample-mask"]);
    assert_eq!(with(0, 0x80), ["sample-mask"]);
    assert_eq!(with(2, 0x1f), ["sample-mask"]);
    assert_eq!(with(2, 0xf), NONE);
    assert_eq!(with(3, 0xff), NONE);
}

// covers: V-0508
#[test]
fn without_threads_nothing_is_killed_or_computed() {
    let with = |kills: bool, depth: u32, threads: bool| {
        broken(|b| {
            change!(
                b,
                State3dWm,
                with_thread_dispatch_enable = threads,
                with_pixel_shader_kills_pixel = kills,
                with_pixel_shader_computed_depth_mode = depth
            );
        })
    };
    assert_eq!(with(true, 0, false), ["wm-no-threads"]);
    assert_eq!(with(false, 1, false), ["wm-no-threads"]);
    assert_eq!(with(false, 0, false), NONE);
    assert_eq!(with(true, 2, true), NONE);
}

// covers: V-0513
#[test]
fn what_kills_pixels_is_announced() {
    let with = |announced: bool, change: &dyn Fn(&mut Batch)| {
        broken(|b| {
            change!(b, State3dWm, with_pixel_shader_kills_pixel = announced);
            change(b);
        })
    };
    let mask = |b: &mut Batch| change!(b, State3dPs, with_omask_present_to_rendertarget = true);
    let blend = |state: table::BlendStateEntry| {
        move |b: &mut Batch| {
            let at = BLEND as usize / 4;
            b.dynamic[at..at + 2].copy_from_slice(state.dwords());
        }
    };
    let test = blend(table::BlendStateEntry::new().with_alpha_test_enable(true));
    let coverage = blend(table::BlendStateEntry::new().with_alphatocoverage_enable(true));
    let key = |mode: u32| {
        move |b: &mut Batch| {
            let state = table::SamplerState::new()
                .with_chromakey_enable(true)
                .with_chromakey_mode(mode);
            let at = SAMPLER as usize / 4;
            b.dynamic[at..at + 4].copy_from_slice(state.dwords());
            change!(b, State3dPs, with_sampler_count = 1);
        }
    };
    let all: [&dyn Fn(&mut Batch); 4] = [&mask, &test, &coverage, &key(0)];
    for (i, change) in all.into_iter().enumerate() {
        assert_eq!(with(false, change), ["wm-kills"], "{i}");
        assert_eq!(with(true, change), NONE, "{i}");
    }
    // KEYREPLACE_BLACK kills nothing.
    assert_eq!(with(false, &key(1)), NONE);
}

// covers: V-0517
#[test]
fn tests_behind_threads_need_threads() {
    let with = |control: u32, threads: bool| {
        broken(|b| {
            change!(
                b,
                State3dWm,
                with_early_depth_stencil_control = control,
                with_thread_dispatch_enable = threads
            );
        })
    };
    assert_eq!(with(1, false), ["wm-psexec"]);
    assert_eq!(with(1, true), NONE);
    assert_eq!(with(2, false), NONE);
}

// covers: V-0521
#[test]
fn weights_of_samples_are_for_threads_of_samples() {
    let with = |modes: u32, per_pixel: u32| {
        broken(|b| {
            change!(
                b,
                State3dWm,
                with_barycentric_interpolation_mode = modes,
                with_multisample_dispatch_mode = per_pixel
            );
        })
    };
    assert_eq!(with(1 << 2, 1), ["wm-sample-weights"]);
    assert_eq!(with(1 << 5, 1), ["wm-sample-weights"]);
    assert_eq!(with(1 << 5, 0), NONE);
    assert_eq!(with(0b01_1011, 1), NONE);
}

/// A depth clear that keeps the rules.
fn clear(b: &mut Batch) {
    change!(b, State3dWm, with_depth_buffer_clear = true);
    change!(b, State3dDepthBuffer, with_stencil_write_enable = true);
    let state = table::DepthStencilState::new()
        .with_depth_buffer_write_enable(true)
        .with_stencil_write_mask(0xff)
        .with_stencil_test_mask(0xff)
        .with_backface_stencil_write_mask(0xff)
        .with_backface_stencil_test_mask(0xff);
    b.dynamic[..3].copy_from_slice(state.dwords());
}

fn cleared(change: impl Fn(&mut Batch)) -> Vec<&'static str> {
    broken(|b| {
        clear(b);
        change(b);
    })
}

// covers: V-0504
#[test]
fn a_clear_writes_and_does_not_test() {
    assert_eq!(cleared(|_| ()), NONE);
    let writes = |b: &mut Batch| change!(b, State3dDepthBuffer, with_depth_write_enable = false);
    assert_eq!(cleared(writes), ["depth-clear"]);
    let stencil = |b: &mut Batch| change!(b, State3dDepthBuffer, with_stencil_write_enable = false);
    assert_eq!(cleared(stencil), ["depth-clear"]);
    let without = |b: &mut Batch| {
        stencil(b);
        change!(b, State3dStencilBuffer, with_surface_base_address = 0);
    };
    assert_eq!(cleared(without), NONE);
    // Depth Test Enable, bit 31 of dword 2.
    assert_eq!(cleared(|b| b.dynamic[2] |= 1 << 31), ["depth-clear"]);
}

// covers: V-0505
#[test]
fn a_clear_has_all_bits_of_stencil() {
    // Masks in dword 1: test 31:24, write 23:16, those of back faces below.
    for shift in [24, 16, 8, 0] {
        let found = cleared(|b| b.dynamic[1] &= !(1 << shift));
        assert_eq!(found, ["depth-clear"], "{shift}");
    }
}

// covers: V-0506
#[test]
fn a_clear_kills_nothing() {
    let kills = |b: &mut Batch| change!(b, State3dWm, with_pixel_shader_kills_pixel = true);
    assert_eq!(cleared(kills), ["depth-clear"]);
}

// covers: V-0509, V-0511
#[test]
fn a_resolve_is_alone_and_writes() {
    let with = |[clears, depth, hierarchical]: [bool; 3], writes: bool| {
        broken(|b| {
            clear(b);
            change!(
                b,
                State3dWm,
                with_depth_buffer_clear = clears,
                with_depth_buffer_resolve_enable = depth,
                with_hierarchical_depth_buffer_resolve_enable = hierarchical
            );
            change!(b, State3dDepthBuffer, with_depth_write_enable = writes);
        })
    };
    for resolve in [[false, true, false], [false, false, true]] {
        assert_eq!(with(resolve, true), NONE);
        assert_eq!(with(resolve, false), ["depth-resolve"]);
        let [_, depth, hierarchical] = resolve;
        assert_eq!(with([true, depth, hierarchical], true), ["depth-resolve"]);
    }
    assert_eq!(with([false, true, true], true), ["depth-resolve"]);
}

/// The field has 17 bits: the print's 3FFFFh does not fit, and its 128 KB do.
// covers: V-0310, V-0311, V-0684
#[test]
fn the_pitch_of_stencil_is_twice_its_width() {
    let with = |pitch: u32, width: u32| {
        broken(|b| {
            change!(b, State3dStencilBuffer, with_surface_pitch = pitch - 1);
            change!(b, State3dDepthBuffer, with_width = width - 1);
        })
    };
    assert_eq!(with(128, 64), NONE);
    assert_eq!(with(128, 65), ["stencil-pitch"]);
    assert_eq!(with(192, 64), ["stencil-pitch"]);
    assert_eq!(with(128 * 1024, 16384), NONE);
    let largest = table::State3dStencilBuffer::new().with_surface_pitch(0x1_ffff);
    assert_eq!(largest.surface_pitch(), 128 * 1024 - 1);
    let more = table::State3dStencilBuffer::new().with_surface_pitch(0x3_ffff);
    assert_eq!(more.surface_pitch(), 128 * 1024 - 1);
    // Without a buffer there is no pitch.
    let found = broken(|b| {
        change!(
            b,
            State3dStencilBuffer,
            with_surface_base_address = 0,
            with_surface_pitch = 0
        );
    });
    assert_eq!(found, NONE);
}

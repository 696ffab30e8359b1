//! Rules on what a draw finds set: vertices, URB, setup and streams.

use regs::gen70 as table;
use regs::ids::CommandId as Id;

use super::{Batch, SCRATCH, TARGET, broken, change, decl, declarations, draw, element, elements};

const NONE: [&str; 0] = [];

// covers: V-0676
#[test]
fn constants_of_stages_do_not_share_space() {
    let found = broken(|b| {
        change!(
            b,
            State3dPushConstantAllocHs,
            with_constant_buffer_offset = 3
        );
    });
    assert_eq!(found, ["constants-apart"]);
    let found = broken(|b| {
        change!(
            b,
            State3dPushConstantAllocPs,
            with_constant_buffer_offset = 11
        );
    });
    assert_eq!(found, ["constants-apart"]);
    // Without a size there is nothing to share.
    let found = broken(|b| {
        change!(
            b,
            State3dPushConstantAllocHs,
            with_constant_buffer_offset = 3,
            with_constant_buffer_size = 0
        );
    });
    assert_eq!(found, NONE);
}

// covers: V-0679
#[test]
fn enables_say_whether_there_is_anything() {
    let found = broken(|b| change!(b, State3dPs, with_push_constant_enable = false));
    assert_eq!(found, ["constants-enabled"]);
    let found = broken(|b| b.command(Id::State3dConstantPs)[1] = 0);
    assert_eq!(found, ["constants-enabled"]);
    let found = broken(|b| change!(b, State3dPs, with_attribute_enable = false));
    assert_eq!(found, ["ps-attributes"]);
    let found = broken(|b| change!(b, State3dSbe, with_number_of_sf_output_attributes = 0));
    assert_eq!(found, ["ps-attributes"]);
}

// covers: V-0369, V-0380, V-0392, V-0403
#[test]
fn sections_lie_behind_constants() {
    macro_rules! stage {
        ($section:ident, $start:ident) => {{
            // The constants of GS and PS end at 12 and 16 KB. DS has few entries, which end before those of VS.
            let found = broken(|b| {
                change!(b, State3dUrbDs, with_ds_number_of_urb_entries = 8);
                change!(b, $section, $start = 1);
            });
            assert_eq!(found, ["urb-behind-constants"], stringify!($section));
        }};
    }
    stage!(State3dUrbVs, with_vs_urb_starting_address);
    stage!(State3dUrbHs, with_hs_urb_starting_address);
    stage!(State3dUrbDs, with_ds_urb_starting_address);
    stage!(State3dUrbGs, with_gs_urb_starting_address);
    let found = broken(|b| {
        change!(b, State3dUrbVs, with_vs_urb_starting_address = 1);
        for id in [
            Id::State3dPushConstantAllocDs,
            Id::State3dPushConstantAllocGs,
            Id::State3dPushConstantAllocPs,
        ] {
            b.command(id)[1] = 0;
        }
        // And what goes with that.
        change!(b, State3dPs, with_push_constant_enable = false);
        b.command(Id::State3dConstantPs)[1] = 0;
    });
    assert_eq!(found, NONE);
}

// covers: V-0677
#[test]
fn sections_are_apart_and_in_the_urb() {
    // VS has 64 entries of 128 bytes, 8 KB from 16 KB on.
    let found = broken(|b| change!(b, State3dUrbVs, with_vs_number_of_urb_entries = 72));
    assert_eq!(found, ["urb-apart"]);
    let found = broken(|b| change!(b, State3dUrbHs, with_hs_urb_starting_address = 2));
    assert_eq!(found, ["urb-apart"]);
    // GS from 88 KB on, up to 160 KB: 576 entries of 128 bytes.
    let ends = |start, entries| {
        broken(|b| {
            change!(
                b,
                State3dUrbGs,
                with_gs_urb_starting_address = start,
                with_gs_number_of_urb_entries = entries
            );
        })
    };
    assert_eq!(ends(11, 576), NONE);
    assert_eq!(ends(11, 584), ["urb-inside"]);
    assert_eq!(ends(12, 8), ["urb-inside"]);
}

// covers: V-0382, V-0383
#[test]
fn a_geometry_shader_has_entries() {
    let entries = |enable, entries| {
        broken(|b| {
            change!(b, State3dGs, with_enable = enable);
            change!(b, State3dUrbGs, with_gs_number_of_urb_entries = entries);
        })
    };
    assert_eq!(entries(true, 0), ["urb-gs-entries"]);
    assert_eq!(entries(false, 0), NONE);
    assert_eq!(entries(true, 8), NONE);
}

// covers: V-0405
#[test]
fn entries_hold_what_goes_in_and_what_comes_out() {
    // Entries have 128 bytes: eight elements, or four rows.
    let input = |count: usize| {
        let all = vec![element(0, [1; 4]); count];
        broken(|b| b.replace(Id::State3dVertexElements, elements(&all)))
    };
    assert_eq!(input(8), NONE);
    assert_eq!(input(9), ["urb-vs-size"]);
    let output = |attributes: u32, geometry: bool| {
        broken(|b| {
            change!(
                b,
                State3dSbe,
                with_number_of_sf_output_attributes = attributes,
                with_vertex_urb_entry_read_length = attributes.div_ceil(2)
            );
            change!(b, State3dGs, with_enable = geometry);
        })
    };
    assert_eq!(output(6, false), NONE);
    assert_eq!(output(7, false), ["urb-vs-size"]);
    // What the setup reads then comes out of GS.
    assert_eq!(output(7, true), NONE);
}

// covers: V-0422, V-0425
#[test]
fn elements_are_valid_from_the_first_one_on() {
    let valid = |all: &[bool]| {
        let all: Vec<_> = all
            .iter()
            .map(|v| element(0, [1; 4]).with_valid(*v))
            .collect();
        broken(|b| b.replace(Id::State3dVertexElements, elements(&all)))
    };
    assert_eq!(valid(&[false, true]), ["vertex-elements-valid"]);
    assert_eq!(valid(&[true, false, true]), ["vertex-elements-valid"]);
    assert_eq!(valid(&[false, false]), ["vertex-elements-valid"]);
    assert_eq!(valid(&[true, true, false]), NONE);
}

// covers: V-0475
#[test]
fn a_vertex_shader_reads_its_vertices() {
    let found = broken(|b| change!(b, State3dVs, with_vertex_urb_entry_read_length = 0));
    assert_eq!(found, ["vs-read-length"]);
    let found = broken(|b| {
        change!(
            b,
            State3dVs,
            with_vertex_urb_entry_read_length = 0,
            with_enable = false
        );
    });
    assert_eq!(found, NONE);
}

// covers: V-0694
#[test]
fn there_are_sixteen_vertex_threads() {
    let found = broken(|b| change!(b, State3dVs, with_maximum_number_of_threads = 16));
    assert_eq!(found, ["vs-threads"]);
}

// covers: V-0064, V-0474
#[test]
fn threads_have_their_scratch_space() {
    let ps = |bytes: u32| {
        broken(|b| {
            b.scratch = bytes;
            change!(
                b,
                State3dPs,
                with_scratch_space_base_pointer = SCRATCH,
                with_per_thread_scratch_space = 1
            );
        })
    };
    // 32 threads, 2 KB each; 16 of VS.
    assert_eq!(ps(32 * 2048), NONE);
    assert_eq!(ps(32 * 2048 - 4), ["scratch-ps"]);
    let vs = |bytes: u32| {
        broken(|b| {
            b.scratch = bytes;
            change!(
                b,
                State3dVs,
                with_scratch_space_base_pointer = SCRATCH,
                with_per_thread_scratch_space = 2
            );
        })
    };
    assert_eq!(vs(16 * 4096), NONE);
    assert_eq!(vs(15 * 4096), ["scratch-vs"]);
}

// covers: V-0208
#[test]
fn later_attributes_have_swizzles_when_there_are_some() {
    let with = |count: u32, enable: bool| {
        broken(|b| {
            change!(
                b,
                State3dSbe,
                with_attribute_swizzle_enable = enable,
                with_attribute_swizzle_control_mode = 1,
                with_number_of_sf_output_attributes = count,
                with_vertex_urb_entry_read_length = count.div_ceil(2)
            );
            // The entries are long enough.
            change!(b, State3dUrbVs, with_vs_urb_entry_allocation_size = 8);
            change!(b, State3dUrbVs, with_vs_number_of_urb_entries = 8);
        })
    };
    assert_eq!(with(15, true), ["sbe-swizzles"]);
    assert_eq!(with(16, true), NONE);
    assert_eq!(with(15, false), NONE);
}

// covers: V-0210
#[test]
fn the_read_length_reaches_the_last_attribute() {
    let with = |count: u32, length: u32, swizzle: Option<u32>| {
        broken(|b| {
            let last =
                table::SfOutputAttributeDetail::new().with_source_attribute(swizzle.unwrap_or(0));
            change!(
                b,
                State3dSbe,
                with_number_of_sf_output_attributes = count,
                with_vertex_urb_entry_read_length = length,
                with_attribute_swizzle_enable = swizzle.is_some(),
                with_attribute_1 = last
            );
            change!(b, State3dUrbVs, with_vs_urb_entry_allocation_size = 8);
            change!(b, State3dUrbVs, with_vs_number_of_urb_entries = 8);
        })
    };
    assert_eq!(with(2, 0, None), ["sbe-read-length"]);
    assert_eq!(with(2, 2, None), ["sbe-read-length"]);
    assert_eq!(with(3, 1, None), ["sbe-read-length"]);
    assert_eq!(with(3, 2, None), NONE);
    // Two attributes, the second from the seventh: ceil(7 / 2).
    assert_eq!(with(2, 1, Some(6)), ["sbe-read-length"]);
    assert_eq!(with(2, 4, Some(6)), NONE);
}

// covers: V-0211
#[test]
fn sprites_are_for_points() {
    let with = |topology: u32| {
        broken(|b| {
            change!(
                b,
                State3dSbe,
                with_point_sprite_texture_coordinate_enable = 2
            );
            b.commands.pop();
            b.commands.push(draw(topology));
        })
    };
    assert_eq!(with(4), ["sbe-sprites"]);
    assert_eq!(with(2), ["sbe-sprites"]);
    assert_eq!(with(1), NONE);
    // A geometry shader makes points of triangles.
    let found = broken(|b| {
        change!(
            b,
            State3dSbe,
            with_point_sprite_texture_coordinate_enable = 2
        );
        change!(b, State3dGs, with_enable = true, with_output_topology = 1);
    });
    assert_eq!(found, NONE);
}

// covers: V-0212
#[test]
fn what_is_constant_is_not_wrapped() {
    let with = |constant: u32| {
        broken(|b| {
            change!(
                b,
                State3dSbe,
                with_attribute_9_wrapshortest_enables = 4,
                with_constant_interpolation_enable = constant
            );
        })
    };
    assert_eq!(with(1 << 9), ["sbe-wrap-constant"]);
    assert_eq!(with(!(1 << 9)), NONE);
}

// covers: V-0340
#[test]
fn of_short_vertices_one_row_is_read() {
    let with = |offset: u32, length: u32, size: u32| {
        broken(|b| {
            change!(
                b,
                State3dGs,
                with_enable = true,
                with_output_vertex_size = size
            );
            change!(
                b,
                State3dStreamout,
                with_so_function_enable = true,
                with_stream_0_vertex_read_offset = offset,
                with_stream_0_vertex_read_length = length
            );
        })
    };
    assert_eq!(with(0, 0, 0), NONE);
    assert_eq!(with(0, 1, 0), ["stream-short-vertices"]);
    assert_eq!(with(1, 0, 0), ["stream-short-vertices"]);
    assert_eq!(with(1, 1, 1), NONE);
}

// covers: V-0341
#[test]
fn streams_are_of_what_is_read() {
    let with = |register: u32, hole: bool| {
        broken(|b| {
            let list = table::State3dSoDeclList::new()
                .with_stream_to_buffer_selects_0(1)
                .with_num_entries_0(1);
            let decl = decl(0, register).with_hole_flag(hole);
            let entry = table::SoDeclEntry::new().with_stream_0_decl(decl);
            b.replace(Id::State3dSoDeclList, declarations(list, &[entry]));
            change!(
                b,
                State3dStreamout,
                with_so_function_enable = true,
                with_stream_0_vertex_read_length = 1
            );
        })
    };
    // Two rows are four attributes.
    assert_eq!(with(3, false), NONE);
    assert_eq!(with(4, false), ["stream-behind-vertex"]);
    assert_eq!(with(4, true), NONE);
}

// covers: V-0262
#[test]
fn integers_are_not_antialiased() {
    let with = |format: u32, kind: u32| {
        let mut batch = Batch::good();
        change!(batch, State3dSf, with_antialiasing_enable = true);
        let state = table::SurfaceState::new()
            .with_surface_type(kind)
            .with_surface_format(format);
        let at = TARGET as usize / 4;
        batch.surface[at..at + 8].copy_from_slice(state.dwords());
        batch
            .findings()
            .iter()
            .map(|f| f.rule)
            .collect::<Vec<&str>>()
    };
    // R32G32B32A32_UINT, R8G8B8A8_SINT; R8G8B8A8_UNORM; a null surface.
    assert_eq!(with(0x002, 1), ["sf-antialiased-integers"]);
    assert_eq!(with(0x0ca, 1), ["sf-antialiased-integers"]);
    assert_eq!(with(0x0c7, 1), NONE);
    assert_eq!(with(0x002, 7), NONE);
}

//! Rules on what comes before or behind what.

use regs::gen70 as table;
use regs::ids::CommandId as Id;

use super::{broken, change, command};

fn constants(rows: u32) -> table::State3dConstantBody {
    table::State3dConstantBody::new().with_constant_buffer_0_read_length(rows)
}

// covers: V-0066
#[test]
fn another_number_of_threads_needs_a_stall() {
    let fewer = || {
        command!(
            State3dPs,
            with_n8_pixel_dispatch_enable = true,
            with_push_constant_enable = true,
            with_attribute_enable = true,
            with_maximum_number_of_threads = 15
        )
    };
    assert_eq!(broken(|b| b.then(vec![fewer()])), ["ps-threads-change"]);
    let stall = command!(PipeControl, with_stall_at_pixel_scoreboard = true);
    let found = broken(|b| b.then(vec![stall, fewer()]));
    assert_eq!(found, Vec::<&str>::new());
    let flush = command!(PipeControl, with_depth_cache_flush_enable = true);
    let found = broken(|b| b.then(vec![flush, fewer()]));
    assert_eq!(found, ["ps-threads-change"]);
    // The change in between is undone before the draw.
    let found = broken(|b| {
        let old = b.command(Id::State3dPs).clone();
        b.then(vec![fewer(), old]);
    });
    assert_eq!(found, Vec::<&str>::new());
}

// covers: V-0079, V-0088, V-0097, V-0106, V-0116
#[test]
fn constants_are_sent_behind_their_space() {
    macro_rules! stage {
        ($space:ident, $constants:ident) => {{
            let space = |b: &mut super::Batch| b.command(table::$space::ID).clone();
            let stall = command!(PipeControl, with_command_streamer_stall_enable = true);
            let found = broken(|b| {
                let space = space(b);
                b.then(vec![space, stall.clone()]);
            });
            assert_eq!(found, ["constants-again"], stringify!($space));
            // Before the space they do not count.
            let found = broken(|b| {
                let (space, constants) = (space(b), b.command(table::$constants::ID).clone());
                b.then(vec![constants, space, stall.clone()]);
            });
            assert_eq!(found, ["constants-again"], stringify!($space));
            let found = broken(|b| {
                let (space, constants) = (space(b), b.command(table::$constants::ID).clone());
                b.then(vec![space, stall, constants]);
            });
            assert_eq!(found, Vec::<&str>::new(), stringify!($space));
        }};
    }
    stage!(State3dPushConstantAllocVs, State3dConstantVs);
    stage!(State3dPushConstantAllocHs, State3dConstantHs);
    stage!(State3dPushConstantAllocDs, State3dConstantDs);
    stage!(State3dPushConstantAllocGs, State3dConstantGs);
    stage!(State3dPushConstantAllocPs, State3dConstantPs);
}

// covers: V-0107
#[test]
fn the_space_of_ps_constants_is_followed_by_a_stall() {
    let found = broken(|b| b.without(Id::PipeControl));
    assert_eq!(found, ["constants-stall"]);
    let found = broken(|b| {
        change!(b, PipeControl, with_command_streamer_stall_enable = false);
    });
    assert_eq!(found, ["constants-stall"]);
    // A stall before the command does not count as the stall that has to follow it.
    let found = broken(|b| {
        let at = |b: &super::Batch, id: u32| {
            let mut all = b.commands.iter();
            all.position(|words| words[0] >> 16 == id).unwrap()
        };
        let (space, stall) = (at(b, 0x7916), at(b, 0x7a00));
        b.commands.swap(space, stall);
    });
    assert_eq!(found, ["constants-stall"]);
}

// covers: V-0370, V-0381, V-0393, V-0404
#[test]
fn all_sections_are_sent_with_one() {
    for id in [
        Id::State3dUrbVs,
        Id::State3dUrbHs,
        Id::State3dUrbDs,
        Id::State3dUrbGs,
    ] {
        let found = broken(|b| {
            let section = b.command(id).clone();
            b.then(vec![section]);
        });
        assert_eq!(found, ["urb-all-four"], "{id:?}");
        assert_eq!(broken(|b| b.without(id)), ["urb-all-four"], "{id:?}");
    }
}

// covers: V-0306
#[test]
fn a_change_of_depth_buffers_needs_stall_flush_and_stall() {
    let stall = || command!(PipeControl, with_depth_stall_enable = true);
    let flush = || command!(PipeControl, with_depth_cache_flush_enable = true);
    let all = |b: &mut super::Batch, before: Vec<Vec<u32>>, width: u32| {
        let mut commands = before;
        let depth = b.command(Id::State3dDepthBuffer);
        let depth = table::State3dDepthBuffer::from_dwords(depth).with_width(width);
        commands.push(depth.dwords().to_vec());
        for id in [
            Id::State3dStencilBuffer,
            Id::State3dHierDepthBuffer,
            Id::State3dClearParams,
        ] {
            commands.push(b.command(id).clone());
        }
        b.then(commands);
    };
    let with = |before: Vec<Vec<u32>>| broken(|b| all(b, before, 31));
    assert_eq!(with(vec![]), ["depth-stalls"]);
    assert_eq!(with(vec![stall(), flush()]), ["depth-stalls"]);
    assert_eq!(with(vec![flush(), stall(), stall()]), ["depth-stalls"]);
    let none: [&str; 0] = [];
    assert_eq!(with(vec![stall(), flush(), stall()]), none);
    // MI_FLUSH, or a streamer that waits until depth is flushed: the pipeline is empty.
    assert_eq!(with(vec![vec![0x0200_0000]]), none);
    let whole = command!(
        PipeControl,
        with_depth_cache_flush_enable = true,
        with_command_streamer_stall_enable = true
    );
    assert_eq!(with(vec![whole]), none);
    // The same words are no change.
    assert_eq!(broken(|b| all(b, vec![], 63)), none);
}

// covers: V-0307
#[test]
fn depth_and_stencil_are_sent_together() {
    for id in [
        Id::State3dDepthBuffer,
        Id::State3dStencilBuffer,
        Id::State3dHierDepthBuffer,
        Id::State3dClearParams,
    ] {
        assert_eq!(broken(|b| b.without(id)), ["depth-together"], "{id:?}");
    }
}

// covers: V-0309
#[test]
fn control_of_the_stencil_buffer_is_sent_again_behind_waits() {
    // MI_WAIT_FOR_EVENT and MI_SET_CONTEXT.
    for wait in [vec![0x0180_0000], vec![0x0c00_0000, 0]] {
        let with = |control: u32| {
            let wait = wait.clone();
            broken(|b| {
                change!(b, State3dStencilBuffer, with_mocs = control);
                b.then(vec![wait]);
            })
        };
        assert_eq!(with(1), ["stencil-control"]);
        assert_eq!(with(0), Vec::<&str>::new());
    }
    let found = broken(|b| {
        change!(b, State3dStencilBuffer, with_mocs = 1);
        let mut again = vec![vec![0x0180_0000]];
        for id in [
            Id::State3dDepthBuffer,
            Id::State3dStencilBuffer,
            Id::State3dHierDepthBuffer,
            Id::State3dClearParams,
        ] {
            again.push(b.command(id).clone());
        }
        b.then(again);
    });
    assert_eq!(found, Vec::<&str>::new());
}

// covers: V-0078, V-0087, V-0096, V-0105, V-0115
#[test]
fn constants_fit_into_their_space() {
    macro_rules! stage {
        ($constants:ident, $size:expr) => {{
            let with = |body: table::State3dConstantBody| {
                broken(|b| {
                    change!(b, $constants, with_constant_body = body);
                    // 3DSTATE_PS says whether there are any.
                })
            };
            // A KB is 32 rows of 32 bytes.
            let rows = $size * 32;
            assert_eq!(with(constants(rows)), Vec::<&str>::new(), "{rows}");
            assert_eq!(with(constants(rows + 1)), ["constants-room"], "{rows}");
            // Half a cache line of each buffer takes a whole one.
            let two = constants(rows - 1).with_constant_buffer_1_read_length(1);
            assert_eq!(with(two), ["constants-room"], "{rows}");
            let two = constants(rows - 2).with_constant_buffer_1_read_length(1);
            assert_eq!(with(two), Vec::<&str>::new(), "{rows}");
        }};
    }
    stage!(State3dConstantVs, 4);
    stage!(State3dConstantHs, 4);
    stage!(State3dConstantDs, 2);
    stage!(State3dConstantGs, 2);
    stage!(State3dConstantPs, 4);
}

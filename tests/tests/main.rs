//! Suites across crates: the driver on a mocked `Io` and on the model, replays.
//!
//! One program for all of them: each test program costs a link, and most of a cold build was links.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests"
)]

mod bad_captures;
mod client;
mod debug_back_ends;
mod debug_bases;
mod debug_frames;
mod debug_functions;
mod debug_places;
mod debug_routine;
mod debug_session;
mod debug_session_ends;
mod debug_session_frames;
mod debug_units;
mod debug_valleyview;
mod debug_walk;
mod debug_weights;
mod formats_depth;
mod formats_palette;
mod formats_render;
mod formats_sample;
mod formats_vertex;
mod frame_map;
mod fuzz_random;
mod guided_corpora;
mod host_debugger;
mod live_blits;
mod live_bounds;
mod live_claims;
mod live_commands;
mod live_data_port;
mod live_debug;
mod live_drm_frame;
mod live_engines;
mod live_faults;
mod live_guard;
mod live_media;
mod live_media_motion;
mod live_pipeline_adjacency;
mod live_pipeline_blend;
mod live_pipeline_clip;
mod live_pipeline_composite;
mod live_pipeline_counts;
mod live_pipeline_depth;
mod live_pipeline_faults;
mod live_pipeline_lines;
mod live_pipeline_raster_state;
mod live_pipeline_shapes;
mod live_pipeline_targets;
mod live_pipeline_textures;
mod live_pipeline_urb;
mod live_pipeline_vf;
mod live_resets;
mod live_sandybridge;
mod live_snapshot;
mod live_state_commands;
mod live_stray;
mod live_thread_state;
mod live_threads;
mod live_valleyview;
mod live_vertex_ids;
mod live_waves;
mod mock_driver;
mod replay_captures;
mod replay_contents;
mod replay_later_devices;
mod replay_scaling;
mod replay_valleyview;
mod trace_files;
mod vfio_user;

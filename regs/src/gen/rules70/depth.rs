//! Depth and stencil buffers.
//! ValleyView volume 2 part 2, 3DSTATE_WM, 3DSTATE_STENCIL_BUFFER.
//! A batch begins with an idle pipeline: its first draw needs no stalls before it.

use alloc::format;
use alloc::string::String;

use super::{Id, NULL_SURFACE, rule, table};
use crate::check::{Rule, View, When};

/// The commands of depth and stencil buffers.
const COMMANDS: &[Id] = &[
    Id::State3dDepthBuffer,
    Id::State3dStencilBuffer,
    Id::State3dHierDepthBuffer,
    Id::State3dClearParams,
];

fn wm(v: &View<'_>) -> Option<table::State3dWm> {
    Some(table::State3dWm::from_dwords(v.kept(Id::State3dWm)?))
}

fn depth(v: &View<'_>) -> Option<table::State3dDepthBuffer> {
    let d = v.kept(Id::State3dDepthBuffer)?;
    Some(table::State3dDepthBuffer::from_dwords(d))
}

pub const CLEAR: Rule = rule(
    "depth-clear",
    "a depth clear writes depth and stencil whole, tests no depth and has no pixel shader that kills",
    "3DSTATE_WM, Depth Buffer Clear",
    When::Draw,
    |v| {
        let s = wm(v)?;
        if !s.depth_buffer_clear() {
            return None;
        }
        if s.pixel_shader_kills_pixel() {
            return Some(String::from("Pixel Shader Kill Pixel is set"));
        }
        let buffer = depth(v)?;
        if !buffer.depth_write_enable() {
            return Some(String::from("Depth Write Enable is off"));
        }
        let stencil = v.kept(Id::State3dStencilBuffer);
        let stencil = stencil.map(table::State3dStencilBuffer::from_dwords);
        let stencil = stencil.is_some_and(|s| s.surface_base_address() != 0);
        if stencil && !buffer.stencil_write_enable() {
            return Some(String::from("Stencil Write Enable is off"));
        }
        let at = v.kept(Id::State3dDepthStencilStatePointers)?;
        let at = table::State3dDepthStencilStatePointers::from_dwords(at);
        let words: [u32; table::DepthStencilState::LEN] =
            v.dynamic(at.pointer_to_depth_stencil_state())?;
        let state = table::DepthStencilState::from_dwords(&words);
        if state.depth_test_enable() {
            return Some(String::from("Depth Test Enable is set"));
        }
        let masks = [
            state.stencil_write_mask(),
            state.stencil_test_mask(),
            state.backface_stencil_write_mask(),
            state.backface_stencil_test_mask(),
        ];
        (stencil && masks != [0xff; 4]).then(|| format!("stencil masks are {masks:x?}"))
    },
);

pub const RESOLVE: Rule = rule(
    "depth-resolve",
    "a draw clears or resolves in one way, and a resolve writes depth",
    "3DSTATE_WM, Depth Buffer Resolve Enable, Hierarchical Depth Buffer Resolve Enable",
    When::Draw,
    |v| {
        let s = wm(v)?;
        let resolves = [
            s.depth_buffer_resolve_enable(),
            s.hierarchical_depth_buffer_resolve_enable(),
        ];
        if resolves == [false; 2] {
            return None;
        }
        if resolves == [true; 2] || s.depth_buffer_clear() {
            return Some(String::from("more than one of clear and both resolves"));
        }
        (!depth(v)?.depth_write_enable())
            .then(|| String::from("Depth Write Enable is off in a resolve"))
    },
);

/// How far the commands since the last draw have flushed depth: stall, flush, stall; or all of the pipeline.
fn flushed(v: &View<'_>) -> bool {
    let mut step = 0;
    for sent in v.since() {
        if sent.id == Id::MiFlush {
            return true;
        }
        if sent.id != Id::PipeControl {
            continue;
        }
        let c = table::PipeControl::from_dwords(&sent.words);
        // The streamer waits for everything before it.
        if c.command_streamer_stall_enable() && c.depth_cache_flush_enable() {
            return true;
        }
        match step {
            0 | 2 if c.depth_stall_enable() => step += 1,
            1 if c.depth_cache_flush_enable() => step += 1,
            _ => {}
        }
    }
    step == 3
}

pub const STALLS: Rule = rule(
    "depth-stalls",
    "depth stall, depth flush and depth stall come before a change of depth or stencil buffer",
    "3DSTATE_STENCIL_BUFFER, restriction",
    When::At(COMMANDS),
    |v| {
        let changes = v
            .kept(v.command.id)
            .is_none_or(|old| old.get(1..) != v.words.get(1..));
        (v.has_drawn() && changes && !flushed(v)).then(|| {
            String::from("no depth stall, depth flush and depth stall since the last draw")
        })
    },
);

pub const TOGETHER: Rule = rule(
    "depth-together",
    "depth, stencil and hierarchical depth buffer and clear parameters are sent together",
    "3DSTATE_STENCIL_BUFFER, description",
    When::Draw,
    |v| {
        let sent = |id: &Id| v.since().iter().any(|sent| sent.id == *id);
        if !COMMANDS.iter().any(sent) {
            return None;
        }
        let missing = COMMANDS.iter().find(|id| !sent(id))?;
        Some(format!("{} is missing", missing.name()))
    },
);

/// Bits 16:0: up to 128 KB. The print's largest value, 3FFFFh, has two bits more than the field.
pub const PITCH: Rule = rule(
    "stencil-pitch",
    "the pitch of the stencil buffer is a multiple of 128 bytes, and twice that of its width",
    "3DSTATE_STENCIL_BUFFER, Surface Pitch",
    When::Draw,
    |v| {
        let d = v.kept(Id::State3dStencilBuffer)?;
        let s = table::State3dStencilBuffer::from_dwords(d);
        if s.surface_base_address() == 0 {
            return None;
        }
        let pitch = s.surface_pitch() + 1;
        if !pitch.is_multiple_of(128) {
            return Some(format!("a pitch of {pitch} bytes"));
        }
        let buffer = depth(v)?;
        let width = buffer.width() + 1;
        (buffer.surface_type() != NULL_SURFACE && pitch < width * 2)
            .then(|| format!("a pitch of {pitch} bytes for {width} pixels"))
    },
);

/// Object control state that is not zero is lost at these.
const LOST: [Id; 2] = [Id::MiSetContext, Id::MiWaitForEvent];

pub const CONTROL: Rule = rule(
    "stencil-control",
    "object control state that is not zero is sent again behind MI_SET_CONTEXT and MI_WAIT_FOR_EVENT",
    "3DSTATE_STENCIL_BUFFER, Stencil Buffer Object Control State",
    When::Draw,
    |v| {
        let d = v.kept(Id::State3dStencilBuffer)?;
        let control = table::State3dStencilBuffer::from_dwords(d).mocs();
        let at = v.since().iter().rposition(|sent| LOST.contains(&sent.id))?;
        let behind = v.since().get(at..)?;
        let again = behind.iter().any(|s| s.id == Id::State3dStencilBuffer);
        (control != 0 && !again).then(|| format!("{control} is not sent again"))
    },
);

//! What ValleyView's manual asks of software that writes batches.
//! Volume 2 part 2, command reference: programming notes and restrictions of the 3D commands.
//! Leaves out what depends on the text of a kernel, and what the manual only recommends.

mod buffers;
mod constants;
mod depth;
mod pixel;
mod reserved;
mod setup;
mod streams;
mod urb;
mod vertex;

use alloc::string::String;

use super::gen70 as table;
use crate::check::{Rule, View, When};
use crate::ids::CommandId as Id;

/// A rule: name, what it asks for, command of the manual, when it is asked, what breaks it.
const fn rule(
    name: &'static str,
    asks: &'static str,
    source: &'static str,
    when: When,
    broken: fn(&mut View<'_>) -> Option<String>,
) -> Rule {
    Rule {
        name,
        asks,
        source,
        when,
        broken,
    }
}

/// Values of Primitive Topology Type.
const POINTS: u32 = 1;
const RECTANGLES: u32 = 15;

/// Surface Type of a 3DSTATE_DEPTH_BUFFER that sets no depth buffer.
const NULL_SURFACE: u32 = 7;

/// The topology of the objects that a draw sends to the setup; `None` when shaders choose it.
fn topology(v: &View<'_>) -> Option<u32> {
    let on = |id, enable: fn(&[u32]) -> bool| v.kept(id).is_some_and(enable);
    let geometry = on(Id::State3dGs, |d| table::State3dGs::from_dwords(d).enable());
    if geometry {
        let gs = table::State3dGs::from_dwords(v.kept(Id::State3dGs)?);
        return Some(gs.output_topology());
    }
    let domain = on(Id::State3dDs, |d| table::State3dDs::from_dwords(d).enable());
    let draw = table::Primitive3d::from_dwords(v.words);
    (!domain).then(|| draw.primitive_topology_type())
}

/// Whether a shader between VS and setup is on: geometry or tessellation.
fn has_later_shader(v: &View<'_>) -> bool {
    let on = |id, enable: fn(&[u32]) -> bool| v.kept(id).is_some_and(enable);
    on(Id::State3dGs, |d| table::State3dGs::from_dwords(d).enable())
        || on(Id::State3dHs, |d| table::State3dHs::from_dwords(d).enable())
        || on(Id::State3dDs, |d| table::State3dDs::from_dwords(d).enable())
}

/// The rules, by the part of the pipeline.
pub static RULES: [Rule; 55] = [
    reserved::BITS,
    buffers::SCRATCH_PS,
    buffers::SCRATCH_VS,
    constants::RANGE,
    constants::APART,
    constants::ROOM,
    constants::AGAIN,
    constants::STALL,
    constants::ENABLED,
    urb::APART,
    urb::INSIDE,
    urb::BEHIND_CONSTANTS,
    urb::ALL_FOUR,
    urb::BY_EIGHT,
    urb::GEOMETRY,
    urb::VERTEX_SIZE,
    vertex::BUFFER_COUNT,
    vertex::BUFFER_ONCE,
    vertex::ELEMENT_COUNT,
    vertex::ELEMENTS_VALID,
    vertex::HOLES,
    vertex::SOURCES_FIRST,
    vertex::READ_LENGTH,
    vertex::THREADS,
    setup::SWIZZLES,
    setup::READ_LENGTH,
    setup::SPRITES,
    setup::WRAP,
    setup::ATTRIBUTES,
    setup::DEPTH_FORMAT,
    setup::STATISTICS,
    setup::RECTANGLES_SOLID,
    setup::INTEGERS,
    setup::LINE_WIDTH,
    setup::MODES,
    streams::PITCH,
    streams::SELECTS,
    streams::SHORT_VERTICES,
    streams::BEHIND_VERTEX,
    pixel::THREADS_EVEN,
    pixel::THREADS_RANGE,
    pixel::THREADS_CHANGE,
    pixel::OFFSETS,
    pixel::WIDTHS,
    pixel::SAMPLE_MASK,
    pixel::NO_THREADS,
    pixel::KILLS,
    pixel::EXECUTES,
    pixel::SAMPLES,
    depth::CLEAR,
    depth::RESOLVE,
    depth::STALLS,
    depth::TOGETHER,
    depth::PITCH,
    depth::CONTROL,
];

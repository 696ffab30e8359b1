//! What every format says of an event, as members of a JSON object.
//!
//! Names, places and times are the formats' own.

use mmio_mock::intel::trace::Event;

use super::json::Object;

/// The streamer of the render engine.
pub const RENDER: &str = "CS";

/// Appends the members that all formats have of an event.
pub fn shared(o: &mut Object<'_>, event: &Event) {
    match *event {
        Event::MmioWrite { offset, value } => {
            o.hex("offset", offset).hex("value", value);
        }
        Event::Command {
            addr,
            header,
            dwords,
            streamer,
        } => {
            o.hex("addr", addr)
                .hex("header", header)
                .number("dwords", dwords);
            // What stands alone is the render engine's.
            if streamer != RENDER {
                o.text("streamer", streamer);
            }
        }
        Event::Dispatch(ref dispatch) => {
            o.number("mask", dispatch.mask).hexes("r0", &dispatch.r0);
        }
        Event::Primitive { sequence } => {
            o.number("sequence", sequence);
        }
        Event::Irq { bits } => {
            o.hex("bits", bits);
        }
        Event::Vertex {
            index,
            handle,
            instance,
            ..
        } => {
            o.number("index", index)
                .number("instance", instance)
                .number("handle", handle);
        }
        Event::Object {
            topology,
            ref handles,
            count,
            part,
            ..
        } => {
            if let Some(part) = part {
                o.number("object", part.object)
                    .number("instance", part.instance)
                    .number("half", part.half);
            }
            let count = usize::from(count).min(handles.len());
            o.number("topology", topology)
                .numbers("handles", handles.get(..count).unwrap_or_default());
        }
        Event::Emit { handle, .. } => {
            o.number("handle", handle);
        }
        Event::Patch { .. } | Event::Cut { .. } | Event::Point { .. } | Event::Streamed { .. } => {
            later(o, event);
        }
        Event::Message {
            desc,
            length,
            response,
            mask,
            ..
        } => {
            o.hex("desc", desc).number("length", length);
            o.number("response", response).number("mask", mask);
        }
        Event::Memory { addr, bytes, .. } => {
            o.hex("addr", addr).number("bytes", bytes);
        }
        Event::End { .. } | Event::Placed { .. } => {}
    }
}

/// Those of events that later devices have.
fn later(o: &mut Object<'_>, event: &Event) {
    match *event {
        Event::Patch { handle, number } => {
            o.number("number", number).number("handle", handle);
        }
        Event::Cut {
            handle,
            points,
            objects,
            ..
        } => {
            o.number("handle", handle).number("points", points);
            o.number("objects", objects);
        }
        Event::Point {
            patch,
            handle,
            number,
            ..
        } => {
            o.number("patch", patch).number("number", number);
            o.number("handle", handle);
        }
        Event::Streamed {
            handle,
            stream,
            buffer,
            from,
            offset,
            addr,
            dwords,
        } => {
            o.number("handle", handle).number("stream", stream);
            o.number("buffer", buffer).number("from", from);
            o.number("offset", offset).hex("addr", addr);
            o.number("dwords", dwords);
        }
        _ => {}
    }
}

//! Events as JSON lines: one object an event.
//!
//! docs/exec.md lists the members.

use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::intel::status::Unit;
use mmio_mock::intel::trace::{Dispatch, Event};

use super::json::{self, Object};
use super::members::shared;
use super::{function, nanos, unit};

/// Appends the line of an event.
pub fn event(out: &mut String, device: &'static DeviceInfo, ticks: u64, event: &Event) {
    let mut o = Object::new(out);
    o.number("t", ticks).micros("us", nanos(ticks, device));
    members(&mut o, device, event);
    o.end();
    out.push('\n');
}

/// `event` and what goes with it.
fn members(o: &mut Object<'_>, device: &'static DeviceInfo, event: &Event) {
    match *event {
        Event::MmioWrite { offset, .. } => {
            shared(o.text("event", "mmio"), event);
            if let Some((id, ..)) = (device.tables.lookup)(offset) {
                o.text("register", id.name());
            }
        }
        Event::Command { header, .. } => {
            shared(o.text("event", "command"), event);
            if let Some(command) = (device.tables.command)(header) {
                o.text("name", command.name);
            }
        }
        Event::Dispatch(ref dispatch) => start(o, dispatch, event),
        Event::End {
            ffid,
            eu,
            slot,
            instructions,
        } => {
            of_thread(o, "end", ffid, (eu, slot));
            o.number("instructions", instructions);
        }
        Event::Primitive { .. } => shared(o.text("event", "primitive"), event),
        Event::Irq { .. } => shared(o.text("event", "interrupt"), event),
        Event::Vertex { fresh, .. } => {
            shared(o.text("event", "vertex"), event);
            o.bool("fresh", fresh);
        }
        Event::Object { ffid, .. } => {
            shared(o.text("event", "object").text("unit", unit(ffid)), event);
        }
        Event::Placed { ref corners, count } => {
            o.text("event", "placed");
            let corners = corners.get(..usize::from(count).min(3));
            json::list(
                o.key("corners"),
                corners.unwrap_or_default(),
                |out, corner| {
                    json::list(out, &corner.map(f32::from_bits), json::float);
                },
            );
        }
        Event::Emit { ffid, .. } => {
            shared(o.text("event", "emit").text("unit", unit(ffid)), event);
        }
        Event::Patch { .. } => shared(o.text("event", "patch").text("unit", "HS"), event),
        Event::Cut { ref factors, .. } => {
            shared(o.text("event", "cut").text("unit", "TE"), event);
            json::list(o.key("factors"), &factors.map(f32::from_bits), json::float);
        }
        Event::Point { ref place, .. } => {
            shared(o.text("event", "point").text("unit", "DS"), event);
            json::list(o.key("place"), &place.map(f32::from_bits), json::float);
        }
        Event::Streamed { .. } => {
            shared(o.text("event", "streamed").text("unit", "SO"), event);
        }
        Event::Message {
            eu,
            slot,
            ffid,
            ip,
            sfid,
            ticks,
            dropped,
            ..
        } => {
            of_thread(o, "message", ffid, (eu, slot));
            o.hex("ip", ip).number("sfid", sfid);
            shared(o.text("function", function(sfid)), event);
            o.number("ticks", ticks).bool("dropped", dropped);
        }
        Event::Memory { client, write, .. } => {
            shared(o.text("event", "memory").text("client", client), event);
            o.bool("write", write);
        }
    }
}

/// What happens, the unit that asked for the thread, and where the thread is.
fn of_thread(o: &mut Object<'_>, event: &str, ffid: u8, (eu, slot): (u8, u8)) {
    o.text("event", event).text("unit", unit(ffid));
    o.number("eu", eu).number("slot", slot);
}

fn start(o: &mut Object<'_>, dispatch: &Dispatch, event: &Event) {
    of_thread(o, "dispatch", dispatch.ffid, (dispatch.eu, dispatch.slot));
    o.number("ordinal", dispatch.ordinal);
    shared(o.hex("kernel", dispatch.kernel), event);
    if dispatch.ffid == Unit::Wiz.ffid() {
        json::list(o.key("subspans"), dispatch.pixels.places(), |out, place| {
            // CAST: two halves of a dword.
            json::list(out, &[place & 0xffff, place >> 16], |out, n| {
                out.push_str(&n.to_string());
            });
        });
    }
}

//! Events as JSON lines: one object an event.
//!
//! No PRM chapter; docs/exec.md lists the members.

use mmio_mock::status::Unit;
use mmio_mock::trace::{Dispatch, Event};
use regs::gen40;

use super::json::{self, Object};
use super::{function, nanos, unit};

/// Appends the line of an event.
pub fn event(out: &mut String, mhz: u32, ticks: u64, event: &Event) {
    let mut o = Object::new(out);
    o.number("t", ticks).micros("us", nanos(ticks, mhz));
    members(&mut o, event);
    o.end();
    out.push('\n');
}

/// `event` and what goes with it.
fn members(o: &mut Object<'_>, event: &Event) {
    match *event {
        Event::MmioWrite { offset, value } => {
            o.text("event", "mmio");
            o.hex("offset", offset).hex("value", value);
            if let Some((id, ..)) = gen40::lookup(offset) {
                o.text("register", id.name());
            }
        }
        Event::Command {
            addr,
            header,
            dwords,
        } => {
            o.text("event", "command");
            o.hex("addr", addr)
                .hex("header", header)
                .number("dwords", dwords);
            if let Some(command) = gen40::command(header) {
                o.text("name", command.name);
            }
        }
        Event::Dispatch(ref dispatch) => start(o, dispatch),
        Event::End {
            ffid,
            eu,
            slot,
            instructions,
        } => {
            o.text("event", "end").text("unit", unit(ffid));
            o.number("eu", eu)
                .number("slot", slot)
                .number("instructions", instructions);
        }
        Event::Primitive { sequence } => {
            o.text("event", "primitive").number("sequence", sequence);
        }
        Event::Irq { bits } => {
            o.text("event", "interrupt").hex("bits", bits);
        }
        Event::Vertex {
            index,
            handle,
            fresh,
            instance,
        } => {
            o.text("event", "vertex").number("index", index);
            o.number("instance", instance)
                .number("handle", handle)
                .bool("fresh", fresh);
        }
        Event::Object {
            ffid,
            topology,
            ref handles,
            count,
        } => {
            let count = usize::from(count).min(handles.len());
            o.text("event", "object").text("unit", unit(ffid));
            o.number("topology", topology)
                .numbers("handles", handles.get(..count).unwrap_or_default());
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
        Event::Emit { ffid, handle } => {
            o.text("event", "emit").text("unit", unit(ffid));
            o.number("handle", handle);
        }
        Event::Message {
            eu,
            slot,
            ffid,
            ip,
            sfid,
            desc,
            length,
            response,
            mask,
            ticks,
            dropped,
        } => {
            o.text("event", "message").text("unit", unit(ffid));
            o.number("eu", eu).number("slot", slot).hex("ip", ip);
            o.number("sfid", sfid).text("function", function(sfid));
            o.hex("desc", desc)
                .number("length", length)
                .number("response", response);
            o.number("mask", mask)
                .number("ticks", ticks)
                .bool("dropped", dropped);
        }
        Event::Memory {
            client,
            addr,
            bytes,
            write,
        } => {
            o.text("event", "memory").text("client", client);
            o.hex("addr", addr)
                .number("bytes", bytes)
                .bool("write", write);
        }
    }
}

fn start(o: &mut Object<'_>, dispatch: &Dispatch) {
    o.text("event", "dispatch")
        .text("unit", unit(dispatch.ffid));
    o.number("eu", dispatch.eu).number("slot", dispatch.slot);
    o.number("ordinal", dispatch.ordinal)
        .hex("kernel", dispatch.kernel);
    o.number("mask", dispatch.mask).hexes("r0", &dispatch.r0);
    if dispatch.ffid == Unit::Wiz.ffid() {
        json::list(o.key("subspans"), &dispatch.subspans, |out, place| {
            // CAST: two halves of a dword.
            json::list(out, &[place & 0xffff, place >> 16], |out, n| {
                out.push_str(&n.to_string());
            });
        });
    }
}

//! An answer as JSON.
//!
//! Numbers are as in the text; addresses are numbers, too.

use driver::debug::walk::{Streamed, Tag, Unit, Walk};
use mmio_mock::intel::ff::topology::Topology;
use serde_json::{Value, json};

use super::{Component, Input, Own, Payload, Why};

/// Name of a primitive topology.
pub fn topology(topology: Result<Topology, u32>) -> String {
    topology.map_or_else(
        |code| format!("topology {code:#x}"),
        |topology| format!("{topology:?}").to_uppercase(),
    )
}

fn tags(tags: &[Tag]) -> Value {
    let tags = tags.iter().map(|tag| match tag.unit {
        Unit::Vf | Unit::Vs => json!({ "unit": tag.unit.name(), "sequence": tag.number }),
        Unit::Gs if tag.half > 0 => {
            json!({ "unit": "GS", "thread": tag.number, "half": tag.half, "vertex": tag.relative })
        }
        Unit::Ds | Unit::Gs | Unit::Clip => {
            json!({ "unit": tag.unit.name(), "thread": tag.number, "vertex": tag.relative })
        }
    });
    tags.collect()
}

fn floats(values: &[f32]) -> Value {
    values
        .iter()
        .map(|v| component(Component::Float(*v)))
        .collect()
}

fn payload(payload: &Payload) -> Value {
    let weights = payload.weights.iter().map(|weights| {
        json!({
            "mode": weights.mode,
            "values": floats(&weights.values),
            "registers": weights.registers,
            "element": weights.element,
        })
    });
    let attributes = payload.values().map(|(attribute, value)| {
        json!({
            "attribute": attribute.number,
            "register": attribute.register,
            "planes": attribute.planes.iter().map(|plane| floats(plane)).collect::<Value>(),
            "value": value.map(|value| floats(&value)),
        })
    });
    json!({
        "width": payload.width,
        "channel": payload.channel,
        "weights": weights.collect::<Value>(),
        "attributes": attributes.collect::<Value>(),
    })
}

fn component(component: Component) -> Value {
    match component {
        Component::Nothing => Value::Null,
        // What is no number in JSON is a text.
        Component::Float(v) if !v.is_finite() => json!(v.to_string()),
        Component::Float(v) => json!(v),
        Component::Unsigned(v) => json!(v),
        Component::Signed(v) => json!(v),
    }
}

fn own(own: &Own) -> Value {
    match own {
        Own::Clear => json!({ "kind": "clear" }),
        Own::Copy {
            from,
            size: (width, height),
            drawn_by,
        } => json!({ "kind": "copy", "from": from, "size": [width, height], "drawn_by": drawn_by }),
    }
}

/// Vertices out of DS.
fn points(walk: &Walk) -> Value {
    let all = walk.points.iter().map(|((thread, vertex), point)| {
        json!({
            "thread": thread,
            "vertex": vertex,
            "patch": point.patch,
            "number": point.number,
            "place": floats(&point.place.map(f32::from_bits)),
            "kernel": walk.pixel_thread.base.wrapping_add(point.kernel),
        })
    });
    all.collect()
}

/// The patches that they belong to.
fn patches(walk: &Walk) -> Value {
    let all = walk.patches.iter().map(|(patch, found)| {
        let factors = found.factors.map(|bits| bits.map(f32::from_bits));
        json!({
            "patch": patch,
            "number": found.number,
            "threads": found.threads,
            "kernel": walk.pixel_thread.base.wrapping_add(found.kernel),
            "outside": factors.map(|factors| floats(&factors[..4])),
            "inside": factors.map(|factors| floats(&factors[4..])),
            "points": found.points,
            "objects": found.objects,
            "inputs": tags(&found.inputs),
        })
    });
    all.collect()
}

/// What stream output has written of vertices.
fn streamed(walk: &Walk) -> Value {
    let all = walk.streamed.iter().map(|(tag, writes)| {
        let write = |write: &Streamed| {
            json!({
                "stream": write.stream,
                "buffer": write.buffer,
                "from": write.from,
                "offset": write.offset,
                "address": write.address,
                "dwords": write.dwords,
            })
        };
        json!({
            "vertex": tags(&[*tag]).get(0),
            "writes": writes.iter().map(write).collect::<Value>(),
        })
    });
    all.collect()
}

/// Inputs that stream output has written.
fn written(walk: &Walk) -> Value {
    let all = walk.written.iter().map(|(address, written)| {
        json!({
            "address": address,
            "stream": written.write.stream,
            "buffer": written.write.buffer,
            "vertex": tags(&[written.vertex]).get(0),
            "index": written.index,
            "draw": written.draw,
        })
    });
    all.collect()
}

impl Why {
    /// The answer as JSON.
    pub fn to_json(&self) -> Value {
        let walk = &self.walk;
        let thread = &walk.pixel_thread;
        let kernel = |pointer: u32| thread.base.wrapping_add(pointer);
        let input = |input: &Input| {
            json!({
                "element": input.element,
                "source": input.source.as_ref().map(|source| json!({
                    "buffer": source.buffer,
                    "address": source.address,
                    "format": source.format,
                    "mapped": source.mapped,
                })),
                "components": input.components.into_iter().map(component).collect::<Value>(),
            })
        };
        let emitters = walk.emitters.iter().map(|((unit, id), emitter)| {
            json!({
                "unit": unit.name(),
                "thread": id,
                "kernel": kernel(emitter.kernel),
                "inputs": tags(&emitter.inputs),
                "parts": emitter.parts.iter().map(|part| json!({
                    "object": part.object,
                    "instance": part.instance,
                    "inputs": tags(&part.inputs),
                })).collect::<Value>(),
            })
        });
        let vertices = walk.vertices.iter().map(|(sequence, vertex)| {
            json!({
                "sequence": sequence,
                "index": vertex.index,
                "position": vertex.position,
                "thread": vertex.thread,
                "slot": vertex.slot,
                "inputs": self.inputs.get(sequence).map(|all| all.iter().map(input).collect::<Value>()),
            })
        });
        let vertex_threads = walk.vertex_threads.iter().map(|(id, thread)| {
            json!({
                "thread": id,
                "kernel": kernel(thread.kernel),
                "indices": thread.indices,
            })
        });
        json!({
            "pixel": [walk.pixel.0, walk.pixel.1],
            "colour": self.colour,
            "submission": walk.submission,
            "draw": walk.draw,
            "draw_call": self.draw.as_ref().map(|draw| json!({
                "submission": draw.submission,
                "number": draw.number,
                "address": draw.call.address,
                "topology": topology(draw.call.command.topology),
                "vertices": draw.call.vertices,
                "own": draw.own.as_ref().map(own),
            })),
            "pixel_thread": {
                "primitive": thread.primitive,
                "id": thread.id,
                "kernel": kernel(thread.kernel),
                "lit": thread.lit,
                "subspan": thread.slot,
                "instance": thread.instance,
                "instances": thread.instances,
            },
            "setup": {
                "primitive": walk.setup.primitive,
                "kernel": walk.setup.kernel.map(kernel),
                "vertices": tags(&walk.setup.vertices),
            },
            "emitters": emitters.collect::<Value>(),
            "points": points(walk),
            "patches": patches(walk),
            "streamed": streamed(walk),
            "written": written(walk),
            "vertices": vertices.collect::<Value>(),
            "vertex_threads": vertex_threads.collect::<Value>(),
            "payload": self.payload.as_ref().map(payload),
            "runs": walk.runs,
            "trouble": self.trouble,
        })
    }
}

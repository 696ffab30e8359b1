//! Threads, objects and vertices of a frame's last target, compactly.
//!
//! The order of numbers is that in which page.js reads them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::capture::Capture;
use crate::frame_map::{Between, BetweenId, FrameMap, Object, ObjectId, Origin, PatchId, VertexId};

/// Most pixel shader threads of a page; of more, the last ones are in it.
const MAX_THREADS: usize = 1 << 19;

/// What pixels lead to.
pub struct Pixels {
    /// Ordinal, number in `objects`, kernel, low half of the lit pixels with EU and slot, four subspans; of wide ones then the
    /// upper half and four more subspans: a zlib stream of dwords.
    pub threads: Vec<u8>,
    /// Threads are wide: some have more than sixteen pixels.
    pub wide: bool,
    /// Threads that the page does not have.
    pub left_out: usize,
    /// The objects.
    pub objects: Vec<Value>,
    /// Draw calls that made pixels.
    pub draws: BTreeSet<u32>,
    vertices: BTreeSet<VertexId>,
    between: BTreeSet<BetweenId>,
    patches: BTreeSet<PatchId>,
}

impl Pixels {
    /// Collects them.
    pub fn of(map: &FrameMap) -> Self {
        let left_out = map.threads().count().saturating_sub(MAX_THREADS);
        let mut numbers: BTreeMap<ObjectId, u32> = BTreeMap::new();
        let mut pixels = Pixels {
            threads: Vec::new(),
            wide: map.threads().any(|(_, pixels)| pixels.lit >> 16 != 0),
            left_out,
            objects: Vec::new(),
            draws: BTreeSet::new(),
            vertices: BTreeSet::new(),
            between: BTreeSet::new(),
            patches: BTreeSet::new(),
        };
        let mut words = Vec::new();
        for (thread, subspans) in map.threads().skip(left_out) {
            let Some(object) = map.object(thread.object) else {
                continue;
            };
            let number = *numbers.entry(thread.object).or_insert_with(|| {
                pixels.take(map, object);
                // CAST: fewer than threads.
                pixels.objects.len() as u32 - 1
            });
            let place =
                thread.mask & 0xffff | u32::from(thread.eu) << 16 | u32::from(thread.slot) << 24;
            // CAST: threads of a frame are fewer than 2^32.
            words.extend([thread.ordinal as u32, number, thread.kernel, place]);
            let places = subspans.places();
            let place = |n: usize| places.get(n).copied().unwrap_or(0);
            words.extend((0..4).map(place));
            if pixels.wide {
                words.push(thread.mask >> 16);
                words.extend((4..8).map(place));
            }
        }
        pixels.threads = super::packed(&words);
        pixels
    }

    fn take(&mut self, map: &FrameMap, object: &Object) {
        self.draws.insert(object.draw);
        let vertices: Vec<u32> = object.vertices().iter().map(|id| id.0).collect();
        let mut ahead = object.vertices().to_vec();
        while let Some(id) = ahead.pop() {
            if !self.vertices.insert(id) {
                continue;
            }
            match map.vertex(id).map(|vertex| vertex.origin) {
                Some(Origin::Emitted { by, .. }) if self.between.insert(by) => {
                    let between = map.between(by);
                    ahead.extend(between.into_iter().flat_map(|between| &between.vertices));
                }
                Some(Origin::Point { patch, .. }) if self.patches.insert(patch) => {
                    let patch = map.patch(patch);
                    ahead.extend(patch.into_iter().flat_map(|patch| &patch.vertices));
                }
                _ => {}
            }
        }
        self.objects.push(json!([
            object.ordinal,
            object.draw,
            object.topology,
            object.setup.map(|thread| thread.ordinal),
            object.setup.map(|thread| thread.kernel),
            vertices,
            object.corners(),
        ]));
    }

    /// The vertices by number: handle, draw call, index, instance, sequence, thread, inputs; or handle, null, thread
    /// of GS or clipper, number, half; or handle, null, null, patch, number of the point, coordinates, thread of DS, its kernel.
    pub fn vertices(&self, map: &FrameMap, capture: &Capture) -> Value {
        let mut out = serde_json::Map::new();
        for &id in &self.vertices {
            let Some(vertex) = map.vertex(id) else {
                continue;
            };
            let value = match vertex.origin {
                Origin::Emitted { by, half, number } => {
                    json!([vertex.handle, null, by.0, number, half])
                }
                Origin::Point {
                    patch,
                    number,
                    place,
                    shader,
                    kernel,
                    ..
                } => {
                    let place = place.map(f32::from_bits);
                    json!([
                        vertex.handle,
                        null,
                        null,
                        patch.0,
                        number,
                        place,
                        shader,
                        kernel
                    ])
                }
                Origin::Fetched {
                    draw,
                    index,
                    instance,
                    sequence,
                    shader,
                } => {
                    let exec = map.draws().get(draw as usize).map(|draw| draw.exec);
                    let exec = exec.and_then(|exec| capture.execs.get(exec));
                    let inputs = map.inputs(id);
                    let inputs = inputs.iter().map(|input| {
                        let value = exec.and_then(|exec| input.value(exec));
                        let float = !input.format.name.contains("INT");
                        let shown = value.map(|value| {
                            value.map(|bits| {
                                if float {
                                    json!(f32::from_bits(bits))
                                } else {
                                    json!(bits)
                                }
                            })
                        });
                        json!([
                            input.element,
                            input.buffer,
                            input.address,
                            input.format.name,
                            shown
                        ])
                    });
                    let inputs: Vec<Value> = inputs.collect();
                    json!([
                        vertex.handle,
                        draw,
                        index,
                        instance,
                        sequence,
                        shader,
                        inputs
                    ])
                }
            };
            out.insert(id.0.to_string(), value);
        }
        Value::Object(out)
    }

    /// Threads of GS and clipper by number: unit, ordinal, kernel, topology, vertices, and object, instance and vertices of each half.
    pub fn between(&self, map: &FrameMap) -> Value {
        let mut out = serde_json::Map::new();
        for &id in &self.between {
            if let Some(between) = map.between(id) {
                let vertices: Vec<u32> = between.vertices.iter().map(|id| id.0).collect();
                let value = json!([
                    between.unit.name(),
                    between.ordinal,
                    between.kernel,
                    between.topology,
                    vertices,
                    parts(between)
                ]);
                out.insert(id.0.to_string(), value);
            }
        }
        Value::Object(out)
    }

    /// Patches by number: number in the draw's instance, threads of HS, their kernel, vertices, factors, points, objects.
    pub fn patches(&self, map: &FrameMap) -> Value {
        let mut out = serde_json::Map::new();
        for &id in &self.patches {
            if let Some(patch) = map.patch(id) {
                let vertices: Vec<u32> = patch.vertices.iter().map(|id| id.0).collect();
                let factors = patch.factors.map(|bits| bits.map(f32::from_bits));
                let value = json!([
                    patch.number,
                    patch.threads,
                    patch.kernel,
                    vertices,
                    factors,
                    patch.points,
                    patch.objects
                ]);
                out.insert(id.0.to_string(), value);
            }
        }
        Value::Object(out)
    }
}

/// Object, instance and vertices of each half of a thread; nothing where threads have one object each.
fn parts(between: &Between) -> Value {
    let parts = between.parts.iter().map(|part| {
        let vertices: Vec<u32> = part.vertices.iter().map(|id| id.0).collect();
        json!([part.object, part.instance, vertices])
    });
    parts.collect()
}

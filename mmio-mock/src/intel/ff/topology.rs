//! Primitive assembly: vertices of a topology become objects.
//!
//! PRM: volume 2, 3D pipeline (primitive topologies); numbers from genxml gen4 (3D_Prim_Topo_Type).
//! Not modelled: reordered odd triangles of strips (Reorder Enable of the 965's GS_STATE).

mod adjacency;
mod patches;

use std::collections::VecDeque;

use crate::intel::debug::vertex_tag;
use crate::intel::status::{Unit, VF_FFID};
use crate::intel::urb::UrbHandle;

/// Primitive topology types as 3DPRIMITIVE and URB_WRITE headers carry them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the manual's names")]
pub enum Topology {
    PointList = 0x01,
    LineList = 0x02,
    LineStrip = 0x03,
    TriList = 0x04,
    TriStrip = 0x05,
    TriFan = 0x06,
    QuadList = 0x07,
    QuadStrip = 0x08,
    LineListAdj = 0x09,
    LineStripAdj = 0x0a,
    TriListAdj = 0x0b,
    TriStripAdj = 0x0c,
    TriStripReverse = 0x0d,
    Polygon = 0x0e,
    RectList = 0x0f,
    LineLoop = 0x10,
    PointListBf = 0x11,
    LineStripCont = 0x12,
    LineStripBf = 0x13,
    LineStripContBf = 0x14,
    TriFanNoStipple = 0x16,
    PatchList1 = 0x20,
    PatchList2 = 0x21,
    PatchList3 = 0x22,
    PatchList4 = 0x23,
    PatchList5 = 0x24,
    PatchList6 = 0x25,
    PatchList7 = 0x26,
    PatchList8 = 0x27,
    PatchList9 = 0x28,
    PatchList10 = 0x29,
    PatchList11 = 0x2a,
    PatchList12 = 0x2b,
    PatchList13 = 0x2c,
    PatchList14 = 0x2d,
    PatchList15 = 0x2e,
    PatchList16 = 0x2f,
    PatchList17 = 0x30,
    PatchList18 = 0x31,
    PatchList19 = 0x32,
    PatchList20 = 0x33,
    PatchList21 = 0x34,
    PatchList22 = 0x35,
    PatchList23 = 0x36,
    PatchList24 = 0x37,
    PatchList25 = 0x38,
    PatchList26 = 0x39,
    PatchList27 = 0x3a,
    PatchList28 = 0x3b,
    PatchList29 = 0x3c,
    PatchList30 = 0x3d,
    PatchList31 = 0x3e,
    PatchList32 = 0x3f,
}

impl Topology {
    /// The topology of a five-bit code; `None` for reserved codes and those of later devices.
    pub const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0x01 => Topology::PointList,
            0x02 => Topology::LineList,
            0x03 => Topology::LineStrip,
            0x04 => Topology::TriList,
            0x05 => Topology::TriStrip,
            0x06 => Topology::TriFan,
            0x07 => Topology::QuadList,
            0x08 => Topology::QuadStrip,
            0x09 => Topology::LineListAdj,
            0x0a => Topology::LineStripAdj,
            0x0b => Topology::TriListAdj,
            0x0c => Topology::TriStripAdj,
            0x0d => Topology::TriStripReverse,
            0x0e => Topology::Polygon,
            0x0f => Topology::RectList,
            0x10 => Topology::LineLoop,
            0x11 => Topology::PointListBf,
            0x12 => Topology::LineStripCont,
            0x13 => Topology::LineStripBf,
            0x14 => Topology::LineStripContBf,
            0x16 => Topology::TriFanNoStipple,
            0x20..=0x3f => return patches::of(code - 0x1f),
            _ => return None,
        })
    }
}

/// A vertex on its way down the pipeline. The stream owns one reference to the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamVertex {
    /// The VUE.
    pub handle: UrbHandle,
    /// Topology of the primitive that it belongs to.
    pub topology: Topology,
    /// First vertex of a primitive.
    pub start: bool,
    /// Last vertex of a primitive.
    pub end: bool,
    /// First vertex of an instance: objects are numbered anew.
    pub renumber: bool,
    /// Number of the objects that it completes, where a stage above has numbered them: that of their patch.
    pub number: Option<u32>,
    /// The edge from it to the next vertex belongs to the outline of its triangle or polygon: the edge flag.
    pub edge: bool,
    /// Where it came from, for snapshots.
    pub tag: Tag,
}

/// The debug identifier of a vertex (PRM vol4 3.3.5 to 3.3.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// FFID in bits 31:28; below it the vertex sequence number (out of VF and VS) or the thread ID (out
    /// of GS and the clipper).
    pub origin: u32,
    /// Number of the vertex within its thread; 0 out of VF and VS. The bit that tells the two
    /// vertices of a VS thread apart (3.3.5.3) is in VF's snapshot, for the muxes show 0 without a GS.
    pub relative: u32,
}

impl Tag {
    /// The tag of a vertex as VF puts it out.
    pub fn fetched(sequence: u32) -> Self {
        Tag {
            origin: vertex_tag(VF_FFID, sequence),
            relative: 0,
        }
    }

    /// The tag of the same vertex out of VS: the sequence number stays.
    #[must_use]
    pub fn shaded(self) -> Self {
        Tag::of(Unit::Vs, self.origin)
    }

    /// The tag of a vertex that `unit` put out, with its sequence number or thread ID.
    pub fn of(unit: Unit, number: u32) -> Self {
        Tag {
            origin: vertex_tag(unit.ffid(), number),
            relative: 0,
        }
    }
}

/// Most vertices of an object: a triangle and those next to it.
pub const OBJECT_VERTICES: usize = 6;

/// An object: 1 to 6 vertices in the order of the topology. The object owns a reference to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Topology; odd triangles of a strip say `TriStripReverse`.
    pub topology: Topology,
    /// Entries; only the first `count` count.
    pub vertices: [UrbHandle; OBJECT_VERTICES],
    /// Tags of the vertices.
    pub tags: [Tag; OBJECT_VERTICES],
    /// Number of vertices.
    pub count: usize,
    /// First object of its primitive (restarts line stipple).
    pub first: bool,
    /// Last object of its primitive.
    pub last: bool,
    /// Number of the object in its instance, from 0.
    pub number: u32,
    /// Edge flags of the vertices.
    pub edges: [bool; OBJECT_VERTICES],
}

impl Object {
    /// The vertices.
    pub fn handles(&self) -> &[UrbHandle] {
        &self.vertices[..self.count.min(OBJECT_VERTICES)]
    }
}

/// How many primitives objects are that a vertex has completed: both triangles of a quadrilateral have its number.
pub fn primitives(objects: &[Option<Object>; 2]) -> u64 {
    match objects {
        [Some(first), Some(second)] if first.number == second.number => 1,
        _ => objects.iter().flatten().count() as u64,
    }
}

/// What the assembler wants done with a vertex reference after an object was cut.
pub trait References {
    /// One more owner.
    fn reference(&mut self, handle: UrbHandle);
    /// One owner less.
    fn release(&mut self, handle: UrbHandle);
}

impl References for crate::intel::urb::Urb {
    fn reference(&mut self, handle: UrbHandle) {
        crate::intel::urb::Urb::reference(self, handle);
    }
    fn release(&mut self, handle: UrbHandle) {
        crate::intel::urb::Urb::release(self, handle);
    }
}

/// A quadrilateral as the triangles of a polygon, which has its vertices in this order. Both have its number, and two of
/// the vertices get another reference. Edge flags are for polygons that were ones from the beginning (Sandy Bridge's
/// manual, Edge Flag Enable, does not support them of QUADLIST).
fn polygon(quad: &Object, order: [usize; 4], refs: &mut impl References) -> [Option<Object>; 2] {
    let triangle = |corners: [usize; 3]| {
        let mut triangle = Object {
            topology: Topology::Polygon,
            count: 3,
            first: corners[1] == 1,
            last: corners[2] == 3,
            edges: [true; OBJECT_VERTICES],
            ..*quad
        };
        for (to, corner) in corners.into_iter().enumerate() {
            // PANIC: corners of a quadrilateral, of an object's six.
            triangle.vertices[to] = quad.vertices[order[corner]];
            triangle.tags[to] = quad.tags[order[corner]];
        }
        triangle
    };
    // PANIC: as above.
    for both in [0, 2] {
        refs.reference(quad.vertices[order[both]]);
    }
    [[0, 1, 2], [0, 2, 3]].map(|corners| Some(triangle(corners)))
}

/// Cuts a vertex stream into objects.
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    held: [Option<StreamVertex>; 4],
    first: Option<StreamVertex>,
    /// Vertices of a topology with adjacency that objects still need.
    window: VecDeque<StreamVertex>,
    /// Objects keep the vertices next to them.
    keep: bool,
    /// With those, odd triangles of strips begin with the first of their vertices in the stream.
    leading: bool,
    /// Quadrilaterals are polygons, and loops are strips.
    converts: bool,
    count: u32,
    objects: u32,
    /// Number of the next object.
    number: u32,
}

impl Assembler {
    /// Whether objects come with the vertices next to them; they do not unless a GS kernel asks. The odd triangles of
    /// strips begin with their first vertex in the stream (`leading`) or with their second, as OpenGL has it.
    pub fn keep_adjacent(&mut self, keep: bool, leading: bool) {
        self.keep = keep;
        self.leading = leading;
    }

    /// Whether quadrilaterals are cut as polygons and loops as strips. A polygon's colour is that of its first vertex, and a
    /// quadrilateral's that of its last (Mesa brw_compile_ff_gs.c), so the polygon begins with that one.
    pub fn convert(&mut self, converts: bool) {
        self.converts = converts;
    }

    /// Takes the next vertex; returns the object that it completes and, for the end of a line
    /// loop, the closing one. A quadrilateral that is converted is two.
    pub fn push(
        &mut self,
        vertex: StreamVertex,
        refs: &mut impl References,
    ) -> [Option<Object>; 2] {
        if vertex.start {
            self.flush(refs);
        }
        if vertex.renumber {
            self.number = 0;
        }
        let n = self.count;
        self.count = n.saturating_add(1);
        let mut out = [None, None];
        match vertex.topology {
            Topology::PointList | Topology::PointListBf => {
                // The stream's reference moves into the object.
                out[0] = Some(self.object(vertex.topology, &[vertex], vertex.end));
            }
            Topology::LineList => out[0] = self.list(vertex, 2),
            Topology::TriList | Topology::RectList => out[0] = self.list(vertex, 3),
            Topology::QuadList => {
                out[0] = self.list(vertex, 4);
                if self.converts
                    && let Some(quad) = out[0]
                {
                    out = polygon(&quad, [3, 0, 1, 2], refs);
                }
            }
            Topology::LineStrip
            | Topology::LineStripCont
            | Topology::LineStripBf
            | Topology::LineStripContBf => {
                if let Some(last) = self.held[0].replace(vertex) {
                    refs.reference(vertex.handle);
                    out[0] = Some(self.object(vertex.topology, &[last, vertex], vertex.end));
                }
            }
            Topology::LineLoop => {
                let topology = if self.converts {
                    Topology::LineStrip
                } else {
                    Topology::LineLoop
                };
                if n == 0 {
                    self.first = Some(vertex);
                    refs.reference(vertex.handle);
                }
                if let Some(last) = self.held[0].replace(vertex) {
                    refs.reference(vertex.handle);
                    out[0] = Some(self.object(topology, &[last, vertex], false));
                }
                if vertex.end
                    && let Some(first) = self.first.take()
                {
                    if n == 0 {
                        refs.release(first.handle);
                    } else {
                        refs.reference(vertex.handle);
                        out[1] = Some(self.object(topology, &[vertex, first], true));
                    }
                }
            }
            Topology::TriStrip | Topology::TriStripReverse => {
                if let (Some(a), Some(b)) = (self.held[0], self.held[1]) {
                    refs.reference(b.handle);
                    refs.reference(vertex.handle);
                    let odd = (n % 2 == 1) != (vertex.topology == Topology::TriStripReverse);
                    let topology = if odd {
                        Topology::TriStripReverse
                    } else {
                        Topology::TriStrip
                    };
                    out[0] = Some(self.object(topology, &[a, b, vertex], vertex.end));
                }
                self.held[0] = self.held[1];
                self.held[1] = Some(vertex);
            }
            Topology::TriFan | Topology::Polygon | Topology::TriFanNoStipple => {
                if n == 0 {
                    self.held[0] = Some(vertex);
                } else if let Some(previous) = self.held[1].replace(vertex)
                    && let Some(hub) = self.held[0]
                {
                    refs.reference(hub.handle);
                    refs.reference(vertex.handle);
                    out[0] =
                        Some(self.object(vertex.topology, &[hub, previous, vertex], vertex.end));
                }
            }
            Topology::LineListAdj
            | Topology::LineStripAdj
            | Topology::TriListAdj
            | Topology::TriStripAdj => out = self.adjacent(vertex, refs),
            Topology::QuadStrip => {
                // Pairs: the object goes round, (0, 1, 3, 2) of the strip, as the kernels expect that
                // make polygons of quads (Mesa brw_compile_ff_gs.c).
                let slot = (n % 2) as usize;
                if n >= 2 && slot == 1 {
                    if let (Some(a), Some(b), Some(c)) = (self.held[0], self.held[1], self.held[2])
                    {
                        refs.reference(c.handle);
                        refs.reference(vertex.handle);
                        let quad = self.object(Topology::QuadStrip, &[a, b, vertex, c], vertex.end);
                        out[0] = Some(quad);
                        if self.converts {
                            out = polygon(&quad, [2, 3, 0, 1], refs);
                        }
                    }
                    self.held[0] = self.held[2].take();
                    self.held[1] = Some(vertex);
                } else if n < 2 {
                    self.held[slot] = Some(vertex);
                } else {
                    self.held[2] = Some(vertex);
                }
            }
            // A patch is no object but that of HS.
            _ => refs.release(vertex.handle),
        }
        if vertex.end {
            self.flush(refs);
        }
        out
    }

    fn list(&mut self, vertex: StreamVertex, size: usize) -> Option<Object> {
        let slot = self.held.iter().position(Option::is_none).unwrap_or(0);
        self.held[slot] = Some(vertex);
        if slot + 1 < size {
            return None;
        }
        let mut all = [vertex; 4];
        for (to, from) in all.iter_mut().zip(&mut self.held) {
            if let Some(v) = from.take() {
                *to = v;
            }
        }
        Some(self.object(vertex.topology, &all[..size], vertex.end))
    }

    fn object(&mut self, topology: Topology, vertices: &[StreamVertex], last: bool) -> Object {
        let mut object = Object {
            topology,
            vertices: [UrbHandle(0); OBJECT_VERTICES],
            tags: [Tag::default(); OBJECT_VERTICES],
            count: vertices.len().min(OBJECT_VERTICES),
            first: self.objects == 0,
            last,
            number: vertices
                .last()
                .and_then(|vertex| vertex.number)
                .unwrap_or(self.number),
            edges: [true; OBJECT_VERTICES],
        };
        for (i, v) in vertices.iter().take(OBJECT_VERTICES).enumerate() {
            object.vertices[i] = v.handle;
            object.tags[i] = v.tag;
            object.edges[i] = v.edge;
        }
        self.objects = self.objects.saturating_add(1);
        self.number = self.number.wrapping_add(1);
        object
    }

    /// Drops what is left of an unfinished primitive.
    pub fn flush(&mut self, refs: &mut impl References) {
        for held in &mut self.held {
            if let Some(v) = held.take() {
                refs.release(v.handle);
            }
        }
        if let Some(v) = self.first.take() {
            refs.release(v.handle);
        }
        for v in self.window.drain(..) {
            refs.release(v.handle);
        }
        self.count = 0;
        self.objects = 0;
    }
}

#[cfg(test)]
mod tests;

//! Topologies with adjacency: the vertices of an object, and those next to it.
//!
//! PRM: volume 2, 3D pipeline (primitive topologies); numbers from genxml gen4. The vertices are those of OpenGL's
//! tables (ARB_geometry_shader4), their order included, unless a generation begins odd triangles with another vertex (Mesa
//! crocus_state.c, of the GS). Not modelled: what volume 2 may say of it.

use super::{Assembler, OBJECT_VERTICES, Object, References, StreamVertex, Topology};

/// A line and what precedes and follows it, by places in the window.
const LINE: [usize; 4] = [0, 1, 2, 3];
/// A triangle, each corner followed by the vertex across the edge to the next.
const TRIANGLE: [usize; 6] = [0, 1, 2, 3, 4, 5];

impl Assembler {
    /// Takes a vertex of a primitive with adjacency.
    pub(super) fn adjacent(
        &mut self,
        vertex: StreamVertex,
        refs: &mut impl References,
    ) -> [Option<Object>; 2] {
        self.window.push_back(vertex);
        let (with, kind, step) = match vertex.topology {
            Topology::LineListAdj => (&LINE[..], Topology::LineList, 4),
            Topology::LineStripAdj => (&LINE[..], Topology::LineStrip, 1),
            Topology::TriListAdj => (&TRIANGLE[..], Topology::TriList, 6),
            _ => return self.strip(vertex, refs),
        };
        if self.window.len() < with.len() {
            return [None, None];
        }
        let plain: &[usize] = if with.len() == 4 { &[1, 2] } else { &[0, 2, 4] };
        let object = self.take(vertex, with, plain, kind, vertex.end, refs);
        self.forget(step, refs);
        [Some(object), None]
    }

    /// A strip's triangle is known when the vertex across its far edge is: a corner of the triangle after the next if there is
    /// a next, otherwise the vertex that ends the strip.
    fn strip(&mut self, vertex: StreamVertex, refs: &mut impl References) -> [Option<Object>; 2] {
        let mut out = [None, None];
        let least = self.least();
        if self.window.len() >= least + 2 {
            let first = self.objects == 0;
            out[0] = Some(self.triangle(vertex, least, false, refs));
            if !first {
                self.forget(2, refs);
            }
        }
        let least = self.least();
        if vertex.end && self.window.len() >= least {
            out[1] = Some(self.triangle(vertex, least - 1, true, refs));
        }
        out
    }

    /// Vertices in the window that make a strip's next triangle its last. From the second triangle on the window begins with
    /// the first corner of the triangle before.
    fn least(&self) -> usize {
        if self.objects == 0 { 6 } else { 8 }
    }

    /// The next triangle of a strip; `far` is the place of the vertex across its far edge. Odd triangles go round the other
    /// way, so that all face as the first does.
    fn triangle(
        &mut self,
        vertex: StreamVertex,
        far: usize,
        last: bool,
        refs: &mut impl References,
    ) -> Object {
        let (at, near) = if self.objects == 0 { (0, 1) } else { (2, 0) };
        let plain = [at, at + 2, at + 4];
        let (with, kind) = if self.objects.is_multiple_of(2) {
            let with = [at, near, at + 2, far, at + 4, at + 3];
            (with, Topology::TriStrip)
        } else {
            let mut with = [at + 2, near, at, at + 3, at + 4, far];
            if self.leading {
                with.rotate_left(2);
            }
            (with, Topology::TriStripReverse)
        };
        self.take(vertex, &with, &plain, kind, last, refs)
    }

    /// An object of vertices in the window: all of them, or without those next to it and of the plain kind.
    fn take(
        &mut self,
        vertex: StreamVertex,
        with: &[usize],
        plain: &[usize],
        kind: Topology,
        last: bool,
        refs: &mut impl References,
    ) -> Object {
        let (places, topology) = if self.keep {
            (with, vertex.topology)
        } else {
            (plain, kind)
        };
        let mut vertices = [vertex; OBJECT_VERTICES];
        for (to, &place) in vertices.iter_mut().zip(places) {
            if let Some(&found) = self.window.get(place) {
                *to = found;
            }
            refs.reference(to.handle);
        }
        let count = places.len().min(OBJECT_VERTICES);
        self.object(topology, &vertices[..count], last)
    }

    /// Drops vertices from the front of the window.
    fn forget(&mut self, count: usize, refs: &mut impl References) {
        let count = count.min(self.window.len());
        for vertex in self.window.drain(..count) {
            refs.release(vertex.handle);
        }
    }
}

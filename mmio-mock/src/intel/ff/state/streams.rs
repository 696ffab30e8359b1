//! Plain state of the stream output logic: streams, buffers, and what goes where.
//!
//! Fields from the ValleyView PRM, volume 2 part 2: 3DSTATE_STREAMOUT, 3DSTATE_SO_BUFFER, 3DSTATE_SO_DECL_LIST.

use crate::intel::status::STREAMS;

/// A stream output buffer that vertices can be written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamBuffer {
    /// First byte.
    pub base: u32,
    /// The byte behind the last.
    pub end: u32,
    /// Bytes from one vertex to the next.
    pub pitch: u32,
}

/// One SO_DECL: components of an attribute, or room that is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// Buffer.
    pub buffer: u8,
    /// The components are left out of the buffer: as many dwords of it stay as they are.
    pub hole: bool,
    /// Attribute: 128 bits of the vertex, from the read offset of its stream on.
    pub register: u8,
    /// Components, a bit each, x first.
    pub components: u8,
}

/// Dwords that lie one behind the other, in the vertex and in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Buffer.
    pub buffer: u8,
    /// First dword in what is read of the vertex.
    pub from: u16,
    /// First dword in the vertex's part of the buffer.
    pub to: u16,
    /// Dwords.
    pub count: u16,
}

/// What is written of the vertices of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Buffers of the stream, a bit each: an object is written when it fits all of them.
    pub buffers: u8,
    /// First 256-bit row of a vertex that is read.
    pub read_offset: u16,
    /// Rows of a vertex that are read.
    pub read_rows: u16,
    /// What of these rows goes where.
    pub runs: Vec<Run>,
}

impl Stream {
    /// Sets what is written from the stream's declarations. Components lie one behind the other in their buffers, in the order
    /// of the declarations.
    pub fn declare(&mut self, declarations: impl IntoIterator<Item = Declaration>) {
        self.runs.clear();
        let mut ends = [0; STREAMS];
        for declaration in declarations {
            // CAST: at most four.
            let count = (declaration.components & 15).count_ones() as u16;
            let Some(end) = ends.get_mut(usize::from(declaration.buffer)) else {
                continue;
            };
            if declaration.hole {
                *end += count;
                continue;
            }
            for component in 0..4 {
                if declaration.components >> component & 1 == 1 {
                    let from = u16::from(declaration.register) * 4 + component;
                    self.dword(declaration.buffer, from, *end);
                    *end += 1;
                }
            }
        }
    }

    /// Adds a dword to the run before it, where it goes on.
    fn dword(&mut self, buffer: u8, from: u16, to: u16) {
        if let Some(run) = self.runs.last_mut()
            && run.buffer == buffer
            && run.from + run.count == from
            && run.to + run.count == to
        {
            run.count += 1;
            return;
        }
        self.runs.push(Run {
            buffer,
            from,
            to,
            count: 1,
        });
    }
}

/// The stream output logic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamsState {
    /// Vertices are written.
    pub enable: bool,
    /// The stream whose vertices go on; `None`: no vertices do.
    pub rendered: Option<u8>,
    /// Odd triangles of strips are written beginning with the vertex that comes first in the stream; otherwise they end with the
    /// one that comes last there.
    pub leading: bool,
    /// Objects are counted that are written, and those that there is room needed for.
    pub statistics: bool,
    /// The buffers; `None`: an object does not fit.
    pub buffers: [Option<StreamBuffer>; STREAMS],
    /// The streams.
    pub streams: [Stream; STREAMS],
}

impl Default for StreamsState {
    /// Nothing is written, and the vertices of the first stream go on.
    fn default() -> Self {
        StreamsState {
            enable: false,
            rendered: Some(0),
            leading: false,
            statistics: false,
            buffers: [None; STREAMS],
            streams: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(buffer: u8, from: u16, to: u16, count: u16) -> Run {
        Run {
            buffer,
            from,
            to,
            count,
        }
    }

    /// The list of a captured transform feedback: words 2fh, 37h, 43h (position, three floats, two), 36 bytes.
    #[test]
    fn declarations_of_one_buffer_lie_one_behind_the_other() {
        let declare = |components, register| Declaration {
            register,
            components,
            ..Declaration::default()
        };
        let mut stream = Stream::default();
        stream.declare([declare(15, 2), declare(7, 3), declare(3, 4)]);
        assert_eq!(stream.runs, [run(0, 8, 0, 7), run(0, 16, 7, 2)]);
    }

    #[test]
    fn holes_leave_room_and_buffers_count_apart() {
        let mut stream = Stream::default();
        let of = |buffer, hole, register, components| Declaration {
            buffer,
            hole,
            register,
            components,
        };
        stream.declare([
            of(0, false, 1, 0b0011),
            of(1, false, 1, 0b1100),
            of(0, true, 0, 0b0111),
            of(0, false, 2, 0b1011),
        ]);
        let expected = [
            run(0, 4, 0, 2),
            run(1, 6, 0, 2),
            run(0, 8, 5, 2),
            run(0, 11, 7, 1),
        ];
        assert_eq!(stream.runs, expected);
    }
}

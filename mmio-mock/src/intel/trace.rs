//! The events of the trace: what happens at the boundaries between units.
//!
//! This is the model's own instrument.

use std::fmt;

use crate::core::trace::Detail;
pub use crate::core::trace::Sink;

/// Where events go.
pub type Trace = crate::core::trace::Trace<Event>;

/// One event at a boundary between units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A register was written over MMIO.
    MmioWrite {
        /// Offset in the BAR.
        offset: u32,
        /// Value.
        value: u32,
    },
    /// A command streamer executed a command.
    Command {
        /// Address of the header.
        addr: u32,
        /// Header dword.
        header: u32,
        /// Length in dwords.
        dwords: u32,
        /// Name of the streamer.
        streamer: &'static str,
    },
    /// A thread was dispatched.
    Dispatch(Dispatch),
    /// A thread ended.
    End {
        /// FFID of the fixed function.
        ffid: u8,
        /// EU.
        eu: u8,
        /// Thread slot on it.
        slot: u8,
        /// Instructions it executed.
        instructions: u64,
    },
    /// A primitive reached the windower.
    Primitive {
        /// Primitive sequence number.
        sequence: u32,
    },
    /// What the device asks the host to look at has changed. For sinks only.
    Irq {
        /// Bits of IIR that IER lets through; the line is up while there are any.
        bits: u32,
    },
    /// VF brought a vertex. For sinks only.
    Vertex {
        /// Vertex buffer index, base vertex included.
        index: u32,
        /// Its URB entry.
        handle: u16,
        /// Whether it was fetched; otherwise the vertex cache had it.
        fresh: bool,
        /// Instance that it belongs to, from 0.
        instance: u32,
    },
    /// A unit took an object up. For sinks only.
    Object {
        /// FFID of HS, GS, clipper or SF.
        ffid: u8,
        /// 3DPRIM topology code.
        topology: u8,
        /// URB entries of its vertices; the first `count` count.
        handles: [u16; OBJECT],
        /// Number of vertices.
        count: u8,
        /// What a thread works on that has several objects, or several instances of one; `None` of all others.
        part: Option<Part>,
    },
    /// HS has taken a patch up, whose object is the event before. For sinks only.
    Patch {
        /// Its URB entry.
        handle: u16,
        /// Its number in the draw's instance.
        number: u32,
    },
    /// TE has cut a patch. For sinks only.
    Cut {
        /// URB entry of the patch.
        handle: u16,
        /// Bits of its factors: four of the edges, two of the inside.
        factors: [u32; 6],
        /// Points; none of a patch that is dropped.
        points: u32,
        /// Points, lines or triangles that they make.
        objects: u32,
    },
    /// DS has taken up a point that was not shaded before. For sinks only.
    Point {
        /// URB entry of the patch.
        patch: u16,
        /// URB entry for the vertex.
        handle: u16,
        /// Number of the point in the patch.
        number: u16,
        /// u, v, and w of triangles: bits of floats.
        place: [u32; 3],
    },
    /// An object is on the screen: what SF hands to the windower. For sinks only.
    Placed {
        /// x, y and z of its vertices in the object's order, the bits of floats.
        corners: [[u32; 3]; 3],
        /// Number of vertices.
        count: u8,
    },
    /// A thread of DS, GS or clipper has put out a vertex. For sinks only.
    Emit {
        /// FFID of DS, GS or clipper.
        ffid: u8,
        /// URB entry.
        handle: u16,
        /// Which half of the thread's channels it comes from, where halves work on different things.
        half: u8,
    },
    /// Dwords of a vertex went into a stream output buffer. For sinks only.
    Streamed {
        /// URB entry of the vertex.
        handle: u16,
        /// Stream.
        stream: u8,
        /// Which buffer.
        buffer: u8,
        /// First dword of the vertex's URB entry.
        from: u16,
        /// Bytes from the buffer's base.
        offset: u32,
        /// First byte, a graphics address.
        addr: u32,
        /// How many.
        dwords: u16,
    },
    /// A thread sent a message. For sinks only.
    Message {
        /// EU of the sender.
        eu: u8,
        /// Its thread slot.
        slot: u8,
        /// FFID of the fixed function that asked for the sender.
        ffid: u8,
        /// Instruction, relative to General State Base Address.
        ip: u32,
        /// Function ID.
        sfid: u8,
        /// Descriptor.
        desc: u32,
        /// Payload registers.
        length: u8,
        /// Response registers.
        response: u8,
        /// Execution mask.
        mask: u16,
        /// Ticks that it took.
        ticks: u32,
        /// Whether the function refused it.
        dropped: bool,
    },
    /// A unit wrote memory. For sinks only.
    Memory {
        /// Which client of memory.
        client: &'static str,
        /// First byte, a graphics address.
        addr: u32,
        /// Bytes.
        bytes: u32,
        /// Whether they were written.
        write: bool,
    },
}

/// Most vertices of an object: a patch has so many.
pub const OBJECT: usize = 32;

/// What one half of a thread's channels works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// 0 for the lower half, 1 for the upper one.
    pub half: u8,
    /// Number of the object in its draw.
    pub object: u32,
    /// Number of its instance.
    pub instance: u8,
}

impl Event {
    /// A unit takes up an object with these URB entries; what is beyond [`OBJECT`] is left out.
    pub fn object(
        ffid: u8,
        topology: u8,
        entries: impl IntoIterator<Item = u16>,
        part: Option<Part>,
    ) -> Self {
        let mut handles = [0; OBJECT];
        let mut count = 0;
        for (to, from) in handles.iter_mut().zip(entries) {
            *to = from;
            count += 1;
        }
        Event::Object {
            ffid,
            topology,
            handles,
            count,
            part,
        }
    }
}

/// A thread as it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// FFID of the fixed function.
    pub ffid: u8,
    /// EU.
    pub eu: u8,
    /// Thread slot on it.
    pub slot: u8,
    /// How many threads of the unit came before it.
    pub ordinal: u64,
    /// Kernel start pointer.
    pub kernel: u32,
    /// Dispatch mask.
    pub mask: u16,
    /// The payload's header.
    pub r0: [u32; 8],
    /// Pixel shader threads: where their pixels are.
    pub pixels: Subspans,
}

/// Places of a pixel shader thread's channels: four to a subspan, which is a block of 2x2 pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subspans {
    /// Upper left pixels: columns in the low halves, rows in the high ones.
    at: [u32; Subspans::MOST],
    count: u8,
    /// Lit pixels, a bit a channel.
    pub lit: u32,
}

impl Subspans {
    /// Most of a thread.
    pub const MOST: usize = 8;

    /// Those at these places; what is beyond [`MOST`](Self::MOST) is left out.
    pub fn new(places: &[u32], lit: u32) -> Self {
        let mut all = Subspans {
            lit,
            // CAST: at most eight.
            count: places.len().min(Self::MOST) as u8,
            ..Subspans::default()
        };
        for (to, from) in all.at.iter_mut().zip(places) {
            *to = *from;
        }
        all
    }

    /// Upper left pixels; none when nobody has kept them.
    pub fn places(&self) -> &[u32] {
        self.at.get(..usize::from(self.count)).unwrap_or_default()
    }
}

impl Detail for Event {
    fn is_detail(&self) -> bool {
        matches!(
            self,
            Event::Vertex { .. }
                | Event::Object { .. }
                | Event::Placed { .. }
                | Event::Emit { .. }
                | Event::Patch { .. }
                | Event::Cut { .. }
                | Event::Point { .. }
                | Event::Streamed { .. }
                | Event::Message { .. }
                | Event::Memory { .. }
                | Event::Irq { .. }
        )
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::MmioWrite { offset, value } => write!(f, "mmio {offset:05x} <- {value:08x}"),
            Event::Command {
                addr,
                header,
                dwords,
                streamer,
            } => {
                let streamer = streamer.to_ascii_lowercase();
                write!(f, "{streamer} {addr:08x} {header:08x} {dwords}")
            }
            Event::Dispatch(d) => write!(f, "td ff{} {:08x} {:04x}", d.ffid, d.kernel, d.mask),
            Event::End {
                ffid, instructions, ..
            } => write!(f, "eot ff{ffid} {instructions}"),
            Event::Primitive { sequence } => write!(f, "prim {sequence}"),
            Event::Irq { bits } => write!(f, "irq {bits:08x}"),
            Event::Vertex {
                index,
                handle,
                fresh,
                instance,
            } => write!(f, "vf {index} {handle:03x} {} {instance}", u8::from(*fresh)),
            Event::Object {
                ffid,
                topology,
                handles,
                count,
                ..
            } => {
                write!(f, "obj ff{ffid} {topology}")?;
                let handles = handles.iter().take(usize::from(*count));
                handles.into_iter().try_for_each(|h| write!(f, " {h:03x}"))
            }
            Event::Placed { corners, count } => {
                write!(f, "placed")?;
                let corners = corners.iter().take(usize::from(*count));
                corners.into_iter().try_for_each(|corner| {
                    let [x, y, z] = corner.map(f32::from_bits);
                    write!(f, " {x},{y},{z}")
                })
            }
            Event::Patch { handle, number } => write!(f, "patch {number} {handle:03x}"),
            Event::Cut {
                handle,
                points,
                objects,
                ..
            } => write!(f, "cut {handle:03x} {points} {objects}"),
            Event::Point {
                patch,
                handle,
                number,
                ..
            } => write!(f, "point {patch:03x} {number} {handle:03x}"),
            Event::Emit { ffid, handle, .. } => write!(f, "emit ff{ffid} {handle:03x}"),
            Event::Streamed {
                handle,
                stream,
                addr,
                dwords,
                ..
            } => write!(f, "so {stream} {handle:03x} {addr:08x} {dwords}"),
            Event::Message { sfid, desc, ip, .. } => write!(f, "send {ip:08x} {sfid} {desc:08x}"),
            Event::Memory {
                client,
                addr,
                bytes,
                write,
            } => {
                let what = if *write { "write" } else { "read" };
                write!(f, "{client} {what} {addr:08x} {bytes}")
            }
        }
    }
}

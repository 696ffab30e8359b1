//! The device's event trace: what happened, in order, as text or typed.
//!
//! No PRM section: this is the model's own instrument. It costs one branch when switched off.

use std::fmt::{self, Write as _};

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
    /// The command streamer executed a command.
    Command {
        /// Address of the header.
        addr: u32,
        /// Header dword.
        header: u32,
        /// Length in dwords.
        dwords: u32,
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
        /// FFID of GS, clipper or SF.
        ffid: u8,
        /// 3DPRIM topology code.
        topology: u8,
        /// URB entries of its vertices; the first `count` count.
        handles: [u16; 6],
        /// Number of vertices.
        count: u8,
    },
    /// An object is on the screen: what SF hands to the windower. For sinks only.
    Placed {
        /// x, y and z of its vertices in the object's order, the bits of floats.
        corners: [[u32; 3]; 3],
        /// Number of vertices.
        count: u8,
    },
    /// A thread of GS or clipper has put out a vertex. For sinks only.
    Emit {
        /// FFID of GS or clipper.
        ffid: u8,
        /// URB entry.
        handle: u16,
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
    /// Pixel shader threads: upper left pixels of the subspans, r1.2 to r1.5 of the payload.
    pub subspans: [u32; 4],
}

impl Event {
    /// Whether it is too frequent for a text.
    fn is_detail(&self) -> bool {
        matches!(
            self,
            Event::Vertex { .. }
                | Event::Object { .. }
                | Event::Placed { .. }
                | Event::Emit { .. }
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
            } => {
                write!(f, "cs {addr:08x} {header:08x} {dwords}")
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
            Event::Emit { ffid, handle } => write!(f, "emit ff{ffid} {handle:03x}"),
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

/// Takes every event as it happens, with the device time in ticks.
pub trait Sink: Send {
    /// One event.
    fn event(&mut self, ticks: u64, event: &Event);
}

/// Where events go: nowhere, or into a text of bounded length plus a running hash.
#[derive(Default)]
pub struct Trace {
    on: bool,
    sink: Option<Box<dyn Sink>>,
    /// Ticks at the begin of the device's step, and what the step had left then.
    now: (u64, u64),
    limit: usize,
    text: String,
    hash: u64,
    events: u64,
    /// Events that the text has no room for.
    dropped: u64,
    line: String,
}

impl Trace {
    /// A trace that keeps at most `limit` bytes of text. When it is full, events are only counted, or a
    /// batch without end would spend its time in them; the hash covers what the text holds.
    pub fn with_limit(limit: usize) -> Self {
        // FNV-1a 64 offset basis.
        Trace {
            on: true,
            limit,
            hash: 0xcbf2_9ce4_8422_2325,
            ..Trace::default()
        }
    }

    /// A trace that keeps nothing itself and hands every event on.
    pub fn to(sink: Box<dyn Sink>) -> Self {
        Trace {
            on: true,
            sink: Some(sink),
            ..Trace::default()
        }
    }

    /// Whether events go anywhere at all.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether frequent events are wanted too.
    #[inline]
    pub fn is_detailed(&self) -> bool {
        self.sink.is_some()
    }

    /// A step of the device begins at `ticks`, with `budget` ticks to spend.
    pub fn begin(&mut self, ticks: u64, budget: u64) {
        self.now = (ticks, budget);
    }

    /// `kept` ticks of the step's budget are out of reach for a while: time goes on without them.
    #[inline]
    pub fn withhold(&mut self, kept: u64) {
        self.now.1 = self.now.1.saturating_sub(kept);
    }

    /// They are back.
    #[inline]
    pub fn restore(&mut self, kept: u64) {
        self.now.1 = self.now.1.saturating_add(kept);
    }

    /// The same event, `left` ticks before the end of the step.
    #[inline]
    pub fn event_at(&mut self, left: u64, event: Event) {
        if self.on {
            let (ticks, budget) = self.now;
            let spent = budget.saturating_sub(left);
            self.now = (ticks + spent, left.min(budget));
            self.record(event);
        }
    }

    /// Notes an event when the trace is on.
    #[inline]
    pub fn event(&mut self, event: Event) {
        if self.on {
            self.record(event);
        }
    }

    #[cold]
    fn record(&mut self, event: Event) {
        if let Some(sink) = &mut self.sink {
            sink.event(self.now.0, &event);
            return;
        }
        if event.is_detail() {
            return;
        }
        self.events += 1;
        if self.dropped > 0 {
            self.dropped += 1;
            return;
        }
        self.line.clear();
        // Writing to a String cannot fail.
        let _ = writeln!(self.line, "{event}");
        if self.text.len() + self.line.len() > self.limit {
            self.dropped = 1;
            return;
        }
        for byte in self.line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.text.push_str(&self.line);
    }

    /// Events that the text has no room for.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Text of the events so far, up to the limit.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of events, and hash over those that the text holds.
    pub fn digest(&self) -> (u64, u64) {
        (self.events, self.hash)
    }
}

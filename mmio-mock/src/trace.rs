//! The device's event trace: what happened, in order, as text and as a hash.
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
    Dispatch {
        /// FFID of the fixed function.
        ffid: u8,
        /// Kernel start pointer.
        kernel: u32,
        /// Dispatch mask.
        mask: u16,
    },
    /// A thread ended.
    End {
        /// FFID of the fixed function.
        ffid: u8,
        /// Instructions it executed.
        instructions: u64,
    },
    /// A primitive reached the windower.
    Primitive {
        /// Primitive sequence number.
        sequence: u32,
    },
    /// An interrupt line changed.
    Irq {
        /// ISR bits.
        bits: u32,
    },
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
            Event::Dispatch { ffid, kernel, mask } => {
                write!(f, "td ff{ffid} {kernel:08x} {mask:04x}")
            }
            Event::End { ffid, instructions } => write!(f, "eot ff{ffid} {instructions}"),
            Event::Primitive { sequence } => write!(f, "prim {sequence}"),
            Event::Irq { bits } => write!(f, "irq {bits:08x}"),
        }
    }
}

/// Where events go: nowhere, or into a text of bounded length plus a running hash.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    on: bool,
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

    /// Notes an event when the trace is on.
    #[inline]
    pub fn event(&mut self, event: Event) {
        if self.on {
            self.record(event);
        }
    }

    #[cold]
    fn record(&mut self, event: Event) {
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

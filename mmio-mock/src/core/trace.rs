//! The device's event trace: what happened, in order, as text or typed.
//!
//! This is the model's own instrument. It costs one branch when switched off. Which events there are is
//! the vendor's matter.

use std::fmt::{Display, Write as _};

/// An event that a trace can take: its text is its line.
pub trait Detail: Display {
    /// Whether it is too frequent for a text.
    fn is_detail(&self) -> bool;
}

/// Takes every event as it happens, with the device time in ticks.
pub trait Sink<E>: Send {
    /// One event.
    fn event(&mut self, ticks: u64, event: &E);
}

/// Events as text of bounded length, plus a running hash.
#[derive(Debug, Default)]
pub struct Log {
    limit: usize,
    text: String,
    hash: u64,
    events: u64,
    /// Events that the text has no room for.
    dropped: u64,
    line: String,
}

impl Log {
    fn with_limit(limit: usize) -> Self {
        // FNV-1a 64 offset basis.
        Log {
            limit,
            hash: 0xcbf2_9ce4_8422_2325,
            ..Log::default()
        }
    }

    fn add(&mut self, event: &impl Display) {
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

/// Where events go: to no place at all, into a text, or to a sink.
pub struct Trace<E> {
    on: bool,
    sink: Option<Box<dyn Sink<E>>>,
    /// Ticks at the begin of the device's step, and what the step had left then.
    now: (u64, u64),
    log: Log,
}

impl<E> Default for Trace<E> {
    fn default() -> Self {
        Trace {
            on: false,
            sink: None,
            now: (0, 0),
            log: Log::default(),
        }
    }
}

impl<E: Detail> Trace<E> {
    /// A trace that keeps at most `limit` bytes of text. When it is full, events are only counted, or a
    /// batch without end would spend its time in them; the hash covers what the text holds.
    pub fn with_limit(limit: usize) -> Self {
        Trace {
            on: true,
            log: Log::with_limit(limit),
            ..Trace::default()
        }
    }

    /// A trace that keeps nothing itself and hands every event on.
    pub fn to(sink: Box<dyn Sink<E>>) -> Self {
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
    pub fn event_at(&mut self, left: u64, event: E) {
        if self.on {
            let (ticks, budget) = self.now;
            let spent = budget.saturating_sub(left);
            self.now = (ticks + spent, left.min(budget));
            self.record(event);
        }
    }

    /// Notes an event when the trace is on.
    #[inline]
    pub fn event(&mut self, event: E) {
        if self.on {
            self.record(event);
        }
    }

    #[cold]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an event is built for the call"
    )]
    fn record(&mut self, event: E) {
        if let Some(sink) = &mut self.sink {
            sink.event(self.now.0, &event);
        } else if !event.is_detail() {
            self.log.add(&event);
        }
    }

    /// The text of the events; empty when they go to a sink.
    pub fn log(&self) -> &Log {
        &self.log
    }
}

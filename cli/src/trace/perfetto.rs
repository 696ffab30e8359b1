//! Events as Chrome's trace events, which Perfetto reads too.
//!
//! The format is Google's "Trace Event Format", JSON Array Format. Threads
//! and commands are complete events, what has no length is an instant event, names of tracks are metadata. Where in
//! its thread a message was sent is not told by the device: messages are spread evenly over what the thread has left.

use std::collections::{BTreeMap, BTreeSet};

use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::intel::status::Unit;
use mmio_mock::intel::trace::{Dispatch, Event};

use super::json::Object;
use super::members::{RENDER, shared};
use super::{function, nanos, unit};

/// Messages of one thread that are kept until it ends; the others are counted.
const MESSAGES: usize = 1 << 12;

/// The process of the execution units: a track is a thread slot.
const EUS: u64 = 1;
/// The process of everything else: a track is a unit.
const UNITS: u64 = 2;

/// Tracks of [`UNITS`].
mod track {
    pub const COMMANDS: u64 = 1;
    pub const VF: u64 = 2;
    pub const TE: u64 = 3;
    pub const SO: u64 = 4;
    /// Fixed functions follow by FFID.
    pub const FUNCTIONS: u64 = 10;
    pub const HOST: u64 = 30;
    pub const INTERRUPTS: u64 = 31;
    /// Streamers beside that of the render engine.
    pub const STREAMERS: u64 = 32;
    /// Clients of memory follow by first write.
    pub const MEMORY: u64 = 40;
}

/// What a thread sent, and when its turn was.
#[derive(Clone, Copy)]
struct Message {
    at: u64,
    ip: u32,
    sfid: u8,
    ticks: u32,
    dropped: bool,
    event: Event,
}

struct Thread {
    start: u64,
    dispatch: Dispatch,
    messages: Vec<Message>,
    left_out: u64,
}

#[derive(Clone, Copy)]
struct Command {
    start: u64,
    header: u32,
    event: Event,
}

/// What has begun.
#[derive(Default)]
pub struct Perfetto {
    begun: bool,
    named: BTreeSet<(u64, u64)>,
    threads: BTreeMap<(u8, u8), Thread>,
    command: Option<Command>,
    clients: Vec<&'static str>,
    /// Time of the last event.
    now: u64,
}

impl Perfetto {
    /// Appends what an event completes.
    pub fn event(
        &mut self,
        device: &'static DeviceInfo,
        ticks: u64,
        event: &Event,
        out: &mut String,
    ) {
        let before = self.now;
        self.now = self.now.max(ticks);
        let at = self.now;
        match *event {
            Event::MmioWrite { offset, .. } => {
                let register = (device.tables.lookup)(offset).map_or("?", |(id, ..)| id.name());
                self.instant((track::HOST, "host"), register, at, device, out, event);
            }
            Event::Command {
                header, streamer, ..
            } if streamer != RENDER => {
                // Its commands are few and short, and their ends are not events.
                let name = (device.tables.command)(header).map_or("?", |command| command.name);
                let track = (track::STREAMERS, streamer);
                self.instant(track, name, at, device, out, event);
            }
            Event::Command { header, .. } => {
                // A command lasts until the next one, or until nothing is left to do.
                self.command_ends(before, device, out);
                self.command = Some(Command {
                    start: at,
                    header,
                    event: *event,
                });
            }
            Event::Dispatch(dispatch) => {
                let key = (dispatch.eu, dispatch.slot);
                self.thread_ends(key, before, None, device, out);
                let thread = Thread {
                    start: at,
                    dispatch,
                    messages: Vec::new(),
                    left_out: 0,
                };
                self.threads.insert(key, thread);
            }
            Event::End {
                eu,
                slot,
                instructions,
                ..
            } => self.thread_ends((eu, slot), at, Some(instructions), device, out),
            Event::Primitive { .. } => {
                self.function(Unit::Wiz.ffid(), "primitive", at, device, out, event);
            }
            Event::Irq { bits } => {
                let name = if bits == 0 { "line down" } else { "line up" };
                let track = (track::INTERRUPTS, "interrupts");
                self.instant(track, name, at, device, out, event);
            }
            Event::Vertex { fresh, .. } => {
                let name = if fresh { "vertex" } else { "cached vertex" };
                self.instant((track::VF, "VF"), name, at, device, out, event);
            }
            Event::Object { ffid, .. } => self.function(ffid, "object", at, device, out, event),
            Event::Patch { .. }
            | Event::Cut { .. }
            | Event::Point { .. }
            | Event::Streamed { .. } => self.later(at, device, out, event),
            Event::Emit { ffid, .. } => self.function(ffid, "emit", at, device, out, event),
            Event::Message {
                eu,
                slot,
                ip,
                sfid,
                ticks,
                dropped,
                ..
            } => {
                if let Some(thread) = self.threads.get_mut(&(eu, slot)) {
                    if thread.messages.len() >= MESSAGES {
                        thread.left_out += 1;
                        return;
                    }
                    thread.messages.push(Message {
                        at,
                        ip,
                        sfid,
                        ticks,
                        dropped,
                        event: *event,
                    });
                }
            }
            Event::Memory { client, write, .. } => {
                let number = self.clients.iter().position(|&other| other == client);
                let number = number.unwrap_or_else(|| {
                    self.clients.push(client);
                    self.clients.len() - 1
                });
                let track = (track::MEMORY + number as u64, client);
                let name = if write { "write" } else { "read" };
                self.instant(track, name, at, device, out, event);
            }
            // The windower's track has the primitive.
            Event::Placed { .. } => {}
        }
    }

    /// Events of stages that later devices have.
    fn later(&mut self, at: u64, device: &'static DeviceInfo, out: &mut String, event: &Event) {
        match event {
            Event::Patch { .. } => {
                self.function(Unit::Hs.ffid(), "patch", at, device, out, event);
            }
            Event::Cut { .. } => self.instant((track::TE, "TE"), "cut", at, device, out, event),
            Event::Point { .. } => {
                self.function(Unit::Ds.ffid(), "point", at, device, out, event);
            }
            _ => self.instant((track::SO, "SO"), "streamed", at, device, out, event),
        }
    }

    /// Appends what has not ended, and the end.
    pub fn finish(&mut self, device: &'static DeviceInfo, out: &mut String) {
        self.command_ends(self.now, device, out);
        while let Some((&key, _)) = self.threads.first_key_value() {
            self.thread_ends(key, self.now, None, device, out);
        }
        out.push_str(if self.begun { "\n]\n" } else { "[]\n" });
    }

    /// Begins an event of a track, which gets its name when it is new.
    fn begin<'o>(&mut self, (pid, tid): (u64, u64), name: &str, out: &'o mut String) -> Object<'o> {
        for (tid, what, name) in [
            (0, "process_name", if pid == EUS { "EUs" } else { "units" }),
            (tid, "thread_name", name),
        ] {
            if self.named.insert((pid, tid)) {
                self.separate(out);
                let mut o = Object::new(out);
                o.text("ph", "M").text("name", what).number("ts", 0u64);
                o.number("pid", pid).number("tid", tid);
                Object::new(o.key("args")).text_end("name", name);
                o.end();
            }
        }
        self.separate(out);
        let mut o = Object::new(out);
        o.number("pid", pid).number("tid", tid);
        o
    }

    fn separate(&mut self, out: &mut String) {
        let first = !std::mem::replace(&mut self.begun, true);
        out.push_str(if first { "[\n" } else { ",\n" });
    }

    fn instant(
        &mut self,
        (tid, track): (u64, &str),
        name: &str,
        at: u64,
        device: &'static DeviceInfo,
        out: &mut String,
        event: &Event,
    ) {
        let mut o = self.begin((UNITS, tid), track, out);
        o.text("ph", "i").text("s", "t").text("name", name);
        o.micros("ts", nanos(at, device));
        let mut inner = Object::new(o.key("args"));
        shared(&mut inner, event);
        inner.end();
        o.end();
    }

    fn function(
        &mut self,
        ffid: u8,
        name: &str,
        at: u64,
        device: &'static DeviceInfo,
        out: &mut String,
        event: &Event,
    ) {
        let track = (track::FUNCTIONS + u64::from(ffid), unit(ffid));
        self.instant(track, name, at, device, out, event);
    }

    fn command_ends(&mut self, at: u64, device: &'static DeviceInfo, out: &mut String) {
        let Some(command) = self.command.take() else {
            return;
        };
        let name = (device.tables.command)(command.header).map_or("?", |command| command.name);
        let track = "command streamer";
        let mut o = self.begin((UNITS, track::COMMANDS), track, out);
        span(&mut o, name, "command", command.start, at, device);
        let mut args = Object::new(o.key("args"));
        shared(&mut args, &command.event);
        args.end();
        o.end();
    }

    /// Writes a thread and its messages; without `instructions` it has not ended.
    fn thread_ends(
        &mut self,
        key: (u8, u8),
        at: u64,
        instructions: Option<u64>,
        device: &'static DeviceInfo,
        out: &mut String,
    ) {
        let Some(thread) = self.threads.remove(&key) else {
            return;
        };
        let dispatch = &thread.dispatch;
        let at = at.max(thread.start);
        let tid = u64::from(key.0) * 16 + u64::from(key.1) + 1;
        let track = format!("EU {} thread {}", key.0, key.1);
        let mut o = self.begin((EUS, tid), &track, out);
        let name = format!("{} {:08x}", unit(dispatch.ffid), dispatch.kernel);
        span(&mut o, &name, "thread", thread.start, at, device);
        let mut args = Object::new(o.key("args"));
        shared(
            args.number("ordinal", dispatch.ordinal),
            &Event::Dispatch(*dispatch),
        );
        match instructions {
            Some(instructions) => args.number("instructions", instructions),
            None => args.bool("ended", false),
        };
        if thread.left_out > 0 {
            args.number("messages left out", thread.left_out);
        }
        args.end();
        o.end();
        for (message, start, end) in placed(&thread, at) {
            let mut o = self.begin((EUS, tid), &track, out);
            span(
                &mut o,
                function(message.sfid),
                "message",
                start,
                end,
                device,
            );
            let mut args = Object::new(o.key("args"));
            shared(args.hex("ip", message.ip), &message.event);
            args.bool("dropped", message.dropped);
            args.end();
            o.end();
        }
    }
}

/// A complete event.
fn span(
    o: &mut Object<'_>,
    name: &str,
    category: &str,
    start: u64,
    end: u64,
    device: &'static DeviceInfo,
) {
    let (start, end) = (nanos(start, device), nanos(end, device));
    o.text("ph", "X").text("cat", category).text("name", name);
    o.micros("ts", start)
        .micros("dur", end.saturating_sub(start));
}

/// The messages of a thread that ended at `end`, with begin and end of each: one after another, none before the
/// thread's turn that sent it, what is left of the time in equal parts between them.
fn placed(thread: &Thread, end: u64) -> Vec<(Message, u64, u64)> {
    let mut rest: u64 = thread.messages.iter().map(|m| u64::from(m.ticks)).sum();
    let whole = end.saturating_sub(thread.start);
    let gap = whole.saturating_sub(rest) / (thread.messages.len() as u64 + 1);
    let mut cursor = thread.start;
    let mut out = Vec::with_capacity(thread.messages.len());
    for message in &thread.messages {
        let latest = end.saturating_sub(rest).max(cursor);
        let start = (cursor + gap).max(message.at).min(latest);
        cursor = (start + u64::from(message.ticks)).min(end);
        rest -= u64::from(message.ticks);
        out.push((*message, start.min(end), cursor));
    }
    out
}

//! Lines on standard error, which no reader can hold up.
//!
//! pipe(7): a pipe that is full makes its writer wait for the reader, and what it holds can be the choice of one client. So
//! a thread of its own writes the lines. A line that finds the queue full is dropped, and the number of those is said.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kernel::string_helpers::Counted;
use parking_lot::{Condvar, Mutex};

/// Most bytes that wait.
const ROOM: usize = 1 << 20;
/// TIMEOUT: how long a line is waited for, so that it usually stands before what happens next. Once, when the reader does not read.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Inner {
    lines: VecDeque<String>,
    bytes: usize,
    /// Lines that found no room.
    dropped: u64,
    /// The thread is at a line.
    is_writing: bool,
    /// A line was waited for in vain, and is still not written.
    is_stuck: bool,
    /// There is a thread.
    is_running: bool,
    is_ended: bool,
}

impl Inner {
    fn is_done(&self) -> bool {
        self.lines.is_empty() && !self.is_writing && self.dropped == 0
    }

    /// What is to be written next.
    fn next(&mut self) -> Option<String> {
        let line = self.lines.pop_front().or_else(|| {
            let dropped = std::mem::take(&mut self.dropped);
            (dropped > 0).then(|| {
                let more = Counted(dropped, "line");
                format!("crestline: {more} not shown: standard error was not read\n")
            })
        })?;
        self.bytes = self.bytes.saturating_sub(line.len());
        Some(line)
    }
}

#[derive(Default)]
struct Shared {
    inner: Mutex<Inner>,
    /// There is something to write, or nothing will come any more.
    work: Condvar,
    /// All is written.
    done: Condvar,
}

/// What the node says on standard error.
pub struct Voice(Arc<Shared>);

impl Voice {
    /// A voice that writes to standard error.
    pub fn new() -> Self {
        Voice::to(std::io::stderr())
    }

    fn to(mut out: impl Write + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let writing = Arc::clone(&shared);
        let spawned = std::thread::Builder::new()
            .name("node-voice".into())
            .spawn(move || write(&writing, &mut out));
        shared.inner.lock().is_running = spawned.is_ok();
        Voice(shared)
    }

    /// Writes a line; when the reader does not read, some time or never.
    pub fn say(&self, line: String) {
        let mut inner = self.0.inner.lock();
        if inner.dropped > 0 || inner.bytes + line.len() > ROOM {
            inner.dropped += 1;
        } else {
            inner.bytes += line.len();
            inner.lines.push_back(line);
        }
        drop(inner);
        self.0.work.notify_one();
        self.wait();
    }

    /// Waits until all is written, unless the reader does not read.
    pub fn wait(&self) {
        let until = Instant::now() + PATIENCE;
        let mut inner = self.0.inner.lock();
        while !inner.is_done() && !inner.is_stuck && inner.is_running {
            if self.0.done.wait_until(&mut inner, until).timed_out() {
                inner.is_stuck = !inner.is_done();
                return;
            }
        }
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        self.wait();
        self.0.inner.lock().is_ended = true;
        self.0.work.notify_one();
    }
}

fn write(shared: &Shared, out: &mut impl Write) {
    let mut inner = shared.inner.lock();
    loop {
        if let Some(line) = inner.next() {
            inner.is_writing = true;
            drop(inner);
            // What cannot be written changes nothing.
            let _ = out.write_all(line.as_bytes());
            inner = shared.inner.lock();
            inner.is_writing = false;
            continue;
        }
        inner.is_stuck = false;
        shared.done.notify_all();
        if inner.is_ended {
            return;
        }
        shared.work.wait(&mut inner);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::io::{BufRead as _, BufReader, pipe};

    use super::*;

    #[test]
    fn lines_are_written_when_saying_them_returns() {
        let (reader, writer) = pipe().unwrap();
        let voice = Voice::to(writer);
        voice.say("one\n".to_owned());
        voice.say("two\n".to_owned());
        drop(voice);
        let lines: Vec<_> = BufReader::new(reader).lines().map(Result::unwrap).collect();
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn a_reader_that_does_not_read_holds_nothing_up_and_is_told_what_it_has_missed() {
        let (reader, writer) = pipe().unwrap();
        let voice = Voice::to(writer);
        let long = "x".repeat(9999) + "\n";
        // More than a pipe of 64 KiB and the queue hold.
        for _ in 0..200 {
            voice.say(long.clone());
        }
        let mut lines = BufReader::new(reader).lines().map(Result::unwrap);
        let mut whole = 0;
        let last = loop {
            let line = lines.next().unwrap();
            if line.len() != 9999 {
                break line;
            }
            whole += 1;
        };
        assert!(
            (ROOM / 10000..ROOM / 10000 + 10).contains(&whole),
            "{whole}"
        );
        let missed = 200 - whole;
        let expected = format!("crestline: {missed} lines not shown: standard error was not read");
        assert_eq!(last, expected);
        voice.say("again\n".to_owned());
        assert_eq!(lines.next().unwrap(), "again");
    }
}

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
/// TIMEOUT: how long a program that ends waits for a reader that takes nothing meanwhile.
const LAST: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Inner {
    lines: VecDeque<String>,
    bytes: usize,
    /// Lines that found no room.
    dropped: u64,
    /// Lines that have been written, or could not be.
    written: u64,
    /// The thread is at a line.
    is_writing: bool,
    /// A line was waited for in vain, and is still not written.
    is_stuck: bool,
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

/// Where lines go.
type Out = Box<dyn Write + Send>;

/// What is said on standard error, line by line.
pub struct Voice {
    shared: Arc<Shared>,
    /// Without a thread (ulimit -u): each line is written by the thread that has it.
    alone: Option<Mutex<Out>>,
}

impl Default for Voice {
    /// A voice that writes to standard error.
    fn default() -> Self {
        Voice::to(std::io::stderr())
    }
}

impl Voice {
    /// A voice that writes somewhere else, each line at once.
    pub fn to(out: impl Write + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let writing = Arc::clone(&shared);
        // Here until the thread takes it: it comes back when there is no thread.
        let handed: Arc<Mutex<Option<Out>>> = Arc::new(Mutex::new(Some(Box::new(out))));
        let taken = Arc::clone(&handed);
        let take = move || taken.lock().take();
        let spawned = std::thread::Builder::new()
            .name("node-voice".into())
            .spawn(move || {
                if let Some(mut out) = take() {
                    write(&writing, &mut out);
                }
            });
        let alone = match spawned {
            Ok(_) => None,
            Err(_) => handed.lock().take().map(Mutex::new),
        };
        Voice { shared, alone }
    }

    /// Writes a line, which ends with a line feed; when the reader does not read, some time or never.
    pub fn say(&self, line: String) {
        if let Some(out) = &self.alone {
            // What cannot be written changes nothing.
            let _ = out.lock().write_all(line.as_bytes());
            return;
        }
        let mut inner = self.shared.inner.lock();
        if inner.dropped > 0 || inner.bytes + line.len() > ROOM {
            inner.dropped += 1;
        } else {
            inner.bytes += line.len();
            inner.lines.push_back(line);
        }
        drop(inner);
        self.shared.work.notify_one();
        self.wait();
    }

    /// Waits until all is written, unless the reader does not read.
    pub fn wait(&self) {
        if self.alone.is_some() {
            return;
        }
        let until = Instant::now() + PATIENCE;
        let mut inner = self.shared.inner.lock();
        while !inner.is_done() && !inner.is_stuck {
            if self.shared.done.wait_until(&mut inner, until).timed_out() {
                inner.is_stuck = !inner.is_done();
                return;
            }
        }
    }

    /// Waits at the end of a program until all is written, as long as the reader takes some of it now and then.
    pub fn finish(&self) {
        self.finish_within(LAST);
    }

    fn finish_within(&self, patience: Duration) {
        let mut inner = self.shared.inner.lock();
        let mut until = Instant::now() + patience;
        let mut written = inner.written;
        while self.alone.is_none() && !inner.is_done() {
            let late = self.shared.done.wait_until(&mut inner, until).timed_out();
            if late && inner.written == written {
                return;
            }
            if late {
                written = inner.written;
                until = Instant::now() + patience;
            }
        }
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        self.wait();
        self.shared.inner.lock().is_ended = true;
        self.shared.work.notify_one();
    }
}

fn write(shared: &Shared, out: &mut Out) {
    let mut inner = shared.inner.lock();
    loop {
        if let Some(line) = inner.next() {
            inner.is_writing = true;
            drop(inner);
            // What cannot be written changes nothing.
            let _ = out.write_all(line.as_bytes());
            inner = shared.inner.lock();
            inner.is_writing = false;
            inner.written += 1;
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

    #[test]
    fn a_reader_that_is_late_gets_all_when_the_program_ends() {
        let (reader, writer) = pipe().unwrap();
        let voice = Voice::to(writer);
        let long = "x".repeat(9999) + "\n";
        for _ in 0..50 {
            voice.say(long.clone());
        }
        let reading = std::thread::spawn(move || {
            // TIMEOUT: longer than a line is waited for.
            std::thread::sleep(2 * PATIENCE);
            let mut lines = BufReader::new(reader).lines().map(Result::unwrap);
            (0..50)
                .filter(|_| lines.next().is_some_and(|line| line.len() == 9999))
                .count()
        });
        voice.finish();
        assert_eq!(reading.join().unwrap(), 50);
    }

    #[test]
    fn a_program_ends_without_a_reader() {
        let (reader, writer) = pipe().unwrap();
        let voice = Voice::to(writer);
        for _ in 0..10 {
            voice.say("x".repeat(9999) + "\n");
        }
        voice.finish_within(PATIENCE);
        assert!(voice.shared.inner.lock().is_writing);
        drop(reader);
    }
}

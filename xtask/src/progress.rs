//! How far long work is: a bar on a terminal, elsewhere a line now and then.
//! Both go to standard error; what is found goes to standard output.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Between two lines where there is no terminal.
const LINES: Duration = Duration::from_secs(10);
/// Between two looks at the bar's clock.
const TICK: Duration = Duration::from_millis(200);
const STYLE: &str = "{elapsed_precise} {wide_bar} {human_pos}/{human_len} {msg}";

/// The progress of one piece of work.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    shown: Instant,
}

impl Progress {
    /// Work of `total` steps.
    pub fn new(total: u64) -> Progress {
        let bar = ProgressBar::new(total);
        if let Ok(style) = ProgressStyle::with_template(STYLE) {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        let shown = Instant::now();
        Progress { bar, shown }
    }

    /// Another number of steps.
    pub fn total(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// So many steps are done, and `what` goes on or has come of them.
    pub fn at(&mut self, done: u64, what: String) {
        self.bar.set_position(done);
        self.bar.set_message(what);
        if self.bar.is_hidden() && self.shown.elapsed() >= LINES {
            self.shown = Instant::now();
            eprintln!("{}", self.line());
        }
    }

    /// What comes next.
    pub fn next(&mut self, what: String) {
        self.at(self.bar.position(), what);
    }

    /// One more step is done.
    pub fn step(&mut self) {
        self.at(self.bar.position() + 1, self.bar.message());
    }

    /// The state in words.
    fn line(&self) -> String {
        let (done, total) = (self.bar.position(), self.bar.length().unwrap_or(0));
        let seconds = self.bar.elapsed().as_secs();
        format!("{seconds:5} s  {done}/{total}  {}", self.bar.message())
    }

    /// A line of standard output, above the bar.
    pub fn print(&self, line: &str) {
        self.bar.suspend(|| println!("{line}"));
    }

    /// Takes the bar away; the state stays behind as a line.
    pub fn end(self) {
        self.bar.finish_and_clear();
        eprintln!("{}", self.line());
    }

    /// Runs a command; `take` gets each line that it writes and returns what is to be printed of it.
    pub fn command(
        &mut self,
        command: &mut Command,
        mut take: impl FnMut(&mut Progress, String) -> Option<String>,
    ) -> io::Result<ExitStatus> {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn()?;
        let (sender, lines) = channel();
        let readers = [
            child.stdout.take().map(|from| read(from, sender.clone())),
            child.stderr.take().map(|from| read(from, sender)),
        ];
        loop {
            match lines.recv_timeout(TICK) {
                Ok(line) => {
                    if let Some(line) = take(self, line) {
                        self.print(&line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.next(self.bar.message()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        for reader in readers.into_iter().flatten() {
            // A reader ends with the pipe; one that panicked has nothing more to say.
            let _ = reader.join();
        }
        child.wait()
    }
}

/// Hands over the lines of a pipe, whatever bytes they have.
fn read(pipe: impl Read + Send + 'static, lines: Sender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            if lines.send(line).is_err() {
                return;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn lines_of_both_outputs_are_taken() {
        let mut progress = Progress::new(7);
        let mut command = Command::new("sh");
        command.args(["-c", "echo a; echo b >&2; printf c; exit 3"]);
        let mut seen = Vec::new();
        let status = progress.command(&mut command, |progress, line| {
            progress.next(line.clone());
            progress.step();
            seen.push(line);
            None
        });
        assert_eq!(status.unwrap().code(), Some(3));
        seen.sort();
        assert_eq!(seen, ["a", "b", "c"]);
        assert!(progress.line().contains("s  3/7  "), "{}", progress.line());
        progress.total(9);
        progress.at(9, "all".to_owned());
        assert!(progress.line().ends_with("s  9/9  all"));
    }
}

//! The guest's ports: a FIFO for each, and a thread that reads it to its end.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::{Streams, Word};
use crate::boot::Error;
use crate::boot::init::PORTS;
use crate::boot::returned::{Returned, unpack};

/// Bytes of a line that a guest says of itself.
const LINE: u64 = 200;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;
/// TIMEOUT: how long a FIFO may stay open behind QEMU's end, by a process that QEMU has left.
const PATIENCE: Duration = Duration::from_secs(5);
/// TIMEOUT: how soon the end of a thread is noticed.
const LOOK: Duration = Duration::from_millis(5);

/// FIFOs with their readers.
pub struct Ports {
    readers: Vec<(PathBuf, JoinHandle<()>)>,
    returned: Receiver<io::Result<Returned>>,
}

impl Ports {
    /// Makes the FIFOs in a directory and reads them. What the guest says of itself is received.
    ///
    /// # Errors
    /// When the system has no more threads, or refuses a FIFO.
    pub fn make(
        dir: &Path,
        streams: Streams,
        files: &Path,
        limit: u64,
    ) -> Result<(Self, Receiver<Word>), Error> {
        let (word, words) = channel();
        let (put, returned) = channel();
        let Streams { mut out, mut err } = streams;
        let files = files.to_path_buf();
        let mut ports = Ports {
            readers: Vec::new(),
            returned,
        };
        let [state, output, errors, sent] = PORTS;
        ports.add(dir, state, move |fifo| say(fifo, &word))?;
        ports.add(dir, output, move |fifo| copy(fifo, out.as_mut()))?;
        ports.add(dir, errors, move |fifo| copy(fifo, err.as_mut()))?;
        ports.add(dir, sent, move |mut fifo| {
            let done = unpack(BufReader::with_capacity(CHUNK, &fifo), &files, limit);
            // Nobody waits for it when the run has ended otherwise.
            let _ = put.send(done);
            drain(&mut fifo);
        })?;
        Ok((ports, words))
    }

    fn add(
        &mut self,
        dir: &Path,
        name: &str,
        read: impl FnOnce(File) + Send + 'static,
    ) -> Result<(), Error> {
        let path = dir.join(name);
        let made = mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR);
        made.map_err(|error| Error::at(&path)(error.into()))?;
        let place = path.clone();
        let work = move || {
            // Waits until QEMU opens it, or the end of the run does.
            if let Ok(fifo) = File::open(&place) {
                read(fifo);
            }
        };
        let thread = thread::Builder::new()
            .name(format!("port {name}"))
            .spawn(work);
        let thread = thread.map_err(Error::at(&path))?;
        self.readers.push((path, thread));
        Ok(())
    }

    /// QEMU has ended: lets all readers come to theirs. What has come back, and what was said last.
    pub fn finish(self, words: &Receiver<Word>) -> (Option<io::Result<Returned>>, Vec<Word>) {
        let begun = Instant::now();
        for (path, thread) in self.readers {
            while !thread.is_finished() && begun.elapsed() < PATIENCE {
                // A reader that still waits for a writer gets one, which goes at once.
                let flags = OFlag::O_NONBLOCK.bits();
                let mut options = OpenOptions::new();
                drop(options.write(true).custom_flags(flags).open(&path));
                thread::sleep(LOOK);
            }
        }
        (self.returned.try_recv().ok(), words.try_iter().collect())
    }
}

/// Reads the guest's words.
fn say(fifo: File, words: &Sender<Word>) {
    let mut fifo = BufReader::new(fifo);
    let mut line = Vec::new();
    loop {
        line.clear();
        match fifo.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(word) = Word::of(&String::from_utf8_lossy(&line)) {
            // The other side goes when the run ends.
            let _ = words.send(word);
        }
    }
}

/// Passes on what comes, at once. When nobody takes it any more, it is still read: the guest would wait.
fn copy(mut fifo: File, to: &mut dyn Write) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let bytes = match fifo.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => chunk.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
            return drain(&mut fifo);
        }
    }
}

fn drain(fifo: &mut File) {
    // What cannot be read is of no use either.
    let _ = io::copy(fifo, &mut io::sink());
}

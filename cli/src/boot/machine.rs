//! A run: the device is served, the guest boots, what it sends is read.
//!
//! All that QEMU writes comes through FIFOs: opening one waits for the other side, and the end of QEMU is the end of each.

mod ports;
mod stage;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mmio_mock::intel::r#gen::DeviceInfo;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use vfio::Server;

use self::ports::Ports;
pub use self::stage::{Stage, Word};
use super::kernel::Kernel;
use super::program::Luggage;
use super::qemu::{Line, Qemu};
use super::returned::Returned;
use super::tree::Tree;
use super::{Error, Watch, archive, init, last_lines};
use crate::shown;

/// TIMEOUT: how soon an end is noticed.
const LOOK: Duration = Duration::from_millis(50);
/// TIMEOUT: how long a guest may take to power off when all is done.
const OFF: Duration = Duration::from_secs(30);

/// What is said of a guest that ends by itself.
const POWERED_OFF: &str = "the guest has powered off";

/// What is booted, and what runs there.
pub struct Options<'a> {
    /// The device.
    pub device: Source<'a>,
    /// QEMU.
    pub qemu: &'a Qemu,
    /// Program and arguments that start another program so that it ends with this process, if there are such.
    pub starter: &'a [OsString],
    /// The guest's kernel.
    pub kernel: &'a Kernel,
    /// The guest's files.
    pub tree: &'a Tree,
    /// The program, and more files.
    pub luggage: &'a Luggage,
    /// Variables of the program, `NAME=VALUE`.
    pub variables: &'a [OsString],
    /// More for the kernel's command line.
    pub append: &'a str,
    /// Memory in MiB.
    pub memory: u64,
    /// How long the guest may take, a shell's time apart.
    pub timeout: Duration,
    /// Where results go: made if it is not there.
    pub out: &'a Path,
    /// Whether there is a shell on the terminal.
    pub shell: bool,
    /// Whether the guest runs on the machine's processor by KVM; else QEMU translates it.
    pub kvm: bool,
    /// Where each access to a register is written, if anywhere.
    pub trace: Option<File>,
}

/// Where the device comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// It is served here.
    Own(&'static DeviceInfo),
    /// Another process serves it at this socket.
    Other(&'a Path),
}

/// Where the program's output and messages go.
pub struct Streams {
    /// Output.
    pub out: Box<dyn Write + Send>,
    /// Messages.
    pub err: Box<dyn Write + Send>,
}

/// How a run has ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The program's exit code, or the shell's where there is no program.
    Exit(u8),
    /// i915 has bound nothing.
    NotBound,
    /// It took too long.
    Timeout,
    /// `stopped` said so, with this number.
    Stopped(i32),
    /// QEMU has ended before the guest said that all is done; what it or the console says.
    Early(String),
}

/// What a run leaves.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// How far the guest came.
    pub stage: Stage,
    /// The guest's files, if they have come.
    pub returned: Option<io::Result<Returned>>,
    /// The kernel's messages.
    pub console: PathBuf,
    /// The guest's seconds at the moment when the device was bound.
    pub bound: Option<String>,
}

/// A directory for sockets and FIFOs that is this user's alone.
fn private() -> Result<tempfile::TempDir, Error> {
    let dir = tempfile::Builder::new()
        .prefix("crestline-boot-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir();
    dir.map_err(Error::at(std::env::temp_dir()))
}

/// Boots, runs and waits for the end. `stopped` says which signal has come that ends the run.
///
/// # Errors
/// When it does not come to a start.
pub fn run(
    options: &Options<'_>,
    streams: Streams,
    watch: &dyn Watch,
    stopped: &dyn Fn() -> Option<i32>,
) -> Result<Outcome, Error> {
    let files = options.out.join("files");
    fs::create_dir_all(&files).map_err(Error::at(&files))?;
    let private = private()?;
    let dir = private.path();
    let console = options.out.join("console.log");
    File::create(&console).map_err(Error::at(&console))?;
    let console = fs::canonicalize(&console).map_err(Error::at(&console))?;
    let initrd = dir.join("initrd");
    write_initrd(options, dir, &initrd)?;
    let trace = options.trace.as_ref().map(File::try_clone).transpose();
    let trace = trace.map_err(Error::at("the trace"))?;
    let served = Served::start(options.device, dir, trace)?;
    let (ports, words) = Ports::make(dir, streams, &files, options.memory << 20)?;
    let line = Line {
        kernel: &options.kernel.image,
        initrd: &initrd,
        append: options.append,
        memory: options.memory,
        socket: &served.socket,
        ports: dir,
        console: &console,
        kvm: options.kvm,
        shell: options.shell,
    };
    let messages = dir.join("qemu.log");
    let guest = Guest {
        terminal: Terminal::save(options.shell),
        child: start(options, &line, &messages)?,
    };
    let (end, stage, bound) = guest.follow(options, &words, watch, stopped)?;
    let (returned, rest) = ports.finish(&words);
    if let Some(list) = served.end() {
        let registers = options.out.join("registers.txt");
        fs::write(&registers, list).map_err(Error::at(&registers))?;
    }
    // What was said between the last look and the end.
    let (end, stage) = later(end, stage, rest);
    let end = match end {
        End::Early(status) => End::Early(early(&status, &messages, &console)),
        end => end,
    };
    Ok(Outcome {
        end,
        stage,
        returned,
        console,
        bound,
    })
}

/// Takes words into account that were read behind the end.
fn later(end: End, mut stage: Stage, words: Vec<Word>) -> (End, Stage) {
    let mut end = end;
    for word in words {
        match (word, &end) {
            (Word::At(at), _) => stage = at,
            (Word::Exit(code), End::Early(_)) => end = End::Exit(code),
            (Word::NotBound, End::Early(_)) => end = End::NotBound,
            _ => {}
        }
    }
    (end, stage)
}

/// Why QEMU has ended early: with what it says when it has failed, else with what the guest's kernel says.
fn early(status: &str, messages: &Path, console: &Path) -> String {
    let read = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let said = read(messages);
    let text = if status == POWERED_OFF || said.trim().is_empty() {
        read(console)
    } else {
        said
    };
    format!("{status}\n{}", last_lines(&text, 8))
}

/// One archive of the guest's files, the modules, and what this run adds.
fn write_initrd(options: &Options<'_>, dir: &Path, path: &Path) -> Result<(), Error> {
    let own = dir.join("run.cpio");
    let file = File::create(&own).map_err(Error::at(&own))?;
    let file = io::BufWriter::new(file);
    let mut file = init::archive(file, options.luggage, options.variables, options.shell)?;
    file.flush().map_err(Error::at(&own))?;
    drop(file);
    let mut whole = File::create(path).map_err(Error::at(path))?;
    let parts = [&options.tree.archive, &options.kernel.modules, &own];
    archive::append(&mut whole, &parts.map(PathBuf::as_path))?;
    // Only the whole is needed.
    let _ = fs::remove_file(&own);
    Ok(())
}

/// The device at its socket, in a thread unless another process serves it.
struct Served {
    socket: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<String>>,
}

impl Served {
    fn start(device: Source<'_>, dir: &Path, trace: Option<File>) -> Result<Self, Error> {
        let device = match device {
            Source::Own(device) => device,
            Source::Other(socket) => {
                return Ok(Served {
                    socket: fs::canonicalize(socket).map_err(Error::at(socket))?,
                    stop: Arc::default(),
                    thread: None,
                });
            }
        };
        let socket = dir.join("device");
        let server = Server::start(vfio::Options {
            device,
            socket: socket.clone(),
            trace,
        });
        let mut server =
            server.map_err(|error| Error::Told(format!("{}: {error}", shown::path(&socket))))?;
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let work = move || {
            if let Err(error) = server.run(&flag, |_| {}) {
                log::warn!("the device is served no more: {error}");
            }
            server.function().report().burndown()
        };
        let thread = thread::Builder::new().name("device".to_owned()).spawn(work);
        let thread = thread.map_err(Error::at("a thread for the device"))?;
        Ok(Served {
            socket,
            stop,
            thread: Some(thread),
        })
    }

    /// Ends it; the registers that the guest has touched and the model lacks, which another process knows for itself.
    fn end(self) -> Option<String> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread?;
        Some(thread.join().unwrap_or_default())
    }
}

/// Starts QEMU. Its messages go to a file.
fn start(options: &Options<'_>, line: &Line<'_>, messages: &Path) -> Result<Child, Error> {
    let file = File::create(messages).map_err(Error::at(messages))?;
    let started = options.qemu.line(line);
    let mut words = options.starter.iter().chain(&started.words);
    let Some(program) = words.next() else {
        return Err(Error::Told("QEMU has no name".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(words).envs(started.variables).stderr(file);
    if !options.shell {
        // Signals of the terminal are for this process, which ends QEMU.
        command.process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null());
    }
    command.spawn().map_err(Error::at(program))
}

/// A QEMU that runs; it ends with this value.
struct Guest {
    child: Child,
    terminal: Terminal,
}

impl Drop for Guest {
    fn drop(&mut self) {
        // One that has ended is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.terminal.restore();
    }
}

impl Guest {
    /// Follows the guest to its end.
    fn follow(
        mut self,
        options: &Options<'_>,
        words: &Receiver<Word>,
        watch: &dyn Watch,
        stopped: &dyn Fn() -> Option<i32>,
    ) -> Result<(End, Stage, Option<String>), Error> {
        let (mut stage, mut end, mut bound) = (Stage::Boots, None, None);
        let mut limit = Some(Instant::now() + options.timeout);
        loop {
            for word in words.try_iter() {
                match word {
                    Word::At(at) => {
                        // A shell's time is its user's.
                        limit = match (stage, at) {
                            (_, Stage::Shell) => None,
                            (Stage::Shell, _) => Some(Instant::now() + options.timeout),
                            _ => limit,
                        };
                        stage = at;
                        watch.now(at.text());
                    }
                    Word::Bound(seconds) => bound = Some(seconds),
                    Word::NotBound if options.shell => {
                        log::warn!("i915 has bound no device");
                    }
                    Word::NotBound => end = Some(End::NotBound),
                    Word::Exit(code) => {
                        end = Some(End::Exit(code));
                        limit = Some(Instant::now() + OFF);
                    }
                }
            }
            let status = self.child.try_wait().map_err(Error::at("QEMU"))?;
            if let Some(status) = status {
                let early = || End::Early(status_text(status));
                return Ok((end.unwrap_or_else(early), stage, bound));
            }
            if let Some(signal) = stopped() {
                return Ok((end.unwrap_or(End::Stopped(signal)), stage, bound));
            }
            if limit.is_some_and(|limit| Instant::now() >= limit) {
                return Ok((end.unwrap_or(End::Timeout), stage, bound));
            }
            thread::sleep(LOOK);
        }
    }
}

fn status_text(status: ExitStatus) -> String {
    if status.success() {
        POWERED_OFF.to_owned()
    } else {
        format!("QEMU: {status}")
    }
}

/// The state of the terminal, which QEMU changes for a shell and cannot put back when it is killed.
struct Terminal(Option<Termios>);

impl Terminal {
    fn save(shell: bool) -> Self {
        Terminal(shell.then(|| tcgetattr(io::stdin()).ok()).flatten())
    }

    fn restore(&self) {
        if let Some(state) = &self.0 {
            // A terminal that has gone needs nothing.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, state);
        }
    }
}

//! The program that `crestline exec` runs: its start, its signals, its end.
//!
//! Exit codes are those of shells (POSIX, Shell Command Language 2.8.2). Signals that end processes
//! are passed on, but for those of the terminal, which has sent them to the program as well.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

use crate::cmd::limits::is_ignored;

/// Exit code when there is no such program, and when there is one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;
/// Signals that are passed on.
const PASSED: [Signal; 4] = [
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];
/// `si_code` of a signal that no process has sent (asm-generic/siginfo.h, SI_KERNEL).
const OF_KERNEL: i32 = 0x80;
/// TIMEOUT: how long the end of a program may go unnoticed should its signal be lost.
const PATIENCE: u16 = 1000;

/// Signals of this process, read instead of taken.
pub struct Signals {
    set: SigSet,
    file: SignalFd,
    /// Those that have come while a program was started.
    early: Vec<(Signal, Arc<AtomicBool>)>,
}

impl Signals {
    /// Takes signals in from now on. Before there are other threads, which would be ended by them.
    pub fn take() -> io::Result<Self> {
        let mut set: SigSet = PASSED.into_iter().collect();
        set.add(Signal::SIGCHLD);
        set.thread_block()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let file = SignalFd::with_flags(&set, flags)?;
        let mut early = Vec::new();
        // What is ignored here (nohup) is ignored by the program too, as long as no handler is set.
        for signal in PASSED.into_iter().filter(|signal| !is_ignored(*signal)) {
            let flag = Arc::default();
            signal_hook::flag::register(signal as i32, Arc::clone(&flag))?;
            early.push((signal, flag));
        }
        // The program may have been started with SIGCHLD ignored. Then the system forgets how a child has ended, unless there is a handler.
        signal_hook::flag::register(Signal::SIGCHLD as i32, Arc::default())?;
        Ok(Signals { set, file, early })
    }

    /// Runs a program to its end. `begun` gets its number.
    pub fn run(&self, command: &mut Command, begun: impl FnOnce(u32)) -> io::Result<ExitStatus> {
        // A program begins with the signals that its parent blocks blocked.
        self.set.thread_unblock()?;
        let child = command.spawn();
        self.set.thread_block()?;
        let mut child = child?;
        begun(child.id());
        for (signal, flag) in &self.early {
            if flag.load(Ordering::SeqCst) {
                send(&child, *signal);
            }
        }
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, PollTimeout::from(PATIENCE)) {
                Ok(_) | Err(Errno::EINTR) => self.pass_on(&child)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn pass_on(&self, child: &Child) -> io::Result<()> {
        while let Some(info) = self.file.read_signal()? {
            let number = i32::try_from(info.ssi_signo).unwrap_or(0);
            let signal = PASSED.into_iter().find(|other| *other as i32 == number);
            if let Some(signal) = signal
                && info.ssi_code != OF_KERNEL
            {
                send(child, signal);
            }
        }
        Ok(())
    }
}

fn send(child: &Child, signal: Signal) {
    if let Ok(pid) = i32::try_from(child.id()) {
        // One that has ended is found in a moment.
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

/// The exit code that stands for a program's end.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// What has ended a program that was not told to end. Shells say nothing of a reader that has gone either.
pub fn crashed(status: ExitStatus) -> Option<String> {
    let number = status.signal()?;
    let signal = Signal::try_from(number).ok();
    if signal.is_some_and(|signal| signal == Signal::SIGPIPE || PASSED.contains(&signal)) {
        return None;
    }
    let name = signal.map_or_else(String::new, |signal| format!(" ({})", signal.as_str()));
    Some(format!("ended by signal {number}{name}"))
}

/// The exit code for a program that did not start.
pub fn not_started(error: &io::Error) -> ExitCode {
    ExitCode::from(match error.kind() {
        io::ErrorKind::NotFound => NOT_FOUND,
        _ => NOT_RUN,
    })
}

//! Terminals: settings come back, bars are drawn there and nowhere else.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::pty::openpty;
use nix::sys::signal::Signal;
use nix::sys::termios::{LocalFlags, tcgetattr};

use crate::common::{PROGRAM, crestline, scene, scratch, send, served};

/// A terminal: this side, the program's, and what has come out of it.
struct Terminal {
    ours: OwnedFd,
    theirs: OwnedFd,
    said: Arc<Mutex<String>>,
}

impl Terminal {
    fn new() -> Self {
        let pty = openpty(None, None).unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (mut read, sink) = (
            File::from(pty.master.try_clone().unwrap()),
            Arc::clone(&said),
        );
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error when the last program has gone.
            while let Ok(count) = read.read(&mut bytes) {
                if count == 0 {
                    break;
                }
                let text = String::from_utf8_lossy(&bytes[..count]);
                sink.lock().unwrap().push_str(&text);
            }
        });
        Terminal {
            ours: pty.master,
            theirs: pty.slave,
            said,
        }
    }

    fn end(&self) -> Stdio {
        self.theirs.try_clone().unwrap().into()
    }

    fn is_raw(&self) -> bool {
        let flags = tcgetattr(self.ours.as_fd()).unwrap().local_flags;
        !flags.contains(LocalFlags::ICANON)
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }
}

/// Waits for something that comes soon.
fn until(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        // TIMEOUT: machines under load.
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{what} never came"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_debugger_that_is_told_to_end_leaves_the_terminal_as_it_was() {
    let directory = scratch("terminal-debug");
    let frame = scene("a_clear");
    let live = served(&directory, &["debug", "--memory", "16", "--", "true"]);
    let mut capture = Command::new("env");
    capture.args(["--default-signal", PROGRAM, "debug", &frame]);
    for mut command in [capture, live] {
        for signal in [
            Signal::SIGTERM,
            Signal::SIGHUP,
            Signal::SIGQUIT,
            Signal::SIGUSR1,
            Signal::SIGALRM,
            Signal::SIGXCPU,
            Signal::SIGABRT,
        ] {
            let terminal = Terminal::new();
            assert!(!terminal.is_raw());
            let mut child = command
                .env("TERM", "xterm")
                .env("HOME", &directory)
                .stdin(terminal.end())
                .stdout(terminal.end())
                .stderr(terminal.end())
                .spawn()
                .unwrap();
            until("the prompt", || {
                terminal.is_raw() && terminal.said().contains("(debug)")
            });
            send(&child, signal);
            assert_eq!(child.wait().unwrap().code(), Some(128 + signal as i32));
            assert!(!terminal.is_raw(), "{signal}");
            // Whatever the prompt has switched on is switched off (xterm: bracketed paste).
            until("the end of bracketed paste", || {
                let said = terminal.said();
                said.rfind("\x1b[?2004h") <= said.rfind("\x1b[?2004l")
            });
        }
    }
}

/// The program with standard error on a terminal: what came out there.
fn with_terminal(dir: &Path, args: &[&str]) -> String {
    let terminal = Terminal::new();
    let mut child = Command::new(PROGRAM)
        .args(args)
        .current_dir(dir)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(terminal.end())
        .spawn()
        .unwrap();
    assert!(
        child.wait().unwrap().success(),
        "{args:?}: {}",
        terminal.said()
    );
    let begun = Instant::now();
    while terminal.said().is_empty() && begun.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    terminal.said()
}

#[test]
fn long_work_shows_its_progress_on_a_terminal_and_nowhere_else() {
    let dir = scratch("terminal-progress");
    let frame = scene("d_tex_nearest");
    let mut recorded = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    recorded.push("../tests/data/captures/recorded/clipflat.crest");
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kernels/blur.asm");
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/gears.png");
    let input = format!("{},format=r8", picture.display());
    for (args, bar) in [
        (&["replay", &frame][..], "of 1 submissions"),
        (&["report", &frame, "-o", "page.html"], "of 1 submissions"),
        (&["why", &frame, "100,100"], "running the frame again"),
        (
            &["pack", recorded.to_str().unwrap(), "out.crest"],
            "packing",
        ),
        (
            &[
                "media",
                "run",
                kernel.to_str().unwrap(),
                "--grid",
                "16x32",
                "--in",
                &input,
                "--out",
                "out.png",
            ],
            "of 512 threads",
        ),
    ] {
        let said = with_terminal(&dir, args);
        assert!(said.contains(bar), "{args:?}: {said:?}");
        let piped = crestline(&dir, args);
        assert!(piped.status.success(), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&piped.stderr), "", "{args:?}");
    }
}

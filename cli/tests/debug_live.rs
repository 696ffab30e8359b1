//! `crestline debug -- CMD` from outside: start, exit codes, signals.
//!
//! No PRM chapter. The programs do not use the device, so an empty file stands for the shim: the system's loader says so
//! and goes on. Programs that draw are in the conformance suite.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// An empty directory of the test's own, for temporary files.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn debug(directory: &Path, commands: &[&str], program: &[&str]) -> Command {
    let shim = directory.with_extension("shim");
    File::create(&shim).unwrap();
    // Signals that whoever runs the tests ignores would be ignored by the program too.
    let mut command = Command::new("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_crestline")]);
    command.args(["debug", "--memory", "16"]);
    for each in commands {
        command.args(["-c", each]);
    }
    command
        .arg("--")
        .args(program)
        .env("CRESTLINE_SHIM", shim)
        .env("TMPDIR", directory);
    command
}

#[test]
fn the_exit_code_is_the_program_s() {
    let directory = scratch("debug-codes");
    for (commands, program, code) in [
        (&["run"][..], &["true"][..], 0),
        (&["run"], &["sh", "-c", "exit 7"], 7),
        (&["run", "expect end 7"], &["sh", "-c", "exit 7"], 7),
        (&["run", "expect end"], &["sh", "-c", "exit 7"], 1),
        (&["run"], &["sh", "-c", "kill -SEGV $$"], 139),
        (&["run"], &["./no program is here"], 1),
        (&["breaks", "kill"], &["sh", "-c", "exit 7"], 0),
        (&["breaks"], &["sh", "-c", "exit 7"], 0),
        (&["run", "run"], &["true"], 1),
        (&["back"], &["true"], 1),
        (&["why 1,1"], &["true"], 1),
        (
            &["break addr 0x1000", "break pixel 5000,5000", "run"],
            &["true"],
            0,
        ),
    ] {
        let output = debug(&directory, commands, program).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{commands:?} {program:?}: {said}"
        );
        assert!(!said.contains("panicked"), "{said}");
    }
    assert!(fs::read_dir(&directory).unwrap().next().is_none());
}

/// A debugger that reads commands, and a program that says when it runs.
fn at_work(directory: &Path) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = debug(
        directory,
        &[],
        &["sh", "-c", "echo up; while :; do sleep 0.05; done"],
    )
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .stderr(Stdio::null())
    .spawn()
    .unwrap();
    child.stdin.as_mut().unwrap().write_all(b"run\n").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    until(&mut out, "up");
    (child, out)
}

/// Reads lines up to one with a text.
fn until(out: &mut impl std::io::BufRead, text: &str) {
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "{text} never came");
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

#[test]
fn an_interrupt_gives_the_prompt_back() {
    let directory = scratch("debug-interrupt");
    let (mut child, mut out) = at_work(&directory);
    send(&child, Signal::SIGINT);
    until(&mut out, "interrupted: no thread runs");
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"threads\nkill\n")
        .unwrap();
    until(&mut out, "no threads");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(fs::read_dir(&directory).unwrap().next().is_none());
}

#[test]
fn a_debugger_that_is_told_to_end_takes_the_program_along() {
    let directory = scratch("debug-term");
    let (mut child, mut out) = at_work(&directory);
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    // The program has the other end of the pipe as long as it lives.
    let mut rest = String::new();
    while out.read_line(&mut rest).unwrap() > 0 {}
}

//! `crestline debug -- CMD` from outside: start, exit codes, signals.
//!
//! The programs do not use the device, so an empty file stands for the shim: the system's loader says so
//! and goes on. Programs that draw are in the conformance suite.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::common::{here, is_empty, scratch, send, served};
use nix::sys::signal::Signal;

fn debug(directory: &Path, commands: &[&str], program: &[&str]) -> Command {
    debug_with(directory, &[], commands, program)
}

fn debug_with(directory: &Path, options: &[&str], commands: &[&str], program: &[&str]) -> Command {
    let commands: Vec<&str> = commands.iter().flat_map(|each| ["-c", each]).collect();
    let memory = ["debug", "--memory", "16"];
    let args = [&memory, options, &commands, &["--"], program].concat();
    served(directory, &args)
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
        (&["run"], &["./no program is here"], 127),
        (&["breaks", "kill"], &["sh", "-c", "exit 7"], 0),
        (&["breaks"], &["sh", "-c", "exit 7"], 0),
        (&["run", "run"], &["true"], 1),
        (&["back"], &["true"], 1),
        (&["why 1,1"], &["true"], 1),
        (
            &["expect error \"crestline debug --record DIR\" why 1,1"],
            &["true"],
            0,
        ),
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
    assert!(is_empty(&directory));
}

/// A debugger that reads commands, and a program that says when it runs.
fn at_work(directory: &Path, options: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let program = ["sh", "-c", "echo up; while :; do sleep 0.05; done"];
    let mut child = debug_with(directory, options, &[], &program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
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

#[test]
fn an_interrupt_gives_the_prompt_back() {
    let directory = scratch("debug-interrupt");
    let (mut child, mut out) = at_work(&directory, &[]);
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
    assert!(is_empty(&directory));
}

#[test]
fn a_debugger_that_is_told_to_end_takes_the_program_along() {
    let directory = scratch("debug-term");
    let (mut child, mut out) = at_work(&directory, &[]);
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    // The program has the other end of the pipe as long as it lives.
    let mut rest = String::new();
    while out.read_line(&mut rest).unwrap() > 0 {}
}

#[test]
fn a_recording_of_nothing_answers_nothing() {
    let directory = scratch("debug-record");
    let record = directory.join("recorded");
    let options = ["--record", record.to_str().unwrap()];
    for backend in ["host", "registers"] {
        let commands = [
            "expect error \"nothing is recorded yet: `run` starts the program\" why 1,1",
            "run",
            "expect end",
            "expect error \"the program has submitted nothing\" why 1,1",
            "expect error \"cannot be run again\" back",
        ];
        let options = [options[0], options[1], "--backend", backend];
        let output = debug_with(&directory, &options, &commands, &["true"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(
            said.ends_with("crestline: 0 submissions recorded\n"),
            "{said}"
        );
        assert!(is_empty(&record));
    }
    // Also when a script fails, and when the program is ended.
    for (command, code) in [("why 1,1", 1), ("kill", 0)] {
        let output = debug_with(&directory, &options, &[command], &["true"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(
            said.contains("crestline: 0 submissions recorded\n"),
            "{said}"
        );
    }
}

#[test]
fn a_place_for_the_recording_that_is_none() {
    let directory = scratch("debug-record-place");
    let (taken, half, file) = (
        directory.join("taken"),
        directory.join("half"),
        directory.join("file"),
    );
    fs::create_dir_all(taken.join("exec_0000")).unwrap();
    fs::create_dir_all(half.join("exec_0000.part")).unwrap();
    File::create(&file).unwrap();
    for (place, message) in [
        (taken, "holds a capture already"),
        (half, "holds a capture already"),
        (file, "Not a directory"),
    ] {
        let place = place.to_str().unwrap();
        let output = debug_with(&directory, &["--record", place], &["run"], &["true"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.starts_with("crestline: ") && said.contains(place),
            "{said}"
        );
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn captures_are_not_recorded() {
    let output = here(&["debug", "--record", "somewhere", "frame.crest"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("'--record <DIR>' cannot be used with '[CAPTURE]'"),
        "{said}"
    );
}

#[test]
fn a_recording_is_told_of_when_the_debugger_is_told_to_end() {
    let directory = scratch("debug-record-term");
    let record = directory.join("recorded");
    let (mut child, _out) = at_work(&directory, &["--record", record.to_str().unwrap()]);
    send(&child, Signal::SIGTERM);
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    until(&mut errors, "crestline: 0 submissions recorded");
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
}

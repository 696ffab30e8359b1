//! `crestline exec` from outside: exit codes, signals, what is left behind.
//!
//! No PRM chapter. The programs do not use the device, so an empty file stands for the shim: the system's loader says
//! so and goes on.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::common::{is_empty, scratch, send, served};
use nix::sys::signal::Signal;

fn exec(directory: &Path, program: &[&str]) -> Command {
    served(
        directory,
        &[&["exec", "--memory", "16", "--"], program].concat(),
    )
}

/// A shell at work behind `crestline exec`, once it has said so.
fn at_work(directory: &Path, script: &str) -> Child {
    let mut command = exec(directory, &["sh", "-c", script]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    child
}

#[test]
fn exit_codes_are_those_of_shells() {
    let directory = scratch("exec-codes");
    for (program, code) in [
        (&["true"][..], 0),
        (&["sh", "-c", "exit 7"], 7),
        (&["sh", "-c", "kill -SEGV $$"], 139),
        (&["./no program is here"], 127),
        (&["no program has this name"], 127),
        (&["/etc/passwd"], 126),
        (&["/etc"], 126),
    ] {
        let output = exec(&directory, program).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{program:?}");
        if matches!(code, 126 | 127) {
            let said = String::from_utf8(output.stderr).unwrap();
            let beginning = format!("crestline: {}: ", program[0]);
            assert!(said.starts_with(&beginning), "{said}");
            assert_eq!(said.lines().count(), 1);
        }
    }
    assert!(is_empty(&directory));
}

#[test]
fn signals_are_passed_on_and_nothing_stays() {
    let directory = scratch("exec-signals");
    let waits = "echo up; while :; do sleep 0.05; done";
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        let mut child = at_work(&directory, waits);
        send(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(128 + signal as i32));
        let name = signal.as_str().trim_start_matches("SIG");
        let mut child = at_work(&directory, &format!("trap 'exit 42' {name}; {waits}"));
        send(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(42));
    }
    assert!(is_empty(&directory));
}

#[test]
fn the_directory_of_a_node_that_was_killed_goes_with_the_next() {
    let directory = scratch("exec-killed");
    let alive = at_work(&directory, "echo up; exec sleep 60");
    let mut child = at_work(&directory, "echo up; exec sleep 2");
    send(&child, Signal::SIGKILL);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let left =
        |directory: &Path| -> Vec<_> { fs::read_dir(directory).unwrap().flatten().collect() };
    assert_eq!(left(&directory).len(), 2);
    // Long enough ago that the next one looks at it.
    let long_ago = SystemTime::now() - Duration::from_secs(600);
    for entry in left(&directory) {
        File::open(entry.path())
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    exec(&directory, &["true"]).output().unwrap();
    assert_eq!(left(&directory).len(), 1, "the other one is in use");
    let mut alive = alive;
    send(&alive, Signal::SIGTERM);
    alive.wait().unwrap();
    assert!(is_empty(&directory));
}

//! `crestline exec` from outside: exit codes, signals, what is left behind.
//!
//! The programs do not use the device, so an empty file stands for the shim: the system's loader says
//! so and goes on.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::common::{crestline, failed, is_empty, scratch, send, served};
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
fn a_program_that_does_not_start_is_told_with_what_helps() {
    let directory = scratch("exec-start");
    let place = scratch("exec-start-programs");
    let script = |name: &str, text: &str, mode: u32| {
        let path = place.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    script("plain", "#!/bin/sh\n", 0o644);
    script("lost", "#!/no/such/interpreter\n", 0o755);
    script("words", "\0\0\0\0", 0o755);
    for (program, code, part) in [
        (
            "nosuchprogram",
            127,
            "no program of this name in the directories of PATH; is it installed?",
        ),
        ("plain", 127, "./plain is a file of this directory"),
        ("./nothing", 127, "there is no such file"),
        ("./plain", 126, "`chmod +x ./plain`"),
        ("./lost", 127, "the interpreter that its first line names"),
        ("./words", 126, "neither a program for this machine"),
        ("/etc", 126, "a directory, not a program"),
    ] {
        let output = exec(&directory, &[program])
            .current_dir(&place)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{program}: {said}");
        let beginning = format!("crestline: {program}: ");
        assert!(
            said.starts_with(&beginning) && said.contains(part),
            "{said}"
        );
    }
}

#[test]
fn what_may_have_kept_a_program_from_drawing_is_told() {
    let directory = scratch("exec-advice");
    let drivers = scratch("exec-advice-drivers");
    let run = |script: &str, display: Option<&str>| {
        let mut command = exec(&directory, &["sh", "-c", script]);
        command
            .env("LIBGL_DRIVERS_PATH", &drivers)
            .env_remove("DISPLAY");
        command.envs(display.map(|display| ("DISPLAY", display)));
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let said = run("true", None);
    assert!(
        said.contains("crocus_dri.so") && said.contains("libgl1-mesa-dri"),
        "{said}"
    );
    assert!(!said.contains("DISPLAY is not set"), "{said}");
    fs::write(drivers.join("crocus_dri.so"), "").unwrap();
    let said = run("false", None);
    assert!(!said.contains("libgl1-mesa-dri"), "{said}");
    assert!(said.contains("DISPLAY is not set"), "{said}");
    let said = run("false", Some(":7"));
    assert!(!said.contains("DISPLAY is not set"), "{said}");
}

#[test]
fn memory_has_a_least_and_a_most() {
    for (mib, part) in [
        ("1", "the least is 4 MiB"),
        ("4096", "from 4 to 4095"),
        ("x", "from 4 to 4095"),
    ] {
        for command in ["exec", "debug"] {
            let output = crestline(Path::new("."), &[command, "--memory", mib, "--", "true"]);
            assert_eq!(output.status.code(), Some(2));
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains("--memory") && said.contains(part), "{said}");
        }
    }
}

#[test]
fn a_second_recording_does_not_touch_the_first() {
    let directory = scratch("exec-record-twice");
    let capture = scratch("exec-record-capture").join("new");
    let record = ["exec", "--memory", "16", "--record"];
    let args = [
        &record[..],
        &[capture.to_str().unwrap(), "--", "sh", "-c", "echo ran"],
    ]
    .concat();
    let output = served(&directory, &args).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("0 submissions recorded"), "{said}");
    fs::create_dir(capture.join("exec_0000")).unwrap();
    let output = served(&directory, &args).output().unwrap();
    assert!(output.stdout.is_empty(), "it has not run");
    let said = failed(&output);
    assert!(
        said.contains("holds a capture already; name another one"),
        "{said}"
    );
    // One that other users can list.
    fs::remove_dir(capture.join("exec_0000")).unwrap();
    fs::set_permissions(&capture, fs::Permissions::from_mode(0o755)).unwrap();
    let output = served(&directory, &args).output().unwrap();
    assert!(output.stdout.is_empty(), "it has not run");
    let said = failed(&output);
    assert!(
        said.contains("mode 0755") && said.contains("name one that is not there yet"),
        "{said}"
    );
}

/// Names, PCI ids and files of several devices: i915_pciids.h has the ids.
#[test]
fn several_devices_have_nodes_and_files_of_their_own() {
    let directory = scratch("exec-several");
    let outputs = scratch("exec-several-outputs");
    let record = outputs.join("frames");
    let trace = outputs.join("trace.txt");
    let script = "cd $CRESTLINE_TREE && for n in 0 1 2; do cat sys/class/drm/card$n/device/device; test -f dev/dri/renderD$((128 + n)) || exit 1; done";
    let mut command = served(
        &directory,
        &[
            "exec",
            "--memory",
            "16",
            "--stats",
            "--device",
            "gm965,ironlake",
            "--device",
            "gm965",
            "--record",
            record.to_str().unwrap(),
            "--trace",
            trace.to_str().unwrap(),
            "--",
            "sh",
            "-c",
            script,
        ],
    );
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let heard = String::from_utf8(output.stdout).unwrap();
    assert_eq!(heard, "0x2a02\n0x0042\n0x2a02\n");
    let mode = fs::metadata(&record).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o700, "for this user alone");
    for name in ["card0 (gm965)", "card1 (ironlake)", "card2 (gm965)"] {
        for line in ["0 batches, 0 draws", "0 submissions recorded"] {
            let expected = format!("crestline: {name}: {line}");
            assert_eq!(said.matches(&expected).count(), 1, "{said}");
        }
    }
    assert!(
        said.contains("did not open any of the devices: if it has drawn anything, that was not on gm965, ironlake or gm965"),
        "{said}"
    );
    for label in ["card0-gm965", "card1-ironlake", "card2-gm965"] {
        assert!(record.join(label).is_dir(), "{label}");
        assert!(outputs.join(format!("trace.{label}.txt")).is_file());
    }
    assert!(!trace.exists());
}

#[test]
fn lists_of_devices_with_mistakes_are_refused() {
    let directory = scratch("exec-lists");
    for (list, part) in [
        ("gm965,", "a name is missing in \"gm965,\""),
        ("gm965,voodoo", "unknown device \"voodoo\""),
        (
            "g45,g45,g45,g45,g45,g45,g45,g45,g45",
            "9 devices are too many, the most are 8",
        ),
    ] {
        let args = ["exec", "--device", list, "--", "true"];
        let output = served(&directory, &args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(part), "{said}");
    }
    // Other commands are about one.
    for command in ["debug", "regs"] {
        let args: &[&str] = match command {
            "regs" => &["regs", "--device", "gm965,ironlake"],
            _ => &["debug", "--device", "gm965,ironlake", "--", "true"],
        };
        let output = served(&directory, args).output().unwrap();
        let said = failed(&output);
        assert!(
            said.contains(
                "is a list, and one device is meant here; only `crestline exec` takes several"
            ),
            "{said}"
        );
    }
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

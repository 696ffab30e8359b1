//! `crestline exec` with unusual installation paths and limits of files.
//!
//! An empty file stands for the shim: the system's loader names it and says that it is too short, which only one that has
//! found it can say.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{PROGRAM, failed, is_empty, scene, scratch};

/// Runs a program of a directory behind a shell's `limits`.
fn limited(directory: &Path, limits: &str, args: &[&str]) -> Output {
    let shim = directory.with_extension("shim");
    fs::write(&shim, "").unwrap();
    Command::new("sh")
        .args(["-c", &format!("{limits}; exec \"$@\""), "sh", PROGRAM])
        .args(args)
        .env("CRESTLINE_SHIM", shim)
        .env("TMPDIR", directory)
        .current_dir(directory)
        .output()
        .unwrap()
}

#[test]
fn the_shim_is_preloaded_from_paths_that_the_loader_would_split() {
    for name in ["with a space", "with:a:colon", "with$LIB"] {
        let place = scratch(&format!("install {name}"));
        let temporary = scratch("install-temporary");
        let program = place.join("crestline");
        let shim = place.join("libcrestline_drm_shim.so");
        fs::copy(PROGRAM, &program).unwrap();
        fs::write(&shim, "").unwrap();
        let run = |directory: &Path| {
            let mut command = Command::new(&program);
            command
                .args(["exec", "--memory", "16", "--", "sh", "-c"])
                .arg("readlink -f \"$LD_PRELOAD\"")
                .env("TMPDIR", directory)
                .env_remove("LD_PRELOAD");
            loop {
                match command.output() {
                    // A program that another test starts holds the copy open for writing between its fork and its exec.
                    Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {}
                    output => return output.unwrap(),
                }
            }
        };
        let output = run(&temporary);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("file too short"), "{name}: {said}");
        assert!(!said.contains("cannot open"), "{name}: {said}");
        let found = String::from_utf8(output.stdout).unwrap();
        assert_eq!(Path::new(found.trim_end()), shim.canonicalize().unwrap());
        assert!(is_empty(&temporary));
        // Nowhere to put a link: refused, and nothing has run.
        let output = run(&scratch("install temporary"));
        assert!(output.stdout.is_empty());
        assert!(failed(&output).contains("TMPDIR"));
        fs::remove_dir_all(place).unwrap();
    }
}

#[test]
fn programs_begin_with_the_limits_and_signals_that_were_given() {
    let directory = scratch("exec-limits");
    let writes = "ulimit -n; ulimit -f; exec head -c 1000000 /dev/zero >large";
    for (limits, code) in [
        // Ended by SIGXFSZ, 25.
        ("ulimit -S -n 100; ulimit -S -f 64", 128 + 25),
        // Ignored by the user: an error of the program's own.
        ("ulimit -S -n 100; ulimit -S -f 64; trap '' XFSZ", 1),
    ] {
        let args = ["exec", "--memory", "16", "--", "sh", "-c", writes];
        let output = limited(&directory, limits, &args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{limits}: {said}");
        assert_eq!(output.stdout, b"100\n64\n", "{limits}: {said}");
        fs::remove_file(directory.join("large")).unwrap();
    }
    assert!(is_empty(&directory));
}

#[test]
fn a_limit_of_file_sizes_that_leaves_no_room_for_memory_is_named() {
    let directory = scratch("exec-small-files");
    let args = ["exec", "--memory", "16", "--", "echo", "runs"];
    let output = limited(&directory, "ulimit -f 64", &args);
    assert!(output.stdout.is_empty());
    let said = failed(&output);
    assert!(said.contains("ulimit -f"), "{said}");
    assert!(is_empty(&directory));
}

#[test]
fn a_trace_that_grows_past_the_limit_is_an_error_with_its_name() {
    let directory = scratch("exec-large-trace");
    let scene = scene("g_gears");
    let trace = ["--trace", "long.jsonl", "--trace-format", "jsonl"];
    let args = [&["replay", scene.as_str()][..], &trace].concat();
    let said = failed(&limited(&directory, "ulimit -f 64", &args));
    assert!(said.contains("long.jsonl: File too large"), "{said}");
}

/// A program finds a node that serves, or is told the limit that keeps a node from starting. Both ways no file stays behind.
#[test]
fn a_limit_of_descriptors_that_leaves_no_room_for_a_client_is_named() {
    let directory = scratch("exec-few-files");
    let args = ["exec", "--memory", "16", "--", "echo", "runs"];
    let mut runs = 0;
    for most in (8..=60).step_by(4) {
        let output = limited(&directory, &format!("ulimit -n {most}"), &args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            runs += 1;
            assert_eq!(output.stdout, b"runs\n");
        } else {
            assert!(most < 48 && said.contains("ulimit -n"), "{most}: {said}");
        }
        assert!(!said.contains("warning"), "{most}: {said}");
        assert!(is_empty(&directory), "{most}");
    }
    assert!((4..14).contains(&runs), "{runs}");
}

#[test]
fn a_small_stack_is_enough() {
    let directory = scratch("exec-small-stack");
    let frame = scene("a_clear");
    let exec = ["exec", "--memory", "16", "--", "echo", "runs"];
    for args in [&exec[..], &["replay", &frame], &["--help"]] {
        let output = limited(&directory, "ulimit -s 64", args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
    }
}

//! Messages of driver and model: hangs are seen, the rest on request.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::common::{PROGRAM, scene, scratch};

fn replay(args: &[&str], variable: Option<&str>) -> Output {
    let mut command = Command::new(PROGRAM);
    command
        .args(args)
        .stdin(Stdio::null())
        .env_remove("RUST_LOG");
    if let Some(value) = variable {
        command.env("RUST_LOG", value);
    }
    command.output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_request_that_does_not_end_is_seen_with_its_device() {
    let frame = scene("g_gears");
    let late = ["replay", &frame, "--timeout-ms", "1"];
    // The replay says so itself; the driver does to who asks it.
    assert!(!errors(&replay(&late, None)).contains("GM965: request"));
    let said = errors(&replay(&late, Some("driver=debug")));
    let line = "crestline: debug: driver::intel::hangcheck: GM965: request 1 not done";
    assert!(said.contains(line), "{said}");
    // The option counts more than the variable, in front and behind.
    let with = |args: &[&str], variable| errors(&replay(args, Some(variable)));
    let off = [&["--log", "off"], &late[..]].concat();
    assert!(!with(&off, "driver=debug").contains("GM965: request"));
    let on = [&late[..], &["--log", "driver=debug"]].concat();
    assert!(with(&on, "off").contains("GM965: request 1 "));
}

#[test]
fn chatter_is_for_those_who_ask_and_the_same_each_time() {
    let frame = scene("a_clear");
    let quiet = replay(&["replay", &frame], None);
    assert_eq!(errors(&quiet), "");
    let asked = |filter: &str| errors(&replay(&["--log", filter, "replay", &frame], None));
    let said = asked("info");
    assert!(said.contains("GM965 (8086:2a02"), "{said}");
    assert_eq!(said, asked("info"));
    assert_eq!(said, errors(&replay(&["replay", &frame], Some("info"))));
    assert_eq!(asked("driver=info"), said);
    assert_eq!(asked("mmio_mock=info"), "");
    let wrong = replay(&["--log", "debgu", "replay", &frame], None);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(errors(&wrong).contains("debgu"), "{}", errors(&wrong));
    let wrong = replay(&["replay", &frame], Some("driver=lots"));
    assert_eq!(wrong.status.code(), Some(0));
    assert!(
        errors(&wrong).starts_with("crestline: RUST_LOG: "),
        "{}",
        errors(&wrong)
    );
}

#[test]
fn a_hang_of_a_program_is_seen_with_its_name() {
    let dir = scratch("logging-hang");
    let program = dir.join("ha\x1bngs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/tools/hangs.c");
    let built = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .arg(source)
        .status();
    let shim = Path::new(PROGRAM).with_file_name("libcrestline_drm_shim.so");
    if !built.is_ok_and(|status| status.success()) || !shim.is_file() {
        println!("skipped: no C compiler, or the shim is not built");
        return;
    }
    let output = Command::new(PROGRAM)
        .args(["exec", "--"])
        .arg(&program)
        .arg("1")
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let said = errors(&output);
    let hang = "crestline: error: GM965: GPU hang: request 1 of ha\\u001bngs[";
    assert!(said.contains(hang), "{said}");
    let reset = "crestline: warning: GM965: reset: request 1 of ha\\u001bngs[";
    assert!(said.contains(reset), "{said}");
    assert!(!said.contains('\x1b'), "{said:?}");
}

#[test]
fn a_standard_error_that_is_not_read_holds_nothing_up() {
    let dir = scratch("logging-full");
    let picture = dir.join("clear.png");
    let (mut errors, full) = std::io::pipe().unwrap();
    // pipe(7): a writer of a full one waits.
    let flags = |flags| fcntl(&full, FcntlArg::F_SETFL(flags)).unwrap();
    flags(OFlag::O_NONBLOCK);
    let mut filled = 0;
    for size in [4096, 1] {
        while let Ok(written) = (&full).write(&[b'.'; 4096][..size]) {
            filled += written;
        }
    }
    flags(OFlag::empty());
    let mut replay = Command::new(PROGRAM)
        .args(["--log", "info", "replay", &scene("a_clear"), "--png"])
        .arg(&picture)
        .stdout(File::create(dir.join("out")).unwrap())
        .stderr(full)
        .spawn()
        .unwrap();
    // TIMEOUT: many times what the replay takes when all is read.
    let until = Instant::now() + Duration::from_secs(60);
    let status = loop {
        if let Some(status) = replay.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > until {
            replay.kill().unwrap();
            panic!("it waits for a reader");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success() && picture.is_file());
    let mut said = Vec::new();
    errors.read_to_end(&mut said).unwrap();
    assert_eq!(said.len(), filled);
}

#[test]
fn a_standard_error_that_is_read_late_gets_all() {
    let (mut errors, full) = std::io::pipe().unwrap();
    // As much as it holds (pipe(7)).
    let whole = vec![b'.'; 65536];
    (&full).write_all(&whole).unwrap();
    let mut replay = Command::new(PROGRAM)
        .args(["--log", "info", "replay", &scene("a_clear")])
        .current_dir(scratch("logging-late"))
        .stdout(Stdio::null())
        .stderr(full)
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let mut said = Vec::new();
    errors.read_to_end(&mut said).unwrap();
    let text = String::from_utf8_lossy(&said[whole.len()..]);
    assert!(text.starts_with("crestline: GM965 (8086:2a02"), "{text}");
    assert!(replay.wait().unwrap().success());
}

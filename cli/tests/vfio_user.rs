//! `crestline vfio-user` as a user runs it: socket, burndown, trace, how it ends.
//!
//! Names are i915's (i915_reg.h); the small client of the crate `vfio` stands for a VMM.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use vfio::client::Client;
use vfio::protocol::region;

use crate::common::{PROGRAM, crestline, scratch};

/// TIMEOUT: the start of a program on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn start(dir: &Path, more: &[&str]) -> Child {
    Command::new(PROGRAM)
        .args(["vfio-user", "--device", "gm965", "--socket", "s.sock"])
        .args(more)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn connect(dir: &Path) -> Client {
    let begun = Instant::now();
    loop {
        match Client::connect(&dir.join("s.sock")) {
            Ok(client) => return client,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn guests_come_and_go_and_what_they_touched_is_listed() {
    let dir = scratch("vfio_user");
    let child = start(&dir, &["--burndown", "touched", "--trace", "trace"]);
    let mut client = connect(&dir);
    assert_eq!(client.read32(region::CONFIG, 0).unwrap(), 0x2a02_8086);
    client.write32(region::BAR0, 0x6_1204, 0xabcd_0000).unwrap();
    client.read32(region::BAR0, 0x2080).unwrap();
    drop(client);
    let mut client = connect(&dir);
    client.read32(region::BAR0, 0x6_1204).unwrap();
    drop(client);
    // The third one is served when the second has gone, and its list is written by then.
    drop(connect(&dir));
    drop(connect(&dir));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("(8086:2a02) at s.sock"), "{errors}");
    assert!(
        errors.contains("1 register touched that is not modelled"),
        "{errors}"
    );
    let list = std::fs::read_to_string(dir.join("touched")).unwrap();
    let lines: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines, ["0x61204        1        1 0xabcd0000 PP_CONTROL"]);
    let trace = std::fs::read_to_string(dir.join("trace")).unwrap();
    assert!(
        trace.contains(" W 0x61204 0xabcd0000 PP_CONTROL\n"),
        "{trace}"
    );
    assert!(trace.contains(" R 0x02080 0x00000000 "), "{trace}");
    assert!(
        !dir.join("s.sock").exists(),
        "the socket goes with the program"
    );
}

#[test]
fn a_socket_cannot_be_where_a_file_is_and_results_need_a_place() {
    let dir = scratch("vfio_user_refused");
    std::fs::write(dir.join("file"), "text").unwrap();
    let refused = |args: &[&str]| {
        let output = crestline(&dir, &[&["vfio-user"][..], args].concat());
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let text = refused(&["--socket", "file"]);
    assert!(
        text.contains("file: there is a file of this name, which is no socket"),
        "{text}"
    );
    let text = refused(&["--socket", "s", "--burndown", "no/such"]);
    assert!(text.contains("there is no directory no"), "{text}");
    let text = refused(&["--socket", "s", "--device", "voodoo"]);
    assert!(text.contains("unknown device"), "{text}");
    assert!(!dir.join("s").exists());
}

//! What the tests of the program share: how it is run, captures, directories.
#![allow(dead_code, reason = "no test uses everything")]

pub mod media;

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The program's file.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_crestline");

/// A captured frame of the repository.
pub fn scene(name: &str) -> String {
    format!(
        "{}/../tests/data/captures/gm965/{name}/frame.crest",
        env!("CARGO_MANIFEST_DIR")
    )
}

/// An empty directory of the test's own.
pub fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    // Nodes put their directories into one of their user's own where others can list this one.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// Little-endian dwords.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Runs the program in a directory, without input.
pub fn crestline(directory: &Path, args: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(args)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs the program where the tests run.
pub fn here(args: &[&str]) -> Output {
    crestline(Path::new("."), args)
}

/// Runs the program in a directory with an input.
pub fn fed(directory: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(PROGRAM)
        .args(args)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Exit code 0; comes back with standard output.
pub fn ok(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}\n{errors}");
    text
}

/// Exit code 1 and a message, which comes back.
pub fn failed(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("crestline: "), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// The program with a node for programs that do not use it: an empty file stands for the shim, temporary files go into a
/// directory.
pub fn served(directory: &Path, args: &[&str]) -> Command {
    let shim = directory.with_extension("shim");
    File::create(&shim).unwrap();
    // Signals that whoever runs the tests ignores, as nohup does, would be ignored by the program too.
    let mut command = Command::new("env");
    command
        .args(["--default-signal", PROGRAM])
        .args(args)
        .env("CRESTLINE_SHIM", shim)
        .env("TMPDIR", directory);
    command
}

/// Sends a signal.
pub fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// Whether a directory has nothing in it.
pub fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

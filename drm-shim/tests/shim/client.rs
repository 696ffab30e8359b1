//! Programs of C that are compiled for a test and run with the library before libc.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::server::Server;

/// Where cargo has put the library.
pub fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let name = "libcrestline_drm_shim.so";
    let found = own.ancestors().skip(1).map(|dir| dir.join(name));
    found
        .take(2)
        .find(|path| path.exists())
        .expect("cargo builds the library beside its tests")
}

/// Runs the C compiler; `None`, and a line that says so, where there is none.
pub fn compile(source: &str, to: &Path, options: &[&str]) -> Option<()> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let mut command = Command::new("cc");
    command
        .args(["-O1", "-Wall", "-Werror", "-D_GNU_SOURCE", "-pthread", "-o"])
        .arg(to)
        .arg(dir.join(source))
        .args(options);
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{source}: {said}");
            Some(())
        }
        Err(error) => {
            println!("skipped: no C compiler: {error}");
            None
        }
    }
}

/// A command that runs a program under a node, for half a minute at most; under a sanitizer for five.
pub fn command(program: &Path, server: Option<&Server>) -> Command {
    let library = library();
    // A library that is built with a sanitizer needs its runtime, before everything else (`cargo xtask sanitize`).
    let sanitizer = std::env::var("CRESTLINE_SANITIZER").ok();
    let seconds = if sanitizer.is_some() { "300" } else { "30" };
    let runtime = sanitizer.map_or_else(String::new, |path| path + ":");
    let mut command = Command::new("timeout");
    command.args(["-k", "1", seconds, "env"]);
    command.arg(format!("LD_PRELOAD={runtime}{}", library.display()));
    command.arg(program);
    for variable in ["CRESTLINE_NODE", "CRESTLINE_TREE", "CRESTLINE_STRICT"] {
        command.env_remove(variable);
    }
    if let Some(server) = server {
        command.env("CRESTLINE_NODE", &server.path);
        command.env("CRESTLINE_TREE", server.tree());
    }
    command
}

/// Runs to the end; what it said on its error stream.
pub fn succeed(mut command: Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stderr).into_owned();
    let out = String::from_utf8_lossy(&stdout);
    assert!(status.success(), "{status}: {out}{said}");
    said
}

/// Compiles a client and runs it under a node of its own, before that under small limits.
pub fn run(source: &str) -> Option<(Server, String)> {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    compile(source, &program, &[])?;
    small(&program);
    let server = Server::start();
    let said = succeed(command(&program, Some(&server)));
    Some((server, said))
}

/// Limits of a shell's `ulimit`: descriptors, file sizes in blocks of 512 bytes, KiB of addresses.
const SMALL: [&str; 3] = ["-n 24", "-n 64", "-f 1"];
/// The same, but not under a sanitizer, which takes terabytes of addresses for itself.
const SMALL_SPACE: &str = "-v 200000";

/// A program that has too little of something succeeds, or fails with a word: it does not wait for ever, and no signal ends it.
fn small(program: &Path) {
    let sanitizer = std::env::var_os("CRESTLINE_SANITIZER").is_some();
    let space = (!sanitizer).then_some(SMALL_SPACE);
    let seconds = if sanitizer { "300" } else { "30" };
    for limit in SMALL.into_iter().chain(space) {
        let server = Server::start();
        let inner = command(program, Some(&server));
        let mut outer = Command::new("timeout");
        // `timeout` and its child need what the limit leaves as well.
        outer.args(["-k", "1", seconds, "sh", "-c"]);
        outer.arg(format!("ulimit {limit} && exec \"$@\""));
        outer
            .arg("sh")
            .arg(inner.get_program())
            .args(inner.get_args());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => outer.env(name, value),
                None => outer.env_remove(name),
            };
        }
        let Output {
            status,
            stdout,
            stderr,
        } = outer.output().unwrap();
        let said = [stdout, stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let code = status.code();
        // 124: `timeout` has ended it; from 128 on: a signal has.
        let ended = code.is_some_and(|code| code == 0 || code < 124 && !said.is_empty());
        assert!(ended, "ulimit {limit}: {status}: {said}");
    }
}

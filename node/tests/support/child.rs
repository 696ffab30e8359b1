//! This test program again as another process, in a role.
//!
//! Each module that uses it has a test for the children, which does nothing where no role is given.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

pub use std::process::Child;

/// In a child: what it is to do, and the number of a file that it has inherited.
const ROLE: &str = "CRESTLINE_TEST_ROLE";
const FILE: &str = "CRESTLINE_TEST_FILE";

/// This program again, which runs one test alone in a role.
pub fn spawn(test: &str, role: &str, name: &str, file: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, role)
        .env(wire::env::NODE, name)
        .env(FILE, file.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// In a child: its role, the node, and the file.
pub fn role() -> Option<(String, String, u64)> {
    let role = std::env::var(ROLE).ok()?;
    let name = std::env::var(wire::env::NODE).unwrap();
    let file = std::env::var(FILE).unwrap().parse().unwrap();
    Some((role, name, file))
}

/// Waits for a word of the child.
pub fn hear(child: &mut Child, word: &str) {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    // The test harness writes before it on the same line.
    let found = lines.any(|line| line.unwrap().ends_with(word));
    assert!(found, "the child ends before it says {word}");
}

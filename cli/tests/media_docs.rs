//! Runs every command of docs/media.md and compares what it prints.
//!
//! No PRM chapter. `BLESS=1` writes the page anew. Lines with the time that a run took are not on the page.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// What begins a command on the page; its output follows with the same indent.
const PROMPT: &str = "    $ ";
const INDENT: &str = "    ";

/// A directory in which the commands find what they name, and nothing that they change is the repository's.
fn place(root: &Path) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("media_docs");
    let _ = std::fs::remove_dir_all(&dir);
    for folder in ["docs", "examples/kernels"] {
        std::fs::create_dir_all(dir.join(folder)).unwrap();
    }
    std::fs::copy(root.join("docs/gears.png"), dir.join("docs/gears.png")).unwrap();
    for entry in std::fs::read_dir(root.join("examples/kernels")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        std::fs::copy(&path, dir.join("examples/kernels").join(name)).unwrap();
    }
    dir
}

/// Standard output, then standard error, without times.
fn run(dir: &Path, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_crestline"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    if let Some(old) = std::env::var_os("PATH") {
        path.push(":");
        path.push(old);
    }
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(dir)
        .env("PATH", path)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let text =
        String::from_utf8(output.stdout).unwrap() + std::str::from_utf8(&output.stderr).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.contains(" of device time)"));
    lines.flat_map(|line| [INDENT, line, "\n"]).collect()
}

#[test]
fn every_command_prints_what_the_page_says() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = root.join("docs/media.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let dir = place(&root);
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    let mut commands = 0;
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(command) = line.strip_prefix(PROMPT) else {
            continue;
        };
        while lines
            .next_if(|next| next.starts_with(INDENT) && !next.starts_with(PROMPT))
            .is_some()
        {}
        out.push_str(&run(&dir, command));
        commands += 1;
    }
    assert!(commands >= 12, "{commands} commands");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&page, &out).unwrap();
    } else {
        for (number, (page, now)) in (1..).zip(text.lines().zip(out.lines())) {
            assert_eq!(page, now, "docs/media.md:{number}");
        }
        assert_eq!(text, out);
    }
}

/// No kernel is without a mention, a test and the line that runs it.
#[test]
fn every_kernel_is_on_the_page() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/media.md")).unwrap();
    for entry in std::fs::read_dir(root.join("examples/kernels")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let run = format!("crestline media run examples/kernels/{name} ");
        assert!(page.contains(&run), "{name}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!("// {run}")), "{name}");
    }
}

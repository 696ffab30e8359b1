//! Runs every command of the pages that promise it, and compares what it prints.
//!
//! `BLESS=1` writes the pages anew. Lines with the time that a run took are not on them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{PROGRAM, scratch};

/// What begins a command on the page; its output follows with the same indent.
const PROMPT: &str = "    $ ";
const INDENT: &str = "    ";

/// A directory in which the commands find what they name, and nothing that they change is the repository's.
fn place(root: &Path, name: &str, folders: &[&str]) -> PathBuf {
    let dir = scratch(name);
    for folder in folders {
        std::fs::create_dir_all(dir.join(folder)).unwrap();
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.file_name().unwrap();
                std::fs::copy(&path, dir.join(folder).join(name)).unwrap();
            }
        }
    }
    dir
}

/// Standard output, then standard error, without times.
fn run(dir: &Path, command: &str) -> String {
    let program = Path::new(PROGRAM);
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

/// Runs the commands of a page and compares; `least` of them are there.
fn check(page: &str, folders: &[&str], least: usize) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let dir = place(&root, stem, folders);
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
    assert!(commands >= least, "{commands} commands");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &out).unwrap();
    } else {
        for (number, (line, now)) in (1..).zip(text.lines().zip(out.lines())) {
            assert_eq!(line, now, "{page}:{number}");
        }
        assert_eq!(text, out);
    }
}

#[test]
fn kernels_over_data() {
    let folders = ["docs", "examples/kernels", "examples/kernels/sandybridge"];
    check("docs/media.md", &folders, 12);
}

#[test]
fn kernels_on_one_thread() {
    check("docs/eu-run.md", &["docs/eu"], 4);
}

#[test]
fn from_a_wrong_pixel_to_the_wrong_instruction() {
    let folders = [
        "docs/debugging",
        "tests/data/captures/gm965/c_gouraud",
        "tests/data/captures/sandybridge/c_gouraud",
        "tests/data/captures/valleyview/compute",
        "tests/data/captures/valleyview/tessquad",
    ];
    check("docs/debugging.md", &folders, 19);
}

/// No kernel is without a mention, a test and the line that runs it.
#[test]
fn every_kernel_is_on_the_page() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/media.md")).unwrap();
    let files = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let files = paths.filter(|path| path.is_file());
        files.map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
    };
    let mut kernels = Vec::new();
    for (name, text) in files("examples/kernels") {
        let run = format!("crestline media run examples/kernels/{name} ");
        assert!(page.contains(&run), "{name}");
        assert!(text.contains(&format!("// {run}")), "{name}");
        kernels.push(name);
    }
    let mut later = Vec::new();
    for (name, text) in files("examples/kernels/sandybridge") {
        let run = format!(
            "// crestline media run examples/kernels/sandybridge/{name} --device sandybridge "
        );
        assert!(text.contains(&run), "{name}");
        later.push(name);
    }
    kernels.sort();
    later.sort();
    assert_eq!(kernels, later);
}

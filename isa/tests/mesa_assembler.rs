//! Mesa's own assembler tests: every `.asm` gives the bytes of its `.expected`.
//!
//! The files are read from the Mesa source tree that `CRESTLINE_MESA_SRC` names, and
//! nothing is checked without it. Compacted output is not among them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use isa::{Verx10, parse};

/// Folder, generation, and whether the conformance is required.
const GENERATIONS: [(&str, u8); 8] = [
    ("gen4", 40),
    ("gen4.5", 45),
    ("gen5", 50),
    ("gen6", 60),
    ("gen7", 70),
    ("gen7.5", 75),
    ("gen8", 80),
    ("gen9", 90),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "asm"))
        .collect();
    paths.sort();
    paths
}

/// A line for each instruction, in the layout of the expected files.
fn hex(program: &parse::Assembled) -> Vec<String> {
    program
        .items
        .iter()
        .map(|item| {
            let bytes = item.words().iter().flat_map(|word| word.to_le_bytes());
            let text: Vec<String> = bytes.map(|byte| format!("{byte:02x}")).collect();
            text.join(" ")
        })
        .collect()
}

#[test]
fn mesas_assembler_tests_pass() {
    let Some(root) = std::env::var_os("CRESTLINE_MESA_SRC") else {
        println!("skipped: CRESTLINE_MESA_SRC does not name a Mesa source tree");
        return;
    };
    let tests = Path::new(&root).join("src/intel/tools/tests");
    let mut failures = String::new();
    for (folder, number) in GENERATIONS {
        let (mut files, mut ok, mut lines, mut lines_ok) = (0, 0, 0, 0);
        for path in sources(&tests.join(folder)) {
            files += 1;
            let text = fs::read_to_string(&path).unwrap();
            let expected = fs::read_to_string(path.with_extension("expected")).unwrap();
            let expected: Vec<&str> = expected.lines().collect();
            lines += expected.len();
            let name = path.file_name().unwrap().to_string_lossy();
            let program = match parse::assemble(Verx10::from_times_ten(number), &name, &text) {
                Ok(program) => program,
                Err(errors) => {
                    for error in errors.iter().take(2) {
                        writeln!(failures, "{folder}: {error}").unwrap();
                    }
                    continue;
                }
            };
            let ours = hex(&program);
            let wrong: Vec<usize> = (0..expected.len().max(ours.len()))
                .filter(|&i| ours.get(i).map(String::as_str) != expected.get(i).copied())
                .collect();
            lines_ok += expected.len() - wrong.len().min(expected.len());
            ok += usize::from(wrong.is_empty());
            for &index in wrong.iter().take(2) {
                let line = program.items.get(index).map_or(0, |item| item.span.line);
                writeln!(
                    failures,
                    "{folder}/{name}:{line}: {}\n  ours     {}\n  expected {}",
                    text.lines()
                        .nth(line.saturating_sub(1) as usize)
                        .unwrap_or(""),
                    ours.get(index).map_or("", String::as_str),
                    expected.get(index).unwrap_or(&"")
                )
                .unwrap();
            }
        }
        println!("{folder}: {ok} of {files} files, {lines_ok} of {lines} instructions");
    }
    assert!(failures.is_empty(), "\n{failures}");
}

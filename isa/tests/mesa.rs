//! Every instruction of Mesa's assembler tests: decode and encode give its bytes.
//!
//! Mesa 22.3.6 src/intel/tools/tests, read from the source package that CRESTLINE_MESA_SRC names;
//! without it the test says so and passes. The assembly text beside the bytes is not looked at.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::{Path, PathBuf};

use isa::{Verx10, decode, encode};

const DIRECTORIES: [(&str, u8); 8] = [
    ("gen4", 40),
    ("gen4.5", 45),
    ("gen5", 50),
    ("gen6", 60),
    ("gen7", 70),
    ("gen7.5", 75),
    ("gen8", 80),
    ("gen9", 90),
];

fn source() -> Option<PathBuf> {
    let Some(source) = std::env::var_os("CRESTLINE_MESA_SRC") else {
        println!("skipped: CRESTLINE_MESA_SRC does not name Mesa's source");
        return None;
    };
    Some(PathBuf::from(source).join("src/intel/tools/tests"))
}

/// The words of every line of every file, with file and line.
fn lines(directory: &Path) -> Vec<(String, [u32; 4])> {
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("directory of tests")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "expected"))
        .collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for (line, text) in std::fs::read_to_string(&file).unwrap().lines().enumerate() {
            let bytes: Vec<u8> = text
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                .collect();
            let (words, rest) = bytes.as_chunks::<4>();
            assert!(rest.is_empty(), "{name}:{}: whole words", line + 1);
            let words = words.iter().map(|word| u32::from_le_bytes(*word));
            let raw: Vec<u32> = words.collect();
            lines.push((
                format!("{name}:{}", line + 1),
                raw.try_into().expect("four words"),
            ));
        }
    }
    lines
}

#[test]
fn expected_bytes_survive() {
    let Some(source) = source() else { return };
    let mut failures = 0;
    for (directory, number) in DIRECTORIES {
        let generation = Verx10(number);
        let (mut count, mut hinted) = (0, 0);
        for (place, raw) in lines(&source.join(directory)) {
            count += 1;
            let inst = match decode(generation, raw) {
                Ok(inst) => inst,
                Err(error) => {
                    println!("{directory}/{place}: {error}");
                    failures += 1;
                    continue;
                }
            };
            if encode(generation, &inst) != Ok(raw) {
                println!(
                    "{directory}/{place}: {raw:08x?} {:08x?}",
                    encode(generation, &inst)
                );
                failures += 1;
            }
            // What nothing reads is as Mesa writes it.
            if inst.reserved == [0; 4] {
                hinted += 1;
            } else {
                println!(
                    "{directory}/{place}: reserved {:08x?} of {raw:08x?}",
                    inst.reserved
                );
                failures += 1;
            }
        }
        println!("{directory}: {count} instructions, {hinted} without reserved bits");
        assert!(count > 500, "{directory} has {count} instructions");
    }
    assert_eq!(failures, 0);
}

//! The validator on Mesa's assembler tests: violations are listed with a reason.
//!
//! PRM: per rule. Runs over the unpacked source that `CRESTLINE_MESA_SRC` names; the tests assemble
//! single instructions, so rules of kernels are not asked.

use std::collections::BTreeMap;
use std::path::Path;

use isa::validate::validate;
use isa::{Verx10, decode};

/// Generations and the directories of their tests.
const GENERATIONS: [(u8, &str); 8] = [
    (40, "gen4"),
    (45, "gen4.5"),
    (50, "gen5"),
    (60, "gen6"),
    (70, "gen7"),
    (75, "gen7.5"),
    (80, "gen8"),
    (90, "gen9"),
];

/// Rules that Mesa's tests break: generation, file, rule, reason.
const EXCEPTIONS: &[(u8, &str, &str, &str)] = &[
    (40, "send", "urb-interleave-length", ONE_ROW),
    (45, "send", "urb-interleave-length", ONE_ROW),
    (50, "send", "urb-interleave-length", ONE_ROW),
    (75, "and", "float-integer-mix", FLOAT_DIGIT),
    (75, "and", "logic-integer", FLOAT_DIGIT),
    (80, "mov", "mixed-float-exec-size", OWN_VALIDATOR),
    (90, "mov", "mixed-float-exec-size", OWN_VALIDATOR),
    (80, "add", "compression-overlap", HALVES),
    (80, "and", "compression-overlap", HALVES),
    (90, "add", "compression-overlap", HALVES),
    (90, "and", "compression-overlap", HALVES),
];

const FLOAT_DIGIT: &str = "the test gives an integer immediate the type F";
const OWN_VALIDATOR: &str = "Mesa's own validator refuses 16 channels from HF to F too";
const HALVES: &str = "the driver does not keep the rule for two-register operands of 64 bits";

const ONE_ROW: &str =
    "the driver writes a single row of two vertices, which PRM vol4 8.4.3.2 leaves undefined";

#[test]
fn only_listed_violations_in_the_tests_of_mesa() {
    let Some(source) = std::env::var_os("CRESTLINE_MESA_SRC") else {
        println!("skipped: CRESTLINE_MESA_SRC is not set");
        return;
    };
    let tests = Path::new(&source).join("src/intel/tools/tests");
    let mut unlisted: BTreeMap<(u8, String, &str), (usize, String)> = BTreeMap::new();
    for (version, directory) in GENERATIONS {
        let generation = Verx10::from_times_ten(version);
        let (mut seen, mut undecoded, mut compact, mut violations) = (0, 0, 0, 0);
        let mut files: Vec<_> = std::fs::read_dir(tests.join(directory))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "expected"))
            .collect();
        files.sort();
        for path in files {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let bytes: Vec<u8> = line
                    .split_whitespace()
                    .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                    .collect();
                if bytes.len() != 16 {
                    compact += 1;
                    continue;
                }
                let mut raw = [0; 4];
                for (word, bytes) in raw.iter_mut().zip(bytes.chunks_exact(4)) {
                    *word = u32::from_le_bytes(bytes.try_into().unwrap());
                }
                let Ok(inst) = decode(generation, raw) else {
                    undecoded += 1;
                    continue;
                };
                seen += 1;
                for violation in validate(generation, &inst) {
                    violations += 1;
                    let rule = violation.rule.name;
                    let listed = EXCEPTIONS.iter().any(|&(of, file, known, _)| {
                        of == version && file == name && known == rule
                    });
                    if !listed {
                        let text = isa::print(generation, &inst);
                        let found = unlisted
                            .entry((version, name.clone(), rule))
                            .or_insert_with(|| (0, format!("{}\n      {text}", violation.detail)));
                        found.0 += 1;
                    }
                }
            }
        }
        println!(
            "{directory}: {seen} instructions, {violations} violations, {compact} compacted and \
             {undecoded} not decoded"
        );
    }
    for ((version, file, rule), (count, first)) in &unlisted {
        println!("{version} {file}: {rule} x{count}: {first}");
    }
    assert!(unlisted.is_empty(), "{} unlisted", unlisted.len());
}

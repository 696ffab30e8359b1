//! The encoder against intel-gen4asm, the decoder against intel-gen4disasm.
//!
//! PRM: volume 4, 13.2 and 13.4. `CRESTLINE_GEN4ASM` and `CRESTLINE_GEN4DISASM` name the programs of
//! Debian's intel-gpu-tools; without them nothing runs. `docs/conformance/isa-oracles.md` has the results.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isa::{Inst, Verx10, decode, encode};

mod classes;
mod coverage;
mod dialect;
mod generate;
mod listing;
pub mod random;

use classes::{CLASSES, Case, Class, Kind, expected};
use coverage::Coverage;
use generate::Generator;

/// Generations and what the assembler calls them.
const GENERATIONS: [(u8, &str); 8] = [
    (40, "4"),
    (45, "4.5"),
    (50, "5"),
    (60, "6"),
    (70, "7"),
    (75, "7.5"),
    (80, "8"),
    (90, "9"),
];

/// Instructions to compare in each generation.
const COMPARED: usize = 120_000;
/// Lines that one run of the assembler gets.
const CHUNK: usize = 8_000;
/// Start of the sequence, the same unless `CRESTLINE_FUZZ_SEED` says another.
const SEED: u64 = 1;

fn seed() -> u64 {
    std::env::var("CRESTLINE_FUZZ_SEED").map_or(SEED, |text| text.parse().expect("a number"))
}

/// A directory of our own that goes away again.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("crestline-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Words of the lines, or none when the assembler refused one or stopped.
fn assemble(tool: &Path, scratch: &Scratch, name: &str, lines: &[String]) -> Option<Vec<[u32; 4]>> {
    let input = scratch.0.join("input.g4a");
    let output = scratch.0.join("output");
    std::fs::write(&input, lines.join("\n") + "\n").unwrap();
    let _ = std::fs::remove_file(&output);
    let status = Command::new(tool)
        .args(["-g", name, "-o"])
        .arg(&output)
        .arg(&input)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    if !status.success() {
        return None;
    }
    let words: Vec<u32> = std::fs::read_to_string(&output)
        .unwrap()
        .split([' ', ',', '{', '}', '\n'])
        .filter_map(|word| word.strip_prefix("0x"))
        .map(|word| u32::from_str_radix(word, 16).unwrap())
        .collect();
    let words: Vec<[u32; 4]> = words
        .chunks_exact(4)
        .map(|word| word.try_into().unwrap())
        .collect();
    // A line with a syntax error vanishes.
    (words.len() == lines.len()).then_some(words)
}

/// Finds the lines that the assembler does not take, by halves.
fn refused(tool: &Path, scratch: &Scratch, name: &str, lines: &[String], found: &mut Vec<String>) {
    if found.len() >= 20 || assemble(tool, scratch, name, lines).is_some() {
        return;
    }
    if let [line] = lines {
        found.push(line.clone());
        return;
    }
    let (left, right) = lines.split_at(lines.len() / 2);
    refused(tool, scratch, name, left, found);
    refused(tool, scratch, name, right, found);
}

/// What one generation's comparison found.
#[derive(Default)]
struct Report {
    compared: usize,
    agreed: usize,
    /// Agreed in every bit that the format defines.
    undefined: usize,
    by_class: BTreeMap<usize, (usize, String)>,
    inexpressible: BTreeMap<&'static str, usize>,
    coverage: Coverage,
    unlisted: Vec<String>,
    unlisted_count: usize,
}

impl Report {
    fn compare(&mut self, generation: Verx10, inst: &Inst, line: &str, theirs: [u32; 4]) {
        let ours = encode(generation, inst).expect(line);
        self.compared += 1;
        self.coverage.add(inst);
        if ours == theirs {
            self.agreed += 1;
            return;
        }
        let case = Case {
            generation,
            inst,
            theirs,
        };
        let (wanted, used) = expected(&case, ours);
        if wanted == theirs {
            let undefined = |&class: &usize| CLASSES[class].kind == Kind::Undefined;
            self.undefined += usize::from(used.iter().all(undefined));
            for class in used {
                let example = || format!("{line}\n      ours {ours:08x?}, theirs {theirs:08x?}");
                self.by_class
                    .entry(class)
                    .or_insert_with(|| (0, example()))
                    .0 += 1;
            }
            return;
        }
        self.unlisted_count += 1;
        if self.unlisted.len() < 12 {
            let differ: Vec<usize> = (0..128)
                .filter(|bit| (wanted[bit / 32] ^ theirs[bit / 32]) >> (bit % 32) & 1 != 0)
                .collect();
            self.unlisted.push(format!(
                "{line}\n      ours {ours:08x?}, theirs {theirs:08x?}, bits {differ:?}"
            ));
        }
    }

    fn print(&self, generation: Verx10) {
        let listed = self.compared - self.agreed - self.undefined - self.unlisted_count;
        println!(
            "generation {}: {} compared, {} agreed, {} but for undefined bits, {listed} differ as \
             listed, {} otherwise",
            generation.times_ten(),
            self.compared,
            self.agreed,
            self.undefined,
            self.unlisted_count,
        );
        println!("  {}", self.coverage);
        for (&class, (count, example)) in &self.by_class {
            let Class {
                name, kind, reason, ..
            } = &CLASSES[class];
            println!("  {count:>6} {name} ({kind:?}): {reason}");
            println!("      {example}");
        }
        let skipped: usize = self.inexpressible.values().sum();
        println!("  {skipped} generated and not expressible:");
        for (reason, count) in &self.inexpressible {
            println!("  {count:>6} {reason}");
        }
    }
}

/// Opcodes of a generation without a line in the language.
fn missing_opcodes(generation: Verx10, report: &Report) -> Vec<&'static str> {
    isa::tables::Table::of(generation)
        .unwrap()
        .rows()
        .filter(|row| !report.coverage.opcodes.contains(&row.opcode))
        .map(|row| row.mnemonic)
        .collect()
}

#[test]
fn bytes_of_the_assembler() {
    let Some(tool) = std::env::var_os("CRESTLINE_GEN4ASM").map(PathBuf::from) else {
        println!("skipped: CRESTLINE_GEN4ASM is not set");
        return;
    };
    let scratch = Scratch::new("gen4asm");
    let mut failures = String::new();
    for (version, name) in GENERATIONS {
        let generation = Verx10::from_times_ten(version);
        let mut generator = Generator::new(generation, seed() * 100 + u64::from(version));
        let mut report = Report::default();
        while report.compared < COMPARED {
            let mut insts = Vec::new();
            let mut lines = Vec::new();
            while lines.len() < CHUNK {
                let inst = generator.inst();
                let raw =
                    encode(generation, &inst).unwrap_or_else(|error| panic!("{error}: {inst:?}"));
                assert_eq!(decode(generation, raw), Ok(inst));
                match dialect::line(generation, &inst) {
                    Ok(line) => {
                        lines.push(line);
                        insts.push(inst);
                    }
                    Err(reason) => *report.inexpressible.entry(reason).or_default() += 1,
                }
            }
            let Some(words) = assemble(&tool, &scratch, name, &lines) else {
                let mut found = Vec::new();
                refused(&tool, &scratch, name, &lines, &mut found);
                panic!(
                    "generation {version}: the assembler refuses\n{}",
                    found.join("\n")
                );
            };
            for ((inst, line), theirs) in insts.iter().zip(&lines).zip(words) {
                report.compare(generation, inst, line, theirs);
            }
        }
        report.print(generation);
        println!(
            "  opcodes not in the language: {}",
            missing_opcodes(generation, &report).join(" ")
        );
        assert!(report.compared >= 100_000);
        report.coverage.check(generation);
        for difference in &report.unlisted {
            writeln!(failures, "  {version}: {difference}").unwrap();
        }
    }
    assert!(failures.is_empty(), "not listed:\n{failures}");
}

/// Text of the words, in words with one space between them; a message's second line apart.
fn disassemble(tool: &Path, scratch: &Scratch, name: &str, words: &[[u32; 4]]) -> Vec<String> {
    let input = scratch.0.join("words");
    let mut text = String::new();
    for raw in words {
        let [a, b, c, d] = raw;
        writeln!(text, "{{ 0x{a:08x}, 0x{b:08x}, 0x{c:08x}, 0x{d:08x} }},").unwrap();
    }
    std::fs::write(&input, text).unwrap();
    let output = Command::new(tool)
        .args(["-g", name])
        .arg(&input)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", output.status);
    let mut lines: Vec<String> = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        if line.starts_with(' ') {
            // The message of the send before.
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        lines.push(words.join(" "));
    }
    lines
}

#[test]
fn text_of_the_disassembler() {
    let Some(tool) = std::env::var_os("CRESTLINE_GEN4DISASM").map(PathBuf::from) else {
        println!("skipped: CRESTLINE_GEN4DISASM is not set");
        return;
    };
    let scratch = Scratch::new("gen4disasm");
    let mut failures = Vec::new();
    for (version, name) in GENERATIONS {
        let generation = Verx10::from_times_ten(version);
        // It knows whole generations only.
        let name = &name[..1];
        let mut generator = Generator::new(generation, seed() * 100 + 50 + u64::from(version));
        let mut skipped: BTreeMap<&'static str, usize> = BTreeMap::new();
        let (mut compared, mut agreed) = (0, 0);
        while compared < COMPARED {
            let mut words = Vec::new();
            let mut wanted = Vec::new();
            while words.len() < CHUNK {
                let raw = encode(generation, &generator.inst()).expect("an encoding");
                let inst = decode(generation, raw).unwrap();
                match listing::line(generation, &inst, raw) {
                    Ok(line) => {
                        words.push(raw);
                        wanted.push(line);
                    }
                    Err(reason) => *skipped.entry(reason).or_default() += 1,
                }
            }
            let lines = disassemble(&tool, &scratch, name, &words);
            assert_eq!(lines.len(), words.len());
            for ((raw, wanted), line) in words.iter().zip(&wanted).zip(&lines) {
                compared += 1;
                if line == wanted {
                    agreed += 1;
                } else if failures.len() < 40 {
                    failures.push(format!(
                        "{version} {raw:08x?}\n  theirs {line}\n  wanted {wanted}"
                    ));
                }
            }
        }
        println!("generation {version}: {compared} texts compared, {agreed} agreed");
        for (reason, count) in &skipped {
            println!("  {count:>6} not compared: {reason}");
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

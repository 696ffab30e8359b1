//! Mesa's assembler tests: words decoded and printed, against their source.
//!
//! Needs Mesa's source, named by `CRESTLINE_MESA_SRC`. White space, comments, the text
//! of message descriptors and the names of labels do not count; where labels point to does.
//! Assembled again the text has to give the words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isa::inst::{Inst, Verx10};
use isa::print::{Code, KernelItem};

/// Folder of a generation.
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

fn tests() -> Option<PathBuf> {
    let Some(source) = std::env::var_os("CRESTLINE_MESA_SRC") else {
        println!("skipped: CRESTLINE_MESA_SRC does not name Mesa's source");
        return None;
    };
    Some(Path::new(&source).join("src/intel/tools/tests"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("folder of tests")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "asm"))
        .collect();
    files.sort();
    files
}

/// Statements of a text in a form that can be compared: labels are statement numbers.
fn statements(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let mut labels = BTreeMap::new();
    let mut statements = Vec::new();
    for piece in plain.split(';') {
        let mut words = Vec::new();
        for word in piece.split_whitespace() {
            match word.strip_suffix(':') {
                Some(label) if words.is_empty() => {
                    labels.insert(label.to_owned(), statements.len());
                }
                _ => words.push(word),
            }
        }
        if words.is_empty() {
            continue;
        }
        let mut statement = words.join(" ");
        if let (Some(from), Some(to)) = (statement.find("MsgDesc:"), statement.find('{')) {
            statement.replace_range(from..to, "");
        }
        statements.push(statement);
    }
    for statement in &mut statements {
        let words: Vec<String> = statement
            .split(' ')
            .map(|word| {
                labels
                    .get(word)
                    .map_or(word.to_owned(), |at| format!("@{at}"))
            })
            .collect();
        *statement = words.join(" ");
    }
    statements
}

fn words(path: &Path) -> Vec<[u32; 4]> {
    std::fs::read_to_string(path)
        .expect("expected words")
        .lines()
        .map(|line| {
            let mut raw = [0_u32; 4];
            for (index, byte) in line.split_whitespace().enumerate() {
                let byte = u32::from_str_radix(byte, 16).expect("hexadecimal");
                raw[index / 4] |= byte << (8 * (index % 4));
            }
            raw
        })
        .collect()
}

#[test]
fn words_of_mesas_tests_print_as_their_source() {
    let Some(tests) = tests() else { return };
    for (folder, generation) in GENERATIONS {
        let generation = Verx10::from_times_ten(generation);
        let (mut same, mut excused, mut unknown, mut back) = (0, 0, 0, 0);
        let (mut differ, mut lost) = (Vec::new(), Vec::new());
        for asm in files(&tests.join(folder)) {
            let source = statements(&std::fs::read_to_string(&asm).expect("source"));
            let raw = words(&asm.with_extension("expected"));
            assert_eq!(source.len(), raw.len(), "{}", asm.display());
            let decoded: Vec<Option<Inst>> = raw
                .iter()
                .map(|&raw| isa::decode(generation, raw).ok())
                .collect();
            let items = decoded
                .iter()
                .zip(&raw)
                .enumerate()
                .map(|(index, (inst, raw))| KernelItem {
                    offset: 16 * u32::try_from(index).expect("a small kernel"),
                    compacted: false,
                    code: inst.as_ref().map_or(Code::Raw(*raw), Code::Inst),
                });
            let text = isa::print_kernel(generation, items);
            let reassembled = isa::parse::assemble(generation, "text", &text);
            let reassembled: Vec<u32> = match &reassembled {
                Ok(program) => program.dwords().collect(),
                Err(errors) => {
                    lost.push(format!("{}: {}", asm.display(), errors[0]));
                    Vec::new()
                }
            };
            for (raw, again) in raw.iter().zip(reassembled.chunks(4)) {
                if raw == again {
                    back += 1;
                } else {
                    lost.push(format!("{}: {raw:08x?} {again:08x?}", asm.display()));
                }
            }
            let printed = statements(&text.replace("\n.dword", ";\n.dword"));
            for ((source, printed), inst) in source.iter().zip(&printed).zip(&decoded) {
                if inst.is_none() {
                    unknown += 1;
                } else if source == printed {
                    same += 1;
                } else if reason(source, printed).is_some() {
                    excused += 1;
                } else {
                    differ.push(format!("{}: {source}\n    {printed}", asm.display()));
                }
            }
        }
        println!(
            "{folder}: {same} the same, {excused} excused, {} differ, {unknown} not decoded; \
             {back} words assembled back, {} not",
            differ.len(),
            lost.len()
        );
        assert!(lost.is_empty(), "{}", lost.join("\n"));
        assert!(differ.is_empty(), "{}", differ.join("\n"));
    }
}

/// Why a difference is right.
fn reason(source: &str, printed: &str) -> Option<&'static str> {
    // Mesa's assembler reads both; its disassembler of this version prints the second.
    (source.contains("sends") && source.replace("g[a0]UD 0x", "a0<0>UD 0x") == printed)
        .then_some("older text of a descriptor in a register")
}

/// Mesa's disassembler on the same words, when `CRESTLINE_MESA_TOOLS` names the folder of its
/// `i965_disasm`: the text is the same to the column.
#[test]
fn words_print_as_mesas_disassembler_prints_them() {
    let Some(tests) = tests() else { return };
    let Some(tools) = std::env::var_os("CRESTLINE_MESA_TOOLS") else {
        println!("skipped: CRESTLINE_MESA_TOOLS does not name the folder of i965_disasm");
        return;
    };
    let program = Path::new(&tools).join("i965_disasm");
    let scratch = std::env::temp_dir().join(format!("crestline-isa-{}", std::process::id()));
    for (folder, generation) in GENERATIONS {
        let platform = match generation {
            40 => "brw",
            45 => "g4x",
            50 => "ilk",
            60 => "snb",
            70 => "ivb",
            75 => "hsw",
            80 => "bdw",
            _ => "skl",
        };
        let generation = Verx10::from_times_ten(generation);
        let (mut same, mut excused, mut unknown) = (0, 0, 0);
        let mut differ = Vec::new();
        for asm in files(&tests.join(folder)) {
            let raw = words(&asm.with_extension("expected"));
            let bytes: Vec<u8> = raw
                .iter()
                .flatten()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            std::fs::write(&scratch, bytes).expect("scratch file");
            let output = std::process::Command::new(&program)
                .arg(format!("--gen={platform}"))
                .arg(format!("--input-path={}", scratch.display()))
                .output()
                .expect("i965_disasm runs");
            let theirs = String::from_utf8(output.stdout).expect("text");
            let decoded: Result<Vec<Inst>, _> = raw
                .iter()
                .map(|&raw| isa::decode(generation, raw))
                .collect();
            let Ok(decoded) = decoded else {
                unknown += 1;
                continue;
            };
            let items = decoded.iter().enumerate().map(|(index, inst)| KernelItem {
                offset: 16 * u32::try_from(index).expect("a small kernel"),
                compacted: false,
                code: Code::Inst(inst),
            });
            let ours = if generation.times_ten() < 60 {
                decoded
                    .iter()
                    .map(|inst| isa::print(generation, inst) + "\n")
                    .collect()
            } else {
                isa::print_kernel(generation, items)
            };
            let mut ours: Vec<&str> = ours.lines().collect();
            let theirs: Vec<&str> = theirs.lines().collect();
            // Mesa does not print a label at the end.
            if ours.last().is_some_and(|line| line.starts_with("LABEL")) {
                ours.truncate(ours.len() - 2);
            }
            assert_eq!(
                ours.len(),
                theirs.len(),
                "{}\n{ours:#?}\n{theirs:#?}",
                asm.display()
            );
            for (ours, theirs) in ours.iter().zip(&theirs) {
                if ours == theirs {
                    same += 1;
                } else if ours.contains("(scratch ") {
                    // Mesa takes the category bit for a part of the type, or overlooks it.
                    excused += 1;
                } else {
                    differ.push(format!("{}:\n    {theirs}\n    {ours}", asm.display()));
                }
            }
        }
        println!(
            "{folder}: {same} lines the same, {excused} excused, {} differ, \
             {unknown} files not decoded",
            differ.len()
        );
        assert!(differ.is_empty(), "{}", differ.join("\n"));
    }
    let _ = std::fs::remove_file(scratch);
}

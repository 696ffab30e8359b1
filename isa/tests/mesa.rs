//! Every instruction of Mesa's assembler tests: decode and encode give its bytes.
//!
//! Mesa 22.3.6 src/intel/tools/tests, read from the source package that CRESTLINE_MESA_SRC names;
//! without it the test says so and passes. The assembly text beside the bytes is not looked at.

use std::path::{Path, PathBuf};

use isa::inst::{AccessMode, CondMod, PredCtrl};
use isa::operand::{Addr, RegFile};
use isa::tables::Controls;
use isa::{Opcode, Verx10, decode, encode};

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
        let generation = Verx10::from_times_ten(number);
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

/// Types and controls of Mesa's instructions are in the tables.
#[test]
fn expected_instructions_are_in_the_tables() {
    let Some(source) = source() else { return };
    let mut failures = 0;
    for (directory, number) in DIRECTORIES {
        let generation = Verx10::from_times_ten(number);
        for (place, raw) in lines(&source.join(directory)) {
            let inst = decode(generation, raw).expect("decodes");
            let row = inst.opcode.desc(generation).expect("a row");
            let has = |control| row.properties.controls.contains(control);
            let null = inst.dst.file == RegFile::Arf
                && matches!(inst.dst.addr, Addr::Direct { nr: 0, .. });
            let mut wrong = Vec::new();
            if !null && !row.properties.dst.contains(inst.dst.ty) {
                wrong.push("destination");
            }
            for (src, types) in inst.src.iter().zip(row.properties.src) {
                let read = src.file != RegFile::Arf || src.imm != 0;
                // Two lines of gen7.5/and.asm have a float immediate.
                let excused = inst.opcode == Opcode::And && src.file == RegFile::Imm;
                if read && !types.contains(src.ty) && !excused {
                    wrong.push("source");
                }
                let modified = src.negate || src.abs;
                if modified && !has(Controls::SOURCE_MODIFIERS) {
                    wrong.push("source modifier");
                }
            }
            for (used, control) in [
                (inst.pred_ctrl != PredCtrl::None, Controls::PREDICATE),
                (inst.cond_mod != CondMod::None, Controls::CONDITION),
                (inst.saturate, Controls::SATURATE),
                (inst.acc_wr_ctrl, Controls::ACC_WRITE),
            ] {
                if used && !has(control) {
                    wrong.push("control");
                }
            }
            for (missing, control) in [
                (inst.cond_mod == CondMod::None, Controls::CONDITION_REQUIRED),
                (!inst.acc_wr_ctrl, Controls::ACC_WRITE_REQUIRED),
                (inst.access == AccessMode::Align1, Controls::ALIGN16_ONLY),
                (inst.exec_size < 4, Controls::FOUR_CHANNELS),
            ] {
                if missing && has(control) {
                    wrong.push("restriction");
                }
            }
            if !wrong.is_empty() {
                println!(
                    "{directory}/{place}: {wrong:?} of {}",
                    isa::print(generation, &inst)
                );
                failures += 1;
            }
        }
    }
    assert_eq!(failures, 0);
}

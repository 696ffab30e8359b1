//! Kernels of captured Sandy Bridge and ValleyView frames against Mesa's text.
//!
//! PRM: Sandy Bridge volume 4 part 2; ValleyView volume 2 part 2. The vectors are in `data/snb_kernels.hex` and `data/vlv_kernels.hex`,
//! compacted instructions among them.

use isa::inst::{Inst, Verx10};
use isa::print::{Code, KernelItem};
use isa::{decode, encode, uncompact};

/// Version times ten, the kernels, and how many instructions they have at least.
const KERNELS: [(u8, &str, usize); 2] = [
    (60, include_str!("data/snb_kernels.hex"), 700),
    (70, include_str!("data/vlv_kernels.hex"), 4000),
];

/// A kernel: what it is, words of its instructions, Mesa's text with the labels on lines of their own.
struct Kernel<'a> {
    name: &'a str,
    words: Vec<Vec<u32>>,
    text: Vec<&'a str>,
}

fn kernels(file: &str) -> Vec<Kernel<'_>> {
    let mut kernels: Vec<Kernel<'_>> = Vec::new();
    for line in file.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            kernels.push(Kernel {
                name,
                words: Vec::new(),
                text: Vec::new(),
            });
            continue;
        }
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let kernel = kernels.last_mut().expect("a name comes first");
        match line.split_once("  ") {
            Some((words, text)) => {
                let words = words.split(' ').map(|word| u32::from_str_radix(word, 16));
                kernel.words.push(words.map(Result::unwrap).collect());
                kernel.text.push(text);
            }
            None => kernel.text.push(line),
        }
    }
    kernels
}

/// The instruction in the words of a vector.
fn decoded(generation: Verx10, words: &[u32]) -> Inst {
    let raw = match *words {
        [a, b] => uncompact(generation, [a, b]).expect("a compacted instruction"),
        [a, b, c, d] => [a, b, c, d],
        _ => panic!("two or four words"),
    };
    let inst = decode(generation, raw).expect("an instruction");
    assert_eq!(encode(generation, &inst), Ok(raw), "{words:08x?}");
    inst
}

/// Statements with single spaces, labels on lines of their own.
fn statements(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            continue;
        }
        let ends = line.ends_with(';') || line.ends_with(':');
        match out.last_mut() {
            Some(last) if open => {
                last.push(' ');
                last.push_str(&line);
            }
            _ => out.push(line),
        }
        open = !ends;
    }
    out
}

/// The bundled files, or in the first one's place the one that `ISA_SNB_VECTORS` names.
// covers: S-0156, S-0169, S-0177, S-0179, S-0182, S-0183, S-0184, S-0185, S-0186, S-0187, S-0188, S-0210
#[test]
fn kernels_print_as_mesa_prints_them_and_assemble_to_their_words() {
    let named = std::env::var("ISA_SNB_VECTORS").ok();
    let named = named.map(|path| std::fs::read_to_string(path).expect("vectors"));
    for (version, file, least) in KERNELS {
        let generation = Verx10::from_times_ten(version);
        match named.as_deref() {
            Some(file) if version == 60 => reads_alike(generation, file, 0),
            _ => reads_alike(generation, file, least),
        }
    }
}

fn reads_alike(generation: Verx10, file: &str, least: usize) {
    let mut count = 0;
    for kernel in kernels(file) {
        let words = kernel.words.iter();
        let insts: Vec<Inst> = words.map(|words| decoded(generation, words)).collect();
        let mut offset = 0;
        let items: Vec<KernelItem<'_>> = insts
            .iter()
            .zip(&kernel.words)
            .map(|(inst, words)| {
                let item = KernelItem {
                    offset,
                    compacted: words.len() == 2,
                    code: Code::Inst(inst),
                };
                offset += 4 * u32::try_from(words.len()).unwrap();
                item
            })
            .collect();
        let text = isa::print_kernel(generation, items.clone());
        let ours = statements(&text);
        let mut theirs = kernel.text.clone();
        // Mesa prints a label behind the end of a kernel only when an instruction follows.
        if ours.len() == theirs.len() + 1 && ours.last().is_some_and(|last| last.ends_with(':')) {
            theirs.push(ours.last().unwrap());
        }
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{}", kernel.name);
        }
        assert_eq!(ours.len(), theirs.len(), "{}", kernel.name);
        // The exact text names the flag register that Mesa puts into instructions without a flag, too.
        let text = isa::print::print_kernel_exact(generation, items);
        let program = isa::parse::assemble(generation, kernel.name, &text).expect(kernel.name);
        let again: Vec<u32> = program.dwords().collect();
        assert_eq!(again, kernel.words.concat(), "{}", kernel.name);
        count += insts.len();
    }
    println!("{count} instructions");
    assert!(count >= least, "{count} instructions");
}

/// No instruction of Mesa's breaks a restriction that the validator knows.
#[test]
fn kernels_are_valid() {
    for (version, file, _) in KERNELS {
        let generation = Verx10::from_times_ten(version);
        for kernel in kernels(file) {
            for words in &kernel.words {
                let inst = decoded(generation, words);
                let text = isa::print(generation, &inst);
                // The tables of compacted instructions have a type of their own for a source that is not there.
                let compacted = words.len() == 2;
                let found = isa::validate::validate(generation, &inst)
                    .find(|found| !compacted || found.rule.name != "reserved-bits");
                assert!(
                    found.is_none(),
                    "{}: {}: {text}",
                    kernel.name,
                    found.unwrap()
                );
            }
        }
    }
}

//! The validator finds nothing in kernels that drivers submitted.
//!
//! PRM: volume 4, chapters 10-14. The kernels are in `data/gm965_kernels.hex`.

use isa::validate::{validate, validate_kernel};
use isa::{Inst, Verx10, decode};

const KERNELS: &str = include_str!("data/gm965_kernels.hex");

fn word(hex: &str) -> u32 {
    u32::from_str_radix(hex, 16).expect("hexadecimal")
}

/// Kernels of the file: name and instructions.
fn kernels() -> Vec<(&'static str, Vec<Inst>)> {
    let mut kernels: Vec<(&str, Vec<Inst>)> = Vec::new();
    for line in KERNELS.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            kernels.push((name, Vec::new()));
            continue;
        }
        let mut words = line.split(' ').take(4).map(word);
        let raw = [0; 4].map(|_: u32| words.next().unwrap());
        let inst = decode(Verx10::GEN40, raw).expect(line);
        kernels.last_mut().unwrap().1.push(inst);
    }
    kernels.retain(|(_, code)| !code.is_empty());
    kernels
}

#[test]
fn no_instruction_of_a_captured_kernel_breaks_a_rule() {
    let mut found = Vec::new();
    for (name, code) in kernels() {
        for inst in &code {
            for violation in validate(Verx10::GEN40, inst) {
                found.push(format!(
                    "{name}: {violation}: {}",
                    isa::print(Verx10::GEN40, inst)
                ));
            }
        }
    }
    assert_eq!(found, [""; 0], "{}", found.join("\n"));
}

#[test]
fn no_captured_kernel_breaks_a_rule() {
    let mut found = Vec::new();
    let kernels = kernels();
    assert!(kernels.len() > 10);
    for (name, code) in kernels {
        for placed in validate_kernel(Verx10::GEN40, &code) {
            let text = isa::print(Verx10::GEN40, &code[placed.index]);
            found.push(format!(
                "{name}: {}: {}: {text}",
                placed.index, placed.violation
            ));
        }
    }
    assert_eq!(found, [""; 0], "{}", found.join("\n"));
}

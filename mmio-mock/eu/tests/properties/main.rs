//! Semantics of the instructions against a reference of one element.
//!
//! PRM: volume 4, 10.3, 10.4, 11.3.4.5, 11.7, 14.2. `CRESTLINE_EU_CASES` is how many elements of
//! every opcode and destination type are compared, `CRESTLINE_EU_SEED` where the random numbers start.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests"
)]

mod addressing;
mod bench;
mod cases;
mod later;
mod reference;
mod sequences;
mod values;

use cases::{ALL_CONDS, COMPARE, EQUAL, NO_COND, SIZES, Spec, Tally, check};
use isa::Opcode;
use isa::operand::Type;
use std::collections::BTreeMap;

/// Elements of each choice of source types, at least.
const LEAST: u64 = 500;
const INTS: [Type; 6] = [Type::Ud, Type::D, Type::Uw, Type::W, Type::Ub, Type::B];
const NARROW: [Type; 4] = [Type::Uw, Type::W, Type::Ub, Type::B];
const ALL: [Type; 7] = [
    Type::Ud,
    Type::D,
    Type::Uw,
    Type::W,
    Type::Ub,
    Type::B,
    Type::F,
];

/// Checks many; the elements of one opcode and destination type are shared out among its source
/// types. Reports each such group, and fails at the end with all that differed.
fn run(specs: impl IntoIterator<Item = Spec>) {
    let mut groups: BTreeMap<String, Vec<Spec>> = BTreeMap::new();
    for spec in specs {
        let name = format!("{:?} {:?}", spec.opcode, spec.dst);
        groups.entry(name).or_default().push(spec);
    }
    let mut failures = Vec::new();
    for (name, specs) in groups {
        let mut all = Tally::default();
        let share = (cases::goal() / specs.len() as u64).max(LEAST);
        for spec in &specs {
            let mut tally = Tally::default();
            check(spec, share, &mut tally);
            all.instructions += tally.instructions;
            all.elements += tally.elements;
            all.flags += tally.flags;
            all.accumulators += tally.accumulators;
            let sources = &spec.src[..spec.sources];
            let told = tally.failures.into_iter().take(2);
            failures.extend(told.map(|f| format!("{name} <- {sources:?} {f}")));
        }
        println!(
            "{name}: {} source types, {} instructions, {} elements, {} flags, {} accumulators, seed {:#x}",
            specs.len(),
            all.instructions,
            all.elements,
            all.flags,
            all.accumulators,
            cases::seed()
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn spec(opcode: Opcode, dst: Type, src: &[Type]) -> Spec {
    Spec {
        opcode,
        dst,
        src: [src[0], src.get(1).copied().unwrap_or(src[0])],
        sources: src.len(),
        modifiers: true,
        saturate: true,
        conds: ALL_CONDS,
        acc: false,
        sizes: SIZES,
    }
}

/// Every pair of integer types into every type.
fn integer_specs(opcode: Opcode) -> Vec<Spec> {
    let mut out = Vec::new();
    for dst in ALL {
        for a in INTS {
            for b in INTS {
                // A float destination of dwords: for the conversion of moves alone.
                out.push(spec(opcode, dst, &[a, b]));
            }
        }
    }
    out
}

/// Floats, and floats with words or bytes, into every type.
fn float_specs(opcode: Opcode) -> Vec<Spec> {
    let mut out = Vec::new();
    for dst in ALL {
        out.push(spec(opcode, dst, &[Type::F, Type::F]));
    }
    for other in NARROW {
        out.push(spec(opcode, Type::F, &[Type::F, other]));
        out.push(spec(opcode, Type::F, &[other, Type::F]));
    }
    out
}

// covers: 10.3.1.2-04, 10.4.1-01, 10.4.1-02, 10.4.2-01, 10.4.2-02, 10.4.2-03, 10.4.3-01, 10.4.4-01, 11.3.10-05, 14.2-36, S-0103, S-0107, S-0109, S-0110, S-0111, S-0112, S-0113, S-0114, S-0166
#[test]
fn mov() {
    run(ALL
        .iter()
        .flat_map(|d| ALL.map(|s| spec(Opcode::Mov, *d, &[s]))));
}

// covers: 10.3.1.1-01, 10.3.1.1-04, 10.3.1.2-01, 10.3.1.2-02, 10.3.1.2-03, 10.3.1.2-06, 10.3.1.2-07, 10.3.2-01, 11.7-03, 11.7-04, 14.2-59, 14.2-01, S-0105, S-0147, S-0160
#[test]
fn float_add() {
    run(float_specs(Opcode::Add));
}

// covers: 10.3.1.1-01, 10.3.1.1-04, 10.3.1.2-01, 10.3.1.2-03, 10.3.1.2-05, 10.3.1.2-07, 10.3.2-01, 14.2-38, 14.2-59
#[test]
fn float_mul() {
    run(float_specs(Opcode::Mul));
}

// covers: 10.3.1.2-08, 10.3.1.2-09, 11.3.4.5-03, 11.3.4.5-05, 11.3.4.5-12, 14.2-34
#[test]
fn float_mac() {
    run(float_specs(Opcode::Mac)
        .into_iter()
        .map(|s| Spec { acc: true, ..s }));
}

// covers: 11.3.4.5-03, 11.7-03, 14.2-01, S-0149, S-0150
#[test]
fn integer_add() {
    run(integer_specs(Opcode::Add));
}

// covers: 11.3.4.5-03, 14.2-38
#[test]
fn integer_mul() {
    run(integer_specs(Opcode::Mul));
}

// covers: 11.3.4.5-05, 11.3.4.5-15, 11.3.4.5-16, 14.2-34
#[test]
fn integer_mac() {
    run(integer_specs(Opcode::Mac)
        .into_iter()
        .map(|s| Spec { acc: true, ..s }));
}

// covers: 14.2-05
#[test]
fn avg() {
    run(INTS.map(|t| Spec {
        modifiers: false,
        ..spec(Opcode::Avg, t, &[t, t])
    }));
}

// covers: 14.2-33
#[test]
fn lzd() {
    run([Spec {
        modifiers: false,
        saturate: false,
        ..spec(Opcode::Lzd, Type::Ud, &[Type::Ud])
    }]);
}

// covers: 14.2-04, 14.2-53
#[test]
fn shifts() {
    let mut specs = Vec::new();
    for dst in INTS {
        for a in INTS {
            for b in INTS {
                let s = Spec {
                    modifiers: false,
                    ..spec(Opcode::Shl, dst, &[a, b])
                };
                specs.push(s);
                specs.push(Spec {
                    opcode: Opcode::Asr,
                    ..s
                });
                if matches!(a, Type::Ud | Type::Uw | Type::Ub) {
                    specs.push(Spec {
                        opcode: Opcode::Shr,
                        ..s
                    });
                }
            }
        }
    }
    run(specs);
}

// covers: 14.2-03, 14.2-41, 14.2-58
#[test]
fn logic() {
    let mut specs = Vec::new();
    for dst in INTS {
        for a in INTS {
            for b in INTS {
                for op in [Opcode::And, Opcode::Or, Opcode::Xor] {
                    specs.push(Spec {
                        saturate: false,
                        conds: EQUAL,
                        ..spec(op, dst, &[a, b])
                    });
                }
            }
            if a.size() >= dst.size() {
                specs.push(Spec {
                    modifiers: false,
                    saturate: false,
                    conds: EQUAL,
                    ..spec(Opcode::Not, dst, &[a])
                });
            }
        }
    }
    run(specs);
}

// covers: 10.3.1.1-05, 10.3.1.1-06, 10.3.1.1-07, 10.3.1.3-01, 10.3.1.3-02, 10.3.1.3-03, 10.3.1.3-04, 10.3.1.3-05, 10.3.1.3-06, 10.3.1.4-03, 10.3.1.4-04, 11.7-02, 14.2-09, 14.2-10, S-0153, S-0191
#[test]
fn compare() {
    let mut specs = Vec::new();
    for op in [Opcode::Cmp, Opcode::Cmpn] {
        for a in INTS {
            for b in INTS {
                specs.push(spec(
                    op,
                    if a.size() < 4 && b.size() < 4 {
                        Type::W
                    } else {
                        Type::D
                    },
                    &[a, b],
                ));
            }
        }
        for dst in ALL {
            specs.push(spec(op, dst, &[Type::F, Type::F]));
        }
    }
    run(specs.into_iter().map(|s| Spec {
        saturate: false,
        conds: COMPARE,
        ..s
    }));
}

// covers: 10.3.1.2-04, 11.4-01, 14.2-46, S-0192, S-0193, S-0195
#[test]
fn sel() {
    let mut specs = Vec::new();
    for dst in ALL {
        for a in ALL {
            specs.push(Spec {
                conds: NO_COND,
                ..spec(Opcode::Sel, dst, &[a, a])
            });
        }
    }
    run(specs);
}

// covers: 14.2-22, 14.2-43, 14.2-59
#[test]
fn rounding() {
    let mut specs = Vec::new();
    for op in [Opcode::Frc, Opcode::Rndd, Opcode::Rndu] {
        for dst in ALL {
            specs.push(spec(op, dst, &[Type::F]));
        }
    }
    run(specs);
}

// covers: 14.2-45
#[test]
fn sums_of_differences() {
    let mut specs = Vec::new();
    for dst in [Type::Uw, Type::W] {
        for src in [Type::Ub, Type::B] {
            for op in [Opcode::Sad2, Opcode::Sada2] {
                specs.push(Spec {
                    modifiers: false,
                    acc: op == Opcode::Sada2,
                    sizes: &[2, 4, 8, 16],
                    ..spec(op, dst, &[src, src])
                });
            }
        }
    }
    run(specs);
}

//! Measures decoder and encoder: instructions per second on one core.
//!
//! PRM: volume 4, 13.2. A kernel's mix of formats for each generation, compacted ones by themselves;
//! text is measured elsewhere.
#![allow(clippy::expect_used, reason = "a measuring program")]

use std::hint::black_box;
use std::time::Instant;

use isa::inst::{Branch, CondMod, PredCtrl, SendDesc};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::tables::{Format, Table};
use isa::{Inst, Opcode, Verx10, compact, decode, encode, uncompact};

const COUNT: usize = 4096;

fn direct(nr: usize) -> Addr {
    Addr::Direct {
        nr: nr as u8 & 0x7f,
        subnr: 0,
    }
}

fn reg(nr: usize) -> Src {
    Src {
        file: RegFile::Grf,
        ty: Type::F,
        addr: direct(nr),
        region: Region::VEC8,
        negate: nr.is_multiple_of(5),
        ..Src::NULL
    }
}

fn operands(opcode: Opcode, nr: usize, sources: &[Src]) -> Inst {
    let mut inst = Inst {
        exec_size: 8,
        dst: Dst {
            file: RegFile::Grf,
            ty: Type::F,
            addr: direct(nr),
            ..Dst::NULL
        },
        num_src: sources.len() as u8,
        ..Inst::blank(opcode)
    };
    inst.src[..sources.len()].copy_from_slice(sources);
    inst
}

/// One instruction of the mix.
fn inst(generation: Verx10, index: usize) -> Inst {
    let imm = Src {
        file: RegFile::Imm,
        ty: Type::F,
        imm: 0x3f80_0000,
        ..Src::NULL
    };
    let scalar = Src {
        region: Region::SCALAR,
        ..reg(index + 2)
    };
    match index % 10 {
        0 => operands(Opcode::Mov, index, &[reg(index)]),
        1 => operands(Opcode::Mov, index, &[imm]),
        2 | 3 => operands(Opcode::Mul, index, &[reg(index), scalar]),
        4 => operands(Opcode::Add, index, &[reg(index), imm]),
        5 => Inst {
            cond_mod: CondMod::L,
            ..operands(Opcode::Cmp, index, &[reg(index), reg(index + 1)])
        },
        6 => Inst {
            pred_ctrl: PredCtrl::Normal,
            ..operands(Opcode::Sel, index, &[reg(index), reg(index + 7)])
        },
        7 => branch(generation, index),
        8 if generation.times_ten() >= 60 => three(index),
        8 => operands(Opcode::Mac, index, &[reg(index), reg(index + 1)]),
        _ => {
            let mut send = operands(Opcode::Send, index, &[reg(index)]);
            send.src[0].negate = false;
            send.send = Some(SendDesc {
                imm: Some(0x0210_0001),
                sfid: if generation.times_ten() >= 50 { 2 } else { 0 },
                ..SendDesc::default()
            });
            send
        }
    }
}

fn branch(generation: Verx10, index: usize) -> Inst {
    let row = Opcode::If.desc(generation).expect("if");
    Inst {
        exec_size: 8,
        pred_ctrl: PredCtrl::Normal,
        branch: Some(Branch {
            jump: index as i32 & 0x7f,
            pop_or_uip: i32::from(row.format == Format::BranchUip),
        }),
        ..Inst::blank(Opcode::If)
    }
}

fn three(index: usize) -> Inst {
    let src = |nr| Src {
        region: Region::VEC4,
        ..reg(nr)
    };
    Inst {
        access: isa::inst::AccessMode::Align16,
        ..operands(
            Opcode::Mad,
            index,
            &[src(index), src(index + 1), src(index + 2)],
        )
    }
}

/// Millions of items a second, the best of several rounds.
fn rate<T, R>(items: &[T], mut work: impl FnMut(&T) -> R) -> f64 {
    let mut best: f64 = 0.0;
    for _ in 0..40 {
        let start = Instant::now();
        for item in items {
            black_box(work(black_box(item)));
        }
        best = best.max(items.len() as f64 / start.elapsed().as_secs_f64());
    }
    best / 1e6
}

fn main() {
    println!("millions of instructions a second, one core");
    println!("gen  decode  encode  uncompact+decode  compact");
    for generation in Table::GENERATIONS {
        let insts: Vec<Inst> = (0..COUNT).map(|index| inst(generation, index)).collect();
        let words: Vec<[u32; 4]> = insts
            .iter()
            .map(|inst| encode(generation, inst).expect("encodes"))
            .collect();
        let short: Vec<[u32; 2]> = words
            .iter()
            .filter_map(|&raw| compact(generation, raw))
            .collect();
        let decoded = rate(&words, |&raw| decode(generation, raw));
        let encoded = rate(&insts, |inst| encode(generation, inst));
        let expanded = rate(&short, |&raw| {
            uncompact(generation, raw).map(|raw| decode(generation, raw))
        });
        let compacted = rate(&words, |&raw| compact(generation, raw));
        println!(
            "{:3}  {decoded:6.1}  {encoded:6.1}  {expanded:16.1}  {compacted:7.1}",
            generation.times_ten()
        );
    }
}

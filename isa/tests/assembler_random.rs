//! Random instructions of all generations: decode, print, parse, the same.
//!
//! PRM: volume 4, 13.2 and 13.4. What the text does not show (reserved bits, operands that an
//! instruction does not read) is not asked for here; the disassembler's command checks it.

use fastrand::Rng;
use isa::inst::{Compression, CondMod, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Src, Type};
use isa::tables::Table;
use isa::{Inst, Opcode, Verx10, decode, encode, parse, print};

const GENERATIONS: [u8; 8] = [40, 45, 50, 60, 70, 75, 80, 90];

/// Whether the text says all there is: registers exist and have names, subregisters are whole elements,
/// fields that are not printed have their usual values.
fn shows(generation: Verx10, inst: &Inst) -> bool {
    let flag = inst.flag_reg != 0 || inst.flag_subreg != 0;
    let predicated = inst.pred_ctrl != PredCtrl::None;
    let flag_shows = predicated
        || inst.cond_mod != CondMod::None
            && (generation.times_ten() < 60
                || !matches!(
                    inst.opcode,
                    Opcode::Sel | Opcode::Csel | Opcode::If | Opcode::While
                ));
    if flag && !flag_shows || inst.pred_inv && !predicated {
        return false;
    }
    let compr4 = inst.compression == Compression::Compressed;
    if inst.send.is_some() && inst.saturate || inst.dst.compr4 && !compr4 {
        return false;
    }
    let dim = inst.opcode == Opcode::Dim && inst.src[0].ty != Type::F;
    if dim || inst.opcode == Opcode::Ret && inst.dst != Dst::NULL {
        return false;
    }
    // Without options, or with operands that the text leaves out.
    if matches!(
        inst.opcode,
        Opcode::Nop | Opcode::Illegal | Opcode::Wait | Opcode::Jmpi
    ) {
        return false;
    }
    if inst
        .math
        .is_some_and(|function| matches!(function, 0 | 16..))
    {
        return false;
    }
    let register = |file: RegFile, addr: Addr, size: usize| match (file, addr) {
        (RegFile::Imm, _) => true,
        (_, Addr::Indirect { .. }) => file == RegFile::Grf,
        (_, Addr::Direct { nr, subnr }) => {
            let known = match file {
                RegFile::Grf => nr < 128,
                RegFile::Mrf => nr < if generation.times_ten() >= 60 { 24 } else { 16 },
                _ => match nr >> 4 {
                    0 | 1 => nr.trailing_zeros() >= 4,
                    0xa | 0xb => false,
                    _ => true,
                },
            };
            known && usize::from(subnr) % size == 0
        }
    };
    let source = |src: &Src| {
        let word = matches!(src.ty, Type::W | Type::Uw | Type::Hf);
        let halves = src.imm >> 16 == src.imm & 0xffff;
        register(src.file, src.addr, src.ty.size()) && (src.file != RegFile::Imm || !word || halves)
    };
    if let Some(branch) = inst.branch {
        // Gen4-5 print one of the two for most instructions, later ones JIP alone for some.
        let hidden = match (inst.opcode, generation.times_ten()) {
            (Opcode::Endif, 0..60) => branch.jump,
            (Opcode::Break | Opcode::Cont | Opcode::Brc, _)
            | (Opcode::Else, 0..60 | 80..)
            | (Opcode::Halt, 60..)
            | (Opcode::If, 70..) => 0,
            _ => branch.pop_or_uip,
        };
        if hidden != 0 {
            return false;
        }
    }
    register(inst.dst.file, inst.dst.addr, inst.dst.ty.size())
        && inst.src.iter().take(usize::from(inst.num_src)).all(source)
}

/// Instructions per generation; the environment may ask for more.
fn count() -> usize {
    std::env::var("CRESTLINE_ASM_RANDOM").map_or(300_000, |text| text.parse().unwrap())
}

#[test]
fn printed_instructions_are_read_back() {
    for number in GENERATIONS {
        let generation = Verx10::from_times_ten(number);
        let opcodes: Vec<u32> = Table::of(generation)
            .unwrap()
            .rows()
            .map(|row| u32::from(row.hw))
            .collect();
        let mut random = Rng::with_seed(u64::from(number));
        let (mut decoded, mut same) = (0, 0);
        let mut lost: Vec<String> = Vec::new();
        for _ in 0..count() {
            let mut raw = [0; 4].map(|_: u32| random.u32(..));
            // Word immediates stand in both halves.
            if random.u32(..) & 1 == 0 {
                raw[3] = raw[3] << 16 | raw[3] & 0xffff;
            }
            let opcode = opcodes[random.u32(..) as usize % opcodes.len()];
            raw[0] = raw[0] & !0x7f | opcode;
            raw[0] &= !(1 << 29);
            let Ok(mut inst) = decode(generation, raw) else {
                continue;
            };
            inst.reserved = [0; 4];
            if !shows(generation, &inst) {
                continue;
            }
            let Ok(raw) = encode(generation, &inst) else {
                continue;
            };
            decoded += 1;
            let text = print(generation, &inst);
            let back = parse::instruction(generation, &text)
                .map_err(|error| error.to_string())
                .and_then(|inst| encode(generation, &inst).map_err(|error| error.to_string()));
            if back == Ok(raw) {
                same += 1;
            } else if lost.len() < 5 {
                lost.push(format!("{text}\n    {raw:08x?}\n    {back:08x?}"));
            }
        }
        println!("gen {number}: {same} of {decoded} instructions");
        assert!(lost.is_empty(), "{}", lost.join("\n"));
        assert!(same > count() / 100, "too few instructions");
    }
}

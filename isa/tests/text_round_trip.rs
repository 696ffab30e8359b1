//! Random instructions of every generation: printed and parsed they are the same.
//!
//! PRM: volume 4, 13.4. Bits that no format defines are not in the text, nor are registers that do not
//! exist.

use fastrand::Rng;
use isa::inst::{AccessMode, Compression, CondMod, Inst, Opcode, PredCtrl, Verx10};
use isa::operand::{Addr, RegFile, Region, Src, Type};

const GENERATIONS: [u8; 8] = [40, 45, 50, 60, 70, 75, 80, 90];

/// What a text can say: nothing about bits that nothing reads.
fn written(inst: &Inst) -> Inst {
    let mut inst = *inst;
    inst.reserved = [0; 4];
    let predicated = inst.pred_ctrl != PredCtrl::None;
    inst.pred_inv &= predicated;
    let flagless = inst.branch.is_some() || matches!(inst.opcode, Opcode::Sel | Opcode::Csel);
    if !predicated && (inst.cond_mod == CondMod::None || flagless) {
        inst.flag_reg = 0;
        inst.flag_subreg = 0;
    }
    // The notification register stands in both operands.
    if inst.opcode == Opcode::Wait {
        inst.src = [Src::NULL; 3];
    }
    if inst.send.is_some() {
        inst.saturate = false;
    }
    // Payloads of split sends have no regions.
    if matches!(inst.opcode, Opcode::Sends | Opcode::Sendsc) {
        inst.src[0].region = Region::SCALAR;
        inst.src[1].region = Region::SCALAR;
    }
    inst
}

/// Whether every operand is one that the generations have; the text names no other. Left out too: what
/// Mesa's text has no place for.
fn sensible(generation: Verx10, inst: &Inst) -> bool {
    let place = |file: RegFile, addr: Addr, ty: Type| match addr {
        Addr::Direct { nr, subnr } => {
            let number = match file {
                RegFile::Grf => nr < 128,
                RegFile::Mrf => nr < 16,
                RegFile::Arf => matches!(nr, 0 | 0x10 | 0x20 | 0x21 | 0x30 | 0x70 | 0x80 | 0x90),
                RegFile::Imm => true,
            };
            number && usize::from(subnr).is_multiple_of(ty.size())
        }
        Addr::Indirect { .. } => matches!(file, RegFile::Grf | RegFile::Mrf),
    };
    let source = |src: &Src| {
        let words = matches!(src.ty, Type::W | Type::Uw | Type::Hf);
        let same_words = src.imm as u16 == (src.imm >> 16) as u16;
        // Align16 knows no stride of 8.
        let stride = inst.access == AccessMode::Align1 || src.region.vstride != 8;
        place(src.file, src.addr, src.ty)
            && (src.file != RegFile::Imm || !words || same_words)
            && stride
    };
    let split = matches!(inst.opcode, Opcode::Sends | Opcode::Sendsc);
    let compressed =
        inst.compression == Compression::Compressed || generation == Verx10::from_times_ten(60);
    // Gen6 can compare in `if` and `while`; `ret`, `brd`, `brc` and `call` can jump by register.
    let by_operands = inst.branch.is_some() && inst.opcode != Opcode::Jmpi && inst.num_src > 0;
    let by_register = matches!(
        inst.opcode,
        Opcode::Call | Opcode::Calla | Opcode::Ret | Opcode::Brd | Opcode::Brc
    ) && inst.branch.is_none();
    // Only `ip` is a sensible destination and source of a jump.
    let jump =
        inst.opcode == Opcode::Jmpi && inst.dst.addr != (Addr::Direct { nr: 0xa0, subnr: 0 });
    // A descriptor in a register with a modifier.
    let modified =
        inst.send.is_some_and(|send| send.imm.is_none()) && (inst.src[1].negate || inst.src[1].abs);
    place(inst.dst.file, inst.dst.addr, inst.dst.ty)
        && inst.src.iter().take(usize::from(inst.num_src)).all(source)
        && !by_operands
        && !by_register
        && !modified
        && !jump
        && (!inst.dst.compr4 || compressed)
        && !(split && inst.access == AccessMode::Align16)
        && inst.opcode != Opcode::Dim
}

#[test]
fn printed_instructions_parse_back() {
    let mut random = Rng::with_seed(7);
    for generation in GENERATIONS.map(Verx10::from_times_ten) {
        let (mut same, mut decoded) = (0, 0);
        let mut differ = Vec::new();
        for _ in 0..400_000 {
            let raw = [
                random.u32(..) & !(1 << 29),
                random.u32(..),
                random.u32(..),
                random.u32(..),
            ];
            let Ok(inst) = isa::decode(generation, raw) else {
                continue;
            };
            if !sensible(generation, &inst) {
                continue;
            }
            decoded += 1;
            let wanted = written(&inst);
            let text = isa::print(generation, &inst);
            match isa::parse::instruction(generation, &text) {
                Ok(parsed) if written(&parsed) == wanted => same += 1,
                Ok(parsed) => differ.push(format!("{text}\n{wanted:?}\n{parsed:?}")),
                Err(error) => differ.push(format!("{text}\n{error}")),
            }
        }
        println!("{}: {same} of {decoded} the same", generation.times_ten());
        assert!(differ.is_empty(), "{}", differ.join("\n"));
    }
}

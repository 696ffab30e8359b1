//! Lowering: from an instruction to a handler with resolved operands.
//!
//! PRM: volume 4, 11.3.9 (execution data type), 11.3.4.5 (implicit accumulator), 11.5.

mod accumulator;
mod controls;
mod send;
mod wide;

use crate::decoded::{
    Decoded, Dst, DstKind, Indirect, More, Num, SendOp, SimpleFloat, Src, SrcKind,
};
use crate::exec;
use crate::r#gen::Rules;
use crate::region::{self, Rel, Shape};
use accumulator::{acc_lanes, explicit_acc};
use controls::{channels, controls, exec_type};
use isa::inst::{AccessMode, Compression, CondMod, PredCtrl};
use isa::operand::{self, Addr, RegFile, Region, Type};
use isa::{Inst, Opcode};

/// Which handlers lowering may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Fast paths where they apply.
    Fast,
    /// The general path only.
    General,
}

/// What the interpreter computes in (PRM 11.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExecType {
    Double,
    Float,
    Dword,
    Word,
}

/// A slot that has not been lowered.
pub(crate) const fn empty() -> Decoded {
    blank(true, exec::illegal)
}

/// The form of words that decode to no instruction.
pub(crate) const fn illegal() -> Decoded {
    blank(false, exec::illegal)
}

const fn blank(empty: bool, run: crate::decoded::Handler) -> Decoded {
    Decoded {
        run,
        empty,
        breakpoint: false,
        rare: empty,
        weight: 1,
        shift: 0,
        no_mask: false,
        no_cmask: false,
        saturate: false,
        pred_inv: false,
        acc_write: false,
        acc_dead: false,
        acc_lane: 0,
        acc_word: false,
        special: false,
        simple_float: SimpleFloat::No,
        flag: 0,
        pred: PredCtrl::None,
        cond: CondMod::None,
        compare: CondMod::None,
        function: None,
        op: Opcode::Illegal,
        exec: 1,
        bytes: 16,
        lanes: 0,
        dst: Dst {
            kind: DstKind::Null,
            num: Num::Ud,
            round: false,
        },
        src: [NULL_SRC; 2],
        more: More::Nothing,
        jump: 0,
        pop: 0,
        send: SendOp {
            desc: Some(0),
            payload: 0,
            end: 0,
            implied: None,
            dst: None,
            rotate: 0,
            target: None,
            eot: false,
            halves: false,
            length_at: 0,
            response_at: 0,
            response_max: 0,
        },
    }
}

const NULL_SRC: Src = Src {
    kind: SrcKind::Null,
    num: Num::Ud,
    negate: false,
    abs: false,
    fast_float: false,
    words: false,
    and: u32::MAX,
    xor: 0,
};

fn num(ty: Type) -> Option<Num> {
    Some(match ty {
        Type::Ud => Num::Ud,
        Type::D => Num::D,
        Type::Uw | Type::Uv => Num::Uw,
        Type::W | Type::V => Num::W,
        Type::Ub => Num::Ub,
        Type::B => Num::B,
        Type::F | Type::Vf => Num::F,
        Type::Df => Num::Df,
        Type::Hf | Type::Uq | Type::Q => return None,
    })
}

/// Expands a restricted 8-bit float (PRM 10.2.5).
pub(crate) fn vf_to_f32(byte: u8) -> f32 {
    let b = u32::from(byte);
    let sign = (b & 0x80) << 24;
    if matches!(byte, 0x00 | 0x80) {
        return f32::from_bits(sign);
    }
    let exp = ((b >> 4) & 7) + 124;
    f32::from_bits(sign | (exp << 23) | ((b & 0xf) << 19))
}

fn immediate(s: &operand::Src) -> [u32; 8] {
    let imm = s.imm as u32;
    let mut out = [imm; 8];
    match s.ty {
        Type::V => {
            for (i, o) in out.iter_mut().enumerate() {
                let nibble = ((imm >> (4 * i)) & 0xf) as i32;
                *o = ((nibble << 28) >> 28) as u32 & 0xffff;
            }
        }
        Type::Uv => {
            for (i, o) in out.iter_mut().enumerate() {
                *o = (imm >> (4 * i)) & 0xf;
            }
        }
        Type::Vf => {
            for (i, o) in out.iter_mut().enumerate() {
                *o = vf_to_f32((imm >> (8 * (i % 4))) as u8).to_bits();
            }
        }
        Type::Uw | Type::W => out = [imm & 0xffff; 8],
        Type::Ub | Type::B => out = [imm & 0xff; 8],
        _ => {}
    }
    out
}

#[derive(Clone, Copy)]
struct Lower<'a> {
    inst: &'a Inst,
    shape: Shape,
    mode: Mode,
    rules: Rules,
    /// An operand holds doubles, each of which takes two channels of the regions.
    doubles: bool,
}

/// Bytes of an element as regions count them, and the bits of an address that its place has not.
fn region_element(num: Num) -> (usize, u8) {
    match num {
        Num::Df => (4, 7),
        // CAST: four at most.
        _ => (usize::from(num.size()), num.size() - 1),
    }
}

impl Lower<'_> {
    fn rel(&self, s: &operand::Src, subnr: u8, num: Num) -> Rel {
        let (size, odd) = region_element(num);
        let subnr = subnr & !odd;
        self.first_of_pairs(match self.inst.access {
            AccessMode::Align1 => region::align1_src(subnr, size, s.region, self.shape),
            AccessMode::Align16 => {
                let swizzle = self.used_swizzle(s.swizzle);
                region::align16_src(subnr, size, s.region.vstride, swizzle, self.shape)
            }
        })
    }

    /// The places of channels: with doubles that of the first of each two.
    fn first_of_pairs<T: Copy>(&self, all: [T; 16]) -> [T; 16] {
        if self.doubles {
            std::array::from_fn(|lane| all[(2 * lane).min(15)])
        } else {
            all
        }
    }

    /// The swizzle in its simplest form for the channels that the instruction writes, so that
    /// `.xyzz` into `.xyz` is a plain vector. Dot products read all channels.
    fn used_swizzle(&self, swizzle: [u8; 4]) -> [u8; 4] {
        use Opcode::{Dp2, Dp3, Dp4, Dph, Line, Pln, Sad2, Sada2};
        let whole = matches!(
            self.inst.opcode,
            Dp4 | Dph | Dp3 | Dp2 | Line | Pln | Sad2 | Sada2
        );
        // Write masks of doubles are not those of the dwords that a swizzle names.
        if whole || self.doubles {
            return swizzle;
        }
        let mask = self.inst.dst.writemask & 0xf;
        let first = swizzle[mask.trailing_zeros().min(3) as usize];
        let fits = |with: &[u8; 4]| (0..4).all(|i| mask >> i & 1 == 0 || with[i] == swizzle[i]);
        [operand::Src::XYZW, [first; 4]]
            .into_iter()
            .find(fits)
            .unwrap_or(swizzle)
    }

    fn src(&self, s: &operand::Src) -> Option<Src> {
        let num = num(s.ty)?;
        let (size, _) = region_element(num);
        let kind = match (s.file, s.addr) {
            // There is no immediate of 64 bits.
            (RegFile::Imm, _) if num == Num::Df => return None,
            (RegFile::Imm, _) => SrcKind::Imm(self.constants(immediate(s))),
            (RegFile::Arf, Addr::Direct { nr, subnr }) => {
                let rel = self.rel(s, subnr, num);
                match nr >> 4 {
                    0 => SrcKind::Null,
                    2 => SrcKind::Acc(acc_lanes(nr, acc_places(num, rel), size)),
                    _ => SrcKind::Arf(nr, region::arf_image(rel)),
                }
            }
            // MRF is write-only (PRM 2.6.1): it reads as nothing.
            (RegFile::Mrf, _) | (RegFile::Arf, Addr::Indirect { .. }) => SrcKind::Null,
            (RegFile::Grf, Addr::Direct { nr, subnr }) => {
                let table = region::grf_src(nr, self.rel(s, subnr, num));
                self.placed_source(table, num.size().into())
            }
            (RegFile::Grf, Addr::Indirect { subreg, imm }) => {
                SrcKind::Indirect(self.indirect_src(s, subreg, imm, num))
            }
        };
        let mut out = self.modified(s, kind, num);
        if matches!(out.kind, SrcKind::Acc(_)) && !self.rules.modifies_all {
            // Modifiers do not apply to accumulators (11.3.4.5).
            (out.negate, out.abs) = (false, false);
        }
        Some(out)
    }

    /// Those of the channels; with doubles of the first of each two.
    fn constants(&self, all: [u32; 8]) -> [u32; 8] {
        if self.doubles {
            std::array::from_fn(|lane| all[(2 * lane) & 7])
        } else {
            all
        }
    }

    /// An operand with its modifiers.
    fn modified(&self, s: &operand::Src, kind: SrcKind, num: Num) -> Src {
        let fast = self.mode == Mode::Fast;
        let fast_float = num == Num::F
            && fast
            && matches!(
                kind,
                SrcKind::Vec(_) | SrcKind::Scalar(_) | SrcKind::Imm(_) | SrcKind::Table(_)
            );
        Src {
            kind,
            num,
            negate: s.negate,
            abs: s.abs,
            fast_float,
            words: fast,
            and: if s.abs { 0x7fff_ffff } else { u32::MAX },
            xor: if s.negate { 0x8000_0000 } else { 0 },
        }
    }

    fn indirect_src(&self, s: &operand::Src, subreg: u8, imm: i16, num: Num) -> Indirect {
        let (size, _) = region_element(num);
        let mut row = [0; 16];
        let mut rel = [0; 16];
        if self.inst.access == AccessMode::Align1 && s.region.vstride == Region::VXH {
            let width = usize::from(s.region.width.max(1));
            for lane in 0..16 {
                row[lane] = (lane / width) as u8;
                rel[lane] = ((lane % width) * usize::from(s.region.hstride) * size) as i16;
            }
            (row, rel) = (self.first_of_pairs(row), self.first_of_pairs(rel));
        } else {
            rel = self.rel(s, 0, num).map(|r| r as i16);
        }
        Indirect {
            subreg,
            imm,
            row,
            rel,
        }
    }

    fn dst(&self, d: &operand::Dst) -> Option<Dst> {
        let num = num(d.ty)?;
        let (size, odd) = region_element(num);
        let align16 = self.inst.access == AccessMode::Align16;
        let hstride = if align16 { 1 } else { d.hstride };
        let align = if three_sources(self.inst.opcode) {
            odd | 3
        } else if align16 {
            15
        } else {
            odd
        };
        let rel = |subnr: u8, half_regs| {
            let base = i32::from(subnr & !align);
            self.first_of_pairs(region::dst(base, size, hstride, half_regs, self.shape))
        };
        let kind = match (d.file, d.addr) {
            (RegFile::Arf, Addr::Direct { nr, subnr }) => match nr >> 4 {
                0 => DstKind::Null,
                2 => {
                    let lanes = acc_lanes(nr, acc_places(num, rel(subnr, 1)), size);
                    DstKind::Acc(lanes, self.shape.exec as u8)
                }
                _ => DstKind::Arf(nr, region::arf_image(rel(subnr, 1))),
            },
            (RegFile::Grf, Addr::Direct { nr, subnr }) => {
                self.placed(region::grf_dst(nr, rel(subnr, 1)), num.size().into())
            }
            (RegFile::Mrf, Addr::Direct { nr, subnr }) => {
                let half = if d.compr4 { 4 } else { 1 };
                let count = self.rules.message_registers;
                self.placed(region::mrf_dst(nr, rel(subnr, half), count), size)
            }
            // No indirect addressing of MRF (PRM 11.3.3): the write is dropped.
            (RegFile::Imm, _) | (RegFile::Arf | RegFile::Mrf, Addr::Indirect { .. }) => {
                DstKind::Null
            }
            (RegFile::Grf, Addr::Indirect { subreg, imm }) => DstKind::Indirect(Indirect {
                subreg,
                imm,
                row: [0; 16],
                rel: rel(0, 1).map(|r| r as i16),
            }),
        };
        Some(Dst {
            kind,
            num,
            round: self.rules.rounds,
        })
    }

    fn placed(&self, table: [u16; 16], size: usize) -> DstKind {
        if self.mode == Mode::Fast && size == 4 && region::contiguous(&table, self.shape.exec) {
            DstKind::Vec(table[0] / 4)
        } else {
            DstKind::Table(table)
        }
    }
}

/// The places of lanes in an accumulator, which has a lane for each element.
fn acc_places(num: Num, rel: Rel) -> Rel {
    if num == Num::Df {
        rel.map(|r| r / 2)
    } else {
        rel
    }
}

fn null_reg(file: RegFile, addr: Addr) -> bool {
    file == RegFile::Arf && matches!(addr, Addr::Direct { nr, .. } if nr >> 4 == 0)
}

/// Lowers one instruction.
pub(crate) fn lower(inst: &Inst, mode: Mode, rules: Rules) -> Decoded {
    let ty = exec_type(inst);
    let exec = channels(inst);
    let sixteen = exec == 16;
    let compressed = if rules.paths {
        // Regions go on into the next register by themselves; only a message register may leave some out.
        inst.dst.compr4
    } else {
        inst.compression == Compression::Compressed
    };
    // A call writes two dwords side by side, of any number of channels.
    let pair = rules.paths && inst.opcode == Opcode::Call;
    let l = Lower {
        inst,
        shape: Shape {
            exec: if pair { exec.max(2) } else { exec },
            compressed: compressed && sixteen,
        },
        // Both parts of 32 channels are places that the first part's are shifted to.
        mode: if inst.exec_size > 16 {
            Mode::General
        } else {
            mode
        },
        rules,
        doubles: ty == ExecType::Double,
    };
    let sechalf = inst.compression == Compression::SecHalf || inst.qtr_ctrl & 1 != 0;

    let mut d = controls(inst, rules);
    d.acc_word = ty == ExecType::Word;
    // The implied accumulator is the explicit one, if there is one (11.3.4.5).
    let implied = sechalf && !(rules.dword_accumulator && ty == ExecType::Dword);
    let second = explicit_acc(inst).map_or(implied, |nr| nr & 1 != 0);
    d.acc_lane = if second { 8 } else { 0 };
    let mut target = inst.dst;
    if pair {
        target.hstride = 1;
    }
    // Which channels 32 doubles have is not public.
    let known = !l.doubles || rules.doubles && inst.exec_size <= 16;
    let Some(dst) = l.dst(&target).filter(|_| known) else {
        return refused(&d);
    };
    let three = three_sources(inst.opcode);
    d.dst = dst;
    for (to, from) in d.src.iter_mut().zip(&inst.src) {
        let lowered = if three { l.third(from) } else { l.src(from) };
        let Some(lowered) = lowered else {
            return refused(&d);
        };
        *to = lowered;
    }
    if three {
        let Some(third) = l.last(&inst.src[2]) else {
            return refused(&d);
        };
        d.more = More::Third(third);
    }
    l.planes(&mut d);
    d.simple_float = match d.dst.kind {
        _ if d.special || l.mode == Mode::General => SimpleFloat::No,
        DstKind::Vec(off) if d.dst.num == Num::F && d.dst.round => SimpleFloat::Round(off),
        DstKind::Vec(off) if d.dst.num == Num::F => SimpleFloat::Vec(off),
        DstKind::Null => SimpleFloat::Null,
        _ => SimpleFloat::No,
    };
    let dwords = ty == ExecType::Dword && d.src.iter().all(|s| s.num.size() == 4);
    let product = matches!(inst.opcode, Opcode::Mul | Opcode::Mac) && dwords;
    if rules.low_word_second && (product || inst.opcode == Opcode::Mach) {
        // Handlers take the low word of source 0.
        d.src.swap(0, 1);
    }
    exec::select(&mut d, inst, ty, l.mode, rules);
    if inst.exec_size > 16 {
        l.widen(&mut d);
    }
    d
}

/// An instruction that has no such operands: nothing that goes by opcodes takes it for one that runs.
fn refused(d: &Decoded) -> Decoded {
    Decoded {
        run: exec::illegal,
        op: Opcode::Illegal,
        acc_write: false,
        ..*d
    }
}

/// Whether an opcode has the format of three sources.
fn three_sources(op: Opcode) -> bool {
    matches!(op, Opcode::Mad | Opcode::Lrp | Opcode::Bfe | Opcode::Bfi2)
}

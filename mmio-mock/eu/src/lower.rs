//! Lowering: from an instruction to a handler with resolved operands.
//!
//! PRM: volume 4, 11.3.9 (execution data type), 11.3.4.5 (implicit accumulator), 11.5.

use crate::decoded::{
    Decoded, Dst, DstKind, Implied, Indirect, Num, SendOp, SimpleFloat, Src, SrcKind,
};
use crate::exec;
use crate::r#gen::Rules;
use crate::region::{self, Rel, Shape};
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
        op: Opcode::Illegal,
        exec: 1,
        bytes: 16,
        lanes: 0,
        dst: Dst {
            kind: DstKind::Null,
            num: Num::Ud,
        },
        src: [NULL_SRC; 2],
        jump: 0,
        pop: 0,
        send: SendOp {
            desc: Some(0),
            mrf: 0,
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
        Type::Df | Type::Hf | Type::Uq | Type::Q => return None,
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

struct Lower<'a> {
    inst: &'a Inst,
    shape: Shape,
    mode: Mode,
}

impl Lower<'_> {
    fn rel(&self, s: &operand::Src, subnr: u8, size: usize) -> Rel {
        match self.inst.access {
            AccessMode::Align1 => region::align1_src(subnr, size, s.region, self.shape),
            AccessMode::Align16 => {
                let swizzle = self.used_swizzle(s.swizzle);
                region::align16_src(subnr, size, s.region.vstride, swizzle, self.shape)
            }
        }
    }

    /// The swizzle in its simplest form for the channels that the instruction writes, so that
    /// `.xyzz` into `.xyz` is a plain vector. Dot products read all channels.
    fn used_swizzle(&self, swizzle: [u8; 4]) -> [u8; 4] {
        use Opcode::{Dp2, Dp3, Dp4, Dph, Line, Pln, Sad2, Sada2};
        if matches!(
            self.inst.opcode,
            Dp4 | Dph | Dp3 | Dp2 | Line | Pln | Sad2 | Sada2
        ) {
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
        let size = usize::from(num.size());
        // Dot products and pairs read whole groups of channels.
        let exec = self.shape.exec.max(4);
        let fast = self.mode == Mode::Fast;
        let kind = match (s.file, s.addr) {
            (RegFile::Imm, _) => SrcKind::Imm(immediate(s)),
            (RegFile::Arf, Addr::Direct { nr, subnr }) => {
                let rel = self.rel(s, subnr, size);
                match nr >> 4 {
                    0 => SrcKind::Null,
                    2 => SrcKind::Acc(acc_lanes(nr, rel, size)),
                    _ => SrcKind::Arf(nr, region::arf_image(rel)),
                }
            }
            // MRF is write-only (PRM 2.6.1): it reads as nothing.
            (RegFile::Mrf, _) | (RegFile::Arf, Addr::Indirect { .. }) => SrcKind::Null,
            (RegFile::Grf, Addr::Direct { nr, subnr }) => {
                let table = region::grf_src(nr, self.rel(s, subnr, size));
                if fast && size == 4 && region::contiguous(&table, exec) {
                    SrcKind::Vec(table[0] / 4)
                } else if fast && size == 4 && region::uniform(&table, exec) {
                    SrcKind::Scalar(table[0] / 4)
                } else {
                    SrcKind::Table(table)
                }
            }
            (RegFile::Grf, Addr::Indirect { subreg, imm }) => {
                SrcKind::Indirect(self.indirect_src(s, subreg, imm, size))
            }
        };
        let fast_float = num == Num::F
            && fast
            && matches!(
                kind,
                SrcKind::Vec(_) | SrcKind::Scalar(_) | SrcKind::Imm(_) | SrcKind::Table(_)
            );
        Some(Src {
            kind,
            num,
            negate: s.negate,
            abs: s.abs,
            fast_float,
            words: fast,
            and: if s.abs { 0x7fff_ffff } else { u32::MAX },
            xor: if s.negate { 0x8000_0000 } else { 0 },
        })
    }

    fn indirect_src(&self, s: &operand::Src, subreg: u8, imm: i16, size: usize) -> Indirect {
        let mut row = [0; 16];
        let mut rel = [0; 16];
        if self.inst.access == AccessMode::Align1 && s.region.vstride == Region::VXH {
            let width = usize::from(s.region.width.max(1));
            for lane in 0..16 {
                row[lane] = (lane / width) as u8;
                rel[lane] = ((lane % width) * usize::from(s.region.hstride) * size) as i16;
            }
        } else {
            rel = self.rel(s, 0, size).map(|r| r as i16);
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
        let size = usize::from(num.size());
        let align16 = self.inst.access == AccessMode::Align16;
        let hstride = if align16 { 1 } else { d.hstride };
        let align = if align16 { 15 } else { size as i32 - 1 };
        let rel = |subnr: u8, half_regs| {
            region::dst(
                i32::from(subnr) & !align,
                size,
                hstride,
                half_regs,
                self.shape,
            )
        };
        let kind = match (d.file, d.addr) {
            (RegFile::Arf, Addr::Direct { nr, subnr }) => match nr >> 4 {
                0 => DstKind::Null,
                2 => DstKind::Acc(acc_lanes(nr, rel(subnr, 1), size), self.shape.exec as u8),
                _ => DstKind::Arf(nr, region::arf_image(rel(subnr, 1))),
            },
            (RegFile::Grf, Addr::Direct { nr, subnr }) => {
                self.placed(region::grf_dst(nr, rel(subnr, 1)), size)
            }
            (RegFile::Mrf, Addr::Direct { nr, subnr }) => {
                let half = if d.compr4 { 4 } else { 1 };
                self.placed(region::mrf_dst(nr, rel(subnr, half)), size)
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
        Some(Dst { kind, num })
    }

    fn placed(&self, table: [u16; 16], size: usize) -> DstKind {
        if self.mode == Mode::Fast && size == 4 && region::contiguous(&table, self.shape.exec) {
            DstKind::Vec(table[0] / 4)
        } else {
            DstKind::Table(table)
        }
    }
}

/// Number of the accumulator that is the destination or source 0.
fn explicit_acc(inst: &Inst) -> Option<u8> {
    let of = |file, addr| match (file, addr) {
        (RegFile::Arf, Addr::Direct { nr, .. }) if nr >> 4 == 2 => Some(nr),
        _ => None,
    };
    let source = &inst.src[0];
    of(inst.dst.file, inst.dst.addr).or_else(|| of(source.file, source.addr))
}

/// Accumulator lanes: a register has eight dword channels or sixteen word channels. The first eight
/// of either are the same lanes, the other words lie behind both registers.
fn acc_lanes(nr: u8, rel: Rel, size: usize) -> [u8; 16] {
    let per_reg = if size == 4 { 8 } else { 16 };
    let base = i32::from(nr & 1) * per_reg;
    rel.map(|r| {
        let channel = (base + r / size.max(2) as i32).rem_euclid(2 * per_reg);
        let (reg, channel) = (channel / per_reg, channel % per_reg);
        (reg * 8 + channel % 8 + channel / 8 * 16) as u8
    })
}

/// PRM 11.3.9: float wins, then dword; bytes compute as words.
fn exec_type(inst: &Inst) -> ExecType {
    use Opcode::{Dp2, Dp3, Dp4, Dph, Frc, Line, Pln, Rndd, Rnde, Rndu, Rndz};
    if matches!(
        inst.opcode,
        Frc | Rndu | Rndd | Rnde | Rndz | Dp4 | Dph | Dp3 | Dp2 | Line | Pln
    ) {
        return ExecType::Float;
    }
    let srcs = &inst.src[..usize::from(inst.num_src.clamp(1, 2))];
    let used = srcs
        .iter()
        .filter(|s| !(s.file == RegFile::Arf && matches!(s.addr, Addr::Direct { nr: 0, .. })));
    let mut ty = ExecType::Word;
    for s in used {
        match s.ty {
            Type::F | Type::Vf => return ExecType::Float,
            Type::Ud | Type::D => ty = ExecType::Dword,
            _ => {}
        }
    }
    ty
}

/// Arithmetic instructions update the accumulator implicitly (PRM 11.3.4.5): on these parts the
/// whole group from `add` to `line`.
fn writes_acc(op: Opcode) -> bool {
    use Opcode::{
        Add, Avg, Dp2, Dp3, Dp4, Dph, Frc, Line, Lzd, Mac, Mach, Mul, Pln, Rndd, Rnde, Rndu, Rndz,
        Sad2, Sada2,
    };
    matches!(
        op,
        Add | Mul
            | Avg
            | Frc
            | Rndu
            | Rndd
            | Rnde
            | Rndz
            | Mac
            | Mach
            | Lzd
            | Sad2
            | Sada2
            | Dp4
            | Dph
            | Dp3
            | Dp2
            | Line
            | Pln
    )
}

fn null_reg(file: RegFile, addr: Addr) -> bool {
    file == RegFile::Arf && matches!(addr, Addr::Direct { nr, .. } if nr >> 4 == 0)
}

/// Where the dwords of the implied move come from. Elements narrower or wider than a dword, and
/// indirect sources, move the register as it is.
fn implied_move(inst: &Inst) -> Option<Implied> {
    let src = &inst.src[0];
    let Addr::Direct { nr, subnr } = src.addr else {
        return None;
    };
    if src.file != RegFile::Grf {
        return None;
    }
    let whole = [0, 1, 2, 3, 4, 5, 6, 7];
    let mut from = whole;
    let mut half = whole.len();
    if src.ty.size() == 4 {
        let element = |channel: usize| {
            if inst.access == AccessMode::Align16 {
                let group = if src.region.vstride == 0 {
                    0
                } else {
                    channel & !3
                };
                group + usize::from(src.swizzle[channel & 3] & 3)
            } else {
                let width = usize::from(src.region.width.max(1));
                let vstride = match src.region.vstride {
                    Region::VXH => 0,
                    stride => usize::from(stride),
                };
                channel / width * vstride + channel % width * usize::from(src.region.hstride)
            }
        };
        for (channel, from) in from.iter_mut().enumerate() {
            // CAST: at most 7 rows of 32 elements and 8 of 4, saturated far past any register.
            *from = (element(channel) + usize::from(subnr / 4)).min(255) as u8;
        }
        half = element(8) - element(0);
    }
    Some(Implied {
        base: u16::from(nr) * 8,
        from,
        whole: from == whole,
        // CAST: at most 8 rows of 32 elements.
        half: half as u16,
    })
}

fn send_op(inst: &Inst, rules: Rules) -> SendOp {
    let layout = rules.descriptor;
    let s = inst.send;
    let desc = s.and_then(|s| s.imm);
    let implied = implied_move(inst);
    let dst = match (inst.dst.file, inst.dst.addr) {
        (RegFile::Grf, Addr::Direct { nr, .. }) => Some(nr),
        (file, addr) if null_reg(file, addr) => None,
        _ => Some(u8::MAX),
    };
    // The channels of a response in the middle of a register are enabled there: kernels ask for one
    // reciprocal in place (Mesa brw_clip_util.c).
    let rotate = match inst.dst.addr {
        Addr::Direct { subnr, .. } if dst.is_some() && inst.access == AccessMode::Align1 => {
            (subnr / 4) & 7
        }
        _ => 0,
    };
    SendOp {
        desc,
        mrf: s.map_or(0, |s| s.mrf),
        implied,
        dst,
        rotate,
        target: s.filter(|_| !layout.whole).map(|s| s.sfid),
        // PRM 2.6.11: an end of thread inside a descriptor counts only in an immediate one.
        eot: if layout.whole {
            desc.is_some_and(|desc| desc >> 31 != 0)
        } else {
            s.is_some_and(|s| s.eot)
        },
        halves: rules.halves && inst.compression == Compression::Compressed && inst.exec_size == 16,
        length_at: layout.length,
        response_at: layout.response,
        response_max: layout.response_max,
    }
}

/// Lowers one instruction.
pub(crate) fn lower(inst: &Inst, mode: Mode, rules: Rules) -> Decoded {
    let exec = usize::from(inst.exec_size.clamp(1, 16));
    let shape = Shape {
        exec,
        compressed: inst.compression == Compression::Compressed && exec == 16,
    };
    let l = Lower { inst, shape, mode };
    let sechalf = inst.compression == Compression::SecHalf;
    let ty = exec_type(inst);

    let mut d = illegal();
    d.op = inst.opcode;
    d.breakpoint = inst.debug_ctrl;
    d.rare = inst.debug_ctrl || inst.no_dd_clr;
    d.weight = if exec > 8 { 2 } else { 1 };
    d.shift = if sechalf { 8 } else { 0 };
    d.no_mask = inst.no_mask;
    d.no_cmask = inst.no_mask && inst.mask_ctrl_ex;
    d.saturate = inst.saturate;
    d.pred = inst.pred_ctrl;
    d.pred_inv = inst.pred_inv;
    d.cond = inst.cond_mod;
    d.special = inst.saturate || inst.cond_mod != CondMod::None;
    d.flag = inst.flag_subreg & 1;
    d.exec = exec as u8;
    d.lanes = ((1u32 << exec) - 1) as u16;
    // The channel enables of a send are those of its response, if it has one.
    let silent = matches!(inst.opcode, Opcode::Send | Opcode::Sendc)
        && null_reg(inst.dst.file, inst.dst.addr);
    if inst.access == AccessMode::Align16 && !silent {
        d.lanes &= u16::from(inst.dst.writemask & 0xf) * 0x1111;
    }
    d.acc_write = writes_acc(inst.opcode);
    d.acc_word = ty == ExecType::Word;
    // The implied accumulator is the explicit one, if there is one (11.3.4.5).
    let second = explicit_acc(inst).map_or(sechalf, |nr| nr & 1 != 0);
    d.acc_lane = if second { 8 } else { 0 };
    if let Some(b) = inst.branch {
        d.jump = b.jump.wrapping_mul(rules.jump_unit);
        d.pop = b.pop_or_uip;
    }
    if inst.opcode == Opcode::Jmpi {
        d.jump = rules.jump_unit;
    }
    d.send = send_op(inst, rules);
    let (Some(dst), Some(s0), Some(s1)) =
        (l.dst(&inst.dst), l.src(&inst.src[0]), l.src(&inst.src[1]))
    else {
        d.run = exec::illegal;
        d.acc_write = false;
        return d;
    };
    d.dst = dst;
    d.src = [s0, s1];
    if inst.opcode == Opcode::Line && !exec::line_applies(&s0) {
        let general = Lower {
            mode: Mode::General,
            ..l
        };
        d.src[0] = general.src(&inst.src[0]).unwrap_or(s0);
    }
    if inst.opcode == Opcode::Pln {
        let general = Lower {
            mode: Mode::General,
            ..l
        };
        d.src = [
            general.src(&inst.src[0]).unwrap_or(s0),
            exec::pairs(general.src(&inst.src[1]).unwrap_or(s1)),
        ];
    }
    d.simple_float = match d.dst.kind {
        _ if d.special || mode == Mode::General => SimpleFloat::No,
        DstKind::Vec(off) if d.dst.num == Num::F => SimpleFloat::Vec(off),
        DstKind::Null => SimpleFloat::Null,
        _ => SimpleFloat::No,
    };
    exec::select(&mut d, inst, ty, mode);
    d
}

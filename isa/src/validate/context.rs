//! What the rules ask about an instruction: class, operands, execution type.
//!
//! PRM: volume 4, 11.3.9 (execution data type); as Mesa 22.3.6 brw_eu_validate.c has it where the
//! manual's section is not at hand. Three-source instructions have no execution type here.

use crate::inst::{AccessMode, Inst, Opcode};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};
use crate::tables::Features;

use super::footprint::Footprint;
use super::{Detail, Part, Place};

/// One instruction on a part.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) part: Part,
    pub(super) inst: &'a Inst,
    /// Sources that count for the region rules.
    pub(super) sources: usize,
    /// Type that the operation is carried out in.
    pub(super) exec_type: Option<Type>,
}

impl<'a> Context<'a> {
    pub(super) fn new(part: Part, inst: &'a Inst) -> Context<'a> {
        let mut context = Context {
            part,
            inst,
            sources: source_count(inst),
            exec_type: None,
        };
        context.exec_type = context.execution_type();
        context
    }

    /// The columns of the generation.
    pub(super) fn has(&self) -> &'static Features {
        self.part.generation.has()
    }

    pub(super) fn at(&self, place: Place) -> Detail {
        Detail::new(place).with("execution size", self.inst.exec_size)
    }

    pub(super) fn is_send(&self) -> bool {
        is_send(self.inst.opcode)
    }

    pub(super) fn is_split_send(&self) -> bool {
        matches!(self.inst.opcode, Opcode::Sends | Opcode::Sendsc)
    }

    /// Computes from sources into a destination: no send, no flow control, no mask stack.
    pub(super) fn computes(&self) -> bool {
        computes(self.inst.opcode)
    }

    pub(super) fn has_three_sources(&self) -> bool {
        self.computes() && self.inst.num_src >= 3
    }

    /// Computes from one or two sources with regions.
    pub(super) fn has_regions(&self) -> bool {
        self.computes() && self.inst.num_src < 3
    }

    pub(super) fn align16(&self) -> bool {
        self.inst.access == AccessMode::Align16
    }

    pub(super) fn exec_size(&self) -> u32 {
        u32::from(self.inst.exec_size)
    }

    /// The sources that the instruction reads.
    pub(super) fn sources(&self) -> impl Iterator<Item = (Place, &'a Src)> + use<'a> {
        Place::SOURCES
            .into_iter()
            .zip(&self.inst.src)
            .take(self.sources)
    }

    /// Those of them with a register, hence a region.
    pub(super) fn registers(&self) -> impl Iterator<Item = (Place, &'a Src)> + use<'a> {
        self.sources().filter(|(_, src)| src.file != RegFile::Imm)
    }

    /// Sources whose regions the general rules look at: what a send moves or names too.
    pub(super) fn region_sources(&self) -> impl Iterator<Item = (Place, &'a Src)> + use<'a> {
        let payload = self.is_send() && !self.is_split_send();
        let first = &self.inst.src[0];
        let payload = (payload && first.file != RegFile::Imm && !is_null(first))
            .then_some((Place::Src0, first));
        let regions = self.has_regions();
        self.registers().filter(move |_| regions).chain(payload)
    }

    /// Bytes of an element as regions count them: Gen7.0 counts 64-bit elements as two of 32 bits.
    pub(super) fn element(&self, ty: Type) -> u32 {
        match ty.size() as u32 {
            8 if self.has().split_doubles => 4,
            size => size,
        }
    }

    /// Bytes that a direct align1 source reads, `None` where the question makes no sense.
    pub(super) fn source_footprint(&self, src: &Src) -> Option<Footprint> {
        let Addr::Direct { subnr, .. } = src.addr else {
            return None;
        };
        if src.file == RegFile::Imm || src.region.vstride == Region::VXH || self.align16() {
            return None;
        }
        Footprint::new(
            u32::from(subnr),
            src.region,
            self.element(src.ty),
            self.exec_size(),
        )
    }

    /// Bytes that a direct align1 destination covers.
    pub(super) fn dst_footprint(&self) -> Option<Footprint> {
        direct(self.inst.dst.addr).and_then(|(_, subnr)| self.dst_footprint_at(subnr))
    }

    /// Bytes that an indirect align1 destination covers from its first element on.
    pub(super) fn indirect_dst_footprint(&self) -> Option<Footprint> {
        is_indirect(self.inst.dst.addr)
            .then(|| self.dst_footprint_at(0))
            .flatten()
    }

    fn dst_footprint_at(&self, subnr: u8) -> Option<Footprint> {
        let dst = &self.inst.dst;
        if self.align16() || is_null_dst(dst) || !(self.computes() || self.is_send()) {
            return None;
        }
        let row = Region {
            vstride: 0,
            width: self.inst.exec_size,
            hstride: dst.hstride,
        };
        Footprint::new(
            u32::from(subnr),
            row,
            self.element(dst.ty),
            self.exec_size(),
        )
    }

    /// Byte offset of a direct destination in its register.
    pub(super) fn dst_subnr(&self) -> Option<u32> {
        direct(self.inst.dst.addr).map(|(_, subnr)| u32::from(subnr))
    }

    /// Whether the execution type, the destination or a DWord multiply makes this a 64-bit operation.
    pub(super) fn is_double(&self) -> bool {
        let wide = |ty: Type| ty.size() == 8;
        self.has_regions()
            && (wide(self.inst.dst.ty)
                || self.exec_type.is_some_and(wide)
                || (self.has().wide && self.is_dword_multiply()))
    }

    /// `mul` of two doublewords.
    pub(super) fn is_dword_multiply(&self) -> bool {
        let dword = |src: &Src| matches!(src.ty, Type::D | Type::Ud);
        self.inst.opcode == Opcode::Mul && dword(&self.inst.src[0]) && dword(&self.inst.src[1])
    }

    /// Whether half and single floats meet in one operation.
    pub(super) fn is_mixed_float(&self) -> bool {
        if !self.has().wide || !self.has_regions() {
            return false;
        }
        let types = [self.inst.dst.ty, self.inst.src[0].ty, self.inst.src[1].ty];
        let types = &types[..=self.sources.min(2)];
        types.contains(&Type::F) && types.contains(&Type::Hf)
    }

    /// A `mov` that only copies bits.
    pub(super) fn is_raw_move(&self) -> bool {
        let src = &self.inst.src[0];
        let plain = match src.file {
            RegFile::Imm => !matches!(src.ty, Type::V | Type::Uv | Type::Vf),
            _ => !src.negate && !src.abs,
        };
        self.inst.opcode == Opcode::Mov
            && plain
            && !self.inst.saturate
            && signed(self.inst.dst.ty) == signed(src.ty)
    }

    /// Whether an accumulator is read, as an operand or by the opcode.
    pub(super) fn reads_accumulator(&self) -> bool {
        matches!(self.inst.opcode, Opcode::Mac | Opcode::Mach | Opcode::Sada2)
            || self.sources().any(|(_, src)| is_accumulator(src))
    }

    fn execution_type(&self) -> Option<Type> {
        if !self.has_regions() || self.sources == 0 {
            return None;
        }
        let dst = self.inst.dst.ty;
        let first = operation_type(self.inst.src[0].ty);
        if self.sources == 1 {
            return Some(if first == Type::Hf { dst } else { first });
        }
        let second = operation_type(self.inst.src[1].ty);
        let either = |ty: Type| first == ty || second == ty;
        if (either(Type::F) || dst == Type::F) && (either(Type::Hf) || dst == Type::Hf) {
            return Some(Type::F);
        }
        if first == second {
            return Some(first);
        }
        if self.has().float_wins && either(Type::F) {
            return Some(Type::F);
        }
        [Type::Q, Type::D, Type::W, Type::Df]
            .into_iter()
            .find(|&ty| either(ty))
            .or(Some(first))
    }
}

fn source_count(inst: &Inst) -> usize {
    if inst.opcode == Opcode::Math {
        return match inst.math {
            Some(9..=13) => 2,
            _ => 1,
        };
    }
    match inst.opcode {
        opcode if is_send(opcode) => 0,
        opcode if computes(opcode) => usize::from(inst.num_src).min(3),
        _ => 0,
    }
}

fn is_send(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Send | Opcode::Sendc | Opcode::Sends | Opcode::Sendsc
    )
}

fn computes(opcode: Opcode) -> bool {
    !is_send(opcode)
        && !is_flow(opcode)
        && !matches!(
            opcode,
            Opcode::Nop
                | Opcode::Illegal
                | Opcode::Wait
                | Opcode::Msave
                | Opcode::Mrest
                | Opcode::Push
                | Opcode::Pop
        )
}

/// Whether the opcode jumps or opens and closes a block.
pub(super) fn is_flow(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Jmpi
            | Opcode::If
            | Opcode::Iff
            | Opcode::Else
            | Opcode::Endif
            | Opcode::Do
            | Opcode::While
            | Opcode::Break
            | Opcode::Cont
            | Opcode::Halt
            | Opcode::Call
            | Opcode::Ret
            | Opcode::Brc
            | Opcode::Brd
    )
}

/// Type that a source takes part in an operation with.
fn operation_type(ty: Type) -> Type {
    match ty {
        Type::Vf => Type::F,
        Type::Uq => Type::Q,
        Type::Ud => Type::D,
        Type::Uw | Type::B | Type::Ub | Type::V | Type::Uv => Type::W,
        other => other,
    }
}

fn signed(ty: Type) -> Type {
    match ty {
        Type::Uq => Type::Q,
        Type::Ud => Type::D,
        Type::Uw => Type::W,
        Type::Ub => Type::B,
        other => other,
    }
}

/// Register and byte of a direct operand.
pub(super) fn direct(addr: Addr) -> Option<(u8, u8)> {
    match addr {
        Addr::Direct { nr, subnr } => Some((nr, subnr)),
        Addr::Indirect { .. } => None,
    }
}

pub(super) fn is_indirect(addr: Addr) -> bool {
    direct(addr).is_none()
}

/// Number of an architecture register.
pub(super) fn arf(file: RegFile, addr: Addr) -> Option<u8> {
    match file {
        RegFile::Arf => direct(addr).map(|(nr, _)| nr),
        _ => None,
    }
}

pub(super) fn is_null_dst(dst: &Dst) -> bool {
    arf(dst.file, dst.addr) == Some(0)
}

pub(super) fn is_null(src: &Src) -> bool {
    arf(src.file, src.addr) == Some(0)
}

/// Number of an accumulator, from 0.
pub(super) fn accumulator(file: RegFile, addr: Addr) -> Option<u8> {
    arf(file, addr)
        .filter(|nr| nr & 0xf0 == 0x20)
        .map(|nr| nr & 0xf)
}

pub(super) fn is_accumulator(src: &Src) -> bool {
    accumulator(src.file, src.addr).is_some()
}

/// `<0;1,0>`.
pub(super) fn is_scalar(region: Region) -> bool {
    region == Region::SCALAR
}

/// Whether elements lie side by side, without gaps or repetition.
pub(super) fn is_packed(region: Region) -> bool {
    region.vstride == region.width
        && match region.width {
            1 => region.hstride == 0,
            _ => region.hstride == 1,
        }
}

/// Whether a destination's elements lie side by side.
pub(super) fn is_packed_dst(exec_size: u32, hstride: u8) -> bool {
    exec_size > 1 && hstride == 1
}

/// Whether a set, one bit a member, has a number.
pub(super) fn is_in(set: u32, number: u32) -> bool {
    set.checked_shr(number).is_some_and(|set| set & 1 != 0)
}

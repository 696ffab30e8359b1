//! Lowering of what needs more than a region: planes, three sources, 32 channels.
//!
//! PRM: Sandy Bridge volume 4 part 2, three-source instructions; 8.3.53 (pln).

use super::{Lower, Mode};
use crate::decoded::{Behind, Decoded, Halves, More, Num, Src, SrcKind, Third};
use crate::exec;
use crate::region;
use isa::inst::AccessMode;
use isa::operand::{self, Addr, RegFile, Region, Type};
use isa::{Inst, Opcode};

/// Channels in one part of an instruction with 32.
const PART: usize = 16;

/// Whether an opcode decides where channels go on: it knows by itself how many there are.
fn flows(op: Opcode) -> bool {
    use Opcode::{
        Break, Call, Case, Cont, Else, Endif, Fork, Halt, If, Jmpi, Ret, Send, Sendc, Wait, While,
    };
    matches!(
        op,
        If | Else
            | Endif
            | While
            | Break
            | Cont
            | Halt
            | Call
            | Ret
            | Case
            | Fork
            | Jmpi
            | Wait
            | Send
            | Sendc
    )
}

impl Lower<'_> {
    fn general(&self) -> Self {
        Lower {
            mode: Mode::General,
            ..*self
        }
    }

    /// `line` and `pln` read their coefficients beside the lanes.
    pub(super) fn planes(&self, d: &mut Decoded) {
        let general = self.general();
        match self.inst.opcode {
            Opcode::Line if !exec::line_applies(&d.src[0]) => {
                d.src[0] = general.src(&self.inst.src[0]).unwrap_or(d.src[0]);
            }
            Opcode::Pln => {
                d.src[1] = exec::pairs(general.src(&self.inst.src[1]).unwrap_or(d.src[1]));
                if exec::planar(d, self.inst.exec_size > 8).is_none() {
                    d.src[0] = general.src(&self.inst.src[0]).unwrap_or(d.src[0]);
                }
            }
            _ => {}
        }
    }

    /// A source of three: four channels in the order of the swizzle, or one for all.
    pub(super) fn third(&self, s: &operand::Src) -> Option<Src> {
        let Addr::Direct { nr, subnr } = s.addr else {
            return None;
        };
        let num = three_sourced(s)?;
        let swizzle = self.used_swizzle(s.swizzle);
        let (_, odd) = super::region_element(num);
        let first = i32::from(subnr & !odd);
        let mut rel = [first; PART];
        if s.region != Region::SCALAR {
            for (lane, byte) in rel.iter_mut().enumerate() {
                *byte += (lane as i32 & !3) * 4 + i32::from(swizzle[lane & 3] & 3) * 4;
            }
        }
        let table = region::grf_src(nr, self.first_of_pairs(rel));
        let kind = self.placed_source(table, num.size().into());
        Some(self.modified(s, kind, num))
    }

    /// The last of three sources, which few instructions have.
    pub(super) fn last(&self, s: &operand::Src) -> Option<Third> {
        let Addr::Direct { nr, subnr } = s.addr else {
            return None;
        };
        let num = three_sourced(s).filter(|_| self.inst.exec_size <= 16)?;
        let (_, odd) = super::region_element(num);
        Some(Third {
            first: u16::from(nr) * 8 + u16::from((subnr & !odd) / 4),
            swizzle: self.used_swizzle(s.swizzle).map(|channel| channel & 3),
            scalar: s.region == Region::SCALAR,
            negate: s.negate,
            abs: s.abs,
        })
    }

    /// Makes both parts of 32 channels of an instruction that was lowered for the first sixteen.
    pub(super) fn widen(&self, d: &mut Decoded) {
        let Inst { dst, src, .. } = self.inst;
        let align16 = self.inst.access == AccessMode::Align16;
        let stride = if align16 { 1 } else { usize::from(dst.hstride) };
        let mut halves = Halves {
            run: d.run,
            dst: Behind {
                bytes: distance(PART * stride * usize::from(d.dst.num.size())),
                rows: 0,
            },
            src: [Behind::default(); 2],
        };
        for (behind, s) in halves.src.iter_mut().zip(src) {
            let rows = PART / usize::from(s.region.width.clamp(1, 16));
            let vstride = usize::from(s.region.vstride);
            let element = s.ty.size();
            *behind = if align16 {
                Behind {
                    bytes: distance(PART / 4 * vstride * element),
                    rows: 0,
                }
            } else if s.region.vstride == Region::VXH {
                Behind {
                    bytes: 0,
                    // CAST: at most sixteen.
                    rows: rows as u8,
                }
            } else {
                Behind {
                    bytes: distance(rows * vstride * element),
                    rows: 0,
                }
            };
        }
        d.more = More::Halves(halves);
        if !flows(self.inst.opcode) {
            d.run = exec::both_halves;
        }
    }

    /// The simplest kind of a direct source of elements of `size` bytes.
    pub(super) fn placed_source(&self, table: [u16; 16], size: usize) -> SrcKind {
        // Dot products and pairs read whole groups of channels.
        let exec = self.shape.exec.max(4);
        let fast = self.mode == Mode::Fast;
        if fast && size == 4 && region::contiguous(&table, exec) {
            SrcKind::Vec(table[0] / 4)
        } else if fast && size == 4 && region::uniform(&table, exec) {
            SrcKind::Scalar(table[0] / 4)
        } else {
            SrcKind::Table(table)
        }
    }
}

/// The numbers of a source of three.
fn three_sourced(s: &operand::Src) -> Option<Num> {
    let known = matches!(s.ty, Type::F | Type::D | Type::Ud | Type::Df);
    (known && s.file == RegFile::Grf).then(|| super::num(s.ty))?
}

/// Past the end of the register file what is read is zero, wherever it is.
fn distance(bytes: usize) -> u16 {
    bytes.min(0x4000) as u16
}

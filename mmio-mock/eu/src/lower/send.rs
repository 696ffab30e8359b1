//! Lowering of `send`: implied move, payload, descriptor.
//!
//! PRM: volume 4, 2.6.2, 13.2.5; Sandy Bridge volume 4 part 2, 8.3.45.

use super::null_reg;
use crate::decoded::{Implied, SendOp};
use crate::r#gen::Rules;
use crate::grf::MRF_BASE;
use isa::Inst;
use isa::inst::{AccessMode, Compression};
use isa::operand::{Addr, RegFile, Region};

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

/// The register that source 0 names, in the array of all registers; past the last when it names none.
fn payload(inst: &Inst, rules: Rules) -> u8 {
    match (inst.src[0].file, inst.src[0].addr) {
        (RegFile::Grf, Addr::Direct { nr, .. }) if rules.general_payload => nr,
        (RegFile::Mrf, Addr::Direct { nr, .. }) if !rules.general_payload => message(nr),
        _ => u8::MAX,
    }
}

/// A message register in the array of all registers.
fn message(nr: u8) -> u8 {
    // CAST: 128.
    nr.saturating_add(MRF_BASE as u8)
}

pub(super) fn send_op(inst: &Inst, rules: Rules) -> SendOp {
    let layout = rules.descriptor;
    let s = inst.send;
    let desc = s.and_then(|s| s.imm);
    let implied = if rules.payload_in_source {
        None
    } else {
        implied_move(inst)
    };
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
        payload: if rules.payload_in_source {
            payload(inst, rules)
        } else {
            message(s.map_or(0, |s| s.mrf))
        },
        end: message(rules.message_registers),
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

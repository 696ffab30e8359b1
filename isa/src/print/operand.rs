//! Text of operands: registers, regions, swizzles, immediates.
//!
//! PRM: volume 4, 13.4.2-13.4.11. 64-bit and half-float immediates of later generations are not
//! printed.

use super::{Line, float};
use crate::inst::{AccessMode, Inst};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};

/// Register name. `false` when the register has no region and no type.
fn register(line: &mut Line, file: RegFile, nr: u8) -> bool {
    let index = nr & 0xf;
    match file {
        RegFile::Grf => line.fmt(format_args!("g{nr}")),
        RegFile::Mrf => line.fmt(format_args!("m{}", nr & 0x7f)),
        RegFile::Imm => {}
        RegFile::Arf => {
            let name = match nr >> 4 {
                0x0 => {
                    line.put("null");
                    return true;
                }
                0xa => {
                    line.put("ip");
                    return false;
                }
                0x1 => "a",
                0x2 => "acc",
                0x3 => "f",
                0x4 => "mask",
                0x5 => "ms",
                0x6 => "msd",
                0x7 => "sr",
                0x8 => "cr",
                0x9 => "n",
                _ => {
                    line.fmt(format_args!("ARF{nr}"));
                    return true;
                }
            };
            line.fmt(format_args!("{name}{index}"));
        }
    }
    true
}

pub(super) fn mrf_bit7(dst: &Dst) -> bool {
    matches!(dst.addr, Addr::Direct { nr, .. } if nr & 0x80 != 0)
}

fn subregister(line: &mut Line, subnr: u8, ty: Type) {
    if subnr != 0 {
        line.fmt(format_args!(".{}", usize::from(subnr) / ty.size()));
    }
}

fn indirect(line: &mut Line, subreg: u8, imm: i16) {
    line.put("g[a0");
    if subreg != 0 {
        line.fmt(format_args!(".{subreg}"));
    }
    if imm != 0 {
        line.fmt(format_args!(" {imm}"));
    }
    line.put("]");
}

pub(super) fn dst(line: &mut Line, inst: &Inst) {
    let dst = &inst.dst;
    match dst.addr {
        Addr::Direct { nr, subnr } => {
            if !register(line, dst.file, nr) {
                return;
            }
            subregister(line, subnr, dst.ty);
        }
        Addr::Indirect { subreg, imm } => indirect(line, subreg, imm),
    }
    line.fmt(format_args!("<{}>", dst.hstride));
    if inst.access == AccessMode::Align16 && dst.writemask != 0xf {
        line.put(".");
        for (bit, name) in CHANNELS.into_iter().enumerate() {
            if dst.writemask >> bit & 1 != 0 {
                line.put(name);
            }
        }
    }
    line.put(letters(dst.ty));
}

const CHANNELS: [&str; 4] = ["x", "y", "z", "w"];

pub(super) fn src(line: &mut Line, inst: &Inst, index: usize) {
    let Some(src) = inst.src.get(index) else {
        return;
    };
    if src.file == RegFile::Imm {
        return immediate(line, src.ty, src.imm as u32);
    }
    if src.negate {
        line.put("-");
    }
    if src.abs {
        line.put("(abs)");
    }
    match src.addr {
        Addr::Direct { nr, subnr } => {
            if !register(line, src.file, nr) {
                return;
            }
            subregister(line, subnr, src.ty);
        }
        Addr::Indirect { subreg, imm } => indirect(line, subreg, imm),
    }
    let Region {
        vstride,
        width,
        hstride,
    } = src.region;
    line.put("<");
    if vstride == Region::VXH {
        line.put("VxH");
    } else {
        line.fmt(format_args!("{vstride}"));
    }
    match inst.access {
        AccessMode::Align1 => line.fmt(format_args!(",{width},{hstride}>")),
        AccessMode::Align16 => {
            line.put(">");
            swizzle(line, src);
        }
    }
    line.put(letters(src.ty));
}

fn swizzle(line: &mut Line, src: &Src) {
    if src.swizzle == Src::XYZW {
        return;
    }
    let [first, ..] = src.swizzle;
    let channels = if src.swizzle == [first; 4] { 1 } else { 4 };
    line.put(".");
    for channel in src.swizzle.into_iter().take(channels) {
        line.put(CHANNELS[usize::from(channel & 3)]);
    }
}

fn immediate(line: &mut Line, ty: Type, imm: u32) {
    match ty {
        Type::Ud => line.fmt(format_args!("0x{imm:08x}UD")),
        Type::D => line.fmt(format_args!("{}D", imm as i32)),
        Type::Uw => line.fmt(format_args!("0x{:04x}UW", imm as u16)),
        Type::W => line.fmt(format_args!("{}W", imm as i16)),
        Type::V => line.fmt(format_args!("0x{imm:08x}V")),
        Type::Uv => line.fmt(format_args!("0x{imm:08x}UV")),
        Type::F => {
            line.fmt(format_args!("0x{imm:x}F"));
            line.pad(48);
            line.put(" /* ");
            float::general(line, f32::from_bits(imm));
            line.put("F */");
        }
        Type::Vf => {
            line.fmt(format_args!("0x{imm:x}VF"));
            line.pad(48);
            line.put("/* [");
            for (index, byte) in imm.to_le_bytes().into_iter().enumerate() {
                line.put(if index == 0 { "" } else { ", " });
                float::general(line, float::restricted(byte));
                line.put("F");
            }
            line.put("]VF */");
        }
        _ => line.put("*** invalid immediate type "),
    }
}

const fn letters(ty: Type) -> &'static str {
    match ty {
        Type::Ud => "UD",
        Type::D => "D",
        Type::Uw => "UW",
        Type::W => "W",
        Type::Ub => "UB",
        Type::B => "B",
        Type::F => "F",
        Type::Vf => "VF",
        Type::V => "V",
        Type::Uv => "UV",
        Type::Df => "DF",
        Type::Hf => "HF",
        Type::Uq => "UQ",
        Type::Q => "Q",
    }
}

//! Text of operands: registers, regions, swizzles, immediates.
//!
//! PRM: volume 4, 13.4.2-13.4.11; three-source and split-send operands as in Mesa 22.3.6
//! `brw_disasm.c`. The numbers of `ip` and `tdr` registers are not printed, nor are their region and type where these are what the
//! registers have without letters; Mesa prints neither in any case.

use super::{Line, control, float};
use crate::inst::{AccessMode, Inst, Opcode, Verx10};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type, bare_type};

/// Register name.
fn register(line: &mut Line, file: RegFile, nr: u8) {
    let index = nr & 0xf;
    match file {
        RegFile::Grf => line.fmt(format_args!("g{nr}")),
        RegFile::Mrf => line.fmt(format_args!("m{}", nr & 0x7f)),
        RegFile::Imm => {}
        RegFile::Arf => {
            let name = match nr >> 4 {
                0x0 => return line.put("null"),
                0xa => return line.put("ip"),
                0xb => return line.put("tdr0"),
                0x1 => "a",
                0x2 => "acc",
                0x3 => "f",
                0x4 => "mask",
                0x5 => "ms",
                0x6 => "msd",
                0x7 => "sr",
                0x8 => "cr",
                0x9 => "n",
                0xc => "tm",
                _ => return line.fmt(format_args!("ARF{nr}")),
            };
            line.fmt(format_args!("{name}{index}"));
        }
    }
}

pub(super) fn mrf_bit7(dst: &Dst) -> bool {
    matches!(dst.addr, Addr::Direct { nr, .. } if nr & 0x80 != 0)
}

fn subregister(line: &mut Line, subnr: u8, ty: Type) {
    if subnr != 0 {
        line.fmt(format_args!(".{}", usize::from(subnr) / ty.size()));
    }
}

fn indirect(line: &mut Line, file: RegFile, subreg: u8, imm: i16) {
    line.put(if file == RegFile::Mrf { "m[a0" } else { "g[a0" });
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
            register(line, dst.file, nr);
            let is_plain = (subnr, dst.hstride, dst.writemask) == (0, 1, 0xf);
            if is_plain && dst.file == RegFile::Arf && bare_type(nr) == Some(dst.ty) {
                return;
            }
            subregister(line, subnr, dst.ty);
        }
        Addr::Indirect { subreg, imm } => indirect(line, dst.file, subreg, imm),
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

pub(super) fn src(line: &mut Line, generation: Verx10, inst: &Inst, index: usize) {
    let Some(src) = inst.src.get(index) else {
        return;
    };
    if src.file == RegFile::Imm {
        return immediate(line, inst.opcode, src.ty, src.imm);
    }
    let not = control::negate_is_not(generation, inst.opcode);
    modifiers(line, src, if not { "~" } else { "-" });
    match src.addr {
        Addr::Direct { nr, subnr } => {
            register(line, src.file, nr);
            let is_plain =
                (subnr, src.region) == (0, Region::SCALAR) && inst.access == AccessMode::Align1;
            if is_plain && src.file == RegFile::Arf && bare_type(nr) == Some(src.ty) {
                return;
            }
            subregister(line, subnr, src.ty);
        }
        Addr::Indirect { subreg, imm } => indirect(line, src.file, subreg, imm),
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

fn modifiers(line: &mut Line, src: &Src, negate: &str) {
    if src.negate {
        line.put(negate);
    }
    if src.abs {
        line.put("(abs)");
    }
}

/// The operands of a three-source instruction: align16, with the region spelled out.
pub(super) fn three_source(line: &mut Line, inst: &Inst) {
    line.pad(16);
    dst(line, inst);
    for (index, src) in inst.src.iter().enumerate() {
        line.pad(32 + 16 * index);
        modifiers(line, src, "-");
        let Addr::Direct { nr, subnr } = src.addr else {
            continue;
        };
        register(line, src.file, nr);
        let scalar = src.region == Region::SCALAR;
        if subnr != 0 || scalar {
            line.fmt(format_args!(".{}", usize::from(subnr) / src.ty.size()));
        }
        let Region {
            vstride,
            width,
            hstride,
        } = src.region;
        line.fmt(format_args!("<{vstride},{width},{hstride}>"));
        if !scalar {
            swizzle(line, src);
        }
        line.put(letters(src.ty));
    }
}

/// Destination and payloads of a split send, which have no regions.
pub(super) fn split_payloads(line: &mut Line, inst: &Inst) {
    line.pad(16);
    payload(line, inst.dst.file, inst.dst.addr);
    for (index, src) in inst.src.iter().take(2).enumerate() {
        line.pad(32 + 16 * index);
        payload(line, src.file, src.addr);
    }
}

fn payload(line: &mut Line, file: RegFile, addr: Addr) {
    match addr {
        Addr::Direct { nr, subnr } => {
            register(line, file, nr);
            subregister(line, subnr, Type::Ud);
        }
        Addr::Indirect { subreg, imm } => indirect(line, file, subreg, imm),
    }
    line.put(letters(Type::Ud));
}

fn immediate(line: &mut Line, opcode: Opcode, ty: Type, imm: u64) {
    // CAST: the low half, all there is of the narrower types.
    let (low, half) = (imm as u32, imm as u16);
    match ty {
        Type::Ud => line.fmt(format_args!("{low:#010x}UD")),
        Type::D => line.fmt(format_args!("{}D", low as i32)),
        Type::Uw => line.fmt(format_args!("{half:#06x}UW")),
        Type::W => line.fmt(format_args!("{}W", half as i16)),
        Type::V => line.fmt(format_args!("{low:#010x}V")),
        Type::Uv => line.fmt(format_args!("{low:#010x}UV")),
        Type::Uq => line.fmt(format_args!("{imm:#018x}UQ")),
        Type::Q => line.fmt(format_args!("{imm:#018x}Q")),
        Type::Hf => line.fmt(format_args!("{half:#06x}HF")),
        Type::F if opcode == Opcode::Dim => {
            line.fmt(format_args!("{imm:#x}F"));
            comment(line, "/* ", f64::from_bits(imm), "F */");
        }
        Type::F => {
            line.fmt(format_args!("{low:#x}F"));
            comment(line, " /* ", f64::from(f32::from_bits(low)), "F */");
        }
        Type::Df => {
            line.fmt(format_args!("{imm:#018x}DF"));
            comment(line, "/* ", f64::from_bits(imm), "DF */");
        }
        Type::Vf => {
            line.fmt(format_args!("{low:#x}VF"));
            line.pad(48);
            line.put("/* [");
            for (index, byte) in low.to_le_bytes().into_iter().enumerate() {
                line.put(if index == 0 { "" } else { ", " });
                float::general(line, f64::from(float::restricted(byte)));
                line.put("F");
            }
            line.put("]VF */");
        }
        Type::Ub | Type::B => line.fmt(format_args!("*** invalid immediate type {ty:?} ")),
    }
}

/// The value of a float, in the column where Mesa puts it.
fn comment(line: &mut Line, before: &str, value: f64, after: &str) {
    line.pad(48);
    line.put(before);
    float::general(line, value);
    line.put(after);
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

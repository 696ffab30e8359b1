//! What intel-gen4disasm should print, from what the decoder read.
//!
//! PRM: volume 4, 13.4. The text was found by trying Debian's intel-gpu-tools 1.27.1. Fields that it
//! does not print, or reads from the wrong place, are reasons not to compare.

use std::fmt::Write;

use isa::inst::{AccessMode, Compression, CondMod, PredCtrl, ThreadCtrl};
use isa::operand::{Addr, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

use super::dialect::{Shape, shape};

type Text = Result<String, &'static str>;

/// Words of the expected text, one space between them. A message has no second line here.
pub fn line(generation: Verx10, inst: &Inst, raw: [u32; 4]) -> Text {
    let writer = Writer {
        v: generation.times_ten(),
        inst,
        raw,
    };
    writer.line()
}

struct Writer<'a> {
    v: u8,
    inst: &'a Inst,
    raw: [u32; 4],
}

impl Writer<'_> {
    fn line(&self) -> Text {
        let inst = self.inst;
        let shape = shape(inst.opcode).ok_or("opcode that the program does not know")?;
        let known = !matches!(
            inst.opcode,
            Opcode::Bfrev
                | Opcode::Cbit
                | Opcode::F16to32
                | Opcode::F32to16
                | Opcode::Fbh
                | Opcode::Fbl
                | Opcode::Bfi1
                | Opcode::Bfe
                | Opcode::Bfi2
                | Opcode::Lrp
                | Opcode::Addc
                | Opcode::Subb
                | Opcode::Brd
                | Opcode::Brc
                | Opcode::Call
                | Opcode::Ret
        );
        if !known {
            return Err("opcode that the program does not know");
        }
        let mut text = self.head()?;
        match shape {
            Shape::Three if self.v >= 80 => return Err("three sources from Gen8 on"),
            Shape::Three => text += &self.three()?,
            Shape::Unary | Shape::Binary | Shape::BinaryAcc | Shape::Math => {
                write!(text, " {}", self.dst()?).expect("text");
                for src in &inst.src[..usize::from(inst.num_src)] {
                    write!(text, " {}", self.src(src)?).expect("text");
                }
            }
            Shape::Send => {
                write!(text, " {} {}", self.dst()?, self.src(&inst.src[0])?).expect("text");
            }
            Shape::Wait => write!(text, " {}", self.src(&inst.src[0])?).expect("text"),
            Shape::Flow => return Err("operands of flow control, which are not its distances"),
            Shape::Jump if inst.branch.is_none() || self.v >= 80 => {
                return Err("jmpi through a register, or from Gen8 on");
            }
            Shape::Jump => write!(text, " {}", inst.branch.expect("checked").jump).expect("text"),
            Shape::Ret => return Err("opcode that the program does not know"),
            Shape::Bare => {}
        }
        if inst.opcode == Opcode::Nop {
            return Ok(text + " ;");
        }
        if shape == Shape::Send {
            return Ok(text);
        }
        Ok(text + &self.options()?)
    }

    fn bit(&self, bit: usize) -> u32 {
        self.raw[bit / 32] >> (bit % 32) & 1
    }

    fn flag(&self) -> String {
        // Three sources have another operand's bits there.
        let (reg, subreg) = if self.v >= 80 { (33, 32) } else { (90, 89) };
        let reg = if self.v >= 70 { self.bit(reg) } else { 0 };
        match self.bit(subreg) {
            0 => format!("f{reg}"),
            subreg => format!("f{reg}.{subreg}"),
        }
    }

    fn head(&self) -> Text {
        let inst = self.inst;
        let mut text = String::new();
        let ctrl = match inst.pred_ctrl {
            PredCtrl::None => None,
            PredCtrl::Normal => Some(String::new()),
            PredCtrl::ReplX => Some(".x".into()),
            PredCtrl::ReplY => Some(".y".into()),
            PredCtrl::ReplZ => Some(".z".into()),
            PredCtrl::ReplW => Some(".w".into()),
            PredCtrl::AlignAny4h => Some(".any4h".into()),
            PredCtrl::AlignAll4h => Some(".all4h".into()),
            PredCtrl::Any32h | PredCtrl::All32h if self.v < 80 => {
                return Err("predicates over 32 channels");
            }
            other => Some(format!(".{other:?}").to_lowercase()),
        };
        if let Some(ctrl) = ctrl {
            let sign = if inst.pred_inv { '-' } else { '+' };
            write!(text, "({sign}{}{ctrl}) ", self.flag()).expect("text");
        }
        text += inst.opcode.mnemonic().expect("a mnemonic");
        text += if inst.saturate { ".sat" } else { "" };
        text += if inst.debug_ctrl { ".breakpoint" } else { "" };
        if let Some(function) = inst.math {
            text += " ";
            text += match function {
                1 => "inv",
                2 => "log",
                3 => "exp",
                4 => "sqrt",
                5 => "rsq",
                6 => "sin",
                7 => "cos",
                8 if self.v < 80 => "sincos",
                9 if self.v >= 80 => "fdiv",
                10 => "pow",
                11 => "intdivmod",
                12 => "intdiv",
                13 => "intmod",
                14 => "invm",
                15 => "rsqrtm",
                _ => return Err("math functions 8 and 9, which have changed"),
            };
        }
        text += match inst.cond_mod {
            CondMod::None => "",
            CondMod::Z => ".e",
            CondMod::Nz => ".ne",
            CondMod::G => ".g",
            CondMod::Ge => ".ge",
            CondMod::L => ".l",
            CondMod::Le => ".le",
            CondMod::R if self.v >= 80 => return Err("condition .r from Gen8 on"),
            CondMod::R => ".r",
            CondMod::O => ".o",
            CondMod::U => ".u",
        };
        let embedded = matches!(inst.opcode, Opcode::Sel | Opcode::If | Opcode::While);
        if inst.cond_mod != CondMod::None && (self.v < 60 || !embedded) {
            write!(text, ".{}", self.flag()).expect("text");
        }
        if inst.opcode != Opcode::Nop {
            write!(text, "({})", inst.exec_size).expect("text");
        }
        if let (Opcode::Send, Some(send), 0..60) = (inst.opcode, inst.send, self.v) {
            write!(text, " {}", send.mrf).expect("text");
        }
        Ok(text)
    }

    fn align16(&self) -> bool {
        self.inst.access == AccessMode::Align16
    }

    fn dst(&self) -> Text {
        let dst = self.inst.dst;
        let name = type_name(self.v, dst.ty)?;
        let mut text = match dst.addr {
            Addr::Direct { nr, subnr } => {
                let text = register(dst.file, nr)?;
                if matches!(text.as_str(), "null" | "ip") {
                    return Ok(text);
                }
                // The one bit of align16 is divided as if it were bytes.
                let bytes = if self.align16() { subnr / 16 } else { subnr };
                match subnr {
                    0 => text,
                    _ => format!("{text}.{}", usize::from(bytes) / dst.ty.size()),
                }
            }
            Addr::Indirect { .. } if self.align16() || self.v >= 80 => {
                return Err("indirect operands of align16, and from Gen8 on");
            }
            Addr::Indirect { subreg, imm } => {
                indirect((subreg != 0).then_some(subreg / dst.ty.size() as u8), imm)
            }
        };
        write!(text, "<{}>", if self.align16() { 1 } else { dst.hstride }).expect("text");
        if self.align16() {
            text += &writemask(self.v, dst.writemask);
        }
        Ok(text + name)
    }

    fn src(&self, src: &Src) -> Text {
        let name = type_name(self.v, src.ty);
        if src.file == RegFile::Imm {
            let bits = src.imm as u32;
            return Ok(match src.ty {
                Type::Ud => format!("0x{bits:08x}UD"),
                Type::D => format!("{}D", bits as i32),
                Type::Uw => format!("0x{:04x}UW", bits as u16),
                Type::W => format!("{}W", bits as i16),
                Type::V => format!("0x{bits:08x}V"),
                Type::Vf => "Vector Float".into(),
                Type::F => return Err("float immediates with six digits"),
                _ => return Err("types UV, DF, HF, UQ and Q"),
            });
        }
        let name = name?;
        let mut text = String::new();
        text += if src.negate { "-" } else { "" };
        text += if src.abs { "(abs)" } else { "" };
        let place = match src.addr {
            Addr::Direct { nr, subnr } => {
                let name = register(src.file, nr)?;
                if matches!(name.as_str(), "null" | "ip") {
                    return Ok(text + &name);
                }
                match subnr {
                    0 => name,
                    _ => format!("{name}.{}", usize::from(subnr) / src.ty.size()),
                }
            }
            Addr::Indirect { .. } if self.align16() || self.v >= 80 => {
                return Err("indirect operands of align16, and from Gen8 on");
            }
            Addr::Indirect { subreg, imm } => indirect((subreg != 0).then_some(subreg), imm),
        };
        text += &place;
        let Region {
            vstride,
            width,
            hstride,
        } = src.region;
        match vstride {
            Region::VXH => text += "<VxH",
            _ => write!(text, "<{vstride}").expect("text"),
        }
        write!(text, ",{width},{hstride}>").expect("text");
        if self.align16() {
            text += &swizzle(src.swizzle);
        }
        Ok(text + name)
    }

    fn three(&self) -> Text {
        let inst = self.inst;
        let Addr::Direct { nr, subnr } = inst.dst.addr else {
            return Err("indirect operands of align16, and from Gen8 on");
        };
        let mut text = format!(" {}", register(inst.dst.file, nr)?);
        if subnr != 0 {
            write!(text, ".{}", subnr / 4).expect("text");
        }
        // The types are not read.
        write!(text, "<1>{}F", writemask(self.v, inst.dst.writemask)).expect("text");
        for src in &inst.src {
            let Addr::Direct { nr, subnr } = src.addr else {
                return Err("indirect operands of align16, and from Gen8 on");
            };
            text += if src.negate { " -" } else { " " };
            text += if src.abs { "(abs)" } else { "" };
            text += &register(src.file, nr)?;
            if subnr != 0 {
                write!(text, ".{}", subnr / 4).expect("text");
            }
            text += "<4,1,1>F";
            // A replicated channel is not told from a swizzle.
            let replicated = src.region == Region::SCALAR;
            text += &swizzle(if replicated { [0; 4] } else { src.swizzle });
        }
        Ok(text)
    }

    fn options(&self) -> Text {
        let inst = self.inst;
        let mut list = vec![if self.align16() { "align16" } else { "align1" }];
        match (self.v < 60, inst.no_mask) {
            (true, true) => list.push("nomask"),
            (true, false) => {}
            (false, true) => list.push("WE_all"),
            (false, false) => list.push("WE_normal"),
        }
        match (inst.no_dd_clr, inst.no_dd_chk) {
            (false, false) => {}
            (true, false) => list.push("NoDDClr"),
            (false, true) => list.push("NoDDChk"),
            (true, true) => list.push("NoDDClr,NoDDChk"),
        }
        if self.v < 60 {
            // Of an indirect destination the bit is another one; the program looks all the same.
            match inst.compression {
                Compression::None => {}
                Compression::SecHalf => list.push("sechalf"),
                Compression::Compressed if self.bit(60) != 0 && inst.dst.file == RegFile::Mrf => {
                    list.push("compr4");
                }
                Compression::Compressed => list.push("compr"),
            }
        } else {
            match inst.exec_size {
                8 => list.push(["1Q", "2Q", "3Q", "4Q"][usize::from(inst.qtr_ctrl)]),
                16 => list.push(["1H", "1H", "2H", "2H"][usize::from(inst.qtr_ctrl)]),
                _ => {}
            }
        }
        match inst.thread_ctrl {
            ThreadCtrl::Normal => {}
            ThreadCtrl::Atomic if self.v < 80 => return Err("thread control atomic before Gen8"),
            ThreadCtrl::Atomic => list.push("atomic"),
            ThreadCtrl::Switch => list.push("switch"),
        }
        if inst.acc_wr_ctrl {
            list.push("AccWrEnable");
        }
        Ok(format!(" {{ {} }};", list.join(" ")))
    }
}

fn writemask(v: u8, mask: u8) -> String {
    match mask {
        0 if v >= 80 => return ".(none)".into(),
        0 => return ".".into(),
        15 => return String::new(),
        _ => {}
    }
    let mut text = String::from(".");
    for (bit, channel) in "xyzw".chars().enumerate() {
        if mask >> bit & 1 != 0 {
            text.push(channel);
        }
    }
    text
}

fn swizzle(swizzle: [u8; 4]) -> String {
    if swizzle == Src::XYZW {
        return String::new();
    }
    let [first, ..] = swizzle;
    let count = if swizzle == [first; 4] { 1 } else { 4 };
    let channels = swizzle[..count]
        .iter()
        .map(|&channel| ['x', 'y', 'z', 'w'][usize::from(channel)]);
    ".".chars().chain(channels).collect()
}

fn indirect(subreg: Option<u8>, imm: i16) -> String {
    let mut text = String::from("g[a0");
    if let Some(subreg) = subreg {
        write!(text, ".{subreg}").expect("text");
    }
    if imm != 0 {
        write!(text, " {imm}").expect("text");
    }
    text + "]"
}

fn register(file: RegFile, nr: u8) -> Text {
    let index = nr & 15;
    Ok(match (file, nr >> 4) {
        (RegFile::Grf, _) => format!("g{nr}"),
        (RegFile::Mrf, _) => format!("m{}", nr & 0x7f),
        (RegFile::Imm, _) => return Err("register file"),
        (_, 0) => "null".into(),
        (_, 1) => format!("a{index}"),
        (_, 2) => format!("acc{index}"),
        (_, 3) => format!("f{index}"),
        (_, 4) => format!("mask{index}"),
        // Mask stacks have the name of their depth, whose own number has none.
        (_, 5) => format!("msd{index}"),
        (_, 7) => format!("sr{index}"),
        (_, 8) => format!("cr{index}"),
        (_, 9) => format!("n{index}"),
        (_, 10) => "ip".into(),
        _ => format!("ARF{nr}"),
    })
}

fn type_name(v: u8, ty: Type) -> Result<&'static str, &'static str> {
    Ok(match ty {
        Type::Ud => "UD",
        Type::D => "D",
        Type::Uw => "UW",
        Type::W => "W",
        Type::Ub => "UB",
        Type::B => "B",
        Type::F => "F",
        Type::Df if v >= 80 => "DF",
        _ => return Err("types UV, DF, HF, UQ and Q"),
    })
}

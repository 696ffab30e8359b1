//! Source lines of intel-gen4asm for instructions, or why they have none.
//!
//! PRM: volume 4, 13.4. What the language can say was found by trying the program of Debian's
//! intel-gpu-tools 1.27.1; a line that makes it stop (it asserts region rules) has none either.

use std::fmt::Write;

use isa::inst::{AccessMode, Compression, CondMod, PredCtrl, ThreadCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

type Text = Result<String, &'static str>;

/// How an opcode's line is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Unary,
    /// Source 0 may be the accumulator.
    BinaryAcc,
    Binary,
    Three,
    Math,
    Send,
    Flow,
    Jump,
    Ret,
    Wait,
    Bare,
}

pub fn shape(opcode: Opcode) -> Option<Shape> {
    use Opcode as O;
    Some(match opcode {
        O::Mov
        | O::Frc
        | O::Rndu
        | O::Rndd
        | O::Rnde
        | O::Rndz
        | O::Not
        | O::Lzd
        | O::Bfrev
        | O::Cbit
        | O::F16to32
        | O::F32to16
        | O::Fbh
        | O::Fbl => Shape::Unary,
        O::Mul
        | O::Mac
        | O::Mach
        | O::Line
        | O::Sad2
        | O::Sada2
        | O::Dp4
        | O::Dph
        | O::Dp3
        | O::Dp2
        | O::Pln
        | O::Bfi1 => Shape::Binary,
        O::Avg
        | O::Add
        | O::Sel
        | O::And
        | O::Or
        | O::Xor
        | O::Shr
        | O::Shl
        | O::Asr
        | O::Cmp
        | O::Cmpn
        | O::Addc
        | O::Subb => Shape::BinaryAcc,
        O::Mad | O::Lrp | O::Bfe | O::Bfi2 => Shape::Three,
        O::Math => Shape::Math,
        O::Send | O::Sendc => Shape::Send,
        O::If
        | O::Else
        | O::Endif
        | O::While
        | O::Break
        | O::Cont
        | O::Halt
        | O::Brd
        | O::Brc
        | O::Call => Shape::Flow,
        O::Jmpi => Shape::Jump,
        O::Ret => Shape::Ret,
        O::Wait => Shape::Wait,
        O::Nop | O::Do => Shape::Bare,
        _ => return None,
    })
}

/// The source line of an instruction.
pub fn line(generation: Verx10, inst: &Inst) -> Text {
    let shape = shape(inst.opcode).ok_or("opcode that the language does not have")?;
    let writer = Writer {
        v: generation.times_ten(),
        inst,
    };
    match shape {
        Shape::Unary | Shape::BinaryAcc | Shape::Binary | Shape::Three => writer.ordinary(shape),
        Shape::Math => writer.math(),
        Shape::Send => writer.send(),
        Shape::Flow => writer.flow(),
        Shape::Jump => writer.jump(),
        Shape::Ret => writer.ret(),
        Shape::Wait => writer.wait(),
        Shape::Bare => {
            writer.no_controls(ThreadCtrl::Normal)?;
            writer.no_predicate()?;
            check(inst.exec_size == 1, "execution size of do")?;
            Ok(format!("{};", writer.name()))
        }
    }
}

fn check(condition: bool, reason: &'static str) -> Result<(), &'static str> {
    if condition { Ok(()) } else { Err(reason) }
}

struct Writer<'a> {
    v: u8,
    inst: &'a Inst,
}

impl Writer<'_> {
    fn name(&self) -> &'static str {
        self.inst.opcode.mnemonic().expect("a mnemonic")
    }

    fn predicate(&self) -> Text {
        let inst = self.inst;
        let ctrl = match inst.pred_ctrl {
            PredCtrl::None => return Ok(String::new()),
            PredCtrl::Normal => String::new(),
            PredCtrl::ReplX => ".x".into(),
            PredCtrl::ReplY => ".y".into(),
            // Read as the condition of that name.
            PredCtrl::ReplZ => return Err("predicate .z"),
            PredCtrl::ReplW => ".w".into(),
            PredCtrl::AlignAny4h => ".any4h".into(),
            PredCtrl::AlignAll4h => ".all4h".into(),
            PredCtrl::Any32h | PredCtrl::All32h => return Err("predicates over 32 channels"),
            other => format!(".{other:?}").to_lowercase(),
        };
        let sign = if inst.pred_inv { '-' } else { '+' };
        let (reg, subreg) = (inst.flag_reg, inst.flag_subreg);
        Ok(format!("({sign}f{reg}.{subreg}{ctrl}) "))
    }

    fn no_predicate(&self) -> Result<(), &'static str> {
        let inst = self.inst;
        check(
            inst.pred_ctrl == PredCtrl::None && !inst.pred_inv && self.plain_flag(),
            "predicate where there is no place for one",
        )
    }

    fn plain_flag(&self) -> bool {
        self.inst.flag_reg == 0 && self.inst.flag_subreg == 0
    }

    /// For the forms where only a predicate names the flag register.
    fn flag_of_predicate(&self) -> Result<(), &'static str> {
        check(
            self.inst.pred_ctrl != PredCtrl::None || self.plain_flag() && !self.inst.pred_inv,
            "flag register without a predicate or condition",
        )
    }

    fn modifiers(&self) -> Text {
        let inst = self.inst;
        check(
            inst.pred_ctrl != PredCtrl::None || !inst.pred_inv,
            "inverted predicate that is off",
        )?;
        let mut text = String::new();
        if inst.cond_mod != CondMod::None {
            write!(text, ".{:?}", inst.cond_mod).expect("text");
            text.make_ascii_lowercase();
        }
        if inst.cond_mod != CondMod::None || inst.pred_ctrl == PredCtrl::None && !self.plain_flag()
        {
            write!(text, ".f{}.{}", inst.flag_reg, inst.flag_subreg).expect("text");
        }
        text.push_str(if inst.saturate { ".sat" } else { "" });
        Ok(text)
    }

    fn options(&self) -> Text {
        let inst = self.inst;
        let mut list = vec![match inst.access {
            AccessMode::Align1 => "align1",
            AccessMode::Align16 => "align16",
        }];
        let mut add = |set: bool, name| list.extend(set.then_some(name));
        add(inst.compression == Compression::SecHalf, "sechalf");
        add(inst.compression == Compression::Compressed, "compr");
        match (inst.qtr_ctrl, self.v) {
            (0, _) => {}
            (1, 60..80) => add(true, "sechalf"),
            _ => return Err("quarter control"),
        }
        check(!inst.nib_ctrl, "nibble control")?;
        check(!inst.branch_ctrl, "branch control")?;
        add(inst.thread_ctrl == ThreadCtrl::Switch, "switch");
        add(inst.thread_ctrl == ThreadCtrl::Atomic, "atomic");
        add(inst.no_dd_clr, "noddclr");
        add(inst.no_dd_chk, "noddchk");
        add(inst.no_mask, "nomask");
        add(inst.debug_ctrl, "breakpoint");
        // One bit, two meanings.
        add(inst.acc_wr_ctrl || inst.mask_ctrl_ex, "accwrctrl");
        Ok(format!(" {{ {} }}", list.join(" ")))
    }

    /// The forms whose options are read and forgotten.
    fn no_controls(&self, thread_ctrl: ThreadCtrl) -> Result<(), &'static str> {
        let inst = self.inst;
        let plain = Inst {
            thread_ctrl,
            ..Inst::blank(inst.opcode)
        };
        let controls = |inst: &Inst| {
            let flags = [
                inst.access == AccessMode::Align16,
                inst.no_mask,
                inst.no_dd_clr,
                inst.no_dd_chk,
                inst.nib_ctrl,
                inst.acc_wr_ctrl,
                inst.branch_ctrl,
                inst.mask_ctrl_ex,
                inst.debug_ctrl,
                inst.saturate,
            ];
            (
                flags,
                inst.compression,
                inst.qtr_ctrl,
                inst.thread_ctrl,
                inst.cond_mod,
            )
        };
        check(
            controls(inst) == controls(&plain),
            "options of messages, math, flow control, wait and do",
        )
    }

    fn dst(&self) -> Text {
        let Dst {
            file,
            ty,
            addr,
            hstride,
            writemask,
            compr4,
        } = self.inst.dst;
        let name = type_name(ty)?;
        let align16 = self.inst.access == AccessMode::Align16;
        if let Addr::Indirect { .. } = addr {
            check(!align16, "indirect addresses in align16")?;
        }
        let place = match (file, addr) {
            (RegFile::Arf, Addr::Direct { nr, subnr }) => {
                check(
                    writemask == 0xf,
                    "channel enables of architecture registers",
                )?;
                let (text, form) = architecture(self.v, nr, subnr)?;
                return match form {
                    Arf::Whole => Ok(format!("{text}<{hstride}>{name}")),
                    Arf::SourceOnly => Err("architecture register that is read only"),
                    Arf::Fixed => {
                        let fixed = if nr >> 4 == 5 { Type::Uw } else { Type::Ud };
                        check(
                            ty == fixed && hstride == 1,
                            "type or stride of ms0, cr0, ip, n0 and null",
                        )?;
                        Ok(text)
                    }
                    Arf::Null => Ok(format!("null<{hstride}>{name}")),
                };
            }
            (RegFile::Arf, _) => return Err("indirect architecture registers"),
            (RegFile::Mrf, Addr::Direct { nr, subnr }) => {
                let nr = nr | u8::from(compr4) << 7;
                format!("m{nr}{}", dot(subnr))
            }
            _ => general(file, addr)?,
        };
        let mut text = format!("{place}<{hstride}>");
        if align16 && writemask != 0xf {
            if file == RegFile::Mrf {
                check(
                    writemask & 7 != 4,
                    "channel enables .z and .zw of message registers",
                )?;
            }
            // An empty list of channels is possible.
            text.push('.');
            for (bit, channel) in "xyzw".chars().enumerate() {
                if writemask >> bit & 1 != 0 {
                    text.push(channel);
                }
            }
            // Case does not count: .x W without the space would be .xw.
            text.push(' ');
            check(writemask != 0, "no channel enabled")?;
        }
        Ok(text + name)
    }

    fn src(&self, index: usize, accumulator: bool, exec_size: u8) -> Text {
        let src = &self.inst.src[index];
        if src.file == RegFile::Imm {
            if src.ty == Type::V && self.v < 80 {
                let step = usize::from(self.inst.dst.hstride) * self.inst.dst.ty.size();
                check(
                    step == 2,
                    "assertion: V immediates and the destination's stride",
                )?;
            }
            return immediate(src);
        }
        let name = type_name(src.ty)?;
        let align16 = self.inst.access == AccessMode::Align16;
        let Region {
            vstride,
            width,
            hstride,
        } = src.region;
        let region = match (align16, vstride) {
            (true, _) => format!("<{vstride}>"),
            (_, Region::VXH) => format!("<{width},{hstride}>"),
            _ => format!("<{vstride},{width},{hstride}>"),
        };
        if src.file == RegFile::Arf {
            let Addr::Direct { nr, subnr } = src.addr else {
                return Err("indirect architecture registers");
            };
            check(
                !src.negate && !src.abs && src.swizzle == Src::XYZW,
                "modifiers and swizzles of architecture registers",
            )?;
            let (text, form) = architecture(self.v, nr, subnr)?;
            if self.v < 80 {
                self.region_accepted(src.region, exec_size)?;
            }
            let scalar = vstride == 0 && (align16 || width == 1 && hstride == 0);
            return match form {
                Arf::Whole | Arf::SourceOnly if nr >> 4 == 2 && !accumulator => {
                    Err("accumulator as an operand that the grammar forbids")
                }
                Arf::Whole => Ok(format!("{text}{region}{name}")),
                Arf::SourceOnly if nr >> 4 == 7 => Ok(format!("{text}{region}{name}")),
                Arf::Fixed | Arf::SourceOnly => {
                    let fixed = if nr >> 4 == 5 { Type::Ub } else { Type::Ud };
                    let reason = "type or region of ms0, cr0, ip, n0 and null";
                    check(src.ty == fixed && scalar, reason)?;
                    Ok(text)
                }
                Arf::Null => {
                    check(scalar, "type or region of ms0, cr0, ip, n0 and null")?;
                    Ok(format!("null<0,1,0>{name}"))
                }
            };
        }
        let place = general(src.file, src.addr)?;
        if let Addr::Indirect { .. } = src.addr {
            check(!align16, "indirect addresses in align16")?;
        }
        self.region_accepted(src.region, exec_size)?;
        let mut text = String::new();
        text.push_str(if src.negate { "-" } else { "" });
        text.push_str(if src.abs { "(abs)" } else { "" });
        text.push_str(&place);
        text.push_str(&region);
        if align16 {
            text.push_str(&swizzle(src.swizzle));
        }
        Ok(text + name)
    }

    /// Region rules that the assembler asserts, of general registers.
    fn region_accepted(&self, region: Region, exec_size: u8) -> Result<(), &'static str> {
        let reason = "assertion: regions that break a rule of regioning";
        // In align16 only the vertical stride is written, beside one column.
        let align16 = self.inst.access == AccessMode::Align16;
        let Region {
            vstride,
            width,
            hstride,
        } = if align16 {
            Region {
                width: 1,
                hstride: 0,
                ..region
            }
        } else {
            region
        };
        check(exec_size >= width, reason)?;
        check(vstride != 0 || hstride != 0 || width == 1, reason)?;
        if self.v < 80 {
            return Ok(());
        }
        check(
            exec_size <= 16,
            "assertion: 32 channels of general registers",
        )?;
        if exec_size == width && hstride != 0 {
            let fits = vstride == Region::VXH
                || u16::from(vstride) == u16::from(width) * u16::from(hstride);
            check(fits, reason)?;
        }
        check(width != 1 || hstride == 0, reason)?;
        check(exec_size != 1 || width != 1 || vstride == 0, reason)
    }

    fn ordinary(&self, shape: Shape) -> Text {
        let inst = self.inst;
        let name = self.name();
        let mut text = self.predicate()? + name + &self.modifiers()?;
        write!(text, " ({}) {}", inst.exec_size, self.dst()?).expect("text");
        for index in 0..usize::from(inst.num_src) {
            let operand = if shape == Shape::Three {
                self.three_source(index)?
            } else {
                let accumulator = index == 0 && shape != Shape::Binary;
                self.src(index, accumulator, inst.exec_size)?
            };
            write!(text, " {operand}").expect("text");
        }
        Ok(text + &self.options()? + ";")
    }

    fn three_source(&self, index: usize) -> Text {
        let src = &self.inst.src[index];
        let mut text = String::new();
        text.push_str(if src.negate { "-" } else { "" });
        text.push_str(if src.abs { "(abs)" } else { "" });
        text.push_str(&general(src.file, src.addr)?);
        if src.region == Region::SCALAR {
            // A replicated channel adds to the subregister.
            text.push_str("<0,1,0>.x ");
        } else {
            text.push_str("<4,4,1>");
            text.push_str(&swizzle(src.swizzle));
        }
        Ok(text + type_name(src.ty)?)
    }

    fn math(&self) -> Text {
        let inst = self.inst;
        let function = match inst.math.expect("a function") {
            1 => "inv",
            2 => "log",
            3 => "exp",
            4 => "sqrt",
            6 => "sin",
            7 => "cos",
            8 => "sincos",
            10 => "pow",
            11 => "intdivmod",
            12 => "intdiv",
            13 => "intmod",
            _ => return Err("math functions rsq, fdiv, invm, rsqrtm"),
        };
        check(!inst.saturate, "saturate of math")?;
        self.flag_of_predicate()?;
        Ok(format!(
            "{}math ({}) {} {} {} {function}{};",
            self.predicate()?,
            inst.exec_size,
            self.dst()?,
            self.src(0, false, inst.exec_size)?,
            self.src(1, false, inst.exec_size)?,
            self.options()?
        ))
    }

    fn send(&self) -> Text {
        let inst = self.inst;
        let send = inst.send.expect("a descriptor");
        self.no_controls(ThreadCtrl::Normal)?;
        self.flag_of_predicate()?;
        let head = format!(
            "{}{} ({}) {}",
            self.predicate()?,
            self.name(),
            inst.exec_size,
            self.dst()?
        );
        let payload = if self.v < 60 {
            let plain = matches!(inst.src[0].addr, Addr::Direct { .. });
            check(plain, "indirect payloads and descriptors")?;
            format!("m{} {}", send.mrf, self.src(0, false, inst.exec_size)?)
        } else {
            let wide = self.v >= 80 && inst.exec_size > 16;
            check(!wide, "assertion: 32 channels of general registers")?;
            general(inst.src[0].file, inst.src[0].addr)?
        };
        let target = u32::from(send.sfid) | u32::from(send.eot) << 5;
        let extended = match self.v {
            0..50 => String::new(),
            50..60 if send.imm.is_none() => {
                check(
                    !send.eot,
                    "end of thread beside a descriptor in a register, Ironlake",
                )?;
                format!(" {target}")
            }
            _ => format!(" 0x{target:x}"),
        };
        let descriptor = if let Some(imm) = send.imm {
            format!("0x{imm:08x}UD")
        } else {
            let plain = matches!(inst.src[1].addr, Addr::Direct { .. });
            check(plain, "indirect payloads and descriptors")?;
            self.src(1, false, inst.exec_size)?
        };
        Ok(format!("{head} {payload}{extended} {descriptor};"))
    }

    /// The distance as the language counts it.
    fn distance(&self, distance: i32) -> Result<i32, &'static str> {
        let unit = if self.v < 50 { 1 } else { 2 };
        check(distance % unit == 0, "odd distances from Ironlake on")?;
        let count = distance / unit;
        check(i16::try_from(count).is_ok(), "distances beyond 16 bits")?;
        Ok(count)
    }

    fn flow(&self) -> Text {
        use Opcode as O;
        let inst = self.inst;
        let name = self.name();
        let (old, opcode) = (self.v < 60, inst.opcode);
        self.no_controls(match opcode {
            O::If | O::Else | O::Endif | O::While if old => ThreadCtrl::Switch,
            O::Brd | O::Brc => ThreadCtrl::Switch,
            _ => ThreadCtrl::Normal,
        })?;
        self.flag_of_predicate()?;
        let branch = inst.branch.ok_or("jumps through registers")?;
        let first = self.distance(branch.jump)?;
        // The pop count of else is always written.
        let second = if old && opcode == O::Else {
            branch.pop_or_uip
        } else {
            self.distance(branch.pop_or_uip)?
        };
        if matches!(opcode, O::Else | O::Endif) {
            self.no_predicate()?;
        }
        let head = format!("{}{name} ({})", self.predicate()?, inst.exec_size);
        Ok(match opcode {
            O::Endif if old => {
                let plain = inst.exec_size == 1 && first == 0 && second == 0;
                check(plain, "fields of endif before Sandybridge")?;
                format!("{name};")
            }
            O::Else if old => {
                check(second == 1, "pop count of else")?;
                format!("{head} {first};")
            }
            O::If | O::While if old => {
                check(second == 0, "pop count of if and while")?;
                format!("{head} {first};")
            }
            O::Else if self.v >= 80 => {
                check(second == 0, "UIP of else")?;
                format!("{head} {first};")
            }
            O::If if self.v < 70 => format!("{head} {first};"),
            O::If | O::Break | O::Cont | O::Halt | O::Brc => format!("{head} {first} {second};"),
            O::Call => {
                check(inst.exec_size == 2, "execution size of call and ret")?;
                format!("{head} {} {first};", self.dst()?)
            }
            _ => format!("{head} {first};"),
        })
    }

    fn jump(&self) -> Text {
        let inst = self.inst;
        self.no_controls(ThreadCtrl::Normal)?;
        self.flag_of_predicate()?;
        check(inst.exec_size == 1, "execution size of jmpi")?;
        let head = format!("{}jmpi (1)", self.predicate()?);
        if let Some(branch) = inst.branch {
            let unit = match self.v {
                0..50 => 1,
                50..75 => 2,
                _ => 16,
            };
            check(branch.jump % unit == 0, "odd distances from Ironlake on")?;
            let count = branch.jump / unit + 1;
            check(count != 0, "distance 0 of jmpi")?;
            return Ok(format!("{head} {count};"));
        }
        let plain = inst.src[1].file == RegFile::Grf && !inst.src[1].negate && !inst.src[1].abs;
        check(plain, "operands of jmpi other than plain general registers")?;
        Ok(format!("{head} {};", self.src(1, false, 1)?))
    }

    fn ret(&self) -> Text {
        let inst = self.inst;
        self.no_controls(ThreadCtrl::Normal)?;
        self.flag_of_predicate()?;
        check(inst.exec_size == 2, "execution size of call and ret")?;
        let src = &inst.src[0];
        let region = Region {
            vstride: 2,
            width: 2,
            hstride: 1,
        };
        check(
            src.file == RegFile::Grf && src.region == region && src.ty == Type::D,
            "source of ret other than <2;2,1>D of general registers",
        )?;
        Ok(format!(
            "{}ret (2) null {};",
            self.predicate()?,
            self.src(0, false, 2)?
        ))
    }

    fn wait(&self) -> Text {
        let inst = self.inst;
        let Addr::Direct { nr, subnr } = inst.dst.addr else {
            return Err("indirect architecture registers");
        };
        check(inst.dst.ty == Type::D, "type of wait")?;
        Ok(format!("wait {};", architecture(self.v, nr, subnr)?.0))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arf {
    /// With region and type.
    Whole,
    SourceOnly,
    /// The name says everything.
    Fixed,
    Null,
}

fn dot(subnr: u8) -> String {
    if subnr == 0 {
        String::new()
    } else {
        format!(".{subnr}")
    }
}

/// Subregisters count bytes in this language, whatever the register.
fn architecture(v: u8, nr: u8, subnr: u8) -> Result<(String, Arf), &'static str> {
    let index = nr & 15;
    let out_of_range = "architecture register number or subregister out of the accepted range";
    let limits = |indices: u8, bytes: u8| check(index < indices && subnr < bytes, out_of_range);
    let named = |name: &str| format!("{name}{index}{}", dot(subnr));
    Ok(match nr >> 4 {
        0 => {
            limits(1, 1)?;
            ("null".into(), Arf::Null)
        }
        1 => {
            limits(1, 32)?;
            (named("a"), Arf::Whole)
        }
        2 => {
            limits(2, 32)?;
            (named("acc"), Arf::Whole)
        }
        3 => {
            limits(if v >= 70 { 2 } else { 1 }, 2)?;
            (named("f"), Arf::Whole)
        }
        4 => {
            limits(1, 32)?;
            (named("mask"), Arf::Whole)
        }
        5 => {
            limits(1, 32)?;
            (named("ms"), Arf::Fixed)
        }
        7 => {
            limits(1, 2)?;
            (named("sr"), Arf::SourceOnly)
        }
        8 => {
            limits(1, 3)?;
            (named("cr"), Arf::Fixed)
        }
        9 if v < 60 => {
            limits(3, 1)?;
            (format!("n{index}"), Arf::SourceOnly)
        }
        9 => {
            limits(1, 4)?;
            (format!("n{subnr}"), Arf::SourceOnly)
        }
        10 => {
            limits(1, 1)?;
            ("ip".into(), Arf::Fixed)
        }
        _ => return Err("architecture registers msd, tdr and later ones"),
    })
}

fn general(file: RegFile, addr: Addr) -> Text {
    let name = match file {
        RegFile::Grf => "g",
        RegFile::Mrf => "m",
        _ => return Err("register file"),
    };
    Ok(match addr {
        Addr::Direct { nr, subnr } => format!("{name}{nr}{}", dot(subnr)),
        Addr::Indirect { subreg, imm } => {
            let mut text = format!("{name}[a0{}", dot(subreg * 2));
            if imm != 0 {
                write!(text, ",{imm}").expect("text");
            }
            text + "]"
        }
    })
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
    // The space keeps a type W apart.
    ".".chars().chain(channels).chain(" ".chars()).collect()
}

fn type_name(ty: Type) -> Result<&'static str, &'static str> {
    Ok(match ty {
        Type::Ud => "UD",
        Type::D => "D",
        Type::Uw => "UW",
        Type::W => "W",
        Type::Ub => "UB",
        Type::B => "B",
        Type::F => "F",
        _ => return Err("types UV, DF, HF, UQ and Q"),
    })
}

fn immediate(src: &Src) -> Text {
    let bits = src.imm as u32;
    Ok(match src.ty {
        Type::F => {
            let value = f32::from_bits(bits);
            check(value.is_finite(), "infinities and NaN")?;
            let text = format!("{value}");
            let point = if text.contains('.') { "" } else { ".0" };
            format!("{text}{point}F")
        }
        Type::D => format!("{}D", bits as i32),
        Type::W => format!("{}W", bits as i16),
        Type::Uw => format!("0x{:x}UW", bits as u16),
        Type::Ud => format!("0x{bits:x}UD"),
        Type::V => format!("0x{bits:x}V"),
        Type::Vf => format!("0x{bits:x}VF"),
        _ => return Err("types UV, DF, HF, UQ and Q"),
    })
}

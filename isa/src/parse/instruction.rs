//! One instruction: predicate, mnemonic, modifiers, operands, options.
//!
//! PRM: volume 4, 13.4; grammar as in Mesa 22.3.6 `i965_gram.y`. A predicate's flag and a conditional
//! modifier's are the same field, so they must agree.

use alloc::format;

use super::error::Fail;
use super::options::{self, Options};
use super::{Code, Item, Parser, Places};
use crate::inst::{AccessMode, Compression, CondMod, Inst, Opcode, PredCtrl};
use crate::operand::{Addr, RegFile, Region, Src};
use crate::tables::{Format, OpcodeDesc, Table};

/// Functions of `math` from their number.
const MATH: [&str; 16] = [
    "",
    "inv",
    "log",
    "exp",
    "sqrt",
    "rsq",
    "sin",
    "cos",
    "sincos",
    "fdiv",
    "pow",
    "intdivmod",
    "intdiv",
    "intmod",
    "invm",
    "rsqrtm",
];

/// Number of the bit of message registers that asks for `compr4`.
const COMPR4_BIT: u8 = 0x80;

impl Parser<'_> {
    /// An instruction and its semicolon, into the program.
    pub(super) fn instruction_statement(&mut self) -> Result<(), Fail> {
        let start = self.cursor.at;
        let fixups = self.fixups.len();
        let parsed = self.parse_instruction();
        let parsed = parsed.and_then(|p| self.semicolon().map(|()| p));
        let ((inst, compacted), places) = match parsed {
            Ok((inst, places)) => (inst, places),
            Err(fail) => {
                self.fixups.truncate(fixups);
                return Err(fail);
            }
        };
        let span = self.span(start);
        self.items.push(Item {
            code: Code::Inst(inst),
            words: [0; 4],
            count: if compacted { 2 } else { 4 },
            offset: 0,
            span,
        });
        self.places.push(places);
        Ok(())
    }

    /// The end of an instruction. When the next line goes on without it, the end of this one is wrong.
    fn semicolon(&mut self) -> Result<(), Fail> {
        if self.cursor.eat(b';') {
            return Ok(());
        }
        let before = self.cursor.token_end();
        self.resume = self.cursor.since(before).contains('\n');
        let at = if self.resume { before } else { self.cursor.at };
        Err(Fail::expected(at, "';'"))
    }

    /// Up to the semicolon; the second value says that the instruction is to be compacted.
    pub(super) fn parse_instruction(&mut self) -> Result<((Inst, bool), Places), Fail> {
        let mut places = Places {
            start: self.cursor.at,
            ..Places::default()
        };
        let predicate = self.predicate()?;
        self.cursor.space();
        let row = self.mnemonic()?;
        let mut inst = Inst::blank(row.opcode);
        let modifier = self.modifiers(&mut inst)?;
        if row.opcode == Opcode::Math {
            inst.math = Some(self.math_function()?);
        }
        self.exec_size(&mut inst)?;
        if let Some(flag) = Self::flag_field(&mut inst, predicate, modifier)? {
            inst.flag_reg = flag.nr;
            inst.flag_subreg = flag.sub;
        }
        self.wide = row.opcode == Opcode::Dim;
        self.operands(row, &mut inst, &mut places)?;
        let options = options::parse(&mut self.cursor)?;
        self.finish(row, &mut inst, &options, &places)?;
        Ok(((inst, options.compacted), places))
    }

    fn mnemonic(&mut self) -> Result<&'static OpcodeDesc, Fail> {
        let at = self.cursor.at;
        let word = self.cursor.word();
        if let Some(row) = self.row(word) {
            return Ok(row);
        }
        let elsewhere = Table::GENERATIONS
            .into_iter()
            .any(|generation| Opcode::from_mnemonic(generation, word).is_some());
        Err(if elsewhere {
            Fail::text(at, format!("this generation has no instruction {word}"))
        } else {
            Fail::expected(at, "an instruction, a label or a directive")
        })
    }

    /// `(+f0.1.any4h)`.
    fn predicate(&mut self) -> Result<Option<Predicate>, Fail> {
        if self.cursor.peek() != b'(' {
            return Ok(None);
        }
        self.cursor.at += 1;
        self.cursor.space();
        let inverse = self.cursor.peek() == b'-';
        if matches!(self.cursor.peek(), b'+' | b'-') {
            self.cursor.at += 1;
            self.cursor.space();
        }
        let flag = self.flag()?;
        let mut ctrl = PredCtrl::Normal;
        if self.cursor.eat(b'.') {
            let at = self.cursor.at;
            ctrl = pred_ctrl(self.cursor.word()).ok_or_else(|| {
                Fail::expected(
                    at,
                    "a predicate control (anyv, allv, any2h .. all32h, x, y, z, w)",
                )
            })?;
        }
        self.cursor.require(b')', "')'")?;
        Ok(Some(Predicate {
            inverse,
            ctrl,
            flag,
        }))
    }

    /// `f0.1`; the subregister may be left out.
    fn flag(&mut self) -> Result<Flag, Fail> {
        let at = self.cursor.at;
        let nr = match self.cursor.word() {
            "f0" => 0,
            "f1" => 1,
            _ => {
                return Err(Fail::expected(
                    at,
                    "a flag register (f0.0, f0.1, f1.0, f1.1)",
                ));
            }
        };
        if nr >= self.generation.has().flag_registers {
            return Err(Fail::text(at, "this generation has one flag register, f0"));
        }
        let mut sub = 0;
        if self.cursor.peek() == b'.' && self.cursor.peek_at(1).is_ascii_digit() {
            self.cursor.at += 1;
            sub = self.unsigned("a flag subregister", 1)? as u8;
        }
        Ok(Flag { nr, sub })
    }

    /// `.sat`, `.breakpoint` and the conditional modifier with its flag.
    fn modifiers(&mut self, inst: &mut Inst) -> Result<Option<(usize, Flag)>, Fail> {
        let mut flag = None;
        while self.cursor.peek() == b'.' {
            self.cursor.at += 1;
            let at = self.cursor.at;
            match self.cursor.word() {
                "sat" => inst.saturate = true,
                "breakpoint" => inst.debug_ctrl = true,
                word => {
                    inst.cond_mod = cond_mod(word).ok_or_else(|| {
                        Fail::expected(
                            at,
                            "a modifier (sat, z, e, nz, ne, g, ge, l, le, r, o, u, breakpoint)",
                        )
                    })?;
                    if self.cursor.peek() == b'.'
                        && self.cursor.peek_at(1) == b'f'
                        && self.cursor.peek_at(2).is_ascii_digit()
                    {
                        self.cursor.at += 1;
                        flag = Some((self.cursor.at, self.flag()?));
                    }
                }
            }
        }
        Ok(flag)
    }

    /// The one flag that an instruction has room for.
    fn flag_field(
        inst: &mut Inst,
        predicate: Option<Predicate>,
        modifier: Option<(usize, Flag)>,
    ) -> Result<Option<Flag>, Fail> {
        let Some(predicate) = predicate else {
            return Ok(modifier.map(|(_, flag)| flag));
        };
        inst.pred_ctrl = predicate.ctrl;
        inst.pred_inv = predicate.inverse;
        match modifier {
            Some((at, flag)) if flag != predicate.flag => Err(Fail::text(
                at,
                "predicate and conditional modifier have to name the same flag",
            )),
            _ => Ok(Some(predicate.flag)),
        }
    }

    fn math_function(&mut self) -> Result<u8, Fail> {
        self.cursor.space();
        let at = self.cursor.at;
        if let Some(function) = self.cursor.invalid_value().filter(|&f| f < 16) {
            return Ok(function);
        }
        let word = self.cursor.word();
        MATH.iter()
            .position(|name| *name == word && !word.is_empty())
            .map(|index| index as u8)
            .ok_or_else(|| {
                Fail::expected(
                    at,
                    "a math function (inv, log, exp, sqrt, rsq, sin, cos, fdiv, pow, intdiv, intmod, intdivmod, invm, rsqrtm)",
                )
            })
    }

    fn exec_size(&mut self, inst: &mut Inst) -> Result<(), Fail> {
        if !self.cursor.eat(b'(') {
            return Ok(());
        }
        self.cursor.space();
        let at = self.cursor.at;
        inst.exec_size = match self.unsigned("an execution size", 255)? {
            size @ (1 | 2 | 4 | 8 | 16 | 32) => size as u8,
            _ => {
                return Err(Fail::expected(
                    at,
                    "an execution size (1, 2, 4, 8, 16 or 32)",
                ));
            }
        };
        self.cursor.require(b')', "')'")
    }

    fn operands(
        &mut self,
        row: &'static OpcodeDesc,
        inst: &mut Inst,
        places: &mut Places,
    ) -> Result<(), Fail> {
        match row.opcode {
            Opcode::Nop | Opcode::Illegal | Opcode::Do => Ok(()),
            Opcode::If
            | Opcode::Iff
            | Opcode::Else
            | Opcode::Endif
            | Opcode::While
            | Opcode::Break
            | Opcode::Cont
            | Opcode::Halt => {
                if row.format == Format::BranchCount && inst.cond_mod != CondMod::None {
                    self.compared(inst, places)?;
                }
                self.branch(inst)
            }
            Opcode::Jmpi => self.jump(inst, places),
            Opcode::Send | Opcode::Sendc | Opcode::Sends | Opcode::Sendsc => {
                self.send(inst, places)
            }
            Opcode::Wait => {
                places.dst = self.here();
                inst.dst = self.dst()?;
                inst.num_src = 1;
                inst.src[0] = Src {
                    file: inst.dst.file,
                    ty: inst.dst.ty,
                    addr: inst.dst.addr,
                    ..Src::NULL
                };
                Ok(())
            }
            _ => {
                if row.ndst > 0 {
                    places.dst = self.here();
                    inst.dst = self.dst()?;
                }
                inst.num_src = row.nsrc;
                for index in 0..usize::from(row.nsrc).min(3) {
                    places.src[index] = self.here();
                    inst.src[index] = self.src()?;
                }
                match row.format {
                    Format::BranchReg | Format::BranchReg2 | Format::Call
                        if !self.at_distance() =>
                    {
                        inst.num_src = 1;
                        places.src[0] = self.here();
                        inst.src[0] = self.src()?;
                        Ok(())
                    }
                    Format::BranchReg
                    | Format::BranchReg2
                    | Format::Call
                    | Format::BranchJip
                    | Format::BranchUip => self.branch(inst),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Position of the next token.
    pub(super) fn here(&mut self) -> usize {
        self.cursor.space();
        self.cursor.at
    }

    /// What depends on the options, which come last.
    fn finish(
        &mut self,
        row: &OpcodeDesc,
        inst: &mut Inst,
        options: &Options,
        places: &Places,
    ) -> Result<(), Fail> {
        inst.access = options.access;
        inst.no_mask = options.no_mask;
        inst.no_dd_clr = options.no_dd_clr;
        inst.no_dd_chk = options.no_dd_chk;
        inst.thread_ctrl = options.thread;
        inst.debug_ctrl |= options.debug;
        inst.acc_wr_ctrl = options.acc_wr;
        inst.branch_ctrl = options.branch;
        inst.mask_ctrl_ex = options.mask_ctrl_ex;
        inst.reserved = options.reserved;
        if options.flag != 0 {
            inst.flag_reg = options.flag >> 1;
            inst.flag_subreg = options.flag & 1;
        }
        if self.generation.has().quarters {
            if options.compr {
                let why = "this generation has no compr: the execution size alone says it";
                return Err(Fail::text(places.start, why));
            }
            inst.qtr_ctrl = options.quarter;
            inst.nib_ctrl = options.nibble;
        } else {
            inst.compression = match options.quarter {
                _ if options.compr4 => Compression::Compressed,
                0 => Compression::None,
                1 => Compression::SecHalf,
                _ => Compression::Compressed,
            };
        }
        if options.compr4 {
            compr4(inst, self.generation.has().compr4_named).ok_or_else(|| {
                Fail::text(places.dst, "compr4 needs a message register as destination")
            })?;
        }
        match &mut inst.send {
            Some(send) => super::send::end_of_thread(send, self.generation, options.eot),
            None if options.eot => {
                return Err(Fail::text(places.start, "EOT belongs to a send alone"));
            }
            None => {}
        }
        let align16 = inst.access == AccessMode::Align16;
        if align16 {
            inst.pred_ctrl = match inst.pred_ctrl {
                PredCtrl::Any4h => PredCtrl::AlignAny4h,
                PredCtrl::All4h => PredCtrl::AlignAll4h,
                other => other,
            };
        }
        if inst.opcode == Opcode::Wait && align16 {
            inst.src[0].swizzle = mask_swizzle(inst.dst.writemask);
        }
        for src in &mut inst.src {
            if row.nsrc == 3 {
                three_source_region(src);
            } else if align16 && src.file != RegFile::Imm && *src != Src::NULL {
                align16_region(src);
            }
        }
        Ok(())
    }
}

/// Flag register and subregister.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flag {
    nr: u8,
    sub: u8,
}

#[derive(Clone, Copy, Debug)]
struct Predicate {
    inverse: bool,
    ctrl: PredCtrl,
    flag: Flag,
}

fn pred_ctrl(word: &str) -> Option<PredCtrl> {
    Some(match word {
        "anyv" => PredCtrl::AnyV,
        "allv" => PredCtrl::AllV,
        "any2h" => PredCtrl::Any2h,
        "all2h" => PredCtrl::All2h,
        "any4h" => PredCtrl::Any4h,
        "all4h" => PredCtrl::All4h,
        "any8h" => PredCtrl::Any8h,
        "all8h" => PredCtrl::All8h,
        "any16h" => PredCtrl::Any16h,
        "all16h" => PredCtrl::All16h,
        "any32h" => PredCtrl::Any32h,
        "all32h" => PredCtrl::All32h,
        "x" => PredCtrl::ReplX,
        "y" => PredCtrl::ReplY,
        "z" => PredCtrl::ReplZ,
        "w" => PredCtrl::ReplW,
        _ => return None,
    })
}

fn cond_mod(word: &str) -> Option<CondMod> {
    Some(match word {
        "z" | "e" => CondMod::Z,
        "nz" | "ne" => CondMod::Nz,
        "g" => CondMod::G,
        "ge" => CondMod::Ge,
        "l" => CondMod::L,
        "le" => CondMod::Le,
        "r" => CondMod::R,
        "o" => CondMod::O,
        "u" => CondMod::U,
        _ => return None,
    })
}

/// Marks the destination for `compr4`. On 965 the bit is an ordinary bit of the register number.
fn compr4(inst: &mut Inst, named: bool) -> Option<()> {
    if inst.dst.file != RegFile::Mrf {
        return None;
    }
    if named {
        inst.dst.compr4 = true;
    } else if let Addr::Direct { nr, .. } = &mut inst.dst.addr {
        *nr |= COMPR4_BIT;
    }
    Some(())
}

/// Align16 regions are rows of four channels; the vertical stride alone is coded.
fn align16_region(src: &mut Src) {
    src.region = Region {
        vstride: src.region.vstride,
        width: 4,
        hstride: 1,
    };
}

/// Sources of three-source instructions are scalars or rows of four.
fn three_source_region(src: &mut Src) {
    if src.file != RegFile::Imm && src.region != Region::SCALAR {
        src.region = Region {
            vstride: 4,
            width: 4,
            hstride: 1,
        };
    }
}

/// Swizzle that reads the channels which a mask writes, the others from the one before.
fn mask_swizzle(mask: u8) -> [u8; 4] {
    let mut last = if mask == 0 {
        0
    } else {
        mask.trailing_zeros() as u8
    };
    core::array::from_fn(|channel| {
        if mask >> channel & 1 != 0 {
            last = channel as u8;
        }
        last
    })
}

//! Directives: `.declare`, `.define`, `.dword`, `.reg_count_total`.
//!
//! The names follow intel-gen4asm where it has them. There are no macros and no
//! conditional assembly.

use alloc::format;
use alloc::string::ToString;

use super::error::Fail;
use super::names::{known, type_of};
use super::{Code, Constant, Item, Parser};

impl<'a> Parser<'a> {
    /// A directive; its point is at the position. It ends with its line, or with a semicolon.
    pub(super) fn directive(&mut self) -> Result<(), Fail> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        match self.cursor.word() {
            "declare" => {
                let (at, name) = self.new_name()?;
                self.value_follows("a register")?;
                let register = self.declaration()?;
                if self.registers.insert(name.to_string(), register).is_some() {
                    return Err(Fail::text(at, format!("{name} is declared twice")));
                }
            }
            "define" => {
                let (at, name) = self.new_name()?;
                self.value_follows("a number")?;
                let constant = self.definition()?;
                if self.constants.insert(name.to_string(), constant).is_some() {
                    return Err(Fail::text(at, format!("{name} is defined twice")));
                }
            }
            "dword" => self.raw(start)?,
            "reg_count_total" => {
                self.registers_used = Some(self.unsigned("a number of registers", 128)?);
            }
            "reg_count_payload" => {
                self.unsigned("a number of registers", 128)?;
            }
            _ => {
                return Err(Fail::expected(
                    start + 1,
                    "a directive (.declare, .define, .dword, .reg_count_total)",
                ));
            }
        }
        self.line_is_over()
    }

    /// An equals sign or none, then something on the same line.
    fn value_follows(&mut self, what: &'static str) -> Result<(), Fail> {
        self.cursor.blanks();
        self.cursor.eat_here(b'=');
        self.cursor.blanks();
        if self.cursor.ended() || matches!(self.cursor.peek(), b'\n' | b'\r') {
            return Err(Fail::expected(self.cursor.at, what));
        }
        Ok(())
    }

    /// A name that means nothing else.
    fn new_name(&mut self) -> Result<(usize, &'a str), Fail> {
        self.cursor.space();
        let at = self.cursor.at;
        if !self.cursor.at_name() {
            return Err(Fail::expected(at, "a name"));
        }
        let name = self.cursor.word();
        let general = name
            .strip_prefix(['g', 'r', 'm'])
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()));
        if general || known(name).is_some() || type_of(name.as_bytes()).is_some() {
            return Err(Fail::text(
                at,
                format!("{name} is the name of a register or type"),
            ));
        }
        Ok((at, name))
    }

    fn definition(&mut self) -> Result<Constant<'a>, Fail> {
        let negative = self.sign();
        let number = self.cursor.number()?;
        let ty = self.own_type()?;
        Ok(Constant {
            negative,
            number,
            ty,
        })
    }

    fn own_type(&mut self) -> Result<Option<crate::operand::Type>, Fail> {
        if self.at_type() {
            self.ty().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Two words (a compacted instruction) or four.
    fn raw(&mut self, start: usize) -> Result<(), Fail> {
        let mut words = [0; 4];
        let mut count = 0;
        for word in &mut words {
            self.cursor.blanks();
            self.cursor.eat_here(b',');
            self.cursor.blanks();
            if !self.cursor.at_digit() {
                break;
            }
            *word = self.unsigned("a word", u64::from(u32::MAX))? as u32;
            count += 1;
        }
        if count != 2 && count != 4 {
            return Err(Fail::expected(
                self.cursor.at,
                "two or four words of an instruction",
            ));
        }
        let span = self.span(start);
        self.push(Item {
            code: Code::Raw,
            words,
            count,
            offset: 0,
            span,
        });
        Ok(())
    }

    fn line_is_over(&mut self) -> Result<(), Fail> {
        self.cursor.blanks();
        match self.cursor.peek() {
            b';' => {
                self.cursor.at += 1;
                Ok(())
            }
            b'\n' | b'\r' | b'#' | b'/' => Ok(()),
            0 if self.cursor.ended() => Ok(()),
            _ => Err(Fail::expected(self.cursor.at, "the end of the line")),
        }
    }
}

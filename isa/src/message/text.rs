//! Message descriptors as text and back: `urb MsgDesc: offset 0 .. mlen 5 rlen 0`.
//!
//! PRM: volume 4, 2.6.2 and 13.4; words as in Mesa 22.3.6 `brw_disasm.c`. The end-of-thread bit is an
//! instruction option and not part of this text.

use core::fmt;

use super::cursor::Cursor;
use super::part::{Bits, Names, Part, Radix};
use crate::inst::Verx10;
use crate::tables::message::{EOT, EX_MLEN, lengths, parts, units};

/// What the text of a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Message {
    /// Number of the target unit, on every generation.
    pub sfid: u8,
    /// The descriptor with bit 31 (end of thread) zero; on 40 and 45 the target unit is in it. `None`
    /// for `indirect`: the descriptor is in a register.
    pub desc: Option<u32>,
    /// Extended descriptor, when the text has `ex_mlen` (Gen9).
    pub ex_desc: Option<u32>,
}

/// Text that is no message descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("expected {expected} at byte {offset} of the message")]
pub struct MessageParseError {
    /// Byte in the text that was not understood.
    pub offset: usize,
    /// What was expected there.
    pub expected: &'static str,
}

/// A descriptor that displays as text: `{}` is the complete text, which [`parse`] reads back to the
/// same words; `{:#}` is what Mesa prints, which leaves some bits out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Description {
    generation: Verx10,
    message: Message,
}

/// The text of a descriptor. Bit 31 of `desc` is not part of it. On 40 and 45 the unit is read from
/// `desc` if there is one, and `sfid` is ignored.
pub fn describe(
    generation: Verx10,
    sfid: u8,
    desc: Option<u32>,
    ex_desc: Option<u32>,
) -> Description {
    let sfid = match (lengths(generation).target, desc) {
        // CAST: four bits.
        (Some(target), Some(desc)) => target.get(desc) as u8,
        _ => sfid,
    };
    let message = Message {
        sfid,
        desc: desc.map(|desc| desc & !EOT),
        ex_desc,
    };
    Description {
        generation,
        message,
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let complete = !f.alternate();
        let message = &self.message;
        let mut writer = Writer {
            out: f,
            word: message.desc.unwrap_or(0),
            sfid: message.sfid,
            covered: 0,
            space: false,
        };
        writer.name(units(self.generation), u32::from(message.sfid))?;
        writer.out.write_str(" MsgDesc:")?;
        let lengths = lengths(self.generation);
        let parts = parts(self.generation, message.sfid);
        if message.desc.is_some() {
            writer.parts(parts, false)?;
            if writer.space {
                writer.out.write_str(" ")?;
            }
            write!(writer.out, "mlen {}", lengths.mlen.get(writer.word))?;
        } else {
            writer.out.write_str(" indirect")?;
        }
        if let Some(ex) = message.ex_desc {
            write!(writer.out, " ex_mlen {}", EX_MLEN.get(ex))?;
        }
        if message.desc.is_some() {
            write!(writer.out, " rlen {}", lengths.rlen.get(writer.word))?;
        }
        if complete {
            writer.rest(message, parts, lengths)?;
        }
        Ok(())
    }
}

struct Writer<'a, 'b> {
    out: &'a mut fmt::Formatter<'b>,
    word: u32,
    sfid: u8,
    covered: u32,
    space: bool,
}

impl Writer<'_, '_> {
    fn get(&mut self, bits: Bits) -> u32 {
        self.covered |= bits.mask();
        bits.get(self.word)
    }

    fn name(&mut self, names: &Names, value: u32) -> fmt::Result {
        match names.name(value) {
            Some("") => Ok(()),
            Some(name) => {
                if self.space {
                    self.out.write_str(" ")?;
                }
                self.space = true;
                self.out.write_str(name)
            }
            None => self.invalid(names, value),
        }
    }

    fn invalid(&mut self, names: &Names, value: u32) -> fmt::Result {
        let space = if self.space { " " } else { "" };
        self.space = true;
        write!(self.out, "{space}*** invalid {} value {value} ", names.what)
    }

    /// The pieces that Mesa prints, or the `more` that it does not.
    fn parts(&mut self, parts: &[Part], more: bool) -> fmt::Result {
        for part in parts {
            match part {
                Part::Case(bits, cases, otherwise) => {
                    let value = self.get(*bits);
                    self.parts(chosen(cases, otherwise, value), more)?;
                }
                Part::More(parts) if more => self.parts_of_text(parts)?,
                Part::More(_) => {}
                _ if more => {}
                part => self.part(part)?,
            }
        }
        Ok(())
    }

    fn parts_of_text(&mut self, parts: &[Part]) -> fmt::Result {
        parts.iter().try_for_each(|part| self.part(part))
    }

    fn part(&mut self, part: &Part) -> fmt::Result {
        match part {
            Part::Text(text) => self.out.write_str(text),
            Part::Tight => {
                self.space = false;
                Ok(())
            }
            Part::Name(bits, names) => {
                let value = self.get(*bits);
                self.name(names, value)
            }
            Part::Word(bits, names) => {
                let value = self.get(*bits);
                match names.name(value) {
                    Some(name) => self.out.write_str(name),
                    None => self.invalid(names, value),
                }
            }
            Part::Flag(bit, text) => match self.get(Bits::new(*bit, *bit)) {
                0 => Ok(()),
                _ => self.out.write_str(text),
            },
            Part::Number(bits, radix) => {
                let value = self.get(*bits);
                match radix {
                    Radix::Decimal => write!(self.out, "{value}"),
                    Radix::Hex => write!(self.out, "{value:#x}"),
                    Radix::Hex2 => write!(self.out, "{value:#04x}"),
                    Radix::Prefixed => write!(self.out, "0x{value}"),
                }
            }
            Part::NonZero(bits, text) => match self.get(*bits) {
                0 => Ok(()),
                value => write!(self.out, "{text}{value}"),
            },
            Part::Unsupported => write!(self.out, "{UNSUPPORTED}{}", self.sfid),
            Part::Case(..) | Part::More(_) => Ok(()),
        }
    }

    /// What Mesa leaves out: further fields, then the bits that have no meaning here.
    fn rest(
        &mut self,
        message: &Message,
        parts: &[Part],
        lengths: crate::tables::message::Lengths,
    ) -> fmt::Result {
        if let Some(desc) = message.desc {
            self.covered |= lengths.mlen.mask() | lengths.rlen.mask();
            if let Some(target) = lengths.target {
                self.covered |= target.mask();
            }
            if let Some(header) = lengths.header
                && self.get(header) != 0
            {
                self.out.write_str(" header")?;
            }
            self.space = true;
            self.parts(parts, true)?;
            match desc & !self.covered {
                0 => {}
                raw => write!(self.out, " raw {raw:#010x}")?,
            }
        }
        match message.ex_desc.unwrap_or(0) & !EX_MLEN.mask() {
            0 => Ok(()),
            raw => write!(self.out, " ex_raw {raw:#010x}"),
        }
    }
}

const UNSUPPORTED: &str = "unsupported shared function ID ";

fn chosen<'a>(
    cases: &'a [(&'static [u32], &'static [Part])],
    otherwise: &'a [Part],
    value: u32,
) -> &'a [Part] {
    cases
        .iter()
        .find(|(values, _)| values.contains(&value))
        .map_or(otherwise, |(_, parts)| parts)
}

/// The message that a text describes. The text ends before the brace of the instruction options.
/// Runs of white space count as one space, and spaces may be left out where words stay apart.
///
/// # Errors
/// Where the text stops being a message descriptor of the generation.
pub fn parse(generation: Verx10, text: &str) -> Result<Message, MessageParseError> {
    let lengths = lengths(generation);
    let mut reader = Reader {
        cursor: Cursor::new(text),
        word: 0,
        sfid: 0,
    };
    let sfid = reader.cursor.name(units(generation), 15)?;
    // CAST: at most 15.
    reader.sfid = sfid as u8;
    reader.cursor.require("MsgDesc:")?;
    let indirect = reader.cursor.word("indirect");
    let parts = parts(generation, reader.sfid);
    if !indirect {
        if let Some(target) = lengths.target {
            reader.word |= target.place(sfid);
        }
        reader.parts(parts, false)?;
        reader.cursor.require("mlen")?;
        reader.number(lengths.mlen, Radix::Decimal)?;
    }
    let mut ex_desc = None;
    if reader.cursor.word("ex_mlen") {
        let value = reader.cursor.number(EX_MLEN.max(), Radix::Decimal)?;
        ex_desc = Some(EX_MLEN.place(value));
    }
    if !indirect {
        reader.cursor.require("rlen")?;
        reader.number(lengths.rlen, Radix::Decimal)?;
        // Before Gen5 the descriptor has no such bit: messages that can have a header always have it.
        if reader.cursor.word("header")
            && let Some(header) = lengths.header
        {
            reader.word |= header.mask();
        }
        reader.parts(parts, true)?;
        if reader.cursor.word("raw") {
            reader.word |= reader.cursor.number(!EOT, Radix::Hex)?;
        }
    }
    if let Some(ex) = &mut ex_desc
        && reader.cursor.word("ex_raw")
    {
        *ex |= reader.cursor.number(u32::MAX, Radix::Hex)?;
    }
    reader.cursor.end()?;
    Ok(Message {
        sfid: reader.sfid,
        desc: (!indirect).then_some(reader.word),
        ex_desc,
    })
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    word: u32,
    sfid: u8,
}

impl Reader<'_> {
    fn number(&mut self, bits: Bits, radix: Radix) -> Result<(), MessageParseError> {
        let value = self.cursor.number(bits.max(), radix)?;
        self.word |= bits.place(value);
        Ok(())
    }

    fn parts(&mut self, parts: &[Part], more: bool) -> Result<(), MessageParseError> {
        for part in parts {
            match part {
                Part::Case(bits, cases, otherwise) => {
                    let value = bits.get(self.word);
                    self.parts(chosen(cases, otherwise, value), more)?;
                }
                Part::More(parts) if more => {
                    parts.iter().try_for_each(|part| self.part(part))?;
                }
                Part::More(_) => {}
                _ if more => {}
                part => self.part(part)?,
            }
        }
        Ok(())
    }

    fn part(&mut self, part: &Part) -> Result<(), MessageParseError> {
        match part {
            Part::Text(text) => self.cursor.require(text)?,
            Part::Name(bits, names) | Part::Word(bits, names) => {
                let value = self.cursor.name(names, bits.max())?;
                self.word |= bits.place(value);
            }
            Part::Flag(bit, text) => {
                if self.cursor.word(text) {
                    self.word |= Bits::new(*bit, *bit).mask();
                }
            }
            Part::Number(bits, radix) => self.number(*bits, *radix)?,
            Part::NonZero(bits, text) => {
                if self.cursor.word(text) {
                    // The word alone is 1, which is how a generation with a single bit says it.
                    if self.cursor.at_digit() {
                        self.number(*bits, Radix::Decimal)?;
                    } else {
                        self.word |= bits.place(1);
                    }
                }
            }
            Part::Unsupported => {
                // People leave it out: it says nothing.
                if !self.cursor.word(UNSUPPORTED.trim_end()) {
                    return Ok(());
                }
                let at = self.cursor.offset();
                if self.cursor.number(15, Radix::Decimal)? != u32::from(self.sfid) {
                    return Err(MessageParseError {
                        offset: at,
                        expected: "the number of the shared function",
                    });
                }
            }
            Part::Tight | Part::Case(..) | Part::More(_) => {}
        }
        Ok(())
    }
}

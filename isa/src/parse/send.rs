//! `send` and relatives: message register, payloads, descriptors, function.
//!
//! PRM: volume 4, 2.6.2 and 13.4; forms as in Mesa 22.3.6 `i965_gram.y`. A numeric descriptor wins
//! over the text after `MsgDesc:`, which is then not read.

use alloc::format;

use super::Parser;
use super::Places;
use super::error::Fail;
use crate::inst::{ExDesc, Inst, Opcode, SendDesc, Verx10};
use crate::message::{self, MessageParseError};
use crate::operand::{Addr, Src};
use crate::tables::message_words;

/// Bits of the target unit in the descriptor of Gen4.
const TARGET: u32 = 0xf << 24;
const EOT: u32 = 1 << 31;

/// A descriptor operand.
enum Desc {
    Imm(u32),
    Reg(Src),
    /// Only the symbolic text.
    Text,
}

impl Parser<'_> {
    /// What stands between execution size and options.
    pub(super) fn send(&mut self, inst: &mut Inst, places: &mut Places) -> Result<(), Fail> {
        let mut send = SendDesc::default();
        if self.generation.has().send_mrf {
            self.cursor.space();
            if self.cursor.at_digit() {
                send.mrf = self.unsigned("a message register", 15)? as u8;
            }
        }
        places.dst = self.here();
        inst.dst = self.dst()?;
        places.src[0] = self.here();
        inst.src[0] = self.src()?;
        inst.num_src = 1;
        let split = matches!(inst.opcode, Opcode::Sends | Opcode::Sendsc);
        if split {
            places.src[1] = self.here();
            inst.src[1] = self.src()?;
            inst.num_src = 2;
        }
        let at = self.here();
        let desc = self.descriptor()?;
        // The disassembler shows the word that a descriptor's register stands in.
        if matches!(desc, Desc::Reg(_)) && !split && self.cursor.digit_follows() {
            self.descriptor()?;
        }
        let ex_desc = if matches!(desc, Desc::Text) || !split && !self.cursor.digit_follows() {
            None
        } else {
            Some(self.descriptor()?)
        };
        match desc {
            Desc::Imm(imm) => {
                send.imm = Some(imm);
                send.eot = imm & EOT != 0 && self.generation.has().send_target;
            }
            Desc::Reg(_) if split => {}
            Desc::Reg(src) => {
                places.src[1] = at;
                inst.src[1] = src;
                inst.num_src = 2;
            }
            Desc::Text => {}
        }
        match ex_desc {
            Some(Desc::Imm(imm)) => send.ex_desc = ExDesc::Imm(imm & !0x2f),
            Some(Desc::Reg(src)) => send.ex_desc = ExDesc::Reg(address_words(&src)),
            Some(Desc::Text) => {
                return Err(Fail::expected(self.cursor.at, "an extended descriptor"));
            }
            None => {}
        }
        self.shared_function(&mut send, matches!(desc, Desc::Text), split)?;
        inst.send = Some(send);
        Ok(())
    }

    fn descriptor(&mut self) -> Result<Desc, Fail> {
        let at = self.here();
        let word = self.cursor.peek_word();
        if self.cursor.at_digit() || self.constants.contains_key(word) {
            let value = self.unsigned("a descriptor", u64::from(u32::MAX))?;
            return Ok(Desc::Imm(value as u32));
        }
        let modified = matches!(self.cursor.peek(), b'-' | b'~' | b'(')
            && !self.cursor.peek_at(1).is_ascii_digit();
        if modified || self.at_register() && word != "null" {
            return self.src().map(Desc::Reg);
        }
        if self.cursor.at_name() {
            return Ok(Desc::Text);
        }
        Err(Fail::expected(
            at,
            "a descriptor, its register or the name of a shared function",
        ))
    }

    /// The shared function and the text of the message.
    fn shared_function(
        &mut self,
        send: &mut SendDesc,
        symbolic: bool,
        split: bool,
    ) -> Result<(), Fail> {
        let at = self.here();
        // Up to G45 the descriptor names the unit itself.
        if !self.generation.has().send_target
            && send.imm.is_some()
            && matches!(self.cursor.peek(), b'{' | b';' | 0)
        {
            return Ok(());
        }
        let sfid = self.sfid()?;
        self.cursor.space();
        let mut ahead = self.cursor.clone();
        let described = ahead.word() == "MsgDesc" && ahead.peek() == b':';
        if described {
            self.cursor.message_end();
        }
        if symbolic {
            let text = self.cursor.since(at);
            let message = message::parse(self.generation, text)
                .map_err(|e| self.wrong_message(at, text, &e))?;
            send.sfid = message.sfid;
            send.imm = message.desc;
            if let (Some(ex_desc), true) = (message.ex_desc, split) {
                send.ex_desc = ExDesc::Imm(ex_desc);
            }
        }
        if self.generation.has().send_target {
            send.sfid = sfid;
        } else {
            send.sfid = 0;
            if let Some(imm) = &mut send.imm {
                *imm = *imm & !TARGET | u32::from(sfid) << 24;
            }
        }
        Ok(())
    }

    /// A mistake in the text of a message that begins at a place.
    #[cold]
    fn wrong_message(&self, start: usize, text: &str, error: &MessageParseError) -> Fail {
        let before = text.get(..error.offset).unwrap_or("");
        let end = before.trim_end();
        // The text goes up to the next semicolon: where that is missing, the next line belongs to it.
        if before
            .get(end.len()..)
            .is_some_and(|gap| gap.contains('\n'))
            && error.expected == "the end of the message"
        {
            return Fail::expected(start + end.len(), "';' or options in braces");
        }
        let at = start + error.offset;
        match message_words::of(self.generation, error.expected) {
            Some(words) => Fail::text(
                at,
                format!(
                    "expected {} {} ({words})",
                    article(error.expected),
                    error.expected
                ),
            ),
            None => Fail::text(at, format!("expected {}", error.expected)),
        }
    }

    /// Number of the unit that is named here.
    fn sfid(&mut self) -> Result<u8, Fail> {
        let at = self.cursor.at;
        if let Some(number) = self.cursor.invalid_value().filter(|&n| n < 16) {
            return Ok(number);
        }
        let word = self.cursor.word();
        let later = self.generation.has().cache_targets;
        let number = match word {
            "null" => Some(0),
            "math" => Some(1),
            "sampler" => Some(2),
            "gateway" => Some(3),
            "read" if !later => Some(4),
            "write" if !later => Some(5),
            "dp_sampler" if later => Some(4),
            "render" if later => Some(5),
            "urb" => Some(6),
            "thread_spawner" => Some(7),
            "vme" => Some(8),
            "const" if later => Some(9),
            "data" if later => Some(10),
            "pixel" if later && self.then(&["interp"]) => Some(11),
            "dp" if later && self.then(&["data", "1"]) => Some(12),
            "cre" if later => Some(13),
            _ => None,
        };
        number.ok_or_else(|| {
            Fail::expected(
                at,
                if later {
                    "a shared function (null, math, sampler, gateway, dp_sampler, render, urb, thread_spawner, vme, const, data, pixel interp, dp data 1, cre)"
                } else {
                    "a shared function (null, math, sampler, gateway, read, write, urb, thread_spawner)"
                },
            )
        })
    }

    /// Whether these words follow; then the position is after them.
    fn then(&mut self, words: &[&str]) -> bool {
        let mut ahead = self.cursor.clone();
        for word in words {
            ahead.space();
            if ahead.word() != *word {
                return false;
            }
        }
        self.cursor = ahead;
        true
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with('R') { "an" } else { "a" }
}

/// The end-of-thread option. A descriptor that has the bit ends the thread without it too.
pub(super) fn end_of_thread(send: &mut SendDesc, generation: Verx10, option: bool) {
    if !option {
        return;
    }
    send.eot = generation.has().send_target;
    if let Some(imm) = &mut send.imm {
        *imm |= EOT;
    }
}

/// The address subregister that a descriptor operand names, in words; the text counts elements.
fn address_words(src: &Src) -> u8 {
    match src.addr {
        Addr::Direct { subnr, .. } => subnr / 2,
        Addr::Indirect { subreg, .. } => subreg,
    }
}

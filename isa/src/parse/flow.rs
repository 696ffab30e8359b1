//! Flow control: distances, labels, and what `jmpi` jumps by.
//!
//! PRM: volume 4, 13.3; forms as in Mesa 22.3.6 `i965_gram.y`. Labels before Gen6 and in `jmpi`, and the
//! sources that Gen6 compares, are extensions.

use super::error::Fail;
use super::{Fixup, Parser, Places, Target, immediate};
use crate::inst::{Branch, Inst, Opcode};
use crate::operand::{Addr, Dst, Src, Type};

impl Parser<'_> {
    /// Whether a distance follows, as against a register that holds it.
    pub(super) fn at_distance(&mut self) -> bool {
        self.cursor.space();
        match self.cursor.peek() {
            b'-' => self.cursor.peek_at(1).is_ascii_digit(),
            b'(' => false,
            _ => !self.at_register(),
        }
    }

    /// Gen6 compares two sources in flow control with a condition; without them null is compared.
    pub(super) fn compared(&mut self, inst: &mut Inst, places: &mut Places) -> Result<(), Fail> {
        inst.num_src = 2;
        self.cursor.space();
        if self.at_distance() {
            return Ok(());
        }
        for index in 0..2 {
            places.src[index] = self.here();
            inst.src[index] = self.src()?;
        }
        Ok(())
    }

    /// `JIP: A UIP: B`, `Jump: 3 Pop: 1`; the words before the values may be left out.
    pub(super) fn branch(&mut self, inst: &mut Inst) -> Result<(), Fail> {
        let mut branch = Branch::default();
        // Gen4-5 endif has a pop count alone.
        let pop_first = inst.opcode == Opcode::Endif && !self.generation.has().uip;
        let mut second = pop_first;
        let mut values = 0;
        loop {
            let at = self.here();
            if self.cursor.at_name() {
                let mut ahead = self.cursor.clone();
                let word = ahead.word();
                match word {
                    "Jump" | "JIP" => second = false,
                    "Pop" | "UIP" => second = true,
                    _ => {}
                }
                if matches!(word, "Jump" | "JIP" | "Pop" | "UIP") && ahead.peek() == b':' {
                    ahead.at += 1;
                    self.cursor = ahead;
                }
            } else if !matches!(self.cursor.peek(), b'-' | b'0'..=b'9') {
                if values == 0 {
                    return Err(Fail::expected(at, self.branch_hint(pop_first)));
                }
                break;
            }
            let target = if second { Target::Uip } else { Target::Jump };
            let value = self.distance(target)?;
            if second {
                branch.pop_or_uip = value;
            } else {
                branch.jump = value;
            }
            values += 1;
            second = true;
        }
        inst.branch = Some(branch);
        Ok(())
    }

    const fn branch_hint(&self, pop_first: bool) -> &'static str {
        match (!self.generation.has().uip, pop_first) {
            (true, true) => "Pop: and a number",
            (true, false) => "Jump: and a label or number",
            (false, _) => "JIP: and a label or number",
        }
    }

    /// A number, or a label that is filled in later.
    fn distance(&mut self, target: Target) -> Result<i32, Fail> {
        let at = self.here();
        if self.cursor.at_name() && !self.constants.contains_key(self.cursor.peek_word()) {
            if target == Target::Uip && !self.generation.has().uip {
                return Err(Fail::expected(at, "a number of mask stack entries"));
            }
            let name = self.cursor.word();
            self.fixups.push(Fixup {
                item: self.items.len(),
                target,
                name,
                at,
            });
            return Ok(0);
        }
        let value = self.integer("a label or a number")?;
        i32::try_from(value).map_err(|_| Fail::text(at, "the distance has more than 32 bits"))
    }

    /// `jmpi`: a label, an immediate or a register.
    pub(super) fn jump(&mut self, inst: &mut Inst, places: &mut Places) -> Result<(), Fail> {
        let ip = Addr::Direct { nr: 0xa0, subnr: 0 };
        inst.dst = Dst {
            addr: ip,
            ..Dst::NULL
        };
        inst.src[0] = Src {
            addr: ip,
            ..Src::NULL
        };
        inst.num_src = 2;
        places.src[1] = self.here();
        let mut named = false;
        let mut ahead = self.cursor.clone();
        if matches!(ahead.word(), "Jump" | "JIP") && ahead.peek() == b':' {
            ahead.at += 1;
            self.cursor = ahead;
            self.cursor.space();
            named = true;
        }
        let word = self.cursor.peek_word();
        let label =
            self.cursor.at_name() && !self.at_register() && !self.constants.contains_key(word);
        if named || label {
            let jump = self.distance(Target::Jmpi)?;
            // Which of the two a label's distance is said to be makes no difference to hardware.
            self.cursor.space();
            let unsigned = self.cursor.peek_word() == "UD";
            self.cursor.at += if unsigned { 2 } else { 0 };
            let ty = if unsigned { Type::Ud } else { Type::D };
            inst.src[1] = immediate::source(ty, u64::from(jump as u32));
        } else {
            inst.src[1] = self.src()?;
        }
        inst.branch = crate::decode::jump_distance(&inst.src[1]).map(|jump| Branch {
            jump,
            pop_or_uip: 0,
        });
        Ok(())
    }
}

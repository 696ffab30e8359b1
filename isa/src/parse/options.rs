//! The options in braces that end an instruction.
//!
//! PRM: volume 4, 13.4 (instruction options); words as in Mesa 22.3.6 `i965_lex.l`. Software scoreboard
//! annotations of later generations are not known.

use super::cursor::{Cursor, Number};
use super::error::Fail;
use crate::inst::{AccessMode, ThreadCtrl};

/// What the options say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) access: AccessMode,
    pub(super) no_mask: bool,
    pub(super) no_dd_clr: bool,
    pub(super) no_dd_chk: bool,
    pub(super) thread: ThreadCtrl,
    pub(super) debug: bool,
    pub(super) acc_wr: bool,
    pub(super) branch: bool,
    pub(super) mask_ctrl_ex: bool,
    pub(super) compacted: bool,
    /// `compr` by that name, which is compression control alone.
    pub(super) compr: bool,
    /// Both halves of a compressed instruction, four message registers apart.
    pub(super) compr4: bool,
    pub(super) eot: bool,
    /// Quarter, or compression control: 1 `sechalf`, 2 `compr`.
    pub(super) quarter: u8,
    pub(super) nibble: bool,
    /// Flag register, times two, and subregister of an instruction that neither reads nor writes a flag.
    pub(super) flag: u8,
    /// Bits that nothing reads, by word.
    pub(super) reserved: [u32; 4],
}

impl Options {
    pub(super) const NONE: Options = Options {
        access: AccessMode::Align1,
        no_mask: false,
        no_dd_clr: false,
        no_dd_chk: false,
        thread: ThreadCtrl::Normal,
        debug: false,
        acc_wr: false,
        branch: false,
        mask_ctrl_ex: false,
        compacted: false,
        compr: false,
        compr4: false,
        eot: false,
        quarter: 0,
        nibble: false,
        flag: 0,
        reserved: [0; 4],
    };

    fn group(&mut self, quarter: u8, nibble: bool) {
        self.quarter = quarter;
        self.nibble = nibble;
    }

    fn set(&mut self, word: &str) -> bool {
        match word {
            "align1" => self.access = AccessMode::Align1,
            "align16" => self.access = AccessMode::Align16,
            "1Q" | "1H" | "1N" => self.group(0, false),
            "2Q" | "sechalf" | "3N" => self.group(1, false),
            "3Q" | "2H" | "5N" => self.group(2, false),
            "compr" => {
                self.group(2, false);
                self.compr = true;
            }
            "4Q" | "7N" => self.group(3, false),
            "2N" => self.group(0, true),
            "4N" => self.group(1, true),
            "6N" => self.group(2, true),
            "8N" => self.group(3, true),
            "compr4" => self.compr4 = true,
            "WE_all" | "nomask" => self.no_mask = true,
            "NoDDClr" => self.no_dd_clr = true,
            "NoDDChk" => self.no_dd_chk = true,
            "EOT" => self.eot = true,
            "switch" => self.thread = ThreadCtrl::Switch,
            "atomic" => self.thread = ThreadCtrl::Atomic,
            "AccWrEnable" => self.acc_wr = true,
            "BranchCtrl" => self.branch = true,
            "MaskCtrlEx" => self.mask_ctrl_ex = true,
            "compacted" => self.compacted = true,
            "breakpoint" => self.debug = true,
            _ => return false,
        }
        true
    }
}

/// Bits of a word that the instruction does not define, where they differ from what the encoder writes.
const RESERVED: [&str; 4] = ["reserved0", "reserved1", "reserved2", "reserved3"];

/// `= BITS`.
fn number(cursor: &mut Cursor) -> Result<u32, Fail> {
    cursor.require(b'=', "'='")?;
    cursor.space();
    let start = cursor.at;
    match cursor.number()? {
        Number::Decimal(value) | Number::Hex(value) => u32::try_from(value).ok(),
        Number::Float(_) => None,
    }
    .ok_or_else(|| Fail::expected(start, "32 bits"))
}

/// The options, if there are braces.
pub(super) fn parse(cursor: &mut Cursor) -> Result<Options, Fail> {
    let mut options = Options::NONE;
    if !cursor.eat(b'{') {
        return Ok(options);
    }
    loop {
        cursor.space();
        let start = cursor.at;
        match cursor.peek() {
            b'}' => {
                cursor.at += 1;
                return Ok(options);
            }
            b',' => cursor.at += 1,
            _ => {
                let word = cursor.word();
                if word.is_empty() {
                    return Err(Fail::expected(start, "an option or '}'"));
                }
                let reserved = RESERVED.iter().zip(&mut options.reserved);
                if let Some((_, bits)) = reserved.into_iter().find(|(name, _)| **name == word) {
                    *bits = number(cursor)?;
                } else if word == "flag" {
                    let at = cursor.at;
                    options.flag = match number(cursor)? {
                        // CAST: two bits.
                        flag @ 0..4 => flag as u8,
                        _ => return Err(Fail::expected(at, "= and a number up to 3")),
                    };
                } else if !options.set(word) {
                    return Err(Fail::expected(
                        start,
                        "an option (align1, align16, 1Q, 1H, compr, sechalf, NoDDClr, NoDDChk, nomask, WE_all, switch, atomic, AccWrEnable, EOT, ..)",
                    ));
                }
            }
        }
    }
}

//! Assembler: the text that the printer writes, and more, to words.
//!
//! PRM: volume 4, 13.4 (native instruction BNF); dialect of Mesa 22.3.6 `i965_gram.y` and
//! `brw_disasm.c`. Restrictions between operands are the validator's.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::inst::{Inst, Verx10};
use crate::tables::{OpcodeDesc, Table};

mod cursor;
mod directive;
mod error;
mod flow;
mod immediate;
mod instruction;
mod names;
mod operand;
mod options;
mod resolve;
mod send;
#[cfg(test)]
mod tests;

pub use error::ParseError;

use cursor::{Cursor, Number};
use error::{Fail, LineCounter};
use operand::Named;

/// Errors that are collected before the assembler gives up.
pub const MAX_ERRORS: usize = 64;

/// Line and column in the source, from 1; columns count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// What an item of the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// An instruction, labels resolved.
    Inst(Inst),
    /// Words of `.dword`.
    Raw,
}

/// One instruction of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Instruction, or words without meaning.
    pub code: Code,
    /// The encoding, `count` words of it.
    pub words: [u32; 4],
    /// Words: 4, or 2 when compacted.
    pub count: u8,
    /// Byte offset from the start of the program.
    pub offset: u32,
    /// Where the instruction begins in the text.
    pub span: Span,
}

impl Item {
    /// The words of the encoding.
    pub fn words(&self) -> &[u32] {
        self.words
            .get(..usize::from(self.count))
            .unwrap_or(&self.words)
    }

    /// The instruction, unless the item is raw words.
    pub fn inst(&self) -> Option<&Inst> {
        match &self.code {
            Code::Inst(inst) => Some(inst),
            Code::Raw => None,
        }
    }
}

/// An assembled program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Assembled {
    /// Instructions in their order.
    pub items: Vec<Item>,
    /// Labels and the byte offsets that they stand for, by name.
    pub labels: Vec<(String, u32)>,
}

impl Assembled {
    /// The instructions, without raw words.
    pub fn insts(&self) -> impl Iterator<Item = &Inst> {
        self.items.iter().filter_map(Item::inst)
    }

    /// All words of the program.
    pub fn dwords(&self) -> impl Iterator<Item = u32> {
        self.items.iter().flat_map(Item::words).copied()
    }

    /// The program as bytes, little endian.
    pub fn bytes(&self) -> Vec<u8> {
        self.dwords().flat_map(u32::to_le_bytes).collect()
    }
}

/// Assembles a text. `name` stands in the errors.
///
/// # Errors
/// Every mistake that was found, up to [`MAX_ERRORS`], in the order of the text.
pub fn assemble(generation: Verx10, name: &str, text: &str) -> Result<Assembled, Vec<ParseError>> {
    let Some(mut parser) = Parser::new(generation, text) else {
        let fail = Fail::text(
            0,
            alloc::format!("generation {generation} is not supported"),
        );
        return Err(alloc::vec![fail.locate(
            name,
            text,
            &mut LineCounter::default()
        )]);
    };
    parser.program();
    let labels = parser.resolve();
    let mut fails = parser.fails;
    if fails.is_empty() {
        return Ok(Assembled {
            items: parser.items,
            labels,
        });
    }
    fails.sort_by_key(|fail| fail.at);
    fails.truncate(MAX_ERRORS);
    let mut lines = LineCounter::default();
    Err(fails
        .into_iter()
        .map(|fail| fail.locate(name, text, &mut lines))
        .collect())
}

/// Parses one instruction, without labels. The semicolon may be missing.
///
/// # Errors
/// The first mistake; the name of the text is `input`.
pub fn instruction(generation: Verx10, text: &str) -> Result<Inst, ParseError> {
    let locate = |fail: Fail| fail.locate("input", text, &mut LineCounter::default());
    let mut parser = Parser::new(generation, text).ok_or_else(|| {
        locate(Fail::text(
            0,
            alloc::format!("generation {generation} is not supported"),
        ))
    })?;
    parser.single().map_err(locate)
}

/// A constant of `.define`.
#[derive(Clone, Copy, Debug)]
struct Constant<'a> {
    negative: bool,
    number: Number<'a>,
    ty: Option<crate::operand::Type>,
}

/// Which field of an instruction a label goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// Jump count, or JIP.
    Jump,
    /// UIP.
    Uip,
    /// The immediate of `jmpi`, which counts from the next instruction.
    Jmpi,
}

/// A label in an instruction.
#[derive(Clone, Copy, Debug)]
struct Fixup<'a> {
    item: usize,
    target: Target,
    name: &'a str,
    at: usize,
}

/// Where in the text the operands of an instruction are, for errors of the encoder.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    start: usize,
    dst: usize,
    src: [usize; 3],
}

/// State of one assembly.
struct Parser<'a> {
    generation: Verx10,
    cursor: Cursor<'a>,
    /// Rows of the generation by mnemonic.
    mnemonics: Vec<&'static OpcodeDesc>,
    registers: BTreeMap<String, Named>,
    constants: BTreeMap<String, Constant<'a>>,
    registers_used: Option<u64>,
    items: Vec<Item>,
    places: Vec<Places>,
    fixups: Vec<Fixup<'a>>,
    labels: BTreeMap<&'a str, usize>,
    fails: Vec<Fail>,
    /// F immediates have 64 bits in this instruction.
    wide: bool,
    /// The next statement begins here, whatever was wrong before.
    resume: bool,
    line: u32,
    line_start: usize,
    line_at: usize,
}

impl<'a> Parser<'a> {
    fn new(generation: Verx10, text: &'a str) -> Option<Parser<'a>> {
        let mut mnemonics: Vec<_> = Table::of(generation)?.rows().collect();
        mnemonics.sort_unstable_by_key(|row| row.mnemonic);
        Some(Parser {
            generation,
            cursor: Cursor::new(text),
            mnemonics,
            registers: BTreeMap::new(),
            constants: BTreeMap::new(),
            registers_used: None,
            items: Vec::new(),
            places: Vec::new(),
            fixups: Vec::new(),
            labels: BTreeMap::new(),
            fails: Vec::new(),
            wide: false,
            resume: false,
            line: 0,
            line_start: 0,
            line_at: 0,
        })
    }

    fn row(&self, mnemonic: &str) -> Option<&'static OpcodeDesc> {
        let index = self
            .mnemonics
            .binary_search_by_key(&mnemonic, |row| row.mnemonic)
            .ok()?;
        self.mnemonics.get(index).copied()
    }

    /// The whole text.
    fn program(&mut self) {
        loop {
            self.cursor.space();
            if self.cursor.ended() {
                break;
            }
            if let Err(fail) = self.statement() {
                self.fails.push(fail);
                if self.fails.len() >= MAX_ERRORS {
                    return;
                }
                self.recover();
            }
        }
        if let Some(at) = self.cursor.open_comment {
            self.fails.push(Fail::text(at, "the comment has no end"));
        }
    }

    /// The whole text as one instruction.
    fn single(&mut self) -> Result<Inst, Fail> {
        self.cursor.space();
        let ((inst, _), _) = self.parse_instruction()?;
        if let Some(fixup) = self.fixups.first() {
            return Err(Fail::expected(fixup.at, "a number"));
        }
        self.cursor.eat(b';');
        self.cursor.space();
        if let Some(at) = self.cursor.open_comment {
            return Err(Fail::text(at, "the comment has no end"));
        }
        if self.cursor.ended() {
            Ok(inst)
        } else {
            Err(Fail::expected(self.cursor.at, "the end of the instruction"))
        }
    }

    fn statement(&mut self) -> Result<(), Fail> {
        if self.cursor.peek() == b'.' {
            return self.directive();
        }
        if self.cursor.at_name() && self.label()? {
            return Ok(());
        }
        self.instruction_statement()
    }

    /// `NAME:`, if it stands here.
    fn label(&mut self) -> Result<bool, Fail> {
        let mut ahead = self.cursor.clone();
        let at = ahead.at;
        let name = ahead.word();
        if ahead.peek() != b':' {
            return Ok(false);
        }
        ahead.at += 1;
        self.cursor = ahead;
        if self.labels.insert(name, self.items.len()).is_some() {
            return Err(Fail::text(
                at,
                alloc::format!("the label {name} stands twice"),
            ));
        }
        Ok(true)
    }

    /// After a mistake: to the next semicolon, or to a line that begins a statement.
    fn recover(&mut self) {
        if core::mem::take(&mut self.resume) {
            return;
        }
        loop {
            if self.cursor.ended() {
                return;
            }
            match self.cursor.peek() {
                b';' => {
                    self.cursor.at += 1;
                    return;
                }
                b'\n' => {
                    self.cursor.space();
                    if self.begins_statement() {
                        return;
                    }
                }
                b'#' => self.cursor.line_end(),
                b'/' if matches!(self.cursor.peek_at(1), b'/' | b'*') => self.cursor.space(),
                _ => self.cursor.at += 1,
            }
        }
    }

    fn begins_statement(&self) -> bool {
        match self.cursor.peek() {
            b'(' | b'.' => true,
            _ => {
                let mut ahead = self.cursor.clone();
                let word = ahead.word();
                let next = ahead.peek();
                // `math MsgDesc:` is the second line of a send.
                next == b':' && !word.is_empty()
                    || self.row(word).is_some() && !(next == b' ' && ahead.message_follows())
            }
        }
    }

    /// Line and column of a position; positions ascend.
    fn span(&mut self, at: usize) -> Span {
        self.line_at =
            self.cursor
                .count_lines(self.line_at, at, &mut self.line, &mut self.line_start);
        Span {
            line: self.line + 1,
            column: u32::try_from(at - self.line_start.min(at) + 1).unwrap_or(u32::MAX),
        }
    }

    fn push(&mut self, item: Item) {
        self.items.push(item);
        self.places.push(Places::default());
    }
}

//! `crestline disasm`: a kernel as text that assembles to the same bytes.
//!
//! PRM: volume 4, 13.2-13.4. What is no instruction becomes `.dword`. Jumps out of the input stay numbers.

use std::fmt::Write as _;
use std::path::PathBuf;

use crestline_cli::{link, shown};
use isa::compact::is_compacted;
use isa::print::{Code, KernelItem, print_exact, print_kernel_exact};
use isa::{Inst, Verx10, parse};

use super::outputs::Files;
use super::{Error, listing, source};

mod input;

use input::Format;
use kernel::string_helpers::Counted;

/// Arguments of `crestline disasm`.
#[derive(clap::Args)]
pub struct Args {
    /// Kernel, - for standard input
    input: PathBuf,
    #[arg(long = "gen", value_name = "G", value_parser = source::generation, help = source::help())]
    generation: Verx10,
    /// File to write the text to [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// What the input is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    format: Format,
    /// Do not check the restrictions of the manuals
    #[arg(long)]
    no_warnings: bool,
}

/// Words of one instruction and what they are.
struct Item {
    offset: u32,
    words: [u32; 4],
    /// 4, or 2: compacted, or the rest of the input.
    count: u8,
    inst: Option<Inst>,
    /// Why the words are printed raw.
    reason: Option<String>,
}

impl Item {
    fn words(&self) -> &[u32] {
        self.words
            .get(..usize::from(self.count))
            .unwrap_or(&self.words)
    }

    fn kernel_item(&self) -> KernelItem<'_> {
        let code = match &self.inst {
            Some(inst) => Code::Inst(inst),
            None => Code::Raw(self.words),
        };
        KernelItem {
            offset: self.offset,
            compacted: self.count == 2,
            code,
        }
    }
}

/// Disassembles everything, then says what is wrong with the end of the input.
pub fn run(args: &Args) -> Result<(), Error> {
    Files::default()
        .read([args.input.as_path()])
        .write(args.output.as_deref())
        .check()?;
    let (name, bytes) = source::bytes(&args.input)?;
    let bytes = input::bytes(&name, bytes, args.format)?;
    let (mut items, rest) = split(args.generation, &bytes);
    let text = faithful(args.generation, &mut items);
    match &args.output {
        Some(path) => link::replace(path, text.as_bytes())
            .map_err(|error| format!("{}: {error}", shown::path(path)))?,
        None => super::print(&text)?,
    }
    if !args.no_warnings {
        let placed: Vec<(u32, &Inst)> = items
            .iter()
            .filter_map(|item| item.inst.as_ref().map(|inst| (item.offset, inst)))
            .collect();
        let warnings = listing::warnings(args.generation, &placed);
        let count = warnings.len();
        for (index, warning) in warnings {
            let offset = placed.get(index).map_or(0, |p| p.0);
            super::say(&format!("{name}: {offset:#06x}: warning: {warning}"));
        }
        if count > 0 {
            super::say(&listing::advice(count));
        }
    }
    match rest {
        0 => Ok(()),
        _ => Err(format!(
            "{name}: {}; the last instruction is cut off after {}",
            Counted(bytes.len(), "byte"),
            Counted(rest, "byte")
        )
        .into()),
    }
}

/// The instructions, and how many bytes at the end are none. Eight of those are an item all the same.
fn split(generation: Verx10, bytes: &[u8]) -> (Vec<Item>, usize) {
    let (words, tail) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let mut items = Vec::new();
    let mut rest = words.as_slice();
    let mut offset = 0;
    while let [a, b, after @ ..] = rest {
        let (a, b) = (*a, *b);
        let mut item = if is_compacted(generation, a) {
            compacted(generation, [a, b])
        } else if let [c, d, ..] = after {
            whole(generation, [a, b, *c, *d])
        } else {
            break;
        };
        item.offset = offset;
        offset = offset.wrapping_add(4 * u32::from(item.count));
        rest = rest.get(usize::from(item.count)..).unwrap_or(&[]);
        items.push(item);
    }
    let left = rest.len() * 4 + tail.len();
    if let [a, b, ..] = *rest {
        let reason = "the input ends inside this instruction".to_owned();
        let item = raw([a, b, 0, 0], 2, reason);
        items.push(Item { offset, ..item });
    }
    (items, left)
}

/// Eight bytes of a compacted instruction.
fn compacted(generation: Verx10, [a, b]: [u32; 2]) -> Item {
    let mut item = match isa::uncompact(generation, [a, b]) {
        Ok(words) => whole(generation, words),
        Err(error) => raw([0; 4], 2, error.to_string()),
    };
    item.words = [a, b, 0, 0];
    item.count = 2;
    item
}

/// Words that are printed as they are.
fn raw(words: [u32; 4], count: u8, reason: String) -> Item {
    Item {
        offset: 0,
        words,
        count,
        inst: None,
        reason: Some(reason),
    }
}

fn whole(generation: Verx10, words: [u32; 4]) -> Item {
    let (inst, reason) = match isa::decode(generation, words) {
        Ok(inst) => match unfaithful(generation, &inst, words) {
            None => (Some(inst), None),
            Some(reason) => (None, Some(reason)),
        },
        Err(error) => (None, Some(error.kind.to_string())),
    };
    Item {
        offset: 0,
        words,
        count: 4,
        inst,
        reason,
    }
}

/// Why the text of an instruction would not give its words back.
fn unfaithful(generation: Verx10, inst: &Inst, words: [u32; 4]) -> Option<String> {
    let text = print_exact(generation, inst);
    let back = parse::instruction(generation, &text)
        .ok()
        .and_then(|inst| isa::encode(generation, &inst).ok());
    if back == Some(words) {
        return None;
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(format!("not all bits show in `{text}`"))
}

/// Text of the items, checked against the assembler: what would not come back is printed raw.
fn faithful(generation: Verx10, items: &mut [Item]) -> String {
    loop {
        let text = print_kernel_exact(generation, items.iter().map(Item::kernel_item));
        let wrong = differing(generation, &text, items);
        if wrong.is_empty() {
            return commented(&text, items);
        }
        for index in wrong {
            if let Some(item) = items.get_mut(index)
                && item.inst.take().is_some()
            {
                item.reason = Some("its text assembles to other words".to_owned());
            }
        }
    }
}

/// Instructions that come back otherwise than they were. Raw words always do, so the list gets empty.
fn differing(generation: Verx10, text: &str, items: &[Item]) -> Vec<usize> {
    let instructions = items.iter().enumerate().filter(|(_, i)| i.inst.is_some());
    match parse::assemble(generation, "", text) {
        Ok(program) if program.items.len() == items.len() => instructions
            .filter(|(index, item)| {
                program
                    .items
                    .get(*index)
                    .is_none_or(|back| back.words() != item.words())
            })
            .map(|(index, _)| index)
            .collect(),
        _ => instructions.map(|(index, _)| index).collect(),
    }
}

/// Before each `.dword` a comment that says why it is one.
fn commented(text: &str, items: &[Item]) -> String {
    let mut raw = items.iter().filter(|item| item.inst.is_none());
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        if line.starts_with(".dword")
            && let Some(item) = raw.next()
        {
            let reason = item.reason.as_deref().unwrap_or("");
            // Writing to a String cannot fail.
            let _ = writeln!(out, "// {:#06x}: illegal: {reason}", item.offset);
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

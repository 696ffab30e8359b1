//! A whole kernel as text, with labels at jump targets.
//!
//! PRM: volume 4, 13.4; layout and numbering of labels as in Mesa 22.3.6 `brw_disassemble_with_labels`.
//! Differs: a target outside the kernel or inside an instruction stays a number, and the end may have
//! a label.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Line, Place, flow, instruction};
use crate::inst::{Inst, Opcode, Verx10};

/// What stands at a place of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Code<'a> {
    /// An instruction.
    Inst(&'a Inst),
    /// Words that are none, printed as `.dword`.
    Raw([u32; 4]),
}

/// An instruction and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct KernelItem<'a> {
    /// Bytes from the start of the kernel.
    pub offset: u32,
    /// Whether the encoding is the compacted one of two words.
    pub compacted: bool,
    /// The instruction; of raw words the first two when compacted.
    pub code: Code<'a>,
}

impl KernelItem<'_> {
    /// Bytes of the encoding.
    const fn size(&self) -> u32 {
        if self.compacted { 8 } else { 16 }
    }
}

/// Labels by byte offset.
pub(super) struct Labels {
    numbers: BTreeMap<u32, usize>,
}

impl Labels {
    fn new(generation: Verx10, items: &[KernelItem<'_>]) -> Labels {
        let mut places: Vec<u32> = items.iter().map(|item| item.offset).collect();
        if let Some(last) = items.last() {
            places.push(last.offset.saturating_add(last.size()));
        }
        places.sort_unstable();
        let mut labels = Labels {
            numbers: BTreeMap::new(),
        };
        for item in items {
            let Code::Inst(inst) = item.code else {
                continue;
            };
            for distance in targets(generation, item, inst).into_iter().flatten() {
                let at = i64::from(item.offset) + distance;
                let Ok(at) = u32::try_from(at) else { continue };
                if places.binary_search(&at).is_ok() {
                    let next = labels.numbers.len();
                    labels.numbers.entry(at).or_insert(next);
                }
            }
        }
        labels
    }

    pub(super) fn number(&self, at: i64) -> Option<usize> {
        let at = u32::try_from(at).ok()?;
        self.numbers.get(&at).copied()
    }
}

/// Distances in bytes from the start of an instruction, in the order that Mesa numbers them.
fn targets(generation: Verx10, item: &KernelItem<'_>, inst: &Inst) -> [Option<i64>; 2] {
    let Some(branch) = inst.branch else {
        return [None; 2];
    };
    if inst.opcode == Opcode::Jmpi {
        return [flow::jump_target(generation, inst, item.size()), None];
    }
    let shape = flow::shape(generation, inst);
    let bytes = |distance: i32| i64::from(distance) * flow::unit(generation);
    let uip = (shape.second && generation.has().uip).then(|| bytes(branch.pop_or_uip));
    let jip = shape.jump.then(|| bytes(branch.jump));
    [uip, jip]
}

/// Text of a kernel: a line for each instruction (two for `send`), labels before jump targets.
/// Assembling the text gives the same instructions.
pub fn print_kernel<'a>(
    generation: Verx10,
    items: impl IntoIterator<Item = KernelItem<'a>>,
) -> String {
    kernel(generation, items, false)
}

/// The same with the bits of [`Inst::reserved`] as options: assembling the text gives the same words.
pub fn print_kernel_exact<'a>(
    generation: Verx10,
    items: impl IntoIterator<Item = KernelItem<'a>>,
) -> String {
    kernel(generation, items, true)
}

fn kernel<'a>(
    generation: Verx10,
    items: impl IntoIterator<Item = KernelItem<'a>>,
    exact: bool,
) -> String {
    let items: Vec<KernelItem<'a>> = items.into_iter().collect();
    let labels = Labels::new(generation, &items);
    let mut line = Line::default();
    for item in &items {
        label(&mut line, &labels, item.offset);
        match item.code {
            Code::Inst(inst) => {
                let place = Place {
                    offset: item.offset,
                    compacted: item.compacted,
                    labels: Some(&labels),
                    exact,
                };
                instruction(&mut line, generation, inst, &place);
            }
            Code::Raw(words) => raw(&mut line, words, item.compacted),
        }
        line.newline();
    }
    if let Some(last) = items.last() {
        label(&mut line, &labels, last.offset.saturating_add(last.size()));
    }
    line.text
}

fn label(line: &mut Line, labels: &Labels, offset: u32) {
    if let Some(number) = labels.number(i64::from(offset)) {
        line.fmt(format_args!("\nLABEL{number}:"));
        line.newline();
    }
}

fn raw(line: &mut Line, [first, second, third, fourth]: [u32; 4], compacted: bool) {
    line.fmt(format_args!(".dword {first:#010x}, {second:#010x}"));
    if !compacted {
        line.fmt(format_args!(", {third:#010x}, {fourth:#010x}"));
    }
}

//! Active kernels: what threads of the units run that a batch has set up.
//!
//! PRM vol2: the state pointers of 3DSTATE_PIPELINED_POINTERS, offsets from the general state base, and the kernel start
//! pointers behind them, or the commands that hold the units' state. Not modelled: media kernels, state that an earlier batch has left.
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt::Write;

use isa::compact::{StreamItem, instruction_at};
use isa::inst::Verx10;

use kernel::dma::PAGE_SIZE;
use regs::walk::{Limits, Walk};

use crate::intel::gtt::Ggtt;
use regs::ids::CommandId;

/// Longest kernel, in instructions.
const LONGEST: u32 = 2048;
/// Most commands of a batch that are looked at, and most jumps to further batches.
const COMMANDS: usize = 1 << 20;
const JUMPS: u32 = 64;

/// A kernel as it was in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its instruction set.
    pub isa: Verx10,
    /// The unit whose threads run it.
    pub unit: &'static str,
    /// Graphics address.
    pub address: u32,
    /// Its instructions, up to the one that ends the thread.
    pub instructions: Vec<StreamItem>,
}

impl Kernel {
    /// The instructions as assembly, one line each, with their addresses.
    #[must_use]
    pub fn disassembly(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for item in &self.instructions {
            // CAST: the offset is a graphics address.
            let at = item.offset as u32;
            let text = match &item.inst {
                Ok(inst) => isa::print(self.isa, inst),
                Err(error) => alloc::format!("{error}"),
            };
            let mut line = String::new();
            // Writing to a string cannot fail.
            let _ = write!(line, "0x{at:08x}:");
            for word in &item.raw {
                let _ = write!(line, " {word:08x}");
            }
            for (part, text) in text.lines().enumerate() {
                if part > 0 {
                    line.push('\n');
                }
                let _ = write!(line, "  {}", text.trim());
            }
            lines.push(line);
        }
        lines
    }
}

/// Memory as batches see it.
pub(super) struct Memory<'a> {
    ggtt: &'a Ggtt,
    /// The page that was looked up last, and what is in it.
    page: RefCell<(u32, Vec<u8>)>,
}

impl<'a> Memory<'a> {
    pub(super) fn new(ggtt: &'a Ggtt) -> Self {
        Memory {
            ggtt,
            page: RefCell::new((0, Vec::new())),
        }
    }

    /// Contents of the page of an address.
    fn load(&self, page: u32) -> Option<Vec<u8>> {
        let bus = self.ggtt.page(page as usize / PAGE_SIZE)?;
        let mut bytes = alloc::vec![0; PAGE_SIZE];
        let dma = self.ggtt.uncore().platform().dma();
        dma.read(bus, &mut bytes).ok()?;
        Some(bytes)
    }

    fn dword(&self, address: u32) -> Option<u32> {
        let offset = address as usize % PAGE_SIZE;
        let page = address & !(PAGE_SIZE as u32 - 1);
        let mut last = self.page.borrow_mut();
        if last.0 != page || last.1.is_empty() {
            *last = (page, self.load(page)?);
        }
        let bytes = last.1.get(offset..offset + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Dwords from an address on, up to the first that cannot be read.
    fn dwords(&self, address: u32, count: u32) -> Vec<u32> {
        let dword = |index: u32| self.dword(address.wrapping_add(index * 4));
        (0..count).map_while(dword).collect()
    }

    /// The instructions of a kernel, to the end of its thread or of what can be read.
    fn kernel(&self, isa: Verx10, unit: &'static str, address: u32) -> Option<Kernel> {
        let mut instructions = Vec::new();
        let mut at = address;
        for _ in 0..LONGEST {
            let Some(item) = instruction_at(isa, at, |at| self.dword(at)) else {
                break;
            };
            instructions.push(item);
            // CAST: eight or sixteen bytes.
            at = at.wrapping_add(item.size as u32);
            if item.inst.is_err() || item.ends_thread() {
                break;
            }
        }
        (!instructions.is_empty()).then_some(Kernel {
            isa,
            unit,
            address,
            instructions,
        })
    }
}

/// What a batch has set up.
#[derive(Default)]
struct Setup {
    general: u32,
    instructions: u32,
    /// The last of each command that sets units up.
    units: BTreeMap<CommandId, Vec<u32>>,
}

/// Follows a batch up to the command that the parser is at, or to its end.
fn follow(memory: &Memory<'_>, batch: u32, acthd: u32) -> Setup {
    let mut setup = Setup::default();
    let limits = Limits {
        dwords: u64::MAX,
        jumps: JUMPS,
        again: true,
        ..Limits::default()
    };
    let mut words = |at: u64| memory.dword(u32::try_from(at).ok()?);
    let mut walk = Walk::new(memory.ggtt.info().tables, batch.into(), limits);
    for _ in 0..COMMANDS {
        let Some(step) = walk.step(&mut words) else {
            break;
        };
        // The parser lies ahead, or in another batch.
        if step.batch <= u64::from(acthd) && step.address > u64::from(acthd) {
            break;
        }
        // CAST: addresses of these generations have 32 bits.
        let command = || memory.dwords(step.address as u32, step.dwords);
        let Some(id) = step.command.map(|command| command.id) else {
            continue;
        };
        let readers = memory.ggtt.info().state;
        if id == CommandId::StateBaseAddress {
            let bases = (readers.bases)(&command());
            setup.general = bases.general.unwrap_or(setup.general);
            setup.instructions = bases.instructions.unwrap_or(setup.instructions);
        }
        if readers.setup.contains(&id) {
            setup.units.insert(id, command());
        }
    }
    setup
}

/// The kernels of the units that a batch has set up last before the command that the parser is at.
pub(super) fn find(memory: &Memory<'_>, isa: Verx10, batch: u32, acthd: u32) -> Vec<Kernel> {
    let setup = follow(memory, batch, acthd);
    let last = |id| setup.units.get(&id).map(Vec::as_slice);
    let units = (memory.ggtt.info().state.kernels)(&last, setup.general, &|at| memory.dword(at));
    units
        .into_iter()
        .filter_map(|kernel| {
            let address = setup.instructions.wrapping_add(kernel.pointer);
            memory.kernel(isa, kernel.unit, address)
        })
        .collect()
}

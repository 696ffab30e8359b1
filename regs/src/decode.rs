//! Batch, state and register words as text.
//! PRM vol1 (commands), vol2 (3D and media state), vol4 (surface and sampler state).
//! Does not execute anything, and disassembles kernels only through a callback.

mod register;
mod state;
mod text;

use core::fmt::{self, Write};

use crate::desc::{CommandDesc, GroupDesc};
use crate::ids::{CommandId, RegId};
use crate::platform::Generation;
use crate::walk::{Limits, Memory, Stop, Walk};

pub use register::{explain_element, explain_register, nearest};
pub use text::field_value;

/// Memory as the decoder sees it.
pub trait Source {
    /// The dword at a graphics address, `None` where nothing is mapped.
    fn dword(&mut self, address: u32) -> Option<u32>;

    /// Prints the kernel that starts at an address; the default prints nothing.
    fn kernel(&mut self, address: u32, out: &mut dyn Write) -> fmt::Result {
        let _ = (address, out);
        Ok(())
    }
}

/// What to print and when to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Follow pointers into state, surfaces, samplers and kernels.
    pub follow: bool,
    /// Dwords of a vertex, index or constant buffer to print.
    pub data_dwords: u32,
    /// Dwords of commands after which decoding stops.
    pub max_dwords: u32,
    /// Structures, tables, kernels and data blocks that are followed before pointers are only printed.
    pub max_follow: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            follow: true,
            data_dwords: 16,
            max_dwords: 1 << 20,
            max_follow: 1 << 16,
        }
    }
}

/// What was met on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Commands decoded.
    pub commands: u32,
    /// Error lines printed.
    pub errors: u32,
    /// MI_BATCH_BUFFER_END was reached.
    pub ended: bool,
    /// Address behind the last command, or of the one that could not be decoded.
    pub stopped: u32,
    /// Address of the first error line that has one.
    pub first_error: Option<u32>,
}

/// Unknown dwords in a row after which the rest is taken for data.
const GIVE_UP: u32 = 16;
/// Batches that one batch may go on in.
const MAX_CHAIN: u32 = 1023;

/// The source as a walk sees it.
struct Words<'a>(&'a mut dyn Source);

impl Memory for Words<'_> {
    fn dword(&mut self, address: u64) -> Option<u32> {
        self.0.dword(u32::try_from(address).ok()?)
    }
}

/// Dwords between the start of the present batch and an address in it.
fn offset(address: u64, walk: &Walk) -> u32 {
    (address as u32).wrapping_sub(walk.batch() as u32) / 4
}

struct Decoder<'a> {
    generation: &'static Generation,
    source: &'a mut dyn Source,
    out: &'a mut dyn Write,
    options: Options,
    report: Report,
    general_base: u32,
    surface_base: u32,
    instruction_base: u32,
    dynamic_base: u32,
    /// INSTPM says that constants do not count from the base of dynamic state.
    constants_absolute: bool,
    followed: u32,
}

/// Prints the batch at `start`, at most `bytes` long, and what it points at.
///
/// Unknown commands, truncation and unmapped memory become lines that start with `error:` after address and
/// offset; they never stop the caller. Equal MI_NOOPs in a row are one line. Errors: only those of the writer.
pub fn batch(
    generation: &'static Generation,
    source: &mut dyn Source,
    out: &mut dyn Write,
    start: u32,
    bytes: u32,
    options: Options,
) -> Result<Report, fmt::Error> {
    let mut decoder = Decoder {
        generation,
        source,
        out,
        options,
        report: Report::default(),
        general_base: 0,
        surface_base: 0,
        instruction_base: 0,
        dynamic_base: 0,
        constants_absolute: false,
        followed: 0,
    };
    decoder.run(start, bytes / 4)?;
    Ok(decoder.report)
}

impl Decoder<'_> {
    fn run(&mut self, start: u32, dwords: u32) -> fmt::Result {
        let limits = Limits {
            bytes: Some(u64::from(dwords) * 4),
            dwords: u64::from(self.options.max_dwords),
            jumps: MAX_CHAIN,
            again: false,
            follow: self.options.follow,
            unknown: GIVE_UP,
        };
        let mut walk = Walk::new(self.generation, start.into(), limits);
        while let Some(step) = walk.step(&mut Words(self.source)) {
            let address = step.address as u32;
            let offset = offset(step.address, &walk);
            let Some(command) = step.command else {
                self.error(address, offset, Some(step.header), "unknown command")?;
                continue;
            };
            if command.id == CommandId::MiNoop {
                let most = walk.room().saturating_add(1);
                let most = u32::try_from(most).unwrap_or(u32::MAX);
                let count = self.noops(address, step.header, most);
                if count > 1 {
                    walk.skip(u64::from(count) - 1);
                    self.report.commands += count;
                    let header = step.header;
                    writeln!(
                        self.out,
                        "{address:#010x}:  {header:#010x}:  {count} x MI_NOOP"
                    )?;
                    continue;
                }
            }
            self.report.commands += 1;
            self.command(command, address, offset, step.dwords)?;
        }
        self.report.stopped = walk.at() as u32;
        self.stopped(&walk)
    }

    /// Says why the walk has ended.
    fn stopped(&mut self, walk: &Walk) -> fmt::Result {
        let here = walk.at();
        let (at, header, what) = match walk.stop() {
            None | Some(Stop::Over { .. }) => return Ok(()),
            Some(Stop::End { .. }) => {
                self.report.ended = true;
                return Ok(());
            }
            // The operand of a jump, of which the command has told already.
            Some(Stop::Unmapped { address }) if address != here => return Ok(()),
            Some(Stop::Unmapped { address }) => (address, None, "not mapped"),
            Some(Stop::Unknown { address, header }) => (address, Some(header), "giving up"),
            Some(Stop::Long { address }) => (address, None, "more dwords than are decoded"),
            Some(Stop::Truncated {
                address, header, ..
            }) => (address, Some(header), "truncated command"),
            Some(Stop::Loop {
                address, header, ..
            }) => (address, Some(header), "batch start without end"),
            Some(Stop::Jumps { address, header }) => {
                (address, Some(header), "too many batch starts")
            }
        };
        self.error(at as u32, offset(at, walk), header, what)?;
        if let Some(Stop::Truncated {
            command,
            dwords,
            left,
            ..
        }) = walk.stop()
        {
            let name = command.name;
            writeln!(self.out, "    {name} needs {dwords} dwords, {left} left")?;
        }
        Ok(())
    }

    /// How many dwords from an address on, at most `most`, are the same MI_NOOP.
    fn noops(&mut self, address: u32, header: u32, most: u32) -> u32 {
        let mut count = 1;
        while count < most && self.source.dword(address.wrapping_add(count * 4)) == Some(header) {
            count += 1;
        }
        count
    }

    fn error(&mut self, address: u32, offset: u32, dword: Option<u32>, what: &str) -> fmt::Result {
        self.report.errors += 1;
        self.report.first_error.get_or_insert(address);
        let bytes = u64::from(offset) * 4;
        match dword {
            Some(d) => writeln!(
                self.out,
                "{address:#010x}:  {d:#010x}:  error: {what} at offset {bytes:#x}, dword {d:#010x}"
            ),
            None => writeln!(
                self.out,
                "{address:#010x}:  error: {what} at offset {bytes:#x}"
            ),
        }
    }

    fn command(
        &mut self,
        command: &'static CommandDesc,
        address: u32,
        offset: u32,
        length: u32,
    ) -> fmt::Result {
        let (words, read) = self.read(address, length);
        let header = words.first().copied().unwrap_or(0);
        writeln!(
            self.out,
            "{address:#010x}:  {header:#010x}:  {}",
            command.name
        )?;
        if read < length.min(state::MAX_WORDS) {
            self.error(
                address.wrapping_add(read * 4),
                offset + read,
                None,
                "not mapped",
            )?;
        }
        if length < command.min_dwords {
            self.error(address, offset, Some(header), "shorter than the command")?;
        }
        let words = words.get(..read as usize).unwrap_or(&[]);
        let end = command.group.map_or(length, |g| g.dword).min(length);
        // A repeated part may share dwords with the named fields of its first element.
        let fields = command
            .fields
            .iter()
            .filter(|f| u32::from(f.start) / 32 < end);
        self.words(words, 0, end, address, fields)?;
        if let Some(group) = &command.group {
            self.group(group, words, address)?;
        }
        self.track(command, words);
        if self.options.follow {
            self.follow(command.fields, words)?;
        }
        Ok(())
    }

    fn group(&mut self, group: &GroupDesc, words: &[u32], address: u32) -> fmt::Result {
        let rest = words.get(group.dword as usize..).unwrap_or(&[]);
        for (i, item) in rest.chunks(group.dwords.max(1) as usize).enumerate() {
            let at = group.dword + i as u32 * group.dwords;
            let here = address.wrapping_add(at * 4);
            let Some(structure) = group.structure else {
                for (n, w) in item.iter().enumerate() {
                    let place = here.wrapping_add(n as u32 * 4);
                    writeln!(
                        self.out,
                        "{place:#010x}:  {w:#010x} : Dword {}",
                        at + n as u32
                    )?;
                    writeln!(self.out, "    {}[{i}]: {w}", group.name)?;
                }
                continue;
            };
            writeln!(self.out, "    {}[{i}]: {}", group.name, structure.name)?;
            let n = item.len() as u32;
            self.words(item, 0, n, here, structure.fields.iter())?;
            if item.len() < structure.dwords as usize {
                self.error(here, at, item.first().copied(), "truncated element")?;
            } else if self.options.follow {
                self.follow(structure.fields, item)?;
            }
        }
        Ok(())
    }

    /// Remembers the bases that later pointers count from.
    fn track(&mut self, command: &CommandDesc, words: &[u32]) {
        if command.id == CommandId::MiLoadRegisterImm {
            let pairs = words.get(1..).unwrap_or(&[]).chunks_exact(2);
            pairs.for_each(|pair| self.register(pair[0], pair[1]));
        }
        if command.id != CommandId::StateBaseAddress {
            return;
        }
        let field = |name: &str| {
            command
                .fields
                .iter()
                .find(|f| f.name == name)
                .map_or(0, |f| f.raw(words) as u32)
        };
        if field("General State Base Address Modify Enable") != 0 {
            self.general_base = field("General State Base Address");
        }
        if field("Surface State Base Address Modify Enable") != 0 {
            self.surface_base = field("Surface State Base Address");
        }
        // Generations that lack such a field read zero.
        if field("Instruction Base Address Modify Enable") != 0 {
            self.instruction_base = field("Instruction Base Address");
        }
        if field("Dynamic State Base Address Modify Enable") != 0 {
            self.dynamic_base = field("Dynamic State Base Address");
        }
    }

    /// A write to a register that pointers depend on.
    fn register(&mut self, offset: u32, value: u32) {
        let (found, Some(desc)) = (
            (self.generation.lookup)(offset),
            (self.generation.register_desc)(RegId::Instpm),
        ) else {
            return;
        };
        if found.is_none_or(|(id, ..)| id != RegId::Instpm) {
            return;
        }
        let name = "CONSTANT_BUFFER Address Offset Disable";
        let Some(field) = desc.fields.iter().find(|f| f.name == name) else {
            return;
        };
        let old = u32::from(self.constants_absolute) << field.lo;
        self.constants_absolute = desc.write(0, old, value) >> field.lo & 1 != 0;
    }
}

#[cfg(test)]
mod tests;

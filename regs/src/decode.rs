//! Batch, state and register words as text.
//! PRM vol1 (commands), vol2 (3D and media state), vol4 (surface and sampler state).
//! Does not execute anything, and disassembles kernels only through a callback.

mod register;
mod state;
mod text;

use alloc::collections::BTreeSet;
use core::fmt::{self, Write};

use crate::desc::{CommandDesc, GroupDesc};
use crate::platform::Generation;

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
const MAX_CHAIN: usize = 1024;

struct Decoder<'a> {
    generation: &'static Generation,
    source: &'a mut dyn Source,
    out: &'a mut dyn Write,
    options: Options,
    report: Report,
    general_base: u32,
    surface_base: u32,
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
        followed: 0,
    };
    decoder.run(start, bytes / 4)?;
    Ok(decoder.report)
}

impl Decoder<'_> {
    fn run(&mut self, start: u32, dwords: u32) -> fmt::Result {
        let (mut base, mut limit, mut done) = (start, dwords, 0u32);
        let (mut total, mut unknown) = (0u32, 0u32);
        let mut batches = BTreeSet::from([start]);
        self.report.stopped = start;
        while done < limit {
            let address = base.wrapping_add(done.wrapping_mul(4));
            self.report.stopped = address;
            if total >= self.options.max_dwords {
                return self.error(address, done, None, "more dwords than are decoded");
            }
            let Some(header) = self.source.dword(address) else {
                return self.error(address, done, None, "not mapped");
            };
            let Some(command) = (self.generation.command)(header) else {
                self.error(address, done, Some(header), "unknown command")?;
                unknown += 1;
                if unknown == GIVE_UP {
                    return self.error(address, done, Some(header), "giving up");
                }
                done += 1;
                total += 1;
                self.report.stopped = base.wrapping_add(done.wrapping_mul(4));
                continue;
            };
            unknown = 0;
            let length = command.dwords(header) as u32;
            if length > limit - done {
                self.error(address, done, Some(header), "truncated command")?;
                return writeln!(
                    self.out,
                    "    {} needs {length} dwords, {} left",
                    command.name,
                    limit - done
                );
            }
            if command.name == "MI_NOOP" {
                let most = (limit - done).min(self.options.max_dwords - total);
                let count = self.noops(address, header, most);
                if count > 1 {
                    self.report.commands += count;
                    done += count;
                    total = total.saturating_add(count);
                    self.report.stopped = base.wrapping_add(done.wrapping_mul(4));
                    writeln!(
                        self.out,
                        "{address:#010x}:  {header:#010x}:  {count} x MI_NOOP"
                    )?;
                    continue;
                }
            }
            self.report.commands += 1;
            self.command(command, address, done, length)?;
            let at = done;
            done += length;
            total = total.saturating_add(length);
            self.report.stopped = base.wrapping_add(done.wrapping_mul(4));
            if command.name == "MI_BATCH_BUFFER_END" {
                self.report.ended = true;
                return Ok(());
            }
            if self.options.follow && command.name == "MI_BATCH_BUFFER_START" {
                let next = self.source.dword(address.wrapping_add(4)).unwrap_or(0) & !3;
                if !batches.insert(next) {
                    return self.error(address, at, Some(header), "batch start without end");
                }
                if batches.len() > MAX_CHAIN {
                    return self.error(address, at, Some(header), "too many batch starts");
                }
                (base, limit, done) = (next, u32::MAX / 4, 0);
            }
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
        if command.name != "STATE_BASE_ADDRESS" {
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
    }
}

#[cfg(test)]
mod tests;

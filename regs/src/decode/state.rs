//! State structures and the pointers between them.
//! PRM vol2 (unit state), vol4 4.7 (surface and sampler state).
//! Does not know which pointers are live: it prints what is mapped.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use super::{Decoder, field_value};
use crate::desc::{Kind, PackedField, StructDesc};

/// Longest command that is held at once; a longer one is printed up to here.
pub const MAX_WORDS: u32 = 1 << 16;
/// Entries of a binding table that are looked at.
const MAX_BINDINGS: u32 = 32;
/// Elements of a sampler array, PRM vol4 4.7.3.
const MAX_SAMPLERS: u32 = 16;
/// Pointers in a row: pipeline state, viewport or sampler, border colour.
const MAX_DEPTH: u32 = 4;

impl Decoder<'_> {
    /// Up to `count` dwords and how many were mapped.
    pub(super) fn read(&mut self, address: u32, count: u32) -> (Vec<u32>, u32) {
        let mut words = Vec::new();
        for i in 0..count.min(MAX_WORDS) {
            match self.source.dword(address.wrapping_add(i * 4)) {
                Some(w) => words.push(w),
                None => break,
            }
        }
        let read = words.len() as u32;
        (words, read)
    }

    /// Dwords `from..to` with the fields that start in each.
    pub(super) fn words<'f>(
        &mut self,
        words: &[u32],
        from: u32,
        to: u32,
        address: u32,
        fields: impl Iterator<Item = &'f PackedField>,
    ) -> fmt::Result {
        let flat = flatten(fields);
        let mut fields = flat.iter().peekable();
        for i in from..to {
            let Some(w) = words.get(i as usize) else {
                return Ok(());
            };
            let place = address.wrapping_add(i * 4);
            writeln!(self.out, "{place:#010x}:  {w:#010x} : Dword {i}")?;
            while let Some(f) = fields.next_if(|f| u32::from(f.start) / 32 <= i) {
                self.field(f, words)?;
            }
        }
        Ok(())
    }

    fn field(&mut self, f: &PackedField, words: &[u32]) -> fmt::Result {
        write!(self.out, "    {}: {}", f.name, field_value(f, words))?;
        if (f.name == "Register Offset" || f.name == "Register Address")
            && let Some((id, index, _)) = (self.generation.lookup)(f.raw(words) as u32)
        {
            write!(self.out, " ({}", id.name())?;
            if (self.generation.register_desc)(id).is_some_and(|r| r.count > 1) {
                write!(self.out, "[{index}]")?;
            }
            write!(self.out, ")")?;
        }
        writeln!(self.out)
    }

    /// Follows every pointer among `fields` that says where it leads.
    pub(super) fn follow(&mut self, fields: &[PackedField], words: &[u32]) -> fmt::Result {
        self.follow_to(&flatten(fields.iter()), words, 0)
    }

    fn follow_to(&mut self, fields: &[PackedField], words: &[u32], depth: u32) -> fmt::Result {
        if depth >= MAX_DEPTH {
            return Ok(());
        }
        for f in fields {
            let Some((base, what)) = f.target.split_once(':') else {
                continue;
            };
            let value = f.raw(words) as u32;
            // Without a flag of its own, a pointer that is zero leads nowhere.
            if !live(fields, f, words).unwrap_or(value != 0) {
                continue;
            }
            let base = match base {
                "general" => self.general_base,
                "surface" => self.surface_base,
                "instruction" => self.instruction_base,
                "dynamic" if what == "constants" && self.constants_absolute => 0,
                "dynamic" => self.dynamic_base,
                _ => 0,
            };
            let address = base.wrapping_add(value);
            let number = |name: &str| {
                fields
                    .iter()
                    .find(|g| g.name == name)
                    .map(|g| g.raw(words) as u32)
            };
            if what != "batch" && !self.may_follow()? {
                return Ok(());
            }
            match what {
                "batch" => {}
                "kernel" => {
                    writeln!(self.out, "{}: kernel at {address:#010x}", f.name)?;
                    self.source.kernel(address, self.out)?;
                }
                "constants" => {
                    // One of several has its number at the end of its name, and a length in smaller units.
                    let n = f.name.trim_start_matches(|c: char| !c.is_ascii_digit());
                    let (name, unit) = if n.is_empty() {
                        ("Buffer Length".to_owned(), 16)
                    } else {
                        (format!("Constant Buffer {n} Read Length"), 8)
                    };
                    let length = fields.iter().find(|g| g.name == name);
                    let more = u32::from(length.is_none_or(|g| g.scale.ends_with("minus 1")));
                    let units = length.map_or(0, |g| g.raw(words) as u32);
                    let dwords = units.saturating_add(more).saturating_mul(unit);
                    if dwords != 0 {
                        self.data(f.name, address, dwords)?;
                    }
                }
                "vertices" | "indices" => self.data(f.name, address, self.options.data_dwords)?,
                "BINDING_TABLE_STATE" => self.bindings(f.name, address, depth)?,
                "SAMPLER_STATE" => {
                    let groups = number("Sampler Count").unwrap_or(0);
                    let count = (groups * 4).clamp(1, MAX_SAMPLERS);
                    self.array(f.name, what, address, count, depth)?;
                }
                _ => self.array(f.name, what, address, 1, depth)?,
            }
        }
        Ok(())
    }

    /// Counts one more thing that a pointer leads to; says so once when there were too many.
    fn may_follow(&mut self) -> Result<bool, fmt::Error> {
        let most = self.options.max_follow;
        if self.followed == most {
            self.report.errors += 1;
            writeln!(
                self.out,
                "error: more than {most} pointers, the rest is not followed"
            )?;
        }
        self.followed = self.followed.saturating_add(1);
        Ok(self.followed <= most)
    }

    fn array(
        &mut self,
        label: &str,
        name: &str,
        address: u32,
        count: u32,
        depth: u32,
    ) -> fmt::Result {
        let Some(desc) = self.generation.structure(name) else {
            return Ok(());
        };
        for i in 0..count {
            let at = address.wrapping_add(i * desc.dwords * 4);
            if count == 1 {
                writeln!(self.out, "{label}: {name}")?;
            } else {
                writeln!(self.out, "{label}[{i}]: {name}")?;
            }
            self.structure(desc, at, depth)?;
        }
        Ok(())
    }

    fn structure(&mut self, desc: &'static StructDesc, address: u32, depth: u32) -> fmt::Result {
        let (words, read) = self.read(address, desc.dwords);
        self.words(&words, 0, read, address, desc.fields.iter())?;
        if read < desc.dwords {
            let place = address.wrapping_add(read * 4);
            return self.error(place, read, None, "state not mapped");
        }
        if !address.is_multiple_of(desc.align.max(1)) {
            writeln!(self.out, "    not aligned to {} bytes", desc.align)?;
        }
        self.follow_to(desc.fields, &words, depth + 1)
    }

    /// Entries until one cannot be a pointer; the size of a table is nowhere in memory.
    fn bindings(&mut self, label: &str, address: u32, depth: u32) -> fmt::Result {
        writeln!(self.out, "{label}: binding table at {address:#010x}")?;
        let Some(surface) = self.generation.structure("SURFACE_STATE") else {
            return Ok(());
        };
        for i in 0..MAX_BINDINGS {
            let place = address.wrapping_add(i * 4);
            let Some(entry) = self.source.dword(place) else {
                return self.error(place, i, None, "binding table not mapped");
            };
            let at = self.surface_base.wrapping_add(entry);
            if entry == 0 || entry % 32 != 0 || self.source.dword(at).is_none() {
                return Ok(());
            }
            if !self.may_follow()? {
                return Ok(());
            }
            writeln!(self.out, "pointer {i}: {entry:#010x}")?;
            self.structure(surface, at, depth + 1)?;
        }
        Ok(())
    }

    fn data(&mut self, label: &str, address: u32, dwords: u32) -> fmt::Result {
        let dwords = dwords.min(self.options.data_dwords);
        let (words, _) = self.read(address, dwords);
        writeln!(self.out, "{label}: data at {address:#010x}")?;
        for (i, row) in words.chunks(4).enumerate() {
            write!(self.out, "{:#010x}: ", address.wrapping_add(i as u32 * 16))?;
            for w in row {
                write!(self.out, " {w:#010x}")?;
            }
            for w in row {
                write!(self.out, " {:e}", f32::from_bits(*w))?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }
}

/// Fields with those of an inner structure behind it, placed where they lie.
fn flatten<'f>(fields: impl Iterator<Item = &'f PackedField>) -> Vec<PackedField> {
    let mut out = Vec::new();
    for f in fields {
        out.push(*f);
        if let Kind::Struct(inner) = f.kind {
            out.extend(inner.fields.iter().map(|g| PackedField {
                start: f.start + g.start,
                ..*g
            }));
        }
    }
    out
}

/// What a flag beside a pointer says of it; `None` where it has none, or where the flag leaves a zero open.
fn live(fields: &[PackedField], pointer: &PackedField, words: &[u32]) -> Option<bool> {
    let set = |f: &PackedField| f.raw(words) != 0;
    let flag = |matches: &dyn Fn(&PackedField) -> bool| {
        let mut flags = fields.iter().filter(|f| f.width == 1);
        flags.find(|f| matches(f))
    };
    let (base, what) = pointer.target.split_once(':').unwrap_or_default();
    if what == "constants" {
        let n = pointer
            .name
            .trim_start_matches(|c: char| !c.is_ascii_digit());
        let valid = flag(&|f| match f.name.strip_suffix("Valid") {
            Some(buffer) => buffer.trim_start_matches("Buffer").trim() == n,
            None => false,
        });
        return valid.map(set);
    }
    // In bit 0 of the pointer's own dword.
    let beside = flag(&|f| f.start == pointer.start / 32 * 32);
    if let Some(f) = beside {
        if f.name.ends_with("Change") || f.name.ends_with("Valid") {
            return Some(set(f));
        }
        if f.name.ends_with("Enable") && !set(f) {
            return Some(false);
        }
    }
    // In the header, by the unit that both are named after: `VS Binding Table Change`, `Pointer to VS Binding Table`.
    if let Some(named) = pointer.name.strip_prefix("Pointer to ") {
        let unit = |name: &str| name.split([' ', '_']).next() == named.split([' ', '_']).next();
        let change = flag(&|f| f.start < 32 && f.name.ends_with("Change") && unit(f.name));
        return change.map(set);
    }
    // Kernels may lie at the base itself.
    if what != "kernel" || base != "instruction" {
        return None;
    }
    let [eight, sixteen, thirty_two] = ["8 ", "16 ", "32 "].map(|width| {
        flag(&|f| f.name.strip_prefix(width) == Some("Pixel Dispatch Enable")).map(set)
    });
    let Some(widths) = eight.zip(sixteen).zip(thirty_two) else {
        // The descriptor of a media kernel is there because the kernel runs; it alone has its binding table beside it.
        let descriptor = fields.iter().any(|f| f.name == "Binding Table Pointer");
        let enable = flag(&|f| f.name == "Enable").map(set);
        return enable.or(descriptor.then_some(true));
    };
    // A lone kernel has the first pointer; the second is that of 32 pixels, the third that of 16 (Mesa intel_batch_decoder.c).
    let ((eight, sixteen), thirty_two) = widths;
    let lone = [eight, sixteen, thirty_two]
        .iter()
        .filter(|on| **on)
        .count()
        == 1;
    match pointer.name.strip_prefix("Kernel Start Pointer ")? {
        "0" => Some(eight || lone),
        "1" => Some(thirty_two && !lone),
        "2" => Some(sixteen && !lone),
        _ => None,
    }
}

//! Sections of the URB.
//! ValleyView volume 2 part 2, 3DSTATE_URB_VS, _HS, _DS, _GS.
//! The commands of all stages have one layout.

use alloc::format;
use alloc::string::String;

use super::constants::{STAGES as CONSTANTS, space};
use super::{Id, has_later_shader, rule, table};
use crate::check::{Rule, View, When};

/// The stages that have a section.
const STAGES: [(Id, &str); 4] = [
    (Id::State3dUrbVs, "VS"),
    (Id::State3dUrbHs, "HS"),
    (Id::State3dUrbDs, "DS"),
    (Id::State3dUrbGs, "GS"),
];

const COMMANDS: &[Id] = &[
    Id::State3dUrbVs,
    Id::State3dUrbHs,
    Id::State3dUrbDs,
    Id::State3dUrbGs,
];

/// Starting addresses count 8 KB.
const START: u32 = 8192;

/// The last starting address, in units of 8 KB.
const LAST: u32 = 11;

/// Bytes of the URB at most: 80 ways of 2 KB (Mesa 22.3.6 intel_l3_config.c `vlv_l3_configs`).
const SIZE: u32 = 80 * 2048;

/// A section.
struct Section {
    start: u32,
    entries: u32,
    /// Allocation size: rows of 512 bits less one.
    field: u32,
}

impl Section {
    fn of(d: &[u32]) -> Self {
        let c = table::State3dUrbVs::from_dwords(d);
        Section {
            start: c.vs_urb_starting_address() * START,
            entries: c.vs_number_of_urb_entries(),
            field: c.vs_urb_entry_allocation_size(),
        }
    }

    /// Bytes of an entry.
    fn entry(&self) -> u32 {
        (self.field + 1) * 64
    }

    /// Where it ends.
    fn end(&self) -> u32 {
        self.start
            .saturating_add(self.entries.saturating_mul(self.entry()))
    }
}

/// The sections that are known and have entries.
fn sections(v: &View<'_>) -> impl Iterator<Item = (Section, &'static str)> {
    STAGES.into_iter().filter_map(|(id, name)| {
        let section = Section::of(v.kept(id)?);
        (section.entries > 0).then_some((section, name))
    })
}

pub const APART: Rule = rule(
    "urb-apart",
    "the sections of two stages do not overlap",
    "3DSTATE_URB_*, starting address and entries",
    When::Draw,
    |v| {
        for (i, (a, first)) in sections(v).enumerate() {
            for (b, second) in sections(v).skip(i + 1) {
                if a.start < b.end() && b.start < a.end() {
                    return Some(format!(
                        "{first} has bytes {:#x} to {:#x}, {second} bytes {:#x} to {:#x}",
                        a.start,
                        a.end(),
                        b.start,
                        b.end()
                    ));
                }
            }
        }
        None
    },
);

pub const INSIDE: Rule = rule(
    "urb-inside",
    "sections begin no later than at 88 KB and end in the URB",
    "3DSTATE_URB_*, starting address",
    When::Draw,
    |v| {
        let outside = |s: &Section| s.start > LAST * START || s.end() > SIZE;
        let (section, name) = sections(v).find(|(s, _)| outside(s))?;
        let (start, end) = (section.start, section.end());
        Some(format!("{name} has bytes {start:#x} to {end:#x}"))
    },
);

pub const BEHIND_CONSTANTS: Rule = rule(
    "urb-behind-constants",
    "sections do not overlap the space of constants",
    "3DSTATE_URB_*, description",
    When::Draw,
    |v| {
        for (id, _, owner) in CONSTANTS {
            let Some((offset, size)) = space(v, id).filter(|(_, size)| *size > 0) else {
                continue;
            };
            let (from, to) = (offset * 1024, (offset + size) * 1024);
            if let Some((section, name)) = sections(v).find(|(s, _)| s.start < to && from < s.end())
            {
                return Some(format!(
                    "{name} starts at {:#x}, constants of {owner} end at {to:#x}",
                    section.start
                ));
            }
        }
        None
    },
);

pub const ALL_FOUR: Rule = rule(
    "urb-all-four",
    "the sections of all four stages are sent together",
    "3DSTATE_URB_*, programming note 1",
    When::Draw,
    |v| {
        let sent = |id: Id| v.since().iter().any(|sent| sent.id == id);
        let (_, name) = STAGES.iter().find(|(id, _)| sent(*id))?;
        let (_, missing) = STAGES.iter().find(|(id, _)| !sent(*id))?;
        Some(format!("3DSTATE_URB_{name} without 3DSTATE_URB_{missing}"))
    },
);

pub const BY_EIGHT: Rule = rule(
    "urb-by-eight",
    "there are multiples of eight entries where entries are short",
    "3DSTATE_URB_*, Number of URB Entries",
    When::At(COMMANDS),
    |v| {
        let s = Section::of(v.words);
        // The print compares the field for DS, and rows for the others.
        let short = if v.command.id == Id::State3dUrbDs {
            s.field < 9
        } else {
            s.field + 1 < 9
        };
        (short && !s.entries.is_multiple_of(8))
            .then(|| format!("{} entries of {} bytes", s.entries, s.entry()))
    },
);

pub const GEOMETRY: Rule = rule(
    "urb-gs-entries",
    "GS has entries when it is enabled",
    "3DSTATE_URB_GS, GS Number of URB Entries",
    When::Draw,
    |v| {
        let gs = table::State3dGs::from_dwords(v.kept(Id::State3dGs)?);
        let section = Section::of(v.kept(Id::State3dUrbGs)?);
        (gs.enable() && section.entries == 0)
            .then(|| String::from("GS Enable with no entries in 3DSTATE_URB_GS"))
    },
);

pub const VERTEX_SIZE: Rule = rule(
    "urb-vs-size",
    "an entry of VS holds a vertex before and after its shader",
    "3DSTATE_URB_VS, VS URB Entry Allocation Size",
    When::Draw,
    |v| {
        let bytes = Section::of(v.kept(Id::State3dUrbVs)?).entry();
        let elements = v.kept(Id::State3dVertexElements)?.get(1..)?;
        let elements = elements.chunks_exact(table::VertexElementState::LEN);
        let valid = elements.filter(|e| table::VertexElementState::from_dwords(e).valid());
        // CAST: a command has at most 128 elements.
        let input = valid.count() as u32 * 16;
        if input > bytes {
            return Some(format!("{input} bytes of elements in an entry of {bytes}"));
        }
        let sbe = table::State3dSbe::from_dwords(v.kept(Id::State3dSbe)?);
        let rows = sbe.vertex_urb_entry_read_offset() + sbe.vertex_urb_entry_read_length();
        (!has_later_shader(v) && rows * 32 > bytes).then(|| {
            format!(
                "3DSTATE_SBE reads {} bytes of an entry of {bytes}",
                rows * 32
            )
        })
    },
);

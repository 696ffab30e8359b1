//! Constants that the command streamer pushes into the URB.
//! ValleyView volume 2 part 2, 3DSTATE_PUSH_CONSTANT_ALLOC_VS, _HS, _DS, _GS, _PS, and 3DSTATE_PS.
//! The commands of all stages have one layout.

use alloc::format;
use alloc::string::String;

use super::{Id, rule, table};
use crate::check::{Rule, View, When};

/// Space, constants and name of a stage.
pub const STAGES: [(Id, Id, &str); 5] = [
    (Id::State3dPushConstantAllocVs, Id::State3dConstantVs, "VS"),
    (Id::State3dPushConstantAllocHs, Id::State3dConstantHs, "HS"),
    (Id::State3dPushConstantAllocDs, Id::State3dConstantDs, "DS"),
    (Id::State3dPushConstantAllocGs, Id::State3dConstantGs, "GS"),
    (Id::State3dPushConstantAllocPs, Id::State3dConstantPs, "PS"),
];

const SPACES: &[Id] = &[
    Id::State3dPushConstantAllocVs,
    Id::State3dPushConstantAllocHs,
    Id::State3dPushConstantAllocDs,
    Id::State3dPushConstantAllocGs,
    Id::State3dPushConstantAllocPs,
];

/// KB that constants of all stages have. The print has values up to 15, in a field of five bits; drivers take 16 (Mesa 22.3.6
/// intel_device_info.c `max_constant_urb_size_kb`).
const LARGEST: u32 = 16;

/// Offset and size of a stage's space, in KB.
pub fn space(v: &View<'_>, id: Id) -> Option<(u32, u32)> {
    Some(of(v.kept(id)?))
}

fn of(d: &[u32]) -> (u32, u32) {
    let c = table::State3dPushConstantAllocVs::from_dwords(d);
    (c.constant_buffer_offset(), c.constant_buffer_size())
}

/// Rows of 256 bits of a stage's four buffers.
fn rows(d: &[u32]) -> [u32; 4] {
    let body = table::State3dConstantVs::from_dwords(d).constant_body();
    [
        body.constant_buffer_0_read_length(),
        body.constant_buffer_1_read_length(),
        body.constant_buffer_2_read_length(),
        body.constant_buffer_3_read_length(),
    ]
}

pub const RANGE: Rule = rule(
    "constants-range",
    "offset and size of a stage's constants are together no more than 16 KB",
    "3DSTATE_PUSH_CONSTANT_ALLOC_*, programming restriction 1",
    When::At(SPACES),
    |v| {
        let (offset, size) = of(v.words);
        (offset + size > LARGEST)
            .then(|| format!("{size} KB at {offset} KB end behind {LARGEST} KB"))
    },
);

pub const APART: Rule = rule(
    "constants-apart",
    "the constants of two stages do not share space",
    "3DSTATE_PUSH_CONSTANT_ALLOC_*: one URB for all stages",
    When::Draw,
    |v| {
        for (i, (first, _, a)) in STAGES.iter().enumerate() {
            for (second, _, b) in STAGES.iter().skip(i + 1) {
                let (Some((at, size)), Some((other, more))) = (space(v, *first), space(v, *second))
                else {
                    continue;
                };
                if size > 0 && more > 0 && at < other + more && other < at + size {
                    return Some(format!(
                        "{size} KB of {a} at {at} KB, {more} KB of {b} at {other} KB"
                    ));
                }
            }
        }
        None
    },
);

pub const ROOM: Rule = rule(
    "constants-room",
    "the constants of a stage fit into its space, each buffer in whole cache lines",
    "3DSTATE_PUSH_CONSTANT_ALLOC_*, programming restriction 2",
    When::Draw,
    |v| {
        for (id, constants, name) in STAGES {
            let (Some((_, size)), Some(d)) = (space(v, id), v.kept(constants)) else {
                continue;
            };
            // A cache line is 64 bytes, two rows.
            let lines: u32 = rows(d).iter().map(|rows| rows.div_ceil(2)).sum();
            if lines * 64 > size * 1024 {
                return Some(format!(
                    "{} bytes of {name}, which has {size} KB",
                    lines * 64
                ));
            }
        }
        None
    },
);

pub const AGAIN: Rule = rule(
    "constants-again",
    "constants of a stage are sent again between a change of its space and the next draw",
    "3DSTATE_PUSH_CONSTANT_ALLOC_*, programming restriction 3",
    When::Draw,
    |v| {
        for (id, constants, name) in STAGES {
            let last = v.since().iter().rposition(|sent| sent.id == id);
            let behind = last.and_then(|at| v.since().get(at..));
            if behind.is_some_and(|sent| sent.iter().all(|s| s.id != constants)) {
                return Some(format!(
                    "3DSTATE_CONSTANT_{name} does not follow 3DSTATE_PUSH_CONSTANT_ALLOC_{name}"
                ));
            }
        }
        None
    },
);

pub const STALL: Rule = rule(
    "constants-stall",
    "a PIPE_CONTROL with CS Stall follows the space of PS constants",
    "3DSTATE_PUSH_CONSTANT_ALLOC_PS, description",
    When::Draw,
    |v| {
        let space = Id::State3dPushConstantAllocPs;
        let at = v.since().iter().rposition(|sent| sent.id == space)?;
        let behind = v.since().get(at..)?;
        let stalls = behind.iter().any(|sent| {
            let c = table::PipeControl::from_dwords(&sent.words);
            sent.id == Id::PipeControl && c.command_streamer_stall_enable()
        });
        (!stalls).then(|| String::from("no PIPE_CONTROL with CS Stall before the draw"))
    },
);

pub const ENABLED: Rule = rule(
    "constants-enabled",
    "Push Constant Enable says whether there are PS constants",
    "3DSTATE_PS, Push Constant Enable",
    When::Draw,
    |v| {
        let ps = table::State3dPs::from_dwords(v.kept(Id::State3dPs)?);
        let rows: u32 = rows(v.kept(Id::State3dConstantPs)?).iter().sum();
        let on = ps.push_constant_enable();
        (on != (rows > 0)).then(|| {
            format!(
                "Push Constant Enable is {}, the read lengths add up to {rows}",
                u32::from(on)
            )
        })
    },
);

//! What a capture says of its buffers against what its batch says.
//!
//! PRM: volume 4 4.7.2 (SURFACE_STATE). Not modelled: surfaces that are only read, depth buffers, and
//! what stands behind commands that the walk cannot follow.

use std::collections::BTreeSet;
use std::fmt;

use mem::Tiling;
use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::intel::surface::SurfaceKind;

use crate::capture::Exec;
use crate::picture::{Walk, last_target};

/// Render targets of a submission that are compared.
const MAX_TARGETS: usize = 1024;

/// A field of `exec.json` that cannot be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// Submission.
    pub exec: String,
    /// Index of the buffer.
    pub buffer: usize,
    /// Its file.
    pub file: String,
    /// The field, its value, and what says otherwise.
    pub what: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/exec.json, buffer {} ({}): {}",
            self.exec, self.buffer, self.file, self.what
        )
    }
}

/// The first contradiction of a submission.
pub fn of(
    exec: &Exec,
    walk: &Walk,
    dword: impl Fn(u32) -> Option<u32>,
    device: &DeviceInfo,
) -> Option<Contradiction> {
    let (index, what) = length(exec, walk).or_else(|| targets(exec, walk, dword, device))?;
    Some(Contradiction {
        exec: exec.name.clone(),
        buffer: index,
        file: exec.buffers.get(index)?.file.clone(),
        what,
    })
}

/// `batch_len` against the batch's end, which drivers pad to a quadword (i915 wants it so).
fn length(exec: &Exec, walk: &Walk) -> Option<(usize, String)> {
    let end = walk.end?;
    let batch = exec.buffers.get(exec.batch)?;
    let used = end.address.checked_sub(exec.batch_address())?;
    let said = exec.batch_len;
    // Up to the end of the buffer is also what a batch_len of 0 means.
    let whole = u64::from(exec.batch_start) + u64::from(said) == u64::from(batch.size);
    let padded = used.next_multiple_of(8);
    let command = if end.last {
        "MI_BATCH_BUFFER_END"
    } else {
        "MI_BATCH_BUFFER_START"
    };
    let stands = exec.batch_start.wrapping_add(used);
    if said < used {
        return Some((
            exec.batch,
            format!(
                "batch_len is {said} ({said:#x}), but the batch goes on to {used} ({used:#x}): its {command} ends at offset {stands:#x}"
            ),
        ));
    }
    if end.last && said > padded && !whole {
        return Some((
            exec.batch,
            format!(
                "batch_len is {said} ({said:#x}), but the batch has {used} ({used:#x}): its {command} ends at offset {stands:#x}"
            ),
        ));
    }
    None
}

/// `tiling` and `stride` of buffers against the surfaces that render to them.
fn targets(
    exec: &Exec,
    walk: &Walk,
    dword: impl Fn(u32) -> Option<u32>,
    device: &DeviceInfo,
) -> Option<(usize, String)> {
    let mut seen = BTreeSet::new();
    for draw in &walk.draws {
        if seen.len() >= MAX_TARGETS {
            return None;
        }
        if !seen.insert(draw.state) {
            continue;
        }
        // A target that cannot be used is the device's to report.
        let Ok(target) = last_target(&dword, draw.state, device) else {
            continue;
        };
        let surface = &target.surface;
        if matches!(surface.kind, SurfaceKind::Null | SurfaceKind::Buffer) {
            continue;
        }
        let Some((index, _)) = exec.find(surface.geometry.base.low()) else {
            continue;
        };
        let buffer = exec.buffers.get(index)?;
        let says = format!(
            "the SURFACE_STATE that renders to it{} says",
            crate::places::describe(exec, target.state)
                .map_or_else(String::new, |place| format!(" [{place}]"))
        );
        let (said, found) = (name(buffer.tiling), tiling(surface.geometry.tiling));
        // Mesa clears stencil as a surface in tiles of Y.
        let is_stencil = device.stencil_apart
            && buffer.tiling == driver::Tiling::None
            && surface.geometry.tiling == Tiling::Y;
        if said != found && !is_stencil {
            return Some((index, format!("tiling is {said}, but {says} {found}")));
        }
        let (said, found) = (buffer.stride, surface.geometry.pitch);
        if said != 0 && said != found {
            return Some((index, format!("stride is {said}, but {says} {found}")));
        }
    }
    None
}

fn name(tiling: driver::Tiling) -> &'static str {
    match tiling {
        driver::Tiling::None => "0 (linear)",
        driver::Tiling::X => "1 (X)",
        driver::Tiling::Y => "2 (Y)",
    }
}

fn tiling(tiling: Tiling) -> &'static str {
    match tiling {
        Tiling::Linear => "0 (linear)",
        Tiling::X => "1 (X)",
        Tiling::Y => "2 (Y)",
    }
}

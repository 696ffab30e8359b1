//! What control surfaces want when pixels are written.
//!
//! IVB PRM volume 2 part 1, 11.7 (MCS buffer for render targets), 11.9 (render target resolve). Not modelled: which of several valid
//! elements hardware writes; here samples of a pixel are all in slice 0, or each in its own.

use super::pixel::extent;
use super::{CcState, Origins, pixel::reads_target, pixel_position};
use crate::intel::surface::control::{Blocks, Control, Rect, Samples};
use crate::intel::surface::{Surface, samples};
use mem::{Fault, Memory};

/// What a draw does to a target in place of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Render Target Fast Clear Enable: what lies under its pixels is marked as cleared.
    Clear,
    /// Render Target Resolve Enable: blocks under its pixels get the colour that they were cleared to.
    Resolve,
}

/// Pixels of a rectangle that lie in a target, row by row.
fn inside(
    target: &Surface,
    ([x, y], [across, down]): Rect,
) -> impl Iterator<Item = (u32, u32)> + use<> {
    let (width, height) = extent(target);
    let columns = x.min(width)..x.saturating_add(across).min(width);
    let rows = y.min(height)..y.saturating_add(down).min(height);
    rows.flat_map(move |y| columns.clone().map(move |x| (x, y)))
}

/// Gives a sample of a pixel the colour of a clear.
fn clear_sample(
    mem: &mut Memory,
    target: &Surface,
    (x, y, slice): (u32, u32, u32),
    sample: u32,
) -> Result<(), Fault> {
    let at = target.sample_address(x, y, slice, target.render_lod, sample);
    let element = target.format.pack(target.clear);
    let bytes = usize::from(target.format.bytes).min(element.len());
    mem.write_bytes(at, &element[..bytes])
}

/// Gives a block the colour of a clear where it is marked, and takes away the mark.
fn resolve(
    mem: &mut Memory,
    target: &Surface,
    (blocks, block): (&Blocks, (u32, u32)),
) -> Result<(), Fault> {
    if blocks.take(mem, block)? {
        let slice = target.target_slice(0);
        for (x, y) in inside(target, blocks.pixels(block)) {
            clear_sample(mem, target, (x, y, slice), 0)?;
        }
    }
    Ok(())
}

/// Gives all marked blocks of a target the colour of its clear, before it is drawn to.
pub fn settle(mem: &mut Memory, target: &Surface) -> Result<(), Fault> {
    let Some(Control::Blocks(blocks)) = &target.control else {
        return Ok(());
    };
    let marked = blocks.marked(mem, extent(target))?;
    for block in marked.blocks() {
        resolve(mem, target, (blocks, block))?;
    }
    Ok(())
}

/// The pixels of a block of four subspans in a pass over a target. Comes back with them.
pub fn pass(
    mem: &mut Memory,
    (target, slice): (&Surface, u32),
    what: Pass,
    (origins, mask): (&Origins, u16),
) -> Result<u16, Fault> {
    let Some(control) = &target.control else {
        return Ok(mask);
    };
    for i in (0..16).filter(|i| mask >> i & 1 != 0) {
        let at = pixel_position(origins, i);
        match (what, control) {
            (Pass::Clear, Control::Samples(samples)) => {
                for (x, y) in inside(target, samples.clears(at)) {
                    samples.write(mem, (x, y, slice), samples.cleared())?;
                }
            }
            (Pass::Clear, Control::Blocks(blocks)) => blocks.clear(mem, at)?,
            (Pass::Resolve, Control::Blocks(blocks)) => {
                resolve(mem, target, (blocks, blocks.resolves(at)))?;
            }
            // Targets of several samples are not resolved.
            (Pass::Resolve, Control::Samples(_)) => {}
        }
    }
    Ok(mask)
}

/// Whether pixels have several samples whose places the control surface says.
pub fn of_samples(target: &Surface) -> Option<&Samples> {
    match &target.control {
        Some(Control::Samples(samples)) => Some(samples),
        _ => None,
    }
}

/// Gets the pixels of a block ready: those whose samples are all written and alike are in slice 0 afterwards, and come back; they are
/// to be written there once. Of the others each sample is in its own slice. `lit`: pixels by samples that are written.
pub fn arrange(
    mem: &mut Memory,
    cc: &CcState,
    (target, slice): (&Surface, u32),
    (control, origins): (&Samples, &Origins),
    lit: &[u16],
) -> Result<u16, Fault> {
    let any = lit.iter().fold(0, |all, lit| all | lit);
    let all = lit.iter().fold(0xffff, |all, lit| all & lit);
    let reads = reads_target(cc, target);
    let (width, height) = extent(target);
    let mut together = 0;
    for i in (0..16).filter(|i| any >> i & 1 != 0) {
        let (x, y) = pixel_position(origins, i);
        if x >= width || y >= height {
            continue;
        }
        let at = (x, y, slice);
        let old = control.read(mem, at)?;
        let cleared = old == control.cleared();
        if all >> i & 1 != 0 && (old == 0 || cleared || !reads) {
            if cleared && reads {
                clear_sample(mem, target, at, 0)?;
            }
            if old != 0 {
                control.write(mem, at, 0)?;
            }
            together |= 1 << i;
        } else if old != control.apart() {
            separate(mem, target, at, (control, old))?;
        }
    }
    Ok(together)
}

/// Moves the samples of a pixel into slices of their own.
fn separate(
    mem: &mut Memory,
    target: &Surface,
    at: (u32, u32, u32),
    (control, old): (&Samples, u32),
) -> Result<(), Fault> {
    let (x, y, slice) = at;
    let bytes = usize::from(target.format.bytes).min(16);
    let address = |sample| target.sample_address(x, y, slice, target.render_lod, sample);
    let mut stored = [[0; 16]; samples::MOST];
    // CAST: eight samples at most.
    let count = (target.samples as usize).min(stored.len());
    for (sample, to) in (0..).zip(&mut stored[..count]) {
        match control.stored(old, sample) {
            Some(from) => mem.read_bytes(address(from), &mut to[..bytes])?,
            None => *to = target.format.pack(target.clear),
        }
    }
    for (sample, from) in (0..).zip(&stored[..count]) {
        if control.stored(old, sample) != Some(sample) {
            mem.write_bytes(address(sample), &from[..bytes])?;
        }
    }
    control.write(mem, at, control.apart())
}

#[cfg(test)]
mod tests;

//! The depth and stencil test of a block of pixels, with the buffer's update.
//!
//! PRM: volume 2, windower (depth test, stencil test), volume 4 5.10.6.3 and 5.10.6.8.
//! Not modelled: hierarchical and intermediate depth, and reading stale destination payloads: the
//! buffer itself is read.

use super::state::CcState;
use super::stencil::Op;
use super::{Origins, pixel_position};
use crate::intel::surface::{DepthBuffer, DepthFormat, SurfaceKind, samples};
use mem::{Fault, Memory};

/// Pixels to test.
#[derive(Clone, Copy, Debug)]
pub struct DepthBlock<'a> {
    /// Upper-left pixels of the subspans.
    pub origins: &'a Origins,
    /// Pixels that take part.
    pub mask: u16,
    /// Window depth per pixel.
    pub depth: &'a [f32; 16],
    /// The object faces away: double-sided stencil uses the back face.
    pub back_facing: bool,
    /// Slice of the buffer ([`DepthBuffer::target_slice`]).
    pub slice: u32,
    /// Sample of the pixels.
    pub sample: u32,
    /// Make the depth test (if the state enables it). Without it depth passes, as for a message
    /// with source depth but no destination depth.
    pub test_depth: bool,
    /// Make the stencil test (if the state enables it).
    pub test_stencil: bool,
    /// Update the buffer. Off for a test whose pixels may still be killed.
    pub write: bool,
}

/// What became of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DepthOutcome {
    /// Pixels that passed everything.
    pub passed: u16,
    /// Pixels that failed the stencil test.
    pub stencil_failed: u16,
    /// Pixels that passed stencil and failed depth.
    pub depth_failed: u16,
}

#[inline]
fn depth_passes(cc: &CcState, format: DepthFormat, new: u32, old: u32) -> bool {
    let f = cc.depth.function;
    match format {
        DepthFormat::D32Float | DepthFormat::D32FloatS8X24 => {
            f.test(f32::from_bits(new), f32::from_bits(old))
        }
        _ => f.test(new, old),
    }
}

/// Tests a block against the buffer and updates it.
///
/// Pixels outside the buffer's level are dropped (in no set of the outcome). Without a depth
/// buffer all pixels pass. The new depth is clamped to CC_VIEWPORT's range and rounded to the
/// buffer's format before it is compared.
pub fn test_block(
    mem: &mut Memory,
    cc: &CcState,
    buffer: &DepthBuffer,
    block: &DepthBlock<'_>,
) -> Result<DepthOutcome, Fault> {
    let mut out = DepthOutcome::default();
    let depth_test = block.test_depth && cc.depth.test && !buffer.depthless;
    let stencil_test = block.test_stencil && cc.stencil.test && buffer.has_stencil();
    let depth_write = block.write && cc.depth.write && buffer.depth_write && !buffer.depthless;
    if buffer.kind == SurfaceKind::Null || !(depth_test || stencil_test || depth_write) {
        out.passed = block.mask;
        return Ok(out);
    }
    let stencil_write = block.write && stencil_test && cc.stencil.write && buffer.stencil_write;
    let face = if block.back_facing && cc.stencil.double_sided {
        &cc.stencil.back
    } else {
        &cc.stencil.front
    };
    let format = buffer.format;
    let (width, height) = buffer.extent();
    let (left, top) = buffer.geometry.origin(block.slice, buffer.lod);
    for i in 0..16 {
        if block.mask >> i & 1 == 0 {
            continue;
        }
        let (x, y) = pixel_position(block.origins, i);
        if x >= width || y >= height {
            continue;
        }
        let (column, row) = samples::place(buffer.samples, x, y, block.sample);
        let addr = buffer
            .geometry
            .element(left.wrapping_add(column), top.wrapping_add(row));
        let raw = if buffer.depthless {
            0
        } else {
            buffer.read(mem, addr)?
        };
        let (old_depth, beside) = format.split(raw);
        let apart = buffer
            .stencil
            .map(|stencil| stencil.address(x, y, block.slice, block.sample));
        let old_stencil = match apart {
            Some(at) if stencil_test => mem.read_array::<1>(at)?[0],
            _ => beside,
        };
        let z = match cc.depth_range {
            // `max` then `min`: the state may hold a reversed or NaN range.
            Some((low, high)) => block.depth[i].max(low).min(high),
            None => block.depth[i],
        };
        let new_depth = format.encode(z);
        let (mut depth, mut op) = (old_depth, Op::Keep);
        if stencil_test && !face.test(old_stencil) {
            out.stencil_failed |= 1 << i;
            op = face.fail;
        } else if depth_test && !depth_passes(cc, format, new_depth, old_depth) {
            out.depth_failed |= 1 << i;
            op = face.depth_fail;
        } else {
            out.passed |= 1 << i;
            if stencil_test {
                op = face.pass;
            }
            if depth_write {
                depth = new_depth;
            }
        }
        let stencil = if stencil_write {
            face.update(op, old_stencil)
        } else {
            old_stencil
        };
        let beside = match apart {
            None => stencil,
            Some(at) => {
                if stencil != old_stencil {
                    mem.write_array(at, [stencil])?;
                }
                beside
            }
        };
        let new = format.join(raw, depth, beside);
        if new != raw {
            buffer.write(mem, addr, new)?;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;

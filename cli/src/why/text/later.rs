//! Patches, points of their domains, and what stream output has written.
//!
//! Intel's manual of Gen7, volume 2 part 1 (HS, TE and DS stages), part 2 (stream output).

use std::fmt;

use driver::debug::walk::{Patch, Tag, Unit, Written};
use kernel::string_helpers::Counted;

use crate::why::Why;

/// Writes of stream output that are shown of one vertex.
const WRITES: usize = 8;

impl Why {
    /// Key of the patch that a vertex belongs to.
    pub(super) fn patch_of(&self, tag: &Tag) -> Option<u32> {
        let points = (tag.unit == Unit::Ds).then_some(&self.walk.points)?;
        Some(points.get(&(tag.number, tag.relative))?.patch)
    }

    fn found(&self, tag: &Tag) -> Option<&Patch> {
        self.walk.patches.get(&self.patch_of(tag)?)
    }

    /// A vertex of DS.
    pub(super) fn point(&self, f: &mut fmt::Formatter<'_>, depth: usize, tag: &Tag) -> fmt::Result {
        let pad = depth * 2;
        let thread = tag.number;
        let Some(point) = self.walk.points.get(&(thread, tag.relative)) else {
            return Ok(());
        };
        let number = self.found(tag).map_or(0, |patch| patch.number);
        let [u, v, w] = point.place.map(f32::from_bits);
        let both = self.walk.points.contains_key(&(thread, 1));
        let slot = match (both, tag.relative) {
            (false, _) => "",
            (true, 0) => ", the first of its points",
            (true, _) => ", the second of its points",
        };
        writeln!(
            f,
            "{:pad$}point {} of patch {number} at ({u:?}, {v:?}, {w:?}): DS thread {thread}{slot}, kernel {}",
            "",
            point.number,
            self.kernel(point.kernel)
        )
    }

    /// The patch of a vertex of DS, and what is behind it.
    pub(super) fn patch(&self, f: &mut fmt::Formatter<'_>, depth: usize, tag: &Tag) -> fmt::Result {
        let pad = depth * 2;
        let Some(patch) = self.found(tag) else {
            return Ok(());
        };
        let threads: Vec<String> = patch.threads.iter().map(u32::to_string).collect();
        writeln!(
            f,
            "{:pad$}patch {} of {}: HS {} {}, kernel {}",
            "",
            patch.number,
            Counted(patch.inputs.len(), "vertex"),
            if threads.len() == 1 {
                "thread"
            } else {
                "threads"
            },
            threads.join(", "),
            self.kernel(patch.kernel)
        )?;
        if let Some(factors) = patch.factors {
            let list = |bits: &[u32]| {
                let all = bits
                    .iter()
                    .map(|bits| format!("{:?}", f32::from_bits(*bits)));
                all.collect::<Vec<_>>().join(", ")
            };
            let (outside, inside) = factors.split_at(4);
            writeln!(
                f,
                "{:pad$}  factors: outside {}, inside {}; cut into {} and {}",
                "",
                list(outside),
                list(inside),
                Counted(patch.points, "point"),
                Counted(patch.objects, "object")
            )?;
        }
        self.tags(f, depth + 1, &patch.inputs)
    }

    /// Where stream output has written a vertex to.
    pub(super) fn streamed(
        &self,
        f: &mut fmt::Formatter<'_>,
        pad: usize,
        tag: &Tag,
    ) -> fmt::Result {
        let Some(all) = self.walk.streamed.get(tag) else {
            return Ok(());
        };
        for one in all.iter().take(WRITES) {
            let (first, count) = (u32::from(one.from), u32::from(one.dwords));
            writeln!(
                f,
                "{:pad$}stream {}: dwords {first} to {} to buffer {} at offset {:#x}, {}",
                "",
                one.stream,
                (first + count).saturating_sub(1),
                one.buffer,
                one.offset,
                self.at(one.address)
            )?;
        }
        match all.len().saturating_sub(WRITES) {
            0 => Ok(()),
            more => writeln!(
                f,
                "{:pad$}stream output has written it {more} times more",
                ""
            ),
        }
    }

    /// Which vertex stream output has written to where an input was fetched from.
    pub(super) fn written(
        &self,
        f: &mut fmt::Formatter<'_>,
        pad: usize,
        address: u32,
    ) -> fmt::Result {
        let Some(written) = self.walk.written.get(&address) else {
            return Ok(());
        };
        let Written {
            write,
            vertex,
            index,
            draw,
        } = written;
        let who = match (vertex.unit, index) {
            (Unit::Vf | Unit::Vs, Some(index)) => {
                format!("vertex {}, index {index}", vertex.number)
            }
            (unit, _) => format!(
                "vertex {} of {} thread {}",
                vertex.relative,
                unit.name(),
                vertex.number
            ),
        };
        writeln!(
            f,
            "{:pad$}written before by stream output, buffer {} at offset {:#x}, stream {}: {who} of draw {draw}",
            "",
            write.buffer,
            write
                .offset
                .wrapping_add(address.wrapping_sub(write.address)),
            write.stream
        )
    }
}

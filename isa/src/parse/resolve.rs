//! After the text: offsets, labels, encoding.
//!
//! PRM: volume 4, 13.3 (jump distances); units of later generations as in Mesa 22.3.6
//! `brw_jump_scale`. An instruction asked to be compacted has to fit; nothing is compacted otherwise.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::error::Fail;
use super::{Code, Fixup, MAX_ERRORS, Parser, Places, Target};
use crate::compact::compact;
use crate::encode::encode;
use crate::error::{EncodeError, OperandId};
use crate::inst::{Inst, Verx10};

impl Parser<'_> {
    /// Fills in labels and words; returns the labels.
    pub(super) fn resolve(&mut self) -> Vec<(String, u32)> {
        let mut offset: u32 = 0;
        for item in &mut self.items {
            item.offset = offset;
            offset = offset.saturating_add(4 * u32::from(item.count));
        }
        let end = offset;
        let offsets = |index: usize| self.items.get(index).map_or(end, |item| item.offset);
        let labels = self
            .labels
            .iter()
            .map(|(name, &index)| (name.to_string(), offsets(index)))
            .collect();
        for fixup in core::mem::take(&mut self.fixups) {
            if let Err(fail) = self.fix(&fixup, end) {
                self.fails.push(fail);
            }
        }
        // A mistake in the text may be the reason for what does not encode.
        if self.fails.is_empty() {
            self.encode();
        }
        labels
    }

    fn fix(&mut self, fixup: &Fixup<'_>, end: u32) -> Result<(), Fail> {
        let Some(&index) = self.labels.get(fixup.name) else {
            return Err(Fail::text(
                fixup.at,
                format!("the label {} is not defined", fixup.name),
            ));
        };
        let to = self.items.get(index).map_or(end, |item| item.offset);
        let Some(item) = self.items.get_mut(fixup.item) else {
            return Ok(());
        };
        let mut from = i64::from(item.offset);
        if fixup.target == Target::Jmpi {
            from += 4 * i64::from(item.count);
        }
        let bytes = i64::from(to) - from;
        let unit = self.generation.has().jump_unit;
        if bytes % unit != 0 {
            return Err(Fail::text(
                fixup.at,
                format!(
                    "the label {} is {bytes} bytes away, jumps count {unit}",
                    fixup.name
                ),
            ));
        }
        let distance = i32::try_from(bytes / unit)
            .map_err(|_| Fail::text(fixup.at, "the label is too far away"))?;
        let Code::Inst(inst) = &mut item.code else {
            return Ok(());
        };
        if fixup.target == Target::Jmpi {
            inst.src[1].imm = u64::from(distance as u32);
        }
        if let Some(branch) = &mut inst.branch {
            match fixup.target {
                Target::Jump | Target::Jmpi => branch.jump = distance,
                Target::Uip => branch.pop_or_uip = distance,
            }
        }
        Ok(())
    }

    fn encode(&mut self) {
        for (item, places) in self.items.iter_mut().zip(&self.places) {
            let Code::Inst(inst) = &item.code else {
                continue;
            };
            match words(self.generation, inst, item.count == 2, places) {
                Ok(words) => item.words = words,
                Err(fail) => {
                    self.fails.push(fail);
                    if self.fails.len() >= MAX_ERRORS {
                        return;
                    }
                }
            }
        }
    }
}

fn words(
    generation: Verx10,
    inst: &Inst,
    compacted: bool,
    places: &Places,
) -> Result<[u32; 4], Fail> {
    let raw = encode(generation, inst).map_err(|error| {
        let at = match error {
            EncodeError::Operand(OperandId::Dst, _) => places.dst,
            EncodeError::Operand(OperandId::Src0, _) => places.src[0],
            EncodeError::Operand(OperandId::Src1, _) => places.src[1],
            _ => places.start,
        };
        Fail::text(at, error.to_string())
    })?;
    if !compacted {
        return Ok(raw);
    }
    match compact(generation, raw) {
        Some([first, second]) => Ok([first, second, 0, 0]),
        None => Err(Fail::text(
            places.start,
            "the instruction has no compacted form",
        )),
    }
}

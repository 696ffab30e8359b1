//! Page table entries: what the driver has written, and what stands there.
//!
//! i915 `i915_ggtt_resume`: after a reset all that is bound is written anew. On this family batches can write over the ring,
//! whose commands write registers and so these entries as well.
use alloc::vec::Vec;

use kernel::error::{Result, code::ENOMEM};
use kernel::sync::Mutex;
use regs::ids::RegId;

use crate::intel::r#gen::DeviceInfo;
use crate::intel::uncore::Uncore;

/// Entries that are looked at in one go, while nobody writes others.
const CHUNK: usize = 4096;

/// The entries of a device.
pub struct Table {
    uncore: Uncore,
    info: &'static DeviceInfo,
    written: Mutex<Written>,
    len: usize,
}

/// What the driver has written last.
struct Written {
    values: Vec<u32>,
    /// Of each chunk of them, how many are not zero.
    bound: Vec<usize>,
}

impl Written {
    fn set(&mut self, index: usize, value: u32) {
        let (Some(known), Some(bound)) = (
            self.values.get_mut(index),
            self.bound.get_mut(index / CHUNK),
        ) else {
            return;
        };
        *bound = *bound - usize::from(*known != 0) + usize::from(value != 0);
        *known = value;
    }

    /// The entries of a chunk that are not zero, each with its number. A chunk of zeros is not searched.
    fn of_chunk(&self, chunk: usize) -> impl Iterator<Item = (usize, u32)> {
        let first = chunk * CHUNK;
        let bound = self.bound.get(chunk).is_some_and(|bound| *bound != 0);
        let count = if bound { CHUNK } else { 0 };
        let values = self.values.iter().enumerate().skip(first).take(count);
        values
            .filter(|(_, value)| **value != 0)
            .map(|(index, value)| (index, *value))
    }
}

fn zeros<T: Clone + Default>(len: usize) -> Result<Vec<T>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).map_err(|_| ENOMEM)?;
    zeros.resize(len, T::default());
    Ok(zeros)
}

impl Table {
    /// So many entries, not written yet.
    pub(super) fn new(uncore: &Uncore, info: &'static DeviceInfo, len: usize) -> Result<Self> {
        let written = Written {
            values: zeros(len)?,
            bound: zeros(len.div_ceil(CHUNK))?,
        };
        Ok(Table {
            uncore: uncore.clone(),
            info,
            written: Mutex::new(written),
            len,
        })
    }

    /// The registers.
    pub(super) fn uncore(&self) -> &Uncore {
        &self.uncore
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Writes entries from one on.
    pub(super) fn write(&self, first: usize, values: impl Iterator<Item = u32>) {
        let io = self.uncore.io();
        let mut last = None;
        let mut written = self.written.lock(self.uncore.clock());
        for (index, value) in (first..self.len).zip(values) {
            written.set(index, value);
            if let Some(offset) = pte_offset(self.info, index) {
                io.write32(value, offset);
                last = Some(offset);
            }
        }
        if let Some(offset) = last {
            io.posting_read(offset);
            (self.info.gtt.flush)(&self.uncore);
        }
    }

    /// Writes all entries of what is bound anew that are not what the driver has written; how many there were. Where nothing is
    /// bound an entry is written before it counts, so those are not looked at: reading half a million of them takes long.
    pub(super) fn restore(&self) -> usize {
        (0..self.len.div_ceil(CHUNK))
            .map(|chunk| self.mend(chunk))
            .sum()
    }

    /// The same of one chunk.
    fn mend(&self, chunk: usize) -> usize {
        let io = self.uncore.io();
        let written = self.written.lock(self.uncore.clock());
        let mut mended = None;
        let mut wrong = 0;
        for (index, value) in written.of_chunk(chunk) {
            let Some(offset) = pte_offset(self.info, index) else {
                break;
            };
            if io.read32(offset) != value {
                io.write32(value, offset);
                mended = Some(offset);
                wrong += 1;
            }
        }
        if let Some(offset) = mended {
            io.posting_read(offset);
            (self.info.gtt.flush)(&self.uncore);
        }
        wrong
    }
}

/// Offset of an entry in BAR 0.
pub(crate) fn pte_offset(info: &DeviceInfo, index: usize) -> Option<usize> {
    let entries = (info.tables.register_desc)(RegId::GttPte)?;
    let index = u32::try_from(index).ok().filter(|i| *i < entries.count)?;
    Some((entries.offset + index * entries.stride) as usize)
}

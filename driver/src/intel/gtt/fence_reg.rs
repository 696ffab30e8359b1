//! Fence registers: tiled ranges as the aperture shows them.
//!
//! i915 `i965_write_fence_reg`: 64 bits, end page, start page, pitch in 128-byte units less one, walk, valid.
//! Not modelled: stealing a fence from its owner when all are taken.
use alloc::vec;
use alloc::vec::Vec;

use kernel::error::{Result, code::EBUSY, code::EINVAL};
use kernel::sync::SpinLock;
use regs::ids::RegId;

use crate::intel::r#gen::DeviceInfo;
use crate::intel::tiling::Tiling;
use crate::intel::uncore::Uncore;

/// Bytes of a pitch unit.
pub const PITCH_UNIT: u32 = 128;
/// Bytes of a fence page (i915 `I965_FENCE_PAGE`).
const PAGE: u32 = 4096;

/// The register value of a tiled range, or `EINVAL` when the range or its stride cannot be fenced. The pitch, which is no larger than
/// `most`, goes to the bits from `pitch` on.
fn encode(
    (pitch, most): (u32, u32),
    (start, size): (u32, u32),
    tiling: Tiling,
    stride: u32,
) -> Result<u64> {
    let walk = match tiling {
        Tiling::None => return Err(EINVAL),
        Tiling::X => 0,
        Tiling::Y => 1 << 1,
    };
    let units = stride / PITCH_UNIT;
    let aligned = start.is_multiple_of(PAGE)
        && size.is_multiple_of(PAGE)
        && stride.is_multiple_of(PITCH_UNIT);
    let last = start
        .checked_add(size)
        .and_then(|end| end.checked_sub(PAGE))
        .ok_or(EINVAL)?;
    if !aligned || size == 0 || units == 0 || units > most {
        return Err(EINVAL);
    }
    Ok(u64::from(last) << 32 | u64::from(start) | u64::from(units - 1) << pitch | walk | 1)
}

/// The fence registers of a device.
pub struct FenceRegs {
    info: &'static DeviceInfo,
    values: SpinLock<Vec<u64>>,
}

impl FenceRegs {
    /// All registers of the device, all free.
    pub fn new(info: &'static DeviceInfo) -> Self {
        let desc = (info.tables.register_desc)(RegId::Fence);
        let count = desc.map_or(0, |desc| desc.count as usize);
        FenceRegs {
            info,
            values: SpinLock::new(vec![0; count]),
        }
    }

    /// The register value of a tiled range, or `EINVAL` when the range or its stride cannot be fenced.
    pub fn encode(&self, range: (u32, u32), tiling: Tiling, stride: u32) -> Result<u64> {
        encode(
            (self.info.fence_pitch, self.info.fence_most),
            range,
            tiling,
            stride,
        )
    }

    /// Takes a free register for a range; returns its index, `EBUSY` when all are taken.
    pub fn take(&self, uncore: &Uncore, value: u64) -> Result<usize> {
        let index = {
            let mut values = self.values.lock();
            let index = values.iter().position(|old| *old == 0).ok_or(EBUSY)?;
            if let Some(slot) = values.get_mut(index) {
                *slot = value;
            }
            index
        };
        self.write(uncore, index, value);
        Ok(index)
    }

    /// Frees a register.
    pub fn put(&self, uncore: &Uncore, index: usize) {
        self.write(uncore, index, 0);
        if let Some(slot) = self.values.lock().get_mut(index) {
            *slot = 0;
        }
    }

    /// Writes all registers again, after a reset.
    pub fn restore(&self, uncore: &Uncore) {
        let values = self.values.lock().clone();
        for (index, value) in values.into_iter().enumerate() {
            self.write(uncore, index, value);
        }
    }

    /// Number of registers.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.lock().len()
    }

    /// Number of registers in use.
    #[must_use]
    pub fn used(&self) -> usize {
        self.values
            .lock()
            .iter()
            .filter(|value| **value != 0)
            .count()
    }

    /// Two 32-bit writes with the fence off between them, so that no half-written fence is ever in force.
    fn write(&self, uncore: &Uncore, index: usize, value: u64) {
        let desc = (self.info.tables.register_desc)(RegId::Fence);
        let Some(desc) = desc.filter(|desc| index < desc.count as usize) else {
            return;
        };
        let io = uncore.io();
        let low = desc.offset as usize + index * desc.stride as usize;
        let high = low + 4;
        io.write32(0, low);
        io.posting_read(low);
        io.write32((value >> 32) as u32, high);
        io.write32(value as u32, low);
        io.posting_read(low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand from the bit layout in i915.
    #[test]
    fn values_follow_the_965_layout() {
        assert_eq!(
            encode((2, 0x400), (0x10_0000, 0x4_0000), Tiling::X, 1024),
            Ok(0x0013_f000_0010_001d)
        );
        assert_eq!(
            encode((2, 0x400), (0x2000, 0x1000), Tiling::Y, 128),
            Ok(0x0000_2000_0000_2003)
        );
        assert_eq!(
            encode((2, 0x400), (0x2000, 0x1000), Tiling::Y, 100),
            Err(EINVAL)
        );
        assert_eq!(
            encode((2, 0x400), (0x2000, 0x1000), Tiling::None, 128),
            Err(EINVAL)
        );
        assert_eq!(encode((2, 0x400), (0x2000, 0), Tiling::X, 512), Err(EINVAL));
        assert_eq!(
            encode((2, 0x400), (0, 0x1000), Tiling::X, 0x2_0080),
            Err(EINVAL)
        );
    }

    /// i915 `GEN6_FENCE_PITCH_SHIFT`: the pitch is in the upper half.
    #[test]
    fn later_values_have_the_pitch_in_the_upper_half() {
        assert_eq!(
            encode((32, 0x800), (0x10_0000, 0x4_0000), Tiling::Y, 1024),
            Ok(0x0013_f007_0010_0003)
        );
    }
}

//! Names of registers that the tables lack.
//!
//! They are those of displays, of power management and of other chips.
//! i915 i915_reg.h and gt/intel_gt_regs.h of Linux 6.1: `i915.names` beside this file has a line for each, by offset.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A line is an offset in hexadecimal digits and a name.
const TEXT: &str = include_str!("i915.names");

static NAMES: LazyLock<BTreeMap<u32, &'static str>> =
    LazyLock::new(|| TEXT.lines().filter_map(row).collect());

fn row(line: &'static str) -> Option<(u32, &'static str)> {
    let (offset, name) = line.split_once(' ')?;
    Some((u32::from_str_radix(offset, 16).ok()?, name))
}

/// The name of the dword at an offset.
pub fn of(offset: u32) -> Option<&'static str> {
    NAMES.get(&offset).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_dword_and_its_name() {
        assert_eq!(NAMES.len(), TEXT.lines().count());
        assert!(NAMES.keys().all(|offset| offset % 4 == 0));
        // i915_reg.h: _PIPEASTAT, CXT_SIZE.
        assert_eq!(of(0x7_0024), Some("PIPEASTAT"));
        assert_eq!(of(0x21a0), Some("CXT_SIZE"));
        assert_eq!(of(0x21a4), None);
    }
}

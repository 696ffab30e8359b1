//! Registers by name, and their values as text.
//! Descriptors cite their chapters.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::desc::RegisterDesc;
use crate::platform::Generation;

/// The register's fields with their values, or the nearest names when there is none of that name.
pub fn explain_register(
    generation: &'static Generation,
    name: &str,
    value: u128,
) -> Result<String, Vec<&'static str>> {
    let Some(r) = generation.register(name) else {
        return Err(nearest(generation, name, 3));
    };
    Ok(explain_element(r, None, value))
}

/// The fields of a register, or of one element of an array of registers, with their values.
pub fn explain_element(r: &RegisterDesc, index: Option<u32>, value: u128) -> String {
    let mut out = String::new();
    let digits = r.bits as usize / 4 + 2;
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        out,
        "{}{} at {:#06x}, {} bits, {}, {}: {value:#0digits$x}",
        r.name,
        index.map_or_else(String::new, |i| format!("[{i}]")),
        r.offset
            .wrapping_add(index.unwrap_or(0).wrapping_mul(r.stride)),
        r.bits,
        r.access.name(),
        r.unit
    );
    for f in r.fields {
        let v = f.get(value);
        let _ = write!(out, "  {:>3}:{:<3} {} = {v:#x}", f.hi, f.lo, f.name);
        if let Some(label) = f.value_name(v) {
            let _ = write!(out, " ({label})");
        }
        if f.mbz && v != 0 {
            let _ = write!(out, " must be zero");
        }
        if f.qualified {
            let _ = write!(out, " [global debug]");
        }
        out.push('\n');
    }
    let covered = r.fields.iter().fold(0u128, |acc, f| {
        let width = u32::from(f.hi) - u32::from(f.lo) + 1;
        acc | ((u128::MAX >> (128 - width)) << f.lo)
    });
    let stray = value & !covered;
    if stray != 0 {
        let _ = writeln!(out, "  reserved bits set: {stray:#x}");
    }
    out
}

/// The `count` register names closest to `name`, best first.
pub fn nearest(generation: &'static Generation, name: &str, count: usize) -> Vec<&'static str> {
    let mut scored: Vec<(usize, &'static str)> = generation
        .registers
        .iter()
        .map(|r| (distance(name, r.name), r.name))
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(count).map(|(_, n)| n).collect()
}

/// Edit distance without regard to case, of names of at most 64 bytes.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let (a, b) = (
        a.get(..a.len().min(64)).unwrap_or(a),
        b.get(..b.len().min(64)).unwrap_or(b),
    );
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or(0);
            let same = usize::from(!x.eq_ignore_ascii_case(y));
            let best = (diagonal + same).min(above + 1).min(left + 1);
            if let Some(cell) = row.get_mut(j) {
                *cell = left;
            }
            diagonal = above;
            left = best;
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("VF_CTL", "vf_ctl"), 0);
        assert_eq!(distance("VF_CTL", "VS_CTL"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }
}

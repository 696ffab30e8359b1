//! The BARs of a function, from the text that sysfs has of them.
//!
//! Linux drivers/pci/pci-sysfs.c `resource_show`: a line of start, end and flags for each, the six BARs first. Flags are those of
//! include/linux/ioport.h.

use std::path::Path;

use kernel::pci::Resource;

use crate::PciError;
use crate::function::BARS;

/// Where a BAR's addresses count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// Memory.
    Memory,
    /// Ports.
    Ports,
}

/// A BAR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// Bus addresses.
    pub range: Resource,
    /// Their space.
    pub space: Space,
    /// The BAR can hold addresses above 4 GiB.
    pub is_wide: bool,
    /// Reads of it have no effects, as the device says.
    pub is_prefetchable: bool,
}

const IORESOURCE_IO: u64 = 0x100;
const IORESOURCE_MEM: u64 = 0x200;
const IORESOURCE_PREFETCH: u64 = 0x2000;
const IORESOURCE_MEM_64: u64 = 0x0010_0000;

/// Reads the text; `path` is its file, for errors.
pub(crate) fn parse(text: &str, path: &Path) -> Result<[Option<Bar>; BARS], PciError> {
    let mut bars = [None; BARS];
    let mut lines = text.lines();
    for (index, slot) in bars.iter_mut().enumerate() {
        let Some(words) = lines.next() else {
            let what = format!("{index} lines, and a function has {BARS} BARs");
            return Err(PciError::contents(path, what));
        };
        let said = |what: &str| PciError::contents(path, format!("BAR {index}: {what}"));
        let numbers: Option<Vec<u64>> = words.split_ascii_whitespace().map(number).collect();
        let Some(&[start, end, flags]) = numbers.as_deref() else {
            return Err(said("not three numbers 0x..."));
        };
        if flags & (IORESOURCE_IO | IORESOURCE_MEM) == 0 {
            continue;
        }
        let len = end.checked_sub(start).and_then(|more| more.checked_add(1));
        let len = len.ok_or_else(|| said("it ends before it begins"))?;
        if !len.is_power_of_two() {
            return Err(said(&format!(
                "{len:#x} bytes, and the size of a BAR is a power of two"
            )));
        }
        let is_memory = flags & IORESOURCE_MEM != 0;
        *slot = Some(Bar {
            range: Resource { start, len },
            space: if is_memory {
                Space::Memory
            } else {
                Space::Ports
            },
            is_wide: flags & IORESOURCE_MEM_64 != 0,
            is_prefetchable: flags & IORESOURCE_PREFETCH != 0,
        });
    }
    apart(&bars, path)?;
    Ok(bars)
}

fn number(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x")?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain
        .then(|| u64::from_str_radix(digits, 16).ok())
        .flatten()
}

/// No two BARs of a space share addresses. One that has none yet begins at 0.
fn apart(bars: &[Option<Bar>], path: &Path) -> Result<(), PciError> {
    let placed = || {
        let bars = bars.iter().enumerate();
        let bars = bars.filter_map(|(index, bar)| Some((index, (*bar)?)));
        bars.filter(|(_, bar)| bar.range.start != 0)
    };
    for (index, one) in placed() {
        for (other, two) in placed().filter(|(other, _)| *other > index) {
            let last = |bar: Bar| bar.range.start + (bar.range.len - 1);
            let share = one.range.start <= last(two) && two.range.start <= last(one);
            if share && one.space == two.space {
                let what = format!("BARs {index} and {other} overlap");
                return Err(PciError::contents(path, what));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    fn read(lines: &[&str]) -> Result<[Option<Bar>; BARS], String> {
        let mut text = lines.join("\n");
        for _ in lines.len()..BARS {
            text += "\n0x0000000000000000 0x0000000000000000 0x0000000000000000";
        }
        parse(&text, Path::new("resource")).map_err(|error| error.to_string())
    }

    /// The lines of a GM965 in a ThinkPad X61: flags as Linux prints them.
    #[test]
    fn the_lines_of_a_display() {
        let bars = read(&[
            "0x00000000f8100000 0x00000000f81fffff 0x0000000000140204",
            "0x0000000000000000 0x0000000000000000 0x0000000000000000",
            "0x00000000e0000000 0x00000000efffffff 0x000000000014220c",
            "0x0000000000000000 0x0000000000000000 0x0000000000000000",
            "0x0000000000001800 0x0000000000001807 0x0000000000040101",
        ])
        .unwrap();
        let registers = bars[0].unwrap();
        assert_eq!(
            (registers.range.start, registers.range.len),
            (0xf810_0000, 1 << 20)
        );
        assert!(registers.is_wide && !registers.is_prefetchable);
        let aperture = bars[2].unwrap();
        assert_eq!(
            (aperture.range.len, aperture.is_prefetchable),
            (256 << 20, true)
        );
        assert_eq!(bars[4].unwrap().space, Space::Ports);
        assert_eq!((bars[1], bars[3], bars[5]), (None, None, None));
    }

    #[test]
    fn addresses_above_4_gib_are_whole() {
        let bars = read(&["0x0000383ffe000000 0x0000383ffeffffff 0x0000000000140204"]).unwrap();
        assert_eq!(bars[0].unwrap().range.start, 0x383f_fe00_0000);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (lines, word) in [
            (&["0xf0100000 0xf00fffff 0x200"][..], "ends before"),
            (&["0x0 0xffffffffffffffff 0x200"], "ends before"),
            (&["0xf0000000 0xf0000002 0x200"], "power of two"),
            (&["0xf0000000 0xf00fffff"], "three numbers"),
            (&["f0000000 f00fffff 200"], "three numbers"),
            (&["0x+1 0x2 0x200"], "three numbers"),
            (&["0x10000000000000000 0x2 0x200"], "three numbers"),
            (
                &["0xf0000000 0xf00fffff 0x200", "0xf0080000 0xf00fffff 0x200"],
                "BARs 0 and 1 overlap",
            ),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.contains(word), "{lines:?}: {error}");
        }
        let error = parse("0x0 0x0 0x0\n", Path::new("resource")).unwrap_err();
        assert!(error.to_string().contains("1 lines"), "{error}");
    }
}

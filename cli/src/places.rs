//! Addresses in words: which buffer, and how far into it.
//!
//! No PRM chapter. Not modelled: addresses of what the driver itself placed (ring, status page).

use std::fmt::Write as _;

use crate::capture::Exec;

/// `buffer 3 (bo_003.bin) + 0x240`, or `None` for an address outside every buffer.
pub fn describe(exec: &Exec, address: u32) -> Option<String> {
    let (index, offset) = exec.find(address)?;
    let file = &exec.buffers.get(index)?.file;
    Some(format!("buffer {index} ({file}) + {offset:#x}"))
}

/// The text with the place behind each address of the form `0x` and eight digits.
pub fn annotate(exec: &Exec, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..]
            .bytes()
            .take_while(u8::is_ascii_hexdigit)
            .count();
        let end = at + 2 + digits;
        out.push_str(&rest[..end]);
        if digits == 8
            && let Ok(address) = u32::from_str_radix(&rest[at + 2..end], 16)
        {
            // Writing to a String cannot fail.
            let _ = match describe(exec, address) {
                Some(place) => write!(out, " [{place}]"),
                None => Ok(()),
            };
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Buffer;

    fn exec() -> Exec {
        Exec {
            name: "exec_0000".into(),
            pci: (0x8086, 0x2a02),
            buffers: vec![Buffer {
                bo_id: 1,
                size: 0x2000,
                address: 0x0010_4000,
                tiling: driver::Tiling::None,
                stride: 0,
                file: "bo_000.bin".into(),
                data: vec![1, 2, 3, 4, 5],
            }],
            batch: 0,
            batch_start: 0,
            batch_len: 8,
        }
    }

    #[test]
    fn addresses_get_their_place() {
        let text = annotate(&exec(), "at 0x00104240, or 0x00106000: 0x12 0x");
        assert_eq!(
            text,
            "at 0x00104240 [buffer 0 (bo_000.bin) + 0x240], or 0x00106000: 0x12 0x"
        );
    }

    #[test]
    fn dwords_behind_the_contents_are_zero() {
        let exec = exec();
        assert_eq!(exec.dword(0x0010_4000), Some(0x0403_0201));
        assert_eq!(exec.dword(0x0010_4004), Some(5));
        assert_eq!(exec.dword(0x0010_5ffc), Some(0));
        assert_eq!(exec.dword(0x0010_5ffd), None);
        assert_eq!(exec.dword(0x0010_6000), None);
    }
}

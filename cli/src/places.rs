//! Addresses in words: which buffer, and how far into it.
//!
//! Not modelled: addresses of what the driver itself placed (ring, status page).

use std::fmt::Write as _;

use crate::capture::{Buffer, Exec};

/// `buffer 3 (bo_003.bin) + 0x240`, or `None` for an address outside every buffer.
pub fn describe(exec: &Exec, address: u32) -> Option<String> {
    let (index, offset) = exec.find(address)?;
    let file = &exec.buffers.get(index)?.file;
    Some(format!("buffer {index} ({file}) + {offset:#x}"))
}

/// Where an address lies that may be outside every buffer: the nearest one, and how far from it.
pub fn near(exec: &Exec, address: u32) -> String {
    if let Some(place) = describe(exec, address) {
        return place;
    }
    let at = u64::from(address);
    let distance = |(_, b): &(usize, &Buffer)| {
        let start = u64::from(b.address);
        if at < start { start - at } else { at - b.end() }
    };
    let all = exec.buffers.iter().enumerate();
    let Some((index, buffer)) = all.min_by_key(distance) else {
        return "outside every buffer".to_owned();
    };
    let distance = distance(&(index, buffer));
    let side = match (at < u64::from(buffer.address), distance) {
        (true, _) => format!("{distance:#x} bytes before the start"),
        (false, 0) => "just past the end".to_owned(),
        (false, _) => format!("{distance:#x} bytes past the end"),
    };
    format!(
        "outside every buffer, {side} of buffer {index} ({})",
        buffer.file
    )
}

/// The text with the place behind each address of the form `0x` and eight digits.
pub fn annotate(exec: &Exec, text: &str) -> String {
    annotate_by(|address| describe(exec, address), text)
}

/// The same with places from elsewhere.
pub fn annotate_by(describe: impl Fn(u32) -> Option<String>, text: &str) -> String {
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
            let _ = match describe(address) {
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
            complete: false,
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
    fn addresses_outside_have_a_neighbour() {
        let near = |at| near(&exec(), at);
        assert_eq!(near(0x0010_4004), "buffer 0 (bo_000.bin) + 0x4");
        assert_eq!(
            near(0x0010_6000),
            "outside every buffer, just past the end of buffer 0 (bo_000.bin)"
        );
        assert!(near(0x0010_6010).contains("0x10 bytes past the end of buffer 0"));
        assert!(near(0x0010_3ffc).contains("0x4 bytes before the start of buffer 0"));
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

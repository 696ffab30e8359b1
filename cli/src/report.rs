//! A captured frame as one page of HTML.
//!
//! The page needs nothing beside itself; what many pixels share is in it once. Not modelled: what
//! registers and memory held on the way (a debugger shows that).

mod draws;
mod kernels;
mod pixels;
mod stages;

use std::collections::BTreeMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use isa::inst::Verx10;
use mmio_mock::intel::r#gen::DeviceInfo;
use serde_json::{Value, json};

use crate::capture::Capture;
use crate::frame_map::FrameMap;
use crate::picture::Picture;

const PAGE: &str = include_str!("report/page.html");
const STYLE: &str = include_str!("report/page.css");
const SCRIPT: &str = include_str!("report/page.js");

/// What a page is about.
pub struct Report<'a> {
    /// The frame.
    pub capture: &'a Capture,
    /// Its map.
    pub map: &'a FrameMap,
    /// The device that it ran on.
    pub device: &'static DeviceInfo,
    /// Show the last row first, as GL does.
    pub flip_y: bool,
}

impl Report<'_> {
    /// Writes the page.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let data = self.data()?.to_string().replace('<', "\\u003c");
        // Each once and in this order.
        let mut rest = PAGE;
        for (mark, text) in [
            ("/*STYLE*/", STYLE),
            ("/*DATA*/", data.as_str()),
            ("/*SCRIPT*/", SCRIPT),
        ] {
            let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
            out.write_all(before.as_bytes())?;
            out.write_all(text.as_bytes())?;
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }

    /// Everything that the page shows.
    fn data(&self) -> io::Result<Value> {
        let pixels = pixels::Pixels::of(self.map);
        let isa = self.device.isa;
        let mut kernels = BTreeMap::new();
        let mut sections = draws::Sections::default();
        let draws: Vec<Value> = (0u32..)
            .zip(self.map.draws())
            .map(|(number, draw)| {
                let used = pixels.draws.contains(&number);
                if let Some(exec) = self.capture.execs.get(draw.exec).filter(|_| used) {
                    kernels::collect(exec, draw, isa, &mut kernels);
                }
                let exec = self.capture.execs.get(draw.exec);
                draws::json(draw, exec.filter(|_| used), &mut sections)
            })
            .collect();
        let picture = self.map.picture();
        let (x, y) = self.map.origin();
        Ok(json!({
            "capture": short(&self.capture.name),
            "device": self.device.title,
            "width": picture.width,
            "height": picture.height,
            "origin": [x, y],
            "flip": self.flip_y,
            "trouble": self.map.trouble(),
            "picture": format!("data:image/png;base64,{}", base64(&png(picture)?)),
            "threads": base64(&pixels.threads),
            "wide": pixels.wide,
            "leftOut": pixels.left_out,
            "objects": pixels.objects,
            "vertices": pixels.vertices(self.map, self.capture),
            "between": pixels.between(self.map),
            "patches": pixels.patches(self.map),
            "stages": stages::json(self.map),
            "draws": draws,
            "sections": sections.list,
            "kernels": kernels,
        }))
    }
}

/// The last two parts of a path: a page goes elsewhere, where the others mean nothing.
fn short(path: &str) -> &str {
    let mut ends = path.rmatch_indices('/').map(|(at, _)| at);
    match ends.nth(1) {
        Some(at) => &path[at + 1..],
        None => path,
    }
}

fn png(picture: &Picture) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    picture
        .write_png(&mut bytes)
        .map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// Numbers as a zlib stream of little-endian dwords.
fn packed(words: &[u32]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    // Writing to a vector cannot fail.
    let _ = encoder.write_all(&bytes);
    encoder.finish().unwrap_or_default()
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .zip([16, 8, 0])
            .fold(0, |word, (&byte, shift)| word | u32::from(byte) << shift);
        for n in 0..4 {
            if n <= chunk.len() {
                let digit = word >> (18 - n * 6) & 63;
                out.push(char::from(DIGITS[digit as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// The instruction set is a value of the device.
type Isa = Verx10;

#[cfg(test)]
mod tests {
    use super::{base64, short};

    #[test]
    fn names_are_short() {
        assert_eq!(short("./data/g_gears/frame.crest"), "g_gears/frame.crest");
        assert_eq!(short("frame.crest"), "frame.crest");
        assert_eq!(short("x/frame.crest"), "x/frame.crest");
    }

    #[test]
    fn base64_of_rfc_4648() {
        // Chapter 10 of the RFC.
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}

//! What the decoder visits in captured frames, beside what Mesa visited.
//! `tests/vectors/gen60/frames` and `gen70/frames`: memory of the frames, and the headings of Mesa 22.3.6's text (crocus, INTEL_DEBUG=bat).
//! Does not compare values of fields: `vectors.rs` does.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::fs;
use std::path::{Path, PathBuf};

use regs::decode::{self, Options, Source};
use regs::platform::{GEN60, GEN70, Generation};
use serde::Deserialize;

/// A frame of the vectors.
#[derive(Deserialize)]
pub struct Frame {
    /// Address and length of its batch.
    pub batch: u32,
    pub bytes: u32,
    /// Where its batch lets dynamic state begin.
    dynamic_base: u32,
    /// Commands with their addresses, structures with theirs, kernels without.
    visited: Vec<String>,
    buffer: Vec<Buffer>,
}

#[derive(Deserialize)]
struct Buffer {
    address: u32,
    size: u32,
    /// Hexadecimal; zeros follow.
    words: String,
}

/// Its memory.
pub struct Memory(Vec<(u32, u32, Vec<u32>)>);

impl Memory {
    pub fn of(frame: &Frame) -> Self {
        let word = |text: &str| u32::from_str_radix(text, 16).unwrap();
        let buffers = frame.buffer.iter().map(|b| {
            let words = b.words.split_whitespace().map(word).collect();
            (b.address, b.size, words)
        });
        Memory(buffers.collect())
    }
}

impl Source for Memory {
    fn dword(&mut self, address: u32) -> Option<u32> {
        let inside = |b: &&(u32, u32, Vec<u32>)| address >= b.0 && address - b.0 < b.1;
        let (start, _, words) = self.0.iter().find(inside)?;
        let word = words.get((address - start) as usize / 4);
        Some(word.copied().unwrap_or(0))
    }

    fn kernel(&mut self, address: u32, out: &mut dyn Write) -> fmt::Result {
        assert!(self.dword(address).is_some(), "{address:#x}");
        writeln!(out, "kernel")
    }
}

/// Names with addresses as Mesa prints them, from our text.
fn visited(generation: &'static Generation, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut name = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["kernel"] => out.push("kernel".to_owned()),
            [address, header, command] if address.starts_with("0x") && header.ends_with(':') => {
                out.push(format!("{command} {}", address.trim_end_matches(':')));
            }
            ["pointer", _, _] => name = Some("SURFACE_STATE"),
            [.., what] if generation.structure(what).is_some() && !line.starts_with(' ') => {
                name = Some(what);
            }
            [address, _, ":", "Dword", "0"] => {
                if let Some(name) = name.take() {
                    out.push(format!("{name} {}", address.trim_end_matches(':')));
                }
            }
            _ => {}
        }
    }
    out
}

fn counted(list: &[String]) -> BTreeMap<&str, usize> {
    let mut out = BTreeMap::new();
    for item in list {
        *out.entry(item.as_str()).or_insert(0) += 1;
    }
    out
}

/// All frames of a generation with their paths.
pub fn read(generation: &str) -> Vec<(PathBuf, Frame)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let directory = directory.join(generation).join("frames");
    let paths = fs::read_dir(directory).unwrap().map(|e| e.unwrap().path());
    let frame = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, toml::from_str(&text).unwrap())
    };
    paths.map(frame).collect()
}

/// Decodes all frames of a generation; how many there are, and how much Mesa visited in them.
fn followed(generation: &'static Generation) -> (usize, usize) {
    let (mut checked, mut frames) = (0, 0);
    for (path, frame) in read(generation.name) {
        let mut memory = Memory::of(&frame);
        let mut text = String::new();
        let options = Options::default();
        let (start, bytes) = (frame.batch, frame.bytes);
        let report =
            decode::batch(generation, &mut memory, &mut text, start, bytes, options).unwrap();
        assert_eq!(report.errors, 0, "{}: {text}", path.display());
        assert!(report.ended);
        let ours = visited(generation, &text);
        let (theirs, ours) = (counted(&frame.visited), counted(&ours));
        // Where a pointer to samplers has not changed, Mesa shows what lies at the base.
        let base = format!("SAMPLER_STATE {:#010x}", frame.dynamic_base);
        let place = path.display();
        for (name, times) in &theirs {
            if *name != base {
                assert_eq!(ours.get(name), Some(times), "{place}: {name}");
            }
            checked += times;
        }
        for name in ours.keys() {
            assert!(theirs.contains_key(name), "{place}: {name}");
        }
        frames += 1;
    }
    (frames, checked)
}

#[test]
fn frames_are_followed_as_mesa_follows_them() {
    for (generation, frames, fewest) in [(&GEN60, 4, 500), (&GEN70, 7, 1000)] {
        let (found, checked) = followed(generation);
        assert_eq!(found, frames, "{}", generation.name);
        assert!(checked > fewest, "{}: {checked}", generation.name);
    }
}

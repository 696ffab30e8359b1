//! Draw calls with the state in force, as the decoder prints it.
//!
//! PRM: volumes 1, 2 and 4 through the tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use regs::decode::{self, Options, Source};
use regs::platform::{self, Generation};
use serde_json::{Value, json};

use crate::capture::Exec;
use crate::frame_map::{DrawCall, Latched};

/// Where the commands of a draw call are laid out for the decoder, one behind the other: above all of graphics memory.
const LAYOUT: u32 = 0xf000_0000;

/// Pieces of decoded text, each once.
#[derive(Default)]
pub struct Sections {
    /// Title and text.
    pub list: Vec<(String, String)>,
    numbers: BTreeMap<String, usize>,
}

impl Sections {
    fn number(&mut self, title: &str, text: String) -> usize {
        if let Some(&number) = self.numbers.get(&text) {
            return number;
        }
        let number = self.list.len();
        self.numbers.insert(text.clone(), number);
        self.list.push((title.to_owned(), text));
        number
    }
}

/// A draw call; `exec` when its state is wanted.
pub fn json(draw: &DrawCall, exec: Option<&Exec>, sections: &mut Sections) -> Value {
    let state = exec.map(|exec| decoded(draw, exec, sections));
    let kernels = &draw.kernels;
    json!({
        "exec": draw.exec,
        "name": exec.map(|exec| exec.name.as_str()),
        "number": draw.in_exec,
        "address": draw.address,
        "primitive": primitive(draw),
        "kernels": {
            "VS": kernels.vs, "HS": kernels.hs, "DS": kernels.ds, "GS": kernels.gs, "CLIP": kernels.clip, "SF": kernels.sf, "PS": kernels.wm[0],
        },
        "state": state.unwrap_or_default(),
    })
}

/// What the command says, in plain numbers.
fn primitive(draw: &DrawCall) -> Value {
    let primitive = &draw.primitive;
    json!({
        "topology": primitive.topology.map_or_else(|code| code, |topology| topology as u32),
        "random": primitive.random,
        "count": primitive.count,
        "start": primitive.start,
        "instances": primitive.instances,
        "firstInstance": primitive.first_instance,
        "baseVertex": primitive.base_vertex,
        "indirect": primitive.from_registers,
    })
}

/// The commands one behind the other, and everything else where it is.
struct Laid<'a> {
    words: Vec<u32>,
    exec: &'a Exec,
}

impl Source for Laid<'_> {
    fn dword(&mut self, address: u32) -> Option<u32> {
        match address.checked_sub(LAYOUT) {
            Some(offset) => self.words.get(offset as usize / 4).copied(),
            None => self.exec.dword(address),
        }
    }
}

/// Numbers of the sections of a draw call's state.
fn decoded(draw: &DrawCall, exec: &Exec, sections: &mut Sections) -> Vec<usize> {
    let Some((generation, _)) = platform::of_device(exec.pci.1) else {
        return Vec::new();
    };
    let primitive = Latched {
        address: draw.address,
        words: draw.words.clone(),
    };
    let commands = &draw.state.commands;
    // The bases first: what follows counts from them.
    let bases = commands.get("STATE_BASE_ADDRESS");
    let others = commands
        .iter()
        .filter(|(name, _)| **name != "STATE_BASE_ADDRESS");
    let all = [&primitive].into_iter().chain(bases);
    let all: Vec<&Latched> = all.chain(others.map(|(_, latched)| latched)).collect();
    let mut laid = Laid {
        words: Vec::new(),
        exec,
    };
    let mut places = Vec::new();
    for latched in &all {
        // CAST: commands are short.
        places.push((LAYOUT + laid.words.len() as u32 * 4, latched.address));
        laid.words.extend(&latched.words);
    }
    let text = decode(generation, &mut laid);
    let text = relocated(&text, &places);
    split(&text)
        .into_iter()
        .map(|(title, text)| sections.number(&title, text))
        .collect()
}

fn decode(generation: &'static Generation, laid: &mut Laid<'_>) -> String {
    let mut text = String::new();
    let bytes = laid.words.len() as u32 * 4;
    // Writing to a String cannot fail.
    let _ = decode::batch(
        generation,
        laid,
        &mut text,
        LAYOUT,
        bytes,
        Options::default(),
    );
    text
}

/// The text with the addresses that commands really have.
fn relocated(text: &str, places: &[(u32, u32)]) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let address = line
            .get(2..10)
            .filter(|_| line.starts_with("0xf"))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let place = address.and_then(|address| {
            let place = places.iter().rfind(|(laid, _)| *laid <= address)?;
            Some(place.1.wrapping_add(address - place.0))
        });
        let _ = match place {
            Some(address) => writeln!(out, "{address:#010x}{}", &line[10..]),
            None => writeln!(out, "{line}"),
        };
    }
    out
}

/// Cuts the text at commands and at structures that pointers lead to.
fn split(text: &str) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let mut parts = line.split(":  ");
        let command = line.starts_with("0x") && parts.clone().count() == 3;
        let title = if command {
            parts.nth(2).map(str::to_owned)
        } else if line.starts_with("0x") || line.starts_with(' ') {
            None
        } else {
            let (label, name) = line.split_once(": ").unwrap_or_default();
            if name.starts_with("binding table") {
                // Each unit has its own.
                let unit = label.strip_prefix("Pointer to ");
                Some(unit.unwrap_or(label).to_owned())
            } else {
                let structure = name.ends_with("_STATE") || name.ends_with("_VIEWPORT");
                structure.then(|| name.to_owned())
            }
        };
        match title {
            Some(title) => out.push((title, format!("{line}\n"))),
            None => {
                if let Some((_, text)) = out.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    out
}

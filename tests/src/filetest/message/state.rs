//! State structures of a `message` case, by the names of their fields.
//!
//! PRM: volume 4, 4.7.1 to 4.7.4, 5.6. Not modelled: checks of the values; breaking a rule is what some cases are for.

use std::collections::BTreeMap;

use mmio_mock::intel::r#gen::readers;
use mmio_mock::intel::surface::DepthBuffer;
use regs::desc::{Kind, PackedField, StructDesc};
use regs::platform::GEN40;

use super::super::value::{dwords, number};
use super::{BORDERS, GENERAL, SAMPLERS, SURFACE_STATES, SURFACES, Setup, bits};

/// Where a structure belongs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Surface(u32),
    Sampler(u32),
    Border(u32),
    /// Relative to the general state base.
    General(u32),
    DepthBuffer,
}

/// Structures so far.
#[derive(Default)]
pub struct States(BTreeMap<Place, Vec<u32>>);

impl States {
    /// Takes a statement that describes a structure.
    pub fn take(&mut self, head: &str, rest: &str) -> Result<bool, String> {
        let (verb, which) = head.split_once(' ').unwrap_or((head, ""));
        let index = |limit: u32| match number(which)? {
            n if n < limit => Ok(n),
            n => Err(format!("{verb} {n} of {limit}")),
        };
        match verb {
            "surface" => {
                let place = Place::Surface(index(256)?);
                self.fields(place, "SURFACE_STATE", rest)?;
            }
            "sampler" => {
                let n = index(16)?;
                let state = self.structure(Place::Sampler(n), 4);
                if state[2] == 0 {
                    state[2] = BORDERS + n * 32;
                }
                self.fields(Place::Sampler(n), "SAMPLER_STATE", rest)?;
            }
            "border" => {
                let colour = bits(isa::operand::Type::F, rest)?;
                if colour.len() != 4 {
                    return Err("four channels".to_owned());
                }
                self.0.insert(Place::Border(index(16)?), colour);
            }
            "state" => {
                let (offset, name) = which.split_once(' ').ok_or("state OFFSET NAME: ..")?;
                self.fields(Place::General(number(offset)?), name.trim(), rest)?;
            }
            "depth" if which == "buffer" => {
                let command = GEN40
                    .commands
                    .iter()
                    .find(|c| c.name == "3DSTATE_DEPTH_BUFFER")
                    .ok_or("no command of this name")?;
                let state = self.structure(Place::DepthBuffer, command.min_dwords as usize);
                fields(command.fields, state, rest)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn structure(&mut self, place: Place, dwords: usize) -> &mut Vec<u32> {
        self.0.entry(place).or_insert_with(|| vec![0; dwords])
    }

    fn fields(&mut self, place: Place, name: &str, text: &str) -> Result<(), String> {
        let desc: &StructDesc = GEN40
            .structure(name)
            .ok_or_else(|| format!("no structure `{name}`"))?;
        let state = self.structure(place, desc.dwords as usize);
        if let Some(words) = text.strip_prefix("dwords ") {
            for (dword, value) in state.iter_mut().zip(dwords(words)?) {
                *dword = value;
            }
            return Ok(());
        }
        fields(desc.fields, state, text)
    }

    /// Writes everything to memory, with the tables that point there.
    pub fn place(self, setup: &mut Setup) -> Result<(), String> {
        for (place, words) in self.0 {
            match place {
                Place::Surface(n) => {
                    let at = SURFACE_STATES + n * 32;
                    setup.point(SURFACES + n * 4, at)?;
                    setup.fill(SURFACES + at, &words)?;
                }
                Place::Sampler(n) => setup.fill(GENERAL + SAMPLERS + n * 16, &words)?,
                Place::Border(n) => setup.fill(GENERAL + BORDERS + n * 32, &words)?,
                Place::General(offset) => setup.fill(GENERAL.wrapping_add(offset), &words)?,
                Place::DepthBuffer => {
                    let readers =
                        readers(setup.generation).ok_or("no device has this instruction set")?;
                    let desc = readers.functions.depth_buffer(&words);
                    let resolved = DepthBuffer::resolve(&desc).map_err(|e| e.to_string())?;
                    setup.bench.shared_mut().pixel.depth_buffer = Some(resolved);
                }
            }
        }
        Ok(())
    }
}

/// `FIELD = VALUE, ..` into the dwords of a structure.
pub(in super::super) fn fields(
    known: &'static [PackedField],
    state: &mut [u32],
    text: &str,
) -> Result<(), String> {
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}`: FIELD = VALUE"))?;
        let name = name.trim();
        let field = known
            .iter()
            .find(|f| f.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|f| f.name).collect();
                format!("no field `{name}`; there are: {}", names.join(", "))
            })?;
        put(field, state, raw(field, value.trim())?)?;
    }
    Ok(())
}

/// The raw bits that a value stands for; of an address, the address itself.
fn raw(field: &PackedField, text: &str) -> Result<u32, String> {
    if let Some(named) = field.values.iter().find(|v| v.name == text) {
        return Ok(named.value);
    }
    let bad = || format!("`{text}` is no value of `{}`", field.name);
    match field.kind {
        Kind::Bool if text == "true" => Ok(1),
        Kind::Bool if text == "false" => Ok(0),
        Kind::Float => text.parse().map(f32::to_bits).map_err(|_| bad()),
        Kind::Fixed { frac, .. } => {
            let value: f64 = text.parse().map_err(|_| bad())?;
            Ok((value * f64::from(1u32 << frac)).round() as i64 as u32)
        }
        Kind::Int => text.parse().map(|v: i32| v as u32).map_err(|_| bad()),
        _ => number(text).map_err(|_| bad()),
    }
}

fn put(field: &PackedField, state: &mut [u32], value: u32) -> Result<(), String> {
    let (start, width) = (u32::from(field.start), u32::from(field.width));
    let shift = start % 32;
    if shift + width > 32 {
        return Err(format!("`{}` crosses dwords", field.name));
    }
    let mask = (u32::MAX >> (32 - width)) << shift;
    let signed = matches!(field.kind, Kind::Int | Kind::Fixed { signed: true, .. });
    let placed = match field.kind {
        Kind::Address => value,
        _ => value << shift,
    };
    let lost = match field.kind {
        Kind::Address => value & !mask != 0,
        _ => !signed && width < 32 && value >> width != 0,
    };
    if lost {
        return Err(format!("{value:#x} does not fit `{}`", field.name));
    }
    let dword = state
        .get_mut((start / 32) as usize)
        .ok_or("field past the end of its structure")?;
    *dword = *dword & !mask | placed & mask;
    Ok(())
}

//! Field values of literal words from sources that never saw the tables.
//! PRM vol1, vol2 and vol4 as the tables cite them; origins in `tests/vectors/gen40`.
//! Does not prove names of enumeration values.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regs::desc::{CommandDesc, Kind, PackedField};
use regs::platform::Generation;
use regs::{decode, gen40, platform};
use serde::Deserialize;

#[derive(Deserialize)]
struct File<T> {
    vector: Vec<Vector<T>>,
}

#[derive(Deserialize)]
struct Vector<T> {
    name: String,
    source: String,
    dwords: Vec<u32>,
    fields: Vec<(String, T)>,
}

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/gen40");
    fs::read_to_string(path.join(name)).unwrap()
}

/// Fields of the command or structure; a command must also be found by its header.
fn fields(name: &str, dwords: &[u32]) -> (&'static [PackedField], Option<&'static CommandDesc>) {
    fields_in(&platform::GEN40, name, dwords)
}

fn fields_in(
    generation: &Generation,
    name: &str,
    dwords: &[u32],
) -> (&'static [PackedField], Option<&'static CommandDesc>) {
    if let Some(s) = generation.structure(name) {
        assert!(dwords.len() >= s.dwords as usize, "{name}");
        return (s.fields, None);
    }
    let c = (generation.command)(dwords[0]).unwrap_or_else(|| panic!("{name}: no such command"));
    assert_eq!(c.name, name, "{:08x}", dwords[0]);
    assert!(dwords.len() <= c.dwords(dwords[0]), "{name}");
    (c.fields, Some(c))
}

fn plain(text: &str) -> String {
    let word = text.split(' ').next().unwrap();
    match word {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        _ => word.to_owned(),
    }
}

#[test]
fn captured_frames_decode_to_the_drivers_values() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let fewest = [2500, 1000, 1000, 2000, 2000];
    assert_eq!(fewest.len(), platform::GENERATIONS.len());
    for (generation, fewest) in platform::GENERATIONS.into_iter().zip(fewest) {
        let path = vectors.join(generation.name).join("captures.toml");
        let file: File<String> = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let checked = captured(generation, &file);
        assert!(checked > fewest, "{}: {checked}", generation.name);
    }
}

/// Compares the fields of all vectors; how many there are.
fn captured(generation: &Generation, file: &File<String>) -> usize {
    let mut checked = 0;
    for v in &file.vector {
        let (list, command) = fields_in(generation, &v.name, &v.dwords);
        for (name, expected) in &v.fields {
            let found = list.iter().find(|f| f.name == name);
            let text = if let Some(f) = found {
                decode::field_value(f, &v.dwords)
            } else {
                // `Pattern Row[3]`: an element of the command's repeated part.
                let (base, index) = name
                    .split_once('[')
                    .unwrap_or_else(|| panic!("{}.{name}", v.name));
                let group = command.unwrap().group.unwrap();
                assert_eq!(group.name, base);
                let i: usize = index.trim_end_matches(']').parse().unwrap();
                v.dwords[group.dword as usize + i].to_string()
            };
            assert_eq!(
                plain(&text),
                plain(expected),
                "{}.{name} of {}",
                v.name,
                v.source
            );
            checked += 1;
        }
    }
    checked
}

#[test]
fn words_of_other_programs_decode_to_their_values() {
    let file: File<u32> = toml::from_str(&read("words.toml")).unwrap();
    for v in &file.vector {
        let (list, _) = fields(&v.name, &v.dwords);
        for (name, expected) in &v.fields {
            let f = list.iter().find(|f| f.name == name);
            let f = f.unwrap_or_else(|| panic!("{}.{name}", v.name));
            let raw = f.raw(&v.dwords) as u32;
            assert_eq!(raw, *expected, "{}.{name} of {}", v.name, v.source);
        }
    }
}

#[test]
fn every_command_and_structure_has_a_vector() {
    let captures: File<String> = toml::from_str(&read("captures.toml")).unwrap();
    let words: File<u32> = toml::from_str(&read("words.toml")).unwrap();
    let dump = read("intel_dump_decode.txt");
    let mut seen: BTreeSet<String> = captures.vector.into_iter().map(|v| v.name).collect();
    seen.extend(words.vector.into_iter().map(|v| v.name));
    seen.extend(dump.lines().filter_map(|l| {
        let header = u32::from_str_radix(l.get(14..22)?, 16).ok()?;
        let text = l.get(24..)?;
        (!text.starts_with(' ')).then(|| gen40::command(header).unwrap().name.to_owned())
    }));
    let names = gen40::COMMANDS.iter().map(|c| c.name);
    let missing: Vec<&str> = names
        .chain(gen40::STRUCTURES.iter().map(|s| s.name))
        .filter(|n| !seen.contains(*n))
        .filter(|n| !EXEMPT.contains(n))
        .collect();
    assert_eq!(missing, [""; 0]);
}

/// Snapshot and error words of PRM vol4 chapter 3; the manual prints no example of them, and `tables.rs` has
/// words put together by hand from its bit lists for the first four.
const EXEMPT: [&str; 10] = [
    "DP_ERROR_HEADER",
    "MATH_ERROR_HEADER",
    "TS_MESSAGE_ERROR",
    "URB_ERROR_HEADER",
    "DEBUG_VERTEX_TAG",
    "MATH_DEBUG_DATA",
    "R0_DEBUG",
    "R0_MEDIA_DEBUG",
    "SAMPLER_ERROR_HEADER",
    "TS_SNAPSHOT_DESCRIPTOR",
];

#[test]
fn fixed_point_fields_print_the_value_the_manual_means() {
    // PRM vol4 4.7.3.1: LOD bias is S4.6, 1F8h in bits 13:3 is 63/64 x 8.
    let s = gen40::SamplerState::from_dwords(&[0x3f << 3]);
    assert_eq!(s.texture_lod_bias(), 63.0 / 64.0);
    let f = gen40::SAMPLER_STATE_DESC
        .fields
        .iter()
        .find(|f| f.name == "Texture LOD Bias");
    assert!(matches!(
        f.unwrap().kind,
        Kind::Fixed {
            signed: true,
            frac: 6
        }
    ));
}

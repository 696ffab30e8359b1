//! Every command, structure and enumeration of all generations beside Mesa's.
//! genxml gen4, gen45, gen5, gen6 and gen7, as a list in `data/genxml.txt`.

use std::collections::BTreeMap;
use std::fmt::Write;

use regs::desc::{Kind, LengthRule, PackedField};
use regs::platform::{GENERATIONS, Generation};

/// Definition as the list has it: the words of its head, and the lines below it.
type Definition = (Vec<&'static str>, Vec<&'static str>);

/// Definitions by kind and name, for each of the generations.
fn definitions() -> Vec<BTreeMap<(&'static str, &'static str), Definition>> {
    let mut all: Vec<BTreeMap<_, Definition>> = Vec::new();
    let mut now = None;
    for line in include_str!("data/genxml.txt").lines() {
        if line.starts_with('#') {
            continue;
        }
        if line.starts_with("gen") {
            let before = all.last().filter(|_| !line.ends_with(" whole"));
            all.push(before.cloned().unwrap_or_default());
        } else if line.starts_with(' ') {
            let (_, lines) = all.last_mut().unwrap().get_mut(&now.unwrap()).unwrap();
            lines.push(line);
        } else {
            let words: Vec<&str> = line.split(' ').collect();
            now = Some((words[0], words[1]));
            all.last_mut()
                .unwrap()
                .insert((words[0], words[1]), (words, Vec::new()));
        }
    }
    all
}

/// A field of the list with its named values.
struct Field {
    name: &'static str,
    start: u16,
    width: u16,
    kind: &'static str,
    values: Vec<(u32, &'static str)>,
}

fn fields(lines: &[&'static str]) -> Vec<Field> {
    let mut out: Vec<Field> = Vec::new();
    for line in lines {
        let mut words = line.trim_start().splitn(4, ' ');
        let mut next = || words.next().unwrap();
        match next() {
            "group" | "item" => {}
            "=" => {
                let code = next().parse().unwrap();
                let name = line.trim_start().splitn(3, ' ').nth(2).unwrap();
                if let Some(f) = out.last_mut() {
                    f.values.push((code, name));
                }
            }
            dword => {
                let (hi, lo) = next().split_once(':').unwrap();
                let (hi, lo): (u16, u16) = (hi.parse().unwrap(), lo.parse().unwrap());
                let dword: u16 = dword.parse().unwrap();
                out.push(Field {
                    start: dword * 32 + lo,
                    width: hi - lo + 1,
                    kind: next(),
                    // The default stands between.
                    name: next().split_once(' ').unwrap().1,
                    values: Vec::new(),
                });
            }
        }
    }
    out
}

fn kind(f: &PackedField) -> String {
    match f.kind {
        Kind::Uint => "uint".to_owned(),
        Kind::Int => "int".to_owned(),
        Kind::Bool => "bool".to_owned(),
        Kind::Float => "float".to_owned(),
        Kind::Address => "address".to_owned(),
        Kind::Struct(s) => s.name.to_owned(),
        Kind::Fixed { signed, frac } => {
            let frac = u16::from(frac);
            let int = f.width - frac - u16::from(signed);
            format!("{}{int}.{frac}", if signed { 's' } else { 'u' })
        }
    }
}

/// Whether a constant means the list's value: the manual's prefixes stand in our names only.
fn named(ours: &str, theirs: &str) -> bool {
    ours == theirs
        || ours.ends_with(&format!("_{theirs}"))
        || theirs == format!("'{ours}'")
        || theirs.replace('\'', "") == ours
}

/// Values of an enumeration with their names.
type Values = Vec<(u32, &'static str)>;

/// What differs in a definition, a line each.
fn compare(
    out: &mut String,
    place: &str,
    ours: &[PackedField],
    theirs: &[Field],
    enums: &dyn Fn(&str) -> Option<Values>,
) {
    for x in theirs {
        let Some(f) = ours.iter().find(|f| f.name == x.name) else {
            let _ = writeln!(out, "{place}: {} is missing", x.name);
            continue;
        };
        if (f.start, f.width) != (x.start, x.width) {
            let _ = writeln!(out, "{place}: {} lies elsewhere", x.name);
        }
        let listed = enums(x.kind);
        let wanted = match x.kind {
            "offset" => "address",
            _ if listed.is_some() => "uint",
            kind => kind,
        };
        // A single bit is a flag, whatever its values are called.
        if f.width == 1 && kind(f) == "bool" && wanted == "uint" {
            continue;
        }
        // A fixed-point number may leave high bits of its field unused.
        if kind(f) != wanted && !(wanted.contains('.') && kind(f).ends_with(&wanted[1..])) {
            let _ = writeln!(out, "{place}: {} is {} and not {wanted}", x.name, kind(f));
        }
        for (code, name) in listed.as_ref().unwrap_or(&x.values) {
            match f.value_name(u64::from(*code)) {
                Some(ours) if named(ours, name) => {}
                ours => {
                    let _ = writeln!(out, "{place}: {} {code} is {ours:?} and not {name}", x.name);
                }
            }
        }
    }
    for f in ours {
        if f.name != "DWord Length" && !theirs.iter().any(|x| x.name == f.name) {
            let _ = writeln!(out, "{place}: {} is ours alone", f.name);
        }
    }
}

fn check(g: &Generation, list: &BTreeMap<(&'static str, &'static str), Definition>) -> String {
    let mut out = String::new();
    let enums = |name: &str| {
        let (_, lines) = list.get(&("enum", name))?;
        let value = |l: &&'static str| {
            let (code, name) = l.trim_start().strip_prefix("= ")?.split_once(' ')?;
            Some((code.parse().ok()?, name))
        };
        lines.iter().map(value).collect::<Option<Vec<_>>>()
    };
    for ((what, name), (head, lines)) in list {
        let theirs = fields(lines);
        let place = format!("{} {name}", g.name);
        let number = |i: usize| head[i].parse::<u32>();
        match *what {
            "struct" => {
                let ours = name.strip_prefix("RENDER_").unwrap_or(name);
                let Some(s) = g.structure(ours) else {
                    let _ = writeln!(out, "{place} is missing");
                    continue;
                };
                if number(2) != Ok(s.dwords) {
                    let _ = writeln!(out, "{place}: {} dwords and not {}", s.dwords, head[2]);
                }
                compare(&mut out, &place, s.fields, &theirs, &enums);
            }
            "command" => {
                let Some(c) = g.commands.iter().find(|c| c.name == *name) else {
                    let _ = writeln!(out, "{place} is missing");
                    continue;
                };
                let header = u32::from_str_radix(head[3], 16).unwrap();
                if c.header != header {
                    let _ = writeln!(out, "{place}: header {:08x} and not {header:08x}", c.header);
                }
                let (dwords, bits) = match c.length {
                    LengthRule::Fixed(n) => (n, 0),
                    LengthRule::Bits6 => ((header & 0x3f) + 2, 6),
                    LengthRule::Bits8 => ((header & 0xff) + 2, 8),
                    LengthRule::Bits16 => ((header & 0xffff) + 2, 16),
                };
                if number(4) != Ok(bits) || !(head[2] == "None" || number(2) == Ok(dwords)) {
                    let _ = writeln!(out, "{place}: {dwords} dwords by {bits} bits");
                }
                compare(&mut out, &place, c.fields, &theirs, &enums);
            }
            _ => {}
        }
    }
    out
}

#[test]
fn every_definition_is_mesas() {
    let mut found = String::new();
    let lists = definitions();
    assert_eq!(lists.len(), GENERATIONS.len());
    for (g, list) in GENERATIONS.into_iter().zip(&lists) {
        assert!(list.len() > 50, "{}", list.len());
        found += &check(g, list);
    }
    // A line each, with the reason behind it.
    let known = include_str!("data/genxml_differences.txt").lines();
    let known: Vec<&str> = known.map(|l| l.split_once("  # ").unwrap().0).collect();
    assert_eq!(found.lines().collect::<Vec<_>>(), known);
}

//! Source of `regs::any`: what all generations that have it lay out alike.
//! Of what one lays out otherwise the shared fields are here (`common`); what one alone has is not, so that a use of it
//! does not compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::emit::line;
use crate::model::{Format, Tables};
use crate::names;
use crate::origin::Earlier;
use crate::schema::Value;

/// Source of the neutral module; `all` has the oldest generation first.
pub fn any(all: &[Tables]) -> String {
    let mut out = String::new();
    line!(out, "pub use crate::ids::*;");
    let commands = agreed(all, |t, e| {
        let list = t.commands.iter();
        list.map(|c| (c.name.clone(), e.command_type(c).map(str::to_owned)))
            .collect()
    });
    let structures = agreed(all, |t, e| {
        let list = t.structures.iter();
        list.map(|s| (s.name.clone(), e.structure_type(s).map(str::to_owned)))
            .collect()
    });
    for (name, from) in commands.iter().chain(&structures) {
        line!(out, "pub use crate::{from}::{};", names::camel(name));
    }
    line!(out, "use crate::field;");
    let mut known = structures;
    known.extend(commands);
    super::common::types(&mut out, all, &known);
    let fields = agreed(all, |t, e| {
        let list = t.registers.iter();
        list.map(|r| (r.name.clone(), e.register_fields(r).map(str::to_owned)))
            .collect()
    });
    let handles = agreed(all, |t, e| {
        let list = t.registers.iter();
        list.map(|r| (r.name.clone(), e.register_handle(r).map(str::to_owned)))
            .collect()
    });
    for (module, doc, list) in [
        ("fields", "Typed fields, one module per register.", &fields),
        ("reg", "Typed handles, one constant per register.", &handles),
    ] {
        line!(out, "/// {doc}\npub mod {module} {{");
        for (name, from) in list {
            let name = names::constant(name);
            line!(out, "pub use crate::{from}::{module}::{name};");
        }
        if module == "fields" {
            super::common::fields(&mut out, all, &fields);
        } else {
            super::common::handles(&mut out, all, &handles);
        }
        line!(out, "}}");
    }
    values(&mut out, all);
    line!(out, "use crate::desc::*;");
    super::formats(&mut out, &formats(all));
    out
}

/// Surface formats that all generations have with one name and layout, with what each generation can do with them.
fn formats(all: &[Tables]) -> Vec<Format> {
    let Some((first, later)) = all.split_first() else {
        return Vec::new();
    };
    let shape = |f: &Format| {
        let channels = f.channels.iter();
        let channels: Vec<_> = channels
            .map(|c| (c.letter, c.start, c.bits, c.kind))
            .collect();
        (f.code, f.name.clone(), f.bits, f.block, channels)
    };
    let shared = first.formats.iter().filter_map(|format| {
        let mut shared = format.clone();
        for t in later {
            let same = t.formats.iter().find(|f| shape(f) == shape(format))?;
            shared.caps.retain(|cap| same.caps.contains(cap));
        }
        Some(shared)
    });
    shared.collect()
}

/// Names that two generations at least have and that all which have them agree on, with the generation that defines them.
///
/// A generation that has done away with a name does not hinder the others: no word of it is ever read under that name.
/// `of` lists a generation's names, each with the earlier generation that has the same, if there is one.
fn agreed(
    all: &[Tables],
    of: impl Fn(&Tables, &Earlier<'_>) -> Vec<(String, Option<String>)>,
) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut holders: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut differ = BTreeSet::new();
    for (index, t) in all.iter().enumerate() {
        for (name, from) in of(t, &Earlier::than(all, index)) {
            holders.entry(name.clone()).or_default().insert(index);
            match found.get(&name) {
                None => {
                    found.insert(name, t.generation.clone());
                }
                Some(first) if from.as_ref() != Some(first) => {
                    differ.insert(name);
                }
                Some(_) => {}
            }
        }
    }
    let shared = |name: &String| {
        let holders = holders.get(name);
        holders.is_some_and(|holders| holders.len() >= all.len().min(2))
    };
    found.retain(|name, _| shared(name) && !differ.contains(name));
    found
}

/// Constants: the union over all generations, of modules in which no name and no code has two meanings.
fn values(out: &mut String, all: &[Tables]) {
    let modules: BTreeSet<&str> = (all.iter().flat_map(|t| &t.values))
        .map(|(module, _)| module.as_str())
        .collect();
    line!(
        out,
        "/// Named values of fields, one module per enumeration."
    );
    line!(out, "pub mod values {{");
    for module in modules {
        let lists = all.iter().flat_map(|t| &t.values);
        let lists: Vec<&[Value]> = lists
            .filter(|(name, _)| name == module)
            .map(|(_, list)| list.as_slice())
            .collect();
        let Some(union) = union(&lists) else {
            continue;
        };
        line!(out, "/// {module}\npub mod {module} {{");
        for (name, (value, doc)) in union {
            line!(out, "/// {doc}\npub const {name}: u32 = {value};");
        }
        line!(out, "}}");
    }
    line!(out, "}}");
}

/// Constants of all lists by name, `None` when two lists contradict each other.
fn union(lists: &[&[Value]]) -> Option<BTreeMap<String, (u32, String)>> {
    let mut out: BTreeMap<String, (u32, String)> = BTreeMap::new();
    let mut codes: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for list in lists {
        let mut own: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
        for v in *list {
            let name = names::constant(&v.name);
            let doc = format!("{} {}", v.name, v.summary);
            let (value, _) = out.entry(name.clone()).or_insert((v.value, doc));
            if *value != v.value {
                return None;
            }
            own.entry(v.value).or_default().insert(name);
        }
        for (code, labels) in own {
            let known = codes.entry(code).or_default();
            if !known.is_empty() && known.is_disjoint(&labels) {
                return None;
            }
            known.extend(labels);
        }
    }
    Some(out)
}

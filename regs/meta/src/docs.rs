//! Pages of `docs/regs/VENDOR/`, one per table file and one index per generation.
//! Pages repeat the tables; nothing is edited by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::emit::line;
use crate::load::io;
use crate::model::{Command, Field, Kind, Privilege, Register, Structure, Tables};
use crate::schema::{Access, ENGINES, Length, PROPERTIES, Value};
use crate::{Error, generations, load};

/// Writes the pages of every generation of a vendor, below `table_dir`, into `out_dir`, or with `check` compares them.
///
/// Returns the number of pages. Errors: invalid tables, I/O, and with `check` pages that differ, are missing or
/// belong to no table.
pub fn docs(table_dir: &Path, out_dir: &Path, check: bool) -> Result<usize, Error> {
    let mut pages = BTreeMap::new();
    let vendor = table_dir.file_name().and_then(|n| n.to_str()).unwrap_or("");
    for generation in generations(table_dir)? {
        let tables = load(table_dir, &generation)?;
        for (index, section) in tables.sections.iter().enumerate() {
            if empty(&tables, index) || section.generation != generation {
                continue;
            }
            let path = out_dir
                .join(&generation)
                .join(format!("{}.md", section.file));
            pages.insert(path, page(&tables, vendor, index));
        }
        pages.insert(
            out_dir.join(&generation).join("README.md"),
            overview(&tables, vendor),
        );
    }
    let mut stale = Vec::new();
    let known: BTreeSet<PathBuf> = pages.keys().cloned().collect();
    for path in files(out_dir)? {
        if !known.contains(&path) {
            stale.push(path.display().to_string());
            if !check {
                fs::remove_file(&path).map_err(io(&path))?;
            }
        }
    }
    for (path, text) in &pages {
        let old = fs::read_to_string(path).unwrap_or_default();
        if old == *text {
            continue;
        }
        stale.push(path.display().to_string());
        if !check {
            if let Some(dir) = path.parent() {
                fs::create_dir_all(dir).map_err(io(dir))?;
            }
            fs::write(path, text).map_err(io(path))?;
        }
    }
    if check && !stale.is_empty() {
        return Err(Error::Stale(stale));
    }
    Ok(pages.len())
}

/// Markdown files below the directory of a generation.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut out = Vec::new();
    if !dir.exists() {
        return Ok(out);
    }
    for entry in fs::read_dir(dir).map_err(io(dir))? {
        let path = entry.map_err(io(dir))?.path();
        if path.is_dir() {
            out.extend(files(&path)?);
        } else if path.extension().is_some_and(|e| e == "md") {
            out.push(path);
        }
    }
    Ok(out)
}

/// A file of enumerations alone; their values appear with the fields.
fn empty(t: &Tables, index: usize) -> bool {
    !(t.registers.iter().any(|r| r.section == index)
        || t.commands.iter().any(|c| c.section == index)
        || t.structures.iter().any(|s| s.section == index)
        || t.formats.iter().any(|f| f.section == index))
}

/// Page of a section, seen from the generation's index: an imported one is where the earlier generation has it.
fn link(t: &Tables, section: usize) -> String {
    match t.sections.get(section) {
        Some(s) if s.generation == t.generation => s.file.clone(),
        Some(s) => format!("../{}", s.file),
        None => String::new(),
    }
}

fn overview(t: &Tables, vendor: &str) -> String {
    let mut out = String::new();
    line!(out, "# Tables of {}\n", t.generation);
    line!(
        out,
        "Generated from `regs/tables/{vendor}/{}` by `cargo xtask regs-docs`. {} registers, {} commands, {} structures, {} surface formats.\n",
        t.generation,
        t.registers.len(),
        t.commands.len(),
        t.structures.len(),
        t.formats.len()
    );
    line!(out, "| page | section |\n| --- | --- |");
    for (index, s) in t.sections.iter().enumerate() {
        if !empty(t, index) {
            let page = link(t, index);
            line!(out, "| [{}]({page}.md) | {} |", s.file, s.title);
        }
    }
    if !t.registers.is_empty() {
        line!(
            out,
            "\n| offset | register | unit | bits | access | summary |"
        );
        line!(out, "| --- | --- | --- | --- | --- | --- |");
        for r in &t.registers {
            let file = link(t, r.section);
            line!(
                out,
                "| {:05X}h | [{}]({file}.md) | {} | {} | {} | {} |",
                r.offset,
                r.name,
                r.unit,
                r.bits,
                access(r.access),
                r.summary
            );
        }
    }
    if !t.commands.is_empty() {
        line!(out, "\n| header | command | unit | dwords | summary |");
        line!(out, "| --- | --- | --- | --- | --- |");
        for c in &t.commands {
            let file = link(t, c.section);
            line!(
                out,
                "| {:08X}h | [{}]({file}.md) | {} | {} | {} |",
                c.header(),
                c.name,
                c.unit,
                c.dwords,
                c.summary
            );
        }
    }
    out
}

fn page(t: &Tables, vendor: &str, index: usize) -> String {
    let mut out = String::new();
    let Some(section) = t.sections.get(index) else {
        return out;
    };
    line!(out, "# {}\n", section.title);
    line!(
        out,
        "Generated from `regs/tables/{vendor}/{}/{}.toml`; edit that file.\n",
        t.generation,
        section.file
    );
    if !section.note.trim().is_empty() {
        line!(out, "{}\n", section.note.trim());
    }
    for r in t.registers.iter().filter(|r| r.section == index) {
        register(&mut out, r);
    }
    for c in t.commands.iter().filter(|c| c.section == index) {
        command(&mut out, c);
    }
    for s in t.structures.iter().filter(|s| s.section == index) {
        structure(&mut out, s);
    }
    let mut formats = t.formats.iter().filter(|f| f.section == index).peekable();
    if formats.peek().is_some() {
        line!(
            out,
            "| code | name | bits | channels from bit 0 | capabilities |"
        );
        line!(out, "| --- | --- | --- | --- | --- |");
        for f in formats {
            let channels: Vec<String> = f
                .channels
                .iter()
                .map(|c| format!("{}{} {}", c.letter, c.bits, c.kind))
                .collect();
            line!(
                out,
                "| {:03X}h | {} | {} | {} | {} |",
                f.code,
                f.name,
                f.bits,
                channels.join(", "),
                f.caps
            );
        }
        line!(
            out,
            "\nCapabilities: S sampling, F filtering, H shadow, K chroma key, R render target, B alpha blend, V vertex input, O streamed output."
        );
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn access(a: Access) -> &'static str {
    match a {
        Access::Ro => "ro",
        Access::Rw => "rw",
        Access::Wo => "wo",
        Access::W1c => "w1c",
        Access::W1s => "w1s",
        Access::Masked => "masked",
        Access::Rc => "rc",
    }
}

fn range(hi: u32, lo: u32) -> String {
    if hi == lo {
        hi.to_string()
    } else {
        format!("{hi}:{lo}")
    }
}

fn values(list: &[Value]) -> String {
    let parts: Vec<String> = list
        .iter()
        .map(|v| {
            if v.summary.is_empty() {
                format!("{} {}", v.value, v.name)
            } else {
                format!("{} {}: {}", v.value, v.name, v.summary)
            }
        })
        .collect();
    parts.join("; ").replace('|', "\\|")
}

/// Summary, then value list, then remarks, without empty parts.
fn meaning(parts: &[String]) -> String {
    let full: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|p| !p.is_empty())
        .collect();
    full.join(". ")
}

fn note(out: &mut String, anomaly: Option<&str>, config: Option<&str>) {
    if let Some(text) = config {
        line!(out, "Exists on: {}.\n", text.trim_end_matches('.'));
    }
    if let Some(text) = anomaly {
        line!(out, "Anomaly: {}.\n", text.trim_end_matches('.'));
    }
}

fn register(out: &mut String, r: &Register) {
    let array = if r.count > 1 {
        format!(", {} elements every {} bytes", r.count, r.stride)
    } else {
        String::new()
    };
    let reset = r
        .reset
        .map_or_else(|| "undefined".to_owned(), |v| format!("{v:X}h"));
    line!(out, "## {}\n", r.name);
    line!(
        out,
        "{}. Offset {:X}h, {} bits{array}, {}, reset {reset}, unit {}. Source: {}.\n",
        r.summary,
        r.offset,
        r.bits,
        access(r.access),
        r.unit,
        r.cite
    );
    note(out, r.anomaly.as_deref(), r.config.as_deref());
    line!(out, "| bits | field | access | meaning |");
    line!(out, "| --- | --- | --- | --- |");
    for f in &r.fields {
        let marks = [
            (f.qualified, "acts under the global debug enable"),
            (f.mux, "debug multiplexer"),
            (f.mbz, "must be zero"),
        ];
        let marks: Vec<&str> = marks.iter().filter(|m| m.0).map(|m| m.1).collect();
        line!(
            out,
            "| {} | {} | {} | {} |",
            range(f.hi, f.lo),
            f.name,
            access(f.access),
            meaning(&[f.summary.clone(), marks.join(", "), values(&f.values)])
        );
    }
    for &(hi, lo) in &r.reserved {
        line!(out, "| {} | reserved | ro | must be zero |", range(hi, lo));
    }
    line!(out, "");
}

fn packed(out: &mut String, fields: &[Field]) {
    if fields.is_empty() {
        return;
    }
    line!(out, "| dword | bits | field | type | meaning |");
    line!(out, "| --- | --- | --- | --- | --- |");
    for f in fields {
        let kind = match &f.kind {
            Kind::Uint => "uint".to_owned(),
            Kind::Int => "int".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Float => "float".to_owned(),
            Kind::Fixed { signed, frac } => {
                let int = f.width.saturating_sub(*frac + u32::from(*signed));
                format!("{}{int}.{frac}", if *signed { 's' } else { 'u' })
            }
            Kind::Address => "address".to_owned(),
            Kind::Struct(s) => s.clone(),
        };
        let listed = if f.values.len() > 64 {
            "see the surface formats".to_owned()
        } else {
            values(&f.values)
        };
        let scale = if f.scale.is_empty() {
            String::new()
        } else {
            format!("Counts: {}", f.scale)
        };
        line!(
            out,
            "| {} | {} | {} | {kind} | {} |",
            f.start / 32,
            range(f.start % 32 + f.width - 1, f.start % 32),
            f.name,
            meaning(&[f.summary.clone(), scale, listed])
        );
    }
    line!(out, "");
}

fn properties(out: &mut String, c: &Command) {
    let named = PROPERTIES.iter().enumerate();
    let mut words: Vec<String> = named
        .filter(|(i, _)| c.properties >> i & 1 == 1)
        .map(|(_, word)| (*word).to_owned())
        .collect();
    match c.privilege {
        Privilege::None => {}
        Privilege::Always => words.push("privileged".to_owned()),
        Privilege::Unless(start, width) | Privilege::When(start, width) => {
            let bits = start..start + width;
            let fields = c.fields.iter().filter(|f| bits.contains(&f.start));
            let names: Vec<&str> = fields.map(|f| f.name.as_str()).collect();
            let name = names.join(" or ");
            let how = match c.privilege {
                Privilege::When(..) => "is not zero",
                _ => "is zero",
            };
            words.push(format!("privileged while {name} {how}"));
        }
    }
    // The render engine alone is what commands of the pipelines have.
    let all = ENGINES.iter().enumerate();
    let engines: Vec<&str> = all
        .filter(|(i, _)| c.engines >> i & 1 == 1)
        .map(|(_, word)| *word)
        .collect();
    let usual = match c.value >> 29 {
        0 => engines.len() == ENGINES.len(),
        _ => c.engines == 1,
    };
    if !usual {
        words.push(format!("engines: {}", engines.join(" ")));
    }
    if !words.is_empty() {
        line!(out, "Properties: {}.\n", words.join(", "));
    }
}

fn command(out: &mut String, c: &Command) {
    let length = match c.length {
        Length::Fixed => "fixed length",
        Length::Bits6 => "length in bits 5:0",
        Length::Bits8 => "length in bits 7:0",
        Length::Bits16 => "length in bits 15:0",
    };
    line!(out, "## {}\n", c.name);
    line!(
        out,
        "{}. Header {:08X}h (mask {:08X}h), {} dwords, {length}, unit {}. Source: {}.\n",
        c.summary,
        c.header(),
        c.mask,
        c.dwords,
        c.unit,
        c.cite
    );
    note(out, c.anomaly.as_deref(), c.config.as_deref());
    properties(out, c);
    packed(out, &c.fields);
    if let Some(g) = &c.group {
        let what = g.structure.as_deref().unwrap_or("dword");
        line!(
            out,
            "From dword {}: {} ({what}, {} dwords each).\n",
            g.dword,
            g.name,
            g.dwords
        );
    }
}

fn structure(out: &mut String, s: &Structure) {
    line!(out, "## {}\n", s.name);
    line!(
        out,
        "{}. {} dwords, aligned to {} bytes, read by {}. Source: {}.\n",
        s.summary,
        s.dwords,
        s.align,
        s.unit,
        s.cite
    );
    note(out, s.anomaly.as_deref(), None);
    packed(out, &s.fields);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_changed_page_is_stale() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tables/intel");
        let out = std::env::temp_dir().join(format!("regs-docs-{}", std::process::id()));
        let pages = docs(&root, &out, false).unwrap();
        assert!(pages > 20);
        assert_eq!(docs(&root, &out, true).unwrap(), pages);
        fs::write(out.join("gen40/extra.md"), "x").unwrap();
        assert!(matches!(docs(&root, &out, true), Err(Error::Stale(s)) if s.len() == 1));
        fs::remove_dir_all(&out).unwrap();
    }
}

//! Imported definitions with the differences of a later generation.
//! Names and keys that fit nothing are findings.

use crate::model::bit_range;
use crate::schema::{
    Amend, AmendField, Command, Enumeration, Field, File, Format, Register, RegisterField,
    Structure, Value,
};

/// Moves what `own` files amend out of the imported ones into the amending file, changed.
pub fn amend(
    own: &mut [(String, File)],
    imported: &mut [(String, File)],
    findings: &mut Vec<String>,
) {
    for (_, file) in own {
        for a in std::mem::take(&mut file.amend) {
            let mut say = |what: &str| findings.push(format!("{}: {what}", a.name));
            if let Some(mut r) = take(imported, |f| &mut f.register, |r| r.name == a.name) {
                register(&mut r, &a, &mut say);
                let at = file.register.partition_point(|x| x.offset <= r.offset);
                file.register.insert(at, r);
            } else if let Some(mut c) = take(imported, |f| &mut f.command, |c| c.name == a.name) {
                command(&mut c, &a, &mut say);
                file.command.push(c);
            } else if let Some(mut s) = take(imported, |f| &mut f.structure, |s| s.name == a.name) {
                structure(&mut s, &a, &mut say);
                file.structure.push(s);
            } else if let Some(mut e) = take(imported, |f| &mut f.enumeration, |e| e.name == a.name)
            {
                enumeration(&mut e, &a, &mut say);
                file.enumeration.push(e);
            } else if let Some(mut f) = take(imported, |f| &mut f.format, |f| f.name == a.name) {
                format(&mut f, &a, &mut say);
                file.format.push(f);
            } else {
                say("amended, but nothing imported has this name");
            }
        }
    }
}

fn take<T>(
    files: &mut [(String, File)],
    list: impl Fn(&mut File) -> &mut Vec<T>,
    wanted: impl Fn(&T) -> bool,
) -> Option<T> {
    files.iter_mut().find_map(|(_, file)| {
        let list = list(file);
        let at = list.iter().position(&wanted)?;
        Some(list.remove(at))
    })
}

/// Which keys of an amendment belong to one kind of definition only.
fn unfit(a: &Amend, kind: &str, say: &mut impl FnMut(&str)) {
    let fields = ["register", "command", "struct"].as_slice();
    let described = ["register", "command", "struct", "format"].as_slice();
    let keys = [
        ("drop", !a.drop.is_empty(), fields),
        ("field", !a.field.is_empty(), fields),
        ("summary", a.summary.is_some(), described),
        ("anomaly", a.anomaly.is_some(), fields),
        ("overlap", a.overlap.is_some(), fields),
        ("config", a.config.is_some(), &["register", "command"]),
        ("dwords", a.dwords.is_some(), &["command", "struct"]),
        ("subtype", a.subtype.is_some(), &["command"]),
        ("opcode", a.opcode.is_some(), &["command"]),
        ("subopcode", a.subopcode.is_some(), &["command"]),
        ("min_dwords", a.min_dwords.is_some(), &["command"]),
        ("max_dwords", a.max_dwords.is_some(), &["command"]),
        ("length", a.length.is_some(), &["command"]),
        ("is", a.is.is_some(), &["command"]),
        ("privileged", a.privileged.is_some(), &["command"]),
        ("engines", a.engines.is_some(), &["command"]),
        ("group", a.group.is_some(), &["command"]),
        ("align", a.align.is_some(), &["struct"]),
        ("offset", a.offset.is_some(), &["register"]),
        ("count", a.count.is_some(), &["register"]),
        ("access", a.access.is_some(), &["register"]),
        ("reset", a.reset.is_some(), &["register"]),
        ("mbz", a.mbz.is_some(), &["register"]),
        ("reserved", a.reserved.is_some(), &["register"]),
        ("caps", a.caps.is_some(), &["format"]),
        ("values", !a.values.is_empty(), &["enum"]),
        ("drop_values", !a.drop_values.is_empty(), &["enum"]),
    ];
    for (key, given, kinds) in keys {
        if given && !kinds.contains(&kind) {
            say(&format!("`{key}` does not fit a {kind}"));
        }
    }
    if a.cite.trim().is_empty() {
        say("no citation of the difference");
    }
}

fn register(r: &mut Register, a: &Amend, say: &mut impl FnMut(&str)) {
    unfit(a, "register", say);
    r.cite.clone_from(&a.cite);
    set(&mut r.summary, a.summary.as_ref());
    text(&mut r.anomaly, a.anomaly.as_ref());
    text(&mut r.overlap, a.overlap.as_ref());
    text(&mut r.config, a.config.as_ref());
    set(&mut r.offset, a.offset.as_ref());
    set(&mut r.count, a.count.as_ref());
    set(&mut r.access, a.access.as_ref());
    set(&mut r.reset, a.reset.as_ref());
    set(&mut r.mbz, a.mbz.as_ref());
    set(&mut r.reserved, a.reserved.as_ref());
    dropped(&mut r.field, |f| &f.name, a, say);
    for f in &a.field {
        let unfit = [
            ("dword", f.dword.is_some()),
            ("type", f.kind.is_some()),
            ("default", f.default.is_some()),
            ("scale", f.scale.is_some()),
            ("target", f.target.is_some()),
            ("prefix", f.prefix.is_some()),
        ];
        for (key, _) in unfit.iter().filter(|u| u.1) {
            say(&format!("`{key}` does not fit a register's field"));
        }
        let known = r.field.iter().position(|x| x.name == f.name);
        let at = known.unwrap_or_else(|| {
            r.field.push(RegisterField {
                name: f.name.clone(),
                ..RegisterField::default()
            });
            r.field.len() - 1
        });
        let x = &mut r.field[at];
        set(&mut x.bits, f.bits.as_ref());
        over(&mut x.access, f.access.as_ref());
        over(&mut x.reset, f.reset.as_ref());
        set(&mut x.mbz, f.mbz.as_ref());
        set(&mut x.qualified, f.qualified.as_ref());
        set(&mut x.mux, f.mux.as_ref());
        over(&mut x.enumeration, f.enumeration.as_ref());
        set(&mut x.summary, f.summary.as_ref());
        listed(&mut x.values, f, say);
    }
    // As the manual prints them: from the highest bit down.
    r.field
        .sort_by_key(|f| std::cmp::Reverse(bit_range(&f.bits)));
}

fn command(c: &mut Command, a: &Amend, say: &mut impl FnMut(&str)) {
    unfit(a, "command", say);
    c.cite.clone_from(&a.cite);
    set(&mut c.summary, a.summary.as_ref());
    text(&mut c.anomaly, a.anomaly.as_ref());
    text(&mut c.overlap, a.overlap.as_ref());
    text(&mut c.config, a.config.as_ref());
    if a.dwords.is_some() {
        // Lengths that were given for the imported form say nothing about this one.
        (c.min_dwords, c.max_dwords) = (None, None);
    }
    set(&mut c.subtype, a.subtype.as_ref());
    set(&mut c.opcode, a.opcode.as_ref());
    set(&mut c.subopcode, a.subopcode.as_ref());
    set(&mut c.dwords, a.dwords.as_ref());
    over(&mut c.min_dwords, a.min_dwords.as_ref());
    over(&mut c.max_dwords, a.max_dwords.as_ref());
    set(&mut c.length, a.length.as_ref());
    set(&mut c.is, a.is.as_ref());
    text(&mut c.privileged, a.privileged.as_ref());
    over(&mut c.engines, a.engines.as_ref());
    over(&mut c.group, a.group.as_ref());
    packed(&mut c.field, a, say);
}

fn structure(s: &mut Structure, a: &Amend, say: &mut impl FnMut(&str)) {
    unfit(a, "struct", say);
    s.cite.clone_from(&a.cite);
    set(&mut s.summary, a.summary.as_ref());
    text(&mut s.anomaly, a.anomaly.as_ref());
    text(&mut s.overlap, a.overlap.as_ref());
    set(&mut s.dwords, a.dwords.as_ref());
    set(&mut s.align, a.align.as_ref());
    packed(&mut s.field, a, say);
}

fn enumeration(e: &mut Enumeration, a: &Amend, say: &mut impl FnMut(&str)) {
    unfit(a, "enum", say);
    e.cite.clone_from(&a.cite);
    let f = AmendField {
        add_values: a.values.clone(),
        drop_values: a.drop_values.clone(),
        ..AmendField::default()
    };
    listed(&mut e.values, &f, say);
}

fn format(f: &mut Format, a: &Amend, say: &mut impl FnMut(&str)) {
    unfit(a, "format", say);
    f.cite = Some(a.cite.clone());
    set(&mut f.summary, a.summary.as_ref());
    set(&mut f.caps, a.caps.as_ref());
}

fn packed(fields: &mut Vec<Field>, a: &Amend, say: &mut impl FnMut(&str)) {
    dropped(fields, |f| &f.name, a, say);
    for f in &a.field {
        let unfit = [
            ("access", f.access.is_some()),
            ("reset", f.reset.is_some()),
            ("mbz", f.mbz.is_some()),
            ("qualified", f.qualified.is_some()),
            ("mux", f.mux.is_some()),
        ];
        for (key, _) in unfit.iter().filter(|u| u.1) {
            say(&format!("`{key}` fits a register's field alone"));
        }
        let known = fields.iter().position(|x| x.name == f.name);
        let at = known.unwrap_or_else(|| {
            if f.dword.is_none() {
                say(&format!("the new field {} has no dword", f.name));
            }
            fields.push(Field {
                name: f.name.clone(),
                kind: "uint".to_owned(),
                ..Field::default()
            });
            fields.len() - 1
        });
        let x = &mut fields[at];
        set(&mut x.dword, f.dword.as_ref());
        set(&mut x.bits, f.bits.as_ref());
        set(&mut x.kind, f.kind.as_ref());
        set(&mut x.default, f.default.as_ref());
        set(&mut x.scale, f.scale.as_ref());
        set(&mut x.target, f.target.as_ref());
        over(&mut x.prefix, f.prefix.as_ref());
        over(&mut x.enumeration, f.enumeration.as_ref());
        set(&mut x.summary, f.summary.as_ref());
        listed(&mut x.values, f, say);
    }
    fields.sort_by_key(|f| (f.dword, bit_range(&f.bits).map(|(hi, lo)| (lo, hi))));
}

fn dropped<T>(
    fields: &mut Vec<T>,
    name: impl Fn(&T) -> &str,
    a: &Amend,
    say: &mut impl FnMut(&str),
) {
    for gone in &a.drop {
        let before = fields.len();
        fields.retain(|f| name(f) != gone);
        if fields.len() == before {
            say(&format!("drops {gone}, which is no field"));
        }
    }
}

/// Values with those of an amendment.
fn listed(values: &mut Vec<Value>, f: &AmendField, say: &mut impl FnMut(&str)) {
    set(values, f.values.as_ref());
    for gone in &f.drop_values {
        let before = values.len();
        values.retain(|v| v.value != *gone);
        if values.len() == before {
            say(&format!("drops value {gone}, which is not there"));
        }
    }
    for v in &f.add_values {
        values.retain(|x| x.value != v.value);
        values.push(v.clone());
    }
    values.sort_by_key(|v| v.value);
}

fn set<T: Clone>(to: &mut T, from: Option<&T>) {
    if let Some(from) = from {
        to.clone_from(from);
    }
}

fn over<T: Clone>(to: &mut Option<T>, from: Option<&T>) {
    if from.is_some() {
        *to = from.cloned();
    }
}

/// Free text, which an empty text takes away.
fn text(to: &mut Option<String>, from: Option<&String>) {
    over(to, from);
    if to.as_ref().is_some_and(String::is_empty) {
        *to = None;
    }
}

//! Definitions that a generation shares with an earlier one.
//! A definition is emitted by the oldest generation that has it; the later ones export it again.

use crate::model::{Command, Field, Kind, Register, RegisterField, Structure, Tables};

/// The generations before the one that is emitted, oldest first.
pub struct Earlier<'a> {
    t: &'a Tables,
    before: &'a [Tables],
}

impl<'a> Earlier<'a> {
    /// Those before `all[index]`.
    pub fn than(all: &'a [Tables], index: usize) -> Self {
        Earlier {
            t: &all[index],
            before: &all[..index],
        }
    }

    /// The generation whose type has the layout of this structure.
    pub fn structure_type(&self, s: &Structure) -> Option<&'a str> {
        self.first(|b| structure(b, &s.name).is_some_and(|o| layout(self.t, s, b, o)))
    }

    /// The generation whose descriptor says the same of this structure.
    pub fn structure_desc(&self, s: &Structure) -> Option<&'a str> {
        self.first(|b| structure(b, &s.name).is_some_and(|o| same(self.t, s, b, o)))
    }

    /// The generation whose type has the layout and the header of this command.
    pub fn command_type(&self, c: &Command) -> Option<&'a str> {
        self.first(|b| {
            command(b, &c.name).is_some_and(|o| {
                (c.header(), c.max_dwords) == (o.header(), o.max_dwords)
                    && fields_layout(self.t, &c.fields, b, &o.fields)
                    && c.group == o.group
                    && element(self.t, c)
                        .zip(element(b, o))
                        .is_none_or(|(x, y)| layout(self.t, x, b, y))
            })
        })
    }

    /// The generation whose descriptor says the same of this command.
    pub fn command_desc(&self, c: &Command) -> Option<&'a str> {
        self.first(|b| {
            command(b, &c.name).is_some_and(|o| {
                Command {
                    section: 0,
                    ..c.clone()
                } == Command {
                    section: 0,
                    ..o.clone()
                } && nested_same(self.t, &c.fields, b)
                    && element(self.t, c)
                        .zip(element(b, o))
                        .is_none_or(|(x, y)| same(self.t, x, b, y))
            })
        })
    }

    /// The generation whose descriptor says the same of this register.
    pub fn register_desc(&self, r: &Register) -> Option<&'a str> {
        self.first(|b| {
            register(b, &r.name).is_some_and(|o| {
                Register {
                    section: 0,
                    ..r.clone()
                } == Register {
                    section: 0,
                    ..o.clone()
                }
            })
        })
    }

    /// The generation whose typed fields of this register are the same.
    pub fn register_fields(&self, r: &Register) -> Option<&'a str> {
        self.first(|b| register(b, &r.name).is_some_and(|o| bits(r, o)))
    }

    /// The generation that has this register with the same fields in the same places.
    pub fn register_handle(&self, r: &Register) -> Option<&'a str> {
        let place = |r: &Register| (r.offset, r.count, r.stride);
        self.first(|b| register(b, &r.name).is_some_and(|o| bits(r, o) && place(r) == place(o)))
    }

    /// The generation that has the same constants under this name.
    pub fn values(&self, module: &str) -> Option<&'a str> {
        let of = |t: &'a Tables| t.values.iter().find(|(name, _)| name == module);
        self.first(|b| of(b).is_some() && of(b) == of(self.t))
    }

    fn first(&self, has: impl Fn(&'a Tables) -> bool) -> Option<&'a str> {
        let found = self.before.iter().find(|b| has(b))?;
        Some(&found.generation)
    }
}

fn structure<'a>(t: &'a Tables, name: &str) -> Option<&'a Structure> {
    t.structures.iter().find(|s| s.name == name)
}

fn command<'a>(t: &'a Tables, name: &str) -> Option<&'a Command> {
    t.commands.iter().find(|c| c.name == name)
}

fn register<'a>(t: &'a Tables, name: &str) -> Option<&'a Register> {
    t.registers.iter().find(|r| r.name == name)
}

/// Whether typed fields of two registers come out equal.
fn bits(x: &Register, y: &Register) -> bool {
    let key = |f: &RegisterField| {
        let values = f.values.iter().map(|v| (v.value, v.name.clone()));
        (f.name.clone(), f.hi, f.lo, values.collect::<Vec<_>>())
    };
    x.bits == y.bits && x.fields.iter().map(key).eq(y.fields.iter().map(key))
}

/// The structure of a command's repeated part.
fn element<'a>(t: &'a Tables, c: &Command) -> Option<&'a Structure> {
    structure(t, c.group.as_ref()?.structure.as_deref()?)
}

/// Whether accessors of two structures come out equal.
fn layout(a: &Tables, x: &Structure, b: &Tables, y: &Structure) -> bool {
    (x.dwords, x.align) == (y.dwords, y.align) && fields_layout(a, &x.fields, b, &y.fields)
}

fn fields_layout(a: &Tables, x: &[Field], b: &Tables, y: &[Field]) -> bool {
    let key = |f: &Field| (f.name.clone(), f.start, f.width, f.kind.clone(), f.default);
    x.iter().map(key).eq(y.iter().map(key))
        && inner(a, x)
            .zip(inner(b, y))
            .all(|(x, y)| layout(a, x, b, y))
}

/// Whether descriptors of two structures come out equal.
fn same(a: &Tables, x: &Structure, b: &Tables, y: &Structure) -> bool {
    Structure {
        section: 0,
        ..x.clone()
    } == Structure {
        section: 0,
        ..y.clone()
    } && nested_same(a, &x.fields, b)
}

fn nested_same(a: &Tables, fields: &[Field], b: &Tables) -> bool {
    inner(a, fields).all(|x| structure(b, &x.name).is_some_and(|y| same(a, x, b, y)))
}

/// Structures that fields are.
fn inner<'a>(t: &'a Tables, fields: &'a [Field]) -> impl Iterator<Item = &'a Structure> {
    fields.iter().filter_map(|f| match &f.kind {
        Kind::Struct(name) => structure(t, name),
        _ => None,
    })
}

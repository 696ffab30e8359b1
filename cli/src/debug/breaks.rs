//! Breakpoints and watches: set, list, delete.
//!
//! Each has a number that is not used again.

use std::fmt::Write as _;

use isa::Opcode;
use isa::compact::StreamError;
use mmio_mock::intel::status::Unit;
use regs::ids::CommandId;

use super::backend::Spec;
use super::command::{UNIT_NAMES, Words, none};
use super::place::{Bank, Place};
use super::session::Debugger;
use super::{Answer, Refusal, value};
use crate::alike;

/// A breakpoint or a watch.
#[derive(Clone, Debug)]
pub struct Break {
    /// Its number.
    pub number: u32,
    /// What it stops.
    pub spec: Spec,
    /// As it was written.
    pub text: String,
    /// How often it has stopped something in this run.
    pub hits: u64,
    /// What was in watched memory at the last look.
    pub bytes: Vec<u8>,
}

/// Name of a unit on the command line.
pub fn unit_name(unit: Unit) -> &'static str {
    UNIT_NAMES.get(unit as usize).copied().unwrap_or("?")
}

/// Unit by its name.
pub fn unit(name: &str) -> Answer<Unit> {
    let lower = name.to_ascii_lowercase();
    let found = Unit::ALL.into_iter().find(|unit| unit_name(*unit) == lower);
    found.ok_or_else(|| {
        format!(
            "`{name}` is not a unit; the units are {}",
            UNIT_NAMES.join(" ")
        )
        .into()
    })
}

/// Two numbers with a comma.
pub fn pair(text: &str) -> Answer<(u16, u16)> {
    let parsed = text
        .split_once(',')
        .and_then(|(x, y)| Some((x.trim().parse().ok()?, y.trim().parse().ok()?)));
    parsed.ok_or_else(|| {
        format!("`{text}` is not a pixel: expected two numbers with a comma, such as 120,80").into()
    })
}

/// A thread group as words have it: `2,0,1`.
fn group(text: &str) -> Answer<[u32; 3]> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
    numbers.ok_or_else(|| {
        format!("`{text}` is not a thread group: expected three numbers with commas, such as 2,0,0")
            .into()
    })
}

/// Places to stop at: the first word, and what may stand behind it.
const PLACES: [(&str, &str); 13] = [
    ("op", "NAME"),
    ("eot", ""),
    ("addr", "ADDR"),
    ("pixel", "X,Y"),
    ("vertex", "N"),
    ("prim", "N"),
    ("object", "N"),
    ("patch", "N"),
    ("point", "PATCH N"),
    ("geometry", "N [INSTANCE]"),
    ("group", "X,Y,Z [N]"),
    ("invocation", "X,Y,Z N"),
    ("thread", "UNIT"),
];

/// What is said of words that are no place to stop at.
fn no_place(first: &str, joined: &str) -> String {
    let of_name = PLACES.iter().find(|(name, _)| *name == first);
    if let Some((name, behind)) = of_name {
        let whole = [*name, *behind].join(" ");
        return format!("`break {joined}`: expected `break {}`", whole.trim_end());
    }
    let hint = if UNIT_NAMES.contains(&first) {
        format!(" Did you mean `break thread {first}`?")
    } else {
        let names = PLACES.iter().map(|(name, _)| (*name).to_owned());
        alike::question(&alike::names(first, names))
    };
    format!("`break {joined}`: this is no place to stop at; `help break` lists the places.{hint}")
}

/// A number of fewer bits, of something that a place to stop at names.
fn small<T: TryFrom<u32>>(text: &str, what: &str) -> Answer<T> {
    let number = value::number(text)?;
    T::try_from(number).map_err(|_| format!("there is no {what} {number}").into())
}

impl Debugger {
    pub(super) fn do_break(&mut self, words: &Words) -> Answer {
        let mut note = String::new();
        let spec = match words.list().as_slice() {
            ["op" | "opcode", name] => self.opcode(name)?,
            ["eot"] => Spec::EndOfThread,
            ["addr" | "address", text] => {
                let address = value::number(text)?;
                note = self.check_address(address)?;
                Spec::Address(address)
            }
            ["pixel", text] => {
                let (x, y) = pair(text)?;
                note = self.check_pixel(x, y)?;
                Spec::Pixel(x, y)
            }
            ["vertex", text] => {
                let spec = Spec::Vertex(value::number(text)?);
                if self.backend.needs_vs_snapshot(spec) {
                    self.check_vs_is_free()?;
                }
                spec
            }
            ["prim" | "object", text] => Spec::Object(value::count(text)?),
            ["patch", text] => Spec::Patch(value::number(text)?),
            ["point", patch, point] => Spec::Point(value::number(patch)?, small(point, "point")?),
            ["geometry", text] => Spec::Geometry(value::number(text)?, None),
            ["geometry", text, instance] => {
                Spec::Geometry(value::number(text)?, Some(small(instance, "instance")?))
            }
            ["group", text] => Spec::Group(group(text)?, None),
            ["group", text, thread] => Spec::Group(group(text)?, Some(value::number(thread)?)),
            ["invocation", text, number] => Spec::Invocation(group(text)?, value::number(number)?),
            ["thread", name] => Spec::Thread(unit(name)?),
            [] => return Err("where? `help break` says what there is".into()),
            [first, ..] => return Err(no_place(first, &words.joined()).into()),
        };
        if matches!(spec, Spec::Patch(_) | Spec::Point(..) | Spec::Geometry(..)) {
            self.check_stages()?;
        }
        let number = self.add(spec, words.joined())?;
        Ok(format!("breakpoint {number}: {}\n{note}", words.joined()))
    }

    pub(super) fn do_watch(&mut self, words: &Words) -> Answer {
        let spec = match words.list().as_slice() {
            ["mem", address, rest @ ..] => {
                let bytes = match rest {
                    [] => 4,
                    [bytes] => value::number(bytes)?,
                    [_, more, ..] => return Err(format!("`{more}` is too much").into()),
                };
                let most = mmio_mock::intel::debug::host::WATCHED;
                if bytes == 0 || bytes > most {
                    return Err(format!("a watch has 1 to {most} bytes").into());
                }
                let address = value::number(address)?;
                self.bytes(address, 1)?;
                Spec::Memory(address, bytes)
            }
            [name] => {
                let place: Place = name.parse()?;
                let Place {
                    bank: Bank::General,
                    nr,
                    sub: Some(sub),
                    ..
                } = place
                else {
                    return Err(format!(
                        "`{name}` cannot be watched: only dwords of general registers can, as r5.3"
                    )
                    .into());
                };
                let (key, _) = self.alive()?;
                let dword = sub * place.ty().size() / 4;
                Spec::Register(key, nr as u8, dword as u8)
            }
            _ => {
                return Err(
                    "what? `watch mem ADDR [BYTES]`, or a register as in `watch r5.3`".into(),
                );
            }
        };
        let number = self.add(spec, format!("watch {}", words.joined()))?;
        Ok(format!("watch {number}: {}\n", words.joined()))
    }

    fn add(&mut self, spec: Spec, text: String) -> Answer<u32> {
        let number = self.next;
        self.backend.add(number, spec)?;
        self.next += 1;
        let bytes = match spec {
            Spec::Memory(address, bytes) => self.bytes(address, bytes as usize).unwrap_or_default(),
            _ => Vec::new(),
        };
        self.breaks.push(Break {
            number,
            spec,
            text,
            hits: 0,
            bytes,
        });
        Ok(number)
    }

    fn opcode(&self, name: &str) -> Answer<Spec> {
        let lower = name.to_ascii_lowercase();
        let found = Opcode::from_mnemonic(self.isa, &lower).and_then(|op| op.desc(self.isa));
        match found {
            Some(row) => Ok(Spec::Opcode(u32::from(row.hw))),
            None => Err(format!("this device has no instruction `{name}`").into()),
        }
    }

    /// What there is to say of a breakpoint's address; refused when nothing can ever be there.
    fn check_address(&self, address: u32) -> Answer {
        self.check_alignment(address)?;
        match self.instruction(address) {
            Ok(item) => Ok(match &item.inst {
                Ok(_) => String::new(),
                Err(error) => {
                    let why = match error {
                        StreamError::Decode(error) => error.kind.to_string(),
                        other => other.to_string(),
                    };
                    format!("there is no instruction at {address:#010x} now: {why}\n")
                }
            }),
            Err(refusal) if self.target.is_live() || !self.target.is_all_placed() => {
                Ok(format!("{refusal}, yet\n"))
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Refused where nobody numbers patches, points and instances.
    fn check_stages(&self) -> Answer<()> {
        let has = (self.info.tables.command_desc)(CommandId::State3dHs).is_some();
        if has {
            return Ok(());
        }
        Err(
            "this device numbers no patches and no objects of geometry shaders: `break thread gs`, and `expect` tells which one it is"
                .into(),
        )
    }

    fn check_pixel(&self, x: u16, y: u16) -> Answer {
        let Some((width, height)) = self.frame() else {
            return Ok(String::new());
        };
        if u32::from(x) < width && u32::from(y) < height {
            return Ok(String::new());
        }
        let text = format!("pixel {x},{y} lies outside the frame of {width}x{height} pixels");
        if self.target.is_live() || !self.target.is_all_placed() {
            return Ok(format!("{text} so far\n"));
        }
        Err(text.into())
    }

    pub(super) fn do_delete(&mut self, words: &Words) -> Answer {
        let list = words.list();
        let numbers: Vec<u32> = match list.as_slice() {
            [] => return Err("which? `breaks` lists them".into()),
            ["all"] => self.breaks.iter().map(|b| b.number).collect(),
            list => list
                .iter()
                .map(|n| value::number(n))
                .collect::<Answer<_>>()?,
        };
        for number in &numbers {
            if !self.breaks.iter().any(|b| b.number == *number) {
                return Err(Refusal(format!("there is no breakpoint {number}")));
            }
        }
        for number in &numbers {
            self.backend.remove(*number);
            self.breaks.retain(|b| b.number != *number);
        }
        Ok(String::new())
    }

    pub(super) fn do_breaks(&mut self, words: &Words) -> Answer {
        none(words)?;
        if self.breaks.is_empty() {
            return Ok("no breakpoints\n".to_owned());
        }
        let line = |b: &Break| {
            let times = match b.hits {
                0 => "not met".to_owned(),
                1 => "met once".to_owned(),
                n => format!("met {n} times"),
            };
            format!("{:>3}  {:24}  {times}\n", b.number, b.text)
        };
        Ok(self.breaks.iter().map(line).collect())
    }

    /// Sets every breakpoint on a device that was just powered on.
    pub(super) fn set_all(&mut self) -> Answer<()> {
        for each in &mut self.breaks {
            each.hits = 0;
            self.backend.add(each.number, each.spec)?;
        }
        Ok(())
    }

    /// Breakpoints that nothing has come to, for the end of a run.
    pub(super) fn unmet(&self) -> String {
        let mut text = String::new();
        for b in self.breaks.iter().filter(|b| b.hits == 0) {
            // A String takes every write.
            let _ = writeln!(text, "breakpoint {} ({}) never came", b.number, b.text);
        }
        text
    }
}

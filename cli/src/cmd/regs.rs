//! `crestline regs`: registers of the tables, their fields, and values explained.
//!
//! Every register cites its own chapter. Registers of a real device are read in `board`.

mod board;
mod select;

use std::fmt::Write as _;

use regs::decode;
use regs::desc::{FieldDesc, RegisterDesc, Space};
use regs::platform::Generation;
use serde::Serialize;

use super::{Error, device};

/// Arguments of `crestline regs`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Register to show with its fields: name, NAME[INDEX] or 0xOFFSET; without it all are listed
    name: Option<String>,
    /// Only registers of this unit, e.g. VF
    #[arg(long)]
    unit: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[arg(long, global = true, value_name = "NAME", default_value = device::first(), help = device::help())]
    device: String,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Explain a value of a register.
    Decode {
        /// The register: name, NAME[INDEX] or 0xOFFSET
        name: String,
        /// The value, decimal or 0x..., with _ between digits if you like
        value: String,
    },
    /// Read registers of a device of this machine, and explain their fields.
    Read(board::Read),
    /// Read all registers of a device of this machine that can be read without effects.
    Dump(board::Dump),
    /// Read registers of a device of this machine again and again, and print what changes.
    Watch(board::Watch),
}

/// Lists, shows or explains.
pub fn run(args: &Args) -> Result<(), Error> {
    let tables = || device::tables(&args.device).map(|(generation, _)| generation);
    let text = match &args.command {
        Some(Command::Read(args)) => return board::read(args),
        Some(Command::Dump(args)) => return board::dump(args),
        Some(Command::Watch(args)) => return board::watch(args),
        Some(Command::Decode { name, value }) => explain(tables()?, name, value)?,
        None => list(tables()?, args)?,
    };
    super::print(&text)
}

fn list(generation: &'static Generation, args: &Args) -> Result<String, Error> {
    let Some(name) = &args.name else {
        let chosen: Vec<&RegisterDesc> = generation
            .registers
            .iter()
            .copied()
            .filter(|r| args.unit.as_ref().is_none_or(|u| in_unit(r, u)))
            .collect();
        if chosen.is_empty() {
            let unit = args.unit.as_deref().unwrap_or_default();
            return Err(format!(
                "there is no unit {unit}; the units are {}",
                units(generation)
            )
            .into());
        }
        if args.json {
            let all: Vec<Register> = chosen.iter().map(|r| Register::new(r, None)).collect();
            return Ok(serde_json::to_string_pretty(&all)? + "\n");
        }
        return Ok(chosen.iter().map(|r| row(r, None)).collect());
    };
    let found = select::register(generation, name)?;
    let r = found.register;
    if let Some(unit) = args.unit.as_ref().filter(|u| !in_unit(r, u)) {
        return Err(format!("{} is a register of {}, not of {unit}", r.name, r.unit).into());
    }
    if args.json {
        return Ok(serde_json::to_string_pretty(&[Register::new(r, found.index)])? + "\n");
    }
    let mut out = details(r, found.index);
    if found.dword > 0 {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(out, "  {name} is dword {} of it", found.dword);
    }
    Ok(out)
}

fn in_unit(r: &RegisterDesc, unit: &str) -> bool {
    r.unit.eq_ignore_ascii_case(unit)
}

fn units(generation: &Generation) -> String {
    let mut units: Vec<&str> = generation.registers.iter().map(|r| r.unit).collect();
    units.sort_unstable();
    units.dedup();
    units.join(" ")
}

fn explain(generation: &'static Generation, name: &str, value: &str) -> Result<String, Error> {
    let found = select::register(generation, name)?;
    let r = found.register;
    if found.dword > 0 {
        return Err(format!(
            "{name} is dword {} of {}; give the value of all {} bits, with the offset of dword 0",
            found.dword, r.name, r.bits
        )
        .into());
    }
    let number = select::value(value, r)?;
    Ok(decode::explain_element(r, found.index, number))
}

fn place(r: &RegisterDesc, index: Option<u32>) -> String {
    let space = match r.space {
        Space::Mmio => "",
        Space::Pci => "pci ",
    };
    format!("{space}{:#07x}", select::offset(r, index))
}

/// One line; an array without index shows how many elements it has.
fn row(r: &RegisterDesc, index: Option<u32>) -> String {
    let name = match index {
        Some(i) => format!("{}[{i}]", r.name),
        None if r.count > 1 => format!("{}[{}]", r.name, r.count),
        None => r.name.to_owned(),
    };
    format!(
        "{:>11}  {name:<22} {:>3} {:<6} {:<6} {}\n",
        place(r, index),
        r.bits,
        r.access.name(),
        r.unit,
        r.summary
    )
}

fn details(r: &RegisterDesc, index: Option<u32>) -> String {
    let mut out = row(r, index);
    let reset = r
        .reset
        .map_or_else(|| "undefined".to_owned(), |v| format!("{v:#x}"));
    let _ = writeln!(out, "  reset {reset}; {}", r.cite);
    for note in [r.config, r.anomaly].iter().filter(|n| !n.is_empty()) {
        let _ = writeln!(out, "  note: {note}");
    }
    for f in r.fields {
        out += &field(f);
    }
    out
}

fn field(f: &FieldDesc) -> String {
    let marks: String = [
        (f.mbz, " mbz"),
        (f.qualified, " [global debug]"),
        (f.mux, " [mux]"),
    ]
    .iter()
    .filter(|m| m.0)
    .map(|m| m.1)
    .collect();
    let mut out = format!(
        "  {:>3}:{:<3} {:<6} {}{marks}  {}\n",
        f.hi,
        f.lo,
        f.access.name(),
        f.name,
        f.summary
    );
    for v in f.values {
        let _ = writeln!(out, "          {:>6} {}  {}", v.value, v.name, v.summary);
    }
    out
}

/// One register in JSON.
#[derive(Serialize)]
struct Register {
    name: &'static str,
    space: &'static str,
    /// Of the element, when one was asked for.
    offset: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
    /// Bits.
    size: u32,
    count: u32,
    stride: u32,
    access: &'static str,
    /// `null` when undefined.
    reset: Option<u128>,
    unit: &'static str,
    cite: &'static str,
    summary: &'static str,
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct Field {
    name: &'static str,
    hi: u8,
    lo: u8,
    access: &'static str,
    reset: Option<u128>,
    mbz: bool,
    qualified: bool,
    mux: bool,
    values: Vec<Value>,
}

#[derive(Serialize)]
struct Value {
    value: u32,
    name: &'static str,
}

impl Register {
    fn new(r: &RegisterDesc, index: Option<u32>) -> Self {
        let fields = r.fields.iter().map(|f| Field {
            name: f.name,
            hi: f.hi,
            lo: f.lo,
            access: f.access.name(),
            reset: f.reset,
            mbz: f.mbz,
            qualified: f.qualified,
            mux: f.mux,
            values: f
                .values
                .iter()
                .map(|v| Value {
                    value: v.value,
                    name: v.name,
                })
                .collect(),
        });
        Register {
            name: r.name,
            space: match r.space {
                Space::Mmio => "mmio",
                Space::Pci => "pci",
            },
            offset: select::offset(r, index),
            index,
            size: r.bits,
            count: r.count,
            stride: r.stride,
            access: r.access.name(),
            reset: r.reset,
            unit: r.unit,
            cite: r.cite,
            summary: r.summary,
            fields: fields.collect(),
        }
    }
}

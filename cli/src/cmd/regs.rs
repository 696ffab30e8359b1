//! `crestline regs`: registers of the tables, their fields, and values explained.
//!
//! No PRM chapter: every register cites its own. Reads no device.

use std::fmt::Write as _;

use regs::desc::{FieldDesc, RegisterDesc, Space};
use regs::platform::Generation;
use regs::{decode, platform};
use serde::Serialize;

use super::Error;

/// Arguments of `crestline regs`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Register to show with its fields; without it all are listed
    name: Option<String>,
    /// Only registers of this unit, e.g. VF
    #[arg(long)]
    unit: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// PCI device id in hexadecimal
    #[arg(long, global = true, default_value = "2a02")]
    device: String,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Explain a value of a register.
    Decode {
        /// The register
        name: String,
        /// The value, decimal or 0x...
        value: String,
    },
}

/// Lists, shows or explains.
pub fn run(args: &Args) -> Result<(), Error> {
    let (generation, _) = platform::of_text(&args.device)
        .ok_or_else(|| format!("no tables for device {}", args.device))?;
    let text = match &args.command {
        Some(Command::Decode { name, value }) => explain(generation, name, value)?,
        None => list(generation, args)?,
    };
    super::print(&text)
}

fn list(generation: &'static Generation, args: &Args) -> Result<String, Error> {
    let chosen: Vec<&RegisterDesc> = if let Some(name) = &args.name {
        vec![find(generation, name)?]
    } else {
        generation.registers.iter().collect()
    };
    let chosen: Vec<&RegisterDesc> = match &args.unit {
        None => chosen,
        Some(unit) => chosen
            .into_iter()
            .filter(|r| r.unit.eq_ignore_ascii_case(unit))
            .collect(),
    };
    if chosen.is_empty() {
        let mut units: Vec<&str> = generation.registers.iter().map(|r| r.unit).collect();
        units.sort_unstable();
        units.dedup();
        return Err(format!("no such register; units are {}", units.join(" ")).into());
    }
    if args.json {
        let all: Vec<Register> = chosen.iter().map(|r| Register::new(r)).collect();
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    Ok(match (&args.name, chosen.first()) {
        (Some(_), Some(r)) => details(r),
        _ => chosen.iter().map(|r| row(r)).collect(),
    })
}

fn find(generation: &'static Generation, name: &str) -> Result<&'static RegisterDesc, Error> {
    generation.register(bare(name)).ok_or_else(|| {
        let near = decode::nearest(generation, bare(name), 3).join(", ");
        format!("no register {name}; did you mean {near}?").into()
    })
}

/// `FENCE[3]` -> `FENCE`.
fn bare(name: &str) -> &str {
    name.split_once('[').map_or(name, |(n, _)| n)
}

fn explain(generation: &'static Generation, name: &str, value: &str) -> Result<String, Error> {
    let r = find(generation, name)?;
    let digits = value.replace('_', "");
    let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let number = number.map_err(|_| format!("{value} is no number"))?;
    if r.bits < 128 && number >> r.bits != 0 {
        return Err(format!("{value} does not fit the {} bits of {}", r.bits, r.name).into());
    }
    decode::explain_register(generation, r.name, number)
        .map_err(|near| format!("no register {name}; did you mean {}?", near.join(", ")).into())
}

fn place(r: &RegisterDesc) -> String {
    let space = match r.space {
        Space::Mmio => "",
        Space::Pci => "pci ",
    };
    format!("{space}{:#07x}", r.offset)
}

fn row(r: &RegisterDesc) -> String {
    let name = if r.count > 1 {
        format!("{}[{}]", r.name, r.count)
    } else {
        r.name.to_owned()
    };
    format!(
        "{:>11}  {name:<22} {:>3} {:<6} {:<6} {}\n",
        place(r),
        r.bits,
        r.access.name(),
        r.unit,
        r.summary
    )
}

fn details(r: &RegisterDesc) -> String {
    let mut out = row(r);
    let reset = r
        .reset
        .map_or_else(|| "undefined".to_owned(), |v| format!("{v:#x}"));
    // Writing to a String cannot fail, here and below.
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
    offset: u32,
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
    fn new(r: &RegisterDesc) -> Self {
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
            offset: r.offset,
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

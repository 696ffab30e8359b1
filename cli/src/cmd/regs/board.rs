//! `crestline regs read|dump|watch`: registers of a real device.
//!
//! They are read and never written. Which registers can be read, and what a read does, is in the tables. A register of 64 or 128 bits is read dword by dword.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use kernel::io::Io as _;
use kernel::pci::ConfigSpace as _;
use kernel::string_helpers::Counted;
use pci::{ConfigFile, Using, Window};
use regs::decode;
use regs::desc::{RegisterDesc, Space};
use regs::platform::{self, Generation};

use super::select;
use crate::cmd::pci::{Board, Where, board};
use crate::cmd::{Error, print, say};

/// A device of this machine.
#[derive(clap::Args)]
pub struct At {
    #[arg(long, value_name = "ADDRESS", help = crate::cmd::pci::HELP)]
    pci: String,
    #[command(flatten)]
    place: Where,
}

/// Arguments of `crestline regs read`.
#[derive(clap::Args)]
pub struct Read {
    /// Registers to read: NAME, NAME[INDEX] or 0xOFFSET
    #[arg(required = true, value_name = "REGISTER")]
    names: Vec<String>,
    #[command(flatten)]
    at: At,
}

/// Arguments of `crestline regs dump`.
#[derive(clap::Args)]
pub struct Dump {
    #[command(flatten)]
    at: At,
    /// Only registers of this unit, e.g. VF
    #[arg(long)]
    unit: Option<String>,
    /// Explain the fields of each
    #[arg(long)]
    fields: bool,
    /// Leave out registers that read as zero
    #[arg(long)]
    nonzero: bool,
}

/// Arguments of `crestline regs watch`.
#[derive(clap::Args)]
pub struct Watch {
    /// Registers to watch: NAME, NAME[INDEX] or 0xOFFSET; without one, all that `dump` shows
    #[arg(value_name = "REGISTER")]
    names: Vec<String>,
    #[command(flatten)]
    at: At,
    /// Milliseconds between two rounds
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    interval_ms: u64,
    /// Rounds after which it ends; without it, it goes on until Ctrl-C
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
}

/// Elements of an array that are memory rather than registers: entries of the page table. `read` shows single ones.
const MEMORY: u32 = 1024;

/// A device whose registers can be read.
struct Opened {
    board: Board,
    generation: &'static Generation,
    window: Window,
    config: ConfigFile,
}

/// A register, or an element of an array.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    register: &'static RegisterDesc,
    index: Option<u32>,
}

impl Place {
    fn name(self) -> String {
        match self.index {
            Some(index) => format!("{}[{index}]", self.register.name),
            None => self.register.name.to_owned(),
        }
    }
}

impl Opened {
    fn of(at: &At) -> Result<Self, Error> {
        let board = board(&at.pci, &at.place)?;
        let (generation, _) = platform::of_device(board.function.id().device)
            .ok_or("the tables do not have this device")?;
        let config = board.function.config(Using::Reading)?;
        board.function.check_awake(&config)?;
        let window = board.function.window(0, Using::Reading)?;
        if board.model.info.forcewake.is_some() {
            say(
                "crestline: registers of the graphics core read as zero while it sleeps, and waking it would be a write: they are right while \
                its kernel driver is at work",
            );
        }
        Ok(Opened {
            board,
            generation,
            window,
            config,
        })
    }

    /// The value; an error when the device has gone.
    fn value(&self, place: Place) -> Result<u128, Error> {
        let offset = select::offset(place.register, place.index) as usize;
        let mut value = 0;
        for dword in 0..place.register.dwords() {
            let at = offset + 4 * dword as usize;
            let bits = match place.register.space {
                Space::Mmio => self.window.read32(at),
                Space::Pci => self.config.read32(at),
            };
            value |= u128::from(bits) << (32 * dword);
        }
        if self.window.is_lost() || (has_ones(value, place.register) && self.config.is_gone()) {
            let address = self.board.function.address();
            return Err(Box::new(pci::PciError::Gone(address)));
        }
        Ok(value)
    }

    /// Why a register is not read, if it is not.
    fn refusal(&self, place: Place) -> Option<&'static str> {
        let register = place.register;
        let rules = register.rules;
        if rules.iter().all(|rules| rules.readable == 0) {
            return Some("it cannot be read: it is write-only");
        }
        if rules.iter().any(|rules| rules.rc != 0) {
            return Some("a read changes it: it clears bits");
        }
        let end = u64::from(select::offset(register, place.index)) + u64::from(register.bits / 8);
        let bar = self.board.function.bar(0).map_or(0, |bar| bar.range.len);
        if register.space == Space::Mmio && end > bar {
            return Some("it lies outside the device's BAR");
        }
        None
    }

    /// All registers that can be read and are no memory, each element by itself.
    fn all(&self, unit: Option<&str>) -> Vec<Place> {
        let registers = self.generation.registers.iter();
        let registers = registers
            .filter(|register| register.count < MEMORY)
            .filter(|register| unit.is_none_or(|unit| super::in_unit(register, unit)));
        let places = registers.flat_map(|register| {
            let indices = (0..register.count).map(|index| (register.count > 1).then_some(index));
            indices.map(|index| Place { register, index })
        });
        places
            .filter(|place| self.refusal(*place).is_none())
            .collect()
    }

    /// Those that were asked for.
    fn named(&self, names: &[String]) -> Result<Vec<Place>, Error> {
        let mut out = Vec::new();
        for name in names {
            let found = select::register(self.generation, name)?;
            let (register, index) = (found.register, found.index);
            let indices = match index {
                Some(index) => vec![Some(index)],
                None if register.count == 1 => vec![None],
                None if register.count < MEMORY => (0..register.count).map(Some).collect(),
                None => {
                    return Err(format!(
                        "{name} has {} elements: NAME[INDEX] names one",
                        register.count
                    )
                    .into());
                }
            };
            for index in indices {
                let place = Place { register, index };
                if let Some(why) = self.refusal(place) {
                    return Err(format!("{}: {why}", place.name()).into());
                }
                out.push(place);
            }
        }
        Ok(out)
    }
}

fn has_ones(value: u128, register: &RegisterDesc) -> bool {
    let bits = register.bits.clamp(1, 128);
    value == u128::MAX >> (128 - bits)
}

/// A value in the width of its register.
fn hexadecimal(value: u128, register: &RegisterDesc) -> String {
    let digits = register.bits as usize / 4 + 2;
    format!("{value:#0digits$x}")
}

/// `crestline regs read`.
pub fn read(args: &Read) -> Result<(), Error> {
    let opened = Opened::of(&args.at)?;
    let mut out = String::new();
    for place in opened.named(&args.names)? {
        let value = opened.value(place)?;
        out += &decode::explain_element(place.register, place.index, value);
    }
    print(&out)
}

/// `crestline regs dump`.
pub fn dump(args: &Dump) -> Result<(), Error> {
    let opened = Opened::of(&args.at)?;
    let places = opened.all(args.unit.as_deref());
    if places.is_empty() {
        let unit = args.unit.as_deref().unwrap_or_default();
        let units = super::units(opened.generation);
        return Err(format!("no register of {unit} can be read; the units are {units}").into());
    }
    let mut out = String::new();
    let (mut registers, mut ones) = (0, 0);
    for place in &places {
        let (register, index) = (place.register, place.index);
        let value = opened.value(*place)?;
        if register.space == Space::Mmio {
            registers += 1;
            ones += u32::from(has_ones(value, register));
        }
        if value == 0 && args.nonzero {
            continue;
        }
        if args.fields {
            out += &decode::explain_element(register, index, value);
            continue;
        }
        let name = place.name();
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{:>11}  {name:<26} {:<6} {}",
            super::place(register, index),
            register.unit,
            hexadecimal(value, register)
        );
    }
    if registers > 0 && ones == registers {
        return Err(
            "every register reads as all ones: the device is asleep, or a bridge before it is off"
                .into(),
        );
    }
    print(&out)
}

/// `crestline regs watch`.
pub fn watch(args: &Watch) -> Result<(), Error> {
    let opened = Opened::of(&args.at)?;
    let places = match args.names.as_slice() {
        [] => opened.all(None),
        names => opened.named(names)?,
    };
    let mut before = Vec::new();
    for place in &places {
        before.push(opened.value(*place)?);
    }
    say(&format!(
        "crestline: {} watched, every {} ms",
        Counted(places.len(), "register"),
        args.interval_ms
    ));
    let begun = Instant::now();
    let mut round = 0;
    while args.rounds.is_none_or(|rounds| round < rounds) {
        std::thread::sleep(Duration::from_millis(args.interval_ms));
        round += 1;
        let mut out = String::new();
        for (place, old) in places.iter().zip(&mut before) {
            let new = opened.value(*place)?;
            if new != *old {
                out += &change(begun.elapsed(), *place, *old, new);
                *old = new;
            }
        }
        if !out.is_empty() {
            print(&out)?;
        }
    }
    Ok(())
}

/// A line for the register, and one for each field that has changed.
fn change(since: Duration, place: Place, old: u128, new: u128) -> String {
    let register = place.register;
    let mut out = format!(
        "{:>9.3} s  {}: {} -> {}\n",
        since.as_secs_f64(),
        place.name(),
        hexadecimal(old, register),
        hexadecimal(new, register)
    );
    for field in register.fields {
        let (old, new) = (field.get(old), field.get(new));
        if old == new {
            continue;
        }
        let shown = |value| match field.value_name(value) {
            Some(name) => format!("{value:#x} ({name})"),
            None => format!("{value:#x}"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "             {} = {} -> {}",
            field.name,
            shown(old),
            shown(new)
        );
    }
    out
}

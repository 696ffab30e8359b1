//! `crestline pci`: the machine's devices that the driver knows.
//!
//! What is there is read from sysfs; nothing is written.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crestline_cli::shown;
use driver::{Driver, Model};
use kernel::pci::{DeviceId, Driver as _};
use kernel::string_helpers::{Counted, Escaped};
use mmio_mock::intel::r#gen::{DEVICES, DeviceInfo};
use pci::{Address, Entry, Function, Hold, Interrupts, Tree, Using};
use regs::platform::{self, Generation};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{Error, print};

/// Arguments of `crestline pci`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the machine's displays: those that the driver knows, and the others
    ///
    /// Shown are address, PCI id, name, the kernel driver that holds the device, and whether its registers can be read here. Reading them
    /// and driving the device needs root. docs/bring-up-real-board.md goes through the commands.
    List(Where),
}

/// Where the files about devices are.
#[derive(clap::Args, Clone)]
pub struct Where {
    /// Directory with `sys`, `dev` and `proc` in it, for tests
    #[arg(long, hide = true, value_name = "DIR", default_value = "/")]
    sys_root: PathBuf,
}

impl Default for Where {
    /// The machine's.
    fn default() -> Self {
        Where {
            sys_root: PathBuf::from("/"),
        }
    }
}

impl Where {
    /// The files.
    pub fn tree(&self) -> Tree {
        Tree::below(&self.sys_root)
    }
}

/// Help of `--pci` wherever it stands.
pub const HELP: &str = "Device of this machine, by its PCI address, such as 0000:00:02.0; `crestline pci list` shows them";

/// A function that a row of the driver knows.
pub struct Board {
    /// The function.
    pub function: Function,
    /// The driver's row.
    pub model: &'static Model,
    /// The row with the tables of its units.
    pub info: &'static DeviceInfo,
}

/// The function of an address, which the driver has to know.
pub fn board(address: &str, place: &Where) -> Result<Board, Error> {
    let address: Address = address.parse()?;
    let function = Function::open(&place.tree(), address)?;
    let id = function.id();
    let (Some(model), Some(info)) = (known(id), row(id)) else {
        return Err(format!(
            "{address} is {:04x}:{:04x}, which the driver does not know; `crestline pci list` shows what it knows here",
            id.vendor, id.device
        )
        .into());
    };
    Ok(Board {
        function,
        model,
        info,
    })
}

fn known(id: DeviceId) -> Option<&'static Model> {
    let row = Driver::ID_TABLE.iter().find(|(row, _)| *row == id);
    row.map(|(_, model)| model)
}

fn row(id: DeviceId) -> Option<&'static DeviceInfo> {
    DEVICES.iter().find(|row| row.pci == (id.vendor, id.device))
}

/// The tables of a device's words.
pub fn tables(info: &DeviceInfo) -> Option<&'static Generation> {
    platform::of_device(info.pci.1).map(|(generation, _)| generation)
}

/// The board's row, when the words of the capture mean there what they meant where it was made.
pub fn fitting(
    board: &Board,
    made_for: Option<&'static DeviceInfo>,
) -> Result<&'static DeviceInfo, Error> {
    let fits = made_for.is_some_and(|info| tables(info) == tables(board.info));
    if fits {
        return Ok(board.info);
    }
    let address = board.function.address();
    let made_for = made_for.map_or("a device that the driver does not know", |info| info.title);
    Err(format!(
        "the capture was made for {made_for}, and its commands mean other things to the {} at {address}: a capture of the same generation will do",
        board.info.title
    )
    .into())
}

/// Set once the program is told to end: the device has to be reset and taken off the bus before its memory goes.
pub fn told_to_end() -> Result<Arc<AtomicBool>, Error> {
    let told: Arc<AtomicBool> = Arc::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&told))?;
    }
    Ok(told)
}

/// How interrupts come, in words.
pub fn interrupts(platform: &pci::Board) -> &'static str {
    match platform.interrupts() {
        Interrupts::Uio => "interrupts by uio",
        Interrupts::Vfio => "memory and interrupts by vfio",
        Interrupts::Looks => "looking for interrupts every millisecond",
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<(), Error> {
    let Command::List(place) = &args.command;
    print(&list(&place.tree())?)
}

fn list(tree: &Tree) -> Result<String, Error> {
    if !tree.functions().exists() {
        let place = shown::path(tree.functions());
        return Ok(format!(
            "this machine shows no PCI devices: there is no {place}\n"
        ));
    }
    let listing = pci::list(tree)?;
    let lines: Vec<[String; 5]> = listing.entries.iter().filter_map(line).collect();
    let mut out = String::new();
    // Writing to a String cannot fail, here and below.
    if lines.is_empty() {
        let _ = writeln!(
            out,
            "no display among {}",
            Counted(listing.entries.len(), "PCI function")
        );
    } else {
        out += &table(&lines);
    }
    if listing.strangers > 0 {
        let _ = writeln!(
            out,
            "{} without an address left out",
            Counted(listing.strangers, "name")
        );
    }
    Ok(out)
}

/// Devices that the driver knows, other displays, and what cannot be looked at.
fn line(entry: &Entry) -> Option<[String; 5]> {
    let address = entry.address.to_string();
    let function = match &entry.function {
        Ok(function) => function,
        Err(error) => {
            let dash = || "-".to_owned();
            return Some([address, dash(), "?".to_owned(), dash(), error.to_string()]);
        }
    };
    let model = known(function.id());
    if model.is_none() && !function.is_display() {
        return None;
    }
    let id = function.id();
    let state = match model {
        Some(_) => state(function),
        None => "the driver does not know this display".to_owned(),
    };
    Some([
        address,
        format!("{:04x}:{:04x}", id.vendor, id.device),
        model.map_or("unknown", |model| model.name).to_owned(),
        function.driver().unwrap_or("none").to_owned(),
        state,
    ])
}

fn state(function: &Function) -> String {
    if let Err(error) = function.can_open(0, Using::Reading) {
        return format!("registers cannot be read: {error}");
    }
    let driven = match function.hold() {
        Hold::Other(_) => "belongs to its kernel driver",
        Hold::Vfio => "free, by vfio",
        Hold::Uio => "free, interrupts by uio",
        Hold::Free => "free",
    };
    format!("registers can be read; {driven}")
}

fn table(lines: &[[String; 5]]) -> String {
    let head = ["ADDRESS", "ID", "NAME", "DRIVER", "STATE"].map(str::to_owned);
    let rows = std::iter::once(&head).chain(lines);
    let rows: Vec<[String; 5]> = rows
        .map(|row| row.each_ref().map(|text| Escaped(text).to_string()))
        .collect();
    let mut widths = [0; 4];
    for row in &rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.chars().count().max(*width);
        }
    }
    let [a, i, n, d] = widths;
    let lines = rows.iter();
    let lines = lines.map(|[address, id, name, driver, state]| {
        format!("{address:a$}  {id:i$}  {name:n$}  {driver:d$}  {state}\n")
    });
    lines.collect()
}

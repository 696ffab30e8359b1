//! `crestline decode`: batches and the state they point at, as text.
//!
//! PRM volumes 1, 2 and 4 through the tables. Runs nothing; kernels are disassembled up to the
//! first instruction that ends the thread.

mod batch_file;
mod output;
mod rules;

use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

use crestline_cli::capture::{Capture, EXTENSION, Exec, Origin};
use crestline_cli::number;
use crestline_cli::places;
use crestline_cli::shown;
use isa::Verx10;
use isa::compact::instruction_at;
use kernel::string_helpers::Counted;
use mmio_mock::intel::r#gen;
use regs::decode::{self, Options, Report, Source};
use regs::platform;

use batch_file::BatchFile;
use output::Output;

use super::{Error, captured, device};

/// Arguments of `crestline decode`.
#[derive(clap::Args)]
pub struct Args {
    /// Capture: a packed file (.crest), a directory, or a name that `crestline replay --list` shows; or a batch: a file of
    /// little-endian dwords
    path: PathBuf,
    /// Print the commands only, not the state, surfaces and kernels that they point at
    #[arg(long)]
    no_state: bool,
    /// Ask the rules of the device's manual, too: what batches may not do. What is broken stands behind the listing, and the exit
    /// code is 1
    #[arg(long)]
    check: bool,
    /// Address of the first dword of a plain batch file, hexadecimal
    #[arg(long, value_name = "ADDRESS", default_value = "0x0")]
    base: String,
    #[arg(long, value_name = "NAME", default_value = device::first(), help = device::help(), long_help = long_device())]
    device: String,
}

fn long_device() -> String {
    format!(
        "Device that a plain batch file was made for, {}; a capture says so itself",
        device::spellings()
    )
}

/// Instructions of one kernel that are printed at most.
const MAX_KERNEL: u32 = 4096;

/// Decodes every submission of a capture, or a batch file; an error names what was wrong with it
/// after everything that can be decoded has been printed.
pub fn run(args: &Args) -> Result<(), Error> {
    let options = Options {
        follow: !args.no_state,
        ..Options::default()
    };
    let tables = device::tables(&args.device)?;
    let path = args.path.as_path();
    let mut out = Output::new();
    let origin = if path == Path::new("-") {
        Origin::Path(path.to_owned())
    } else {
        captured::find(path)?
    };
    let is_capture = match &origin {
        Origin::Path(path) => path.is_dir() || path.extension().is_some_and(|e| e == EXTENSION),
        Origin::BuiltIn => true,
    };
    let complaints = if is_capture {
        listing(&origin.load()?, path, (options, args.check), &mut out)
    } else {
        let base = number::hexadecimal(&args.base)
            .filter(|base| base.is_multiple_of(4))
            .ok_or_else(|| format!("--base {}: not the address of a dword", args.base))?;
        let file = BatchFile::open(path, base)?;
        plain(file, path, tables, (options, args.check), &mut out)
    };
    match (out.finish()?, complaints) {
        // The reader of the pipe has seen enough.
        (false, _) => Ok(()),
        (true, complaints) => match complaints?.as_slice() {
            [] => Ok(()),
            several => Err(several.join("\n  ").into()),
        },
    }
}

fn listing(
    capture: &Capture,
    path: &Path,
    (options, check): (Options, bool),
    out: &mut Output,
) -> Result<Vec<String>, Error> {
    let mut complaints = Vec::new();
    for exec in &capture.execs {
        let (generation, device) = platform::of_device(exec.pci.1)
            .ok_or_else(|| format!("no tables for device {:04x}", exec.pci.1))?;
        let isa = r#gen::instructions(generation)
            .ok_or_else(|| format!("no instruction set for device {:04x}", exec.pci.1))?;
        let name = if exec.name.is_empty() {
            directory_name(path)
        } else {
            exec.name.clone()
        };
        let start = exec.batch_address();
        writeln!(
            out,
            "{name}: {} ({}), batch at {start:#010x}, {}",
            device.name,
            device.code,
            Counted(exec.batch_len, "byte")
        )?;
        let mut memory = Memory { exec, isa };
        let length = exec.batch_len;
        let report = decode::batch(generation, &mut memory, out, start, length, options)?;
        summary(out, report)?;
        let place = |address| match places::describe(exec, address) {
            Some(place) => format!("{address:#010x}, {place}"),
            None => format!("{address:#010x}"),
        };
        complaints.extend(complaint(&name, report, place));
        if check {
            complaints.extend(rules::print(
                (generation, &name),
                &mut memory,
                (start, length),
                out,
            )?);
        }
    }
    Ok(complaints)
}

/// The last name of a path, with links and dots resolved.
fn directory_name(path: &Path) -> String {
    let full = path.canonicalize();
    let full = full.as_deref().unwrap_or(path);
    shown::path(full.file_name().unwrap_or(full.as_os_str()))
}

fn plain(
    mut file: BatchFile,
    path: &Path,
    (generation, _): (&'static platform::Generation, &'static platform::Device),
    (options, check): (Options, bool),
    out: &mut Output,
) -> Result<Vec<String>, Error> {
    let shown = shown::path(path);
    let (base, length) = (file.base(), file.length());
    let options = Options {
        max_dwords: length / 4,
        ..options
    };
    let report = decode::batch(generation, &mut file, out, base, length, options)?;
    summary(out, report)?;
    if let Some(error) = file.error() {
        return Err(format!("{shown}: {error}").into());
    }
    let place = |address: u32| format!("{:#x}", address.wrapping_sub(base));
    let mut complaints = Vec::from_iter(complaint(&shown, report, place));
    if check {
        let batch = (base, length);
        complaints.extend(rules::print((generation, &shown), &mut file, batch, out)?);
    }
    if file.rest() > 0 {
        complaints.push(format!(
            "{shown}: {} at offset {length:#x}, where a whole dword should be",
            Counted(file.rest(), "byte")
        ));
    }
    Ok(complaints)
}

fn summary(out: &mut Output, report: Report) -> fmt::Result {
    let end = if report.ended {
        "ends with MI_BATCH_BUFFER_END"
    } else {
        "without MI_BATCH_BUFFER_END"
    };
    writeln!(
        out,
        "{}, {}, {end}",
        Counted(report.commands, "command"),
        Counted(report.errors, "error")
    )
}

/// What was wrong with a batch, and where.
fn complaint(name: &str, report: Report, place: impl Fn(u32) -> String) -> Option<String> {
    let mut parts = Vec::new();
    if report.errors > 0 {
        let first = report
            .first_error
            .map_or_else(String::new, |at| format!(", the first at {}", place(at)));
        parts.push(format!(
            "{} in the listing{first}",
            Counted(report.errors, "error line")
        ));
    }
    if !report.ended {
        parts.push(format!(
            "no MI_BATCH_BUFFER_END up to offset {}",
            place(report.stopped)
        ));
    }
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join("; ")))
}

/// Buffers of a submission.
struct Memory<'a> {
    exec: &'a Exec,
    isa: Verx10,
}

impl Source for Memory<'_> {
    fn dword(&mut self, address: u32) -> Option<u32> {
        self.exec.dword(address)
    }

    fn kernel(&mut self, address: u32, out: &mut dyn Write) -> fmt::Result {
        let mut at = address;
        for _ in 0..MAX_KERNEL {
            let Some(item) = instruction_at(self.isa, at, |at| self.exec.dword(at)) else {
                return writeln!(out, "{at:#010x}:  error: kernel not mapped");
            };
            match &item.inst {
                Ok(inst) => {
                    writeln!(out, "{at:#010x}:  {}", isa::print(self.isa, inst))?;
                    if item.ends_thread() {
                        return Ok(());
                    }
                }
                Err(error) => return writeln!(out, "{at:#010x}:  error: {error}"),
            }
            // CAST: eight or sixteen bytes.
            at = at.wrapping_add(item.size as u32);
        }
        Ok(())
    }
}

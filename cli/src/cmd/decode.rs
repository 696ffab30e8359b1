//! `crestline decode`: batches and the state they point at, as text.
//!
//! PRM volumes 1, 2 and 4 through the tables. Runs nothing; kernels are disassembled up to the
//! first instruction that ends the thread.

use std::fmt::{self, Write};
use std::path::PathBuf;

use crestline_cli::capture::{Capture, Exec};
use isa::Verx10;
use regs::decode::{self, Options, Report, Source};
use regs::platform;

use super::Error;

/// Arguments of `crestline decode`.
#[derive(clap::Args)]
pub struct Args {
    /// Capture directory, packed capture (.crest), or a file of little-endian dwords
    path: PathBuf,
    /// Do not follow pointers into state, surfaces and kernels
    #[arg(long)]
    no_state: bool,
    /// Address of the first dword of a plain batch file
    #[arg(long, default_value = "0")]
    base: String,
    /// PCI device id in hexadecimal, for a plain batch file
    #[arg(long, default_value = "2a02")]
    device: String,
}

/// Instructions of one kernel that are printed at most.
const MAX_KERNEL: u32 = 4096;

/// Decodes every submission of a capture, or a batch file.
pub fn run(args: &Args) -> Result<(), Error> {
    let options = Options {
        follow: !args.no_state,
        ..Options::default()
    };
    let packed = args.path.extension().is_some_and(|e| e == "crest");
    let (text, errors) = if packed || args.path.is_dir() {
        capture(args, options)?
    } else {
        file(args, options)?
    };
    super::print(&text)?;
    match errors {
        0 => Ok(()),
        n => Err(format!("{n} error lines in the listing").into()),
    }
}

fn capture(args: &Args, options: Options) -> Result<(String, u32), Error> {
    let capture = Capture::load(&args.path)?;
    let mut text = String::new();
    let mut errors = 0;
    for exec in &capture.execs {
        let (generation, device) = platform::of_device(exec.pci.1)
            .ok_or_else(|| format!("no tables for device {:04x}", exec.pci.1))?;
        let start = exec.batch_address();
        writeln!(
            text,
            "{}: {} ({}), batch at {start:#010x}, {} bytes",
            exec.name, device.name, device.code, exec.batch_len
        )?;
        let mut memory = Memory {
            exec,
            isa_version: Verx10::new(generation.version),
        };
        let length = exec.batch_len;
        let report = decode::batch(generation, &mut memory, &mut text, start, length, options)?;
        errors += summary(&mut text, report)?;
    }
    Ok((text, errors))
}

fn file(args: &Args, options: Options) -> Result<(String, u32), Error> {
    let bytes = std::fs::read(&args.path).map_err(|e| format!("{}: {e}", args.path.display()))?;
    let digits = args.base.trim_start_matches("0x");
    let base = u32::from_str_radix(digits, 16)
        .map_err(|_| format!("{} is no hexadecimal address", args.base))?;
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(format!(
            "{}: {} bytes after the last dword",
            args.path.display(),
            rest.len()
        )
        .into());
    }
    let length = u32::try_from(bytes.len()).map_err(|_| "the file is larger than 4 GiB")?;
    let mut plain = Plain {
        base,
        words: words.iter().map(|w| u32::from_le_bytes(*w)).collect(),
    };
    let (generation, _) = platform::of_text(&args.device)
        .ok_or_else(|| format!("no tables for device {}", args.device))?;
    let mut text = String::new();
    let report = decode::batch(generation, &mut plain, &mut text, base, length, options)?;
    let errors = summary(&mut text, report)?;
    Ok((text, errors))
}

fn summary(text: &mut String, report: Report) -> Result<u32, fmt::Error> {
    let end = if report.ended {
        "ends with MI_BATCH_BUFFER_END"
    } else {
        "without MI_BATCH_BUFFER_END"
    };
    writeln!(
        text,
        "{} commands, {} errors, {end}",
        report.commands, report.errors
    )?;
    Ok(report.errors)
}

/// Buffers of a submission.
struct Memory<'a> {
    exec: &'a Exec,
    isa_version: Verx10,
}

impl Source for Memory<'_> {
    fn dword(&mut self, address: u32) -> Option<u32> {
        self.exec.dword(address)
    }

    fn kernel(&mut self, address: u32, out: &mut dyn Write) -> fmt::Result {
        for i in 0..MAX_KERNEL {
            let at = address.wrapping_add(i * 16);
            let mut raw = [0; 4];
            for (n, word) in (0u32..).zip(&mut raw) {
                match self.exec.dword(at.wrapping_add(n * 4)) {
                    Some(w) => *word = w,
                    None => return writeln!(out, "{at:#010x}:  error: kernel not mapped"),
                }
            }
            match isa::decode(self.isa_version, raw) {
                Ok(inst) => {
                    writeln!(out, "{at:#010x}:  {}", isa::print(self.isa_version, &inst))?;
                    // PRM vol4 2.6.2: end of thread is bit 31 of the descriptor, and only of an immediate one.
                    let last = inst.send.and_then(|s| s.imm).is_some_and(|d| d >> 31 == 1);
                    if last {
                        return Ok(());
                    }
                }
                Err(error) => return writeln!(out, "{at:#010x}:  error: {error}"),
            }
        }
        Ok(())
    }
}

/// A file of dwords.
struct Plain {
    base: u32,
    words: Vec<u32>,
}

impl Source for Plain {
    fn dword(&mut self, address: u32) -> Option<u32> {
        let offset = address.checked_sub(self.base)?;
        self.words.get(offset as usize / 4).copied()
    }
}

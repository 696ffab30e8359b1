//! `crestline eu run`: one thread of an assembled kernel on the modelled EU.
//!
//! PRM: volume 4, chapters 9-14. No fixed function builds a payload: registers are what the command
//! line says, zero otherwise.

pub(super) mod setting;
mod show;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crestline_cli::number::dword;
use crestline_cli::{link, shown};
use isa::operand::RegFile;
use isa::parse::{Assembled, assemble};
use isa::{Inst, Verx10};
use kernel::string_helpers::Counted;
use mem::GpuAddr;
use mmio_mock::intel::bench::{MEMORY_CAP, Step, ThreadBench};
use mmio_mock::intel::shared::ThreadContext;
use mmio_mock::intel::td::KernelState;

use super::outputs::Files;
use super::{Error, listing, source};
use setting::{Bank, Dump, Load, MemFile, MemRange};
use show::{Watch, elements, line};

/// Where the kernel lies: behind the low addresses that a first experiment uses for data.
const KERNEL: u32 = 0x1000_0000;

/// Names of the shared functions by ID (PRM 2.5; from 8 on Mesa brw_eu_defines.h, `brw_message_target`).
pub(super) const FUNCTIONS: [&str; 16] = [
    "null",
    "math",
    "sampler",
    "gateway",
    "read",
    "write",
    "urb",
    "spawner",
    "video",
    "constant",
    "data",
    "interpolator",
    "function 12",
    "function 13",
    "function 14",
    "function 15",
];

/// What the memory says of an address without a page, and what helps.
const NO_MEMORY: &str = "the GTT entry is not valid";
const MAP: &str = "; --map ADDR+LENGTH puts memory at an address, --mem FILE@ADDR a file";

/// Arguments.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Run a kernel on one thread and show what it did to the registers
    ///
    /// The kernel is assembled first. It can send messages to the shared functions, which reach memory; registers are zero unless options say otherwise.
    /// The thread ends at a send with EOT, or behind the last instruction. Exit code 1 when it hangs, waits for ever or
    /// exceeds the limit.
    Run(Run),
}

/// Arguments of `crestline eu run`.
#[derive(clap::Args)]
struct Run {
    /// Assembly text; - reads standard input.
    file: PathBuf,
    #[arg(long, visible_alias = "device", value_name = "G", help = source::modelled_help(), default_value = source::first(), value_parser = source::modelled_generation)]
    r#gen: Verx10,
    /// Channels (lanes) that are enabled when the thread starts, one bit each.
    #[arg(long, value_name = "MASK", default_value = "0xffff", value_parser = dword)]
    exec_size_mask: u32,
    /// Values of registers before the run, such as r2=f:1.0,2.0 or r3.4=ud:0xff*4 (may be repeated).
    #[arg(long, value_name = "REG=TYPE:VALUES", allow_hyphen_values = true)]
    grf: Vec<Load>,
    /// Value of the flag register f0.0 before the run.
    #[arg(long, value_name = "BITS", default_value = "0", value_parser = dword)]
    flag: u32,
    /// Put a file into memory at a graphics address (may be repeated).
    #[arg(long, value_name = "FILE@ADDR")]
    mem: Vec<MemFile>,
    /// Provide memory full of zeros at a graphics address, for kernels that write (may be repeated).
    #[arg(long, value_name = "ADDR+LENGTH", value_parser = setting::zeros)]
    map: Vec<MemRange>,
    /// Graphics address of the binding table, the list of surfaces that messages name; its entries are graphics addresses.
    #[arg(long, value_name = "ADDR", default_value = "0", value_parser = dword)]
    binding_table: u32,
    /// Use the alternative floating point mode.
    #[arg(long)]
    alt: bool,
    /// Use single program flow: all channels take the same branches.
    #[arg(long)]
    spf: bool,
    /// Exceptions to enable: illegal, mask-stack, software.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    exceptions: Vec<Exception>,
    /// Label at which the system routine begins, to which exceptions jump.
    #[arg(long, value_name = "LABEL")]
    sip: Option<String>,
    /// Registers to print: r10, r10..r13, m2, with :TYPE behind to choose the type (may be repeated).
    /// Without it, every register that changed.
    #[arg(long, value_name = "REGS")]
    dump: Vec<Dump>,
    /// Memory to print after the run, or to write to a file (may be repeated).
    #[arg(long, value_name = "ADDR+LENGTH[=FILE]")]
    dump_mem: Vec<MemRange>,
    /// Print each instruction with what it changed.
    #[arg(long)]
    trace: bool,
    /// Instructions after which a kernel counts as endless.
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    limit: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Exception {
    Illegal,
    MaskStack,
    Software,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<(), Error> {
    let Command::Run(args) = &args.command;
    let inputs = (args.mem.iter()).map(|file| file.path.as_path());
    let outputs = args
        .dump_mem
        .iter()
        .filter_map(|range| range.file.as_deref());
    Files::default()
        .read(inputs.chain([args.file.as_path()]))
        .write(outputs)
        .check()?;
    let source = Source::read(args)?;
    let mut bench = prepare(args, &source)?;
    let mut out = super::Shown(std::io::BufWriter::new(super::words()));
    let told = execute(args, &source, &mut bench, &mut out);
    match told {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
        Err(e) => return Err(e.into()),
        Ok(_) => {}
    }
    for range in &args.dump_mem {
        dump_memory(&bench, range, &mut out)?;
    }
    out.flush()?;
    drop(out);
    match told? {
        None => Ok(()),
        Some(why) => Err(why.into()),
    }
}

/// The kernel with the text it came from.
struct Source {
    name: String,
    kernel: Assembled,
    bytes: Vec<u8>,
}

impl Source {
    fn read(args: &Run) -> Result<Source, Error> {
        let (name, text) = source::text(&args.file)?;
        let kernel = assemble(args.r#gen, &name, &text).map_err(|e| source::listing(&e))?;
        let bytes = kernel.bytes();
        if bytes.is_empty() {
            return Err(format!("{name}: no instruction in it").into());
        }
        // A thread may end behind the last instruction here.
        listing::warn_of(args.r#gen, &name, &text, &kernel, &["end-of-thread"]);
        Ok(Source {
            name,
            kernel,
            bytes,
        })
    }

    /// The instruction at an address, unless it is raw words, and its line.
    fn at(&self, ip: u32) -> Option<(Option<&Inst>, u32)> {
        let offset = ip.checked_sub(KERNEL)?;
        let items = &self.kernel.items;
        let index = items
            .binary_search_by_key(&offset, |item| item.offset)
            .ok()?;
        let item = items.get(index)?;
        Some((item.inst(), item.span.line))
    }

    fn end(&self) -> u32 {
        KERNEL + self.bytes.len() as u32
    }

    fn label(&self, name: &str) -> Result<u32, Error> {
        self.kernel
            .labels
            .iter()
            .find(|(label, _)| label == name)
            .map(|(_, at)| KERNEL + at)
            .ok_or_else(|| format!("{}: no label `{name}`", self.name).into())
    }
}

/// The bench with kernel, memory and registers in place.
fn prepare(args: &Run, source: &Source) -> Result<ThreadBench, Error> {
    let mut bench = ThreadBench::new(args.r#gen)
        .ok_or_else(|| format!("no modelled device is of generation {}", args.r#gen))?;
    for file in &args.mem {
        let mut bytes = Vec::new();
        let shown = shown::path(&file.path);
        File::open(&file.path)
            .and_then(|f| f.take(MEMORY_CAP as u64 + 1).read_to_end(&mut bytes))
            .map_err(|e| format!("{shown}: {e}"))?;
        bench
            .load(file.addr, &bytes)
            .map_err(|e| format!("{shown}: {e}"))?;
        overlap(source, file.addr, bytes.len(), &file.path)?;
    }
    for range in &args.map {
        bench.map(range.addr, range.bytes as usize)?;
    }
    bench.load(KERNEL, &source.bytes)?;
    if let Some(label) = &args.sip {
        bench.set_sip(source.label(label)?);
    }
    let enabled = |e| args.exceptions.contains(&e);
    let kernel = KernelState {
        ip: KERNEL,
        grf_count: 128,
        alt_float: args.alt,
        single_program_flow: args.spf,
        illegal_opcode_exception: enabled(Exception::Illegal),
        mask_stack_exception: enabled(Exception::MaskStack),
        software_exception: enabled(Exception::Software),
        ..KernelState::default()
    };
    let context = ThreadContext {
        binding_table_pointer: args.binding_table,
        ..ThreadContext::default()
    };
    let mask = u16::try_from(args.exec_size_mask)
        .map_err(|_| "--exec-size-mask has more than sixteen channels")?;
    let flag =
        u16::try_from(args.flag).map_err(|_| "--flag has more than sixteen bits: f0.0 has none")?;
    bench.start(kernel, context, mask, &[]);
    if let Some(thread) = bench.thread_mut() {
        // Nothing of the dispatch shows: a register is what the command line says, or zero.
        thread.grf_mut().fill([0; 8]);
        thread.set_flag([flag, 0]);
        for load in &args.grf {
            load.store(match load.place.bank {
                Bank::General => thread.grf_mut(),
                Bank::Message => thread.mrf_mut(),
            });
        }
    }
    Ok(bench)
}

fn overlap(source: &Source, addr: u32, bytes: usize, path: &Path) -> Result<(), Error> {
    let end = u64::from(addr) + bytes as u64;
    if end > u64::from(KERNEL) && addr < source.end() {
        return Err(format!(
            "{}: {} at {addr:#x} would lie on the kernel, which begins at {KERNEL:#x}",
            shown::path(path),
            Counted(bytes, "byte")
        )
        .into());
    }
    Ok(())
}

/// Runs the thread to its end; returns why it did not reach it.
fn execute(
    args: &Run,
    source: &Source,
    bench: &mut ThreadBench,
    out: &mut impl Write,
) -> std::io::Result<Option<String>> {
    let Some(thread) = bench.thread() else {
        return Ok(Some("no thread slot is free".into()));
    };
    let mut watch = Watch::new(thread);
    let mut text = String::new();
    let mut count = 0u64;
    let (how, failure) = loop {
        let Some(ip) = bench.thread().map(eu::Thread::ip) else {
            break ("no thread", None);
        };
        if ip == source.end() {
            break ("ran to the last instruction", None);
        }
        let here = source.at(ip);
        if count >= args.limit {
            let why = format!(
                "no end after {}{}",
                Counted(args.limit, "instruction"),
                place(source, ip)
            );
            break ("stopped", Some(why));
        }
        if args.trace {
            text.clear();
            trace_line(
                &mut text,
                args.r#gen,
                count,
                ip,
                here.and_then(|(inst, _)| inst),
            );
        }
        let step = bench.step();
        if step == Step::Ran || step == Step::Ended {
            count += 1;
        }
        if let Some(thread) = bench.thread() {
            let dst = here
                .and_then(|(inst, _)| inst)
                .map(|inst| (inst.dst.file, inst.dst.ty));
            let dst = dst.filter(|(file, _)| *file != RegFile::Imm);
            let next = if step == Step::Ran {
                ip + 16
            } else {
                thread.ip()
            };
            watch.update(thread, dst, next, args.trace.then_some(&mut text));
        }
        out.write_all(text.as_bytes())?;
        match step {
            Step::Ran => {}
            Step::Ended => break ("ended with EOT", None),
            Step::Blocked => {
                let why = format!(
                    "the thread waits for {} that nothing will bring{}",
                    match here.and_then(|(inst, _)| inst).map(|inst| inst.opcode) {
                        Some(isa::Opcode::Wait) => "a notification",
                        _ => "a shared function",
                    },
                    place(source, ip)
                );
                break ("waits", Some(why));
            }
            Step::Hung(why) => {
                let help = if why.contains(NO_MEMORY) { MAP } else { "" };
                break ("stopped", Some(format!("{why}{}{help}", place(source, ip))));
            }
        }
    };
    summary(args, bench, &watch, how, out)?;
    Ok(failure)
}

/// ` at file:line, ip`, for errors.
fn place(source: &Source, ip: u32) -> String {
    match source.at(ip) {
        Some((_, line)) => format!(
            " ({}:{line}, instruction at 0x{:04x})",
            source.name,
            ip - KERNEL
        ),
        None => format!(" (at {ip:#010x}, outside of the kernel)"),
    }
}

fn trace_line(text: &mut String, generation: Verx10, count: u64, ip: u32, inst: Option<&Inst>) {
    use std::fmt::Write;
    let shown = inst.map_or_else(
        || "no instruction of the kernel".to_owned(),
        |inst| isa::print(generation, inst),
    );
    // `send` is printed on two lines, in columns.
    let words: Vec<&str> = shown.split_whitespace().collect();
    let at = ip.wrapping_sub(KERNEL);
    let _ = writeln!(text, "{count:>5} 0x{at:04x} {}", words.join(" "));
}

/// What the thread did, and the registers.
fn summary(
    args: &Run,
    bench: &ThreadBench,
    watch: &Watch,
    how: &str,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let (instructions, simd8) = bench.instructions();
    let messages = bench.messages();
    let total: u64 = messages.iter().sum();
    write!(
        out,
        "{how}: {} ({simd8} in SIMD8), {}",
        Counted(instructions, "instruction"),
        Counted(total, "message")
    )?;
    let by_function: Vec<String> = FUNCTIONS
        .iter()
        .zip(messages)
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    if !by_function.is_empty() {
        write!(out, " ({})", by_function.join(", "))?;
    }
    writeln!(out)?;
    if bench.refused() > 0 {
        writeln!(out, "{} refused", Counted(bench.refused(), "message"))?;
    }
    let Some(thread) = bench.thread() else {
        return Ok(());
    };
    let mut row = |bank: Bank, nr: usize, ty| {
        let row = match bank {
            Bank::General => thread.grf().get(nr),
            Bank::Message => thread.mrf().get(nr),
        };
        match row {
            Some(row) => writeln!(out, "{}", line(bank, nr, row, ty)),
            None => Ok(()),
        }
    };
    for dump in &args.dump {
        for nr in dump.first..=dump.last {
            let written = watch.written(dump.bank, nr);
            row(
                dump.bank,
                nr,
                dump.ty.or(written).unwrap_or(isa::operand::Type::Ud),
            )?;
        }
    }
    if args.dump.is_empty() {
        let mut changed = false;
        for bank in [Bank::General, Bank::Message] {
            for nr in 0..bank.len() {
                if let Some(ty) = watch.written(bank, nr) {
                    changed = true;
                    row(bank, nr, ty)?;
                }
            }
        }
        if !changed {
            let zeros = if args.grf.is_empty() {
                " (all are zero without --grf)"
            } else {
                ""
            };
            writeln!(out, "no register changed{zeros}")?;
        }
    }
    Ok(())
}

/// Memory as hexadecimal dwords, or to a file.
fn dump_memory(bench: &ThreadBench, range: &MemRange, out: &mut impl Write) -> Result<(), Error> {
    if range.bytes as usize > MEMORY_CAP {
        return Err(format!("--dump-mem {:#x}+{}: too long", range.addr, range.bytes).into());
    }
    let mut bytes = vec![0; range.bytes as usize];
    bench
        .memory()
        .read_bytes(GpuAddr::from(range.addr), &mut bytes)
        .map_err(|e| {
            let text = e.to_string();
            let help = if text.contains(NO_MEMORY) { MAP } else { "" };
            format!("--dump-mem {:#x}+{}: {text}{help}", range.addr, range.bytes)
        })?;
    if let Some(path) = &range.file {
        link::create(path, link::ALL)
            .and_then(|mut file| file.write_all(&bytes))
            .map_err(|e| format!("{}: {e}", shown::path(path)))?;
        return Ok(());
    }
    for (i, row) in bytes.chunks(32).enumerate() {
        let mut padded = [0u8; 32];
        padded[..row.len()].copy_from_slice(row);
        let mut dwords = [0u32; 8];
        for (dword, bytes) in dwords.iter_mut().zip(padded.chunks_exact(4)) {
            *dword = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let text = elements(&dwords, isa::operand::Type::Ud);
        let shown: String = text.chars().take(row.len().div_ceil(4) * 11).collect();
        let at = u64::from(range.addr) + 32 * i as u64;
        writeln!(out, "0x{at:08x}:{shown}")?;
    }
    Ok(())
}

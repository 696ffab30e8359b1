//! `crestline boot`: a program under an unmodified Linux on a modelled device.
//!
//! The device is served in this process as `crestline vfio-user` does: docs/bring-up.md.

pub mod until;

use std::ffi::OsString;
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crestline_cli::boot::machine::{self, End, Options, Outcome, Source, Streams};
use crestline_cli::boot::pieces::{self, Given};
use crestline_cli::boot::program::Luggage;
use crestline_cli::boot::{self, Watch, cache, last_lines};
use crestline_cli::shown;
use kernel::string_helpers::Counted;
use nix::sys::signal::Signal;

use super::Error;
use super::progress::Progress;

/// Told by `--help`.
const AFTER: &str = "The program sees /dev/dri/renderD128 of the guest. It runs in the guest's directory /out, whose files come back into DIR/files; DIR/console.log \
has the kernel's messages, DIR/registers.txt the registers that the guest has touched and the model lacks (not with --socket). A PROGRAM with a slash is a file of this machine, which is \
copied with the libraries that the guest lacks; one without is a program of the guest (busybox) or of PATH. It has no input.

What is needed comes from Debian's packages: QEMU from 10.1 on, unless --qemu, CRESTLINE_QEMU or PATH has it; the kernel; the guest's files with Mesa of Debian 12. They are \
fetched by apt-get into $XDG_CACHE_HOME/crestline/boot (or ~/.cache/crestline/boot), once, without changing the machine's packages; removing that directory is safe.

Exit code: the program's own (128 + N when signal N has ended it), the shell's without a program; 127 when there is no such program; 124 when the guest takes longer than \
--timeout; 1 when it does not come to the program: something is missing, the guest ends early, or i915 does not bind; 2 when arguments are wrong.";

/// Exit codes of a run that takes too long (as timeout(1)), and of a program that is not there.
const TOO_LONG: u8 = 124;
const NOT_FOUND: u8 = 127;
/// Signals that end a run.
const ENDS: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];
/// Least and most memory of a guest in MiB: its files (230 MiB) lie in it twice while it boots; a device maps 4 GiB of files.
const MEMORY: RangeInclusive<u64> = 768..=3072;
/// Lines of the kernel's messages that are shown when i915 does not bind.
const SHOWN: usize = 8;

/// Arguments of `crestline boot`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub struct Args {
    #[arg(long, default_value = super::device::first(), help = super::device::help())]
    device: String,
    /// Take the device that another command serves at a Unix socket, as `crestline debug --serve` and `crestline vfio-user` do
    #[arg(long, value_name = "PATH", conflicts_with = "device")]
    socket: Option<PathBuf>,
    /// The guest's kernel: a number (6.1: the newest of Debian's), a Debian package, or an image (vmlinuz)
    #[arg(long, value_name = "NUMBER|FILE", default_value = "6.1")]
    kernel: String,
    /// Modules of an image: a directory lib/modules/VERSION [default: /lib/modules/VERSION of an image vmlinuz-VERSION]
    #[arg(long, value_name = "DIR")]
    modules: Option<PathBuf>,
    /// The guest's files, an archive that Linux unpacks; busybox has to be /bin/busybox there [default: Debian 12's Mesa, busybox, kmod]
    #[arg(long, value_name = "FILE")]
    initrd: Option<PathBuf>,
    /// QEMU, from 10.1 on [default: CRESTLINE_QEMU, or qemu-system-x86_64 of PATH, or Debian's]
    #[arg(long, value_name = "FILE")]
    qemu: Option<PathBuf>,
    /// Memory of the guest in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = memory)]
    memory: u64,
    /// How long the guest may take, from its start to its end; without --kvm a kernel needs half a minute
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    timeout: u64,
    /// Where results go: files, console.log, registers.txt
    #[arg(long, value_name = "DIR", default_value = "boot")]
    out: PathBuf,
    /// Copy a file or a directory into the guest too, to the same place or to another one; a place without a slash in front is in /out
    #[arg(long, value_name = "HOST[:GUEST]")]
    add: Vec<OsString>,
    /// Set a variable for the program
    #[arg(long, value_name = "NAME=VALUE", value_parser = clap::builder::ValueParser::os_string())]
    env: Vec<OsString>,
    /// More for the kernel's command line
    #[arg(long, value_name = "TEXT", default_value = "")]
    append: String,
    /// Write every access to a register: seconds, R or W, offset, value, name; entries of the GTT are left out
    #[arg(long, value_name = "FILE", conflicts_with = "socket")]
    trace: Option<PathBuf>,
    /// A shell of the guest on this terminal, behind the program if there is one
    #[arg(long)]
    shell: bool,
    /// Run the guest by KVM, where the machine's is fit for a whole Linux; without it QEMU translates the guest
    #[arg(long)]
    kvm: bool,
    /// Fetch the newest packages though there are older ones in the cache
    #[arg(long)]
    refresh: bool,
    /// A mirror of Debian [default: that of the machine's apt]
    #[arg(long, value_name = "URI")]
    mirror: Option<String>,
    /// The program and its arguments
    #[arg(
        required_unless_present = "shell",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,
}

/// Parses `--memory`.
fn memory(text: &str) -> Result<u64, String> {
    let number = text.parse().ok();
    number.filter(|mib| MEMORY.contains(mib)).ok_or_else(|| {
        let (least, most) = (MEMORY.start(), MEMORY.end());
        format!("expected a number of MiB from {least} to {most}")
    })
}

/// Says what goes on.
struct Bar(Progress);

impl Watch for Bar {
    fn begins(&self, what: &str) {
        super::say(&format!("crestline: {what}"));
        self.0.say(what);
    }

    fn now(&self, what: &str) {
        self.0.say(what);
    }
}

/// Standard output and error, when a bar may be in the way.
struct Beside<W>(W);

impl<W: io::Write> io::Write for Beside<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        super::progress::beside(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<ExitCode, Error> {
    let device = match &args.socket {
        Some(socket) => Source::Other(socket),
        None => Source::Own(super::device::modelled(&args.device)?),
    };
    if let Some(wrong) = args.env.iter().find(|text| !is_variable(text)) {
        return Err(format!("--env {}: NAME=VALUE is expected", shown::path(wrong)).into());
    }
    let given = Given {
        qemu: args.qemu.as_deref(),
        initrd: args.initrd.as_deref(),
        kernel: &args.kernel,
        modules: args.modules.as_deref(),
        mirror: args.mirror.as_deref(),
        refresh: args.refresh,
    };
    let trace = super::vfio_user::create(args.trace.as_deref())?;
    let bar = Bar(Progress::long("boot:"));
    let pieces = pieces::collect(&given, cache::standard()?, &bar)?;
    let mut luggage = Luggage::default();
    match luggage.program(&args.command, &pieces.tree) {
        Err(boot::Error::NoProgram(text)) => {
            super::say(&format!("crestline: {text}"));
            return Ok(ExitCode::from(NOT_FOUND));
        }
        other => other?,
    }
    for words in &args.add {
        luggage.add(words)?;
    }
    let signals = take_signals()?;
    let stopped = || {
        let signal = signals
            .iter()
            .find(|(_, flag)| flag.load(Ordering::Relaxed));
        signal.map(|(signal, _)| *signal as i32)
    };
    let starter = until::starter();
    let options = Options {
        device,
        qemu: &pieces.qemu,
        starter: &starter,
        kernel: &pieces.kernel,
        tree: &pieces.tree,
        luggage: &luggage,
        variables: &args.env,
        append: &args.append,
        memory: args.memory,
        timeout: Duration::from_secs(args.timeout),
        out: &args.out,
        shell: args.shell,
        kvm: args.kvm,
        trace,
    };
    bar.now("the guest's kernel boots");
    let bar = (!args.shell).then_some(bar);
    let silent = Silent;
    let watch: &dyn Watch = bar.as_ref().map_or(&silent, |bar| bar);
    let streams = Streams {
        out: Box::new(Beside(io::stdout())),
        err: Box::new(Beside(io::stderr())),
    };
    let outcome = machine::run(&options, streams, watch, &stopped)?;
    drop(bar);
    told(args, outcome)
}

/// While a shell has the terminal nothing is shown.
struct Silent;

impl Watch for Silent {
    fn begins(&self, _: &str) {}
    fn now(&self, _: &str) {}
}

fn take_signals() -> io::Result<Vec<(Signal, Arc<AtomicBool>)>> {
    let mut signals = Vec::new();
    // What is ignored here (nohup) stays so.
    for signal in ENDS.into_iter().filter(|s| !super::limits::is_ignored(*s)) {
        let flag = Arc::default();
        signal_hook::flag::register(signal as i32, Arc::clone(&flag))?;
        signals.push((signal, flag));
    }
    Ok(signals)
}

/// Whether a text is `NAME=VALUE`, with a name that shells take.
fn is_variable(text: &OsString) -> bool {
    let text = text.to_string_lossy();
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    let mut chars = name.chars();
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    chars.next().is_some_and(is_start) && chars.all(|c| is_start(c) || c.is_ascii_digit())
}

/// Says how a run has ended; its exit code.
fn told(args: &Args, outcome: Outcome) -> Result<ExitCode, Error> {
    let console = shown::path(args.out.join("console.log"));
    let mut failed = false;
    match outcome.returned {
        Some(Ok(returned)) => {
            for name in &returned.left_out {
                super::say(&format!(
                    "crestline: {name} is no file, and not brought back"
                ));
            }
            if returned.files > 0 {
                super::say(&format!(
                    "crestline: {} in {}",
                    Counted(returned.files, "file"),
                    shown::path(args.out.join("files"))
                ));
            }
        }
        Some(Err(error)) => {
            failed = true;
            super::say(&format!("crestline: the guest's files: {error}"));
        }
        None => {}
    }
    match outcome.end {
        End::Exit(code) => {
            if let Some(seconds) = outcome.bound {
                log::info!("i915 was there {seconds} s after the kernel's start");
            }
            Ok(ExitCode::from(if failed && code == 0 { 1 } else { code }))
        }
        End::NotBound => {
            let text = std::fs::read(&outcome.console).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let lines: Vec<&str> = text
                .lines()
                .filter(|l| l.contains("i915") || l.contains("drm"))
                .collect();
            Err(format!(
                "i915 has not bound the device; {console} has the kernel's messages, the last of i915:\n{}",
                last_lines(&lines.join("\n"), SHOWN)
            )
            .into())
        }
        End::Timeout => {
            super::say(&format!(
                "crestline: ended after {} s (--timeout): {}; the kernel's messages are in {console}",
                args.timeout,
                outcome.stage.text()
            ));
            Ok(ExitCode::from(TOO_LONG))
        }
        // A signal's number is less than 128.
        End::Stopped(signal) => Ok(ExitCode::from(128 + u8::try_from(signal).unwrap_or(0))),
        End::Early(why) => Err(format!(
            "the guest has ended before all was done ({}): {why}\nthe kernel's messages are in {console}",
            outcome.stage.text()
        )
        .into()),
    }
}

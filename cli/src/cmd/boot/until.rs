//! Starts a program that ends with this process, however that ends.
//!
//! A process asks for that itself (prctl(2), PR_SET_PDEATHSIG), and what it becomes keeps it: so this program starts itself first.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

use crate::cmd::Error;

/// The subcommand's name.
pub const NAME: &str = "until-parent-ends";

/// Arguments of the subcommand, which is this program's own.
#[derive(clap::Args)]
pub struct Args {
    /// Number of the process that starts it
    parent: i32,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Words before those of a program that ends with this process. The thread that starts it has to live as long.
pub fn starter() -> Vec<OsString> {
    let parent = std::process::id().to_string();
    ["/proc/self/exe", NAME, &parent, "--"]
        .map(OsString::from)
        .to_vec()
}

/// Becomes the program.
pub fn run(args: &Args) -> Result<(), Error> {
    set_pdeathsig(Signal::SIGKILL)?;
    // It may have ended before that was asked for.
    if getppid().as_raw() != args.parent {
        return Ok(());
    }
    let (program, rest) = args.command.split_first().ok_or("no program")?;
    Err(Command::new(program).args(rest).exec().into())
}

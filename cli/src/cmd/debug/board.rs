//! `crestline debug --pci`: threads of a captured frame on a real device.
//!
//! The commands are the library's.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crestline_cli::debug::Source;
use crestline_cli::debug::board::{BoardDebugger, Flow};
use crestline_cli::replay::board::BoardSession;
use crestline_cli::replay::device_of_reader;
use kernel::platform::Platform;
use kernel::time::Delta;

use super::Args;
use crate::cmd::outputs::Files;
use crate::cmd::pci::{board, fitting, interrupts, told_to_end};
use crate::cmd::{Error, captured, print};

/// What comes before a command.
const PROMPT: &str = "(debug) ";

/// Runs the commands, or those of standard input.
pub fn run(args: &Args, address: &str, path: &Path, scripts: &[Source]) -> Result<ExitCode, Error> {
    let origin = captured::find(path)?;
    Files::default().replays(&origin).check()?;
    let reader = origin.open()?;
    let board = board(address, &args.place)?;
    let info = fitting(&board, device_of_reader(&reader))?;
    let told = told_to_end()?;
    let platform = pci::Board::open(&board.function, pci::Options::default())?;
    print(&format!(
        "{} at {}, {}; `help` lists the commands\n",
        info.title,
        board.function.address(),
        interrupts(&platform)
    ))?;
    let shared: Arc<dyn Platform> = platform.clone();
    let session = BoardSession::new(shared, info, Delta::from_millis(args.timeout_ms))?;
    let mut debugger = BoardDebugger::new(session, reader, info.isa)?;
    let is_over = || told.load(Ordering::Relaxed) || !platform.is_there();
    if scripts.is_empty() {
        ask(&mut debugger, &is_over)?;
    }
    for script in scripts {
        for (number, line) in (1..).zip(&script.lines) {
            print(&format!("{PROMPT}{line}\n"))?;
            let (text, flow) = debugger
                .execute(line, &is_over)
                .map_err(|error| format!("{}:{number}: {error}", script.name))?;
            print(&text)?;
            if flow == Flow::Leave {
                break;
            }
        }
    }
    debugger.finish(&is_over)?;
    Ok(ExitCode::SUCCESS)
}

/// Commands of standard input; one that fails is no reason to end.
fn ask(debugger: &mut BoardDebugger, is_over: &dyn Fn() -> bool) -> Result<(), Error> {
    let stdin = std::io::stdin();
    let is_terminal = stdin.is_terminal();
    let mut lines = stdin.lock().lines();
    loop {
        if is_terminal {
            print(PROMPT)?;
            std::io::stdout().flush()?;
        }
        let Some(line) = lines.next().transpose()? else {
            return Ok(());
        };
        match debugger.execute(&line, is_over) {
            Ok((text, flow)) => {
                print(&text)?;
                if flow == Flow::Leave {
                    return Ok(());
                }
            }
            Err(refusal) => print(&format!("{refusal}\n"))?,
        }
        if is_over() {
            return Ok(());
        }
    }
}

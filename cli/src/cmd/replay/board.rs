//! `crestline replay --pci` and `--dry-run`: a frame on a real device, or writes.
//!
//! A dry run runs the driver on the model: a device that nobody writes to would not answer, and the driver would end at its first wait.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crestline_cli::capture::{Origin, Reader};
use crestline_cli::replay::board::{BoardError, BoardSession};
use crestline_cli::replay::{self, ReplayError};
use kernel::platform::Platform;
use kernel::string_helpers::Counted;
use kernel::time::Delta;
use mmio_mock::ModelPlatform;
use mmio_mock::intel::r#gen::DeviceInfo;
use pci::{PciError, Recorded};

use super::super::pci::{Board, board, fitting, interrupts, tables, told_to_end};
use super::super::{Error, device, print};
use super::writes::Writes;
use super::{Args, write_picture};

/// Memory of the model of a dry run.
const MODEL_BYTES: usize = 160 << 20;

/// Runs a capture on the device of `--pci`; a dry run shows the writes and makes none.
pub fn run(origin: &Origin, args: &Args) -> Result<(), Error> {
    let mut reader = origin.open()?;
    let address = args.pci.as_deref();
    let board = address
        .map(|address| board(address, &args.place))
        .transpose()?;
    let made_for = replay::device_of_reader(&reader);
    let info = match (&board, &args.device) {
        (Some(board), _) => fitting(board, made_for)?,
        (None, Some(name)) => device::modelled(name)?,
        (None, None) => made_for.ok_or(
            "the driver has no device with the PCI id that the capture names; `--device NAME` chooses another one",
        )?,
    };
    if args.dry_run {
        return dry(board.as_ref(), info, &mut reader, args);
    }
    let Some(board) = board else {
        return Err("--pci names no device".into());
    };
    on_board(&board, &mut reader, args)
}

fn on_board(board: &Board, reader: &mut Reader, args: &Args) -> Result<(), Error> {
    let told = told_to_end()?;
    let options = pci::Options {
        pieces: args.huge_pages,
    };
    let platform = pci::Board::open(&board.function, options)?;
    let interrupts = interrupts(&platform);
    let address = board.function.address();
    let (name, title) = (reader.name(), board.info.title);
    print(&format!(
        "{name}: {} on {title} at {address}, {interrupts}\n",
        Counted(reader.len(), "submission")
    ))?;
    let shared: Arc<dyn Platform> = platform.clone();
    let timeout = Delta::from_millis(args.timeout_ms);
    let begun = Instant::now();
    let gone = |error: Error| -> Error {
        if platform.is_there() {
            error
        } else {
            format!("{error}\n  and {}", PciError::Gone(address)).into()
        }
    };
    let mut session =
        BoardSession::new(shared, board.info, timeout).map_err(|error| gone(error.into()))?;
    let is_over = || told.load(Ordering::Relaxed) || !platform.is_there();
    let outcome = submissions(&mut session, reader, &is_over);
    let elapsed = begun.elapsed();
    let shown = picture(&session, args);
    let (execs, draws) = session.counts();
    if let Err(error) = outcome {
        // Dropping the session resets the device.
        drop(session);
        return Err(gone(format!("{name}: {error}").into()));
    }
    session.finish().map_err(|error| gone(error.into()))?;
    match platform.pool().taken() {
        0 => {}
        pages => return Err(ReplayError::Leak { pages }.into()),
    }
    shown?;
    print(&format!(
        "  {}, {}, {:.1} ms\n",
        Counted(execs, "submission"),
        Counted(draws, "draw"),
        elapsed.as_secs_f64() * 1e3
    ))
}

fn submissions(
    session: &mut BoardSession,
    reader: &mut Reader,
    is_over: &dyn Fn() -> bool,
) -> Result<(), BoardError> {
    while let Some(submission) = reader.next_submission().map_err(ReplayError::from)? {
        session.run(submission, is_over)?;
    }
    Ok(())
}

fn picture(session: &BoardSession, args: &Args) -> Result<(), Error> {
    let Some(path) = &args.png else {
        return Ok(());
    };
    let view = session
        .view()
        .map_err(|error| format!("no picture: {error}"))?;
    write_picture(view, path, args)
}

/// Every write that the driver makes, by name; the device gets none of them.
fn dry(
    board: Option<&Board>,
    info: &'static DeviceInfo,
    reader: &mut Reader,
    args: &Args,
) -> Result<(), Error> {
    let generation = tables(info).ok_or("the tables do not have this device")?;
    let place = board.map_or_else(String::new, |board| {
        format!(" at {}", board.function.address())
    });
    print(&format!(
        "{}: what the driver would write to {}{place}; nothing is written, and a model of the device answers\n",
        reader.name(),
        info.title
    ))?;
    let told = told_to_end()?;
    let writes = Arc::new(Writes::new(generation));
    let list = Arc::clone(&writes);
    let model = ModelPlatform::new(info, MODEL_BYTES);
    let recorded = Recorded::new(model, Arc::new(move |write| list.tell(write)));
    let timeout = Delta::from_millis(args.timeout_ms);
    let mut session = BoardSession::new(recorded, info, timeout)?;
    let is_over = || told.load(Ordering::Relaxed);
    let outcome = submissions(&mut session, reader, &is_over);
    if outcome.is_ok() {
        session.finish()?;
    } else {
        drop(session);
    }
    let total = writes.end()?;
    outcome?;
    print(&format!("  {total}\n"))
}

//! Scripts of the debugger on a small frame.
//!
//! PRM: volume 4, chapter 3. The first byte chooses the back end and the device, the rest are the commands. Files are
//! forbidden; a script has few lines, because some of them run the frame again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crestline_cli::debug::backend::{Backend, HostBackend, RegistersBackend};
use crestline_cli::debug::target::Target;
use crestline_cli::debug::{Debugger, Flow, Source, run_script};
use crestline_cli::replay::Options;
use crestline_cli::why::has_registers;
use kernel::time::Delta;

use crate::scenes::{self, DEVICES};

/// Lines that are carried out.
const LINES: usize = 12;
/// Device time of a submission: the frame needs less, and a kernel that was changed to go round is left.
const TIME: Delta = Delta::from_micros(400);
/// Frames by device, each with a drawing rectangle of 16x16 pixels, from 112,192 on: that of docs/debugging, and
/// scene b of the others.
const FRAMES: &str = "fuzz/frames";

/// Runs one input.
pub fn run(data: &[u8]) {
    let Some((first, text)) = data.split_first() else {
        return;
    };
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    let name = DEVICES[usize::from(first >> 1) % DEVICES.len()];
    let info = scenes::device(name);
    let options = Options {
        timeout: TIME,
        ..Options::new(info)
    };
    let frames = Path::new(env!("CARGO_MANIFEST_DIR")).join(FRAMES);
    let target = Target::capture(frames.join(format!("{name}.crest")), options).expect("the frame");
    let backend: Arc<dyn Backend> = if first & 1 == 0 {
        Arc::new(HostBackend::default())
    } else {
        Arc::new(RegistersBackend::default())
    };
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut debugger = match Debugger::new(target, backend, info, interrupt) {
        Ok(debugger) => debugger,
        Err(refusal) => {
            let by_registers = first & 1 == 1 && !has_registers(info);
            assert!(by_registers, "{refusal}");
            return;
        }
    };
    debugger.forbid_files();
    let source = Source {
        name: "input".to_owned(),
        lines: text.lines().take(LINES).map(str::to_owned).collect(),
    };
    let outcome = run_script(&mut debugger, &source, &mut |_| ());
    if let Err(failure) = &outcome {
        assert!(failure.line <= LINES && !failure.what.is_empty());
    }
    if outcome != Ok(Flow::Quit) {
        debugger.give_up();
    }
    let (code, _) = debugger.conclude();
    assert!(code <= 1);
}

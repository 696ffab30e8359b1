//! Captures on a platform that shows registers, memory and interrupts alone.
//!
//! The device is a model that runs by itself; time is the host's, and interrupts come through the thread that a real device has.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crestline_cli::capture::Origin;
use crestline_cli::debug::board::{BoardDebugger, Flow};
use crestline_cli::picture::Picture;
use crestline_cli::replay::board::{BoardError, BoardSession};
use crestline_cli::replay::{Options, Session, device_of_reader};
use kernel::dma::DmaAllocator;
use kernel::io::Io;
use kernel::irq::{Handler, IrqLine, IrqReturn};
use kernel::pci::ConfigSpace;
use kernel::platform::Platform;
use kernel::time::{Clock, Delta};
use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::{LivePlatform, ModelPlatform};
use pci::{Bell, HostClock, Line, Look, Source};

/// Registers and memory of a model, the host's time, and a line of the kind that real devices get.
struct Split {
    live: Arc<LivePlatform>,
    clock: HostClock,
    line: Line,
}

/// The model's interrupts.
struct Wires(Receiver<()>);

impl Source for Wires {
    fn wait(&mut self, patience: Duration) -> io::Result<bool> {
        Ok(self.0.recv_timeout(patience).is_ok())
    }
    fn rearm(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A handler that sends a message for each interrupt and handles none itself.
struct Tells(Mutex<Sender<()>>);

impl Handler for Tells {
    fn handle(&self) -> IrqReturn {
        let _ = self.0.lock().unwrap().send(());
        IrqReturn::None
    }
}

impl Split {
    fn new(info: &'static DeviceInfo, has_interrupts: bool) -> Arc<Self> {
        let live = LivePlatform::new(ModelPlatform::new(info, 192 << 20));
        let bell = Arc::new(Bell::default());
        let source: Box<dyn Source> = if has_interrupts {
            let (tell, told) = channel();
            live.irq()
                .request(Arc::new(Tells(Mutex::new(tell))))
                .unwrap();
            Box::new(Wires(told))
        } else {
            Box::new(Look)
        };
        Arc::new(Split {
            live,
            clock: HostClock::new(&bell),
            line: Line::new(source, &bell),
        })
    }
}

impl Platform for Split {
    fn io(&self) -> &dyn Io {
        self.live.io()
    }
    fn config(&self) -> &dyn ConfigSpace {
        self.live.config()
    }
    fn dma(&self) -> &dyn DmaAllocator {
        self.live.dma()
    }
    fn clock(&self) -> &dyn Clock {
        &self.clock
    }
    fn irq(&self) -> &dyn IrqLine {
        &self.line
    }
}

/// What a test of the host's time may take.
const LONG: Delta = Delta::from_secs(600);

fn replays(has_interrupts: bool) {
    let origin = Origin::BuiltIn;
    let mut reader = origin.open().unwrap();
    let info = device_of_reader(&reader).unwrap();
    let platform = Split::new(info, has_interrupts);
    let mut session = BoardSession::new(platform.clone(), info, LONG).unwrap();
    let mut own = Session::new(Options::new(info), reader.buffer_limit()).unwrap();
    let mut again = origin.open().unwrap();
    let mut buffers = 0;
    while let Some(submission) = reader.next_submission().unwrap() {
        let exec = submission.exec.clone();
        session.run(submission, &|| false).unwrap();
        own.run_submission(again.next_submission().unwrap().unwrap())
            .unwrap();
        for (buffer, contents) in exec.buffers.iter().zip(session.contents(&exec)) {
            assert_eq!(contents, own.contents(buffer), "{}", buffer.file);
            buffers += 1;
        }
    }
    assert!(buffers > 5);
    let picture = Picture::read(session.view().unwrap()).unwrap();
    assert_eq!(picture, own.picture().unwrap());
    session.finish().unwrap();
    assert_eq!(platform.live.model().allocated_pages(), 0);
}

#[test]
fn a_frame_leaves_in_all_buffers_what_it_leaves_on_the_model() {
    replays(true);
}

#[test]
fn a_device_that_nobody_tells_of_is_looked_at() {
    replays(false);
}

#[test]
fn a_replay_that_is_told_to_end_gives_the_device_back() {
    let mut reader = Origin::BuiltIn.open().unwrap();
    let info = device_of_reader(&reader).unwrap();
    let platform = Split::new(info, true);
    let mut session = BoardSession::new(platform.clone(), info, LONG).unwrap();
    // The device stands still: the submission would never end.
    let hold = platform.live.hold();
    let submission = reader.next_submission().unwrap().unwrap();
    let outcome = session.run(submission, &|| true);
    assert!(matches!(outcome, Err(BoardError::Stopped)), "{outcome:?}");
    drop(hold);
    drop(session);
    assert_eq!(platform.live.model().allocated_pages(), 0);
}

#[test]
fn threads_are_stopped_by_what_the_hardware_tells() {
    let reader = Origin::BuiltIn.open().unwrap();
    let submissions = reader.len();
    let info = device_of_reader(&reader).unwrap();
    let platform = Split::new(info, true);
    let session = BoardSession::new(platform.clone(), info, LONG).unwrap();
    let mut debugger = BoardDebugger::new(session, reader, info.isa).unwrap();
    for (line, word) in [
        ("regs", "has not halted"),
        ("break address 0x11", "multiple of 16"),
        ("break opcode nonsense", "no opcode nonsense"),
        ("break pixel 1,2", "break address"),
        ("why", "no such command"),
        ("step 0", "1 to"),
    ] {
        let refusal = debugger.execute(line, &|| false).unwrap_err().to_string();
        assert!(refusal.contains(word), "{line}: {refusal}");
    }
    let mut say = |line: &str| {
        let (text, flow) = debugger.execute(line, &|| false).unwrap();
        assert_eq!(flow, Flow::GoOn);
        text
    };
    say("break thread");
    let text = say("run");
    // The first thread of a draw is one of the vertex shader, and it has halted before its first instruction.
    let first = text.lines().next().unwrap().to_owned();
    assert!(first.starts_with("* 0  EU "), "{text}");
    let address = |line: &str| {
        let word = line
            .split_whitespace()
            .find(|word| word.starts_with("0x"))
            .unwrap();
        u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap()
    };
    let registers = say("regs");
    assert!(registers.starts_with("   r0 "), "{registers}");
    let behind = say("step");
    // No kernel of a frame begins with a jump, and an instruction has 16 bytes before there were short ones.
    assert_eq!(address(&behind), address(&first) + 16, "{first} {behind}");
    let ip = say("regs");
    assert!(ip.contains("   ip 0x"), "{ip}");
    say("delete");
    say("break eot");
    let text = say("continue");
    // A message that ends a thread is a send with the bit for it.
    let ends = |line: &str| line.contains(" send(") && line.contains("EOT");
    assert!(!text.is_empty() && text.lines().all(ends), "{text}");
    say("delete");
    let text = say("continue");
    assert!(
        text.starts_with(&format!("the frame has ended: {submissions} submission")),
        "{text}"
    );
    assert!(debugger.finish(&|| false).unwrap());
    assert_eq!(platform.live.model().allocated_pages(), 0);
}

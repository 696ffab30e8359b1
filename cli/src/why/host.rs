//! The walk by what the model tells its host, for devices without debug registers.
//!
//! No manual describes this. The frame runs once with every event noted, and once more up to the pixel shader thread, whose
//! payload is read before its first instruction.

use std::cell::RefCell;
use std::sync::Arc;

use driver::debug::walk::WalkError;
use eu::Grf;
use mmio_mock::intel::debug::host::{Go, Rule, ThreadKey};
use mmio_mock::intel::r#gen::DeviceInfo;
use regs::ids::RegId;

use super::frame::Frame;
use super::payload::Payload;
use super::rerun::RerunError;
use super::{Why, WhyError, explain};
use crate::capture::Capture;
use crate::frame_map::{FrameMap, FrameMapError};
use crate::replay::{Attendant, Options, Session};

/// Whether a device has the debug registers of PRM volume 4, chapter 3.
pub fn has_registers(device: &DeviceInfo) -> bool {
    (device.tables.register_desc)(RegId::EuAtt).is_some()
}

/// Walks from a pixel up to its vertices.
pub fn walk_in(
    capture: &Capture,
    frame: &Frame,
    options: &Options,
    pixel: (u16, u16),
    attendant: Option<Arc<dyn Attendant>>,
) -> Result<Why, WhyError> {
    let failed = |error: FrameMapError| {
        let error = match error {
            FrameMapError::Replay(error) => RerunError::Replay(error),
            other => RerunError::Map(other.to_string()),
        };
        WhyError::Walk {
            walk: Box::new(WalkError::Rerun(error)),
            trouble: None,
        }
    };
    let map = FrameMap::attended(capture, *options, attendant.clone()).map_err(failed)?;
    let trouble = map.trouble().map(first_line);
    let mut found = map.walk(pixel).map_err(|walk| WhyError::Walk {
        walk: Box::new(walk),
        trouble: trouble.clone(),
    })?;
    let payload = registers(capture, options, found.thread, attendant).and_then(|registers| {
        found.walk.runs += 1;
        let draw = map.draws().get(found.draw)?;
        Payload::of(&registers, draw, &found, options.device)
    });
    let (x, y) = pixel;
    let colour = map.picture().pixel(x.into(), y.into());
    Ok(Why {
        trouble,
        colour,
        payload,
        ..explain(capture, frame, found.walk, options.device)
    })
}

/// The error state below it is the replay's to show.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// General registers of a thread as it begins; `None` when it does not come, which no frame that runs again does.
fn registers(
    capture: &Capture,
    options: &Options,
    key: ThreadKey,
    attendant: Option<Arc<dyn Attendant>>,
) -> Option<Vec<Grf>> {
    let mut session = Session::new(*options, capture.buffer_bytes()).ok()?;
    if let Some(attendant) = attendant {
        session.attend(attendant);
    }
    let platform = Arc::clone(session.platform());
    platform.device().set_debugger(true);
    let rule = Rule::Instruction { key, count: 0 };
    platform.device().debugger()?.add(rule);
    let found = RefCell::new(None);
    for exec in &capture.execs {
        let ran = session.run_watched(exec, &|| {
            let mut device = platform.device();
            let Some(stopped) = device.debugger().and_then(|host| host.stopped()) else {
                return;
            };
            if let Some((at, eu, slot)) = stopped.thread
                && at == key
                && let Some(thread) = device.thread(eu, slot)
            {
                *found.borrow_mut() = Some(thread.grf().to_vec());
            }
            if let Some(host) = device.debugger() {
                host.go(Go::Continue);
            }
        });
        if ran.is_err() || found.borrow().is_some() {
            break;
        }
    }
    platform.device().set_debugger(false);
    found.into_inner()
}

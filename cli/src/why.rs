//! How a pixel of a captured frame came about: thread, triangle, vertices, inputs.
//!
//! PRM: volume 4 3.3.1; the driver walks up through the snapshot registers, the commands of the capture give draws and
//! vertex buffers. On a device without these registers the model tells its host the same (`host`). Not modelled: pixels that blits or memory writes have changed.

mod frame;
mod host;
mod inputs;
mod json;
mod payload;
mod rerun;
mod text;

use std::collections::BTreeMap;
use std::sync::Arc;

use driver::debug::walk::{Walk, WalkError, walk};

pub use frame::{DrawCall, Frame};
pub use host::has_registers;
pub use inputs::{Component, Input, Source};
pub use payload::{Attribute, Payload, Weights};
pub use rerun::RerunError;

use mmio_mock::intel::ff::topology::Topology;
use mmio_mock::intel::r#gen::DeviceInfo;

use crate::capture::{Capture, Exec};
use crate::picture::{last_target, sampled};
use crate::replay::{Attendant, Options};
use frame::Decoded;
use rerun::Replays;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// No submission draws anything.
    #[error("{0}: no submission draws anything")]
    NothingDrawn(String),
    /// The pixel lies outside the picture.
    #[error("pixel {x},{y} lies outside the picture of {width}x{height} pixels")]
    Outside {
        /// Column.
        x: u16,
        /// Row.
        y: u16,
        /// Columns of the picture.
        width: u32,
        /// Rows of the picture.
        height: u32,
    },
    /// The walk ended early.
    #[error("{walk}{}", because(.trouble.as_deref()))]
    Walk {
        /// Where.
        walk: Box<WalkError<RerunError>>,
        /// What went wrong in the frame itself.
        trouble: Option<String>,
    },
}

fn because(trouble: Option<&str>) -> String {
    trouble.map_or_else(String::new, |trouble| {
        format!("\n  the frame itself does not run to its end: {trouble}")
    })
}

/// The draw that a pixel comes from.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Name of the submission.
    pub submission: String,
    /// Which draw of the frame it is, over all submissions.
    pub number: usize,
    /// The draw.
    pub call: DrawCall,
    /// What it draws into, when its surface state can be read.
    pub target: Option<RenderTarget>,
    /// What the draw is when the application cannot have asked for it.
    pub own: Option<Own>,
}

/// A draw that a driver makes by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Own {
    /// A rectangle whose pixel shader samples nothing.
    Clear,
    /// A rectangle that shows a surface.
    Copy {
        /// Graphics address of the surface's first pixel.
        from: u32,
        /// Columns and rows of the surface.
        size: (u32, u32),
        /// Name of the submission that has drawn into the surface last.
        drawn_by: Option<String>,
    },
}

impl Own {
    /// What a draw is. A rectangle without a shader for its vertices is a driver's: OpenGL has no such primitive.
    fn of(capture: &Capture, frame: &Frame, walk: &Walk, device: &DeviceInfo) -> Option<Self> {
        let call = frame.draw(walk.submission, walk.draw)?;
        let shaded = walk.vertices.values().any(|vertex| vertex.thread.is_some());
        let is_rectangle = call.command.topology == Ok(Topology::RectList);
        if !is_rectangle || shaded || !walk.emitters.is_empty() || !walk.points.is_empty() {
            return None;
        }
        let exec = capture.execs.get(walk.submission)?;
        let Some(source) = sampled(&|at| exec.dword(at), call.state, device) else {
            return Some(Own::Clear);
        };
        let (from, size) = source.sampled();
        let drawn_by = frame.drawn_before((walk.submission, walk.draw), from);
        let drawn_by = drawn_by.and_then(|at| capture.execs.get(at));
        Some(Own::Copy {
            from,
            size,
            drawn_by: drawn_by.map(|exec| exec.name.clone()),
        })
    }
}

/// A surface that a draw writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderTarget {
    /// Graphics address of its first pixel.
    pub address: u32,
    /// Name of its format.
    pub format: String,
    /// Columns and rows.
    pub size: (u32, u32),
}

impl RenderTarget {
    fn of(exec: &Exec, call: &DrawCall, device: &DeviceInfo) -> Option<Self> {
        let target = last_target(&|at| exec.dword(at), call.state, device).ok()?;
        let (address, size) = target.drawn();
        Some(RenderTarget {
            address,
            format: regs::any::surface_format(target.format).map_or_else(
                || format!("format {:#x}", target.format),
                |d| d.name.to_owned(),
            ),
            size,
        })
    }
}

/// How a pixel came about.
#[derive(Clone, Debug)]
pub struct Why {
    /// What the registers told.
    pub walk: Walk,
    /// The draw; `None` when the commands cannot be followed that far.
    pub draw: Option<Drawn>,
    /// Inputs of the vertices, by sequence number.
    pub inputs: BTreeMap<u32, Vec<Input>>,
    /// Where addresses lie in the capture.
    pub places: BTreeMap<u32, String>,
    /// What went wrong in the frame itself.
    pub trouble: Option<String>,
    /// RGBA in the picture, when the pixel lies in a buffer.
    pub colour: Option<[u8; 4]>,
    /// What the thread is given for the pixel, on devices whose threads get weights of the vertices.
    pub payload: Option<Payload>,
}

/// Columns and rows of the picture in which pixels are looked for, when the commands show them.
pub fn size(capture: &Capture, options: &Options) -> Option<(u32, u32)> {
    Frame::of(capture, options.device).size
}

/// Walks from a pixel of the picture (row 0 of the surface first) up to its vertices.
pub fn why(capture: &Capture, options: &Options, pixel: (u16, u16)) -> Result<Why, WhyError> {
    let frame = Frame::of(capture, options.device);
    why_in(capture, &frame, options, pixel)
}

/// The same with somebody who may put an end to it.
pub fn why_attended(
    capture: &Capture,
    options: &Options,
    pixel: (u16, u16),
    attendant: Arc<dyn Attendant>,
) -> Result<Why, WhyError> {
    let frame = Frame::of(capture, options.device);
    walk_in(capture, &frame, options, pixel, Some(attendant))
}

/// The same with the draws of the frame known, for whoever asks for many pixels.
pub fn why_in(
    capture: &Capture,
    frame: &Frame,
    options: &Options,
    pixel: (u16, u16),
) -> Result<Why, WhyError> {
    walk_in(capture, frame, options, pixel, None)
}

fn walk_in(
    capture: &Capture,
    frame: &Frame,
    options: &Options,
    pixel: (u16, u16),
    attendant: Option<Arc<dyn Attendant>>,
) -> Result<Why, WhyError> {
    if frame.submissions.iter().all(Vec::is_empty) {
        return Err(WhyError::NothingDrawn(capture.name.clone()));
    }
    let (x, y) = pixel;
    if let Some((width, height)) = frame.size
        && (u32::from(x) >= width || u32::from(y) >= height)
    {
        return Err(WhyError::Outside {
            x,
            y,
            width,
            height,
        });
    }
    if !has_registers(options.device) {
        return host::walk_in(capture, frame, options, pixel, attendant);
    }
    let mut rerun = Replays {
        capture,
        options: Options {
            trace: None,
            snapshot: None,
            instance: None,
            ..*options
        },
        attendant,
        trouble: None,
        pixel,
        colour: None,
    };
    let walked = walk(&mut rerun, &Decoded { frame, capture }, pixel);
    let (trouble, colour) = (rerun.trouble.take(), rerun.colour);
    let walk = match walked {
        Ok(walk) => walk,
        Err(walk) => {
            let walk = Box::new(walk);
            return Err(WhyError::Walk { walk, trouble });
        }
    };
    Ok(Why {
        trouble,
        colour,
        ..explain(capture, frame, walk, options.device)
    })
}

/// What the commands of the capture add to what the registers told.
fn explain(capture: &Capture, frame: &Frame, walk: Walk, device: &DeviceInfo) -> Why {
    let exec = capture.execs.get(walk.submission);
    let earlier = frame.submissions.iter().take(walk.submission);
    let number = earlier.map(Vec::len).sum::<usize>() + walk.draw as usize;
    let call = frame.draw(walk.submission, walk.draw);
    let mut inputs = BTreeMap::new();
    if let (Some(exec), Some(call)) = (exec, call) {
        for (sequence, vertex) in &walk.vertices {
            if let (Some(index), Some(position)) = (vertex.index, vertex.position) {
                inputs.insert(*sequence, inputs::of(exec, call, index, position));
            }
        }
    }
    let kernels = [Some(walk.pixel_thread.kernel), walk.setup.kernel];
    let kernels = kernels
        .into_iter()
        .flatten()
        .chain(walk.emitters.values().map(|emitter| emitter.kernel))
        .chain(walk.vertex_threads.values().map(|thread| thread.kernel))
        .chain(walk.points.values().map(|point| point.kernel))
        .chain(walk.patches.values().map(|patch| patch.kernel))
        .map(|kernel| walk.pixel_thread.base.wrapping_add(kernel));
    let sources = inputs.values().flatten();
    let sources = sources.filter_map(|input| Some(input.source.as_ref()?.address));
    let target = exec
        .zip(call)
        .and_then(|(exec, call)| RenderTarget::of(exec, call, device));
    let own = Own::of(capture, frame, &walk, device);
    let addresses = kernels
        .chain(sources)
        .chain(walk.streamed.values().flatten().map(|write| write.address))
        .chain(call.map(|call| call.address))
        .chain(target.as_ref().map(|target| target.address))
        .chain(match &own {
            Some(Own::Copy { from, .. }) => Some(*from),
            _ => None,
        });
    let mut places = BTreeMap::new();
    for address in addresses {
        if let Some(place) = exec.and_then(|exec| crate::places::describe(exec, address)) {
            places.insert(address, place);
        }
    }
    let draw = exec.zip(call).map(|(exec, call)| Drawn {
        submission: exec.name.clone(),
        number,
        call: call.clone(),
        target,
        own,
    });
    Why {
        walk,
        draw,
        inputs,
        places,
        trouble: None,
        colour: None,
        payload: None,
    }
}

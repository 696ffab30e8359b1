//! What the commands of a captured frame say of its draws.
//!
//! PRM: volume 1 (MI commands), volume 2 (3DSTATE commands, 3DPRIMITIVE). Not modelled: commands and indices that the
//! frame itself writes before it reads them.

use std::collections::BTreeMap;
use std::rc::Rc;

use driver::debug::walk::Commands;
use mmio_mock::intel::ff::state::{IndexBuffer, PipelineState, Primitive, VertexElement};
use mmio_mock::intel::r#gen::DeviceInfo;
use regs::desc::Property;
use regs::walk::{Limits, Walk};

use crate::capture::{Capture, Exec};
use crate::picture::{State, last_target};
use crate::pipeline;

/// Dwords of commands looked at before a batch counts as endless.
const MAX_DWORDS: u64 = 1 << 22;
/// Draws of a submission that are looked at.
const MAX_DRAWS: usize = 1 << 16;

/// A 3DPRIMITIVE.
#[derive(Clone, Debug)]
pub struct DrawCall {
    /// Address of the command.
    pub address: u32,
    /// The command.
    pub command: Primitive,
    /// State of the pipeline.
    pub pipeline: Rc<PipelineState>,
    /// Vertex elements.
    pub elements: Rc<[VertexElement]>,
    /// Pointers.
    pub state: State,
    /// Vertices of one instance: cut indices are none.
    pub vertices: u32,
    /// Address of its render target's first pixel, where it can be told.
    pub target: Option<u32>,
    /// Whether its render target is the one of the picture.
    pub shown: bool,
}

/// A render target, told by where its first pixel lies.
type Place = u32;

/// The draws of a frame.
#[derive(Debug, Default)]
pub struct Frame {
    /// Draws of each submission.
    pub submissions: Vec<Vec<DrawCall>>,
    /// Columns and rows of the picture.
    pub size: Option<(u32, u32)>,
}

impl Frame {
    /// Follows all batches of a capture.
    pub fn of(capture: &Capture, device: &DeviceInfo) -> Self {
        let mut frame = Frame::default();
        let mut follow = Follow::new(device);
        let mut targets = Vec::new();
        for exec in &capture.execs {
            follow.draws.clear();
            follow.batch(exec);
            let mut seen = BTreeMap::new();
            let places = follow.draws.iter().map(|draw| {
                *seen.entry(draw.state).or_insert_with(|| {
                    let target = last_target(&|at| exec.dword(at), draw.state, device).ok()?;
                    Some(target.drawn())
                })
            });
            let places: Vec<Option<(Place, (u32, u32))>> = places.collect();
            targets.push(places);
            frame.submissions.push(follow.draws.clone());
        }
        // The picture is the target of the last draw that has one.
        let last = targets.iter().flatten().flatten().next_back().copied();
        frame.size = last.map(|(_, size)| size);
        for (draws, places) in frame.submissions.iter_mut().zip(&targets) {
            for (draw, place) in draws.iter_mut().zip(places) {
                draw.target = place.map(|(place, _)| place);
                draw.shown = draw.target == last.map(|(place, _)| place);
            }
        }
        frame
    }

    /// The submission of the last draw into an address before a draw of a submission.
    pub fn drawn_before(&self, (submission, draw): (usize, u32), target: u32) -> Option<usize> {
        let all = self.submissions.get(..=submission)?.iter().enumerate();
        let drew = |&(at, draws): &(usize, &Vec<DrawCall>)| {
            let count = if at == submission {
                draw as usize
            } else {
                draws.len()
            };
            let mut before = draws.iter().take(count);
            before.any(|draw| draw.target == Some(target))
        };
        all.rev().find(drew).map(|(at, _)| at)
    }

    /// A draw.
    pub fn draw(&self, submission: usize, draw: u32) -> Option<&DrawCall> {
        self.submissions.get(submission)?.get(draw as usize)
    }
}

/// The draws of a frame with the memory that they read.
pub struct Decoded<'a> {
    /// The draws.
    pub frame: &'a Frame,
    /// The memory.
    pub capture: &'a Capture,
}

impl Commands for Decoded<'_> {
    fn draws(&self, submission: usize) -> u32 {
        let draws = self.frame.submissions.get(submission);
        draws.map_or(0, |draws| draws.len() as u32)
    }

    fn vertices(&self, submission: usize, draw: u32) -> u32 {
        self.frame.draw(submission, draw).map_or(0, |draw| {
            draw.vertices.saturating_mul(draw.command.instances)
        })
    }

    fn index(&self, submission: usize, draw: u32, position: u32) -> Option<u32> {
        let exec = self.capture.execs.get(submission)?;
        let draw = self.frame.draw(submission, draw)?;
        let at = position.checked_rem(draw.vertices)?;
        if !draw.command.random {
            return Some(draw.command.start.wrapping_add(at));
        }
        let mut indices = draw.indices(exec).flatten();
        let index = indices.nth(at as usize)?;
        Some(index.wrapping_add_signed(draw.command.base_vertex))
    }

    fn is_shown(&self, submission: usize, draw: u32) -> bool {
        let draw = self.frame.draw(submission, draw);
        draw.is_some_and(|draw| draw.shown)
    }
}

impl DrawCall {
    /// The index buffer; one of bytes at address 0 before the first.
    fn index_buffer(&self) -> IndexBuffer {
        let unset = IndexBuffer {
            bytes: 1,
            cut: false,
            start: 0,
            end: 0,
        };
        self.pipeline.index_buffer.unwrap_or(unset)
    }

    /// The indices of one instance as they lie in memory; `None` where the primitive is cut. Behind the end of the buffer
    /// they read as zero.
    fn indices<'a>(&'a self, exec: &'a Exec) -> impl Iterator<Item = Option<u32>> + 'a {
        let buffer = self.index_buffer();
        let bytes = u64::from(buffer.bytes);
        let (first, end) = (u64::from(buffer.start), u64::from(buffer.end));
        let start = u64::from(self.command.start);
        let count = u64::from(self.command.count);
        (start..start + count).map(move |number| {
            let at = first + number * bytes;
            if at + bytes > end + 1 {
                return Some(0);
            }
            let index = read(exec, at as u32, bytes as usize)?;
            let ones = u32::MAX >> (32 - bytes * 8);
            (!buffer.cut || index != ones).then_some(index)
        })
    }
}

/// An index of 1, 2 or 4 bytes; what lies outside every buffer reads as zero.
fn read(exec: &Exec, address: u32, bytes: usize) -> Option<u32> {
    let mut value = [0; 4];
    let (to, _) = value.split_at_mut_checked(bytes)?;
    super::inputs::read(exec, address, to);
    Some(u32::from_le_bytes(value))
}

/// State as the commands leave it.
struct Follow<'a> {
    device: &'a DeviceInfo,
    pipeline: Rc<PipelineState>,
    draws: Vec<DrawCall>,
}

impl<'a> Follow<'a> {
    fn new(device: &'a DeviceInfo) -> Self {
        Follow {
            device,
            pipeline: Rc::default(),
            draws: Vec::new(),
        }
    }

    /// Follows a batch to its end, or to the first thing that is no command.
    fn batch(&mut self, exec: &Exec) {
        let mut memory = |at: u64| exec.dword(u32::try_from(at).ok()?);
        let limits = Limits {
            dwords: MAX_DWORDS,
            jumps: u32::MAX,
            ..Limits::default()
        };
        let start = exec.batch_address();
        let mut batch = Walk::new(self.device.tables, start.into(), limits);
        // No command of interest is longer than 17 vertex buffers.
        let mut words = [0; 96];
        while let Some(step) = batch.step(&mut memory) {
            let Some(command) = step.command else {
                return;
            };
            let count = batch.words(&mut memory, &step, &mut words);
            let words = words.get(..count).unwrap_or_default();
            if command.is(Property::Draw) {
                // CAST: addresses of these devices have 32 bits.
                self.draw(exec, step.address as u32, words);
            } else {
                let state = Rc::make_mut(&mut self.pipeline);
                pipeline::latch(self.device, state, command.id, words);
            }
        }
    }

    fn draw(&mut self, exec: &Exec, address: u32, words: &[u32]) {
        if self.draws.len() >= MAX_DRAWS {
            return;
        }
        let command = self.device.readers.pipeline.primitive(words);
        let mut draw = DrawCall {
            address,
            command,
            elements: pipeline::vertex_elements(self.device, &self.pipeline).into(),
            pipeline: Rc::clone(&self.pipeline),
            state: pipeline::target_state(self.device, &self.pipeline),
            vertices: command.count,
            target: None,
            shown: false,
        };
        if command.random && draw.index_buffer().cut {
            draw.vertices = draw.indices(exec).flatten().count() as u32;
        }
        self.draws.push(draw);
    }
}

//! What the commands of a captured frame say of its draws.
//!
//! PRM: volume 1 (MI commands), volume 2 (3DSTATE commands, 3DPRIMITIVE). Not modelled: commands and indices that the
//! frame itself writes before it reads them.

use std::collections::BTreeMap;
use std::rc::Rc;

use driver::debug::walk::Commands;
use mmio_mock::r#gen::DeviceInfo;
use regs::desc::Property;
use regs::gen40::{
    self, CommandId, Primitive3d, State3dIndexBuffer, VertexBufferState, VertexElementState,
};
use regs::platform::Generation;
use regs::walk::{Limits, Walk};

use crate::capture::{Capture, Exec};
use crate::picture::{State, last_target};

/// Dwords of commands looked at before a batch counts as endless.
const MAX_DWORDS: u64 = 1 << 22;
/// Draws of a submission that are looked at.
const MAX_DRAWS: usize = 1 << 16;

/// State that vertex fetch uses.
#[derive(Clone, Debug, Default)]
pub struct Fetch {
    /// Vertex buffers by index.
    pub buffers: BTreeMap<u32, VertexBufferState>,
    /// Vertex elements in order.
    pub elements: Vec<VertexElementState>,
    /// Index buffer.
    pub indices: Option<State3dIndexBuffer>,
}

/// A 3DPRIMITIVE.
#[derive(Clone, Debug)]
pub struct DrawCall {
    /// Address of the command.
    pub address: u32,
    /// The command.
    pub command: Primitive3d,
    /// Vertex fetch.
    pub fetch: Rc<Fetch>,
    /// Pointers.
    pub state: State,
    /// Vertices of one instance: cut indices are none.
    pub vertices: u32,
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
        let mut follow = Follow::default();
        let mut targets = Vec::new();
        for exec in &capture.execs {
            follow.draws.clear();
            follow.batch(exec, device.tables);
            let mut seen = BTreeMap::new();
            let places = follow.draws.iter().map(|draw| {
                *seen.entry(draw.state).or_insert_with(|| {
                    let target = last_target(&|at| exec.dword(at), draw.state, device.isa).ok()?;
                    let surface = &target.surface;
                    let lod = surface.render_lod;
                    let size = (surface.level_width(lod), surface.level_height(lod));
                    let slice = surface.target_slice(0);
                    Some((surface.address(0, 0, slice, lod).0, size))
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
                draw.shown = place.map(|(place, _)| place) == last.map(|(place, _)| place);
            }
        }
        frame
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
            draw.vertices.saturating_mul(draw.command.instance_count())
        })
    }

    fn index(&self, submission: usize, draw: u32, position: u32) -> Option<u32> {
        let exec = self.capture.execs.get(submission)?;
        let draw = self.frame.draw(submission, draw)?;
        let at = position.checked_rem(draw.vertices)?;
        if draw.command.vertex_access_type() == 0 {
            return Some(draw.command.start_vertex_location().wrapping_add(at));
        }
        let mut indices = draw.indices(exec).flatten();
        let index = indices.nth(at as usize)?;
        Some(index.wrapping_add_signed(draw.command.base_vertex_location()))
    }

    fn is_shown(&self, submission: usize, draw: u32) -> bool {
        let draw = self.frame.draw(submission, draw);
        draw.is_some_and(|draw| draw.shown)
    }
}

impl DrawCall {
    /// The indices of one instance as they lie in memory; `None` where the primitive is cut. Behind the end of the buffer
    /// they read as zero.
    fn indices<'a>(&'a self, exec: &'a Exec) -> impl Iterator<Item = Option<u32>> + 'a {
        let buffer = self.fetch.indices.unwrap_or_default();
        let bytes = 1 << buffer.index_format().min(2);
        let (first, end) = (
            u64::from(buffer.buffer_starting_address()),
            u64::from(buffer.buffer_ending_address()),
        );
        let start = u64::from(self.command.start_vertex_location());
        let count = u64::from(self.command.vertex_count_per_instance());
        (start..start + count).map(move |number| {
            let at = first + number * bytes;
            if at + bytes > end + 1 {
                return Some(0);
            }
            let index = read(exec, at as u32, bytes as usize)?;
            let ones = u32::MAX >> (32 - bytes * 8);
            (!buffer.cut_index_enable() || index != ones).then_some(index)
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
#[derive(Default)]
struct Follow {
    state: State,
    fetch: Rc<Fetch>,
    draws: Vec<DrawCall>,
}

impl Follow {
    /// Follows a batch to its end, or to the first thing that is no command.
    fn batch(&mut self, exec: &Exec, tables: &'static Generation) {
        let mut memory = |at: u64| exec.dword(u32::try_from(at).ok()?);
        let limits = Limits {
            dwords: MAX_DWORDS,
            jumps: u32::MAX,
            ..Limits::default()
        };
        let start = exec.batch_address();
        let mut batch = Walk::new(tables, start.into(), limits);
        // No command of interest is longer than 17 vertex buffers.
        let mut words = [0; 96];
        while let Some(step) = batch.step(&mut memory) {
            let Some(command) = step.command else {
                return;
            };
            let count = batch.words(&mut memory, &step, &mut words);
            let words = words.get(..count).unwrap_or_default();
            if command.is(Property::Draw) {
                // CAST: addresses of this generation have 32 bits.
                self.draw(exec, step.address as u32, words);
            } else {
                self.set(command.id, words);
            }
        }
    }

    fn draw(&mut self, exec: &Exec, address: u32, words: &[u32]) {
        if self.draws.len() >= MAX_DRAWS {
            return;
        }
        let command = Primitive3d::from_dwords(words);
        let mut draw = DrawCall {
            address,
            command,
            fetch: Rc::clone(&self.fetch),
            state: self.state,
            vertices: command.vertex_count_per_instance(),
            shown: false,
        };
        let buffer = self.fetch.indices.unwrap_or_default();
        if command.vertex_access_type() != 0 && buffer.cut_index_enable() {
            draw.vertices = draw.indices(exec).flatten().count() as u32;
        }
        self.draws.push(draw);
    }

    fn set(&mut self, id: CommandId, words: &[u32]) {
        let rest = words.get(1..).unwrap_or_default();
        match id {
            CommandId::StateBaseAddress => {
                let c = gen40::StateBaseAddress::from_dwords(words);
                if c.general_state_base_address_modify_enable() {
                    self.state.general_base = c.general_state_base_address();
                }
                if c.surface_state_base_address_modify_enable() {
                    self.state.surface_base = c.surface_state_base_address();
                }
            }
            CommandId::State3dPipelinedPointers => {
                self.state.wm_state =
                    gen40::State3dPipelinedPointers::from_dwords(words).pointer_to_wm_state();
            }
            CommandId::State3dBindingTablePointers => {
                self.state.binding_table = gen40::State3dBindingTablePointers::from_dwords(words)
                    .pointer_to_ps_binding_table();
            }
            CommandId::State3dVertexBuffers => {
                let fetch = Rc::make_mut(&mut self.fetch);
                for state in rest.chunks_exact(VertexBufferState::LEN) {
                    let state = VertexBufferState::from_dwords(state);
                    fetch.buffers.insert(state.vertex_buffer_index(), state);
                }
            }
            CommandId::State3dVertexElements => {
                let elements = rest.chunks_exact(VertexElementState::LEN);
                Rc::make_mut(&mut self.fetch).elements =
                    elements.map(VertexElementState::from_dwords).collect();
            }
            CommandId::State3dIndexBuffer => {
                Rc::make_mut(&mut self.fetch).indices =
                    Some(State3dIndexBuffer::from_dwords(words));
            }
            _ => {}
        }
    }
}

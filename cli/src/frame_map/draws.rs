//! The state that each draw call of a frame saw.
//!
//! PRM: volume 1 (STATE_BASE_ADDRESS), volume 2 (3DSTATE_*). Not modelled: memory that changes between a command's
//! execution and the end of its submission.

use std::collections::BTreeMap;
use std::sync::Arc;

use mem::GpuAddr;
use mmio_mock::ModelPlatform;
use mmio_mock::r#gen::DeviceInfo;
use regs::desc::Property;
use regs::gen40::{self, CommandId, VertexBufferState, VertexElementState};

use crate::picture::{State, Target, last_target};

/// Longest command that is followed, in dwords.
const MAX_DWORDS: usize = 1 << 9;

/// A command that is in force, as it stood in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latched {
    /// Address of its header.
    pub address: u32,
    /// Its dwords.
    pub words: Vec<u32>,
}

/// Vertex buffers, elements and pointers as a draw call finds them.
#[derive(Clone, Debug, Default)]
pub struct DrawState {
    /// Bases and pointers that the render target depends on.
    pub state: State,
    /// Vertex buffers by index, and where each VERTEX_BUFFER_STATE stands.
    pub vertex_buffers: BTreeMap<u32, (u32, VertexBufferState)>,
    /// Vertex elements.
    pub elements: Vec<VertexElementState>,
    /// The last command of each kind that sets state.
    pub commands: BTreeMap<&'static str, Latched>,
}

impl DrawState {
    /// The dwords of the last command of a name.
    pub fn words(&self, name: &str) -> &[u32] {
        let found = self.commands.get(name);
        found.map_or(&[], |latched| latched.words.as_slice())
    }

    /// Drawing rectangle origin.
    pub fn origin(&self) -> (i32, i32) {
        let words = self.words("3DSTATE_DRAWING_RECTANGLE");
        let c = gen40::State3dDrawingRectangle::from_dwords(words);
        // CAST: 16-bit two's complement.
        let signed = |value: u32| i32::from(value as u16 as i16);
        (
            signed(c.drawing_rectangle_origin_x() as u32),
            signed(c.drawing_rectangle_origin_y() as u32),
        )
    }

    /// 3DSTATE_PIPELINED_POINTERS.
    pub fn pointers(&self) -> gen40::State3dPipelinedPointers {
        gen40::State3dPipelinedPointers::from_dwords(self.words("3DSTATE_PIPELINED_POINTERS"))
    }
}

/// What tells one render target from another: address, format, pitch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetKey {
    /// Address of its first pixel.
    pub address: u32,
    /// Format's encoding.
    pub format: u32,
    /// Bytes of a row.
    pub pitch: u32,
}

impl TargetKey {
    fn of(target: &Target) -> Self {
        let surface = &target.surface;
        let slice = surface.target_slice(0);
        TargetKey {
            address: surface.address(0, 0, slice, surface.render_lod).0,
            format: target.format,
            pitch: surface.geometry.pitch,
        }
    }
}

/// Kernel start pointers of the units whose threads a draw call can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernels {
    /// Vertex shader, when it is on.
    pub vs: Option<u32>,
    /// Geometry shader, when it is on.
    pub gs: Option<u32>,
    /// Clipper, when it is on.
    pub clip: Option<u32>,
    /// Setup.
    pub sf: Option<u32>,
    /// Pixel shader.
    pub wm: Option<u32>,
}

/// A 3DPRIMITIVE that ran.
#[derive(Clone, Debug)]
pub struct DrawCall {
    /// Which submission of the capture.
    pub exec: usize,
    /// How many draw calls of that submission came before.
    pub in_exec: u32,
    /// Address of the command.
    pub address: u32,
    /// Its dwords.
    pub words: [u32; 6],
    /// What it found.
    pub state: Arc<DrawState>,
    /// What it drew into, if that can be told.
    pub target: Option<TargetKey>,
    /// Kernels, relative to General State Base Address.
    pub kernels: Kernels,
}

/// Follows the commands that ran, submission by submission.
pub(super) struct Follower {
    pub(super) draws: Vec<DrawCall>,
    now: Arc<DrawState>,
    device: &'static DeviceInfo,
    /// Targets by the pointers that lead to them, within a submission.
    targets: BTreeMap<State, Option<TargetKey>>,
}

impl Follower {
    pub(super) fn new(device: &'static DeviceInfo) -> Self {
        Follower {
            draws: Vec::new(),
            now: Arc::default(),
            device,
            targets: BTreeMap::new(),
        }
    }

    /// The commands of a submission that has run: addresses and headers.
    pub(super) fn follow(
        &mut self,
        exec: usize,
        commands: &[(u32, u32)],
        platform: &ModelPlatform,
    ) {
        let memory = mmio_mock::device::lock(platform.memory());
        let dword = |at: u32| memory.read_u32(GpuAddr(at)).ok();
        let mut in_exec = 0;
        self.targets.clear();
        for &(address, header) in commands {
            let Some(command) = (self.device.tables.command)(header) else {
                continue;
            };
            let mut words = vec![header];
            let count = command.dwords(header).min(MAX_DWORDS);
            // CAST: below MAX_DWORDS.
            let rest = (1..count).map(|n| dword(address.wrapping_add(n as u32 * 4)).unwrap_or(0));
            words.extend(rest);
            if command.is(Property::Draw) {
                let draw = self.draw(exec, in_exec, address, &words, &dword);
                self.draws.push(draw);
                in_exec += 1;
                continue;
            }
            let now = Arc::make_mut(&mut self.now);
            latch(now, command.id, address, &words);
            if command.id == CommandId::StateBaseAddress
                && let Some(old) = now.commands.get_mut(command.name)
            {
                // What it does not modify stays as an earlier one has set it.
                merge_bases(&mut old.words, &words);
                old.address = address;
                continue;
            }
            now.commands
                .insert(command.name, Latched { address, words });
        }
    }

    fn draw(
        &mut self,
        exec: usize,
        in_exec: u32,
        address: u32,
        command: &[u32],
        dword: &impl Fn(u32) -> Option<u32>,
    ) -> DrawCall {
        let state = self.now.state;
        let isa = self.device.isa;
        let target = *self.targets.entry(state).or_insert_with(|| {
            let target = last_target(dword, state, isa).ok();
            target.as_ref().map(TargetKey::of)
        });
        let mut words = [0; 6];
        for (to, from) in words.iter_mut().zip(command) {
            *to = *from;
        }
        DrawCall {
            exec,
            in_exec,
            address,
            words,
            state: Arc::clone(&self.now),
            target,
            kernels: kernels(&self.now, dword),
        }
    }
}

/// Bit 0 of each dword of STATE_BASE_ADDRESS: its Modify Enable.
fn merge_bases(old: &mut [u32], new: &[u32]) {
    for (old, new) in old.iter_mut().zip(new) {
        if new & 1 == 1 {
            *old = *new;
        }
    }
}

/// The kernels that the unit states name.
fn kernels(state: &DrawState, dword: &impl Fn(u32) -> Option<u32>) -> Kernels {
    let pointers = state.pointers();
    let base = state.state.general_base;
    let first = |pointer: u32| {
        let word = dword(base.wrapping_add(pointer))?;
        Some(gen40::WmState::from_dwords(&[word]).kernel_start_pointer_0())
    };
    // VS_STATE: Enable in dword 6.
    let vs_on = dword(
        base.wrapping_add(pointers.pointer_to_vs_state())
            .wrapping_add(24),
    )
    .is_some_and(|word| word & 1 == 1);
    Kernels {
        vs: first(pointers.pointer_to_vs_state()).filter(|_| vs_on),
        gs: first(pointers.pointer_to_gs_state()).filter(|_| pointers.gs_enable()),
        clip: first(pointers.pointer_to_clip_state()).filter(|_| pointers.clip_enable()),
        sf: first(pointers.pointer_to_sf_state()),
        wm: first(pointers.pointer_to_wm_state()),
    }
}

/// Takes up a command.
fn latch(now: &mut DrawState, id: CommandId, address: u32, words: &[u32]) {
    let rest = words.get(1..).unwrap_or_default();
    match id {
        CommandId::StateBaseAddress => {
            let c = gen40::StateBaseAddress::from_dwords(words);
            if c.general_state_base_address_modify_enable() {
                now.state.general_base = c.general_state_base_address();
            }
            if c.surface_state_base_address_modify_enable() {
                now.state.surface_base = c.surface_state_base_address();
            }
        }
        CommandId::State3dPipelinedPointers => {
            let c = gen40::State3dPipelinedPointers::from_dwords(words);
            now.state.wm_state = c.pointer_to_wm_state();
        }
        CommandId::State3dBindingTablePointers => {
            let c = gen40::State3dBindingTablePointers::from_dwords(words);
            now.state.binding_table = c.pointer_to_ps_binding_table();
        }
        CommandId::State3dVertexBuffers => {
            for (n, words) in (0u32..).zip(rest.chunks_exact(VertexBufferState::LEN)) {
                let state = VertexBufferState::from_dwords(words);
                // CAST: a few dwords.
                let at = address.wrapping_add(4 + n * VertexBufferState::LEN as u32 * 4);
                now.vertex_buffers
                    .insert(state.vertex_buffer_index(), (at, state));
            }
        }
        CommandId::State3dVertexElements => {
            let elements = rest.chunks_exact(VertexElementState::LEN);
            now.elements = elements.map(VertexElementState::from_dwords).collect();
        }
        _ => {}
    }
}

//! The state that each draw call of a frame saw.
//!
//! PRM: volume 1 (STATE_BASE_ADDRESS), volume 2 (3DSTATE_*). Not modelled: memory that changes between a command's
//! execution and the end of its submission.

use std::collections::BTreeMap;
use std::sync::Arc;

use mem::GpuAddr;
use mmio_mock::ModelPlatform;
use mmio_mock::intel::ff::state::{PipelineState, Primitive, VertexElement};
use mmio_mock::intel::r#gen::DeviceInfo;
use regs::any::State3dDrawingRectangle;
use regs::desc::Property;
use regs::ids::CommandId;

use crate::picture::{State, Target, last_target};
use crate::pipeline;

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
    /// State of the pipeline.
    pub pipeline: PipelineState,
    /// Vertex elements.
    pub elements: Vec<VertexElement>,
    /// What kernel start pointers are relative to.
    pub kernel_base: u32,
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
        let c = State3dDrawingRectangle::from_dwords(words);
        // CAST: 16-bit two's complement.
        let signed = |value: u32| i32::from(value as u16 as i16);
        (
            signed(c.drawing_rectangle_origin_x() as u32),
            signed(c.drawing_rectangle_origin_y() as u32),
        )
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
            address: surface.address(0, 0, slice, surface.render_lod).low(),
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
    /// Hull shader, when it is on.
    pub hs: Option<u32>,
    /// Domain shader, when it is on.
    pub ds: Option<u32>,
    /// Geometry shader, when it is on.
    pub gs: Option<u32>,
    /// Clipper, when it is on.
    pub clip: Option<u32>,
    /// Setup.
    pub sf: Option<u32>,
    /// Pixel shader: one for each number of pixels that its threads may have.
    pub wm: [Option<u32>; 4],
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
    pub words: Vec<u32>,
    /// What they say.
    pub primitive: Primitive,
    /// What it found.
    pub state: Arc<DrawState>,
    /// What it drew into, if that can be told.
    pub target: Option<TargetKey>,
    /// Kernels, relative to [`DrawState::kernel_base`].
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
        let memory = mmio_mock::core::memory::lock(platform.memory());
        let dword = |at: u32| memory.read_u32(GpuAddr::from(at)).ok();
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
            now.latch(self.device, command.id, &words);
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
        let device = self.device;
        let state = pipeline::target_state(device, &self.now.pipeline);
        let target = *self.targets.entry(state).or_insert_with(|| {
            let target = last_target(dword, state, device).ok();
            target.as_ref().map(TargetKey::of)
        });
        DrawCall {
            exec,
            in_exec,
            address,
            words: command.to_vec(),
            primitive: device.readers.pipeline.primitive(command),
            state: Arc::clone(&self.now),
            target,
            kernels: {
                let mut all = kernels(device, &self.now, dword);
                commanded(device, &self.now, &mut all);
                all
            },
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
fn kernels(device: &DeviceInfo, state: &DrawState, dword: &impl Fn(u32) -> Option<u32>) -> Kernels {
    let pointers = pipeline::pointers(&state.pipeline);
    let at = |pointer: u32| {
        state
            .pipeline
            .bases
            .general_state_base
            .wrapping_add(pointer)
    };
    let kernel = |structure: &str, pointer: u32| {
        pipeline::kernel_pointer(device.tables, structure, at(pointer), dword)
    };
    let vs = pointers.pointer_to_vs_state();
    let vs_on = pipeline::flag(device.tables, "VS_STATE", "Enable", at(vs), dword);
    Kernels {
        hs: None,
        ds: None,
        vs: kernel("VS_STATE", vs).filter(|_| vs_on),
        gs: kernel("GS_STATE", pointers.pointer_to_gs_state()).filter(|_| pointers.gs_enable()),
        clip: kernel("CLIP_STATE", pointers.pointer_to_clip_state())
            .filter(|_| pointers.clip_enable()),
        sf: kernel("SF_STATE", pointers.pointer_to_sf_state()),
        wm: [
            kernel("WM_STATE", pointers.pointer_to_wm_state()),
            None,
            None,
            None,
        ],
    }
}

/// The kernels that commands name, where units have their state in commands; the others as they are.
fn commanded(device: &DeviceInfo, state: &DrawState, kernels: &mut Kernels) {
    let fields = |name: &str| {
        let mut all = device.tables.commands.iter();
        let command = all.find(|command| command.name == name)?;
        let words = state.commands.get(name)?.words.as_slice();
        Some((command.fields, words))
    };
    let field = |name: &str, field: &str| {
        let (fields, words) = fields(name)?;
        pipeline::of_words(fields, field, words)
    };
    let on = |name: &str| field(name, "Enable") == Some(1);
    let pointer = |name: &str| field(name, "Kernel Start Pointer").filter(|_| on(name));
    kernels.vs = kernels.vs.or_else(|| pointer("3DSTATE_VS"));
    kernels.gs = kernels.gs.or_else(|| pointer("3DSTATE_GS"));
    kernels.hs = pointer("3DSTATE_HS");
    kernels.ds = pointer("3DSTATE_DS");
    let names = ["0", "1", "2", "3"].map(|n| format!("Kernel Start Pointer {n}"));
    for (n, (kernel, name)) in kernels.wm.iter_mut().zip(names).enumerate() {
        let found = field("3DSTATE_PS", &name).or_else(|| field("3DSTATE_WM", &name));
        // Pointers that no thread uses are zero.
        *kernel = kernel.or(found.filter(|at| n == 0 || *at != 0));
    }
}

impl DrawState {
    /// Takes up a command.
    fn latch(&mut self, device: &DeviceInfo, id: CommandId, words: &[u32]) {
        pipeline::latch(device, &mut self.pipeline, id, words);
        match id {
            CommandId::StateBaseAddress => {
                self.kernel_base = pipeline::kernel_base(device, &self.pipeline);
            }
            CommandId::State3dVertexElements => {
                self.elements = pipeline::vertex_elements(device, &self.pipeline);
            }
            _ => {}
        }
    }
}

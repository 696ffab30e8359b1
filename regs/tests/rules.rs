//! What batches may not do, each batch wrong in one place.
//! ValleyView volume 2 part 2, notes and restrictions of the 3D commands; `tests/vectors/gen70/frames` for frames of Mesa.
//! The batches draw nothing: the rules read them.

mod commands;
mod draws;
mod mesa;
mod sequences;
mod states;

use regs::check::{self, Finding, Options};
use regs::decode::Source;
use regs::gen70 as table;
use regs::ids::CommandId;
use regs::platform::GEN70;

/// Where things lie.
const START: u32 = 0x1000;
const DYNAMIC: u32 = 0x1_0000;
const SURFACE: u32 = 0x2_0000;
const SCRATCH: u32 = 0x10_0000;
/// Offsets of dynamic state.
const BLEND: u32 = 0x40;
const SAMPLER: u32 = 0x80;
/// Offset of the render target's state.
const TARGET: u32 = 0x40;

/// A batch with the state that it points at.
pub struct Batch {
    pub commands: Vec<Vec<u32>>,
    pub dynamic: [u32; 64],
    pub surface: [u32; 64],
    /// Bytes at SCRATCH.
    pub scratch: u32,
}

/// Changes fields of the first command of a kind.
macro_rules! change {
    ($batch:expr, $command:ident, $($field:ident = $value:expr),+) => {{
        let words = $batch.command(table::$command::ID);
        let changed = table::$command::from_dwords(words)$(.$field($value))+;
        words.copy_from_slice(changed.dwords());
    }};
}
pub(crate) use change;

/// A new command of fixed length.
macro_rules! command {
    ($command:ident $(, $field:ident = $value:expr)*) => {
        table::$command::new()$(.$field($value))*.dwords().to_vec()
    };
}
pub(crate) use command;

/// A command of variable length.
pub fn long(header: u32, rest: &[u32]) -> Vec<u32> {
    let mut words = vec![header & !0xff | (rest.len() as u32 - 1)];
    words.extend(rest);
    words
}

pub fn element(index: u32, components: [u32; 4]) -> table::VertexElementState {
    table::VertexElementState::new()
        .with_valid(true)
        .with_vertex_buffer_index(index)
        .with_component_0_control(components[0])
        .with_component_1_control(components[1])
        .with_component_2_control(components[2])
        .with_component_3_control(components[3])
}

pub fn elements(all: &[table::VertexElementState]) -> Vec<u32> {
    let words: Vec<u32> = all.iter().flat_map(|e| e.dwords().to_vec()).collect();
    long(table::State3dVertexElements::HEADER, &words)
}

pub fn buffers(indices: &[u32]) -> Vec<u32> {
    let states = indices.iter().flat_map(|index| {
        let state = table::VertexBufferState::new()
            .with_vertex_buffer_index(*index)
            .with_address_modify_enable(true)
            .with_buffer_pitch(16);
        state.dwords().to_vec()
    });
    let words: Vec<u32> = states.collect();
    long(table::State3dVertexBuffers::HEADER, &words)
}

pub fn declarations(list: table::State3dSoDeclList, entries: &[table::SoDeclEntry]) -> Vec<u32> {
    let mut rest = list.dwords()[1..3].to_vec();
    rest.extend(entries.iter().flat_map(|e| e.dwords().to_vec()));
    long(table::State3dSoDeclList::HEADER, &rest)
}

pub fn decl(slot: u32, register: u32) -> table::SoDecl {
    table::SoDecl::new()
        .with_component_mask(15)
        .with_register_index(register)
        .with_output_buffer_slot(slot)
}

impl Batch {
    /// A batch that keeps all rules: it sets everything and draws a triangle.
    pub fn good() -> Batch {
        let body =
            |rows| table::State3dConstantBody::new().with_constant_buffer_0_read_length(rows);
        let list = table::State3dSoDeclList::new()
            .with_stream_to_buffer_selects_0(1)
            .with_num_entries_0(1);
        let entry = table::SoDeclEntry::new().with_stream_0_decl(decl(0, 1));
        let commands = vec![
            command!(
                StateBaseAddress,
                with_general_state_base_address_modify_enable = true,
                with_surface_state_base_address = SURFACE,
                with_surface_state_base_address_modify_enable = true,
                with_dynamic_state_base_address = DYNAMIC,
                with_dynamic_state_base_address_modify_enable = true
            ),
            command!(State3dPushConstantAllocVs, with_constant_buffer_size = 4),
            command!(
                State3dPushConstantAllocHs,
                with_constant_buffer_offset = 4,
                with_constant_buffer_size = 4
            ),
            command!(
                State3dPushConstantAllocDs,
                with_constant_buffer_offset = 8,
                with_constant_buffer_size = 2
            ),
            command!(
                State3dPushConstantAllocGs,
                with_constant_buffer_offset = 10,
                with_constant_buffer_size = 2
            ),
            command!(
                State3dPushConstantAllocPs,
                with_constant_buffer_offset = 12,
                with_constant_buffer_size = 4
            ),
            command!(PipeControl, with_command_streamer_stall_enable = true),
            command!(State3dConstantVs, with_constant_body = body(2)),
            command!(State3dConstantHs),
            command!(State3dConstantDs),
            command!(State3dConstantGs),
            command!(State3dConstantPs, with_constant_body = body(3)),
            command!(
                State3dUrbVs,
                with_vs_urb_starting_address = 2,
                with_vs_urb_entry_allocation_size = 1,
                with_vs_number_of_urb_entries = 64
            ),
            command!(
                State3dUrbHs,
                with_hs_urb_starting_address = 3,
                with_hs_urb_entry_allocation_size = 1,
                with_hs_number_of_urb_entries = 8
            ),
            command!(
                State3dUrbDs,
                with_ds_urb_starting_address = 4,
                with_ds_urb_entry_allocation_size = 8,
                with_ds_number_of_urb_entries = 16
            ),
            command!(
                State3dUrbGs,
                with_gs_urb_starting_address = 6,
                with_gs_urb_entry_allocation_size = 1,
                with_gs_number_of_urb_entries = 8
            ),
            buffers(&[0, 1]),
            elements(&[element(0, [1, 1, 1, 3]), element(1, [1, 1, 2, 3])]),
            command!(
                State3dVs,
                with_enable = true,
                with_vertex_urb_entry_read_length = 1,
                with_maximum_number_of_threads = 15
            ),
            command!(State3dHs),
            command!(State3dTe),
            command!(State3dDs),
            command!(State3dGs),
            command!(State3dSoBuffer, with_surface_pitch = 16),
            declarations(list, &[entry]),
            command!(State3dStreamout),
            command!(
                State3dClip,
                with_clip_enable = true,
                with_statistics_enable = true
            ),
            command!(
                State3dSf,
                with_statistics_enable = true,
                with_depth_buffer_surface_format = 1,
                with_line_width = 1.0
            ),
            command!(
                State3dSbe,
                with_number_of_sf_output_attributes = 2,
                with_vertex_urb_entry_read_length = 1,
                with_vertex_urb_entry_read_offset = 1
            ),
            command!(
                State3dPs,
                with_n8_pixel_dispatch_enable = true,
                with_push_constant_enable = true,
                with_attribute_enable = true,
                with_maximum_number_of_threads = 31
            ),
            command!(State3dWm, with_thread_dispatch_enable = true),
            command!(State3dMultisample),
            command!(State3dSampleMask, with_sample_mask = 1),
            command!(
                State3dDepthBuffer,
                with_surface_type = 1,
                with_surface_format = 1,
                with_depth_write_enable = true,
                with_width = 63
            ),
            command!(
                State3dStencilBuffer,
                with_surface_base_address = 0x3_0000,
                with_surface_pitch = 127
            ),
            command!(State3dHierDepthBuffer),
            command!(State3dClearParams),
            command!(State3dDepthStencilStatePointers),
            command!(State3dBlendStatePointers, with_blend_state_pointer = BLEND),
            command!(
                State3dSamplerStatePointersPs,
                with_pointer_to_ps_sampler_state = SAMPLER
            ),
            command!(State3dBindingTablePointersPs),
            draw(4),
        ];
        let mut surface = [0; 64];
        surface[0] = TARGET;
        Batch {
            commands,
            dynamic: [0; 64],
            surface,
            scratch: 0,
        }
    }

    /// The words of the first command of a kind.
    pub fn command(&mut self, id: CommandId) -> &mut Vec<u32> {
        let is = |words: &&mut Vec<u32>| (GEN70.command)(words[0]).unwrap().id == id;
        self.commands.iter_mut().find(is).unwrap()
    }

    /// Puts another command in the place of one of a kind.
    pub fn replace(&mut self, id: CommandId, words: Vec<u32>) {
        *self.command(id) = words;
    }

    /// Takes all commands of a kind away.
    pub fn without(&mut self, id: CommandId) {
        self.commands
            .retain(|words| (GEN70.command)(words[0]).unwrap().id != id);
    }

    /// Further commands and a draw.
    pub fn then(&mut self, commands: Vec<Vec<u32>>) {
        self.commands.extend(commands);
        self.commands.push(draw(4));
    }

    pub fn findings(&self) -> Vec<Finding> {
        let mut words: Vec<u32> = self.commands.concat();
        words.push(0x0500_0000);
        let bytes = words.len() as u32 * 4;
        let mut memory = Memory {
            words: &words,
            batch: self,
        };
        let mut found = Vec::new();
        let mut report = |finding| found.push(finding);
        check::batch(
            &GEN70,
            &mut memory,
            (START, bytes),
            Options::default(),
            &mut report,
        );
        found
    }
}

/// 3DPRIMITIVE of three vertices; 4 is a list of triangles.
pub fn draw(topology: u32) -> Vec<u32> {
    command!(
        Primitive3d,
        with_primitive_topology_type = topology,
        with_vertex_count_per_instance = 3,
        with_instance_count = 1
    )
}

struct Memory<'a> {
    words: &'a [u32],
    batch: &'a Batch,
}

impl Source for Memory<'_> {
    fn dword(&mut self, address: u32) -> Option<u32> {
        let inside = |start: u32, words: &[u32]| {
            let at = address.checked_sub(start)? / 4;
            words.get(at as usize).copied()
        };
        if (SCRATCH..SCRATCH + self.batch.scratch).contains(&address) {
            return Some(0);
        }
        inside(START, self.words)
            .or_else(|| inside(DYNAMIC, &self.batch.dynamic))
            .or_else(|| inside(SURFACE, &self.batch.surface))
    }
}

/// The rules that the good batch breaks after a change.
pub fn broken(change: impl FnOnce(&mut Batch)) -> Vec<&'static str> {
    let mut batch = Batch::good();
    change(&mut batch);
    batch.findings().iter().map(|f| f.rule).collect()
}

/// Every rule is broken by some test here: a test names it.
#[test]
fn the_good_batch_keeps_all_rules_and_each_has_a_test() {
    assert_eq!(Batch::good().findings(), []);
    let tests = [
        include_str!("rules/commands.rs"),
        include_str!("rules/draws.rs"),
        include_str!("rules/sequences.rs"),
        include_str!("rules/states.rs"),
    ];
    for rule in GEN70.rules {
        let quoted = format!("\"{}\"", rule.name);
        assert!(
            tests.iter().any(|text| text.contains(&quoted)),
            "{}",
            rule.name
        );
        assert!(!rule.asks.is_empty() && !rule.source.is_empty());
    }
    let mut names: Vec<_> = GEN70.rules.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), GEN70.rules.len());
}

#[test]
fn a_finding_names_command_and_place_and_is_said_once() {
    let mut batch = Batch::good();
    change!(batch, State3dPs, with_maximum_number_of_threads = 30);
    batch.then(Vec::new());
    let [found] = &batch.findings()[..] else {
        panic!("{:?}", batch.findings());
    };
    assert_eq!(found.rule, "ps-threads-even");
    assert_eq!(found.command, "3DPRIMITIVE");
    let before: usize = batch.commands.iter().rev().skip(2).map(Vec::len).sum();
    assert_eq!(found.address, START + before as u32 * 4);
    assert_eq!(found.what, "Maximum Number of Threads is 30");
}

/// State that is not there is not known: a draw alone breaks nothing.
#[test]
fn what_a_batch_does_not_set_is_not_asked_of() {
    let mut batch = Batch::good();
    batch.commands = vec![draw(4), draw(15)];
    assert_eq!(batch.findings(), []);
}

//! State of the pipeline as batches leave it, in the model's plain form.
//!
//! PRM: volume 1 (STATE_BASE_ADDRESS), volume 2 (3DSTATE commands). Commands are read by the readers of the device, so what
//! follows a batch does not know which generation it is for.

use mmio_mock::intel::ff::state::{PipelineState, VertexElement};
use mmio_mock::intel::r#gen::DeviceInfo;
use regs::any::State3dPipelinedPointers;
use regs::desc::PackedField;
use regs::ids::CommandId;
use regs::platform::Generation;

use crate::picture;

/// Takes up a command, header included.
pub fn latch(device: &DeviceInfo, state: &mut PipelineState, id: CommandId, words: &[u32]) {
    let commands = device.readers.commands;
    match id {
        CommandId::StateBaseAddress => {
            let changes = commands.state_base_address(words);
            let bases = &mut state.bases;
            let general = &mut bases.general_state_base;
            *general = changes.general_state_base.unwrap_or(*general);
            let surface = &mut bases.surface_state_base;
            *surface = changes.surface_state_base.unwrap_or(*surface);
            bases.instruction_base = changes.instruction_base.or(bases.instruction_base);
        }
        CommandId::State3dPipelinedPointers => {
            for (to, from) in state.pointers.iter_mut().zip(words.iter().skip(1)) {
                *to = *from;
            }
        }
        CommandId::State3dBindingTablePointers => {
            let latched = commands.latched();
            latched.binding_tables(words, &mut state.binding_tables);
        }
        // Where each stage has a command for its own, the pixel shader's comes last.
        CommandId::State3dBindingTablePointersPs => {
            if let (Some(table), Some(word)) = (state.binding_tables.last_mut(), words.get(1)) {
                *table = *word;
            }
        }
        CommandId::State3dVertexBuffers => {
            for (index, buffer) in commands.vertex_buffers(words) {
                if let Some(to) = state.vertex_buffers.get_mut(index) {
                    *to = buffer;
                }
            }
        }
        CommandId::State3dVertexElements => {
            state.vertex_elements = words.get(1..).unwrap_or_default().to_vec();
        }
        CommandId::State3dIndexBuffer => {
            let buffer = commands.latched().index_buffer(words);
            state.index_buffer = buffer.ok().or(state.index_buffer);
        }
        // Where units have their state in commands.
        CommandId::State3dWm | CommandId::State3dPs => {
            state.kept.insert(id, words.to_vec());
        }
        _ => {}
    }
}

/// The first kernel of pixel shader threads, where a command names it.
fn pixel_kernel(device: &DeviceInfo, state: &PipelineState) -> Option<u32> {
    [CommandId::State3dPs, CommandId::State3dWm]
        .into_iter()
        .find_map(|id| {
            let words = state.kept.get(&id)?;
            let command = (device.tables.command_desc)(id)?;
            of_words(command.fields, "Kernel Start Pointer 0", words)
        })
}

/// The valid vertex elements, in their order.
pub fn vertex_elements(device: &DeviceInfo, state: &PipelineState) -> Vec<VertexElement> {
    device.readers.pipeline.vertex_elements(state)
}

/// The pointers that lead to the render target.
pub fn target_state(device: &DeviceInfo, state: &PipelineState) -> picture::State {
    let pointers = pointers(state);
    let [.., tables] = state.binding_tables;
    picture::State {
        general_base: state.bases.general_state_base,
        surface_base: state.bases.surface_state_base,
        kernel_base: kernel_base(device, state),
        // Bits 31:5 of the pointer, in all generations.
        binding_table: tables & !0x1f,
        wm_state: pointers.pointer_to_wm_state(),
        pixel_kernel: pixel_kernel(device, state),
    }
}

/// The pointers of 3DSTATE_PIPELINED_POINTERS.
pub fn pointers(state: &PipelineState) -> State3dPipelinedPointers {
    State3dPipelinedPointers::from_dwords(&behind_header(&state.pointers))
}

fn behind_header(words: &[u32]) -> Vec<u32> {
    [&[0], words].concat()
}

/// What kernel start pointers are relative to: the base of instructions where the device has one, else that of general
/// state.
pub fn kernel_base(device: &DeviceInfo, state: &PipelineState) -> u32 {
    let command = (device.tables.command_desc)(CommandId::StateBaseAddress);
    let own = command.and_then(|command| field(command.fields, "Instruction Base Address"));
    match own {
        Some(_) => state.bases.instruction_base.unwrap_or(0),
        None => state.bases.general_state_base,
    }
}

/// Kernel start pointer of a unit's state, relative to [`kernel_base`]; `dword` reads memory.
pub fn kernel_pointer(
    tables: &Generation,
    structure: &str,
    address: u32,
    dword: &impl Fn(u32) -> Option<u32>,
) -> Option<u32> {
    let fields = tables.structure(structure)?.fields;
    let pointer = field(fields, "Kernel Start Pointer");
    let pointer = pointer.or_else(|| field(fields, "Kernel Start Pointer 0"))?;
    value(pointer, address, dword)
}

/// Whether a structure in memory has a flag.
pub fn flag(
    tables: &Generation,
    structure: &str,
    name: &str,
    address: u32,
    dword: &impl Fn(u32) -> Option<u32>,
) -> bool {
    let field = tables
        .structure(structure)
        .and_then(|structure| field(structure.fields, name));
    field.and_then(|field| value(field, address, dword)) == Some(1)
}

/// Whether a 3DPRIMITIVE says by itself that nothing is drawn: drivers give such commands when they set a context up.
pub fn is_empty(fields: &'static [PackedField], words: &[u32]) -> bool {
    let none = |name| of_words(fields, name, words) == Some(0);
    let elsewhere = |name| of_words(fields, name, words) == Some(1);
    let elsewhere = elsewhere("Indirect Parameter Enable") || elsewhere("Internal Vertex Count");
    !elsewhere && (none("Vertex Count Per Instance") || none("Instance Count"))
}

/// A field of one dword of a command's words.
pub fn of_words(fields: &'static [PackedField], name: &str, words: &[u32]) -> Option<u32> {
    let field = field(fields, name)?;
    if words.len() <= usize::from(field.start / 32) {
        return None;
    }
    u32::try_from(field.raw(words)).ok()
}

fn field(fields: &'static [PackedField], name: &str) -> Option<&'static PackedField> {
    fields.iter().find(|field| field.name == name)
}

/// A field of one dword of a structure in memory.
fn value(field: &PackedField, address: u32, dword: &impl Fn(u32) -> Option<u32>) -> Option<u32> {
    let index = usize::from(field.start / 32);
    let mut words = vec![0; index + 1];
    // CAST: structures have a few dwords.
    words[index] = dword(address.wrapping_add(index as u32 * 4))?;
    u32::try_from(field.raw(&words)).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Dwords by Mesa's genxml, gen4: VS_STATE's Kernel Start Pointer in dword 0 bits 31:6, Enable in dword 6 bit 0;
    /// WM_STATE's Kernel Start Pointer 0 in dword 0.
    #[test]
    fn kernels_are_found_by_the_tables() {
        let states = |tables: &&&Generation| tables.structure("VS_STATE").is_some();
        let tables: Vec<_> = regs::platform::GENERATIONS.iter().filter(states).collect();
        assert_eq!(tables.len(), 3);
        for tables in tables {
            let memory = |at: u32| Some(if at == 0x118 { 1 } else { 0xabcd_ef42 });
            for structure in ["VS_STATE", "GS_STATE", "CLIP_STATE", "SF_STATE", "WM_STATE"] {
                let pointer = kernel_pointer(tables, structure, 0x100, &memory);
                assert_eq!(pointer, Some(0xabcd_ef40), "{structure}");
            }
            assert!(flag(tables, "VS_STATE", "Enable", 0x100, &memory));
            assert!(!flag(tables, "VS_STATE", "Enable", 0x104, &memory));
        }
    }
}

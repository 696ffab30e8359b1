//! Which render target the last primitive of a batch drew into.
//!
//! PRM: volume 2 (3DPRIMITIVE, pointers), volume 4 4.7.2, 5.10.6.2. Not modelled: several render
//! targets (the one of the message that ends the thread counts), state left by earlier contexts.

use isa::inst::{Opcode, Verx10};
use isa::message::{DataPortWriteDesc, MessageDesc, Sfid};
use mmio_mock::r#gen::readers;
use mmio_mock::surface::Surface;
use mmio_mock::surface::state::Use;
use regs::gen40;

use super::PictureError;

/// Pointers as the commands of batches leave them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// General State Base Address.
    pub general_base: u32,
    /// Surface State Base Address.
    pub surface_base: u32,
    /// Offset of the pixel shader's binding table.
    pub binding_table: u32,
    /// Offset of WM_STATE.
    pub wm_state: u32,
}

/// A render target.
#[derive(Clone, Debug)]
pub struct Target {
    /// Address of its SURFACE_STATE.
    pub state: u32,
    /// Its format's encoding.
    pub format: u32,
    /// The surface.
    pub surface: Surface,
}

/// Instructions of a pixel shader looked at.
const MAX_INSTRUCTIONS: u32 = 1 << 14;

/// The render target of the last primitive of a batch, whose kernels are of the instruction set `isa`.
pub fn last_target(
    dword: &impl Fn(u32) -> Option<u32>,
    primitive: State,
    isa: Verx10,
) -> Result<Target, PictureError> {
    let index = written_index(dword, primitive, isa).unwrap_or(0);
    let entry = primitive
        .surface_base
        .wrapping_add(primitive.binding_table)
        .wrapping_add(index * 4);
    let offset = dword(entry).ok_or(PictureError::Unmapped {
        what: "binding table",
        address: entry,
    })?;
    // Bits 4:0 of an entry are reserved (PRM volume 4 4.7.1).
    let address = primitive.surface_base.wrapping_add(offset & !0x1f);
    let mut words = [0; gen40::SurfaceState::LEN];
    for (i, word) in words.iter_mut().enumerate() {
        let at = address.wrapping_add(i as u32 * 4);
        *word = dword(at).ok_or(PictureError::Unmapped {
            what: "SURFACE_STATE",
            address: at,
        })?;
    }
    let desc = readers(isa).functions.surface(&words);
    let surface =
        Surface::resolve(&desc, Use::RenderTarget).map_err(|error| PictureError::Surface {
            address,
            dword: words[0],
            error,
        })?;
    Ok(Target {
        state: address,
        format: gen40::SurfaceState(words).surface_format(),
        surface,
    })
}

/// Binding table index of the render target write that ends the pixel shader.
fn written_index(dword: &impl Fn(u32) -> Option<u32>, state: State, isa: Verx10) -> Option<u32> {
    let wm = state.general_base.wrapping_add(state.wm_state);
    let kernel = gen40::WmState::from_dwords(&[dword(wm)?]).kernel_start_pointer_0();
    let mut at = state.general_base.wrapping_add(kernel);
    for _ in 0..MAX_INSTRUCTIONS {
        let mut raw = [0; 4];
        for (i, word) in raw.iter_mut().enumerate() {
            *word = dword(at.wrapping_add(i as u32 * 4))?;
        }
        at = at.wrapping_add(16);
        // What cannot be decoded cannot be a plain send either.
        let Ok(inst) = isa::decode(isa, raw) else {
            continue;
        };
        if inst.opcode != Opcode::Send {
            continue;
        }
        let Some(imm) = inst.send.and_then(|send| send.imm) else {
            continue;
        };
        let message = MessageDesc(imm);
        if message.eot() {
            let write = DataPortWriteDesc(imm);
            let target = message.sfid() == Some(Sfid::DataPortWrite)
                && write.message_type() == DataPortWriteDesc::RENDER_TARGET_WRITE;
            return target.then(|| write.binding_table_index());
        }
    }
    None
}

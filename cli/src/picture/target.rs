//! The surface that a batch's last primitive draws into, and the one it samples.
//!
//! PRM: volume 2 (3DPRIMITIVE, pointers), volume 4 4.7.2, 5.10.6.2. Not modelled: several render
//! targets (the one of the message that ends the thread counts), state left by earlier contexts.

use isa::compact::instruction_at;
use isa::inst::Opcode;
use mmio_mock::intel::r#gen::DeviceInfo;
use mmio_mock::intel::shared::dataport::request::{WriteKind, WriteRequest};
use mmio_mock::intel::shared::message::Request;
use mmio_mock::intel::surface::Surface;
use mmio_mock::intel::surface::state::Use;

use super::PictureError;
use crate::pipeline;

/// Pointers as the commands of batches leave them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// General State Base Address.
    pub general_base: u32,
    /// Surface State Base Address.
    pub surface_base: u32,
    /// What kernel start pointers are relative to.
    pub kernel_base: u32,
    /// Offset of the pixel shader's binding table.
    pub binding_table: u32,
    /// Offset of WM_STATE.
    pub wm_state: u32,
    /// The pixel shader's kernel, where a command names it.
    pub pixel_kernel: Option<u32>,
}

/// A surface of a pixel shader: what it draws into, or what it samples.
#[derive(Clone, Debug)]
pub struct Target {
    /// Address of its SURFACE_STATE.
    pub state: u32,
    /// Its format's encoding.
    pub format: u32,
    /// The surface.
    pub surface: Surface,
}

impl Target {
    /// Graphics address of the first pixel of a level of detail, and the level's columns and rows.
    fn level(&self, lod: u32) -> (u32, (u32, u32)) {
        let surface = &self.surface;
        let first = surface.address(0, 0, surface.target_slice(0), lod);
        (
            first.low(),
            (surface.level_width(lod), surface.level_height(lod)),
        )
    }

    /// Where its pixels are as a render target: address of the first, columns and rows.
    pub fn drawn(&self) -> (u32, (u32, u32)) {
        self.level(self.surface.render_lod)
    }

    /// The same of what is sampled, at its largest level of detail.
    pub fn sampled(&self) -> (u32, (u32, u32)) {
        self.level(self.surface.min_lod)
    }
}

/// Instructions of a pixel shader looked at.
const MAX_INSTRUCTIONS: usize = 1 << 14;

/// The render target of the last primitive of a batch of a device.
pub fn last_target(
    dword: &impl Fn(u32) -> Option<u32>,
    primitive: State,
    device: &DeviceInfo,
) -> Result<Target, PictureError> {
    let index = written_index(dword, primitive, device).unwrap_or(0);
    surface(dword, primitive, device, index, Use::RenderTarget)
}

/// The surface that the first message of a primitive's pixel shader to the sampler reads; `None` for a shader without such a message.
pub fn sampled(
    dword: &impl Fn(u32) -> Option<u32>,
    primitive: State,
    device: &DeviceInfo,
) -> Option<Target> {
    let index = requests(dword, primitive, device).find_map(|request| match request {
        Some(Request::Sampler(request)) => Some(u32::from(request.surface)),
        _ => None,
    })?;
    surface(dword, primitive, device, index, Use::Sampler).ok()
}

/// A surface of a primitive's pixel shader by its binding table index.
fn surface(
    dword: &impl Fn(u32) -> Option<u32>,
    primitive: State,
    device: &DeviceInfo,
    index: u32,
    of: Use,
) -> Result<Target, PictureError> {
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
    let structure = device.tables.structure("SURFACE_STATE");
    let mut words = vec![0; structure.map_or(0, |structure| structure.dwords as usize)];
    for (i, word) in words.iter_mut().enumerate() {
        let at = address.wrapping_add(i as u32 * 4);
        *word = dword(at).ok_or(PictureError::Unmapped {
            what: "SURFACE_STATE",
            address: at,
        })?;
    }
    let desc = device.readers.functions.surface(&words);
    let surface = Surface::resolve(&desc, of).map_err(|error| PictureError::Surface {
        address,
        dword: words.first().copied().unwrap_or(0),
        error,
    })?;
    Ok(Target {
        state: address,
        format: desc.format_code,
        surface,
    })
}

/// Binding table index of the render target write that ends the pixel shader.
fn written_index(
    dword: &impl Fn(u32) -> Option<u32>,
    state: State,
    device: &DeviceInfo,
) -> Option<u32> {
    match requests(dword, state, device).last()?? {
        Request::Write(WriteRequest {
            surface,
            kind: WriteKind::RenderTarget { .. },
            ..
        }) => Some(u32::from(surface)),
        _ => None,
    }
}

/// The messages of a primitive's pixel shader in the order of its instructions, up to the first that ends the thread. `None` stands for
/// one that cannot be told without the registers.
fn requests(
    dword: &impl Fn(u32) -> Option<u32>,
    state: State,
    device: &DeviceInfo,
) -> impl Iterator<Item = Option<Request>> {
    let isa = device.isa;
    let wm = state.general_base.wrapping_add(state.wm_state);
    let kernel = state
        .pixel_kernel
        .or_else(|| pipeline::kernel_pointer(device.tables, "WM_STATE", wm, dword));
    let mut next = kernel.map(|kernel| state.kernel_base.wrapping_add(kernel));
    let items = std::iter::from_fn(move || {
        let at = next?;
        let item = instruction_at(isa, at, dword)?;
        let ends = item.ends_thread();
        // CAST: eight or sixteen bytes.
        next = (!ends).then_some(at.wrapping_add(item.size as u32));
        // What cannot be decoded cannot be a plain send either.
        let send = item.inst.ok().filter(|inst| inst.opcode == Opcode::Send);
        Some(send.map(|inst| device.request(&inst.send?)))
    });
    items.take(MAX_INSTRUCTIONS).flatten()
}

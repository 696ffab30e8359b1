//! Readers of state that ValleyView's commands hold.
//!
//! genxml gen7: 3DSTATE_VS, _HS, _DS, _GS, _WM and _PS, GPGPU_WALKER, INTERFACE_DESCRIPTOR_DATA, STATE_BASE_ADDRESS. Not modelled: kernels of
//! media objects.
use alloc::vec::Vec;

use regs::gen70::{
    GpgpuWalker, InterfaceDescriptorData, MediaInterfaceDescriptorLoad, State3dDs, State3dGs,
    State3dHs, State3dPs, State3dVs, State3dWm, StateBaseAddress,
};

use super::super::gen60::state as before;
use super::super::state::present;
use super::super::{Dword, Last, StateOps, UnitKernel};

/// See [`StateOps`].
pub static OPS: StateOps = StateOps {
    // STATE_BASE_ADDRESS lies as on Sandy Bridge.
    bases: before::bases,
    setup: &[
        State3dVs::ID,
        State3dHs::ID,
        State3dDs::ID,
        State3dGs::ID,
        State3dWm::ID,
        State3dPs::ID,
        StateBaseAddress::ID,
        MediaInterfaceDescriptorLoad::ID,
        GpgpuWalker::ID,
    ],
    kernels,
};

/// Bytes of an interface descriptor.
const DESCRIPTOR: u32 = InterfaceDescriptorData::LEN as u32 * 4;

/// The kernel of the last grid of thread groups: its descriptor is relative to the base of dynamic state.
fn grid(last: Last<'_>, dword: Dword<'_>) -> Option<u32> {
    let walker = GpgpuWalker::from_dwords(last(GpgpuWalker::ID)?);
    let load = last(MediaInterfaceDescriptorLoad::ID)?;
    let load = MediaInterfaceDescriptorLoad::from_dwords(load);
    let bases = StateBaseAddress::from_dwords(last(StateBaseAddress::ID)?);
    let descriptor = bases
        .dynamic_state_base_address()
        .wrapping_add(load.interface_descriptor_data_start_address())
        .wrapping_add(walker.interface_descriptor_offset() * DESCRIPTOR);
    let words = [dword(descriptor)?];
    Some(InterfaceDescriptorData::from_dwords(&words).kernel_start_pointer())
}

fn kernels(last: Last<'_>, _: u32, dword: Dword<'_>) -> Vec<UnitKernel> {
    let vs = last(State3dVs::ID).map(State3dVs::from_dwords);
    let hs = last(State3dHs::ID).map(State3dHs::from_dwords);
    let ds = last(State3dDs::ID).map(State3dDs::from_dwords);
    let gs = last(State3dGs::ID).map(State3dGs::from_dwords);
    let wm = last(State3dWm::ID).map(State3dWm::from_dwords);
    let ps = last(State3dPs::ID).map(State3dPs::from_dwords);
    let vs = vs.filter(State3dVs::enable);
    let hs = hs.filter(State3dHs::enable);
    let ds = ds.filter(State3dDs::enable);
    let gs = gs.filter(State3dGs::enable);
    let ps = ps.filter(|_| wm.is_some_and(|wm| wm.thread_dispatch_enable()));
    // A width beside others has a pointer of its own (Mesa `brw_fs_get_dispatch_enables`).
    let widths = |ps: &State3dPs| {
        [
            ps.n8_pixel_dispatch_enable(),
            ps.n16_pixel_dispatch_enable(),
            ps.n32_pixel_dispatch_enable(),
        ]
    };
    let several = ps.filter(|ps| widths(ps).into_iter().filter(|on| *on).count() > 1);
    let wide = several.filter(|ps| widths(ps)[2]);
    let middle = several.filter(|ps| widths(ps)[1]);
    present([
        ("VS", vs.map(|state| state.kernel_start_pointer())),
        ("HS", hs.map(|state| state.kernel_start_pointer())),
        ("DS", ds.map(|state| state.kernel_start_pointer())),
        ("GS", gs.map(|state| state.kernel_start_pointer())),
        ("PS", ps.map(|state| state.kernel_start_pointer_0())),
        ("PS 32", wide.map(|state| state.kernel_start_pointer_1())),
        ("PS 16", middle.map(|state| state.kernel_start_pointer_2())),
        ("CS", grid(last, dword)),
    ])
}

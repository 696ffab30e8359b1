//! Readers of state on Sandy Bridge, where the commands of units hold it.
//!
//! genxml gen6: 3DSTATE_VS, 3DSTATE_GS, 3DSTATE_WM, STATE_BASE_ADDRESS.
use alloc::vec::Vec;

use regs::gen60::{State3dGs, State3dVs, State3dWm, StateBaseAddress};

use super::super::state::{HIGHEST, differing, present};
use super::super::{Bases, Dword, Last, StateOps, UnitKernel};

/// See [`StateOps`].
pub static OPS: StateOps = StateOps {
    bases,
    setup: &[State3dVs::ID, State3dGs::ID, State3dWm::ID],
    kernels,
};

pub(in super::super) fn bases(command: &[u32]) -> Bases {
    let c = StateBaseAddress::from_dwords(command);
    let mut raised = c;
    if c.general_state_access_upper_bound_modify_enable()
        && c.general_state_access_upper_bound() != 0
    {
        raised.set_general_state_access_upper_bound(HIGHEST);
    }
    if c.instruction_access_upper_bound_modify_enable() && c.instruction_access_upper_bound() != 0 {
        raised.set_instruction_access_upper_bound(HIGHEST);
    }
    Bases {
        general: c
            .general_state_base_address_modify_enable()
            .then(|| c.general_state_base_address()),
        instructions: c
            .instruction_base_address_modify_enable()
            .then(|| c.instruction_base_address()),
        bounds: differing(c.dwords(), raised.dwords()),
    }
}

fn kernels(last: Last<'_>, _: u32, _: Dword<'_>) -> Vec<UnitKernel> {
    let vs = last(State3dVs::ID).map(State3dVs::from_dwords);
    let gs = last(State3dGs::ID).map(State3dGs::from_dwords);
    let wm = last(State3dWm::ID).map(State3dWm::from_dwords);
    let vs = vs.filter(State3dVs::enable);
    let gs = gs.filter(State3dGs::enable);
    let wm = wm.filter(State3dWm::thread_dispatch_enable);
    // A width beside others has a pointer of its own (Mesa `brw_fs_get_dispatch_enables`).
    let widths = |wm: &State3dWm| {
        [
            wm.n8_pixel_dispatch_enable(),
            wm.n16_pixel_dispatch_enable(),
            wm.n32_pixel_dispatch_enable(),
        ]
    };
    let several = wm.filter(|wm| widths(wm).into_iter().filter(|on| *on).count() > 1);
    let wide = several.filter(|wm| widths(wm)[2]);
    let middle = several.filter(|wm| widths(wm)[1]);
    present([
        ("VS", vs.map(|state| state.kernel_start_pointer())),
        ("GS", gs.map(|state| state.kernel_start_pointer())),
        ("PS", wm.map(|state| state.kernel_start_pointer_0())),
        ("PS 32", wide.map(|state| state.kernel_start_pointer_1())),
        ("PS 16", middle.map(|state| state.kernel_start_pointer_2())),
    ])
}

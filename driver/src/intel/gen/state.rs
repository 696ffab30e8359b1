//! Readers of state, one set for the tables of each generation.
//!
//! The fields have the same names in all generations of unit state in memory; where they lie is the tables' business.
use alloc::vec::Vec;

use super::{Dword, UnitKernel};

/// Reads the dwords of a structure; those that cannot be read make it absent.
fn load<const N: usize>(dword: Dword<'_>, address: u32) -> Option<[u32; N]> {
    let mut out = [0; N];
    for (index, word) in (0u32..).zip(&mut out) {
        *word = dword(address.wrapping_add(index * 4))?;
    }
    Some(out)
}

/// The kernels that are in use, in the order of the pipeline.
pub(super) fn present<const N: usize>(
    pointers: [(&'static str, Option<u32>); N],
) -> Vec<UnitKernel> {
    let kernels = pointers
        .into_iter()
        .map(|(unit, pointer)| pointer.map(|pointer| UnitKernel { unit, pointer }));
    kernels.flatten().collect()
}

/// Dwords in which two forms of a command differ.
pub(super) fn differing(one: &[u32], other: &[u32]) -> Vec<usize> {
    let pairs = one.iter().zip(other).enumerate();
    pairs
        .filter(|(_, (one, other))| one != other)
        .map(|(dword, _)| dword)
        .collect()
}

/// An upper bound that nothing lies above.
pub(super) const HIGHEST: u32 = !0xfff;

/// The readers for a generation's tables, as a module. `$instructions` takes a STATE_BASE_ADDRESS, the general base that it
/// sets, and a copy of the command whose bounds are raised: it raises those of instructions and tells their base.
macro_rules! readers {
    ($name:ident, $instructions:expr) => {
        /// Readers for the tables of one generation.
        pub mod $name {
            use alloc::vec::Vec;

            use regs::$name::{
                ClipState, GsState, SfState, State3dPipelinedPointers, StateBaseAddress, VsState,
                WmState,
            };

            use super::{HIGHEST, differing, load, present};
            use crate::intel::r#gen::{Bases, Dword, Last, StateOps, UnitKernel};

            /// See [`StateOps`].
            pub static OPS: StateOps = StateOps {
                bases,
                setup: &[State3dPipelinedPointers::ID],
                kernels,
            };

            type Instructions =
                fn(&StateBaseAddress, Option<u32>, &mut StateBaseAddress) -> Option<u32>;

            fn bases(command: &[u32]) -> Bases {
                let c = StateBaseAddress::from_dwords(command);
                let general = c
                    .general_state_base_address_modify_enable()
                    .then(|| c.general_state_base_address());
                let mut raised = c;
                if c.general_state_access_upper_bound_modify_enable()
                    && c.general_state_access_upper_bound() != 0
                {
                    raised.set_general_state_access_upper_bound(HIGHEST);
                }
                let instructions: Instructions = $instructions;
                let instructions = instructions(&c, general, &mut raised);
                Bases {
                    general,
                    instructions,
                    bounds: differing(c.dwords(), raised.dwords()),
                }
            }

            fn kernels(last: Last<'_>, general: u32, dword: Dword<'_>) -> Vec<UnitKernel> {
                let Some(command) = last(State3dPipelinedPointers::ID) else {
                    return Vec::new();
                };
                let pointers = State3dPipelinedPointers::from_dwords(command);
                let at = |offset: u32| general.wrapping_add(offset);
                let vs = load(dword, at(pointers.pointer_to_vs_state())).map(VsState);
                let gs = load(dword, at(pointers.pointer_to_gs_state())).map(GsState);
                let clip = load(dword, at(pointers.pointer_to_clip_state())).map(ClipState);
                let sf = load(dword, at(pointers.pointer_to_sf_state())).map(SfState);
                let wm = load(dword, at(pointers.pointer_to_wm_state())).map(WmState);
                let vs = vs.filter(VsState::enable);
                let gs = gs.filter(|_| pointers.gs_enable());
                let clip = clip.filter(|_| pointers.clip_enable());
                let wm = wm.filter(WmState::thread_dispatch_enable);
                present([
                    ("VS", vs.map(|state| state.kernel_start_pointer())),
                    ("GS", gs.map(|state| state.kernel_start_pointer())),
                    ("CLIP", clip.map(|state| state.kernel_start_pointer())),
                    ("SF", sf.map(|state| state.kernel_start_pointer())),
                    ("PS", wm.map(|state| state.kernel_start_pointer_0())),
                ])
            }
        }
    };
}

readers!(gen40, |_, general, _| general);
readers!(gen45, |_, general, _| general);
readers!(gen50, |command, _, raised| {
    if command.instruction_access_upper_bound_modify_enable()
        && command.instruction_access_upper_bound() != 0
    {
        raised.set_instruction_access_upper_bound(HIGHEST);
    }
    command
        .instruction_base_address_modify_enable()
        .then(|| command.instruction_base_address())
});

#[cfg(test)]
mod tests {
    use super::{gen40, gen50};
    use crate::intel::r#gen::Bases;

    /// PRM vol2 STATE_BASE_ADDRESS: kernels lie at the general base, and one of two bounds is in force.
    #[test]
    fn kernels_of_the_965_are_relative_to_the_general_base() {
        let command = [0x6101_0004, 0x0010_0001, 1, 1, 0x0020_0001, 1];
        let expected = Bases {
            general: Some(0x0010_0000),
            instructions: Some(0x0010_0000),
            bounds: [4].into(),
        };
        assert_eq!((gen40::OPS.bases)(&command), expected);
        let unchanged = [0x6101_0004, 0x0010_0000, 1, 1, 1, 1];
        assert_eq!((gen40::OPS.bases)(&unchanged), Bases::default());
    }

    /// Mesa's genxml, gen5: Instruction Base Address in dword 4, the bounds of general state and instructions in 5 and 7.
    #[test]
    fn kernels_of_ironlake_have_a_base_and_a_bound_of_their_own() {
        let command = [
            0x6101_0006,
            1,
            1,
            1,
            0x0030_0001,
            0x0020_0001,
            1,
            0x0040_0001,
        ];
        let expected = Bases {
            general: Some(0),
            instructions: Some(0x0030_0000),
            bounds: [5, 7].into(),
        };
        assert_eq!((gen50::OPS.bases)(&command), expected);
    }
}

//! Disassembly of the kernels that a frame's threads ran.
//!
//! PRM: volume 4, 2.6.2 (end of thread). Up to the first instruction that ends the thread.

use std::collections::BTreeMap;

use super::Isa;
use crate::capture::Exec;
use crate::frame_map::DrawCall;

/// Instructions of one kernel that are printed at most.
const MAX_INSTRUCTIONS: u32 = 4096;

/// Lines by start pointer.
pub type Kernels = BTreeMap<String, Vec<String>>;

/// Adds the kernels of a draw call that are not there yet; the name is submission and start pointer.
pub fn collect(exec: &Exec, draw: &DrawCall, isa: Isa, kernels: &mut Kernels) {
    let of = &draw.kernels;
    for pointer in [of.vs, of.gs, of.clip, of.sf, of.wm].into_iter().flatten() {
        let base = draw.state.kernel_base;
        let name = format!("{}:{pointer}", draw.exec);
        kernels
            .entry(name)
            .or_insert_with(|| lines(exec, base, pointer, isa));
    }
}

fn lines(exec: &Exec, base: u32, pointer: u32, isa: Isa) -> Vec<String> {
    let mut out = Vec::new();
    for n in 0..MAX_INSTRUCTIONS {
        let at = pointer.wrapping_add(n * 16);
        let mut raw = [0; 4];
        for (n, word) in (0u32..).zip(&mut raw) {
            let Some(w) = exec.dword(base.wrapping_add(at).wrapping_add(n * 4)) else {
                out.push(format!("{at:08x}  not mapped"));
                return out;
            };
            *word = w;
        }
        match isa::decode(isa, raw) {
            Ok(inst) => {
                out.push(format!("{at:08x}  {}", isa::print(isa, &inst)));
                if inst
                    .send
                    .and_then(|send| send.imm)
                    .is_some_and(|desc| desc >> 31 == 1)
                {
                    return out;
                }
            }
            Err(error) => out.push(format!("{at:08x}  {error}")),
        }
    }
    out
}

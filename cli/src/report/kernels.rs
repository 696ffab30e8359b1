//! Disassembly of the kernels that a frame's threads ran.
//!
//! PRM: volume 4, 2.6.2 (end of thread). Up to the first instruction that ends the thread.

use std::collections::BTreeMap;

use isa::compact::instruction_at;

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
    let others = [of.vs, of.hs, of.ds, of.gs, of.clip, of.sf];
    for pointer in others.into_iter().chain(of.wm).flatten() {
        let base = draw.state.kernel_base;
        let name = format!("{}:{pointer}", draw.exec);
        kernels
            .entry(name)
            .or_insert_with(|| lines(exec, base, pointer, isa));
    }
}

fn lines(exec: &Exec, base: u32, pointer: u32, isa: Isa) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = pointer;
    for _ in 0..MAX_INSTRUCTIONS {
        let Some(item) = instruction_at(isa, base.wrapping_add(at), |at| exec.dword(at)) else {
            out.push(format!("{at:08x}  not mapped"));
            return out;
        };
        match &item.inst {
            Ok(inst) => {
                out.push(format!("{at:08x}  {}", isa::print(isa, inst)));
                if item.ends_thread() {
                    return out;
                }
            }
            Err(error) => out.push(format!("{at:08x}  {error}")),
        }
        // CAST: eight or sixteen bytes.
        at = at.wrapping_add(item.size as u32);
    }
    out
}

//! What threads read of memory, as far as that is known before they run.
//!
//! PRM: volume 4, 5.3 (binding table), 5.5 (constants and buffers). The system routine is another kernel: of threads that may come to it
//! nothing is known.

use super::wave;
use super::{KernelState, Pushed, Td};
use crate::intel::machine::Machine;
use crate::intel::shared::binding;
use crate::intel::shared::context::{ThreadContext, sfid};
use crate::intel::surface::Range;

/// The index that names no surface: all of memory.
const STATELESS: u8 = 255;

impl Td {
    /// Where all lies that threads read, which write nothing but the URB; `None` where that is not known. The kernel must have run
    /// once.
    pub fn reads(
        &mut self,
        kernel: &KernelState,
        (context, pushed): (&ThreadContext, Option<&Pushed>),
        machine: &Machine<'_>,
    ) -> Option<Vec<Range>> {
        let excepts = kernel.illegal_opcode_exception
            || kernel.mask_stack_exception
            || kernel.software_exception;
        if excepts {
            return None;
        }
        let mut ranges: Vec<_> = pushed.into_iter().flat_map(Pushed::ranges).collect();
        let mut table = Some(wave::always(context, None));
        for &(function, desc) in self.cache.messages(kernel.ip)? {
            match function {
                sfid::MATH | sfid::URB => {}
                sfid::DATAPORT_READ | sfid::CONSTANT_CACHE => {
                    // CAST: the low eight bits are the index of the surface.
                    let index = desc as u8;
                    if index == STATELESS {
                        return None;
                    }
                    ranges.extend(table.take().into_iter().flatten());
                    let at = binding::surface_address(machine.mem, context, index).ok()?;
                    ranges.push(machine.shared.dataport.kept_view(at)?.range());
                }
                _ => return None,
            }
        }
        Some(ranges)
    }
}

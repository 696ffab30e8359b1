//! The compiler without machine code: loops, in the widest vectors of the host.

use crate::vectors::vectors;
use eu::loops::Kernel;
use eu::stretch::{Channels, Compiled, Compiler, Registers, Step};
use std::sync::Arc;

/// A compiler for every host, also for one that makes no memory executable.
#[must_use]
pub fn loops() -> Arc<dyn Compiler> {
    Arc::new(Loops)
}

#[derive(Debug)]
struct Loops;

impl Compiler for Loops {
    fn takes(&self, step: &Step) -> bool {
        Kernel::takes(step)
    }

    fn compile(&self, stretches: &[Vec<Step>]) -> Option<Arc<dyn Compiled>> {
        Some(Arc::new(Looped(Kernel::new(stretches)?)))
    }
}

#[derive(Debug)]
struct Looped(Kernel);

impl Compiled for Looped {
    fn run(&self, stretch: usize, registers: &mut Registers, channels: &mut Channels<'_>) -> u32 {
        vectors(
            #[inline(always)]
            || self.0.run(stretch, registers, channels),
        )
    }
}

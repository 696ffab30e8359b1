//! Which kernels with branches are compiled as a whole.

use super::{COUNTED, KEPT, LOOKED};
use crate::cache::KernelCache;
use crate::graph::{self, Graph};

/// Each step is compiled alone in its block and behind the blocks in front of it, for all channels and for some.
const FORMS: u64 = 4;

impl KernelCache {
    /// The kernel at `ip`, when it has branches and all of it but messages is compiled.
    #[inline]
    #[must_use]
    pub fn graph(&self, ip: u32) -> Option<&Graph> {
        let kernel = self.warm.graphs.iter().find(|(at, _)| *at == ip)?;
        Some(&kernel.1)
    }

    /// Compiles the kernel at `ip` as a whole, if it is one with branches.
    pub(super) fn compile_graph(&mut self, ip: u32) {
        let Some(compiler) = self.warm.compiler.clone() else {
            return;
        };
        let known = self.warm.graphs.iter().position(|(at, _)| *at == ip);
        let complete = known.is_some_and(|at| self.warm.graphs[at].1.is_complete());
        if self.warm.checked || complete || self.straight(ip).is_some() || !self.warm.pay(LOOKED) {
            return;
        }
        let page = self.page(ip);
        let Some(plan) = graph::build(self, (page, ip), compiler.as_ref()) else {
            return;
        };
        let warm = &mut self.warm;
        let known = warm.wholes.get(&plan.blocks).cloned();
        let steps = plan.blocks.steps().count() as u64;
        if known.is_none() && !warm.pay(FORMS * steps) {
            return;
        }
        let compiled = known.unwrap_or_else(|| {
            let compiled = compiler.whole(&plan.blocks);
            warm.compilations += u64::from(compiled.is_some());
            if warm.wholes.len() >= KEPT {
                warm.wholes.clear();
            }
            warm.wholes.insert(plan.blocks.clone(), compiled.clone());
            compiled
        });
        warm.graphs.retain(|(at, _)| *at != ip);
        if let Some(compiled) = compiled.filter(|_| warm.graphs.len() < COUNTED) {
            warm.graphs.push((ip, Graph::new(plan, compiled)));
        }
    }
}

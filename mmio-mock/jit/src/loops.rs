//! The compiler without machine code: loops over eight channels at a time.
//!
//! The operands of a step are at known places and there is nothing to decode any more, so that a step is a few operations on the vectors
//! of the host.

mod compute;
mod doubles;
mod line;
mod operand;
mod singles;
mod words;

use crate::clean::Clean;
use crate::eight::{Eight, Loops, Plain, eight};
use eu::stretch::{Channels, Compiled, Compiler, Operation, Registers, Step};
use line::Line;
use std::sync::Arc;

/// A compiler for every host, also for one that makes no memory executable.
#[must_use]
pub fn loops() -> Arc<dyn Compiler> {
    Arc::new(Looping { plain: false })
}

/// The same without the vectors of this host, as any other host has them: for tests.
#[doc(hidden)]
#[must_use]
pub fn plain_loops() -> Arc<dyn Compiler> {
    Arc::new(Looping { plain: true })
}

#[derive(Debug)]
struct Looping {
    plain: bool,
}

/// Whether there are loops for an instruction.
fn takes(step: &Step) -> bool {
    !(step.operation.only_rounds() && step.truncate)
        && (step.truncate || step.accumulator.is_none() || step.operation.is_integer())
}

impl Compiler for Looping {
    fn takes(&self, step: &Step) -> bool {
        takes(step)
    }

    fn compile(&self, stretches: &[Vec<Step>]) -> Option<Arc<dyn Compiled>> {
        // The interpreter makes no step with a place outside of the registers.
        let known = |step: &Step| step.is_inside() && takes(step);
        if !stretches.iter().flatten().all(known) {
            return None;
        }
        let one = |steps: &Vec<Step>| {
            let mut clean = Clean::default();
            let line = |step: &Step| {
                let line = Line::of(step, &clean);
                clean.step(step);
                line
            };
            steps.iter().map(line).collect()
        };
        Some(Arc::new(Looped {
            stretches: stretches.iter().map(one).collect(),
            plain: self.plain,
        }))
    }
}

/// A kernel's stretches.
#[derive(Debug)]
struct Looped {
    stretches: Vec<Vec<Line>>,
    plain: bool,
}

impl Compiled for Looped {
    fn run(&self, stretch: usize, registers: &mut Registers, channels: &mut Channels<'_>) -> u32 {
        let Some(lines) = self.stretches.get(stretch) else {
            return 0;
        };
        let run = Run {
            lines,
            registers,
            channels,
        };
        if self.plain {
            run.run(Plain)
        } else {
            eight(run)
        }
    }
}

/// A run of a stretch.
struct Run<'a, 'b> {
    lines: &'a [Line],
    registers: &'a mut Registers,
    channels: &'a mut Channels<'b>,
}

impl Loops for Run<'_, '_> {
    type Out = u32;

    #[inline(always)]
    fn run<E: Eight>(self, host: E) -> u32 {
        let Some(flat) = operand::flat(self.registers) else {
            return 0;
        };
        let mut leaves = 0;
        for line in self.lines {
            if matches!(line.operation, Operation::Leave) {
                leaves += 1;
                if line.is_left(self.channels) {
                    return leaves;
                }
            } else {
                compute::run(host, line, flat, self.channels);
            }
        }
        0
    }
}

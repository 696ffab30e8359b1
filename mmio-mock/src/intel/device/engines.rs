//! The engines of a device: a streamer for each row, and the time of each.
//!
//! Engines work at the same time. In each turn the render engine goes first; the others then have as many ticks as it has
//! used, in the order of the rows. So what comes of several engines is the same in every run.

use mem::{Memory, Process};
use regs::platform::Generation;

use super::Device;
use crate::intel::cs::Cs;
use crate::intel::cs::engine::EngineInfo;
use crate::intel::ff::Step;
use crate::intel::registers::RegFile;
use crate::intel::spin::Spin;

/// An engine at work.
pub(super) struct Engine {
    pub(super) cs: Cs,
    /// The space of the process whose tables it has loaded.
    pub(super) process: Process,
    /// Ticks that work has taken beyond its slice.
    pub(super) debt: u64,
    pub(super) spin: Spin,
    /// The last command has ended a round in which nothing was done.
    pub(super) spins: bool,
}

impl Engine {
    fn new(info: &'static EngineInfo, number: u8) -> Self {
        Engine {
            cs: Cs::new(info),
            process: Process::new(number).unwrap_or(Process::FIRST),
            debt: 0,
            spin: Spin::default(),
            spins: false,
        }
    }

    /// Its row.
    #[inline]
    pub(super) fn info(&self) -> &'static EngineInfo {
        self.cs.info()
    }

    /// Back to the state after reset.
    pub(super) fn reset(&mut self) {
        self.cs.reset();
        self.debt = 0;
        self.spin.forget();
        self.spins = false;
    }

    /// Whether there is nothing to parse, and nothing that it stopped at.
    pub(super) fn idle(&self, regs: &RegFile) -> bool {
        self.cs.idle(regs) && !self.cs.stuck()
    }

    /// A command has been executed: whether the parser goes round and round.
    #[inline]
    pub(super) fn follow(&mut self, step: Step, tables: &'static Generation, regs: &RegFile) {
        let registers = &self.cs.info().registers;
        self.spins = step == Step::Progress
            && self
                .spin
                .round(tables, regs.get(registers.acthd), regs.get(registers.ipehr));
    }
}

/// All engines.
pub(super) struct Engines {
    /// The first row, which has the pipelines.
    pub(super) render: Engine,
    /// The further rows.
    pub(super) others: Vec<Engine>,
    /// One of the further engines may have something to do: a register was written since they had nothing.
    pub(super) awake: bool,
}

impl Engines {
    /// The engines of a device after power-on.
    pub(super) fn new(render: &'static EngineInfo, others: &'static [EngineInfo]) -> Self {
        Engines {
            render: Engine::new(render, 0),
            others: (1..)
                .zip(others)
                .map(|(number, info)| Engine::new(info, number))
                .collect(),
            awake: false,
        }
    }

    /// The engine of a row, 0 for the render engine.
    #[inline]
    pub(super) fn at(&mut self, row: usize) -> Option<&mut Engine> {
        match row.checked_sub(1) {
            None => Some(&mut self.render),
            Some(row) => self.others.get_mut(row),
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Engine> {
        core::iter::once(&self.render).chain(&self.others)
    }

    /// All of them.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Engine> {
        core::iter::once(&mut self.render).chain(&mut self.others)
    }

    /// A register has been written.
    #[inline]
    pub(super) fn wake(&mut self) {
        self.awake = !self.others.is_empty();
    }
}

/// What the engines beside the render engine have done.
pub(super) struct Others {
    /// Ticks that the longest of them has used.
    pub(super) used: u64,
    /// All that have used time go round and round without doing anything.
    pub(super) spin: bool,
}

impl Device {
    /// Lets the engines beside the render engine work for `ticks`.
    #[cold]
    pub(super) fn step_others(&mut self, memory: &mut Memory, ticks: u64) -> Others {
        let mut others = Others {
            used: 0,
            spin: true,
        };
        for row in 1..=self.engines.others.len() {
            let used = ticks - self.step_other(row, memory, ticks);
            others.used = others.used.max(used);
            let engine = self.engines.at(row);
            others.spin &= used == 0 || engine.is_some_and(|engine| engine.spins);
        }
        self.engines.awake = others.used > 0;
        others
    }

    /// Lets one of them work for `ticks`; how many are left.
    fn step_other(&mut self, row: usize, memory: &mut Memory, ticks: u64) -> u64 {
        let mut left = ticks;
        while left > 0 {
            let Some(engine) = self.engines.at(row) else {
                break;
            };
            let owed = engine.debt.min(left);
            engine.debt -= owed;
            left -= owed;
            let before = left;
            if left == 0 || self.step(row, memory, &mut left) != Step::Progress || left == before {
                break;
            }
        }
        left
    }
}

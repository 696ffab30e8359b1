//! Registers that answer by themselves, and those that load tables of a process.
//!
//! i915 gt/gen6_ppgtt.c, gt/intel_ring_submission.c (`flush_cs_tlb`), intel_uncore.c (forcewake), vlv_sideband.c. What answers is a row of the device.

use mem::{Memory, Root, Space, Tables};

use super::Device;
use crate::intel::r#gen::{Answer, Sideband, SidebandWord};

impl Device {
    /// A register has been written: what comes of it beside its new value.
    pub(super) fn answer(&mut self, offset: u32, memory: &mut Memory) {
        let info = self.info;
        if info.answers.is_empty() && info.process_tables.is_none() {
            return;
        }
        let Some(place) = self.regs.place(offset) else {
            return;
        };
        for answer in info.answers.iter().filter(|answer| answer.of() == place.id) {
            match *answer {
                Answer::Shows { from, to, bits } => {
                    let value = self.regs.get(to) & !bits | self.regs.get(from) & bits;
                    self.regs.set(to, value);
                }
                Answer::Falls { register, bits } => {
                    let value = self.regs.get(register);
                    if value & bits != 0 {
                        self.regs.set(register, value & !bits);
                        // Whatever is asked for so, translations may be what is to be forgotten: that is never wrong.
                        for engine in self.engines.all() {
                            memory.invalidate_translations(Space::Process(engine.process));
                        }
                    }
                }
                Answer::Sideband(sideband) => self.over_sideband(sideband),
            }
        }
        let loads = |id| {
            let mut engines = info.all_engines().filter_map(|engine| engine.space);
            engines.any(|space| [space.base, space.valid, space.enable.0].contains(&id))
        };
        if info.process_tables.is_some() && loads(place.id) {
            self.load_tables(memory);
        }
    }

    /// Carries out the access that is asked for.
    fn over_sideband(&mut self, sideband: &Sideband) {
        let value = self.regs.get(sideband.ask);
        if value & sideband.busy == 0 {
            return;
        }
        self.regs.set(sideband.ask, value & !sideband.busy);
        let Some((port, writes)) = (sideband.asked)(value) else {
            return;
        };
        let address = self.regs.get(sideband.address);
        let mut places = sideband.places.iter();
        let place = places.find(|place| (place.0, place.1) == (port, address));
        match place.map(|place| place.2) {
            Some(SidebandWord::Keeps(word)) if writes => {
                if let Some(word) = self.sideband.get_mut(word) {
                    *word = self.regs.get(sideband.data);
                }
            }
            _ if writes => {}
            place => {
                let word = |word: usize| self.sideband.get(word).copied();
                let read = match place {
                    Some(SidebandWord::Keeps(at) | SidebandWord::Shows(at)) => word(at),
                    Some(SidebandWord::Is(value)) => Some(value),
                    None => None,
                };
                self.regs.set(sideband.data, read.unwrap_or(0));
            }
        }
    }

    /// Gives each engine the tables that its registers name.
    pub(super) fn load_tables(&mut self, memory: &mut Memory) {
        let Some(tables) = self.info.process_tables else {
            return;
        };
        for engine in self.engines.all() {
            let space = engine.info().space;
            let space = space.filter(|space| {
                let (register, bit) = space.enable;
                self.regs.get(register) & bit != 0 && self.regs.get(space.valid) != 0
            });
            let root = space.map(|space| (tables.directory)(self.regs.get(space.base)));
            let loaded = root.map(|entry| Tables {
                format: tables.format,
                root: Root::Gtt(entry),
            });
            memory.set_tables(engine.process, loaded);
        }
        // What was derived from memory was derived from that of the old tables.
        self.td.invalidate();
        self.shared.invalidate();
    }
}

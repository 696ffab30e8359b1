//! The state of a device after power-on and after resets.
//!
//! PRM: volume 1 (registers and their reset values). How the host asks for a reset is in the device's row.

use std::sync::Arc;

use regs::any::fields;
use regs::desc::Engine;
use regs::ids::RegId;

use super::Device;
use crate::core::memory::lock;
use crate::intel::blt::Blt;
use crate::intel::cs::engine::Domain;
use crate::intel::r#gen::DeviceInfo;
use crate::intel::r#gen::reset::Port;
use crate::intel::registers::RegFile;
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::places::Places;
use crate::intel::urb::Urb;

impl Device {
    /// The register in which the host asks for a reset, if that is where it asks: the reset is over at once.
    pub(super) fn answer_reset(&mut self) {
        let reset = &self.info.reset;
        if let Port::Register(id) = reset.port
            && let Some(answer) = (reset.answer)(self.regs.get(id))
        {
            self.reset_domains(answer.resets);
            self.regs.set(id, answer.reads);
        }
    }

    /// A byte of configuration space has been written; what it reads now.
    pub(super) fn answer_config(&mut self, offset: u8, value: u8) -> u8 {
        let reset = &self.info.reset;
        if reset.port != Port::Config(offset) {
            return value;
        }
        let Some(answer) = (reset.answer)(u32::from(value)) else {
            return value;
        };
        self.reset_domains(answer.resets);
        // CAST: the port is a byte.
        answer.reads as u8
    }

    /// A reset of some domains: registers, units and threads; memory and GTT survive, and the registers that the device's
    /// row names.
    pub(super) fn reset_domains(&mut self, domains: &[Domain]) {
        let tables = self.info.tables;
        // The render domain has all registers but those of engines in other domains.
        if domains.contains(&Domain::Render) {
            let keeps = self.info.reset.keeps.iter().copied();
            let others = self.info.engines.iter();
            let others = others.filter(|info| info.domain != Domain::Render);
            let keeps = keeps.chain(others.flat_map(|info| info.owned(tables)));
            let kept: Vec<_> = keeps.map(|id| (id, self.regs.get(id))).collect();
            self.regs.reset();
            for (id, value) in kept {
                self.regs.set(id, value);
            }
            table_size(&mut self.regs, self.info);
            self.debug.reset();
            self.debug.set_global_enable(false);
            self.ff.reset();
            self.media.reset();
            let mut engines = self.info.engines.iter();
            if !engines.any(|engine| engine.class == Engine::Blitter) {
                self.blt = Blt::default();
            }
            self.td.reset();
            self.urb = Urb::with_rows(self.info.urb_rows);
            self.shared = shared(self.info);
        }
        for engine in self.engines.all_mut() {
            let info = engine.info();
            if !domains.contains(&info.domain) {
                continue;
            }
            engine.reset();
            if info.class == Engine::Blitter {
                self.blt = Blt::default();
            }
            if info.domain != Domain::Render {
                for id in info.owned(tables) {
                    self.regs.set(id, self.regs.at_reset(id));
                }
            }
        }
        if domains.contains(&Domain::Render) && self.debug.host().is_some() {
            self.number_threads();
        }
        let memory = Arc::clone(&self.memory);
        self.load_tables(&mut lock(&memory));
        self.engines.wake();
    }
}

/// The registers of a device after power-on.
pub(super) fn registers(info: &DeviceInfo) -> RegFile {
    let mut regs = RegFile::new(info.tables);
    table_size(&mut regs, info);
    regs
}

/// PGTBL_CTL says how long the translation table is, where there is one (intel-gtt.c `i965_gtt_total_entries`).
fn table_size(regs: &mut RegFile, info: &DeviceInfo) {
    use fields::PGTBL_CTL::SIZE;
    if (info.tables.register_desc)(RegId::PgtblCtl).is_none() {
        return;
    }
    // Four bytes an entry, in KiB.
    let size = match info.gtt_entries / 256 {
        2048 => SIZE::Size2mb,
        1024 => SIZE::Size1mb,
        _ => SIZE::Size512kb,
    };
    let control = regs.get(RegId::PgtblCtl) & !(SIZE.mask << SIZE.shift);
    regs.set(RegId::PgtblCtl, control | size.value);
}

/// The shared functions of a device.
pub(super) fn shared(info: &DeviceInfo) -> SharedFunctions {
    let places = Places {
        eus: info.eus,
        threads_per_eu: info.threads_per_eu,
    };
    let readers = &info.readers;
    let mut shared = SharedFunctions::new(readers.functions, readers.messages, places);
    shared.dataport.dual_source = info.dual_source;
    shared.dataport.stateless_gated = info.stateless_gated;
    shared
}

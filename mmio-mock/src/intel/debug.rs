//! The debug registers: storage, access rules, qualification, snapshots, counters.
//!
//! PRM: volume 4, chapter 3. Sits in layer 2 beside `irq` and `status`, so that the fixed and
//! shared functions can be handed a `&mut DebugRegs`. The mux outputs that the manual leaves to
//! unpublished documents read as zero. What a breakpoint does to a thread is the EU's matter.

mod counters;
mod eu;
pub mod host;
mod ic;
mod sf;
mod shared;
mod snapshot;
mod spawn;
mod svg;
mod td;
mod threads;
mod vf;
mod wiz;

pub use counters::{Counter, Counters};
pub use ic::{Fetch, IcBreakpoints};
pub use sf::{ClipRectangle, SfPrimitive};
pub use shared::{Arbiter, ErrorWords, SharedUnit};
pub use snapshot::{Latch, Snapshot, SnapshotUnit, Verdict, vertex_tag};
pub use spawn::MediaThread;
pub use svg::SvgBase;
pub use td::{ExceptionOverride, TdDispatch};
pub use threads::ThreadDebug;
pub use vf::VfVertex;
pub use wiz::{WizPayload, WizView};

use regs::any::{fields, reg};
use regs::desc::RegisterDesc;
use regs::field::Reg;
use regs::ids::RegId;
use regs::platform::Generation;
use tock_registers::RegisterLongName;
use tock_registers::fields::Field;

/// First byte of the debug registers.
const FIRST: u32 = reg::SVG_CTL.offset();
/// First byte behind them.
const END: u32 = reg::EU_RDATA.offset() + 4;
/// Dwords in between.
const WORDS: usize = ((END - FIRST) / 4) as usize;

/// All debug registers with what the units latched behind them.
#[derive(Clone, Debug)]
pub struct DebugRegs {
    /// The device's tables.
    tables: &'static Generation,
    words: Box<[u32; WORDS]>,
    /// Bits per dword that act only under the global debug enable.
    qualified: Box<[u32; WORDS]>,
    global: bool,
    counters: Counters,
    latches: [Latch; SnapshotUnit::COUNT],
    svg: svg::Bases,
    wiz: wiz::Instances,
    shared: shared::Latched,
    eu: eu::Attention,
    halt_next: bool,
    /// A debugger on the host, while there is one.
    host: Option<Box<host::Host>>,
    /// The host has asked for a flush of all caches between memory and EUs.
    flush: bool,
    /// No register is set that every thread and message has to ask for.
    quiet: bool,
    /// Bit 0 of SVG_WORK_CTL.
    interpolates: bool,
    /// A control of TD_CTL or TD_CTL2 is on.
    directs: bool,
}

/// Place of a dword in the storage.
fn index(offset: u32, dword: u32) -> Option<usize> {
    let byte = offset
        .checked_sub(FIRST)?
        .checked_add(dword.checked_mul(4)?)?;
    usize::try_from(byte / 4).ok().filter(|&i| i < WORDS)
}

impl DebugRegs {
    /// All registers of a device's tables at their defaults.
    pub fn new(tables: &'static Generation) -> Self {
        let mut out = Self {
            tables,
            words: Box::new([0; WORDS]),
            qualified: Box::new([0; WORDS]),
            global: false,
            counters: Counters::default(),
            latches: Default::default(),
            svg: svg::Bases::default(),
            wiz: wiz::Instances::default(),
            shared: shared::Latched::default(),
            eu: eu::Attention::default(),
            halt_next: false,
            host: None,
            flush: false,
            quiet: true,
            interpolates: false,
            directs: false,
        };
        for desc in tables.registers.iter().filter(|d| Self::owns(d)) {
            for field in desc.fields.iter().filter(|f| f.qualified) {
                let width = u32::from(field.hi - field.lo);
                let mask = (u32::MAX >> (31 - width.min(31))) << (field.lo % 32);
                if let Some(word) = index(desc.offset, u32::from(field.lo / 32))
                    .and_then(|i| out.qualified.get_mut(i))
                {
                    *word |= mask;
                }
            }
        }
        out.reset();
        out
    }

    /// Whether a register is kept here; the bus forwards those.
    pub fn owns(desc: &RegisterDesc) -> bool {
        (FIRST..END).contains(&desc.offset)
    }

    /// Defaults of all registers; counters, latches and attention are cleared.
    ///
    /// The global debug enable stays: it is a bit of INSTPM.
    pub fn reset(&mut self) {
        for desc in self.tables.registers.iter().filter(|d| Self::owns(d)) {
            for dword in 0..desc.dwords() {
                self.put(desc.offset, dword, desc.reset_dword(dword));
            }
        }
        self.counters = Counters::default();
        self.latches = Default::default();
        self.svg = svg::Bases::default();
        self.wiz = wiz::Instances::default();
        self.shared = shared::Latched::default();
        self.eu = eu::Attention::default();
        self.halt_next = false;
        if let Some(host) = &mut self.host {
            host.forget();
        }
        self.listen();
    }

    /// The global debug enable of INSTPM: qualifies debug enables, lets the counters count and the
    /// base addresses latch (3.2.1, 3.3.3).
    pub fn set_global_enable(&mut self, on: bool) {
        self.global = on;
        self.listen();
    }

    /// Whether the global debug enable is set.
    pub fn global_enable(&self) -> bool {
        self.global
    }

    /// Global Snapshot Count Reset of MI_FLUSH: all trigger counters start from 0 again (3.2.1).
    pub fn reset_counters(&mut self) {
        self.counters = Counters::default();
        self.wiz = wiz::Instances::default();
    }

    /// The trigger counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What the host reads.
    pub fn read(&self, id: RegId, dword: u32) -> u32 {
        let Some(desc) = (self.tables.register_desc)(id).filter(|d| Self::owns(d)) else {
            return 0;
        };
        match id {
            RegId::SvgRdata => self.svg_rdata(),
            RegId::VfRdata => self.latched(SnapshotUnit::Vf),
            RegId::VsRdata => self.latched(SnapshotUnit::Vs),
            RegId::GsRdata => self.latched(SnapshotUnit::Gs),
            RegId::ClRdata => self.latched(SnapshotUnit::Clip),
            RegId::SfRdata => self.latched(SnapshotUnit::Sf),
            RegId::WizRdata => self.wiz_rdata(),
            RegId::VfeRdata => self.latched(SnapshotUnit::Vfe),
            RegId::TsRdata => self.ts_rdata(),
            RegId::MathRdata => self.math_rdata(),
            RegId::SamplerRdata => self.sampler_rdata(),
            RegId::DpRdata => self.dp_rdata(),
            RegId::UrbRdata => self.urb_rdata(),
            RegId::EuAtt => self.eu.att(dword),
            RegId::EuAttData => self.eu.att_data(dword),
            // TdRdata, RcRdata, EuRdata, IscL1caRdata: every mux value is unpublished.
            _ => desc.read(dword, self.word(desc.offset, dword)),
        }
    }

    /// What the host writes.
    pub fn write(&mut self, id: RegId, dword: u32, value: u32) {
        let Some(desc) = (self.tables.register_desc)(id).filter(|d| Self::owns(d)) else {
            return;
        };
        let old = self.word(desc.offset, dword);
        let new = desc.write(dword, old, value);
        match id {
            RegId::EuAttClr => {
                // Nothing that can be read is stored (3.5).
                if dword == 0 {
                    self.eu.clear(new);
                }
                return;
            }
            RegId::TdCtl => self.halt_next = td::force_external_halt(new),
            RegId::MaDebug1 => self.shared.flow(),
            RegId::WizStrgVal => self.wiz = wiz::Instances::default(),
            RegId::WizCtl if wiz::rearmed(old, new) => self.wiz = wiz::Instances::default(),
            _ => {}
        }
        self.put(desc.offset, dword, new);
        self.listen();
    }

    /// The host flushes all caches between memory and the EUs (3.6.2), through GFX_FLSH_CNTL.
    pub fn request_flush(&mut self) {
        self.flush = true;
    }

    /// Takes what [`request_flush`](Self::request_flush) asked for.
    #[inline]
    pub fn take_flush(&mut self) -> bool {
        std::mem::take(&mut self.flush)
    }

    /// Whether no breakpoint register, no mode of the arbiters and no debugger is on: the usual case, which costs
    /// a thread nothing.
    #[inline]
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether besides nothing of the dispatcher's and the windower's debug registers is on: a thread is like any other.
    #[inline]
    pub fn plain(&self) -> bool {
        self.quiet && !self.directs && !self.wiz().armed()
    }

    /// Attaches a debugger on the host, or takes it away; stopped threads go on then.
    pub fn set_host(&mut self, on: bool) {
        self.host = on.then(Box::default);
        self.listen();
    }

    /// Takes over the debugger on the host of a device that is given up; nothing is stopped by it.
    pub fn inherit_host(&mut self, old: &mut Self) {
        self.host = old.host.take();
        if let Some(host) = &mut self.host {
            host.forget();
        }
        old.listen();
        self.listen();
    }

    /// The debugger on the host, while there is one.
    #[inline]
    pub fn host(&self) -> Option<&host::Host> {
        self.host.as_deref()
    }

    /// The same, to change it.
    #[inline]
    pub fn host_mut(&mut self) -> Option<&mut host::Host> {
        self.host.as_deref_mut()
    }

    /// The host's watch that something has met: memory, or the registers of a thread.
    pub fn watched(
        &mut self,
        key: host::ThreadKey,
        grf: &[[u32; 8]],
        memory: &mut mem::Memory,
    ) -> Option<host::Why> {
        let host = self.host_mut()?;
        let by_memory = host.look(memory);
        let by_register = host.look_at_registers(key, grf);
        by_memory.or(by_register).map(host::Why::Rule)
    }

    /// Whether the debugger on the host holds the device.
    #[inline]
    pub fn held(&self) -> bool {
        !self.quiet && self.host().is_some_and(|host| host.stopped().is_some())
    }

    fn listen(&mut self) {
        self.quiet = self.ic_breakpoints().is_none()
            && self.arbiter() == Arbiter::default()
            && self.host.is_none();
        self.directs = self.td_directs();
        self.interpolates = self.svg_chrominance_mode();
    }

    /// Latches the mux outputs of a unit; output `n` is what mux value `n` shows.
    pub fn capture(&mut self, unit: SnapshotUnit, outputs: &[u32]) {
        if let Some(latch) = self.latches.get_mut(unit as usize) {
            latch.capture(outputs);
        }
    }

    /// Sets Snapshot Complete of a unit.
    fn complete(&mut self, unit: SnapshotUnit) {
        let (offset, mask) = match unit {
            SnapshotUnit::Vf => bit(reg::VF_CTL, fields::VF_CTL::SNAPSHOT_COMPLETE),
            SnapshotUnit::Vs => bit(reg::VS_CTL, fields::VS_CTL::SNAPSHOT_COMPLETE),
            SnapshotUnit::Gs => bit(reg::GS_CTL, fields::GS_CTL::SNAPSHOT_COMPLETE),
            SnapshotUnit::Clip => bit(reg::CL_CTL, fields::CL_CTL::SNAPSHOT_COMPLETE),
            SnapshotUnit::Sf => bit(reg::SF_CTL, fields::SF_CTL::SNAPSHOT_COMPLETE),
            SnapshotUnit::Wiz => bit(reg::WIZ_CTL, fields::WIZ_CTL::SNAPSHOT_COMPLETE),
            SnapshotUnit::Vfe => bit(reg::VFE_CTL, fields::VFE_CTL::SNAPSHOT_COMPLETE),
            SnapshotUnit::Ts => bit(reg::TS_CTL, fields::TS_CTL::SNAPSHOT_COMPLETE),
            SnapshotUnit::Urb => bit(reg::URB_CTL, fields::URB_CTL::SNAPSHOT_COMPLETE),
        };
        self.put(offset, 0, self.word(offset, 0) | mask);
    }

    /// The latched dword that the unit's mux selects.
    fn latched(&self, unit: SnapshotUnit) -> u32 {
        let mux = self.mux(unit);
        self.latches
            .get(unit as usize)
            .map_or(0, |latch| latch.get(mux))
    }

    fn word(&self, offset: u32, dword: u32) -> u32 {
        index(offset, dword)
            .and_then(|i| self.words.get(i))
            .copied()
            .unwrap_or(0)
    }

    fn put(&mut self, offset: u32, dword: u32, value: u32) {
        if let Some(word) = index(offset, dword).and_then(|i| self.words.get_mut(i)) {
            *word = value;
        }
    }

    /// A register as it acts: qualified bits are zero while the global debug enable is off.
    fn acting<R: RegisterLongName>(&self, register: Reg<u32, R>) -> u32 {
        let word = self.word(register.offset(), 0);
        if self.global {
            return word;
        }
        let gate = index(register.offset(), 0)
            .and_then(|i| self.qualified.get(i))
            .copied()
            .unwrap_or(0);
        word & !gate
    }

    /// A field as it acts.
    fn field<R: RegisterLongName>(&self, register: Reg<u32, R>, field: Field<u32, R>) -> u32 {
        field.read(self.acting(register))
    }

    /// A one-bit field as it acts.
    fn is<R: RegisterLongName>(&self, register: Reg<u32, R>, field: Field<u32, R>) -> bool {
        self.field(register, field) != 0
    }
}

/// Offset of a register and mask of a field.
fn bit<R: RegisterLongName>(register: Reg<u32, R>, field: Field<u32, R>) -> (u32, u32) {
    (register.offset(), field.mask << field.shift)
}

#[cfg(test)]
mod tests;

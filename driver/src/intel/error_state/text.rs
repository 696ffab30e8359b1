//! The text of an error state, for the decoders of i915's error files.
//!
//! Layout of `__err_print_to_sgl` and `error_print_engine` in i915 `i915_gpu_error.c`, with what `intel_error_decode` of
//! intel-gpu-tools looks for: ACTHD in 32 bits, INSTDONE1. Memory is plain ascii85 behind a tilde, as that driver writes
//! it without compression. Not modelled: parameters and capabilities of the driver.
use core::fmt::{self, Write};

use kernel::time::Ktime;
use regs::ids::RegId;

use super::{ActiveRequest, Buffer, Captured, ErrorState};

/// i915 `DRIVER_DATE`.
const DATE: &str = "20201103";
/// See [`ErrorState::text`].
pub struct Text<'a>(pub(super) &'a ErrorState);

/// Seconds and microseconds.
fn time(f: &mut fmt::Formatter<'_>, name: &str, at: Ktime) -> fmt::Result {
    let ns = at.as_nanos();
    let (seconds, micros) = (ns / 1_000_000_000, ns % 1_000_000_000 / 1000);
    writeln!(f, "{name}: {seconds} s {micros} us")
}

/// Dwords as five digits of base 85 each, zero as one letter (`ascii85_encode`).
fn ascii85(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for chunk in bytes.chunks(4) {
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        let mut value = u32::from_le_bytes(word);
        if value == 0 {
            f.write_char('z')?;
            continue;
        }
        let mut digits = ['!'; 5];
        for digit in digits.iter_mut().rev() {
            // CAST: below 85.
            *digit = char::from(b'!' + (value % 85) as u8);
            value /= 85;
        }
        for digit in digits {
            f.write_char(digit)?;
        }
    }
    Ok(())
}

/// Name of the register that enables interrupts.
const ENABLES: &str = "IER";

impl Text<'_> {
    fn register(&self, id: RegId) -> u32 {
        self.0.register(id).unwrap_or_default()
    }

    fn general(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0;
        let ecode = self.register(RegId::Ipehr) ^ self.register(RegId::Instdone);
        let hung = if state.hung { state.mask } else { 0 };
        let generation = state.identity.isa.whole();
        write!(f, "GPU HANG: ecode {generation}:{hung:x}:{ecode:08x}")?;
        let who = state.request.as_ref().and_then(|r| r.who.as_ref());
        if let Some(who) = who.filter(|_| state.hung) {
            write!(f, ", in {} [{}]", who.name, who.pid)?;
        }
        writeln!(f)?;
        writeln!(f, "Reason: {}", state.reason)?;
        writeln!(f, "Kernel: crestline-{}", env!("CARGO_PKG_VERSION"))?;
        writeln!(f, "Driver: {DATE}")?;
        time(f, "Time", state.time)?;
        time(f, "Boottime", state.time)?;
        time(f, "Uptime", state.time)?;
        if let Some(who) = who {
            let (name, pid) = (&who.name, who.pid);
            writeln!(
                f,
                "Active process (on ring {}): {name} [{pid}]",
                state.engine
            )?;
        }
        let identity = &state.identity;
        writeln!(f, "Reset count: {}", state.resets)?;
        writeln!(f, "Suspend count: 0")?;
        writeln!(f, "Platform: {}", identity.platform)?;
        writeln!(f, "Subplatform: 0x0")?;
        writeln!(f, "PCI ID: 0x{:04x}", identity.device)?;
        writeln!(f, "PCI Revision: 0x{:02x}", identity.revision)?;
        let (vendor, device) = identity.subsystem;
        writeln!(f, "PCI Subsystem: {vendor:04x}:{device:04x}")?;
        writeln!(f, "IOMMU enabled?: 0")?;
        writeln!(f, "RPM wakelock: yes")?;
        writeln!(f, "PM suspended: no")
    }

    fn device(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // i915 shows the display's register under this name where there are two. The row has it where it is a third one.
        let rows = self.0.identity.recorded.iter();
        let own = rows.copied().filter(|(name, _)| *name == ENABLES);
        let enables = [(ENABLES, RegId::Ier), (ENABLES, RegId::Deier)];
        let others = [
            ("DERRMR", RegId::Derrmr),
            ("IMR", RegId::Imr),
            ("IIR", RegId::Iir),
            ("EMR", RegId::Emr),
            ("PGTBL_CTL", RegId::PgtblCtl),
        ];
        for (name, id) in enables.into_iter().chain(own).chain(others) {
            // Which of them there are depends on the generation.
            if let Some(value) = self.0.register(id) {
                writeln!(f, "{name}: 0x{value:08x}")?;
            }
        }
        let hz = self.0.identity.timestamp_hz;
        let period = 1_000_000_000_u32.checked_div(hz).unwrap_or_default();
        writeln!(f, "GT awake: yes")?;
        writeln!(f, "CS timestamp frequency: {hz} Hz, {period} ns")?;
        writeln!(f, "EIR: 0x{:08x}", self.register(RegId::Eir))?;
        writeln!(f, "PGTBL_ER: 0x{:08x}", self.register(RegId::PgtblEr))?;
        if let Some(value) = self.0.register(RegId::Gtier) {
            writeln!(f, "GTIER[0]: 0x{value:08x}")?;
        }
        for (index, fence) in self.0.fences.iter().enumerate() {
            writeln!(f, "  fence[{index}] = {fence:08x}")?;
        }
        let rows = self.0.identity.recorded.iter();
        for (name, id) in rows.filter(|(name, _)| *name != ENABLES) {
            if let Some(value) = self.0.register(*id) {
                writeln!(f, "{name}: 0x{value:08x}")?;
            }
        }
        Ok(())
    }

    fn kernels(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.kernels.is_empty() {
            writeln!(f, "Active kernels:")?;
        }
        for kernel in &self.0.kernels {
            writeln!(f, "  {} kernel at 0x{:08x}:", kernel.unit, kernel.address)?;
            for line in kernel.disassembly() {
                for part in line.lines() {
                    writeln!(f, "    {part}")?;
                }
            }
        }
        Ok(())
    }
}

/// What is printed of an engine.
struct Engine<'a> {
    name: &'a str,
    registers: &'a [Captured],
    request: Option<&'a ActiveRequest>,
    buffers: &'a [Buffer],
    hung: bool,
}

impl Engine<'_> {
    fn find(&self, id: RegId) -> Option<u32> {
        let mut registers = self.registers.iter();
        let found = registers.find(|register| register.desc.id == id);
        found.map(|register| register.value)
    }

    fn register(&self, id: RegId) -> u32 {
        self.find(id).unwrap_or_default()
    }

    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, tail) = self.request.map_or((0, 0), |r| r.ring);
        writeln!(f, "{} command stream:", self.name)?;
        let line = |f: &mut fmt::Formatter<'_>, name: &str, id| {
            writeln!(f, "  {name} 0x{:08x}", self.register(id))
        };
        line(f, "CCID: ", RegId::Ccid)?;
        line(f, "START:", RegId::Prb0Start)?;
        let at = self.register(RegId::Prb0Head);
        writeln!(f, "  HEAD:  0x{at:08x} [0x{head:08x}]")?;
        let at = self.register(RegId::Prb0Tail);
        writeln!(f, "  TAIL:  0x{at:08x} [0x{tail:08x}, 0x{tail:08x}]")?;
        line(f, "CTL:  ", RegId::Prb0Ctl)?;
        line(f, "MODE: ", RegId::MiMode)?;
        line(f, "HWS:  ", RegId::HwsPga)?;
        line(f, "ACTHD:", RegId::Acthd)?;
        line(f, "IPEIR:", RegId::Ipeir)?;
        line(f, "IPEHR:", RegId::Ipehr)?;
        line(f, "ESR:  ", RegId::Esr)?;
        line(f, "INSTDONE:", RegId::Instdone)?;
        if self.find(RegId::ScInstdone).is_some() {
            line(f, "SC_INSTDONE:", RegId::ScInstdone)?;
        }
        // The render engine's alone.
        if self.find(RegId::Instdone1).is_some() {
            line(f, "INSTDONE1:", RegId::Instdone1)?;
        }
        if let Some(batch) = self.buffers.iter().find(|buffer| buffer.name == "batch") {
            let end = batch.address + batch.bytes.len() as u64;
            let pair = |at: u64| (at >> 32, at & 0xffff_ffff);
            let ((a, b), (c, d)) = (pair(batch.address), pair(end));
            writeln!(f, "  batch: [0x{a:08x}_{b:08x}, 0x{c:08x}_{d:08x}]")?;
        }
        let bbaddr = self.register(RegId::BbAddr);
        writeln!(f, "  BBADDR: 0x00000000_{bbaddr:08x}")?;
        line(f, "BB_STATE:", RegId::BbState)?;
        line(f, "INSTPS:", RegId::Instps)?;
        line(f, "INSTPM:", RegId::Instpm)?;
        let faddr = self.register(RegId::DmaFadd);
        writeln!(f, "  FADDR: 0x00000000 {faddr:08x}")?;
        for (name, id) in [
            ("RC PSMI", RegId::RcsPsmiCtl),
            ("FAULT_REG", RegId::RcsFaultReg),
            ("GFX_MODE", RegId::GfxMode),
        ] {
            if let Some(value) = self.find(id) {
                writeln!(f, "  {name}: 0x{value:08x}")?;
            }
        }
        // i915 reads it back from another register where there is one for that alone.
        let directory = self.find(RegId::RcsPpDirBase);
        if let Some(value) = directory.or_else(|| self.find(RegId::RcsPpDirBaseRead)) {
            writeln!(f, "  PP_DIR_BASE: 0x{value:08x}")?;
        }
        writeln!(f, "  hung: {}", u32::from(self.hung))?;
        writeln!(f, "  engine reset count: 0")?;
        if let Some(request) = self.request {
            let (name, pid) = request
                .who
                .as_ref()
                .map_or(("", 0), |who| (who.name.as_str(), who.pid));
            let (guilty, active) = request.stats;
            writeln!(
                f,
                "  Active context: {name}[{pid}] prio 0, guilty {guilty} active {active}, runtime total 0ns, avg 0ns"
            )?;
            writeln!(
                f,
                "  Active request: seqno {:08x}, batch at 0x{:08x}",
                request.seqno, request.batch
            )?;
        }
        Ok(())
    }
}

fn buffer(f: &mut fmt::Formatter<'_>, engine: &str, buffer: &Buffer) -> fmt::Result {
    let (high, low) = (buffer.address >> 32, buffer.address & 0xffff_ffff);
    writeln!(f, "{engine} --- {} = 0x{high:08x} {low:08x}", buffer.name)?;
    f.write_char('~')?;
    ascii85(f, &buffer.bytes)?;
    writeln!(f)
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.general(f)?;
        self.device(f)?;
        let state = self.0;
        let own = Engine {
            name: state.engine,
            registers: &state.registers,
            request: state.request.as_ref(),
            buffers: &state.buffers,
            hung: state.hung,
        };
        let others = state.others.iter().map(|other| Engine {
            name: other.engine,
            registers: &other.registers,
            request: Some(&other.request),
            buffers: &other.buffers,
            hung: false,
        });
        own.print(f)?;
        for other in others.clone() {
            other.print(f)?;
        }
        self.kernels(f)?;
        for engine in core::iter::once(own).chain(others) {
            for captured in engine.buffers {
                buffer(f, engine.name, captured)?;
            }
        }
        Ok(())
    }
}

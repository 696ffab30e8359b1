//! Error state: what tells why the device stands still.
//!
//! Registers, ring, batch, objects that user space wants to see, kernels, context, as in i915 `i915_gpu_error.c`; names
//! of registers and bits come from the tables. Not modelled: copies of objects beyond a limit, media kernels.
mod capture;
mod kernels;
mod text;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use isa::inst::Verx10;
use kernel::time::Ktime;
use regs::desc::{CommandDesc, FieldDesc, RegisterDesc};
use regs::ids::RegId;
use regs::platform::Generation;

pub(crate) use self::capture::Source;
pub use self::kernels::Kernel;
pub use self::text::Text;
use crate::core::client::Who;

/// One captured register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured {
    /// What the device's tables say of it.
    pub desc: &'static RegisterDesc,
    /// Value.
    pub value: u32,
    /// The command whose header it holds (IPEHR).
    pub command: Option<&'static CommandDesc>,
}

impl Captured {
    /// A register of a generation with its value.
    fn new(tables: &Generation, desc: &'static RegisterDesc, value: u32) -> Self {
        let is_header = desc.id == RegId::Ipehr;
        let command = is_header.then(|| (tables.command)(value)).flatten();
        Captured {
            desc,
            value,
            command,
        }
    }
}

/// Which device it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Platform name.
    pub platform: &'static str,
    /// Instruction set of its execution units.
    pub isa: Verx10,
    /// PCI device id.
    pub device: u16,
    /// PCI revision.
    pub revision: u8,
    /// PCI subsystem, vendor first.
    pub subsystem: (u16, u16),
    /// Ticks of TIMESTAMP in a second.
    pub timestamp_hz: u32,
    /// Registers that its generation alone records, by the names that i915 gives them.
    pub recorded: &'static [(&'static str, RegId)],
}

/// The request that the device was at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActiveRequest {
    /// Sequence number.
    pub seqno: u32,
    /// Graphics address of the batch that the device carries out: the client's, or the driver's copy of it.
    pub batch: u32,
    /// Graphics address of the client's, where the driver made a copy or an empty one that leads to it.
    pub original: Option<u32>,
    /// Ring offset of its first command, and the one behind its last.
    pub ring: (u32, u32),
    /// Whose context it is, when it is one of user space and its user is known.
    pub who: Option<Who>,
    /// Hangs of the context before this one, and requests of it that resets have caught.
    pub stats: (u32, u32),
}

/// Memory as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// `batch`, `ring`, `user`, `HW Status`, `HW context`.
    pub name: &'static str,
    /// Graphics address; of the status page the bus address.
    pub address: u64,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// Another engine that had a request under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beside {
    /// Its name.
    pub engine: &'static str,
    /// The registers that every engine has.
    pub registers: Vec<Captured>,
    /// What it was at.
    pub request: ActiveRequest,
    /// Its status page, ring and batch, and what user space wants to see.
    pub buffers: Vec<Buffer>,
}

/// The device when something went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErrorState {
    /// What was noticed.
    pub reason: String,
    /// When.
    pub time: Ktime,
    /// Sequence number that the device had stored last, if the status page could be read.
    pub completed: Option<u32>,
    /// Sequence number submitted last.
    pub submitted: u32,
    /// Name of the engine that it is about.
    pub engine: &'static str,
    /// Its bit in masks of engines.
    pub mask: u32,
    /// The registers; those that every engine has are the engine's own, by the names of the render engine's.
    pub registers: Vec<Captured>,
    /// The fence registers.
    pub fences: Vec<u64>,
    /// Which device.
    pub identity: Identity,
    /// Resets before.
    pub resets: u32,
    /// Whether the engine was taken for hung.
    pub hung: bool,
    /// What it was at.
    pub request: Option<ActiveRequest>,
    /// Ring, batch, and what user space wants to see.
    pub buffers: Vec<Buffer>,
    /// Kernels of the units that the batch has set up last.
    pub kernels: Vec<Kernel>,
    /// Other engines at work.
    pub others: Vec<Beside>,
}

/// What is captured, in the order of printing.
const REGISTERS: &[RegId] = &[
    RegId::Eir,
    RegId::Esr,
    RegId::Emr,
    RegId::PgtblEr,
    RegId::PgtblCtl,
    RegId::Ipeir,
    RegId::Ipehr,
    RegId::Acthd,
    RegId::DmaFadd,
    RegId::Instdone,
    RegId::Instdone1,
    RegId::ScInstdone,
    RegId::SamplerInstdone,
    RegId::RowInstdone,
    RegId::Instps,
    RegId::Instpm,
    RegId::Prb0Start,
    RegId::Prb0Head,
    RegId::Prb0Tail,
    RegId::Prb0Ctl,
    RegId::MiMode,
    RegId::HwsPga,
    RegId::Iir,
    RegId::Imr,
    RegId::Ier,
    RegId::Deier,
    RegId::Derrmr,
    RegId::Gtiir,
    RegId::Gtimr,
    RegId::Gtier,
    RegId::BbAddr,
    RegId::BbState,
    RegId::Ccid,
    RegId::RcsPsmiCtl,
    RegId::RcsFaultReg,
    RegId::GfxMode,
    RegId::RcsPpDirBaseRead,
];

impl ErrorState {
    /// The contents as the error files of i915 show them.
    #[must_use]
    pub fn text(&self) -> Text<'_> {
        Text(self)
    }

    /// The copy of a buffer.
    #[must_use]
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| buffer.name == name)
    }

    /// The captured value of a register.
    #[must_use]
    pub fn register(&self, id: RegId) -> Option<u32> {
        self.registers
            .iter()
            .find(|register| register.desc.id == id)
            .map(|register| register.value)
    }
}

/// Registers whose bits say what is finished; the unfinished ones tell.
fn is_done_register(id: RegId) -> bool {
    matches!(
        id,
        RegId::Instdone
            | RegId::Instdone1
            | RegId::ScInstdone
            | RegId::SamplerInstdone
            | RegId::RowInstdone
    )
}

fn is_flag(field: &FieldDesc) -> bool {
    field.hi == field.lo && !field.mbz
}

impl fmt::Display for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let desc = self.desc;
        write!(f, "{:>10}: {:#010x}", desc.name, self.value)?;
        if let Some(command) = self.command {
            write!(f, "  {}", command.name)?;
        }
        let inverted = is_done_register(desc.id);
        let mut separator = if inverted { "  not done: " } else { "  " };
        for field in desc.fields.iter().filter(|field| is_flag(field)) {
            let tells = field.name.ends_with(" Done") || field.name.ends_with(" Idle");
            if inverted && !tells {
                continue;
            }
            if (field.get(self.value.into()) == 1) != inverted {
                write!(f, "{separator}{}", field.name.trim_end_matches(" Done"))?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

impl fmt::Display for ErrorState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.reason)?;
        writeln!(f, "time: {} ns", self.time.as_nanos())?;
        match self.completed {
            Some(seqno) => writeln!(f, "seqno: {seqno} of {}", self.submitted)?,
            None => writeln!(f, "seqno: unreadable, {} submitted", self.submitted)?,
        }
        for register in &self.registers {
            writeln!(f, "{register}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use regs::platform::GEN40;

    /// Bit meanings worked out from i915 `i915_reg.h` and the unit names of intel-gpu-tools.
    #[test]
    fn registers_print_with_their_bits_named() {
        let print = |id, value| {
            let desc = (GEN40.register_desc)(id);
            desc.map_or_else(String::new, |desc| {
                Captured::new(&GEN40, desc, value).to_string()
            })
        };
        assert_eq!(
            print(RegId::Eir, 0x10),
            "       EIR: 0x00000010  Page Table Error"
        );
        assert_eq!(
            print(RegId::PgtblEr, 1 << 24 | 1 << 20),
            "  PGTBL_ER: 0x01100000  Render Cache, Command Fetch"
        );
        assert_eq!(
            print(RegId::Instdone, !(1 << 21 | 1 << 9)),
            "  INSTDONE: 0xffdffdff  not done: WM, PS"
        );
        assert_eq!(
            print(RegId::Ipehr, 0x0200_0002),
            "     IPEHR: 0x02000002  MI_FLUSH"
        );
        assert_eq!(print(RegId::Imr, 0x1), "       IMR: 0x00000001");
    }
}

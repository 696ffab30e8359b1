//! Error state: the registers that tell why the device stands still.
//!
//! Registers as in i915 `i915_gpu_error.c`; unit names of INSTDONE and PGTBL_ER as in intel-gpu-tools.
//! Not modelled: copies of the ring and of batches.
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use kernel::time::Ktime;

use crate::mmio::{self, RENDER_RING_BASE, ring};
use crate::uncore::Uncore;

/// One captured register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured {
    /// Name.
    pub name: &'static str,
    /// Offset in BAR 0.
    pub offset: usize,
    /// Value.
    pub value: u32,
}

/// Registers when something went wrong.
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
    /// The registers.
    pub registers: Vec<Captured>,
}

/// How bits of a register are named.
struct Row {
    name: &'static str,
    offset: usize,
    /// Bit and name.
    bits: &'static [(u32, &'static str)],
    /// Names are printed for bits that are 0 instead of 1.
    inverted: bool,
}

const fn plain(name: &'static str, offset: usize) -> Row {
    Row {
        name,
        offset,
        bits: &[],
        inverted: false,
    }
}

const fn flags(name: &'static str, offset: usize, bits: &'static [(u32, &'static str)]) -> Row {
    Row {
        name,
        offset,
        bits,
        inverted: false,
    }
}

const ERRORS: &[(u32, &str)] = &[(4, "page table"), (1, "memory refresh"), (0, "instruction")];
const INTERRUPTS: &[(u32, &str)] = &[(15, "master error"), (1, "user")];
const PAGE_TABLE: &[(u32, &str)] = &[
    (26, "sampler cache"),
    (24, "render cache"),
    (23, "instruction state cache"),
    (22, "read only cache"),
    (21, "vertex fetch"),
    (20, "command fetch"),
    (19, "CS"),
    (18, "cursor fetch"),
    (17, "overlay fetch"),
    (8, "display B fetch"),
    (4, "display A fetch"),
    (1, "illegal memory"),
    (0, "host fetch"),
];
const DONE: &[(u32, &str)] = &[
    (31, "row 0 EU 0"),
    (30, "row 0 EU 1"),
    (29, "row 0 EU 2"),
    (28, "row 0 EU 3"),
    (27, "row 1 EU 0"),
    (26, "row 1 EU 1"),
    (25, "row 1 EU 2"),
    (24, "row 1 EU 3"),
    (23, "SF"),
    (22, "SE"),
    (21, "WM"),
    (18, "dispatcher"),
    (17, "projection"),
    (16, "DG"),
    (15, "quad cache"),
    (14, "texture fetch"),
    (13, "texture decompress"),
    (12, "sampler cache"),
    (11, "filter"),
    (10, "bypass"),
    (9, "PS"),
    (8, "CC"),
    (7, "map filter"),
    (6, "map L2"),
    (5, "MA row 0"),
    (4, "MA row 1"),
    (3, "IC row 0"),
    (2, "IC row 1"),
    (1, "CP"),
];
const DONE_1: &[(u32, &str)] = &[
    (19, "GW"),
    (18, "SVSM"),
    (17, "SVDW"),
    (16, "SVDR"),
    (15, "SVRW"),
    (14, "SVRR"),
    (13, "SVTW"),
    (12, "MASM"),
    (11, "MASF"),
    (10, "MAW"),
    (9, "EM1"),
    (8, "EM0"),
    (7, "UC1"),
    (6, "UC0"),
    (5, "URB"),
    (4, "ISC"),
    (3, "CL"),
    (2, "GS"),
    (1, "VS0"),
    (0, "VF"),
];

const ROWS: &[Row] = &[
    flags("EIR", mmio::EIR, ERRORS),
    flags("ESR", mmio::ESR, ERRORS),
    plain("EMR", mmio::EMR),
    flags("PGTBL_ER", mmio::PGTBL_ER, PAGE_TABLE),
    plain("PGTBL_CTL", mmio::PGTBL_CTL),
    plain("IPEIR", RENDER_RING_BASE + ring::IPEIR),
    plain("IPEHR", RENDER_RING_BASE + ring::IPEHR),
    plain("ACTHD", RENDER_RING_BASE + ring::ACTHD),
    plain("DMA_FADD", RENDER_RING_BASE + ring::DMA_FADD),
    Row {
        name: "INSTDONE",
        offset: RENDER_RING_BASE + ring::INSTDONE,
        bits: DONE,
        inverted: true,
    },
    Row {
        name: "INSTDONE_1",
        offset: RENDER_RING_BASE + ring::INSTDONE_1,
        bits: DONE_1,
        inverted: true,
    },
    plain("INSTPS", RENDER_RING_BASE + ring::INSTPS),
    flags(
        "INSTPM",
        RENDER_RING_BASE + ring::INSTPM,
        &[(4, "global debug")],
    ),
    plain("RING_START", RENDER_RING_BASE + ring::START),
    plain("RING_HEAD", RENDER_RING_BASE + ring::HEAD),
    plain("RING_TAIL", RENDER_RING_BASE + ring::TAIL),
    flags(
        "RING_CTL",
        RENDER_RING_BASE + ring::CTL,
        &[(11, "waiting"), (0, "valid")],
    ),
    flags(
        "MI_MODE",
        RENDER_RING_BASE + ring::MI_MODE,
        &[(9, "idle"), (8, "stop ring")],
    ),
    plain("HWS_PGA", RENDER_RING_BASE + ring::HWS_PGA),
    flags("IIR", mmio::IIR, INTERRUPTS),
    plain("IMR", mmio::IMR),
    flags("IER", mmio::IER, INTERRUPTS),
];

impl ErrorState {
    /// Reads the registers; changes nothing.
    pub(crate) fn capture(
        uncore: &Uncore,
        reason: &str,
        completed: Option<u32>,
        submitted: u32,
    ) -> Self {
        ErrorState {
            reason: reason.into(),
            time: uncore.clock().now(),
            completed,
            submitted,
            registers: ROWS
                .iter()
                .map(|row| Captured {
                    name: row.name,
                    offset: row.offset,
                    value: uncore.read(row.offset),
                })
                .collect(),
        }
    }

    /// The value of a register by name.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<u32> {
        self.registers
            .iter()
            .find(|register| register.name == name)
            .map(|register| register.value)
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
            write!(f, "{:>12}: {:#010x}", register.name, register.value)?;
            let Some(row) = ROWS.iter().find(|row| row.offset == register.offset) else {
                writeln!(f)?;
                continue;
            };
            let mut separator = if row.inverted { "  not done: " } else { "  " };
            for (bit, name) in row.bits {
                if (register.value >> bit & 1 == 1) != row.inverted {
                    write!(f, "{separator}{name}")?;
                    separator = ", ";
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

//! Registers that a kernel may read before it has written them.
//!
//! A thread finds zeros in registers that it was not given. Kernels that run over registers alone have only those cleared for which that
//! makes a difference.

use crate::grf::{DWORDS, TOTAL};
use crate::reach::PAIR;
use crate::send;
use crate::sent::Sent;
use crate::stretch::{Operation, Step, places};
use std::ops::Range;

/// Channels of threads whose pixels are all there.
pub(crate) const FULL: [u32; 3] = [0xff, 0xffff, u32::MAX];

/// The pairs of registers to clear for a thread of these channels, of those that are exposed when the channels of each of [`FULL`] execute.
#[inline]
pub(crate) fn seen(exposed: [u128; 3], mask: u32) -> u128 {
    let full = FULL.iter().position(|full| *full == mask);
    full.map_or(u128::MAX, |full| exposed[full])
}

/// Which registers have been written whole, and which were read before.
pub(crate) struct Exposed {
    /// For each dword.
    written: Vec<bool>,
    /// A bit for each pair of registers.
    pub(crate) pairs: u128,
    /// Channels that execute.
    full: u32,
    /// What comes now may be left out, or only some channels may execute.
    pub(crate) perhaps: bool,
}

impl Exposed {
    pub(crate) fn new(full: u32) -> Exposed {
        Exposed {
            written: vec![false; TOTAL * DWORDS],
            pairs: 0,
            full,
            perhaps: false,
        }
    }

    fn read(&mut self, dwords: Range<usize>) {
        for dword in dwords {
            if self.written.get(dword) == Some(&false) {
                self.pairs |= 1 << (dword / DWORDS / PAIR);
            }
        }
    }

    fn write(&mut self, dwords: Range<usize>) {
        if self.perhaps {
            return;
        }
        if let Some(written) = self.written.get_mut(dwords) {
            written.fill(true);
        }
    }

    /// An instruction that computes.
    pub(crate) fn step(&mut self, step: &Step) {
        let channels = if step.wide { 16 } else { 8 };
        for first in (0..channels).step_by(8) {
            for source in 0..3 {
                if let Some(dwords) = places::reads(step, source, first) {
                    self.read(dwords);
                }
            }
        }
        // What a predicate leaves out stays as it was.
        let chosen = step.predicate.is_some() && !step.operation.chooses();
        let Some(first) = step.destination.map(usize::from).filter(|_| !chosen) else {
            return;
        };
        let enabled = if step.unmasked {
            u32::MAX
        } else {
            self.full >> step.shift
        };
        let enabled = enabled & u32::from(step.lanes);
        match step.operation {
            Operation::AddWords if enabled == 0xffff => self.write(first..first + DWORDS),
            // Halves of dwords.
            Operation::AddWords | Operation::GetFlag => {}
            _ => {
                for channel in (0..channels).filter(|channel| enabled >> channel & 1 != 0) {
                    let dword = match channel.checked_sub(8) {
                        Some(channel) => usize::from(step.second) + channel,
                        None => first + channel,
                    };
                    self.write(dword..dword + 1);
                }
            }
        }
    }

    /// A message.
    pub(crate) fn send(&mut self, sent: &Sent) {
        let uses = send::uses(&sent.op, sent.to, sent.part);
        if let Some((from, to)) = uses.moved {
            self.read(from);
            self.write(to);
        }
        self.read(uses.payload);
        // The port sees what the registers of the response hold.
        self.read(uses.response);
    }
}

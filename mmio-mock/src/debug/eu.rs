//! Attention signalling between threads and host.
//!
//! PRM: volume 4, 3.5. EU_RDATA shows nothing: all its mux values are unpublished.

use super::DebugRegs;

/// Threads per EU; eight EUs make the 32 bits of the registers.
const THREADS: u32 = 4;

/// Attention and data bits, and clear pulses not yet delivered; bit 0 is EU 0 thread 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attention {
    raised: u32,
    data: u32,
    pulses: u32,
}

/// Bit of a thread, counted from the least significant one.
fn bit(eu: u32, thread: u32) -> u32 {
    if thread >= THREADS {
        return 0;
    }
    eu.checked_mul(THREADS)
        .and_then(|n| n.checked_add(thread))
        .and_then(|n| 1u32.checked_shl(n))
        .unwrap_or(0)
}

impl Attention {
    /// EU_ATT: the most significant bit is EU 0 thread 0.
    pub(super) fn att(&self, dword: u32) -> u32 {
        if dword == 0 {
            self.raised.reverse_bits()
        } else {
            0
        }
    }

    /// EU_ATT_DATA, same order.
    pub(super) fn att_data(&self, dword: u32) -> u32 {
        if dword == 0 {
            self.data.reverse_bits()
        } else {
            0
        }
    }

    /// EU_ATT_CLR: here the least significant bit is EU 0 thread 0.
    pub(super) fn clear(&mut self, pulses: u32) {
        self.raised &= !pulses;
        self.data &= !pulses;
        self.pulses |= pulses;
    }
}

impl DebugRegs {
    /// `wait n1` raised the Attn signal of a thread.
    pub fn raise_attention(&mut self, eu: u32, thread: u32) {
        self.eu.raised |= bit(eu, thread);
    }

    /// A thread's CR0 bit 2 changed.
    pub fn set_attention_data(&mut self, eu: u32, thread: u32, data: bool) {
        let bit = bit(eu, thread);
        if data {
            self.eu.data |= bit;
        } else {
            self.eu.data &= !bit;
        }
    }

    /// Any Attn signal is up: the one interrupt line to the driver.
    pub fn attention(&self) -> bool {
        self.eu.raised != 0
    }

    /// Whether this thread's Attn signal is up.
    pub fn attention_of(&self, eu: u32, thread: u32) -> bool {
        self.eu.raised & bit(eu, thread) != 0
    }

    /// Takes the AClear pulse of a thread: its N1 bit 0 and CR0 bit 2 are to be reset.
    pub fn take_attention_clear(&mut self, eu: u32, thread: u32) -> bool {
        let bit = bit(eu, thread);
        let pulse = self.eu.pulses & bit != 0;
        self.eu.pulses &= !bit;
        pulse
    }

    /// Whether AClear pulses wait to be delivered.
    pub fn attention_clears_pending(&self) -> bool {
        self.eu.pulses != 0
    }
}

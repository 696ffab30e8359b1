//! Attention signalling between threads and host.
//!
//! PRM: volume 4, 3.5. EU_RDATA shows nothing: all its mux values are unpublished.

use super::DebugRegs;

/// Threads per EU; eight EUs make the 32 bits of the registers.
const THREADS: u32 = 4;

/// Attention and data bits, and what of EU_ATT_CLR has not reached the threads; bit 0 is EU 0 thread 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attention {
    raised: u32,
    data: u32,
    /// EU_ATT_CLR as last written, which nobody can read.
    held: u32,
    /// AClear pulses on their way: N1 bit 0 and CR0 bit 2 are to be reset.
    pulses: u32,
    /// Waits that end.
    released: u32,
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

    /// EU_ATT_CLR: here the least significant bit is EU 0 thread 0. A bit that becomes one resets the signals
    /// (3.5, AClear); when it is set back to zero the wait ends (3.5.4).
    pub(super) fn clear(&mut self, value: u32) {
        let set = value & !self.held;
        self.raised &= !set;
        self.data &= !set;
        self.pulses |= set;
        self.released |= self.held & !value;
        self.held = value;
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

    /// Whether something of EU_ATT_CLR has not reached its thread.
    #[inline]
    pub fn attention_answered(&self) -> bool {
        self.eu.pulses | self.eu.released != 0
    }

    /// Takes the AClear pulse of a thread: its N1 bit 0 and CR0 bit 2 are to be reset.
    pub fn take_attention_clear(&mut self, eu: u32, thread: u32) -> bool {
        let bit = bit(eu, thread);
        let pulse = self.eu.pulses & bit != 0;
        self.eu.pulses &= !bit;
        pulse
    }

    /// Takes the end of a thread's wait: its bit of EU_ATT_CLR was set, and then set back.
    pub fn take_attention_release(&mut self, eu: u32, thread: u32) -> bool {
        let bit = bit(eu, thread);
        let released = self.eu.released & bit != 0;
        self.eu.released &= !bit;
        released
    }
}

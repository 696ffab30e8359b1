//! Channels that wait at other instructions than the thread's.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3 (if, break, halt, call): each channel has an instruction pointer, and executes when the
//! thread's pointer comes by. A channel that goes on with the thread has no pointer of its own here.

/// Channels of a thread.
pub(crate) const CHANNELS: usize = 32;

/// Where each channel waits that does not execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parked {
    /// Zero for a channel that waits nowhere.
    at: [u32; CHANNELS],
    channels: u32,
    /// A bit for each waiting place, modulo 64 instructions: no channel waits at most instructions.
    places: u64,
}

impl Parked {
    pub(crate) const fn new() -> Parked {
        Parked {
            at: [0; CHANNELS],
            channels: 0,
            places: 0,
        }
    }

    #[inline(always)]
    const fn bit(ip: u32) -> u64 {
        1 << (ip >> 3 & 63)
    }

    /// Whether a channel waits anywhere.
    #[inline(always)]
    pub(crate) const fn any(&self) -> bool {
        self.channels != 0
    }

    /// The channels that wait at `ip`, one bit each.
    #[inline]
    pub(crate) const fn at(&self, ip: u32) -> u32 {
        if self.places & Parked::bit(ip) == 0 {
            return 0;
        }
        let mut found = 0;
        let mut channel = 0;
        while channel < CHANNELS {
            found |= ((self.at[channel] == ip) as u32) << channel;
            channel += 1;
        }
        found & self.channels
    }

    /// Whether a channel waits behind `ip`, before so many bytes from there.
    pub(crate) fn within(&self, ip: u32, bytes: u32) -> bool {
        let waits = |channel: usize| {
            let behind = self.at[channel].wrapping_sub(ip);
            self.channels >> channel & 1 != 0 && behind != 0 && behind < bytes
        };
        self.any() && (0..CHANNELS).any(waits)
    }

    /// Lets channels wait at `ip`.
    pub(crate) fn park(&mut self, channels: u32, ip: u32) {
        if channels == 0 {
            return;
        }
        self.channels |= channels;
        self.places |= Parked::bit(ip);
        for (channel, at) in self.at.iter_mut().enumerate() {
            if channels >> channel & 1 != 0 {
                *at = ip;
            }
        }
    }

    /// Takes the channels that wait at `ip`.
    pub(crate) fn take(&mut self, ip: u32) -> u32 {
        let taken = self.at(ip);
        if taken == 0 {
            return 0;
        }
        self.channels &= !taken;
        self.places = 0;
        for (channel, at) in self.at.iter_mut().enumerate() {
            if taken >> channel & 1 != 0 {
                *at = 0;
            } else if self.channels >> channel & 1 != 0 {
                self.places |= Parked::bit(*at);
            }
        }
        taken
    }
}

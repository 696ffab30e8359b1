//! Channels that wait at other instructions than the thread's.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3 (if, break, halt, call): each channel has an instruction pointer, and executes when the
//! thread's pointer comes by. A channel that goes on with the thread has no pointer of its own here.

/// Channels of a thread.
pub(crate) const CHANNELS: usize = 32;

/// Channels that wait at the same instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    at: u32,
    channels: u32,
}

const NOBODY: Waiting = Waiting { at: 0, channels: 0 };

/// Where each channel waits that does not execute: few places, in the order of their addresses.
#[derive(Clone, Debug)]
pub(crate) struct Parked {
    places: [Waiting; CHANNELS],
    count: usize,
}

impl PartialEq for Parked {
    fn eq(&self, other: &Parked) -> bool {
        self.places() == other.places()
    }
}

impl Eq for Parked {}

impl Parked {
    pub(crate) const fn new() -> Parked {
        Parked {
            places: [NOBODY; CHANNELS],
            count: 0,
        }
    }

    /// Nobody waits.
    #[inline(always)]
    pub(crate) const fn clear(&mut self) {
        self.count = 0;
    }

    #[inline(always)]
    fn places(&self) -> &[Waiting] {
        self.places.get(..self.count).unwrap_or_default()
    }

    /// Whether a channel waits anywhere.
    #[inline(always)]
    pub(crate) const fn any(&self) -> bool {
        self.count != 0
    }

    /// The channels that wait at `ip`, one bit each.
    #[inline(always)]
    pub(crate) const fn at(&self, ip: u32) -> u32 {
        let mut place = 0;
        while place < self.count && place < CHANNELS {
            if self.places[place].at == ip {
                return self.places[place].channels;
            }
            place += 1;
        }
        0
    }

    /// Whether a channel waits behind `ip`, before so many bytes from there.
    #[inline(always)]
    pub(crate) fn within(&self, ip: u32, bytes: u32) -> bool {
        self.places().iter().any(|place| {
            let behind = place.at.wrapping_sub(ip);
            behind != 0 && behind < bytes
        })
    }

    /// Lets channels, which wait nowhere, wait at `ip`.
    #[inline]
    pub(crate) fn park(&mut self, channels: u32, ip: u32) {
        if channels == 0 {
            return;
        }
        let place = self.places().iter().take_while(|p| p.at < ip).count();
        if let Some(known) = self.places.get_mut(place)
            && place < self.count
            && known.at == ip
        {
            known.channels |= channels;
            return;
        }
        // There are no more places than channels, as each channel waits at one.
        if self.count < CHANNELS {
            self.places.copy_within(place..self.count, place + 1);
            self.places[place] = Waiting { at: ip, channels };
            self.count += 1;
        }
    }

    /// Takes the channels that wait at `ip`.
    #[inline(always)]
    pub(crate) fn take(&mut self, ip: u32) -> u32 {
        let found = self.places().iter().position(|place| place.at == ip);
        let Some(place) = found else {
            return 0;
        };
        let taken = self.places[place].channels;
        self.places.copy_within(place + 1..self.count, place);
        self.count -= 1;
        taken
    }
}

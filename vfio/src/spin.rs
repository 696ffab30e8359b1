//! Notices a guest that reads a register again and again.
//!
//! What such a guest waits for will not come.
//! A loop reads one register, or a few in turn; a write, or a value that changes, is progress. It is told once it has
//! lasted, and again each time it has lasted four times as long. Nothing is done about it: guests give up by themselves.

use std::time::{Duration, Instant};

/// Registers that a loop may read.
const LOOP: usize = 4;
/// Reads of a register until it is told.
const FIRST: u64 = 2000;
/// TIMEOUT: how long a loop has to last until it is told; drivers wait for a frame of the display, 50 ms and more.
const LEAST: Duration = Duration::from_millis(500);

/// A register of the loop.
#[derive(Clone, Copy, Debug)]
struct Read {
    offset: u32,
    value: u32,
    count: u64,
}

/// What there is to tell of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The register.
    pub offset: u32,
    /// What it reads each time.
    pub value: u32,
    /// How often it was read.
    pub count: u64,
    /// For how long.
    pub lasted: Duration,
}

/// The reads since the last progress.
#[derive(Debug)]
pub struct Spin {
    reads: Vec<Read>,
    since: Instant,
    next: u64,
}

impl Default for Spin {
    fn default() -> Self {
        Spin {
            reads: Vec::with_capacity(LOOP),
            since: Instant::now(),
            next: FIRST,
        }
    }
}

impl Spin {
    /// A register was written, or something else has happened that may end a loop.
    pub fn progress(&mut self) {
        if !self.reads.is_empty() {
            self.reads.clear();
            self.next = FIRST;
        }
    }

    /// A register was read; what there is to tell.
    pub fn read(&mut self, offset: u32, value: u32) -> Option<Told> {
        let known = self.reads.iter_mut().find(|read| read.offset == offset);
        let count = match known {
            Some(read) if read.value == value => {
                read.count += 1;
                read.count
            }
            known => {
                if known.is_some() || self.reads.len() == LOOP {
                    self.progress();
                }
                if self.reads.is_empty() {
                    self.since = Instant::now();
                }
                self.reads.push(Read {
                    offset,
                    value,
                    count: 1,
                });
                1
            }
        };
        if count < self.next {
            return None;
        }
        let lasted = self.since.elapsed();
        if lasted < LEAST {
            return None;
        }
        self.next = count.saturating_mul(4);
        Some(Told {
            offset,
            value,
            count,
            lasted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_told_when_it_has_lasted_and_then_ever_more_rarely() {
        let mut spin = Spin::default();
        let mut told = Vec::new();
        for i in 0..40_000 {
            if i == FIRST {
                std::thread::sleep(LEAST);
            }
            told.extend(spin.read(0x7_0024, 0).map(|told| told.count));
            spin.read(0x2030, 0x40);
        }
        let first = told.first().copied().unwrap_or(0);
        assert!((FIRST..=FIRST + 1).contains(&first), "{told:?}");
        assert_eq!(told[1..], [4 * first, 16 * first]);
    }

    #[test]
    fn progress_is_no_loop() {
        let mut spin = Spin {
            since: Instant::now(),
            ..Spin::default()
        };
        for i in 0..10 * FIRST as u32 {
            // A value that changes now and then, a write now and then, many registers in turn.
            let value = i / 1000;
            assert_eq!(spin.read(0x2034, value), None);
            if i % 1500 == 0 {
                spin.progress();
            }
            assert_eq!(spin.read(0x3000 + 4 * (i % 8), 0), None);
        }
    }
}

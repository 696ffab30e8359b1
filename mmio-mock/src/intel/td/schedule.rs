//! The order in which threads that are alive at the same time get their turn.
//!
//! PRM: volume 4, 2.6.9 (no latency is architected, the model must stay fair), 2.3 (an EU switches
//! threads on a stall). Results that the manual defines are the same in every order.

use std::fmt;
use std::str::FromStr;

/// Whose turn is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Round and round from the lowest slot up.
    #[default]
    Ascending,
    /// Round and round from the highest slot down.
    Descending,
    /// Any thread, for a turn of any length, from this seed.
    Random(u64),
}

/// Order and length of turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Whose turn is next.
    pub order: Order,
    /// Ticks of a turn at most; a random order has shorter ones too.
    pub turn: u64,
}

/// Ticks of a turn when nobody says otherwise.
const TURN: u64 = 1024;

impl Default for Schedule {
    fn default() -> Self {
        Schedule::new(Order::default())
    }
}

impl Schedule {
    /// An order, with turns of the usual length.
    pub const fn new(order: Order) -> Self {
        let turn = match order {
            Order::Random(_) => 64,
            Order::Ascending | Order::Descending => TURN,
        };
        Schedule { order, turn }
    }

    /// The same with turns of another length, at least one tick.
    #[must_use]
    pub const fn with_turn(mut self, ticks: u64) -> Self {
        self.turn = if ticks == 0 { 1 } else { ticks };
        self
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.order {
            Order::Ascending => write!(f, "fixed"),
            Order::Descending => write!(f, "reversed"),
            Order::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

/// A text that names no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a schedule is `fixed`, `reversed` or `random:SEED`")]
pub struct ParseScheduleError;

impl FromStr for Schedule {
    type Err = ParseScheduleError;

    fn from_str(text: &str) -> Result<Self, ParseScheduleError> {
        let order = match text.split_once(':') {
            None if text == "fixed" => Order::Ascending,
            None if text == "reversed" => Order::Descending,
            Some(("random", seed)) => Order::Random(seed.parse().map_err(|_| ParseScheduleError)?),
            _ => return Err(ParseScheduleError),
        };
        Ok(Schedule::new(order))
    }
}

/// A set of slots, one bit each.
pub type Slots = u128;

/// Hands out turns.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    schedule: Schedule,
    last: u32,
    state: u64,
}

impl Turns {
    /// Turns of a schedule, from its beginning.
    pub const fn new(schedule: Schedule) -> Self {
        let state = match schedule.order {
            Order::Random(seed) => seed,
            Order::Ascending | Order::Descending => 0,
        };
        Turns {
            schedule,
            // Nobody has had a turn: the first or the last slot begins.
            last: match schedule.order {
                Order::Ascending => Slots::BITS - 1,
                Order::Descending | Order::Random(_) => 0,
            },
            state,
        }
    }

    /// What the turns follow.
    pub const fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// The next number of the random sequence (splitmix64).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// The next of the slots that are ready, taken out of the set, and the ticks of its turn.
    pub fn next(&mut self, ready: &mut Slots) -> Option<(u16, u64)> {
        if *ready == 0 {
            return None;
        }
        let mut turn = self.schedule.turn;
        let at = match self.schedule.order {
            Order::Ascending => {
                let behind = *ready & (Slots::MAX << self.last) << 1;
                let from = if behind == 0 { *ready } else { behind };
                from.trailing_zeros()
            }
            Order::Descending => {
                let below = *ready & !(Slots::MAX << self.last);
                let from = if below == 0 { *ready } else { below };
                Slots::BITS - 1 - from.leading_zeros()
            }
            Order::Random(_) => {
                turn = self.random() % turn + 1;
                let mut from = *ready;
                for _ in 0..self.random() % u64::from(ready.count_ones()) {
                    from &= from - 1;
                }
                from.trailing_zeros()
            }
        };
        self.last = at;
        *ready &= !(1 << at);
        // CAST: below 128.
        Some((at as u16, turn))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn first(turns: &mut Turns, ready: Slots) -> u16 {
        turns.next(&mut ready.clone()).unwrap().0
    }

    // covers: 2.6.9-01
    #[test]
    fn turns_go_round() {
        let mut up = Turns::new(Schedule::default());
        let order: Vec<u16> = (0..5).map(|_| first(&mut up, 0b1011)).collect();
        assert_eq!(order, [0, 1, 3, 0, 1]);
        let mut down = Turns::new(Schedule::new(Order::Descending));
        let order: Vec<u16> = (0..5).map(|_| first(&mut down, 0b1011)).collect();
        assert_eq!(order, [3, 1, 0, 3, 1]);
        let top = 1 << 127;
        assert_eq!(first(&mut up, top), 127);
        assert_eq!(first(&mut up, top), 127);
        assert_eq!(first(&mut up, 1), 0);
        assert_eq!(up.next(&mut 0), None);
    }

    #[test]
    fn a_seed_repeats_and_reaches_everybody() {
        let schedule = Schedule::new(Order::Random(7));
        let run = |schedule| {
            let mut turns = Turns::new(schedule);
            (0..200)
                .map(|_| turns.next(&mut 0b1_0110).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(run(schedule), run(schedule));
        assert_ne!(run(schedule), run(Schedule::new(Order::Random(8))));
        for slot in [1, 2, 4] {
            assert!(run(schedule).iter().filter(|(at, _)| *at == slot).count() > 40);
        }
        assert!(
            run(schedule)
                .iter()
                .all(|&(_, turn)| (1..=64).contains(&turn))
        );
    }

    #[test]
    fn a_schedule_is_read_as_it_is_printed() {
        for text in ["fixed", "reversed", "random:18446744073709551615"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        for text in ["", "random", "random:x", "fixed:1"] {
            assert_eq!(text.parse::<Schedule>(), Err(ParseScheduleError));
        }
    }
}

//! The order of those that wait to submit, and how long a newcomer waits.
//!
//! Counted in requests, and in the device's time where they are slow.
//! The numbers are those that docs/exec.md promises. Not covered: how long a request takes.
use super::*;
use crate::core::program::{Waits, Wanted};
use crate::core::turn::{Queue, Turn};
use crate::core::work;
use crate::intel::timeline::Work;

/// Seconds that a slow request takes: less than what is ended.
const SLOW: u64 = 7;

/// Threads of parties: each waits for a turn, submits a request, and waits for another turn.
struct Line<'a> {
    bench: &'a Bench,
    waiting: Vec<(usize, Turn<'a, Work>, Waits<'a>)>,
    /// Whose requests have been queued, in their order, and how many have ended.
    queued: Vec<usize>,
    ended: usize,
}

impl<'a> Line<'a> {
    fn new(bench: &'a Bench) -> Self {
        Line {
            bench,
            waiting: Vec::new(),
            queued: Vec::new(),
            ended: 0,
        }
    }

    fn queue(&self) -> Queue<'a, Work> {
        let dev = &self.bench.dev;
        Queue {
            timeline: dev.timeline(),
            user: dev.user(),
            clock: dev.uncore().clock(),
        }
    }

    /// A thread of a party asks.
    fn ask(&mut self, parties: &[Party], who: usize) {
        let account = self.bench.account(&parties[who]);
        let program = Program::new(parties[who].file.client(), account);
        let waits = self
            .bench
            .dev
            .user()
            .waiting
            .enter(program.clone(), Wanted::Any);
        self.waiting.push((who, self.queue().enter(program), waits));
    }

    /// Those whose turns come submit; each thread asks again when `again`.
    fn submit(&mut self, parties: &[Party], again: bool) {
        self.submit_of(parties, |_| again);
    }

    /// The same when some threads ask again.
    fn submit_of(&mut self, parties: &[Party], again: impl Fn(usize) -> bool) {
        self.queue().call();
        while let Some(at) = self.waiting.iter().position(|(_, turn, _)| turn.has_come()) {
            let (who, turn, _) = self.waiting.remove(at);
            self.bench.run_in_default(&parties[who]);
            let account = self.bench.account(&parties[who]).unwrap();
            account.note_queued(self.bench.dev.uncore().clock().outside());
            self.queued.push(who);
            drop(turn);
            if again(who) {
                self.ask(parties, who);
            }
        }
    }

    /// The oldest request ends after so many seconds.
    fn end(&mut self, seconds: u64) {
        let left = self.bench.dev.timeline().pending() as u32;
        let first = self.bench.dev.timeline().submitted() + 1 - left;
        self.bench.work(seconds);
        store_seqno(&self.bench.fake, first);
        self.bench.dev.timeline().retire();
        self.ended += 1;
    }

    /// The oldest request ends after so many seconds, or before that since others wait; how many seconds that were.
    fn last_at_most(&mut self, seconds: u64) -> u64 {
        let before = self.bench.dev.timeline().pending();
        for second in 0..seconds {
            if self.bench.dev.timeline().pending() < before {
                self.ended += 1;
                return second;
            }
            self.bench.work(1);
        }
        if self.bench.dev.timeline().pending() < before {
            self.ended += 1;
        } else {
            self.end(0);
        }
        seconds
    }

    /// A newcomer asks now, whose request is quick; how many requests end before its own has begun, and the seconds
    /// until then.
    fn wait_at_most(&mut self, parties: &[Party], seconds: u64) -> (usize, u64) {
        let newcomer = parties.len() - 1;
        let (before, from) = (self.ended, self.queued.len());
        self.ask(parties, newcomer);
        let mut time = 0;
        loop {
            self.submit_of(parties, |who| who != newcomer);
            let at = (self.queued[from..].iter()).position(|who| *who == newcomer);
            if at.is_some_and(|at| from + at == self.ended) {
                let waited = self.ended - before;
                self.end(0);
                return (waited, time);
            }
            time += self.last_at_most(seconds);
        }
    }

    /// Requests that end until that of a newcomer has, which asks now.
    fn wait_of_newcomer(&mut self, parties: &[Party], seconds: u64) -> usize {
        let newcomer = parties.len() - 1;
        let before = self.ended;
        let _waits = self.bench.dev.user().waiting.enter(
            Program::new(
                parties[newcomer].file.client(),
                self.bench.account(&parties[newcomer]),
            ),
            Wanted::Any,
        );
        self.ask(parties, newcomer);
        loop {
            self.submit(parties, true);
            let at = (self.queued.iter()).position(|who| *who == newcomer);
            if at.is_some_and(|at| at < self.ended) {
                return self.ended - before - 1;
            }
            assert!(self.ended < before + 1000);
            self.end(seconds);
        }
    }
}

/// Families by themselves, each of one process, and a newcomer behind them.
fn parties(bench: &Bench, families: u32) -> Vec<Party> {
    (1..=families + 1).map(|n| bench.party(n)).collect()
}

/// Families of which each has one request at a time, which takes so many seconds unless it is ended,
/// when that is known of all.
fn many_slow(bench: &Bench, families: u32, seconds: u64) -> (Vec<Party>, Line<'_>) {
    let parties = parties(bench, families);
    let mut line = Line::new(bench);
    for who in 0..families as usize {
        line.ask(&parties, who);
    }
    // Until all have had their turns.
    for _ in 0..families + 8 {
        line.submit(&parties, true);
        line.last_at_most(seconds);
    }
    (parties, line)
}

/// What docs/exec.md promises: three slow requests, or four when the turn was that of the longest in the line, each as
/// long as the limit for so many families.
#[test]
fn a_newcomer_waits_for_few_slow_requests_however_many_families_have_them() {
    for (families, seconds, longest) in [(45, 2, 4 * 3), (45, 59, 4 * 8), (12, 59, 4 * 20)] {
        for is_known in [false, true] {
            let bench = Bench::new(false);
            let (parties, mut line) = many_slow(&bench, families, seconds);
            let newcomer = families as usize;
            if is_known {
                // It has been there before: such a one has had a request.
                let account = bench.account(&parties[newcomer]).unwrap();
                let now = bench.dev.uncore().clock().outside();
                account.note_ended(Delta::from_millis(1), now);
            }
            for round in 0..5 {
                let (requests, time) = line.wait_at_most(&parties, seconds);
                let case = (families, seconds, is_known, round);
                assert!(requests <= 4, "{case:?}: {requests} requests");
                assert!(time <= longest, "{case:?}: {time} s");
            }
        }
    }
}

/// Families that one program has begun, each with a request of two seconds, and a newcomer of another group that asks six
/// seconds later: it waits for the three under way, and for one where the first of the line has its turn.
#[test]
fn a_newcomer_does_not_wait_for_all_families_that_one_program_has_begun() {
    for narrow in [1, 2] {
        let bench = Bench::new(true);
        let mut parties = parties(&bench, 45);
        for (n, party) in (1..).zip(&mut parties) {
            // In the second case each is a run of the same file, as the newcomer is.
            party.group = Group {
                wide: 1,
                narrow: if narrow == 1 { 1 } else { n },
            };
        }
        parties[45].group = if narrow == 1 {
            Group { wide: 1, narrow: 2 }
        } else {
            Group { wide: 2, narrow: 1 }
        };
        let mut line = Line::new(&bench);
        for who in 0..45 {
            line.ask(&parties, who);
        }
        for _ in 0..3 {
            line.submit(&parties, true);
            line.end(2);
        }
        line.submit(&parties, true);
        let (requests, seconds) = line.wait_at_most(&parties, 2);
        assert!(requests <= 4 && seconds <= 8, "{requests}, {seconds} s");
    }
}

/// A newcomer that cannot be told from families that another program has begun comes in the order of asking.
#[test]
fn a_newcomer_of_their_group_comes_in_its_order() {
    let bench = Bench::new(true);
    let mut parties = parties(&bench, 20);
    for party in &mut parties {
        party.group = Group::of_one(1);
    }
    let mut line = Line::new(&bench);
    for who in 0..21 {
        line.ask(&parties, who);
    }
    line.submit(&parties, false);
    while !line.waiting.is_empty() {
        line.end(2);
        line.submit(&parties, false);
    }
    assert_eq!(line.queued, (0..21).collect::<Vec<_>>());
}

/// Those in the line come all, by turns.
#[test]
fn slow_families_have_their_turns_beside_quick_ones() {
    let bench = Bench::new(true);
    let (parties, mut line) = many_slow(&bench, 6, 2);
    let quick: Vec<_> = (100..140).map(|n| bench.party(n)).collect();
    for party in &quick {
        let account = bench.account(party).unwrap();
        account.note_ended(Delta::from_millis(1), bench.dev.uncore().clock().outside());
    }
    let slow = parties.len();
    let parties: Vec<_> = parties.into_iter().chain(quick).collect();
    for who in slow..parties.len() {
        line.ask(&parties, who);
    }
    let before = line.queued.len();
    for _ in 0..150 {
        line.submit(&parties, true);
        line.end(0);
    }
    let of = |who: usize| {
        line.queued[before..]
            .iter()
            .filter(|one| **one == who)
            .count()
    };
    assert!(
        (0..6).all(|who| of(who) >= 2),
        "{:?}",
        &line.queued[before..]
    );
}

#[test]
fn a_newcomer_waits_for_one_slow_request_of_each_family() {
    let bench = Bench::new(true);
    let parties = parties(&bench, 20);
    let mut line = Line::new(&bench);
    // Ten threads each.
    for who in (0..10).flat_map(|_| 0..20) {
        line.ask(&parties, who);
    }
    // Until it is known of all that they are slow.
    for _ in 0..40 {
        line.submit(&parties, true);
        line.end(SLOW);
    }
    line.submit(&parties, true);
    let waited = line.wait_of_newcomer(&parties, SLOW);
    assert!((1..=20).contains(&waited), "{waited}");
    assert_eq!(bench.dev.reset_count(), 0);
}

/// Nothing is known of the families, and the newcomer has asked first.
#[test]
fn a_first_burst_is_one_request_of_each_family() {
    for families in [1, 5, 20] {
        let bench = Bench::new(true);
        let parties = parties(&bench, families);
        let mut line = Line::new(&bench);
        let newcomer = &parties[families as usize];
        let account = bench.account(newcomer).unwrap();
        account.note_queued(bench.dev.uncore().clock().outside());
        for who in (0..30).flat_map(|_| 0..families as usize) {
            line.ask(&parties, who);
        }
        line.submit(&parties, true);
        assert_eq!(line.queued.len(), families.min(8) as usize);
        let waited = line.wait_of_newcomer(&parties, SLOW);
        assert!(waited <= families as usize, "{families}: {waited}");
    }
}

#[test]
fn quick_requests_do_not_buy_more_than_eight_slow_ones() {
    let bench = Bench::new(true);
    let parties = parties(&bench, 1);
    let mut line = Line::new(&bench);
    bench.run_quickly(&parties[0], 100);
    bench.run_quickly(&parties[1], 1);
    let account = bench.account(&parties[1]).unwrap();
    account.note_queued(bench.dev.uncore().clock().outside());
    for _ in 0..30 {
        line.ask(&parties, 0);
    }
    line.submit(&parties, true);
    let waited = line.wait_of_newcomer(&parties, SLOW);
    assert!(waited <= 8, "{waited}");
    // From then on it is one at a time.
    for _ in 0..3 {
        line.queued.clear();
        line.ended = 0;
        line.submit(&parties, true);
        line.queued.resize(1, 0);
        assert!(line.wait_of_newcomer(&parties, SLOW) <= 2);
    }
}

/// More than the queue takes.
#[test]
fn sixty_that_wait_come_in_their_order() {
    let bench = Bench::new(true);
    let parties = parties(&bench, 100);
    for party in &parties {
        bench.run_quickly(party, 1);
    }
    let mut line = Line::new(&bench);
    for who in 0..100 {
        line.ask(&parties, who);
    }
    line.submit(&parties, false);
    assert_eq!((line.queued.len(), line.waiting.len()), (36, 64));
    // Some are killed; the first of those that wait is the leader.
    let killed = [36, 50, 51, 99];
    line.waiting.retain(|(who, ..)| !killed.contains(who));
    while !line.waiting.is_empty() {
        line.end(0);
        line.submit(&parties, false);
    }
    let expected: Vec<_> = (0..100).filter(|who| !killed.contains(who)).collect();
    assert_eq!(line.queued, expected);
}

#[test]
fn a_turn_that_comes_to_a_killed_thread_goes_on_to_the_next() {
    let bench = Bench::new(true);
    let parties = parties(&bench, 3);
    let mut line = Line::new(&bench);
    for who in 0..4 {
        line.ask(&parties, who);
    }
    let has_come = |line: &Line<'_>| -> Vec<_> {
        let come = line.waiting.iter().filter(|(_, turn, _)| turn.has_come());
        come.map(|(who, ..)| *who).collect()
    };
    assert_eq!(has_come(&line), [0], "one at a time");
    for next in 1..4 {
        drop(line.waiting.remove(0));
        assert_eq!(has_come(&line), [next]);
    }
}

#[test]
fn three_hundred_threads_of_a_family_do_not_push_a_newcomer_back() {
    let bench = Bench::new(true);
    let parties = parties(&bench, 1);
    let mut line = Line::new(&bench);
    bench.run_quickly(&parties[0], 10);
    bench.run_quickly(&parties[1], 1);
    let account = bench.account(&parties[1]).unwrap();
    account.note_queued(bench.dev.uncore().clock().outside());
    for _ in 0..300 {
        line.ask(&parties, 0);
    }
    line.submit(&parties, true);
    let waited = line.wait_of_newcomer(&parties, 0);
    assert!(waited <= 8, "{waited}");
    let queued = line.queued.len();
    for _ in 0..30 {
        line.submit(&parties, true);
        line.end(0);
    }
    let of_newcomer = line.queued[queued..].iter().filter(|who| **who == 1);
    assert!(of_newcomer.count() >= 10, "turns in turn");
}

/// One look at the requests under way serves all threads that wait.
#[test]
fn what_a_turn_costs_does_not_grow_with_those_who_wait() {
    let cost = |threads: usize| {
        let bench = Bench::new(true);
        let parties = parties(&bench, 1);
        let mut line = Line::new(&bench);
        let _waits = bench.dev.user().waiting.enter(
            Program::new(parties[1].file.client(), bench.account(&parties[1])),
            Wanted::Any,
        );
        let (looks, ()) = work::of(|| {
            for _ in 0..threads {
                line.ask(&parties, 0);
            }
            while !line.waiting.is_empty() {
                line.submit(&parties, false);
                line.end(0);
            }
        });
        looks / threads as u64
    };
    let (few, many) = (cost(100), cost(800));
    assert!(many <= few + 2, "{few} looks a turn, {many} of 800");
}

//! The order of those that wait to submit, and how long a newcomer waits.
//!
//! Counted in requests, and in the device's time where they are slow.
//! The numbers are those that docs/exec.md promises. Not covered: how long a request takes.
use super::*;
use crate::core::turn::{Queue, Turn};
use crate::core::work;
use crate::intel::timeline::Work;

/// Seconds that a slow request takes: less than what is ended.
const SLOW: u64 = 7;

/// Threads of parties: each waits for a turn, submits a request, and waits for another turn.
struct Line<'a> {
    bench: &'a Bench,
    waiting: Vec<(usize, Turn<'a, Work>)>,
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
        self.waiting.push((who, self.queue().enter(program)));
    }

    /// Those whose turns come submit; each thread asks again when `again`.
    fn submit(&mut self, parties: &[Party], again: bool) {
        self.queue().call();
        while let Some(at) = self.waiting.iter().position(|(_, turn)| turn.has_come()) {
            let (who, turn) = self.waiting.remove(at);
            self.bench.run_in_default(&parties[who]);
            let account = self.bench.account(&parties[who]).unwrap();
            account.note_queued(self.bench.dev.uncore().clock().outside());
            self.queued.push(who);
            drop(turn);
            if again {
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

    /// Requests that end until that of a newcomer has, which asks now.
    fn wait_of_newcomer(&mut self, parties: &[Party], seconds: u64) -> usize {
        let newcomer = parties.len() - 1;
        let before = self.ended;
        let _waits = self.bench.dev.user().waiting.enter(Program::new(
            parties[newcomer].file.client(),
            self.bench.account(&parties[newcomer]),
        ));
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
        assert_eq!(line.queued.len(), families as usize);
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
    let mut line = Line::new(&bench);
    for who in 0..100 {
        line.ask(&parties, who);
    }
    line.submit(&parties, false);
    assert_eq!((line.queued.len(), line.waiting.len()), (36, 64));
    // Some are killed; the first of those that wait is the leader.
    let killed = [36, 50, 51, 99];
    line.waiting.retain(|(who, _)| !killed.contains(who));
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
        let come = line.waiting.iter().filter(|(_, turn)| turn.has_come());
        come.map(|(who, _)| *who).collect()
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
        let _waits = bench.dev.user().waiting.enter(Program::new(
            parties[1].file.client(),
            bench.account(&parties[1]),
        ));
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

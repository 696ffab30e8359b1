//! Work that gets on and never ends: when it is ended, and when left alone.
//!
//! What becomes of the requests is that of i915 `kill_context` and `intel_engine_heartbeat.c`; the limits are the driver's
//! own. Not covered: what batches do.
mod families;
mod turns;

use alloc::vec;
use kernel::time::Ktime;

use super::faults::{resettable, store_seqno};
use super::*;
use crate::core::account::Account;
use crate::core::program::{Program, Wanted};
use crate::core::queue::Census;
use crate::intel::context::{Context, Parameters};
use crate::intel::device::Culprit;
use crate::intel::timeline::Uses;
use crate::{Fence, File, Group, Node, Origin, TimeLimits};

/// PS_INVOCATION_COUNT.
const PIXELS: usize = 0x2348;

/// A device on which pixels come out while time passes, and a batch.
struct Bench {
    fake: Arc<Fake>,
    dev: Device,
    object: Object,
}

/// A program with an open file.
struct Party {
    file: File,
    process: u32,
    family: u64,
    group: Group,
}

impl Bench {
    fn new(revive: bool) -> Self {
        let fake = resettable(revive);
        let dev = probe(&fake);
        let object = batch(&dev);
        Bench { fake, dev, object }
    }

    /// A process that is a family by itself.
    fn party(&self, process: u32) -> Party {
        self.kin(process, process.into())
    }

    /// A process of a family.
    fn kin(&self, process: u32, family: u64) -> Party {
        let file = File::open(&self.dev, Node::Render);
        file.client().identify(process, false, || "endless".into());
        Party {
            file,
            process,
            family,
            group: Group::of_one(family),
        }
    }

    fn account(&self, party: &Party) -> Option<Arc<Account>> {
        self.dev.user().ledger.account(Origin {
            process: party.process.into(),
            family: party.family,
            group: party.group,
        })
    }

    fn has_room(&self, party: &Party) -> bool {
        let program = Program::new(party.file.client(), self.account(party));
        let dev = &self.dev;
        let now = dev.uncore().clock().outside();
        Census::take(dev.user(), dev.timeline(), now).has_room(&program)
    }

    fn is_banned(&self, party: &Party) -> bool {
        self.account(party)
            .is_some_and(|account| account.is_banned())
    }

    fn run(&self, party: &Party, context: &Arc<Context>) -> Arc<Fence> {
        let uses = Uses {
            objects: vec![self.object.clone()],
            context: Some(Arc::clone(context)),
            account: self.account(party),
            ..Uses::default()
        };
        let address = self.object.address().unwrap();
        self.dev.engine().submit(&uses, address).unwrap()
    }

    fn run_in_default(&self, party: &Party) -> Arc<Fence> {
        self.run(party, &party.file.context(0).unwrap())
    }

    /// Requests of a party that end at once.
    fn run_quickly(&self, party: &Party, count: usize) {
        for _ in 0..count {
            let fence = self.run_in_default(party);
            store_seqno(&self.fake, fence.seqno());
            self.dev.timeline().retire();
            assert_eq!(fence.status(), Some(Ok(())));
        }
    }

    /// Lets time pass in which work gets done.
    fn work(&self, seconds: u64) {
        for _ in 0..seconds * 10 {
            self.dev.watch();
            self.fake.relax(Delta::from_millis(100));
            self.fake.set(PIXELS, self.fake.peek(PIXELS) + 1);
        }
    }
}

#[test]
fn what_a_closed_file_leaves_is_ended_after_a_while() {
    let bench = Bench::new(true);
    let (gone, other) = (bench.party(42), bench.party(43));
    let contexts = [0, 1].map(|_| {
        let id = gone.file.add_context(Parameters::default()).unwrap();
        gone.file.context(id).unwrap()
    });
    let first = bench.run(&gone, &contexts[0]);
    let behind = bench.run_in_default(&other);
    let queued = contexts.each_ref().map(|context| bench.run(&gone, context));
    bench.work(20);
    assert_eq!(bench.dev.reset_count(), 0, "it is open");
    drop(gone);
    bench.work(9);
    assert_eq!(bench.dev.reset_count(), 0, "frames that are under way");
    bench.work(2);
    let eio = Some(Err(EIO));
    assert_eq!(first.status(), eio);
    assert_eq!(queued.map(|fence| fence.status()), [eio; 2]);
    assert_eq!(behind.status(), Some(Ok(())));
    assert_eq!(bench.dev.reset_count(), 1);
    let stats = |context: &Context| context.reset_stats();
    assert_eq!(stats(&other.file.context(0).unwrap()), (0, 1));
    assert_eq!(
        contexts.map(|context| context.reset_stats()),
        [(1, 0), (0, 0)]
    );
    assert!(bench.dev.error_state().is_none());
}

#[test]
fn frames_of_a_closed_file_that_end_in_time_are_drawn() {
    let bench = Bench::new(true);
    let gone = bench.party(42);
    let fences = [0; 4].map(|_| bench.run_in_default(&gone));
    bench.work(60);
    drop(gone);
    for seqno in 1..=4 {
        bench.work(2);
        store_seqno(&bench.fake, seqno);
    }
    // The parser has come to the end of the ring.
    bench.fake.set(HEAD, bench.fake.peek(TAIL));
    bench.work(20);
    assert_eq!(fences.map(|fence| fence.status()), [Some(Ok(())); 4]);
    assert_eq!(bench.dev.reset_count(), 0);
}

#[test]
fn time_in_which_others_have_the_engine_is_not_that_of_a_closed_file() {
    let bench = Bench::new(true);
    let (gone, other) = (bench.party(42), bench.party(43));
    let fence = bench.run_in_default(&other);
    let last = bench.run_in_default(&gone);
    drop(gone);
    bench.work(30);
    store_seqno(&bench.fake, 1);
    bench.work(8);
    assert_eq!((fence.status(), last.status()), (Some(Ok(())), None));
    bench.work(4);
    assert_eq!(last.status(), Some(Err(EIO)));
}

#[test]
fn a_program_alone_may_take_as_long_as_it_likes() {
    let bench = Bench::new(true);
    let party = bench.party(42);
    // Another file of the same process is no other program.
    let second = bench.party(42);
    let fences = [&party, &party, &second].map(|party| bench.run_in_default(party));
    bench.work(1000);
    assert_eq!(bench.dev.reset_count(), 0);
    store_seqno(&bench.fake, 3);
    bench.work(1);
    assert_eq!(fences.map(|fence| fence.status()), [Some(Ok(())); 3]);
}

#[test]
fn a_request_is_ended_when_others_wait_for_long() {
    let bench = Bench::new(true);
    let (endless, other) = (bench.party(42), bench.party(43));
    let context = endless.file.context(0).unwrap();
    let fence = bench.run(&endless, &context);
    bench.work(100);
    let behind = bench.run_in_default(&other);
    bench.work(59);
    {
        // A debugger looks at it.
        let _suspension = bench.dev.suspend_hang_check();
        bench.work(100);
        assert_eq!(bench.dev.reset_count(), 0);
    }
    bench.work(2);
    assert_eq!(fence.status(), Some(Err(EIO)));
    assert_eq!(behind.status(), Some(Ok(())));
    assert_eq!(
        (bench.dev.reset_count(), context.reset_stats()),
        (1, (1, 0))
    );
    assert!(!bench.is_banned(&endless));
    let text = bench.dev.error_state().unwrap().to_string();
    let reason = "request 1 of endless[42] is ended: it has kept the device for 60 s while other programs waited";
    assert!(text.contains(reason), "{text}");
}

#[test]
fn a_program_that_waits_inside_a_call_counts_while_it_waits() {
    let bench = Bench::new(true);
    let (endless, other) = (bench.party(42), bench.party(43));
    let limit = Delta::from_secs(3);
    bench.dev.set_time_limits(TimeLimits {
        while_others_wait: limit,
        ..TimeLimits::default()
    });
    let fence = bench.run_in_default(&endless);
    let program = Program::new(other.file.client(), bench.account(&other));
    let waiting = &bench.dev.user().waiting;
    for _ in 0..10 {
        let waits = waiting.enter(program.clone(), Wanted::Any);
        bench.work(2);
        drop(waits);
        bench.work(1);
    }
    assert_eq!(bench.dev.reset_count(), 0, "not all the time");
    let _waits = waiting.enter(program, Wanted::Any);
    bench.work(4);
    assert_eq!(fence.status(), Some(Err(EIO)));
}

#[test]
fn one_request_after_another_may_take_four_times_as_long() {
    let bench = Bench::new(true);
    let (busy, other) = (bench.party(42), bench.party(43));
    let fences = [0; 8].map(|_| bench.run_in_default(&busy));
    let behind = bench.run_in_default(&other);
    for seqno in 1..=5 {
        assert_eq!(bench.dev.reset_count(), 0, "{seqno}");
        bench.work(50);
        store_seqno(&bench.fake, seqno);
    }
    assert_eq!(bench.dev.reset_count(), 1);
    // What is queued behind would be the next row.
    let eio = |fence: &Arc<Fence>| fence.status() == Some(Err(EIO));
    assert!(fences[4..].iter().all(eio));
    assert_eq!(behind.status(), Some(Ok(())));
    let text = bench.dev.error_state().unwrap().to_string();
    assert!(
        text.contains("for 240 s with one request after another"),
        "{text}"
    );
}

#[test]
fn the_third_end_in_a_row_is_the_end_of_the_program() {
    let bench = Bench::new(false);
    let (endless, other) = (bench.party(42), bench.party(43));
    // A context for each, made in time.
    let contexts: Vec<_> = (0..6)
        .map(|_| endless.file.add_context(Parameters::default()).unwrap())
        .map(|id| endless.file.context(id).unwrap())
        .collect();
    let fences: Vec<_> = (contexts.iter())
        .map(|context| bench.run(&endless, context))
        .collect();
    let behind = bench.run_in_default(&other);
    bench.work(179);
    let ended = || {
        fences
            .iter()
            .filter(|fence| fence.status() == Some(Err(EIO)))
    };
    assert_eq!((ended().count(), bench.dev.reset_count()), (2, 2));
    bench.work(10);
    assert_eq!((ended().count(), bench.dev.reset_count()), (6, 3));
    assert!(bench.is_banned(&endless) && !bench.is_banned(&other));
    assert_eq!(behind.status(), None, "its turn");
    store_seqno(&bench.fake, 7);
    bench.work(1);
    assert_eq!(behind.status(), Some(Ok(())));
}

#[test]
fn a_request_that_ends_just_before_the_reset_is_blamed_for_nothing() {
    let bench = Bench::new(false);
    let (endless, other) = (bench.party(42), bench.party(43));
    let first = bench.run_in_default(&endless);
    let second = bench.run_in_default(&other);
    store_seqno(&bench.fake, 1);
    let ended = Fence::on((bench.dev.timeline().context(), 1), "i915", None);
    bench
        .dev
        .reset_alone(Culprit::Request(&ended), None)
        .unwrap();
    assert_eq!((first.status(), second.status()), (Some(Ok(())), None));
    let stats = |party: &Party| party.file.context(0).unwrap().reset_stats();
    assert_eq!((stats(&endless), stats(&other)), ((0, 0), (0, 1)));
    store_seqno(&bench.fake, 2);
    bench.work(1);
    assert_eq!(second.status(), Some(Ok(())));
    assert_eq!(
        second.signalled_at().map(|at| at > Ktime::from_nanos(0)),
        Some(true)
    );
}

#[test]
fn a_reset_for_which_no_request_is_to_blame_ends_none() {
    let bench = Bench::new(true);
    let party = bench.party(42);
    let fences = [0; 2].map(|_| bench.run_in_default(&party));
    bench.dev.reset_alone(Culprit::NoRequest, None).unwrap();
    // This device finishes what a reset has left.
    assert_eq!(fences.map(|fence| fence.status()), [Some(Ok(())); 2]);
    let context = party.file.context(0).unwrap();
    assert_eq!(context.reset_stats(), (0, 2), "innocent of both");
    assert_eq!(bench.dev.reset_count(), 1);
}

//! Limits of processes with several files, of families, and of what they queue.
//!
//! The limits are the driver's own. Not covered: how a process and its family are found out.
use super::*;

/// ACTHD.
const ACTIVE: usize = 0x2074;

/// Seconds after which each of these requests has ended with an error, and the one behind them with success.
fn ends(bench: &Bench, fences: &[Arc<Fence>], behind: &Fence, last: u32) -> Vec<u64> {
    let failed = |fence: &Arc<Fence>| fence.status() == Some(Err(EIO));
    let mut times = Vec::new();
    for second in 1..1000 {
        bench.work(1);
        let count = fences.iter().filter(|fence| failed(fence)).count();
        times.resize(count, second);
        if count == fences.len() {
            store_seqno(&bench.fake, last);
            bench.work(1);
            assert_eq!(behind.status(), Some(Ok(())));
            return times;
        }
    }
    panic!("not ended: {} of {}", times.len(), fences.len());
}

#[test]
fn files_of_one_process_have_its_time_together() {
    let bench = Bench::new(false);
    let files = [42; 8].map(|process| bench.party(process));
    let other = bench.party(43);
    let fences = files.each_ref().map(|file| bench.run_in_default(file));
    let behind = bench.run_in_default(&other);
    // Three requests as those of one file, and then nothing of the process runs any more.
    let times = ends(&bench, &fences, &behind, 9);
    assert!(times[..3].is_sorted() && times[2] <= 181, "{times:?}");
    assert_eq!(times[2..], [times[2]; 6]);
    assert_eq!(bench.dev.reset_count(), 3);
    assert!(bench.is_banned(&bench.party(42)), "a new file as well");
}

#[test]
fn a_row_is_one_whichever_files_it_comes_from() {
    let bench = Bench::new(true);
    let files = [42; 8].map(|process| bench.party(process));
    let other = bench.party(43);
    let fences = files.each_ref().map(|file| bench.run_in_default(file));
    let behind = bench.run_in_default(&other);
    for seqno in 1..=5 {
        assert_eq!(bench.dev.reset_count(), 0, "{seqno}");
        bench.work(50);
        store_seqno(&bench.fake, seqno);
    }
    assert_eq!(fences[4].status(), Some(Err(EIO)));
    assert_eq!(behind.status(), Some(Ok(())));
}

#[test]
fn closed_files_of_one_process_have_its_time_together() {
    let bench = Bench::new(true);
    let other = bench.party(43);
    let files = [42; 8].map(|process| bench.party(process));
    let fences = files.each_ref().map(|file| bench.run_in_default(file));
    let behind = bench.run_in_default(&other);
    drop(files);
    bench.work(9);
    assert_eq!(bench.dev.reset_count(), 0);
    bench.work(2);
    assert_eq!(fences.map(|fence| fence.status()), [Some(Err(EIO)); 8]);
    assert_eq!(behind.status(), Some(Ok(())));
    assert_eq!(bench.dev.reset_count(), 1);
}

#[test]
fn what_a_process_does_with_an_open_file_goes_on_when_its_closed_ones_are_ended() {
    let bench = Bench::new(true);
    let (closed, open) = (bench.party(42), bench.party(42));
    let fences = [&closed, &open].map(|file| bench.run_in_default(file));
    drop(closed);
    bench.work(11);
    let status = fences.map(|fence| fence.status());
    assert_eq!(status, [Some(Err(EIO)), Some(Ok(()))]);
}

#[test]
fn time_after_closing_is_given_again_when_nothing_is_left() {
    let bench = Bench::new(true);
    for seqno in 1..=4 {
        let file = bench.party(42);
        let fence = bench.run_in_default(&file);
        drop(file);
        bench.work(8);
        store_seqno(&bench.fake, seqno);
        bench.work(1);
        assert_eq!(fence.status(), Some(Ok(())), "{seqno}");
    }
    assert_eq!(bench.dev.reset_count(), 0);
}

#[test]
fn a_family_that_begins_anew_each_time_has_shorter_limits() {
    let bench = Bench::new(false);
    let other = bench.party(7);
    let mut times = Vec::new();
    for process in 0..6 {
        let file = bench.kin(100 + process, 1);
        let fence = bench.run_in_default(&file);
        let behind = bench.run_in_default(&other);
        let last = 2 * process + 2;
        times.extend(ends(&bench, &[fence], &behind, last));
        assert!(!bench.is_banned(&file));
    }
    // Looks are a tenth of a second apart.
    let expected = [60, 60, 60, 30, 15, 7];
    let near = |(time, limit): (&u64, u64)| (limit..=limit + 2).contains(time);
    assert!(times.iter().zip(expected).all(near), "{times:?}");
    // Nothing is held against other families, nor against short requests.
    let heavy = bench.party(8);
    let short = bench.kin(200, 1);
    let fences = [&short, &heavy].map(|file| bench.run_in_default(file));
    let behind = bench.run_in_default(&other);
    bench.work(6);
    store_seqno(&bench.fake, 13);
    bench.work(55);
    store_seqno(&bench.fake, 14);
    bench.work(1);
    assert_eq!(fences.map(|fence| fence.status()), [Some(Ok(())); 2]);
    store_seqno(&bench.fake, 15);
    bench.work(1);
    assert_eq!(behind.status(), Some(Ok(())));
}

#[test]
fn processes_of_a_family_that_take_turns_have_one_row() {
    let bench = Bench::new(false);
    let other = bench.party(7);
    let files: Vec<_> = (0..8).map(|n| bench.kin(100 + n, 1)).collect();
    let fences: Vec<_> = (files.iter())
        .map(|file| bench.run_in_default(file))
        .collect();
    let behind = bench.run_in_default(&other);
    for seqno in 1..=4 {
        bench.work(59);
        store_seqno(&bench.fake, seqno);
    }
    // A short one is let through, longer ones are ended.
    bench.work(6);
    store_seqno(&bench.fake, 5);
    bench.work(1);
    let status = |fences: &[Arc<Fence>]| -> Vec<_> { fences.iter().map(|f| f.status()).collect() };
    assert_eq!(status(&fences[..5]), [Some(Ok(())); 5]);
    let times = ends(&bench, &fences[5..], &behind, 9);
    assert!(times[2] <= 26, "{times:?}");
}

#[test]
fn a_file_that_is_passed_on_blames_the_process_that_submits() {
    let bench = Bench::new(false);
    let (hostile, other) = (bench.party(42), bench.party(43));
    // Another process has the same file.
    let file = File::open(&bench.dev, Node::Render);
    let contexts: Vec<_> = (0..3)
        .map(|_| file.add_context(Parameters::default()).unwrap())
        .map(|id| file.context(id).unwrap())
        .collect();
    let innocent = bench.party(44);
    let fences: Vec<_> = (contexts.iter())
        .map(|context| bench.run(&hostile, context))
        .collect();
    let of_innocent = bench.run(&innocent, &file.context(0).unwrap());
    let behind = bench.run_in_default(&other);
    bench.work(182);
    assert!(fences.iter().all(|fence| fence.status() == Some(Err(EIO))));
    assert!(bench.is_banned(&hostile) && !bench.is_banned(&innocent));
    assert_eq!((of_innocent.status(), behind.status()), (None, None));
    store_seqno(&bench.fake, 5);
    bench.work(1);
    assert_eq!(of_innocent.status(), Some(Ok(())));
    assert_eq!(behind.status(), Some(Ok(())));
}

#[test]
fn a_number_that_is_used_again_is_of_another_process() {
    let bench = Bench::new(false);
    let identify = |process: u64| Origin {
        process,
        family: process,
        group: Group::default(),
    };
    // One number, begun at two times.
    let [first, second] = [1_u64, 2].map(|begun| identify((begun << 22) + 42));
    let ledger = &bench.dev.user().ledger;
    let (a, b) = (
        ledger.account(first).unwrap(),
        ledger.account(second).unwrap(),
    );
    assert!(!Arc::ptr_eq(&a, &b));
    assert!(Arc::ptr_eq(&a, &ledger.account(first).unwrap()));
}

#[test]
fn what_a_program_queues_before_others_is_bounded() {
    let bench = Bench::new(true);
    let (busy, second, other) = (bench.party(42), bench.party(42), bench.party(43));
    bench.run_quickly(&busy, 10);
    for _ in 0..15 {
        bench.run_in_default(&busy);
    }
    assert!(bench.has_room(&busy));
    for _ in 0..5 {
        bench.run_in_default(&second);
    }
    assert!(bench.has_room(&busy), "alone");
    assert!(bench.has_room(&other));
    bench.run_in_default(&other);
    assert!(!bench.has_room(&busy) && !bench.has_room(&second));
    store_seqno(&bench.fake, 22);
    bench.dev.timeline().retire();
    assert!(!bench.has_room(&busy), "eight are left");
    store_seqno(&bench.fake, 23);
    bench.dev.timeline().retire();
    assert!(bench.has_room(&busy) && bench.has_room(&second));
}

#[test]
fn what_a_process_queues_before_its_family_is_bounded() {
    let bench = Bench::new(true);
    let [busy, kin] = [1, 2].map(|process| bench.kin(process, 9));
    for _ in 0..20 {
        bench.run_in_default(&busy);
    }
    assert!(bench.has_room(&busy), "alone");
    bench.run_in_default(&kin);
    assert!(!bench.has_room(&busy) && bench.has_room(&kin));
    store_seqno(&bench.fake, 5);
    bench.dev.timeline().retire();
    assert!(bench.has_room(&busy), "fifteen are left");
}

/// A program alone has no limit but the ring, whatever its requests have been like.
#[test]
fn a_program_alone_queues_as_many_as_the_ring_takes() {
    let bench = Bench::new(true);
    let alone = bench.party(42);
    for fill in 0..2 {
        let uses = Uses {
            objects: vec![bench.object.clone()],
            context: Some(alone.file.context(0).unwrap()),
            account: bench.account(&alone),
            ..Uses::default()
        };
        let address = bench.object.address().unwrap();
        let mut queued = 0;
        while bench.dev.engine().submit(&uses, address).is_ok() {
            assert!(bench.has_room(&alone));
            queued += 1;
        }
        // More than others leave it.
        assert!(queued > 36, "{fill}: {queued}");
        // The first of them takes long.
        bench.work(2);
        store_seqno(&bench.fake, bench.dev.timeline().submitted());
        bench.work(1);
        assert_eq!(bench.dev.timeline().pending(), 0);
    }
}

#[test]
fn what_a_family_queues_before_others_is_bounded() {
    let bench = Bench::new(true);
    let family = [1, 2, 3].map(|process| bench.kin(process, 9));
    bench.run_quickly(&family[0], 10);
    for party in &family {
        for _ in 0..3 {
            bench.run_in_default(party);
        }
    }
    assert!(family.iter().all(|party| bench.has_room(party)), "alone");
    let other = bench.party(43);
    assert!(bench.has_room(&other));
    bench.run_in_default(&other);
    assert!(!family.iter().any(|party| bench.has_room(party)));
    store_seqno(&bench.fake, 12);
    bench.dev.timeline().retire();
    assert!(
        family.iter().all(|party| bench.has_room(party)),
        "seven are left"
    );
}

/// Each of many families may queue what one may, and together they would fill the ring before others.
#[test]
fn what_many_families_queue_before_a_newcomer_is_bounded() {
    let bench = Bench::new(true);
    let families: Vec<_> = (1..=20).map(|process| bench.party(process)).collect();
    for party in &families {
        bench.run_quickly(party, 10);
    }
    let mut queued = 0;
    for _ in 0..4 {
        for party in &families {
            if bench.has_room(party) {
                bench.run_in_default(party);
                queued += 1;
            }
        }
    }
    assert_eq!(queued, 24);
    // Those with a request wait; a program without one does not, and there is room in the ring for it.
    assert!(!families.iter().any(|party| bench.has_room(party)));
    let newcomer = bench.party(99);
    assert!(bench.has_room(&newcomer));
    bench.run_in_default(&newcomer);
    assert!(!bench.has_room(&newcomer));
}

#[test]
fn a_family_with_ends_queues_one_request_at_a_time_before_others() {
    let bench = Bench::new(false);
    let other = bench.party(7);
    for process in 0..3 {
        let file = bench.kin(100 + process, 1);
        bench.run_in_default(&file);
        bench.run_in_default(&other);
        bench.work(62);
        store_seqno(&bench.fake, 2 * process + 2);
        bench.work(1);
    }
    assert_eq!(bench.dev.reset_count(), 3);
    let family = [200, 201].map(|process| bench.kin(process, 1));
    // Long enough that it is forgotten how long the requests took.
    bench.work(70);
    bench.run_quickly(&family[0], 10);
    let run_both = || {
        bench.run_in_default(&family[0]);
        assert!(family.iter().all(|party| bench.has_room(party)), "alone");
        bench.run_in_default(&other);
    };
    run_both();
    assert!(!family.iter().any(|party| bench.has_room(party)));
    assert!(bench.has_room(&bench.party(8)));
    // It is remembered for ten minutes.
    store_seqno(&bench.fake, bench.dev.timeline().submitted());
    bench.work(540);
    run_both();
    assert!(family.iter().all(|party| bench.has_room(party)));
}

#[test]
fn others_that_get_their_turns_in_between_do_not_end_a_row() {
    let bench = Bench::new(false);
    let (heavy, light) = (bench.party(42), bench.party(43));
    // A light request behind each heavy one, and another that waits when that has ended.
    bench.run_in_default(&heavy);
    bench.run_in_default(&light);
    for round in 1..=100 {
        bench.run_in_default(&heavy);
        bench.run_in_default(&light);
        bench.work(20);
        // Both end between two looks.
        store_seqno(&bench.fake, 2 * round);
        assert_eq!(bench.dev.reset_count(), 0, "{round}");
    }
}

/// Others that have one wait for it; a process of its own family may have two.
#[test]
fn a_family_with_long_requests_queues_one_before_others() {
    let bench = Bench::new(true);
    let (heavy, kin, other) = (bench.party(42), bench.kin(1, 42), bench.party(43));
    bench.run_quickly(&heavy, 10);
    for _ in 0..3 {
        bench.run_in_default(&heavy);
    }
    bench.run_in_default(&other);
    assert!(bench.has_room(&heavy), "not known yet");
    bench.work(2);
    assert!(!bench.has_room(&heavy) && !bench.has_room(&kin));
    store_seqno(&bench.fake, 12);
    bench.dev.timeline().retire();
    assert!(!bench.has_room(&heavy) && !bench.has_room(&kin));
    store_seqno(&bench.fake, 13);
    bench.dev.timeline().retire();
    assert!(bench.has_room(&heavy) && bench.has_room(&kin));
    bench.run_in_default(&kin);
    assert!(!bench.has_room(&heavy) && !bench.has_room(&kin));
    // Alone with its family.
    store_seqno(&bench.fake, 14);
    bench.work(3);
    assert!(bench.has_room(&heavy) && bench.has_room(&kin));
    bench.run_in_default(&heavy);
    assert!(bench.has_room(&heavy));
    bench.run_in_default(&heavy);
    assert!(!bench.has_room(&heavy) && bench.has_room(&kin));
}

#[test]
fn hangs_that_are_found_late_count_as_ends() {
    let bench = Bench::new(false);
    let other = bench.party(7);
    // A loop is found in fifteen seconds, and what stands still in two and a half.
    for (step, families) in [(8, 1), (0, 2)] {
        for process in 0..3_u32 {
            let before = bench.dev.timeline().submitted();
            let resets = bench.dev.reset_count();
            let file = bench.kin(100 * families + process, families.into());
            let hung = bench.run_in_default(&file);
            bench.run_in_default(&other);
            for tenth in 0..200 {
                bench.dev.watch();
                bench.fake.relax(Delta::from_millis(100));
                let address = 0x1000 + step * (tenth % 4);
                if hung.status().is_none() {
                    bench.fake.set(ACTIVE, address);
                } else if tenth % 10 == 0 {
                    bench.fake.set(PIXELS, bench.fake.peek(PIXELS) + 1);
                }
            }
            assert_eq!(hung.status(), Some(Err(EIO)));
            assert!(bench.dev.reset_count() > resets);
            store_seqno(&bench.fake, before + 2);
            bench.work(1);
        }
    }
    for (family, has_room) in [(1, false), (2, true)] {
        let before = bench.dev.timeline().submitted();
        let party = bench.kin(900 + family, family.into());
        bench.work(61);
        bench.run_quickly(&party, 2);
        let before = before + 2;
        bench.run_in_default(&party);
        bench.run_in_default(&other);
        assert_eq!(bench.has_room(&party), has_room, "{family}");
        store_seqno(&bench.fake, before + 2);
        bench.work(1);
    }
}

#[test]
fn a_request_that_was_ended_was_a_turn_as_well() {
    let bench = Bench::new(false);
    let (endless, other) = (bench.party(42), bench.party(43));
    bench.run_in_default(&endless);
    bench.run_in_default(&other);
    bench.work(61);
    assert_eq!(bench.dev.reset_count(), 1);
    let before = bench.dev.timeline().turns();
    store_seqno(&bench.fake, 2);
    bench.dev.timeline().retire();
    let after = bench.dev.timeline().turns();
    assert_eq!(after.programs, before.programs + 1);
    assert_eq!(after.families, before.families + 1);
}

#[test]
fn a_program_between_two_frames_counts_as_one_that_waits() {
    let bench = Bench::new(true);
    let (busy, other) = (bench.party(42), bench.party(43));
    for _ in 0..16 {
        bench.run_in_default(&busy);
    }
    assert!(bench.has_room(&busy), "alone");
    let account = bench.account(&other).unwrap();
    account.note_queued(bench.fake.clock().outside());
    assert!(!bench.has_room(&busy));
    bench.work(3);
    assert!(bench.has_room(&busy), "alone again");
}

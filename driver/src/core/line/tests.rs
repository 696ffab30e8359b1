//! The order of turns, by families, processes and threads; and by groups.
//!
//! The orders are those that docs/exec.md promises.
#![allow(clippy::unwrap_used, reason = "tests")]
use alloc::vec::Vec;

use super::*;

/// Room for all programs, or for no program.
fn all(room: bool) -> impl FnOnce() -> Box {
    move || alloc::boxed::Box::new(move |_: &u32| room.then_some(Speed::New))
}
type Box = alloc::boxed::Box<dyn Fn(&u32) -> Option<Speed>>;

/// A thread that waits: the number of its family and process, and its own.
fn wait(line: &Line<u32>, family: u64, process: usize, who: u32) -> Arc<Place<u32>> {
    let keys = Keys {
        family: (true, family),
        process,
        group: Group::of_one(family),
    };
    line.enter(keys, who, all(false))
}

/// The same of a family of a group.
fn wait_in(line: &Line<u32>, (wide, narrow): (u64, u64), who: u32) -> Arc<Place<u32>> {
    let keys = Keys {
        family: (true, who.into()),
        process: 0,
        group: Group { wide, narrow },
    };
    line.enter(keys, who, all(false))
}

/// Lets all have their turns, one after another; their numbers.
fn turns(line: &Line<u32>, mut waiting: Vec<Arc<Place<u32>>>) -> Vec<u32> {
    let mut order = Vec::new();
    line.call(all(true));
    while !waiting.is_empty() {
        let mut called = (0..waiting.len()).filter(|at| waiting[*at].is_called());
        let next = called.next().unwrap();
        assert_eq!(called.next(), None, "one at a time");
        let place = waiting.swap_remove(next);
        order.push(place.who);
        assert!(waiting.is_empty() || waiting.iter().filter(|one| one.leads()).count() == 1);
        line.leave(&place, all(true));
    }
    assert!(!line.is_taken() && line.0.lock().leader.is_none());
    assert!(line.0.lock().families.is_empty() && line.0.lock().rota.is_empty());
    order
}

#[test]
fn sixty_families_come_in_the_order_in_which_they_asked() {
    let line = Line::default();
    let waiting = (0..60).map(|n| wait(&line, 1000 - u64::from(n), 0, n));
    let waiting = waiting.collect();
    assert_eq!(turns(&line, waiting), (0..60).collect::<Vec<_>>());
}

#[test]
fn a_newcomer_comes_behind_one_thread_of_a_family_that_has_three_hundred() {
    let line = Line::default();
    let mut waiting: Vec<_> = (0..300).map(|n| wait(&line, 1, 0, n)).collect();
    waiting.extend([300, 301].map(|n| wait(&line, 2, 0, n)));
    // Another process of the large family comes in its family's turns.
    waiting.push(wait(&line, 1, 1, 400));
    let order = turns(&line, waiting);
    assert_eq!(order[..6], [0, 300, 400, 301, 1, 2]);
    assert_eq!(order[6..], (3..300).collect::<Vec<_>>());
}

#[test]
fn those_without_room_are_passed_and_keep_their_places() {
    let line = Line::default();
    let waiting = [(1, 0), (2, 1), (1, 2), (3, 3)].map(|(family, n)| wait(&line, family, 0, n));
    let but = |who: u32| move || move |one: &u32| (*one != who).then_some(Speed::New);
    line.call(but(0));
    let called = |n: usize| waiting[n].is_called();
    assert_eq!([0, 1, 2, 3].map(called), [false, true, false, false]);
    line.leave(&waiting[1], but(0));
    assert_eq!([0, 2, 3].map(called), [false, false, true]);
    // Its thread has gone meanwhile, and the turn with it.
    line.leave(&waiting[3], all(true));
    assert_eq!([0, 2].map(called), [true, false]);
    line.leave(&waiting[0], all(true));
    assert!(called(2));
}

#[test]
fn one_that_leaves_stops_nobody() {
    let line = Line::default();
    let mut waiting: Vec<_> = (0..10)
        .map(|n| wait(&line, u64::from(n % 3), 0, n))
        .collect();
    // The leader among them.
    for gone in [8, 4, 0] {
        let place = waiting.swap_remove(gone);
        line.leave(&place, all(false));
        assert!(!place.leads());
    }
    assert_eq!(waiting.iter().filter(|one| one.leads()).count(), 1);
    assert_eq!(turns(&line, waiting), [3, 1, 2, 6, 7, 5, 9]);
}

/// However many families a program begins, a newcomer waits for one of them, and for the first of all where that has its turn.
#[test]
fn groups_of_new_families_take_turns() {
    let line = Line::default();
    let mut waiting: Vec<_> = (0..50).map(|n| wait_in(&line, (1, 1), n)).collect();
    waiting.extend((50..52).map(|n| wait_in(&line, (2, 1), n)));
    let order = turns(&line, waiting);
    assert_eq!(order[..5], [0, 50, 1, 51, 2]);
    assert_eq!(order[5..], (3..50).collect::<Vec<_>>());
}

/// Another program of the same file comes before those that one program has begun, and behind the turns of other files.
#[test]
fn in_a_wide_group_the_narrow_ones_take_turns() {
    let line = Line::default();
    let mut waiting: Vec<_> = (0..50).map(|n| wait_in(&line, (1, 1), n)).collect();
    waiting.push(wait_in(&line, (1, 2), 60));
    waiting.extend((50..55).map(|n| wait_in(&line, (2, 1), n)));
    let order = turns(&line, waiting);
    assert_eq!(order[..5], [0, 50, 60, 51, 1]);
}

/// A group that leaves the line and comes again does not pass those that wait.
#[test]
fn a_group_that_comes_again_is_behind_those_that_wait() {
    let line = Line::default();
    let mut waiting: Vec<_> = (0..3).map(|n| wait_in(&line, (1, 1), n)).collect();
    let mut order = Vec::new();
    for turn in 0..6_u32 {
        if turn % 2 == 0 {
            waiting.push(wait_in(&line, (2, 1), 10 + turn / 2));
        }
        line.call(all(true));
        let at = waiting.iter().position(|one| one.is_called()).unwrap();
        let place = waiting.remove(at);
        order.push(place.who);
        line.leave(&place, all(false));
    }
    assert_eq!(order, [0, 10, 1, 11, 2, 12]);
}

/// Families up to 9 are slow, up to 99 new, others quick.
fn by_speed() -> Box {
    alloc::boxed::Box::new(|who: &u32| {
        Some(match who {
            0..10 => Speed::Slow,
            10..100 => Speed::New,
            _ => Speed::Quick,
        })
    })
}

#[test]
fn quick_ones_come_before_new_ones_and_those_before_slow_ones() {
    let line = Line::default();
    let mut waiting: Vec<_> = [1, 2, 11, 101, 12, 102]
        .map(|n| wait(&line, n, 0, n as u32))
        .into();
    let mut order = Vec::new();
    while !waiting.is_empty() {
        line.call(by_speed);
        let at = waiting.iter().position(|one| one.is_called()).unwrap();
        let place = waiting.remove(at);
        order.push(place.who);
        line.leave(&place, all(false));
    }
    // The fourth turn is that of the first of all.
    assert_eq!(order, [101, 102, 11, 1, 12, 2]);
}

/// However many quick ones there are.
#[test]
fn slow_ones_have_each_fourth_turn() {
    let line = Line::default();
    let mut waiting: Vec<_> = (0..5).map(|n| wait(&line, n, 0, n as u32)).collect();
    let ask = |waiting: &mut Vec<_>, n: u64| waiting.push(wait(&line, n, 0, n as u32));
    (100..150).for_each(|n| ask(&mut waiting, n));
    let mut slow = Vec::new();
    for turn in 1..=20_u64 {
        line.call(by_speed);
        let at = waiting.iter().position(|one| one.is_called()).unwrap();
        let place = waiting.remove(at);
        if place.who < 10 {
            slow.push(turn);
        }
        line.leave(&place, all(false));
        ask(&mut waiting, 200 + turn);
    }
    assert_eq!(slow, [4, 8, 12, 16, 20]);
}

#[test]
fn a_turn_looks_at_processes_and_not_at_threads() {
    let line = Line::default();
    let waiting: Vec<_> = (0..1000).map(|n| wait(&line, 1, 0, n)).collect();
    let (looks, _) = work::of(|| turns(&line, waiting));
    assert!(looks <= 1001, "{looks}");
}

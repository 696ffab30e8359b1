//! Lists of toy stages: order of moves, back pressure, the end of a draw.
//!
//! The expected order is the rule's: the stage furthest down that can move, one piece of work a step.

mod toys;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::*;
use crate::intel::ff::state::DrawState;
use crate::intel::urb::Owner;
use toys::{Keeper, Off, Rig, Screen, Sink, Wary, group, sink, source};

#[test]
fn the_stage_furthest_down_moves_first() {
    let mut rig = Rig::new(|log, shut| {
        vec![
            source(5, log),
            group(Busy::Vs, 2, log),
            Box::new(sink(log, shut)),
        ]
    });
    let (step, log) = rig.run();
    assert_eq!(step, Step::Idle);
    let pair = |a: &str, b: &str| ["Vf", "Vf", "Vs 2", a, b].map(str::to_owned);
    let mut expected = Vec::new();
    expected.extend(pair("Sf 5", "Sf 4"));
    expected.extend(pair("Sf 3", "Sf 2"));
    // The fifth has no company, and no stage above brings any.
    expected.extend(["Vf", "Vs short 1", "Sf 1"].map(str::to_owned));
    assert_eq!(log, expected);
}

#[test]
fn threads_that_are_kept_end_when_a_stage_above_asks() {
    let mut rig = Rig::new(|log, _| {
        vec![
            Box::new(Wary(2, log.clone())),
            Box::new(Keeper(log.clone())),
        ]
    });
    let (step, log) = rig.run();
    assert_eq!(step, Step::Idle);
    let expected = ["Vf", "keeps 2", "Vf asks", "settles", "Vf", "keeps 1"];
    assert_eq!(log, expected);
}

#[test]
fn of_two_groups_the_upper_goes_on_short_first() {
    let mut rig = Rig::new(|log, shut| {
        vec![
            source(3, log),
            group(Busy::Vs, 2, log),
            group(Busy::Gs, 3, log),
            Box::new(sink(log, shut)),
        ]
    });
    let (step, log) = rig.run();
    assert_eq!(step, Step::Idle);
    // The one vertex that Vs lets go makes the group of Gs complete.
    let expected = [
        "Vf",
        "Vf",
        "Vs 2",
        "Vf",
        "Vs short 1",
        "Gs 3",
        "Sf 3",
        "Sf 2",
        "Sf 1",
    ];
    assert_eq!(log, expected);
}

#[test]
fn a_blocked_stage_lets_the_others_fill_the_room_above_it() {
    let mut rig = Rig::new(|log, shut| {
        vec![
            source(9, log),
            group(Busy::Vs, 1, log),
            group(Busy::Gs, 2, log),
            Box::new(sink(log, shut)),
        ]
    });
    rig.block(true);
    let (step, log) = rig.run();
    assert_eq!(step, Step::Blocked);
    // Two vertices before the sink leave no room for the groups, which would wait for more of them.
    assert_eq!(log, ["Vf", "Vs 1", "Vf", "Vs 1", "Gs 2"]);
    assert_eq!(rig.run(), (Step::Blocked, Vec::new()));
    assert!(rig.list.busy_parts().has(Busy::Sf) && rig.list.busy_parts().has(Busy::Vf));
    assert!(!rig.list.busy_parts().has(Busy::Gs));
    rig.block(false);
    let (step, log) = rig.run();
    assert_eq!(step, Step::Idle);
    assert_eq!(log.iter().filter(|what| what.starts_with("Sf")).count(), 9);
    assert_eq!(rig.list.busy_parts(), BusyParts::default());
}

#[test]
fn what_a_stage_passes_on_is_taken_up_in_the_same_step() {
    let mut rig = Rig::new(|log, shut| {
        vec![
            source(2, log),
            Box::new(sink(log, shut)),
            Box::new(Screen(false, Arc::clone(log))),
        ]
    });
    let (step, log) = rig.run();
    assert_eq!(step, Step::Idle);
    // While the screen works, the sink has no room below it, but the source has some.
    let expected = [
        "Vf", "Sf 2", "take up", "Windower", "Vf", "Sf 1", "take up", "Windower",
    ];
    assert_eq!(log, expected);
}

#[test]
fn a_draw_with_work_is_not_over() {
    let mut rig = Rig::new(|log, shut| vec![source(1, log), Box::new(sink(log, shut))]);
    rig.block(true);
    assert_eq!(rig.step(), Step::Progress);
    assert_eq!(rig.step(), Step::Blocked);
    rig.block(false);
    assert_eq!(rig.step(), Step::Progress);
    assert_eq!(rig.step(), Step::Idle);
    rig.log.lock().unwrap().clear();
    rig.with(|list, _, machine| list.finish(machine));
    assert_eq!(*rig.log.lock().unwrap(), ["finish Vf", "finish Sf"]);
}

#[test]
fn a_thread_out_of_time_goes_on_before_others_start() {
    for (first, moved) in [(true, 0), (false, 1)] {
        let mut rig = Rig::new(|log, shut| {
            let sink = Sink {
                first,
                ..sink(log, shut)
            };
            vec![source(1, log), Box::new(sink)]
        });
        rig.block(true);
        rig.budget = 0;
        let (step, log) = rig.run();
        assert_eq!(step, Step::Blocked);
        assert_eq!(log.len(), moved, "{first}");
    }
}

#[test]
fn a_stage_that_is_off_is_passed_by() {
    let mut rig = Rig::new(|log, shut| {
        vec![
            source(3, log),
            Box::new(Off),
            group(Busy::Vs, 2, log),
            Box::new(Off),
            Box::new(sink(log, shut)),
        ]
    });
    rig.start(&DrawState::default()).unwrap();
    rig.log.lock().unwrap().clear();
    let (step, log) = rig.run();
    assert_eq!(step, Step::Idle);
    // As if it were not there, also where a stage goes on with what it has.
    let expected = [
        "Vf",
        "Vf",
        "Vs 2",
        "Sf 3",
        "Sf 2",
        "Vf",
        "Vs short 1",
        "Sf 1",
    ];
    assert_eq!(log, expected);
    assert!(!rig.list.busy());
}

#[test]
fn a_dead_stage_ends_the_walk() {
    let mut rig = Rig::new(|log, shut| vec![source(1, log), Box::new(sink(log, shut))]);
    rig.shut.dead.store(true, Ordering::Relaxed);
    assert_eq!(rig.run(), (Step::Dead, Vec::new()));
}

#[test]
fn an_empty_list_has_nothing_to_do() {
    let mut rig = Rig::new(|_, _| Vec::new());
    assert_eq!(rig.step(), Step::Idle);
    assert_eq!(rig.list.first(), None);
}

#[test]
fn sections_are_cut_before_a_stage_can_refuse_the_draw() {
    for refuses in [false, true] {
        let mut rig = Rig::new(|log, shut| {
            let sink = Sink {
                refuses,
                ..sink(log, shut)
            };
            vec![source(0, log), group(Busy::Vs, 1, log), Box::new(sink)]
        });
        let mut draw = DrawState::default();
        (draw.vs.unit.urb_entries, draw.vs.unit.urb_entry_rows) = (7, 2);
        assert_eq!(rig.start(&draw).is_err(), refuses);
        assert_eq!(
            (rig.urb.entries(Owner::Vs), rig.urb.entry_rows(Owner::Vs)),
            (7, 2)
        );
        let started: &[&str] = if refuses {
            &["start Sf"]
        } else {
            &["start Sf", "start Vf"]
        };
        assert_eq!(*rig.log.lock().unwrap(), started);
    }
}

#[test]
fn neighbours_that_do_not_understand_each_other_are_found() {
    let rig = Rig::new(|log, shut| vec![source(1, log), Box::new(sink(log, shut))]);
    assert_eq!(rig.list.misfit(), None);
    let rig = Rig::new(|log, _| vec![source(1, log), Box::new(Screen(false, Arc::clone(log)))]);
    assert_eq!(rig.list.misfit(), Some(Busy::Windower));
}

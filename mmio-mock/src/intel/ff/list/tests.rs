//! Lists of toy stages: which stage moves, what a blocked one holds up, how a draw ends.
//!
//! The expected order is the rule's: the stage furthest down that can move, one piece of work a step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use isa::Verx10;
use mem::Memory;

use super::*;
use crate::intel::debug::DebugRegs;
use crate::intel::ff::state::{DrawState, PipelineState, UnitConfig};
use crate::intel::ff::topology::{StreamVertex, Tag, Topology};
use crate::intel::ff::wiz::SetupPrimitive;
use crate::intel::r#gen::{Readers, readers, tables};
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::places::Places;
use crate::intel::status::Status;
use crate::intel::td::Td;
use crate::intel::trace::Trace;
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// What the toys did, in its order.
type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, what: String) {
    log.lock().unwrap().push(what);
}

fn vertex(number: u16) -> StreamVertex {
    StreamVertex {
        handle: UrbHandle(number),
        topology: Topology::PointList,
        start: true,
        end: true,
        tag: Tag::default(),
    }
}

/// Puts out so many vertices.
#[derive(Debug)]
struct Source(u16, Log);

impl Stage for Source {
    fn part(&self) -> Busy {
        Busy::Vf
    }

    fn takes(&self) -> &'static [Cargo] {
        &[]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn start(
        &mut self,
        _ctx: &StartContext<'_>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        note(&self.1, "start Vf".to_owned());
        Ok(())
    }

    fn step(&mut self, _input: &mut Link, out: &mut Link, _ctx: &mut StepContext<'_, '_>) -> Step {
        if self.0 == 0 {
            return Step::Idle;
        }
        out.vertices.push_back(vertex(self.0));
        self.0 -= 1;
        note(&self.1, "Vf".to_owned());
        Step::Progress
    }

    fn busy(&self, _input: &Link) -> bool {
        self.0 > 0
    }

    fn finish(&mut self, _machine: &mut Machine<'_>) {
        note(&self.1, "finish Vf".to_owned());
    }
}

/// Passes on so many vertices at once, at the end fewer.
#[derive(Debug)]
struct Group(Busy, usize, Log);

impl Group {
    fn pass(&self, what: &str, input: &mut Link, out: &mut Link) -> Step {
        note(
            &self.2,
            format!("{:?}{what} {}", self.0, input.vertices.len()),
        );
        out.vertices.append(&mut input.vertices);
        Step::Progress
    }
}

impl Stage for Group {
    fn part(&self) -> Busy {
        self.0
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn section<'a>(&self, draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        Some((Owner::Vs, &draw.vs.unit))
    }

    fn step(&mut self, input: &mut Link, out: &mut Link, _ctx: &mut StepContext<'_, '_>) -> Step {
        if input.vertices.len() < self.1 {
            return Step::Idle;
        }
        self.pass("", input, out)
    }

    fn step_short(
        &mut self,
        input: &mut Link,
        out: &mut Link,
        _ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        if input.vertices.is_empty() {
            return Step::Idle;
        }
        self.pass(" short", input, out)
    }

    fn busy(&self, input: &Link) -> bool {
        !input.vertices.is_empty()
    }
}

/// How the last stage stands.
#[derive(Debug, Default)]
struct Shut {
    blocked: AtomicBool,
    dead: AtomicBool,
}

/// Draws a vertex at a time, unless it is shut.
#[derive(Debug)]
struct Sink {
    shut: Arc<Shut>,
    first: bool,
    refuses: bool,
    log: Log,
}

impl Stage for Sink {
    fn part(&self) -> Busy {
        Busy::Sf
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Primitive]
    }

    fn start(
        &mut self,
        _ctx: &StartContext<'_>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        note(&self.log, "start Sf".to_owned());
        if self.refuses {
            return Err(UnitFault::Command {
                unit: "toy",
                what: "refused".to_owned(),
            });
        }
        Ok(())
    }

    fn room(&self, input: &Link) -> bool {
        input.vertices.is_empty()
    }

    fn step(&mut self, input: &mut Link, out: &mut Link, _ctx: &mut StepContext<'_, '_>) -> Step {
        if self.shut.dead.load(Ordering::Relaxed) {
            return Step::Dead;
        }
        if self.shut.blocked.load(Ordering::Relaxed) {
            return Step::Blocked;
        }
        let Some(vertex) = input.vertices.pop_front() else {
            return Step::Idle;
        };
        note(&self.log, format!("Sf {}", vertex.handle.0));
        out.primitive = Some(SetupPrimitive::default());
        Step::Progress
    }

    fn resumes_first(&self) -> bool {
        self.first
    }

    fn busy(&self, input: &Link) -> bool {
        !input.vertices.is_empty()
    }

    fn finish(&mut self, _machine: &mut Machine<'_>) {
        note(&self.log, "finish Sf".to_owned());
    }
}

/// Takes up a primitive and works on it for one step more.
#[derive(Debug)]
struct Screen(bool, Log);

impl Stage for Screen {
    fn part(&self) -> Busy {
        Busy::Windower
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Primitive]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[]
    }

    fn step(&mut self, input: &mut Link, _out: &mut Link, _ctx: &mut StepContext<'_, '_>) -> Step {
        assert_eq!(
            input.primitive, None,
            "taken up in the step that brought it"
        );
        if !std::mem::take(&mut self.0) {
            return Step::Idle;
        }
        note(&self.1, "Windower".to_owned());
        Step::Progress
    }

    fn take_up(&mut self, input: &mut Link, _ctx: &mut StepContext<'_, '_>) -> Step {
        assert!(input.primitive.take().is_some());
        self.0 = true;
        note(&self.1, "take up".to_owned());
        Step::Progress
    }

    fn busy(&self, _input: &Link) -> bool {
        self.0
    }
}

/// A list with a machine around it.
struct Rig {
    list: List,
    log: Log,
    shut: Arc<Shut>,
    readers: &'static Readers,
    mem: Memory,
    urb: Urb,
    shared: SharedFunctions,
    debug: DebugRegs,
    td: Td,
    budget: u64,
}

impl Rig {
    fn new(stages: impl FnOnce(&Log, &Arc<Shut>) -> Vec<Box<dyn Stage>>) -> Self {
        let (log, shut) = (Log::default(), Arc::<Shut>::default());
        let readers = readers(Verx10::GEN40).unwrap();
        Rig {
            list: List::of(stages(&log, &shut).into_iter()),
            log,
            shut,
            readers,
            mem: Memory::new(1 << 20, 256),
            urb: Urb::new(),
            shared: SharedFunctions::new(
                readers.functions,
                readers.messages,
                Places {
                    eus: 1,
                    threads_per_eu: 1,
                },
            ),
            debug: DebugRegs::new(tables(Verx10::GEN40).unwrap()),
            td: Td::new(1, 1, readers.instructions),
            budget: 1000,
        }
    }

    fn with<T>(&mut self, run: impl FnOnce(&mut List, &mut Td, &mut Machine<'_>) -> T) -> T {
        let mut machine = Machine {
            mem: &mut self.mem,
            urb: &mut self.urb,
            shared: &mut self.shared,
            debug: &mut self.debug,
            status: &mut Status::default(),
            trace: &mut Trace::default(),
            budget: &mut self.budget,
            debt: &mut 0,
        };
        run(&mut self.list, &mut self.td, &mut machine)
    }

    fn step(&mut self) -> Step {
        let layout = self.readers.pipeline.layout();
        self.with(|list, td, machine| {
            list.step(&mut StepContext {
                draw: &DrawState::default(),
                layout,
                curbe: None,
                td,
                machine,
            })
        })
    }

    fn start(&mut self, draw: &DrawState) -> Result<(), UnitFault> {
        let reader = self.readers.pipeline;
        let ctx = StartContext {
            command: &reader.primitive(&[0; 6]),
            reader,
            state: &PipelineState::default(),
            draw,
        };
        self.with(|list, _, machine| list.start(&ctx, machine))
    }

    /// Steps until nothing moves: the last step, and what was done since the last call.
    fn run(&mut self) -> (Step, Vec<String>) {
        let step = loop {
            let step = self.step();
            if step != Step::Progress {
                break step;
            }
        };
        (step, std::mem::take(&mut *self.log.lock().unwrap()))
    }

    fn block(&self, blocked: bool) {
        self.shut.blocked.store(blocked, Ordering::Relaxed);
    }
}

fn source(count: u16, log: &Log) -> Box<dyn Stage> {
    Box::new(Source(count, Arc::clone(log)))
}

fn group(part: Busy, size: usize, log: &Log) -> Box<dyn Stage> {
    Box::new(Group(part, size, Arc::clone(log)))
}

fn sink(log: &Log, shut: &Arc<Shut>) -> Sink {
    Sink {
        shut: Arc::clone(shut),
        first: false,
        refuses: false,
        log: Arc::clone(log),
    }
}

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

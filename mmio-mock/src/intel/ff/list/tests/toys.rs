//! Toy stages, which write down what they do, and a machine around a list of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use isa::Verx10;
use mem::Memory;

use super::super::*;
use crate::intel::debug::DebugRegs;
use crate::intel::ff::kept::Kept;
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
pub type Log = Arc<Mutex<Vec<String>>>;

pub fn note(log: &Log, what: String) {
    log.lock().unwrap().push(what);
}

pub fn vertex(number: u16) -> StreamVertex {
    StreamVertex {
        handle: UrbHandle(number),
        topology: Topology::PointList,
        start: true,
        end: true,
        renumber: false,
        number: None,
        edge: true,
        tag: Tag::default(),
    }
}

/// Puts out so many vertices.
#[derive(Debug)]
pub struct Source(u16, Log);

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

/// Puts out so many vertices, and none as long as threads are kept.
#[derive(Debug)]
pub struct Wary(pub u16, pub Log);

impl Stage for Wary {
    fn part(&self) -> Busy {
        Busy::Vf
    }

    fn takes(&self) -> &'static [Cargo] {
        &[]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn step(&mut self, _input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        if self.0 == 0 {
            return Step::Idle;
        }
        if ctx.kept.any() {
            note(&self.1, "Vf asks".to_owned());
            return Step::Settle;
        }
        out.vertices.push_back(vertex(self.0));
        self.0 -= 1;
        note(&self.1, "Vf".to_owned());
        Step::Progress
    }

    fn busy(&self, _input: &Link) -> bool {
        self.0 > 0
    }
}

/// A stage that no draw switches on.
#[derive(Debug)]
pub struct Off;

impl Stage for Off {
    fn part(&self) -> Busy {
        Busy::Hs
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn off(&self, _draw: &DrawState) -> bool {
        true
    }

    fn start(
        &mut self,
        _ctx: &StartContext<'_>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        unreachable!("it is off");
    }

    fn step(&mut self, _input: &mut Link, _out: &mut Link, _ctx: &mut StepContext<'_, '_>) -> Step {
        unreachable!("it is off");
    }

    fn busy(&self, input: &Link) -> bool {
        !input.vertices.is_empty()
    }
}

/// Takes a vertex, and keeps its thread.
#[derive(Debug)]
pub struct Keeper(pub Log);

impl Stage for Keeper {
    fn part(&self) -> Busy {
        Busy::Windower
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[]
    }

    fn step(&mut self, input: &mut Link, _out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let Some(vertex) = input.vertices.pop_front() else {
            return Step::Idle;
        };
        note(&self.0, format!("keeps {}", vertex.handle.0));
        ctx.kept.keep(&Arc::new(vec![1]));
        Step::Progress
    }

    fn busy(&self, input: &Link) -> bool {
        !input.vertices.is_empty()
    }

    fn settle(&mut self, _ctx: &mut StepContext<'_, '_>) -> bool {
        note(&self.0, "settles".to_owned());
        true
    }
}

/// Passes on so many vertices at once, at the end fewer.
#[derive(Debug)]
pub struct Group(Busy, usize, Log);

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
pub struct Shut {
    pub blocked: AtomicBool,
    pub dead: AtomicBool,
}

/// Draws a vertex at a time, unless it is shut.
#[derive(Debug)]
pub struct Sink {
    pub shut: Arc<Shut>,
    /// Its thread goes on before others start.
    pub first: bool,
    /// It refuses draws.
    pub refuses: bool,
    pub log: Log,
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
pub struct Screen(pub bool, pub Log);

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
pub struct Rig {
    pub list: List,
    pub log: Log,
    pub shut: Arc<Shut>,
    readers: &'static Readers,
    mem: Memory,
    pub urb: Urb,
    shared: SharedFunctions,
    debug: DebugRegs,
    td: Td,
    pub budget: u64,
    kept: Kept,
}

impl Rig {
    pub fn new(stages: impl FnOnce(&Log, &Arc<Shut>) -> Vec<Box<dyn Stage>>) -> Self {
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
            kept: Kept::default(),
        }
    }

    pub fn with<T>(&mut self, run: impl FnOnce(&mut List, &mut Td, &mut Machine<'_>) -> T) -> T {
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

    pub fn step(&mut self) -> Step {
        let layout = self.readers.pipeline.layout();
        let mut kept = std::mem::take(&mut self.kept);
        let step = self.with(|list, td, machine| {
            let mut ctx = StepContext {
                draw: &DrawState::default(),
                layout,
                curbe: None,
                td,
                machine,
                rounds: 1,
                reserve: 0,
                kept: kept.clone(),
            };
            let step = list.step(&mut ctx);
            kept = ctx.kept;
            step
        });
        self.kept = kept;
        step
    }

    pub fn start(&mut self, draw: &DrawState) -> Result<(), UnitFault> {
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
    pub fn run(&mut self) -> (Step, Vec<String>) {
        let step = loop {
            let step = self.step();
            if step != Step::Progress {
                break step;
            }
        };
        (step, std::mem::take(&mut *self.log.lock().unwrap()))
    }

    pub fn block(&self, blocked: bool) {
        self.shut.blocked.store(blocked, Ordering::Relaxed);
    }
}

pub fn source(count: u16, log: &Log) -> Box<dyn Stage> {
    Box::new(Source(count, Arc::clone(log)))
}

pub fn group(part: Busy, size: usize, log: &Log) -> Box<dyn Stage> {
    Box::new(Group(part, size, Arc::clone(log)))
}

pub fn sink(log: &Log, shut: &Arc<Shut>) -> Sink {
    Sink {
        shut: Arc::clone(shut),
        first: false,
        refuses: false,
        log: Arc::clone(log),
    }
}

//! A machine for tests of single stages: memory, URB and one EU, and no commands.

use std::sync::Arc;

use eu::Grf;
use isa::Verx10;
use mem::{GpuAddr, Memory};

use crate::core::status::FaultRecord;
use crate::intel::debug::DebugRegs;
use crate::intel::ff::Step;
use crate::intel::ff::kept::Kept;
use crate::intel::ff::link::Link;
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::stage::{Stage, StepContext};
use crate::intel::ff::state::DrawState;
use crate::intel::ff::topology::{StreamVertex, Tag, Topology};
use crate::intel::r#gen::{readers, tables};
use crate::intel::machine::Machine;
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::message::MessageSet;
use crate::intel::shared::places::Places;
use crate::intel::status::{Status, Unit};
use crate::intel::td::Td;
use crate::intel::trace::Trace;
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// Rows of a vertex.
pub const VERTEX_ROWS: u16 = 2;
/// Pages of memory from here on.
pub const MEMORY: u32 = 0x1000;

/// The machine.
pub struct Rig {
    pub mem: Memory,
    pub urb: Urb,
    shared: SharedFunctions,
    debug: DebugRegs,
    pub status: Status,
    td: Td,
    /// Threads are kept that write this page.
    pub kept: Option<usize>,
}

impl Rig {
    /// Memory of eight pages, and a section of the URB for 32 vertices of two rows.
    pub fn new(messages: Option<&'static dyn MessageSet>) -> Self {
        let readers = readers(Verx10::from_times_ten(60)).unwrap();
        let places = Places {
            eus: 1,
            threads_per_eu: 1,
        };
        let messages = messages.unwrap_or(readers.messages);
        let mut urb = Urb::new();
        urb.fence(Owner::Vs, 0, 64);
        urb.partition(Owner::Vs, 32, VERTEX_ROWS);
        let mut mem = Memory::new(1 << 20, 256);
        mem.alloc_mapped(GpuAddr::from(MEMORY), 0x8000).unwrap();
        Rig {
            mem,
            urb,
            shared: SharedFunctions::new(readers.functions, messages, places),
            debug: DebugRegs::new(tables(Verx10::from_times_ten(60)).unwrap()),
            status: Status::default(),
            td: Td::new(1, 1, readers.instructions),
            kept: None,
        }
    }

    pub fn with<T>(&mut self, run: impl FnOnce(&mut Td, &mut Machine<'_>) -> T) -> T {
        let mut machine = Machine {
            mem: &mut self.mem,
            urb: &mut self.urb,
            shared: &mut self.shared,
            debug: &mut self.debug,
            status: &mut self.status,
            trace: &mut Trace::default(),
            budget: &mut 100_000,
            debt: &mut 0,
        };
        run(&mut self.td, &mut machine)
    }

    /// Lets a stage work until it has nothing to do, alone with what it waits for.
    pub fn run(
        &mut self,
        stage: &mut dyn Stage,
        (input, out): (&mut Link, &mut Link),
        (draw, layout): (&DrawState, &'static dyn PayloadLayout),
    ) -> Step {
        let mut kept = Kept::default();
        if let Some(page) = self.kept {
            kept.keep(&Arc::new(vec![page]));
        }
        self.with(|td, machine| {
            let mut ctx = StepContext {
                draw,
                layout,
                curbe: None,
                td,
                machine,
                rounds: 1,
                reserve: 0,
                kept,
            };
            loop {
                let step = match stage.step(input, out, &mut ctx) {
                    Step::Idle => stage.step_short(input, out, &mut ctx),
                    step => step,
                };
                if step != Step::Progress {
                    return step;
                }
            }
        })
    }

    /// An entry of a vertex whose dwords say number and place: `number * 100 + place`.
    pub fn vertex(&mut self, number: u32) -> UrbHandle {
        let handle = self.urb.allocate(Owner::Vs).unwrap();
        for row in 0..VERTEX_ROWS {
            let first = number * 100 + u32::from(row) * 8;
            let dwords: Grf = std::array::from_fn(|dword| first + dword as u32);
            *self.urb.row_mut(handle, row).unwrap() = dwords;
        }
        handle
    }

    /// The vertices of a primitive, numbered from 0.
    pub fn primitive(&mut self, topology: Topology, count: u32) -> Vec<StreamVertex> {
        let vertex = |number| StreamVertex {
            handle: self.vertex(number),
            topology,
            start: number == 0,
            end: number + 1 == count,
            renumber: number == 0,
            number: None,
            edge: true,
            tag: Tag::of(Unit::Vs, number),
        };
        (0..count).map(vertex).collect()
    }

    /// Whether every vertex has been given back.
    pub fn all_free(&self) -> bool {
        self.urb.available(Owner::Vs) == 32
    }

    pub fn faults(&self) -> &[FaultRecord] {
        self.status.faults()
    }

    pub fn code(&mut self, at: u32, text: &str) {
        let kernel = isa::parse::assemble(Verx10::from_times_ten(60), "kernel", text);
        let kernel = kernel.unwrap_or_else(|e| panic!("{}", e[0]));
        self.mem
            .write_bytes(GpuAddr::from(at), &kernel.bytes())
            .unwrap();
    }
}

//! A machine around single stages, and registers for their threads.

use eu::Grf;
use isa::Verx10;
use mem::{GpuAddr, Memory};

use crate::intel::debug::DebugRegs;
use crate::intel::ff::Step;
use crate::intel::ff::kept::Kept;
use crate::intel::ff::payload::pixels::{Payload, PayloadState, PixelGroup};
use crate::intel::ff::payload::{
    DomainHeader, ObjectHeader, PATCH_REGISTERS, PatchHeader, PayloadLayout, SetupHeader,
};
use crate::intel::ff::reader::PipelineReader;
use crate::intel::ff::stage::{Stage, StartContext, StepContext};
use crate::intel::ff::state::{
    DrawState, DsState, HsState, PipelineState, Primitive, TeState, UnitConfig,
};
use crate::intel::ff::topology::{StreamVertex, Tag, Topology};
use crate::intel::r#gen::{Readers, readers, tables};
use crate::intel::machine::Machine;
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::places::Places;
use crate::intel::status::Status;
use crate::intel::td::{KernelState, Td};
use crate::intel::trace::Trace;
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// Where the kernel of HS lies.
pub const HS_KERNEL: u32 = 0x1000;
/// Where that of DS lies.
pub const DS_KERNEL: u32 = 0x2000;

/// Registers in a plain order: r0 has entries, number and instance, r1 handles, or coordinates, patch and number.
#[derive(Debug)]
pub struct Plain;

impl PayloadLayout for Plain {
    fn vertices(
        &self,
        _unit: &UnitConfig,
        first: UrbHandle,
        second: Option<UrbHandle>,
        _debug: [u32; 2],
    ) -> Grf {
        let second = second.unwrap_or(first);
        [first.0.into(), second.0.into(), 0, 0, 0, 0, 0, 0]
    }

    fn object(
        &self,
        _unit: &UnitConfig,
        entry: UrbHandle,
        _object: &ObjectHeader,
        _debug: [u32; 2],
    ) -> Grf {
        [entry.0.into(), 0, 0, 0, 0, 0, 0, 0]
    }

    fn setup(
        &self,
        _unit: &UnitConfig,
        _entry: UrbHandle,
        _setup: &SetupHeader,
        _debug: [u32; 2],
    ) -> [Grf; 3] {
        [Grf::default(); 3]
    }

    fn pixels(&self, _payload: &mut Payload<'_>, _state: &PayloadState<'_>, _group: &PixelGroup) {}

    fn patch(
        &self,
        registers: &mut [Grf; PATCH_REGISTERS],
        _unit: &UnitConfig,
        header: &PatchHeader<'_>,
        debug: [u32; 2],
    ) -> usize {
        let entry = header.entry.0.into();
        let instance = header.instance.into();
        registers[0] = [entry, 0, header.number, instance, 0, 0, debug[0], debug[1]];
        let places = registers[1..].as_flattened_mut().iter_mut();
        for (to, handle) in places.zip(header.vertices) {
            *to = handle.0.into();
        }
        PATCH_REGISTERS
    }

    fn domain(&self, _unit: &UnitConfig, header: &DomainHeader, debug: [u32; 2]) -> [Grf; 2] {
        let [first, second] = header.entries.map(|entry| u32::from(entry.0));
        let [[u0, v0], [u1, v1]] = header.points.map(|point| point.uv().map(f32::to_bits));
        let [w0, w1] = header.points.map(|point| point.w().to_bits());
        let third = |w| if header.third { w } else { 0 };
        let patch = header.patch.0.into();
        [
            [first, second, 0, 0, 0, 0, debug[0], debug[1]],
            [u0, v0, third(w0), patch, u1, v1, third(w1), header.number],
        ]
    }
}

/// The machine.
pub struct Rig {
    readers: &'static Readers,
    pub mem: Memory,
    pub urb: Urb,
    shared: SharedFunctions,
    debug: DebugRegs,
    pub status: Status,
    pub td: Td,
    pub budget: u64,
    pub draw: DrawState,
    layout: &'static dyn PayloadLayout,
}

impl Rig {
    /// A machine with sections of so many entries: vertices of one row, patches and vertices of points of two.
    pub fn new(vertices: u16, patches: u16, points: u16) -> Self {
        let sections = [(vertices, 1), (patches, 2), (points, 2)];
        Self::of(Verx10::GEN40, &Plain, sections)
    }

    /// A machine with an instruction set, and entries for vertices, patches and vertices of points: how many, and their rows.
    pub fn of(isa: Verx10, layout: &'static dyn PayloadLayout, sections: [(u16, u16); 3]) -> Self {
        let readers = readers(isa).unwrap();
        let places = Places {
            eus: 1,
            threads_per_eu: 4,
        };
        let mut mem = Memory::new(1 << 20, 256);
        mem.alloc_mapped(GpuAddr(0), 0x8000).unwrap();
        let mut urb = Urb::with_rows(2048);
        let mut at = 0;
        let owners = [Owner::Vs, Owner::Hs, Owner::Ds];
        for (owner, (entries, rows)) in owners.into_iter().zip(sections) {
            urb.fence(owner, at, at + entries * rows);
            urb.partition(owner, entries, rows);
            at += entries * rows;
        }
        Rig {
            readers,
            mem,
            urb,
            shared: SharedFunctions::new(readers.functions, readers.messages, places),
            debug: DebugRegs::new(tables(Verx10::GEN40).unwrap()),
            status: Status::default(),
            td: Td::new(1, 4, readers.instructions),
            budget: 1 << 20,
            draw: DrawState {
                hs: Some(HsState {
                    unit: unit(HS_KERNEL, sections[1]),
                    instances: 1,
                    vertex_handles: true,
                }),
                te: Some(TeState::default()),
                ds: Some(DsState {
                    unit: UnitConfig {
                        read_rows: 1,
                        ..unit(DS_KERNEL, sections[2])
                    },
                    ..DsState::default()
                }),
                vf_statistics: true,
                ..DrawState::default()
            },
            layout,
        }
    }

    /// The reader of the machine's commands.
    pub fn reader(&self) -> &'static dyn PipelineReader {
        self.readers.pipeline
    }

    /// Assembles a kernel.
    pub fn kernel(&mut self, at: u32, text: &str) {
        let kernel = isa::parse::assemble(Verx10::GEN40, "kernel", text);
        let kernel = kernel.unwrap_or_else(|errors| panic!("{}", errors[0]));
        let at = GpuAddr::from(at);
        self.mem.write_bytes(at, &kernel.bytes()).unwrap();
    }

    /// Does something to a stage.
    pub fn with<T>(&mut self, run: impl FnOnce(&mut StepContext<'_, '_>) -> T) -> T {
        let mut machine = Machine {
            mem: &mut self.mem,
            urb: &mut self.urb,
            shared: &mut self.shared,
            debug: &mut self.debug,
            status: &mut self.status,
            trace: &mut Trace::default(),
            budget: &mut self.budget,
            debt: &mut 0,
        };
        run(&mut StepContext {
            draw: &self.draw,
            layout: self.layout,
            curbe: None,
            td: &mut self.td,
            machine: &mut machine,
            rounds: 1,
            reserve: 0,
            kept: Kept::default(),
        })
    }

    /// Starts a draw of a topology; whether the stage takes it.
    pub fn start(&mut self, stage: &mut impl Stage, topology: Topology) -> Result<(), String> {
        let reader = self.readers.pipeline;
        let state = PipelineState::default();
        self.with(|ctx| {
            let start = StartContext {
                command: &Primitive {
                    topology: Ok(topology),
                    ..reader.primitive(&[0; 6])
                },
                reader,
                state: &state,
                draw: ctx.draw,
            };
            stage.start(&start, ctx.machine)
        })
        .map_err(|fault| fault.to_string())
    }

    /// The draw is over for a stage.
    pub fn finish(&mut self, stage: &mut impl Stage) {
        self.with(|ctx| stage.finish(ctx.machine));
    }

    /// Entries of a unit that are in use.
    pub fn used(&self, owner: Owner) -> usize {
        self.urb.capacity(owner) - self.urb.available(owner)
    }

    /// Vertices of a list of patches.
    pub fn vertices(&mut self, topology: Topology, count: usize) -> Vec<StreamVertex> {
        let all = (0..count).map(|at| StreamVertex {
            handle: self.urb.allocate(Owner::Vs).unwrap(),
            topology,
            start: at == 0,
            end: at + 1 == count,
            renumber: at == 0,
            number: None,
            edge: true,
            tag: Tag::default(),
        });
        all.collect()
    }

    /// Calls a step until it neither progresses nor has time; the last answer.
    pub fn run(&mut self, mut step: impl FnMut(&mut StepContext<'_, '_>) -> Step) -> Step {
        for _ in 0..10_000 {
            let last = self.with(&mut step);
            if last != Step::Progress {
                return last;
            }
        }
        panic!("no end");
    }
}

fn unit(kernel: u32, (entries, rows): (u16, u16)) -> UnitConfig {
    UnitConfig {
        kernel: KernelState {
            ip: kernel,
            grf_count: 128,
            urb_start: 2,
            ..KernelState::default()
        },
        urb_entries: entries,
        urb_entry_rows: rows,
        statistics: true,
        ..UnitConfig::default()
    }
}

/// The last instruction of a thread: `registers` of them from m1 on to the URB, as a write with these bits of control.
pub fn urb_write(registers: u32, control: u32) -> String {
    let descriptor = 0x8600_0000 | registers << 20 | control;
    format!("send(8) 1 null<1>UD null<8,8,1>UD {descriptor:#x} {{ align1 }};\n")
}

/// Used and complete.
pub const DONE: u32 = 0xc000;
/// Two entries side by side.
pub const INTERLEAVED: u32 = 0x400;

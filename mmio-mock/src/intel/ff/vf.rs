//! Vertex fetch: indices, vertex cache, element conversion into VUEs.
//!
//! PRM: volume 2, vertex fetch (3DPRIMITIVE, 3DSTATE_VERTEX_*); volume 4, 3.3.4 (debug).
//! Not modelled: prefetch beyond the vertex at hand.

use mem::{GpuAddr, Memory};

use super::Step;
use super::kept::Kept;
use super::link::{Cargo, Fetched, Link};
use super::stage::{Stage, StartContext, StepContext};
use super::state::{Component, IndexBuffer, PipelineState, Primitive, VertexBuffer, VertexElement};
use super::topology::{StreamVertex, Tag, Topology};
use crate::core::fault::UnitFault;
use crate::intel::debug::{Counter, SnapshotUnit};
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Client};
use crate::intel::surface::format::{Capability, Format};
use crate::intel::trace::Event;
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// Entries of the post-transform vertex cache.
const CACHE: usize = 16;

/// Ticks of an index: the buffer, the cache, the reference to the vertex.
const VERTEX_TICKS: u64 = 4;
/// Ticks of an element of a vertex that the cache does not have.
const ELEMENT_TICKS: u64 = 4;

/// A vertex element with its buffer and format resolved.
#[derive(Clone, Copy, Debug)]
struct Element {
    buffer: VertexBuffer,
    offset: u32,
    format: Option<&'static Format>,
    reads: bool,
    components: [Component; 4],
    destination: u16,
    edge_flag: bool,
}

impl Element {
    /// The four components of the element at an address, as register bits.
    fn source(&self, mem: &Memory, addr: GpuAddr) -> Result<[u32; 4], mem::Fault> {
        let Some(format) = self.format else {
            return Ok([0; 4]);
        };
        let mut bytes = [0; 32];
        let bytes = &mut bytes[..usize::from(format.bytes).min(32)];
        mem.read_bytes(addr, bytes)?;
        Ok(format.unpack_bytes(bytes))
    }
}

#[derive(Clone, Copy, Debug)]
struct Draw {
    topology: Topology,
    random: bool,
    count: u32,
    start: u32,
    instances: u32,
    first_instance: u32,
    base: i32,
    instance: u32,
    at: u32,
    restart: bool,
    /// No vertex of the instance has gone on yet.
    renumber: bool,
    index_buffer: IndexBuffer,
}

#[derive(Clone, Copy, Debug, Default)]
struct CacheLine {
    valid: bool,
    index: u32,
    handle: UrbHandle,
    /// Thread that shades or shaded the vertex, and which of its two vertices it is.
    thread: (u32, u32),
    /// Edge flag.
    edge: bool,
}

/// The vertex fetch unit.
#[derive(Clone, Debug, Default)]
pub struct Vf {
    draw: Option<Draw>,
    elements: Vec<Element>,
    cache: [CacheLine; CACHE],
    victim: usize,
    cache_on: bool,
    statistics: bool,
}

impl Stage for Vf {
    fn part(&self) -> Busy {
        Busy::Vf
    }

    fn takes(&self) -> &'static [Cargo] {
        &[]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Fetched]
    }

    fn start(
        &mut self,
        ctx: &StartContext<'_>,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        let elements = ctx.reader.vertex_elements(ctx.state);
        let cache_on = !ctx.draw.vs.vertex_cache_disable;
        self.begin(ctx.command, ctx.state, &elements, cache_on, machine)
    }

    fn step(&mut self, _input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        // CAST: VS lets only a few vertices wait.
        match self.next(out.fresh() as u32, ctx.machine, &mut ctx.kept) {
            Ok(fetched) => {
                out.fetched.push(fetched);
                Step::Progress
            }
            Err(step) => step,
        }
    }

    fn busy(&self, _input: &Link) -> bool {
        self.draw.is_some()
    }
}

impl Vf {
    /// Prepares a 3DPRIMITIVE.
    fn begin(
        &mut self,
        command: &Primitive,
        state: &PipelineState,
        elements: &[VertexElement],
        cache_on: bool,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        if !machine.debug.vf_primitive() {
            // Dropped by the primitive skip or limit of the debug registers.
            return Ok(());
        }
        let topology = command.topology.map_err(|code| UnitFault::Command {
            unit: "VF",
            what: format!("3DPRIMITIVE with reserved topology {code:#x}"),
        })?;
        if command.indirect_count {
            return Err(UnitFault::Unimplemented {
                unit: "VF",
                what: "3DPRIMITIVE with Indirect Vertex Count",
                prm: "genxml gen45 3DPRIMITIVE",
            });
        }
        let index_buffer = match (command.random, state.index_buffer) {
            (true, None) => {
                return Err(UnitFault::Command {
                    unit: "VF",
                    what: "3DPRIMITIVE with random access and no index buffer".to_owned(),
                });
            }
            (_, buffer) => buffer.unwrap_or_default(),
        };
        self.elements.clear();
        for &VertexElement {
            buffer: index,
            format: code,
            layout,
            offset,
            components,
            destination,
            edge_flag,
        } in elements
        {
            if components.contains(&Component::PrimitiveId) {
                return Err(UnitFault::Unimplemented {
                    unit: "VF",
                    what: "component control VFCOMP_STORE_PID",
                    prm: "PRM vol2, VERTEX_ELEMENT_STATE",
                });
            }
            let reads = components.contains(&Component::Source);
            let buffer = state.vertex_buffers.get(index);
            let buffer = buffer.copied().unwrap_or_default();
            if reads && !buffer.valid {
                return Err(UnitFault::Command {
                    unit: "VF",
                    what: format!("vertex element uses vertex buffer {index}, which is not set"),
                });
            }
            let format = layout.filter(|f| f.has(Capability::VertexBuffer));
            if reads && format.is_none() {
                return Err(UnitFault::Command {
                    unit: "VF",
                    what: format!("surface format {code:#x} cannot be fetched as a vertex"),
                });
            }
            self.elements.push(Element {
                buffer,
                offset,
                format,
                reads,
                components,
                destination,
                edge_flag,
            });
        }
        let (start, count) = machine
            .debug
            .vf_vertex_range()
            .unwrap_or((command.start, command.count));
        self.cache_on = cache_on && command.random;
        self.statistics = state.vf_statistics;
        self.draw = Some(Draw {
            topology,
            random: command.random,
            count,
            start,
            instances: command.instances,
            first_instance: command.first_instance,
            base: command.base_vertex,
            instance: 0,
            at: 0,
            restart: true,
            renumber: true,
            index_buffer,
        });
        Ok(())
    }

    /// Fetches the next vertex; `Err(Step)` says why there is none. `waiting` fresh vertices are in front of it in
    /// the thread that will shade it.
    fn next(
        &mut self,
        waiting: u32,
        machine: &mut Machine<'_>,
        kept: &mut Kept,
    ) -> Result<Fetched, Step> {
        loop {
            let Some(draw) = &mut self.draw else {
                return Err(Step::Idle);
            };
            if draw.at >= draw.count || draw.instance >= draw.instances {
                draw.at = 0;
                draw.instance = draw.instance.saturating_add(1);
                draw.restart = true;
                draw.renumber = true;
                invalidate(&mut self.cache, machine.urb);
                if draw.instance >= draw.instances || draw.count == 0 {
                    self.draw = None;
                    return Err(Step::Idle);
                }
                continue;
            }
            if *machine.budget == 0 {
                return Err(Step::Blocked);
            }
            let before = (*machine.budget, *machine.debt);
            machine.charge(VERTEX_TICKS);
            let draw = *draw;
            return match self.vertex(&draw, waiting, machine, kept) {
                Ok(Some(fetched)) => Ok(fetched),
                Ok(None) => continue,
                Err(Stall::Urb) => Err(Step::Blocked),
                Err(Stall::Kept) => {
                    (*machine.budget, *machine.debt) = before;
                    Err(Step::Settle)
                }
                Err(Stall::Fault(fault, place)) => {
                    self.draw = None;
                    machine.fault(Client::VertexFetch, fault, || place);
                    Err(Step::Dead)
                }
            };
        }
    }

    fn vertex(
        &mut self,
        draw: &Draw,
        waiting: u32,
        machine: &mut Machine<'_>,
        kept: &mut Kept,
    ) -> Result<Option<Fetched>, Stall> {
        let index = if draw.random {
            let Some(index) = fetch_index(machine.mem, draw, draw.at, kept)? else {
                // A cut index ends the primitive; the vertex before it already says so.
                self.advance(true);
                return Ok(None);
            };
            index
        } else {
            draw.start.wrapping_add(draw.at)
        };
        let last = draw.at + 1 >= draw.count
            || (draw.random
                && draw.index_buffer.cut
                && fetch_index(machine.mem, draw, draw.at + 1, kept)?.is_none());
        let vertex_index = index.wrapping_add_signed(if draw.random { draw.base } else { 0 });
        // What a shader adds to VID is the base vertex or the start vertex (Mesa brw_compiler.c,
        // `vertex_id_zero_based`): VF leaves both out.
        let vertex_id = if draw.random { index } else { draw.at };

        let hit = if self.cache_on {
            self.cache
                .iter()
                .find(|l| l.valid && l.index == vertex_index)
                .copied()
        } else {
            None
        };
        let (handle, fresh, thread, edge) = if let Some(line) = hit {
            machine.urb.reference(line.handle);
            (line.handle, false, line.thread, line.edge)
        } else {
            let handle = self.allocate(machine.urb)?;
            machine.charge(ELEMENT_TICKS * self.elements.len() as u64);
            let number = (vertex_index, vertex_id);
            let edge = match self.fetch(draw, number, handle, machine, kept) {
                Ok(edge) => edge,
                Err(stall) => {
                    machine.urb.release(handle);
                    return Err(stall);
                }
            };
            let thread = (machine.debug.counters().get(Counter::VsThread), waiting & 1);
            if self.cache_on {
                machine.urb.reference(handle);
                let line = &mut self.cache[self.victim];
                if line.valid {
                    machine.urb.release(line.handle);
                }
                *line = CacheLine {
                    valid: true,
                    index: vertex_index,
                    handle,
                    thread,
                    edge,
                };
                self.victim = (self.victim + 1) % CACHE;
            }
            (handle, true, thread, edge)
        };
        let debug = machine.debug.vf_vertex(vertex_index);
        if debug.capture {
            // The thread that shades or shaded the vertex, even out of the cache (PRM vol4 3.3.2).
            machine
                .debug
                .capture(SnapshotUnit::Vf, &[thread.0, 0, thread.1]);
        }
        machine.status.activity.vertices += 1;
        if machine.trace.is_detailed() {
            machine.note(Event::Vertex {
                index: vertex_index,
                handle: handle.0,
                fresh,
                instance: draw.instance,
            });
        }
        if self.statistics {
            machine.status.statistics.ia_vertices =
                machine.status.statistics.ia_vertices.wrapping_add(1);
        }
        self.advance(false);
        Ok(Some(Fetched {
            vertex: StreamVertex {
                handle,
                topology: draw.topology,
                start: draw.restart,
                renumber: draw.renumber,
                number: None,
                edge,
                end: last,
                tag: Tag::fetched(debug.sequence),
            },
            fresh,
            index: vertex_index,
        }))
    }

    fn advance(&mut self, restart: bool) {
        if let Some(draw) = &mut self.draw {
            draw.at = draw.at.saturating_add(1);
            draw.restart = restart;
            draw.renumber &= restart;
        }
    }

    /// A free VUE; under pressure the cache gives its entries back.
    fn allocate(&mut self, urb: &mut Urb) -> Result<UrbHandle, Stall> {
        if let Some(handle) = urb.allocate(Owner::Vs) {
            return Ok(handle);
        }
        invalidate(&mut self.cache, urb);
        urb.allocate(Owner::Vs).ok_or(Stall::Urb)
    }

    /// Fills the entry of a vertex, and gives its edge flag.
    fn fetch(
        &self,
        draw: &Draw,
        (index, id): (u32, u32),
        handle: UrbHandle,
        machine: &mut Machine<'_>,
        kept: &mut Kept,
    ) -> Result<bool, Stall> {
        let mut edge = true;
        for (number, element) in self.elements.iter().enumerate() {
            let mut source = [0; 4];
            if element.reads {
                let buffer = &element.buffer;
                let row = if buffer.per_instance {
                    // A step rate of zero means that the data never advance.
                    let steps = draw.instance.checked_div(buffer.step_rate).unwrap_or(0);
                    draw.first_instance.wrapping_add(steps)
                } else {
                    index
                };
                let addr = buffer
                    .start
                    .wrapping_add(row.wrapping_mul(buffer.pitch))
                    .wrapping_add(element.offset);
                let bytes = element.format.map_or(0, |format| u32::from(format.bytes));
                if buffer.holds(addr, bytes) {
                    let at = GpuAddr::from(addr);
                    if kept.meets(machine.mem, at, bytes.into()) {
                        return Err(Stall::Kept);
                    }
                    source = element.source(machine.mem, at).map_err(|fault| {
                        let place = format!("VF, vertex {index}, element {number}");
                        Stall::Fault(fault.into(), place)
                    })?;
                }
            }
            if element.edge_flag {
                // It goes down the pipeline beside the entry, and is no part of it.
                edge = source[0] != 0;
                continue;
            }
            for (c, component) in element.components.iter().enumerate() {
                let value = match component {
                    Component::NoStore => continue,
                    Component::Source => source[c],
                    // `start` refuses primitive ids.
                    Component::Zero | Component::PrimitiveId => 0,
                    Component::OneFloat => 1.0f32.to_bits(),
                    Component::OneInt => 1,
                    Component::VertexId => id,
                    Component::InstanceId => draw.instance,
                };
                let at = element.destination + c as u16;
                if at / 8 < machine.urb.entry_rows(Owner::Vs)
                    && let Some(row) = machine.urb.row_mut(handle, at / 8)
                {
                    row[usize::from(at % 8)] = value;
                }
            }
        }
        Ok(edge)
    }
}

/// Why a vertex could not be delivered.
enum Stall {
    /// No free VUE.
    Urb,
    /// Threads that are kept may write what it is made of.
    Kept,
    /// Memory or format, and where.
    Fault(UnitFault, String),
}

fn invalidate(cache: &mut [CacheLine; CACHE], urb: &mut Urb) {
    for line in cache {
        if std::mem::take(&mut line.valid) {
            urb.release(line.handle);
        }
    }
}

/// Index number `at` of the draw; `None` for a cut index. Past the end of the buffer an index
/// reads as zero (volume 2: out-of-range indices deliver zero).
fn fetch_index(mem: &Memory, draw: &Draw, at: u32, kept: &mut Kept) -> Result<Option<u32>, Stall> {
    let buffer = &draw.index_buffer;
    let offset = u64::from(draw.start) + u64::from(at);
    let first = u64::from(buffer.start) + offset * u64::from(buffer.bytes);
    if first + u64::from(buffer.bytes) > u64::from(buffer.end) + 1 {
        return Ok(Some(0));
    }
    let addr = GpuAddr::from(first as u32);
    if kept.meets(mem, addr, buffer.bytes.into()) {
        return Err(Stall::Kept);
    }
    let (index, ones) = match buffer.bytes {
        1 => (mem.read_u8(addr).map(u32::from), 0xff),
        2 => (mem.read_u16(addr).map(u32::from), 0xffff),
        _ => (mem.read_u32(addr), u32::MAX),
    };
    let index = index.map_err(|fault| Stall::Fault(fault.into(), format!("VF, index {at}")))?;
    Ok(if buffer.cut && index == ones {
        None
    } else {
        Some(index)
    })
}

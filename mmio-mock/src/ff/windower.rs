//! The windower in its place: state from memory, threads by TD, counters.
//!
//! PRM: volume 2, windower; volume 4, 3.3.9. `wiz` rasterises and asks through `WizPort`; this is
//! the machine behind that port.

pub mod latch;

use eu::Grf;
use mem::Memory;

use super::Step;
use super::state::{Curbe as UrbCurbe, DrawState, PipelineState, read_state};
use super::wiz::thread::{Dispatch, PsThread, WizPort};
use super::wiz::{self, SetupPrimitive, Wiz, WizState};
use crate::debug::DebugRegs;
use crate::fault::UnitFault;
use crate::machine::Machine;
use crate::shared::context::ThreadContext;
use crate::shared::dataport::render::PixelBackend;
use crate::status::{Client, Unit};
use crate::td::{KernelState, Outcome, SlotId, Subject, Td, ThreadRequest, UrbRead, VertexData};
use crate::urb::UrbHandle;

/// The windower and what it works on.
#[derive(Debug, Default)]
pub struct Windower {
    wiz: Wiz,
    state: WizState,
    kernel: KernelState,
    context: ThreadContext,
    /// Setup entry of the primitive in work.
    setup: Option<UrbHandle>,
    in_flight: Vec<SlotId>,
    /// How many objects SF has had before the one in work.
    object: u64,
}

/// The machine as the windower sees it.
struct Glue<'a, 'm> {
    state: &'a WizState,
    kernel: KernelState,
    context: ThreadContext,
    curbe: Option<UrbCurbe>,
    td: &'a mut Td,
    machine: &'a mut Machine<'m>,
    in_flight: &'a mut Vec<SlotId>,
    object: u64,
}

impl Windower {
    /// Whether a primitive is in work or a thread lives.
    pub fn busy(&self) -> bool {
        self.wiz.busy() || !self.in_flight.is_empty()
    }

    /// Loads the running line stipple counters (3DSTATE_LINE_STIPPLE with Modify Enable).
    pub fn load_line_stipple(&mut self, state: &PipelineState) {
        self.wiz.load_line_stipple(&latch::line_stipple(state));
    }

    /// The running line stipple counter, in pixels.
    pub fn line_stipple_counter(&self) -> u32 {
        self.wiz.line_stipple_counter()
    }

    /// Latches the state of a draw.
    pub fn start(
        &mut self,
        state: &PipelineState,
        draw: &DrawState,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        let bases = &state.bases;
        let wm = read_state(machine.mem, bases, state.pointers[4] & !0x1f)?;
        let color_calc_pointer = state.pointers[5] & !0x1f;
        self.state = latch::latch(
            machine.mem,
            machine.debug,
            state,
            draw,
            &wm,
            color_calc_pointer,
        )?;
        machine.shared.pixel = PixelBackend {
            // Targets need not go with a buffer that nothing uses.
            depth_buffer: self
                .state
                .depth_buffer
                .clone()
                .filter(|_| self.state.cc.uses_depth_buffer()),
            blend_constant: state.constant_color,
            // CAST: 16-bit fields, two's complement.
            drawing_origin: (
                state.drawing_rectangle.drawing_rectangle_origin_x() as u16,
                state.drawing_rectangle.drawing_rectangle_origin_y() as u16,
            ),
            ..PixelBackend::default()
        };
        let wm = &self.state.wm;
        self.kernel = KernelState {
            ip: wm.kernel_start_pointer,
            grf_count: ((wm.grf_register_count + 1) * 16).min(128) as u8,
            alt_float: wm.float_mode == eu::FloatMode::Alt,
            single_program_flow: wm.single_program_flow,
            illegal_opcode_exception: wm.illegal_opcode_exception_enable,
            mask_stack_exception: wm.mask_stack_exception_enable,
            software_exception: wm.software_exception_enable,
            high_priority: wm.thread_priority,
            urb_start: wm.dispatch_grf_start_register as u8,
        };
        self.context = ThreadContext {
            bases: *bases,
            binding_table_pointer: state.binding_tables[4],
            sampler_state_pointer: wm.sampler_state_pointer,
            scratch_base: wm.scratch_space_base_pointer,
            scratch_size: 1024 << wm.per_thread_scratch_space.min(11),
            ffid: Unit::Wiz.ffid(),
        };
        Ok(())
    }

    /// Takes up a primitive, which brings its setup entry.
    pub fn begin(
        &mut self,
        primitive: &SetupPrimitive,
        curbe: Option<UrbCurbe>,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Step {
        self.setup = Some(primitive.setup_handle);
        // SF has one object at a time, and none while the windower works.
        self.object = machine.status.activity.objects.saturating_sub(1);
        machine.note(crate::trace::Event::Primitive {
            sequence: primitive.sequence,
        });
        if machine.trace.is_detailed() {
            let mut corners = [[0; 3]; 3];
            for (&n, v) in primitive.order.iter().zip(&primitive.v) {
                if let Some(corner) = corners.get_mut(usize::from(n)) {
                    *corner = [v.x, v.y, v.z].map(f32::to_bits);
                }
            }
            machine.note(crate::trace::Event::Placed {
                corners,
                count: match primitive.kind {
                    wiz::PrimitiveKind::Point => 1,
                    wiz::PrimitiveKind::Line => 2,
                    wiz::PrimitiveKind::Triangle | wiz::PrimitiveKind::Rectangle => 3,
                },
            });
        }
        let state = &self.state;
        let mut glue = Glue {
            state,
            kernel: self.kernel,
            context: self.context,
            curbe,
            td,
            machine,
            in_flight: &mut self.in_flight,
            object: self.object,
        };
        match self.wiz.begin(state, primitive, &mut glue) {
            Ok(true) => Step::Progress,
            Ok(false) => {
                self.release(machine);
                Step::Progress
            }
            Err(fault) => Self::fail(fault, machine),
        }
    }

    /// Goes on with the primitive in work.
    pub fn step(
        &mut self,
        curbe: Option<UrbCurbe>,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Step {
        if !self.in_flight.is_empty() {
            self.resume(td, machine);
            // While a thread waits, every subspan counts as blocked by the pixel scoreboard: threads of one draw run
            // one after another. Ignore Color Scoreboard Stalls lets the others go on (PRM vol4 3.3.9.1).
            if !self.in_flight.is_empty() && !machine.debug.wiz().ignore_scoreboard() {
                return Step::Blocked;
            }
        }
        if !self.wiz.busy() {
            self.release(machine);
            return Step::Idle;
        }
        if *machine.budget == 0 {
            return Step::Blocked;
        }
        let state = &self.state;
        let mut glue = Glue {
            state,
            kernel: self.kernel,
            context: self.context,
            curbe,
            td,
            machine,
            in_flight: &mut self.in_flight,
            object: self.object,
        };
        let step = self.wiz.step(state, &mut glue);
        // Rasterising takes time even when no thread starts.
        machine.charge(self.wiz.take_ticks());
        match step {
            Ok(wiz::Step::Blocked) => Step::Blocked,
            Ok(wiz::Step::Progress | wiz::Step::Idle) => Step::Progress,
            Err(fault) => Self::fail(fault, machine),
        }
    }

    /// Runs the threads that live on.
    fn resume(&mut self, td: &mut Td, machine: &mut Machine<'_>) {
        let wiz = &mut self.wiz;
        self.in_flight
            .retain(|&slot| match td.resume(slot, machine) {
                Outcome::Done(slot) => {
                    wiz.retire(slot.0);
                    settle_pixels(slot, td, machine);
                    false
                }
                Outcome::InFlight(_) => true,
            });
    }

    /// The draw is over.
    pub fn finish(&mut self, machine: &mut Machine<'_>) {
        self.release(machine);
    }

    fn release(&mut self, machine: &mut Machine<'_>) {
        if let Some(handle) = self.setup.take() {
            machine.urb.release(handle);
        }
    }

    fn fail(fault: UnitFault, machine: &mut Machine<'_>) -> Step {
        machine.fault(Client::RenderCache, fault, || "WIZ".to_owned());
        Step::Dead
    }
}

/// Counts what the render target writes of a thread that ended have passed.
fn settle_pixels(slot: SlotId, td: &Td, machine: &mut Machine<'_>) {
    let passed = td.events(slot).depth_count;
    let count = &mut machine.status.statistics.ps_depth_count;
    *count = count.wrapping_add(u64::from(passed));
}

impl WizPort for Glue<'_, '_> {
    fn memory(&mut self) -> &mut Memory {
        self.machine.mem
    }

    fn urb_row(&self, handle: UrbHandle, row: u16) -> Grf {
        self.machine
            .urb
            .row(handle, row)
            .copied()
            .unwrap_or_default()
    }

    fn dispatch(&mut self, thread: &PsThread<'_>) -> Dispatch {
        let wm = &self.state.wm;
        let setup = [UrbRead {
            handle: thread.setup,
            offset: wm.setup_urb_entry_read_offset as u16,
            rows: wm.setup_urb_entry_read_length as u16,
        }];
        let constants = (wm.constant_urb_entry_read_length != 0).then(|| UrbRead {
            handle: self.curbe.unwrap_or_default().handle,
            offset: wm.constant_urb_entry_read_offset as u16,
            rows: wm.constant_urb_entry_read_length as u16,
        });
        let outcome = self.td.dispatch(
            &ThreadRequest {
                unit: Unit::Wiz,
                kernel: self.kernel,
                context: self.context,
                dispatch_mask: thread.dispatch_mask,
                header: thread.payload,
                constants,
                data: VertexData::Sequential(&setup),
                snapshot: thread.snapshot,
                subject: Subject::Pixels(self.object),
            },
            &[],
            self.machine,
        );
        match outcome {
            None => Dispatch::Full,
            Some(Outcome::Done(slot)) => {
                settle_pixels(slot, self.td, self.machine);
                Dispatch::Done
            }
            Some(Outcome::InFlight(slot)) => {
                self.in_flight.push(slot);
                Dispatch::InFlight(slot.0)
            }
        }
    }

    fn count_invocations(&mut self, pixels: u32) {
        self.machine.status.activity.pixels += u64::from(pixels);
        if self.state.wm.statistics_enable {
            let count = &mut self.machine.status.statistics.ps_invocations;
            *count = count.wrapping_add(u64::from(pixels));
        }
    }

    fn debug(&mut self) -> &mut DebugRegs {
        self.machine.debug
    }

    fn count_depth(&mut self, pixels: u32) {
        let count = &mut self.machine.status.statistics.ps_depth_count;
        *count = count.wrapping_add(u64::from(pixels));
    }
}

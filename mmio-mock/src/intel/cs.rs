//! Command streamers: fetch, parse and execute ring and batch buffers.
//!
//! PRM: volume 1 (ring buffer, MI commands), volume 2 (3D commands).
//! Commands run strictly one after another: the next is parsed when the pipeline is empty, which
//! 2.6.9 of volume 4 allows (no latency is architected).
//! Not modelled: the interrupt ring, display waits.

pub mod context;
pub mod engine;
pub mod fetch;
pub mod latched;
pub mod media;
pub mod mi;
pub mod pipe_control;
pub mod reader;
pub mod state3d;
pub mod urb;

use mem::{GpuAddr, Space};
use regs::desc::{CommandDesc, Property};
use regs::ids::CommandId;

use crate::core::fault::UnitFault;
use crate::intel::blt::Blt;
use crate::intel::ff::{Pipeline, Step};
use crate::intel::irq;
use crate::intel::machine::Machine;
use crate::intel::media::{Media, Walked};
use crate::intel::registers::RegFile;
use crate::intel::status::Client;
use crate::intel::td::Td;
use crate::intel::trace::Event;

use engine::{EngineInfo, Errors, OwnCommand, Timestamp};
use fetch::Source;
use reader::CommandReader;

/// What the command streamer borrows while it executes a command.
pub struct CsContext<'a, 'm> {
    /// Reads the commands of the device's generation.
    pub reader: &'static dyn CommandReader,
    /// The space of the process whose tables the engine has loaded.
    pub process: mem::Process,
    /// The engine whose streamer executes it.
    pub engine: &'static EngineInfo,
    /// Where interrupts show.
    pub irq: &'static irq::Registers,
    /// Registers.
    pub regs: &'a mut RegFile,
    /// The 3D pipeline.
    pub ff: &'a mut Pipeline,
    /// The media pipeline.
    pub media: &'a mut Media,
    /// The blitter.
    pub blt: &'a mut Blt,
    /// The thread dispatcher.
    pub td: &'a mut Td,
    /// Everything below.
    pub machine: &'a mut Machine<'m>,
    /// Device time.
    pub ticks: u64,
    /// What TIMESTAMP makes of it.
    pub clock: Timestamp,
    /// MMIO writes of commands, carried out by the device after the command, in order.
    pub writes: &'a mut Vec<(u32, u32)>,
}

impl CsContext<'_, '_> {
    /// An interrupt of the engine, unless its own register masks it.
    pub fn interrupt(&mut self, bit: u32) {
        let mask = self.engine.interrupt_mask;
        let mask = mask.map_or(0, |register| self.regs.get(register));
        self.irq.raise_bits(self.regs, bit & !mask);
    }

    /// What TIMESTAMP shows.
    pub fn timestamp(&self) -> u64 {
        self.clock.at(self.ticks)
    }
}

/// One parsed command: its descriptor and its dwords.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Which one.
    pub desc: &'static CommandDesc,
    /// Address of the header.
    pub addr: GpuAddr,
    /// All dwords, header first.
    pub dwords: &'a [u32],
}

/// What executing a command leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// Go on with the next command.
    Next,
    /// Go on in a batch buffer.
    Batch {
        /// Its first command.
        start: GpuAddr,
        /// Privileged commands are to be left out of it.
        non_secure: bool,
        /// The space of its addresses, and of those in it.
        space: Space,
    },
    /// Return from the batch buffer to the ring.
    EndBatch,
    /// The blitter works on the command: go on when it is done.
    Blit,
    /// The command starts root threads one after another: go on when all are there.
    Walk,
    /// The command cannot be executed yet: try again.
    Wait,
}

/// Longest command: an eight-bit length field plus two (3DSTATE and MI commands), or XY_TEXT
/// immediates of the same form.
const MAX_DWORDS: usize = 260;

/// A command that takes more than one step.
#[derive(Clone, Copy, Debug)]
struct Long {
    source: Source,
    addr: GpuAddr,
    header: u32,
    name: &'static str,
    dwords: u32,
}

/// A command streamer.
#[derive(Debug)]
pub struct Cs {
    info: &'static EngineInfo,
    batch: Option<GpuAddr>,
    /// The space that units work in: that of the batch or of its process, and the global one for commands of the ring. It changes only
    /// while nothing is in flight, so that all units work in one space.
    space: Space,
    /// The space that commands are read from.
    source_space: Space,
    /// The batch may not execute privileged commands, nor may those that it starts.
    non_secure: bool,
    /// The head stays at this command of the blitter until it is done.
    blit: Option<Long>,
    /// The head stays at this walker until it has started all its threads.
    walk: Option<Long>,
    /// The parser refused a command or lost its memory; only a reset helps.
    stuck: bool,
    dwords: Vec<u32>,
}

impl Cs {
    /// The streamer of an engine after power-on.
    pub fn new(info: &'static EngineInfo) -> Self {
        Cs {
            info,
            batch: None,
            space: Space::Global,
            source_space: Space::Global,
            non_secure: false,
            blit: None,
            walk: None,
            stuck: false,
            dwords: Vec::with_capacity(MAX_DWORDS),
        }
    }

    /// The row of its engine.
    #[inline]
    pub fn info(&self) -> &'static EngineInfo {
        self.info
    }

    /// Back to the state after reset.
    pub fn reset(&mut self) {
        self.batch = None;
        self.space = Space::Global;
        self.source_space = Space::Global;
        self.non_secure = false;
        self.blit = None;
        self.walk = None;
        self.stuck = false;
    }

    /// The command that the blitter works on: name and address.
    pub fn blitting(&self) -> Option<(&'static str, GpuAddr)> {
        self.blit.map(|blit| (blit.name, blit.addr))
    }

    /// The space that commands and what they start work in.
    #[inline]
    pub fn space(&self) -> Space {
        self.space
    }

    /// Whether what it does may write the driver's own pages: commands of the ring, and batches that the driver trusts. In the space of a
    /// process nothing does.
    #[inline]
    pub fn is_trusted(&self) -> bool {
        self.batch.is_none() || !self.non_secure && self.space == Space::Global
    }

    /// Whether the parser gave up.
    pub fn stuck(&self) -> bool {
        self.stuck
    }

    /// Where the next command is, if there is one.
    fn source(&self, regs: &RegFile) -> Option<Source> {
        if let Some(addr) = self.batch {
            return Some(Source::Batch(addr));
        }
        let ring = fetch::Ring::from_registers(regs, &self.info.registers)?;
        (ring.head != ring.tail).then_some(Source::Ring(ring))
    }

    /// Whether there is nothing to parse.
    pub fn idle(&self, regs: &RegFile) -> bool {
        self.source(regs).is_none()
    }

    /// Whether the next command is one that the media pipeline takes while its threads run.
    pub fn next_is_object(&self, regs: &RegFile, mem: &mut mem::Memory) -> bool {
        if self.stuck || self.blit.is_some() || mi::stopped(regs, self.info) && self.batch.is_none()
        {
            return false;
        }
        if self.walk.is_some() {
            return true;
        }
        let source = self.source(regs);
        let header = source.and_then(|source| self.read(mem, |mem| source.header(mem)).ok());
        let header = header.filter(|header| self.info.own_command(*header).is_none());
        let object = |desc: &CommandDesc| desc.is(Property::Object);
        header.and_then(regs.tables().command).is_some_and(object)
    }

    /// Parses and executes one command.
    pub fn step(&mut self, ctx: &mut CsContext<'_, '_>) -> Step {
        if self.stuck {
            return Step::Dead;
        }
        if let Some(blit) = self.blit {
            return self.draw(blit, ctx);
        }
        if let Some(walk) = self.walk {
            return self.walk(walk, ctx);
        }
        if mi::stopped(ctx.regs, self.info) && self.batch.is_none() {
            return Step::Idle;
        }
        let Some(source) = self.source(ctx.regs) else {
            return Step::Idle;
        };
        let addr = source.addr();
        ctx.regs.set(self.info.registers.acthd, addr.low());
        ctx.regs.set(self.info.registers.dma_fadd, addr.low());
        let mut dwords = std::mem::take(&mut self.dwords);
        let step = self.run(source, addr, &mut dwords, ctx);
        self.dwords = dwords;
        step
    }

    fn run(
        &mut self,
        source: Source,
        addr: GpuAddr,
        dwords: &mut Vec<u32>,
        ctx: &mut CsContext<'_, '_>,
    ) -> Step {
        let header = match self.read(ctx.machine.mem, |mem| source.header(mem)) {
            Ok(header) => header,
            Err(fault) => return self.refuse(fault.into(), addr, None, ctx),
        };
        ctx.regs.set(self.info.registers.ipehr, header);
        let in_batch = u64::from(matches!(source, Source::Batch(_)));
        ctx.machine.status.activity.batch_headers += in_batch;
        let refuse = |cs: &mut Cs, what, ctx: &mut CsContext<'_, '_>| {
            let unit = cs.info.unit;
            cs.refuse(UnitFault::Command { unit, what }, addr, Some(header), ctx)
        };
        if let Some(own) = self.info.own_command(header) {
            return self.skip(source, own, header, dwords, ctx);
        }
        let Some(desc) = (ctx.regs.tables().command)(header) else {
            return refuse(self, format!("unknown command {header:#010x}"), ctx);
        };
        if !self.info.takes(desc) {
            let what = format!("{} is a command of another engine", desc.name);
            return refuse(self, what, ctx);
        }
        let length = desc.dwords(header);
        if length == 0 || length > MAX_DWORDS {
            let what = format!("{} with impossible length {length}", desc.name);
            return refuse(self, what, ctx);
        }
        dwords.clear();
        dwords.push(header);
        if length > 1
            && let Err(fault) =
                self.read(ctx.machine.mem, |mem| source.rest(mem, length - 1, dwords))
        {
            return self.refuse(fault.into(), addr, Some(header), ctx);
        }
        if media::waits(desc, ctx) {
            return Step::Blocked;
        }
        ctx.machine.charge(length as u64);
        let activity = &mut ctx.machine.status.activity;
        activity.commands += 1;
        activity.batch_commands += in_batch;
        ctx.machine.trace.event(Event::Command {
            addr: addr.low(),
            header,
            dwords: length as u32,
            streamer: self.info.unit,
        });
        let command = Command { desc, addr, dwords };
        let outcome = if self.batch.is_some()
            && self.non_secure
            && desc.is_privileged(command.dwords)
            && !self.info.lets_users(desc.id, command.dwords)
        {
            log::debug!("{} in a non-secure batch: left out", desc.name);
            Ok(Flow::Next)
        } else {
            execute(&command, ctx)
        };
        match outcome {
            Ok(flow @ (Flow::Blit | Flow::Walk)) => {
                let long = Long {
                    source,
                    addr,
                    header,
                    name: desc.name,
                    dwords: length as u32,
                };
                if flow == Flow::Walk {
                    self.walk = Some(long);
                    return self.walk(long, ctx);
                }
                self.blit = Some(long);
                self.draw(long, ctx)
            }
            Ok(Flow::Wait) => Step::Blocked,
            Ok(flow) => {
                self.advance(source, length as u32, &flow, ctx);
                Step::Progress
            }
            Err(fault) => self.refuse(fault, addr, Some(header), ctx),
        }
    }

    /// A command that the tables do not have under this opcode: it is read to its end, and reported.
    fn skip(
        &mut self,
        source: Source,
        own: &OwnCommand,
        header: u32,
        dwords: &mut Vec<u32>,
        ctx: &mut CsContext<'_, '_>,
    ) -> Step {
        let (addr, unit, what) = (source.addr(), self.info.unit, own.name);
        let length = OwnCommand::dwords(header);
        let fault = if length > MAX_DWORDS {
            let what = format!("{what} with impossible length {length}");
            UnitFault::Command { unit, what }
        } else {
            dwords.clear();
            dwords.push(header);
            let prm = own.cite;
            let rest = self.read(ctx.machine.mem, |mem| source.rest(mem, length - 1, dwords));
            rest.map_or_else(UnitFault::from, |()| UnitFault::Unimplemented {
                unit,
                what,
                prm,
            })
        };
        self.refuse(fault, addr, Some(header), ctx)
    }

    /// Lets the blitter draw while there is time.
    fn draw(&mut self, blit: Long, ctx: &mut CsContext<'_, '_>) -> Step {
        while *ctx.machine.budget > 0 {
            match ctx.blt.row(ctx.machine.mem) {
                Ok(Some(ticks)) => {
                    ctx.machine.status.activity.blit_rows += 1;
                    ctx.machine.charge(ticks);
                    if ctx.machine.trace.is_detailed()
                        && let Some((addr, bytes)) = ctx.blt.last_row(ctx.machine.mem)
                    {
                        ctx.machine.note_write("BLT", addr, bytes);
                    }
                }
                Ok(None) => {
                    self.blit = None;
                    ctx.machine.status.activity.blits += 1;
                    self.advance(blit.source, blit.dwords, &Flow::Next, ctx);
                    break;
                }
                Err(fault) => {
                    self.blit = None;
                    return self.refuse(fault, blit.addr, Some(blit.header), ctx);
                }
            }
        }
        Step::Progress
    }

    /// Lets a walker start threads while the front end has room.
    fn walk(&mut self, walk: Long, ctx: &mut CsContext<'_, '_>) -> Step {
        match media::walk(ctx) {
            Ok(Walked::On) => Step::Progress,
            Ok(Walked::Waits) => Step::Blocked,
            Ok(Walked::Over) => {
                self.walk = None;
                self.advance(walk.source, walk.dwords, &Flow::Next, ctx);
                Step::Progress
            }
            Err(fault) => {
                self.walk = None;
                self.refuse(fault, walk.addr, Some(walk.header), ctx)
            }
        }
    }

    fn advance(&mut self, source: Source, dwords: u32, flow: &Flow, ctx: &mut CsContext<'_, '_>) {
        let bytes = dwords * 4;
        match source {
            Source::Ring(ring) => ring.advance(ctx.regs, self.info.registers.head, bytes),
            Source::Batch(addr) => {
                self.batch = Some(ctx.machine.mem.on_bus(addr.offset(bytes)));
            }
        }
        match *flow {
            Flow::Next | Flow::Blit | Flow::Walk | Flow::Wait => {}
            Flow::Batch {
                start,
                non_secure,
                space,
            } => {
                if self.batch.is_none() {
                    ctx.machine.status.activity.batches += 1;
                    self.non_secure = non_secure;
                }
                self.non_secure |= non_secure;
                self.batch = Some(start);
                self.source_space = space;
                self.move_to(mi::space_of_units(space, ctx), ctx);
            }
            Flow::EndBatch => {
                self.batch = None;
                self.source_space = Space::Global;
                self.move_to(Space::Global, ctx);
            }
        }
    }

    /// Reads commands.
    #[inline]
    fn read<T>(&self, mem: &mut mem::Memory, look: impl FnOnce(&mem::Memory) -> T) -> T {
        if self.source_space == self.space {
            return look(mem);
        }
        look(&mem.enter(self.source_space))
    }

    /// Goes on in another space. What was derived from memory was derived from that of the old one.
    fn move_to(&mut self, space: Space, ctx: &mut CsContext<'_, '_>) {
        if std::mem::replace(&mut self.space, space) != space && self.info.has_pipelines {
            ctx.td.invalidate();
            ctx.machine.shared.invalidate();
        }
    }

    /// Stops at a command that cannot be executed: error registers, interrupt, nothing more.
    fn refuse(
        &mut self,
        fault: UnitFault,
        addr: GpuAddr,
        header: Option<u32>,
        ctx: &mut CsContext<'_, '_>,
    ) -> Step {
        self.stuck = true;
        if let UnitFault::Memory(_) = fault {
            // The device turns memory faults into PGTBL_ER, wherever they come from.
        } else {
            ctx.regs.set(self.info.registers.ipeir, 1);
            match self.info.errors {
                Errors::Device => ctx.irq.raise_error(ctx.regs, irq::error::INSTRUCTION),
                Errors::Own(register) => ctx.regs.set(register, irq::error::INSTRUCTION),
            }
        }
        let unit = self.info.unit;
        let place = if self.batch.is_some() {
            "batch"
        } else {
            "ring"
        };
        let client = if header.is_some() {
            Client::Cs
        } else {
            Client::CommandFetch
        };
        ctx.machine.fault(client, fault, || match header {
            Some(header) => format!("{unit}, {place} at {addr}, header {header:#010x}"),
            None => format!("{unit}, {place} at {addr}"),
        });
        Step::Dead
    }
}

/// Executes a command in the unit that it belongs to. There is no catch-all: a new command in the
/// tables does not compile until somebody decides what it does.
fn execute(command: &Command<'_>, ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    use CommandId as C;
    let d = command.dwords;
    match command.desc.id {
        C::MiBatchBufferStart => return Ok(mi::batch_buffer_start(d, ctx)),
        C::MiBatchBufferEnd => return Ok(Flow::EndBatch),
        C::MiNoop => mi::noop(d, ctx),
        C::MiUserInterrupt => ctx.interrupt(ctx.engine.user_interrupt),
        C::MiFlush => mi::flush(d, ctx),
        C::MiReportHead => mi::report_head(ctx)?,
        C::MiStoreDataImm => mi::store_data_imm(d, ctx)?,
        C::MiStoreDataIndex => mi::store_data_index(d, ctx)?,
        C::MiLoadRegisterImm => mi::load_register_imm(d, ctx),
        C::MiStoreRegisterMem => mi::store_register_mem(d, ctx)?,
        C::MiSetContext => context::set_context(d, ctx)?,
        // Arbitration has nobody to arbitrate with; without a display its events are over; a
        // prefetch is a hint to load a cache that the model does not have; a flush that is held back around
        // MI_SET_CONTEXT has nothing to wait for; memory is always up to date. All media threads have ended when
        // MEDIA_STATE_FLUSH is parsed, and a barrier is reported by the message that waits at it.
        C::MediaGatewayState
        | C::MediaStateFlush
        | C::MiClflush
        | C::StatePrefetch
        | C::MiSuspendFlush
        | C::MiArbCheck
        | C::MiArbOnOff
        | C::MiWaitForEvent
        | C::MiLoadScanLinesIncl
        | C::MiLoadScanLinesExcl
        | C::MiOverlayFlip
        | C::MiDisplayBufferInfo => {}

        C::PipeControl => {
            pipe_control::execute(d, ctx)?;
            ctx.media.state.flushed();
        }
        C::UrbFence => urb::fence(d, ctx),
        C::CsUrbState => urb::cs_urb_state(d, ctx),
        C::ConstantBuffer => urb::constant_buffer(d, ctx)?,
        C::StateBaseAddress => state3d::state_base_address(d, ctx),
        C::StateSip => state3d::state_sip(d, ctx),
        C::PipelineSelect => state3d::pipeline_select(d, ctx)?,
        C::State3dPipelinedPointers => state3d::copy(&mut ctx.ff.state.pointers, d),
        C::State3dBindingTablePointers => state3d::binding_table_pointers(d, ctx),
        C::State3dVertexBuffers => state3d::vertex_buffers(d, ctx)?,
        C::State3dVertexElements => state3d::vertex_elements(d, ctx)?,
        C::State3dIndexBuffer => state3d::index_buffer(d, ctx)?,
        C::State3dVfStatistics => state3d::vf_statistics(d, ctx),
        C::State3dDrawingRectangle => state3d::drawing_rectangle(d, ctx),
        C::State3dDepthBuffer => state3d::depth_buffer(d, ctx),
        C::State3dConstantColor => state3d::constant_color(d, ctx),
        C::State3dPolyStipplePattern => state3d::copy(&mut ctx.ff.state.poly_stipple, d),
        C::State3dPolyStippleOffset => state3d::poly_stipple_offset(d, ctx),
        C::State3dLineStipple => state3d::line_stipple(d, ctx),
        C::State3dGlobalDepthOffsetClamp => state3d::global_depth_offset_clamp(d, ctx),
        C::State3dChromaKey => state3d::chroma_key(d, ctx),
        C::State3dSamplerPaletteLoad0 => state3d::palette(d, ctx),
        C::State3dSamplerPaletteLoad1 => state3d::second_palette(command.desc.id, d, ctx),
        C::Primitive3d => state3d::primitive(d, ctx)?,

        C::ColorBlt
        | C::SrcCopyBlt
        | C::XyColorBlt
        | C::XyFullBlt
        | C::XyFullImmediatePatternBlt
        | C::XyFullMonoPatternBlt
        | C::XyFullMonoPatternMonoSrcBlt
        | C::XyFullMonoSrcBlt
        | C::XyFullMonoSrcImmediatePatternBlt
        | C::XyMonoPatBlt
        | C::XyMonoPatFixedBlt
        | C::XyMonoSrcCopyBlt
        | C::XyMonoSrcCopyImmediateBlt
        | C::XyPatBlt
        | C::XyPatBltImmediate
        | C::XyPatChromaBlt
        | C::XyPatChromaBltImmediate
        | C::XyPixelBlt
        | C::XyScanlinesBlt
        | C::XySetupBlt
        | C::XySetupClipBlt
        | C::XySetupMonoPatternSlBlt
        | C::XySrcCopyBlt
        | C::XySrcCopyChromaBlt
        | C::XyTextBlt
        | C::XyTextImmediateBlt => return blit(d, ctx),

        C::MediaStatePointers => media::state_pointers(d, ctx),
        C::MediaObject => return media::object(d, ctx),
        C::MediaObjectWalker => return media::walker(d, ctx),
        C::MediaVfeState => media::vfe_state(d, ctx),
        C::MediaCurbeLoad => media::curbe_load(d, ctx)?,
        C::MediaInterfaceDescriptorLoad => media::descriptor_load(d, ctx)?,
        // The windower's reader looks for those that it cannot do.
        C::State3dAaLineParameters
        | C::State3dClearParams
        | C::State3dGsSvbIndex
        | C::State3dStencilBuffer => state3d::keep(command.desc.id, d, ctx),
        C::State3dHierDepthBuffer => {
            state3d::keep(command.desc.id, d, ctx);
            ctx.ff.depth_changed();
        }
        C::State3dCcStatePointers
        | C::State3dClip
        | C::State3dConstantGs
        | C::State3dConstantPs
        | C::State3dConstantVs
        | C::State3dGs
        | C::State3dMonofilterSize
        | C::State3dMultisample
        | C::State3dSamplerStatePointers
        | C::State3dSampleMask
        | C::State3dScissorStatePointers
        | C::State3dSf
        | C::State3dViewportStatePointers
        | C::State3dVs
        | C::State3dWm
        | C::State3dBindingTablePointersDs
        | C::State3dBindingTablePointersGs
        | C::State3dBindingTablePointersHs
        | C::State3dBindingTablePointersPs
        | C::State3dBindingTablePointersVs
        | C::State3dBlendStatePointers
        | C::State3dConstantDs
        | C::State3dConstantHs
        | C::State3dDepthStencilStatePointers
        | C::State3dDs
        | C::State3dHs
        | C::State3dPs
        | C::State3dPushConstantAllocDs
        | C::State3dPushConstantAllocGs
        | C::State3dPushConstantAllocHs
        | C::State3dPushConstantAllocPs
        | C::State3dPushConstantAllocVs
        | C::State3dSamplerStatePointersDs
        | C::State3dSamplerStatePointersGs
        | C::State3dSamplerStatePointersHs
        | C::State3dSamplerStatePointersPs
        | C::State3dSamplerStatePointersVs
        | C::State3dSbe
        | C::State3dSoBuffer
        | C::State3dSoDeclList
        | C::State3dStreamout
        | C::State3dTe
        | C::State3dViewportStatePointersCc
        | C::State3dViewportStatePointersSfClip => {
            state3d::keep(command.desc.id, d, ctx);
            ctx.machine.shared.invalidate();
        }
        C::State3dUrb => {
            state3d::keep(command.desc.id, d, ctx);
            urb::sections(d, ctx);
        }
        C::State3dUrbVs | C::State3dUrbHs | C::State3dUrbDs | C::State3dUrbGs => {
            state3d::keep(command.desc.id, d, ctx);
            urb::section(command.desc.id, d, ctx);
        }
        C::MiLoadRegisterMem => mi::load_register_mem(d, ctx)?,
        C::MiPredicate => mi::predicate(d, ctx),
        C::MiConditionalBatchBufferEnd => return mi::conditional_end(d, ctx),
        C::MiFlushDw => mi::flush_store(d, ctx)?,
        C::MiSemaphoreMbox => return mi::semaphore(d, ctx),
        C::MiUpdateGtt => mi::update_gtt(d, ctx),
        C::GpgpuWalker => return media::grid(d, ctx),
        C::MediaObjectPrt if ctx.media.reader().persistent(d).is_some() => {
            return media::persistent(d, ctx);
        }
        C::MediaObjectPrt
        | C::MiReportPerfCount
        | C::MiUrbClear
        | C::GpgpuObject
        | C::MiTopologyFilter
        | C::SwtessBaseAddress
        // The decoders are not modelled, only their streamers.
        | C::MfcAvcFqmState
        | C::MfcAvcPakInsertObject
        | C::MfcAvcPakObject
        | C::MfcStitchObject
        | C::MfdAvcBsdObject
        | C::MfdItObject
        | C::MfdMpeg2BsdObject
        | C::MfdVc1BsdObject
        | C::MfxAvcQmState
        | C::MfxAvcRefIdxState
        | C::MfxAvcWeightoffsetState
        | C::MfxMpeg2PicState
        | C::MfxMpeg2QmState
        | C::MfxStatePointer
        | C::MfxVc1DirectmodeState
        | C::MfxVc1PicState
        | C::MfxVc1PredPipeState
        | C::MfxWait
        | C::MfcMpeg2PakObject
        | C::MfcMpeg2SlicegroupState
        | C::MfdAvcDpbState
        | C::MfdAvcSliceaddr
        | C::MfdJpegBsdObject
        | C::MfdVc1LongPicState
        | C::MfdVc1ShortPicState
        | C::MfxDbkObject
        | C::MfxFqmState
        | C::MfxJpegHuffTableState
        | C::MfxJpegPicState
        | C::MfxPakInsertObject
        | C::MfxQmState
        | C::MfxStitchObject
        | C::MediaObjectEx
        | C::AvcBsdImgState
        | C::AvcBsdQmState
        | C::AvcBsdSliceState
        | C::AvcBsdBufBaseState
        | C::BsdIndObjBaseAddr
        | C::AvcBsdObject => {
            return Err(UnitFault::Unimplemented {
                unit: ctx.engine.unit,
                what: command.desc.name,
                prm: command.desc.cite,
            });
        }
    }
    Ok(Flow::Next)
}

/// Ticks that a blit costs besides its rows.
const BLIT_TICKS: u64 = 64;

fn blit(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    ctx.machine.charge(BLIT_TICKS);
    ctx.blt.begin(d, ctx.machine.mem)?;
    Ok(Flow::Blit)
}

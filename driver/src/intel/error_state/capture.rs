//! Capturing: reads the device and copies memory; changes nothing.
//!
//! i915 `i915_gpu_error.c` (`engine_record_registers`, `intel_engine_coredump_add_request`). Safe in interrupt handlers.
//! Not modelled: copies of more than the limit below.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::io::Io;
use kernel::pci::config;
use kernel::pr_warn;
use regs::ids::RegId;

use super::kernels::{self, Memory};
use super::{ActiveRequest, Beside, Buffer, Captured, ErrorState, Identity, REGISTERS};
use crate::core::gem::Object;
use crate::intel::r#gen::{DeviceInfo, EngineInfo};
use crate::intel::gtt::Ggtt;
use crate::intel::timeline::{Original, Pending, Timeline};
use crate::intel::uncore::Uncore;

/// Bytes copied into one error state.
const LIMIT: usize = 64 << 20;

/// What error states are made from.
pub(crate) struct Source {
    pub(crate) uncore: Uncore,
    pub(crate) ggtt: Arc<Ggtt>,
    pub(crate) info: &'static DeviceInfo,
    /// The engine that it is about.
    pub(crate) engine: &'static EngineInfo,
    pub(crate) timelines: Vec<(&'static EngineInfo, Arc<Timeline>)>,
}

/// Registers that each engine has at its own base (i915 `engine_record_registers`).
const OF_ENGINE: &[RegId] = &[
    RegId::Ipeir,
    RegId::Ipehr,
    RegId::Acthd,
    RegId::DmaFadd,
    RegId::Instdone,
    RegId::Instps,
    RegId::Instpm,
    RegId::Esr,
    RegId::Prb0Start,
    RegId::Prb0Head,
    RegId::Prb0Tail,
    RegId::Prb0Ctl,
    RegId::MiMode,
    RegId::HwsPga,
    RegId::BbAddr,
    RegId::BbState,
    RegId::Ccid,
    RegId::RcsPsmiCtl,
    RegId::RcsFaultReg,
    RegId::RcsPpDirBaseRead,
];

impl Source {
    /// The timeline of the engine.
    fn timeline(&self) -> &Timeline {
        let mut timelines = self.timelines.iter();
        let own = timelines.find(|(engine, _)| engine.class == self.engine.class);
        // PANIC: each row of the device's engines has a timeline; the engine is one of them.
        &own.unwrap_or(&self.timelines[0]).1
    }

    /// Captures what differs between engines: registers in the order of printing.
    fn registers(&self, engine: &EngineInfo, ids: &[RegId]) -> Vec<Captured> {
        let (io, tables) = (self.uncore.io(), self.info.tables);
        ids.iter()
            .filter_map(|id| (tables.register_desc)(*id))
            .map(|desc| {
                let at = match desc.id {
                    // These are not as far apart as the other registers of engines.
                    RegId::RcsFaultReg => engine.fault.unwrap_or(desc.offset),
                    RegId::HwsPga => engine.status_register,
                    id if OF_ENGINE.contains(&id)
                        || self.info.recorded_of_engines.contains(&id) =>
                    {
                        desc.offset + engine.base
                    }
                    _ => desc.offset,
                };
                Captured::new(tables, desc, io.read32(at as usize))
            })
            .collect()
    }

    /// The other engines with requests under way (i915 `capture_engine`: without a request there is nothing to tell).
    fn others(&self) -> Vec<Beside> {
        let others = self.timelines.iter();
        let others = others.filter(|(engine, _)| engine.class != self.engine.class);
        others
            .filter_map(|(engine, timeline)| {
                let request = timeline.first()?;
                let beside = Beside {
                    engine: engine.name,
                    registers: self
                        .registers(engine, &[OF_ENGINE, self.info.recorded_of_engines].concat()),
                    request: active(&request),
                    buffers: self.buffers(timeline, Some(&request)),
                };
                timeline.let_go(request.work);
                Some(beside)
            })
            .collect()
    }

    /// Whether the request under way is of a context that wants no error states (i915 `record_context`).
    pub(crate) fn is_unwanted(&self) -> bool {
        let Some(request) = self.timeline().first() else {
            return false;
        };
        let context = request.uses.context.as_ref();
        let unwanted = context.is_some_and(|context| context.parameters().no_error_capture);
        self.timeline().let_go(request.work);
        unwanted
    }

    /// The device as it is.
    pub(crate) fn capture(&self, reason: &str, hung: bool, resets: u32) -> ErrorState {
        let _awake = self.uncore.awake();
        let request = self.timeline().first();
        let state = self.state(reason, hung, resets, request.as_ref());
        if let Some(request) = request {
            self.timeline().let_go(request.work);
        }
        state
    }

    fn state(
        &self,
        reason: &str,
        hung: bool,
        resets: u32,
        request: Option<&Pending>,
    ) -> ErrorState {
        let mut registers = self.registers(self.engine, REGISTERS);
        let recorded = self.info.recorded.iter().map(|(_, id)| *id);
        registers.extend(self.registers(self.engine, &recorded.collect::<Vec<_>>()));
        let of_engines = self.info.recorded_of_engines.iter();
        let missing = of_engines.filter(|id| !REGISTERS.contains(id)).copied();
        registers.extend(self.registers(self.engine, &missing.collect::<Vec<_>>()));
        let acthd = registers.iter().find(|r| r.desc.id == RegId::Acthd);
        let acthd = acthd.map_or(0, |register| register.value);
        ErrorState {
            reason: reason.into(),
            time: self.uncore.clock().now(),
            completed: self.timeline().completed().ok(),
            submitted: self.timeline().submitted(),
            registers,
            fences: fences(self.uncore.io(), self.info),
            engine: self.engine.name,
            mask: self.engine.mask,
            identity: self.identity(),
            resets,
            hung,
            request: request.map(active),
            buffers: self.buffers(self.timeline(), request),
            others: self.others(),
            // Commands of the pipelines are in batches of the render engine alone.
            kernels: request
                .filter(|_| self.engine.has_images)
                .map_or_else(Vec::new, |request| {
                    let memory = Memory::new(&self.ggtt);
                    kernels::find(&memory, self.info.isa, request.executed(), acthd)
                }),
        }
    }

    fn identity(&self) -> Identity {
        let space = self.uncore.config();
        Identity {
            platform: self.info.platform,
            isa: self.info.isa,
            device: space.read16(config::DEVICE_ID),
            revision: space.read8(config::REVISION_ID),
            subsystem: (
                space.read16(config::SUBSYSTEM_VENDOR_ID),
                space.read16(config::SUBSYSTEM_ID),
            ),
            timestamp_hz: self.info.timestamp_hz,
            recorded: self.info.recorded,
        }
    }

    fn buffers(&self, timeline: &Timeline, request: Option<&Pending>) -> Vec<Buffer> {
        let mut room = LIMIT;
        let mut buffers = Vec::new();
        buffers.push(Buffer {
            name: "HW Status",
            address: timeline.status_page(),
            bytes: timeline.status_page_contents(),
        });
        if let Some(request) = request {
            buffers.extend(batch(request, &mut room));
            let user = request.uses.capture.iter();
            buffers.extend(user.filter_map(|object| copy("user", object, &mut room)));
        }
        let ring = timeline.ring();
        let dma = self.uncore.platform().dma();
        if let Some(mut bytes) = zeros("ring", ring.size)
            && dma.read(ring.bus, &mut bytes).is_ok()
        {
            buffers.push(Buffer {
                name: "ring",
                address: ring.address.into(),
                bytes,
            });
        }
        let image = request.and_then(|request| request.uses.image.as_ref());
        buffers.extend(image.and_then(|image| copy("HW context", image.object(), &mut room)));
        buffers
    }
}

/// The object with the batch that the device carries out. i915 shows its own copy in any case, of which a client's batch with
/// something forbidden has left the second dword on; where that runs from, and ACTHD points into, is the client's object.
fn batch(request: &Pending, room: &mut usize) -> Option<Buffer> {
    let executed = request.executed();
    let object = holder(&request.uses.objects, executed)?;
    let mut batch = copy("batch", object, room)?;
    if let Some(original) = request.uses.original.filter(|original| !original.runs) {
        // Behind the copy are those of earlier batches (i915 `copy_batch` clears that).
        let len = (original.len as usize).saturating_add(Original::BEHIND);
        batch.bytes.get_mut(len..).unwrap_or_default().fill(0);
    }
    Some(batch)
}

/// The object at an address.
fn holder(objects: &[Object], address: u32) -> Option<&Object> {
    objects.iter().find(|object| {
        let start = object.address();
        let offset = start.and_then(|start| address.checked_sub(start));
        offset.is_some_and(|offset| (offset as usize) < object.size())
    })
}

/// Room for a copy; how much that is the client has decided. Without memory the error state lacks it.
fn zeros(name: &str, size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(size).is_err() {
        pr_warn!("error state: no memory for a copy of {name}, {size} bytes");
        return None;
    }
    bytes.resize(size, 0);
    Some(bytes)
}

/// Copies an object as far as there is room.
fn copy(name: &'static str, object: &Object, room: &mut usize) -> Option<Buffer> {
    let size = object.size().min(*room);
    let mut bytes = zeros(name, size)?;
    object.read(0, &mut bytes).ok()?;
    *room -= size;
    Some(Buffer {
        name,
        address: object.address()?.into(),
        bytes,
    })
}

fn active(request: &Pending) -> ActiveRequest {
    let context = request.uses.context.as_ref();
    ActiveRequest {
        seqno: request.seqno,
        batch: request.executed(),
        original: request.uses.original.map(|original| original.address),
        ring: (request.head, request.tail),
        who: context.and_then(|context| context.client().who()),
        stats: context.map_or((0, 0), |context| context.reset_stats()),
    }
}

fn fences(io: &dyn Io, info: &DeviceInfo) -> Vec<u64> {
    let Some(desc) = (info.tables.register_desc)(RegId::Fence) else {
        return Vec::new();
    };
    let at = |index: u32| (desc.offset + index * desc.stride) as usize;
    (0..desc.count)
        .map(|index| {
            let low = u64::from(io.read32(at(index)));
            low | u64::from(io.read32(at(index) + 4)) << 32
        })
        .collect()
}

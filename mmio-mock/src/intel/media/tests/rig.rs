//! A device on bare memory, its ring, and media batches written dword by dword.
//!
//! Headers are those of intel-vaapi-driver i965_defines.h.

use std::sync::{Arc, Mutex};

use mem::{GpuAddr, Memory};
use regs::gen40::RegId;

use crate::core::Ended;
use crate::core::Model;
use crate::core::memory::{SharedMemory, lock};
use crate::intel::device::Device;
use crate::intel::r#gen::DeviceInfo;
use crate::intel::td::schedule::Schedule;

/// Where the ring is.
const RING: u32 = 0x10_0000;
/// Bytes of the ring.
const RING_BYTES: u32 = 0x4_0000;
/// VFE_STATE.
pub const VFE: u32 = 0x1000;
/// Interface descriptors.
pub const DESCRIPTORS: u32 = 0x2000;
/// Constants.
pub const CONSTANTS: u32 = 0x3000;
/// Indirect data.
pub const INDIRECT: u32 = 0x4000;
/// Scratch space.
pub const SCRATCH: u32 = 0x8000;
/// Kernels, 16 KB apart.
pub const KERNELS: u32 = 0x2_0000;
/// What kernels write.
pub const OUT: u32 = 0x8_0000;

/// PIPELINE_SELECT: media.
pub const SELECT_MEDIA: u32 = 0x6104_0001;
/// PIPELINE_SELECT: 3D.
pub const SELECT_3D: u32 = 0x6104_0000;
/// MI_FLUSH.
pub const FLUSH: u32 = 0x0200_0000;

/// The front end as a test wants it.
#[derive(Clone, Copy)]
pub struct Front {
    pub threads: u32,
    pub entries: u32,
    /// Size of an entry in 512-bit units.
    pub units: u32,
    pub children: bool,
    /// Size of the constants in 512-bit units.
    pub constants: u32,
    pub mode: u32,
}

/// Many small entries and no children.
pub const FLAT: Front = Front {
    threads: 32,
    entries: 32,
    units: 4,
    children: false,
    constants: 1,
    mode: 0,
};

/// One big entry, as a root with many children has it.
pub const TREE: Front = Front {
    threads: 1,
    entries: 1,
    units: 128,
    children: true,
    constants: 1,
    mode: 0,
};

/// The device.
pub struct Rig {
    pub device: Device,
    pub memory: SharedMemory,
    batch: Vec<u32>,
    tail: u32,
    kernels: u32,
}

impl Rig {
    pub fn new() -> Self {
        Self::of(crate::intel::r#gen::find("gm965").unwrap())
    }

    /// A rig with another row.
    pub fn of(info: &'static DeviceInfo) -> Self {
        let mut memory = Memory::new(4 << 20, info.gtt_entries);
        memory.alloc_mapped(GpuAddr(0), 2 << 20).unwrap();
        let memory = Arc::new(Mutex::new(memory));
        let mut rig = Rig {
            device: Device::new(info, Arc::clone(&memory)),
            memory,
            batch: Vec::new(),
            tail: 0,
            kernels: 0,
        };
        rig.ring();
        rig
    }

    /// Points the device at the empty ring, as after a reset.
    pub fn ring(&mut self) {
        self.tail = 0;
        self.register(RegId::Prb0Head, 0);
        self.register(RegId::Prb0Tail, 0);
        self.register(RegId::Prb0Start, RING);
        self.register(RegId::Prb0Ctl, (RING_BYTES / 4096 - 1) << 12 | 1);
    }

    pub fn register(&mut self, id: RegId, value: u32) {
        self.device.write_register(id, 0, value);
    }

    pub fn read(&mut self, id: RegId) -> u32 {
        self.device.read_register(id, 0)
    }

    pub fn schedule(&mut self, schedule: Schedule) {
        self.device.set_schedule(schedule);
    }

    pub fn poke(&self, addr: u32, dwords: &[u32]) {
        let mut memory = lock(&self.memory);
        for (i, dword) in dwords.iter().enumerate() {
            memory
                .write_u32(GpuAddr::from(addr + i as u32 * 4), *dword)
                .unwrap();
        }
    }

    pub fn peek(&self, addr: u32, dwords: usize) -> Vec<u32> {
        let mut out = vec![0; dwords];
        lock(&self.memory)
            .read_dwords(GpuAddr::from(addr), &mut out)
            .unwrap();
        out
    }

    /// Row `n` of what kernels write.
    pub fn out(&self, n: u32) -> [u32; 8] {
        self.peek(OUT + n * 32, 8).try_into().unwrap()
    }

    /// Assembles a kernel and makes the next interface descriptor for it, which reads `constants` rows.
    pub fn kernel(&mut self, text: &str, constants: u32) -> u32 {
        let number = self.kernels;
        self.kernels += 1;
        let at = KERNELS + number * 0x4000;
        self.code(at, text);
        self.descriptor(number, at, constants);
        number
    }

    /// Assembles a kernel for the device and puts it somewhere.
    pub fn code(&self, at: u32, text: &str) {
        let kernel = isa::parse::assemble(self.device.info().isa, "kernel", text);
        let kernel = kernel.unwrap_or_else(|e| panic!("{}", e[0]));
        lock(&self.memory)
            .write_bytes(GpuAddr::from(at), &kernel.bytes())
            .unwrap();
    }

    /// An interface descriptor: 128 registers, binding table 0x5a0, samplers 0x7e0.
    pub fn descriptor(&self, number: u32, kernel: u32, constants: u32) {
        let dwords = [kernel | 15, constants << 26, 0x7e0, 0x5a0];
        self.poke(DESCRIPTORS + number * 16, &dwords);
    }

    pub fn emit(&mut self, dwords: &[u32]) {
        self.batch.extend_from_slice(dwords);
    }

    /// Everything up to the objects; bases are zero, indirect objects begin at [`INDIRECT`].
    pub fn begin(&mut self, front: &Front) {
        self.emit(&[FLUSH, SELECT_MEDIA]);
        self.emit(&[0x6101_0004, 1, 1, INDIRECT | 1, 1, 1]);
        self.poke(
            VFE,
            &[
                SCRATCH | 1,
                u32::from(front.children) << 2
                    | front.mode << 3
                    | front.entries << 9
                    | (front.units - 1) << 16
                    | (front.threads - 1) << 25,
                DESCRIPTORS,
            ],
        );
        self.emit(&[0x7000_0001, 0, VFE]);
        let vfe = front.entries * front.units;
        let cs = vfe + front.constants;
        self.emit(&[0x6000_3001, 0, vfe << 10 | cs << 20]);
        if front.constants > 0 {
            self.emit(&[0x6001_0000, (front.constants - 1) << 4 | 1]);
            self.emit(&[0x6002_0100, CONSTANTS | (front.constants - 1)]);
        }
    }

    /// MEDIA_OBJECT with inline data.
    pub fn object(&mut self, descriptor: u32, inline: &[u32]) {
        self.object_with(descriptor, inline, 0, (0, 0));
    }

    /// MEDIA_OBJECT with flags, and offset and length of indirect data.
    pub fn object_with(&mut self, descriptor: u32, inline: &[u32], flags: u32, data: (u32, u32)) {
        let length = inline.len() as u32 + 2;
        self.emit(&[0x7100_0000 | length, descriptor, data.1 | flags, data.0]);
        self.emit(inline);
    }

    /// What was emitted and is not in the ring yet.
    pub fn take(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.batch)
    }

    /// Puts the batch into the ring and runs the device until it stops, in slices of `slice` ticks.
    pub fn run_in(&mut self, slice: u64) -> Ended {
        self.emit(&[FLUSH]);
        if !self.batch.len().is_multiple_of(2) {
            self.emit(&[0]);
        }
        let batch = std::mem::take(&mut self.batch);
        let bytes = batch.len() as u32 * 4;
        if self.tail + bytes >= RING_BYTES {
            self.ring();
        }
        self.poke(RING + self.tail, &batch);
        self.tail += bytes;
        self.register(RegId::Prb0Tail, self.tail);
        let mut ended = Ended::Busy;
        for _ in 0..100_000 {
            ended = self.device.work(slice, slice, &mut |_| false).1;
            if ended != Ended::Busy {
                break;
            }
        }
        ended
    }

    pub fn run(&mut self) -> Ended {
        self.run_in(100_000)
    }

    /// Runs the batch to its end, which it has to reach without a fault.
    pub fn complete(&mut self) {
        let ended = self.run();
        let faults = self.device.status().faults().to_vec();
        assert!(faults.is_empty(), "{faults:#?}");
        assert_eq!(
            ended,
            Ended::Idle,
            "{:?}: {:#?}",
            self.device.schedule(),
            self.device.hung_threads()
        );
        assert!(self.device.idle());
    }

    /// Runs the batch, which has to stop for ever; the reasons.
    pub fn hang(&mut self) -> Vec<String> {
        assert_eq!(self.run(), Ended::Blocked);
        assert!(!self.device.idle());
        self.device.hung_threads()
    }

    /// The faults so far, as texts.
    pub fn faults(&mut self) -> Vec<String> {
        let (faults, _) = self.device.take_faults();
        faults.iter().map(|f| f.fault.to_string()).collect()
    }
}

/// m1 with the header of an OWord block write: two OWords at the byte offset in a register.
pub fn write_header(offset: &str) -> String {
    format!(
        "mov(8) m1<1>UD 0UD {{ align1 }};\n\
         mov(1) m1.2<1>UD {offset} {{ align1 }};\n"
    )
}

/// Writes a register to graphics memory at the byte address in another.
pub fn store(offset: &str, value: &str) -> String {
    format!(
        "{}mov(8) m2<1>UD {value}<8,8,1>UD {{ align1 }};\n\
         send(8) 1 null<1>UD null<8,8,1>UD 0x052002ff {{ align1 }};\n",
        write_header(offset)
    )
}

/// The last instruction of a thread: r0 to the thread spawner (intel-vaapi-driver ILDB_header.inc).
pub fn end(descriptor: u32) -> String {
    format!(
        "mov(8) m1<1>UD g0<8,8,1>UD {{ align1 }};\n\
         send(8) 1 null<1>UD null<8,8,1>UD {descriptor:#x} {{ align1 }};\n"
    )
}

/// A root that gives its URB entry back.
pub const END_ROOT: u32 = 0x8710_0000;
/// A child.
pub const END_CHILD: u32 = 0x8710_0012;

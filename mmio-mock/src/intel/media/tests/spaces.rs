//! Batches in the space of a process, on a device that has such batches.
//!
//! The row is the 965's with a reader of commands as generation 6 has them (i915 intel_gpu_commands.h: bit 8 of
//! MI_BATCH_BUFFER_START "also means batch in ppgtt", MI_USE_GGTT, PIPE_CONTROL_TLB_INVALIDATE); tables are those of i915
//! gen6_ppgtt.c. Everything lies twice: what counts in the process's space, something else at the same global address.

use mem::table::{Beyond, Entry, Level};
use mem::{GpuAddr, PhysAddr, Process, Root, Space, TableFormat, Tables};

use super::rig::{FLAT, FLUSH, KERNELS, OUT, Rig, end, store};
use crate::core::Ended;
use crate::core::memory::lock;
use crate::intel::cs::latched::LatchedReader;
use crate::intel::cs::reader::{
    BaseChanges, BatchStart, Chosen, CommandReader, Flush, PipeControl, Place, StoreRegister,
};
use crate::intel::ff::state::VertexBuffer;
use crate::intel::r#gen::gen40::{self, commands::Reader as Gen40};
use crate::intel::r#gen::{DeviceInfo, Readers};
use crate::intel::shared::context::StateBases;

#[derive(Debug)]
struct Fake;

impl CommandReader for Fake {
    fn latched(&self) -> &'static dyn LatchedReader {
        Gen40.latched()
    }
    fn state_base_address(&self, d: &[u32]) -> BaseChanges {
        Gen40.state_base_address(d)
    }
    fn put_state_base_address(&self, bases: &StateBases, out: &mut Vec<u32>) {
        Gen40.put_state_base_address(bases, out);
    }
    fn pipeline_select(&self, d: &[u32]) -> Option<bool> {
        Gen40.pipeline_select(d)
    }
    fn put_pipeline_select(&self, media: bool, out: &mut Vec<u32>) {
        Gen40.put_pipeline_select(media, out);
    }
    fn vf_statistics(&self, d: &[u32]) -> bool {
        Gen40.vf_statistics(d)
    }
    fn put_vf_statistics(&self, enable: bool, out: &mut Vec<u32>) {
        Gen40.put_vf_statistics(enable, out);
    }
    fn vertex_buffers(&self, d: &[u32]) -> Vec<(usize, VertexBuffer)> {
        Gen40.vertex_buffers(d)
    }
    fn put_vertex_buffers(&self, buffers: &[VertexBuffer], out: &mut Vec<u32>) {
        Gen40.put_vertex_buffers(buffers, out);
    }
    fn depth_buffer(&self, d: &[u32]) -> Vec<u32> {
        Gen40.depth_buffer(d)
    }
    fn flush(&self, d: &[u32]) -> Flush {
        Flush {
            // Bit 18 as in MI_FLUSH_DW: MI_INVALIDATE_TLB.
            invalidate_translations: d[0] >> 18 & 1 == 1,
            ..Gen40.flush(d)
        }
    }
    fn pipe_control(&self, d: &[u32]) -> PipeControl {
        PipeControl {
            invalidate_translations: d[0] >> 9 & 1 == 1,
            ..Gen40.pipe_control(d)
        }
    }
    fn batch_start(&self, d: &[u32]) -> BatchStart {
        BatchStart {
            start: GpuAddr::from(d[1] & !3),
            space: match d[0] >> 8 & 1 {
                0 => Chosen::Global,
                _ => Chosen::Process,
            },
            non_secure: false,
        }
    }
    fn store_data_imm(&self, d: &[u32]) -> Place {
        let space = match d[0] >> 22 & 1 {
            0 => Chosen::Process,
            _ => Chosen::Global,
        };
        Place::Graphics(space, GpuAddr::from(d[2]))
    }
    fn store_register_mem(&self, d: &[u32]) -> StoreRegister {
        Gen40.store_register_mem(d)
    }
}

static ROW: DeviceInfo = DeviceInfo {
    readers: Readers {
        commands: &Fake,
        ..gen40::READERS
    },
    ..gen40::DEVICES[0]
};

/// 2 GiB: 512 entries of the global GTT, tables of 1024.
static FORMAT: TableFormat = TableFormat::new(
    &[
        Level {
            bits: 9,
            entry_bytes: 4,
            decode: |raw| match raw & 1 {
                0 => Entry::Absent,
                _ => Entry::Table(PhysAddr(raw & 0xffff_f000)),
            },
        },
        Level {
            bits: 10,
            entry_bytes: 4,
            decode: |raw| match raw & 1 {
                0 => Entry::Absent,
                _ => Entry::Memory {
                    at: PhysAddr(raw & 0xffff_f000),
                    writable: true,
                },
            },
        },
    ],
    Beyond::Wraps(32),
);

const PROCESS: Space = Space::Process(Process::FIRST);
/// First entry of the page directory in the global GTT.
const DIRECTORY: usize = 0x1_0000;
/// Graphics addresses that exist in both spaces.
const BYTES: u32 = 1 << 20;
/// Where the batch lies.
const BATCH: u32 = 0xc_0000;

const BATCH_START: u32 = 0x1880_0080;
const IN_PROCESS: u32 = 1 << 8;
const BATCH_END: u32 = 0x0500_0000;
const STORE: u32 = 0x1000_0002;
const USE_GGTT: u32 = 1 << 22;
/// PIPE_CONTROL that writes immediate data.
const WRITE: u32 = 0x7a00_4002;
const INVALIDATE_TLB: u32 = 1 << 18;

/// A rig whose process has memory of its own at the first megabyte; the first page of that memory, and the page table.
fn rig() -> (Rig, u64, u64) {
    let rig = Rig::of(&ROW);
    let mut memory = lock(&rig.memory);
    let pages = BYTES as usize / 4096;
    let own = memory.alloc_pages(pages).unwrap().0;
    let table = memory.alloc_pages(1).unwrap().0;
    for page in 0..pages as u64 {
        let entry = (own + page * 4096) as u32 | 1;
        memory
            .phys_write_u32(PhysAddr(table + page * 4), entry)
            .unwrap();
    }
    memory.gtt_write(DIRECTORY, table as u32 | 1);
    let tables = Tables {
        format: &FORMAT,
        root: Root::Gtt(DIRECTORY),
    };
    memory.set_tables(Process::FIRST, Some(tables));
    drop(memory);
    (rig, own, table)
}

/// Moves what the rig has put at the first megabyte into the process's memory, with `batch` at its place. What is left
/// behind is zero.
fn move_over(rig: &Rig, own: u64, batch: &[u32]) {
    rig.poke(BATCH, batch);
    let mut memory = lock(&rig.memory);
    let mut bytes = vec![0; BYTES as usize];
    memory.read_bytes(GpuAddr(0), &mut bytes).unwrap();
    memory.phys_write(PhysAddr(own), &bytes).unwrap();
    memory
        .write_bytes(GpuAddr(0), &vec![0; BYTES as usize])
        .unwrap();
}

/// The dword at an address of each space.
fn both(rig: &Rig, addr: u32) -> (u32, u32) {
    let mut memory = lock(&rig.memory);
    let addr = GpuAddr::from(addr);
    let own = memory.enter(PROCESS).read_u32(addr).unwrap();
    (own, memory.read_u32(addr).unwrap())
}

#[test]
fn commands_of_a_batch_work_in_its_space() {
    let (mut rig, own, _) = rig();
    let batch = [
        // Post-sync write: in the batch's space.
        WRITE,
        0x8000 | 4,
        0x1111_1111,
        0,
        // Stores name their space.
        STORE | USE_GGTT,
        0,
        0x8010,
        0x2222_2222,
        STORE,
        0,
        0x8014,
        0x3333_3333,
        // XY_COLOR_BLT: a pixel of 32 bits.
        0x5430_0004,
        3 << 24 | 0xf0 << 16 | 64,
        0,
        1 << 16 | 1,
        0x8020,
        0x4444_4444,
        BATCH_END,
    ];
    move_over(&rig, own, &batch);
    // The space ends with the batch: the same commands in the ring.
    rig.emit(&[BATCH_START | IN_PROCESS, BATCH]);
    rig.emit(&[WRITE, 0x8030 | 4, 0x5555_5555, 0]);
    rig.complete();
    assert_eq!(both(&rig, 0x8000), (0x1111_1111, 0));
    assert_eq!(both(&rig, 0x8010), (0, 0x2222_2222));
    assert_eq!(both(&rig, 0x8014), (0x3333_3333, 0));
    assert_eq!(both(&rig, 0x8020), (0x4444_4444, 0));
    assert_eq!(both(&rig, 0x8030), (0, 0x5555_5555));
    assert_eq!(lock(&rig.memory).space(), Space::Global);
    // Without the bit the batch is the global one, which is empty but for its end.
    rig.poke(BATCH, &[BATCH_END]);
    rig.emit(&[BATCH_START, BATCH]);
    rig.complete();
}

#[test]
fn threads_fetch_read_and_write_in_the_space_of_their_batch() {
    let (mut rig, own, _) = rig();
    let text = |value: u32| {
        format!(
            "mov(8) g10<1>UD {value:#x}UD {{ align1 }};\n{}{}",
            store(&format!("{OUT:#x}UD"), "g10"),
            end(super::rig::END_ROOT)
        )
    };
    let kernel = rig.kernel(&text(0x1234), 0);
    rig.begin(&FLAT);
    rig.object(kernel, &[]);
    let mut batch = rig.take();
    batch.extend([FLUSH, BATCH_END]);
    move_over(&rig, own, &batch);
    // At the global address of the kernel is another one, and it runs first: nothing of it may be kept.
    rig.kernel(&text(0x9999), 0);
    let other = rig.peek(KERNELS + 0x4000, 64);
    rig.poke(KERNELS, &other);
    rig.descriptor(0, KERNELS, 0);
    rig.begin(&FLAT);
    rig.object(0, &[]);
    rig.complete();
    assert_eq!(both(&rig, OUT), (0, 0x9999));
    rig.poke(OUT, &[0; 8]);
    rig.emit(&[BATCH_START | IN_PROCESS, BATCH]);
    rig.complete();
    assert_eq!(both(&rig, OUT), (0x1234, 0));
    // And back.
    rig.begin(&FLAT);
    rig.object(0, &[]);
    rig.complete();
    assert_eq!(both(&rig, OUT), (0x1234, 0x9999));
}

#[test]
fn a_batch_that_its_process_has_no_memory_for_is_a_fault_of_its_space() {
    let (mut rig, ..) = rig();
    rig.emit(&[BATCH_START | IN_PROCESS, 0x0070_0000]);
    assert_eq!(rig.run(), Ended::Blocked);
    assert_eq!(
        rig.faults(),
        ["Read at 0x00700000 of space 0: entry 1 of level 1 is not valid"]
    );
    assert_eq!(lock(&rig.memory).space(), Space::Global);
    // After a reset the ring is read in the global space again.
    crate::core::Model::reset(&mut rig.device);
    rig.ring();
    rig.emit(&[STORE | USE_GGTT, 0, 0x8000, 7]);
    rig.complete();
    assert_eq!(both(&rig, 0x8000), (0, 7));
}

#[test]
fn a_batch_sees_old_tables_until_a_command_invalidates() {
    let (mut rig, own, table) = rig();
    let batch = [STORE, 0, 0x8000, 1, BATCH_END];
    move_over(&rig, own, &batch);
    let run = |rig: &mut Rig, first: &[u32]| {
        rig.emit(first);
        rig.emit(&[BATCH_START | IN_PROCESS, BATCH]);
        rig.complete();
    };
    run(&mut rig, &[]);
    // The page of 8000h is now that of 9000h.
    let entry = (own + 0x9000) as u32 | 1;
    lock(&rig.memory)
        .phys_write_u32(PhysAddr(table + 8 * 4), entry)
        .unwrap();
    let page = |rig: &Rig, page: u64| {
        let at = PhysAddr(own + page * 4096);
        let value = lock(&rig.memory).phys_read_u32(at).unwrap();
        lock(&rig.memory).phys_write_u32(at, 0).unwrap();
        value
    };
    assert_eq!((page(&rig, 8), page(&rig, 9)), (1, 0));
    run(&mut rig, &[]);
    assert_eq!((page(&rig, 8), page(&rig, 9)), (1, 0), "stale");
    run(&mut rig, &[FLUSH | INVALIDATE_TLB]);
    assert_eq!((page(&rig, 8), page(&rig, 9)), (0, 1));
    // PIPE_CONTROL, with nothing to write.
    let entry = (own + 0x8000) as u32 | 1;
    lock(&rig.memory)
        .phys_write_u32(PhysAddr(table + 8 * 4), entry)
        .unwrap();
    run(&mut rig, &[0x7a00_0002 | 1 << 9, 0, 0, 0]);
    assert_eq!((page(&rig, 8), page(&rig, 9)), (1, 0));
}

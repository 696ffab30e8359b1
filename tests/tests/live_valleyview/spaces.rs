//! What batches of clients can reach, and that nothing of it is the driver's.
//!
//! i915 `gt/gen6_ppgtt.c`: all programs share the tables of one process (`INTEL_PPGTT_ALIASING`), so that one may read what another has
//! bound; the driver's own pages are not in them.
use std::collections::BTreeSet;

use crestline_cli::capture::Exec;
use crestline_cli::replay::Session;
use crestline_tests::scenes::{capture_of, options};
use kernel::platform::Platform;
use mem::{Access, GpuAddr, Memory, Process, Space};
use mmio_mock::core::memory::lock;

use super::*;

/// Bytes of addresses that the tables of a process cover.
const REACH: u64 = 2 << 30;
const PAGE: usize = 4096;
/// MMIO offsets by engine: RING_START, and the register of the status page (i915).
const RINGS: [usize; 3] = [0x2038, 0x1_2038, 0x2_2038];
const STATUS: [usize; 3] = [0x4080, 0x4180, 0x4280];
/// CCID: the image of the context whose state the render engine holds.
const CONTEXT: usize = 0x2180;
/// Pages of a ring that are looked at; it has more.
const RING_PAGES: u32 = 4;

/// Addresses of pages in the global GTT that are the driver's alone.
fn own(io: &dyn kernel::io::Io) -> Vec<GpuAddr> {
    let rings = RINGS.iter().flat_map(|at| {
        let start = io.read32(*at);
        (0..RING_PAGES).map(move |page| start + page * PAGE as u32)
    });
    let others = STATUS
        .iter()
        .chain([&CONTEXT])
        .map(|at| io.read32(*at) & !0xfff);
    rings.chain(others).map(GpuAddr::from).collect()
}

/// Pages of memory that an engine reaches in the space of the process, and those that it may write.
fn reached(memory: &Memory, engine: u8) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let space = Space::Process(Process::new(engine).unwrap());
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    for page in (0..REACH).step_by(PAGE) {
        let at = |access| memory.translate_in(space, GpuAddr(page), access);
        reads.extend(at(Access::Read));
        writes.extend(at(Access::Write));
    }
    (reads, writes)
}

#[test]
fn the_drivers_pages_are_not_among_those_of_clients() {
    let rig = rig();
    let parties = [Party::new(&rig), Party::new(&rig)];
    for (party, address) in parties.iter().zip([0x10_0000, 0x18_0000]) {
        let data = party.object(address, &[0]);
        for flags in [RENDER, BSD, BLT] {
            party
                .run(flags, data, &[STORE, 0, address, 1, END, 0], 24)
                .unwrap();
        }
    }
    {
        let own = own(rig.platform.io());
        let mut memory = lock(rig.platform.memory());
        let page = |at| memory.translate_in(Space::Global, at, Access::Read);
        let own: BTreeSet<usize> = own.into_iter().map(|at| page(at).unwrap()).collect();
        let mut memory = memory.enter(Space::Global);
        memory.trust(false);
        for engine in 0..3 {
            let (reads, writes) = reached(&memory, engine);
            // Two objects of four pages; copies of batches beside them.
            assert!(writes.len() >= 8, "{engine}: {}", writes.len());
            assert!(reads.len() > writes.len(), "{engine}: no copy");
            assert_eq!(reads.intersection(&own).count(), 0, "{engine}");
        }
    }
    drop(parties);
    rig.finish();
}

/// The frame with addresses in one of its buffers moved to another place.
fn moved(exec: &Exec, which: usize, to: u32) -> (Exec, usize) {
    let (from, size) = (exec.buffers[which].address, exec.buffers[which].size);
    let mut exec = exec.clone();
    let mut count = 0;
    for buffer in &mut exec.buffers {
        for dword in buffer.data.as_chunks_mut::<4>().0 {
            let value = u32::from_le_bytes(*dword);
            if (from..from + size).contains(&value) {
                *dword = (to + (value - from) % 0x1000).to_le_bytes();
                count += 1;
            }
        }
    }
    (exec, count)
}

/// Whatever units write and read by addresses: streams, storage buffers, images, counters in memory, numbers of draws, vertices,
/// textures, results of queries. All of them are looked up where clients have their own, and the driver's pages stay as they are.
#[test]
fn units_reach_nothing_of_the_drivers() {
    let mut faulted = BTreeSet::new();
    for scene in [
        "xfb", "ssbo", "image", "compute", "indirect", "queries", "texbuf", "msaa",
    ] {
        let capture = capture_of("valleyview", scene);
        let exec = &capture.execs[0];
        for which in 0..exec.buffers.len() {
            let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
            let pages = own(session.platform().io());
            // The ring of the blitter, which nobody uses.
            let target = pages[2 * RING_PAGES as usize];
            let (exec, count) = moved(exec, which, target.low());
            if count == 0 {
                continue;
            }
            let contents = |session: &Session| {
                let memory = lock(session.platform().memory());
                let mut bytes = vec![0; PAGE];
                memory.read_bytes(target, &mut bytes).unwrap();
                bytes
            };
            let before = contents(&session);
            let outcome = session.run(&exec);
            assert_eq!(before, contents(&session), "{scene}, buffer {which}");
            if outcome.is_err() {
                let faults = session.platform().device().status().faults().to_vec();
                faulted.extend(faults.iter().map(|fault| fault.client));
            }
            // It says once more what has gone wrong.
            let _ = session.finish();
        }
    }
    // Of each kind of access somebody has tried.
    println!("{faulted:?}");
    assert!(faulted.len() >= 5, "{faulted:?}");
}

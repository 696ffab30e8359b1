//! What the driver keeps for itself stays as it is, whatever clients store.
//!
//! The parts of silicon without tables for each process let batches write wherever the GTT points. The model keeps ring, status
//! page, tables and images of contexts when its driver asks for it ([`kernel::dma::DmaAllocator::alloc_guarded`]).

use crestline_tests::rig::Rig;
use kernel::error::code::EIO;
use kernel::platform::Platform;
use kernel::time::Delta;

const END: u32 = 0x0a << 23;
const STORE_DWORD: u32 = 0x20 << 23 | 1 << 22 | 2;
const STORE_INDEX: u32 = 0x21 << 23 | 1;
/// XY_COLOR_BLT: a raster operation of the pattern alone, 32 bits a pixel.
const FILL: [u32; 2] = [
    2 << 29 | 0x50 << 22 | 3 << 20 | 4,
    3 << 24 | 0xf0 << 16 | 64,
];
/// Byte offset of the number in the status page (`I915_GEM_HWS_SEQNO_ADDR`).
const SEQNO: u32 = 0x40 * 4;
/// MMIO offset of RING_START (i915, at the render base).
const START: usize = 0x2038;
/// MMIO offset of HWS_PGA, a graphics address from G45 on.
const STATUS: usize = 0x2080;
const UNKNOWN: u32 = 0x7fff_0000;
const DATA: u32 = 0x0040_0000;

fn pass(rig: &Rig, steps: u32) {
    for _ in 0..steps {
        rig.device.watch();
        rig.platform.clock().relax(Delta::from_millis(100));
    }
}

/// A client's batch ends with an error, and the next one finds everything as it was.
fn refused(device: &str, what: &str, words: impl Fn(&Rig) -> Vec<u32>) {
    let rig = Rig::on(device);
    let data = rig.object(DATA, 4096, &[0]);
    let innocent = rig.object(0x0030_0000, 4096, &[STORE_DWORD, 0, DATA, 7, END]);
    rig.submit(&innocent).wait(Delta::from_millis(10)).unwrap();
    data.write_dwords(0, &[0]).unwrap();
    let batch = rig.object(0x0020_0000, 4096, &words(&rig));
    let guilty = rig.submit(&batch);
    let behind = rig.submit(&innocent);
    pass(&rig, 70);
    assert_eq!(guilty.wait(Delta::ZERO), Err(EIO), "{device}, {what}");
    assert_eq!(behind.wait(Delta::ZERO), Ok(()), "{device}, {what}");
    assert_eq!(data.read32(0), Ok(7), "{device}, {what}");
    assert_eq!(rig.device.reset_count(), 1, "{device}, {what}");
    drop((data, innocent, batch));
    rig.finish_after_fault();
}

#[test]
fn batches_of_clients_do_not_store_into_ring_and_status_page() {
    for device in ["gm965", "g45", "ironlake"] {
        refused(device, "number of a request", |rig| {
            match rig.platform.io().read32(STATUS) {
                // A physical address, which batches have no store for but this one, and it is left out.
                _ if device == "gm965" => vec![STORE_INDEX, SEQNO, 0x3000_0000, UNKNOWN],
                page => vec![STORE_DWORD, 0, page + SEQNO, 0x3000_0000, END],
            }
        });
        refused(device, "store into the ring", |rig| {
            let ring = rig.platform.io().read32(START);
            vec![STORE_DWORD, 0, ring + 0x800, 0x7fff_0000, END]
        });
        refused(device, "blit over the ring", |rig| {
            let ring = rig.platform.io().read32(START);
            vec![
                FILL[0],
                FILL[1],
                0,
                1 << 16 | 16,
                ring + 0x800,
                0x7fff_0000,
                END,
            ]
        });
    }
}

//! The driver on a mocked `Io`, no model: exact register sequences.
//!
//! Sequences are written by hand from i915's documented order (`intel_ring_submission.c` stop_ring and xcs_resume,
//! `i915_irq.c` GEN3_IRQ_RESET, i965_irq_postinstall and i965_irq_handler, `intel_reset.c` i915_do_reset,
//! `intel_ggtt_fencing.c`, `intel_workarounds.c`), offsets from its headers. Not covered: contents of the ring.

mod debug;
mod platform;

use std::sync::Arc;

use driver::{BatchDesc, Device, Driver, Object, Tiling};
use kernel::dma::DmaAllocator;
use kernel::error::code::EIO;
use kernel::irq::IrqReturn;
use kernel::time::{Clock, Delta};
use platform::Step::{ConfigR8, ConfigR16, ConfigW8, ConfigW16, Fill, P, R, W};
use platform::{Script, Scripted, Step};

const PGTBL_CTL: usize = 0x2020;
const PGTBL_ER: usize = 0x2024;
const TAIL: usize = 0x2030;
const HEAD: usize = 0x2034;
const START: usize = 0x2038;
const CTL: usize = 0x203c;
const HWS_PGA: usize = 0x2080;
const HWSTAM: usize = 0x2098;
const MI_MODE: usize = 0x209c;
const IER: usize = 0x20a0;
const IIR: usize = 0x20a4;
const IMR: usize = 0x20a8;
const EIR: usize = 0x20b0;
const EMR: usize = 0x20b4;
const CACHE_MODE_0: usize = 0x2120;
const ECOSKPD: usize = 0x21d0;
const GTT: usize = 0x80000;

/// PGTBL_CTL size field 2: 128 KiB, 32768 entries.
const ENTRIES: usize = 32768;
/// Highest page of the GTT is a guard; the ring lies below it, the scratch page below the ring.
const RING_PAGE: usize = ENTRIES - 1 - 4;
const RING_ADDRESS: u32 = 0x07ff_b000;
/// The plain memory hands out 10000000h, 11000000h, ...: status page, ring, scratch page, then objects.
const STATUS_PAGE: u64 = 0x1000_0000;

/// intel_engine_stop_cs, then stop_ring of a ring that stands at 0.
const STOP: &[Step] = &[
    W(MI_MODE, 0x0100_0100),
    R(MI_MODE, 0x300),
    P(MI_MODE),
    R(TAIL, 0),
    W(HEAD, 0),
    P(HEAD),
    W(CTL, 0),
    P(CTL),
    W(HEAD, 0),
    W(TAIL, 0),
    R(HEAD, 0),
];

/// GEN3_IRQ_RESET.
const IRQ_RESET: &[Step] = &[
    W(IMR, 0xffff_ffff),
    P(IMR),
    W(IER, 0),
    W(IIR, 0xffff_ffff),
    P(IIR),
    W(IIR, 0xffff_ffff),
    P(IIR),
];

/// i965_irq_postinstall without display: EMR, GEN3_IRQ_INIT.
const IRQ_POSTINSTALL: &[Step] = &[
    W(EMR, 0xffff_ffed),
    R(IIR, 0),
    W(IER, 0x8002),
    W(IMR, 0xffff_7fff),
    P(IMR),
];

/// intel_gt_clear_error_registers with nothing to clear.
const CLEAR_ERRORS: &[Step] = &[
    R(PGTBL_ER, 0),
    W(PGTBL_ER, 0),
    R(EIR, 0),
    W(EIR, 0),
    R(EIR, 0),
];

/// Workarounds with their verification, then xcs_resume, then gen3_irq_enable.
const START_RING: &[Step] = &[
    // WaDisable_RenderCache_OperationalFlush
    W(CACHE_MODE_0, 0x0001_0000),
    R(CACHE_MODE_0, 0),
    // WaTimedSingleVertexDispatch, ECO_CONSTANT_BUFFER_SR_DISABLE
    W(MI_MODE, 0x0040_0040),
    W(ECOSKPD, 0x0010_0010),
    R(MI_MODE, 0x340),
    // stop_ring
    R(TAIL, 0),
    W(HEAD, 0),
    P(HEAD),
    W(CTL, 0),
    P(CTL),
    W(HEAD, 0),
    W(TAIL, 0),
    R(HEAD, 0),
    // ring_setup_phys_status_page
    W(HWS_PGA, STATUS_PAGE as u32),
    W(HWSTAM, 0xffff_fffd),
    P(HEAD),
    W(START, RING_ADDRESS),
    W(HEAD, 0),
    W(TAIL, 0),
    P(TAIL),
    // Four pages, valid.
    W(CTL, 0x3001),
    R(CTL, 0x3001),
    W(MI_MODE, 0x0100_0000),
    // gen3_irq_enable
    W(IMR, 0xffff_7ffd),
    P(IMR),
];

fn pte(page: usize) -> usize {
    GTT + page * 4
}

/// PCI, GTT, interrupts, ring: the whole probe of a GM965.
fn probe_script() -> Script {
    Script::new()
        .then(&[
            ConfigR16(0x00, 0x8086),
            ConfigR16(0x02, 0x2a02),
            // Memory decoding and bus mastering.
            ConfigR16(0x04, 0),
            ConfigW16(0x04, 0x6),
            // i965_gtt_total_entries, intel_enable_gtt
            R(PGTBL_CTL, 2 << 1),
            R(PGTBL_CTL, 2 << 1),
            W(PGTBL_CTL, 2 << 1 | 1),
            R(PGTBL_CTL, 2 << 1 | 1),
            Fill(GTT, ENTRIES, 0),
            P(pte(ENTRIES - 1)),
            // Ring, then scratch page: i965_write_entry.
            W(pte(RING_PAGE), 0x1100_0001),
            W(pte(RING_PAGE + 1), 0x1100_1001),
            W(pte(RING_PAGE + 2), 0x1100_2001),
            W(pte(RING_PAGE + 3), 0x1100_3001),
            P(pte(RING_PAGE + 3)),
            W(pte(RING_PAGE - 1), 0x1200_0001),
            P(pte(RING_PAGE - 1)),
        ])
        .then(CLEAR_ERRORS)
        .then(IRQ_RESET)
        .then(IRQ_POSTINSTALL)
        .then(STOP)
        .then(START_RING)
}

/// Removal, from the mask of the user interrupt on.
fn shutdown_script(script: Script) -> Script {
    script
        .then(&[W(IMR, 0xffff_7fff)])
        .then(STOP)
        .then(&[
            W(HWS_PGA, 0x1fff_f000),
            P(HWS_PGA),
            // The scratch page.
            W(pte(RING_PAGE - 1), 0),
            P(pte(RING_PAGE - 1)),
        ])
        .then(IRQ_RESET)
        .then(&[
            // The ring.
            Fill(pte(RING_PAGE), 4, 0),
            P(pte(RING_PAGE + 3)),
            ConfigR16(0x04, 0x6),
            ConfigW16(0x04, 0x2),
        ])
}

const IDLE: &[Step] = &[R(HEAD, 0), R(TAIL, 0), R(MI_MODE, 0x200)];

fn probe(platform: &Arc<Scripted>) -> Device {
    Driver::probe(platform.clone()).unwrap()
}

/// Binding the test's batch writes one entry at the bottom of the GTT.
const BIND_BATCH: &[Step] = &[W(GTT + 4, 0x1300_0001), P(GTT + 4)];

const UNBIND_BATCH: &[Step] = &[W(GTT + 4, 0), P(GTT + 4)];

fn batch(dev: &Device) -> Object {
    let object = dev.create_object(4096, Tiling::None, 0).unwrap();
    assert_eq!(dev.bind(&object), Ok(0x1000));
    object
}

fn desc(object: &Object) -> BatchDesc<'_> {
    BatchDesc {
        object,
        start: 0,
        len: 8,
    }
}

fn store_seqno(platform: &Scripted, seqno: u32) {
    // I915_GEM_HWS_SEQNO: dword 40h of the status page.
    DmaAllocator::write(&*platform.rest, STATUS_PAGE + 0x100, &seqno.to_le_bytes()).unwrap();
}

#[test]
fn probe_and_remove() {
    let platform = shutdown_script(probe_script().then(IDLE)).play();
    let dev = probe(&platform);
    assert!(platform.rest.has_handler());
    dev.remove().unwrap();
    assert!(!platform.rest.has_handler());
    assert_eq!(platform.rest.allocations(), 0);
}

#[test]
fn submit_writes_the_tail_alone_and_the_interrupt_signals() {
    let script = probe_script()
        .then(BIND_BATCH)
        // 100 dwords, and nothing but the tail.
        .then(&[W(TAIL, 400)])
        // i965_irq_handler: read, acknowledge.
        .then(&[R(IIR, 0x2), W(IIR, 0x2)])
        .then(&[W(TAIL, 800)])
        // A spurious call.
        .then(&[R(IIR, 0)])
        .then(&[R(IIR, 0x2), W(IIR, 0x2)])
        .then(UNBIND_BATCH)
        // Removal waits for idle: the request is done, the head has arrived.
        .then(&[R(HEAD, 800), R(TAIL, 800), R(MI_MODE, 0x200)]);
    let platform = shutdown_script(script).play();
    let dev = probe(&platform);
    let object = batch(&dev);

    let first = dev.submit(&desc(&object)).unwrap();
    assert_eq!(first.fence().status(), None);
    store_seqno(&platform, 1);
    assert_eq!(platform.rest.interrupt(), Some(IrqReturn::Handled));
    assert_eq!(first.fence().status(), Some(Ok(())));

    let second = dev.submit(&desc(&object)).unwrap();
    assert_eq!(platform.rest.interrupt(), Some(IrqReturn::None));
    assert_eq!(second.fence().status(), None);
    store_seqno(&platform, 2);
    assert_eq!(platform.rest.interrupt(), Some(IrqReturn::Handled));
    assert_eq!(second.wait(Delta::ZERO), Ok(()));
    drop((first, second, object));
    dev.remove().unwrap();
}

#[test]
fn reset_follows_the_965_sequence() {
    let mut script = probe_script()
        .then(BIND_BATCH)
        .then(&[W(TAIL, 400)])
        .then(&[
            // reset_prepare: the parser does not stop at once, the ring has something left.
            W(MI_MODE, 0x0100_0100),
            R(MI_MODE, 0x100),
            R(MI_MODE, 0x300),
            P(MI_MODE),
            R(TAIL, 400),
            W(HEAD, 400),
            P(HEAD),
            W(CTL, 0),
            P(CTL),
            W(HEAD, 0),
            W(TAIL, 0),
            R(HEAD, 0x0020_0000),
            // i915_do_reset
            ConfigW8(0xc0, 0x1),
            ConfigR8(0xc0, 0x1),
            ConfigR8(0xc0, 0x3),
            ConfigW8(0xc0, 0x0),
            ConfigR8(0xc0, 0x2),
            ConfigR8(0xc0, 0x0),
            // intel_enable_gtt
            R(PGTBL_CTL, 2 << 1),
            W(PGTBL_CTL, 2 << 1 | 1),
            R(PGTBL_CTL, 2 << 1 | 1),
            // Entries of what is bound: those of the batch and of the ring's last page
            // are wrong here.
            R(GTT + 4, 0),
            W(GTT + 4, 0x1300_0001),
            P(GTT + 4),
            R(pte(RING_PAGE - 1), 0x1200_0001),
            R(pte(RING_PAGE), 0x1100_0001),
            R(pte(RING_PAGE + 1), 0x1100_1001),
            R(pte(RING_PAGE + 2), 0x1100_2001),
            R(pte(RING_PAGE + 3), 0x1100_4001),
            W(pte(RING_PAGE + 3), 0x1100_3001),
            P(pte(RING_PAGE + 3)),
        ]);
    // intel_ggtt_restore_fences
    for index in 0..16 {
        let low = 0x3000 + index * 8;
        script = script.then(&[W(low, 0), P(low), W(low + 4, 0), W(low, 0), P(low)]);
    }
    let script = script
        .then(CLEAR_ERRORS)
        .then(IRQ_RESET)
        .then(IRQ_POSTINSTALL)
        .then(START_RING)
        // The next request starts at the beginning of the ring.
        .then(&[W(TAIL, 400)])
        .then(UNBIND_BATCH)
        .then(&[R(HEAD, 400), R(TAIL, 400), R(MI_MODE, 0x200)]);
    let platform = shutdown_script(script).play();
    let dev = probe(&platform);
    let object = batch(&dev);
    let lost = dev.submit(&desc(&object)).unwrap();
    let before = platform.rest.now();
    dev.reset().unwrap();
    // Twice 50 us as i915 holds it, and three polls.
    assert_eq!((platform.rest.now() - before).as_nanos(), 106_000);
    assert_eq!(lost.wait(Delta::ZERO), Err(EIO));
    let next = dev.submit(&desc(&object)).unwrap();
    assert_eq!(next.seqno(), 2);
    store_seqno(&platform, 2);
    assert_eq!(next.wait(Delta::ZERO), Ok(()));
    drop((lost, next, object));
    dev.remove().unwrap();
}

#[test]
fn a_page_table_error_is_read_then_cleared_then_acknowledged() {
    // What an error state reads, in this order.
    let capture = [
        EIR, 0x20b8, EMR, PGTBL_ER, PGTBL_CTL, 0x2064, 0x2068, 0x2074, 0x2078, 0x206c, 0x207c,
        0x2070, 0x20c0, START, HEAD, TAIL, CTL, MI_MODE, HWS_PGA, IIR, IMR, IER, 0x2140, 0x2110,
        0x2180,
    ];
    let mut script = probe_script().then(&[R(IIR, 0x8000), R(EIR, 0x10)]);
    for register in capture {
        script = script.then(&[R(register, if register == PGTBL_ER { 1 << 24 } else { 0 })]);
    }
    // gt_record_fences
    for index in 0..16 {
        script = script.then(&[R(0x3000 + index * 8, 0), R(0x3004 + index * 8, 0)]);
    }
    // err_print_pciid
    script = script.then(&[
        ConfigR16(0x02, 0x2a02),
        ConfigR8(0x08, 0x0c),
        ConfigR16(0x2c, 0x17aa),
        ConfigR16(0x2e, 0x20b5),
    ]);
    let script = script.then(&[
        // The cause first, as the summary bit follows it.
        R(PGTBL_ER, 1 << 24),
        W(PGTBL_ER, 1 << 24),
        P(PGTBL_ER),
        // i9xx_error_irq_ack, with a bit that does not clear: toggle the mask, keep it masked.
        W(EIR, 0x10),
        R(EIR, 0x10),
        R(EMR, 0xffff_ffed),
        W(EMR, 0xffff_ffff),
        W(EMR, 0xffff_fffd),
        W(IIR, 0x8000),
    ]);
    let platform = shutdown_script(script.then(IDLE)).play();
    let dev = probe(&platform);
    assert_eq!(platform.rest.interrupt(), Some(IrqReturn::Handled));
    let state = dev.error_state().unwrap().to_string();
    assert!(
        state.contains("PGTBL_ER: 0x01000000  Render Cache"),
        "{state}"
    );
    dev.remove().unwrap();
}

//! The driver on the model: what is wrong ends in error registers; resets recover.
//!
//! PRM volume 1 (EIR, PGTBL_ER, IPEHR). Bits are those of i915 i915_reg.h; the endless kernel was assembled by
//! intel-gen4asm.

use std::sync::Arc;

use crestline_cli::capture::Capture;
use crestline_cli::replay::{FaultReport, Options, ReplayError, Session};
use crestline_tests::rig::{Rig, SHORT};
use crestline_tests::scenes::{capture, capture_of, options};
use driver::ErrorState;
use kernel::error::code::{EIO, ETIME};
use kernel::time::Delta;
use mmio_mock::UnitFault;
use regs::gen40::RegId;

const END: u32 = 0x0a << 23;
const STORE_DWORD: u32 = 0x20 << 23 | 1 << 22 | 2;
const BATCH_START: u32 = 0x31 << 23 | 2 << 6;
const BATCH: u32 = 0x0010_0000;
/// EIR and ESR: instruction error, page table error.
const INSTRUCTION: u32 = 1 << 0;
const PAGE_TABLE: u32 = 1 << 4;

/// Runs a batch that cannot end well; the error state shows it; a reset makes the device usable.
fn fails(dwords: &[u32]) -> (Arc<ErrorState>, Vec<UnitFault>) {
    let rig = Rig::new();
    let batch = rig.object(BATCH, 4096, dwords);
    let request = rig.submit(&batch);
    assert_eq!(request.wait(SHORT), Err(ETIME));
    let state = rig.device.take_error_state().expect("an error state");
    println!("{state}");
    let faults = rig.platform.device().status().faults().to_vec();
    for fault in &faults {
        println!("{}: {}", fault.place, fault.fault);
    }
    assert!(!rig.device.is_idle());
    rig.device.reset().expect("reset");
    assert_eq!(request.wait(SHORT), Err(EIO));
    // The device works again.
    let data = rig.object(0x0030_0000, 4096, &[]);
    batch
        .write_dwords(0, &[STORE_DWORD, 0, 0x0030_0000, 42, END, 0])
        .unwrap();
    rig.submit(&batch)
        .wait(SHORT)
        .expect("a batch after the reset");
    assert_eq!(data.read32(0).unwrap(), 42);
    assert!(rig.device.error_state().is_none());
    drop((batch, data, request));
    rig.finish_after_fault();
    (state, faults.into_iter().map(|f| f.fault).collect())
}

#[test]
fn unknown_command() {
    let (state, faults) = fails(&[0, 0, 0x7fff_0000, END]);
    assert_eq!(state.register(RegId::Ipehr), Some(0x7fff_0000));
    assert_eq!(state.register(RegId::Acthd), Some(BATCH + 8));
    assert_eq!(
        state.register(RegId::Esr).unwrap() & INSTRUCTION,
        INSTRUCTION
    );
    assert!(
        matches!(faults[..], [UnitFault::Command { .. }]),
        "{faults:?}"
    );
}

#[test]
fn batch_without_end_runs_off_its_buffer() {
    // Zeros are NOOPs up to the end of the page; what follows is not mapped.
    let (state, faults) = fails(&[0]);
    assert_eq!(state.register(RegId::Acthd), Some(BATCH + 4096));
    assert_eq!(state.register(RegId::Esr).unwrap() & PAGE_TABLE, PAGE_TABLE);
    assert_ne!(state.register(RegId::PgtblEr), Some(0));
    assert!(matches!(faults[..], [UnitFault::Memory(_)]), "{faults:?}");
}

#[test]
fn batch_that_runs_in_circles() {
    let (state, faults) = fails(&[BATCH_START, BATCH]);
    assert!(
        state.reason.contains("still moving") || state.reason.contains("not done"),
        "{}",
        state.reason
    );
    let at = state.register(RegId::Acthd).unwrap();
    assert_eq!(at, BATCH);
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn store_outside_every_object() {
    let (state, faults) = fails(&[STORE_DWORD, 0, 0x1000_0000, 1, END, 0]);
    assert_eq!(state.register(RegId::Esr).unwrap() & PAGE_TABLE, PAGE_TABLE);
    let [UnitFault::Memory(fault)] = faults[..] else {
        panic!("{faults:?}");
    };
    assert_eq!(fault.addr, mem::GpuAddr(0x1000_0000));
    assert_eq!(fault.access, mem::Access::Write);
}

#[test]
fn batch_start_outside_every_object() {
    let (state, _) = fails(&[BATCH_START, 0x1ff0_0000]);
    assert_eq!(state.register(RegId::Acthd), Some(0x1ff0_0000));
}

#[test]
fn nothing_is_taken_while_the_engine_hangs() {
    let rig = Rig::new();
    let batch = rig.object(BATCH, 4096, &[0xffff_ffff]);
    let bad = rig.submit(&batch);
    let queued = rig.submit(&batch);
    assert_eq!(bad.wait(SHORT), Err(ETIME));
    assert_eq!(queued.wait(SHORT), Err(ETIME));
    rig.device.reset().unwrap();
    assert_eq!(bad.wait(SHORT), Err(EIO));
    // The second runs, and hangs for itself.
    assert_eq!(queued.wait(SHORT), Err(ETIME));
    rig.device.reset().unwrap();
    assert_eq!(queued.wait(SHORT), Err(EIO));
    drop((batch, bad, queued));
    rig.finish_after_fault();
}

/// `jmpi -1` of intel-gen4asm, which counts from the instruction behind: an endless loop.
const JMPI_SELF: [u32; 4] = [0x0000_0020, 0x3400_1c00, 0x0000_1400, 0xffff_ffff];

/// The flat triangle with other words at the start of its pixel shader.
fn with_kernel(words: &[u32]) -> Capture {
    // crocus's decode of the scene: the second draw's Kernel Start Pointer 0 is 001040c0h, in buffer 3 at 00104000h.
    let mut capture = capture("b_flat");
    let cache = &mut capture.execs[0].buffers[3];
    assert_eq!(cache.address, 0x0010_4000);
    for (i, word) in words.iter().enumerate() {
        cache.data[0xc0 + i * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
    capture
}

fn faulty(capture: &Capture) -> (Box<FaultReport>, Session) {
    let options = Options {
        timeout: Delta::from_millis(5),
        ..options(capture)
    };
    let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
    match session.run(&capture.execs[0]) {
        Err(ReplayError::Fault(report)) => {
            println!("{report}");
            (report, session)
        }
        other => panic!("{other:?}"),
    }
}

/// A reset recovers a session whose kernels did not end.
fn recover(session: Session) {
    session.device().reset().unwrap();
    assert!(session.device().is_idle());
    session.finish().unwrap();
}

#[test]
fn kernel_that_never_ends() {
    let (report, session) = faulty(&with_kernel(&JMPI_SELF));
    assert!(report.ended.is_some());
    let text = report.to_string();
    let place = "buffer 3 (bo_003.bin) + 0xc0";
    assert!(
        text.contains(place) && text.contains("still running"),
        "{text}"
    );
    // The clear came first: the picture so far is its colour, (26, 26, 36) in the reference images.
    let picture = session.picture().unwrap();
    assert_eq!(picture.pixel(0, 0), picture.pixel(255, 255));
    assert_eq!(picture.pixel(0, 0).unwrap()[..3], clear_colour());
    recover(session);
}

/// Colour of the corner of the reference image.
fn clear_colour() -> [u8; 3] {
    crestline_tests::scenes::reference("b_flat", "llvmpipe").pixels[0]
}

#[test]
fn kernel_of_unknown_opcodes() {
    let (report, session) = faulty(&with_kernel(&[0x0000_007d, 0, 0, 0]));
    let text = report.to_string();
    assert!(text.contains("buffer 3 (bo_003.bin) + 0xc0"), "{text}");
    recover(session);
}

#[test]
fn addresses_in_reports_have_places() {
    // The batch's third dword is STATE_SIP's header.
    let mut capture = capture("b_flat");
    capture.execs[0].buffers[0].data[8..12].copy_from_slice(&0x7abc_0000_u32.to_le_bytes());
    let (report, session) = faulty(&capture);
    let text = report.to_string();
    assert!(
        text.contains("0x0010b008 [buffer 0 (bo_000.bin) + 0x8]"),
        "{text}"
    );
    assert!(text.contains("0x7abc0000"), "{text}");
    recover(session);
}

/// Batches of ValleyView run as copies where nothing in them is forbidden, as a load of INSTPM is (i915 `eb_parse`, `gen7_render_regs`). A
/// store goes outside every object in both.
#[test]
fn reports_name_the_clients_batch_whether_it_or_a_copy_runs() {
    const STORE: [u32; 6] = [0x1000_0002, 0, 0x1ff0_0000, 1, END, 0];
    for (first, copied) in [
        ([0, 0, 0, 0], true),
        ([0x1100_0001, 0x20c0, 0x80_0080, 0], false),
    ] {
        let mut capture = capture_of("valleyview", "a_clear");
        capture.execs.truncate(1);
        let exec = &mut capture.execs[0];
        let words = [&first[..], &STORE].concat();
        exec.batch_len = words.len() as u32 * 4;
        let start = exec.batch_start as usize;
        let (index, buffer) = (exec.batch, &mut exec.buffers[exec.batch]);
        for (i, word) in words.iter().enumerate() {
            buffer.data[start + i * 4..][..4].copy_from_slice(&word.to_le_bytes());
        }
        // The store is the fifth dword.
        let place = format!("buffer {index} ({}) + {:#x}]", buffer.file, start + 16);
        let at = buffer.address as usize + start + 16;
        let place = if copied {
            format!(" [the driver's copy of {at:#010x}, {place}")
        } else {
            format!("{at:#010x} [{place}")
        };
        let (report, session) = faulty(&capture);
        let text = report.to_string();
        for beginning in ["exec_0000: CS, batch at 0x", "         ACTHD: 0x"] {
            let mut lines = text.lines();
            let line = lines.find(|line| line.contains(beginning)).unwrap();
            assert!(line.contains(&place), "{place}\n{text}");
        }
        recover(session);
    }
}

#[test]
fn surface_that_is_no_render_target() {
    // Format 0 of a linear buffer surface in place of the target: SURFACE_STATE of the last draw is found by the
    // picture's own walk, so damage all of the state buffer's surface dwords that name B8G8R8A8 or X8 formats.
    let mut capture = capture("b_flat");
    let state = &mut capture.execs[0].buffers[2];
    let mut damaged = 0;
    for word in state.data.chunks_exact_mut(4) {
        let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        // SURFTYPE_2D (1) in 31:29 and format 0C0h, 0C7h or 0E9h in 26:18 (genxml gen4).
        let format = value >> 18 & 0x1ff;
        if value >> 29 == 1 && [0xc0, 0xc7, 0xe9, 0xeb].contains(&format) {
            // R8G8B8_UNORM_SRGB-like: BC1_UNORM (186h) is compressed and cannot be rendered to.
            let bad = value & !(0x1ff << 18) | 0x186 << 18;
            word.copy_from_slice(&bad.to_le_bytes());
            damaged += 1;
        }
    }
    assert!(damaged > 0);
    let (report, session) = faulty(&capture);
    let text = report.to_string();
    // The data port discards the message and says so (PRM vol4 3.4.7.1, bit 12).
    assert!(text.contains("no render target"), "{text}");
    let error = session.picture().unwrap_err().to_string();
    assert!(error.contains("BC1_UNORM"), "{error}");
    recover(session);
}

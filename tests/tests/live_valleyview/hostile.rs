//! Batches that try to get at the driver's registers, status page and ring.
//!
//! i915 `i915_cmd_parser.c`. A batch that is called safe runs with privileges, so the device has to end each command where the parser
//! does; any other runs without them, and the device keeps what is the driver's by itself.
use crestline_cli::replay::Session;
use crestline_tests::scenes::{capture_of, options};
use driver::uapi::exec;
use kernel::platform::Platform;
use mem::GpuAddr;
use mmio_mock::core::memory::lock;

use super::*;

const ARB_ON_OFF: u32 = 0x08 << 23;
const FLUSH_DW: u32 = 0x26 << 23 | 1;
const CONDITIONAL_END: u32 = 0x36 << 23 | 1;
const PIPE_CONTROL: u32 = 0x7a00_0003;
/// UCGCTL4, which is in no list.
const FORBIDDEN: u32 = 0x940c;
const VALUE: u32 = 0x77;
/// MMIO offsets: HWS_PGA of the render engine and RING_START of the video engine (i915), GFX_MODE and RING_PP_DIR_BASE.
const STATUS: usize = 0x4080;
const START: usize = 0x1_2038;
const START_OF_BLITTER: usize = 0x2_2038;
const KEPT: [usize; 3] = [FORBIDDEN as usize, 0x229c, 0x2228];
const DATA: u32 = 0x10_0000;

/// What nobody but the driver may change: registers, and the dwords of status page and ring that nobody writes in between.
fn kept(rig: &Rig, flags: u64) -> (Vec<u32>, Vec<u32>) {
    let io = rig.platform.io();
    let registers = KEPT.iter().map(|at| io.read32(*at)).collect();
    // Of another engine than that which runs the batch.
    let start = if flags == BSD {
        START_OF_BLITTER
    } else {
        START
    };
    let pages = [io.read32(STATUS) & !0xfff, io.read32(start)];
    let memory = lock(rig.platform.memory());
    // The upper half of the status page, and the end of the ring, which has not come round.
    let words = pages
        .iter()
        .flat_map(|page| (0x800..0xffc).step_by(4).map(move |at| page + at));
    let words = words.map(|at| memory.read_u32(GpuAddr::from(at)).unwrap());
    (registers, words.collect())
}

/// Runs words on an engine however they end; with a length, so that they are looked at, or without.
fn attack(rig: &Rig, (what, flags, words): (&str, u64, &[u32])) {
    let bytes = (words.len() * 4).next_multiple_of(8) as u32;
    for length in [bytes, 0] {
        let guilty = Party::new(rig);
        let data = guilty.object(DATA, &[0; 64]);
        let before = kept(rig, flags);
        let batch = guilty.object(0x20_0000, words);
        let ended = guilty.exec(flags, &[data, batch], length).is_ok();
        if ended && rig.device.wait_idle(SHORT).is_err() {
            rig.device.reset().unwrap();
        }
        assert_eq!(before, kept(rig, flags), "{what}, length {length}");
        drop(guilty);
        // Others are served as before.
        let innocent = Party::new(rig);
        let data = innocent.object(DATA, &[0]);
        let words = [STORE, 0, DATA, 7, END, 0];
        innocent
            .run(flags & exec::RING_MASK, data, &words, 24)
            .unwrap();
        assert_eq!(innocent.dword(data, 0), 7, "{what}");
    }
}

/// A header, so many dwords of data, and then what the device must not see.
fn hidden(header: u32, data: &[u32], length: usize) -> Vec<u32> {
    let mut words = vec![header];
    words.extend(data);
    words.extend([LRI, FORBIDDEN, VALUE]);
    words.resize(length.max(words.len()), 0);
    words.push(END);
    words
}

/// Lengths of headers that the parser and the device could read in different ways.
#[test]
fn commands_do_not_hide_in_others() {
    let rig = rig();
    let mut pairs = vec![OFFSET; 67];
    for (index, word) in pairs.iter_mut().enumerate() {
        *word = if index % 2 == 1 { OFFSET } else { 0 };
    }
    pairs[0] = LRI + 0x40;
    // A PIPE_CONTROL that writes a register, at a place where values stand; the parser does not look at bit 23 of a register's offset.
    pairs[4..8].copy_from_slice(&[PIPE_CONTROL, 1 << 23 | OFFSET, FORBIDDEN, OFFSET]);
    pairs.push(END);
    let short_store = [SRM & !0xff, OFFSET, LRI, FORBIDDEN, VALUE, END];
    let short_load = [LRM & !0xff, OFFSET, LRI, FORBIDDEN, VALUE, END];
    let arbitration = [ARB_ON_OFF, LRI, FORBIDDEN, VALUE, END];
    let clflush = hidden(0x27 << 23 | 0x41, &[DATA, 0], 0x43);
    let declarations = hidden(0x7917_0000 | 0x101, &[0, 0], 0x103);
    let store = hidden(STORE | 0x40, &[0, DATA, 1], 0x44);
    let cases: [(&str, u64, &[u32]); 9] = [
        ("pairs", RENDER, &pairs),
        ("short store", RENDER, &short_store),
        ("short load", RENDER, &short_load),
        ("arbitration on the blitter", BLT, &arbitration),
        ("arbitration on the video engine", BSD, &arbitration),
        ("cache lines", RENDER, &clflush),
        ("declarations", RENDER, &declarations),
        ("store on the blitter", BLT, &store),
        ("store on the video engine", BSD, &store),
    ];
    for case in cases {
        attack(&rig, case);
    }
    rig.finish_after_fault();
}

/// What a parser of the driver refuses, the device refuses as well: the batch runs, but without privileges.
#[test]
fn privileged_forms_change_nothing() {
    let rig = rig();
    let io = rig.platform.io();
    let page = io.read32(STATUS) & !0xfff;
    let ring = io.read32(START);
    let write = 1 << 14;
    let cases: Vec<(&str, u64, Vec<u32>)> = vec![
        (
            "a register by PIPE_CONTROL",
            RENDER,
            vec![PIPE_CONTROL, 1 << 23, FORBIDDEN, VALUE, 0, END],
        ),
        (
            "status page by PIPE_CONTROL",
            RENDER,
            vec![PIPE_CONTROL, write | 1 << 21, 0x900, 1, 2, END],
        ),
        (
            "status page by its address",
            RENDER,
            vec![PIPE_CONTROL, write | 1 << 24, page + 0x900, 1, 2, END],
        ),
        (
            "ring by PIPE_CONTROL",
            RENDER,
            vec![PIPE_CONTROL, write | 1 << 24, ring + 0x900, 1, 2, END],
        ),
        (
            "ring by a store",
            RENDER,
            vec![STORE | GLOBAL, 0, ring + 0x900, 1, END],
        ),
        (
            "ring by a register",
            RENDER,
            vec![SRM | GLOBAL, 0x2358, ring + 0x900, END],
        ),
        (
            "ring in the space of the process",
            RENDER,
            vec![STORE, 0, ring + 0x900, 1, END],
        ),
        (
            "status page by its index",
            RENDER,
            vec![0x21 << 23 | 1, 0x900, 1, END],
        ),
        (
            "ring by a flush of the blitter",
            BLT,
            vec![FLUSH_DW | write, (ring + 0x900) | 4, 1, END],
        ),
        (
            "status page by a flush of the video engine",
            BSD,
            vec![FLUSH_DW | write | 1 << 21, 0x900, 1, END],
        ),
        (
            "an entry of the global GTT",
            RENDER,
            vec![0x23 << 23 | 1, ring, 0, END],
        ),
        (
            "another context",
            RENDER,
            vec![0x18 << 23, ring | 1 << 8, END],
        ),
        (
            "tables of a process",
            RENDER,
            vec![LRI, 0x2228, 0, LRI, 0x229c, 1 << 25, END],
        ),
        (
            "a batch in the global GTT",
            RENDER,
            vec![0x31 << 23, ring, END],
        ),
        (
            "a batch behind the end of memory",
            RENDER,
            vec![0x31 << 23 | 1 << 8, 0xffff_fff8, END],
        ),
        (
            "a condition in the global GTT",
            RENDER,
            vec![CONDITIONAL_END | 1 << 21 | GLOBAL, 0, ring, END],
        ),
        (
            "the same on the blitter",
            BLT,
            vec![CONDITIONAL_END | 1 << 21 | GLOBAL, 0, ring, END],
        ),
    ];
    for (what, flags, words) in &cases {
        attack(&rig, (what, *flags, words));
    }
    rig.finish_after_fault();
}

/// A draw whose vertices find no room in the URB stands still for ever; the report says where.
#[test]
fn a_draw_without_entries_says_what_it_waits_for() {
    // 3DSTATE_URB_VS, whose lower half is VS Number of URB Entries (genxml gen7).
    const URB_VS: u32 = 0x7830_0000;
    let mut capture = capture_of("valleyview", "b_flat");
    let exec = &mut capture.execs[0];
    let batch = &mut exec.buffers[exec.batch].data;
    let mut set = 0;
    for at in (0..batch.len() - 7).step_by(4) {
        if batch[at..at + 4] == URB_VS.to_le_bytes() {
            batch[at + 4..at + 6].fill(0);
            set += 1;
        }
    }
    assert!(set > 0);
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    let error = session.run(&capture.execs[0]).unwrap_err().to_string();
    assert!(
        error.contains("VS has 0 URB entries, 0 of them free"),
        "{error}"
    );
}

//! Words of the media pipeline, by the bit positions of genxml gen6.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

const fn at(value: u32, bit: u32) -> u32 {
    value << (bit % 32)
}

/// MEDIA_VFE_STATE: bits 32 (scratch size), 42, 70, 72 (entries), 80 (threads), 128 (constants), 144 (entry), 160 (mask), 190 and
/// 191 (scoreboard), 192 and on (deltas, four bits each).
fn vfe_state() -> [u32; 8] {
    [
        0x7000_0006,
        at(3, 32) | at(5, 42),
        at(59, 72) | at(59, 80),
        0,
        at(37, 128) | at(15, 144),
        at(0x83, 160) | at(1, 191),
        // Distances 0: (-1, 0), 1: (0, -1), 3: (7, -8).
        at(0xf, 192) | at(0, 196) | at(0, 200) | at(0xf, 204) | at(7, 216) | at(8, 220),
        // Distance 7: (1, -1).
        at(1, 248) | at(0xf, 252),
    ]
}

fn front_end(words: &[u32]) -> VfeState {
    let mem = Memory::new(1 << 20, 256);
    Reader
        .front_end(&mem, &StateBases::default(), words)
        .unwrap()
}

#[test]
fn the_front_end_is_read_from_its_command() {
    let state = front_end(&vfe_state());
    assert_eq!((state.addr, state.mode), (None, Ok(VfeMode::Generic)));
    assert_eq!(
        (state.entries, state.entry_rows, state.threads),
        (59, 15, 60)
    );
    assert_eq!((state.scratch, state.scratch_power), (5 << 10, 3));
    assert!(!state.children && state.missing.is_none());
    let board = state.scoreboard.unwrap().unwrap();
    assert_eq!(board.mask, 0x83);
    let expected = [
        (-1, 0),
        (0, -1),
        (0, 0),
        (7, -8),
        (0, 0),
        (0, 0),
        (0, 0),
        (1, -1),
    ];
    assert_eq!(board.deltas, expected);
    let sections = Sections {
        constants: 37,
        entries: 59,
        entry_rows: 15,
    };
    assert_eq!(Reader.sections(&vfe_state()), sections);
}

/// i915 gt/gen7_renderclear.c `emit_batch`: `urb_size - 1` of one row, for objects with three dwords of data.
#[test]
fn an_entry_has_a_row_at_least() {
    let mut words = vfe_state();
    words[4] &= 0xffff;
    let state = front_end(&words);
    assert_eq!((state.entries, state.entry_rows), (59, 1));
}

#[test]
fn what_the_front_end_lacks_has_a_name() {
    let mut words = vfe_state();
    words[5] |= at(1, 190);
    assert!(
        front_end(&words)
            .scoreboard
            .unwrap_err()
            .0
            .contains("scoreboard")
    );
    words[5] = 0;
    assert_eq!(front_end(&words).scoreboard, Ok(None));
    words[2] |= at(1, 70);
    assert!(
        front_end(&words)
            .missing
            .unwrap()
            .0
            .contains("Bypass Gateway")
    );
    // More threads than dispatch IDs.
    words[2] = at(0xffff, 80);
    assert_eq!(front_end(&words).threads, 255);
}

/// Lengths in bits 80:64, addresses in bits 127:96.
#[test]
fn loads_have_a_length_and_an_address() {
    let load = Load {
        start: 0x1_2340,
        bytes: 0x1_ffff,
    };
    let words = [0x7001_0002, 0, 0xffff_ffff, 0x1_2340];
    assert_eq!(Reader.constants_load(&words), load);
    assert_eq!(Reader.descriptors_load(&words), load);
}

/// Bits 6 (kernel), 39, 43, 45, 48, 49, 50 (modes), 69 (samplers), 101 (surfaces), 128 and 144 (constants).
#[test]
fn interface_descriptors() {
    let loaded = Descriptors {
        start: 0x40,
        words: vec![
            u32::MAX,
            u32::MAX,
            u32::MAX,
            u32::MAX,
            u32::MAX,
            u32::MAX,
            u32::MAX,
            u32::MAX,
            0x1234_5640,
            at(1, 39) | at(1, 45) | at(1, 48) | at(1, 50),
            at(1, 66) | at(5, 69),
            at(7, 96) | at(9, 101),
            at(2, 128) | at(4, 144),
            0,
            0,
            0,
        ],
    };
    let mem = Memory::new(1 << 20, 256);
    let bases = StateBases::default();
    let found = Reader.kernel(&mem, &bases, &loaded, 0x60).unwrap();
    let kernel = found.kernel;
    assert_eq!(
        (kernel.ip, kernel.grf_count, kernel.urb_start),
        (0x1234_5640, 128, 1)
    );
    assert!(
        kernel.software_exception
            && kernel.illegal_opcode_exception
            && !kernel.mask_stack_exception
    );
    assert!(kernel.alt_float && kernel.single_program_flow && !kernel.high_priority);
    assert_eq!(found.context.sampler_state_pointer, 5 << 5);
    assert_eq!(found.context.binding_table_pointer, 9 << 5);
    assert_eq!((found.constant_offset, found.constant_rows), (2, 4));
    // Before the first, behind the last, and one of which a part was loaded.
    for pointer in [0, 0x20, 0x64, 0x80, u32::MAX - 3] {
        assert!(
            Reader.kernel(&mem, &bases, &loaded, pointer).is_err(),
            "{pointer:#x}"
        );
    }
}

/// Bits 32 (descriptor), 64 (length), 85, 88, 95 (flags), 96 (address), 128 and 144 (place), 160 (mask), 176 (colour).
#[test]
fn objects() {
    let words = [
        0x7100_0006,
        at(31, 32),
        at(0x1_fffc, 64) | at(1, 85) | at(1, 88) | at(1, 95),
        0xabcd_ef00,
        at(511, 128) | at(300, 144),
        at(0x5a, 160) | at(9, 176),
        11,
        12,
    ];
    let place = Place {
        x: 511,
        y: 300,
        color: 9,
    };
    let object = MediaObject {
        descriptor: 31 * 32,
        inline: &[11, 12],
        indirect: 0xabcd_ef00,
        indirect_bytes: 0x1_fffc,
        synchronized: true,
        children: true,
        place,
        waits: Some(0x5a),
    };
    assert_eq!(Reader.object(&words), object);
    let plain = [0x7100_0004, 0, 0, 0, 0, at(0x5a, 160)];
    let plain = Reader.object(&plain);
    assert_eq!((plain.inline, plain.waits), (&[][..], None));
    assert!(!plain.synchronized && !plain.children);
}

/// Bits 160 (mask), 200, 204, 208 (middle loop), 216 (colours), 224, 240 (counts), 256, 272 (block), 288, 304 (start), 320, 336
/// (end), 352, 368 (outer), 384, 400 (inner), 416, 432 (picture), 448, 464, 480, 496, 512, 528 (global loop).
fn walker() -> [u32; 19] {
    [
        0x7103_0011,
        at(2, 32),
        at(64, 64) | at(1, 85),
        0x1000,
        0,
        at(7, 160),
        at(3, 200) | at(1, 204) | at(5, 208) | at(2, 216),
        at(9, 224) | at(1023, 240),
        at(16, 256) | at(12, 272),
        at(1, 288) | at(2, 304),
        // From (1, 2) by (-2, 3): one place.
        at(1, 320) | at(2, 336),
        at(0x3ff, 352) | at(4, 368),
        at(0x3fe, 384) | at(3, 400),
        at(33, 416) | at(44, 432),
        at(0x200, 448) | at(5, 464),
        at(6, 480) | at(0x3f9, 496),
        at(8, 512) | at(0x3f7, 528),
        21,
        22,
    ]
}

#[test]
fn walkers() {
    let words = walker();
    let (object, found) = Reader.walker(&words).unwrap();
    let expected = Walker {
        colors: 3,
        middle: (-1, 1),
        middle_lines: 6,
        local: Loops {
            start: (1, 2),
            outer: (-1, 4),
            inner: (-2, 3),
            lines: 10,
        },
        global: Loops {
            start: (-512, 5),
            outer: (6, -7),
            inner: (8, -9),
            lines: 1024,
        },
        block: (16, 12),
        resolution: (33, 44),
    };
    assert_eq!(found, expected);
    assert_eq!((object.descriptor, object.inline), (64, &[21, 22][..]));
    assert_eq!((object.indirect, object.indirect_bytes), (0x1000, 64));
    assert_eq!(object.waits, Some(7));
    for (dword, bits, what) in [
        (6, at(1, 222), "Repel"),
        (6, at(1, 223), "Dual Mode"),
        (10, at(4, 320), "Local End"),
    ] {
        let mut words = walker();
        words[dword] |= bits;
        assert!(Reader.walker(&words).unwrap_err().0.contains(what));
    }
}

/// vISA BuildIRImpl.cpp: `and thread_x r0.2:uw 0x1ff`, `and thread_y r0.3:uw 0x1ff`, `and color r0.2:ud 0xf`, `and hw_tid r0.5:ud`.
#[test]
fn r0_of_a_root_thread() {
    use crate::intel::urb::UrbHandle;
    let context = ThreadContext {
        sampler_state_pointer: 0x60,
        binding_table_pointer: 0x5a0,
        ..ThreadContext::default()
    };
    let place = Place {
        x: 0x1ab,
        y: 0x0cd,
        color: 7,
    };
    let r0 = Reader.root(&RootHeader {
        entry: UrbHandle(74),
        descriptor: 0x2040,
        context,
        scratch_power: 1,
        scratch: 0x8800,
        number: 5,
        debug: 0,
        place,
        flag: false,
    });
    assert_eq!(r0, [37, 0x00cd_01ab, 0x2047, 0x61, 0x5a0, 0x8805, 0, 0]);
}

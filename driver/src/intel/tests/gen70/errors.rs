//! Error states of ValleyView on plain memory.
//!
//! Layout and registers are those of i915 `i915_gpu_error.c`; commands are laid out as in genxml gen7.
use super::*;
use crate::ErrorState;

const END: u32 = 0x0500_0000;
/// Where the batch's object lies; its kernels are in the second page.
const AT: u32 = 0x10_4000;
const ACTHD: usize = 0x2074;
/// MI_LOAD_REGISTER_IMM of a register that clients may write (SO_WRITE_OFFSET0), and of INSTPM, which they may not
/// (i915 `gen7_render_regs`).
const ALLOWED: [u32; 3] = [0x1100_0001, 0x5280, 7];
const FORBIDDEN: [u32; 3] = [0x1100_0001, 0x20c0, 0x0080_0080];
/// STATE_BASE_ADDRESS whose instructions lie in the second page.
const BASES: [u32; 10] = [0x6101_0008, 0, 0, 0, 0, AT + 0x1000 + 1, 0, 0, 0, 0];
/// `jmpi -1`.
const KERNEL: [u32; 4] = [0x0000_0020, 0x3400_1c00, 0x0000_1400, 0xffff_fffe];

/// 3DSTATE_VS and 3DSTATE_DS, which have the same size and the bit that enables them in different dwords.
fn vs(kernel: u32) -> [u32; 6] {
    [0x7810_0004, kernel, 0, 0, 0, 1]
}

fn ds(kernel: u32) -> [u32; 6] {
    [0x781d_0004, kernel, 0, 0, 0, 1]
}

/// The error state while the device is at a dword of a batch that begins so, and sets up two shaders, then two others. An earlier batch was
/// longer. Without `copied` the dword is one of the client's batch, else one of the copy.
fn hang(first: [u32; 3], dword: u32, copied: bool) -> (Arc<Fake>, Device, ErrorState, Vec<u32>) {
    let fake = device();
    let dev = probe(&fake);
    let object = dev.create_object(8192, Tiling::None, 0).unwrap();
    dev.bind_at(&object, AT).unwrap();
    for kernel in 0..4 {
        object
            .write_dwords(0x1000 + kernel * 0x40, &KERNEL)
            .unwrap();
    }
    let long = [&[0x7904_0000; 64][..], &[END, 0]].concat();
    object.write_dwords(0, &long).unwrap();
    let desc = |len: usize| BatchDesc {
        object: &object,
        start: 0,
        len: len as u32 * 4,
    };
    dev.submit(&desc(long.len())).unwrap();
    complete(&fake, 0, 1);
    dev.retire();
    let words = [
        &first[..],
        &BASES,
        &vs(0),
        &ds(0x40),
        &vs(0x80),
        &ds(0xc0),
        &[END],
    ]
    .concat();
    object.write_dwords(0, &words).unwrap();
    dev.submit(&desc(words.len())).unwrap();
    let ring = ring(&fake, 0);
    let start = ring.iter().rposition(|word| *word == 0x1880_0000).unwrap();
    let base = if copied { ring[start + 1] } else { AT };
    fake.set(ACTHD, base + dword * 4);
    let state = dev.capture("test");
    (fake, dev, state, words)
}

fn dwords(bytes: &[u8]) -> Vec<u32> {
    let chunks = bytes.chunks_exact(4);
    chunks
        .map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap()))
        .collect()
}

fn kernels(state: &ErrorState) -> Vec<(&str, u32, Vec<u32>)> {
    let kernels = state.kernels.iter();
    kernels
        .map(|kernel| {
            (
                kernel.unit,
                kernel.address,
                kernel.instructions[0].raw.to_vec(),
            )
        })
        .collect()
}

/// Of a batch with something forbidden the device carries out the client's object, and its parser is there.
#[test]
fn the_batch_is_the_clients_where_that_runs() {
    // At the second 3DSTATE_DS, and at the second 3DSTATE_VS.
    for (dword, expected) in [(31, [0x80, 0xc0]), (19, [0, 0x40])] {
        let (_fake, _dev, state, words) = hang(FORBIDDEN, dword, false);
        let batch = state.buffer("batch").unwrap();
        assert_eq!(batch.address, AT.into());
        assert_eq!(batch.bytes.len(), 8192);
        assert_eq!(dwords(&batch.bytes)[..words.len()], words);
        assert_eq!(dwords(&batch.bytes[0x1000..])[..4], KERNEL);
        let request = state.request.as_ref().unwrap();
        assert_eq!((request.batch, request.original), (AT, Some(AT)));
        let expected = [("VS", expected[0]), ("DS", expected[1])]
            .map(|(unit, at)| (unit, AT + 0x1000 + at, KERNEL.to_vec()));
        assert_eq!(kernels(&state), expected);
        let text = state.text().to_string();
        for line in [
            "  batch: [0x00000000_00104000, 0x00000000_00106000]\n",
            "\nrcs0 --- batch = 0x00000000 00104000\n",
            "  VS kernel at 0x00105",
            "  DS kernel at 0x00105",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}

/// A batch that may run with privileges is carried out from its copy (i915 `eb_parse`), whatever the client writes afterwards.
#[test]
fn the_batch_is_the_copy_where_that_runs() {
    for (dword, expected) in [(31, [0x80, 0xc0]), (19, [0, 0x40])] {
        let (fake, _dev, state, words) = hang(ALLOWED, dword, true);
        let request = state.request.as_ref().unwrap();
        assert_eq!(request.original, Some(AT));
        let copy = fake.peek(ACTHD) - dword * 4;
        assert_eq!(request.batch, copy);
        let batch = state.buffer("batch").unwrap();
        assert_eq!(batch.address, copy.into());
        let found = dwords(&batch.bytes);
        assert_eq!(found[..words.len()], words);
        // What the request starts second, and nothing of the batch that had the copy before (i915 `copy_batch`).
        assert_eq!(found[words.len()], END);
        assert!(found[words.len() + 1..].iter().all(|word| *word == 0));
        let expected = [("VS", expected[0]), ("DS", expected[1])]
            .map(|(unit, at)| (unit, AT + 0x1000 + at, KERNEL.to_vec()));
        assert_eq!(kernels(&state), expected);
    }
}

/// `engine_record_registers`, `gt_record_global_regs`, `error_print_engine`.
#[test]
fn error_states_have_what_the_generation_adds() {
    let fake = device();
    let dev = probe(&fake);
    for (offset, value) in [
        (0x40a0, 0x12),
        (0x40b0, 0x34),
        (0x4_4040, 0x2000),
        (0xa188, 0x1),
        (0x18_20a0, 0x55),
        (0x4_4050, 0x66),
        (0x7100, 0x77),
        (0x4094, 0x78),
    ] {
        fake.set(offset, value);
    }
    let text = dev.capture("test").text().to_string();
    for line in [
        "GPU HANG: ecode 7:0:",
        "Platform: VALLEYVIEW\n",
        "IER: 0x00000055\n",
        "FORCEWAKE: 0x00000001\n",
        "ERROR: 0x00000012\n",
        "DONE_REG: 0x00000034\n",
        "ERR_INT: 0x00002000\n",
        "  SC_INSTDONE: 0x00000077\n",
        "  FAULT_REG: 0x00000078\n",
        "  GFX_MODE: 0x00002a00\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    // `__err_print_to_sgl`: display, interrupts, fences, the rest, engines.
    let order = [
        "IER: ",
        "DERRMR: 0x00000066",
        "GT awake: ",
        "CS timestamp frequency: 12500000 Hz, 80 ns",
        "EIR: ",
        "PGTBL_ER: ",
        "GTIER[0]: ",
        "  fence[0] = ",
        "  fence[15] = ",
        "FORCEWAKE: ",
        "ERROR: ",
        "DONE_REG: ",
        "ERR_INT: ",
        "rcs0 command stream:",
        "  CCID:  ",
        "  START: ",
        "  HEAD:  ",
        "  TAIL:  ",
        "  CTL:   ",
        "  MODE:  ",
        "  HWS:   ",
        "  ACTHD: ",
        "  IPEIR: ",
        "  IPEHR: ",
        "  ESR:   ",
        "  INSTDONE: ",
        "  SC_INSTDONE: ",
        "  BBADDR: ",
        "  BB_STATE: ",
        "  INSTPS: ",
        "  INSTPM: ",
        "  FADDR: ",
        "  RC PSMI: ",
        "  FAULT_REG: ",
        "  GFX_MODE: ",
        "  PP_DIR_BASE: ",
        "  hung: ",
        "  engine reset count: ",
    ];
    let mut lines = text.lines();
    for wanted in order {
        assert!(
            lines.any(|line| line.starts_with(wanted)),
            "{wanted} in {text}"
        );
    }
    let page = alloc::format!("  HWS:   0x{:08x}\n", fake.peek(0x4080));
    assert!(text.contains(&page), "{text}");
    let directory = alloc::format!("  PP_DIR_BASE: 0x{:08x}\n", fake.peek(0x2228));
    assert!(text.contains(&directory), "{text}");
    assert!(!text.contains("INSTDONE1"), "{text}");
}

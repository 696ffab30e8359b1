//! Batches beside what i915's parser says of them.
//!
//! Headers of `intel_gpu_commands.h`; outcomes of `intel_engine_cmd_parser`, `check_cmd`, `check_bbstart`.
use alloc::vec::Vec;

use super::*;
use crate::intel::r#gen::{VALLEYVIEW_CHECKS, checks};

const END: u32 = 0x0500_0000;
const LRI: u32 = 0x1100_0001;
const SRM: u32 = 0x1200_0001;
const LRM: u32 = 0x1480_0001;
const SAFE: Result<Verdict> = Ok(Verdict::Safe);
const UNSAFE: Result<Verdict> = Ok(Verdict::Unsafe);
const REFUSED: Result<Verdict> = Err(EINVAL);

fn on(engine: usize, words: &[u32]) -> Result<Verdict> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    check(VALLEYVIEW_CHECKS[engine], &bytes)
}

/// Of the render engine; the end is appended.
fn render(words: &[u32]) -> Result<Verdict> {
    on(0, &[words, &[END]].concat())
}

fn blitter(words: &[u32]) -> Result<Verdict> {
    on(1, &[words, &[END]].concat())
}

fn video(words: &[u32]) -> Result<Verdict> {
    on(2, &[words, &[END]].concat())
}

#[test]
fn a_batch_ends_by_the_command_for_that() {
    assert_eq!(render(&[]), SAFE);
    assert_eq!(render(&[0, 0]), SAFE);
    assert_eq!(on(0, &[]), REFUSED);
    assert_eq!(on(0, &[0, 0]), REFUSED, "no end");
    assert_eq!(
        on(0, &[END | 1]),
        REFUSED,
        "that is a command of two dwords or more"
    );
    assert_eq!(
        on(0, &[0, END, 0xffff_ffff]),
        SAFE,
        "nothing behind the end counts"
    );
    // A dword inside of a command that looks like MI_BATCH_BUFFER_END does not end the batch.
    assert_eq!(on(0, &[0x7b00_0005, END, 0, 0, 0, 0, 0]), REFUSED);
    // Half a dword at the end.
    assert_eq!(check(VALLEYVIEW_CHECKS[0], &[0, 0, 0, 0, 0, 0]), REFUSED);
}

#[test]
fn lengths_are_those_of_headers() {
    // 3DPRIMITIVE, MEDIA_CURBE_LOAD, 3DSTATE_SO_DECL_LIST with 9 bits of length, GPGPU_WALKER.
    assert_eq!(render(&[0x7b00_0005, 0, 0, 0, 0, 0, 0]), SAFE);
    assert_eq!(render(&[0x7001_0002, 0, 0, 0]), SAFE);
    let mut long = Vec::from([0x7917_0000 | 0x101]);
    long.resize(0x103, 0);
    assert_eq!(render(&long), SAFE);
    assert_eq!(on(0, &[&long[..], &[]].concat()), REFUSED);
    // Lengths that are longer than what is left.
    for header in [
        0x7b00_0005,
        0x7000_fffe,
        0x7917_01ff,
        LRI | 0xfe,
        0x1000_003f,
        0x7a00_00ff,
    ] {
        assert_eq!(render(&[header, 0, 0]), REFUSED, "{header:#x}");
    }
    // One dword whatever their lower bits say: VF statistics, pipeline select, MI_ARB_CHECK.
    for header in [0x680b_00ff, 0x6904_0002, 0x0280_003f] {
        assert_eq!(render(&[header]), SAFE, "{header:#x}");
    }
    // The last dword ends a command, and there is no end behind it.
    assert_eq!(on(0, &[0x7b00_0005, 0, 0, 0, 0, 0, 0]), REFUSED);
}

#[test]
fn headers_of_no_command_are_refused() {
    for header in [
        0x2000_0000,
        0x4000_0000,
        0x5400_0000,
        0x8000_0000,
        0xffff_ffff,
    ] {
        assert_eq!(render(&[header, 0, 0, 0, 0, 0]), REFUSED, "{header:#x}");
    }
    // 3D commands on the blitter.
    assert_eq!(blitter(&[0x7b00_0005, 0, 0, 0, 0, 0, 0]), REFUSED);
    assert_eq!(blitter(&[0x54f0_0006, 0, 0, 0, 0, 0, 0, 0]), SAFE);
    assert_eq!(video(&[0x54f0_0006, 0, 0, 0, 0, 0, 0, 0]), REFUSED);
}

#[test]
fn registers_are_those_of_the_list() {
    // What the frames of Mesa write: SO_WRITE_OFFSET, L3SQCREG1, L3CNTLREG2 and 3.
    for register in [
        0x5280, 0x528c, 0xb010, 0xb020, 0xb024, 0x2430, 0x2440, 0x2500, 0x2508,
    ] {
        assert_eq!(render(&[LRI, register, 1]), SAFE, "{register:#x}");
        assert_eq!(render(&[LRM, register, 0x1000]), SAFE, "{register:#x}");
        assert_eq!(render(&[SRM, register, 0x1000]), SAFE, "{register:#x}");
    }
    // INSTPM, RING_TAIL, PP_DIR_BASE, GFX_MODE, L3CNTLREG1, L3SQCREG4, GDRST, OACONTROL, FORCEWAKE, and the neighbours of allowed ones.
    for register in [
        0x20c0, 0x2030, 0x2228, 0x229c, 0xb01c, 0xb034, 0x941c, 0x2360, 0x13_00b0, 0x228c, 0x2298,
        0x22fc, 0x2424, 0x250c, 0x5220, 0x5290, 0x2_2200, 0,
    ] {
        assert_eq!(render(&[LRI, register, 1]), UNSAFE, "{register:#x}");
        assert_eq!(render(&[LRM, register, 0x1000]), UNSAFE, "{register:#x}");
        assert_eq!(render(&[SRM, register, 0x1000]), UNSAFE, "{register:#x}");
    }
    // Bits that are no part of the offset do not make another register of it.
    assert_eq!(render(&[LRI, 0xff80_5283, 1]), SAFE);
    assert_eq!(render(&[LRI, 0x0010_5280, 1]), UNSAFE);
}

#[test]
fn every_register_of_a_load_is_looked_at() {
    let load = |second| render(&[LRI + 4, 0x5280, 0, second, 0, 0x528c, 0]);
    assert_eq!(load(0x5284), SAFE);
    assert_eq!(load(0x2030), UNSAFE);
    // A length that leaves a register without its value.
    assert_eq!(render(&[0x1100_0002, 0x5280, 0, 0x2030]), UNSAFE);
    assert_eq!(render(&[0x1100_0000, 0x5280]), SAFE);
    // The lower bits of these headers say nothing to i915: three dwords. A device may think otherwise.
    for length in [0, 2, 0x3e, 0xff] {
        let words = |header: u32| [header & !0xff | length, 0x5280, 0, END];
        assert_eq!(on(0, &words(SRM)), UNSAFE, "{length}");
        assert_eq!(on(0, &words(LRM)), UNSAFE, "{length}");
    }
}

#[test]
fn the_global_gtt_is_out_of_reach() {
    const GLOBAL: u32 = 1 << 22;
    for (header, words) in [(SRM, 2), (LRM, 2), (0x1000_0002, 3), (0x1b00_0001, 2)] {
        let mut command = Vec::from([header]);
        command.resize(words + 1, 0x5280);
        assert_eq!(render(&command), SAFE, "{header:#x}");
        command[0] |= GLOBAL;
        assert_eq!(render(&command), UNSAFE, "{header:#x}");
    }
    // MI_CLFLUSH has ten bits of length, MI_REPORT_PERF_COUNT the bit in its second dword.
    assert_eq!(render(&[0x1380_0001, 0, 0]), SAFE);
    assert_eq!(render(&[0x1380_0001 | GLOBAL, 0, 0]), UNSAFE);
    assert_eq!(render(&[0x1400_0001, 0x1000, 0]), SAFE);
    assert_eq!(render(&[0x1400_0001, 0x1001, 0]), UNSAFE);
}

#[test]
fn pipe_control_writes_for_its_client_alone() {
    const WRITE: u32 = 1 << 14;
    let flags = |flags| render(&[0x7a00_0003, flags, 0, 0, 0]);
    assert_eq!(flags(1 << 20 | 1 << 12 | 1), SAFE);
    assert_eq!(flags(WRITE), SAFE);
    assert_eq!(flags(1 << 8), UNSAFE, "notify");
    assert_eq!(flags(1 << 23), UNSAFE, "a register");
    for place in [1 << 24, 1 << 21] {
        assert_eq!(flags(place), SAFE, "nothing is written");
        for write in [WRITE, 2 << 14, 3 << 14] {
            assert_eq!(flags(write | place), UNSAFE);
        }
    }
    // The shortest that its length can say.
    assert_eq!(render(&[0x7a00_0000, WRITE | 1 << 24]), UNSAFE);
}

#[test]
fn flushes_of_other_engines_write_for_their_client_alone() {
    const WRITE: u32 = 0x1300_0001 | 1 << 14;
    let flush = |header, address| [blitter(&[header, address, 0]), video(&[header, address, 0])];
    assert_eq!(flush(0x1300_0001, 0), [SAFE; 2]);
    assert_eq!(flush(WRITE, 0x1000), [SAFE; 2]);
    assert_eq!(flush(0x1300_0001, 1 << 2), [SAFE; 2], "nothing is written");
    assert_eq!(flush(WRITE, 1 << 2), [UNSAFE; 2], "the global GTT");
    assert_eq!(
        flush(WRITE | 1 << 21, 0x100),
        [UNSAFE; 2],
        "the status page"
    );
    assert_eq!(flush(0x1300_0001 | 1 << 8, 0), [UNSAFE; 2], "notify");
    // A dword that it does not have cannot be looked at.
    assert_eq!(
        render(&[0x7000_0000, 0]),
        UNSAFE,
        "MEDIA_VFE_STATE of two dwords"
    );
}

#[test]
fn what_is_the_drivers_is_refused() {
    // User interrupt, wait for event, semaphore, store to the status page, arbitration, flip, context, update of the GTT.
    for header in [
        0x0100_0000,
        0x0180_0000,
        0x0b00_0001,
        0x1080_0001,
        0x0400_0001,
        0x0a00_0001,
        0x0c00_0000,
        0x1180_0001,
    ] {
        assert_eq!(render(&[header, 0, 0, 0]), UNSAFE, "{header:#x}");
    }
    // In any batch it stands behind something else.
    assert_eq!(render(&[0, 0x0280_0000, 0x0100_0000]), UNSAFE);
    // The first that is forbidden decides: what is behind it is not looked at.
    assert_eq!(render(&[0x0100_0000, 0xffff_ffff]), UNSAFE);
    assert_eq!(render(&[0xffff_ffff, 0x0100_0000]), REFUSED);
    // Threads may not be given registers.
    let vfe = |flags| render(&[0x7000_0006, 0, flags, 0, 0, 0, 0, 0]);
    assert_eq!([vfe(0), vfe(0x08), vfe(0x10)], [SAFE, UNSAFE, UNSAFE]);
}

/// `check_bbstart` without a list of jumps: whatever the target.
#[test]
fn batches_do_not_start_others() {
    assert_eq!(render(&[0x1880_0000, 0x1000]), UNSAFE);
    assert_eq!(render(&[0x1880_0100, 0x1000]), UNSAFE);
    assert_eq!(blitter(&[0x1880_0001, 0x1000, 0]), UNSAFE);
    assert_eq!(on(0, &[0x1880_00ff, 0x1000]), REFUSED, "too long");
}

#[test]
fn other_engines_have_registers_of_their_own() {
    assert_eq!(blitter(&[LRI, 0x2_2200, 1 << 16]), SAFE, "BCS_SWCTRL");
    assert_eq!(blitter(&[LRI, 0x5280, 0]), UNSAFE);
    assert_eq!(blitter(&[SRM, 0x2_235c, 0x1000]), SAFE, "TIMESTAMP");
    // i915 has no list for the video engine.
    assert_eq!(video(&[SRM, 0x1_2358, 0x1000]), UNSAFE);
    assert_eq!(checks::VERSION, 10);
}

/// Whatever the words, there is an answer, and what is called safe has none of the headers that are refused.
#[test]
fn random_words_are_judged() {
    let mut state = 0x1234_5678_9abc_def0_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 32) as u32
    };
    let mut safe = 0;
    for _ in 0..20_000 {
        let mut words = Vec::new();
        for _ in 0..next() % 12 {
            words.push(match next() % 4 {
                0 => next(),
                1 => ((next() % 64) << 23) | (next() % 4),
                2 => 3 << 29 | next() & 0x1f0f_0003,
                _ => next() % 0x6000,
            });
        }
        words.push(END);
        for engine in 0..3 {
            safe += u32::from(on(engine, &words) == SAFE);
        }
    }
    assert!(safe > 100);
}

/// Longest command that the device reads (3DSTATE_SO_DECL_LIST has 259 dwords); it stops at a longer one.
const LONGEST: usize = 260;

/// A command that the device ends at another dword than the parser would hide commands from it: the device would carry out, with
/// privileges, what was looked at as data. Whatever a header says of its length, both agree, or the command is refused.
#[test]
fn lengths_are_those_of_the_device() {
    use regs::desc::Engine;
    let engines = [Engine::Render, Engine::Blitter, Engine::Video];
    let mut wrong = Vec::new();
    for (engine, checks) in engines.into_iter().zip(VALLEYVIEW_CHECKS) {
        let all = regs::platform::GEN70.commands.iter();
        for desc in all.filter(|desc| desc.runs_on(engine)) {
            // All lengths, and other bits that are free.
            let free = (0..=0xffff_u32).flat_map(|low| [low, low | 0x007f_0000]);
            let differs = free
                .map(|bits| desc.value | bits & !desc.mask)
                // With other bits the device ends the batch, and the parser goes on.
                .filter(|header| header >> 23 != END >> 23)
                .filter(|header| {
                    let Some(desc) = (regs::platform::GEN70.command)(*header) else {
                        return false;
                    };
                    let row = checks.row(*header);
                    let length = match row.map(|row| row.length) {
                        Some(Length::Fixed(length)) => length,
                        Some(Length::Field(mask)) => (header & mask) + LENGTH_BIAS,
                        None => match (checks.length)(*header) {
                            0 => return false,
                            mask => (header & mask) + LENGTH_BIAS,
                        },
                    };
                    let device = desc.dwords(*header);
                    if !desc.runs_on(engine) || device > LONGEST || device == length as usize {
                        return false;
                    }
                    // All dwords zero but the second, which names a register of the list.
                    let mut command = alloc::vec![0; length as usize * 4];
                    command[..4].copy_from_slice(&header.to_le_bytes());
                    if let Some(second) = command.get_mut(4..8) {
                        let register = checks.registers.first().copied().unwrap_or_default();
                        second.copy_from_slice(&register.to_le_bytes());
                    }
                    row.is_none_or(|row| is_allowed(checks, row.rule, &command))
                })
                .count();
            if differs > 0 {
                wrong.push(alloc::format!(
                    "{engine:?} {}: {differs} headers",
                    desc.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What the device keeps from batches of users, the parser does not let run with privileges: but for registers of the list. Whatever
/// bits of a header are no part of the opcode for the device, the parser finds the same row.
#[test]
fn privileged_forms_are_not_safe() {
    use regs::desc::Engine;
    use regs::ids::CommandId as C;
    let engines = [Engine::Render, Engine::Blitter, Engine::Video];
    let mut wrong = Vec::new();
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    for (index, engine) in engines.into_iter().enumerate() {
        let checks = VALLEYVIEW_CHECKS[index];
        for desc in regs::platform::GEN70.commands {
            let (mut rows, mut safe) = (0, 0);
            for _ in 0..4000 {
                let header = desc.value | next() & !desc.mask;
                let found = (regs::platform::GEN70.command)(header);
                let Some(found) = found.filter(|found| found.runs_on(engine)) else {
                    continue;
                };
                rows += u32::from(checks.row(header) != checks.row(found.value));
                let length = found.dwords(header);
                let mut words: Vec<u32> = core::iter::repeat_with(&mut next).take(length).collect();
                words[0] = header;
                let registers = matches!(
                    found.id,
                    C::MiLoadRegisterImm | C::MiLoadRegisterMem | C::MiStoreRegisterMem
                );
                // PIPE_CONTROL and MI_FLUSH_DW that store nothing do not reach the global GTT. i915 lets MI_REPORT_HEAD pass, which stores
                // into the status page: the device keeps that from batches.
                let nothing = match found.id {
                    C::PipeControl => words[1] & (3 << 14 | 1 << 23) == 0,
                    C::MiFlushDw => header & 3 << 14 == 0,
                    C::MiReportHead => true,
                    _ => false,
                };
                let privileged = found.is_privileged(&words) && !nothing;
                words.push(END);
                safe += u32::from(privileged && !registers && on(index, &words) == SAFE);
            }
            if rows + safe > 0 {
                wrong.push(alloc::format!(
                    "{engine:?} {}: {rows} rows, {safe} safe",
                    desc.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

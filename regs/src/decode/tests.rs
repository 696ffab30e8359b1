//! The decoder on short batches: bad input, following, annotations.
//! Expected words are the manual's opcodes, written out by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::platform::{GEN40, GEN70};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

struct Words(u32, Vec<u32>);

impl Source for Words {
    fn dword(&mut self, address: u32) -> Option<u32> {
        let i = address.checked_sub(self.0)? / 4;
        self.1.get(i as usize).copied()
    }
    fn kernel(&mut self, address: u32, out: &mut dyn Write) -> fmt::Result {
        writeln!(out, "kernel {address:#x}")
    }
}

fn run(words: &[u32]) -> (String, Report) {
    let mut out = String::new();
    let mut source = Words(0x1000, words.to_vec());
    let bytes = words.len() as u32 * 4;
    let report = batch(
        &GEN40,
        &mut source,
        &mut out,
        0x1000,
        bytes,
        Options::default(),
    )
    .unwrap();
    (out, report)
}

#[test]
fn unknown_command_is_reported_with_offset_and_dword() {
    let (text, report) = run(&[0, 0x7fff_0003, 0x0500_0000]);
    assert!(
        text.contains("error: unknown command at offset 0x4, dword 0x7fff0003"),
        "{text}"
    );
    assert_eq!((report.errors, report.commands, report.ended), (1, 2, true));
}

#[test]
fn truncated_command_is_reported() {
    let (text, report) = run(&[0x6101_0004, 1]);
    assert!(
        text.contains("error: truncated command at offset 0x0, dword 0x61010004"),
        "{text}"
    );
    assert_eq!(report.errors, 1);
}

#[test]
fn garbage_gives_up() {
    let (_, report) = run(&[0x7fff_ffff; 100]);
    assert_eq!(report.errors, 17);
}

#[test]
fn registers_are_named() {
    let (text, _) = run(&[0x1100_0001, 0x2020, 1, 0x0500_0000]);
    assert!(
        text.contains("Register Offset: 0x00002020 (PGTBL_CTL)"),
        "{text}"
    );
}

#[test]
fn batch_that_chains_to_itself_ends() {
    let mut out = String::new();
    let mut source = Words(0, alloc::vec![0x1880_0080, 0]);
    let options = Options {
        max_dwords: 100,
        ..Options::default()
    };
    let report = batch(&GEN40, &mut source, &mut out, 0, 8, options).unwrap();
    assert_eq!((report.commands, report.errors), (1, 1));
    assert!(out.contains("error: batch start without end at offset 0x0"));
}

#[test]
fn noops_in_a_row_are_one_line() {
    let (text, report) = run(&[0, 0, 0, 0x0040_0001, 0x0040_0001, 0, 0x0500_0000]);
    assert!(
        text.starts_with("0x00001000:  0x00000000:  3 x MI_NOOP\n0x0000100c:  0x00400001:  2 x MI_NOOP\n0x00001014:  0x00000000:  MI_NOOP\n"),
        "{text}"
    );
    assert_eq!((report.commands, report.stopped), (7, 0x101c));
}

#[test]
fn the_limit_of_dwords_is_told() {
    let mut out = String::new();
    let mut source = Words(0, alloc::vec![0; 30]);
    let options = Options {
        max_dwords: 10,
        ..Options::default()
    };
    let report = batch(&GEN40, &mut source, &mut out, 0, 120, options).unwrap();
    assert_eq!((report.commands, report.errors), (10, 1));
    assert_eq!((report.stopped, report.first_error), (40, Some(40)));
}

#[test]
fn elements_have_their_own_offset() {
    let fence = GEN40.register("FENCE").unwrap();
    let text = explain_element(fence, Some(3), 1);
    assert!(text.starts_with("FENCE[3] at 0x3018, 64 bits"), "{text}");
}

#[test]
fn unknown_register_suggests_names() {
    assert_eq!(
        explain_register(&GEN40, "VF_CTRL", 0).unwrap_err()[0],
        "VF_CTL"
    );
    let text = explain_register(&GEN40, "vf_ctl", 1).unwrap();
    assert!(
        text.starts_with("VF_CTL at 0x7500, 32 bits, rw, VF: 0x00000001"),
        "{text}"
    );
}

#[test]
fn too_many_pointers_are_not_followed() {
    // 3DSTATE_PIPELINED_POINTERS with every pointer at the batch itself.
    let mut words = Vec::new();
    for _ in 0..50 {
        words.extend([0x7800_0005, 0x1020, 0x1021, 0x1021, 0x1020, 0x1020, 0x1020]);
    }
    words.push(0x0500_0000);
    let mut out = String::new();
    let mut source = Words(0x1000, words.clone());
    let bytes = words.len() as u32 * 4;
    let options = Options {
        max_follow: 20,
        ..Options::default()
    };
    let report = batch(&GEN40, &mut source, &mut out, 0x1000, bytes, options).unwrap();
    assert!(report.ended);
    assert_eq!(out.matches("the rest is not followed").count(), 1);
}

#[test]
fn any_words_are_safe() {
    let mut x = 0x1234_5678u32;
    let mut next = move || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    };
    for round in 0..400 {
        let words: Vec<u32> = (0..256)
            .map(|_| {
                let n = next();
                // Mostly real headers, and pointers that hit the words themselves.
                match n % 4 {
                    0 => {
                        crate::gen40::COMMANDS[n as usize / 4 % crate::gen40::COMMANDS.len()].header
                    }
                    1 => 0x1000 + (n >> 8) % 1024,
                    _ => n,
                }
            })
            .collect();
        let mut out = String::new();
        let mut source = Words(0x1000, words);
        let options = Options {
            max_dwords: 4096,
            max_follow: 256,
            ..Options::default()
        };
        let start = if round % 8 == 0 {
            u32::MAX - 15
        } else {
            0x1000
        };
        batch(&GEN40, &mut source, &mut out, start, 1024, options).unwrap();
    }
}

/// Constants of ValleyView: lengths are whole, none is no buffer, and INSTPM says what the first one counts from.
#[test]
fn the_first_constants_count_from_where_instpm_says() {
    let constants = [0x7815_0005, 0x0001, 0, 0x0000_1000, 0, 0, 0];
    // Base of dynamic state 1000h, which may be changed.
    let mut bases = [0; 10];
    (bases[0], bases[3]) = (0x6101_0008, 0x1001);
    // MI_LOAD_REGISTER_IMM of INSTPM, bit 6 under its enable.
    let absolute = [0x1100_0001, 0x20c0, 0x0040_0040];
    let relative = [0x1100_0001, 0x20c0, 0x0040_0000];
    // Another bit under its own enable leaves it.
    let other = [0x1100_0001, 0x20c0, 0x0080_0080];
    let parts: [&[u32]; 8] = [
        &bases, &constants, &absolute, &constants, &other, &constants, &relative, &constants,
    ];
    let mut words = parts.concat();
    words.push(0x0500_0000);
    let mut out = String::new();
    let mut source = Words(0x1000, words.clone());
    let bytes = words.len() as u32 * 4;
    let options = Options::default();
    let report = batch(&GEN70, &mut source, &mut out, 0x1000, bytes, options).unwrap();
    assert_eq!((report.errors, report.ended), (0, true), "{out}");
    let places: Vec<&str> = out.lines().filter(|l| l.contains(": data at")).collect();
    let at = |address| format!("Pointer to Constant Buffer 0: data at {address}");
    let expected = ["0x00002000", "0x00001000", "0x00001000", "0x00002000"].map(at);
    assert_eq!(places, expected);
}

//! `crestline debug`: what stops and the end say, and compacted instructions.
//!
//! PRM: volume 2 (pixel shader payload), volume 4. Addresses are those of crocus's own decode of the batches.

use std::fs;
use std::path::Path;

use crate::common::{crestline, failed, ok, scene, scratch};

/// A frame of Ironlake. Its kernels lie from 00104000h on, which is their base; the clear's is at 00104300h and has 96 bytes,
/// with 32 of zeros behind it.
fn ironlake() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let frame = root.join("../tests/data/captures/ironlake/c_gouraud");
    frame.display().to_string()
}

#[test]
fn a_compacted_instruction_keeps_its_eight_bytes() {
    let directory = scratch("debug-compacted");
    let frame = ironlake();
    let text = |name: &str, line: &str| {
        fs::write(directory.join(name), line).unwrap();
        let words = crestline(
            &directory,
            &["asm", "--gen", "5", name, "--hex", "--no-warnings"],
        );
        ok(&words)
            .trim()
            .trim_matches(['{', '}', ',', ' '])
            .to_owned()
    };
    let old = "mov(8) g2<1>F g1<8,8,1>F { align1 compacted };";
    let old_words = text("old.asm", old);
    assert_eq!(old_words.split(',').count(), 2, "{old_words}");
    let new_words = text("new.asm", "mov(8) g3<1>F g1<8,8,1>F { align1 compacted };");
    assert_ne!(old_words, new_words);
    let script = [
        "break thread ps",
        "run",
        &format!("set mem 0x00104360 = {old_words}, 0x12345678, 0x9abcdef0"),
        "disasm 0x00104360 1",
        "expect text compacted",
        // Without the word, and with it.
        "set inst 0x00104360 \"mov(8) g3<1>F g1<8,8,1>F { align1 }\"",
        &format!("expect mem 0x00104360 = {new_words}, 0x12345678, 0x9abcdef0"),
        &format!("set inst 0x00104360 \"{old}\""),
        &format!("expect mem 0x00104360 = {old_words}, 0x12345678, 0x9abcdef0"),
        // No table has this immediate.
        "expect error \"0x00104360 is a compacted instruction of 8 bytes\" set inst 0x00104360 \"mov(8) g3<1>F 1.2345F { align1 }\"",
        &format!("expect mem 0x00104360 = {old_words}, 0x12345678, 0x9abcdef0"),
        &format!("expect error \"0x00104300 is an instruction of 16 bytes\" set inst 0x00104300 \"{old}\""),
        "quit",
    ]
    .join("\n");
    fs::write(directory.join("s.dbg"), script).unwrap();
    ok(&crestline(
        &directory,
        &["debug", &frame, "--script", "s.dbg"],
    ));
}

#[test]
fn a_count_of_disasm_needs_an_address() {
    let directory = scratch("debug-count");
    let errors = failed(&crestline(
        &directory,
        &["debug", &scene("b_flat"), "-c", "disasm 30"],
    ));
    assert!(
        errors.contains("0x1e is no address of an instruction")
            && errors.contains("a count needs an address: `disasm ADDR N`"),
        "{errors}"
    );
}

/// PRM volume 2: r1.2 to r1.5 are the corners of the thread's blocks of 2x2 pixels.
#[test]
fn a_stop_at_a_pixel_says_its_channel() {
    let directory = scratch("debug-channel");
    // The clear's first thread has the blocks at 0,0 2,0 0,2 2,2.
    for (pixel, channel) in [("0,0", 0), ("1,0", 1), ("0,1", 2), ("3,1", 7), ("2,3", 14)] {
        for backend in ["host", "registers"] {
            let text = ok(&crestline(
                &directory,
                &[
                    "debug",
                    &scene("b_flat"),
                    "--backend",
                    backend,
                    "-c",
                    &format!("break pixel {pixel}"),
                    "-c",
                    "run",
                ],
            ));
            let end = format!("; pixel {pixel} is channel {channel}\n");
            assert!(text.contains(&end), "{text}");
        }
    }
}

#[test]
fn an_end_with_an_error_is_told_once_with_graphics_addresses() {
    let directory = scratch("debug-wrong-end");
    let frame = ironlake();
    // The first instruction of the clear's kernel, while its thread stands there, becomes none. Its base is 00104000h.
    let args = [
        "debug",
        &frame,
        "-c",
        "break thread ps",
        "-c",
        "run",
        "-c",
        "set mem 0x00104300 = 0x7f, 0, 0, 0",
        "-c",
        "delete all",
        "-c",
        "continue",
        "-c",
        "expect end",
    ];
    let output = crestline(&directory, &args);
    let both = String::from_utf8(output.stdout).unwrap() + str::from_utf8(&output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{both}");
    assert!(
        both.contains("kernel 0x00104300 [") && both.contains("instruction 0x00104300 ["),
        "{both}"
    );
    assert!(!both.contains(": :"), "{both}");
    assert_eq!(both.matches("error state:").count(), 1, "{both}");
    // Without the expectation, too.
    let output = crestline(&directory, &args[..args.len() - 2]);
    let both = String::from_utf8(output.stdout).unwrap() + str::from_utf8(&output.stderr).unwrap();
    assert_eq!(both.matches("error state:").count(), 1, "{both}");
}

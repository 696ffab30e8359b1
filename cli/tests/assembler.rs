//! `crestline asm` and `crestline disasm` as a user runs them.
//!
//! PRM: volume 4, 13.2. Words of the first program from Mesa's disassembly in captured GM965 frames.

use std::fs;
use std::path::Path;

use crate::common::{bytes, fed, scratch};

/// Text and words of a captured setup kernel, and its last send.
const TEXT: &str = "\
// Kernel of a clear
mov(2) g3.2<1>F g2<2,2,1>F { align1 };
mov(8) m3<1>F g3<8,8,1>F { align1 };
send(8) 0 null<1>F g0<8,8,1>F 0x8640c840
    urb MsgDesc: offset 4 urb_write transpose used complete mlen 4 rlen 0 { align1 EOT };
";
const WORDS: [u32; 12] = [
    0x0020_0001,
    0x2068_03bd,
    0x0045_0040,
    0,
    0x0060_0001,
    0x2060_03be,
    0x008d_0060,
    0,
    0x0060_0031,
    0x2000_0fbc,
    0x008d_0000,
    0x8640_c840,
];

fn good(directory: &Path, args: &[&str], input: &[u8]) -> Vec<u8> {
    let out = fed(directory, args, input);
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    out.stdout
}

/// Standard output and standard error of a run that fails.
fn bad(directory: &Path, args: &[&str], input: &[u8]) -> (Vec<u8>, String) {
    let out = fed(directory, args, input);
    assert_eq!(out.status.code(), Some(1));
    (out.stdout, String::from_utf8(out.stderr).unwrap())
}

#[test]
fn a_kernel_is_assembled_into_a_file_or_as_text() {
    let dir = scratch("asm/forms");
    fs::write(dir.join("k.asm"), TEXT).unwrap();
    good(&dir, &["asm", "--gen", "4", "k.asm", "-o", "k.bin"], b"");
    assert_eq!(fs::read(dir.join("k.bin")).unwrap(), bytes(&WORDS));
    assert_eq!(
        good(&dir, &["asm", "--gen", "gm965", "-"], TEXT.as_bytes()),
        bytes(&WORDS)
    );
    let words = good(&dir, &["asm", "--gen=40", "--hex", "k.asm"], b"");
    let words = String::from_utf8(words).unwrap();
    assert!(
        words.starts_with("   { 0x00200001, 0x206803bd, 0x00450040, 0x00000000 },\n"),
        "{words}"
    );
    assert_eq!(words.lines().count(), 3);
    let hex = good(&dir, &["asm", "--gen=4", "--hex=bytes", "k.asm"], b"");
    let hex = String::from_utf8(hex).unwrap();
    assert!(
        hex.starts_with("01 00 20 00 bd 03 68 20 40 00 45 00 00 00 00 00\n"),
        "{hex}"
    );
    // Every form comes back, and its text makes the same kernel again.
    for input in [bytes(&WORDS), words.into_bytes(), hex.into_bytes()] {
        let text = good(&dir, &["disasm", "--gen=4", "-"], &input);
        assert!(
            !text.starts_with(b"//"),
            "{}",
            String::from_utf8_lossy(&text)
        );
        assert_eq!(good(&dir, &["asm", "--gen=4", "-"], &text), bytes(&WORDS));
    }
}

#[test]
fn errors_leave_no_file() {
    let dir = scratch("asm/errors");
    fs::write(
        dir.join("x.asm"),
        "mov(8) g1<1>F g2<8,8,1>F { align1 };\nadd(8) g1<1>Q;\nfrob;\n",
    )
    .unwrap();
    fs::write(dir.join("old.bin"), "old").unwrap();
    let (out, errors) = bad(&dir, &["asm", "--gen=4", "x.asm", "-o", "new.bin"], b"");
    assert_eq!(out, b"");
    assert!(
        errors.contains("x.asm:2:14: error: expected a register"),
        "{errors}"
    );
    assert!(
        errors.contains("\nadd(8) g1<1>Q;\n             ^\n"),
        "{errors}"
    );
    assert!(
        errors.contains("x.asm:3:1: error: expected an instruction"),
        "{errors}"
    );
    assert!(errors.ends_with("crestline: x.asm: 2 errors\n"), "{errors}");
    bad(&dir, &["asm", "--gen=4", "x.asm", "-o", "old.bin"], b"");
    let mut names: Vec<String> = fs::read_dir(&dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["old.bin", "x.asm"]);
    assert_eq!(fs::read(dir.join("old.bin")).unwrap(), b"old");
    let (_, errors) = bad(&dir, &["asm", "--gen=4", "missing.asm"], b"");
    assert!(errors.contains("missing.asm: No such file"), "{errors}");
    let (_, errors) = bad(&dir, &["asm", "--gen=4", "x.asm", "-o", "no/where"], b"");
    assert!(errors.contains("2 errors"), "{errors}");
    let out = fed(&dir, &["asm", "--gen=3", "x.asm"], b"");
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn jumps_have_labels_and_can_be_moved() {
    let dir = scratch("asm/labels");
    let text = "\
        L:\n\
        do(8) { align1 };\n\
        (+f0.0) break(8) Jump: E Pop: 0 { align1 };\n\
        while(8) Jump: L { align1 };\n\
        E:\n\
        nop;\n";
    let kernel = good(&dir, &["asm", "--gen=4", "-"], text.as_bytes());
    let listing = good(&dir, &["disasm", "--gen=4", "-"], &kernel);
    let listing = String::from_utf8(listing).unwrap();
    assert!(listing.contains("LABEL"), "{listing}");
    // One instruction more inside the loop; the jumps follow.
    let at = listing.find("while").unwrap();
    let edited = format!("{}nop;\n{}", &listing[..at], &listing[at..]);
    let kernel = good(&dir, &["asm", "--gen=4", "-"], edited.as_bytes());
    let jump =
        |index: usize| i16::from_le_bytes([kernel[index * 16 + 12], kernel[index * 16 + 13]]);
    assert_eq!((jump(1), jump(3)), (3, -3));
}

/// Of an MPEG-2 kernel of intel-vaapi-driver (src/shaders/mpeg2/vld/frame_intra.g4b, MIT): their assembler leaves
/// the type of a missing source 1 at 0 after an immediate, and gives sends an immediate of type D. Nothing reads either.
#[test]
fn what_nothing_reads_is_an_option() {
    let dir = scratch("asm/reserved");
    let words = [
        0x0000_0001,
        0x2da6_0169,
        0x0000_0000,
        0x0008_0008,
        0x0080_0031,
        0x2400_1d28,
        0x008d_0000,
        0x8710_0000,
    ];
    let whole = bytes(&words);
    for generation in ["4", "4.5"] {
        let generation = format!("--gen={generation}");
        let text = good(&dir, &["disasm", &generation, "-"], &whole);
        let listing = String::from_utf8(text.clone()).unwrap();
        assert!(!listing.contains(".dword"), "{listing}");
        assert!(
            listing.contains("{ align1 reserved1=0x00002000 };")
                && listing.contains("{ align1 EOT reserved1=0x00001000 };"),
            "{listing}"
        );
        assert_eq!(good(&dir, &["asm", &generation, "-"], &text), whole);
    }
    let overlap = b"mov(8) g1<1>F g2<8,8,1>F { align1 reserved1=0x1 };";
    let (_, errors) = bad(&dir, &["asm", "--gen=4", "-"], overlap);
    assert!(errors.contains("reserved"), "{errors}");
    let huge = b"mov(8) g1<1>F g2<8,8,1>F { align1 reserved1=0x100000000 };";
    let (_, errors) = bad(&dir, &["asm", "--gen=4", "-"], huge);
    assert!(errors.contains("32 bits"), "{errors}");
}

#[test]
fn any_words_survive() {
    let dir = scratch("asm/garbage");
    // A good instruction, an unknown opcode, reserved bits, and half an instruction.
    let mut words = WORDS[..4].to_vec();
    words.extend([0x7f, 1, 2, 3]);
    words.extend([0x0020_0001, 0x2068_03bd, 0xf045_0040, 0x1234_5678]);
    let whole = bytes(&words);
    let text = good(&dir, &["disasm", "--gen=4", "-"], &whole);
    let listing = String::from_utf8(text.clone()).unwrap();
    assert!(
        listing.contains("// 0x0010: illegal: unknown opcode 127\n.dword 0x0000007f"),
        "{listing}"
    );
    assert!(
        listing.contains(" { align1 reserved2=0xf0000000 reserved3="),
        "{listing}"
    );
    assert_eq!(good(&dir, &["asm", "--gen=4", "-"], &text), whole);
    words.extend([5, 6]);
    let (text, errors) = bad(&dir, &["disasm", "--gen=4", "-"], &bytes(&words));
    assert!(
        errors.ends_with("<stdin>: 56 bytes; the last instruction is cut off after 8 bytes\n"),
        "{errors}"
    );
    assert_eq!(good(&dir, &["asm", "--gen=4", "-"], &text), bytes(&words));
    let (text, errors) = bad(&dir, &["disasm", "--gen=4", "-"], b"\x01\x02\x03");
    assert_eq!(text, b"");
    assert!(
        errors.contains("3 bytes; the last instruction is cut off after 3 bytes"),
        "{errors}"
    );
}

/// Half of the opcodes of random words do not exist; the others are instructions of both sizes.
#[test]
fn random_words_of_every_generation_survive() {
    let dir = scratch("asm/random");
    for generation in ["4", "4.5", "5", "6", "7", "7.5", "8", "9"] {
        let mut random = fastrand::Rng::with_seed(1);
        let random: Vec<u32> = (0..6000).map(|_| random.u32(..)).collect();
        let args = ["disasm", "--no-warnings", "--gen", generation, "-"];
        let out = fed(&dir, &args, &bytes(&random));
        let args = ["asm", "--no-warnings", "--gen", generation, "-"];
        let back = good(&dir, &args, &out.stdout);
        // What is left at the end is less than a compacted instruction.
        let whole = bytes(&random);
        assert!(whole.starts_with(&back), "generation {generation}");
        assert!(whole.len() - back.len() < 8, "generation {generation}");
    }
}

#[test]
fn compacted_programs_stay_compacted() {
    let dir = scratch("asm/compacted");
    let text = "\
        LABEL0:\n\
        add(8) g3<1>F g3<8,8,1>F g4<8,8,1>F { align1 1Q compacted };\n\
        mul(8) g3<1>F g3<8,8,1>F 0x3fc00000F { align1 1Q };\n\
        while(8) JIP: LABEL0 { align1 1Q };\n";
    let kernel = good(&dir, &["asm", "--gen=7", "-"], text.as_bytes());
    assert_eq!(kernel.len(), 40);
    // PRM Ivybridge vol4 part 3: JIP counts eight bytes; it is in bits 111:96.
    assert_eq!(i16::from_le_bytes([kernel[36], kernel[37]]), -3);
    let listing = good(&dir, &["disasm", "--gen=7", "-"], &kernel);
    let listing = String::from_utf8(listing).unwrap();
    assert!(listing.contains("1Q compacted }"), "{listing}");
    assert_eq!(
        good(&dir, &["asm", "--gen=7", "-"], listing.as_bytes()),
        kernel
    );
    let (_, errors) = bad(
        &dir,
        &["asm", "--gen=7", "-"],
        b"mul(8) g3<1>F g3<8,8,1>F 0x3fc12345F { align1 1Q compacted };",
    );
    assert!(errors.contains("no compacted form"), "{errors}");
    let (_, errors) = bad(
        &dir,
        &["asm", "--gen=4.5", "-"],
        b"add(8) g3<1>F g3<8,8,1>F g4<8,8,1>F { align1 compacted };\nA:\nnop;\nwhile(8) Jump: B;B:while(8) Jump: A;\nadd(8) g3<1>F g3<8,8,1>F g4<8,8,1>F { align1 compacted };C: while(8) Jump: A;",
    );
    assert!(errors.contains("bytes away, jumps count 16"), "{errors}");
}

//! `crestline eu run` as a user calls it: worked examples, and what goes wrong.
//!
//! Expectations are computed here, not by the model.

use std::path::PathBuf;
use std::process::Output;

use crate::common::{bytes, here, scratch};

fn docs(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../docs/eu").join(name).display().to_string()
}

fn run(args: &[&str]) -> Output {
    here(&[&["eu", "run"], args].concat())
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A file in a directory of the test's own.
fn file(test: &str, text: &str) -> String {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("eu_run");
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join(format!("{test}.asm"));
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn saxpy() {
    let xs: Vec<String> = (1..=16).map(|x| x.to_string()).collect();
    let x = format!("r4=f:{}", xs.join(","));
    let args = [
        "--gen",
        "4",
        "--grf",
        "r2=f:2.0",
        "--grf",
        "r6=f:0.5*16",
        "--dump",
        "r6..r7:f",
    ];
    for generation in ["4", "g45", "5"] {
        let name = docs("saxpy.asm");
        let mut args = args.to_vec();
        args[1] = generation;
        let output = run(&[&[name.as_str(), "--grf", &x], &args[..]].concat());
        let ys: Vec<String> = (1..=16u8)
            .map(|x| format!("{:?}", 2.0 * f32::from(x) + 0.5))
            .collect();
        let text = stdout(&output);
        assert!(
            text.contains(&format!("g6:f {}\n", ys[..8].join(" "))),
            "{text}"
        );
        assert!(
            text.contains(&format!("g7:f {}\n", ys[8..].join(" "))),
            "{text}"
        );
        assert!(output.status.success());
    }
}

#[test]
fn collatz() {
    let steps = |mut n: u64| {
        let mut steps = 0;
        while n > 1 {
            n = if n.is_multiple_of(2) {
                n / 2
            } else {
                3 * n + 1
            };
            steps += 1;
        }
        steps.to_string()
    };
    let numbers = [1, 2, 3, 6, 7, 9, 27, 97];
    let list: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let load = format!("r2=ud:{}", list.join(","));
    let output = run(&[
        &docs("collatz.asm"),
        "--gen",
        "4",
        "--grf",
        &load,
        "--exec-size-mask",
        "0xff",
        "--dump",
        "r3:d",
    ]);
    let expected: Vec<String> = numbers.into_iter().map(steps).collect();
    let text = stdout(&output);
    assert!(
        text.ends_with(&format!("g3:d {}\n", expected.join(" "))),
        "{text}"
    );
}

#[test]
fn memory_in_and_out() {
    let dir = scratch("eu_run_memory");
    let (input, result) = (dir.join("in.bin"), dir.join("out.bin"));
    let words: Vec<u32> = (0..8).map(|i| i * 1000).collect();
    std::fs::write(&input, bytes(&words)).unwrap();
    let load = format!("{}@0x1000", input.display());
    let dump = format!("0x1000+32={}", result.display());
    let output = run(&[
        &docs("memory.asm"),
        "--gen",
        "4",
        "--mem",
        &load,
        "--dump-mem",
        &dump,
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let expected: Vec<u8> = words.iter().flat_map(|w| (w + 1).to_le_bytes()).collect();
    assert_eq!(std::fs::read(&result).unwrap(), expected);
    assert!(stdout(&output).contains("3 messages (null 1, read 1, write 1)"));
}

#[test]
fn the_trace_shows_what_changed() {
    let name = file("trace", "add(8) g3<1>D g2<8,8,1>D -1D { align1 };\n");
    let output = run(&[&name, "--gen", "4", "--grf", "r2=d:5*8", "--trace"]);
    let text = stdout(&output);
    assert!(
        text.contains("0 0x0000 add(8) g3<1>D g2<8,8,1>D -1D { align1 };"),
        "{text}"
    );
    assert!(
        text.contains("            g3:d 4 4 4 4 4 4 4 4\n"),
        "{text}"
    );
}

#[test]
fn failures_name_the_place() {
    let missing = run(&[&docs("memory.asm"), "--gen", "4"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        stderr(&missing).contains("Read at 0x00001000"),
        "{}",
        stderr(&missing)
    );
    assert!(stderr(&missing).contains("memory.asm:7, instruction at 0x0020"));

    let name = file("wait", "wait(1) n0<1>UD { align1 };\n");
    let waits = run(&[&name, "--gen", "4"]);
    assert_eq!(waits.status.code(), Some(1));
    assert!(
        stderr(&waits).contains("waits for a notification"),
        "{}",
        stderr(&waits)
    );

    let name = file("endless", "A: jmpi(1) A { align1 };\n");
    let endless = run(&[&name, "--gen", "4", "--limit", "1000"]);
    assert_eq!(endless.status.code(), Some(1));
    assert!(
        stderr(&endless).contains("no end after 1000 instructions"),
        "{}",
        stderr(&endless)
    );

    let name = file("illegal", ".dword 0 0 0 0\n");
    let illegal = run(&[&name, "--gen", "4"]);
    assert!(
        stderr(&illegal).contains("illegal instruction"),
        "{}",
        stderr(&illegal)
    );

    for (args, what) in [
        (
            &["no-such-file.asm", "--gen", "4"][..],
            "no-such-file.asm: No such file",
        ),
        (&[&name, "--gen", "8"], "the model runs 4, 4.5, 5, 6 and 7"),
        (&[&name, "--gen", "3"], "the model runs 4, 4.5"),
        (
            &[&name, "--gen", "4", "--mem", "x@0x1000"],
            "x: No such file",
        ),
        (
            &[&name, "--gen", "4", "--map", "0x1fffffff+16"],
            "leave the address space",
        ),
        (
            &[&name, "--gen", "4", "--sip", "NOWHERE"],
            "no label `NOWHERE`",
        ),
        (&[&name, "--gen", "4", "--dump", "r4..r200"], "no register"),
    ] {
        let output = run(args);
        assert!(!output.status.success());
        assert!(
            stderr(&output).contains(what),
            "{args:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn exceptions_reach_the_system_routine() {
    // An opcode that is not there; the routine leaves its mark and returns behind it (PRM 12.5).
    let text = "        .dword 0x0000007d 0 0 0\n\
                \x20       jmpi(1) DONE { align1 };\n\
                HANDLER:\n\
                \x20       mov(8) g9<1>UD 0x000000ffUD { align1 };\n\
                DONE:\n\
                \x20       nop;\n";
    let name = file("sip", text);
    let output = run(&[
        &name,
        "--gen",
        "4",
        "--sip",
        "HANDLER",
        "--exceptions",
        "illegal",
    ]);
    assert!(
        stdout(&output).contains("g9:ud 0x000000ff"),
        "{} {}",
        stdout(&output),
        stderr(&output)
    );
}

/// The same line is a message to extended math on every generation that the model runs, though its
/// descriptor is another one.
#[test]
fn square_roots_on_every_generation() {
    let name = file(
        "sqrt",
        "send(8) 1 g10<1>F g2<8,8,1>F math MsgDesc: sqrt mlen 1 rlen 1 { align1 };\n",
    );
    for generation in ["4", "4.5", "5"] {
        let values = "r2=f:0,1,4,9,16,25,36,49";
        let output = run(&[
            &name, "--gen", generation, "--grf", values, "--dump", "r10:f",
        ]);
        let text = stdout(&output);
        assert!(output.status.success(), "{generation}: {}", stderr(&output));
        let roots = "g10:f 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0";
        assert!(text.contains(roots), "{generation}: {text}");
        assert!(text.contains("1 message (math 1)"), "{generation}: {text}");
    }
}

#[test]
fn a_device_names_its_generation() {
    let name = file("device", "mov(8) g2<1>UD 7UD { align1 };\n");
    let by_generation = run(&[&name, "--gen", "5"]);
    let by_device = run(&[&name, "--device", "ironlake"]);
    assert!(by_device.status.success(), "{}", stderr(&by_device));
    assert_eq!(stdout(&by_device), stdout(&by_generation));
}

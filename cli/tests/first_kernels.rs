//! What a beginner's kernels meet: no end, no memory, options with a wrong form.
//!
//! Expectations are the options' own help and the rules of docs/validation-rules.md.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{crestline, failed, fed, ok, scratch};

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", said(output));
    said(output)
}

const PLAIN: &str = "mov(8) g6<1>F 1F { align1 };\n";

#[test]
fn a_media_kernel_without_an_end_is_told_once() {
    let directory = scratch("first-noeot");
    fs::write(directory.join("noeot.asm"), format!("\n{PLAIN}")).unwrap();
    let args = ["media", "run", "noeot.asm", "--grid", "4x8"];
    let output = crestline(&directory, &args);
    assert_eq!(output.status.code(), Some(1));
    let text = said(&output);
    assert!(
        text.starts_with("noeot.asm:2:1: warning: end-of-thread"),
        "{text}"
    );
    assert_eq!(text.matches("EU: bad command").count(), 1, "{text}");
    assert!(text.contains("(32 times)"), "{text}");
    assert!(
        text.contains("ran past the last instruction (noeot.asm:2): a media kernel ends with a message to thread_spawner"),
        "{text}"
    );
}

#[test]
fn a_kernel_that_changes_nothing_says_so() {
    let run = |args: &[&str]| {
        let args = [&["eu", "run", "-"], args].concat();
        ok(&fed(
            Path::new("."),
            &args,
            b"mov(8) g6<1>F g5<8,8,1>F { align1 };\n",
        ))
    };
    let text = run(&[]);
    assert!(
        text.ends_with("no register changed (all are zero without --grf)\n"),
        "{text}"
    );
    let text = run(&["--grf", "r5=f:1.0", "--gen", "4"]);
    assert!(
        text.contains("g6:f 1.0") && !text.contains("no register"),
        "{text}"
    );
    let text = run(&["--grf", "r7=f:1.0"]);
    assert!(text.ends_with("no register changed\n"), "{text}");
}

#[test]
fn options_of_kernels_say_what_they_take() {
    let kernel = |text: &str, args: &[&str]| {
        let args = [&["eu", "run", "-"], args].concat();
        fed(Path::new("."), &args, text.as_bytes())
    };
    let text = refused(&kernel(PLAIN, &["--dump", "r3,r5"]));
    assert!(
        text.contains("a range of registers is r3..r5") && text.contains("several --dump"),
        "{text}"
    );
    let text = refused(&kernel(PLAIN, &["--map", "0x1000+64=out.bin"]));
    assert!(text.contains("--dump-mem 0x1000+64=out.bin"), "{text}");
    let text = failed(&kernel(PLAIN, &["--dump-mem", "0x1000+64"]));
    assert!(text.contains("--map ADDR+LENGTH puts memory"), "{text}");
    let read = "mov(8) m1<1>UD 0UD { align1 };\nsend(8) 1 g2<1>UW null<8,8,1>UW read MsgDesc: \
                OWord Block Read MsgCtrl = 0x0 Surface = 0 mlen 1 rlen 1 { align1 };\n";
    let text = failed(&kernel(read, &[]));
    assert!(
        text.contains("GTT entry is not valid") && text.contains("--map ADDR+LENGTH puts memory"),
        "{text}"
    );
}

#[test]
fn kernels_that_run_are_checked_too() {
    let kernel = b"mov(8) g1<1>F g2<8,8,1>F { align1 };\nmov(8) g3.1<1>F g2<8,8,1>F { align1 };\n";
    let output = fed(Path::new("."), &["eu", "run", "-"], kernel);
    ok(&output);
    let text = said(&output);
    assert!(
        text.contains("<stdin>:2:1: warning: ") && text.contains("docs/validation-rules.md"),
        "{text}"
    );
    assert!(
        !text.contains("--no-warnings") && !text.contains("end-of-thread"),
        "{text}"
    );
}

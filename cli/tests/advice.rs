//! Errors and answers that say what to do next.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{crestline, failed, fed, here, ok, scene, scratch};

/// Exit code 2, of wrong arguments; comes back with the message.
fn refused(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

fn captures() -> String {
    format!("{}/../tests/data/captures", env!("CARGO_MANIFEST_DIR"))
}

fn example(name: &str) -> String {
    format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn generations_that_do_not_run_are_answered_with_those_that_do() {
    for generation in ["7.5", "X", "9"] {
        let text = refused(&here(&["eu", "run", "--gen", generation, "a.asm"]));
        assert!(text.contains("the model runs 4, 4.5, 5, 6 and 7"), "{text}");
    }
    let text = refused(&here(&["asm", "--gen", "3", "a.asm"]));
    assert!(text.contains("4, 4.5, 5, 6, 7, 7.5, 8 or 9"), "{text}");
}

#[test]
fn pictures_of_other_forms_are_neither_read_nor_written() {
    let blur = example("examples/kernels/blur.asm");
    for option in ["--in", "--out"] {
        let args = [
            "media",
            "run",
            &blur,
            "--grid",
            "1x1",
            option,
            "soft.JPG,width=4",
        ];
        let text = refused(&here(&args));
        for part in ["soft.JPG", ".png is a picture", "raw bytes"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn an_assumed_format_is_told() {
    let directory = scratch("advice-format");
    fs::write(directory.join("raw.bin"), [7; 128 * 8]).unwrap();
    let blur = example("examples/kernels/blur.asm");
    let run = |input: &str| {
        let args = [
            "media", "run", &blur, "--grid", "8x1", "--in", input, "--out", "a.bin",
        ];
        let output = crestline(&directory, &args);
        ok(&output);
        String::from_utf8(output.stderr).unwrap()
    };
    let text = run("raw.bin,width=128,height=8");
    assert!(
        text.starts_with("raw.bin: warning: without format="),
        "{text}"
    );
    assert!(
        text.contains("taken for r8") && text.contains("rgba8"),
        "{text}"
    );
    assert_eq!(run("raw.bin,width=128,height=8,format=r8"), "");
}

#[test]
fn captures_below_a_directory_are_suggested() {
    let text = failed(&here(&["replay", &captures()]));
    for part in ["is not a capture", "g45/a_clear`, `", "--list"] {
        assert!(text.contains(part), "{text}");
    }
    let directory = scratch("advice-below");
    fs::create_dir_all(directory.join("one")).unwrap();
    fs::copy(scene("a_clear"), directory.join("one/frame.crest")).unwrap();
    let text = failed(&crestline(&directory, &["replay", "."]));
    assert!(text.contains("below it there is `./one`"), "{text}");
    ok(&crestline(&directory, &["replay", "./one"]));
}

#[test]
fn text_is_no_kernel() {
    for text in [
        "# Notes\nThe register 0x2080 holds an address.\n",
        "mov(8) g1<1>F 0x3f800000:F { align1 };\n",
        "Ünïcode.\n",
    ] {
        let output = fed(
            Path::new("."),
            &["disasm", "--gen", "4", "-"],
            text.as_bytes(),
        );
        let said = failed(&output);
        for part in ["<stdin>:", "looks like text", "crestline asm"] {
            assert!(said.contains(part), "{said}");
        }
    }
    // One instruction as Mesa's sources have it.
    let array = b"static const uint32_t k[][4] = {\n { 0x00600001, 0x202003bd, 0x008d0040, 0x00000000 },\n};\n";
    let output = fed(Path::new("."), &["disasm", "--gen", "4", "-"], array);
    assert!(ok(&output).contains("mov"));
}

#[test]
fn pixels_count_from_zero() {
    for args in [
        &["why", "gears", "-1,80"][..],
        &["why", "gears", "--json", "80,-1"],
        &["replay", "gears", "--snapshot-pixel", "-1,80"],
        &["report", "gears", "-o", "a.html", "--at", "-1,80"],
    ] {
        let text = refused(&here(args));
        assert!(text.contains("count from 0"), "{text}");
    }
}

#[test]
fn a_step_needs_a_thread_that_is_stopped() {
    let text = failed(&here(&["debug", &scene("a_clear"), "-c", "step"]));
    assert!(text.contains("`break pixel X,Y`"), "{text}");
    let text = failed(&here(&[
        "debug",
        &scene("a_clear"),
        "-c",
        "run",
        "-c",
        "step",
    ]));
    assert!(text.contains("before `run`"), "{text}");
}

#[test]
fn captures_are_packed_by_name() {
    let directory = scratch("advice-pack");
    let text = ok(&crestline(&directory, &["pack", "gears", "a.crest"]));
    assert!(text.starts_with("a.crest: "), "{text}");
    ok(&crestline(&directory, &["decode", "a.crest"]));
    let text = failed(&crestline(&directory, &["pack", "gearz", "b.crest"]));
    assert!(text.contains("Did you mean `gears`"), "{text}");
    for capture in ["gears", &scene("a_clear")] {
        let text = failed(&crestline(&directory, &["pack", capture, "no/b.crest"]));
        assert!(text.starts_with("crestline: no/b.crest: "), "{text}");
        assert_eq!(text.matches(".crest").count(), 1, "{text}");
    }
}

#[test]
fn warnings_of_the_validator_end_with_what_to_do() {
    let text = b"mov(8) g1<1>F g2<8,8,1>F { align1 };\n";
    let output = fed(Path::new("."), &["asm", "--gen", "4", "--hex", "-"], text);
    let said = String::from_utf8(output.stderr).unwrap();
    for part in [
        "crestline: 1 warning: ",
        "docs/validation-rules.md",
        "--no-warnings",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_replay_without_a_picture_names_the_option() {
    let text = ok(&here(&["replay", &scene("a_clear")]));
    assert!(
        text.contains("`--png FILE` writes the last render target, 256x256"),
        "{text}"
    );
    let directory = scratch("advice-png");
    let text = ok(&crestline(
        &directory,
        &["replay", &scene("a_clear"), "--png", "a.png"],
    ));
    assert!(!text.contains("no picture"), "{text}");
}

#[test]
fn a_hang_says_how_to_go_on() {
    let text = failed(&here(&["replay", &scene("g_gears"), "--timeout-ms", "1"]));
    for part in [
        "not done after 1 ms",
        "`--timeout-ms N` waits longer",
        "`crestline debug`",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

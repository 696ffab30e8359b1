//! Files that are read are not written over, and standard output has one thing.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use crate::common::{PROGRAM, crestline, failed, media, ok, scene, scratch, served};

/// Runs a kernel and writes a range of its memory.
fn dump(range: &str) -> [&str; 7] {
    ["eu", "run", "k.asm", "--map", "0+64", "--dump-mem", range]
}

#[test]
fn what_is_read_is_not_written_over() {
    let dir = scratch("outputs-read");
    fs::copy(scene("b_flat"), dir.join("v.crest")).unwrap();
    fs::hard_link(dir.join("v.crest"), dir.join("hard")).unwrap();
    symlink("v.crest", dir.join("link")).unwrap();
    fs::write(dir.join("k.asm"), "mov(8) g1<1>F 1.0F { align1 };\n").unwrap();
    fs::write(dir.join("k.bin"), [0; 16]).unwrap();
    ok(&crestline(&dir, &["replay", "gears", "--png", "old.png"]));
    let before: Vec<_> = ["v.crest", "k.asm", "k.bin", "old.png"]
        .map(|name| (name, fs::read(dir.join(name)).unwrap()))
        .into();
    for args in [
        &["replay", "v.crest", "--png", "v.crest"][..],
        &["replay", "v.crest", "--png", "hard"],
        &["replay", "v.crest", "--trace", "link"],
        &["replay", "link", "--png", "./v.crest"],
        &["report", "v.crest", "-o", "v.crest"],
        &["pack", "v.crest", "hard"],
        &["asm", "--gen", "4", "--no-warnings", "k.asm", "-o", "k.asm"],
        &["disasm", "--gen", "4", "k.bin", "-o", "k.bin"],
        &dump("0+64=k.asm"),
        &[
            "eu",
            "run",
            "k.asm",
            "--mem",
            "k.bin@0",
            "--dump-mem",
            "0+16=k.bin",
        ],
    ] {
        let said = failed(&crestline(&dir, args));
        assert!(said.contains("this file is read"), "{args:?}: {said}");
    }
    let args = [
        "replay",
        "gears",
        "--png",
        "old.png",
        "--trace",
        "./old.png",
    ];
    let said = failed(&crestline(&dir, &args));
    assert!(said.contains("it is the same file as old.png"), "{said}");
    for (name, bytes) in before {
        assert!(fs::read(dir.join(name)).unwrap() == bytes, "{name}");
    }
}

#[test]
fn a_file_of_a_capture_is_not_written_over_by_another_name() {
    let dir = scratch("outputs-named");
    let path = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap());
    let served = |args: &[&str]| {
        let mut command = served(&dir, args);
        command.current_dir(&dir).env("PATH", &path);
        command.output().unwrap()
    };
    fs::create_dir_all(dir.join("rec/exec_0000")).unwrap();
    fs::write(dir.join("rec/exec_0000/exec.json"), "{}").unwrap();
    let part = dir.join("rec/exec_0000/bo_000.bin");
    fs::write(&part, "bytes").unwrap();
    fs::hard_link(&part, dir.join("hard")).unwrap();
    fs::write(dir.join("away"), "bytes").unwrap();
    symlink("../../away", dir.join("rec/exec_0000/bo_001.bin")).unwrap();
    fs::copy(scene("b_flat"), dir.join("v.crest")).unwrap();
    fs::hard_link(dir.join("v.crest"), dir.join("p.png")).unwrap();
    fs::write(dir.join("s.dbg"), "trace s.dbg\n").unwrap();
    fs::write(dir.join("prog"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(dir.join("prog"), Permissions::from_mode(0o755)).unwrap();
    let names = ["hard", "away", "v.crest", "s.dbg", "prog"];
    let before = names.map(|name| fs::read(dir.join(name)).unwrap());
    for output in [
        crestline(&dir, &["replay", "rec", "--png", "hard"]),
        crestline(&dir, &["report", "rec", "-o", "away"]),
        crestline(&dir, &["pack", "rec", "hard"]),
        crestline(&dir, &["debug", "v.crest", "-c", "trace v.crest"]),
        crestline(&dir, &["debug", "v.crest", "--script", "s.dbg"]),
        crestline(
            &dir,
            &[
                "debug",
                "v.crest",
                "-c",
                "break eot",
                "-c",
                "run",
                "-c",
                "show target to p.png",
            ],
        ),
        served(&["exec", "--trace", "prog", "--", "./prog"]),
        // As the system finds it.
        served(&["exec", "--trace", "prog", "--", "prog"]),
    ] {
        let said = failed(&output);
        assert!(said.contains("this file is read"), "{said}");
    }
    assert!(names.map(|name| fs::read(dir.join(name)).unwrap()) == before);
}

#[test]
fn standard_input_and_output_are_files_too() {
    let dir = scratch("outputs-dash");
    let source = "mov(8) g1<1>F 1.0F { align1 };\n";
    fs::write(dir.join("k.asm"), source).unwrap();
    let run = |args: &[&str], stdin: &str, stdout: &str| {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(&dir);
        command.stdin(fs::File::open(dir.join(stdin)).unwrap());
        let out = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(dir.join(stdout));
        command.stdout(out.unwrap());
        failed(&command.stderr(Stdio::piped()).output().unwrap())
    };
    let args = ["asm", "--gen", "4", "--no-warnings", "-", "-o", "k.asm"];
    let said = run(&args, "k.asm", "out");
    assert!(said.contains("this file is read as -"), "{said}");
    assert_eq!(fs::read_to_string(dir.join("k.asm")).unwrap(), source);
    // A debugger reads its commands from there.
    fs::write(dir.join("s.dbg"), "trace s.dbg\n").unwrap();
    let capture = scene("b_flat");
    let mut command = Command::new(PROGRAM);
    command.args(["debug", &capture]).current_dir(&dir);
    command.stdin(fs::File::open(dir.join("s.dbg")).unwrap());
    let told = command.output().unwrap();
    let told = String::from_utf8_lossy(&[told.stdout, told.stderr].concat()).into_owned();
    assert!(told.contains("this file is read"), "{told}");
    assert_eq!(
        fs::read_to_string(dir.join("s.dbg")).unwrap(),
        "trace s.dbg\n"
    );
    let copy = media::kernel("copy.asm");
    fs::write(dir.join("in.bin"), media::ramp(64)).unwrap();
    let args = [
        "media", "run", &copy, "--grid", "1x1", "--in", "in.bin", "--out",
    ];
    for more in [&["-", "--trace", "out"][..], &["out", "--out", "-"]] {
        let said = run(&[&args[..], more].concat(), "k.asm", "out");
        assert!(said.contains("it is the same file as"), "{said}");
    }
    let said = run(
        &[&args[..], &["o.bin", "--trace", "in.bin"]].concat(),
        "k.asm",
        "out",
    );
    assert!(said.contains("in.bin: this file is read"), "{said}");
    assert!(fs::read(dir.join("in.bin")).unwrap() == media::ramp(64));
    assert_eq!(fs::metadata(dir.join("out")).unwrap().len(), 0);
}

#[test]
fn a_recording_may_have_its_picture_in_it() {
    let dir = scratch("outputs-in");
    fs::create_dir(dir.join("rec")).unwrap();
    fs::copy(scene("b_flat"), dir.join("rec/frame.crest")).unwrap();
    for _ in 0..2 {
        let args = ["--png", "rec/p.png", "--trace", "rec/t.json"];
        ok(&crestline(&dir, &[&["replay", "rec"], &args[..]].concat()));
    }
    let args = ["replay", "rec", "--png", "rec/frame.crest"];
    let said = failed(&crestline(&dir, &args));
    assert!(said.contains("this file is read as rec"), "{said}");
}

#[test]
fn a_result_on_standard_output_is_alone_there() {
    let dir = scratch("outputs-stdout");
    let run = |args: &[&str], to: Stdio| {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(&dir).stdout(to);
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        (output.stdout, said)
    };
    ok(&crestline(&dir, &["replay", "gears", "--png", "plain.png"]));
    let plain = fs::read(dir.join("plain.png")).unwrap();
    // A file, and a pipe.
    let args = ["replay", "gears", "--png", "/dev/stdout"];
    let file = fs::File::create(dir.join("out.png")).unwrap();
    let (_, said) = run(&args, file.into());
    assert!(said.contains("256x256"), "{said}");
    assert!(fs::read(dir.join("out.png")).unwrap() == plain);
    // So are bytes of memory, which the text would follow.
    fs::write(dir.join("k.asm"), "mov(8) g1<1>F 1.0F { align1 };\n").unwrap();
    let file = fs::File::create(dir.join("out.bin")).unwrap();
    run(&dump("0+64=/dev/stdout"), file.into());
    assert_eq!(fs::read(dir.join("out.bin")).unwrap(), [0; 64]);
    let (piped, said) = run(&args, Stdio::piped());
    assert!(said.contains("256x256"), "{said}");
    assert!(piped == plain);
}

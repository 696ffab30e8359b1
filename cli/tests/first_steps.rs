//! What a beginner meets: rows from the top, wrong files, missing programs.
//!
//! The vertex data of the scenes and the signals of the system are what is expected.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{PROGRAM, crestline, failed, fed, here, ok, scene, scratch, served};

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", said(output));
    said(output)
}

/// Writes a file into a directory.
fn write(directory: &Path, name: &str, text: &str) {
    fs::write(directory.join(name), text).unwrap();
}

#[test]
fn rows_count_from_the_top_of_a_flipped_picture() {
    let scene = scene("b_flat");
    let surface = ok(&here(&["why", &scene, "128,55"]));
    let flipped = ok(&here(&["why", &scene, "128,200", "--flip-y"]));
    // The picture has 256 rows.
    let (first, rest) = flipped.split_once('\n').unwrap();
    assert_eq!(
        first,
        "128,200 of the flipped picture is pixel 128,55 of the surface"
    );
    assert_eq!(rest, surface);
    let at = ok(&here(&["report", &scene, "--at", "128,55"]));
    let flipped = ok(&here(&["report", &scene, "--at", "128,200", "--flip-y"]));
    assert_eq!(flipped, format!("{first}\n{at}"));
    let text = failed(&here(&["why", &scene, "0,256", "--flip-y"]));
    assert!(
        text.contains("lies outside the picture of 256x256"),
        "{text}"
    );
}

#[test]
fn the_first_steps_show_pictures_the_right_way_up() {
    let text = ok(&here(&["--help"]));
    for step in [
        "replay gears --png gears.png --flip-y",
        "why gears 120,80 --flip-y",
    ] {
        assert!(text.contains(step), "{text}");
    }
}

#[test]
fn a_library_that_is_missing_is_told_with_where_it_is() {
    // The program alone, as when it was copied into a directory of PATH.
    let directory = scratch("first-library");
    let program = directory.join("crestline");
    fs::copy(PROGRAM, &program).unwrap();
    let output = Command::new(&program)
        .args(["exec", "--", "true"])
        .env_remove("CRESTLINE_SHIM")
        .output()
        .unwrap();
    let text = failed(&output);
    assert!(text.contains("copy it from target/release"), "{text}");
}

#[test]
fn a_submission_alone_is_a_capture_without_a_name() {
    // Records of a packed capture (docs/captures.md): length of name and contents, name, contents.
    let packed = fs::read(scene("b_flat")).unwrap();
    let mut stream = Vec::new();
    let mut records = flate2::read::ZlibDecoder::new(&packed[8..]);
    records.read_to_end(&mut stream).unwrap();
    let directory = scratch("first-alone");
    let mut rest = stream.as_slice();
    while let Some((head, behind)) = rest.split_at_checked(8) {
        let length = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap()) as usize;
        let (name, behind) = behind.split_at(length(0));
        let (contents, behind) = behind.split_at(length(4));
        let path = directory.join(std::str::from_utf8(name).unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
        rest = behind;
    }
    let alone = directory.join("exec_0000");
    let text = ok(&here(&["why", alone.to_str().unwrap(), "128,128"]));
    assert!(text.contains("draw 1, number 1 of the frame"), "{text}");
}

#[test]
fn a_program_that_crashes_is_told_with_its_signal() {
    let directory = scratch("first-crash");
    for (signal, line) in [
        (
            "SEGV",
            Some("crestline: sh: ended by signal 11 (SIGSEGV)\n"),
        ),
        ("ABRT", Some("crestline: sh: ended by signal 6 (SIGABRT)\n")),
        ("TERM", None),
        ("PIPE", None),
    ] {
        let script = format!("kill -{signal} $$");
        let args = ["exec", "--memory", "16", "--", "sh", "-c", &script];
        let text = said(&served(&directory, &args).output().unwrap());
        match line {
            Some(line) => assert!(text.contains(line), "{text}"),
            None => assert!(!text.contains("ended by signal"), "{text}"),
        }
    }
}

#[test]
fn variables_that_choose_a_driver_are_named() {
    let directory = scratch("first-software");
    let args = ["exec", "--memory", "16", "--", "true"];
    let mut command = served(&directory, &args);
    command.env("LIBGL_ALWAYS_SOFTWARE", "1");
    let text = said(&command.output().unwrap());
    assert!(text.contains("LIBGL_ALWAYS_SOFTWARE=1 is set"), "{text}");
}

#[test]
fn a_program_to_debug_is_looked_for_at_once() {
    let directory = scratch("first-debug");
    let place = scratch("first-debug-programs");
    write(&place, "plain", "#!/bin/sh\n");
    fs::set_permissions(place.join("plain"), fs::Permissions::from_mode(0o644)).unwrap();
    for (program, code, part) in [
        ("nosuchprogram", 127, "no program of this name"),
        ("./nothing", 127, "there is no such file"),
        ("./plain", 126, "`chmod +x ./plain`"),
        ("/etc", 126, "a directory, not a program"),
    ] {
        let output = served(&directory, &["debug", "-c", "breaks", "--", program])
            .current_dir(&place)
            .output()
            .unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(
            text.starts_with(&format!("crestline: {program}: ")) && text.contains(part),
            "{text}"
        );
    }
    let text = refused(&here(&["debug"]));
    assert!(text.contains("-- <CMD>..."), "{text}");
    let text = refused(&here(&["replay"]));
    assert!(text.contains("replay --list"), "{text}");
}

#[test]
fn pictures_have_a_name_and_a_place() {
    let (gears, directory) = (scene("a_clear"), scratch("first-places"));
    let run = |args: &[&str]| crestline(&directory, args);
    let text = refused(&run(&["replay", &gears, "--png", "x.jpg"]));
    assert!(text.contains(".jpg is another form"), "{text}");
    let text = refused(&run(&["replay", &gears, "--png", "-"]));
    assert!(text.contains("name a file"), "{text}");
    for args in [
        &["replay", &gears, "--png", "no/x.png"][..],
        &["replay", &gears, "--trace", "no/x.txt"],
        &["report", &gears, "-o", "no/x.html"],
    ] {
        let output = run(args);
        let text = failed(&output);
        assert!(text.ends_with(": there is no directory no\n"), "{text}");
        assert!(output.stdout.is_empty(), "it has not run");
    }
    let text = failed(&run(&["replay", &gears, "--png", "."]));
    assert!(text.contains("this is a directory"), "{text}");
    assert!(fs::read_dir(&directory).unwrap().next().is_none());
}

#[test]
fn a_picture_is_no_capture() {
    let directory = scratch("first-picture");
    write(&directory, "a.ppm", "P6 1 1 255\n...");
    let text = failed(&crestline(&directory, &["why", "a.ppm", "0,0"]));
    assert!(text.contains("`crestline exec --record DIR"), "{text}");
}

#[test]
fn a_disassembly_goes_to_a_file() {
    let directory = scratch("first-disasm");
    let words = b"0x00600001 0x20c003fd 0x00000000 0x3f800000\n";
    let args = ["disasm", "--gen", "4", "--no-warnings", "-"];
    let text = ok(&fed(&directory, &args, words));
    let to_file = [&args[..], &["-o", "k.asm"]].concat();
    assert_eq!(ok(&fed(&directory, &to_file, words)), "");
    assert_eq!(fs::read_to_string(directory.join("k.asm")).unwrap(), text);
}

#[test]
fn the_options_of_every_command_end_with_those_of_all() {
    for command in [&["eu", "run"][..], &["media", "run"], &["why"]] {
        let text = ok(&here(&[command, &["--help"]].concat()));
        let options: Vec<&str> = text
            .lines()
            .map(str::trim_start)
            .filter(|line| line.starts_with("--") || line.starts_with("-h, "))
            .collect();
        let last = options.iter().rev().take(2);
        assert!(
            last.clone().any(|line| line.starts_with("--log ")),
            "{options:?}"
        );
    }
}

//! `crestline debug` from outside, on captured frames.
//!
//! PRM: volume 4, chapter 3. Expected colours and addresses are computed by hand from the frames' kernels.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::common::{crestline, fed, ok, scene, scratch};
use crestline_cli::capture::Reader;
use crestline_cli::debug::backend::{Backend, HostBackend, RegistersBackend};
use crestline_cli::debug::target::Target;
use crestline_cli::debug::{Debugger, State};
use crestline_cli::picture::Picture;
use crestline_cli::replay::{Options, device_of_reader};

fn script(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/debug");
    directory
        .join(name)
        .with_extension("dbg")
        .display()
        .to_string()
}

/// Standard output of a script that runs through.
fn scripted(directory: &Path, frame: &str, backend: &str, name: &str) -> String {
    let (frame, script) = (scene(frame), script(name));
    let args = ["debug", &frame, "--backend", backend, "--script", &script];
    ok(&crestline(directory, &args))
}

/// The same with the back end that is not named.
fn debug(directory: &Path, frame: &str, name: &str) -> String {
    ok(&crestline(
        directory,
        &["debug", &scene(frame), "--script", &script(name)],
    ))
}

/// Exit code and standard error of commands on a frame.
fn commands(
    directory: &Path,
    frame: &str,
    backend: &str,
    commands: &[&str],
) -> (Option<i32>, String) {
    let frame = scene(frame);
    let mut args = vec!["debug", &frame, "--backend", backend];
    args.extend(commands.iter().flat_map(|command| ["-c", command]));
    let output = crestline(directory, &args);
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), errors)
}

/// The picture that the script `pixel` has written is the undisturbed one.
fn assert_undisturbed(directory: &Path) {
    let frame = scene("g_gears");
    let args = ["replay", &frame, "--png", "whole.png", "--flip-y"];
    ok(&crestline(directory, &args));
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    assert!(read("stepped.png") == read("whole.png"));
}

#[test]
fn a_pixel_s_thread_is_stepped_and_the_picture_is_the_undisturbed_one() {
    let directory = scratch("debug-pixel");
    debug(&directory, "g_gears", "pixel");
    assert_undisturbed(&directory);
}

#[test]
fn a_changed_instruction_changes_the_pixel() {
    debug(&scratch("debug-modify"), "b_flat", "modify");
}

#[test]
fn what_cannot_be_done_is_said() {
    debug(&scratch("debug-errors"), "b_flat", "errors");
}

#[test]
fn failures_name_file_and_line() {
    let directory = scratch("debug-failures");
    let frame = scene("b_flat");
    for (text, message) in [
        (
            "break thread ps\nrun\nexpect stop vs\n",
            "s.dbg:3: expected stop vs, found: breakpoint 1, ps ordinal 0",
        ),
        (
            "# a comment\n\nnothing\n",
            "s.dbg:3: there is no command `nothing`",
        ),
        (
            "brake pixel 1,1\n",
            "s.dbg:1: there is no command `brake`; `help` lists them. Did you mean `breaks` or `break` or `trace`?",
        ),
        (
            "break pixle 1,1\n",
            "`break pixle 1,1`: this is no place to stop at; `help break` lists the places. Did you mean `pixel`?",
        ),
        (
            "break group\n",
            "s.dbg:1: `break group`: expected `break group X,Y,Z [N]`",
        ),
        ("break eot 1\n", "`break eot 1`: expected `break eot`"),
        (
            "break hs\n",
            "`break hs`: this is no place to stop at; `help break` lists the places. Did you mean `break thread hs`?",
        ),
        (
            "break thread ps\nrun\ndisasm 40\n",
            "s.dbg:3: `40`: 0x28 is no address of an instruction: those are multiples of 16; a count needs an address: `disasm ADDR N`; `disasm all` shows the kernel",
        ),
        ("source other.dbg\n", "s.dbg:1: other.dbg: No such file"),
        ("source s.dbg\n", "nested too deeply"),
        (
            "expect error a expect error b expect error c threads\n",
            "s.dbg:1: errors of errors",
        ),
    ] {
        fs::write(directory.join("s.dbg"), text).unwrap();
        let output = crestline(&directory, &["debug", &frame, "--script", "s.dbg"]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(
            errors.starts_with("crestline: ") && errors.contains(message),
            "{errors}"
        );
    }
    let output = crestline(&directory, &["debug", &frame, "--script", "missing.dbg"]);
    assert_eq!(output.status.code(), Some(1));
    let output = crestline(
        &directory,
        &["debug", &frame, "-c", "run", "-c", "expect stop"],
    );
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("--command:2: expected a stop"), "{errors}");
    let output = crestline(&directory, &["debug", &frame, "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_kernel_is_listed_to_its_end() {
    let frame = scene("g_gears");
    let commands = ["break thread ps", "run", "disasm all"];
    let mut args = vec!["debug", &frame];
    args.extend(commands.iter().flat_map(|command| ["-c", command]));
    let text = ok(&crestline(&scratch("debug-disasm"), &args));
    let (_, listing) = text.split_once("(debug) disasm all\n").unwrap();
    let lines: Vec<&str> = listing.lines().collect();
    let ends: Vec<usize> = (0..lines.len())
        .filter(|line| lines[*line].contains("EOT"))
        .collect();
    // Its first instruction is the next one, and its last ends the thread.
    assert!(lines[0].starts_with("=> 0x"), "{listing}");
    assert!(lines[ends[0]].contains("send"), "{listing}");
    let behind = lines.get(ends[0] + 1).copied().unwrap_or_default();
    assert!(!behind.contains("0x"), "{listing}");
}

#[test]
fn the_end_of_input_lets_the_frame_finish() {
    let directory = scratch("debug-input");
    let input = b"break thread ps\nnonsense\nrun\nstep\n";
    let output = fed(&directory, &["debug", &scene("b_flat")], input);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("after 1 instruction"), "{text}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("the frame has ended: 1 submission, 2 draws"),
        "{errors}"
    );
}

#[test]
fn every_command_does_something() {
    let directory = scratch("debug-commands");
    debug(&directory, "g_gears", "commands");
    for name in ["surface.png", "target.png", "events.jsonl"] {
        assert!(
            fs::metadata(directory.join(name)).unwrap().len() > 100,
            "{name}"
        );
    }
    // One object a line, as JSON Lines has it.
    let events = fs::read_to_string(directory.join("events.jsonl")).unwrap();
    assert!(
        events
            .lines()
            .all(|line| line.starts_with('{') && line.ends_with('}'))
    );
}

#[test]
fn a_watch_tells_what_has_changed() {
    debug(&scratch("debug-watch"), "b_flat", "watch");
}

/// r0.5 and copies of it in m1.5 have the thread's number in its unit in bits 7:0: others may be dispatched while one is
/// halted by registers.
fn without_fftid(line: &str) -> String {
    if !line.starts_with("r0:ud") && !line.starts_with("m1:ud") {
        return line.to_owned();
    }
    let words = line.split(' ').enumerate().map(|(n, word)| match n {
        6 => &word[..word.len() - 2],
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What a script prints about stops and registers, without what the back ends need not agree on: m0 and exceptions are
/// the system routine's, and only the host keeps places of pixels and every count.
fn comparable(text: &str) -> Vec<String> {
    let kept = text.lines().filter(|line| {
        let name = line.trim_start();
        !["m0:", "cr0.1 ", "cr0.2 "]
            .iter()
            .any(|own| name.starts_with(own))
    });
    let cut = |line: &str| {
        let Some((stop, rest)) = line.split_once(", EU ") else {
            return without_fftid(line);
        };
        let place = rest.split(", ").next().unwrap_or_default();
        format!("{stop}, EU {place}")
    };
    kept.map(cut).collect()
}

/// Runs a script with both back ends.
fn both(name: &str, least: usize) {
    let directory = scratch(&format!("debug-{name}"));
    let run = |backend: &str| comparable(&scripted(&directory, "g_gears", backend, name));
    let (host, registers) = (run("host"), run("registers"));
    assert!(host.len() > least, "{}", host.len());
    for (n, (host, registers)) in host.iter().zip(&registers).enumerate() {
        assert_eq!(host, registers, "line {}", n + 1);
    }
    assert_eq!(host.len(), registers.len());
}

#[test]
fn both_back_ends_give_the_same_stops_and_registers() {
    both("both", 1000);
}

#[test]
fn both_back_ends_meet_the_same_vertices_and_watches() {
    both("both-watch", 900);
}

#[test]
fn both_back_ends_meet_every_thread() {
    let directory = scratch("debug-turns");
    // On which EU a thread runs is not theirs to agree on, see `comparable`.
    let stops = |backend: &str, name: &str| {
        let text = scripted(&directory, "g_gears", backend, name);
        let stops = text.lines().filter_map(|line| line.split_once(", EU "));
        let stops = stops.filter(|(stop, _)| stop.starts_with("breakpoint"));
        stops.map(|(stop, _)| stop.to_owned()).collect::<Vec<_>>()
    };
    for (name, count) in [("both-turns", 220), ("both-pixels", 3)] {
        let host = stops("host", name);
        assert_eq!(host.len(), count, "{name}");
        assert_eq!(host, stops("registers", name), "{name}");
    }
}

/// Threads that were started under a breakpoint begin after it has gone.
#[test]
fn a_deleted_breakpoint_stops_nothing() {
    let directory = scratch("debug-deleted");
    let list = [
        "break thread ps",
        "run",
        "finish",
        "delete all",
        "continue",
        "expect end",
    ];
    for backend in ["host", "registers"] {
        for frame in ["a_clear", "c_gouraud"] {
            let (code, errors) = commands(&directory, frame, backend, &list);
            assert_eq!(code, Some(0), "{backend} {frame}: {errors}");
        }
    }
}

/// What a frame looks like whose debugger leaves after some commands.
fn left(frame: &str, backend: &Arc<dyn Backend>, commands: &[&str]) -> Picture {
    let path = PathBuf::from(scene(frame));
    let info = device_of_reader(&Reader::open(&path).unwrap()).unwrap();
    let target = Target::capture(path, Options::new(info)).unwrap();
    let gate = Arc::clone(target.gate());
    let mut debugger = Debugger::new(target, Arc::clone(backend), info, Arc::default()).unwrap();
    for command in commands {
        debugger.execute(command).unwrap();
    }
    assert_eq!(gate.state(), State::Stopped, "{commands:?}");
    backend.detach(&mut || gate.resume());
    while gate.wait(Duration::from_secs(1)) == State::Running {}
    assert_eq!(gate.ending().unwrap().code, 0, "{commands:?}");
    gate.with_session(|session| session.unwrap().picture().unwrap())
}

#[test]
fn whoever_leaves_leaves_the_frame_as_it_would_be() {
    let host: Arc<dyn Backend> = Arc::new(HostBackend::default());
    let whole = left("g_gears", &host, &["break thread ps", "run"]);
    let watches = "watch mem 0x001341e0";
    let lists: [&[&str]; 4] = [
        &["break vertex 3", "run", "step 3"],
        &["break vertex 3", "run", "watch r3.0", "continue"],
        &[watches, "run", "continue"],
        &[
            "break vertex 2",
            "break pixel 120,80",
            watches,
            "run",
            "delete 1",
            "continue",
            "watch r2.0",
            "finish",
        ],
    ];
    for commands in lists {
        let registers: Arc<dyn Backend> = Arc::new(RegistersBackend::default());
        let found = left("g_gears", &registers, commands);
        assert!(found == whole, "{commands:?}");
    }
}

#[test]
fn registers_refuse_what_hardware_has_not() {
    let directory = scratch("debug-hardware");
    for (list, message) in [
        (
            &["break op send", "break op mov", "break op mul"][..],
            "2 breakpoints of the kind",
        ),
        // Who shades a vertex is known by VS's snapshot of every thread.
        (
            &["break vertex 3", "snapshot vs 1"],
            "breakpoint 1 (vertex 3) needs the snapshot",
        ),
        (&["snapshot vs 1", "break vertex 3"], "armed: vs 1"),
    ] {
        let (code, errors) = commands(&directory, "b_flat", "registers", list);
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
    // A debugger that leaves lets halted threads go.
    let left = ["break pixel 120,80", "run", "step 3"];
    let (code, errors) = commands(&directory, "g_gears", "registers", &left);
    assert_eq!(code, Some(0), "{errors}");
    for name in ["pixel", "modify", "watch", "errors", "refused"] {
        let frame = if name == "pixel" { "g_gears" } else { "b_flat" };
        scripted(&directory, frame, "registers", name);
    }
    assert_undisturbed(&directory);
}

#[test]
fn a_trace_goes_on_to_the_end_of_the_frame() {
    let directory = scratch("debug-trace");
    let list = ["trace whole.jsonl", "break thread ps", "run", "quit"];
    let (code, errors) = commands(&directory, "b_flat", "host", &list);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("whole.jsonl: "), "{errors}");
    // Each of the 5433 threads begins and ends.
    let events = fs::read_to_string(directory.join("whole.jsonl")).unwrap();
    assert!(events.lines().count() > 2 * 5433);
}

#[test]
fn a_line_that_is_no_text_is_refused_and_the_session_goes_on() {
    let directory = scratch("debug-text");
    let input = b"break thread ps\r\nstep \xff\xfe\nrun\nstep\nquit\n";
    let output = fed(&directory, &["debug", &scene("b_flat")], input);
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    assert!(text.contains("the line is not valid UTF-8\n"), "{text}");
    assert!(text.contains("after 1 instruction"), "{text}");
    assert!(errors.contains("the frame has ended"), "{errors}");

    fs::write(
        directory.join("bad.dbg"),
        b"breaks\n# \xc3\xa4\nstep \xc3\n",
    )
    .unwrap();
    fs::write(directory.join("good.dbg"), "breaks\nsource bad.dbg\n").unwrap();
    for (script, message) in [
        ("bad.dbg", "bad.dbg:3: the line is not valid UTF-8"),
        (
            "good.dbg",
            "good.dbg:2: bad.dbg:3: the line is not valid UTF-8",
        ),
    ] {
        let args = ["debug", &scene("b_flat"), "--script", script];
        let output = crestline(&directory, &args);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
}

#[test]
fn what_is_refused_has_changed_nothing() {
    debug(&scratch("debug-refused"), "b_flat", "refused");
}

#[test]
fn a_trace_that_is_begun_late_or_alone_goes_on_to_the_end() {
    let directory = scratch("debug-late");
    for (list, least) in [
        (
            &["break thread ps", "run", "trace t.jsonl", "quit"][..],
            5433,
        ),
        (&["break thread ps", "run", "trace t.jsonl"], 5433),
        (&["trace t.jsonl"], 2 * 5433),
    ] {
        let (code, errors) = commands(&directory, "b_flat", "host", list);
        assert_eq!(code, Some(0), "{errors}");
        let events = fs::read_to_string(directory.join("t.jsonl")).unwrap();
        assert!(events.lines().count() > least, "{list:?}");
        let said = format!("t.jsonl: {} events\n", events.lines().count());
        assert!(errors.contains(&said), "{errors}");
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error() {
    let directory = scratch("debug-full");
    for format in ["text", "jsonl", "perfetto"] {
        let trace = format!("trace /dev/full {format}");
        let ends: [&[&str]; 3] = [&[], &["quit"], &["break thread ps", "run", "kill"]];
        for end in ends {
            let list = [&[trace.as_str()], end].concat();
            let (code, errors) = commands(&directory, "b_flat", "host", &list);
            assert_eq!(code, Some(1), "{list:?}: {errors}");
            // As the system calls ENOSPC, on a line of its own.
            let line = "/dev/full: No space left on device (os error 28)\n";
            assert!(errors.contains(line), "{list:?}: {errors}");
        }
    }
}

#[test]
fn a_walk_that_is_interrupted_gives_the_prompt_back() {
    let path = PathBuf::from(scene("b_flat"));
    let info = device_of_reader(&Reader::open(&path).unwrap()).unwrap();
    let target = Target::capture(path, Options::new(info)).unwrap();
    let interrupt = Arc::new(AtomicBool::new(true));
    let backend = Arc::new(HostBackend::default());
    let mut debugger = Debugger::new(target, backend, info, Arc::clone(&interrupt)).unwrap();
    let refusal = debugger.execute("why 128,128").unwrap_err();
    assert_eq!(refusal.to_string(), "interrupted");
    // Asked again, it answers.
    let text = debugger.execute("why 128,128").unwrap();
    assert!(
        text.starts_with("pixel 128,128: red 255, green 128, blue 64, alpha 255\n"),
        "{text}"
    );
    assert_eq!(debugger.conclude().0, 0);
}

/// A debugger on a frame with nothing run yet.
fn debugger(frame: &str) -> Debugger {
    let path = PathBuf::from(scene(frame));
    let info = device_of_reader(&Reader::open(&path).unwrap()).unwrap();
    let target = Target::capture(path, Options::new(info)).unwrap();
    let backend = Arc::new(HostBackend::default());
    Debugger::new(target, backend, info, Arc::default()).unwrap()
}

#[test]
fn a_frame_that_has_ended_is_given_back() {
    let mut debugger = debugger("a_clear");
    debugger.execute("run").unwrap();
    assert_eq!(debugger.target().state(), State::Ended);
    // It holds a device with all its memory.
    let first = Arc::downgrade(debugger.target().gate());
    debugger.execute("run").unwrap();
    assert!(first.upgrade().is_none());
    let second = Arc::downgrade(debugger.target().gate());
    drop(debugger);
    assert!(second.upgrade().is_none());
}

#[test]
fn files_can_be_forbidden() {
    let directory = scratch("debug-no-files");
    let file = directory.join("file");
    fs::write(&file, "help\n").unwrap();
    let mut debugger = debugger("a_clear");
    let source = format!("source {}", file.display());
    assert!(debugger.execute(&source).is_ok());
    debugger.forbid_files();
    let (trace, picture) = (directory.join("trace"), directory.join("picture.png"));
    for command in [
        source,
        format!("trace {}", trace.display()),
        format!("show target to {}", picture.display()),
        format!("show surface 0 to {} flip", picture.display()),
    ] {
        let refusal = debugger.execute(&command).unwrap_err().to_string();
        assert!(refusal.contains("may not name files"), "{refusal}");
    }
    debugger.execute("run").unwrap();
    let refusal = debugger.execute(&format!("sh target to {}", picture.display()));
    assert!(refusal.unwrap_err().to_string().contains("may not"));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
}

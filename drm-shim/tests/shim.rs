//! The library before libc, in programs of C, against a node that is none.
//!
//! What a program must see is what Linux shows of a DRM device (man pages, drm_file.c).
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "shim/board.rs"]
mod board;
#[path = "shim/client.rs"]
mod client;
#[path = "shim/server.rs"]
mod server;

use std::path::Path;
use std::time::{Duration, Instant};

use client::{command, compile, run, succeed};
use server::Server;

fn count(log: &[String], start: &str) -> usize {
    log.iter().filter(|line| line.starts_with(start)).count()
}

/// The log, once it has a line and nothing more is to come.
fn await_line(server: &Server, line: &str) -> Vec<String> {
    let start = Instant::now();
    loop {
        let idle = server.is_idle();
        let log = server.log();
        // TIMEOUT: connections hang up as soon as a process has ended.
        let done = idle && log.iter().any(|other| other == line);
        if done || start.elapsed() > Duration::from_secs(5) {
            return log;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn descriptors_are_files() {
    let Some((server, said)) = run("files.c") else {
        return;
    };
    assert_eq!(said, "");
    let log = await_line(&server, "process ends");
    assert_eq!(log.first().unwrap(), "process begins");
    assert_eq!(log.last().unwrap(), "process ends");
    assert_eq!(count(&log, "open 0 1"), 1);
    assert_eq!(count(&log, "open 1 0"), 1);
}

#[test]
fn paths_lead_into_the_tree_and_come_back_without_it() {
    let Some((server, said)) = run("paths.c") else {
        return;
    };
    assert_eq!(said, "");
    let log = await_line(&server, "process ends");
    let notes: Vec<&String> = log.iter().filter(|line| line.starts_with("note")).collect();
    assert_eq!(
        notes,
        ["note 1 not in the device's tree: /dev/dri/renderD129"]
    );
}

#[test]
fn directories_are_worked_in_and_changing_files_are_fresh() {
    let Some((server, said)) = run("working.c") else {
        return;
    };
    assert_eq!(said, "");
    let log = await_line(&server, "process ends");
    assert_eq!(count(&log, "error state 0 0"), 3);
    assert_eq!(count(&log, "error state 0 1"), 2);
    assert_eq!(count(&log, "error state 0 2"), 1);
    assert_eq!(count(&log, "unexpected"), 0);
    assert_eq!(server.state(0), "1\n");
}

#[test]
fn strict_programs_say_it_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("paths.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    let mut command = command(&program, Some(&server));
    command.env("CRESTLINE_STRICT", "1");
    // The node says it, which knows the program's name.
    assert_eq!(succeed(command), "");
    let log = await_line(&server, "process ends");
    let notes: Vec<&String> = log.iter().filter(|line| line.starts_with("note")).collect();
    let all = "note 1 not in the device's tree: ";
    assert!(
        notes.len() > 1 && notes.iter().all(|line| line.starts_with(all)),
        "{notes:?}"
    );
}

#[test]
fn children_of_fork_have_connections_of_their_own() {
    let Some((server, _)) = run("forks.c") else {
        return;
    };
    let log = await_line(&server, "process ends");
    // As they were at the fork: the parent may go on and unmap.
    let inherits = "process begins with its parent's mappings at the fork";
    assert_eq!(count(&log, inherits), 1);
    assert_eq!(count(&log, "process begins"), 3);
    assert_eq!(count(&log, "unexpected"), 0);
}

#[test]
fn children_that_are_made_past_libc_have_connections_of_their_own() {
    let Some((server, said)) = run("copies.c") else {
        return;
    };
    assert_eq!(said, "");
    let log = await_line(&server, "process ends");
    // The parent, its 22 children, and one child of each.
    assert_eq!(count(&log, "process begins"), 45);
    assert_eq!(count(&log, "unexpected"), 0);
}

#[test]
fn children_have_the_mappings_that_the_node_knows_at_the_fork() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("overlaps.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    let output = command(&program, Some(&server)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<i32> = text.lines().map(|line| line.parse().unwrap()).collect();
    let (mut now, mut known) = (0, Vec::new());
    for line in server.log() {
        match line.split(' ').next() {
            Some("mapped") => now += 1,
            Some("unmapped") => now -= 1,
            Some("forks") => known.push(now),
            _ => {}
        }
    }
    assert_eq!(theirs, known);
    assert_eq!(known.len(), 100);
    assert!(known.iter().any(|count| *count > 1), "{known:?}");
}

#[test]
fn children_lose_mappings_that_the_node_does_not_know() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("orphans.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    server.write(0, 0x4000, b"first");
    let mut full = command(&program, Some(&server));
    full.arg("full");
    let said = succeed(full);
    let line = "crestline: no descriptor is free for a connection to the node (ulimit -n)\n";
    assert!(said.is_empty() || said == line, "{said}");
    server.forget_children();
    let said = succeed(command(&program, Some(&server)));
    let line = "crestline: a child process loses the mappings of graphics memory that it has inherited: the node does not know whose they are\n";
    // Each child says it once.
    assert_eq!(said, line.repeat(2));
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn threads_ask_side_by_side() {
    let Some((server, _)) = run("threads.c") else {
        return;
    };
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn calls_take_little_of_the_stack() {
    if std::env::var_os("CRESTLINE_SANITIZER").is_some() {
        println!("skipped: what a sanitizer adds to functions takes stack");
        return;
    }
    let Some((server, said)) = run("stack.c") else {
        return;
    };
    assert_eq!(said, "");
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn threads_end_with_their_connections_when_a_program_takes_all_keys() {
    let Some((server, said)) = run("keys.c") else {
        return;
    };
    assert_eq!(said, "");
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn mappings_are_the_memory_and_follow_it() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("maps.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    server.write(0, 0x4000, b"first");
    server.write(1, 0x8000, b"second");
    succeed(command(&program, Some(&server)));
    assert_eq!(server.read(0, 0x4100, 6), b"client");
    let log = await_line(&server, "process ends");
    // ThreadSanitizer's own `mmap` refuses such an address before the library hears of it.
    let sanitizer = std::env::var("CRESTLINE_SANITIZER").unwrap_or_default();
    let missed = usize::from(!sanitizer.contains("libtsan"));
    assert_eq!(count(&log, "missed"), missed);
    let lines: Vec<&str> = log
        .iter()
        .map(String::as_str)
        .filter(|line| line.contains("mapped"))
        .collect();
    assert_eq!(
        lines,
        [
            "mapped 0x4000 0x3000",
            "unmapped 0x1000",
            "unmapped 0x2000",
            "mapped 0x5000 0x2000",
            "unmapped 0x2000",
            // The same with 32, 40 and 48 bytes.
            "mapped 0x5000 0x2000",
            "unmapped 0x2000",
            "mapped 0x5000 0x2000",
            "unmapped 0x2000",
            "mapped 0x5000 0x2000",
            "unmapped 0x2000",
            "mapped 0x0 0x2000",
            "unmapped 0x1000",
            "mapped 0x0 0x1000",
            "unmapped 0x1000",
        ]
    );
}

#[test]
fn mappings_move_and_do_not_grow() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("moves.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    server.write(0, 0x4000, b"first");
    server.write(1, 0x8000, b"second");
    assert_eq!(succeed(command(&program, Some(&server))), "");
    let log = await_line(&server, "process ends");
    let lines: Vec<&str> = log
        .iter()
        .map(String::as_str)
        .filter(|line| line.contains("mapped"))
        .collect();
    assert_eq!(
        lines,
        [
            "mapped 0x4000 0x3000",
            "unmapped 0x1000",
            "copied, mapped 0x2000",
            "unmapped 0x2000",
            "mapped 0x7000 0x2000",
            // In the place of another.
            "copied, mapped 0x1000",
            "unmapped 0x1000",
            // Where it was, and what was behind it.
            "copied, mapped 0x1000",
            "unmapped 0x2000",
            "unmapped 0x1000",
            "unmapped 0x8000",
        ]
    );
}

#[test]
fn the_node_knows_what_threads_move_side_by_side() {
    knows_what_is_left("races.c", 4);
}

#[test]
fn handlers_come_between_no_mapping_and_what_is_told_of_it() {
    knows_what_is_left("amid.c", 1);
}

/// Runs a program that prints where it has left three mappings of so many pages: the node knows of them and of no others.
fn knows_what_is_left(source: &str, each: u64) {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile(source, &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    let output = command(&program, Some(&server)).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let starts = text.lines().map(|line| u64::from_str_radix(line, 16));
    let starts: Vec<u64> = starts.map(Result::unwrap).collect();
    assert_eq!(starts.len(), 3);
    let pages = |start: &u64| {
        let start = *start;
        (0..each).map(move |n| start + n * 4096)
    };
    assert_eq!(server.mapped(), starts.iter().flat_map(pages).collect());
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn children_that_share_memory_do_not_begin() {
    let Some((server, said)) = run("shares.c") else {
        return;
    };
    let line = "crestline: a child that shares its parent's memory (vfork) cannot begin to use the device\n";
    assert_eq!(said, line);
    let log = await_line(&server, "process ends");
    assert_eq!(count(&log, "process begins"), 1);
    assert_eq!(count(&log, "unexpected"), 0);
}

#[test]
fn what_a_program_maps_past_libc_stays_there() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("unmaps.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    server.write(1, 0x8000, b"second");
    assert_eq!(succeed(command(&program, Some(&server))), "");
    let log = await_line(&server, "process ends");
    let lines: Vec<&String> = log.iter().filter(|line| line.contains("mapped")).collect();
    let page = "unmapped 0x1000";
    assert_eq!(
        lines,
        ["mapped 0x4000 0x6000", page, page, page, "unmapped 0x6000"]
    );
}

#[test]
fn descriptors_that_the_node_installs() {
    let Some((server, _)) = run("installs.c") else {
        return;
    };
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn signals_do_not_mix_answers_up() {
    let Some((server, _)) = run("signals.c") else {
        return;
    };
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn calls_that_do_not_come_back_leave_no_connection() {
    let Some((server, _)) = run("jumps.c") else {
        return;
    };
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn calls_that_do_not_come_back_leave_no_use_of_a_descriptor() {
    let Some((server, _)) = run("abandons.c") else {
        return;
    };
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn calls_are_over_before_a_thread_is_cancelled() {
    if std::env::var_os("CRESTLINE_SANITIZER").is_some() {
        println!("skipped: a sanitizer's runtime cannot be left at any instruction");
        return;
    }
    let Some((server, _)) = run("cancels.c") else {
        return;
    };
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn handlers_on_a_stack_of_their_own_leave_a_waiting_call_its_connection() {
    let Some((server, _)) = run("nested.c") else {
        return;
    };
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn connections_without_a_descriptor_are_an_error_that_is_said_once() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("few.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    let mut own = command(&program, Some(&server));
    own.arg("own");
    let said = succeed(own);
    let expected = "crestline: no descriptor is free for a connection to the node (ulimit -n)\n";
    assert_eq!(said, expected);
    // The node has a limit of its own, and hangs up before it has read anything.
    let server = Server::start();
    server.refuse_from(20);
    let said = succeed(command(&program, Some(&server)));
    let expected = "crestline: the node takes no more connections of this process\n";
    assert_eq!(said, expected);
}

#[test]
fn the_node_of_another_user_gets_nothing() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        println!("skipped: not root");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("nothing.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(dir.path(), 0o755);
    open(server.tree(), 0o755);
    open(&server.path, 0o777);
    let mut other = command(&program, Some(&server));
    other.arg("ENODEV").uid(65534).gid(65534).current_dir("/");
    let said = succeed(other);
    let path = server.path.display();
    let expected = format!("crestline: the node at this path is another user's: {path}\n");
    assert_eq!(said, expected);
    assert!(server.log().is_empty(), "{:?}", server.log());
}

#[test]
fn a_node_that_dies_is_an_error_and_no_hang() {
    let Some((_, said)) = run("death.c") else {
        return;
    };
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("crestline: the node has gone"), "{said}");
}

#[test]
fn a_program_that_changes_its_user_is_told_why_it_is_served_no_more() {
    use std::os::unix::fs::MetadataExt as _;
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        println!("skipped: not root");
        return;
    }
    let Some((_, said)) = run("changes.c") else {
        return;
    };
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("changed its user"), "{said}");
}

#[test]
fn without_a_node_there_is_no_device() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("nothing.c", &program, &[]).is_none() {
        return;
    }
    let mut nothing = command(&program, None);
    nothing.arg("ENOENT");
    let said = succeed(nothing);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("CRESTLINE_TREE"), "{said}");
    let server = Server::start();
    let mut gone = command(&program, Some(&server));
    gone.env("CRESTLINE_NODE", "/crestline-nobody")
        .arg("ENODEV");
    let said = succeed(gone);
    assert_eq!(said, "crestline: no node at this path: /crestline-nobody\n");
}

#[test]
fn descriptors_go_on_to_other_programs() {
    let Some((server, _)) = run("inherits.c") else {
        return;
    };
    let log = await_line(&server, "process ends");
    assert_eq!(count(&log, "open"), 1);
}

#[test]
fn programs_that_close_everything_find_the_node_again() {
    let Some((server, _)) = run("closes.c") else {
        return;
    };
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn files_at_the_librarys_numbers_stay_the_programs() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("replaces.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    server.write(0, 0x8000, b"this");
    server.write(1, 0x8000, b"other");
    assert_eq!(succeed(command(&program, Some(&server))), "");
    assert_eq!(server.read(0, 0x4100, 5), b"last\0");
    assert_eq!(count(&server.log(), "unexpected"), 0);
    let mut bare = command(&program, Some(&server));
    bare.arg("without libc");
    let said = succeed(bare);
    let log = await_line(&server, "process ends");
    let reason = "the program has closed the descriptor of graphics memory, past libc: nothing can be mapped";
    assert!(said.is_empty(), "{said}");
    assert_eq!(count(&log, &format!("note 1 {reason}")), 1, "{log:?}");
}

#[test]
fn files_that_overtake_a_mapping_are_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("overtakes.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    server.write(1, 0x8000, b"other");
    let said = succeed(command(&program, Some(&server)));
    if said.starts_with("skipped") {
        print!("{said}");
        return;
    }
    assert_eq!(said, "");
    assert_eq!(server.read(0, 0x4000, 8), b"written\0");
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn files_that_come_to_a_number_while_it_is_taken_stay_the_programs() {
    let Some((server, said)) = run("adopts.c") else {
        return;
    };
    if said.starts_with("skipped") {
        print!("{said}");
        return;
    }
    assert_eq!(said, "");
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn files_that_come_to_a_low_number_meanwhile_stay_the_programs() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("low.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::start();
    let said = succeed(command(&program, Some(&server)));
    if said.starts_with("skipped") {
        print!("{said}");
        return;
    }
    assert_eq!(said, "");
    assert_eq!(server.read(0, 0x4000, 3), b"GGG");
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn closing_foreign_numbers_takes_nothing_of_the_library() {
    let Some((server, said)) = run("foreign.c") else {
        return;
    };
    if said.starts_with("skipped") {
        print!("{said}");
        return;
    }
    assert_eq!(said, "");
    assert_eq!(count(&server.log(), "unexpected"), 0);
}

#[test]
fn libdrm_finds_the_device() {
    if !Path::new("/usr/include/xf86drm.h").exists() {
        println!("skipped: no libdrm");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    let options = ["-I/usr/include/libdrm", "-ldrm"];
    if compile("libdrm.c", &program, &options).is_none() {
        return;
    }
    let server = Server::start();
    succeed(command(&program, Some(&server)));
}

#[test]
fn libdrm_finds_all_devices() {
    if !Path::new("/usr/include/xf86drm.h").exists() {
        println!("skipped: no libdrm");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    let options = ["-I/usr/include/libdrm", "-ldrm"];
    if compile("several.c", &program, &options).is_none() {
        return;
    }
    let server = Server::of(2);
    succeed(command(&program, Some(&server)));
}

#[test]
fn devices_have_paths_memories_and_descriptors_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("client");
    if compile("devices.c", &program, &[]).is_none() {
        return;
    }
    let server = Server::of(2);
    succeed(command(&program, Some(&server)));
    let log = await_line(&server, "process ends");
    let opened = |primary, flags, device: &str| {
        let line = format!("open {primary} {flags}{device}");
        log.iter().filter(|other| **other == line).count()
    };
    for device in ["", " of device 1"] {
        assert_eq!((opened(0, 1, device), opened(1, 1, device)), (1, 1));
    }
    // What the child wrote into the graphics memory of each.
    assert_eq!(server.read(0, 0x4000, 4096), [b'k'; 4096]);
    assert_eq!(server.read(2, 0x4000, 4096), [b'l'; 4096]);
    for device in 0..2 {
        assert!(
            server
                .state(device)
                .starts_with(&format!("clear {device}\n"))
        );
    }
}

#[test]
fn frames_and_renderers_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libEGL.so.1"];
    let home = format!("-L{}", dir.path().display());
    let run_path = format!("-Wl,-rpath,{}", dir.path().display());
    let linked = [&home, &run_path, "-l:libEGL.so.1"];
    if compile("egl.c", &path("libEGL.so.1"), &shared).is_none() {
        return;
    }
    compile("frames.c", &path("linked"), &linked);
    let plugin = [&["-shared", "-fPIC", "-DPLUGIN"][..], &linked].concat();
    compile("frames.c", &path("plugin.so"), &plugin);
    compile("loads.c", &path("loads"), &["-ldl"]);
    for program in ["linked", "loads"] {
        let server = Server::start();
        let mut command = command(&path(program), Some(&server));
        command.arg(path("plugin.so"));
        succeed(command);
        let log = await_line(&server, "process ends");
        assert_eq!(count(&log, "frames 1"), 3, "{program}: {log:?}");
        assert_eq!(count(&log, "note 0 a renderer"), 1, "{program}: {log:?}");
    }
}

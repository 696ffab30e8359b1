//! The program from outside: arguments, exit codes, files, messages.

use crate::common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{PROGRAM, crestline, failed, scene, scratch};

/// Exit code 0 and no message; comes back with standard output.
fn ok(output: &Output) -> String {
    let text = common::ok(output);
    assert!(output.stderr.is_empty(), "{output:?}");
    text
}

/// Width and height of a PNG (RFC 2083: IHDR follows the signature).
fn png_size(path: &Path) -> (u32, u32) {
    let bytes = fs::read(path).unwrap();
    assert_eq!(bytes[1..4], *b"PNG");
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (word(16), word(20))
}

#[test]
fn without_arguments_the_gears_turn_up() {
    let directory = scratch("gears");
    let text = ok(&crestline(&directory, &[]));
    assert_eq!(png_size(&directory.join("crestline.png")), (256, 256));
    for part in [
        "gears",
        "crestline.png",
        "batches",
        "draws",
        "vertices",
        "11,863",
        "objects",
        "threads",
        "VS",
        "SF",
        "PS",
        "pixels",
        "SIMD8-equivalent EU instructions per second",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
}

#[test]
fn replay_writes_picture_trace_and_counters() {
    let directory = scratch("replay");
    let capture = scene("b_flat");
    let run = |png: &str, more: &[&str]| {
        let mut args = vec!["replay", &capture, "--png", png];
        args.extend(more);
        ok(&crestline(&directory, &args))
    };
    let text = run(
        "a.png",
        &[
            "--stats",
            "--trace",
            "a.txt",
            "--device",
            "GM965",
            "--snapshot-pixel",
            "128,128",
        ],
    );
    for part in [
        "IA_VERTICES_COUNT",
        // Of the clear and the triangle, the triangle came last.
        "thread 2 of 2",
        "kernel pointer 0x001040c0",
        "buffer 3 (bo_003.bin) + 0xc0",
        "complete",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    run(
        "b.png",
        &[
            "--trace",
            "b.txt",
            "--device",
            "8086:2a02",
            "--snapshot-pixel",
            "128,128",
        ],
    );
    run("c.png", &["--flip-y"]);
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    assert!(read("a.txt").len() > 1000);
    assert!(read("a.txt") == read("b.txt"));
    assert!(read("a.png") == read("b.png"));
    assert!(read("a.png") != read("c.png"));
}

#[test]
fn unknown_devices_are_answered_with_the_list() {
    let directory = scratch("device");
    let text = failed(&crestline(
        &directory,
        &["replay", &scene("a_clear"), "--device", "g80"],
    ));
    for part in ["g80", "gm965", "8086:2a02", "946gz"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let directory = scratch("errors");
    let text = failed(&crestline(&directory, &["replay", "nothing"]));
    assert!(text.contains("nothing"), "{text}");
    let text = failed(&crestline(&directory, &["pack", "nothing", "out.crest"]));
    assert!(text.contains("nothing"), "{text}");
    fs::create_dir(directory.join("empty")).unwrap();
    let text = failed(&crestline(&directory, &["replay", "empty"]));
    assert!(text.contains("exec_NNNN"), "{text}");
    let text = failed(&crestline(
        &directory,
        &["replay", &scene("a_clear"), "--png", "no/such/a.png"],
    ));
    assert!(text.contains("no/such/a.png"), "{text}");
    // Wrong arguments are the argument parser's: exit code 2.
    let wrong = crestline(
        &directory,
        &["replay", &scene("a_clear"), "--snapshot-pixel", "1;2"],
    );
    assert_eq!(wrong.status.code(), Some(2));
}

/// Writes a capture whose batch has other dwords from an offset on.
fn damaged(directory: &Path, offset: usize, words: &[u32]) {
    damaged_in(directory, 0, offset, words);
}

/// The same for any buffer; index 0 is the batch.
fn damaged_in(directory: &Path, damaged: usize, offset: usize, words: &[u32]) {
    use crestline_cli::capture::Capture;
    let capture = Capture::load(Path::new(&scene("b_flat"))).unwrap();
    let exec = &capture.execs[0];
    let mut entries = Vec::new();
    fs::create_dir_all(directory.join("exec_0000")).unwrap();
    for (index, buffer) in exec.buffers.iter().enumerate() {
        let mut data = buffer.data.clone();
        if index == damaged {
            data.resize(data.len().max(offset + words.len() * 4), 0);
            for (i, word) in words.iter().enumerate() {
                data[offset + i * 4..][..4].copy_from_slice(&word.to_le_bytes());
            }
        }
        fs::write(directory.join("exec_0000").join(&buffer.file), &data).unwrap();
        let tiling = buffer.tiling as u32;
        entries.push(format!(
            r#"{{"bo_id":{},"size":{},"gtt_offset":{},"tiling":{tiling},"stride":{},"file":"{}","file_size":{}}}"#,
            buffer.bo_id, buffer.size, buffer.address, buffer.stride, buffer.file, data.len()
        ));
    }
    let json = format!(
        r#"{{"pci":"8086:2a02","batch_start_offset":0,"batch_len":{},"batch_index":{},"buffers":[{}]}}"#,
        exec.batch_len,
        exec.batch,
        entries.join(",")
    );
    fs::write(directory.join("exec_0000/exec.json"), json).unwrap();
}

#[test]
fn faults_have_a_place_and_a_picture_so_far() {
    let directory = scratch("fault");
    // The second 3DPRIMITIVE stands at 25Ch in crocus's decode of the batch.
    damaged(&directory, 0x25c, &[0x7abc_0004]);
    let text = failed(&crestline(
        &directory,
        &["replay", ".", "--png", "so_far.png", "--timeout-ms", "5"],
    ));
    for part in [
        "exec_0000",
        "0x7abc0004",
        "buffer 0 (bo_000.bin) + 0x25c",
        "IPEHR",
        "ACTHD",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    assert_eq!(png_size(&directory.join("so_far.png")), (256, 256));
}

#[test]
fn batches_without_end_are_told() {
    let directory = scratch("endless");
    // MI_BATCH_BUFFER_START (i915: 31h << 23 | 2 << 6) to the batch itself.
    damaged(&directory, 0, &[0x1880_0080, 0x0010_b000]);
    let text = failed(&crestline(
        &directory,
        &["replay", ".", "--png", "no.png", "--timeout-ms", "5"],
    ));
    assert!(text.contains("not done after 5 ms"), "{text}");
    assert!(text.contains("no picture"), "{text}");
    assert!(!directory.join("no.png").exists());
}

#[test]
fn endless_batches_end_soon_and_their_traces_are_cut_off() {
    let directory = scratch("circles");
    damaged(&directory, 0, &[0x1880_0080, 0x0010_b000]);
    let text = failed(&crestline(&directory, &["replay", ".", "--trace", "t.txt"]));
    for part in [
        "exec_0000: not done after",
        "the batch runs in circles",
        "ACTHD 0x0010b000 [buffer 0 (bo_000.bin) + 0x0]",
        "t.txt: the trace is cut off after 32 MiB",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    let trace = fs::read_to_string(directory.join("t.txt")).unwrap();
    assert!(trace.len() < (32 << 20) + 100);
    assert!(trace.lines().last().unwrap().starts_with("cut off: "));
}

#[test]
fn frames_drawn_in_circles_end_soon() {
    let directory = scratch("frames");
    // MI_BATCH_BUFFER_END at 274h of the batch becomes a jump to its start.
    damaged(&directory, 0x270, &[0, 0x1880_0080, 0x0010_b000]);
    let text = failed(&crestline(&directory, &["replay", ".", "--png", "x.png"]));
    for part in [
        "draws and blits (the batch runs in circles)",
        "the command streamer has executed",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    assert_eq!(png_size(&directory.join("x.png")), (256, 256));
}

#[test]
fn threads_without_end_are_named() {
    // Kernel Start Pointer 0 of the second draw's WM_STATE is 001040c0h, in buffer 3. `jmpi -1` and `wait n0` of
    // intel-gen4asm.
    let cases: [(&str, [u32; 4], &[&str]); 2] = [
        (
            "jump",
            [0x0000_0020, 0x3400_1c00, 0x0000_1400, 0xffff_ffff],
            &[
                "not done after",
                "without a command executed or a thread started",
                "jmpi",
                "instructions of PS threads so far",
            ],
        ),
        (
            "wait",
            [0x0000_0030, 0x3200_1c00, 0, 0],
            &["waits for notification register n0"],
        ),
    ];
    for (name, words, parts) in cases {
        let directory = scratch(&format!("thread_{name}"));
        damaged_in(&directory, 3, 0xc0, &words);
        let text = failed(&crestline(&directory, &["replay", ".", "--png", "x.png"]));
        let first = text.lines().next().unwrap();
        let common = [
            "exec_0000",
            "PS thread, kernel 0x001040c0 [buffer 3 (bo_003.bin) + 0xc0]",
        ];
        for part in parts.iter().chain(&common) {
            assert!(first.contains(part), "{text} lacks {part}");
        }
        assert!(!text.contains("stands still"), "{text}");
        assert_eq!(png_size(&directory.join("x.png")), (256, 256));
    }
}

#[test]
fn faults_are_told_at_once_with_the_nearest_buffer() {
    // 3DSTATE_VERTEX_BUFFERS' address at 22Ch of the batch (relocation 556 of the capture): buffer 6 at 00161000h has one page.
    let directory = scratch("vertices");
    damaged(&directory, 556, &[0x0016_2010]);
    let text = failed(&crestline(&directory, &["replay", ".", "--png", "x.png"]));
    let first = text.lines().next().unwrap();
    for part in [
        "exec_0000: VF",
        "Read at 0x00162010",
        "0x10 bytes past the end of buffer 6 (bo_006.bin)",
    ] {
        assert!(first.contains(part), "{text} lacks {part}");
    }
    // A submission's directory itself: the submission has no name then.
    let text = failed(&crestline(&directory, &["replay", "exec_0000"]));
    assert!(text.contains(": VF") && !text.contains(": :"), "{text}");
    assert!(!first.contains("not done"), "{text}");
    // A batch of zeros, which are MI_NOOPs.
    let directory = scratch("zeros");
    damaged(&directory, 0, &[0; 158]);
    let text = failed(&crestline(&directory, &["replay", "."]));
    let first = text.lines().next().unwrap();
    for part in [
        "just past the end of buffer 0 (bo_000.bin)",
        "no MI_BATCH_BUFFER_END",
    ] {
        assert!(first.contains(part), "{text} lacks {part}");
    }
}

#[test]
fn targets_outside_leave_the_picture_so_far() {
    // SURFACE_STATE of the triangle's target at 260h of buffer 2 (relocation 612 is its address); the clear has its own.
    // First outside every buffer: the picture is the clear's. Then with its last rows behind the end of buffer 4.
    let cases = [
        ("outside", 0x0200_0000, "that of an earlier draw"),
        ("partly", 0x0013_0000, "the picture is not whole"),
    ];
    for (name, address, part) in cases {
        let directory = scratch(&format!("target_{name}"));
        damaged_in(&directory, 2, 612, &[address]);
        let text = failed(&crestline(&directory, &["replay", ".", "--png", "x.png"]));
        assert!(text.contains(part), "{text} lacks {part}");
        assert_eq!(png_size(&directory.join("x.png")), (256, 256));
    }
}

#[test]
fn snapshot_pixels_lie_in_the_picture() {
    let directory = scratch("snapshot");
    let args = |pixel| ["replay", &scene("b_flat"), "--snapshot-pixel", pixel].map(str::to_owned);
    let run = |pixel| {
        let args = args(pixel);
        crestline(&directory, &args.each_ref().map(String::as_str))
    };
    for pixel in ["256,10", "300,10", "10,256"] {
        let text = failed(&run(pixel));
        for part in [pixel, "256x256"] {
            assert!(text.contains(part), "{text} lacks {part}");
        }
    }
    // The corner is the clear's alone.
    let text = ok(&run("0,0"));
    assert!(text.contains("thread 1 of 1"), "{text}");
}

#[test]
fn packed_and_unpacked_are_the_same() {
    let directory = scratch("pack");
    damaged(&directory, 0, &[]);
    ok(&crestline(&directory, &["pack", ".", "out.crest"]));
    ok(&crestline(&directory, &["replay", ".", "--png", "a.png"]));
    ok(&crestline(
        &directory,
        &["replay", "out.crest", "--png", "b.png"],
    ));
    ok(&crestline(
        &directory,
        &["replay", &scene("b_flat"), "--png", "c.png"],
    ));
    let read = |name: &str| fs::read(directory.join(name)).unwrap();
    assert!(read("a.png") == read("b.png") && read("b.png") == read("c.png"));
}

#[test]
fn help_names_everything() {
    let directory = scratch("help");
    let text = ok(&crestline(&directory, &["--help"]));
    for part in ["replay", "pack", "regs", "decode", "crestline.png"] {
        assert!(text.contains(part), "{text}");
    }
    let text = ok(&crestline(&directory, &["replay", "--help"]));
    for part in [
        "--device",
        "--png",
        "--flip-y",
        "--snapshot-pixel",
        "--stats",
        "--trace",
        "--timeout-ms",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

/// `CRESTLINE_ENGINE`: the same picture by each engine, a line of `--stats` that names it, and an error for another name.
#[test]
fn engines_are_chosen_by_a_variable() {
    let directory = scratch("engines");
    let run = |engine: &str| {
        Command::new(PROGRAM)
            .args([
                "replay",
                &scene("d_tex_nearest"),
                "--png",
                engine,
                "--stats",
            ])
            .env("CRESTLINE_ENGINE", engine)
            .current_dir(&directory)
            .output()
            .unwrap()
    };
    let mut pictures = Vec::new();
    for engine in ["interp", "wave", "jit", "check"] {
        let text = ok(&run(engine));
        let is = |name: &str| text.contains(&format!("engine {name}: "));
        // A host that runs no machine code has loops.
        let is_named = match engine {
            "interp" => text.contains("engine interp\n"),
            "jit" => is("jit") || is("wave"),
            other => is(other),
        };
        assert!(is_named, "{text}");
        assert!(!text.contains("differs"), "{text}");
        pictures.push(fs::read(directory.join(engine)).unwrap());
    }
    assert!(pictures.windows(2).all(|two| two[0] == two[1]));
    let output = run("fast");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains(
            "CRESTLINE_ENGINE: no engine is named \"fast\"; there are interp, wave, jit, check"
        ),
        "{text}"
    );
    let workers = |count: &str| {
        let mut command = Command::new(PROGRAM);
        command.args(["replay", &scene("d_tex_nearest"), "--stats"]);
        command.env("CRESTLINE_WORKERS", count).output().unwrap()
    };
    let waves = "pixel threads: ";
    assert!(!ok(&workers("0")).contains(waves));
    assert!(ok(&workers("3")).contains(waves));
    for wrong in ["17", "-1", "two"] {
        let output = workers(wrong);
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stderr).unwrap();
        let want = format!("CRESTLINE_WORKERS: \"{wrong}\" is no number from 0 to 16");
        assert!(text.contains(&want), "{text}");
    }
}

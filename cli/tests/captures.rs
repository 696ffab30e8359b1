//! Captures on the command line: paths, names, suggestions, broken files.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::common::{crestline, failed, ok, scene, scratch};

/// The repository: captures have names in it.
fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn a_directory_with_a_packed_capture_is_one() {
    let out = scratch("captures-directory");
    let page = out.join("page.html");
    let page = page.to_str().unwrap();
    let capture = "tests/data/captures/gm965/a_clear";
    for args in [
        &["replay", capture][..],
        &["decode", capture],
        &["report", capture, "-o", page],
        &["debug", capture, "-c", "run"],
    ] {
        ok(&crestline(&root(), args));
    }
    let why = ["why", "tests/data/captures/gm965/b_flat", "100,100"];
    assert!(ok(&crestline(&root(), &why)).contains("vertex"));
}

#[test]
fn every_name_of_the_list_works() {
    let list = ok(&crestline(&root(), &["replay", "--list"]));
    let mut lines = list.lines();
    let head: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["NAME", "DEVICE", "SUBMISSIONS", "PLACE"]);
    let rows: Vec<Vec<&str>> = lines
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0][0], "gears");
    for name in ["gm965/a_clear", "gm965/g_gears", "quads", "clipflat"] {
        assert!(rows.iter().any(|row| row[0] == name), "{list}");
    }
    for row in &rows {
        assert!(ok(&crestline(&root(), &["decode", row[0], "--no-state"])).contains("commands"));
    }
    // From below, by the longer name, and where there are no captures.
    let below = root().join("cli/src");
    ok(&crestline(
        &below,
        &["decode", "--no-state", "gm965/a_clear"],
    ));
    let nowhere = scratch("captures-nowhere");
    fs::create_dir(nowhere.join("here")).unwrap();
    fs::copy(scene("a_clear"), nowhere.join("here/mine.crest")).unwrap();
    let list = ok(&crestline(&nowhere, &["replay", "--list", "here"]));
    assert_eq!(list.lines().count(), 3, "{list}");
    assert!(list.contains("mine") && list.contains("gears"), "{list}");
    assert!(failed(&crestline(&nowhere, &["replay", "--list", "none"])).contains("none"));
}

#[test]
fn a_name_that_is_mistyped_gets_suggestions() {
    for command in ["replay", "decode", "report", "why", "debug"] {
        for (typed, meant) in [
            ("g_geers", "gm965/g_gears`"),
            ("gm965/g_gear", "gm965/g_gears`"),
            ("tests/data/captures/gm965/a_claer", "a_clear`"),
        ] {
            let args = match command {
                "why" => vec![command, typed, "1,1"],
                "report" => vec![command, typed, "--at", "1,1"],
                _ => vec![command, typed],
            };
            let said = failed(&crestline(&root(), &args));
            assert!(said.contains(typed) && said.contains(meant), "{said}");
            assert!(said.contains("`crestline replay --list`"), "{said}");
        }
    }
    let said = failed(&crestline(&root(), &["replay", "zzzzzz"]));
    assert!(!said.contains("Did you mean"), "{said}");
}

#[test]
fn of_several_captures_in_a_directory_one_has_to_be_named() {
    let dir = scratch("captures-several");
    for name in ["one.crest", "two.crest"] {
        fs::copy(scene("a_clear"), dir.join(name)).unwrap();
    }
    let said = failed(&crestline(&dir, &["replay", "."]));
    assert!(
        said.contains("./one.crest") && said.contains("./two.crest"),
        "{said}"
    );
    ok(&crestline(&dir, &["replay", "one.crest"]));
    fs::remove_file(dir.join("two.crest")).unwrap();
    ok(&crestline(&dir, &["replay", "."]));
    fs::remove_file(dir.join("one.crest")).unwrap();
    let said = failed(&crestline(&dir, &["replay", "."]));
    assert!(
        said.contains("exec_NNNN") && said.contains(".crest"),
        "{said}"
    );
}

#[test]
fn bytes_behind_a_packed_capture_are_an_error_at_their_place() {
    let dir = scratch("captures-behind");
    let whole = fs::read(scene("a_clear")).unwrap();
    for extra in [1, 1000] {
        let path = dir.join("frame.crest");
        let mut file = File::create(&path).unwrap();
        file.write_all(&whole).unwrap();
        file.write_all(&vec![0x5a; extra]).unwrap();
        drop(file);
        for command in ["replay", "decode"] {
            let said = failed(&crestline(&dir, &[command, "frame.crest"]));
            let place = format!("frame.crest, offset {:#x}: ", whole.len());
            assert!(said.contains(&place) && said.contains("goes on"), "{said}");
        }
    }
}

#[test]
fn escape_sequences_of_file_names_do_not_reach_the_terminal() {
    let dir = scratch("captures-escapes");
    // Red letters, and a title for the window.
    let name = "\x1b[31mred\x1b]0;title\x07\nfaked.crest";
    fs::copy(scene("a_clear"), dir.join(name)).unwrap();
    fs::write(dir.join("\x1b[2J\nfaked.asm"), "no such instruction\n").unwrap();
    let inner = dir.join("\u{9b}\nfaked");
    fs::create_dir(&inner).unwrap();
    for two in ["\x1b]\nfaked.crest", "\x1b]\nfaked2.crest"] {
        fs::copy(scene("a_clear"), inner.join(two)).unwrap();
    }
    let dir_name = "\u{9b}\nfaked";
    for args in [
        &["replay", name][..],
        &["replay", name, "--png", "\x1b[1m\nfaked/none.png"],
        &["replay", name, "--png", "\x1b[1m\nfaked.png"],
        &["replay", dir_name],
        &["replay", "--list", "."],
        &["replay", "no\x1b[31m\nfaked"],
        &["decode", name],
        &["report", name, "--at", "1,1", "-o", "\x1b[5m\nfaked.html"],
        &["why", name, "1,1"],
        &["debug", name, "-c", "run", "-c", "expect \x1b[31m"],
        &["debug", name, "--script", "\x1b[31m\nfaked"],
        &["pack", name, "\x1b[1m\nfaked"],
        &["pack", name, "none/\x1b[1m\nfaked"],
        &["pack", "\x1b[31m\nfaked", "out"],
        &["asm", "--gen", "4", "\x1b[2J\nfaked.asm"],
        &["disasm", "--gen", "4", "\x1b[2J\nfaked.asm"],
        &["eu", "run", "--gen", "4", "\x1b[2J\nfaked.asm"],
        &[
            "media",
            "run",
            "\x1b[2J\nfaked.asm",
            "--out",
            "o,width=1,height=1",
        ],
        &["regs", "decode", "\x1b[31mNAME", "0"],
        &["exec", "--device", "\x1b[31m", "--", "true"],
        &["exec", "--", "./\x1b[31m\nfaked"],
        &["--log", "\x1b[31m", "replay", name],
        &["--log", "\u{9b}31m\r\nfaked", "replay", name],
        &["\u{9b}31m\r\nfaked"],
        &["exec", "--device\nfaked", "--", "true"],
        &["exec", "--foo\nfaked=\x1b[31m", "--", "true"],
    ] {
        let output = crestline(&dir, args);
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            let bad = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(bad), "{args:?}: {text:?}");
            assert!(!text.contains("\nfaked"), "{args:?}: {text:?}");
        }
    }
}

/// A capture of a stranger, as far as `exec.json`, which is `text`.
fn strange(dir: &Path, text: &str) -> String {
    let exec = dir.join("exec_0000");
    fs::create_dir_all(&exec).unwrap();
    fs::write(exec.join("exec.json"), text).unwrap();
    failed(&crestline(dir, &["replay", "."]))
}

#[test]
fn texts_of_a_capture_are_a_part_of_one_line() {
    let dir = scratch("captures-lines");
    let buffer = |file: &str| {
        format!(
            r#"{{"index": 0, "bo_id": 1, "size": 4096, "gtt_offset": "0x0", "tiling": 0, "stride": 0, "flags": "0x0",
            "file": "{file}", "file_size": 4096, "relocations": []}}"#
        )
    };
    let head = |pci: &str, buffers: &str| {
        format!(
            r#"{{"pci": "{pci}", "flags": "0x0", "batch_start_offset": 0, "batch_len": 8, "batch_index": 0, "num_buffers": 1,
            "buffers": [{buffers}]}}"#
        )
    };
    let faked = "b\\ncrestline: faked";
    for text in [
        head("8086:2a02", &buffer(faked)),
        head(faked, &buffer("b.bin")),
        format!(r#"{{"{faked}": 1}}"#),
        format!(r#"{{"pci": {{"{faked}": 1}}}}"#),
    ] {
        let said = strange(&dir, &text);
        assert!(!said.contains("\ncrestline: faked"), "{said:?}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said:?}");
    }
    let said = strange(&dir, &head("8086:2a02", &buffer(faked)));
    assert!(said.contains("without control characters"), "{said}");
}

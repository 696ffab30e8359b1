//! `crestline decode` with files that are no batches and with damaged batches.
//!
//! PRM vol1 for the words: MI_NOOP 0, MI_USER_INTERRUPT 02h << 23, MI_BATCH_BUFFER_END 0Ah << 23.

use std::fs;
use std::path::Path;

use crate::common::{bytes, crestline, scene, scratch};

const NOOP: u32 = 0;
const INTERRUPT: u32 = 0x0100_0000;
const END: u32 = 0x0500_0000;
/// Standard output and standard error of a run with an exit code.
fn run(directory: &Path, args: &[&str], code: i32) -> (String, String) {
    let out = crestline(directory, &[&["decode"], args].concat());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (listing, errors) = (text(out.stdout), text(out.stderr));
    assert_eq!(out.status.code(), Some(code), "{errors}");
    (listing, errors)
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{text} lacks {part}");
    }
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    let directory = scratch("decode/irregular");
    let (listing, errors) = run(&directory, &["/dev/zero"], 1);
    assert_eq!(listing, "");
    contains(&errors, &["/dev/zero", "not a regular file"]);
}

#[test]
fn large_files_are_refused_with_size_and_limit() {
    let directory = scratch("decode/large");
    let file = fs::File::create(directory.join("zeros")).unwrap();
    file.set_len(200_000_000).unwrap();
    let (listing, errors) = run(&directory, &["zeros"], 1);
    assert_eq!(listing, "");
    contains(&errors, &["zeros", "200000000 bytes", "67108864"]);
}

#[test]
fn noops_in_a_row_are_one_line() {
    let directory = scratch("decode/noops");
    let file = fs::File::create(directory.join("zeros")).unwrap();
    file.set_len(64 << 20).unwrap();
    let (listing, errors) = run(&directory, &["zeros"], 1);
    assert_eq!(
        listing,
        "0x00000000:  0x00000000:  16777216 x MI_NOOP\n\
         16777216 commands, 0 errors, without MI_BATCH_BUFFER_END\n"
    );
    contains(
        &errors,
        &["zeros: no MI_BATCH_BUFFER_END up to offset 0x4000000"],
    );
    fs::write(directory.join("three"), bytes(&[NOOP, NOOP, NOOP, END])).unwrap();
    let (listing, _) = run(&directory, &["three", "--base", "0x1000"], 0);
    contains(&listing, &["0x00001000:  0x00000000:  3 x MI_NOOP\n"]);
}

#[test]
fn empty_files_are_errors() {
    let directory = scratch("decode/empty");
    fs::write(directory.join("nothing"), "").unwrap();
    let (_, errors) = run(&directory, &["nothing"], 1);
    contains(&errors, &["nothing", "empty", "little-endian dwords"]);
    fs::write(directory.join("short"), [0, 1, 2]).unwrap();
    let (_, errors) = run(&directory, &["short"], 1);
    contains(&errors, &["short", "3 bytes", "dword"]);
}

#[test]
fn batches_without_end_are_printed_and_told() {
    let directory = scratch("decode/endless");
    fs::write(directory.join("batch"), bytes(&[INTERRUPT, NOOP])).unwrap();
    let (listing, errors) = run(&directory, &["batch"], 1);
    contains(&listing, &["MI_USER_INTERRUPT", "2 commands, 0 errors"]);
    assert_eq!(
        errors,
        "crestline: batch: no MI_BATCH_BUFFER_END up to offset 0x8\n"
    );
}

#[test]
fn half_dwords_come_last() {
    let directory = scratch("decode/half");
    let mut words = bytes(&[INTERRUPT, END]);
    words.extend([1, 2, 3]);
    fs::write(directory.join("batch"), &words).unwrap();
    let (listing, errors) = run(&directory, &["batch"], 1);
    contains(&listing, &["MI_USER_INTERRUPT", "MI_BATCH_BUFFER_END"]);
    contains(&errors, &["batch", "3 bytes at offset 0x8"]);
}

#[test]
fn damaged_batches_name_the_first_error() {
    let directory = scratch("decode/damaged");
    fs::write(
        directory.join("batch"),
        bytes(&[NOOP, 0x7fff_0000, 0x7fff_0000]),
    )
    .unwrap();
    let (_, errors) = run(&directory, &["batch", "--base", "1000"], 1);
    contains(
        &errors,
        &[
            "batch: 2 error lines in the listing, the first at 0x4",
            "0xc",
        ],
    );
    // MI_BATCH_BUFFER_START (31h << 23) to itself.
    fs::write(directory.join("loop"), bytes(&[0x1880_0080, 0])).unwrap();
    let (listing, _) = run(&directory, &["loop"], 1);
    contains(&listing, &["batch start without end at offset 0x0"]);
}

#[test]
fn text_is_recognised() {
    let directory = scratch("decode/text");
    fs::write(directory.join("batch.hex"), "00000000 05000000\n").unwrap();
    let (listing, errors) = run(&directory, &["batch.hex"], 1);
    assert_eq!(listing, "");
    contains(
        &errors,
        &["batch.hex", "text", "little-endian dwords", "exec_NNNN"],
    );
}

#[test]
fn directories_without_capture_say_what_is_missing() {
    let directory = scratch("decode/directory");
    fs::create_dir(directory.join("some")).unwrap();
    let (_, errors) = run(&directory, &["some"], 1);
    contains(&errors, &["some", "exec_NNNN", "exec.json"]);
    fs::copy(scene("a_clear"), directory.join("some/frame.crest")).unwrap();
    let (listing, _) = run(&directory, &["some"], 0);
    contains(&listing, &["exec_0000"]);
    fs::copy(scene("a_clear"), directory.join("renamed")).unwrap();
    let (_, errors) = run(&directory, &["renamed"], 1);
    contains(&errors, &["renamed", ".crest"]);
    let (_, errors) = run(&directory, &["nowhere"], 1);
    contains(&errors, &["nowhere"]);
}

#[test]
fn submissions_have_a_name() {
    let directory = scratch("decode/exec");
    let inner = directory.join("exec_0000");
    fs::create_dir(&inner).unwrap();
    let mut batch = bytes(&[INTERRUPT, END]);
    fs::write(inner.join("bo"), &batch).unwrap();
    let json = |length: usize| {
        format!(
            r#"{{"pci":"8086:2a02","batch_start_offset":0,"batch_len":{length},"batch_index":0,"buffers":[
            {{"bo_id":1,"size":4096,"gtt_offset":4096,"tiling":0,"stride":0,"file":"bo","file_size":8}}]}}"#
        )
    };
    fs::write(inner.join("exec.json"), json(8)).unwrap();
    for (place, path) in [
        (&directory, "exec_0000"),
        (&directory, "exec_0000/"),
        (&inner, "."),
        (&directory, "."),
    ] {
        let (listing, _) = run(place, &[path], 0);
        assert!(listing.starts_with("exec_0000: GM965"), "{path}: {listing}");
    }
    // Without the end the file is named, and the offset in it.
    batch[4..].fill(0);
    fs::write(inner.join("bo"), &batch).unwrap();
    let (_, errors) = run(&directory, &["exec_0000"], 1);
    contains(
        &errors,
        &["exec_0000: no MI_BATCH_BUFFER_END", "(bo) + 0x8"],
    );
}

#[test]
fn addresses_are_hexadecimal() {
    let directory = scratch("decode/base");
    fs::write(directory.join("batch"), bytes(&[END])).unwrap();
    let (listing, _) = run(&directory, &["batch", "--base", "0x2000"], 0);
    contains(&listing, &["0x00002000:"]);
    for wrong in ["+10", "0x0x10", "3", "100000000", "x"] {
        let (_, errors) = run(&directory, &["batch", "--base", wrong], 1);
        contains(&errors, &["--base", wrong]);
    }
    let (_, errors) = run(&directory, &["batch", "--base", "fffffffc"], 0);
    assert_eq!(errors, "");
}

/// Rules of a manual that a listing says are broken.
fn broken(listing: &str) -> Vec<&str> {
    let mut rules: Vec<&str> = listing
        .lines()
        .filter_map(|line| line.split_once(" breaks ")?.1.split_once(':'))
        .map(|(rule, _)| rule)
        .collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// ValleyView volume 2 part 2, 3DSTATE_SO_BUFFER: pitches are multiples of 4.
#[test]
fn a_check_asks_the_rules_of_the_manual() {
    let directory = scratch("decode/rules");
    let batch = |pitch: u32| bytes(&[0x7918_0002, pitch, 0x1000, 0x2000, END]);
    fs::write(directory.join("bad"), batch(6)).unwrap();
    fs::write(directory.join("good"), batch(8)).unwrap();
    let args = ["--device", "valleyview", "--check", "bad"];
    let (listing, errors) = run(&directory, &args, 1);
    assert_eq!(broken(&listing), ["stream-pitch"]);
    contains(
        &listing,
        &["0x00000000:  3DSTATE_SO_BUFFER breaks stream-pitch: Surface Pitch is 6"],
    );
    contains(&errors, &["bad: 1 finding against the device's manual"]);
    let (listing, _) = run(&directory, &["--device", "valleyview", "bad"], 0);
    assert_eq!(broken(&listing), Vec::<&str>::new());
    let args = ["--device", "valleyview", "--check", "good"];
    let (listing, _) = run(&directory, &args, 0);
    contains(&listing, &["0 findings"]);
    let (listing, _) = run(&directory, &["--device", "gm965", "--check", "good"], 1);
    contains(&listing, &["no rules are written down for this device"]);
}

/// All frames of Mesa 22.3.6 (crocus) that it drew on ValleyView. It starts up to 36 VS threads and 48 PS threads there
/// (intel_device_info.c `intel_device_info_byt`), more than the manual lets it.
#[test]
fn frames_of_mesa_keep_the_rules_but_for_two() {
    let directory = scratch("decode/mesa");
    let frames = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/captures/valleyview");
    let mut all = 0;
    for frame in fs::read_dir(frames).unwrap() {
        let path = frame.unwrap().path().join("frame.crest");
        let path = path.to_str().unwrap();
        let out = crestline(&directory, &["decode", "--check", "--no-state", path]);
        let listing = String::from_utf8(out.stdout).unwrap();
        contains(&listing, &["rules asked"]);
        let otherwise = ["ps-threads", "vs-threads"];
        for rule in broken(&listing) {
            assert!(otherwise.contains(&rule), "{path}: {rule}");
        }
        all += 1;
    }
    assert_eq!(all, 45);
}

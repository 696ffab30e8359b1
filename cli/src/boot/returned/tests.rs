//! Archives of guests that mean well, and of those that do not.
//!
//! The bytes are those of busybox's cpio, or what a guest may write in their place.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use std::os::unix::fs::PermissionsExt as _;

fn entry(name: &str, mode: u32, content: &[u8]) -> Vec<u8> {
    let zero = "00000000";
    let (length, name_length) = (content.len(), name.len() + 1);
    let head = format!(
        "070701{zero}{mode:08X}{zero}{zero}00000001{zero}{length:08X}{zero}{zero}{zero}{zero}{name_length:08X}{zero}{name}\0"
    );
    let mut bytes = head.into_bytes();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
    [entries.concat(), entry("TRAILER!!!", 0, b"")].concat()
}

const LIMIT: u64 = 1 << 20;

#[test]
fn files_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = archive(&[
        entry(".", 0o40755, b""),
        entry("./pictures", 0o40755, b""),
        entry("./pictures/a.ppm", 0o100644, b"P6 1 1 255 abc"),
        entry("./script", 0o100755, b"#!/bin/sh"),
        entry("./link", 0o120777, b"/etc/passwd"),
        entry("deep/er/file", 0o100600, b""),
    ]);
    // busybox fills its last block.
    bytes.resize(bytes.len() + 300, 0);
    let returned = unpack(&*bytes, dir.path(), LIMIT).unwrap();
    assert_eq!((returned.files, returned.bytes), (3, 23));
    assert_eq!(returned.left_out, ["./link"]);
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read("pictures/a.ppm"), "P6 1 1 255 abc");
    assert_eq!(read("deep/er/file"), "");
    let mode = fs::metadata(dir.path().join("script"))
        .unwrap()
        .permissions();
    assert_ne!(mode.mode() & 0o100, 0);
}

#[test]
fn nothing_is_made_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let into = dir.path().join("into");
    fs::create_dir(&into).unwrap();
    let away = format!("{}/absolute", dir.path().to_string_lossy());
    let bytes = archive(&[
        entry("../up", 0o100644, b"x"),
        entry("a/../../up", 0o100644, b"x"),
        entry(&away, 0o100644, b"x"),
        entry("pipe", 0o10644, b""),
        entry("disk", 0o60644, b""),
    ]);
    let returned = unpack(&*bytes, &into, LIMIT).unwrap();
    assert_eq!(returned.files, 0);
    assert_eq!(returned.left_out.len(), 5);
    let names = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(names, 1);
    assert_eq!(fs::read_dir(&into).unwrap().count(), 0);
}

#[test]
fn what_is_no_archive_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = unpack(&b""[..], dir.path(), LIMIT).unwrap();
    assert_eq!(nothing, Returned::default());
    for bytes in [&b"no archive at all"[..], &[0; 200], b"070701zzzzzzzz"] {
        assert!(unpack(bytes, dir.path(), LIMIT).is_err(), "{bytes:?}");
    }
    // Amid a file, and more than is allowed.
    let bytes = archive(&[entry("a", 0o100644, &[7; 5000])]);
    assert!(unpack(&bytes[..3000], dir.path(), LIMIT).is_err());
    assert!(unpack(&*bytes, dir.path(), 3000).is_err());
    let huge = entry("b", 0o100644, b"");
    let mut huge = String::from_utf8(huge).unwrap();
    huge.replace_range(54..62, "FFFFFFFF");
    assert!(unpack(huge.as_bytes(), dir.path(), LIMIT).is_err());
    let mut name = String::from_utf8(entry("b", 0o100644, b"")).unwrap();
    name.replace_range(94..102, "FFFFFFF0");
    name.push_str(&"n".repeat(5000));
    assert!(unpack(name.as_bytes(), dir.path(), LIMIT).is_err());
    assert!(unpack(name.as_bytes(), dir.path(), 3000).is_err());
}

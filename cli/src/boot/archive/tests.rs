//! Archives against those of GNU cpio.
//!
//! The bytes are those of `cpio -o -H newc` (GNU cpio 2.13), whose digits are upper case, with the numbers of inodes and devices and the
//! times set to 0.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::os::unix::fs::symlink;

use super::*;

/// An entry as GNU cpio writes it: mode, links, length; name and content with their padding.
fn entry(mode: &str, links: &str, length: &str, name_length: &str, rest: &[u8]) -> Vec<u8> {
    let zero = "00000000";
    let head = format!(
        "070701{zero}{mode}{zero}{zero}{links}{zero}{length}{zero}{zero}{zero}{zero}{name_length}{zero}"
    );
    [head.as_bytes(), rest].concat()
}

fn expected() -> Vec<u8> {
    [
        entry("000041ed", "00000002", "00000000", "00000004", b"usr\0\0\0"),
        entry(
            "000041ed",
            "00000002",
            "00000000",
            "00000008",
            b"usr/bin\0\0\0",
        ),
        entry(
            "000081ed",
            "00000001",
            "00000005",
            "0000000a",
            b"usr/bin/a\0hello\0\0\0",
        ),
        entry(
            "0000a1ff",
            "00000001",
            "00000001",
            "0000000a",
            b"usr/bin/b\0a\0\0\0",
        ),
        entry(
            "00000000",
            "00000001",
            "00000000",
            "0000000b",
            b"TRAILER!!!\0\0\0\0",
        ),
    ]
    .concat()
}

#[test]
fn bytes_are_those_of_cpio() {
    let mut archive = Archive::new(Vec::new());
    archive.bytes("/bin/a", 0o755, b"hello").unwrap();
    archive.link("usr/bin/b", "a").unwrap();
    let (bytes, names) = archive.finish().unwrap();
    assert_eq!(bytes, expected());
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    assert_eq!(names, ["usr", "usr/bin", "usr/bin/a", "usr/bin/b"]);
}

#[test]
fn a_tree_is_packed_in_order_and_second_names_become_links() {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("b"), "hello").unwrap();
    fs::hard_link(bin.join("b"), bin.join("c")).unwrap();
    symlink("b", bin.join("a")).unwrap();
    fs::create_dir_all(dir.path().join("usr/share/doc")).unwrap();
    let mut archive = Archive::new(Vec::new());
    archive.merged().unwrap();
    archive
        .tree(dir.path(), "", &|name| name != "usr/share/doc")
        .unwrap();
    let (bytes, names) = archive.finish().unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let at = |name: &str| text.find(name).unwrap();
    assert!(at("usr/bin/a\0") < at("usr/bin/b\0"));
    assert!(at("usr/bin/b\0") < at("usr/bin/c\0"));
    assert!(text.contains("usr/bin/c\0/usr/bin/b"));
    assert!(
        text.contains("\0bin\0") || text.contains("00bin\0"),
        "a link"
    );
    assert!(names.contains("usr/share") && !names.contains("usr/share/doc"));
    assert_eq!(text.matches("hello").count(), 1);
    assert_eq!(bytes.len() % 4, 0);
}

#[test]
fn places_are_behind_the_links() {
    for (name, found) in [
        ("/bin/sh", "usr/bin/sh"),
        ("lib64/ld.so", "usr/lib64/ld.so"),
        ("./lib/a/../b", "usr/lib/a/../b"),
        ("/bin", "bin"),
        ("//library/x", "library/x"),
        ("//usr//lib/x", "usr/lib/x"),
    ] {
        assert_eq!(place(name), found);
    }
}

#[test]
fn archives_begin_at_multiples_of_four() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["a", "b", "whole"].map(|name| dir.path().join(name));
    fs::write(&paths[0], "12345").unwrap();
    fs::write(&paths[1], "1234").unwrap();
    let mut whole = File::create(&paths[2]).unwrap();
    append(&mut whole, &[&paths[0], &paths[1]]).unwrap();
    assert_eq!(fs::read(&paths[2]).unwrap(), b"12345\0\0\x001234");
}

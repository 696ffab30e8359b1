//! What `crestline media run` refuses: kernels, grids, files, surfaces, outputs.
//!
//! Nothing that is there changes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::common::media::{Dir, END, kernel, png, ramp};

#[test]
fn kernels_that_are_none() {
    let dir = Dir::new("kernels");
    let said = dir.bad(1, &["none.asm", "--grid", "1x1"]);
    assert_eq!(
        said,
        "crestline: none.asm: No such file or directory (os error 2)\n"
    );
    dir.write("bad.asm", b"nop;\nmov(8) g1<1>Z g2<8,8,1>F { align1 };\n");
    let said = dir.bad(1, &["bad.asm", "--grid", "1x1"]);
    assert!(
        said.contains("bad.asm:2:13: error: expected a type letter"),
        "{said}"
    );
    dir.write("empty.asm", b"// nothing\n");
    let said = dir.bad(1, &["empty.asm", "--grid", "1x1"]);
    assert_eq!(said, "crestline: empty.asm: no instruction in it\n");
    dir.write("bytes.asm", &[0xff, 0xfe]);
    let said = dir.bad(1, &["bytes.asm", "--grid", "1x1"]);
    assert!(said.contains("bytes.asm: byte 0 is not UTF-8"), "{said}");
}

#[test]
fn grids_that_are_none() {
    let dir = Dir::new("grids");
    dir.write("end.asm", END.as_bytes());
    for grid in ["0x1", "1x0", "0x0"] {
        let said = dir.bad(2, &["end.asm", "--grid", grid]);
        assert!(
            said.contains(&format!("a grid of {grid} has no threads")),
            "{said}"
        );
    }
    let said = dir.bad(2, &["end.asm", "--grid", "12"]);
    assert!(said.contains("two numbers with an x"), "{said}");
    let said = dir.bad(1, &["end.asm", "--grid", "1025x1024"]);
    assert_eq!(
        said,
        "crestline: the grid 1025x1024 has more than 1048576 threads\n"
    );
}

#[test]
fn files_that_do_not_fit() {
    let dir = Dir::new("files");
    dir.write("a.bin", &ramp(100))
        .write("none.bin", b"")
        .write("fake.png", b"no picture");
    let whole = png(4, 4, png::ColorType::Grayscale, &[1; 16]);
    dir.write("cut.png", &whole[..whole.len() - 20])
        .write("g.png", &whole);
    let copy = kernel("copy.asm");
    let said = |args: &[&str]| {
        dir.bad(
            1,
            &[&[copy.as_str(), "--grid", "1x1", "--out", "o.bin"], args].concat(),
        )
    };
    for (file, error) in [
        (
            "missing.bin",
            "missing.bin: No such file or directory (os error 2)\n",
        ),
        ("none.bin", "none.bin: the file is empty\n"),
        (".", ".: is a directory\n"),
        (
            "fake.png",
            "fake.png: it is not a PNG that can be read: Invalid PNG signature.\n",
        ),
        (
            "g.png,format=r16",
            "g.png: a picture gives r8, rgba8 or bgra8, not r16\n",
        ),
        ("g.png,width=5", "g.png: the picture has 4x4 pixels\n"),
        (
            "a.bin,width=10,height=11",
            "a.bin: 100 bytes in the file, but 10x11 pixels of r8 in rows of 10 bytes need 110\n",
        ),
        (
            "a.bin,width=2,height=2,pitch=7,format=rgba8",
            "a.bin: rows of 7 bytes are too short for 2 pixels of rgba8\n",
        ),
        (
            "a.bin,width=10",
            "a.bin: width and height belong together: one of them is missing\n",
        ),
        (
            "a.bin,view=image",
            "a.bin: an image needs its width and height\n",
        ),
        (
            "a.bin,width=0,height=9",
            "a.bin: 0x9 pixels: each side has 1 to 8192\n",
        ),
    ] {
        assert_eq!(
            said(&["--in", file]),
            format!("crestline: {error}"),
            "{file}"
        );
    }
    assert!(said(&["--in", "cut.png"]).contains("cut.png: the picture is damaged"));
    let said = dir.bad(2, &[&copy, "--grid", "1x1", "--in", "a.bin,depth=3"]);
    assert!(
        said.contains("no such key; keys are width height pitch format size view"),
        "{said}"
    );
    // How large is the output?
    let said = dir.bad(1, &[&copy, "--grid", "1x1", "--out", "o.bin"]);
    assert!(said.contains("o.bin: how large is it?"), "{said}");
    let said = dir.bad(
        1,
        &[
            &copy,
            "--grid",
            "1x1",
            "--out",
            "o.bin,size=0",
            "--in",
            "a.bin",
        ],
    );
    assert!(
        said.contains("o.bin: 0 bytes: a surface has 1 to"),
        "{said}"
    );
    let said = dir.bad(
        1,
        &[
            &copy,
            "--grid",
            "1x1",
            "--in",
            "g.png",
            "--out",
            "o.png,format=rg8",
        ],
    );
    assert!(
        said.contains("o.png: rg8 is not a format of a picture"),
        "{said}"
    );
    assert!(!dir.0.join("o.bin").exists());
}

#[test]
fn surfaces_that_nobody_gave() {
    let dir = Dir::new("unbound");
    let said = dir.bad(
        1,
        &[
            &kernel("copy.asm"),
            "--grid",
            "1x1",
            "--out",
            "o.bin,size=16",
        ],
    );
    assert!(
        said.contains("copy.asm:16: surface 1 is not there: 1 given, inputs first"),
        "{said}"
    );
}

/// OWords want bytes, media blocks want rows.
#[test]
fn surfaces_of_the_other_kind() {
    let dir = Dir::new("kinds");
    dir.write("g.png", &png(4, 4, png::ColorType::Grayscale, &[1; 16]));
    let said = dir.bad(
        1,
        &[
            &kernel("copy.asm"),
            "--grid",
            "1x1",
            "--in",
            "g.png",
            "--out",
            "o.png",
        ],
    );
    let error = "copy.asm:10: this message needs a buffer, and surface 0 (g.png) is an image\n";
    assert!(said.ends_with(error), "{said}");
    let args = ["--grid", "1x1", "--in", "g.png", "--out", "o.bin,size=16"];
    let said = dir.bad(1, &[&[kernel("blur.asm").as_str()], &args[..]].concat());
    let error = "blur.asm:110: this message needs an image, and surface 1 (o.bin) is a buffer\n";
    assert!(said.ends_with(error), "{said}");
}

/// Found before the run; nothing that is there changes, and nothing new stays.
#[test]
fn outputs_that_cannot_be_written() {
    for (name, mode) in [("outputs", 0o755), ("shared-outputs", 0o1777)] {
        let dir = Dir::new(name);
        fs::set_permissions(&dir.0, Permissions::from_mode(mode)).unwrap();
        cannot_be_written(&dir);
    }
}

fn cannot_be_written(dir: &Dir) {
    dir.write("a.bin", &ramp(64)).write("old.bin", b"old");
    let copy = kernel("copy.asm");
    let said = |args: &[&str]| {
        let all = [&[copy.as_str(), "--grid", "1x1", "--in", "a.bin"], args].concat();
        let said = dir.bad(1, &all);
        assert_eq!(dir.read("old.bin"), b"old");
        assert!(!dir.0.join("o.bin").exists());
        assert!(!dir.0.join("new.bin").exists());
        said
    };
    let outs = ["--out", "old.bin", "--out", "o.bin"];
    let nowhere = "no/where.bin: there is no directory no\n";
    for arg in ["--out", "--trace"] {
        let text = said(&[&outs[..], &[arg, "no/where.bin"]].concat());
        assert_eq!(text, format!("crestline: {nowhere}"));
    }
    let text = said(&["--out", "."]);
    assert!(
        text.starts_with("crestline: .: this is a directory"),
        "{text}"
    );
    // One file by two names.
    std::os::unix::fs::symlink("old.bin", dir.0.join("link.bin")).unwrap();
    std::fs::hard_link(dir.0.join("old.bin"), dir.0.join("hard.bin")).unwrap();
    for (other, error) in [
        ("old.bin", "it is written twice"),
        ("./old.bin", "it is the same file as old.bin"),
        ("link.bin", "it is the same file as old.bin"),
        ("hard.bin", "it is the same file as old.bin"),
    ] {
        for arg in ["--out", "--trace"] {
            let text = said(&[&outs[..], &[arg, other]].concat());
            assert!(text.contains(&format!("{other}: {error}")), "{text}");
        }
    }
    // A kernel is read, too.
    let text = said(&["--out", copy.as_str()]);
    assert!(text.contains("this file is read"), "{text}");
    let text = said(&["--out", "new.bin", "--out", "./new.bin"]);
    assert!(text.contains("the same file as new.bin"), "{text}");
    let text = said(&["--out", "-", "--out", "-"]);
    assert!(text.contains("<stdout>: it is written twice"), "{text}");
}

#[test]
fn outputs_that_are_too_large() {
    let dir = Dir::new("large");
    dir.write("end.asm", END.as_bytes());
    for (file, error) in [
        (
            "o.bin,width=16,height=16,pitch=4294967295",
            "o.bin: pitch=4294967295 is too much: 16 rows are 68719476720 bytes",
        ),
        (
            "o.bin,size=4294967295",
            "o.bin: size=4294967295 is too much",
        ),
        (
            "o.bin,width=4294967295,height=4294967295,format=rgba8",
            "o.bin: 4294967295x4294967295 pixels: each side has 1 to 8192",
        ),
        ("o.png,size=16", "o.png: a picture needs width and height"),
    ] {
        let said = dir.bad(1, &["end.asm", "--grid", "1x1", "--out", file]);
        assert!(said.contains(error), "{said}");
    }
    dir.write("a.bin", &ramp(64));
    let args = ["--in", "a.bin", "--out", "o.png"];
    let said = dir.bad(1, &[&["end.asm", "--grid", "1x1"], &args[..]].concat());
    assert_eq!(
        said,
        "crestline: o.png: a picture needs width and height: write o.png,width=W,height=H, or name an input that has them\n"
    );
    let file = "a.bin,width=16,height=4294967295,pitch=4294967295";
    let said = dir.bad(1, &["end.asm", "--grid", "1x1", "--in", file]);
    assert!(said.contains("each side has 1 to 8192"), "{said}");
}

#[test]
fn arguments_that_mean_nothing() {
    let dir = Dir::new("arguments");
    dir.write("end.asm", END.as_bytes())
        .write("a.bin", &ramp(64));
    for (args, error) in [
        (&["--seed", "3"][..], "--seed needs --policy random"),
        (
            &["--seed", "3", "--policy", "reversed"],
            "--seed needs --policy random",
        ),
        (&["--in", "a.bin,size=64"], "size is a key of outputs"),
        (&["--out", "o.bin,size=1,size=2"], "size is there twice"),
    ] {
        let said = dir.bad(2, &[&["end.asm", "--grid", "1x1"], args].concat());
        assert!(said.contains(error), "{said}");
        assert!(said.starts_with("error: "), "{said}");
    }
}

#[test]
fn devices_that_are_none() {
    let dir = Dir::new("devices");
    dir.write("end.asm", END.as_bytes());
    let said = dir.bad(1, &["end.asm", "--grid", "1x1", "--device", "g4"]);
    assert!(
        said.contains("unknown device \"g4\". Did you mean "),
        "{said}"
    );
}

#[test]
fn a_generation_is_no_device() {
    let dir = Dir::new("generation");
    dir.write("end.asm", END.as_bytes());
    let said = dir.bad(2, &["end.asm", "--grid", "1x1", "--gen", "5"]);
    assert!(
        said.contains("here a device is named: --device ironlake"),
        "{said}"
    );
}

#[test]
fn a_thread_that_does_not_tell_the_spawner_its_end() {
    let dir = Dir::new("silent");
    let text = "send(8) 0 null<1>UW g0<8,8,1>UW null MsgDesc: mlen 1 rlen 0 { align1 EOT };\n";
    dir.write("silent.asm", text.as_bytes());
    let said = dir.bad(1, &["silent.asm", "--grid", "1x1"]);
    assert!(
        said.contains("of root thread 0 ended with EOT to another unit")
            && said.contains("end it with send .. thread_spawner .. resource { EOT }"),
        "{said}"
    );
}

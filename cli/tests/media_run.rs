//! `crestline media run` as a user calls it: files, and what goes wrong.
//!
//! No PRM chapter. Expectations are computed here, not by the model.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn kernel(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../examples/kernels").join(name);
    path.display().to_string()
}

/// A directory of the test's own.
struct Dir(PathBuf);

impl Dir {
    fn new(test: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("media_{test}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> &Self {
        std::fs::write(self.0.join(name), bytes).unwrap();
        self
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_crestline"))
            .args(["media", "run"])
            .args(args)
            .current_dir(&self.0)
            .output()
            .unwrap()
    }

    /// Standard output of a run that goes well.
    fn good(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {errors}");
        // Whole threads over other sizes: bytes past the end are counted.
        assert!(
            errors.lines().all(|line| line.contains(": warning: ")),
            "{errors}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a run that does not.
    fn bad(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// A thread that ends.
const END: &str = "send(8) 0 null<1>UW g0<8,8,1>UW thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };\n";

fn ramp(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 7) as u8).collect()
}

#[test]
fn raw_files_are_buffers() {
    let dir = Dir::new("raw");
    let bytes = ramp(1001);
    dir.write("a.bin", &bytes);
    let copy = kernel("copy.asm");
    let text = dir.good(&[&copy, "--in", "a.bin", "--out", "b.bin", "--grid", "4x2"]);
    assert_eq!(dir.read("b.bin"), bytes);
    for line in [
        "copy.asm: grid of 4x2 on Mobile Intel GM965 Express (8086:2a02), order fixed\n",
        "  threads                     8\n",
        "  instructions               72 (88 in SIMD8)\n",
        "  messages                   24 (read 8, write 8, spawner 8)\n",
        "b.bin: 1001 bytes\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn constants_and_a_size() {
    let dir = Dir::new("fill");
    dir.good(&[
        &kernel("fill.asm"),
        "--out",
        "a.bin,size=0x101",
        "--grid",
        "3x1",
        "--curbe",
        "ub:1,2",
        "--device",
        "g35",
    ]);
    let expected: Vec<u8> = [1, 2, 0, 0].into_iter().cycle().take(257).collect();
    assert_eq!(dir.read("a.bin"), expected);
}

/// Rows in the file have their own distance; what lies between them stays out.
#[test]
fn rows_with_room_between_them() {
    let dir = Dir::new("pitch");
    let flat = [40; 23 * 9];
    let mut bytes = Vec::new();
    for row in flat.chunks(23) {
        bytes.extend_from_slice(row);
        bytes.extend_from_slice(&[255; 9]);
    }
    dir.write("a.raw", &bytes);
    let blur = kernel("blur.asm");
    let grid = ["--grid", "2x2"];
    let size = ["--width", "23", "--height", "9"];
    let files = ["--in", "a.raw,pitch=32", "--out", "b.raw"];
    let args: Vec<&str> = [blur.as_str()]
        .into_iter()
        .chain(grid)
        .chain(size)
        .chain(files)
        .collect();
    let text = dir.good(&args);
    assert!(text.ends_with("b.raw: 23x9 r8\n"), "{text}");
    assert_eq!(dir.read("b.raw"), flat);
    // The same for the output.
    let files = ["--in", "a.raw", "--out", "c.raw", "--pitch", "32"];
    let args: Vec<&str> = [blur.as_str()]
        .into_iter()
        .chain(grid)
        .chain(size)
        .chain(files)
        .collect();
    dir.good(&args);
    let rows: Vec<u8> = bytes
        .iter()
        .map(|b| if *b == 255 { 0 } else { *b })
        .collect();
    assert_eq!(dir.read("c.raw"), rows);
}

fn png(width: u32, height: u32, color: png::ColorType, pixels: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    out
}

/// Two grey pixels of sixteen bits.
fn deep(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, 2, 1);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    out
}

/// Two pixels of one bit with a palette.
fn palette(colours: &[u8], data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, 2, 1);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_palette(colours.to_vec());
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    out
}

fn pixels(bytes: &[u8]) -> (u32, u32, png::ColorType, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
        .read_info()
        .unwrap();
    let mut out = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut out).unwrap();
    out.truncate(frame.buffer_size());
    (frame.width, frame.height, frame.color_type, out)
}

#[test]
fn pictures_come_and_go() {
    let dir = Dir::new("png");
    let rgb = ramp(5 * 3 * 3);
    dir.write("a.png", &png(5, 3, png::ColorType::Rgb, &rgb));
    let copy = kernel("copy.asm");
    // Each view of the same bytes; the output is like the input.
    let text = dir.good(&[
        &copy, "--in", "a.png", "--out", "b.png", "--grid", "1x1", "--view", "buffer",
    ]);
    assert!(text.ends_with("b.png: 5x3 rgba8\n"), "{text}");
    let rgba: Vec<u8> = rgb
        .chunks(3)
        .flat_map(|p| [p[0], p[1], p[2], 255])
        .collect();
    assert_eq!(
        pixels(&dir.read("b.png")),
        (5, 3, png::ColorType::Rgba, rgba.clone())
    );
    // Another order of the channels in memory is the same picture.
    let args = ["--grid", "1x1", "--view", "buffer", "--format", "bgra8"];
    dir.good(
        &[
            &[copy.as_str(), "--in", "a.png", "--out", "c.png"],
            &args[..],
        ]
        .concat(),
    );
    assert_eq!(dir.read("c.png"), dir.read("b.png"));
    dir.good(
        &[
            &[copy.as_str(), "--in", "a.png", "--out", "c.bin"],
            &args[..],
        ]
        .concat(),
    );
    let bgra: Vec<u8> = rgb
        .chunks(3)
        .flat_map(|p| [p[2], p[1], p[0], 255])
        .collect();
    assert_eq!(dir.read("c.bin"), bgra);
    // Other depths become eight bits, palettes colours.
    dir.write("deep.png", &deep(&[0x12, 0x34, 0xff, 0x01]));
    dir.good(&[
        &copy, "--in", "deep.png", "--out", "d.bin", "--grid", "1x1", "--view", "buffer",
    ]);
    // 0x1234 / 257 is 18.1, and 0xff01 / 257 is 254.01.
    assert_eq!(dir.read("d.bin"), [18, 254]);
    dir.write(
        "colours.png",
        &palette(&[1, 2, 3, 40, 50, 60], &[0b0100_0000]),
    );
    dir.good(&[
        &copy,
        "--in",
        "colours.png",
        "--out",
        "p.bin",
        "--grid",
        "1x1",
        "--view",
        "buffer",
    ]);
    assert_eq!(dir.read("p.bin"), [1, 2, 3, 255, 40, 50, 60, 255]);
    // Grey stays grey.
    dir.write("g.png", &png(4, 4, png::ColorType::Grayscale, &[77; 16]));
    dir.good(&[
        &kernel("blur.asm"),
        "--in",
        "g.png",
        "--out",
        "h.png",
        "--grid",
        "1x1",
    ]);
    assert_eq!(
        pixels(&dir.read("h.png")),
        (4, 4, png::ColorType::Grayscale, vec![77; 16])
    );
}

#[test]
fn orders_are_named_with_their_seed() {
    let dir = Dir::new("order");
    let ring = kernel("ring.asm");
    let args = [
        ring.as_str(),
        "--children",
        "--out",
        "t.bin,size=16",
        "--grid",
        "1x1",
        "--curbe",
        "ud:5,3,1",
    ];
    for (policy, name) in [
        (&["--policy", "fixed"][..], "order fixed"),
        (&["--policy", "reversed"], "order reversed"),
        (&["--policy", "random", "--seed", "77"], "order random:77"),
    ] {
        let text = dir.good(&[&args[..], policy].concat());
        assert!(text.contains(name), "{text}");
        // 3 token + number of the child, five children, three laps, from 1 on.
        let token = (0..3).fold(1u32, |token, _| (1..=5).fold(token, |t, n| t * 3 + n));
        assert_eq!(dir.read("t.bin")[..4], token.to_le_bytes());
    }
}

#[test]
fn a_trace_is_written() {
    let dir = Dir::new("trace");
    dir.write("end.asm", END.as_bytes());
    dir.good(&["end.asm", "--grid", "3x1", "--trace", "trace.txt"]);
    let text = String::from_utf8(dir.read("trace.txt")).unwrap();
    assert!(text.contains("\neot ff7 1\n"), "{text}");
}

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
    assert!(said.contains("bytes.asm: byte 0 is no UTF-8"), "{said}");
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
            "fake.png: it is no PNG that can be read: Invalid PNG signature.\n",
        ),
        (
            "g.png,format=r16",
            "g.png: a picture gives r8, rgba8 or bgra8, not r16\n",
        ),
        ("g.png,width=5", "g.png: the picture has 4x4 pixels\n"),
        (
            "a.bin,width=10,height=11",
            "a.bin: 100 bytes are too few for 10x11 pixels of r8 in rows of 10 bytes: they need 110\n",
        ),
        (
            "a.bin,width=2,height=2,pitch=7,format=rgba8",
            "a.bin: rows of 7 bytes are too short for 2 pixels of rgba8\n",
        ),
        (
            "a.bin,width=10",
            "a.bin: width and height belong together\n",
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
        said.contains("o.png: rg8 is no format of a picture"),
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
    let dir = Dir::new("outputs");
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
    let nowhere = "no/where.bin: No such file or directory (os error 2)\n";
    for arg in ["--out", "--trace"] {
        let text = said(&[&outs[..], &[arg, "no/where.bin"]].concat());
        assert_eq!(text, format!("crestline: {nowhere}"));
    }
    let text = said(&["--out", "."]);
    assert!(text.starts_with("crestline: .: Is a directory"), "{text}");
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
    let text = said(&["--out", "new.bin", "--out", "./new.bin"]);
    assert!(text.contains("the same file as new.bin"), "{text}");
    let text = said(&["--out", "-", "--out", "-"]);
    assert!(text.contains("<stdout>: it is written twice"), "{text}");
}

/// Shorter than what was there, and an output that is an input.
#[test]
fn files_are_replaced() {
    let dir = Dir::new("replaced");
    dir.write("a.bin", &ramp(64)).write("b.bin", &[9; 100]);
    let copy = kernel("copy.asm");
    dir.good(&[&copy, "--grid", "1x1", "--in", "a.bin", "--out", "b.bin"]);
    assert_eq!(dir.read("b.bin"), ramp(64));
    dir.good(&[&copy, "--grid", "1x1", "--in", "a.bin", "--out", "a.bin"]);
    assert_eq!(dir.read("a.bin"), ramp(64));
    let null = ["--out", "/dev/null", "--out", "/dev/null"];
    dir.good(&[&[&copy, "--grid", "1x1", "--in", "a.bin"], &null[..]].concat());
}

#[test]
fn standard_output_is_an_output() {
    let dir = Dir::new("stdout");
    dir.write("a.bin", &ramp(256));
    let copy = kernel("copy.asm");
    let output = dir.run(&[&copy, "--grid", "2x1", "--in", "a.bin", "--out", "-"]);
    assert!(output.status.success());
    assert_eq!(output.stdout, ramp(256));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("copy.asm: grid of 2x1 on"), "{said}");
    assert!(said.ends_with("<stdout>: 256 bytes\n"), "{said}");
}

/// Bytes that nobody keeps are counted; results and exit code stay.
#[test]
fn accesses_past_the_end_are_told() {
    let dir = Dir::new("outside");
    dir.write("a.bin", &ramp(100)).write("g.raw", &[1; 64 * 64]);
    let said = |args: &[&str]| {
        let output = dir.run(args);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    // 2 x 128 bytes of 100, which are 112 in OWords.
    let text = said(&[
        &kernel("copy.asm"),
        "--grid",
        "2x1",
        "--in",
        "a.bin",
        "--out",
        "b.bin",
    ]);
    assert_eq!(
        text,
        "a.bin: warning: 144 bytes of reads past its end were zeros\n\
         b.bin: warning: 144 bytes of writes past its end were dropped\n"
    );
    // Sixteen vectors of 16 bytes, one of which has room.
    let motion = kernel("motion.asm");
    let args = ["--grid", "4x4", "--width", "64", "--height", "64"];
    let files = ["--in", "g.raw", "--in", "g.raw", "--out", "v.bin,size=4"];
    let text = said(&[&[motion.as_str()], &args[..], &files[..]].concat());
    assert_eq!(
        text,
        "v.bin: warning: 240 bytes of writes past its end were dropped\n"
    );
    // Blocks of 16x8 over 20x10 pixels: those at the edge are right, further ones are not.
    dir.write("i.raw", &[1; 200]);
    let blur = kernel("blur.asm");
    let files = ["--in", "i.raw,width=20,height=10", "--out", "o.raw"];
    for (grid, said_of) in [
        ("2x2", ""),
        (
            "3x2",
            "o.raw: warning: 256 bytes of writes past its end were dropped\n",
        ),
    ] {
        let text = said(&[&[blur.as_str(), "--grid", grid], &files[..]].concat());
        assert_eq!(text, said_of, "{grid}");
    }
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
    assert_eq!(said, "crestline: o.png: a picture needs width and height\n");
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
        (&["--seed", "3"][..], "--seed goes with --policy random"),
        (
            &["--seed", "3", "--policy", "reversed"],
            "--seed goes with --policy random",
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
    let said = dir.bad(1, &["end.asm", "--grid", "1x1", "--device", "g45"]);
    assert!(
        said.contains("unknown device \"g45\"; the devices are:"),
        "{said}"
    );
}

/// A fault names file and line, and what was written before it is in the output.
#[test]
fn faults_have_their_place() {
    let dir = Dir::new("faults");
    // Each thread writes four dwords; the second then asks for memory that is not there.
    let text = format!(
        "mov(8) m1<1>UD g0<8,8,1>UD {{ align1 }};\n\
         shl(1) m1.2<1>UD g2.4<0,1,0>UD 4UD {{ align1 }};\n\
         mov(8) m2<1>UD 0x11111111UD {{ align1 }};\n\
         send(8) 1 null<1>UW null<8,8,1>UW write MsgDesc: OWord block write MsgCtrl = 0x0 Surface = 0 mlen 2 rlen 0 {{ align1 }};\n\
         cmp.z.f0.0(1) null<1>UD g2.4<0,1,0>UD 0UD {{ align1 }};\n\
         (+f0.0) jmpi(1) END {{ align1 nomask }};\n\
         mov(8) m1<1>UD 0UD {{ align1 }};\n\
         mov(1) m1.2<1>UD 0x1f000000UD {{ align1 }};\n\
         send(8) 1 g9<1>UD null<8,8,1>UD read MsgDesc: OWord Block Read MsgCtrl = 0x0 Surface = 255 mlen 1 rlen 1 {{ align1 }};\n\
         END:\n{END}"
    );
    dir.write("fault.asm", text.as_bytes());
    let said = dir.bad(1, &["fault.asm", "--grid", "2x1", "--out", "o.bin,size=32"]);
    assert!(said.contains("fault.asm:9]"), "{said}");
    assert!(
        said.contains("Read at 0x1f000000: the GTT entry is not valid"),
        "{said}"
    );
    assert_eq!(dir.read("o.bin"), [0x11; 32]);
}

/// Threads that wait for one another are a hang with who waits for what, and the output is what there is.
#[test]
fn threads_that_wait_for_ever() {
    let dir = Dir::new("waits");
    let text = format!("nop;\nwait(1) n0<1>UD {{ align1 }};\n{END}");
    dir.write("wait.asm", text.as_bytes());
    let said = dir.bad(1, &["wait.asm", "--grid", "2x1", "--out", "o.bin,size=4"]);
    assert!(
        said.contains("wait.asm:2]: waits for a notification in n0"),
        "{said}"
    );
    assert_eq!(dir.read("o.bin"), [0; 4]);
    // Without children the spawner refuses to spawn; the root waits for what will not come.
    let said = dir.bad(
        1,
        &[
            &kernel("ring.asm"),
            "--out",
            "t.bin,size=16",
            "--grid",
            "1x1",
            "--curbe",
            "ud:5,3,1",
        ],
    );
    assert!(said.contains("spawn without a URB handle"), "{said}");
}

/// The gateway's answers to messages that it does not deliver (PRM volume 4, 7.1.4.2): SFID 3 and the error code.
#[test]
fn messages_to_gateways_that_are_closed() {
    let dir = Dir::new("gateway");
    // A message to EU 5, thread 1, where nobody is.
    let text = format!(
        "mov(8) m1<1>UD 0UD {{ align1 }};\n\
         mov(1) m1.4<1>UD 0x05011234UD {{ align1 }};\n\
         mov(1) m1.5<1>UD 0x00000200UD {{ align1 }};\n\
         mov(8) g9<1>UD 0UD {{ align1 }};\n\
         send(8) 1 g9<1>UD null<8,8,1>UD gateway MsgDesc: (forward msg) mlen 1 rlen 1 ack {{ align1 }};\n\
         mov(8) m2<1>UD g9<8,8,1>UD {{ align1 }};\n\
         mov(8) m1<1>UD g0<8,8,1>UD {{ align1 }};\n\
         mov(1) m1.2<1>UD 0UD {{ align1 }};\n\
         send(8) 1 null<1>UW null<8,8,1>UW write MsgDesc: OWord block write MsgCtrl = 0x0 Surface = 0 mlen 2 rlen 0 {{ align1 }};\n{END}"
    );
    dir.write("closed.asm", text.as_bytes());
    dir.good(&["closed.asm", "--grid", "1x1", "--out", "o.bin,size=4"]);
    assert_eq!(dir.read("o.bin"), 0x0003_0002u32.to_le_bytes());
}

#[test]
fn threads_that_never_end() {
    let dir = Dir::new("endless");
    let args = ["loop.asm", "--grid", "1x1", "--timeout-ms", "30"];
    dir.write(
        "loop.asm",
        b"nop;\nAGAIN:\njmpi(1) AGAIN { align1 nomask };\n",
    );
    let said = dir.bad(1, &args);
    assert!(
        said.contains("goes round in a loop that changes nothing"),
        "{said}"
    );
    assert!(said.contains("loop.asm:3]"), "{said}");
    // One that counts might end.
    dir.write(
        "loop.asm",
        b"AGAIN:\nadd(1) g9<1>UD g9<0,1,0>UD 1UD { align1 };\njmpi(1) AGAIN { align1 nomask };\n",
    );
    let said = dir.bad(1, &args);
    assert!(said.contains("not done after"), "{said}");
    assert!(said.contains("still running at 0x001100"), "{said}");
}

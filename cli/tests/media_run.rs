//! `crestline media run` as a user calls it: files, and what goes wrong.
//!
//! Expectations are computed here, not by the model.

use crate::common::media::{Dir, END, kernel, png, ramp};

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
    let args = [
        "--grid", "4x4", "--width", "64", "--height", "64", "--format", "r8",
    ];
    let files = ["--in", "g.raw", "--in", "g.raw", "--out", "v.bin,size=4"];
    let text = said(&[&[motion.as_str()], &args[..], &files[..]].concat());
    assert_eq!(
        text,
        "v.bin: warning: 240 bytes of writes past its end were dropped\n"
    );
    // Blocks of 16x8 over 20x10 pixels: those at the edge are right, further ones are not.
    dir.write("i.raw", &[1; 200]);
    let blur = kernel("blur.asm");
    let files = [
        "--in",
        "i.raw,width=20,height=10,format=r8",
        "--out",
        "o.raw",
    ];
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
         mov(8) m3<1>UD g9<8,8,1>UD {{ align1 }};\n\
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
